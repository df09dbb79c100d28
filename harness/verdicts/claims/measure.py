"""A quantity of a claim, measured on a spec's results: a value, its interval, and how much stands behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from harness.spec.claims import Measure
from harness.verdicts.claims import arms, recorded
from harness.verdicts.claims.intervals import Interval
from harness.verdicts.claims.model import ClaimResults, Measured
from harness.verdicts.claims.results import NotMeasured, SpecResults

_SHOWN = ("cpu", "cores", "memory_bytes", "device_name", "os", "python", "torch", "pyg", "numba", "harness", "engine")
_QUANTITIES: dict[str, tuple[Callable[[Measure, SpecResults, SpecResults], Interval], str]] = {
    "accuracy_delta_pp": (arms.accuracy_delta_pp, "pairs"),
    "sd_ratio": (arms.sd_ratio_of_pairs, "pairs"),
    "epochs_to_reference_ratio": (arms.epochs_to_reference_ratio, "pairs"),
    "speed_ratio": (arms.speed_ratio, "ratios"),
    "memory_ratio": (arms.memory_ratio, "ratios"),
    "stage_ratio": (recorded.stage_ratio, "ratios"),
    "stage_share": (recorded.stage_share, "processes"),
    "counter": (recorded.counter, "runs"),
    "counter_ratio": (recorded.counter_ratio, "pairs"),
    "loss_jitter_ratio": (recorded.loss_jitter_ratio, "pairs"),
    "peak_over_formula": (recorded.peak_over_formula, "processes"),
}


def measure_all(
    results: SpecResults,
    wanted: Iterable[tuple[Measure, str | None]],
    other: Callable[[str], SpecResults | None],
    command: str,
) -> ClaimResults:
    """The content of ``claims.json``.

    Args:
        results: of the spec.
        wanted: quantities, each with the spec of its reference where that is another; each is measured once.
        other: another spec's results by its name; None where it has not run.
        command: what makes the results again.
    """
    measured: list[Measured] = []
    for measure, against in wanted:
        if not any(m.measure == measure and m.against == against for m in measured):
            measured.append(_measured(measure, against, results, other))
    control = next((t for t in results.timings.values() if t.environment), None)
    quality = next(iter(results.variants.values()), None)
    environment = control.environment if control is not None else quality.environment if quality is not None else {}
    return ClaimResults(
        spec=results.plan.spec,
        command=command,
        date=results.last_end(),
        fingerprint=quality.fingerprint if quality is not None else "",
        device=quality.device if quality is not None else "",
        threads={
            **({"quality": quality.threads} if quality is not None else {}),
            **({"timing": control.threads} if control is not None else {}),
        },
        environment={key: environment[key] for key in _SHOWN if environment.get(key) is not None},
        measured=measured,
    )


def _measured(
    measure: Measure, against: str | None, results: SpecResults, other: Callable[[str], SpecResults | None]
) -> Measured:
    quantity, unit = _QUANTITIES[measure.quantity]
    try:
        reference = results if against is None else other(against)
        if reference is None:
            raise NotMeasured("missing", f"{against} has not run")
        found = quantity(measure, results, reference)
    except NotMeasured as why:
        return Measured(measure=measure, against=against, state=why.state, reason=why.reason)
    except ValueError as why:
        return Measured(measure=measure, against=against, state="failed", reason=str(why))
    return Measured(
        measure=measure,
        against=against,
        state="measured",
        value=found.value,
        ci=(found.lower, found.upper),
        level=found.level,
        n=found.n,
        unit=unit,
    )
