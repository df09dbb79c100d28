"""Node features in two homes: a slow one that holds all rows, and the device, which keeps those asked for most."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
import torch

from harness.batches.features.cache_policy import CachedNodes, cache_counters, first_by_degree
from harness.batches.features.cache_size import available_memory
from harness.batches.features.disk_rows import DiskRows
from harness.batches.features.fetch_counts import FetchCounts
from harness.batches.features.gather import gather, gather_at, gather_hits
from harness.batches.features.half import bits, widen
from harness.batches.features.row_buffers import RowBuffers
from harness.graphs.features import row_slices
from harness.graphs.half_features import HalfCopy, halves
from harness.graphs.read_only import read_only

SPARE_BUFFERS = 4


class FeatureStore:
    """Hands out the feature rows of a batch, bit-equal to the features, and counts what moves.

    In both homes the rows may be stored in float16 instead. Then half as many bytes are stored and moved, and a batch's
    rows are made float32 when they are on the device: rounded, but computed with like any others.

    The cached nodes' rows are kept in the fast home, the device; every other row comes from the slow home each time.
    On the CPU both homes are memory, and a cache gains something only where the slow home is a disk.

    Args:
        x: features, float32, ``[num_nodes, features]``, usually a memory map.
        home: ``host`` copies all rows into memory (pinned where the device is CUDA); ``disk`` reads the memory map;
            ``device`` copies all rows to the device, which on the CPU is the same as ``host``.
        device: where fetched rows go.
        cache: the nodes in the fast home (`harness.batches.features.cache_policy.highest`); None for no cache.
        spare: buffers for fetched rows that are kept for the next fetch (on the CPU; CUDA's pinned memory is kept by
            torch); as many as batches are under way at once make every fetch find one.
        sources: of every edge, ``[num_edges]``, where the cache is to hold the nodes of highest degree; its nodes are
            held to degrees counted anew when the counters are asked for.
        half: store float16; with ``home: disk`` the copy that is read where it lies.

    Raises:
        TooLargeForHalf: a feature is beyond float16.
        ValueError: ``x`` is not a float32 matrix, float16 on disk without a copy, the cache's scores are for another
            number of nodes, an unknown home, or a cache beside ``home: device``, which holds all rows already.
    """

    def __init__(
        self,
        x: np.ndarray,
        *,
        home: Literal["host", "disk", "device"],
        device: torch.device,
        cache: CachedNodes | None = None,
        spare: int = SPARE_BUFFERS,
        sources: np.ndarray | None = None,
        half: HalfCopy | bool = False,
    ) -> None:
        _check(x, home, cache, half)
        self._device, self._sources = torch.device(device), sources
        self._num_nodes, self._columns = int(x.shape[0]), int(x.shape[1])
        self._stored, self._copy = np.float16 if half else np.float32, half if isinstance(half, HalfCopy) else None
        self._buffers = RowBuffers(self._columns, spare)
        self._half_buffers = RowBuffers(self._columns, spare, np.float16)
        self._underflowed = 0 if self._copy is None else self._copy.underflowed
        on_device = home == "device" and self._device.type != "cpu"
        self._whole: torch.Tensor | None = self._on_device(x) if on_device else None
        self._memory = self._in_memory(x) if home != "disk" and self._whole is None else None
        on_disk = x if self._copy is None else self._copy.x
        self._disk = DiskRows(on_disk, fits=home != "disk" or on_disk.nbytes <= available_memory())
        self._slow = self._disk.rows if self._memory is None else read_only(self._memory.numpy(), self._stored)
        self._compile()  # before the clock of the filling starts
        started = time.perf_counter()
        self._fast, self._slot = self._filled(cache)
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)  # a loader's thread may read them on another stream
        self._fill_s = time.perf_counter() - started
        self._chosen_by = None if cache is None else cache_counters(cache)
        self._counts = None if cache is None else FetchCounts(cache)
        self._requests = self._hits = 0
        self._everything: torch.Tensor | None = None
        self._lock = threading.Lock()

    @property
    def num_nodes(self) -> int:
        return self._num_nodes

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
        if self._whole is not None:
            rows, hits = self._fetch_on_device(nodes), 0
        elif self._device.type == "cpu":
            rows, hits = self._fetch_on_host(nodes)
        else:
            rows, hits = self._fetch_to_device(nodes)
        self._count(nodes, hits)
        return self._in_float32(rows)

    def all(self) -> torch.Tensor:
        """All rows on the device, ``[num_nodes, features]``, shared by all callers: do not write to it.

        They are brought there, and counted as one fetch of all nodes, once. On the CPU with ``home: host``, and
        with ``home: device``, they are there already.
        """
        if self._everything is not None:
            return self._everything
        nodes = np.arange(self.num_nodes, dtype=np.int64)
        there = self._whole if self._whole is not None else self._memory if self._device.type == "cpu" else None
        if there is not None:
            self._count(nodes, len(self._fast))
        self._everything = self.fetch(nodes) if there is None else self._in_float32(there)
        return self._everything

    def counters(self) -> dict[str, Any]:
        """What the store is, and what it did.

        ``home`` is what the rows really lie in: ``disk`` for a memory map, ``host`` for this store's own memory,
        ``device`` for the device's, ``array`` for memory of the caller's; ``feature_device`` is where fetched rows go.
        ``feature_dtype`` is what they are stored in there, and with float16 ``features_underflowed`` the values other
        than 0 that became 0; with a copy on disk ``half_copy_s``, what making that took. ``cache_nodes``,
        ``cache_bytes``, ``cache_ratio`` (of the nodes), ``feature_row_bytes``; ``cache_requests`` and ``cache_hits``
        (nodes of batches, each once a batch); ``fetched_bytes`` (moved from the slow home). On a disk ``disk_reads``:
        ``row-by-row`` for a file that does not fit into memory, else ``read-ahead``.

        With a cache also: `cache_counters`, ``cache_fill_s``, those of `FetchCounts.found`, and with ``sources``
        ``cached_by_degree``: how many of the nodes that then must be cached are so.
        """
        with self._lock:
            requests, hits = self._requests, self._hits
            counted = {} if self._counts is None else self._counts.found()
        stored = self._slow.dtype if self._whole is None else self._whole.dtype
        cached, row_bytes = len(self._fast), self._columns * stored.itemsize
        found = {
            "home": "device" if self._whole is not None else _place(self._slow),
            "feature_device": self._device.type,
            "feature_dtype": str(stored).removeprefix("torch."),
            "feature_row_bytes": row_bytes,
            "cache_ratio": cached / self.num_nodes if self.num_nodes else 0.0,
            "cache_nodes": cached,
            "cache_bytes": cached * row_bytes,
            "cache_requests": requests,
            "cache_hits": hits,
            "fetched_bytes": 0 if self._whole is not None else (requests - hits) * row_bytes,
        }
        if self._stored is np.float16:
            found["features_underflowed"] = self._underflowed
        if self._copy is not None:
            found["half_copy_s"] = self._copy.seconds
        if found["home"] == "disk":
            found["disk_reads"] = "row-by-row" if self._disk.by_row else "read-ahead"
        if self._chosen_by is None:
            return found
        if self._sources is not None:
            due = first_by_degree(self._sources, self.num_nodes, cached)
            found["cached_by_degree"] = int(np.count_nonzero(self._slot[due] >= 0))
        return found | self._chosen_by | {"cache_fill_s": self._fill_s} | counted

    def stop_counting_nodes(self) -> None:
        """From here on requests and hits are added up, and no node is counted: what follows is timed."""
        with self._lock:
            if self._counts is not None:
                self._counts.stop()

    def _count(self, nodes: np.ndarray, hits: int) -> None:
        with self._lock:
            self._requests += len(nodes)
            self._hits += hits
            if self._counts is not None:
                self._counts.add(nodes, hits)

    def _fetch_on_host(self, nodes: np.ndarray) -> tuple[torch.Tensor, int]:
        if not len(self._fast):
            return self._rows(nodes), 0
        rows = self._buffer(len(nodes))
        positions = np.empty(len(nodes), np.int64)
        out = bits(rows.numpy())
        missing = positions[: gather_hits(bits(self._fast.numpy()), self._slot, nodes, out, positions)]
        if len(missing):
            self._disk.expect(nodes[missing])
            gather_at(bits(self._slow), nodes, missing, out)
        return rows, len(nodes) - len(missing)

    def _fetch_to_device(self, nodes: np.ndarray) -> tuple[torch.Tensor, int]:
        """Only the missing rows cross over; the others are copied on the device."""
        if not len(self._fast):
            return self._rows(nodes).to(self._device, non_blocking=True), 0
        slot = self._slot[nodes]
        hit, miss = np.flatnonzero(slot >= 0), np.flatnonzero(slot < 0)
        moved = self._rows(nodes[miss]).to(self._device, non_blocking=True)
        if not len(hit):
            return moved, 0
        out = torch.empty(len(nodes), self._columns, device=self._device, dtype=moved.dtype)
        out.index_copy_(0, torch.from_numpy(miss).to(self._device), moved)
        kept = self._fast.index_select(0, torch.from_numpy(slot[hit]).to(self._device))
        out.index_copy_(0, torch.from_numpy(hit).to(self._device), kept)
        return out, len(hit)

    def _fetch_on_device(self, nodes: np.ndarray) -> torch.Tensor:
        assert self._whole is not None
        return self._whole.index_select(0, torch.tensor(nodes, device=self._device))

    def _filled(self, cache: CachedNodes | None) -> tuple[torch.Tensor, np.ndarray]:
        """The fast home, ``[cache_nodes, features]``, and each node's place in it or -1, ``[num_nodes]``."""
        if cache is None:
            return _empty((0, self._columns), self._stored), np.empty(0, np.int32)
        slot = np.full(self.num_nodes, -1, dtype=np.int32)
        slot[cache.nodes] = np.arange(len(cache.nodes), dtype=np.int32)
        rows = _empty((len(cache.nodes), self._columns), self._stored)
        self._read(read_only(cache.nodes, np.int64), rows)
        return rows.to(self._device), slot

    def _rows(self, nodes: np.ndarray) -> torch.Tensor:
        """Rows of the slow home, in memory, as they are stored."""
        rows = self._buffer(len(nodes))
        self._read(read_only(nodes, np.int64), rows)
        return rows

    def _read(self, nodes: np.ndarray, out: torch.Tensor) -> None:
        self._disk.expect(nodes)
        gather(bits(self._slow), nodes, bits(out.numpy()))

    def _in_float32(self, rows: torch.Tensor) -> torch.Tensor:
        """Rows as they are stored, where they are on the device, to float32. On the CPU not by torch, which would
        compute on several threads for each thread of a loader."""
        if rows.dtype == torch.float32 or self._device.type != "cpu":
            return rows.float()
        out = self._buffers.take(len(rows))
        widen(bits(rows.numpy()), out.numpy())
        return out

    def _compile(self) -> None:
        none, slow = read_only(np.empty(0, np.int64), np.int64), bits(self._slow)
        rows = np.empty((0, self._columns), slow.dtype)
        gather(slow, none, rows)
        gather_hits(rows, np.empty(0, np.int32), none, rows, np.empty(0, np.int64))
        gather_at(slow, none, np.empty(0, np.int64), rows)
        if self._stored is np.float16 and self._device.type == "cpu":
            widen(rows, np.empty((0, self._columns), np.float32))

    def _in_memory(self, x: np.ndarray) -> torch.Tensor:
        pinned, dtype = self._device.type == "cuda", _torch_dtype(self._stored)
        shape = x.shape
        rows = torch.empty(shape, dtype=dtype, pin_memory=True) if pinned else _empty(shape, self._stored)
        if self._stored is np.float32:
            rows.numpy()[:] = x
            return rows
        for chunk, half in self._halves(x):
            rows.numpy()[chunk] = half
        return rows

    def _on_device(self, x: np.ndarray) -> torch.Tensor:
        """A copy on the device, made in pieces: the whole is not in memory twice, nor ever in the host's."""
        rows = torch.empty(x.shape, dtype=_torch_dtype(self._stored), device=self._device)
        pieces = self._halves(x) if self._stored is np.float16 else ((c, np.array(x[c])) for c in row_slices(*x.shape))
        for chunk, piece in pieces:
            rows[chunk] = torch.from_numpy(piece)
        return rows

    def _halves(self, x: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """The rows in float16, piece by piece; what is lost to 0 is counted."""
        for chunk, half, lost in halves(x):
            self._underflowed += lost
            yield chunk, half

    def _buffer(self, rows: int) -> torch.Tensor:
        """Rows to write to; pinned for CUDA, which copies them without waiting."""
        if self._device.type == "cuda":
            return torch.empty(rows, self._columns, dtype=_torch_dtype(self._stored), pin_memory=True)
        return (self._half_buffers if self._stored is np.float16 else self._buffers).take(rows)


def _empty(shape: tuple[int, ...], dtype: type) -> torch.Tensor:
    """Of any content, in numpy's memory, which the kernel gives in huge pages."""
    return torch.from_numpy(np.empty(shape, dtype))


def _torch_dtype(stored: type) -> torch.dtype:
    return torch.float16 if stored is np.float16 else torch.float32


def _place(rows: np.ndarray) -> str:
    """Where an array's memory really is, by what owns it."""
    owner: Any = rows
    while isinstance(owner, np.ndarray) and not isinstance(owner, np.memmap) and owner.base is not None:
        owner = owner.base
    if isinstance(owner, np.memmap):
        return "disk"
    return "host" if isinstance(owner, torch.Tensor) else "array"


def _check(x: np.ndarray, home: str, cache: CachedNodes | None, half: HalfCopy | bool) -> None:
    if x.ndim != 2 or x.dtype != np.float32:
        raise ValueError(f"features must be a float32 matrix; got {x.dtype} of shape {x.shape}")
    if isinstance(half, HalfCopy) != (home == "disk" and bool(half)):
        raise ValueError("a float16 copy on disk is what home: disk reads, and no other home does")
    if home not in ("host", "disk", "device"):
        raise ValueError(f"home must be host, disk or device; got {home!r}")
    if cache is None:
        return
    if home == "device":
        raise ValueError("home: device holds all rows; a cache beside it has no effect: leave it out")
    if len(cache.scores.score) != len(x):
        raise ValueError(f"the cache is for {len(cache.scores.score)} nodes, the features have {len(x)}")
    if not len(cache.nodes):
        raise ValueError("a cache without nodes; pass None for no cache")
