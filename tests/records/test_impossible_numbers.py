"""Numbers that nothing can have measured are refused, with their place, where a file is read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.records.files import read_model
from harness.records.results import TimingResult
from harness.spec.errors import InputError

TIMED: dict[str, Any] = {"variant": "a", "reference": "baseline", "status": "ok", "threads": 1, "device": "cpu"}
STAGES = {"sample_s": 0.1, "fetch_s": 0.1, "compute_s": 0.1, "update_s": 0.1}


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"log_ratios": [0.1, 1e308]}, "log_ratios.1"),
        ({"log_ratios": [-1000.0]}, "log_ratios.0"),
        ({"memory_log_ratios": [1e5]}, "memory_log_ratios.0"),
        ({"variant_stages": STAGES | {"fetch_s": -1.0}}, "variant_stages.fetch_s"),
        ({"reference_stages": STAGES | {"fetch_s": 1e308}}, "reference_stages.fetch_s"),
        ({"preprocess_s": {"partition_s": -1.0}}, "preprocess_s.partition_s"),
    ],
)
def test_an_impossible_timing_is_refused_by_its_place(tmp_path: Path, changes: dict[str, Any], place: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(TIMED | {"variant_stages": STAGES}))
    assert read_model(path, TimingResult).variant == "a"
    path.write_text(json.dumps(TIMED | changes))
    with pytest.raises(InputError, match=rf"not a TimingResult of this version \({place}: Input should be "):
        read_model(path, TimingResult)
