"""Sizes of data sets, as far as they are known before anything is prepared."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from harness.spec.dataset import Builtin, Dataset, Files, Ogb, Pyg, Synthetic
from harness.spec.places import find_file


@dataclass(frozen=True)
class Degrees:
    """Nodes of like degrees: how many, and their mean degrees."""

    nodes: int
    in_degree: float
    out_degree: float


@dataclass(frozen=True)
class Sizes:
    """What the estimate needs of a graph; edges as stored, both directions counted where there are two.

    Attributes:
        max_in_degree: 0 where it is not known.
        edge_features: columns of the edges' attributes.
        degrees: classes of all nodes; empty where they are not known.
    """

    nodes: int
    edges: int
    features: int
    classes: int
    train_nodes: int
    max_in_degree: int = 0
    edge_features: int = 0
    degrees: tuple[Degrees, ...] = ()


# nodes, edges (both directions where undirected), features, classes, training nodes of the public split or None.
# Sources: PyG's data set documentation, OGB's (arXiv:2005.00687), Platonov et al. 2023 (arXiv:2302.11640), and the
# graphs themselves where they were read.
_PYG: dict[str, tuple[int, int, int, int, int | None]] = {
    "Planetoid/Cora": (2_708, 10_556, 1_433, 7, 140),
    "Planetoid/CiteSeer": (3_327, 9_104, 3_703, 6, 120),
    "Planetoid/PubMed": (19_717, 88_648, 500, 3, 60),
    "CitationFull/Cora": (19_793, 126_842, 8_710, 70, None),
    "CitationFull/Cora_ML": (2_995, 16_316, 2_879, 7, None),
    "CitationFull/CiteSeer": (4_230, 10_674, 602, 6, None),
    "CitationFull/DBLP": (17_716, 105_734, 1_639, 4, None),
    "CitationFull/PubMed": (19_717, 88_648, 500, 3, None),
    "Amazon/Computers": (13_752, 491_722, 767, 10, None),
    "Amazon/Photo": (7_650, 238_162, 745, 8, None),
    "Coauthor/CS": (18_333, 163_788, 6_805, 15, None),
    "Coauthor/Physics": (34_493, 495_924, 8_415, 5, None),
    "HeterophilousGraphDataset/Roman-empire": (22_662, 65_854, 300, 18, 11_331),
    "HeterophilousGraphDataset/Amazon-ratings": (24_492, 186_100, 300, 5, 12_246),
    "HeterophilousGraphDataset/Minesweeper": (10_000, 78_804, 7, 2, 5_000),
    "HeterophilousGraphDataset/Tolokers": (11_758, 1_038_000, 10, 2, 5_879),
    "HeterophilousGraphDataset/Questions": (48_921, 307_080, 301, 2, 24_460),
    "WikiCS": (11_701, 431_726, 300, 10, 580),
    "Flickr": (89_250, 899_756, 500, 7, 44_625),
    "Reddit": (232_965, 114_615_892, 602, 41, 153_431),
    "Reddit2": (232_965, 23_213_838, 602, 41, 153_932),
    "Yelp": (716_847, 13_954_819, 300, 100, 537_635),
    "AmazonProducts": (1_569_960, 264_339_468, 200, 107, 1_255_968),
}
# directed as stored; `undirected: true` about doubles the edges
_OGB: dict[str, tuple[int, int, int, int, int]] = {
    "ogbn-arxiv": (169_343, 1_166_243, 128, 40, 90_941),
    "ogbn-products": (2_449_029, 123_718_280, 100, 47, 196_615),
    "ogbn-papers100M": (111_059_956, 1_615_685_872, 128, 172, 1_207_179),
}
_OGB_DIRECTED = ("ogbn-arxiv", "ogbn-papers100M")
_WORDNET: dict[str | None, tuple[int, int, int]] = {  # nodes, edges (both directions), classes
    None: (117_659, 367_578, 45),
    "noun": (82_115, 230_620, 26),
    "verb": (13_767, 31_306, 15),
    "adj": (18_156, 28_328, 3),
}


def known_names(source: Literal["pyg", "ogb", "ogb-directed"]) -> tuple[str, ...]:
    """Data sets whose sizes are known beforehand, by their name in a spec; `ogb-directed`: stored one way."""
    return {"pyg": tuple(_PYG), "ogb": tuple(_OGB), "ogb-directed": _OGB_DIRECTED}[source]


def _train_share(dataset: Dataset) -> float | None:
    """Share of nodes in the training set, None where the data's own split decides."""
    if dataset.split is None:
        return 0.6
    if dataset.split.kind in ("random", "stratified"):
        return dataset.split.train
    return None


