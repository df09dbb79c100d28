"""What a sampler is asked for, checked once for all implementations: method, fan-out, weights, seeds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.batches.randomness import NEIGHBOURS, stream_key
from harness.batches.sampling.neighbour_weights import checked_weights, neighbour_weights

METHODS = ("uniform", "fixed", "importance", "degree-stratified", "labor")


def check_method(method: str) -> None:
    """Raise ValueError for a sampling method that does not exist."""
    if method not in METHODS:
        raise ValueError(f"there is no sampling method {method!r}; use one of {', '.join(METHODS)}")


def checked_fanout(fanout: Sequence[int]) -> tuple[int, ...]:
    """The fan-out as integers; ValueError where one is neither positive nor -1, or there is none."""
    hops = tuple(int(k) for k in fanout)
    if not hops or any(k == 0 or k < -1 for k in hops):
        raise ValueError(f"fanout must be positive numbers, or -1 for all neighbours, one a hop; got {list(fanout)}")
    return hops


def weights_of(
    method: str, weights: np.ndarray | None, reweight: bool, indptr: np.ndarray, indices: np.ndarray
) -> np.ndarray | None:
    """The weight of each node as a neighbour, float64, ``[num_nodes]``: by default its source degree; None but for
    ``importance``. ValueError for weights that another method would not look at, or that cannot be weights."""
    if method != "importance":
        if weights is not None or reweight:
            raise ValueError(f"weights and reweight belong to the method importance; {method} does not look at them")
        return None
    if weights is None:
        return neighbour_weights(indptr, indices, "degree")
    return checked_weights(weights, len(indptr) - 1)


def checked_seeds(seeds: np.ndarray, num_nodes: int) -> np.ndarray:
    """Seeds as contiguous int64; ValueError where one is no node of the graph."""
    given = np.asarray(seeds)
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
        raise ValueError(f"seeds must be a one-dimensional array of node ids; got shape {given.shape}, {given.dtype}")
    if given.size and (given.min() < 0 or given.max() >= num_nodes):
        raise ValueError(f"seeds must lie in 0..{num_nodes - 1}; got {given.min()}..{given.max()}")
    return np.ascontiguousarray(given, dtype=np.int64)


def hop_keys(method: str, seed: int, hops: int, epoch: int, batch: int) -> np.ndarray:
    """The key of each hop's draws, uint64, ``[hops]``."""
    where = () if method == "fixed" else (epoch, batch)
    return np.array([stream_key(NEIGHBOURS, seed, hop, *where) for hop in range(hops)], dtype=np.uint64)
