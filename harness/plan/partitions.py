"""The partitions that a plan's cells need: their names in the cache, their files, and their reports."""

from __future__ import annotations

import hashlib
import json
import zipfile
import zlib
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, ValidationError

from harness.plan.model import Plan
from harness.spec.errors import InputError, Problem
from harness.spec.options import Frozen

PARTITION_VERSION = 3  # raise it when the same graph and request would give other parts, or another report

# what NumPy and zipfile raise, between them, for a file that is damaged or of another kind
_UNREADABLE = (OSError, ValueError, KeyError, EOFError, RuntimeError, MemoryError, zipfile.BadZipFile, zlib.error)


class PartitionReport(Frozen):
    """What is known of a partition, whatever the split: the JSON beside its parts in the cache.

    Shares are of the graph's edges as stored. The comparison with chance is made on the graph without direction,
    self-loops and repetitions, against a random permutation of the nodes over parts of the same sizes.
    """

    method: str
    parts: int  # asked for
    passes: int | None  # of fennel; None for the other methods
    seed: int
    non_empty_parts: int
    edge_cut: float
    kept_edge_share: float  # edges inside parts
    kept_by_chance: float  # edges, each counted once, that random parts keep in expectation
    kept_over_random: float  # edges inside parts over those expected by chance
    kept_sigmas: float  # their difference in standard deviations
    reachable_sigmas: float | None  # the same of a second cut, of METIS by METIS: only where kept_sigmas is small
    balance: Annotated[
        dict[Literal["nodes", "edges"], float], Field(min_length=2)
    ]  # of nodes, and of edges by their destination: the largest part over the mean
    parts_sha256: str  # of the parts described, as `parts_sha256` below
    seconds: Annotated[float, Field(ge=0)]  # that the making took


@dataclass(frozen=True)
class PartitionRequest:
    """What identifies a partition of a given graph; ``passes`` counts for fennel only."""

    method: str
    parts: int
    passes: int
    seed: int

    @property
    def label(self) -> str:
        """As people read it: ``fennel 64, 10 passes``."""
        passes = f", {self.passes} pass{'' if self.passes == 1 else 'es'}" if self.method == "fennel" else ""
        return f"{self.method} {self.parts}{passes}"

    @property
    def named(self) -> dict[str, str | int | None]:
        """The fields of a report that say what was asked."""
        passes = self.passes if self.method == "fennel" else None
        return {"method": self.method, "parts": self.parts, "passes": passes, "seed": self.seed}

    def path(self, structure: str, cache_dir: Path) -> Path:
        """Where the parts lie; the report is beside them as `.json`.

        Args:
            structure: hash of the graph's edges (`harness.graphs.structure.structure_hash`).
            cache_dir: folder of all partitions.
        """
        made_by = {"harness": PARTITION_VERSION, "pymetis": _pymetis() if self.method == "metis" else None}
        identity = {"structure": structure, **self.named, "by": made_by}
        return cache_dir / f"{hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:32]}.npz"


@dataclass(frozen=True)
class PlannedPartition:
    """A partition of the first seed, and what is known of it.

    Attributes:
        request: what is asked.
        report: None where it has not been made.
        train: balance of the training labels, the largest part over the mean; None where it has not been made.
    """

    request: PartitionRequest
    report: PartitionReport | None
    train: float | None


def partition_requests(plan: Plan) -> list[PartitionRequest]:
    """The distinct partitions that the plan's cells need for its first seed: a run's seed is its partition's."""
    wanted = [c.options.partition for c in plan.cells.values() if c.options.batching == "cluster"]
    made = ((p.method, p.parts, p.passes if p.method == "fennel" else 1) for p in wanted)
    return [PartitionRequest(*request, plan.seeds.first) for request in dict.fromkeys(made)]


def planned_partitions(plan: Plan, cache_dir: Path) -> list[PlannedPartition]:
    """The partitions of the first seed, with the reports of those that were made.

    Args:
        plan: its data set need not be prepared.
        cache_dir: root of prepared things, `harness.spec.places.cache_root`.

    Raises:
        InputError: a file in the cache is damaged.
    """
    graph = cache_dir / "graphs" / plan.dataset.dataset_id
    known = _structure(graph)
    requests = partition_requests(plan)
    if known is None:
        return [PlannedPartition(request, None, None) for request in requests]
    return [_looked_up(request, *known, graph, cache_dir / "partitions") for request in requests]


def _looked_up(
    request: PartitionRequest, structure: str, num_nodes: int, graph: Path, folder: Path
) -> PlannedPartition:
    found = read_partition(request.path(structure, folder), request, num_nodes)
    if found is None:
        return PlannedPartition(request, None, None)
    part, report = found
    return PlannedPartition(request, report, train_balance(part, _train(graph / "train.npy", num_nodes), request.parts))


