"""Two results folders against each other."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from harness.plan.model import Comparison
from harness.records.data_version import DataParts, DataVersion
from harness.spec.errors import InputError
from harness.spec.options import Options
from harness.spec.schema import Gate, Seeds
from harness.verdicts.across.compare import compare
from harness.verdicts.across.gains import ratio_change
from harness.verdicts.non_inferiority import non_inferiority
from tests.verdicts.across.made_up import A_METRICS, NAME, NEW, OLD, folder, less, plan, with_hash
from tests.verdicts.results import plan_of, runs_of

WIGGLE = [0.0005, -0.0004, 0.0002, -0.0006, 0.0003]


def version_of(fingerprint: str, **parts: str) -> DataVersion:
    same = {"graph": "g" * 64, "features": "f" * 64, "labels": "l" * 64, "splits": "s" * 64}
    return DataVersion(builder_version=5, fingerprint=fingerprint, parts=DataParts(**(same | parts)))


def test_a_library_upgrade_that_costs_a_point_of_accuracy_is_seen() -> None:
    """ogb #64: 47.5 to 6.7 % after an upgrade that nobody suspected."""
    dropped = [m + w for m, w in zip(less(A_METRICS, 1.0), WIGGLE, strict=True)]
    found = compare(folder("a"), folder("b", environment=NEW, baseline=dropped, variant=dropped))
    assert [(d.what, d.a, d.b) for d in found.differences] == [("torch", "2.12.0", "2.13.0")]
    assert [(cell.a, cell.accuracy.state) for cell in found.cells] == [("baseline", "fail"), (NAME, "fail")]
    accuracy = found.cells[0].accuracy
    d = [100 * (b - a) for a, b in zip(A_METRICS, dropped, strict=True)]
    expected = non_inferiority(d, alpha=0.05, max_drop_pp=0.5, test_nodes=10_000)
    assert accuracy.ci_pp == (expected.lower_pp, expected.upper_pp)
    assert accuracy.delta_pp == pytest.approx(-1.0, abs=0.02)
    assert (accuracy.n_pairs, accuracy.level) == (5, pytest.approx(0.9))
    # Within each folder nothing is amiss: the variant is as good as its baseline, and both are accepted.
    assert found.cells[1].verdicts == ("accept", "accept")


def test_equal_results_are_said_to_be_identical_and_nothing_differs() -> None:
    one = with_hash(folder("a"), "h")
    found = compare(one, one)
    assert found.differences == []
    assert [(c.accuracy.state, c.accuracy.identical, c.accuracy.same_predictions) for c in found.cells] == [
        ("pass", True, 5),
        ("pass", True, 5),
    ]
    assert found.cells[1].speed is not None
    assert found.cells[1].speed.change == pytest.approx(1.0)


def test_a_run_that_fails_in_b_alone_is_never_dropped_from_the_mean() -> None:
    found = compare(folder("a"), folder("b", environment=NEW, variant=[*A_METRICS[:2], "diverged", *A_METRICS[3:]]))
    accuracy = found.cells[1].accuracy
    assert (accuracy.state, accuracy.why) == ("dnf", "seed 2 of B ended as diverged: diverged in epoch 3, though A ran")
    assert found.cells[0].accuracy.state == "pass"


def test_a_run_that_fails_in_a_alone_is_no_pair() -> None:
    found = compare(folder("a", variant=["oom", *A_METRICS[1:]]), folder("b", environment=NEW))
    assert (found.cells[1].accuracy.n_pairs, found.cells[1].accuracy.state) == (4, "pass")


def test_seeds_are_paired_by_their_number_and_later_looks_of_a_reference_count() -> None:
    one, other = folder("a", baseline=A_METRICS[:3], variant=A_METRICS[:3]), folder("b")
    assert compare(one, other).cells[0].accuracy.n_pairs == 3
    # The baseline's own file ends at the first look; its other seeds are in the file of a variant that needed them.
    long = one.variants[NAME].model_copy(update={"reference_runs": runs_of(list(A_METRICS), "baseline")})
    with_more = type(one)(one.name, one.plan, one.variants | {NAME: long}, one.timings, one.verdicts)
    assert compare(with_more, other).cells[0].accuracy.n_pairs == 5


