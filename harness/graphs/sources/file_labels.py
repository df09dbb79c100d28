"""Labels from a person's files; text labels become classes in alphabetical order."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from harness.graphs.faults import data_fault
from harness.graphs.sources.arrays import check_suffix, read_npy, read_npz
from harness.graphs.sources.tables import is_number, read_table, read_text_rows, whole_number_column

if TYPE_CHECKING:
    import pandas as pd

SUFFIXES = (".npy", ".npz", ".csv", ".tsv", ".parquet")
HEADERS = {"label", "labels", "class", "y", "target", "category"}

MANY_NODES, NAMED_OF = 10_000_000, 1_000  # without features: nodes up to which a lone label may name the last one

Labels = tuple[np.ndarray, tuple[str, ...]]  # class of each node, class names or ()


def read_labels(path: Path, key: str, num_nodes: int | None = None) -> tuple[Labels, list[str]]:
    """Class of each node, ``[num_nodes]``, negative or NaN where unlabelled, class names of text labels, and warnings.

    npy or npz: one entry a node. csv, tsv, parquet: one label a line, or columns node and label; nodes not named are
    unlabelled, as are empty labels and -1. The first line may be a header. Without features `num_nodes` is None: nodes
    are then as many as labels, or end with the last node named.

    Raises:
        InputError: another file type, a damaged file, a node that does not exist or is named twice.
    """
    suffix = check_suffix(path, key, SUFFIXES)
    if suffix == ".npy":
        return classes_of(np.asarray(read_npy(path, key))), []
    if suffix == ".npz":
        arrays = read_npz(path, key)
        name = "y" if "y" in arrays or len(arrays) != 1 else next(iter(arrays))
        if name not in arrays:
            raise data_fault(path, key, f"holds {', '.join(arrays) or 'nothing'}; add y, one class a node")
        y, names = classes_of(arrays[name])
        return (y, names or class_names_of(arrays, path, key)), []
    table = read_table(path, key, suffix) if suffix == ".parquet" else _text(path, key, num_nodes)
    if table.shape[1] == 1:
        found = classes_of(table.iloc[:, 0].to_numpy())
        return found, _perhaps_a_header(found) if num_nodes is None and suffix != ".parquet" else []
    return _by_node(table, path, key, num_nodes)


def classes_of(values: np.ndarray) -> Labels:
    """Numbers as they are; text to classes in alphabetical order, with names ('', 'nan' and '-1' are unlabelled)."""
    if values.dtype.kind not in "OUS":
        return values, ()
    import pandas as pd

    text = pd.Series(values.reshape(-1), dtype=object)
    missing = text.isna().to_numpy()
    words = np.where(missing, "", text.astype(str).str.strip())
    words = np.where(np.isin(words, ("nan", "NaN")), "", words)
    numbers = pd.to_numeric(pd.Series(np.where(words == "", "-1", words)), errors="coerce").to_numpy(dtype=np.float64)
    if not np.isnan(numbers).any():
        return numbers, ()
    unlabelled = (words == "") | (words == "-1")
    names, codes = np.unique(words[~unlabelled], return_inverse=True)
    y = np.full(len(words), -1, dtype=np.int64)
    y[~unlabelled] = codes
    return y, tuple(str(name) for name in names)


def class_names_of(arrays: dict[str, np.ndarray], path: Path, key: str) -> tuple[str, ...]:
    """The array `class_names`, if there is one."""
    names = arrays.get("class_names")
    if names is None:
        return ()
    if names.ndim != 1 or names.dtype.kind not in "US":
        raise data_fault(path, key, f"array class_names is {names.dtype} {list(names.shape)}; give one string a class")
    return tuple(str(name) for name in names)


def _text(path: Path, key: str, num_nodes: int | None) -> pd.DataFrame:
    """Rows without the header.

    A lone column has one if its first word says so; if there is a row too many; or, without features to count by, if
    all words but the first are numbers. Empty lines after the last node are no rows.
    """
    table = read_text_rows(path, key)
    if table.shape[1] == 1:
        words = table.iloc[:, 0]
        named = str(words.iloc[0]).strip().lower() in HEADERS
        if num_nodes is None:
            header = named or _words_over_numbers(words)
        else:
            wanted = num_nodes + named
            table = table.iloc[: wanted if words.iloc[wanted:].isna().all() else None]
            header = named or len(table) == num_nodes + 1
        names = ["label"]
    else:
        table = table[table.notna().any(axis=1)]
        first = table.iloc[:1, 0].fillna("node").item()  # a header may leave the first field empty
        header = not is_number(first)
        names = [str(field).strip().lower() for field in table.iloc[0]] if header else list(range(table.shape[1]))
    table.columns = names
    return table.iloc[1:] if header else table


def _words_over_numbers(words: pd.Series) -> bool:
    """The first is text and all others are numbers, or empty."""
    import pandas as pd

    first, below = words.iloc[0], words.iloc[1:].dropna()
    numbers = pd.to_numeric(below, errors="coerce")
    return not (pd.isna(first) or is_number(first)) and len(below) > 0 and bool(numbers.notna().all())


def _perhaps_a_header(labels: Labels) -> list[str]:
    """A warning where the first word may be one that is not known as such: of all classes it alone has one node."""
    y, names = labels
    if not names or y[0] < 0:
        return []
    counts = np.bincount(y[y >= 0].astype(np.int64))
    if counts[y[0]] > 1 or (counts == 1).sum() > 1:
        return []
    word = names[y[0]]
    return [f"the first label, '{word}', is the only one of its class: if it is a header, call it label"]


def _by_node(table: pd.DataFrame, path: Path, key: str, num_nodes: int | None) -> tuple[Labels, list[str]]:
    """Labels of the nodes that rows name; all others are unlabelled."""
    columns = list(table.columns)
    node = next((c for c in ("node", "id", "node_id") if c in columns), columns[0])
    label = next((c for c in columns if str(c) in HEADERS), next(c for c in columns if c != node))
    rows = table[table.notna().any(axis=1)]  # an empty last line is no node
    last = "n - 1" if num_nodes is None else str(num_nodes - 1)
    remedy = f"nodes are numbered 0 .. {last}" + (", in the order of the feature rows" if num_nodes is not None else "")
    remedy += ", here as in the edges"
    nodes = whole_number_column(rows, node, path, key, remedy)
    if num_nodes is None:
        num_nodes = int(nodes.max()) + 1 if len(nodes) else 0
        if num_nodes > MANY_NODES + NAMED_OF * len(nodes):
            raise data_fault(path, key, f"names node {nodes.max()}, with {len(nodes)} labels; {remedy}: renumber them")
    if len(nodes) and (nodes.min() < 0 or nodes.max() >= num_nodes):
        wrong = nodes.min() if nodes.min() < 0 else nodes.max()
        raise data_fault(path, key, f"names node {wrong}; {remedy}")
    ids, counts = np.unique(nodes, return_counts=True)
    if len(ids) and counts.max() > 1:
        raise data_fault(path, key, f"names node {ids[counts.argmax()]} {counts.max()} times; give one label a node")
    named, names = classes_of(rows[label].to_numpy(dtype=object))
    y = np.full(num_nodes, -1, dtype=named.dtype)
    y[nodes] = named
    unused = [str(column) for column in columns if column not in (node, label)]
    return (y, names), [f"columns of the labels not used: {', '.join(unused)}"] if unused else []
