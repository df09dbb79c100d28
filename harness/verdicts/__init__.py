"""Records to verdicts. In: accuracies and log ratios, results of variants. Out: `verdicts.json`.

May import harness.spec, harness.records and harness.plan; never torch.
By itself: ``from harness.verdicts import judge, speedup``, on plain lists of numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.verdicts.accuracy import judge
    from harness.verdicts.speed import speedup

__all__ = ["judge", "speedup"]


def __getattr__(name: str) -> Any:
    """Import on first use: scipy stays out of whoever only imports the package."""
    if name == "judge":
        from harness.verdicts.accuracy import judge

        return judge
    if name == "speedup":
        from harness.verdicts.speed import speedup

        return speedup
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
