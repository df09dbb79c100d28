"""Plans and verdicts as the analyser makes them, small enough to read."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from harness.plan.model import Cell, Comparison, DatasetPlan, Estimate, Plan, Skipped
from harness.records.record import Stages
from harness.records.results import Parity, SeedRun, TimingResult, VariantResult
from harness.reports.report import write_report
from harness.spec.dataset import Builtin
from harness.spec.options import Model, Options, Training
from harness.spec.schema import Gate, Limits, Seeds, Timing
from harness.verdicts.diagnosis_model import ArmProfile, Diagnosis, Gain, Saving, StageTime, ToggleCeiling
from harness.verdicts.model import (
    Accuracy,
    ComparisonVerdict,
    Control,
    Costs,
    FailedRun,
    MemoryUse,
    ReferenceSummary,
    SeedDifference,
    Speed,
    TestSet,
    TimeToReference,
    Verdicts,
)
from harness.verdicts.total_cost import TotalCost

REFERENCE_STAGES = Stages(sample_s=0.032, fetch_s=0.026, compute_s=0.028, update_s=0.014)
ENVIRONMENT = {"torch": "2.13.0", "python": "3.11.2", "cpu": "a processor", "cores": 2, "memory_bytes": 8_000_000_000}
QUIET = Control(
    ratio=1.003,
    ci=(0.981, 1.026),
    level=0.9829,
    blocks=2,
    state="quiet",
    reason="the baseline against itself gives [0.98, 1.03], around 1.00 and narrow enough",
    smallest_gain=1.046,
    memory_ratio=1.0,
    memory_ci=(0.995, 1.005),
)


def accuracy(delta: float = -0.06, half: float = 0.25, state: str = "pass", more: int | None = None, n: int = 5):
    """The gate's side of a comparison over n pairs."""
    wiggle = [0.1, -0.2, 0.0, -0.1, 0.2]
    return Accuracy(
        baseline=0.63,
        variant=0.63 + delta / 100,
        delta_pp=delta,
        ci_pp=(delta - half, delta + half),
        level=0.9588,
        alpha=0.0206,
        look=n,
        state=state,
        more_seeds=more,
        seeds=[
            SeedDifference(
                seed=s,
                reference=0.63,
                variant=0.63 + (delta + wiggle[s % 5]) / 100,
                delta_pp=delta + wiggle[s % 5],
                counted=True,
            )
            for s in range(n)
        ],
        collapse_rate_below=1 - 0.05 ** (1 / n),
    )


def speed(ratio: float = 1.21, spread: float = 0.05, state: str = "gain"):
    """The clock's side of a comparison."""
    return Speed(
        ratio=ratio,
        ci=(ratio * (1 - spread), ratio * (1 + spread)),
        level=0.9829,
        blocks=2,
        state=state,
        reference_epoch_s=0.1,
        variant_epoch_s=0.1 / ratio,
    )


def memory_use(ratio: float = 1.02, state: str = "no-gain"):
    """The memory side of a comparison."""
    return MemoryUse(
        ratio=ratio,
        ci=(ratio - 0.01, ratio + 0.01),
        level=0.9829,
        state=state,
        reference_bytes=100_000_000,
        variant_bytes=int(100_000_000 / ratio),
        estimated_bytes=80_000_000,
        measured_over_estimated=1.25 / ratio,
    )


def comparison(variant: str, verdict: str = "accept", **changes: Any) -> ComparisonVerdict:
    """A comparison with everything measured, unless told otherwise."""
    ratio = changes["speed"].ratio if "speed" in changes else 1.21
    scaled = {k: v / (ratio or 1.0) for k, v in REFERENCE_STAGES.model_dump().items()}
    given: dict[str, Any] = {
        "variant": variant,
        "reference": "baseline",
        "patch": {"features.cache_ratio": 0.3},
        "n_pairs": 5,
        "accuracy": accuracy(),
        "speed": speed(),
        "memory": memory_use(),
        "verdict": verdict,
        "reason": "a drop of at most 0.31 pp is shown, and it is 1.15 to 1.27 times as fast",
        "costs": Costs(
            preprocess_s={"cache_fill_s": 0.4},
            payoff_epochs=23.0,
            targets=["fetch"],
            ceiling=1.35,
            reference_stages=REFERENCE_STAGES,
            variant_stages=Stages(**scaled),
            total=TotalCost(
                epochs=30,
                reference_epochs=30,
                once_s=0.4,
                reference_once_s=0.0,
                seconds=2.9,
                reference_seconds=3.0,
                pays_off="within",
            ),
        ),
        "time_to_reference": TimeToReference(
            epochs=7.5,
            reference_epochs=9.0,
            seconds=0.62,
            reference_seconds=0.9,
            epochs_ratio=1.2,
            epochs_ci=(1.1, 1.31),
            ratio=1.45,
            ci=(1.31, 1.61),
            reached=4,
            pairs=5,
        ),
        "counters": {"cache_hits": 812_345, "cache_requests": 1_300_000},
    }
    return ComparisonVerdict(**(given | changes))


