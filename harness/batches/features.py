"""Node features in two homes: a slow one that holds all rows, and the device, which keeps those asked for most."""

from __future__ import annotations

import threading
import time
from typing import Any, Literal

import numpy as np
import torch

from harness.batches.adjacency import read_only
from harness.batches.compiled import compiled


def source_degree(indices: np.ndarray, num_nodes: int) -> np.ndarray:
    """How often each node is the source of an edge, int64, ``[num_nodes]``: what a cache is ordered by."""
    return np.bincount(indices, minlength=num_nodes) if len(indices) else np.zeros(num_nodes, np.int64)


@compiled
def _gather(slow: np.ndarray, nodes: np.ndarray, out: np.ndarray) -> None:
    """Copy each node's row; on one thread 2.5 times as fast as torch.index_select, and without the GIL."""
    for i in range(len(nodes)):
        for f in range(out.shape[1]):
            out[i, f] = slow[nodes[i], f]


@compiled
def _gather_both(slow: np.ndarray, fast: np.ndarray, slot: np.ndarray, nodes: np.ndarray, out: np.ndarray) -> int:
    """Copy each node's row from ``fast`` where it has a slot, else from ``slow``; how many had one."""
    hits = 0
    for i in range(len(nodes)):
        at = slot[nodes[i]]
        if at >= 0:
            hits += 1
            for f in range(out.shape[1]):
                out[i, f] = fast[at, f]
        else:
            for f in range(out.shape[1]):
                out[i, f] = slow[nodes[i], f]
    return hits


class FeatureStore:
    """Hands out the feature rows of a batch, bit-equal to the features, and counts what moves.

    The ``round(cache_ratio * num_nodes)`` nodes of highest degree (ties: the smaller id) are kept in the fast home,
    the device; every other row comes from the slow home each time. On the CPU both homes are memory, and a cache
    gains something only where the slow home is a disk.

    Args:
        x: features, float32, ``[num_nodes, features]``, usually a memory map.
        home: ``host`` copies all rows into memory (pinned where the device is CUDA); ``disk`` reads the memory map.
        cache_ratio: share of the nodes in the fast home, 0 to 1.
        device: where fetched rows go.
        degree: how often each node is a source (`source_degree`), ``[num_nodes]``.

    Raises:
        ValueError: ``x`` is not a float32 matrix, ``degree`` has another length, the ratio is not in [0, 1], or an
            unknown home.
    """

    def __init__(
        self,
        x: np.ndarray,
        *,
        home: Literal["host", "disk"],
        cache_ratio: float,
        device: torch.device,
        degree: np.ndarray,
    ) -> None:
        _check(x, home, cache_ratio, degree)
        self._device, self._cache_ratio = torch.device(device), cache_ratio
        self._columns = x.shape[1]
        self._memory = self._in_memory(x) if home == "host" else None
        self._slow = read_only(x if self._memory is None else self._memory.numpy(), np.float32)
        self._rows(np.empty(0, dtype=np.int64))  # compiled before the clock of the filling starts
        started = time.perf_counter()
        cached = np.argsort(-np.asarray(degree, dtype=np.int64), kind="stable")[: round(cache_ratio * len(x))]
        self._slot = np.full(len(x), -1, dtype=np.int64)
        self._slot[cached] = np.arange(len(cached))
        self._fast = self._rows(cached).to(self._device)
        self._fill_s = time.perf_counter() - started if len(cached) else 0.0
        self._due = _most_wanted(degree, len(cached))
        self._whole: torch.Tensor | None = None
        self._lock = threading.Lock()
        self.reset_counters()

    @property
    def num_nodes(self) -> int:
        return len(self._slot)

    def fetch(self, nodes: np.ndarray) -> torch.Tensor:
        """Rows of these nodes, on the device; may be called from several threads.

        Args:
            nodes: int64, ``[n]``, distinct as in `Batch.nodes`: a hit or a moved row is counted for each entry.

        Returns:
            float32, ``[n, features]``, the caller's own.
        """
        nodes = read_only(nodes, np.int64)
        if len(nodes) and (nodes.min() < 0 or nodes.max() >= self.num_nodes):
            raise ValueError(f"nodes must lie in 0..{self.num_nodes - 1}; got {nodes.min()}..{nodes.max()}")
        rows, hits = self._fetch_on_host(nodes) if self._device.type == "cpu" else self._fetch_to_device(nodes)
        self._count(len(nodes), hits)
        if self._recount is None and len(nodes):
            self._recount = {"hits": hits, "due": 0 if self._due is None else int(self._due[nodes].sum())}
        return rows

    def all(self) -> torch.Tensor:
        """All rows on the device, ``[num_nodes, features]``, shared by all callers: do not write to it.

        They are brought there, and counted as one fetch of all nodes, once. On the CPU with ``home: host`` they
        are there already.
        """
        if self._whole is None and self._memory is not None and self._device.type == "cpu":
            self._whole = self._memory
            self._count(self.num_nodes, len(self._fast))
        elif self._whole is None:
            self._whole = self.fetch(np.arange(self.num_nodes, dtype=np.int64))
        return self._whole

    def counters(self) -> dict[str, Any]:
        """``home, cache_ratio, cache_nodes, cache_fill_s``, and since the last reset: ``cache_requests`` and
        ``cache_hits`` (nodes of batches, each once a batch) and ``fetched_bytes`` (moved from the slow home).

        ``home`` is what the rows really lie in: ``disk`` for a memory map, ``host`` for this store's own memory,
        ``array`` for memory of the caller's. ``cache_recount`` has the ``hits`` of the first fetch and those ``due`` by
        the degrees, found in another way; None before it."""
        with self._lock:
            requests, hits = self._requests, self._hits
        return {
            "home": _place(self._slow),
            "cache_ratio": self._cache_ratio,
            "cache_nodes": len(self._fast),
            "cache_fill_s": self._fill_s,
            "cache_recount": self._recount,
            "cache_requests": requests,
            "cache_hits": hits,
            "fetched_bytes": (requests - hits) * self._columns * self._slow.itemsize,
        }

    def reset_counters(self) -> None:
        """Start counting anew, after a warm-up for instance."""
        with self._lock:
            self._requests = self._hits = 0
            self._recount: dict[str, int] | None = None

    def _count(self, requests: int, hits: int) -> None:
        with self._lock:
            self._requests += requests
            self._hits += hits

    def _fetch_on_host(self, nodes: np.ndarray) -> tuple[torch.Tensor, int]:
        if not len(self._fast):
            return self._rows(nodes), 0
        rows = self._buffer(len(nodes))
        hits = _gather_both(self._slow, self._fast.numpy(), self._slot, nodes, rows.numpy())
        return rows, hits

    def _fetch_to_device(self, nodes: np.ndarray) -> tuple[torch.Tensor, int]:
        """Only the missing rows cross over; the others are copied on the device."""
        slot = self._slot[nodes]
        hit, miss = np.flatnonzero(slot >= 0), np.flatnonzero(slot < 0)
        moved = self._rows(nodes[miss]).to(self._device, non_blocking=True)
        if not len(hit):
            return moved, 0
        out = torch.empty(len(nodes), self._columns, device=self._device)
        out.index_copy_(0, torch.from_numpy(miss).to(self._device), moved)
        kept = self._fast.index_select(0, torch.from_numpy(slot[hit]).to(self._device))
        out.index_copy_(0, torch.from_numpy(hit).to(self._device), kept)
        return out, len(hit)

    def _rows(self, nodes: np.ndarray) -> torch.Tensor:
        """Rows of the slow home, in memory."""
        rows = self._buffer(len(nodes))
        _gather(self._slow, read_only(nodes, np.int64), rows.numpy())
        return rows

    def _in_memory(self, x: np.ndarray) -> torch.Tensor:
        rows = self._buffer(len(x))
        rows.numpy()[:] = x
        return rows

    def _buffer(self, rows: int) -> torch.Tensor:
        """Rows to write to; pinned for CUDA, which copies them without waiting. numpy's allocator asks for huge
        pages, torch's does not."""
        if self._device.type == "cuda":
            return torch.empty(rows, self._columns, pin_memory=True)
        return torch.from_numpy(np.empty((rows, self._columns), dtype=np.float32))


