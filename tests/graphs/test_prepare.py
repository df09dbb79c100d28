"""A graph is prepared once, whole or not at all, and a damaged one says what to do."""

from __future__ import annotations

import errno
import io
import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from harness.graphs import features
from harness.graphs import prepare as module
from harness.graphs.features import write_npy_header
from harness.graphs.graph import BUILDER_VERSION
from harness.graphs.prepare import prepare
from harness.graphs.store import open_graph
from harness.spec.dataset import Synthetic
from harness.spec.errors import InputError

SMALL = Synthetic(source="synthetic", nodes=400, mean_degree=4.0, classes=3, features=4)


def left(cache: Path) -> list[str]:
    """What lies among the graphs, locks aside."""
    return sorted(path.name for path in (cache / "graphs").iterdir() if path.suffix != ".lock")


def test_second_call_builds_nothing(cache: Path, tmp_path: Path) -> None:
    lines: list[str] = []
    first = prepare(SMALL, "a", tmp_path, lines.append)
    stamps = {path.name: path.stat().st_mtime_ns for path in first.iterdir()}
    assert any("prepared 400 nodes" in line for line in lines)
    lines.clear()
    assert prepare(SMALL, "a", tmp_path, lines.append) == first == cache / "graphs" / "a"
    assert {path.name: path.stat().st_mtime_ns for path in first.iterdir()} == stamps
    assert lines == []
    names = {"indptr", "indices", "x", "y", "train", "val", "test"}
    assert set(stamps) == {"graph.json", "fingerprints.json"} | {f"{name}.npy" for name in names}


def test_arrays_are_read_only_memory_maps(cache: Path, tmp_path: Path) -> None:
    graph = open_graph(prepare(SMALL, "a", tmp_path), verify=True)
    for array in (graph.indptr, graph.indices, graph.x, graph.y, graph.train, graph.val, graph.test):
        assert isinstance(array, np.memmap)
        assert not array.flags.writeable


