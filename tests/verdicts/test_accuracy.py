"""The accuracy gate: vectors, looks, failures, and what it promises about errors."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.verdicts import judge
from harness.verdicts.accuracy import Judgement
from harness.verdicts.non_inferiority import (
    collapse_bound,
    identical_is_evidence,
    non_inferiority,
    paired_differences,
    resolution,
)

BASELINE = 0.70
LOOKS = [5, 10, 20]


def judge_d(d_pp: list[float], **kwargs: object) -> Judgement:
    """One variant that differs from a baseline of .70 by these percentage points."""
    variant = [BASELINE + d / 100.0 for d in d_pp]
    return judge([BASELINE] * len(d_pp), {"v": variant}, **kwargs)["v"]  # type: ignore[arg-type]


VECTORS = [
    # d, one look: state, LB, UB, more; first of three looks: state, LB, UB, more
    ([0.1, -0.2, 0.0, -0.3, 0.2], ("pass", -0.2377, 0.1577, None), ("pass", -0.3144, 0.2344, None)),
    ([0.1, -0.7, 0.4, -0.9, 0.3], ("inconclusive", -0.7304, 0.4104, 16), ("inconclusive", -0.9518, 0.6318, 23)),
    ([-1.2, -0.9, -1.4, -0.8, -1.1], ("fail", -1.3076, -0.8524, None), ("fail", -1.3960, -0.7640, None)),
    ([-0.5] * 5, ("inconclusive", -0.5, -0.5, None), ("inconclusive", -0.5, -0.5, None)),
]


@pytest.mark.parametrize(("d", "one_look", "first_look"), VECTORS)
def test_vectors(d: list[float], one_look: tuple, first_look: tuple) -> None:
    for looks, (state, lower, upper, more) in ((None, one_look), (LOOKS, first_look)):
        judged = judge_d(d, looks=looks)
        assert (judged.state, judged.more_seeds, judged.look) == (state, more, 5)
        assert judged.lower_pp == pytest.approx(lower, abs=5e-5)
        assert judged.upper_pp == pytest.approx(upper, abs=5e-5)


def test_half_a_node_is_the_smallest_spread() -> None:
    small = judge_d([0.0] * 3, looks=None, test_nodes=100)
    large = judge_d([0.0] * 3, looks=None, test_nodes=1000)
    assert (small.state, large.state) == ("inconclusive", "pass")
    assert small.lower_pp == pytest.approx(-0.8429, abs=5e-5)
    assert large.lower_pp == pytest.approx(-0.0843, abs=5e-5)


def test_identical_predictions_of_an_exact_variant_pass_on_any_test_set() -> None:
    test = non_inferiority([0.0] * 3, alpha=0.05, test_nodes=10, identical=True, parity_equal=True)
    assert (test.state, test.lower_pp, test.identical) == ("pass", 0.0, True)
    assert non_inferiority([0.0] * 3, test_nodes=10, parity_equal=True).state == "inconclusive"


def test_identical_predictions_by_themselves_are_what_the_half_node_makes_of_them() -> None:
    for nodes in (2, 20, 100):
        by_hash, by_metric = (non_inferiority([0.0] * 3, test_nodes=nodes, identical=same) for same in (True, False))
        assert by_hash.state == "inconclusive"
        assert (by_hash.lower_pp, by_hash.upper_pp) == (by_metric.lower_pp, by_metric.upper_pp)
        assert (by_hash.identical, by_metric.identical) == (True, False)


def test_identical_predictions_pass_where_they_are_many() -> None:
    # 0.995^598 is just below 5 %, 0.995^597 just above.
    assert identical_is_evidence(1, 598, 0.05, 0.5)
    assert not identical_is_evidence(1, 597, 0.05, 0.5)
    assert not identical_is_evidence(3, 199, 0.05, 0.5)
    assert not identical_is_evidence(20, 10_000, 0.05, 0.0)
    assert not identical_is_evidence(20, None, 0.05, 0.5)
    assert non_inferiority([0.0] * 3, test_nodes=200, identical=True).lower_pp == 0.0


@pytest.mark.parametrize(("n", "nodes", "drop_pp"), [(3, 2, 31.0), (3, 20, 2.0), (3, 100, 0.6), (3, 200, 0.5)])
def test_identical_by_chance_passes_at_most_one_time_in_twenty(n: int, nodes: int, drop_pp: float) -> None:
    # Each right answer is lost with a chance of drop_pp; the predictions are identical where none is.
    rng = np.random.default_rng(5)
    lost = rng.binomial(nodes, drop_pp / 100.0, (2000, n))
    tests = [
        non_inferiority([-100.0 * x / nodes for x in row], test_nodes=nodes, identical=not any(row)) for row in lost
    ]
    assert np.mean([test.state == "pass" for test in tests]) <= 0.06
    assert nodes > 20 or np.mean([test.identical for test in tests]) > 0.05


def test_identical_pairs_that_differ_are_a_contradiction() -> None:
    with pytest.raises(ValueError, match="identical pairs do not differ"):
        non_inferiority([0.0, -10.0, 0.0], identical=True)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_fewer_than_three_pairs_are_invalid(n: int) -> None:
    judged = judge_d([0.0] * n, looks=None)
    assert (judged.state, judged.lower_pp, judged.upper_pp, judged.more_seeds) == ("invalid", None, None, None)


def test_fewer_than_the_first_look_are_invalid() -> None:
    judged = judge_d([0.0] * 4, looks=LOOKS)
    assert (judged.state, judged.look) == ("invalid", None)


def test_bounds_are_compared_strictly_after_rounding() -> None:
    # 0.695 − 0.70 is −0.50000000000000044 in floats: it must not count as a larger drop.
    assert paired_differences([0.70], [0.695]) == [-0.5]
    assert non_inferiority([100 * (0.695 - 0.70)] * 3).state == "inconclusive"
    assert non_inferiority([-0.3] * 7, max_drop_pp=0.3).state == "inconclusive"


def test_between_looks_the_last_completed_one_counts() -> None:
    d = VECTORS[1][0]
    at_seven, at_five = judge_d([*d, -3.0, -3.0], looks=LOOKS), judge_d(d, looks=LOOKS)
    assert (at_seven.look, at_seven.lower_pp) == (5, at_five.lower_pp)


def test_a_variant_that_fails_where_the_baseline_ran_is_never_dropped() -> None:
    fine = [0.70, 0.71, 0.70, 0.71, 0.70, 0.71]
    for gone in (None, math.nan, np.float64("nan")):
        broken = [*fine[:3], gone, *fine[4:]]
        judged = judge([0.70] * 6, {"v": broken})["v"]
        assert (judged.state, judged.failed_at) == ("dnf", 3)
        assert judge(broken, {"v": fine})["v"].pairs == (0, 1, 2, 4, 5)  # the baseline's failure is no pair


def test_a_failure_after_the_decision_is_ignored() -> None:
    assert judge([0.70] * 6, {"v": [0.71, 0.70, 0.71, 0.70, 0.71, None]})["v"].state == "pass"


def test_lists_of_unequal_length_use_the_seeds_that_both_have() -> None:
    assert judge([0.70] * 9, {"v": [0.70] * 6})["v"] == judge([0.70] * 6, {"v": [0.70] * 6})["v"]


@pytest.mark.parametrize("accuracies", [[71.0] * 5, [-0.1] * 5, [math.inf] * 5])
def test_accuracies_are_fractions(accuracies: list[float]) -> None:
    with pytest.raises(ValueError, match=r"v\[0\].*fractions in \[0, 1\]"):
        judge([0.7] * 5, {"v": accuracies})


@pytest.mark.parametrize("looks", [[], [2, 5], [10, 5], [5, 5]])
def test_bad_looks_are_refused(looks: list[int]) -> None:
    with pytest.raises(ValueError, match="looks must increase"):
        judge([0.7] * 20, {"v": [0.7] * 20}, looks=looks)


@pytest.mark.parametrize("looks", [[3.5], ["5"], 5, np.array([5.0, 10.0])])
def test_looks_are_whole_numbers(looks: object) -> None:
    with pytest.raises(ValueError, match="whole numbers"):
        judge([0.7] * 20, {"v": [0.7] * 20}, looks=looks)  # type: ignore[arg-type]


def test_looks_may_be_an_array() -> None:
    as_list, as_array = (judge([0.7] * 5, {"v": [0.7] * 5}, looks=looks) for looks in (LOOKS, np.array(LOOKS)))
    assert as_array == as_list


@pytest.mark.parametrize("values", [["0.7"] * 5, "0.7", [[0.7]]])
def test_accuracies_are_numbers(values: object) -> None:
    with pytest.raises(ValueError, match=r"v\[0\] is .*numbers"):
        judge([0.7] * 5, {"v": values})  # type: ignore[dict-item]


def test_a_tiny_alpha_is_judged() -> None:
    d = [0.01, -0.02, 0.0, 0.01, -0.01]
    assert judge_d(d, alpha=1e-12, looks=LOOKS).state == "inconclusive"
    assert judge_d(d, alpha=0.05, looks=LOOKS).state == "pass"


def test_no_variants_and_no_baseline() -> None:
    assert judge([0.7] * 5, {}) == {}
    assert judge([], {"v": []})["v"].state == "invalid"


def test_arrays_are_as_good_as_lists() -> None:
    judged = judge(np.full(5, 0.7), {"v": np.full(5, 0.7)})["v"]
    assert judged.state == "pass"
    assert isinstance(judged.lower_pp, float)


PROBABLE = st.floats(-2.0, 2.0).map(lambda x: round(x, 3))


@given(st.lists(PROBABLE, min_size=3, max_size=25), st.floats(-0.2, 0.2).map(lambda x: round(x, 3)))
@settings(max_examples=60)
def test_a_constant_added_to_both_arms_changes_nothing(d: list[float], shift: float) -> None:
    baseline = [0.5 + 0.001 * i for i in range(len(d))]
    variant = [b + x / 100.0 for b, x in zip(baseline, d, strict=True)]
    moved = judge([b + shift for b in baseline], {"v": [v + shift for v in variant]}, looks=[3, 10])["v"]
    assert moved == judge(baseline, {"v": variant}, looks=[3, 10])["v"]


@given(st.lists(PROBABLE, min_size=10, max_size=10), st.lists(PROBABLE, min_size=0, max_size=20))
@settings(max_examples=60)
def test_seeds_beyond_the_decision_are_ignored(d: list[float], later: list[float]) -> None:
    judged = judge_d(d, looks=[5, 10, 20])
    if judged.decided:
        assert judge_d([*d, *later], looks=[5, 10, 20]) == judged


@given(st.lists(PROBABLE, min_size=5, max_size=5), st.permutations(range(4)))
@settings(max_examples=30)
def test_variants_do_not_see_each_other(d: list[float], order: list[int]) -> None:
    arms = {f"v{i}": [BASELINE + (x + i) / 100.0 for x in d] for i in range(4)}
    together = judge([BASELINE] * 5, {f"v{i}": arms[f"v{i}"] for i in order})
    for name, values in arms.items():
        assert together[name] == judge([BASELINE] * 5, {name: values})[name]


@given(st.lists(PROBABLE, min_size=5, max_size=5), st.floats(0.0, 1.0))
@settings(max_examples=60)
def test_a_larger_allowance_never_turns_a_pass_into_less(d: list[float], extra: float) -> None:
    if judge_d(d, looks=None).state == "pass":
        assert judge_d(d, looks=None, max_drop_pp=0.5 + extra).state == "pass"


def test_resolution_of_coras_test_set() -> None:
    cora = resolution(1000)
    assert cora.max_drop_nodes == 5.0
    assert cora.sampling_error_pp == (pytest.approx(0.447, abs=1e-3), pytest.approx(1.0))
    with pytest.raises(ValueError, match="at least one node"):
        resolution(0)


def test_collapse_bound() -> None:
    assert collapse_bound(5) == pytest.approx(1 - 0.05**0.2)
    assert collapse_bound(5) == pytest.approx(0.451, abs=1e-3)
    assert collapse_bound(0) == 1.0


def test_small_test_sets_do_not_pass_by_coincidence() -> None:
    # 100 test nodes and a true drop of 0.5 pp: differences of whole nodes often coincide in three runs.
    rng = np.random.default_rng(7)
    d = rng.binomial(3, 0.5, (2000, 3)) - 2.0  # whole nodes of 100 nodes, mean −0.5 pp
    with_floor = np.mean([non_inferiority(list(row), test_nodes=100).state == "pass" for row in d])
    without = np.mean([non_inferiority(list(row)).state == "pass" for row in d])
    assert with_floor < 0.06 < without
