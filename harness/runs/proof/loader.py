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
    yield from equal("loader.depth", asked.depth, found["depth"])
    due = batches if asked.threads else 0
    if found["made_in_background"] != due:
        yield (
            f"loader.threads is {asked.threads}, but {found['made_in_background']} of {batches} batches were made on "
            "another thread than the model's"
        )
    most = ahead_at_most(asked.threads, asked.depth)
    if found["most_ahead"] > most:
        yield f"loader.depth is {asked.depth}: at most {most} batches ahead, but there were {found['most_ahead']}"
