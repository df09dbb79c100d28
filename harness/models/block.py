"""A block of a batch as tensors: its edges as sampled, with self-loops, and with gcn's weights."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from harness.batches.batch import Block
from harness.models.adjacency import Adjacency, to_tensor


class TorchBlock:
    """The edges that one layer needs, on a device; each form is made once, when first asked for.

    Destination i is source ``first_dst + i``. In the blocks of a batch ``first_dst`` is 0; inference cuts the
    whole graph into blocks of consecutive destinations.

    Args:
        indptr: CSR row pointer, ``[num_dst + 1]``.
        indices: source of each edge, ``[num_edges]``.
        num_src: rows that the layer reads.
        in_degree: degree of each destination in the whole graph, ``[num_dst]``.
        src_degree: in-degree of each source in the whole graph, ``[num_src]``.
        src_self_loops: self-loops among `src_degree`, ``[num_src]``; None where they are to be counted from the
            block itself if it is square, and are none otherwise.
        device: where the tensors go.
        first_dst: source that destination 0 is.
        edge_weight: what each message is multiplied by, float32, ``[num_edges]``; None means 1.
        edge_attr: attributes of each edge, float32, ``[num_edges, D]``; None where no model reads them.
    """

    def __init__(
        self,
        indptr: np.ndarray,
        indices: np.ndarray,
        num_src: int,
        in_degree: np.ndarray,
        src_degree: np.ndarray,
        src_self_loops: np.ndarray | None,
        device: torch.device,
        first_dst: int = 0,
        edge_weight: np.ndarray | None = None,
        edge_attr: np.ndarray | None = None,
    ) -> None:
        self._edge_attr = edge_attr
        self._indptr, self._indices, self._edge_weight = indptr, indices, edge_weight
        self._in_degree, self._src_degree, self._src_self_loops = in_degree, src_degree, src_self_loops
        self.num_src, self.num_dst, self.num_edges = num_src, len(indptr) - 1, len(indices)
        self.device, self.first_dst = device, first_dst
        self._degree = np.diff(indptr)

    @property
    def reweighted(self) -> bool:
        """Whether the sampler gave its edges weights."""
        return self._edge_weight is not None

    @cached_property
    def edge_attr(self) -> Tensor | None:
        """Attributes of each edge, in the order of `plain`, float32, ``[num_edges, D]``; None where it carries none."""
        return None if self._edge_attr is None else to_tensor(self._edge_attr, self.device)

    @cached_property
    def plain(self) -> Adjacency:
        """The edges as they are, with the sampler's weights, or 1 each."""
        weights = self._sampled_weights if self.reweighted else None
        return Adjacency(self._indptr, self._indices, self.num_src, self.device, weights)

    @cached_property
    def looped(self) -> Adjacency:
        """Self-loops dropped and exactly one added to each destination, the last of its row (gat)."""
        return Adjacency(*self._with_self_loops, self.num_src, self.device)

    @cached_property
    def normalised(self) -> Adjacency:
        """As `looped`, with gcn's weights.

        The edge from j to i weighs ``1 / sqrt(d_i d_j)`` (Kipf and Welling 2017), d the in-degree in the whole
        graph without self-loops, plus 1. Repeated edges count as often as they come; a node has one self-loop
        of weight ``1 / d_i``, however many the graph has. This is PyG's `gcn_norm`.
        Where the block holds only some of a destination's edges, all but the self-loop are scaled by in-degree
        over edges held, which makes a uniform sample's sum unbiased for the whole neighbourhood's. The sampler's
        weights multiply all but the self-loop too, which does the same for a sample that is not uniform.
        """
        return Adjacency(*self._with_self_loops, self.num_src, self.device, self._symmetric_weights)

    @cached_property
    def count(self) -> Tensor:
        """Edges of each destination in this block, at least 1, float32, ``[num_dst, 1]``: what a mean divides by."""
        return to_tensor(np.maximum(self._degree, 1).astype(np.float32), self.device).view(-1, 1)

    @cached_property
    def scale(self) -> Tensor | None:
        """In-degree over edges held, float32, ``[num_dst, 1]``; None where the block holds them all."""
        scale = self._scale
        return None if scale is None else to_tensor(scale.astype(np.float32), self.device).view(-1, 1)

    @cached_property
    def _scale(self) -> np.ndarray | None:
        if np.array_equal(self._degree, self._in_degree):
            return None
        return np.where(self._degree > 0, self._in_degree / np.maximum(self._degree, 1), 1.0)

    @cached_property
    def _is_self_loop(self) -> np.ndarray:
        rows = np.arange(self.first_dst, self.first_dst + self.num_dst, dtype=self._indices.dtype)
        return self._indices == np.repeat(rows, self._degree)

    @cached_property
    def _with_self_loops(self) -> tuple[np.ndarray, np.ndarray]:
        """Row pointer and indices with one self-loop at the end of each row."""
        indices, degree, indptr = self._indices, self._degree, self._indptr
        if self._is_self_loop.any():
            indices, degree = indices[~self._is_self_loop], degree - self._self_loops_held
            indptr = np.concatenate([[0], np.cumsum(degree)])
        rows = np.arange(self.num_dst)
        looped = np.empty(len(indices) + self.num_dst, dtype=indices.dtype)
        looped[np.arange(len(indices)) + np.repeat(rows, degree)] = indices
        looped[indptr[1:] + rows] = rows + self.first_dst
        return indptr + np.arange(self.num_dst + 1), looped

    @cached_property
    def _self_loops_held(self) -> np.ndarray:
        """Self-loops of each destination in this block."""
        before = np.concatenate([[0], np.cumsum(self._is_self_loop)])
        return before[self._indptr[1:]] - before[self._indptr[:-1]]

    @cached_property
    def _inverse_root_degree(self) -> np.ndarray:
        loops = self._src_self_loops
        if loops is None and self.num_src == self.num_dst:
            loops = self._self_loops_held  # never cut away: both ends are in the block
        degree = self._src_degree if loops is None else self._src_degree - loops
        return 1.0 / np.sqrt(degree + 1.0)

    def _sampled_weights(self, _: Adjacency, dtype: torch.dtype) -> Tensor:
        assert self._edge_weight is not None
        return to_tensor(self._edge_weight, self.device).to(dtype)

    def _symmetric_weights(self, looped: Adjacency, dtype: torch.dtype) -> Tensor:
        exact = torch.float64 if dtype == torch.float64 else torch.float32
        source = to_tensor(self._inverse_root_degree, self.device).to(exact)
        own = source[self.first_dst : self.first_dst + self.num_dst]
        scaled = own if self._scale is None else own * to_tensor(self._scale, self.device).to(exact)
        weight = scaled.index_select(0, looped.dst) * source.index_select(0, looped.indices)
        added = looped.indptr[1:].long() - 1
        if self._edge_weight is not None:
            sampled = torch.ones(looped.num_edges, dtype=torch.bool, device=self.device)
            sampled[added] = False
            weight[sampled] *= to_tensor(self._edge_weight[~self._is_self_loop], self.device).to(exact)
        weight[added] = own * own
        return weight.to(dtype)


