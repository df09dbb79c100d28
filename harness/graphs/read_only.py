"""Arrays as compiled loops take them: one type of argument, so that each loop is compiled once."""

from __future__ import annotations

import numpy as np


def read_only(array: np.ndarray, dtype: type) -> np.ndarray:
    """A read-only, contiguous view (a copy only for another dtype): one compiled form serves arrays and maps."""
    view: np.ndarray = np.ascontiguousarray(np.asarray(array), dtype=dtype).view()
    view.flags.writeable = False
    return view


def read_only_ids(indices: np.ndarray) -> np.ndarray:
    """Node ids as the loops take them: int32 where they are so, else int64."""
    return read_only(indices, np.int32 if indices.dtype == np.int32 else np.int64)
