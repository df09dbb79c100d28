"""Rows of float16: as loops without a float16 take them, and widened to float32, both without the GIL."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from harness.graphs.compiled import compiled


def bits(rows: np.ndarray) -> np.ndarray:
    """float16 as uint16, a view; float32 as it is."""
    return rows.view(np.uint16) if rows.dtype == np.float16 else rows


@intrinsic  # type: ignore[untyped-decorator]
def _float32_of(context: Any, word: Any) -> Any:
    """The float32 that has these bits (uint32)."""

    def cast(context: Any, builder: Any, signature: Any, words: Any) -> Any:
        return builder.bitcast(words[0], context.get_value_type(types.float32))

    return types.float32(types.uint32), cast


@compiled
def widen(half: np.ndarray, out: np.ndarray) -> None:
    """``out[i, f]`` becomes the float32 of ``half[i, f]``, the bits of a float16, exactly and without a branch.

    The sign is put in its place and the rest below it, where the exponent is 112 too small: multiplying by 2**112
    brings that to order, and subnormal numbers too. The exponent of an infinity or NaN is all ones.
    """
    for i in range(len(half)):
        row, to = half[i], out[i]
        for f in range(len(to)):
            word = np.uint32((np.uint32(row[f] & 0x8000) << 16) | (np.uint32(row[f] & 0x7FFF) << 13))
            finite = _float32_of(word) * np.float32(2.0**112)
            to[f] = _float32_of(np.uint32(word | 0x7F800000)) if row[f] & 0x7C00 == 0x7C00 else finite
