"""Which nodes a static cache of features holds: those with the highest score, whatever the score is."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.batches.batch import Batch
from harness.batches.features.gather import count_nodes
from harness.batches.observed.degrees import degrees_of_sources
from harness.graphs.csr import source_degree
from harness.graphs.read_only import read_only

Replay = Callable[[int], Iterable[Batch]]


@dataclass(frozen=True)
class Scores:
    """What a policy orders the nodes by.

    Attributes:
        policy: degree, presample or optimal.
        score: int64, ``[num_nodes]``; high is cached first.
        due: what the scores must add up to, counted apart from them.
        sampled: of the policies that sample, as seen on the batches: ``epochs``, the ``first_epoch`` and ``last_epoch``
            by number, ``batches`` that have a target, and ``nodes`` (summed over these).
        seconds: what it took.
    """

    policy: str
    score: np.ndarray
    due: int
    sampled: dict[str, int] | None
    seconds: float


@dataclass(frozen=True)
class CachedNodes:
    """The nodes of a cache.

    Attributes:
        nodes: ids, int64, ``[cache_nodes]``, the highest score first; of equal ones the smaller id.
        scores: what they were chosen by.
        order_s: seconds of scoring and ranking.
        free_bytes: as in `CacheSize`.
    """

    nodes: np.ndarray
    scores: Scores
    order_s: float
    free_bytes: int | None = None


def by_degree(indices: np.ndarray, num_nodes: int) -> Scores:
    """PaGraph's order (Lin et al. 2020): a node that is the source of many edges is a neighbour of many."""
    started = time.perf_counter()
    degree = source_degree(indices, num_nodes)
    return Scores("degree", degree, len(indices), None, time.perf_counter() - started)


def by_presampling(replay: Replay, epochs: int, num_nodes: int) -> Scores:
    """GNNLab's order (Yang et al. 2022): how often a node was in a batch in some epochs sampled before the training.

    They are numbered -1, -2, …: the training has positive numbers, so that their draws are others.
    """
    return _by_batches("presample", replay, range(-1, -epochs - 1, -1), num_nodes)


def by_hindsight(replay: Replay, epochs: int, num_nodes: int) -> Scores:
    """The best order there is: how often each node will be fetched, because the very epochs 1 to ``epochs`` that the
    training will have are sampled before it. No system can have it at that price; it is what the others are held to."""
    return _by_batches("optimal", replay, range(1, epochs + 1), num_nodes)


def _by_batches(policy: str, replay: Replay, epochs: range, num_nodes: int) -> Scores:
    score = np.zeros(num_nodes, np.int64)
    count_nodes(read_only(np.zeros(0, np.int64), np.int64), score)  # compiled before the clock starts
    started = time.perf_counter()
    batches = nodes = 0
    numbers: set[int] = set()
    for epoch in epochs:
        for batch in replay(epoch):
            numbers.add(batch.epoch)
            if len(batch.targets):  # others make no step, and their features are not fetched
                count_nodes(read_only(batch.nodes, np.int64), score)
                batches += 1
                nodes += len(batch.nodes)
    first, last = min(numbers, default=epochs[0]), max(numbers, default=epochs[-1])
    sampled = {"epochs": len(numbers), "first_epoch": first, "last_epoch": last, "batches": batches, "nodes": nodes}
    return Scores(policy, score, nodes, sampled, time.perf_counter() - started)


def highest(scores: Scores, count: int, free_bytes: int | None = None) -> CachedNodes:
    """The ``count`` nodes of highest score."""
    started = time.perf_counter()
    nodes = np.argsort(-scores.score, kind="stable")[:count]
    return CachedNodes(nodes, scores, scores.seconds + time.perf_counter() - started, free_bytes)


def must_be_cached(score: np.ndarray, count: int) -> np.ndarray:
    """Which nodes a cache of ``count`` must hold, bool, ``[num_nodes]``: all above the least score that fits, and of
    those that have it the smaller ids. Found without the sort of `highest`, so that a cache can be held to it."""
    if not count:
        return np.zeros(len(score), np.bool_)
    least = np.partition(score, len(score) - count)[len(score) - count]
    wanted: np.ndarray = score > least
    wanted[np.flatnonzero(score == least)[: count - int(np.count_nonzero(wanted))]] = True
    return wanted


def first_by_degree(sources: np.ndarray, num_nodes: int, count: int) -> np.ndarray:
    """Which nodes a cache of ``count`` must hold by degree, bool, ``[num_nodes]``, from the edges themselves.

    Counted apart from `by_degree`, so that a cache can be held to it.
    """
    return must_be_cached(degrees_of_sources(sources, num_nodes), count)


def most_hits(fetches: np.ndarray, count: int) -> int:
    """Hits of the best static cache of ``count`` nodes, had it been known how often each node would be fetched."""
    if not count:
        return 0
    return int(np.partition(fetches, len(fetches) - count)[len(fetches) - count :].sum(dtype=np.int64))


def cache_counters(cached: CachedNodes) -> dict[str, Any]:
    """``cache_policy``, ``cache_score`` (its ``sum`` and what is ``due``), ``cache_order_s``, and what was sampled for
    it under ``presample`` or ``replay``; ``cache_free_bytes`` where the size was `auto`."""
    scores = cached.scores
    found: dict[str, Any] = {
        "cache_policy": scores.policy,
        "cache_score": {"sum": int(scores.score.sum()), "due": scores.due},
        "cache_order_s": cached.order_s,
    }
    if scores.sampled is not None:
        found["replay" if scores.policy == "optimal" else scores.policy] = scores.sampled
    if cached.free_bytes is not None:
        found["cache_free_bytes"] = cached.free_bytes
    return found
