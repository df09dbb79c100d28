"""Random streams of a run, each derived from the run's seed and what it is for."""

from __future__ import annotations

import hashlib
import random

import numpy as np
import torch


def derived_seed(seed: int, purpose: str) -> int:
    """A seed of its own for each purpose, in [0, 2**63): hash of both, so that no two purposes share a stream."""
    digest = hashlib.sha256(f"{seed}/{purpose}".encode()).digest()
    return int.from_bytes(digest[:8], "little") >> 1


def seed_everything(seed: int, purpose: str) -> None:
    """Set the generators of torch (all devices), numpy and Python, for what follows.

    Called before the weights are drawn and again before training, so that the same seed gives the same first weights
    and the same dropout to a variant that draws more or fewer numbers in between: pairs share their random numbers.
    """
    derived = derived_seed(seed, purpose)
    torch.manual_seed(derived)
    np.random.seed(derived % 2**32)  # noqa: NPY002  what a person's own model may use
    random.seed(derived)
