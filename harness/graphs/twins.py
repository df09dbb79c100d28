"""Nodes of different splits that look the same: what a model learns from one it has learnt for the other.

Platonov, Kuznedelev, Diskin, Babenko and Prokhorenkova 2023, "A critical look at the evaluation of GNNs under
heterophily" (arXiv:2302.11640), found that duplicate nodes across splits made published results.
"""

from __future__ import annotations

import numpy as np

from harness.graphs.compiled import compiled
from harness.graphs.csr import Csr
from harness.graphs.graph import Twins
from harness.graphs.mixing import GOLDEN, mix
from harness.graphs.raw import SplitNodes

ALARMING = 0.01  # of the test nodes
TELLING = 0.5  # share of rows that differ: below it equal features are no sign of a copy

_NAN = np.uint32(0x7FC00000)
_SIGN = np.uint32(0x80000000)
_INFINITY = np.uint32(0x7F800000)
_MAGNITUDE = np.uint32(0x7FFFFFFF)


def row_words(rows: np.ndarray) -> np.ndarray:
    """A 64-bit hash of each row, uint64, ``[m]``, equal for equal rows; 0 for one of zeros or NaN alone.

    Two of n different rows have one hash with probability n**2 / 2**65. -0 is 0, and all NaN are one.

    Args:
        rows: float32, ``[m, num_features]``, C-contiguous.
    """
    return _row_words(rows.view(np.uint32))


def find_twins(words: np.ndarray, csr: Csr, split: SplitNodes) -> Twins:
    """How many nodes have the features, or the features and the neighbours, of a node in another split.

    Neighbours are the set of nodes that a node receives from. Two nodes that receive from each other share theirs if
    each with itself has the same.

    Args:
        words: from `row_words`, of all nodes, ``[num_nodes]``.
        csr: the edges.
        split: disjoint parts.
    """
    nodes = np.concatenate([split.train, split.val, split.test])
    part = np.repeat([0, 1, 2], [len(split.train), len(split.val), len(split.test)])
    telling = words[nodes] != 0
    nodes, part = nodes[telling], part[telling]
    apart, together = _neighbour_words(csr.indptr, csr.indices, words, nodes)
    in_train, across, kinds = _seen_elsewhere(words[nodes], part)
    copies = [_seen_elsewhere(key, part) for key in (apart, together)]
    return Twins(
        test_features=int(in_train.sum()),
        test_features_and_neighbours=int((copies[0][0] | copies[1][0]).sum()),
        any_features=int(across.sum()),
        any_features_and_neighbours=int((copies[0][1] | copies[1][1]).sum()),
        distinct_share=round(kinds / len(nodes), 6) if len(nodes) else 0.0,
    )


def twin_warnings(twins: Twins, test_nodes: int) -> list[str]:
    """What to say where enough test nodes have a twin among the training nodes to move an accuracy."""
    found = []
    if twins.test_features_and_neighbours >= ALARMING * test_nodes:
        found.append(
            f"{_share(twins.test_features_and_neighbours, test_nodes)} of the test nodes have the features and the "
            "neighbours of a training node: no model tells them apart, so accuracy is partly memory; remove duplicates"
        )
    only_features = twins.test_features - twins.test_features_and_neighbours
    if only_features >= ALARMING * test_nodes and twins.distinct_share >= TELLING:
        found.append(
            f"{_share(only_features, test_nodes)} of the test nodes have the features of a training node, with other "
            "neighbours: copies, or features too few to tell nodes apart"
        )
    return found


def _share(count: int, of: int) -> str:
    return f"{100.0 * count / of:.1f} % ({count:,} of {of:,})"


def _seen_elsewhere(key: np.ndarray, part: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Test nodes whose key a training node has; nodes whose key another part has; the number of keys."""
    kinds, group = np.unique(key, return_inverse=True)
    there = np.zeros((len(kinds), 3), bool)
    there[group, part] = True
    return there[group, 0] & (part == 2), (there.sum(axis=1) > 1)[group], len(kinds)


@compiled
def _row_words(rows: np.ndarray) -> np.ndarray:
    words = np.empty(len(rows), np.uint64)
    for i in range(len(rows)):
        word = np.uint64(0)
        telling = False
        for j in range(rows.shape[1]):
            bits = rows[i, j]
            if bits == _SIGN:
                bits = np.uint32(0)
            elif (bits & _MAGNITUDE) > _INFINITY:
                bits = _NAN
            if bits != 0:
                # zeros are skipped: the column's number is in the word, so that the order still counts
                word += mix(np.uint64(bits) + (np.uint64(j + 1) << np.uint64(32)))
                telling = telling or bits != _NAN
        words[i] = max(mix(word + GOLDEN), np.uint64(1)) if telling else np.uint64(0)
    return words


@compiled
def _neighbour_words(
    indptr: np.ndarray, indices: np.ndarray, words: np.ndarray, nodes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Features and the set of neighbours in one hash, without and with the node itself; rows must be sorted."""
    apart = np.empty(len(nodes), np.uint64)
    together = np.empty(len(nodes), np.uint64)
    for i in range(len(nodes)):
        v = nodes[i]
        word = np.uint64(0)
        for e in range(indptr[v], indptr[v + 1]):
            u = indices[e]
            if u != v and (e == indptr[v] or u != indices[e - 1]):
                word += mix(np.uint64(u + 1) * GOLDEN)
        apart[i] = mix(words[v] ^ mix(word + GOLDEN))
        together[i] = mix(words[v] ^ mix(word + mix(np.uint64(v + 1) * GOLDEN) + GOLDEN))
    return apart, together
