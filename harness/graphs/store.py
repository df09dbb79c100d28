"""The graph on disk: a folder of .npy arrays beside a `graph.json`, written once and opened as memory maps."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from pydantic import ValidationError

from harness.graphs.csr import Csr
from harness.graphs.edge_facts import edge_facts
from harness.graphs.edge_file import write_edge_attr
from harness.graphs.faults import data_fault
from harness.graphs.feature_file import write_features
from harness.graphs.fingerprint import ARRAYS, EDGE_ATTR, fingerprint
from harness.graphs.graph import BUILDER_VERSION, Graph, GraphMeta
from harness.graphs.raw import RawGraph, SplitNodes
from harness.graphs.structure import structure_hash
from harness.spec.dataset import Transform

REMEDY = "delete this folder and prepare again (`harness prepare SPEC`)"


def write_graph(
    folder: Path,
    raw: RawGraph,
    csr: Csr,
    y: np.ndarray,
    class_names: tuple[str, ...],
    split: SplitNodes,
    *,
    edge: np.ndarray | None = None,
    kind: str,
    dataset: Mapping[str, object],
    transform: Transform | None = None,
    warnings: tuple[str, ...] = (),
) -> GraphMeta:
    """Write the arrays of a graph and return what `graph.json` shall say; `write_meta` writes that, last.

    Args:
        folder: an empty folder.
        raw: the source's graph; only its name, features and attributes of edges are read here.
        csr: edges, rows receive.
        y: classes, int64, ``[num_nodes]``, -1 unlabelled.
        class_names: one a class.
        split: disjoint sorted node ids.
        edge: which edge of the source each entry of the CSR is; None where edges have no attributes.
        kind: the split's kind.
        dataset: the spec's dataset section, kept for people to read.
        transform: what is done to the features.
        warnings: kept for the report.
    """
    features = write_features(folder, raw, csr, split, transform)
    small = {"indptr": csr.indptr, "indices": csr.indices, "y": y}
    for name, array in (small | {"train": split.train, "val": split.val, "test": split.test}).items():
        with (folder / f"{name}.npy").open("wb") as file:
            np.lib.format.write_array(file, np.ascontiguousarray(array), allow_pickle=False)
    if edge is not None:
        write_edge_attr(folder, raw, edge)
    arrays = _open_arrays(folder, with_edge_attr=edge is not None)
    facts = edge_facts(csr)
    return GraphMeta(
        name=raw.name,
        dataset=dict(dataset),
        fingerprint=fingerprint(arrays, len(class_names)),
        structure=structure_hash(arrays["indptr"], arrays["indices"]),
        num_nodes=len(y),
        num_edges=len(csr.indices),
        num_features=arrays["x"].shape[1],
        edge_features=arrays[EDGE_ATTR].shape[1] if edge is not None else 0,
        num_classes=len(class_names),
        class_names=list(class_names),
        train_nodes=len(split.train),
        val_nodes=len(split.val),
        test_nodes=len(split.test),
        directed=facts.directed,
        isolated_nodes=facts.isolated_nodes,
        self_loops=facts.self_loops,
        duplicate_edges=facts.duplicate_edges,
        max_in_degree=facts.max_in_degree,
        degrees=facts.degrees,
        split=kind,  # type: ignore[arg-type]
        metric=raw.metric,  # type: ignore[arg-type]
        features=features.facts,
        warnings=[*warnings, *features.warnings],
    )


def write_meta(folder: Path, meta: GraphMeta) -> None:
    """Write `graph.json`."""
    (folder / "graph.json").write_text(meta.model_dump_json(indent=1) + "\n", encoding="utf-8")


def open_graph(path: Path | str, verify: bool = False) -> Graph:
    """Open a prepared graph; its arrays are read-only memory maps.

    Args:
        path: folder of the graph, as `prepare` returns it.
        verify: also read all arrays and compare the fingerprint.

    Raises:
        InputError: the folder, `graph.json` or an array is missing, damaged, or of another builder version.
    """
    folder = Path(path)
    meta = _read_meta(folder)
    arrays = _open_arrays(folder, with_edge_attr=meta.edge_features > 0)
    _check_shapes(folder, meta, arrays)
    if verify and fingerprint(arrays, meta.num_classes) != meta.fingerprint:
        raise data_fault(folder, "", f"the arrays do not have the fingerprint in graph.json; {REMEDY}")
    return Graph(path=folder, meta=meta, **arrays)


def builder_version(folder: Path) -> int | None:
    """The version that wrote a graph, or None where `graph.json` cannot be read."""
    try:
        version = json.loads((folder / "graph.json").read_text(encoding="utf-8"))["builder_version"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return version if isinstance(version, int) else None


def _read_meta(folder: Path) -> GraphMeta:
    path = folder / "graph.json"
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise data_fault(
            folder, "", f"is not a prepared graph, graph.json cannot be read ({error}); {REMEDY}"
        ) from None
    version = builder_version(folder)
    if version is not None and version != BUILDER_VERSION:
        raise data_fault(
            folder,
            "",
            f"was written by builder version {version}, this is {BUILDER_VERSION}; `harness prepare SPEC` rebuilds it",
        )
    try:
        return GraphMeta.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise data_fault(path, where, f"is damaged: {first['msg']}; {REMEDY}") from None


def _open_arrays(folder: Path, with_edge_attr: bool) -> dict[str, np.ndarray]:
    arrays = {}
    for name in (*ARRAYS, EDGE_ATTR) if with_edge_attr else ARRAYS:
        path = folder / f"{name}.npy"
        try:
            arrays[name] = np.load(path, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            raise data_fault(path, "", f"is missing or damaged ({error}); {REMEDY}") from None
    return arrays


def _check_shapes(folder: Path, meta: GraphMeta, arrays: dict[str, np.ndarray]) -> None:
    n = meta.num_nodes
    expected = {
        "indptr": ((n + 1,), "int64"),
        "indices": ((meta.num_edges,), "int32" if n < 2**31 else "int64"),
        "x": ((n, meta.num_features), "float32"),
        "y": ((n,), "int64"),
        "train": ((meta.train_nodes,), "int64"),
        "val": ((meta.val_nodes,), "int64"),
        "test": ((meta.test_nodes,), "int64"),
    }
    if meta.edge_features:
        expected[EDGE_ATTR] = ((meta.num_edges, meta.edge_features), "float32")
    for name, (shape, dtype) in expected.items():
        array = arrays[name]
        if array.shape != shape or array.dtype != dtype:
            raise data_fault(
                folder / f"{name}.npy",
                "",
                f"holds {array.dtype} {list(array.shape)}, graph.json says {dtype} {list(shape)}; {REMEDY}",
            )
    indptr = arrays["indptr"]
    if indptr[0] != 0 or indptr[-1] != meta.num_edges:
        raise data_fault(
            folder / "indptr.npy",
            "",
            f"runs from {indptr[0]} to {indptr[-1]}, not from 0 to {meta.num_edges}; {REMEDY}",
        )


def graph_bytes(num_nodes: int, num_edges: int, num_features: int, edge_features: int) -> int:
    """Size of a graph on disk, about."""
    return num_nodes * (4 * num_features + 8 + 8 + 8) + num_edges * 4 * (1 + edge_features)
