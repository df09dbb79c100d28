"""Looks replayed on results with all seeds: what they save, and what they change."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from harness.plan.model import Comparison
from harness.records.record import Record
from harness.spec.options import Model, Options, Training
from harness.spec.schema import Seeds
from tests.verdicts.results import plan_of, quality_of

SCRIPT = Path(__file__).parents[2] / "scripts" / "looks_against_fixed.py"
QUIET = list(np.round(np.random.default_rng(0).normal(0.0, 0.2, 20), 3))
# Passes at five seeds and fails at twenty: a design that no honest data gives, for the exit code.
TURNING = [0.0, 0.01, -0.01, 0.0, 0.01, *np.round(np.random.default_rng(1).normal(-4.0, 0.2, 15), 3)]
LATE = [0.9, -0.9] * 10  # wide: passes at twenty alone


def record(run_id: str, seed: int, epochs: list[float]) -> Record:
    return Record(
        run_id=run_id,
        cell_id="c",
        purpose="quality",
        seed=seed,
        model=Model(conv="sage"),
        training=Training(epochs=12),
        options=Options(),
        status="ok",
        phase="done",
        epoch_s=epochs,
        started_at="2026-01-01T00:00:00+00:00",
        ended_at="2026-01-01T00:00:07+00:00",
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two quiet variants and their records: a variant's run takes 2 s of epochs, the baseline's 7 s by the clock."""
    folder = tmp_path / "results" / "mine"
    (folder / "variants").mkdir(parents=True)
    (folder.parent / "runs").mkdir()
    plan = plan_of(Comparison(variant="v"), spec="mine", seeds=Seeds(looks=(20,)))
    (folder / "plan.json").write_text(plan.model_dump_json(by_alias=True))
    for name in ("v", "w"):
        add(folder, name, QUIET)
    for seed in range(20):
        for name, epochs in (("v", [1.0, 1.0]), ("w", [1.0, 1.0]), ("baseline", [])):
            (folder.parent / "runs" / f"{name}-{seed}.json").write_text(
                record(f"{name}-{seed}", seed, epochs).model_dump_json()
            )
    return folder


def add(folder: Path, name: str, d_pp: list[float]) -> None:
    (folder / "variants" / f"{name}.json").write_text(quality_of(name, d_pp).model_dump_json())


def ran(*arguments: object) -> tuple[int, str, str]:
    done = subprocess.run([sys.executable, str(SCRIPT), *map(str, arguments)], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def test_early_decisions_save_runs_and_seconds(folder: Path) -> None:
    code, text, _ = ran(folder, "--looks", "5,10,20")
    assert code == 0
    # 15 of 60 runs: 5 of each variant (2 s each) and 5 of the baseline (7 s each), of 20.
    assert "| 5, 10, 20 | 0.0208         | 15 of 60        | 75%     | 55 of 220" in text
    assert "| v         | " in text
    assert "pass (5)" in text


def test_what_changed_is_listed_and_a_turned_pass_is_an_error(folder: Path) -> None:
    add(folder, "late", LATE)
    code, text, _ = ran(folder, "--looks", "5,10", "--looks", "5,10,20")
    assert code == 0
    assert "Otherwise by looks 5, 10:\n\n- late: pass " in text
    assert "Otherwise by looks 5, 10, 20" not in text
    assert "Seconds are not known" in text
    add(folder, "turning", TURNING)
    code, text, error = ran(folder, "--looks", "5,10,20")
    assert (code, error) == (1, "a pass turned into a fail, or back\n")
    assert "- turning: fail " in text


def test_variants_with_too_few_seeds_are_named_and_stacks_elsewhere_are_read(folder: Path) -> None:
    add(folder, "few", QUIET[:7])
    (folder / "confirmed" / "variants").mkdir(parents=True)
    add(folder / "confirmed", "stack", QUIET)
    code, text, _ = ran(folder, "--looks", "5,20")
    assert code == 0
    assert "Left out, with fewer than 20 pairs: few." in text
    assert "| confirmed/stack |" in text


def test_bad_input_is_said(folder: Path, tmp_path: Path) -> None:
    assert ran(folder, "--looks", "5,40")[0] == 2
    assert ran(folder, "--looks", "9,5")[0] == 2
    code, _, error = ran(tmp_path)
    assert (code, "no such file" in error) == (2, True)
    for path in (folder / "variants").iterdir():
        path.unlink()
    code, _, error = ran(folder)
    assert (code, "no variant holds 20 seeds" in error) == (2, True)
