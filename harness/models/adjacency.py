"""The edges of one layer as tensors, in each form that an aggregation reads; made when first asked for."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.sparse
import torch
from torch import Tensor

# read-only arrays (memory maps of the graph) are only read here
warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")


class Padded(NamedTuple):
    """Rows of equal length: a slot for each edge, and as many empty ones as the largest degree asks for.

    Attributes:
        edge: edge in each slot, int64, ``[num_dst, max_degree]``; 0 in an empty one.
        source: source of that edge, int64, likewise.
        empty: whether a slot is empty, bool, ``[num_dst, max_degree]``.
        slot: slot of each edge among all ``num_dst * max_degree``, int64, ``[num_edges]``.
    """

    edge: Tensor
    source: Tensor
    empty: Tensor
    slot: Tensor


Weights = Callable[["Adjacency", torch.dtype], Tensor]  # of each edge, [num_edges], on the adjacency's device


class Adjacency:
    """A CSR matrix of destinations by sources, without gradients, on one device.

    Args:
        indptr: row pointer, integers, ``[num_dst + 1]``.
        indices: source of each edge, int32 or int64, ``[num_edges]``; edges may repeat.
        num_src: number of columns.
        device: where the tensors go.
        weights: of the edges; None means 1.
    """

    def __init__(
        self,
        indptr: np.ndarray,
        indices: np.ndarray,
        num_src: int,
        device: torch.device,
        weights: Weights | None = None,
    ) -> None:
        self._indptr, self._indices, self._weights = indptr, indices, weights
        self.num_dst, self.num_src, self.num_edges = len(indptr) - 1, num_src, len(indices)
        self.device = device
        self._by_dtype: dict[tuple[str, torch.dtype], Tensor] = {}

    @cached_property
    def indptr(self) -> Tensor:
        """Row pointer, of the integer type of the indices, ``[num_dst + 1]``."""
        return to_tensor(self._indptr.astype(self._indices.dtype, copy=False), self.device)

    @cached_property
    def indices(self) -> Tensor:
        """Source of each edge, ``[num_edges]``."""
        return to_tensor(self._indices, self.device)

    @cached_property
    def dst(self) -> Tensor:
        """Destination of each edge, int64, ``[num_edges]``; ascending."""
        rows = torch.arange(self.num_dst, device=self.device)
        return torch.repeat_interleave(rows, self.indptr.diff(), output_size=self.num_edges)

    @cached_property
    def edge_index(self) -> Tensor:
        """Source over destination, int64, ``[2, num_edges]``: PyG's form."""
        return torch.stack([self.indices.long(), self.dst])

    @cached_property
    def padded(self) -> Padded:
        """The edges in rows of equal length."""
        slots = self.num_dst * self.max_degree
        first = self.indptr[:-1].long() - self.max_degree * torch.arange(self.num_dst, device=self.device)
        slot = torch.arange(self.num_edges, device=self.device) - first.index_select(0, self.dst)
        edge = torch.zeros(slots, dtype=torch.int64, device=self.device)
        empty = torch.ones(slots, dtype=torch.bool, device=self.device)
        edge[slot] = torch.arange(self.num_edges, device=self.device)
        empty[slot] = False
        shape = (self.num_dst, self.max_degree)
        source = self.indices.long()[edge] if self.num_edges else edge
        return Padded(edge.view(shape), source.view(shape), empty.view(shape), slot)

    @property
    def is_padded(self) -> bool:
        """Whether an aggregation has asked for `padded`."""
        return "padded" in self.__dict__

    @cached_property
    def max_degree(self) -> int:
        """Largest number of edges of a destination; 0 without edges."""
        return int(np.diff(self._indptr).max(initial=0))

    @cached_property
    def _transposed(self) -> tuple[Tensor, Tensor, Tensor | None]:
        """CSR of sources by destinations, and for each of its edges the place in this one (None without weights)."""
        shape = (self.num_dst, self.num_src)
        places = np.arange(self.num_edges, dtype=self._indices.dtype)
        turned = scipy.sparse.csr_matrix((places, self._indices, self._indptr), shape=shape).tocsc()
        kept = None if self._weights is None else to_tensor(turned.data, self.device)
        indices = turned.indices.astype(self._indices.dtype, copy=False)
        indptr = turned.indptr.astype(self._indices.dtype, copy=False)
        return to_tensor(indptr, self.device), to_tensor(indices, self.device), kept

    def weight(self, dtype: torch.dtype) -> Tensor | None:
        """Weight of each edge, ``[num_edges]``; None where all are 1."""
        if self._weights is None:
            return None
        return self._once("weight", dtype, lambda: self._weights(self, dtype))

    def matrix(self, dtype: torch.dtype) -> Tensor:
        """Sparse CSR tensor, ``[num_dst, num_src]``."""
        return self._once("matrix", dtype, lambda: self._make_matrix(dtype))

    def transposed_matrix(self, dtype: torch.dtype) -> Tensor:
        """Sparse CSR tensor, ``[num_src, num_dst]``: the backward pass of a product with `matrix` multiplies by it."""
        return self._once("transposed", dtype, lambda: self._make_transposed(dtype))

    def matrix_of(self, weight: Tensor) -> Tensor:
        """Sparse CSR tensor of these edges with other weights, ``[num_dst, num_src]``."""
        return _csr(self.indptr, self.indices, weight, (self.num_dst, self.num_src), weight.dtype)

    def _make_matrix(self, dtype: torch.dtype) -> Tensor:
        return _csr(self.indptr, self.indices, self.weight(dtype), (self.num_dst, self.num_src), dtype)

    def _make_transposed(self, dtype: torch.dtype) -> Tensor:
        indptr, indices, places = self._transposed
        weight = None if places is None else self.weight(dtype).index_select(0, places)
        return _csr(indptr, indices, weight, (self.num_src, self.num_dst), dtype)

    def _once(self, form: str, dtype: torch.dtype, make: Callable[[], Tensor]) -> Tensor:
        found = self._by_dtype.get((form, dtype))
        if found is None:
            found = self._by_dtype[form, dtype] = make()
        return found


def _csr(indptr: Tensor, indices: Tensor, weight: Tensor | None, size: tuple[int, int], dtype: torch.dtype) -> Tensor:
    values = torch.ones(len(indices), dtype=dtype, device=indices.device) if weight is None else weight
    return torch.sparse_csr_tensor(indptr, indices, values, size=size, check_invariants=False)


def to_tensor(array: np.ndarray, device: torch.device) -> Tensor:
    """The array on the device; on the CPU it shares the array's memory."""
    return torch.from_numpy(np.ascontiguousarray(array)).to(device)
