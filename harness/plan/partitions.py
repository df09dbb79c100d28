"""The partitions that a plan's cells need: their names in the cache, their files, and their reports."""

from __future__ import annotations

import hashlib
import json
import zipfile
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
from pydantic import ValidationError

from harness.plan.model import Plan
from harness.spec.errors import InputError, Problem
from harness.spec.options import Frozen

PARTITION_VERSION = 3  # raise it when the same graph and request would give other parts, or another report


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
    balance: dict[str, float]  # of nodes, and of edges by their destination: the largest part over the mean
    seconds: float  # that the making took


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

    def path(self, structure: str, cache_dir: Path) -> Path:
        """Where the parts lie; the report is beside them as `.json`.

        Args:
            structure: hash of the graph's edges (`harness.graphs.structure.structure_hash`).
            cache_dir: folder of all partitions.
        """
        made_by = {"harness": PARTITION_VERSION, "pymetis": _pymetis() if self.method == "metis" else None}
        identity = {
            "structure": structure,
            "method": self.method,
            "parts": self.parts,
            "passes": self.passes if self.method == "fennel" else None,
            "seed": self.seed,
            "by": made_by,
        }
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
    structure = _structure(graph)
    return [_looked_up(request, structure, graph, cache_dir / "partitions") for request in partition_requests(plan)]


def _looked_up(request: PartitionRequest, structure: str | None, graph: Path, folder: Path) -> PlannedPartition:
    path = None if structure is None else request.path(structure, folder)
    report = None if path is None else read_report(path)
    if path is None or report is None or not path.exists():
        return PlannedPartition(request, None, None)
    train = np.load(graph / "train.npy", mmap_mode="r", allow_pickle=False)
    return PlannedPartition(request, report, train_balance(read_parts(path), train, request.parts))


def _structure(graph: Path) -> str | None:
    """From `graph.json`; None where the graph is not prepared, or was by an earlier version."""
    try:
        found = json.loads((graph / "graph.json").read_bytes())["structure"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found if isinstance(found, str) else None


def read_report(path: Path) -> PartitionReport | None:
    """The report beside a cached partition; None where there is none.

    Raises:
        InputError: it is damaged.
    """
    beside = path.with_suffix(".json")
    try:
        return PartitionReport.model_validate_json(beside.read_bytes())
    except FileNotFoundError:
        return None
    except ValidationError as error:
        raise _damaged(beside, "report of a cached partition", error.errors()[0]["msg"]) from None


def read_parts(path: Path, num_nodes: int | None = None) -> np.ndarray:
    """The part of each node, int64, ``[num_nodes]``.

    Raises:
        InputError: the file is damaged, or has another number of nodes than the graph.
    """
    try:
        with np.load(path, allow_pickle=False) as stored:
            part = np.asarray(stored["part"], dtype=np.int64)
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise _damaged(path, "cached partition", str(error)) from error
    if num_nodes is not None and part.shape != (num_nodes,):
        raise _damaged(path, "cached partition", f"shape {part.shape}, not ({num_nodes},)")
    return part


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