def known_sizes(dataset: Dataset) -> Sizes | None:
    """Sizes from the section alone, features as its transform leaves them; None where only preparation can tell."""
    sizes = _source_sizes(dataset)
    if sizes is None or dataset.transform is None:
        return sizes
    return replace(sizes, features=dataset.transform.columns_after(sizes.features))


def _source_sizes(dataset: Dataset) -> Sizes | None:
    share = _train_share(dataset)
    if isinstance(dataset, Synthetic):
        edges = int(dataset.nodes * dataset.mean_degree)
        return Sizes(dataset.nodes, edges, dataset.features, dataset.classes, int(dataset.nodes * (share or 0.6)))
    if isinstance(dataset, Builtin):
        nodes, edges, classes = _WORDNET[dataset.subset]
        return Sizes(nodes, edges, dataset.features, classes, int(nodes * (share or 0.6)))
    if isinstance(dataset, Ogb) and dataset.name in _OGB:
        nodes, edges, features, classes, train = _OGB[dataset.name]
        edges *= 2 if dataset.undirected and dataset.name in _OGB_DIRECTED else 1
        own = dataset.split is None or share is None
        return Sizes(nodes, edges, features, classes, train if own else int(nodes * (share or 0.6)))
    if isinstance(dataset, Pyg) and dataset.name in _PYG:
        nodes, edges, features, classes, public = _PYG[dataset.name]
        own = public is not None and (dataset.split is None or share is None)
        return Sizes(nodes, edges, features, classes, public if own and public else int(nodes * (share or 0.6)))
    return None


def prepared_sizes(cache_dir: Path, dataset_id: str) -> Sizes | None:
    """Sizes of a graph that is prepared already; None where it is not."""
    return sizes_or_none(prepared_meta(cache_dir, dataset_id))


def sizes_or_none(meta: Mapping[str, Any]) -> Sizes | None:
    """As `sizes_of`; None where one is missing."""
    try:
        return sizes_of(meta)
    except KeyError:
        return None


def sizes_of(meta: Mapping[str, Any]) -> Sizes:
    """Sizes that a `graph.json` holds.

    Raises:
        KeyError: one is missing.
    """
    return Sizes(
        nodes=meta["num_nodes"],
        edges=meta["num_edges"],
        features=meta["num_features"],
        classes=meta["num_classes"],
        train_nodes=meta["train_nodes"],
        max_in_degree=meta.get("max_in_degree", 0),
        edge_features=meta.get("edge_features", 0),
        degrees=tuple(Degrees(n, into / n, out / n) for n, into, out in meta.get("degrees", ())),
    )


def known_edge_features(dataset: Dataset, spec_dir: Path) -> int | None:
    """Attributes of an edge, from the section and the names of the arrays in a person's npz; None where only
    preparation can tell how many there are, or whether there are any."""
    if isinstance(dataset, Synthetic):
        return dataset.edge_features
    if isinstance(dataset, Files):
        has_some = dataset.edge_features is not None if dataset.path is None else _in_npz(dataset.path, spec_dir)
        return 0 if has_some is False else None
    known = isinstance(dataset, Builtin) or dataset.name in _PYG or dataset.name in _OGB
    return 0 if known else None  # none of these tables' graphs has any


def _in_npz(name: str, spec_dir: Path) -> bool | None:
    """Whether an npz holds `edge_attr`; None where it cannot be read: preparation says why."""
    path = find_file(name, spec_dir)
    if path is None:
        return None
    try:
        with zipfile.ZipFile(path) as archive:
            return "edge_attr.npy" in archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return None


def prepared_meta(cache_dir: Path, dataset_id: str) -> dict[str, Any]:
    """`graph.json` of a prepared graph; empty where there is none to be read."""
    try:
        meta = json.loads((Path(cache_dir) / "graphs" / dataset_id / "graph.json").read_bytes())
    except (OSError, ValueError):
        return {}
    return meta if isinstance(meta, dict) else {}
