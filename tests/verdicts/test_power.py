"""How many seeds the gate will need, against simulations of the gate itself."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from scipy import special

from harness.plan.model import Comparison
from harness.reports.details import facts
from harness.reports.power_table import plan_power, show_power
from harness.spec.schema import Gate
from harness.verdicts.analyze import analyze
from harness.verdicts.model import Verdicts
from harness.verdicts.pilot import Spread, pilot_spreads
from harness.verdicts.power import FAIL, PASS, means_and_sds, power, replay_all, sd_interval
from harness.verdicts.sequential import alpha_per_look
from tests.verdicts.results import plan_of, quality_of, runs_of

LOOKS = (5, 10, 20)
SDS = (0.1, 0.25, 0.35, 0.5, 0.7, 0.85, 1.0)


@cache
def draws() -> np.ndarray:
    """20,000 variants of up to 60 pairs, mean 0 and spread 1."""
    return np.random.default_rng(5).standard_normal((20_000, 60))


@pytest.mark.parametrize("sd", SDS)
@pytest.mark.parametrize("true", [0.0, -0.2, -0.3, -1.0])
@pytest.mark.parametrize("looks", [LOOKS, (3, 6, 12, 24, 48), (8,)])
def test_looks_agree_with_simulations_within_one_seed(looks: tuple[int, ...], true: float, sd: float) -> None:
    found = power(true, sd, looks)
    simulated = replay_all(*means_and_sds(true + sd * draws(), looks), looks, alpha_per_look(looks))
    assert found.mean_seeds == pytest.approx(simulated.seeds.mean(), abs=1.0)
    assert found.passes == pytest.approx(np.mean(simulated.state == PASS), abs=0.015)
    assert found.fails == pytest.approx(np.mean(simulated.state == FAIL), abs=0.015)
    ended = [np.mean((simulated.state != 0) & (simulated.seeds <= n)) for n in looks]
    assert found.decided_by == pytest.approx(ended, abs=0.015)


@pytest.mark.parametrize("sd", SDS)
@pytest.mark.parametrize("true", [0.0, -0.1, -1.0])
def test_one_look_agrees_with_simulations_within_one_seed(true: float, sd: float) -> None:
    """The smallest number of pairs at which 80 % of 20,000 variants are decided the right way."""
    found = power(true, sd, LOOKS).one_look
    assert found is not None
    wanted = PASS if true > -0.5 else FAIL

    def decided(n: int) -> float:
        d = true + sd * draws()[:, :n]
        return float(np.mean(replay_all(*means_and_sds(d, (n,)), (n,), 0.05).state == wanted))

    simulated = next(n for n in range(3, 60) if decided(n) >= 0.8)
    assert abs(found - simulated) <= 1


def test_one_look_is_the_noncentral_t() -> None:
    assert power(0.0, 0.5, (5,)).passes == pytest.approx(1 - special.nctdtr(4, np.sqrt(5), special.stdtrit(4, 0.95)))
    assert power(-0.5, 0.5, (5,)).passes == pytest.approx(0.05)
    assert power(-0.5, 0.5, (5,)).fails == pytest.approx(0.05)
    assert power(-1.0, 0.5, (5,)).fails == pytest.approx(power(0.0, 0.5, (5,)).passes)


def test_no_spread_is_decided_at_once_and_far_away_nothing_is_nan() -> None:
    exact = power(0.0, 0.0, LOOKS)
    assert (exact.passes, exact.mean_seeds, exact.one_look) == (1.0, 5.0, 3)
    assert power(-0.5, 0.0, LOOKS).passes == power(-0.5, 0.0, LOOKS).fails == 0.0
    for true, sd in ((40.0, 0.01), (-40.0, 0.01), (0.0, 1e-6)):
        far = power(true, sd, (200,))
        assert far.passes + far.fails == pytest.approx(1.0)
        assert (far.passes > 0.5) == (true > -0.5)


def test_two_hundred_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.verdicts.power.alpha_per_look", lambda looks, alpha: 0.0036)  # as simulated
    many = tuple(range(3, 201))
    found = power(0.0, 1.0, many)
    assert len(found.decided_by) == len(many)
    assert list(found.decided_by) == sorted(found.decided_by)


@pytest.mark.parametrize("n", [2, 5, 20])
def test_the_interval_of_a_spread_covers_it(n: int) -> None:
    sds = draws()[:, :n].std(axis=1, ddof=1)
    lower, upper = sd_interval(1.0, n)
    assert np.mean((sds * lower <= 1.0) & (sds * upper >= 1.0)) == pytest.approx(0.95, abs=0.006)
    with pytest.raises(ValueError, match="two differences"):
        sd_interval(1.0, 1)


def pilot_of(nodes: int, **changes: object) -> Verdicts:
    """Verdicts on a variant whose five pairs all agree."""
    variant = quality_of("thin", [0.0] * 5, test_nodes=nodes, **changes)
    return analyze(plan_of(Comparison(variant="thin")), {"thin": variant}, {})


def test_equal_pairs_of_a_pilot_count_half_a_test_node_and_promise_nothing(tmp_path: Path) -> None:
    (spread,) = pilot_spreads(pilot_of(50))
    assert (spread.sd_pp, spread.lower_pp, spread.upper_pp, spread.half_node_pp) == (1.0, 1.0, 1.0, 1.0)
    found = plan_power(Gate(), LOOKS, [], 0.0, [spread])
    assert found.pilot[0][1].passes < 0.8
    with (tmp_path / "out").open("w") as file:
        show_power(found, "mine", Console(file=file, width=80))
    said = " ".join((tmp_path / "out").read_text().split())
    assert "at least half a test node, 1 pp. That stands for the smaller one of the pairs of thin." in said


def test_identical_predictions_that_are_evidence_keep_no_spread() -> None:
    same = runs_of([0.7] * 5, "same")
    for nodes, sd, floor in ((10_000, 0.0, None), (100, 0.5, 0.5)):
        (spread,) = pilot_spreads(pilot_of(nodes, runs=same, reference_runs=same))
        assert (spread.sd_pp, spread.half_node_pp) == (sd, floor)


def test_the_details_say_where_half_a_node_stood_for_the_spread() -> None:
    for nodes, told in ((50, ["counted as half a test node, 1 pp: more than the pairs show"]), (None, [])):
        verdicts = pilot_of(nodes)
        found = facts(verdicts.comparisons[0], verdicts)
        assert [words for name, words in found if name == "spread of the pairs"] == told


def test_the_table(tmp_path: Path) -> None:
    spreads = [Spread("a-variant-with-a-long-name-indeed", 5, 0.5, *sd_interval(0.5, 5)), Spread("same", 5, 0, 0, 0)]
    found = plan_power(Gate(), LOOKS, [0.5], 0.1, spreads)
    file = (tmp_path / "out").open("w")
    show_power(found, "mine", Console(file=file, width=80))
    file.close()
    lines = (tmp_path / "out").read_text().splitlines()
    assert max(map(len, lines)) <= 80
    rows = [line.split() for line in lines]
    assert any(row[:5] == ["0.00", "pp", "99", "%", "0"] and row[-1] == "8" for row in rows)
    assert [row[0] for row in rows if row[1:2] == ["pp"]] == ["0.00", "−0.10", "−0.20", "−0.30", "−0.50", "−1.00"]
    assert any(line.startswith("same") and "0.00 [0.00, 0.00]  100 %" in line for line in lines)
    told = json.loads(json.dumps(found.as_json()))
    assert (told["true_pp"], told["pilot"][1]["power"]["one_look"]) == (-0.1, 3)
