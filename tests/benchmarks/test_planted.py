"""The planted effects: what is known of them before anything runs. It looks at no time."""

from __future__ import annotations

import psutil
import pytest

from harness.plan.expand import make_plan
from harness.plan.machine import Machine
from harness.records.results import Parity
from harness.spec.load import load_spec
from tests.benchmarks.planted import grid
from tests.benchmarks.planted.load import busy_threads
from tests.benchmarks.planted.pauses import true_ratio
from tests.benchmarks.planted.samplers import found_exact
from tests.verdicts.results import PARITY, baseline_of, plan_of, quality_of


@pytest.mark.parametrize(("name", "variants"), [("pauses", 2), ("busy", 1), ("samplers", 3)])
def test_the_specs_are_sound(name, variants):
    path = grid.SPECS / f"{name}.yaml"
    able = Machine(torch="", pyg="", cuda=False, kernels={"cpu": {"fp32": None, "fp32+spmm": None}}, libraries={})
    plan = make_plan(load_spec(path), path, able)
    assert (len(plan.comparisons), plan.skipped) == (variants, [])


def test_the_truth_of_a_pause():
    assert true_ratio(0.030, 0.010) == pytest.approx(0.75)
    assert true_ratio(0.030, -0.015) == pytest.approx(2.0)


def test_the_competing_process_is_no_child_and_ends_with_its_block():
    before = set(psutil.pids())
    with busy_threads(2):
        children = {p.pid for p in psutil.Process().children(recursive=True)}
        ours = [p for p in psutil.process_iter() if p.pid not in before and "load.py" in " ".join(_words(p))]
        assert [p.pid in children for p in ours] == [False]
        assert ours[0].num_threads() == 3
    psutil.wait_procs(ours, timeout=20)
    assert not ours[0].is_running()


def _words(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


@pytest.mark.parametrize(
    ("d", "parity", "exact"),
    [
        ([0.0] * 5, PARITY, True),
        ([0.0] * 5, PARITY.model_copy(update={"state": "differs"}), False),
        ([0.0] * 5, None, False),
        ([-1.0] * 5, PARITY, False),
    ],
)
def test_exact_is_what_passes_and_was_found_equal(d: list[float], parity: Parity | None, exact: bool):
    from harness.plan.model import Comparison
    from harness.verdicts.analyze import analyze

    quality = quality_of("v", d, parity=parity)
    found = analyze(plan_of(Comparison(variant="v", exact=True)), {"baseline": baseline_of(), "v": quality}, {})
    assert found_exact(found.comparisons[0]) is exact
