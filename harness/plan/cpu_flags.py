"""Which half precisions the processor multiplies by itself, by the flags that Linux shows."""

from __future__ import annotations

from pathlib import Path

# of x86 and of Arm; f16c and avx_ne_convert only convert
_FLAGS = {
    "bf16": {"avx512_bf16", "amx_bf16", "bf16", "svebf16"},
    "fp16": {"avx512_fp16", "amx_fp16", "asimdhp", "fphp"},
}


def half_instructions(cpuinfo: Path = Path("/proc/cpuinfo")) -> set[str] | None:
    """``bf16`` and ``fp16`` where there are instructions for them; None where the system does not tell."""
    try:
        lines = cpuinfo.read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        name, _, words = line.partition(":")
        if name.strip() in ("flags", "Features"):
            flags = set(words.split())
            return {half for half, wanted in _FLAGS.items() if flags & wanted}
    return None
