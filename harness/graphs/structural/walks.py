"""Return probabilities of random walks: where a node lies in the graph, without names or features.

Random-walk structural encoding, Dwivedi, Luu, Laurent, Bengio and Bresson 2022, "Graph neural networks with learnable
structural and positional representations" (arXiv:2110.07875).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse

from harness.graphs.compiled import compiled
from harness.graphs.csr import Csr
from harness.graphs.mixing import GOLDEN, mix

EXACT_WORK = 1e10  # multiplications, half a minute on one thread
SAMPLED_WORK = 2e9  # steps of walks, half a minute on one thread
MOST_WALKS, FEWEST_WALKS = 1_000, 100  # a node
SEED = 0x5EED
_CHUNK_BYTES = 64 << 20


@dataclass(frozen=True)
class ReturnProbabilities:
    """What `return_probabilities` finds.

    Attributes:
        columns: float32, ``[num_nodes, steps]``; column k - 1 is the chance to be back after k steps.
        walks: walks a node that the columns were counted on; None where they are exact.
    """

    columns: np.ndarray
    walks: int | None


def return_probabilities(walked: Csr, steps: int) -> ReturnProbabilities:
    """``diag((D^-1 A)^k)`` for k = 1 .. steps, exactly where that is affordable, else counted on sampled walks.

    A walk goes along an edge in either direction, stays on a self-loop as on any other edge, and never leaves an
    isolated node's zero: nothing returns there. Exact costs num_nodes * num_edges * steps / 2 multiplications, up to
    `EXACT_WORK`. Beyond it each node starts up to `MOST_WALKS` seeded walks, and the standard error of a probability p
    is ``sqrt(p (1 - p) / walks)``.

    Args:
        walked: from `undirected`.
        steps: the longest walk, at least 1.

    Raises:
        ValueError: not even `FEWEST_WALKS` walks a node are affordable.
    """
    if walked.num_nodes * len(walked.indices) * ((steps + 1) // 2) <= EXACT_WORK:
        return ReturnProbabilities(_exact(walked, steps), None)
    walks = min(MOST_WALKS, int(SAMPLED_WORK / (walked.num_nodes * steps)))
    if walks < FEWEST_WALKS:
        most = int(SAMPLED_WORK / (walked.num_nodes * FEWEST_WALKS))
        remedy = f"at most walk_steps: {most} is affordable" if most else "no length of walk is affordable"
        raise ValueError(
            f"walks of {steps} steps from {walked.num_nodes:,} nodes are too many for {FEWEST_WALKS} walks a node; "
            f"{remedy} on this graph: leave random-walk out, or lower dataset.transform.walk_steps"
        )
    return ReturnProbabilities(_counted(walked.indptr, walked.indices, steps, walks, np.uint64(SEED)), walks)


def _exact(walked: Csr, steps: int) -> np.ndarray:
    """Of half the powers: with S = D^-1/2 A D^-1/2, symmetric, ``(D^-1 A)^(a+b)`` and ``S^a S^b`` share a diagonal."""
    n = walked.num_nodes
    share = 1.0 / np.sqrt(np.maximum(np.diff(walked.indptr), 1))
    rows = np.repeat(np.arange(n), np.diff(walked.indptr))
    entries = share[rows] * share[walked.indices]
    s = scipy.sparse.csr_matrix((entries, walked.indices, walked.indptr), shape=(n, n))
    returns = np.zeros((n, steps))
    width = max(1, _CHUNK_BYTES // (8 * max(n, 1)))
    for first in range(0, n, width):
        own = np.arange(first, min(first + width, n))
        power = s[own].toarray().T.copy()  # columns of S, which are its rows
        returns[own, 0] = power[own, own - first]
        for k in range(1, steps // 2 + 1):  # power is S^k
            returns[own, 2 * k - 1] = np.einsum("ij,ij->j", power, power)
            if 2 * k + 1 <= steps:
                after = s @ power
                returns[own, 2 * k] = np.einsum("ij,ij->j", power, after)
                power = after
    return returns.round(9).astype(np.float32)  # equal chances come out equal, not a rounding error apart


@compiled
def _counted(indptr: np.ndarray, indices: np.ndarray, steps: int, walks: int, seed: np.uint64) -> np.ndarray:
    """Shares of walks that are back after each step; each walk draws from a counter of its own."""
    n = len(indptr) - 1
    returns = np.zeros((n, steps), np.float32)
    at = np.empty(walks, np.int64)
    keys = np.empty(walks, np.uint64)
    for start in range(n):
        if indptr[start] == indptr[start + 1]:
            continue
        own = mix(seed + np.uint64(start + 1) * GOLDEN)
        for walk in range(walks):
            at[walk] = start
            keys[walk] = mix(own ^ np.uint64(walk))
        for k in range(steps):
            back = 0
            for walk in range(walks):  # walks side by side: the memory fetches for many at once
                first = indptr[at[walk]]
                degree = indptr[at[walk] + 1] - first
                word = mix(keys[walk] + np.uint64(k + 1) * GOLDEN)
                # the top 53 bits as a float in [0, 1): fine enough for any degree below 2**32
                at[walk] = indices[first + int((word >> np.uint64(11)) * 1.1102230246251565e-16 * degree)]
                back += at[walk] == start
            returns[start, k] = back / walks
    return returns
