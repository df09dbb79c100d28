"""OGB's data sets, on a small one in OGB's on-disk layout: its split, and its three habits guarded."""

from __future__ import annotations

import functools
import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from harness.graphs.sources import ogb as module
from harness.runs.metrics import scores
from harness.spec.errors import InputError

N = 60
ARXIV = {"source": "ogb", "name": "ogbn-arxiv"}
TRAIN, VALID, TEST = np.arange(0, 30), np.arange(30, 40), np.arange(40, 60)


def write_csv(path: Path, rows: np.ndarray) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(rows).to_csv(path, header=False, index=False, compression="gzip")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small ogbn-arxiv under $HARNESS_DATA/ogb, as OGB's archive unpacks."""
    monkeypatch.setenv("HARNESS_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("HARNESS_DOWNLOAD", raising=False)
    folder = tmp_path / "data" / "ogb" / "ogbn_arxiv"
    rng = np.random.default_rng(0)
    raw = {
        "edge": rng.integers(0, N, (200, 2)),
        "node-feat": rng.standard_normal((N, 8)).round(4),
        "node-label": (np.arange(N) % 40)[:, None],
        "node_year": np.full((N, 1), 2015),
        "num-node-list": np.array([[N]]),
        "num-edge-list": np.array([[200]]),
    }
    for name, rows in raw.items():
        write_csv(folder / "raw" / f"{name}.csv.gz", rows)
    for part, nodes in (("train", TRAIN), ("valid", VALID), ("test", TEST)):
        write_csv(folder / "split" / "time" / f"{part}.csv.gz", nodes[:, None])
    (folder / "RELEASE_v1.txt").write_text("")
    (folder / "mapping").mkdir()
    names = pd.DataFrame({"label idx": range(40), "category": [f"cs.{k}" for k in range(40)]})
    names.to_csv(folder / "mapping" / "labelidx2arxivcategeory.csv.gz", index=False, compression="gzip")
    return folder


@pytest.fixture
def asks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any question on stdin fails the test."""
    monkeypatch.setattr("builtins.input", lambda *prompt: pytest.fail(f"asked {prompt}"))


def online(monkeypatch: pytest.MonkeyPatch, length: str | None) -> None:
    """The network answers, with this Content-Length; a download itself would fail the test unless it is allowed."""

    class Answer(io.BytesIO):
        headers = {"Content-Length": length}

    monkeypatch.setattr(module.urllib.request, "urlopen", lambda url: Answer())


def test_graph_and_own_split(root: Path, opened, asks) -> None:
    graph = opened(**ARXIV)
    edges = pd.read_csv(root / "raw" / "edge.csv.gz", header=None).to_numpy()
    targets = np.repeat(np.arange(N), np.diff(graph.indptr))
    assert sorted(zip(graph.indices.tolist(), targets.tolist(), strict=True)) == sorted(map(tuple, edges.tolist()))
    assert (graph.train.tolist(), graph.val.tolist(), graph.test.tolist()) == (
        TRAIN.tolist(),
        VALID.tolist(),
        TEST.tolist(),
    )
    assert (graph.meta.split, graph.num_classes, graph.meta.directed) == ("ogb", 40, True)
    assert graph.meta.class_names[3] == "cs.3"
    assert graph.x.dtype == np.float32
    assert not opened(**ARXIV, undirected=True).meta.directed


@pytest.fixture
def evaluator():
    """OGB's Evaluators, by data set."""
    module._import_quietly()
    from ogb.nodeproppred import Evaluator

    return Evaluator


def test_our_accuracy_is_that_of_ogbs_evaluator(root: Path, opened, evaluator) -> None:
    graph = opened(**ARXIV)
    assert graph.meta.metric == evaluator("ogbn-arxiv").eval_metric == "acc"
    rng = np.random.default_rng(3)
    for nodes in (graph.train, graph.val, graph.test):
        labels = graph.y[nodes]
        logits = rng.standard_normal((len(nodes), 40)) + 3.0 * np.eye(40)[labels]
        given = {"y_true": labels[:, None], "y_pred": logits.argmax(axis=1)[:, None]}
        found = scores(logits, labels).accuracy
        assert found == pytest.approx(evaluator("ogbn-arxiv").eval(given)["acc"], abs=1e-12)
        assert 0 < found < 1


def test_our_roc_auc_is_that_of_ogbs_evaluator(root: Path, evaluator) -> None:
    """Its mean over the 112 tasks of ogbn-proteins, each a data set of two classes to us; with ties."""
    rng = np.random.default_rng(4)
    labels = rng.integers(0, 2, (80, 112))
    score = (rng.standard_normal((80, 112)) + labels).round(1)
    ours = [scores(np.stack([0 * s, s], axis=1), y).roc_auc for s, y in zip(score.T, labels.T, strict=True)]
    theirs = evaluator("ogbn-proteins").eval({"y_true": labels, "y_pred": score})["rocauc"]
    assert np.mean(ours) == pytest.approx(theirs, abs=1e-12)


def test_a_metric_that_is_not_measured_is_refused(root: Path, opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "METRICS", ("rocauc",))
    with pytest.raises(InputError, match="is evaluated by acc"):
        opened(**ARXIV)


def test_a_split_that_ogb_saved_as_tensors_is_read(root: Path, opened) -> None:
    """Their torch.load needs weights_only=False since torch 2.6: this file holds numpy arrays."""
    saved = {"train": TRAIN[:5], "valid": torch.from_numpy(VALID), "test": TEST}
    torch.save(saved, root / "split" / "time" / "split_dict.pt")
    assert opened(**ARXIV).train.tolist() == TRAIN[:5].tolist()


def test_nothing_stays_changed(root: Path, opened) -> None:
    load = torch.load
    opened(**ARXIV)
    assert torch.load is load
    assert not isinstance(torch.load, functools.partial)
    import ogb.nodeproppred.dataset as theirs

    assert theirs.decide_download.__module__ == "ogb.utils.url"
    assert "input" not in vars(theirs)
    assert sys.modules.get("outdated", "never") is not None


def test_importing_starts_no_thread_that_asks_the_network(root: Path) -> None:
    code = """
import sys
from harness.graphs.sources.ogb import _import_quietly
_import_quietly()
import ogb.version
assert ogb.version.check_outdated is None
assert "outdated" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_data_folder_stays_as_it_was(root: Path, opened, cache: Path) -> None:
    before = sorted(str(path) for path in root.rglob("*"))
    opened(**ARXIV)
    assert sorted(str(path) for path in root.rglob("*")) == before
    assert not list(cache.rglob("data_processed"))


def test_absent_and_offline_names_the_folder(tmp_path, opened, asks, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_DATA", str(tmp_path / "data"))

    def unreachable(url: str) -> None:
        raise OSError("no route to host")

    monkeypatch.setattr(module.urllib.request, "urlopen", unreachable)
    with pytest.raises(InputError, match=r"dataset\.name: .*no route to host.*unpack http") as caught:
        opened(**ARXIV)
    assert str(tmp_path / "data" / "ogb" / "ogbn_arxiv") in str(caught.value)


@pytest.mark.parametrize(("length", "says"), [(str(5 << 30), "5.0 GB"), (None, "unknown size")])
def test_large_downloads_are_refused_without_asking(length, says, tmp_path, opened, asks, monkeypatch) -> None:
    monkeypatch.setenv("HARNESS_DATA", str(tmp_path / "data"))
    online(monkeypatch, length)
    with pytest.raises(InputError, match=f"{says}; set HARNESS_DOWNLOAD=1 to allow it"):
        opened(**ARXIV)


def test_a_large_download_that_is_allowed_starts(tmp_path, opened, asks, monkeypatch: pytest.MonkeyPatch) -> None:
    import ogb.nodeproppred.dataset as theirs

    monkeypatch.setenv("HARNESS_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("HARNESS_DOWNLOAD", "1")
    online(monkeypatch, str(5 << 30))

    def start(url: str, folder: str) -> None:
        raise RuntimeError(f"started {url}")

    monkeypatch.setattr(theirs, "download_url", start)
    with pytest.raises(InputError, match=r"started http.*arxiv\.zip"):
        opened(**ARXIV)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("ogbn-proteins", "112 labels a node; multi-label is not supported"),
        ("ogbn-mag", "heterogeneous"),
        ("ogbn-arxif", "did you mean ogbn-arxiv"),
    ],
)
def test_what_cannot_be_used_is_refused_before_any_download(name: str, says: str, opened, asks) -> None:
    with pytest.raises(InputError, match=says):
        opened(source="ogb", name=name)


def no_release(root: Path) -> None:
    (root / "RELEASE_v1.txt").unlink()


def no_labels(root: Path) -> None:
    (root / "raw" / "node-label.csv.gz").unlink()


def damaged_edges(root: Path) -> None:
    (root / "raw" / "edge.csv.gz").write_bytes(b"not gzip")


@pytest.mark.parametrize(
    ("damage", "says"),
    [(no_release, "lacks RELEASE_v1.txt"), (no_labels, "OGB cannot read it"), (damaged_edges, "OGB cannot read it")],
)
def test_a_damaged_folder_is_one_message(damage, says: str, root: Path, opened, asks) -> None:
    damage(root)
    with pytest.raises(InputError, match=says) as caught:
        opened(**ARXIV)
    assert "unpack OGB's" in str(caught.value)
