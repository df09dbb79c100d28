"""A cached partition belongs to one graph and one request, and its report lies beside it."""

from __future__ import annotations

import errno
import json
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Thread
from types import SimpleNamespace

import numpy as np
import pytest

from harness.graphs import cached_partition, edge_cut, partition
from harness.graphs.graph import Graph
from harness.graphs.partitioning import cache as module
from harness.graphs.structure import structure_hash
from harness.spec.errors import InputError

from .plain_graphs import communities, graph_of


def test_two_graphs_never_share_a_cached_partition(tmp_path: Path) -> None:
    """Same name, same size, same fingerprint field, same k: only the edges differ."""
    one, other = graph_of(*communities(4, 30, seed=0)), graph_of(*communities(4, 30, seed=1))
    first, _ = cached_partition(one, 8, "metis", 0, tmp_path)
    second, report = cached_partition(other, 8, "metis", 0, tmp_path)
    assert not report["cached"]
    assert np.array_equal(second, partition(other.indptr, other.indices, 8))
    assert not np.array_equal(first, second)


def test_k_method_and_seed_are_part_of_the_key(tmp_path: Path) -> None:
    graph = graph_of(*communities(4, 30))
    asked = [(8, "metis", 0), (9, "metis", 0), (8, "random", 0), (8, "metis", 1), (8, "random", 1)]
    for k, method, seed in asked:
        assert not cached_partition(graph, k, method, seed, tmp_path)[1]["cached"]
    for k, method, seed in asked:
        part, report = cached_partition(graph, k, method, seed, tmp_path)
        assert report["cached"]
        assert np.array_equal(part, partition(graph.indptr, graph.indices, k, method, seed))