def test_cells_meet_by_their_options_whatever_they_are_called() -> None:
    named = plan_of(Comparison(variant=NAME), Comparison(variant="more"))
    cells = dict(named.cells)
    cells[NAME] = cells[NAME].model_copy(update={"options": Options(checkpointing=True), "cell_id": "one"})
    cells["more"] = cells["more"].model_copy(update={"options": Options(aggregation="spmm")})
    one = folder("a", made=named.model_copy(update={"cells": cells}))
    renamed = dict(cells)
    renamed["more"] = cells[NAME].model_copy(update={"name": "more", "cell_id": "of another version"})
    del renamed[NAME]
    other = folder("b", made=named.model_copy(update={"cells": renamed}))
    found = compare(one, other)
    assert [(cell.a, cell.b) for cell in found.cells] == [("baseline", "baseline"), (NAME, "more")]
    assert found.left_out == ["more is in a alone"]


def test_what_one_name_hides_is_named_and_left_out() -> None:
    made = plan()
    other = made.cells | {NAME: made.cells[NAME].model_copy(update={"options": Options(checkpointing=True)})}
    one = made.cells | {NAME: made.cells[NAME].model_copy(update={"options": Options(precision="bf16")})}
    a, b = (folder(n, made=made.model_copy(update={"cells": c})) for n, c in (("a", one), ("b", other)))
    found = compare(a, b)
    assert [cell.a for cell in found.cells] == ["baseline"]
    assert found.left_out == [
        f"{NAME} has other options in each: precision bf16 and fp32 and checkpointing False and True"
    ]


def test_verdicts_and_what_changed_them_stand_side_by_side() -> None:
    found = compare(folder("a"), folder("b", environment=NEW, ratios=[0.99, 1.0, 1.01, 1.0]))
    cell = found.cells[1]
    assert cell.verdicts == ("accept", "no-gain")
    assert cell.reasons[1].startswith("1.00 times as fast")
    assert cell.speed is not None
    assert cell.speed.change_ci is not None
    assert cell.speed.change_ci[1] < 1.0  # the gain is shown to be smaller in B
    assert cell.epoch_s == (pytest.approx(1 / 1.415, abs=0.01), pytest.approx(1.0, abs=0.02))
    assert found.cells[0].verdicts == (None, None)
    assert found.cells[0].speed is None


def test_verdicts_of_an_earlier_plan_are_not_shown_as_those_of_the_plan() -> None:
    b = folder("b")
    stricter = b.plan.model_copy(update={"gate": b.plan.gate.model_copy(update={"min_speedup": 2.0})})
    cell = b.plan.cells[NAME].model_copy(update={"patch": {"retain": "inputs"}})
    other = b.plan.model_copy(update={"cells": b.plan.cells | {NAME: cell}})
    for made in (stricter, other):
        found = compare(folder("a"), replace(b, plan=made))
        thin = next(c for c in found.cells if c.a == NAME)
        assert (thin.verdicts, thin.reasons) == ((None, None), ("", ""))
        assert thin.speed is not None
        assert found.left_out == ["the verdicts in b on thin: of an earlier plan than its plan.json"]


def test_ratios_are_not_compared_where_references_differ() -> None:
    made = plan()
    cells = dict(made.cells)
    moved = cells | {"baseline": cells["baseline"].model_copy(update={"options": Options(precision="bf16")})}
    a, b = (folder(n, made=made.model_copy(update={"cells": c})) for n, c in (("a", cells), ("b", moved)))
    (cell,) = compare(a, b).cells
    assert (cell.a, cell.speed, cell.verdicts) == (NAME, None, (None, None))


def test_welchs_interval_of_a_change_is_scipys() -> None:
    a, b = np.log([1.40, 1.42, 1.38, 1.45]), np.log([1.20, 1.30, 1.25, 1.22, 1.28, 1.10])
    change, (lower, upper) = ratio_change(list(a), list(b))
    expected = stats.ttest_ind(b, a, equal_var=False).confidence_interval(0.95)
    assert change == pytest.approx(math.exp(b.mean() - a.mean()))
    assert (lower, upper) == (pytest.approx(math.exp(expected.low)), pytest.approx(math.exp(expected.high)))
    assert ratio_change([0.1, 0.1], [0.1, 0.1]) == (1.0, (1.0, 1.0))  # exact bytes have no spread
    with pytest.raises(ValueError, match="two log ratios"):
        ratio_change([0.1], [0.1, 0.2])


# What differs


