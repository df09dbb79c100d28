"""A small mini-batch as a run's sampler drew it, kept to be looked at."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from harness.spec.options import Frozen

Ends = Annotated[tuple[int, int], Field(strict=False)]


class DrawnBatch(Frozen):
    """The first targets of a training's first batch, with their sampled neighbourhood. Nodes in the order reached."""

    method: str
    fanout: list[int]
    targets: int = Field(description="The first so many of `nodes`.")
    nodes: list[int] = Field(description="Ids in the graph.")
    hops: list[int] = Field(description="Of each node, the hop that reached it; 0 for a target.")
    degrees: list[int] = Field(description="Of each node in the whole graph: edges that end in it.")
    edges: list[Ends] = Field(description="Source and destination of each edge, as places in `nodes`.")
    num_nodes: int = Field(description="Of the whole neighbourhood; more than `nodes` where it was cut.")
    num_edges: int
