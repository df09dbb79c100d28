"""The tables of docs/statistics.md are what their commands print, and what they draw is judged as the code judges."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from harness.verdicts import judge
from harness.verdicts.power import FAIL, OPEN, PASS
from harness.verdicts.speed import judge_ratios
from scripts.error_rates import DISTRIBUTIONS, LOOKS, MIN_SPEEDUP, RATIO_LOOKS, TABLES, filled, looked_at, states

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "statistics.md"
SCRIPT = ROOT / "scripts" / "error_rates.py"


def test_the_page_is_current() -> None:
    """Cell by cell, so that another version of a library may round another way in the last digit."""
    number = re.compile(r"\d+(?:\.\d+)?")
    page = PAGE.read_text()
    again = filled(page, {name: make() for name, make in TABLES.items()})
    assert number.sub("n", again) == number.sub("n", page), f"run `python {SCRIPT.name} --write docs/statistics.md`"
    for now, then in zip(number.findall(again), number.findall(page), strict=True):
        digit = 0.11 if "." in then else 1.0
        assert float(now) == pytest.approx(float(then), abs=digit), f"run `python {SCRIPT.name} --write {PAGE.name}`"


def test_each_table_stands_under_its_command() -> None:
    page = PAGE.read_text()
    for name in TABLES:
        above = page.split(f"<!-- {name} -->")[0]
        assert above.rstrip().endswith(f"```sh\npython scripts/error_rates.py {name}\n```"), name


def test_a_page_without_a_place_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="0 places <!-- stack -->"):
        filled("# A page\n", {"stack": "|"})
    arguments = ["--write", str(tmp_path / "missing.md")]
    done = subprocess.run([sys.executable, SCRIPT, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "missing.md" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("draw", DISTRIBUTIONS.values(), ids=DISTRIBUTIONS)
def test_distributions_have_mean_0_and_spread_1(draw) -> None:
    drawn = draw(np.random.default_rng(7), (200_000, 2))
    assert drawn.mean() == pytest.approx(0.0, abs=0.01)
    assert drawn.std() == pytest.approx(1.0, abs=0.02)


@pytest.mark.parametrize("looks", [(5,), LOOKS])
def test_states_are_those_of_judge(looks: tuple[int, ...]) -> None:
    d = -0.3 + 0.5 * np.random.default_rng(8).standard_normal((300, LOOKS[-1]))
    names = {PASS: "pass", FAIL: "fail", OPEN: "inconclusive"}
    variants = {str(i): list(0.5 + row / 100.0) for i, row in enumerate(d[:, : looks[-1]])}
    judged = judge([0.5] * looks[-1], variants, looks=looks)
    assert [j.state for j in judged.values()] == [names[int(state)] for state in states(d, looks)]


@pytest.mark.parametrize("true", [1.0, 1.05, 1.1])
def test_intervals_are_those_of_judge_ratios(true: float) -> None:
    lower, upper, used = looked_at(true, 0.03, draws=300)
    drawn = np.random.default_rng(11).normal(np.log(true), 0.03, (300, RATIO_LOOKS[-1]))
    for row, log_ratios in enumerate(drawn):
        judged = judge_ratios(list(log_ratios), RATIO_LOOKS, MIN_SPEEDUP)
        assert judged.interval is not None
        found = (judged.interval.lower, judged.interval.upper, judged.interval.n)
        assert found == pytest.approx((lower[row], upper[row], used[row]))
