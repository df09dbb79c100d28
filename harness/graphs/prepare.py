"""From a dataset section to a graph on disk, at most once, and whole or not at all."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from harness.graphs.checks import check_edge_attr, check_edges, check_labels, check_size
from harness.graphs.csr import build_csr, edge_numbers
from harness.graphs.data_version import data_version
from harness.graphs.faults import data_fault
from harness.graphs.feature_file import columns_to_write
from harness.graphs.folders import clear_disk_messages, find_file
from harness.graphs.graph import BUILDER_VERSION
from harness.graphs.raw import RawGraph, SplitNodes
from harness.graphs.sources import read_source
from harness.graphs.sources.arrays import read_npz
from harness.graphs.splits import choose_split, given_splits, split_warnings
from harness.graphs.store import builder_version, graph_bytes, open_graph, write_graph, write_meta
from harness.spec.dataset import Dataset
from harness.spec.places import cache_root

Progress = Callable[[str], None]

__all__ = ["prepare", "prepared_path"]


def prepared_path(dataset_id: str) -> Path:
    """Where the graph of a data set lies, or will lie."""
    return cache_root() / "graphs" / dataset_id


def prepare(dataset: Dataset, dataset_id: str, spec_dir: Path | str, progress: Progress | None = None) -> Path:
    """Build the graph of a data set under `$HARNESS_CACHE/graphs/<dataset_id>`, unless it is there.

    Several processes may ask at once: one builds, the others wait. It is built in a folder beside and renamed, so a
    killed preparation leaves no half graph. It is rebuilt when it was written by another builder version.

    Args:
        dataset: the spec's section.
        dataset_id: the planner's hash of it, and of the path, size and time of change of a person's own files.
        spec_dir: relative data paths start here.
        progress: called with a line about each stage.

    Returns:
        The folder, for `open_graph`.

    Raises:
        InputError: the data are missing, malformed or unsuitable, or there is no space; nothing is left behind.
    """
    say = progress or (lambda line: None)
    folder = prepared_path(dataset_id)
    with clear_disk_messages(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _lock(folder, say):
            if _is_current(folder, say):
                open_graph(folder)
                return folder
            building = folder.with_name(f".{folder.name}.building")
            for left_by_a_kill in (building, _aside(folder)):
                shutil.rmtree(left_by_a_kill, ignore_errors=True)
            building.mkdir()
            try:
                _build(dataset, Path(spec_dir), building, say)
                _replace(folder, building)
            finally:
                shutil.rmtree(building, ignore_errors=True)
    return folder


def _build(dataset: Dataset, spec_dir: Path, building: Path, say: Progress) -> None:
    started = time.perf_counter()
    say(f"reading {dataset.source}")
    raw = read_source(dataset, spec_dir, say)
    check_size(raw, columns_are_added=dataset.adds_columns)
    y, class_names, label_warnings = check_labels(raw)
    check_edges(raw)
    check_edge_attr(raw)
    split, kind = choose_split(dataset.split, raw, y, _split_file(dataset, spec_dir, raw))
    say(f"sorting {len(raw.source):,} edges of {len(y):,} nodes")
    undirected = dataset.undirected or raw.one_way
    csr = build_csr(raw.source, raw.target, len(y), undirected)
    edge = None if raw.edge_rows is None else edge_numbers(raw.source, raw.target, len(y), undirected)
    edge_features = 0 if raw.edge_rows is None else raw.edge_rows.shape[1]
    edge_warnings = () if len(csr.indices) else ("there are no edges: every model is a plain network",)
    columns = columns_to_write(raw.features.num_features, dataset.transform)
    _enough_space(building, graph_bytes(len(y), len(csr.indices), columns, edge_features))
    say(f"writing {raw.features.num_features} features")
    meta = write_graph(
        building,
        raw,
        csr,
        y,
        class_names,
        split,
        edge=edge,
        kind=kind,
        dataset=dataset.model_dump(mode="json"),
        transform=dataset.transform,
        warnings=(*raw.warnings, *edge_warnings, *label_warnings, *split_warnings(split, y, class_names)),
    )
    write_meta(building, meta.model_copy(update={"prepare_s": round(time.perf_counter() - started, 3)}))
    data_version(open_graph(building))  # here, where hours of reading are expected, rather than in the first job
    say(f"prepared {meta.num_nodes:,} nodes, {meta.num_edges:,} edges in {time.perf_counter() - started:.1f} s")


def _split_file(dataset: Dataset, spec_dir: Path, raw: RawGraph) -> tuple[SplitNodes, ...]:
    if dataset.split is None or dataset.split.kind != "file":
        return ()
    assert dataset.split.path is not None  # the schema demands it
    path = find_file(dataset.split.path, spec_dir, "dataset.split.path")
    arrays = read_npz(path, "dataset.split.path", {"train", "val", "test"})
    return given_splits(arrays, raw.features.num_nodes, path, "dataset.split.path")


def _is_current(folder: Path, say: Progress) -> bool:
    """The graph is there, of this builder's version; whether it is sound is for `open_graph` to say."""
    version = builder_version(folder)
    if version is not None and version != BUILDER_VERSION:
        say(f"rebuilding: written by builder version {version}, this is {BUILDER_VERSION}")
        return False
    return folder.exists()


def _replace(folder: Path, building: Path) -> None:
    if folder.exists():
        folder.rename(_aside(folder))  # open memory maps of running jobs stay valid
        building.rename(folder)
        shutil.rmtree(_aside(folder), ignore_errors=True)
    else:
        building.rename(folder)


def _aside(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.old")


@contextmanager
def _lock(folder: Path, say: Progress) -> Iterator[None]:
    lock = FileLock(folder.with_name(f"{folder.name}.lock"))
    try:
        lock.acquire(timeout=0)
    except Timeout:
        say("waiting for another process that prepares this graph")
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _enough_space(folder: Path, needed: int) -> None:
    """Fail before hours of writing, not after."""
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise data_fault(
            folder.parent,
            "HARNESS_CACHE",
            f"the graph needs about {needed / 1e9:.2f} GB, {free / 1e9:.2f} GB are free; free space, "
            "or set HARNESS_CACHE to a folder on another disk",
        )
