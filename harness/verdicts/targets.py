"""Which stages an option can shorten: one table of the harness's toggles."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from harness.records.record import Stages
from harness.spec.option_paths import Settings
from harness.spec.stages import STAGES, Stage

DATA: tuple[Stage, ...] = ("sample", "fetch")  # the side that feeds the model


@dataclass(frozen=True)
class Toggle:
    """Options that shorten a step in one way.

    Attributes:
        name: in words.
        starts: of the dotted paths that belong to it.
        targets: stages that it can shorten.
        example: a patch that switches it on.
        is_on: whether a set of options has it already; for what can always be had more of, never.
        bounded: whether Amdahl's law bounds it: not where it thins out the batches, so that every stage has less to do.
    """

    name: str
    starts: tuple[str, ...]
    targets: tuple[Stage, ...]
    example: Mapping[str, Any]
    is_on: Callable[[Settings], bool]
    bounded: bool = True

    @property
    def option(self) -> str:
        """The option to begin with."""
        return next(iter(self.example))


_HALF_FEATURES = "fp16-features"

# What is not here changes the whole step (batching, partition, model) or is not for speed (checkpointing): no ceiling
# follows from the baseline's shares.
TOGGLES: tuple[Toggle, ...] = (
    Toggle(
        "a background loader",  # done while the model computes
        ("loader.",),
        ("sample", "fetch"),
        {"loader.threads": 1},
        lambda s: s.options.loader.threads > 0,
    ),
    Toggle(
        "a feature cache",
        ("features.cache_ratio", "features.cache_bytes", "features.policy", "features.presample_epochs"),
        ("fetch",),
        {"features.cache_ratio": 0.3},
        lambda s: s.options.features.cached,
    ),
    Toggle(
        "all features on the device",
        ("features.home",),
        ("fetch",),
        {"features.home": "device"},
        lambda s: s.options.features.home == "device",
    ),
    Toggle(
        "features in half precision",
        (f"precision={_HALF_FEATURES}",),
        ("fetch",),
        {"precision": _HALF_FEATURES},
        lambda s: s.options.precision == _HALF_FEATURES,
    ),
    Toggle(
        "lower precision",
        ("precision",),
        ("compute", "update"),
        {"precision": "bf16"},
        lambda s: s.options.precision not in ("fp32", _HALF_FEATURES),
    ),
    Toggle(
        "another aggregation",
        ("aggregation",),
        ("compute",),
        {"aggregation": "spmm"},
        lambda s: s.options.aggregation != "scatter",
    ),
    Toggle(
        "fewer steps an epoch by accumulation",
        ("training.accumulate", "training.accumulate_targets"),
        ("update",),
        {"training.accumulate": 2},
        lambda s: s.training.accumulates,
    ),
    Toggle(
        "fewer neighbours",  # fewer rows to fetch and to aggregate
        ("sampling.",),
        ("sample", "fetch", "compute"),
        {"sampling.fanout": (1,)},
        lambda s: False,
        bounded=False,
    ),
)


def toggle_of(path: str, value: Any) -> Toggle | None:
    """The toggle that an option set to this value belongs to."""
    for toggle in TOGGLES:
        for start in toggle.starts:
            if start in (path, f"{path}={value}") or (start.endswith(".") and path.startswith(start)):
                return toggle
    return None


def targeted_stages(patch: Mapping[str, Any]) -> tuple[Stage, ...]:
    """Stages that a patch can shorten, in their order; none where an option changes the whole step."""
    found: set[Stage] = set()
    for path, value in patch.items():
        toggle = toggle_of(path, value)
        if toggle is None:
            return ()
        found.update(toggle.targets)
    return tuple(s for s in STAGES if s in found)


def changes_batches(patch: Mapping[str, Any]) -> bool:
    """Whether a patch may make other batches: then its stages are of others than its reference's, by design."""
    starts = ("batching", "sampling.", "partition.", "training.batch_size", "model.layers")
    return any(path.startswith(start) for path in patch for start in starts)


def share(stages: Stages, names: Collection[str]) -> float:
    """Share of an epoch's seconds that these stages take; 0 for an epoch of no time."""
    seconds = seconds_by_stage(stages)
    total = math.fsum(seconds.values())
    return math.fsum(seconds[name] for name in STAGES if name in names) / total if total > 0.0 else 0.0


def seconds_by_stage(stages: Stages) -> dict[Stage, float]:
    """Seconds of each stage, in their order."""
    return {"sample": stages.sample_s, "fetch": stages.fetch_s, "compute": stages.compute_s, "update": stages.update_s}
