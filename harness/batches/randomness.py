"""Counter-based random numbers: a draw is a hash of what it is for, so it needs no state and no order.

The hash is the finaliser of SplitMix64 (`harness.graphs.mixing`); a range is reached by multiply-shift (Lemire 2019,
"Fast random integer generation in an interval"), whose bias is below range / 2**64.

numba's cache of a compiled loop looks only at the loop's own file: whoever changes `mix` or `below` must also
change `sampling/draws_uniform.py` and `sampling/draws_smallest.py`, or cached samplers keep the old hash.
"""

from __future__ import annotations

import numpy as np

from harness.graphs.compiled import compiled
from harness.graphs.mixing import GOLDEN, mix

# Purposes: the first word of a key, so that equal counters of different purposes are unrelated.
NEIGHBOURS = 1
SEED_ORDER = 2
PART_ORDER = 3

_WORD = (1 << 64) - 1
_S32 = np.uint64(32)
_LOW32 = np.uint64(0xFFFFFFFF)


@compiled
def below(word: np.uint64, n: np.uint64) -> np.uint64:
    """``word * n // 2**64``: a number in ``[0, n)``, for n < 2**31 so that no half overflows."""
    high = (word >> _S32) * n
    low = (word & _LOW32) * n
    return (high + (low >> _S32)) >> _S32


@compiled
def _words(key: np.uint64, n: int) -> np.ndarray:
    out = np.empty(n, np.uint64)
    for i in range(n):
        out[i] = mix(key + np.uint64(i + 1) * GOLDEN)
    return out


def stream_key(*words: int) -> np.uint64:
    """One 64-bit key of several integers (any sign and size; the low 64 bits count); order matters."""
    key = 0
    for word in words:
        key = int(mix(np.uint64(((key + int(GOLDEN)) ^ word) & _WORD)))
    return np.uint64(key)


def permutation(n: int, *words: int) -> np.ndarray:
    """The permutation of ``0 .. n-1`` that belongs to these words, int64, ``[n]``.

    Sorting by hashed keys; two keys of n are equal with probability n**2 / 2**65, and then stay in order.
    """
    return np.argsort(_words(stream_key(*words), n), kind="stable").astype(np.int64, copy=False)
