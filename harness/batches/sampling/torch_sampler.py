"""The same neighbour sampling in vectorised torch: the oracle of the compiled sampler, and the sampler for CUDA.

Every draw is the same hash, so the batches are equal bit for bit. torch has no unsigned 64-bit arithmetic;
int64 wraps around in the same bits, and shifts to the right are masked to fill with zeros.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from harness.batches.batch import Batch
from harness.batches.edges import edge_table_of
from harness.batches.sampling.hop_wise import Hops, hop_wise_batch
from harness.batches.sampling.methods import check_method, checked_fanout, checked_seeds, hop_keys, weights_of
from harness.batches.sampling.neighbour_weights import kept_edges, of_positive_weight
from harness.batches.self_loops import self_loops
from harness.graphs.csr import check_csr
from harness.graphs.mixing import GOLDEN, MULTIPLIER_1, MULTIPLIER_2


def _signed(word: int | np.uint64) -> int:
    """The int64 with the same low 64 bits."""
    return ((int(word) + (1 << 63)) & ((1 << 64) - 1)) - (1 << 63)


_GOLDEN, _MULTIPLIER_1, _MULTIPLIER_2 = _signed(GOLDEN), _signed(MULTIPLIER_1), _signed(MULTIPLIER_2)


def _shifted(z: Tensor, bits: int) -> Tensor:
    """Shift to the right, filling with zeros."""
    return (z >> bits) & ((1 << (64 - bits)) - 1)


def mix(z: Tensor) -> Tensor:
    """SplitMix64's finaliser on int64 words of any shape; see `harness.batches.randomness.mix`."""
    z = (z ^ _shifted(z, 30)) * _MULTIPLIER_1
    z = (z ^ _shifted(z, 27)) * _MULTIPLIER_2
    return z ^ _shifted(z, 31)


def below(word: Tensor, n: Tensor) -> Tensor:
    """Multiply-shift into ``[0, n)`` for 1 <= n < 2**31, in halves of 32 bits; shapes broadcast."""
    high = _shifted(word, 32) * n
    low = (word & 0xFFFFFFFF) * n
    return (high + _shifted(low, 32)) >> 32


def _ragged(count: Tensor) -> tuple[Tensor, Tensor]:
    """Row, and position within its row, of each entry of rows of these lengths."""
    row = torch.repeat_interleave(torch.arange(len(count), device=count.device), count)
    return row, torch.arange(len(row), device=count.device) - (count.cumsum(0) - count)[row]