def test_another_version_makes_another_partition(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = graph_of(*communities(4, 30))
    cached_partition(graph, 8, "metis", 0, tmp_path)
    monkeypatch.setattr("harness.plan.partitions.version", lambda _: "2999.1")
    assert not cached_partition(graph, 8, "metis", 0, tmp_path)[1]["cached"]
    monkeypatch.setattr("harness.plan.partitions.PARTITION_VERSION", 99)
    assert not cached_partition(graph, 8, "metis", 0, tmp_path)[1]["cached"]


def test_a_cached_partition_keeps_the_time_of_its_making_and_reports_this_split(tmp_path: Path) -> None:
    arrays = communities(4, 30)
    _, made = cached_partition(graph_of(*arrays), 8, "metis", 0, tmp_path)
    part, found = cached_partition(graph_of(*arrays, train=np.arange(9)), 8, "metis", 0, tmp_path)
    assert found["seconds"] == made["seconds"] > 0
    labels = np.bincount(part[:9], minlength=8)
    assert found["balance"]["train"] == labels.max() / labels.mean()


def test_many_ask_and_one_makes(tmp_path: Path) -> None:
    graph, reports = graph_of(*communities(4, 50)), []

    def ask() -> None:
        reports.append(cached_partition(graph, 8, "metis", 0, tmp_path)[1])

    threads = [Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(r["cached"] for r in reports) == [False, True, True, True]
    assert not list(tmp_path.glob("*.tmp"))


@pytest.mark.parametrize("kind", ["npz", "json"])
def test_a_broken_cache_file_is_named(tmp_path: Path, kind: str) -> None:
    graph = graph_of(*communities(2, 10))
    cached_partition(graph, 2, "random", 0, tmp_path)
    (path,) = tmp_path.glob(f"*.{kind}")
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(InputError, match=rf"{path.name}.*cannot be read.*delete it"):
        cached_partition(graph, 2, "random", 0, tmp_path)


NOT_PARTS = {
    "one fewer": (lambda part: part[:-1], r"shape \(19,\), not \(20,\)"),
    "a column": (lambda part: part[:, None], r"shape \(20, 1\), not \(20,\)"),
    "negative": (lambda part: part - 1, r"values from -1 to 0, not from 0 to 1"),
    "too large": (lambda part: part + 1, r"values from 1 to 2, not from 0 to 1"),
    "far too large": (lambda part: part + np.int32(2**31 - 2), r"2147483647, not from 0 to 1"),
    "fractions": (lambda part: part + 0.5, "type float64, not integers"),
    "whole floats": (lambda part: part.astype(np.float32), "type float32, not integers"),
    "not a number": (lambda part: np.full(len(part), np.nan), "type float64, not integers"),
    "text": (lambda part: part.astype(str), "type <U11, not integers"),
    "objects": (lambda part: part.astype(object), "Object arrays"),
    "others": (lambda part: 1 - part, r"other parts than [0-9a-f]+\.json tells of"),
}


@pytest.mark.parametrize("kind", NOT_PARTS)
def test_what_cannot_be_these_parts_is_refused(tmp_path: Path, kind: str) -> None:
    graph = graph_of(*communities(2, 10))
    cached_partition(graph, 2, "random", 0, tmp_path)
    (path,) = tmp_path.glob("*.npz")
    changed, why = NOT_PARTS[kind]
    np.savez(path, part=changed(np.load(path)["part"]))
    with pytest.raises(InputError, match=rf"{path.name}.*cannot be read \(.*{why}.*delete it"):
        cached_partition(graph, 2, "random", 0, tmp_path)
    path.unlink()  # the remedy
    assert not cached_partition(graph, 2, "random", 0, tmp_path)[1]["cached"]


def test_files_of_another_kind_are_refused(tmp_path: Path) -> None:
    graph = graph_of(*communities(2, 10))
    cached_partition(graph, 2, "random", 0, tmp_path)
    (path,), (report,) = tmp_path.glob("*.npz"), tmp_path.glob("*.json")
    part, whole = np.load(path)["part"], path.read_bytes()
    with path.open("wb") as file:
        np.save(file, part)
    with pytest.raises(InputError, match=rf"{path.name}.*a bare array, not an \.npz.*delete it"):
        cached_partition(graph, 2, "random", 0, tmp_path)
    np.savez(path, other=part)
    with pytest.raises(InputError, match=rf"{path.name}.*part.*delete it"):
        cached_partition(graph, 2, "random", 0, tmp_path)
    path.write_text("0 1 1 0")
    with pytest.raises(InputError, match=rf"{path.name}.*pickled \(object\) data\); delete it"):
        cached_partition(graph, 2, "random", 0, tmp_path)
    path.write_bytes(whole)
    report.unlink()
    report.mkdir()
    with pytest.raises(InputError, match=rf"{report.name}.*Is a directory.*delete it"):
        cached_partition(graph, 2, "random", 0, tmp_path)


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("seed", 5, "seed is 5, not 0"),
        ("method", "metis", "method is metis, not random"),
        ("parts", 3, "parts is 3, not 2"),
        ("passes", 1, "passes is 1, not None"),
        ("parts_sha256", "0" * 64, "other parts than"),
        ("balance", {"nodes": 1.0}, "at least 2"),
        ("kept_sigmas", None, "valid number"),
        ("seconds", -1.0, "greater than or equal to 0"),
    ],
)
def test_a_report_of_other_parts_is_refused(tmp_path: Path, field: str, value: object, why: str) -> None:
    graph = graph_of(*communities(2, 10))
    cached_partition(graph, 2, "random", 0, tmp_path)
    (path,) = tmp_path.glob("*.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | {field: value}))
    with pytest.raises(InputError, match=rf"{path.stem}\.(json|npz).*{why}.*delete it"):
        cached_partition(graph, 2, "random", 0, tmp_path)


def test_the_report_of_another_seed_does_not_fit(tmp_path: Path) -> None:
    graph = graph_of(*communities(2, 10))
    cached_partition(graph, 2, "random", 0, tmp_path)
    (mine,) = tmp_path.glob("*.json")
    cached_partition(graph, 2, "random", 1, tmp_path)
    (other,) = set(tmp_path.glob("*.json")) - {mine}
    mine.write_bytes(other.read_bytes())
    with pytest.raises(InputError, match=rf"{mine.name}.*seed is 1, not 0.*delete it"):
        cached_partition(graph, 2, "random", 0, tmp_path)


@pytest.mark.parametrize("kind", ["npz", "json"])
def test_half_a_partition_is_made_again(tmp_path: Path, kind: str) -> None:
    graph = graph_of(*communities(4, 30))
    first, _ = cached_partition(graph, 8, "fennel", 0, tmp_path)
    (path,) = tmp_path.glob(f"*.{kind}")
    path.unlink()
    again, report = cached_partition(graph, 8, "fennel", 0, tmp_path)
    assert not report["cached"]
    assert np.array_equal(first, again)
    assert cached_partition(graph, 8, "fennel", 0, tmp_path)[1]["cached"]


def test_passes_are_part_of_the_key_for_fennel_alone(tmp_path: Path) -> None:
    graph = graph_of(*communities(4, 60))
    made = [cached_partition(graph, 8, "fennel", 0, tmp_path, passes) for passes in (1, 2, 10)]
    assert [report["cached"] for _, report in made] == [False] * 3
    assert [report["passes"] for _, report in made] == [1, 2, 10]
    assert not np.array_equal(made[0][0], made[2][0])
    for method in ("metis", "random", "ldg"):
        reports = [cached_partition(graph, 8, method, 0, tmp_path, passes)[1] for passes in (1, 2)]
        assert [report["cached"] for report in reports] == [False, True]
        assert reports[0]["passes"] is None


@pytest.mark.parametrize("method", ["metis", "random", "fennel", "ldg"])
def test_what_was_cached_is_what_was_made(tmp_path: Path, method: str) -> None:
    graph = graph_of(*communities(4, 30))
    made, first = cached_partition(graph, 8, method, 2, tmp_path)
    found, second = cached_partition(graph, 8, method, 2, tmp_path)
    assert made.dtype == found.dtype == np.int64
    assert np.array_equal(made, partition(graph.indptr, graph.indices, 8, method, 2))
    assert np.array_equal(made, found)
    assert second == first | {"cached": True}
    assert first["edge_cut"] == edge_cut(graph.indptr, graph.indices, made)
    assert first["kept_edge_share"] == 1 - first["edge_cut"]


def test_a_report_is_kept_and_nothing_is_counted_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = graph_of(*communities(4, 30))
    cached_partition(graph, 8, "ldg", 0, tmp_path)

    def refused(*_: object) -> None:
        raise AssertionError("a pass over the edges")

    for name in ("facts_of", "cut", "undirected", "check_csr"):
        monkeypatch.setattr(module, name, refused)
    assert cached_partition(graph, 8, "ldg", 0, tmp_path)[1]["cached"]


def test_a_prepared_graph_brings_the_hash_of_its_edges(tiny_graph: Graph, odd_graph: Graph) -> None:
    for graph in (tiny_graph, odd_graph):
        assert graph.meta.structure == structure_hash(np.array(graph.indptr), np.array(graph.indices))
    assert tiny_graph.meta.structure != odd_graph.meta.structure


def test_the_hash_tells_any_change_of_the_edges() -> None:
    indptr, indices = communities(3, 20)
    moved = indices.copy()
    moved[-1] += 1
    later = indptr.copy()
    later[1] -= 1
    hashes = {structure_hash(*csr) for csr in [(indptr, indices), (indptr, moved), (later, indices)]}
    hashes |= {structure_hash(indptr, indices[:-1]), structure_hash(indptr, indices.astype(np.int64))}
    assert len(hashes) == 5


def test_the_prepared_hash_finds_the_partition_without_reading_the_edges(
    tiny_graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_arrays = replace(tiny_graph, meta=tiny_graph.meta.model_copy(update={"structure": None}))
    assert not cached_partition(by_arrays, 8, "fennel", 0, tmp_path)[1]["cached"]
    monkeypatch.delattr(module, "structure_hash")
    assert cached_partition(tiny_graph, 8, "fennel", 0, tmp_path)[1]["cached"]


@pytest.mark.parametrize(("method", "seconds"), [("random", 10.0), ("metis", 11.0), ("fennel", 11.0), ("ldg", 11.0)])
def test_a_method_is_charged_what_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method, seconds) -> None:
    """By a clock that making the graph undirected moves by 1 and cutting it by 10; `random` needs no edges."""
    now = 0.0

    def moves(by: float, real):
        def moving(*arguments, **named):
            nonlocal now
            now += by
            return real(*arguments, **named)

        return moving

    monkeypatch.setattr(module, "time", SimpleNamespace(perf_counter=lambda: now))
    monkeypatch.setattr(module, "undirected", moves(1.0, module.undirected))
    monkeypatch.setattr(module, "cut", moves(10.0, module.cut))
    assert cached_partition(graph_of(*communities(4, 30)), 8, method, 0, tmp_path)[1]["seconds"] == seconds


@contextmanager
def _largest_file(size: int) -> Iterator[None]:
    """A real refusal of the kernel to write on, as a full disk gives it; Python ignores the signal."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("refused", ["npz", "json"])
def test_a_disk_that_takes_no_more_is_said_and_no_half_file_stays(tmp_path: Path, refused: str) -> None:
    graph = graph_of(*communities(2, 10))
    cached_partition(graph, 2, "random", 1, tmp_path)
    whole = {path.suffix: path.stat().st_size for path in tmp_path.iterdir()}
    assert whole[".npz"] < whole[".json"] - 9  # so that the parts are written where the report is refused
    with (
        _largest_file(whole[f".{refused}"] - 9),
        pytest.raises(InputError, match=r"takes no more.*free space there, or set HARNESS_CACHE"),
    ):
        cached_partition(graph, 2, "random", 0, tmp_path)
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".json", ".lock", ".lock", ".npz"]
    assert not cached_partition(graph, 2, "random", 0, tmp_path)[1]["cached"]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES])
def test_a_full_or_closed_cache_is_named(tmp_path: Path, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError(number, "refused", str(tmp_path))

    monkeypatch.setattr(module.np, "savez", refused)
    says = "disk is full" if number == errno.ENOSPC else "grant access"
    with pytest.raises(InputError, match=rf"{tmp_path.name}.*{says}.*HARNESS_CACHE"):
        cached_partition(graph_of(*communities(2, 10)), 2, "random", 0, tmp_path)
    assert {path.suffix for path in tmp_path.iterdir()} == {".lock"}
