"""A run's measured peak beside what its graph and options let one expect."""

from __future__ import annotations

from harness.graphs.graph import GraphMeta
from harness.plan.estimate import OVER, estimate
from harness.plan.sizes import sizes_of
from harness.records.record import Memory
from harness.runs.request import RunRequest
from harness.spec.option_paths import Settings


def beside_estimate(memory: Memory, request: RunRequest, meta: GraphMeta) -> Memory:
    """The memory with its estimate by part, and a warning where the peak is over `OVER` times the estimate.

    On the CPU only a timing run is warned of: the peaks of a quality run's epochs have in them what evaluation before
    them, which is not estimated, left in the heap, and that is much beside a small training.
    """
    settings = Settings(model=request.model, training=request.training, options=request.options)
    device = "cuda" if memory.kind == "cuda_allocated" else "cpu"
    expected = estimate(settings, sizes_of(meta.model_dump()), device)
    said = list(memory.warnings)
    training_alone = request.purpose == "timing" or device == "cuda"
    if training_alone and expected.memory_bytes is not None and memory.peak_bytes > OVER * expected.memory_bytes:
        parts = ", ".join(f"{name} {_mb(size)}" for name, size in _largest_first(expected.parts))
        ratio = memory.peak_bytes / expected.memory_bytes
        said.append(
            f"the peak of {_mb(memory.peak_bytes)} is {ratio:.1f} times the estimate of {_mb(expected.memory_bytes)} "
            f"({parts})"
        )
    return memory.model_copy(
        update={"estimated_bytes": expected.memory_bytes, "estimated_parts": expected.parts, "warnings": said}
    )


def _largest_first(parts: dict[str, int]) -> list[tuple[str, int]]:
    """Those that are a hundredth of all at least, and not 0.0 MB: the others explain no peak."""
    least = max(sum(parts.values()) / 100, 50_000)
    return sorted(((name, size) for name, size in parts.items() if size >= least), key=lambda part: -part[1])


def _mb(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"
