"""How the loops over edges are compiled: without the GIL, cached on disk where a folder can be written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile on first call, to code that releases the GIL.

    The machine code is kept in NUMBA_CACHE_DIR, else beside the package, else (package read-only) in the
    user's cache folder. Where none of them can be written each process compiles anew, which costs seconds and
    changes no result. Never `parallel=True`: a child forked after a parallel loop hangs or aborts.
    """
    try:
        return numba.njit(nogil=True, cache=True)(function)
    except RuntimeError as error:
        if "cannot cache function" not in str(error):
            raise
        return numba.njit(nogil=True)(function)
