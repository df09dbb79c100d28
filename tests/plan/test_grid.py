"""What the Snakefile asks of a grid."""

from __future__ import annotations

import pytest

from harness.plan.grid import Grid


@pytest.mark.parametrize("spec", [5, 0, 1.5])
def test_a_spec_that_is_a_number_is_a_file_that_is_not_there(spec: float, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        Grid(spec, results="results", specs="specs").default_report()
    assert ended.value.code == 2
    assert str(spec) in capsys.readouterr().err
