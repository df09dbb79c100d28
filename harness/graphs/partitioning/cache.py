"""Partitions made once and kept by content: the parts in an `.npz`, their report beside it as JSON."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock

from harness.graphs.csr import check_csr
from harness.graphs.folders import clear_disk_messages
from harness.graphs.graph import Graph
from harness.graphs.partitioning.methods import check_request, cut
from harness.graphs.partitioning.report import facts_of
from harness.graphs.partitioning.undirected import undirected
from harness.graphs.structure import structure_hash
from harness.plan.partitions import PartitionReport, PartitionRequest, parts_sha256, read_partition, train_balance
from harness.records.files import write_atomically


def cached_partition(
    graph: Graph, parts: int, method: str, seed: int, cache_dir: Path, passes: int = 10
) -> tuple[np.ndarray, dict[str, Any]]:
    """The parts of a prepared graph, made once; whoever comes second waits for the first.

    The key is a hash of the graph's structure itself (`graph.meta.structure`, which the preparation computed, else
    from the arrays), parts, method, seed, passes and the versions of the partitioner: another graph can never be
    given these parts, and other features on the same structure share them.

    Returns:
        The part of each node (int64, ``[num_nodes]``), and a report: the fields of
        `harness.plan.partitions.PartitionReport`, whose ``balance`` also has that of ``train`` labels (largest part
        over the mean, 1.0 where there is nothing to balance), and ``cached``: whether it was made earlier.

    Raises:
        ValueError: as `partition`. InputError: a file in the cache cannot be read, or there is no space for one.
    """
    check_request(parts, method, passes)
    structure = graph.meta.structure or structure_hash(graph.indptr, graph.indices)
    request = PartitionRequest(method, parts, passes, seed)
    path = request.path(structure, Path(cache_dir))
    with clear_disk_messages(path.parent), _locked(path):
        cached = read_partition(path, request, graph.num_nodes)
        part, report = cached or _make(graph, request)
        if cached is None:
            _write(path, part, report)
    found = report.model_dump()
    found["balance"]["train"] = train_balance(part, graph.train, parts)
    return part, found | {"cached": cached is not None}


def _make(graph: Graph, request: PartitionRequest) -> tuple[np.ndarray, PartitionReport]:
    check_csr(graph.indptr, graph.indices)
    _compile(request)
    started = time.perf_counter()
    simple = undirected(graph.indptr, graph.indices)
    if request.method == "random":
        started = time.perf_counter()  # it never looks at an edge; only the report does
    part = cut(simple, request.parts, request.method, request.seed, request.passes)
    seconds = time.perf_counter() - started
    facts = facts_of(graph.indptr, graph.indices, simple, part, request.method, request.parts, request.seed)
    return part, PartitionReport(**request.named, **facts, parts_sha256=parts_sha256(part), seconds=seconds)


def _compile(request: PartitionRequest) -> None:
    """The loops, on a path of three nodes: compiling costs the first process, and is no cost of the partition."""
    path = undirected(np.array([0, 1, 2, 2]), np.array([1, 2], dtype=np.int32))
    cut(path, 2, request.method, request.seed, passes=1)


def _write(path: Path, part: np.ndarray, report: PartitionReport) -> None:
    """Under another name first, and the report last: a partition is either whole or not there."""
    unfinished = path.with_suffix(".tmp")
    try:
        with unfinished.open("wb") as file:
            np.savez(file, part=part.astype(np.int32))
        os.replace(unfinished, path)
        write_atomically(path.with_suffix(".json"), report.model_dump_json(indent=1) + "\n")
    except BaseException:
        for half in (unfinished, path):
            half.unlink(missing_ok=True)
        raise


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_suffix(".lock")):
        yield
