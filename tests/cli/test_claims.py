"""`harness claims`: measured beside the results, read from there, else from the committed ones."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from harness.cli import app
from harness.commands import claims as command
from harness.plan.files import write_plan
from harness.plan.model import Comparison
from harness.reports.claims.rows import claim_rows
from harness.spec.errors import InputError
from harness.spec.schema import Seeds
from tests.verdicts.results import SAME, baseline_of, plan_of, quality_of, timing_of

ENTRY = """\
id: A4
title: a smaller fan-out loses points
statement: Cutting the fan-out costs accuracy.
figure: "−4 points"
expects:
  - {quantity: accuracy_delta_pp, variant: fanout, holds: {at_most: -3.6}}
  - {quantity: speed_ratio, variant: fanout, holds: {at_least: 1.3}}
tests:
  - {graph: wordnet, spec: small}
  - {graph: debian, spec: other}
"""
LEFT = "id: A21\ntitle: a full copy is slower\nstatement: It is slower.\nnot_testable: it needs several workers\n"
SPEC = "version: 1\nname: small\nvariants: {fanout: {set: {sampling.fanout: [5, 5]}}}\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with two entries, whose first graph has run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / ".cache"))
    monkeypatch.setenv("COLUMNS", "80")
    for path, text in {
        "specs/claims/A4.yaml": ENTRY,
        "specs/claims/A21.yaml": LEFT,
        "specs/small.yaml": SPEC,
        "specs/other.yaml": SPEC.replace("small", "other"),
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    plan = plan_of(Comparison(variant="fanout"), spec="small", seeds=Seeds(looks=(5,)))
    write_plan(plan, tmp_path / "results")
    results = {
        "variants/baseline": baseline_of(),
        "variants/fanout": quality_of("fanout", [-4.0, -4.2, -3.9, -4.1, -4.0]),
        "timing/fanout": timing_of("fanout", cell_id="cell-fanout", reference_cell_id="cell-baseline"),
        "timing/control": timing_of("control", SAME, cell_id="cell-baseline", reference_cell_id="cell-baseline"),
    }
    for name, content in results.items():
        path = tmp_path / "results" / "small" / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content.model_dump_json())
    return tmp_path


def claims(*arguments: str) -> str:
    done = CliRunner().invoke(app, ["claims", *arguments], catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout


def test_nothing_has_been_measured(folder: Path) -> None:
    text = claims()
    assert "A4   a smaller fan-out loses points  not run yet\n" in text
    assert "2 claims: 1 not run yet, 1 not testable here." in text
    assert all(len(line) <= 80 for line in text.splitlines())
    assert "to run it: snakemake --cores 2 results/small/report.html" in claims("a4")


def test_measured_and_then_only_committed(folder: Path) -> None:
    text = claims("--write")
    assert "A4   a smaller fan-out loses points  holds on 1 of 1, 1 not run\n" in text
    (folder / "results" / "reference" / "small").mkdir(parents=True)
    shutil.move(folder / "results/small/claims.json", folder / "results/reference/small/claims.json")
    shutil.rmtree(folder / "results" / "small")
    assert "holds on 1 of 1, 1 not run\n" in claims()
    detail = claims("A4")
    assert "- accuracy in pp, fanout minus baseline: −4.04 [−4.18, −3.90] (95 %, 5 pairs);" in " ".join(detail.split())
    assert "holds where at most −3.60: holds" in " ".join(detail.split())
    assert "from results/reference/small/claims.json" in " ".join(detail.split())
    assert all(len(line) <= 80 for line in detail.splitlines())


def test_the_page_of_a_spec_shows_nothing_that_another_machine_measured(folder: Path) -> None:
    """Committed results fill a gap in the ledger, and none in the page of one's own results."""
    results = folder / "results"
    measured = command.tested_claims(results / "small", "small")
    shutil.copytree(results / "small", results / "reference" / "small")
    (results / "small" / "timing" / "fanout.json").unlink()

    def values(outcomes) -> list[str]:
        return [row[2] for row in claim_rows(outcomes, "small")]

    own = values(command.tested_claims(results / "small", "small"))
    assert own[0] == values(measured)[0]
    assert own[1] != values(measured)[1]


def test_forms(folder: Path) -> None:
    claims("--write")
    (left, tested) = sorted(json.loads(claims("--format", "json")), key=lambda o: len(o["claim"]["id"]), reverse=True)
    assert (left["state"], tested["state"]) == ("not testable here", "holds")
    assert tested["graphs"][0]["findings"][1]["measured"]["value"] == pytest.approx(1.415, abs=1e-3)
    whole = claims("--format", "md")
    assert "| wordnet | speed-up, baseline over fanout " in whole
    assert "| A21 | a full copy is slower | it needs several workers |" in whole
    short = claims("--format", "md", "--summary")
    assert "| A4 | a smaller fan-out loses points | −4 points | accuracy in pp: wordnet " in short
    assert "] | holds on 1 of 1, 1 not run |" in short
    assert "A21" not in short


def test_an_unknown_claim(folder: Path) -> None:
    with pytest.raises(InputError, match="'A5' is no claim; there are A4, A21"):
        claims("A5")