def _structure(graph: Path) -> tuple[str, int] | None:
    """And nodes, from `graph.json`; None where the graph is not prepared, or was by an earlier version."""
    try:
        meta = json.loads((graph / "graph.json").read_bytes())
        structure, num_nodes = meta["structure"], meta["num_nodes"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return (structure, num_nodes) if isinstance(structure, str) and isinstance(num_nodes, int) else None


def _train(path: Path, num_nodes: int) -> np.ndarray:
    try:
        train = _array(path)
    except _UNREADABLE as error:
        why: str | None = _reason(error)
    else:
        why = _not_ids(train, num_nodes, None)
    if why is None:
        return train
    remedy = f"delete the folder {path.parent.name} and prepare again (`harness prepare SPEC`)"
    raise InputError(Problem(str(path), f"these training nodes cannot be read ({why}); {remedy}"))


def read_partition(path: Path, request: PartitionRequest, num_nodes: int) -> tuple[np.ndarray, PartitionReport] | None:
    """A cached partition: the part of each node (int64, ``[num_nodes]``) and its report; None where one is missing.

    Args:
        path: of the parts, `PartitionRequest.path`.
        request: that they must answer.
        num_nodes: of the graph.

    Raises:
        InputError: a file is damaged, is of another request or graph, or the two do not belong together.
    """
    report = _read_report(path.with_suffix(".json"), request)
    if report is None or not path.exists():
        return None
    part = _read_parts(path, num_nodes, min(request.parts, num_nodes))
    if parts_sha256(part) != report.parts_sha256:
        raise _damaged(path, "cached partition", f"other parts than {path.with_suffix('.json').name} tells of")
    return part, report


def parts_sha256(part: np.ndarray) -> str:
    """Of the parts as little-endian int32, in hexadecimal."""
    return hashlib.sha256(np.ascontiguousarray(part, dtype="<i4").tobytes()).hexdigest()


def _read_report(path: Path, request: PartitionRequest) -> PartitionReport | None:
    what = "report of a cached partition"
    try:
        report = PartitionReport.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _damaged(path, what, _reason(error)) from None
    except ValidationError as error:
        raise _damaged(path, what, error.errors()[0]["msg"]) from None
    for field, asked in request.named.items():
        if getattr(report, field) != asked:
            raise _damaged(path, what, f"{field} is {getattr(report, field)}, not {asked}")
    return report


def _read_parts(path: Path, num_nodes: int, parts: int) -> np.ndarray:
    try:
        part = _array(path, "part")
    except _UNREADABLE as error:
        raise _damaged(path, "cached partition", _reason(error)) from error
    why = _not_ids(part, parts, num_nodes)
    if why is not None:
        raise _damaged(path, "cached partition", why)
    return np.asarray(part, dtype=np.int64)


def _array(path: Path, key: str | None = None) -> np.ndarray:
    """The array of an `.npy`, or the one of this name in an `.npz`; one of `_UNREADABLE` where there is no such."""
    with path.open("rb") as file:
        stored = np.load(file, allow_pickle=False)
        if isinstance(stored, np.ndarray) != (key is None):
            raise ValueError("an .npz, not a bare array" if key is None else "a bare array, not an .npz")
        return np.asarray(stored if key is None else stored[key])


def _not_ids(array: np.ndarray, below: int, length: int | None) -> str | None:
    """Why these are not that many integers in ``0 .. below - 1``; None where they are."""
    if array.dtype.kind != "i":
        return f"values of type {array.dtype}, not integers"
    if array.ndim != 1 or (length is not None and len(array) != length):
        return f"shape {array.shape}, not ({'any' if length is None else length},)"
    if len(array) and (array.min() < 0 or array.max() >= below):
        return f"values from {array.min()} to {array.max()}, not from 0 to {below - 1}"
    return None


def _reason(error: BaseException) -> str:
    """In its first sentence: NumPy's second advises to unpickle."""
    told = (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
    return told.split(". ")[0]


def _damaged(path: Path, what: str, why: str) -> InputError:
    return InputError(Problem(str(path), f"this {what} cannot be read ({why}); delete it"))


def train_balance(part: np.ndarray, train: np.ndarray, parts: int) -> float:
    """Training nodes of the part that has most, over the mean."""
    return balance(np.bincount(part[train], minlength=min(parts, max(len(part), 1))))


def balance(amounts: np.ndarray) -> float:
    """The largest over the mean; 1.0 is even, also where there is nothing."""
    return float(amounts.max() / amounts.mean()) if amounts.any() else 1.0


def _pymetis() -> str:
    try:
        return version("pymetis")
    except PackageNotFoundError:
        return ""
