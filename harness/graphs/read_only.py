"""Arrays as compiled loops take them: one type of argument, so that each loop is compiled once."""

from __future__ import annotations

import numpy as np


def read_only(array: np.ndarray, dtype: type) -> np.ndarray:
    """A read-only, contiguous view (a copy only for another dtype): one compiled form serves arrays and maps."""
    view: np.ndarray = np.ascontiguousarray(np.asarray(array), dtype=dtype).view()
    view.flags.writeable = False
    return view
