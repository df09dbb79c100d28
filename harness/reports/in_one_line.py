"""What a variant changes in one line: time, the gate's metric and memory, each with its interval. Plain text."""

from __future__ import annotations

from harness.reports.digits import ratio_with_interval, with_interval
from harness.spec.schema import Gate
from harness.verdicts.model import ComparisonVerdict
from harness.verdicts.wording import METRICS


def in_one_line(comparison: ComparisonVerdict, gate: Gate) -> str:
    """`1.39 times as fast [1.27, 1.53], accuracy −0.32 pp [−0.43, −0.20], peak memory −37 % [−50, −17]`.

    What its goal is comes first; what was not measured is left out.
    """
    time, metric, memory = _time(comparison, gate), _metric(comparison, gate), _memory(comparison, gate)
    parts = (memory, time, metric) if comparison.goal == "memory" else (time, metric, memory)
    return ", ".join(part for part in parts if part)


def _time(comparison: ComparisonVerdict, gate: Gate) -> str:
    if comparison.speed.ratio is None:
        return ""
    text = ratio_with_interval(comparison.speed.ratio, comparison.speed.ci, 1.0, gate.min_speedup, most=2)
    return _with_unit(text, "times as fast")


def _metric(comparison: ComparisonVerdict, gate: Gate) -> str:
    accuracy, name = comparison.accuracy, METRICS[gate.metric]
    if accuracy is None or accuracy.delta_pp is None:
        return ""
    if accuracy.identical and accuracy.state == "pass":
        return f"{name} unchanged (identical predictions)"
    text = with_interval(accuracy.delta_pp, accuracy.ci_pp, -gate.max_drop_pp, signed=True)
    return f"{name} {_with_unit(text, 'pp')}"


def _memory(comparison: ComparisonVerdict, gate: Gate) -> str:
    """Per cent of the reference's peak, since a ratio of bytes is hard to read in a sentence."""
    memory = comparison.memory
    if memory.ratio is None:
        return ""
    interval = None
    if memory.ci is not None and not memory.exact:
        lower, upper = memory.ci
        interval = (_change(upper), _change(lower))
    text = with_interval(_change(memory.ratio), interval, 0.0, _change(gate.min_memory_saving), signed=True, most=1)
    return f"peak memory {_with_unit(text, '%')}"


def _change(ratio: float) -> float:
    """Per cent by which the variant differs, of a ratio that is the reference over it."""
    return 100.0 * (1.0 / ratio - 1.0)


def _with_unit(text: str, unit: str) -> str:
    """`1.39 [1.27, 1.53]` with the unit behind the value."""
    value, space, interval = text.partition(" ")
    return f"{value} {unit}{space}{interval}"