@pytest.mark.parametrize(
    ("b", "named"),
    [
        ({"environment": OLD | {"numpy": "2.4.0"}}, ("numpy", "2.1.0", "2.4.0")),
        ({"environment": OLD | {"engine": "4"}}, ("engine", "3", "4")),
        ({"environment": OLD | {"cpu": "another"}}, ("cpu", "a processor", "another")),
        ({"quality": {"threads": 4}}, ("threads", "1", "4")),
        ({"quality": {"device": "cuda:0"}}, ("device", "cpu", "cpu and cuda:0")),
        ({"made": plan(seeds=Seeds(looks=(5, 10)))}, ("looks", "5, 10, 20", "5, 10")),
        ({"made": plan(seeds=Seeds(first=7))}, ("first-seed", "0", "7")),
    ],
)
def test_what_differs_is_named(b: dict[str, Any], named: tuple[str, str, str]) -> None:
    found = compare(folder("a"), folder("b", **b))
    assert [(d.what, d.a, d.b) for d in found.differences] == [named]


def test_another_gate_is_a_difference_and_as_judges() -> None:
    found = compare(folder("a"), folder("b", made=plan(gate=Gate(max_drop_pp=5.0)), baseline=less(A_METRICS, 1.0)))
    assert [d.what for d in found.differences] == ["gate"]
    assert found.cells[0].accuracy.state == "fail"


def test_what_one_folder_does_not_say_is_no_difference_but_said() -> None:
    bare = {key: value for key, value in OLD.items() if key != "numpy"}
    found = compare(folder("a"), folder("b", environment=bare))
    assert (found.differences, found.unrecorded) == ([], ["numpy"])


def test_only_what_is_allowed_may_differ() -> None:
    one, other = folder("a"), folder("b", environment=NEW | {"numpy": "2.4.0"})
    assert len(compare(one, other, "torch, numpy").differences) == 2
    with pytest.raises(InputError, match=r"numpy is 2\.1\.0 in the first and 2\.4\.0 in the second"):
        compare(one, other, "torch")
    with pytest.raises(InputError, match="names nothing that can differ; known: torch, torch-geometric, numpy"):
        compare(one, other, "pytorch")


# What leaves nothing to compare


def test_another_split_is_refused_by_name() -> None:
    one = folder("a", quality={"fingerprint": "x", "data": version_of("x", splits="1" * 64)})
    other = folder("b", quality={"fingerprint": "y", "data": version_of("y", splits="2" * 64)})
    with pytest.raises(InputError, match="the splits differ, 111111111111 against 222222222222; graph, features and"):
        compare(one, other)


def test_other_data_of_before_parts_were_recorded_is_refused_too() -> None:
    with pytest.raises(InputError, match="the data fingerprints differ, x against y"):
        compare(folder("a", quality={"fingerprint": "x"}), folder("b", quality={"fingerprint": "y"}))


def test_a_folder_of_two_data_sets_is_refused() -> None:
    mixed = folder("b")
    other = mixed.variants[NAME].model_copy(update={"fingerprint": "z"})
    b = type(mixed)(mixed.name, mixed.plan, mixed.variants | {NAME: other}, mixed.timings, mixed.verdicts)
    with pytest.raises(InputError, match="its own results are of different data"):
        compare(folder("a"), b)


def test_another_metric_is_refused() -> None:
    with pytest.raises(InputError, match="the gate's metric is accuracy in the first and roc_auc in the second"):
        compare(folder("a"), folder("b", made=plan(gate=Gate(metric="roc_auc"))))


def test_no_options_in_common_are_refused_with_what_differs() -> None:
    made = plan()
    cells = {n: c.model_copy(update={"options": Options(precision="bf16")}) for n, c in made.cells.items()}
    with pytest.raises(
        InputError, match="no options in common; baseline has other options in each: precision fp32 and"
    ):
        compare(folder("a"), folder("b", made=made.model_copy(update={"cells": cells})))


def test_an_empty_folder_is_refused() -> None:
    empty = folder("b")
    b = type(empty)("b", empty.plan, {}, {}, empty.verdicts)
    with pytest.raises(InputError, match="b: holds no results of its plan"):
        compare(folder("a"), b)


def test_an_environment_of_another_shape_is_a_difference_and_no_fault() -> None:
    found = compare(folder("a"), folder("b", environment=OLD | {"cuda": {"driver": [1, 2]}}))
    assert ("cuda", "{'driver': [1, 2]}") in [(d.what, d.b) for d in found.differences] or "cuda" in found.unrecorded
