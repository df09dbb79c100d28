"""Memory for fetched rows that is used again: fresh pages cost as much time as the copy into them."""

from __future__ import annotations

import weakref
from collections import deque

import numpy as np
import torch


class RowBuffers:
    """Hands out uninitialised matrices, whose memory comes back when nobody holds it any more.

    Large arrays come from the kernel as pages that it must clear when they are first touched, and go back to it when
    they are freed. Here they are kept instead. A matrix's memory counts as held as long as any tensor or array that
    shares it is alive, a view or a tensor saved for a backward pass too: torch keeps the array that a tensor was made
    from exactly as long as it keeps the storage, and that array's end is what gives the memory back.

    May be used from several threads, and takes no lock: memory may come back in the middle of a garbage collection,
    i.e. at any point of any thread. (Appending to a deque and popping from it are atomic.)

    Args:
        columns: width of every matrix.
        spare: most matrices that are kept while nobody holds them, at least 1.
        dtype: of every matrix.

    Raises:
        ValueError: ``spare`` below 1.
    """

    def __init__(self, columns: int, spare: int, dtype: type = np.float32) -> None:
        if spare < 1:
            raise ValueError(f"spare must be at least 1; got {spare}")
        self._columns, self._dtype = columns, dtype
        self._spare: deque[np.ndarray] = deque(maxlen=spare)

    def take(self, rows: int) -> torch.Tensor:
        """A matrix ``[rows, columns]`` on the CPU, of any content; the caller's own."""
        memory = self._pop(rows)
        held = memory[:rows]
        weakref.finalize(held, self._spare.append, memory).atexit = False
        return torch.from_numpy(held)

    def _pop(self, rows: int) -> np.ndarray:
        try:
            memory = self._spare.pop()
        except IndexError:
            memory = None
        if memory is not None and len(memory) >= rows:
            return memory
        # An eighth more than now, so that slightly larger batches fit too: untouched pages cost nothing. numpy's
        # allocator asks the kernel for huge pages, torch's does not.
        return np.empty((rows + rows // 8, self._columns), dtype=self._dtype)
