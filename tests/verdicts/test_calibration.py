"""What the gate promises, counted on draws: its errors at the line, its chances to decide, the seeds that it uses.

`replay_all` stands for `judge` here, and is held to it draw by draw.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from harness.verdicts import judge
from harness.verdicts.power import FAIL, OPEN, PASS, Replayed, means_and_sds, replay_all
from harness.verdicts.sequential import alpha_per_look

LOOKS = (5, 10, 20)
NAMES = {PASS: "pass", FAIL: "fail", OPEN: "inconclusive"}
Draw = Callable[[np.random.Generator, tuple[int, int]], np.ndarray]


def replayed(d_pp: np.ndarray, looks: tuple[int, ...]) -> Replayed:
    return replay_all(*means_and_sds(d_pp, looks), looks, alpha_per_look(looks))


@cache
def normal(draws: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((draws, 20))


def shares(mean: float, sd: float, looks: tuple[int, ...], draws: int = 20_000) -> dict[str, float]:
    """Shares of pass and fail and the seeds used, over draws of this mean and spread."""
    found = replayed(mean + sd * normal(draws, 20_240_501), looks)
    return {
        "pass": float(np.mean(found.state == PASS)),
        "fail": float(np.mean(found.state == FAIL)),
        "seeds": float(found.seeds.mean()),
    }


@pytest.mark.parametrize("looks", [(5,), LOOKS, (3, 4, 7, 11), (20,)])
@pytest.mark.parametrize("mean", [0.0, -0.5, -0.9])
def test_the_draws_are_judged_as_judge_would(looks: tuple[int, ...], mean: float) -> None:
    d = mean + 0.5 * normal(400, 3)[:, : looks[-1]]
    found = replayed(d, looks)
    # A baseline far from 0 and 1, so that every difference is an accuracy.
    judged = [judge([0.5] * len(row), {"v": list(0.5 + row / 100.0)}, looks=looks)["v"] for row in d]
    assert [j.state for j in judged] == [NAMES[int(s)] for s in found.state]
    assert [j.look for j in judged] == found.seeds.tolist()


@pytest.mark.parametrize("looks", [(5,), LOOKS])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_drop_of_exactly_the_allowance_passes_one_time_in_twenty(looks: tuple[int, ...], seed: int) -> None:
    """10,000 variants whose true drop is 0.5 pp; each seed of the draws by itself."""
    state = replayed(-0.5 + 0.5 * normal(10_000, seed), looks).state
    assert 0.04 <= np.mean(state == PASS) <= 0.06
    assert 0.04 <= np.mean(state == FAIL) <= 0.06


ONE_LOOK = [
    (3, 0.2, 0.85),
    (5, 0.3, 0.92),
    (5, 0.5, 0.58),
    (5, 1.0, 0.24),
    (10, 0.5, 0.90),
    (10, 1.0, 0.43),
    (20, 1.0, 0.70),
]


@pytest.mark.parametrize(("n", "sd", "chance"), ONE_LOOK)
def test_chance_to_pass_at_no_drop(n: int, sd: float, chance: float) -> None:
    assert shares(0.0, sd, (n,))["pass"] == pytest.approx(chance, abs=0.015)


@pytest.mark.parametrize(
    ("mean", "sd", "what", "chance"),
    [
        (0.0, 0.35, "pass", 1.00),
        (0.0, 0.5, "pass", 0.99),
        (0.0, 0.7, "pass", 0.85),
        (-0.2, 0.35, "pass", 0.95),
        (-0.2, 0.5, "pass", 0.73),
        (-0.2, 0.7, "pass", 0.46),
        (-0.3, 0.35, "pass", 0.688),  # by 200,000 draws with scipy.stats; the others to two digits
        (-0.3, 0.5, "pass", 0.43),
        (-0.3, 0.7, "pass", 0.26),
        (-0.5, 0.35, "pass", 0.05),
        (-0.5, 0.5, "pass", 0.05),
        (-0.5, 0.7, "pass", 0.05),
        (-1.0, 0.35, "fail", 1.00),
        (-1.0, 0.5, "fail", 0.99),
        (-1.0, 0.7, "fail", 0.86),
    ],
)
def test_chances_with_three_looks(mean: float, sd: float, what: str, chance: float) -> None:
    assert shares(mean, sd, LOOKS)[what] == pytest.approx(chance, abs=0.015)


@pytest.mark.parametrize(("sd", "seeds"), [(0.35, 7), (0.5, 10), (0.7, 14)])
def test_seeds_used_at_no_drop(sd: float, seeds: int) -> None:
    assert shares(0.0, sd, LOOKS)["seeds"] == pytest.approx(seeds, abs=0.6)


# Differences that are not normal; each has a true drop of exactly 0.5 pp and a spread of 0.5 pp unless said


def uniform(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return rng.uniform(-np.sqrt(3.0), np.sqrt(3.0), shape)


def laplace(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return rng.laplace(0.0, np.sqrt(0.5), shape)


def collapses(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """One run in twenty falls by 4.4 spreads; the others stand a little above the mean."""
    return (0.05 - (rng.random(shape) < 0.05)) / np.sqrt(0.05 * 0.95)


@pytest.mark.parametrize(
    ("draw", "one_look", "three_looks"),
    [
        (uniform, (0.045, 0.065), (0.045, 0.065)),  # measured 5.5 and 5.8 %
        (laplace, (0.030, 0.055), (0.030, 0.055)),  # measured 4.1 and 4.3 %: outliers on both sides widen intervals
        (
            collapses,
            (0.60, 0.95),
            (0.60, 0.95),
        ),  # measured 78 %: a test of means does not see rare collapses
    ],
)
def test_false_passes_of_differences_that_are_not_normal(
    draw: Draw, one_look: tuple[float, float], three_looks: tuple[float, float]
) -> None:
    d = -0.5 + 0.5 * draw(np.random.default_rng(11), (20_000, 20))
    for looks, (least, most) in (((5,), one_look), (LOOKS, three_looks)):
        assert least <= np.mean(replayed(d, looks).state == PASS) <= most


@pytest.mark.parametrize("nodes", [100, 1_000])
@pytest.mark.parametrize("sd", [0.2, 0.5])
def test_false_passes_where_accuracies_are_whole_test_nodes(nodes: int, sd: float) -> None:
    """Rounded to 1 or 0.1 pp; through `judge`, whose spread of at least half a node is what holds the coarse ones."""
    step = 100.0 / nodes
    # The line itself is a multiple of neither grid at 100 nodes: dithering keeps the mean at exactly −0.5.
    rng = np.random.default_rng(13)
    d = step * np.floor((-0.5 + sd * rng.standard_normal((2_000, 20))) / step + rng.random((2_000, 20)))
    passes = {looks: 0 for looks in ((5,), LOOKS)}
    for row in d:
        for looks in passes:
            judged = judge([0.5] * 20, {"v": list(0.5 + row / 100.0)}, looks=looks, test_nodes=nodes)["v"]
            passes[looks] += judged.state == "pass"
    assert all(count / len(d) <= 0.06 for count in passes.values()), passes
