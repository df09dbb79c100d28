"""Figures of the results that two cores made of `specs/debian.yaml`: their rows are what the runs counted."""

from __future__ import annotations

import itertools
import math
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from harness.commands.results import read_results
from harness.plan.model import Plan
from harness.records.drawn_batch import DrawnBatch
from harness.records.files import read_model
from harness.records.results import VariantResult
from harness.reports.digits import seconds_text
from harness.reports.figures.cache import cache_hits
from harness.reports.figures.degrees import degrees
from harness.reports.figures.drawing import Figure
from harness.reports.figures.forest import forest
from harness.reports.figures.in_order import figures
from harness.reports.figures.learning_curves import learning_curves
from harness.reports.figures.memory import memory
from harness.reports.figures.partitions import partitions
from harness.reports.figures.stage_shares import _clear_of, stage_shares
from harness.reports.figures.subgraph import places, sampled_subgraph
from harness.verdicts.analyze import analyze
from harness.verdicts.model import Verdicts

REAL = Path(__file__).parents[1] / "verdicts" / "real" / "debian"
REFERENCE = Path(__file__).parents[2] / "results" / "reference"


class Results(NamedTuple):
    plan: Plan
    verdicts: Verdicts
    variants: dict[str, VariantResult]


@pytest.fixture(scope="module")
def real() -> Results:
    plan = read_model(REAL / "plan.json", Plan)
    variants, timings = read_results(REAL, plan)[:2]
    return Results(plan, analyze(plan, variants, timings), variants)


def rows(figure: Figure) -> list[dict[str, object]]:
    assert figure.data is not None
    return [dict(zip(figure.data.headings, row, strict=True)) for row in figure.data.rows]


def counters(results: Results, variant: str) -> dict:
    (found,) = [c.counters for c in results.verdicts.comparisons if c.variant == variant]
    return found


def with_comparisons(results: Results, *comparisons) -> Verdicts:
    return results.verdicts.model_copy(update={"comparisons": list(comparisons)})


def test_every_figure_that_is_drawn_has_data_a_caption_and_marks_that_say_their_values(real) -> None:
    drawn = [figure for figure in figures(real.plan, real.verdicts, real.variants) if figure.wide]
    assert {"forest", "cache_hits", "partitions", "learning"} <= {figure.name for figure in drawn}
    for figure in drawn:
        assert figure.data is not None, figure.name
        assert figure.data.rows, figure.name
        assert len(figure.caption) > 80, figure.name
        assert "<title>" in figure.wide, figure.name
        assert "<title>" in figure.narrow, figure.name


# The forest plot


def test_the_forest_has_the_table_s_changes_in_its_order(real) -> None:
    found = rows(forest(real.verdicts))
    compared = [c for c in real.verdicts.comparisons if c.accuracy is not None]
    assert [r["variant"] for r in found] == [c.variant for c in compared]
    for row, c in zip(found, compared, strict=True):
        assert (row["delta_pp"], (row["delta_lower_pp"], row["delta_upper_pp"])) == (
            c.accuracy.delta_pp,
            c.accuracy.ci_pp,
        )
        assert row["gate_pp"] == -real.verdicts.gate.max_drop_pp
    states = {r["variant"]: r["state"] for r in found}
    assert states["cache"] == "kept"
    assert states["cluster-metis"] == "lost"


def test_a_collapse_is_an_arrow_and_does_not_flatten_the_others(real) -> None:
    metis = next(c for c in real.verdicts.comparisons if c.variant == "cluster-metis")
    fell = metis.accuracy.model_copy(update={"delta_pp": -60.0, "ci_pp": (-62.0, -58.0)})
    others = [c for c in real.verdicts.comparisons if c.variant != "cluster-metis"]
    figure = forest(with_comparisons(real, *others, metis.model_copy(update={"accuracy": fell})))
    assert "An arrow at the edge: the point is farther out, cluster-metis." in figure.caption
    assert ">−60</text>" not in figure.wide  # no tick there
    assert "cluster-metis: −60.0 [−62.0, −58.0] pp against baseline" in figure.wide


