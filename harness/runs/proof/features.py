"""Where the rows lay, which were cached, and what came from the cache, against what was asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.batches.features.cache_size import AUTO_SHARE, rows_of
from harness.runs.proof.equal import equal
from harness.spec.options import Features, Options


def feature_faults(options: Options, counters: dict[str, Any]) -> Iterator[str]:
    asked = options.features
    on_cpu = counters["feature_device"] == "cpu"
    yield from equal("features.home", _home(asked, on_cpu), counters["feature_home"])
    stored = "float16" if options.precision == "fp16-features" else "float32"
    if counters["feature_dtype"] != stored:
        found = counters["feature_dtype"]
        yield f"precision is {options.precision}, which stores features in {stored}, but they were stored in {found}"
    if options.batching == "full" or asked.home == "device" or not asked.cached:
        yield from _no_cache(asked, counters)
        if asked.home == "device" and not on_cpu and counters["fetched_bytes"]:
            yield f"features.home is device, but {counters['fetched_bytes']} bytes came from another home"
        return
    yield from _size(asked, counters)
    if not counters["cache_nodes"]:
        return
    yield from equal("features.policy", asked.policy, counters["cache_policy"])
    if counters["cache_policy"] == asked.policy:  # what else was counted is about the policy that ran
        yield from _order(asked, counters)
        yield from _hits(asked, counters)


def _home(asked: Features, on_cpu: bool) -> str:
    return "host" if asked.home == "device" and on_cpu else asked.home  # the CPU's memory is the host's


def _no_cache(asked: Features, counters: dict[str, Any]) -> Iterator[str]:
    if counters["cache_nodes"] or counters["cache_hits"]:
        cached, hits = counters["cache_nodes"], counters["cache_hits"]
        yield f"{_named(asked)}: no cache is due, but {cached} nodes were cached and {hits} rows came from there"


def _size(asked: Features, counters: dict[str, Any]) -> Iterator[str]:
    nodes, cached = counters["num_nodes"], counters["cache_nodes"]
    if asked.cache_bytes is None:
        due = round(asked.cache_ratio * nodes)
    else:
        auto = asked.cache_bytes == "auto"
        size = counters.get("cache_free_bytes", 0) // AUTO_SHARE if auto else asked.cache_bytes
        due = rows_of(int(size), counters["feature_row_bytes"], nodes)
    if cached != due:
        yield f"{_named(asked)}, i.e. {due} nodes, but {cached} were cached"
    if not cached:
        yield f"{_named(asked)}, too little to cache a single one of {nodes} nodes"


def _order(asked: Features, counters: dict[str, Any]) -> Iterator[str]:
    """What the nodes were ordered by."""
    score = counters["cache_score"]
    if score["sum"] != score["due"]:
        what = f"{score['due']} {'edges' if asked.policy == 'degree' else 'nodes in the batches sampled for it'}"
        yield f"features.policy is {asked.policy}: there are {what}, but the scores sum to {score['sum']}"
    if asked.policy == "degree" and counters["cached_by_degree"] != counters["cache_nodes"]:
        right, cached = counters["cached_by_degree"], counters["cache_nodes"]
        yield f"features.policy is degree: of {cached} cached nodes {right} are among the {cached} of highest degree"
    if asked.policy == "presample":
        sampled = counters["presample"]
        yield from equal("features.presample_epochs", asked.presample_epochs, sampled["epochs"])
        if sampled["last_epoch"] > 0:  # it would know the future
            yield f"features.policy is presample, but epoch {sampled['last_epoch']} is one that trainings have"
        if sampled["nodes"] != score["due"]:
            yield "features.policy is presample, but its scores are not of the batches presampled"


def _hits(asked: Features, counters: dict[str, Any]) -> Iterator[str]:
    """Of the fetches that were counted node by node: all of a quality run, and those of a timing run's warm-up."""
    recount, best, requests = counters["cache_recount"], counters["cache_hits_optimal"], counters["cache_requests"]
    hits = recount["hits"]
    if requests and not recount["requests"]:
        yield f"{_named(asked)}: none of {requests} fetches was counted node by node"
    if recount["hits"] != recount["due"]:
        yield (
            f"features.policy is {asked.policy} and {_named(asked)}: by the scores {recount['due']} of the rows "
            f"fetched were due from the cache, but {recount['hits']} came from it"
        )
    if hits > best:
        yield f"{_named(asked)}: {hits} rows came from the cache, more than the {best} of the best cache of that size"
    if asked.policy == "optimal" and counters["epochs"] == counters["replay"]["epochs"]:
        if requests != counters["cache_score"]["due"]:
            due = counters["cache_score"]["due"]
            yield f"features.policy is optimal: {due} fetches were replayed in advance, but there were {requests}"
        if recount["requests"] == requests and hits != best:
            yield f"features.policy is optimal, but {hits} rows came from the cache and the best one gives {best}"
    if counters["cache_nodes"] == counters["num_nodes"] and counters["fetched_bytes"]:
        yield f"{_named(asked)}: all rows are cached, but {counters['fetched_bytes']} bytes came from the slow home"


def _named(asked: Features) -> str:
    if asked.cache_bytes is not None:
        return f"features.cache_bytes is {asked.cache_bytes}"
    return f"features.cache_ratio is {asked.cache_ratio}"
