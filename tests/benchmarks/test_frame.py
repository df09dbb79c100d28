"""The frame that benchmarks stand in: turns, requirements, what is kept. It looks at no time."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module

import pytest

from tests.benchmarks.__main__ import ALL, ON_REQUEST, main
from tests.benchmarks.result import Line, Result, read_all, write
from tests.benchmarks.table import WIDTH, as_text
from tests.benchmarks.timing import alternated, median_ratio

ENVIRONMENT = dict.fromkeys(
    ("cores", "cpu_capability", "memory_bytes", "python", "torch", "pyg", "numba", "numpy", "scipy", "pymetis"), 1
)


def a_result(name: str = "sampler", **line: float) -> Result:
    return Result(name, "one thing over another", "By a clock.", [Line("a ratio", 2.0, "x", **line)], ENVIRONMENT)


def test_sides_take_turns():
    done = []
    ticks = iter(range(100))
    sides = {"a": lambda i: done.append(f"a{i}"), "b": lambda i: done.append(f"b{i}")}
    taken = alternated(sides, 3, lambda: float(next(ticks)))
    assert done == ["a0", "b0", "b1", "a1", "a2", "b2"]
    assert taken == {"a": [1.0] * 3, "b": [1.0] * 3}


def test_the_median_of_ratios_ignores_one_disturbed_piece():
    assert median_ratio({"a": [2.0, 2.0, 90.0], "b": [1.0, 1.0, 1.0]}, "a", "b") == 2.0


@pytest.mark.parametrize(
    ("line", "met"),
    [
        (Line("", 2.0, at_least=2.0), True),
        (Line("", 1.9, at_least=2.0), False),
        (Line("", 0.35, at_most=0.35), True),
        (Line("", 0.36, at_most=0.35), False),
        (Line("", 1.0), None),
        (Line("", None, at_least=2.0), None),
        (Line("", -0.4, at_least=-0.5), True),
    ],
)
def test_requirements(line, met):
    assert line.met is met


def test_results_are_kept_whole(tmp_path):
    first, second = a_result("sampler", at_least=1.0), a_result("epoch", at_most=1.0)
    for result in (first, second):
        write(result, tmp_path)
    assert read_all(tmp_path) == [second, first]
    assert set(json.loads((tmp_path / "bench.json").read_text())) == {"epoch", "sampler"}


def test_a_table_fits_a_terminal():
    line = Line("what was measured, in more words than fit", None, "x", at_most=1.0, note="why not " * 12)
    text = as_text(Result("sampler", "one over another", "How it was measured. " * 9, [line]))
    assert max(map(len, text.splitlines())) <= WIDTH
    assert "<= 1" in text


@pytest.mark.parametrize("name", [*ALL, *ON_REQUEST])
def test_every_benchmark_says_what_it_compares_and_how(name):
    module = import_module(f"tests.benchmarks.{name}")
    assert module.TITLE
    assert module.HOW.endswith(".")
    assert callable(module.run)


def test_markdown_goes_below_the_mark(tmp_path, monkeypatch, capsys):
    write(a_result(at_least=3.0), tmp_path)
    page = tmp_path / "page.md"
    page.write_text("Kept.\n\n<!-- results -->\n\nold\n")
    monkeypatch.setattr(sys, "argv", ["benchmarks", "--folder", str(tmp_path), "--markdown", str(page)])
    assert main() == 0
    assert page.read_text().startswith("Kept.\n\n<!-- results -->\n\nMeasured with")
    assert "| a ratio | 2 x | >= 3 | NO |" in page.read_text()
    assert "old" not in page.read_text()
    page.write_text("no mark")
    with pytest.raises(SystemExit, match="no line <!-- results -->"):
        main()


def test_outcomes_that_belong_to_the_reference_are_copied_there(tmp_path, monkeypatch):
    bench, reference = tmp_path / "bench", tmp_path / "reference"
    monkeypatch.setattr(sys, "argv", ["benchmarks", "--folder", str(bench), "--reference", str(reference)])
    with pytest.raises(SystemExit, match=r"planted.json is not there"):
        main()
    write(a_result("planted"), bench)
    assert main() == 0
    assert read_all(reference) == [a for a in read_all(bench) if a.name == "planted"]


def test_an_unknown_name_is_refused(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["benchmarks", "samplers"])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 2
    assert "no benchmark samplers; there are sampler, aggregation" in capsys.readouterr().err


def test_the_parent_of_the_big_one_holds_no_torch():
    """Its children's peaks are their own; the parent must leave them the machine."""
    code = "import sys, tests.benchmarks.big; assert 'torch' not in sys.modules and 'numba' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
