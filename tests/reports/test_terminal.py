"""The verdicts at the end of a run, and the plan before it, at 80 columns."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from harness.plan.cost import cost
from harness.plan.model import Estimate, Plan
from harness.reports.terminal import plan_table, verdict_table
from harness.spec.options import Model
from harness.spec.schema import Seeds, Timing

from .conftest import accuracy, comparison, failed_comparison, memory_use, some_of_each, speed


def shown(verdicts, folder: Path | None = None, width: int = 80, encoding: str = "utf-8") -> list[str]:
    """Lines as a pipe gets them."""
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding=encoding)
    verdict_table(verdicts, Console(file=file, width=width), folder)
    file.flush()
    return raw.getvalue().decode(encoding).splitlines()


def plan_lines(plan: Plan) -> list[str]:
    file = io.StringIO()
    plan_table(plan, Console(file=file, width=80))
    return file.getvalue().splitlines()


def test_each_variant_has_one_row_with_its_numbers_and_verdict(make_verdicts) -> None:
    lines = shown(make_verdicts(), Path("results/quickstart"))
    assert lines[1].split("  ")[0] == "variant"
    rows = {line.split()[0]: line for line in lines[2:11]}
    assert rows.pop("control").split()[1:] == ["–", "1.00", "[0.98,", "1.03]", "1.00", "quiet"]
    assert rows.pop("baseline").split() == [
        "baseline",
        "63.12",
        "%",
        "100",
        "ms",
        "an",
        "epoch",
        "100",
        "MB",
        "reference",
    ]
    assert list(rows) == [c.variant for c in some_of_each()]
    assert rows["cache-0.3"].split() == [
        *["cache-0.3", "−0.06", "[−0.31,", "+0.19]", "1.21", "[1.15,", "1.27]", "1.02", "accept"]
    ]
    assert rows["checkpoint"].split()[1:] == ["0", "(identical)", "0.81", "[0.79,", "0.83]", "1.38", "accept"]
    assert rows["fp16"].split() == ["fp16", "–", "–", "–", "dnf"]
    assert "Report: results/quickstart/report.html" in lines


def test_nothing_is_wider_than_the_terminal_or_ends_in_blanks(make_verdicts) -> None:
    long = "x" * 80
    verdicts = make_verdicts(
        [*some_of_each(), comparison(long, speed=speed(1.052, 0.0019)), failed_comparison(f"y{long}", "word " * 60)]
    )
    for width in (80, 100):
        lines = shown(verdicts, width=width)
        assert max(len(line) for line in lines) <= width
        assert not [line for line in lines if line != line.rstrip()]


def test_sixty_names_of_eighty_characters_are_cut_in_the_middle_and_stay_apart(make_verdicts) -> None:
    names = [f"{'a' * 39}{i:02d}{'b' * 39}" for i in range(60)]
    lines = shown(make_verdicts([comparison(n, accuracy=accuracy(-0.1, 0.2984)) for n in names]))
    rows = [line for line in lines if line.endswith("accept")]
    assert len(rows) == 60
    assert len({row.split()[0] for row in rows}) == 60
    assert all("…" in row.split()[0] for row in rows)
    assert len(lines) < 60 + 31


def test_no_colour_codes_in_a_pipe_and_some_on_a_terminal(make_verdicts) -> None:
    assert "\x1b" not in "\n".join(shown(make_verdicts()))
    file = io.StringIO()
    console = Console(file=file, width=80, force_terminal=True, color_system="standard", no_color=False)
    verdict_table(make_verdicts(), console)
    assert "\x1b[" in file.getvalue()


def test_a_terminal_of_ascii_gets_ascii(make_verdicts) -> None:
    lines = shown(make_verdicts([*some_of_each(), failed_comparison("中文", "Überlauf")]), encoding="ascii")
    assert any("-0.06 [-0.31, +0.19]" in line for line in lines)
    assert any(line.startswith("??") for line in lines)


def test_markup_and_control_codes_in_names_and_messages_are_text(make_verdicts) -> None:
    verdicts = make_verdicts([failed_comparison("[red]a[/red]", "\x1b[2J[bold]lost[/nothing]")])
    text = "\n".join(shown(verdicts))
    assert "[red]a[/red]" in text
    assert "[bold]lost[/nothing]" in text
    assert "\x1b" not in text


@pytest.mark.parametrize("comparisons", [[], [failed_comparison("a")]])
def test_nothing_to_show_is_still_an_answer(comparisons, make_verdicts) -> None:
    text = "\n".join(shown(make_verdicts(comparisons)))
    assert "Nothing was compared" in text or "none trained to the end" in text


def test_a_long_reason_keeps_its_remedy(make_verdicts) -> None:
    """The page has it in the row and in the details, the terminal wrapped; the file of tables in its last column."""
    reason = f"seed 0 ended as unsupported: {'the largest feature is too large, ' * 8}scale the features, though it ran"
    text = " ".join(" ".join(shown(make_verdicts([failed_comparison("half", reason)]))).split())
    assert f"half: 1 of 5 runs diverged: {reason}" in text


def test_equal_reasons_are_told_once_and_long_lists_point_to_the_report(make_verdicts) -> None:
    same = [failed_comparison(f"fp16-{i}", "no kernel") for i in range(20)]
    text = " ".join(" ".join(shown(make_verdicts(same))).split())
    assert "fp16-0, fp16-1, fp16-2 and 17 more: 1 of 5 runs diverged: no kernel" in text
    undecided = [
        comparison(f"v{i}", "inconclusive", accuracy=accuracy(-0.3, 0.5, "inconclusive", 9)) for i in range(20)
    ]
    text = " ".join(" ".join(shown(make_verdicts(undecided))).split())
    assert "- Accuracy undecided: v0, v1, v2, v3, v4, v5, v6 (about 9 more seeds); and 13 more." in text
    many = make_verdicts([], warnings=[f"warning {i}" for i in range(20)])
    assert "- and 9 more, in the report" in shown(many)


def test_a_ratio_of_little_memory_is_not_nought(make_verdicts) -> None:
    use = memory_use(0.031, "loss").model_copy(update={"ci": (0.001, 40.0)})
    (row,) = [line for line in shown(make_verdicts([comparison("a", memory=use)])) if line.startswith("a ")]
    assert row.split()[-2] == "0.03"


def test_the_plan_says_counts_costs_skips_and_warnings(make_verdicts, make_plan) -> None:
    plan = make_plan(make_verdicts(), warnings=["a fan-out above every degree takes all neighbours"])
    lines = plan_lines(plan)
    text = " ".join(" ".join(lines).split())
    assert "6 comparisons; 35 to 140 quality runs (5 to 20 seeds, 1 thread each)" in text
    assert "7 timing jobs of 2 to 6 blocks, four processes a block, 2 threads each." in text
    # 7 cells of 12 epochs of 0.1 s at 5 or 20 seeds; 7 jobs of 4 or 12 ratios, 2 processes each of 7 epochs; a process
    # starts in 0.4 s, a job in 4.5 s
    assert "Cost: about 3 min to 8 min, one job after the other: training, timing, and the start of jobs" in text
    found = cost(plan)
    assert found is not None
    assert pytest.approx(180.6) == found.quality_min_s + found.timing_min_s
    assert pytest.approx(7 * 5 * (0.4 + 12 * 0.1) + 7 * 4 * 2 * (0.4 + 7 * 0.1) + 14 * 4.5) == 180.6
    assert found.confirmation_max_s == 0
    assert "Memory: about 80.0 MB in the largest run (baseline), roughly." in text
    assert "spmm-gat: gat has no spmm form" in text
    assert "a fan-out above every degree" in text
    assert max(len(line) for line in lines) <= 80


def test_a_plan_without_sizes_says_that_it_does_not_know(make_verdicts, make_plan) -> None:
    plan = make_plan(make_verdicts())
    cells = {name: cell.model_copy(update={"estimate": Estimate()}) for name, cell in plan.cells.items()}
    text = "\n".join(plan_lines(plan.model_copy(update={"cells": cells})))
    text = " ".join(text.split())
    remedy = "not known before the data set's size is; run `harness prepare specs/quickstart.yaml`."
    assert f"Cost: {remedy} Memory: {remedy}" in text
    own = {name: c.model_copy(update={"model": Model(**{"class": "net:Net"})}) for name, c in cells.items()}
    text = "\n".join(plan_lines(plan.model_copy(update={"cells": own})))
    assert "Cost: not known for a network of your own.\nMemory: not known for a network of your own." in text


def test_a_range_of_one_is_a_number(make_verdicts, make_plan) -> None:
    plan = make_plan(make_verdicts(), seeds=Seeds(looks=(5,)), timing=Timing(looks=(4,)), runs_min=35, runs_max=35)
    text = " ".join(" ".join(plan_lines(plan)).split())
    assert "; 35 quality runs (5 seeds, 1 thread each); 7 timing jobs of 2 blocks, four" in text
    assert "Cost: about 3 min, one job after the other: training" in text


def test_what_a_cell_changes_is_wrapped_and_never_cut(make_verdicts, make_plan) -> None:
    patch = {"batching": "cluster", "partition.method": "random", "partition.parts": 400, "partition.per_batch": 20}
    lines = plan_lines(make_plan(make_verdicts([comparison("cluster-random", patch=patch)])))
    assert max(len(line) for line in lines) <= 80
    start = next(i for i, line in enumerate(lines) if line.startswith("cluster-random"))
    column = lines[1].index("changes")
    told = " ".join(line[column:].split("  ")[0].strip() for line in lines[start : lines.index("", start)])
    assert told == ", ".join(f"{k} = {json.dumps(v)}" for k, v in patch.items())


def test_the_largest_runs_memory_is_told_by_part(make_verdicts, make_plan) -> None:
    plan = make_plan(make_verdicts())
    parts = {"features": 60_000_000, "cache": 0, "messages": 20_000_000, "allocator": 9_000_000}
    estimate = Estimate(memory_bytes=89_000_000, parts=parts, epoch_s=1.0)
    largest = plan.cells["baseline"].model_copy(update={"estimate": estimate})
    lines = plan_lines(plan.model_copy(update={"cells": {**plan.cells, "baseline": largest}}))
    told = "in the largest run (baseline), roughly: features 60.0 MB, messages 20.0 MB, allocator 9.0 MB."
    assert told in " ".join(" ".join(lines).split())
