"""Attributes of edges: read by mpnn, all of them, each edge its own, and by no other model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.spec.options import Model, Options


def edge_faults(options: Options, model: Model, counters: dict[str, Any]) -> Iterator[str]:
    width = counters.get("edge_features")
    if not model.reads_edges:
        if width is not None:
            yield f"model.conv is {model.conv}, which reads no attributes of edges, but the batches carried {width}"
        return
    if width is None:
        yield "model.conv is mpnn, but the batches carried no attributes of edges"
    elif counters["backward_passes"]:
        yield from _read(model, width, counters)
        yield from _own(counters["edge_recount"])
        yield from _gathered(options, 4 * width, counters)


def _read(model: Model, width: int, counters: dict[str, Any]) -> Iterator[str]:
    found = counters["edge_features_read"]
    if found != [width] * model.layers:
        yield f"model.conv is mpnn: each layer has {width} attributes of an edge to read, but they read {found}"


def _own(recount: dict[str, int] | None) -> Iterator[str]:
    if recount is None:
        yield "model.conv is mpnn, but no batch's edges were looked up in the graph"
    elif recount["matched"] != recount["edges"]:
        edges, wrong = recount["edges"], recount["edges"] - recount["matched"]
        yield (
            f"model.conv is mpnn: {wrong} of the first batch's {edges} edges carried attributes that no edge of the "
            "graph between the same nodes has"
        )


def _gathered(options: Options, row_bytes: int, counters: dict[str, Any]) -> Iterator[str]:
    """A row for each edge of the batches; of cluster batches without a target none, of the full graph once."""
    found, edges = counters["edge_attr_bytes"], counters["edges"]
    if options.batching == "full":
        edges //= max(1, counters["batches"])
    due = row_bytes * edges
    if found > due or (found < due and not counters["batches_without_target"]):
        yield f"model.conv is mpnn: the batches' edges have {due} bytes of attributes, but {found} were gathered"
