"""Which counters a report shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness.reports.telling import _OF_OPTION, telling_counters
from harness.spec.option_paths import option_paths

DOCS = Path(__file__).parents[2] / "docs" / "counters.md"
COUNTED = {"epochs": 3, "steps": 9, "cache_hits": 5, "cache_requests": 7, "norm": ["batch"], "clipped_steps": 1}


@pytest.mark.parametrize(
    ("paths", "shown"),
    [
        (["features.cache_ratio"], ["cache_hits", "cache_requests", "epochs", "steps"]),
        (["model.norm", "training.clip"], ["norm", "clipped_steps", "epochs", "steps"]),
        (["model.hidden"], ["epochs", "steps"]),
        (["partition.parts"], ["epochs", "steps"]),  # this run has none of its counters
    ],
)
def test_it_is_those_of_the_options_changed(paths, shown) -> None:
    assert list(telling_counters(COUNTED, paths)) == shown


def test_options_and_counters_exist() -> None:
    starts = {path.split(".")[0] for path in option_paths()} | set(option_paths())
    assert set(_OF_OPTION) <= starts
    documented = set(re.findall(r"`(\w+)`", DOCS.read_text()))
    assert {name for names in _OF_OPTION.values() for name in names} <= documented
