"""Looking more than once: the level of each look, and looks replayed in order."""

from __future__ import annotations

import hashlib
import json
import operator
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np
from scipy import special

from harness.records.files import write_atomically
from harness.spec.errors import InputError
from harness.spec.places import cache_root
from harness.verdicts.wording import numbers

Sides = Literal[1, 2]
T = TypeVar("T")

_DRAWS = 1_000_000
_SEED = 0
_CHUNK = 50_000  # rows at a time: bounds the memory, and does not change the draws
_SLOW = 60  # a last look from here on takes over a second
_FINEST = 1e-4  # what the draws resolve: 100 of them lie below
_METHOD = 1  # goes into the name of a cached value; raise it when the computation changes

# What `simulate_alpha` gives for the lists in common use, so that nobody waits; a test recomputes every row.
# Monte-Carlo error 0.0001. Sides, overall error, looks -> level of each look.
KNOWN: dict[tuple[Sides, float, tuple[int, ...]], float] = {
    (1, 0.05, (5, 10, 20)): 0.020794,
    (1, 0.05, (5, 10)): 0.029144,
    (1, 0.05, (3, 5, 8)): 0.021213,
    (1, 0.05, (3, 5, 10)): 0.020491,
    (1, 0.05, (3, 5, 10, 20)): 0.015832,
    (2, 0.05, (4, 6, 8, 12)): 0.017199,
    (2, 0.05, (4, 6, 8)): 0.022019,
    (2, 0.05, (4, 6)): 0.029719,
}


def alpha_per_look(looks: Sequence[int], alpha: float = 0.05, sides: Sides = 1) -> float:
    """The level at each look that keeps the error over all looks at ``alpha``.

    Testing at 5 % at every look errs 11 to 14 % overall. One level for all looks (Pocock 1977), with t tests.

    Args:
        looks: sample sizes at which a test is made, increasing, each at least 2.
        alpha: error over all looks.
        sides: 1 for the accuracy gate, 2 for intervals of speed and memory.

    Returns:
        The level of each look; ``alpha`` itself for a single look, and ``alpha`` over their number (Bonferroni) where
        it is below 0.0001, which a simulation does not resolve. Computed once (seconds), then kept in memory and
        under ``$HARNESS_CACHE``.

    Raises:
        ValueError: looks do not increase or are too small, or alpha is out of range.
    """
    wanted = whole_looks(looks)
    if not wanted or list(wanted) != sorted(set(wanted)) or wanted[0] < 2:
        raise ValueError(f"looks must increase and start at 2 or more, e.g. [5, 10, 20]; got {list(wanted)}")
    if not 0.0 < alpha < 0.5:
        raise ValueError(f"alpha must lie between 0 and 0.5; got {alpha}")
    if len(wanted) == 1:
        return alpha
    if alpha < _FINEST:
        return alpha / len(wanted)
    known = KNOWN.get((sides, alpha, wanted))
    return _remembered(sides, alpha, wanted) if known is None else known


def whole_looks(looks: Iterable[int]) -> tuple[int, ...]:
    """Looks as ints, whatever holds them.

    Raises:
        ValueError: one of them is not a whole number.
    """
    try:
        return tuple(operator.index(n) for n in looks)
    except TypeError:
        raise ValueError(f"looks must be a list of whole numbers, e.g. [5, 10, 20]; got {looks!r}") from None


def simulate_alpha(looks: Sequence[int], alpha: float, sides: Sides) -> float:
    """The ``alpha`` quantile of the smallest p over the looks, at the edge of the null hypothesis.

    Normal differences, 10⁶ draws, fixed seed. The sample of a later look contains that of an earlier one.
    """
    rng = np.random.default_rng(_SEED)
    smallest = [
        _smallest_p(rng.standard_normal((_CHUNK, looks[-1])), looks, alpha, sides) for _ in range(_DRAWS // _CHUNK)
    ]
    return float(np.quantile(np.concatenate(smallest), alpha))


def replay(looks: Sequence[int], n: int, test: Callable[[int], T], decided: Callable[[T], bool]) -> T | None:
    """What the looks say on ``n`` samples: the first decision is final, later samples are ignored.

    Between looks the last completed one counts.

    Args:
        looks: increasing sample sizes.
        n: samples there are.
        test: the test on the first k samples.
        decided: whether a test stops the looking.

    Returns:
        The deciding test, else the last one; None before the first look.
    """
    last = None
    for look in looks:
        if look > n:
            break
        last = test(look)
        if decided(last):
            break
    return last


def _smallest_p(draws: np.ndarray, looks: Sequence[int], alpha: float, sides: Sides) -> np.ndarray:
    """Smallest p of each row over the looks; 1 where none is below alpha, which the quantile never reads."""
    smallest = np.ones(len(draws))
    total, squares, start = np.zeros(len(draws)), np.zeros(len(draws)), 0
    for n in looks:
        new = draws[:, start:n]
        total += new.sum(axis=1)
        squares += np.einsum("ij,ij->i", new, new)
        start = n
        mean = total / n
        t = mean * np.sqrt(n * (n - 1) / (squares - n * mean**2))
        t = np.abs(t) if sides == 2 else t
        hit = np.flatnonzero(t > special.stdtrit(n - 1, 1.0 - alpha / sides))
        smallest[hit] = np.minimum(smallest[hit], sides * special.stdtr(n - 1, -t[hit]))
    return smallest


@cache
def _remembered(sides: Sides, alpha: float, looks: tuple[int, ...]) -> float:
    key = {"method": _METHOD, "draws": _DRAWS, "seed": _SEED, "sides": sides, "alpha": alpha, "looks": list(looks)}
    name = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:20]
    path = cache_root() / "looks" / f"{name}.json"
    value = _read(path, key)
    if value is None:
        if looks[-1] >= _SLOW:
            print(f"the level of each of the looks {numbers(looks)} is computed once, in seconds", file=sys.stderr)
        value = simulate_alpha(looks, alpha, sides)
        _write(path, {**key, "alpha_per_look": value})
    return value


def _read(path: Path, key: dict[str, object]) -> float | None:
    """A cached value, or None where there is none that can be trusted."""
    try:
        stored = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    if not isinstance(stored, dict) or {k: stored.get(k) for k in key} != key:
        return None
    value = stored.get("alpha_per_look")
    return value if isinstance(value, float) and 0.0 < value < 0.5 else None


def _write(path: Path, content: dict[str, object]) -> None:
    """Keep a value, atomically; a cache that cannot be written costs seconds next time, not the result."""
    with suppress(OSError, InputError):
        write_atomically(path, json.dumps(content) + "\n")
