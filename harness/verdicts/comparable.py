"""What may be compared: the same data, threads, device, libraries and precision, or nothing.

Every refusal is one sentence that names the difference with both its values, and then what makes it go away.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from harness.records.data_version import PARTS, DataVersion
from harness.records.results import SeedRun, TimedProcess, TimingResult, VariantResult
from harness.verdicts.wording import listed

# Key of the environment to what people call it.
LIBRARIES = {"torch": "torch", "pyg": "torch-geometric", "numpy": "numpy", "engine": "engine", "cuda": "CUDA"}
_GPU = {"device_name": "GPU", "cudnn": "cuDNN"}
_METIS = {"pymetis": "pymetis"}  # where it cuts the graph, another version gives other batches
_TIMING = {"cpu": "processor", "numba": "numba", "cpu_capability": "vector instructions"}
_PRECISION = "float32_matmul_precision"  # torch's, for all products: no option sets it, a model's own code may
_SHOWN_DIGITS = 12  # of a fingerprint
_SHOWN_OTHERS = 3  # differences named after the first


@dataclass(frozen=True)
class Remedy:
    """What to do about a difference.

    Attributes:
        spec: the name under which `harness retry` finds the results.
    """

    spec: str

    def runs(self, *names: str) -> str:
        """Make the quality runs and the timings of these again."""
        return self._command("--variant", names)

    def timings(self, *names: str) -> str:
        """Make only the timings of these again."""
        return self._command("--timing", names)

    def _command(self, option: str, names: tuple[str, ...]) -> str:
        several = "they are" if len(set(names)) > 1 else "it is"
        return f"run `harness retry {self.spec} {option} {','.join(dict.fromkeys(names))}`, and {several} made again"


@dataclass(frozen=True)
class _Value:
    """One thing that must be equal; None and "" where it was not recorded."""

    what: str
    one: Any
    other: Any

    @property
    def differs(self) -> bool:
        # What is not recorded is not a difference: results of before it was recorded stay comparable.
        return self.one not in (None, "") and self.other not in (None, "") and self.one != self.other


def quality_difference(
    variant: VariantResult, reference: VariantResult | None, remedy: Remedy, cut_by_metis: bool = False
) -> str | None:
    """Why the quality runs of two results must not be compared; None where they may.

    Other data is another question; other threads, another kind of device or other libraries change the order of sums
    or the draws, and with them the accuracy of a seed.

    Args:
        reference: the reference's own result, where there is one.
        cut_by_metis: the batches of either are parts that METIS made.
    """
    found = seeds_difference(variant, remedy, cut_by_metis)
    if found is not None or reference is None:
        return found
    one, other = f"`{variant.variant}`", f"`{reference.variant}`"
    remedied = remedy.runs(variant.variant, reference.variant)
    return _data(one, other, variant, reference, remedied) or _refusal(
        one,
        other,
        [
            _Value("test nodes", variant.test_nodes, reference.test_nodes),
            _Value("threads", variant.threads, reference.threads),
            _Value("device", _kind(variant.device), _kind(reference.device)),
            *_environment(variant.environment, reference.environment, _quality_keys(cut_by_metis)),
            _Value("precision of float32 products", *(r.counters.get(_PRECISION) for r in (variant, reference))),
        ],
        remedied,
    )


def seeds_difference(result: VariantResult, remedy: Remedy, cut_by_metis: bool = False) -> str | None:
    """Why the runs behind one result, the variant's and its reference's, do not belong together; None where they do.

    Of an arm that no run of ended well its failures count: another machine may have had the memory.
    """
    arms: list[tuple[str, list[SeedRun]]] = [(result.variant, result.runs)]
    arms.append((result.reference or "the reference", result.reference_runs))
    keys = _quality_keys(cut_by_metis) | {"threads": "threads"}
    usual = result.environment | {"threads": result.environment.get("threads", result.threads)}
    for name, runs in arms:
        for run in [run for run in runs if run.status == "ok"] or runs:
            values = _environment(run.environment, usual, keys)
            found = _refusal(
                f"seed {run.seed} of `{name}`",
                f"the first run of `{result.variant}`",
                values,
                remedy.runs(result.variant, *([] if name == result.variant else [name])),
            )
            if found is not None:
                return found
    return None


def timing_difference(timing: TimingResult, control: TimingResult | None, remedy: Remedy) -> str | None:
    """Why the control says nothing about a timing; None where it does."""
    if control is None:
        return None
    one, other, remedied = f"`{timing.variant}`", "the control", remedy.timings(timing.variant, "control")
    return _data(one, other, timing, control, remedied) or _refusal(
        one,
        other,
        [
            _Value("timing version", timing.timing_version, control.timing_version),
            _Value("threads", timing.threads, control.threads),
            _Value("device", _kind(timing.device), _kind(control.device)),
            *_environment(timing.environment, control.environment, LIBRARIES | _GPU | _TIMING),
        ],
        remedied,
    )


def arms_difference(
    timing: TimingResult, variant: VariantResult, remedy: Remedy, cut_by_metis: bool = False
) -> str | None:
    """Why the accuracy and the speed of one variant do not belong together; None where they do.

    Threads may differ: quality runs share the machine, timing has it to itself.
    """
    one, other, remedied = "the timing", "the quality runs", remedy.runs(variant.variant)
    return _data(one, other, timing, variant, remedied) or _refusal(
        one,
        other,
        [
            _Value("device", _kind(timing.device), _kind(variant.device)),
            *_environment(timing.environment, variant.environment, _quality_keys(cut_by_metis)),
        ],
        remedied,
    )


def disk_reads_difference(timing: TimingResult, remedy: Remedy) -> str | None:
    """Why the processes of a timing did not read features from the disk in the same way; None where they did.

    With the kernel reading ahead and its page cache, a row costs a copy; read row by row it costs a seek. Which of both
    it is depends on the memory that was available when a process started.
    """
    by_way: dict[str, TimedProcess] = {}
    for process in (p for block in timing.blocks for p in block.processes if p.disk_reads):
        by_way.setdefault(process.disk_reads or "", process)
    if len(by_way) < 2:
        return None
    (one, first), (other, second) = sorted(by_way.items(), key=lambda item: item[1].run_id)[:2]
    whose: dict[Literal["reference", "variant"], str] = {"reference": timing.reference, "variant": timing.variant}
    return (
        f"not comparable: a timed process of `{whose[first.arm]}` read features from the disk {_way(one)}, one of "
        f"`{whose[second.arm]}` {_way(other)}; free some memory, then {remedy.timings(timing.variant)}"
    )


def _way(disk_reads: str) -> str:
    return "through the kernel's page cache" if disk_reads == "read-ahead" else disk_reads.replace("-", " ")


def parts_that_differ(one: DataVersion, other: DataVersion) -> tuple[list[str], list[str]]:
    """Names of the parts of two graphs that differ, and of those that are the same."""
    same = {part: getattr(one.parts, part) == getattr(other.parts, part) for part in PARTS}
    return [part for part in PARTS if not same[part]], [part for part in PARTS if same[part]]


def data_difference(fingerprints: tuple[str, str], versions: tuple[DataVersion | None, DataVersion | None]) -> str:
    """How the data of two results differ, as a clause without an end; empty where they do not.

    The joint fingerprint decides; the parts say what it is that changed, where both results have them.
    """
    if not all(fingerprints) or fingerprints[0] == fingerprints[1]:
        return ""
    a, b = versions
    if a is None or b is None or (a.fingerprint, b.fingerprint) != fingerprints:
        return f"the data fingerprints differ, {_short(fingerprints[0])} against {_short(fingerprints[1])}"
    changed, same = parts_that_differ(a, b)
    values = listed([f"{_short(getattr(a.parts, p))} against {_short(getattr(b.parts, p))}" for p in changed])
    verb = "differs" if changed == ["graph"] else "differ"
    kept = f"; {listed(same)} {'is' if same == ['graph'] else 'are'} the same" if same else ""
    builders = f"; builder version {a.builder_version} against {b.builder_version}"
    return f"the {listed(changed)} {verb}, {values}{kept}{builders if a.builder_version != b.builder_version else ''}"


def _data(
    one: str,
    other: str,
    a: VariantResult | TimingResult,
    b: VariantResult | TimingResult,
    remedied: str,
) -> str | None:
    clause = data_difference((a.fingerprint, b.fingerprint), (a.data, b.data))
    if clause:
        return f"not comparable: {one} and {other} are of different data: {clause}; {remedied}"
    if a.data is None or b.data is None:
        return None
    builders = _Value("builder version", a.data.builder_version, b.data.builder_version)
    return _refusal(one, other, [builders], remedied)


def _quality_keys(cut_by_metis: bool) -> dict[str, str]:
    return LIBRARIES | _GPU | (_METIS if cut_by_metis else {})


def _environment(one: Mapping[str, Any], other: Mapping[str, Any], keys: Mapping[str, str]) -> list[_Value]:
    return [_Value(what, one.get(key), other.get(key)) for key, what in keys.items()]


def _refusal(one: str, other: str, values: Iterable[_Value], remedied: str) -> str | None:
    differing = [value for value in values if value.differs]
    if not differing:
        return None
    first, *others = differing
    more = f" ({listed([value.what for value in others], _SHOWN_OTHERS)} differ{'s' * (len(others) == 1)} too)"
    said = f"{first.what} of {one} is {first.one}, of {other} {first.other}{more if others else ''}"
    return f"not comparable: {said}; {remedied}"


def _short(fingerprint: str) -> str:
    return fingerprint[:_SHOWN_DIGITS]


def _kind(device: str) -> str:
    """cpu or cuda, without the number of one of several GPUs; another model of GPU is told by its name."""
    return device.split(":", 1)[0]
