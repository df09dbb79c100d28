"""What a results folder remembers of the looks at its seeds."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.records.looked import remember_looks
from harness.records.results import DecisionRule, SeedRun, VariantResult
from harness.spec.errors import InputError
from harness.spec.schema import Gate, Seeds


def result(looks: tuple[int, ...], runs: str = "abc", **gate: float) -> VariantResult:
    rule = DecisionRule.of(Gate(**gate), Seeds(looks=looks))
    seeds = [SeedRun(seed=i, run_id=name, status="ok", metric=0.7) for i, name in enumerate(runs)]
    return VariantResult(
        variant="v", cell_id="c", reference="baseline", runs=seeds, threads=1, device="cpu", decided_by=rule
    )


def test_seeds_extended_after_the_last_look_are_known(tmp_path: Path) -> None:
    path = tmp_path / "looked" / "v.json"
    assert remember_looks(path, result((3,))).looked_before == []
    extended = remember_looks(path, result((3, 6), "abcdef"))
    assert [rule.looks for rule in extended.looked_before] == [(3,)]
    back = remember_looks(path, result((3,)))
    assert [rule.looks for rule in back.looked_before] == [(3, 6)]


def test_the_same_rule_again_is_no_other_look(tmp_path: Path) -> None:
    path = tmp_path / "v.json"
    remember_looks(path, result((3,)))
    once = path.read_text()
    assert remember_looks(path, result((3,))).looked_before == []
    assert path.read_text() == once


def test_fresh_seeds_and_other_options_start_anew(tmp_path: Path) -> None:
    """Their runs have other ids."""
    path = tmp_path / "v.json"
    remember_looks(path, result((3,)))
    assert remember_looks(path, result((3, 6), "uvwxyz")).looked_before == []


def test_another_gate_is_another_look_but_another_least_gain_is_not(tmp_path: Path) -> None:
    path = tmp_path / "v.json"
    remember_looks(path, result((3,)))
    assert remember_looks(path, result((3,), min_speedup=1.2)).looked_before == []
    assert [r.max_drop_pp for r in remember_looks(path, result((3,), max_drop_pp=1.0)).looked_before] == [0.5]


def test_the_baselines_own_job_is_not_decided(tmp_path: Path) -> None:
    path = tmp_path / "v.json"
    alone = result((3,)).model_copy(update={"decided_by": None, "reference": None})
    assert remember_looks(path, alone) == alone
    assert not path.exists()


def test_a_damaged_memory_is_said(tmp_path: Path) -> None:
    path = tmp_path / "v.json"
    path.write_text("{")
    with pytest.raises(InputError, match=r"v\.json.*delete it"):
        remember_looks(path, result((3,)))
