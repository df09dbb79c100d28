"""The hash that draws and comparisons of whole rows are made of.

numba's cache of a compiled loop looks only at the loop's own file: whoever changes `mix` must also change the files
whose loops call it, or cached loops keep the old hash.
"""

from __future__ import annotations

import numpy as np

from harness.graphs.compiled import compiled

GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2**64 over the golden ratio: counters far apart after one step
MULTIPLIER_1 = np.uint64(0xBF58476D1CE4E5B9)
MULTIPLIER_2 = np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31 = np.uint64(27), np.uint64(30), np.uint64(31)


@compiled
def mix(z: np.uint64) -> np.uint64:
    """SplitMix64's finaliser (Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators"): a
    bijection of 64-bit words in which every input bit reaches every output bit."""
    z = (z ^ (z >> _S30)) * MULTIPLIER_1
    z = (z ^ (z >> _S27)) * MULTIPLIER_2
    return z ^ (z >> _S31)
