"""The names that `harness report --columns` takes; apart from their contents, so that `--help` loads no more."""

from __future__ import annotations

COLUMN_NAMES = (
    *("spec", "variant", "reference", "goal", "exact", "verdict", "pairs", "means", "accuracy", "speed", "epoch"),
    *("memory", "sooner", "training", "ceiling", "peak", "patch", "why"),
)
REPORTED = ("variant", "accuracy", "speed", "memory", "verdict", "why")  # the verdict table of a report
