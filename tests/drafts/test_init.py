"""`harness init` on real and hand-made data: the spec that it writes validates, plans and runs as it is."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from harness.cli import main
from harness.plan.cost import cost
from harness.plan.estimate import refined
from harness.plan.expand import make_plan
from harness.plan.files import variant_plans, write_plan
from harness.plan.machine import Machine
from harness.plan.model import Plan
from harness.records.results import VariantResult
from harness.spec.errors import InputError, Problem
from harness.spec.json_schema import schema_text
from harness.spec.load import load_spec
from harness.spec.places import cache_root

Init = Callable[..., tuple[int, Plan | None]]


@pytest.fixture
def folder(tmp_path: Path, cache: Path, machine: Callable[[str], Machine], monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with `specs/`, in which commands run, on a machine whose abilities are known."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("harness.plan.machine.probe", lambda folder: machine())
    (tmp_path / "specs").mkdir()
    return tmp_path


@pytest.fixture
def edges(folder: Path) -> Path:
    """A csv of edges between 120 nodes of three classes, mostly inside them, and labels by name."""
    rng = np.random.default_rng(0)
    label = np.arange(120) % 3
    a, b = rng.integers(0, 120, (2, 3000))
    kept = (a != b) & ((label[a] == label[b]) | (rng.random(3000) < 0.1))
    rows = "\n".join(f"{s},{t}" for s, t in zip(a[kept], b[kept], strict=True))
    (folder / "my_edges.csv").write_text(f"source,target\n{rows}\n")
    (folder / "labels.csv").write_text("node,label\n" + "\n".join(f"{i},{'abc'[c]}" for i, c in enumerate(label)))
    return folder


def _call(*arguments: str, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr("sys.argv", ["harness", *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    return int(end.value.code or 0)


def _planned(path: Path, machine: Machine) -> Plan:
    return make_plan(load_spec(path), path, machine)


@pytest.mark.parametrize(
    ("target", "name", "batching", "nodes"),
    [
        ("pyg:Planetoid/Cora", "my-cora", "full", "2,708 nodes"),
        ("Planetoid/CiteSeer", "my-citeseer", "full", "3,327 nodes"),
        ("pyg:Amazon/Photo", "my-photo", "full", "7,650 nodes"),
        ("pyg:Amazon/Computers", "my-computers", "full", "13,752 nodes"),
        pytest.param("pyg:Coauthor/CS", "my-cs", "full", "18,333 nodes", marks=pytest.mark.slow),
        ("debian12_deps.npz", "my-debian12-deps", "neighbor", "63,436 nodes"),
        ("wordnet", "my-wordnet", "neighbor", "117,659 nodes"),
    ],
)
def test_a_spec_for_each_real_graph(
    target, name, batching, nodes, folder, machine, real_data, monkeypatch, capsys
) -> None:
    monkeypatch.setenv("HARNESS_DATA", str(real_data))
    assert _call("init", target, monkeypatch=monkeypatch) == 0
    said = capsys.readouterr().out
    assert nodes in said
    assert "Cost: about" in said
    assert f"harness plan specs/{name}.yaml" in said
    plan = _planned(folder / "specs" / f"{name}.yaml", machine())
    assert (plan.spec, plan.skipped, plan.warnings) == (name, [], [])
    assert plan.cells["baseline"].options.batching == batching
    assert {"cluster-metis", "aggregate-spmm"} <= set(plan.cells)
    found = cost(refined(plan, cache_root(), "cpu"))
    assert found.quality_max_s + found.timing_max_s <= 3600  # the hour that `--hours` is by default


def test_from_a_csv_to_a_run(edges, machine, monkeypatch, capsys) -> None:
    assert _call("init", "my_edges.csv", "--labels", "labels.csv", monkeypatch=monkeypatch) == 0
    assert "results/my-edges/report.html" in capsys.readouterr().out
    text = (edges / "specs" / "my-edges.yaml").read_text()
    assert text.startswith("# yaml-language-server: $schema=./schema.json\n")
    assert (edges / "specs" / "schema.json").read_text() == schema_text()
    plan = _planned(edges / "specs" / "my-edges.yaml", machine())
    write_plan(plan, edges / "results")
    job = edges / "results" / "my-edges" / "plan"
    assert _call("run", str(job / "baseline.json"), "--output", "baseline.json", monkeypatch=monkeypatch) == 0
    result = VariantResult.model_validate_json((edges / "baseline.json").read_bytes())
    assert [run.status for run in result.runs] == ["ok"] * 5
    assert min(run.metric for run in result.runs) > 0.4  # three classes, from the edges alone
    assert "baseline" in variant_plans(plan)


def test_hours_decide_on_seeds_and_variants(edges, machine, monkeypatch, capsys) -> None:
    arguments = ["init", "my_edges.csv", "--labels", "labels.csv", "--hours", "0.01"]
    assert _call(*arguments, monkeypatch=monkeypatch) == 0
    path = edges / "specs" / "my-edges.yaml"
    assert load_spec(path).seeds.looks == (5,)
    said = " ".join(path.read_text().replace("#", "").split())  # comments are wrapped
    assert "more than the 0.01 h that were allowed" in said
    assert list(load_spec(path).variants) == ["aggregate"]
    assert said.count("left out to keep within 0.01 h by the plan's guess") >= 2  # and precision, where it is fast
    assert "Left out, as comments that say why: neighbor, precision, checkpoint" in capsys.readouterr().out


def test_it_never_overwrites_silently(edges, machine, monkeypatch, capsys) -> None:
    path = edges / "specs" / "my-edges.yaml"
    path.write_text("mine")
    arguments = ["init", "my_edges.csv", "--labels", "labels.csv"]
    assert _call(*arguments, monkeypatch=monkeypatch) == 2
    assert "is there already; --force overwrites it" in capsys.readouterr().err
    assert path.read_text() == "mine"
    assert _call(*arguments, "--name", "other", monkeypatch=monkeypatch) == 0
    assert load_spec(edges / "specs" / "other.yaml").name == "other"
    assert _call(*arguments, "--force", monkeypatch=monkeypatch) == 0
    assert load_spec(path).name == "my-edges"


def test_a_name_is_of_one_spec_alone(edges, monkeypatch, capsys) -> None:
    (edges / "specs" / "first.yaml").write_text("name: taken\n")
    arguments = ["init", "my_edges.csv", "--labels", "labels.csv", "--name", "taken"]
    for output in ("specs/other.yaml", "elsewhere.yaml"):
        assert _call(*arguments, "--output", output, monkeypatch=monkeypatch) == 2
        assert "'taken' is the name of specs/first.yaml too" in capsys.readouterr().err
        assert not (edges / output).exists()


def test_the_command_that_wrote_it_is_told_whole(edges, monkeypatch) -> None:
    (edges / "my_edges.csv").rename(edges / "my edges.csv")
    arguments = ["init", "my edges.csv", "--labels", "labels.csv", "--directed", "--hours", "2"]
    assert _call(*arguments, monkeypatch=monkeypatch) == 0
    said = " ".join((edges / "specs" / "my-edges.yaml").read_text().replace("#", "").split())
    assert "`harness init 'my edges.csv' --labels labels.csv --directed --hours 2`" in said


def _npz(folder: Path, x: np.ndarray, y: np.ndarray) -> str:
    edges = np.random.default_rng(0).integers(0, len(y), (2, 4 * len(y)))
    np.savez(folder / "g.npz", edge_index=edges, x=x, y=y)
    return "g.npz"


@pytest.mark.parametrize(("rare", "metric"), [(10, "roc_auc"), (1, "accuracy")])
def test_roc_auc_is_the_metric_only_where_both_classes_are_tested(folder, rare, metric, monkeypatch, capsys) -> None:
    x = np.random.default_rng(0).normal(size=(200, 4))
    graph = _npz(folder, x, (np.arange(200) < rare).astype(int))
    assert _call("init", graph, monkeypatch=monkeypatch) == 0
    path = folder / "specs" / "my-g.yaml"
    assert load_spec(path).gate.metric == metric
    path.write_text(path.read_text().replace("metric: accuracy", "metric: roc_auc"))
    capsys.readouterr()
    for command in ("plan", "prepare"):
        code = _call(command, str(path), monkeypatch=monkeypatch)
        assert code == (0 if rare == 10 else 2)
        told = "gate.metric: roc_auc: no test node is of class 1" in capsys.readouterr().err
        assert told == (rare == 1)


def test_classes_too_small_to_be_cut_one_by_one_are_cut_together(folder, monkeypatch) -> None:
    assert _call("init", _npz(folder, np.eye(60), np.arange(60)), monkeypatch=monkeypatch) == 0
    split = load_spec(folder / "specs" / "my-g.yaml").dataset.split
    assert split is not None
    assert split.kind == "random"


def test_features_far_from_one_are_scaled(folder, monkeypatch) -> None:
    x = 1e30 * np.random.default_rng(0).normal(size=(200, 4))
    assert _call("init", _npz(folder, x, np.arange(200) % 2), monkeypatch=monkeypatch) == 0
    transform = load_spec(folder / "specs" / "my-g.yaml").dataset.transform
    assert transform is not None
    assert transform.scale == "standard"


def test_outside_a_project_paths_and_schema_are_found_from_the_spec(edges, machine, monkeypatch, capsys) -> None:
    (edges / "away").mkdir()
    (edges / "away" / "schema.json").write_text('{"title": "of another program"}')
    arguments = ["init", "my_edges.csv", "--labels", "labels.csv", "--output", "away/mine.yml"]
    assert _call(*arguments, monkeypatch=monkeypatch) == 0
    assert "--config spec=away/mine.yml" in capsys.readouterr().out
    spec = load_spec(edges / "away" / "mine.yml")
    assert (spec.name, spec.dataset.edges) == ("mine", "../my_edges.csv")
    text = (edges / "away" / "mine.yml").read_text()
    assert text.startswith("# yaml-language-server: $schema=./harness-schema.json\n")
    assert (edges / "away" / "harness-schema.json").read_text() == schema_text()
    assert "another" in (edges / "away" / "schema.json").read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["init", "nowhere.csv"], "no such file: 'nowhere.csv'"),
        (["init", "my_edges.csv"], "beside it lies labels.csv"),
        (["init", "wordnet", "--name", "a b"], "'a b' is no spec's name"),
        (["init", "wordnet", "--output", "spec.txt"], "'spec.txt' is no YAML file"),
        (["init", "my_edges.csv", "--labels", "my_edges.csv"], "my_edges.csv: dataset.labels"),
        (["init", "my_edges.csv", "--labels", "labels.csv", "--output", "a.yaml", "--force"], "'a.yaml' is a folder"),
        (["init", "my_edges.csv", "--labels", "labels.csv", "--output", "labels.csv/a.yaml"], "labels.csv"),
        (["init", "wordnet", "--name", "runs"], "'runs' is a folder of results/"),
        (["init", "wordnet", "--output", "Reference.yaml"], "'Reference' is a folder of results/"),
        (["init", os.fsdecode(b"bad\xff.csv")], "no UTF-8; rename the file"),
    ],
)
def test_bad_input_is_one_message(edges, monkeypatch, capsys, arguments, words) -> None:
    (edges / "a.yaml").mkdir()
    assert _call(*arguments, monkeypatch=monkeypatch) == 2
    said = capsys.readouterr().err
    assert words in said
    assert "Traceback" not in said
    assert not list((edges / "specs").iterdir())


def test_the_spec_is_written_last(edges, monkeypatch, capsys) -> None:
    """Or the same command, once the disk has room again, would find a spec that is there already."""

    def full(path: Path, text: str) -> None:
        raise InputError(Problem(str(path), "the disk is full"))

    monkeypatch.setattr("harness.drafts.place.write_atomically", full)
    assert _call("init", "my_edges.csv", "--labels", "labels.csv", monkeypatch=monkeypatch) == 2
    assert "schema.json: the disk is full" in capsys.readouterr().err
