"""What was drawn against the graph's own degrees, and by which method against what other methods would draw."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.batches.observed.unlike_uniform import would_stand_out
from harness.runs.proof.equal import equal
from harness.spec.options import Sampling

RESIDUAL = 1e-6  # of PageRank's equation: a hundred times what the power iteration leaves
CHOICES = 32  # bits of chance: that two samples drawn anew are equal has a probability below 2**-32


def sampling_faults(asked: Sampling, counters: dict[str, Any]) -> Iterator[str]:
    """Every option of `sampling` that the counters do not show."""
    yield from equal("sampling.method", asked.method, counters["sampling_method"])
    yield from equal("sampling.fanout", list(asked.fanout), counters["fanout"])
    yield from _backend(asked, counters)
    draws = counters["draws"]
    for hop, (fanout, drawn, due) in enumerate(zip(asked.fanout, draws["drawn"], draws["due"], strict=True), 1):
        if drawn != due:
            yield f"sampling.fanout is {fanout} in hop {hop}: degrees make {due} neighbours due, {drawn} were drawn"
    yield from _again(asked, counters["resampled"])
    yield from _ranks(asked, counters["weight_ranks"])
    yield from _shared(asked, counters)
    yield from _weights(asked, counters)
    if asked.method == "importance" and asked.reweight:
        yield from _reweighting(counters["reweighting"])
    yield from _division(asked, counters)


def _backend(asked: Sampling, counters: dict[str, Any]) -> Iterator[str]:
    found = counters["sampling_backend"]
    right = found.startswith("torch on cuda") if asked.backend == "torch" else found == asked.backend
    if not right:
        yield f"sampling.backend is {asked.backend}, but the batches were drawn by {found}"


def _again(asked: Sampling, again: dict[str, Any]) -> Iterator[str]:
    """Every epoch and every batch draws anew, but for `fixed`."""
    for what, equal_draws in again["equal"].items():
        if asked.method == "fixed" and not equal_draws:
            yield f"sampling.method is fixed, but two {what} drew other neighbours for the same nodes"
        if asked.method != "fixed" and equal_draws and again["choices"] >= CHOICES:
            choices = again["choices"]
            yield f"sampling.method is {asked.method}, but two {what} drew the same neighbours in {choices} choices"


def _ranks(asked: Sampling, ranks: dict[str, float] | None) -> Iterator[str]:
    """Neighbours of large weight come more often by importance, and by no method that does not look at weights."""
    if ranks is None:
        return
    preferred = ranks["found"] - ranks["uniform"]
    if asked.method != "importance":
        if abs(preferred) > ranks["margin"]:
            yield f"sampling.method is {asked.method}, but neighbours were preferred by their degree: {ranks}"
    elif would_stand_out(ranks) and preferred < ranks["margin"]:
        yield f"sampling.method is importance, but neighbours of large weight were not preferred: {ranks}"


def _shared(asked: Sampling, counters: dict[str, Any]) -> Iterator[str]:
    """Nodes of a hop that share their draws choose by one order, and find fewer different neighbours for it."""
    distinct, order = counters["distinct_sources"], counters["shared_order"]
    if asked.method == "labor":
        if order is None or order["contradicted"]:
            yield f"sampling.method is labor, but the nodes of a hop did not share their draws: {order}"
    elif distinct is not None and distinct["uniform"] - distinct["found"] > distinct["margin"]:
        yield f"sampling.method is {asked.method}, but the nodes of a hop shared their draws: {distinct}"


def _weights(asked: Sampling, counters: dict[str, Any]) -> Iterator[str]:
    found, reweighted = counters["sampling_weights"], counters["reweighted"]
    importance = asked.method == "importance"
    if (found is not None) != importance:
        yield f"sampling.method is {asked.method}, but the sampler had {'' if found else 'no '}weights"
    elif found is not None and asked.weights == "degree" and not found["are_degrees"]:
        yield f"sampling.weights is degree, but the weights were others: {found}"
    elif found is not None and asked.weights == "pagerank" and found.get("pagerank_residual", 1.0) > RESIDUAL:
        yield f"sampling.weights is pagerank, but the weights do not solve its equation: {found}"
    elif found is not None and "file_sha256" in found and found["sha256"] != found["file_sha256"]:
        file = found["file_sha256"]
        held = "which can no longer be read" if file is None else f"whose numbers have the SHA-256 {file}"
        yield f"sampling.weights is {asked.weights}, {held}, but the sampler held others: {found['sha256']}"
    elif found is not None and asked.weights.endswith(".npy") and "file_sha256" not in found:
        yield f"sampling.weights is {asked.weights}, but the weights came from no file"
    if counters["batches"] and reweighted != (importance and asked.reweight):
        yield f"sampling.reweight is {asked.reweight}, but edges {'had' if reweighted else 'had no'} weights"


def _reweighting(found: dict[str, Any]) -> Iterator[str]:
    """Weights of edges that are not 1, and undo the preference for neighbours of large weight."""
    rows, weighted = found["rows"], found["weighted"]
    if 2 * weighted < rows:  # a weight is 1 by a rare chance only
        yield f"sampling.reweight is True, but only {weighted} of {rows} nodes with a choice had weights other than 1"
    if abs(found["ranks"]) > found["margin"]:
        yield f"sampling.reweight is True, but the weights of edges do not undo the preference: {found}"


def _division(asked: Sampling, counters: dict[str, Any]) -> Iterator[str]:
    """Every training node once an epoch, in batches that the budget closed, where there is one."""
    train, epochs = counters["train_nodes"], counters["epochs"]
    if epochs and not counters["seeds_once"]:
        yield "batching neighbor: the seeds of the first epoch are not the training nodes, each once"
    if counters["targets"] != train * epochs:
        yield f"batching neighbor: {counters['targets']} seeds in {epochs} epochs of {train} training nodes"
    if asked.node_edge_budget is None:
        return
    if counters.get("node_edge_budget") != asked.node_edge_budget:
        had = counters.get("node_edge_budget") or "none"
        yield f"sampling.node_edge_budget is {asked.node_edge_budget}, but the run had {had}"
        return
    if counters["above_budget"]:
        yield (
            f"sampling.node_edge_budget is {asked.node_edge_budget}, but {counters['above_budget']} batches of several "
            "seeds are larger"
        )
    if counters["closings"]["early"]:
        yield (
            f"sampling.node_edge_budget is {asked.node_edge_budget}, but {counters['closings']['early']} of the first "
            f"{counters['closings']['checked']} batches would have been within it with more seeds"
        )
