"""`harness compare` on the files of two results folders."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from harness import __version__
from harness.cli import main
from harness.plan.version import ENGINE_VERSION
from harness.verdicts.across.folder import ResultsFolder
from harness.verdicts.model import Confirmation
from tests.verdicts.across.made_up import A_METRICS, NEW, folder, less

WIGGLE = [0.0005, -0.0004, 0.0002, -0.0006, 0.0003]
DROPPED = [m + w for m, w in zip(less(A_METRICS, 1.0), WIGGLE, strict=True)]
Run = Callable[..., int]


def written(found: ResultsFolder, place: Path) -> Path:
    """The folder's files, as Snakemake's jobs leave them."""
    for kind in ("variants", "timing"):
        (place / kind).mkdir(parents=True)
    (place / "plan.json").write_text(found.plan.model_dump_json(by_alias=True))
    (place / "verdicts.json").write_text(found.verdicts.model_dump_json())
    ids = {name: cell.cell_id for name, cell in found.plan.cells.items()}
    for name, result in found.variants.items():
        (place / "variants" / f"{name}.json").write_text(result.model_dump_json())
    for name, timing in found.timings.items():
        of = {"cell_id": ids.get(name, ids["baseline"]), "reference_cell_id": ids["baseline"]}
        (place / "timing" / f"{name}.json").write_text(timing.model_copy(update=of).model_dump_json())
    return place


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command line; its exit code."""

    def call(*arguments: object) -> int:
        monkeypatch.setattr(sys, "argv", ["harness", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        return int(ended.value.code or 0)

    return call


@pytest.fixture
def old(tmp_path: Path) -> Path:
    return written(folder("old"), tmp_path / "old" / "thin")


@pytest.fixture
def new(tmp_path: Path) -> Path:
    dropped = folder("new", environment=NEW, baseline=DROPPED, variant=DROPPED)
    return written(dropped, tmp_path / "new" / "thin")


def test_a_drop_is_an_outcome_unless_it_shall_fail(run: Run, old: Path, new: Path, capsys) -> None:
    assert run("compare", old, new) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "torch: 2.12.0 in A, 2.13.0 in B" in said
    assert "Accuracy is shown to drop by more than 0.5 pp in baseline and thin." in said
    assert run("compare", old, new, "--fail-on", "reject") == 1
    assert run("compare", old, new, "--fail-on", "dnf") == 0
    assert run("compare", new, old, "--fail-on", "reject,dnf") == 0  # it rose


def test_json_and_markdown(run: Run, old: Path, new: Path, capsys) -> None:
    assert run("compare", old, new, "--format", "json") == 0
    found = json.loads(capsys.readouterr().out)
    assert [cell["accuracy"]["state"] for cell in found["cells"]] == ["fail", "fail"]
    assert found["differences"] == [{"what": "torch", "a": "2.12.0", "b": "2.13.0"}]
    assert run("compare", old, new, "--format", "md") == 0
    assert capsys.readouterr().out.startswith("# Two results compared\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--allow", "numpy"], "torch is 2.12.0 in the first and 2.13.0 in the second, which --allow does not name"),
        (["--allow", "nonsense"], "names nothing that can differ"),
        (["--fail-on", "drop"], "'drop' is not a list of outcomes; allowed: reject, dnf"),
    ],
)
def test_bad_input_ends_with_2(run: Run, old: Path, new: Path, arguments: list[str], message: str, capsys) -> None:
    assert run("compare", old, new, *arguments) == 2
    assert message in capsys.readouterr().err


def test_other_data_ends_with_2(run: Run, old: Path, tmp_path: Path, capsys) -> None:
    other = written(folder("b", quality={"fingerprint": "other"}), tmp_path / "b" / "thin")
    assert run("compare", old, other) == 2
    assert "the data fingerprints differ, f against other" in capsys.readouterr().err


def test_a_folder_without_results_or_of_another_version_ends_with_2(
    run: Run, old: Path, tmp_path: Path, capsys
) -> None:
    assert run("compare", old, tmp_path) == 2
    said = capsys.readouterr().err
    assert f"{tmp_path}: plan.json and verdicts.json are missing; a folder that can be compared has plan.json" in said
    assert "results/reference keep only the outcome" in said
    result = old / "variants" / "thin.json"
    result.write_text(json.dumps(json.loads(result.read_text()) | {"from_the_future": 1}))
    assert run("compare", old, old) == 2
    said = capsys.readouterr().err
    assert "no file there says which version wrote it, and this is harness" in said
    assert "delete" not in said


def test_both_versions_are_named(run: Run, old: Path, tmp_path: Path, capsys) -> None:
    environment = NEW | {"harness": "0.0.9", "engine": 2}
    older = written(folder("older", environment=environment), tmp_path / "older" / "thin")
    plan = older / "plan.json"
    plan.write_text(json.dumps(json.loads(plan.read_text()) | {"from_the_past": 1}))
    assert run("compare", old, older) == 2
    said = capsys.readouterr().err
    mine = f"harness {__version__} with engine {ENGINE_VERSION}"
    assert "older/thin/plan.json: not a Plan of this version" in said
    assert f"harness 0.0.9 with engine 2 wrote these results, and this is {mine}: compare with the newer" in said


def test_a_confirmation_is_named_as_not_compared(run: Run, old: Path, tmp_path: Path, capsys) -> None:
    found = folder("b")
    stack = Confirmation(names=["thin"], note="confirmed", comparison=found.verdicts.comparisons[0])
    verdicts = found.verdicts.model_copy(update={"confirmation": stack})
    new = written(replace(found, verdicts=verdicts), tmp_path / "b" / "thin")
    assert run("compare", old, new, "--format", "json") == 0
    left_out = json.loads(capsys.readouterr().out)["left_out"]
    assert left_out == [f"the confirmation in {new}, of thin: only the grid is read"]
