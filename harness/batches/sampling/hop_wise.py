"""One CSR in destination order, cut into a block for each layer."""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

import numpy as np

from harness.batches.batch import Batch, Block
from harness.batches.edges import BatchEdges, EdgeTable

A = TypeVar("A")  # numpy's array, or torch's tensor


class Hops(NamedTuple, Generic[A]):
    """What a sampler drew for a batch: one CSR in destination order.

    Attributes:
        nodes: global ids, int64, ``[n]``, in the order in which they were reached.
        degree: of each node in the whole graph, int64, ``[n]``.
        rows: row pointer over the nodes known before the last hop, int64.
        cols: source row of each edge, int64, ``[num_edges]``.
        known_after: nodes known after each hop, the seeds first, ``[hops + 1]``.
        edge_weight: of each edge, float32; None where no message is weighted.
        drawn: place of each edge in the adjacency that was drawn from, int64; None where nobody reads attributes.
    """

    nodes: A
    degree: A
    rows: A
    cols: A
    known_after: list[int]
    edge_weight: A | None
    drawn: A | None


def hop_wise_batch(
    hops: Hops[np.ndarray],
    self_loops: np.ndarray | None,
    edge_table: EdgeTable | None,
    kept: np.ndarray | None,
    *,
    epoch: int,
    index: int,
) -> Batch:
    """Cut one CSR into the blocks of all layers; they share its memory.

    Args:
        self_loops: of every node of the graph, int64; None where it has none.
        edge_table: where the attributes of the edges drawn come from.
        kept: place in the graph of each edge of the adjacency that was drawn from; None where that is the graph's.
    """
    nodes, degree, rows, cols, known, edge_weight, drawn = hops
    edges = None
    if edge_table is not None and drawn is not None:
        edges = BatchEdges(edge_table, drawn if kept is None else kept[drawn])
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
