"""Exact logits of all nodes, layer by layer, in bounded memory: what every accuracy is measured on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property

import numpy as np
import torch
from torch import Tensor, nn

from harness.batches.self_loops import self_loops
from harness.graphs.csr import row_ranges
from harness.graphs.graph import Graph
from harness.models.adjacency import to_tensor
from harness.models.aggregation import Aggregation
from harness.models.block import TorchBlock
from harness.models.mpnn import Mpnn
from harness.models.network import Layer, Network
from harness.models.normalisation import PairNorm
from harness.models.own import OwnModel

ROWS_BYTES = 32 * 2**20  # what the widest tensor over one chunk's destinations may take; 128 MiB were no faster
EDGES = 2**22  # in one chunk, unless one destination has more
MESSAGES_BYTES = 32 * 2**20  # of a chunk's messages where each edge has one (mpnn), unless one destination has more
LEAST_WIDTH = 512  # of the tensors that the rows of a chunk are planned for

Watch = Callable[[Tensor], None]


class Inference:
    """Inference over one graph, whose edges are cut into chunks of destinations once and kept.

    Always over all neighbours, in float32, in evaluation mode, whatever the model's options: accuracy does not
    depend on how batches were drawn or in which precision they were computed. Neither counters nor the random state
    change.

    Args:
        graph: its edges are read from here; features too, unless given to `logits`.
        device: where it is computed; the model must be there.
    """

    def __init__(self, graph: Graph, device: torch.device | str) -> None:
        self.graph, self.device = graph, torch.device(device)

    @torch.no_grad()
    def logits(self, model: nn.Module, x: Tensor | None = None, watch: Watch | None = None) -> Tensor:
        """Logits of all nodes.

        Args:
            model: from `build_model`.
            x: features ``[num_nodes, F]``, float32, on any device; None reads the graph's.
            watch: called with the features, each layer's output and, if these come later, the logits, float32,
                ``[num_nodes, F']``, on the device, to look at and not to keep; of a person's own module with none.

        Returns:
            float32, ``[num_nodes, num_classes]``, on the CPU.
        """
        x = (to_tensor(self.graph.x, self.device) if x is None else x.to(self.device)).float()
        with _evaluation(model), torch.autocast(self.device.type, enabled=False):
            if isinstance(model, OwnModel):
                return model.exact_logits(x, self._edge_index).cpu()
            if not isinstance(model, Network):
                raise TypeError(f"a model from build_model is needed; got {type(model).__name__}")
            return self._through_layers(model, x, watch or (lambda _: None)).float().cpu()

    def _through_layers(self, model: Network, x: Tensor, watch: Watch) -> Tensor:
        watch(x)
        jumping, followed = model.jumping, None
        for index, layer in enumerate(model.layers):
            x = self._layer(layer, x)
            watch(x)
            if jumping is not None:
                followed = jumping.follow(followed, index, x)
        if jumping is None:
            return x
        assert followed is not None
        logits = jumping.logits(followed)
        watch(logits)
        return logits

    def _layer(self, layer: Layer, x: Tensor) -> Tensor:
        uncounted = Aggregation("segment" if isinstance(layer.conv, Mpnn) else "spmm")
        sources = layer.conv.send(x)
        together = isinstance(layer.norm, PairNorm)  # over all nodes: needs the convolution's whole output
        out = None
        for chunk in self._chunks_for(layer):
            first, last = chunk.first_dst, chunk.first_dst + chunk.num_dst
            rows = layer.conv.receive(sources, tuple(s[first:last] for s in sources), chunk, uncounted)
            if not together:
                rows = layer.finish(rows, x[first:last])
            if out is None:
                out = rows.new_empty(self.graph.num_nodes, rows.shape[1])
            out[first:last] = rows
        if together:
            self._finish_together(layer, out, x)
        return out

    def _finish_together(self, layer: Layer, received: Tensor, x: Tensor) -> None:
        """`Layer.finish` with a norm over all nodes, in the place of the convolution's output."""
        sizes = [chunk.num_dst for chunk in self._chunks]
        pieces = received.split(sizes)
        layer.norm.over_pieces(pieces)
        for piece, of_x in zip(pieces, x.split(sizes), strict=True):
            piece.copy_(layer.activate(piece, of_x))

    def _chunks_for(self, layer: Layer) -> Iterable[TorchBlock]:
        """Those that are kept, or, with a message for each edge, smaller ones that are not: those hold attributes."""
        if not isinstance(layer.conv, Mpnn):
            return self._chunks
        return self._cut(max(1, MESSAGES_BYTES // (4 * layer.conv.out_channels)), self.graph.edge_attr)

    @cached_property
    def _chunks(self) -> list[TorchBlock]:
        return list(self._cut(EDGES))

    def _cut(self, most_edges: int, edge_attr: np.ndarray | None = None) -> Iterator[TorchBlock]:
        """The whole graph in blocks of consecutive destinations, with at most so many edges unless one has more."""
        indptr, indices = np.asarray(self.graph.indptr), self.graph.indices
        degree = np.diff(indptr)
        most_rows = max(1, ROWS_BYTES // (4 * max(self.graph.num_features, LEAST_WIDTH)))
        for first, last in row_ranges(indptr, most_edges, most_rows):
            held = slice(indptr[first], indptr[last])
            yield TorchBlock(
                indptr[first : last + 1] - indptr[first],
                indices[held],
                self.graph.num_nodes,
                degree[first:last],
                degree,
                self._self_loops,
                self.device,
                first_dst=first,
                edge_attr=None if edge_attr is None else edge_attr[held],
            )

    @cached_property
    def _self_loops(self) -> np.ndarray:
        """Of every node, int64."""
        indptr, indices = self.graph.indptr, self.graph.indices
        counted = self_loops(indptr, indices) if self.graph.meta.self_loops else None
        return np.zeros(self.graph.num_nodes, np.int64) if counted is None else counted

    @cached_property
    def _edge_index(self) -> Tensor:
        indptr, indices = np.asarray(self.graph.indptr), np.asarray(self.graph.indices, dtype=np.int64)
        target = np.repeat(np.arange(self.graph.num_nodes, dtype=np.int64), np.diff(indptr))
        return to_tensor(np.stack([indices, target]), self.device)


@contextmanager
def _evaluation(model: nn.Module) -> Iterator[None]:
    training = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(training)
