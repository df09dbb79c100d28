"""The features on disk: written chunk by chunk, checked, and transformed as the spec asks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from harness.graphs.checks import check_chunk
from harness.graphs.csr import Csr
from harness.graphs.faults import data_fault
from harness.graphs.features import row_slices, write_npy_header
from harness.graphs.graph import FeatureFacts, Projection
from harness.graphs.missing import fill_missing
from harness.graphs.principal_components import (
    ENOUGH,
    EXACT_WIDTH,
    MOST_OF_WIDE,
    Components,
    fit_components,
    project,
)
from harness.graphs.raw import RawGraph, SplitNodes
from harness.graphs.scaling import apply_scale, divide_rows, fit_scale
from harness.graphs.structural.columns import StructuralColumns, structural_columns
from harness.graphs.twins import find_twins, row_words, twin_warnings
from harness.spec.dataset import Transform


@dataclass(frozen=True)
class WrittenFeatures:
    """What `graph.json` says about the features, and what a person should know about them."""

    facts: FeatureFacts
    warnings: tuple[str, ...]


def write_features(
    folder: Path, raw: RawGraph, csr: Csr, split: SplitNodes, transform: Transform | None
) -> WrittenFeatures:
    """Write `x.npy`, float32, chunk by chunk: checked, filled, scaled, projected, and joined by the edges' columns.

    Of the table only a chunk is in memory at a time; a projection and added columns write it a second time.

    Raises:
        InputError: a feature is not finite, or the transform asks for what these data cannot give.
        OSError: the disk is full.
    """
    path = folder / "x.npy"
    facts: dict[str, Any] = {"columns": raw.features.num_features}
    warnings: list[str] = []
    if transform is not None:
        _check_components(raw, split, transform)
    added = _added_columns(raw, csr, transform)
    if raw.features.num_features:
        words = _write_source(path, raw, missing_allowed=transform is not None and transform.missing == "mean")
        facts["twins"] = find_twins(words, csr, split)
        warnings += twin_warnings(facts["twins"], len(split.test))
    if transform is not None:
        fitted = split.train if transform.fit == "train" else np.arange(raw.features.num_nodes)
        if transform.leaks:
            warnings.append("transform.fit is all: the features hold what only validation and test nodes could tell")
        if raw.features.num_features:
            facts["filled"] = _change_in_place(path, fitted, transform, warnings)
        facts |= _change_columns(path, fitted, transform, added, warnings)
    return WrittenFeatures(FeatureFacts(**facts), tuple(warnings))


def columns_to_write(num_features: int, transform: Transform | None) -> int:
    """Columns of float32 that the disk must hold at once: two tables where the first is written anew."""
    after = transform.columns_after(num_features) if transform is not None else num_features
    anew = transform is not None and (transform.pca is not None or bool(transform.structural))
    return after + (num_features if anew else 0)


def _check_components(raw: RawGraph, split: SplitNodes, transform: Transform) -> None:
    """There are so many components.

    Raises:
        InputError: there are not, or the table is too wide for so many.
    """
    if transform.pca is None:
        return
    file, _ = raw.places.get("features", (raw.file, raw.key))
    features = raw.features.num_features
    rows = len(split.train) if transform.fit == "train" else raw.features.num_nodes
    most = min(features, rows)
    if transform.pca > most:
        whose = "training nodes" if transform.fit == "train" else "nodes"
        raise data_fault(
            file,
            "dataset.transform.pca",
            f"{transform.pca}: {features:,} features of {rows:,} {whose} have at most {most:,} principal components; "
            + (f"give {most} or fewer" if most else "structural columns are added after it, so leave pca out"),
        )
    if most > EXACT_WIDTH and transform.pca > MOST_OF_WIDE:
        raise data_fault(
            file,
            "dataset.transform.pca",
            f"{transform.pca}: of more than {EXACT_WIDTH:,} features at most {MOST_OF_WIDE:,} principal components "
            "can be found; give fewer",
        )


def _added_columns(raw: RawGraph, csr: Csr, transform: Transform | None) -> StructuralColumns | None:
    if transform is None or not transform.structural:
        return None
    try:
        return structural_columns(csr, transform)
    except ValueError as error:
        raise data_fault(raw.file, "dataset.transform.structural", f"random-walk: {error}") from None


def _write_source(path: Path, raw: RawGraph, missing_allowed: bool) -> np.ndarray:
    """Write the features as their source has them; a hash of each row, uint64, ``[num_nodes]``."""
    words = np.empty(raw.features.num_nodes, np.uint64)
    with path.open("wb") as file:
        write_npy_header(file, (raw.features.num_nodes, raw.features.num_features), np.dtype("<f4"))
        for first, rows in raw.features.chunks():
            check_chunk(raw, first, rows, missing_allowed)
            words[first : first + len(rows)] = row_words(rows)
            file.write(memoryview(rows).cast("B"))
    return words


def _change_in_place(path: Path, fitted: np.ndarray, transform: Transform, warnings: list[str]) -> int:
    """Fill and scale the table on disk; how many entries were filled."""
    x = np.load(path, mmap_mode="r+", allow_pickle=False)
    filled = 0
    if transform.missing == "mean":
        filled, unknown = fill_missing(x, fitted)
        if unknown:
            some = ", ".join(str(column) for column in unknown[:5]) + (", …" if len(unknown) > 5 else "")
            warnings.append(
                f"no training node has feature {some} ({len(unknown)} in all): filled with 0 where it is missing"
            )
    if transform.scale == "row":
        divide_rows(x)
    elif transform.scale is not None:
        apply_scale(x, fit_scale(x, fitted, transform.scale))
    x.flush()
    return filled


def _change_columns(
    path: Path, fitted: np.ndarray, transform: Transform, added: StructuralColumns | None, warnings: list[str]
) -> dict[str, Any]:
    """Project the table on disk, and put the edges' columns beside it; what `graph.json` says of both."""
    facts: dict[str, Any] = {}
    if added is not None:
        kind: Literal["minmax", "standard"] = "minmax" if transform.scale == "minmax" else "standard"
        apply_scale(added.values, fit_scale(added.values, fitted, kind))
        facts |= {"structural": list(added.names), "walks": added.walks}
        if added.walks is not None:
            warnings.append(
                f"return probabilities are estimates from {added.walks} random walks a node, with a standard error of "
                f"at most {0.5 / added.walks**0.5:.3f}: the graph is too large for exact ones"
            )
    if transform.pca is not None:
        x = np.load(path, mmap_mode="r", allow_pickle=False)
        found = fit_components(x, fitted, transform.pca)
        warnings += _low_variance(found, transform.pca)
        facts["projection"] = Projection(
            components=transform.pca,
            explained_variance=found.explained,
            components_for_85=found.enough,
            at_least=found.at_least,
            method=found.method,
        )
        _rewrite(path, project(x, found), len(x), transform.pca, added)
    elif added is not None:
        table = np.load(path, mmap_mode="r", allow_pickle=False) if path.exists() else np.empty((len(added.values), 0))
        rows = (table[chunk] for chunk in row_slices(len(table), table.shape[1] + added.values.shape[1]))
        _rewrite(path, rows, len(table), table.shape[1], added)
    return facts


def _low_variance(found: Components, asked: int) -> list[str]:
    if found.explained >= ENOUGH:
        return []
    least = "at least " if found.at_least else ""
    return [
        f"transform.pca: {asked} components keep {100 * found.explained:.1f} % of the variance of the features; "
        f"{100 * ENOUGH:.0f} % needs {least}{found.enough:,}"
    ]


def _rewrite(
    path: Path, chunks: Iterator[np.ndarray], num_nodes: int, width: int, added: StructuralColumns | None
) -> None:
    """Write the table anew from chunks of rows, with the added columns beside them; it takes the old one's place."""
    more = added.values if added is not None else np.empty((num_nodes, 0), np.float32)
    anew = path.with_suffix(".anew")
    first = 0
    with anew.open("wb") as file:
        write_npy_header(file, (num_nodes, width + more.shape[1]), np.dtype("<f4"))
        for rows in chunks:
            joined = np.concatenate([rows, more[first : first + len(rows)]], axis=1, dtype=np.float32)
            file.write(memoryview(np.ascontiguousarray(joined)).cast("B"))
            first += len(rows)
    anew.replace(path)
