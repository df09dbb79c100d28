"""What a report shows of the training itself: its curves, and what its batches held."""

from __future__ import annotations

import re

from harness.records.results import VariantResult
from harness.reports.batch_facts import batch_facts
from harness.reports.figures.drawing import INK
from harness.reports.figures.training_curves import training_curves

from .conftest import accuracy, comparison

WATCHED = {
    "train_nodes": 150,
    "train_nodes_seen": [150, 150],
    "nodes_reached": [290, 296],
    "num_nodes": 300,
    "sampled_degrees": {
        "looked_at": 3,
        "mean": {"batches": 12.0, "graph": 9.0, "edges": 13.0},
        "top_share": {"batches": 0.02, "graph": 0.01, "edges": 0.03},
        "histogram": {"batches": [0.0, 0.25, 0.75], "graph": [0.1, 0.4, 0.25, 0.25], "edges": [0.0, 0.5, 0.5]},
        "distance": {"graph": 0.5, "edges": 0.25},
    },
    "label_balance": {
        "classes_without_target": [],
        "distance": {"mean": 0.07, "by_chance": 0.06},
        "worst": {"distance": 0.11, "targets": 22, "by_chance": 0.09, "by_chance_q99": 0.2},
        "entropy_bits": {"batches": 1.5, "train": 1.58},
    },
}


def test_what_the_batches_held_in_words():
    found = dict(batch_facts(WATCHED))
    assert found["coverage"] == (
        "150 of 150 training nodes a target in each epoch; 293 of 300 nodes in an epoch's batches (2 epochs)"
    )
    assert "mean 12, in the graph 9; 2.0 % of the nodes are of the graph's top 1 %" in found["degrees in batches"]
    assert found["by degree, % (graph)"] == "0: 0 (10), 1: 25 (40), 2 to 3: 75 (25), 4 to 7: 0 (25)"
    assert "0.070 from the training split's (total variation; chance gives 0.060)" in found["labels in batches"]


def test_a_run_that_watched_nothing_says_nothing():
    assert batch_facts({"epochs": 3, "train_nodes_seen": [], "nodes_reached": []}) == []
    assert batch_facts({"sampled_degrees": None, "label_balance": None}) == []


def _with_curves(result: VariantResult, loss: list[float], norm: list[float | None]) -> VariantResult:
    runs = [run.model_copy(update={"train_loss": loss, "gradient_norm": norm}) for run in result.runs]
    return result.model_copy(update={"runs": runs})


def _strokes(svg: str) -> list[tuple[str, str]]:
    """Ink and dash of every line that is seen in the first panel, from the lowest up."""
    return re.findall(
        r'concat_0_layer_0_marks"[^>]*><path d="[^"]*" stroke="([^"]+)"[^>]* stroke-dasharray="([^"]+)"', svg
    )


def _many(make_verdicts, make_plan, make_results, changes: dict[str, tuple[str, float]]):
    """Verdicts, plan and results of variants by name, each with its verdict and its change in pp."""
    made = [comparison(name, verdict, accuracy=accuracy(delta)) for name, (verdict, delta) in changes.items()]
    verdicts = make_verdicts(made)
    variants, _ = make_results(verdicts)
    curves = {name: [2.0, 1.0, 0.5 + 0.01 * i] for i, name in enumerate(variants)}
    return verdicts, make_plan(verdicts), {n: _with_curves(r, curves[n], [1.0, None, 0.5]) for n, r in variants.items()}