def test_two_that_ask_at_once_get_one_graph(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built = []
    build = module._build

    def slow(*arguments) -> None:
        built.append(1)
        time.sleep(0.2)
        build(*arguments)

    monkeypatch.setattr(module, "_build", slow)
    with ThreadPoolExecutor(4) as pool:
        paths = set(pool.map(lambda _: prepare(SMALL, "a", tmp_path), range(4)))
    assert len(paths) == 1
    assert built == [1]


KILLED = """
import sys, time
from pathlib import Path
from harness.graphs import prepare, store
from harness.spec.dataset import Synthetic
def never(*args):
    print("writing", flush=True)
    time.sleep(60)
prepare.write_meta = never
section = Synthetic(source="synthetic", nodes=400, mean_degree=4.0, classes=3, features=4)
prepare.prepare(section, "a", Path("."))
"""


def test_a_killed_preparation_leaves_nothing_that_counts(cache: Path, tmp_path: Path) -> None:
    child = subprocess.Popen([sys.executable, "-c", KILLED], stdout=subprocess.PIPE, text=True, env=os.environ.copy())
    assert child.stdout is not None
    assert child.stdout.readline() == "writing\n"
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    assert left(cache) == [".a.building"]  # all arrays are there, the graph is not
    graph = open_graph(prepare(SMALL, "a", tmp_path), verify=True)
    assert graph.num_nodes == 400
    assert left(cache) == ["a"]


@pytest.mark.parametrize(("number", "says"), [(errno.ENOSPC, "full"), (errno.EROFS, "you may write to")])
def test_a_disk_that_cannot_be_written_is_one_message(
    number: int, says: str, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("harness.graphs.feature_file.write_npy_header", fail)
    with pytest.raises(InputError, match=says) as caught:
        prepare(SMALL, "a", tmp_path)
    assert caught.value.problems[0].path == "HARNESS_CACHE"
    assert left(cache) == []


def test_too_little_space_is_seen_before_writing(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.graphs.prepare.graph_bytes", lambda *sizes: 10**18)
    with pytest.raises(InputError, match=r"needs about 1000000000.00 GB"):
        prepare(SMALL, "a", tmp_path)
    assert left(cache) == []


def test_another_builder_version_is_rebuilt(cache: Path, tmp_path: Path) -> None:
    folder = prepare(SMALL, "a", tmp_path)
    meta = json.loads((folder / "graph.json").read_text())
    (folder / "graph.json").write_text(json.dumps({"builder_version": BUILDER_VERSION - 1, "old": "fields"}))
    with pytest.raises(InputError, match="builder version"):
        open_graph(folder)
    lines: list[str] = []
    assert open_graph(prepare(SMALL, "a", tmp_path, lines.append)).meta.fingerprint == meta["fingerprint"]
    assert "rebuilding" in lines[0]
    assert left(cache) == ["a"]


def damage_array(folder: Path) -> None:
    (folder / "x.npy").write_bytes((folder / "x.npy").read_bytes()[:-4])


def drop_array(folder: Path) -> None:
    (folder / "indices.npy").unlink()


def other_length(folder: Path) -> None:
    np.save(folder / "y.npy", np.zeros(3, dtype=np.int64))


def other_type(folder: Path) -> None:
    np.save(folder / "train.npy", np.load(folder / "train.npy").astype(np.int32))


def cut_json(folder: Path) -> None:
    (folder / "graph.json").write_text((folder / "graph.json").read_text()[:40])


def no_json(folder: Path) -> None:
    (folder / "graph.json").unlink()


def wrong_end(folder: Path) -> None:
    indptr = np.load(folder / "indptr.npy")
    indptr[-1] -= 1
    np.save(folder / "indptr.npy", indptr)


@pytest.mark.parametrize("damage", [damage_array, drop_array, other_length, other_type, cut_json, no_json, wrong_end])
def test_a_damaged_graph_says_to_delete_it(damage, cache: Path, tmp_path: Path) -> None:
    folder = prepare(SMALL, "a", tmp_path)
    damage(folder)
    for act in (lambda: open_graph(folder), lambda: prepare(SMALL, "a", tmp_path)):
        with pytest.raises(InputError, match="delete this folder and prepare again") as caught:
            act()
        assert str(folder) in caught.value.problems[0].file


def test_verify_finds_a_flipped_bit(cache: Path, tmp_path: Path) -> None:
    folder = prepare(SMALL, "a", tmp_path)
    x = np.load(folder / "x.npy", mmap_mode="r+")
    x[7, 1] += 1.0
    x.flush()
    open_graph(folder)
    with pytest.raises(InputError, match="fingerprint"):
        open_graph(folder, verify=True)


def test_chunk_size_does_not_change_a_graph(from_arrays, arrays, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = from_arrays(arrays, transform={"scale": "minmax"}).meta.fingerprint
    monkeypatch.setattr(features, "CHUNK_BYTES", 3 * 4 * 5)
    assert from_arrays(arrays, transform={"scale": "minmax"}).meta.fingerprint == whole


def test_an_edgeless_graph_is_a_graph(from_arrays, arrays) -> None:
    graph = from_arrays(arrays | {"edge_index": np.zeros((2, 0), dtype=np.int64)})
    assert (graph.num_edges, graph.meta.isolated_nodes) == (0, 20)
    assert any("no edges" in warning for warning in graph.meta.warnings)


@pytest.mark.parametrize("shape", [(3, 1024), (0, 7), (10**12, 10**6)])
def test_the_rows_of_a_feature_file_start_on_a_page(shape: tuple[int, int]) -> None:
    """A row of 1,024 float32 is a page: behind numpy's own header it would lie on two, and cost two reads."""
    file = io.BytesIO()
    write_npy_header(file, shape, np.dtype("<f4"))
    assert len(file.getvalue()) == 4096
    file.seek(0)
    assert np.lib.format.read_magic(file) == (1, 0)
    assert np.lib.format.read_array_header_1_0(file) == (shape, False, np.dtype("<f4"))