def test_sixty_variants_keep_a_row_each_and_a_name(real) -> None:
    one = next(c for c in real.verdicts.comparisons if c.variant == "fanout-5-5")
    many = [one.model_copy(update={"variant": f"fanout-{i}-{'x' * (70 * (i % 3))}"}) for i in range(60)]
    figure = forest(with_comparisons(real, *many))
    heights = [float(h) for h in re.findall(r'translate\(-8,([0-9.]+)\)"[^>]*>fanout', figure.narrow)]
    assert len(heights) == 60
    apart = [b - a for a, b in zip(sorted(heights), sorted(heights)[1:], strict=False)]
    assert min(apart) > 14.0  # px, a line of text
    assert len(figure.wide) + len(figure.narrow) < 200_000


def test_without_a_comparison_the_forest_says_why(real) -> None:
    skipped = [c.model_copy(update={"accuracy": None}) for c in real.verdicts.comparisons]
    assert forest(with_comparisons(real, *skipped)).missing == (
        "Not drawn: no variant and its reference have the accuracy of one seed."
    )


# The cache


def test_the_hit_rate_is_hits_over_requests_and_the_best_is_of_the_fetches_counted(real) -> None:
    (row,) = rows(cache_hits(real.verdicts))
    counted = counters(real, "cache")
    assert row["hit_rate"] == counted["cache_hits"] / counted["cache_requests"] == 1351337 / 2293050
    assert row["cached_share"] == counted["cache_nodes"] / counted["num_nodes"]
    assert row["best_hit_rate"] == counted["cache_hits_optimal"] / counted["cache_recount"]["requests"]
    assert row["cached_share"] < row["hit_rate"] < row["best_hit_rate"]  # better than chance, no better than the best


def test_a_best_that_nobody_counted_is_not_drawn(real) -> None:
    (cache,) = [c for c in real.verdicts.comparisons if c.variant == "cache"]
    counted = {key: value for key, value in cache.counters.items() if key != "cache_hits_optimal"}
    figure = cache_hits(with_comparisons(real, cache.model_copy(update={"counters": counted})))
    assert "The best was not counted for cache." in figure.caption
    assert "A ring" not in figure.caption
    assert rows(figure)[0]["best_hit_rate"] is None


# The partitions


def test_the_partition_s_numbers_are_those_of_its_report(real) -> None:
    (row,) = rows(partitions(real.verdicts))
    found = counters(real, "cluster-metis")
    report = found["partition"]
    assert (row["variant"], row["method"], row["parts"], row["empty_parts"]) == ("cluster-metis", "metis", 64, 0)
    assert row["edge_cut"] + row["kept_in_parts"] == pytest.approx(1.0)
    assert row["kept_at_random"] == pytest.approx(report["kept_edge_share"] / report["kept_over_random"])
    assert row["kept_in_batches"] == found["kept_edge_share"] > row["kept_in_parts"]  # parts are joined
    assert [row[f"balance_{kind}"] for kind in ("nodes", "edges", "train")] == list(report["balance"].values())


# The learning curves


def test_a_curve_is_the_mean_over_seeds_and_its_band_their_extremes(real) -> None:
    found = rows(learning_curves(real.plan, real.verdicts, real.variants))
    runs = real.variants["fanout-5-5"].runs
    every = real.plan.cells["fanout-5-5"].training.eval_every
    last = [r for r in found if r["variant"] == "fanout-5-5" and r["curve"] == "variant"][-1]
    reached = [run.val_accuracy[-1] for run in runs]
    assert last["epoch"] == every * len(runs[0].val_accuracy) == 8
    assert last["mean"] == pytest.approx(sum(reached) / len(reached))
    assert (last["lowest"], last["highest"], last["seeds"]) == (min(reached), max(reached), len(runs))