def test_the_reference_and_the_most_telling_variants_have_inks_of_their_own_and_names(
    make_verdicts, make_plan, make_results
):
    changes = {f"plain-{i}": ("no-gain", 0.1) for i in range(4)}
    changes |= {"good": ("accept", 0.0), "bad": ("reject", -9.0), "broken": ("reject", -1.0)}
    changes |= {f"more-{i}": ("reject", -0.1 * i) for i in range(1, 6)}
    verdicts, plan, drawn = _many(make_verdicts, make_plan, make_results, changes)
    drawn["broken"] = _with_curves(drawn["broken"], [1.0, 2.0, 3.0], [1.0, 1.0, 1.0])
    figure = training_curves(plan, verdicts, drawn)
    for svg in (figure.wide, figure.narrow):
        named = re.findall(r">([^<>]+)</text>", svg)
        told = {n for n in changes if n in named}
        assert told == {"good", "bad", "broken", "more-5", "more-4", "more-3"}
        assert {"baseline (ref.)", "other variants"} <= set(named)
        strokes = _strokes(svg)
        grey, (ink, solid), inks = strokes[:6], strokes[6], strokes[7:]
        assert {stroke for stroke, _ in grey} == {"#afb8c1"}
        assert (ink, solid) == (INK, "1,0")
        assert len({stroke for stroke, _ in inks}) == len({dash for _, dash in inks}) == 6
    assert "at most 6 have an ink of their own" in figure.caption
    assert "or more: broken." in figure.caption


def test_every_line_says_its_name_and_its_last_value(make_verdicts, make_plan, make_results):
    changes = {"good": ("accept", 0.0), "bad": ("reject", -9.0)}
    verdicts, plan, drawn = _many(make_verdicts, make_plan, make_results, changes)
    figure = training_curves(plan, verdicts, drawn)
    for svg in (figure.wide, figure.narrow):
        assert svg.count("<title>") == 6  # three cells, two panels
        last = drawn["bad"].runs[0].train_loss[-1]
        assert f"<title>bad (reject): training loss {last:.3g} in epoch 3</title>" in svg
        assert "<title>baseline (reference): gradient norm 0.5 in epoch 3</title>" in svg
    assert "other variants" not in figure.wide
    assert "ink of their own" not in figure.caption


def test_a_variant_under_the_reference_s_line_takes_no_ink_and_is_named(make_verdicts, make_plan, make_results):
    verdicts, plan, drawn = _many(make_verdicts, make_plan, make_results, {"same": ("accept", 0.0)})
    same = _with_curves(drawn["same"], [2.0, 1.0], [1.0, 0.5])
    drawn["same"] = same.model_copy(update={"reference_runs": same.runs})
    figure = training_curves(plan, verdicts, drawn)
    assert "since equal to it: same." in figure.caption
    assert [ink for ink, _ in _strokes(figure.wide)] == ["#afb8c1", INK]


def test_of_very_many_points_every_so_many_epochs_are_drawn(make_verdicts, make_plan, make_results):
    verdicts = make_verdicts()
    variants, _ = make_results(verdicts)
    long = {
        name: _with_curves(result, [1.0 / e for e in range(1, 801)], [1.0] * 800) for name, result in variants.items()
    }
    figure = training_curves(make_plan(verdicts), verdicts, long)
    epochs = [row[2] for row in figure.data.rows if row[:2] == ("baseline", "loss") or row[:2] == ["baseline", "loss"]]
    assert f"every {epochs[1] - epochs[0]}th epoch" in figure.caption
    assert epochs[0] == 1
    assert len(figure.data.rows) <= 6000 + 2 * len(variants)
    few = {name: _with_curves(result, [2.0, 1.0, 0.5], [1.0, None, 0.5]) for name, result in variants.items()}
    assert "epoch is drawn" not in training_curves(make_plan(verdicts), verdicts, few).caption


def test_variants_whose_runs_kept_no_curves_are_named(make_verdicts, make_plan, make_results):
    """As those of an earlier version: a figure of the baseline alone does not pass for one of all."""
    verdicts, plan, drawn = _many(make_verdicts, make_plan, make_results, {"a": ("accept", 0.0), "b": ("accept", 0.0)})
    assert "Without curves" not in training_curves(plan, verdicts, drawn).caption
    drawn["b"] = _with_curves(drawn["b"], [], [])
    assert training_curves(plan, verdicts, drawn).caption.endswith(" Without curves: b.")
