"""What is said of both arms of a comparison, or of the cells in which something holds on most seeds."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from harness.records.results import SeedRun, VariantResult


def note_of_arms(what: str, result: VariantResult | None, said: Callable[[str, Sequence[SeedRun]], str]) -> str | None:
    """One line: what it is about, then what is said of the variant and of its reference; None where of neither.

    Args:
        said: words of an arm by name and runs; empty where nothing is known of it.
    """
    if result is None:
        return None
    arms = (("variant", result.runs), ("reference", result.reference_runs))
    known = "; ".join(words for name, runs in arms if (words := said(name, runs)))
    return f"{what}: {known}" if known else None


def seeds_that(holds: Callable[[SeedRun], bool | None], runs: Sequence[SeedRun]) -> tuple[int, int]:
    """Seeds on which it holds, of those that tell (None does not)."""
    seen = [told for run in runs if (told := holds(run)) is not None]
    return sum(seen), len(seen)


def mostly(holds: Callable[[SeedRun], bool | None], runs: Sequence[SeedRun]) -> bool:
    """Whether it holds on more than half of the seeds that tell."""
    on, seen = seeds_that(holds, runs)
    return on > seen / 2