class TorchNeighborSampler:
    """As `harness.batches.NeighborSampler`, in torch, on any device.

    Args:
        indptr, indices: CSR, integer arrays or tensors.
        fanout, method, seed, weights, reweight, edge_attr, validate, has_self_loops: see `NeighborSampler`.
        device: where the tensors live and the work is done.

    Raises:
        ValueError: as `NeighborSampler`.
    """

    def __init__(
        self,
        indptr: np.ndarray,
        indices: np.ndarray,
        fanout: Sequence[int] = (15, 10, 5),
        method: str = "uniform",
        seed: int = 0,
        *,
        weights: np.ndarray | None = None,
        reweight: bool = False,
        edge_attr: np.ndarray | None = None,
        validate: bool = True,
        has_self_loops: bool = True,
        device: torch.device | str = "cpu",
    ) -> None:
        check_method(method)
        if validate:
            check_csr(indptr, indices)
        self.fanout = checked_fanout(fanout)
        self.method = method
        self.seed = int(seed)
        self.reweight = reweight
        self.device = torch.device(device)
        self._self_loops = self_loops(indptr, indices) if has_self_loops else None
        self._indptr = self._on_device(indptr)
        self._from = self._indptr, self._on_device(indices)  # the adjacency to draw from
        by_weight = weights_of(method, weights, reweight, indptr, indices)
        self._weights: Tensor | None = None
        if by_weight is not None:
            self._weights = torch.as_tensor(by_weight.copy(), device=self.device)
            self._from = tuple(self._on_device(a) for a in of_positive_weight(indptr, indices, by_weight))
        self.edge_table = edge_table_of(edge_attr, indices)
        self._kept: np.ndarray | None = None  # place of each edge that may be drawn; None where all may
        if by_weight is not None and self.edge_table is not None:
            self._kept = kept_edges(indices, by_weight)

    def _on_device(self, ids: np.ndarray) -> Tensor:
        return torch.as_tensor(np.array(ids, dtype=np.int64), device=self.device)

    @property
    def num_nodes(self) -> int:
        return len(self._indptr) - 1

    @property
    def weights(self) -> np.ndarray | None:
        """What is drawn by, copied from the device; see `NeighborSampler.weights`."""
        return None if self._weights is None else self._weights.cpu().numpy()

    def sample(self, seeds: np.ndarray, epoch: int = 0, batch: int = 0) -> Batch:
        """One batch, equal to that of `NeighborSampler.sample` with the same arguments."""
        seeds = checked_seeds(seeds, self.num_nodes)
        if len(np.unique(seeds)) != len(seeds):
            raise ValueError("seeds must be distinct")
        on_device = torch.as_tensor(seeds.copy(), device=self.device)
        found = self.sample_tensors(on_device, epoch, batch)
        hops = Hops(*(part.cpu().numpy() if isinstance(part, Tensor) else part for part in found))
        return hop_wise_batch(hops, self._self_loops, self.edge_table, self._kept, epoch=epoch, index=batch)

    def sample_tensors(self, seeds: Tensor, epoch: int = 0, batch: int = 0) -> Hops[Tensor]:
        """What was drawn for a batch, on the device."""
        keys = hop_keys(self.method, self.seed, len(self.fanout), epoch, batch)
        row_of = torch.full((self.num_nodes,), -1, dtype=torch.int64, device=self.device)
        row_of[seeds] = torch.arange(len(seeds), device=self.device)
        nodes, first, known_after = seeds, 0, [len(seeds)]
        counts, cols, weights = [torch.zeros(1, dtype=torch.int64, device=self.device)], [], []
        edges = []
        for fanout, key in zip(self.fanout, keys, strict=True):
            edge, count, edge_weight = self._draw(nodes[first:], fanout, _signed(key))
            drawn = self._from[1][edge]
            first = len(nodes)
            nodes = self._number(drawn, nodes, row_of)
            counts.append(count)
            cols.append(row_of[drawn])
            weights.append(edge_weight)
            if self.edge_table is not None:
                edges.append(edge)
            known_after.append(len(nodes))
        return Hops(
            nodes,
            self._indptr[nodes + 1] - self._indptr[nodes],
            torch.cat(counts).cumsum(0),
            torch.cat(cols),
            known_after,
            torch.cat(weights) if self.reweight else None,
            torch.cat(edges) if edges else None,
        )

    def _draw(self, frontier: Tensor, fanout: int, key: int) -> tuple[Tensor, Tensor, Tensor | None]:
        """Edges (places in the adjacency) drawn for each node of the frontier, in its order, how many each got, and
        their weights."""
        indptr, _ = self._from
        start = indptr[frontier]
        degree = indptr[frontier + 1] - start
        count = degree if fanout < 0 else self._count(degree, fanout)
        begin = count.cumsum(0) - count
        row, position = _ragged(count)  # all neighbours, in order
        edge_weight = torch.ones(len(row), device=self.device) if self.reweight else None
        many = degree > count
        for k in count[many].unique().tolist():  # one value, but for degree-stratified
            these = (many & (count == k)).nonzero().squeeze(1)
            out = begin[these].unsqueeze(1) + torch.arange(k, device=self.device)
            if self.method in ("importance", "labor"):
                position[out], weight = self._smallest(frontier[these], start[these], degree[these], k, key)
                if edge_weight is not None:
                    edge_weight[out] = weight
            else:
                position[out] = self._floyd(frontier[these], degree[these], k, key)
        return start[row] + position, count, edge_weight

    def _count(self, degree: Tensor, fanout: int) -> Tensor:
        """How many neighbours nodes of these degrees get; the powers of two up to q are 1 + floor(log2 q)."""
        if self.method != "degree-stratified":
            return degree.clamp(max=fanout)
        quotient = torch.div(degree, fanout, rounding_mode="floor")
        powers = torch.tensor([1 << bit for bit in range(63)], device=self.device)
        return torch.where(degree > fanout, fanout * torch.searchsorted(powers, quotient, right=True), degree)

    def _floyd(self, node: Tensor, degree: Tensor, k: int, key: int) -> Tensor:
        """Floyd's algorithm for many nodes at once: distinct positions, ``[nodes, k]``."""
        node_key = mix(node * _GOLDEN + key)
        chosen = torch.empty(len(node), k, dtype=torch.int64, device=self.device)
        for i in range(k):
            j = degree - k + i
            t = below(mix(node_key + _signed((i + 1) * int(GOLDEN))), j + 1)
            taken = (chosen[:, :i] == t.unsqueeze(1)).any(1)
            chosen[:, i] = torch.where(taken, j, t)
        return chosen

    def _smallest(self, node: Tensor, start: Tensor, degree: Tensor, k: int, key: int) -> tuple[Tensor, Tensor | None]:
        """Positions of the k smallest keys of each node, in order, ``[nodes, k]``, and the weights of these edges."""
        row, position = _ragged(degree)
        source = self._from[1][start[row] + position]
        if self.method == "labor":
            sort_key = _shifted(mix(source * _GOLDEN + key), 1)
        else:
            word = mix(mix(node * _GOLDEN + key)[row] + (position + 1) * _GOLDEN)
            sort_key = (_shifted(word, 11) + 1).double() * 2.0**-53 / self._weights[source]
        order = sort_key.argsort(stable=True)
        order = order[row[order].argsort(stable=True)]  # by node, then key, then position
        begin = (degree.cumsum(0) - degree).unsqueeze(1)
        chosen = order[begin + torch.arange(k, device=self.device)].sort(1).values
        if not self.reweight:
            return chosen - begin, None
        threshold = sort_key[order[begin + k]]
        p = (self._weights[source[chosen]] * threshold).clamp(max=1.0)
        weight = torch.full_like(p, k) / (degree.unsqueeze(1) * p)  # a number over a tensor is not rounded once
        return chosen - begin, weight.float()

    def _number(self, drawn: Tensor, nodes: Tensor, row_of: Tensor) -> Tensor:
        """Give unknown nodes the next rows, in the order in which they first come; all nodes known afterwards."""
        unknown = drawn[row_of[drawn] < 0]
        distinct, which = torch.unique(unknown, return_inverse=True)
        at = torch.arange(len(unknown), device=self.device)
        first_at = torch.full_like(distinct, len(unknown)).scatter_reduce_(0, which, at, "amin")
        found = distinct[first_at.argsort()]
        row_of[found] = torch.arange(len(nodes), len(nodes) + len(found), device=self.device)
        return torch.cat([nodes, found])