def test_a_variant_that_equals_its_reference_is_named_and_not_drawn(real) -> None:
    figure = learning_curves(real.plan, real.verdicts, real.variants)
    assert {r["variant"] for r in rows(figure)} == {"fanout-5-5", "cluster-metis"}
    assert "since it equals its reference's: cache." in figure.caption


def test_a_variant_without_curves_is_named(real) -> None:
    def without_curves(variants: dict[str, VariantResult]) -> str:
        return learning_curves(real.plan, real.verdicts, variants).caption.partition(" Without curves: ")[2]

    bare = real.variants["cluster-metis"].model_copy(update={"runs": []})
    assert "cluster-metis" not in without_curves(real.variants)
    assert "cluster-metis" in without_curves({**real.variants, "cluster-metis": bare})


def test_a_seed_that_stopped_early_leaves_the_mean_and_its_last_epoch_is_the_one_it_stopped_at(real) -> None:
    result = real.variants["fanout-5-5"]
    short = result.runs[0].model_copy(update={"val_accuracy": result.runs[0].val_accuracy[:2], "epochs": 3})
    variants = {**real.variants, "fanout-5-5": result.model_copy(update={"runs": [short, *result.runs[1:3]]})}
    found = rows(learning_curves(real.plan, real.verdicts, variants))
    seeds = [(r["epoch"], r["seeds"]) for r in found if r["variant"] == "fanout-5-5" and r["curve"] == "variant"]
    assert seeds == [(2, 3), (3, 1), (4, 2), (6, 2), (8, 2)]


def test_of_many_variants_the_accepted_ones_and_the_worst_are_drawn(real) -> None:
    one = next(c for c in real.verdicts.comparisons if c.variant == "fanout-5-5")
    many = [
        one.model_copy(
            update={
                "variant": f"v{i}",
                "verdict": "accept" if i in (3, 40) else "reject",
                "accuracy": one.accuracy.model_copy(update={"delta_pp": -0.1 * i}),
            }
        )
        for i in range(60)
    ]
    plan = real.plan.model_copy(
        update={"cells": real.plan.cells | {f"v{i}": real.plan.cells["fanout-5-5"] for i in range(60)}}
    )
    variants = {f"v{i}": real.variants["fanout-5-5"] for i in range(60)}
    figure = learning_curves(plan, with_comparisons(real, *many), variants)
    assert list(dict.fromkeys(r["variant"] for r in rows(figure))) == ["v3", "v40", *(f"v{i}" for i in range(53, 60))]
    assert "Of 60 variants accepted ones and those with the largest drop are drawn." in figure.caption
    assert len(figure.wide) + len(figure.narrow) < 500_000


# The batch and its degrees

TREE = DrawnBatch(
    method="uniform",
    fanout=[2, 2],
    targets=2,
    nodes=[40, 41, 7, 8, 9, 5, 6],
    hops=[0, 0, 1, 1, 1, 2, 2],
    degrees=[2, 3, 4, 2, 9, 1, 1],
    edges=[(2, 0), (3, 0), (3, 1), (4, 1), (5, 2), (6, 2), (4, 3)],
    num_nodes=7,
    num_edges=7,
)


def with_batch(real: Results, batch: DrawnBatch | None, why: str = "") -> dict[str, VariantResult]:
    baseline = real.variants["baseline"].model_copy(update={"drawn_batch": batch, "not_drawn": why})
    return {**real.variants, "baseline": baseline}


def test_every_node_and_edge_of_the_batch_is_drawn_and_says_what_it_is(real) -> None:
    figure = sampled_subgraph(with_batch(real, TREE))
    assert figure.wide.count("<title>") == 7
    assert figure.wide.count("<line") == 7
    assert "<title>node 9: reached in hop 1; 9 neighbours in the graph, 0 drawn</title>" in figure.wide
    assert [(r["source"], r["destination"], r["hop"]) for r in rows(figure)][:5] == [
        (7, 40, 1), (8, 40, 1), (8, 41, 1), (9, 41, 1), (5, 7, 2),
    ]  # fmt: skip
    assert "The first 2 targets of the baseline's training" in figure.caption
    assert "Only the first" not in figure.caption


