"""The edges of one layer as tensors, in each form that an aggregation reads; made when first asked for."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
import torch
from torch import Tensor

from harness.models.transpose import transposed

# read-only arrays (memory maps of the graph) are only read here
warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")


T = TypeVar("T")


class Csr(NamedTuple):
    """A sparse matrix in CSR.

    Attributes:
        indptr: row pointer, of the integer type of the columns, ``[num_rows + 1]``.
        columns: int32 or int64, ``[num_entries]``; a column may repeat in a row.
        values: ``[num_entries]``; None: all 1.
        num_columns: of the matrix.
    """

    indptr: Tensor
    columns: Tensor
    values: Tensor | None
    num_columns: int


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

    Attributes:
        row_pointer: `indptr` on the host.
        summed_by: the kernel that last summed over these edges, as it says itself; empty before one has.
    """

    def __init__(
        self,
        indptr: np.ndarray,
        indices: np.ndarray,
        num_src: int,
        device: torch.device,
        weights: Weights | None = None,
    ) -> None:
        self.row_pointer, self._indices, self._weights = indptr, indices, weights
        self.num_dst, self.num_src, self.num_edges = len(indptr) - 1, num_src, len(indices)
        self.device = device
        self.summed_by = ""
        self._by_dtype: dict[tuple[str, torch.dtype], Any] = {}

    @cached_property
    def indptr(self) -> Tensor:
        """Row pointer, of the integer type of the indices, ``[num_dst + 1]``."""
        return to_tensor(self.row_pointer.astype(self._indices.dtype, copy=False), self.device)

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
        return int(np.diff(self.row_pointer).max(initial=0))

    @cached_property
    def by_destination(self) -> Csr:
        """Which edges are each destination's, ``[num_dst, num_edges]``."""
        edges = torch.arange(self.num_edges, dtype=self.indices.dtype, device=self.device)
        return Csr(self.indptr, edges, None, self.num_edges)

    @cached_property
    def by_source(self) -> Csr:
        """Which edges are each source's, in their order, ``[num_src, num_edges]``."""
        indptr, _, edges = self._transposed
        return Csr(to_tensor(indptr, self.device), to_tensor(edges, self.device), None, self.num_edges)

    @cached_property
    def _transposed(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return transposed(self.row_pointer, self._indices, self.num_src)

    def weight(self, dtype: torch.dtype) -> Tensor | None:
        """Weight of each edge, ``[num_edges]``; None where all are 1."""
        if self._weights is None:
            return None
        return self._once("weight", dtype, lambda: self._weights(self, dtype))

    def matrix(self, dtype: torch.dtype) -> Csr:
        """Weights of the edges, ``[num_dst, num_src]``."""
        return Csr(self.indptr, self.indices, self.weight(dtype), self.num_src)

    def transposed_matrix(self, dtype: torch.dtype) -> Csr:
        """``[num_src, num_dst]``: the backward pass of a product with `matrix` multiplies by it."""
        return self._once("transposed", dtype, lambda: self._make_transposed(dtype))

    def matrix_of(self, weight: Tensor) -> Csr:
        """These edges with other weights, ``[num_dst, num_src]``."""
        return Csr(self.indptr, self.indices, weight, self.num_src)

    def _make_transposed(self, dtype: torch.dtype) -> Csr:
        indptr, columns, edges = self._transposed
        weight = self.weight(dtype)
        values = None if weight is None else weight.index_select(0, to_tensor(edges, self.device))
        return Csr(to_tensor(indptr, self.device), to_tensor(columns, self.device), values, self.num_dst)

    def _once(self, form: str, dtype: torch.dtype, make: Callable[[], T]) -> T:
        found = self._by_dtype.get((form, dtype))
        if found is None:
            found = self._by_dtype[form, dtype] = make()
        return cast(T, found)


def to_tensor(array: np.ndarray, device: torch.device) -> Tensor:
    """The array on the device; on the CPU it shares the array's memory."""
    return torch.from_numpy(np.ascontiguousarray(array)).to(device)
