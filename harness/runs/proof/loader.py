"""On which threads batches were made, and how far ahead, against what was asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.batches.loader import ahead_at_most
from harness.runs.proof.equal import equal
from harness.spec.options import Loader


def loader_faults(asked: Loader, counters: dict[str, Any]) -> Iterator[str]:
    found, batches = counters["loader"], counters["batches"]
    yield from equal("loader.threads", asked.threads, found["threads"])
    if found["threads_used"] > asked.threads:
        yield f"loader.threads is {asked.threads}, but {found['threads_used']} threads made the batches of an epoch"
    due = batches if asked.threads else 0
    if found["made_in_background"] != due:
        yield (
            f"loader.threads is {asked.threads}, but {found['made_in_background']} of {batches} batches were made on "
            "another thread than the model's"
        )
    most = ahead_at_most(asked.threads, asked.depth)
    submitted = _submitted(most, counters["batches_per_epoch"]) if asked.threads else 0
    if found["submitted"] != submitted:
        yield (
            f"loader.depth is {asked.depth}: {submitted} batches are begun before the first is waited for, but there "
            f"were {found['submitted']}"
        )
    if found["most_ahead"] > most:
        yield f"loader.depth is {asked.depth}: at most {most} batches ahead, but there were {found['most_ahead']}"


def _submitted(most: int, batches_per_epoch: int | None) -> int:
    """Batches that the pool has at an epoch's begin: all that may be ahead, where an epoch has as many. None: it is
    only found where the epoch ends, so that the pool has as many as may be ahead, whether there are batches or not."""
    return most if batches_per_epoch is None else min(most, batches_per_epoch)