def test_a_ring_is_a_hop_and_no_two_nodes_lie_on_each_other() -> None:
    at = places(TREE)
    radii = [round(math.hypot(x, y), 9) for x, y in at]
    assert sorted(set(radii)) == sorted({r for r, hop in zip(radii, TREE.hops, strict=True)})
    assert len({(r, hop) for r, hop in zip(radii, TREE.hops, strict=True)}) == 3
    assert max(radii) == 1.0
    assert min(math.dist(a, b) for a, b in itertools.combinations(at, 2)) > 0.2
    one = TREE.model_copy(update={"targets": 1, "nodes": [3], "hops": [0], "degrees": [0], "edges": []})
    assert places(one) == [(0.0, 0.0)]


def test_a_batch_that_was_cut_says_so_and_one_that_is_not_there_why(real) -> None:
    assert (
        "Only the first 7 nodes reached are drawn"
        in sampled_subgraph(with_batch(real, TREE.model_copy(update={"num_nodes": 300}))).caption
    )
    why = "batches of kind cluster are no sampled neighbourhoods"
    assert sampled_subgraph(with_batch(real, None, why)).missing == f"Not drawn: no batch to show: {why}."
    assert sampled_subgraph(real.variants).missing.endswith("the baseline's job kept no batch.")


def test_the_degrees_of_the_batches_are_those_counted_beside_the_graphs() -> None:
    found = read_model(REFERENCE / "debian" / "verdicts.json", Verdicts)
    figure = degrees(found, {})
    counted = {c.variant: c.counters.get("sampled_degrees") for c in found.comparisons}
    drawn = rows(figure)
    assert [r["share"] for r in drawn if r["nodes_of"] == "graph"] == counted["fanout-5-5"]["histogram"]["graph"]
    metis = [r["share"] for r in drawn if r["nodes_of"] == "cluster-metis"]
    assert metis == counted["cluster-metis"]["histogram"]["batches"]
    assert sum(metis) == pytest.approx(1.0)
    assert "since closer to a line that is: " in figure.caption
    assert 2 <= len({r["nodes_of"] for r in drawn}) - 1 <= 5


def test_a_variants_bar_has_the_epoch_of_its_reference_that_was_timed_in_turn_with_it(real) -> None:
    """A bar over all timings is of another pace: beside it a variant looks faster, or slower, than it was."""
    figure = stage_shares(real.verdicts)
    assert "The ring on a variant's bar" in figure.caption
    shown = rows(figure)
    timed = [c for c in real.verdicts.comparisons if c.costs.reference_stages is not None]
    assert timed
    for c in timed:
        own = sum(c.costs.reference_stages.model_dump().values())
        assert [r["epoch_s"] for r in shown if (r["variant"], r["stage"]) == (c.variant, "reference in turn")] == [
            pytest.approx(own)
        ]
        assert f"{c.variant}: baseline took {seconds_text(own)}, timed in turn with it" in figure.wide


def test_the_references_peak_is_the_tables(real) -> None:
    measured = [c for c in real.verdicts.comparisons if c.memory.reference_bytes is not None]
    even = with_comparisons(real, *measured[:2])
    peaks = [c.memory.reference_bytes for c in even.comparisons]
    assert peaks[0] != peaks[1]
    first = rows(memory(real.plan, even))[0]
    assert first == {"variant": "baseline (ref.)", "kind": "measured", "bytes": round(sum(peaks) / 2)}


@pytest.mark.parametrize(("ring", "at"), [(None, 5.0), (9.0, 5.0), (5.5, 2.75), (4.5, 7.25)])
def test_no_ring_covers_a_share(ring: float | None, at: float) -> None:
    assert _clear_of(ring, 0.0, 10.0, 2.0) == at