def failed_comparison(variant: str, message: str = "loss is not finite in epoch 3, batch 7", **changes: Any):
    """A variant whose training diverged."""
    run = FailedRun(arm="variant", purpose="quality", seed=0, run_id=f"r-{variant}", status="diverged", message=message)
    given: dict[str, Any] = {
        "verdict": "dnf",
        "accuracy": None,
        "n_pairs": 0,
        "speed": Speed(state="unknown"),
        "memory": MemoryUse(state="unknown"),
        "costs": Costs(),
        "time_to_reference": None,
        "counters": {},
        "reason": f"1 of 5 runs diverged: {message}",
        "failed": [run],
    }
    return comparison(variant, **(given | changes))


def some_of_each() -> list[ComparisonVerdict]:
    """One comparison of every verdict, named as the quickstart's are."""
    return [
        comparison("cache-0.3", exact=True, parity=PARITY),
        comparison(
            "fanout-10-5",
            "inconclusive",
            patch={"sampling.fanout": [10, 5]},
            accuracy=accuracy(-0.32, 0.55, "inconclusive", 16),
            speed=speed(1.9, 0.04),
            memory=memory_use(1.45, "gain"),
            reason="accuracy is undecided: the drop lies between -0.23 and 0.87 pp",
        ),
        comparison(
            "cluster-random",
            "reject",
            patch={"batching": "cluster", "partition.method": "random"},
            accuracy=accuracy(-1.9, 0.3, "fail"),
            speed=speed(2.6, 0.08),
            reason="a drop of more than 0.5 pp is shown",
        ),
        comparison(
            "fp16-linear",
            "no-gain",
            patch={"precision": "fp16-linear"},
            accuracy=accuracy(0.05, 0.2),
            speed=speed(0.72, 0.03, "loss"),
            reason="it is slower: 0.70 to 0.74 times",
        ),
        comparison(
            "checkpoint",
            goal="memory",
            exact=True,
            patch={"checkpointing": True},
            accuracy=accuracy(0.0, 0.1).model_copy(update={"identical": True}),
            speed=speed(0.81, 0.02, "loss"),
            memory=memory_use(1.38, "gain"),
            reason="predictions are identical, and it needs 1.37 to 1.39 times less memory",
        ),
        failed_comparison("fp16"),
        comparison(
            "spmm-gat",
            "skipped",
            accuracy=None,
            speed=Speed(state="unknown"),
            memory=MemoryUse(state="unknown"),
            costs=Costs(),
            counters={},
            reason="gat has no spmm form: its weights differ by edge",
        ),
    ]


PARITY = Parity(state="equal", max_abs_logit=4.2, max_abs_difference=3e-6, gradient_cosine=1.0)


def diagnosis(comparisons: list[ComparisonVerdict]) -> Diagnosis:
    """Of a step that waits for its data, with a gain for each timed comparison."""
    shares = {"sample": 0.32, "fetch": 0.26, "compute": 0.28, "update": 0.14}
    times = [
        StageTime(stage=stage, seconds=0.1 * share, share=share, lowest=share - 0.02, highest=share + 0.02)  # type: ignore[arg-type]
        for stage, share in shares.items()
    ]
    targets: dict[str, Any] = {"targets": ["sample", "fetch"], "share": 0.58, "ceiling": 1 / 0.42}
    return Diagnosis(
        baseline=ArmProfile(name="baseline", processes=8, stages=times, slower=1.04),
        bottleneck="data",
        data_share=0.58,
        toggles=[
            ToggleCeiling(toggle="a background loader", option="loader.threads", **targets),
            ToggleCeiling(
                toggle="a feature cache",
                option="features.cache_ratio",
                targets=["fetch"],
                share=0.26,
                ceiling=1 / 0.74,
                tried=["cache-0.3"],
                best="cache-0.3",
                reached=1.21,
                reached_ci=(1.15, 1.27),
            ),
        ],
        more_machines="not-yet",
        sentences=[
            "The bottleneck of baseline is the data side, 58 % of a step (sample 32 %, fetch 26 %, compute 28 %, "
            "update 14 %).",
            "Try first: a background loader (loader.threads).",
        ],
        gains=[
            Gain(
                variant=c.variant,
                reference=c.reference,
                same_batches=True,
                savings=[
                    Saving(stage=stage, seconds=0.02, ci=(0.01, 0.03), expected=stage == "fetch")  # type: ignore[arg-type]
                    for stage in shares
                ],
                sentences=["The gain (1.21 times) is 80 ms an epoch less than baseline: fetch 20 ms shorter."],
            )
            for c in comparisons
            if c.speed.ratio is not None
        ],
    )


