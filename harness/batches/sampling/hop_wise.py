"""One CSR in destination order, cut into a block for each layer."""

from __future__ import annotations

import numpy as np

from harness.batches.batch import Batch, Block
from harness.batches.edges import BatchEdges


def hop_wise_batch(
    nodes: np.ndarray,
    degree: np.ndarray,
    rows: np.ndarray,
    cols: np.ndarray,
    known_after: np.ndarray,
    self_loops: np.ndarray | None,
    edge_weight: np.ndarray | None,
    edges: BatchEdges | None,
    *,
    epoch: int,
    index: int,
) -> Batch:
    """Cut one CSR in destination order into the blocks of all layers; they share its memory.

    Args:
        nodes: int64, ``[n]``. degree: of each node in the whole graph, int64, ``[n]``.
        rows: row pointer over the nodes known before the last hop. cols: source row of each edge, int64.
        known_after: nodes known after each hop, the seeds first, ``[hops + 1]``.
        self_loops: of every node of the graph, int64; None where it has none.
        edge_weight: of each edge, float32; None where no message is weighted.
        edges: which edges these are; None where nobody reads their attributes.
    """
    known = [int(k) for k in known_after]
    loops = None if self_loops is None else self_loops[nodes]
    blocks = tuple(
        Block(
            indptr=rows[: destinations + 1],
            indices=cols[: rows[destinations]],
            num_src=sources,
            in_degree=degree[:destinations],
            src_degree=degree[:sources],
            src_self_loops=None if loops is None else loops[:sources],
            edge_weight=None if edge_weight is None else edge_weight[: rows[destinations]],
            edges=edges,
        )
        for destinations, sources in zip(known[-2::-1], known[:0:-1], strict=True)
    )
    stats: dict[str, float] = {"nodes": len(nodes), "edges": len(cols)}
    for hop, (first, last, after) in enumerate(zip([0, *known[:-2]], known[:-1], known[1:], strict=True), start=1):
        stats[f"hop{hop}_rows"] = last - first
        stats[f"hop{hop}_edges"] = int(rows[last] - rows[first])
        stats[f"hop{hop}_new_nodes"] = after - last
    return Batch(nodes, blocks, np.arange(known[0], dtype=np.int64), epoch=epoch, index=index, stats=stats)