def _most_wanted(degree: np.ndarray, count: int) -> np.ndarray | None:
    """Which nodes a cache of ``count`` must hold, bool, ``[num_nodes]``: all above the least degree that fits, and of
    those that have it the smaller ids. Found without the sort that fills the cache, so that it can be held to it."""
    if not count:
        return None
    least = np.partition(degree, len(degree) - count)[len(degree) - count]
    wanted: np.ndarray = degree > least
    wanted[np.flatnonzero(degree == least)[: count - int(np.count_nonzero(wanted))]] = True
    return wanted


def _place(rows: np.ndarray) -> str:
    """Where an array's memory really is, by what owns it."""
    owner: Any = rows
    while isinstance(owner, np.ndarray) and not isinstance(owner, np.memmap) and owner.base is not None:
        owner = owner.base
    if isinstance(owner, np.memmap):
        return "disk"
    return "host" if isinstance(owner, torch.Tensor) else "array"


def _check(x: np.ndarray, home: str, cache_ratio: float, degree: np.ndarray) -> None:
    if x.ndim != 2 or x.dtype != np.float32:
        raise ValueError(f"features must be a float32 matrix; got {x.dtype} of shape {x.shape}")
    if len(degree) != len(x):
        raise ValueError(f"degree has {len(degree)} entries for {len(x)} nodes")
    if not 0.0 <= cache_ratio <= 1.0:
        raise ValueError(f"cache_ratio must lie in [0, 1]; got {cache_ratio}")
    if home not in ("host", "disk"):
        raise ValueError(f"home must be host or disk; got {home!r}")
