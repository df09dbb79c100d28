"""`results/index.html` and `index.md`: what they say of several specs, and of those that cannot be read."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from harness.commands.report import report
from harness.reports.index import write_index
from harness.spec.errors import InputError
from harness.verdicts.model import Verdicts

from .conftest import comparison, failed_comparison, memory_use, speed
from .edge_pages import HOSTILE
from .test_report import _Page

MEASURED = Path(__file__).parents[1] / "verdicts" / "real"
REFERENCE = Path(__file__).parents[2] / "results" / "reference"


@pytest.fixture
def write(make_verdicts, tmp_path):
    """Verdicts of a spec in a results folder."""

    def write(spec: str, dataset: str, *comparisons, **changes) -> Path:
        folder = tmp_path / "results" / spec
        folder.mkdir(parents=True)
        verdicts: Verdicts = make_verdicts(list(comparisons), spec=spec, dataset=dataset, **changes)
        (folder / "verdicts.json").write_text(verdicts.model_dump_json())
        return folder

    return write


def test_the_matrix_says_verdict_speed_up_and_accuracy_of_each_spec(write, tmp_path, capsys) -> None:
    write("one", "Cora", comparison("cache-0.3"), comparison("other", patch={"x": 1}))
    write("two", "Debian", comparison("cache", "reject", speed=speed(1.5)))
    (tmp_path / "results" / "two" / "report.md").write_text("there")
    damaged = tmp_path / "results" / "three"
    damaged.mkdir()
    (damaged / "verdicts.json").write_text('{"version": 1, "sp')
    (tmp_path / "results" / "runs").mkdir()
    report([tmp_path / "results"], everything=True)
    assert "left out: three: not a Verdicts of this version" in capsys.readouterr().err
    text = (tmp_path / "results" / "index.md").read_text()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("|")]
    assert rows[0] == ["variant", "speed-up, geometric mean", "one (Cora)", "two (Debian)"]
    assert rows[2] == ["cache-0.3 (cache)", "1.35 over 2 data sets", "accept 1.21×, −0.06 pp", "reject 1.50×, −0.06 pp"]
    assert "cache-0.3 (cache): accept in one; reject in two; speed-up 1.35 over 2 data sets" in text
    assert "### Depends on the graph" in text
    assert "[two](two/report.md)" in text
    assert "- three: not a Verdicts of this version" in text
    page = _Page((tmp_path / "results" / "index.html").read_text())
    assert not page.unbalanced
    assert not page.open
    assert [a["href"] for tag, a in page.tags if tag == "a"] == ["two/report.md"] * 2
    assert "three: not a Verdicts of this version" in page.words
    assert not {"script", "img", "iframe"} & {tag for tag, _ in page.tags}


def test_a_variant_for_memory_says_its_memory(write, tmp_path) -> None:
    for spec, dataset in (("one", "Cora"), ("two", "Debian")):
        write(spec, dataset, comparison("checkpoint", goal="memory", memory=memory_use(1.3, "gain")))
    write_index(tmp_path / "results")
    assert "| accept 1.21×, memory 1.30×, −0.06 pp |" in (tmp_path / "results" / "index.md").read_text()


def test_two_specs_on_one_data_set_are_no_two_data_sets(write, tmp_path) -> None:
    write("one", "Cora", comparison("a"))
    write("two", "Cora", comparison("a"))
    write_index(tmp_path / "results")
    text = (tmp_path / "results" / "index.md").read_text()
    assert "2 specs on 1 data set; no variant was tried on more than one." in text
    assert "## Variants on one data set only" in text


def test_markup_in_names_and_reasons_is_text(write, tmp_path) -> None:
    for spec in ("one", "two"):
        write(spec, HOSTILE + spec, comparison(HOSTILE, patch={HOSTILE: HOSTILE}), failed_comparison("b", HOSTILE))
    write_index(tmp_path / "results")
    html = (tmp_path / "results" / "index.html").read_text()
    assert "<script" not in html
    assert "<img" not in html
    assert not re.search(r"(?<!\\)<[a-z]", (tmp_path / "results" / "index.md").read_text())


def test_nothing_to_read_is_said(tmp_path) -> None:
    (tmp_path / "planned").mkdir()
    (tmp_path / "planned" / "plan.json").write_text("{}")
    with pytest.raises(InputError, match="planned: planned, and not judged yet"):
        write_index(tmp_path)


def test_verdicts_of_an_earlier_plan_are_left_out(write, tmp_path) -> None:
    """The columns would say of today's spec what was measured of another."""
    write("one", "Cora", comparison("a"))
    folder = write("two", "Debian", comparison("a"), plan_id="of another")
    shutil.copy(MEASURED / "quickstart" / "plan.json", folder / "plan.json")
    (left,) = write_index(tmp_path / "results")
    assert left.startswith("two: judged by an earlier plan")


def test_all_committed_results_can_be_set_side_by_side(tmp_path) -> None:
    for folder in (f.parent for f in REFERENCE.glob("*/verdicts.json")):
        shutil.copytree(folder, tmp_path / folder.name)
    assert write_index(tmp_path) == []
    text = (tmp_path / "index.md").read_text()
    assert all(f"[{folder.name}]({folder.name}/report.md)" in text for folder in tmp_path.iterdir() if folder.is_dir())