@pytest.fixture(scope="session")
def make_verdicts() -> Callable[..., Verdicts]:
    """Verdicts over the given comparisons."""

    def make(comparisons: list[ComparisonVerdict] | None = None, **changes: Any) -> Verdicts:
        comparisons = some_of_each() if comparisons is None else comparisons
        given: dict[str, Any] = {
            "spec": "quickstart",
            "description": "Six options on the verbs of WordNet.",
            "design": "one-at-a-time",
            "gate": Gate(),
            "looks": [5, 10, 20],
            "alpha_per_look": 0.0206,
            "timing": Timing(),
            "device": "cpu",
            "test_set": TestSet(nodes=2754, max_drop_nodes=13.77, sampling_error_pp=(0.27, 0.6)),
            "references": [ReferenceSummary(name="baseline", n=5, mean=0.6312, sd_pp=0.31)],
            "control": QUIET,
            "comparisons": comparisons,
            "diagnosis": diagnosis(comparisons),
            "recommended": [c.variant for c in comparisons if c.verdict == "accept"],
            "recommended_note": "accepted alone does not mean accepted together; the combination is not confirmed",
            "environment": ENVIRONMENT,
        }
        return Verdicts(**(given | changes))

    return make


@pytest.fixture(scope="session")
def make_plan() -> Callable[..., Plan]:
    """The plan of verdicts."""

    def make(verdicts: Verdicts, **changes: Any) -> Plan:
        model, training = Model(conv="sage", hidden=64), Training(epochs=12, batch_size=512, lr=0.02)
        skipped = [c for c in verdicts.comparisons if c.verdict == "skipped"]
        kept = [c for c in verdicts.comparisons if c.verdict != "skipped"]

        def cell(name: str, patch: dict[str, Any]) -> Cell:
            estimate = Estimate(memory_bytes=80_000_000, epoch_s=0.1)
            return Cell(
                name=name,
                cell_id=f"id-{name}",
                model=model,
                training=training,
                options=Options(),
                patch=patch,
                estimate=estimate,
            )

        given: dict[str, Any] = {
            "spec": verdicts.spec,
            "spec_path": f"specs/{verdicts.spec}.yaml",
            "description": verdicts.description,
            "design": verdicts.design,
            "dataset": DatasetPlan(
                dataset=Builtin(source="builtin", name="wordnet", subset="verb"), dataset_id="d0", spec_dir="specs"
            ),
            "cells": {"baseline": cell("baseline", {})} | {c.variant: cell(c.variant, c.patch) for c in kept},
            "comparisons": [Comparison(variant=c.variant, exact=c.exact, goal=c.goal) for c in kept],
            "skipped": [Skipped(variant=c.variant, reason=c.reason, patch=c.patch) for c in skipped],
            "seeds": Seeds(),
            "gate": verdicts.gate,
            "timing": verdicts.timing,
            "limits": Limits(),
            "device": "auto",
            "quality_threads": 1,
            "timing_threads": 2,
            "runs_min": 5 * (1 + len(kept)),
            "runs_max": 20 * (1 + len(kept)),
        }
        return Plan(**(given | changes))

    return make


@pytest.fixture(scope="session")
def edge_report(tmp_path_factory, make_verdicts, make_plan, make_results) -> Callable[[str], tuple[Verdicts, Path]]:
    """Verdicts of an edge page by its name, and the folder of their report, which is written once and only read."""
    from .edge_pages import PAGES

    @cache
    def write(name: str) -> tuple[Verdicts, Path]:
        make, changes = PAGES[name]
        verdicts = make_verdicts(make(), **changes)
        folder = tmp_path_factory.mktemp(name)
        write_report(make_plan(verdicts), verdicts, *make_results(verdicts), folder)
        return verdicts, folder

    return write


@pytest.fixture(scope="session")
def make_results() -> Callable[[Verdicts], tuple[dict[str, VariantResult], dict[str, TimingResult]]]:
    """What the jobs left, as far as reports read it."""

    def make(verdicts: Verdicts):
        names = ["baseline", *(c.variant for c in verdicts.comparisons if c.verdict != "skipped")]
        variants = {
            name: VariantResult(
                variant=name,
                cell_id=f"id-{name}",
                reference=None if name == "baseline" else "baseline",
                runs=[SeedRun(seed=s, run_id=f"r-{name}-{s}", status="ok", metric=0.63) for s in range(5)],
                test_nodes=2754,
                fingerprint="fp-1234",
                threads=1,
                device="cpu",
            )
            for name in names
        }
        timings = {
            "control": TimingResult(
                variant="control", reference="baseline", status="ok", threads=2, device="cpu", environment=ENVIRONMENT
            )
        }
        return variants, timings

    return make
