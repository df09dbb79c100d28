"""What the Snakefile asks of a grid."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.plan.grid import Grid

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("spec", [5, 0, 1.5])
def test_a_spec_that_is_a_number_is_a_file_that_is_not_there(spec: float, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        Grid(spec, results="results", specs="specs").default_report()
    assert ended.value.code == 2
    assert str(spec) in capsys.readouterr().err


def test_a_grid_that_tests_claims_is_found_by_its_name(tmp_path: Path) -> None:
    grid = Grid(None, results=str(tmp_path), specs=str(ROOT / "specs"))
    assert grid.file("claims-wordnet", "plan.json") == f"{tmp_path}/claims-wordnet/plan.json"
    assert (tmp_path / "claims-wordnet" / "plan" / "retain.json").is_file()


def test_a_name_without_a_file_is_looked_for_in_specs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        Grid(None, results=str(tmp_path), specs="specs").file("absent", "plan.json")
    assert "specs/absent.yaml" in capsys.readouterr().err
