"""What a report shows of the training itself: its curves, and what its batches held."""

from __future__ import annotations

from harness.records.results import VariantResult
from harness.reports.batch_facts import batch_facts
from harness.reports.figures.training_curves import training_curves

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


def test_a_line_a_variant_and_those_that_stand_out(make_verdicts, make_plan, make_results):
    verdicts = make_verdicts()
    variants, _ = make_results(verdicts)
    drawn = {name: _with_curves(result, [2.0, 1.0, 0.5], [1.0, None, 0.5]) for name, result in variants.items()}
    figure = training_curves(make_plan(verdicts), drawn)
    assert "Standing out" not in figure.caption
    assert ">training loss</text>" in figure.wide
    assert ">gradient norm</text>" in figure.narrow
    name = next(n for n, result in variants.items() if result.reference is not None)
    drawn[name] = _with_curves(variants[name], [1.0, 2.0], [1.0, 1.0])
    risen = training_curves(make_plan(verdicts), drawn)
    assert f"Standing out: {name}." in risen.caption
    assert ">stands out</text>" in risen.wide


def test_of_very_many_points_every_so_many_epochs_are_drawn(make_verdicts, make_plan, make_results):
    verdicts = make_verdicts()
    variants, _ = make_results(verdicts)
    long = {
        name: _with_curves(result, [1.0 / e for e in range(1, 801)], [1.0] * 800) for name, result in variants.items()
    }
    figure = training_curves(make_plan(verdicts), long)
    epochs = [row[2] for row in figure.data.rows if row[:2] == ("baseline", "loss") or row[:2] == ["baseline", "loss"]]
    assert f"every {epochs[1] - epochs[0]}th epoch" in figure.caption
    assert epochs[0] == 1
    assert len(figure.data.rows) <= 6000 + 2 * len(variants)
    few = {name: _with_curves(result, [2.0, 1.0, 0.5], [1.0, None, 0.5]) for name, result in variants.items()}
    assert "epoch is drawn" not in training_curves(make_plan(verdicts), few).caption
