"""Sums over neighbours, four ways with equal results, in the dtype that the precision asks for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Literal

import torch
from torch import Tensor
from torch_geometric.utils import scatter, softmax

from harness.models.adjacency import Adjacency
from harness.models.block import TorchBlock
from harness.models.dense import dense_attend, dense_reduce, dense_softmax, dense_sum
from harness.models.errors import Unsupported
from harness.models.half_range import HALF, Finish, HalfRange, Summed
from harness.models.segment import gather, gathered_sum, segment_softmax, segment_sum
from harness.models.spmm import multiply, spmm_sum

Implementation = Literal["scatter", "spmm", "segment", "dense"]


class Aggregation:
    """How one layer sums over neighbours, and a count of what it really did.

    Args:
        implementation: ``scatter`` gathers a message for each edge and adds it to its destination (PyG's default);
            ``segment`` gathers likewise and reduces the sorted edges row by row; ``spmm`` multiplies by a sparse
            matrix and makes no messages; ``dense`` gathers as many rows for each destination as the one of the
            largest degree has, and masks those that are too many.
        dtype: messages and edge weights are cast to it before they are summed; None leaves them as they come.
    """

    def __init__(self, implementation: Implementation, dtype: torch.dtype | None = None) -> None:
        self.implementation, self._dtype = implementation, dtype
        self.calls: Counter[str] = Counter()
        self.message_dtype: torch.dtype | None = None  # as observed, of the last call
        self.range = HalfRange()
        self.padded_calls = self.padded_edges = self.padded_slots = 0

    def sum(self, x: Tensor, adjacency: Adjacency) -> Tensor:
        """Weighted sum of each destination's sources.

        Args:
            x: ``[num_src, F]``.

        Returns:
            ``[num_dst, F]``, in the dtype of the messages; 0 for a destination without an edge.
        """
        return self._observed(self._sum(x, adjacency), adjacency, Summed(x, adjacency.indices))

    def mean(self, x: Tensor, block: TorchBlock) -> Tensor:
        """Mean of each destination's sources, ``[num_dst, F]``; 0 without an edge.

        Neighbours are counted in float32 whatever the dtype of the messages: float16 counts no further than 2,048.
        """
        mean = self._sum(x, block.plain).div_(block.count)  # no backward pass wants the sums as they were
        summed = Summed(x, block.plain.indices, finish=_divided_by(block.count))
        return self._observed(mean, block.plain, summed)

    def reduce_mean(self, messages: Tensor, block: TorchBlock) -> Tensor:
        """Mean of messages that were made edge by edge, as a message-passing network's are.

        Args:
            messages: ``[num_edges, F]``, in the order of the edges of ``block.plain``; cast to the option's dtype, and
                multiplied by the sampler's weights where it gave any, as in `mean`.

        Returns:
            ``[num_dst, F]``, in that dtype; 0 for a destination without an edge.

        Raises:
            Unsupported: with ``spmm``, which has no messages.
        """
        if self.implementation == "spmm":
            raise Unsupported("a product with a sparse matrix makes no messages; use scatter, segment or dense")
        with self._run(messages) as cast:
            total = _REDUCES[self.implementation](_weighted(cast, block.plain), block.plain)
        summed = Summed(messages, None, finish=_divided_by(block.count))
        return self._observed(total.div_(block.count), block.plain, summed)

    def scaled_sum(self, x: Tensor, block: TorchBlock) -> Tensor:
        """Sum over the whole neighbourhood, estimated from the edges held: the sum times in-degree over edges held."""
        total = self._sum(x, block.plain)
        scaled = total if block.scale is None else (total * block.scale).to(total.dtype)
        finish = None if block.scale is None else _times(block.scale)
        return self._observed(scaled, block.plain, Summed(x, block.plain.indices, finish=finish))

    def softmax(self, scores: Tensor, adjacency: Adjacency) -> Tensor:
        """Softmax of the scores of each destination's edges, at least in float32, ``[num_edges, heads]``."""
        scores = scores.float() if scores.dtype in HALF else scores
        if self.implementation == "scatter":
            return softmax(scores, adjacency.dst, num_nodes=adjacency.num_dst)
        if self.implementation == "dense":
            return dense_softmax(scores, adjacency)
        return segment_softmax(scores, adjacency)

    def attend(self, x: Tensor, attention: Tensor, adjacency: Adjacency) -> Tensor:
        """Sum of each destination's sources weighted by attention.

        Args:
            x: ``[num_src, heads, F]``.
            attention: ``[num_edges, heads]``, in the order of the edges.

        Returns:
            ``[num_dst, heads, F]``, in the dtype of the messages.
        """
        with self._run(x) as sources:
            sums = _ATTENDS[self.implementation](sources, attention.to(sources.dtype), adjacency)
        return self._observed(sums, adjacency, Summed(x, adjacency.indices, attention))

    def _sum(self, x: Tensor, adjacency: Adjacency) -> Tensor:
        with self._run(x) as messages:
            return _SUMS[self.implementation](messages, adjacency)

    @contextmanager
    def _run(self, x: Tensor) -> Iterator[Tensor]:
        """The messages in their dtype, outside of autocast, which would choose another."""
        messages = x if self._dtype is None else x.to(self._dtype)
        self.message_dtype = messages.dtype
        with torch.autocast(x.device.type, enabled=False):
            try:
                yield messages
            except (NotImplementedError, RuntimeError) as error:
                if "not implemented for" not in str(error):
                    raise
                raise Unsupported(
                    f"aggregation {self.implementation} has no kernel for {messages.dtype} on {x.device.type} "
                    f"in torch {torch.__version__}: {error}"
                ) from error

    def _observed(self, out: Tensor, adjacency: Adjacency, summed: Summed) -> Tensor:
        self.calls[adjacency.summed_by] += 1
        if adjacency.is_padded:
            self.padded_calls += 1
            self.padded_edges += adjacency.num_edges
            self.padded_slots += adjacency.num_dst * adjacency.max_degree
        self.range.look(self.calls.total(), out, adjacency, summed)
        return out


def padding_share(each: Iterable[Aggregation]) -> float | None:
    """Empty slots of all that were summed; None where no rows were padded, 0 where they had no slot."""
    padded = [a for a in each if a.padded_calls]
    if not padded:
        return None
    slots, edges = sum(a.padded_slots for a in padded), sum(a.padded_edges for a in padded)
    return 1.0 - edges / slots if slots else 0.0


def _divided_by(count: Tensor) -> Finish:
    return lambda sums, rows: sums / count.index_select(0, rows)


def _times(scale: Tensor) -> Finish:
    return lambda sums, rows: sums * scale.index_select(0, rows)


def _scatter_reduce(messages: Tensor, adjacency: Adjacency) -> Tensor:
    adjacency.summed_by = "scatter"
    return scatter(messages, adjacency.dst, dim=0, dim_size=adjacency.num_dst, reduce="sum")


def _scatter_sum(x: Tensor, adjacency: Adjacency) -> Tensor:
    return _scatter_reduce(_weighted(x.index_select(0, adjacency.indices), adjacency), adjacency)


def _weighted(messages: Tensor, adjacency: Adjacency) -> Tensor:
    weight = adjacency.weight(messages.dtype)
    return messages if weight is None else weight.view(-1, 1) * messages


def _scatter_attend(x: Tensor, attention: Tensor, adjacency: Adjacency) -> Tensor:
    return _scatter_reduce(attention.unsqueeze(-1) * x.index_select(0, adjacency.indices), adjacency)


def _segment_attend(x: Tensor, attention: Tensor, adjacency: Adjacency) -> Tensor:
    return segment_sum(attention.unsqueeze(-1) * gather(x, adjacency), adjacency)


def _spmm_attend(x: Tensor, attention: Tensor, adjacency: Adjacency) -> Tensor:
    """A product for each head; for inference, since no gradient reaches the attention."""
    if torch.is_grad_enabled() and (attention.requires_grad or x.requires_grad):
        raise Unsupported("attention weights have no gradient through a sparse product; use scatter or segment")
    adjacency.summed_by = "spmm"
    heads = [multiply(adjacency.matrix_of(attention[:, head].contiguous()), x[:, head]) for head in range(x.shape[1])]
    return torch.stack(heads, dim=1)


_SUMS = {"scatter": _scatter_sum, "segment": gathered_sum, "spmm": spmm_sum, "dense": dense_sum}
_REDUCES = {"scatter": _scatter_reduce, "segment": segment_sum, "dense": dense_reduce}
_ATTENDS = {"scatter": _scatter_attend, "segment": _segment_attend, "spmm": _spmm_attend, "dense": dense_attend}
