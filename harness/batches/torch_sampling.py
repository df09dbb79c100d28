"""The same neighbour sampling in vectorised torch: the oracle of the compiled sampler, and the sampler for CUDA.

Every draw is the same hash, so the batches are equal bit for bit. torch has no unsigned 64-bit arithmetic;
int64 wraps around in the same bits, and shifts to the right are masked to fill with zeros.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from harness.batches.adjacency import self_loops
from harness.batches.batch import Batch
from harness.batches.randomness import GOLDEN, MULTIPLIER_1, MULTIPLIER_2
from harness.batches.sampling import check_method, checked_fanout, checked_seeds, hop_keys, hop_wise_batch
from harness.graphs.csr import check_csr


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


class TorchNeighborSampler:
    """As `harness.batches.NeighborSampler`, in torch, on any device.

    Args:
        indptr, indices: CSR, integer arrays or tensors.
        fanout, method, seed, weights, reweight, validate, has_self_loops: see `NeighborSampler`.
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
        validate: bool = True,
        has_self_loops: bool = True,
        device: torch.device | str = "cpu",
    ) -> None:
        check_method(method)
        if weights is not None or reweight:
            raise ValueError(f"weights and reweight belong to importance sampling, not to {method!r}")
        if validate:
            check_csr(indptr, indices)
        self.fanout = checked_fanout(fanout)
        self.method = method
        self.seed = int(seed)
        self.device = torch.device(device)
        self._self_loops = self_loops(indptr, indices) if has_self_loops else None
        self._indptr = torch.as_tensor(np.array(indptr, dtype=np.int64), device=self.device)
        self._indices = torch.as_tensor(np.array(indices, dtype=np.int64), device=self.device)

    @property
    def num_nodes(self) -> int:
        return len(self._indptr) - 1

    def sample(self, seeds: np.ndarray, epoch: int = 0, batch: int = 0) -> Batch:
        """One batch, equal to that of `NeighborSampler.sample` with the same arguments."""
        seeds = checked_seeds(seeds, self.num_nodes)
        if len(np.unique(seeds)) != len(seeds):
            raise ValueError("seeds must be distinct")
        on_device = torch.as_tensor(seeds.copy(), device=self.device)
        nodes, degree, rows, cols, known_after = self.sample_tensors(on_device, epoch, batch)
        return hop_wise_batch(
            nodes.cpu().numpy(),
            degree.cpu().numpy(),
            rows.cpu().numpy(),
            cols.cpu().numpy(),
            np.array(known_after),
            self._self_loops,
            epoch=epoch,
            index=batch,
        )

    def sample_tensors(
        self, seeds: Tensor, epoch: int = 0, batch: int = 0
    ) -> tuple[Tensor, Tensor, Tensor, Tensor, list[int]]:
        """Nodes, degrees, row pointer and source rows of a batch (int64, on the device), nodes known after each hop."""
        keys = hop_keys(self.method, self.seed, len(self.fanout), epoch, batch)
        row_of = torch.full((self.num_nodes,), -1, dtype=torch.int64, device=self.device)
        row_of[seeds] = torch.arange(len(seeds), device=self.device)
        nodes, first, known_after = seeds, 0, [len(seeds)]
        counts: list[Tensor] = []
        cols: list[Tensor] = []
        for fanout, key in zip(self.fanout, keys, strict=True):
            drawn, count = self._draw(nodes[first:], fanout, _signed(key))
            first = len(nodes)
            nodes = self._number(drawn, nodes, row_of)
            counts.append(count)
            cols.append(row_of[drawn])
            known_after.append(len(nodes))
        degree = self._indptr[nodes + 1] - self._indptr[nodes]
        rows = torch.cat([torch.zeros(1, dtype=torch.int64, device=self.device), torch.cat(counts).cumsum(0)])
        return nodes, degree, rows, torch.cat(cols), known_after

    def _draw(self, frontier: Tensor, fanout: int, key: int) -> tuple[Tensor, Tensor]:
        """Neighbours drawn for each node of the frontier, in its order, and how many each got."""
        start = self._indptr[frontier]
        degree = self._indptr[frontier + 1] - start
        count = degree if fanout < 0 else degree.clamp(max=fanout)
        end = count.cumsum(0)
        row = torch.repeat_interleave(torch.arange(len(frontier), device=self.device), count)
        position = torch.arange(len(row), device=self.device) - (end - count)[row]  # all neighbours, in order
        many = (degree > count).nonzero().squeeze(1)
        if len(many):
            out = (end - count)[many].unsqueeze(1) + torch.arange(fanout, device=self.device)
            position[out] = self._floyd(frontier[many], degree[many], fanout, key)
        return self._indices[start[row] + position], count

    def _floyd(self, node: Tensor, degree: Tensor, fanout: int, key: int) -> Tensor:
        """Floyd's algorithm for many nodes at once: distinct positions, ``[nodes, fanout]``."""
        node_key = mix(node * _GOLDEN + key)
        chosen = torch.empty(len(node), fanout, dtype=torch.int64, device=self.device)
        for i in range(fanout):
            j = degree - fanout + i
            t = below(mix(node_key + _signed((i + 1) * int(GOLDEN))), j + 1)
            taken = (chosen[:, :i] == t.unsqueeze(1)).any(1)
            chosen[:, i] = torch.where(taken, j, t)
        return chosen

    def _number(self, drawn: Tensor, nodes: Tensor, row_of: Tensor) -> Tensor:
        """Give unknown nodes the next rows, in the order in which they first come; all nodes known afterwards."""
        unknown = drawn[row_of[drawn] < 0]
        distinct, which = torch.unique(unknown, return_inverse=True)
        at = torch.arange(len(unknown), device=self.device)
        first_at = torch.full_like(distinct, len(unknown)).scatter_reduce_(0, which, at, "amin")
        found = distinct[first_at.argsort()]
        row_of[found] = torch.arange(len(nodes), len(nodes) + len(found), device=self.device)
        return torch.cat([nodes, found])
