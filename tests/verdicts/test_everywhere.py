"""Verdicts of several specs side by side: which variants are the same, what holds on all, and means of ratios."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from harness.verdicts.everywhere import JudgedSpec, across_specs, agreement, mean_speedup
from harness.verdicts.model import ComparisonVerdict, MemoryUse, Speed, Verdicts

REFERENCE = Path(__file__).parents[2] / "results" / "reference"


def compared(variant: str, verdict: str = "accept", ratio: float | None = 1.2, **changes: Any) -> ComparisonVerdict:
    given: dict[str, Any] = {
        "variant": variant,
        "reference": "baseline",
        "patch": {"features.cache_ratio": 0.3},
        "speed": Speed(ratio=ratio, state="gain"),
        "memory": MemoryUse(state="unknown"),
        "verdict": verdict,
        "reason": "",
    }
    return ComparisonVerdict(**(given | changes))


@pytest.fixture(scope="module")
def spec_of():
    """A spec's verdicts, by its name and data set."""
    whole = Verdicts.model_validate_json((REFERENCE / "quickstart" / "verdicts.json").read_bytes())

    def make(spec: str, dataset: str, *comparisons: ComparisonVerdict, **changes: Any) -> JudgedSpec:
        return JudgedSpec(spec, dataset, whole.model_copy(update={"comparisons": list(comparisons), **changes}))

    return make


def test_variants_are_the_same_by_patch_and_goal_whatever_their_names(spec_of) -> None:
    specs = [
        spec_of("a", "A", compared("cache-0.3"), compared("mem", goal="memory")),
        spec_of("b", "B", compared("cache"), compared("cache-0.1", patch={"features.cache_ratio": 0.1})),
    ]
    found = across_specs(specs)
    assert [(v.names, sorted(v.cells)) for v in found] == [
        (("cache-0.3", "cache"), ["a", "b"]),
        (("mem",), ["a"]),
        (("cache-0.1",), ["b"]),
    ]


def test_a_mean_counts_a_data_set_once_and_says_over_how_many() -> None:
    mean = mean_speedup([("A", 2.0), ("A", 8.0), ("B", 1.0), ("C", None)])
    assert mean is not None
    assert mean.ratio == pytest.approx(math.sqrt(4.0 * 1.0))  # A: sqrt(2 · 8) = 4
    assert (mean.measured, mean.tried) == (2, 3)
    assert mean_speedup([("A", None)]) is None


@pytest.mark.parametrize("changes", [{"verdict": "dnf"}, {"verdict": "skipped"}, {"not_comparable": "other threads"}])
def test_what_did_not_run_or_may_not_be_compared_is_in_no_mean(spec_of, changes) -> None:
    specs = [spec_of("a", "A", compared("v", ratio=1.5)), spec_of("b", "B", compared("v", ratio=9.0, **changes))]
    (found,) = across_specs(specs)
    assert found.speedup is not None
    assert (found.speedup.ratio, found.speedup.measured, found.speedup.tried) == (pytest.approx(1.5), 1, 2)


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        (["accept", "accept"], "everywhere"),
        (["accept", "reject"], "depends"),
        (["accept", "inconclusive", "dnf"], "depends"),
        (["accept", "inconclusive"], "open"),
        (["no-gain", "reject", "dnf"], "nowhere"),
        (["no-gain", "skipped"], "open"),
        (["accept", "enables"], "open"),
    ],
)
def test_what_verdicts_amount_to_together(verdicts: list[str], expected: str) -> None:
    assert agreement([compared("v", verdict) for verdict in verdicts]) == expected


def test_an_exploratory_accept_is_not_accepted_everywhere() -> None:
    assert agreement([compared("v"), compared("v", exploratory=True)]) == "open"


def test_options_left_out_of_a_whole_are_not_taken_for_options_switched_on(spec_of) -> None:
    left = spec_of("a", "A", compared("without-x"), design="leave-one-out")
    assert across_specs([left]) == []
