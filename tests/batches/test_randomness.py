"""The hash behind every draw."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from harness.batches.randomness import below, permutation, stream_key
from harness.batches.sampling import torch_sampler as torch_sampling
from harness.graphs.mixing import mix

words = st.integers(0, 2**64 - 1)


def _int64(word: int) -> torch.Tensor:
    return torch.from_numpy(np.array([word], dtype=np.uint64).view(np.int64))


def test_mix_is_splitmix64() -> None:
    state, golden, first = 0, 0x9E3779B97F4A7C15, []
    for _ in range(3):
        state = (state + golden) % 2**64
        first.append(int(mix(np.uint64(state))))
    assert first == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]  # published, seed 0


@given(word=words, n=st.integers(1, 2**31 - 1))
def test_below_is_the_high_half_of_the_product(word: int, n: int) -> None:
    assert int(below(np.uint64(word), np.uint64(n))) == word * n >> 64
    assert int(torch_sampling.below(_int64(word), torch.tensor(n))) == word * n >> 64


@given(word=words)
def test_torch_mixes_the_same(word: int) -> None:
    assert int(torch_sampling.mix(_int64(word))) % 2**64 == int(mix(np.uint64(word)))


def test_keys_depend_on_every_word_and_on_their_order() -> None:
    keys = [stream_key(*w) for w in [(), (0,), (0, 0), (1, 2), (2, 1), (-1, 2), (2**63, 2), (1, 3)]]
    assert len(set(map(int, keys))) == len(keys)
    assert stream_key(2**64 + 5) == stream_key(5)  # the low 64 bits count


def test_a_permutation_holds_every_number_once() -> None:
    assert permutation(0, 1).tolist() == []
    assert np.array_equal(np.sort(permutation(1000, 3, 4)), np.arange(1000))
    assert np.array_equal(permutation(1000, 3, 4), permutation(1000, 3, 4))
    assert not np.array_equal(permutation(1000, 3, 4), permutation(1000, 3, 5))
    assert abs(np.corrcoef(permutation(10_000, 1, 0), np.arange(10_000))[0, 1]) < 0.04
