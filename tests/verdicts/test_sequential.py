"""The level of each look."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from harness.verdicts import sequential
from harness.verdicts.non_inferiority import non_inferiority
from harness.verdicts.sequential import KNOWN, alpha_per_look, replay, simulate_alpha

UNCOMMON = (4, 9)


@pytest.fixture(autouse=True)
def _forgetful() -> None:
    sequential._remembered.cache_clear()


@pytest.mark.parametrize(
    ("looks", "sides", "published"),
    [
        ((5, 10, 20), 1, 0.0206),
        ((3, 5, 8), 1, 0.0212),
        ((5, 10), 1, 0.0290),
        ((3, 5, 10, 20), 1, 0.0157),
        ((4, 6, 8, 12), 2, 0.0171),
    ],
)
def test_levels_agree_with_the_design_within_monte_carlo_error(
    looks: tuple[int, ...], sides: sequential.Sides, published: float
) -> None:
    assert alpha_per_look(looks, 0.05, sides) == pytest.approx(published, abs=2.5e-4)


@pytest.mark.parametrize("row", list(KNOWN), ids=str)
def test_every_shipped_level_is_what_the_simulation_gives(row: tuple) -> None:
    sides, alpha, looks = row
    assert KNOWN[row] == pytest.approx(simulate_alpha(looks, alpha, sides), abs=1e-4)


def test_one_look_needs_no_correction() -> None:
    assert alpha_per_look([7], 0.05) == 0.05


@pytest.mark.parametrize("sides", [1, 2])
def test_more_looks_need_a_smaller_level(sides: sequential.Sides) -> None:
    assert 0.05 / 3 < alpha_per_look([4, 6, 8], sides=sides) < alpha_per_look([4, 6], sides=sides) < 0.05


def test_naive_five_percent_at_each_look_errs_twice_as_often() -> None:
    rng = np.random.default_rng(3)
    d = rng.normal(-0.5, 0.5, (2000, 20))
    naive = np.mean([any(non_inferiority(list(row[:n]), alpha=0.05).state == "pass" for n in (5, 10, 20)) for row in d])
    assert 0.09 < naive < 0.14


def test_a_level_is_computed_once_and_kept_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    first = alpha_per_look(UNCOMMON)
    (kept,) = (tmp_path / "looks").glob("*")
    assert json.loads(kept.read_text())["alpha_per_look"] == first
    sequential._remembered.cache_clear()
    monkeypatch.setattr(sequential, "simulate_alpha", _never)
    assert alpha_per_look(UNCOMMON) == first


@pytest.mark.parametrize("garbage", ["", "{", "[]", '{"alpha_per_look": 0.04}', "\x00"])
def test_a_damaged_cache_is_not_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, garbage: str) -> None:
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    monkeypatch.setattr(sequential, "simulate_alpha", lambda *_: 0.03)
    alpha_per_look(UNCOMMON)
    (kept,) = (tmp_path / "looks").glob("*")
    kept.write_text(garbage)
    sequential._remembered.cache_clear()
    assert alpha_per_look(UNCOMMON) == 0.03
    assert json.loads(kept.read_text())["alpha_per_look"] == 0.03


def test_a_cache_that_cannot_be_written_does_no_harm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "not-a-folder"
    file.write_text("")
    monkeypatch.setenv("HARNESS_CACHE", str(file))
    monkeypatch.setattr(sequential, "simulate_alpha", lambda *_: 0.03)
    assert alpha_per_look(UNCOMMON) == 0.03
    sealed = tmp_path / "sealed"
    sealed.mkdir()
    sealed.chmod(stat.S_IRUSR | stat.S_IXUSR)
    monkeypatch.setenv("HARNESS_CACHE", str(sealed))
    sequential._remembered.cache_clear()
    assert alpha_per_look(UNCOMMON) == 0.03
    sealed.chmod(stat.S_IRWXU)


@pytest.mark.parametrize(("looks", "alpha"), [([], 0.05), ([5, 5], 0.05), ([1, 4], 0.05), ([5, 10], 0.0), ([5], 0.5)])
def test_bad_looks_and_levels_are_refused(looks: list[int], alpha: float) -> None:
    with pytest.raises(ValueError):
        alpha_per_look(looks, alpha)


def test_below_what_draws_resolve_the_level_is_bonferronis() -> None:
    assert alpha_per_look([5, 10, 20], 1e-12) == pytest.approx(1e-12 / 3)
    assert alpha_per_look([5], 1e-12) == 1e-12


def test_replay_stops_at_the_first_decision() -> None:
    seen: list[int] = []

    def test(n: int) -> int:
        seen.append(n)
        return n

    assert replay([2, 4, 8], 100, test, lambda n: n >= 4) == 4
    assert seen == [2, 4]
    assert replay([2, 4, 8], 5, test, lambda n: False) == 4
    assert replay([2, 4, 8], 1, test, lambda n: False) is None


def _never(*_: object) -> float:
    raise AssertionError("computed again")


def test_processes_that_compute_at_once_leave_one_whole_file(tmp_path: Path) -> None:
    code = f"from harness.verdicts.sequential import alpha_per_look; print(alpha_per_look({list(UNCOMMON)}))"
    environment = {**os.environ, "HARNESS_CACHE": str(tmp_path)}
    at_once = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environment)
        for _ in range(3)
    ]
    said = {process.communicate()[0].strip() for process in at_once}
    (kept,) = (tmp_path / "looks").iterdir()
    assert said == {str(json.loads(kept.read_text())["alpha_per_look"])}


def test_what_takes_seconds_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    monkeypatch.setattr(sequential, "simulate_alpha", lambda *_: 0.01)
    alpha_per_look(UNCOMMON)
    assert capsys.readouterr().err == ""
    alpha_per_look([100, 200])
    assert capsys.readouterr().err == "the level of each of the looks 100, 200 is computed once, in seconds\n"


@given(
    st.lists(st.integers(2, 25), min_size=2, max_size=6, unique=True).map(sorted),
    st.sampled_from([0.01, 0.05, 0.2]),
    st.sampled_from([1, 2]),
)
@settings(max_examples=6, deadline=None)
def test_any_looks_together_err_as_often_as_asked(looks: list[int], alpha: float, sides: sequential.Sides) -> None:
    """Other draws than those the level was found by, one t test a look."""
    level = simulate_alpha(looks, alpha, sides)
    assert alpha / len(looks) - 1e-3 < level < alpha
    d = np.random.default_rng(99).standard_normal((20_000, looks[-1]))
    erred = np.zeros(len(d), dtype=bool)
    for n in looks:
        t = d[:, :n].mean(axis=1) / (d[:, :n].std(axis=1, ddof=1) / np.sqrt(n))
        erred |= (np.abs(t) if sides == 2 else t) > special.stdtrit(n - 1, 1.0 - level / sides)
    assert erred.mean() == pytest.approx(alpha, abs=4.5 * np.sqrt(alpha * (1 - alpha) / len(d)))
