"""Seconds before anything runs: of an epoch, and of a whole plan. Rough guesses, and shown as such."""

from __future__ import annotations

from dataclasses import dataclass

from harness.plan.batch_shapes import LayerShape, batches
from harness.plan.model import Plan
from harness.plan.sizes import Sizes
from harness.plan.step_memory import FLOAT
from harness.spec.option_paths import Settings

# One thread of a present CPU, float32; for a guess of the order of magnitude only.
FLOP_S = 8e10  # dense products
BYTE_S = 6e9  # gathers and scatters
SUM_BYTE_S = 12e9  # the same sums by spmm and segment, which write no messages or read them once
# Times that the bytes of a message pass through memory where a convolution weights them one by one: read, weighted,
# written, summed, and the same backward. As measured on Cora and Photo; spmm weights as it sums.
WEIGHTED = {"gcn": 5.0, "gat": 15.0}
BATCH_S = 0.003  # Python and launches of one step
# Starting, as measured on two cores at 2.1 GHz: eleven trainings of five runs and eleven timings of 8 or 16 processes.
PROCESS_S = 0.4  # a run or a timed process: fork, opening the graph, the model
JOB_S = 4.5  # a job: Python, torch and the process that forks the others


def epoch_seconds(settings: Settings, sizes: Sizes, layers: list[LayerShape]) -> float:
    """A rough guess of one training epoch on one CPU thread, by products and moved bytes; off by a few times."""
    flops, moved, fetched = 0.0, 0.0, layers[0].sources * sizes.features * FLOAT
    rate = SUM_BYTE_S if settings.options.aggregation in ("spmm", "segment") else BYTE_S
    for index, layer in enumerate(layers):
        passes = 3 if index else 2  # forward, weights' gradient, and inputs' gradient, which features do not need
        passes += settings.options.checkpointing
        products = 2 if settings.model.conv in ("sage", "gin") else 1
        flops += passes * 2 * layer.targets * layer.width_in * layer.width_out * products
        moved += passes * layer.edges * _message_width(settings, layer) * FLOAT
    if settings.options.aggregation != "spmm":
        moved *= WEIGHTED.get(settings.model.conv or "", 1.0)
    return batches(settings, sizes) * (BATCH_S + flops / FLOP_S + fetched / BYTE_S + moved / rate)


def _message_width(settings: Settings, layer: LayerShape) -> int:
    return layer.width_out if settings.model.projects_first else layer.width_in


@dataclass(frozen=True)
class Cost:
    """Seconds of a whole plan on one process at a time, records of earlier plans not counted; rough."""

    quality_min_s: float  # every comparison decided at the first look, no early stopping
    quality_max_s: float
    timing_min_s: float
    timing_max_s: float
    confirmation_max_s: float  # on top of these; 0 where the spec asks for none


def cost(plan: Plan) -> Cost | None:
    """Runs times epochs times the guess for an epoch, and the start of jobs and processes; None where an epoch's guess
    is unknown."""
    guesses = {name: cell.estimate.epoch_s for name, cell in plan.cells.items()}
    known = {name: seconds for name, seconds in guesses.items() if seconds is not None}
    if len(known) != len(guesses):
        return None
    distinct = {cell.cell_id: name for name, cell in plan.cells.items()}
    a_run = {name: PROCESS_S + known[name] * plan.cells[name].training.epochs for name in distinct.values()}
    a_seed, jobs_s = sum(a_run.values()), JOB_S * len(plan.cells)
    epochs = plan.timing.warmup_epochs + plan.timing.epochs
    reference = next(iter(plan.cells))
    pairs = [(reference, reference), *((c.variant, c.reference) for c in plan.comparisons)]
    # two processes an arm in a block, and a block gives two ratios: as many processes an arm as ratios
    a_ratio = sum(2 * PROCESS_S + epochs * (known[v] + known[r]) for v, r in pairs)
    timings_s = JOB_S * len(pairs)
    return Cost(
        quality_min_s=jobs_s + a_seed * plan.seeds.looks[0],
        quality_max_s=jobs_s + a_seed * plan.seeds.looks[-1],
        timing_min_s=timings_s + a_ratio * plan.timing.looks[0],
        timing_max_s=timings_s + a_ratio * plan.timing.looks[-1],
        confirmation_max_s=_confirmation_s(plan, a_seed / len(a_run), a_ratio / len(pairs)),
    )


def _confirmation_s(plan: Plan, a_run: float, a_ratio: float) -> float:
    """Of the most runs and timings that confirming adds, each as long as the grid's mean one."""
    runs, timings = most_confirmed(plan)
    if not runs:
        return 0.0
    jobs = 3 + len(plan.comparisons)  # baseline, stack, a job for each part that may be left out; and the timings
    return JOB_S * jobs + a_run * runs + a_ratio * timings * plan.timing.looks[-1]


def most_confirmed(plan: Plan) -> tuple[int, int]:
    """The most runs and timings that confirming adds: baseline, stack, each part left out and floors of the stack, if
    one variant of every key is accepted."""
    if plan.confirm == "none" or not plan.most_parts:
        return 0, 0
    parts = plan.most_parts if plan.most_parts > 1 else 0
    return (2 + parts) * plan.seeds.looks[-1], 1 + parts + max(0, plan.most_parts - 1)