def to_torch(block: Block, device: torch.device) -> TorchBlock:
    """The block as tensors; on the CPU they share its memory."""
    return TorchBlock(
        block.indptr,
        block.indices,
        block.num_src,
        block.in_degree,
        block.src_degree,
        block.src_self_loops,
        device,
        edge_weight=block.edge_weight,
        edge_attr=block.edge_attr,
    )


class BlockTensors:
    """Blocks as tensors, each block object converted once and forgotten with it.

    The layers of a full or clustered batch share one block, and a full graph is the same block in every epoch.
    Nothing is looked up by size or content: another object is another block.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[int, torch.device], tuple[weakref.ref[Block], TorchBlock]] = {}

    def __reduce__(self) -> tuple[type[BlockTensors], tuple[()]]:
        return BlockTensors, ()  # a copy of the model starts with no blocks

    def of(self, blocks: Sequence[Block | TorchBlock], device: torch.device) -> tuple[TorchBlock, ...]:
        """The tensors of each block, in order; those that are tensors already stay as they are."""
        return tuple(b if isinstance(b, TorchBlock) else self._convert(b, device) for b in blocks)

    def _convert(self, block: Block, device: torch.device) -> TorchBlock:
        key = (id(block), device)
        known = self._known.get(key)
        if known is not None and known[0]() is block:
            return known[1]
        converted = to_torch(block, device)
        self._known[key] = (weakref.ref(block, lambda _: self._known.pop(key, None)), converted)
        return converted
