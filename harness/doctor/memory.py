"""Memory: what there is, what a container allows, and who gives it out."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import psutil

from harness.doctor.cgroup import Limits
from harness.doctor.finding import Finding, note, ok
from harness.doctor.sizes import in_words

LITTLE = 10**9  # a training's process holds 0.3 to 0.45 GB after its imports
ALLOCATORS = ("jemalloc", "tcmalloc", "mimalloc")
SETTINGS = (
    *("MALLOC_ARENA_MAX", "MALLOC_CONF", "GLIBC_TUNABLES"),
    *("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_NO_CUDA_MEMORY_CACHING"),
)


def memory(limits: Limits) -> list[Finding]:
    """Bytes, and the limit that holds before them."""
    there = psutil.virtual_memory()
    total, free = int(there.total), int(there.available)
    facts = {"total_bytes": total, "available_bytes": free, "cgroup_bytes": limits.memory_bytes}
    text = f"{in_words(total)}, of which {in_words(free)} available"
    if limits.memory_bytes is not None and limits.memory_bytes < total:
        left = limits.memory_bytes - (limits.used_bytes or 0)
        free = min(free, left)
        text += f"; the control group's limit is {in_words(limits.memory_bytes)}, of which {in_words(left)} are free"
    if free < LITTLE:
        remedy = "end what else runs; `harness plan SPEC` shows what each variant needs"
        return [note(f"{text}: a run's libraries alone take 0.4 GB", remedy, **facts)]
    return [ok(text, **facts)]


def allocator(maps: Path = Path("/proc/self/maps")) -> list[Finding]:
    """Who gives out memory in this process, and so in those that it starts; times differ by it."""
    settings = {name: os.environ[name] for name in SETTINGS if name in os.environ}
    said = "".join(f"; {name}={value}" for name, value in settings.items())
    try:
        loaded = maps.read_text()
    except OSError:
        loaded = ""
    preloaded = os.environ.get("LD_PRELOAD", "")
    name = next((a for a in ALLOCATORS if a in loaded), None)
    if name is not None:
        return [ok(f"{name}, in the place of the C library's allocator{said}", allocator=name, **settings)]
    libc = " ".join(platform.libc_ver()).strip() or "the system's C library"
    wanted = next((a for a in ALLOCATORS if a in preloaded), None)
    if wanted is not None:
        text = f"LD_PRELOAD={preloaded} asks for {wanted}, which is not loaded: {libc} gives out memory{said}"
        return [note(text, "correct the path in LD_PRELOAD, or unset it", allocator=libc, **settings)]
    return [ok(f"{libc}'s allocator{said}", allocator=libc, **settings)]
