"""What a variant changes, in one line."""

from __future__ import annotations

from harness.reports.in_one_line import in_one_line
from harness.spec.schema import Gate
from harness.verdicts.model import MemoryUse, Speed

from .conftest import accuracy, comparison, memory_use, speed


def test_time_metric_and_memory_have_their_intervals() -> None:
    wide = memory_use(1.6).model_copy(update={"ci": (1.25, 2.0)})
    made = comparison("a", speed=speed(1.39, 0.08), accuracy=accuracy(-0.32, 0.115), memory=wide)
    assert in_one_line(made, Gate()) == (
        "1.39 times as fast [1.28, 1.50], accuracy −0.32 pp [−0.43, −0.21], peak memory −38 % [−50, −20]"
    )


def test_what_the_variant_aims_at_comes_first_and_what_was_not_measured_is_left_out() -> None:
    exact = memory_use(2.0).model_copy(update={"exact": True, "ci": None})
    same = accuracy(0.0).model_copy(update={"identical": True})
    saving = comparison("a", goal="memory", memory=exact, accuracy=same, speed=Speed(state="unknown"))
    assert in_one_line(saving, Gate()) == "peak memory −50.0 %, accuracy unchanged (identical predictions)"
    bare = comparison("a", accuracy=None, speed=Speed(state="unknown"), memory=MemoryUse(state="unknown"))
    assert in_one_line(bare, Gate(metric="macro_f1")) == ""


def test_a_bound_that_is_off_the_limit_does_not_print_as_it() -> None:
    tight = accuracy(-0.3, 0.1996)
    made = comparison("a", accuracy=tight, speed=Speed(state="unknown"), memory=MemoryUse(state="unknown"))
    assert in_one_line(made, Gate(max_drop_pp=0.5)) == "accuracy −0.3000 pp [−0.4996, −0.1004]"
