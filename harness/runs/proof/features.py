"""Where the rows lay, and what came from the cache, against what was asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.runs.proof.equal import equal
from harness.spec.options import Options


def feature_faults(options: Options, counters: dict[str, Any]) -> Iterator[str]:
    yield from equal("features.home", options.features.home, counters["feature_home"])
    ratio, cached = options.features.cache_ratio, counters["cache_nodes"]
    expected = round(ratio * counters["num_nodes"])
    if cached != expected:
        yield f"features.cache_ratio is {ratio}, i.e. {expected} nodes, but {cached} were cached"
    if ratio and not cached:
        yield f"features.cache_ratio is {ratio}, too little to cache a single one of {counters['num_nodes']} nodes"
    if counters["cache_hits"] and not cached:
        yield f"features.cache_ratio is {ratio}, but {counters['cache_hits']} rows came from a cache"
    recount = counters["cache_recount"]
    if recount is not None and recount["hits"] != recount["due"]:
        yield (
            f"features.cache_ratio is {ratio}: degrees make {recount['due']} rows of the first batch due from the "
            f"cache, but {recount['hits']} came from it"
        )
    if ratio == 1.0 and counters["fetched_bytes"]:
        yield f"features.cache_ratio is 1, but {counters['fetched_bytes']} bytes came from the slow home"
