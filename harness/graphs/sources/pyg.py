"""The node-classification data sets of torch_geometric.datasets, as `Class/Name` or `Class`."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from harness.graphs.faults import data_fault
from harness.graphs.features import FeatureRows, dense_rows, no_features, sparse_rows
from harness.graphs.folders import is_disk_fault
from harness.graphs.raw import RawGraph, SplitNodes
from harness.graphs.sources.library_root import library_root
from harness.graphs.splits import PARTS, given_splits
from harness.spec.dataset import Pyg
from harness.spec.errors import InputError
from harness.spec.places import data_root

KEY = "dataset.name"


class _DownloadFailed(Exception):
    """Where PyG wanted which raw files, and why it has them not."""

    def __init__(self, raw_dir: str, names: list[str], why: Exception) -> None:
        super().__init__(str(why))
        self.raw_dir, self.names, self.why = raw_dir, names, why


def read_pyg(dataset: Pyg, say: Callable[[str], None]) -> RawGraph:
    """The graph of a `source: pyg` section, as PyG gives it.

    Raises:
        InputError: no such class or name, raw files missing and not to be had, or not one graph with node labels.
    """
    class_name, _, name = dataset.name.partition("/")
    maker = _dataset_class(class_name, dataset.name)
    arguments = _arguments(maker, class_name, name)
    with library_root("pyg", class_name) as root:
        if "root" in arguments:
            arguments["root"] = str(root)
        say(f"reading torch_geometric.datasets.{class_name}({name!r})" if name else f"reading {class_name}")
        made = _make(maker, arguments, root, dataset.name)
        data = _one_graph(made, dataset.name, featureless=dataset.adds_columns)
    splits, warnings = _public_splits(data, dataset.name)
    return RawGraph(
        name=dataset.name,
        file=dataset.name,
        key=KEY,
        source=data.edge_index[0].numpy(),
        target=data.edge_index[1].numpy(),
        features=_features(data.x) if data.x is not None else no_features(data.num_nodes),
        y=data.y.numpy(),
        splits=splits,
        warnings=warnings,
        edge_attr=None if data.edge_attr is None else data.edge_attr.numpy(),
    )


def _dataset_class(class_name: str, name: str) -> type:
    import torch_geometric.datasets
    from torch_geometric.data import Dataset

    found = getattr(torch_geometric.datasets, class_name, None)
    if not (inspect.isclass(found) and issubclass(found, Dataset)):
        near = difflib.get_close_matches(class_name, torch_geometric.datasets.__all__, n=1)
        hint = f"; did you mean {near[0]}?" if near else "; e.g. Planetoid/Cora, Amazon/Photo, Reddit2"
        raise data_fault(name, KEY, f"torch_geometric.datasets has no data set {class_name}{hint}")
    return found


def _arguments(maker: type, class_name: str, name: str) -> dict[str, Any]:
    """The arguments the class takes: root, and name where it has names."""
    parameters = inspect.signature(maker).parameters
    named = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    needed = {p.name for p in parameters.values() if p.default is p.empty and p.kind not in named}
    if needed - {"root", "name"}:
        wants = ", ".join(sorted(needed - {"root", "name"}))
        raise data_fault(
            class_name, KEY, f"needs arguments besides a name ({wants}), which a spec cannot give; export it to files"
        )
    if "name" in needed and not name:
        raise data_fault(class_name, KEY, f"has several data sets; name one, as {class_name}/<name>")
    if name and "name" not in parameters:
        raise data_fault(f"{class_name}/{name}", KEY, f"{class_name} is a single data set; write {class_name}")
    arguments = {"root": ""} if "root" in parameters else {}
    return arguments | ({"name": name} if name else {})


def _make(maker: Any, arguments: dict[str, Any], root: Path, name: str) -> Any:
    try:
        return _with_guarded_download(maker)(**arguments)
    except _DownloadFailed as failed:
        inside = Path(failed.raw_dir).relative_to(root) if Path(failed.raw_dir).is_relative_to(root) else Path("raw")
        folder = data_root() / "pyg" / name.partition("/")[0] / inside
        raise data_fault(
            name,
            KEY,
            f"is not under {data_root()} and cannot be downloaded ({type(failed.why).__name__}: {failed.why}); "
            f"put {', '.join(failed.names)} into {folder}, or check the name and the network",
        ) from failed
    except (InputError, MemoryError):
        raise
    except Exception as error:  # whatever PyG raises for a name or raw files that it cannot read
        if is_disk_fault(error):
            raise
        raise data_fault(
            name,
            KEY,
            f"PyG cannot make it ({type(error).__name__}: {error}); write the name as PyG's documentation does, "
            f"and look at the raw files under {data_root() / 'pyg' / name.partition('/')[0]} or {root}: "
            "a damaged one must be replaced",
        ) from error


def _with_guarded_download(maker: Any) -> Any:
    """The class, with a download that says what was missing."""
    from torch_geometric.data import Dataset, InMemoryDataset

    if not any("download" in vars(base) for base in maker.__mro__ if base not in (Dataset, InMemoryDataset)):
        return maker

    def download(self: Any) -> None:
        try:
            maker.download(self)
        except Exception as error:
            if is_disk_fault(error):
                raise
            names = [Path(path).name for path in self.raw_paths]
            raise _DownloadFailed(self.raw_dir, names, error) from error

    return type(maker.__name__, (maker,), {"download": download, "__module__": maker.__module__})


def _one_graph(made: Any, name: str, featureless: bool) -> Any:
    from torch_geometric.data import Data

    data = made[0]
    if len(made) != 1 or not isinstance(data, Data):
        what = f"{len(made)} graphs" if len(made) != 1 else "a heterogeneous graph"
        raise data_fault(name, KEY, f"is {what}; only data sets of one homogeneous graph can be used")
    parts = {"edges": data.edge_index, "features": data.x, "labels": data.y}
    missing = [what for what, value in parts.items() if value is None and not (featureless and what == "features")]
    if missing:
        made_here = "; features can be made: transform: {structural: [degree, random-walk]}"
        raise data_fault(
            name,
            KEY,
            f"has no {' and no '.join(missing)}; a node-classification data set needs them"
            + (made_here if missing == ["features"] else ""),
        )
    return data


def _features(x: Any) -> FeatureRows:
    import scipy.sparse
    import torch

    if x.layout == torch.strided:
        return dense_rows(x.numpy())
    entries = x.to_sparse_coo().coalesce()
    parts = (entries.values().numpy(), entries.indices().numpy())
    return sparse_rows(scipy.sparse.csr_matrix(parts, shape=tuple(x.shape)))


def _public_splits(data: Any, name: str) -> tuple[tuple[SplitNodes, ...], tuple[str, ...]]:
    masks: dict[str, np.ndarray] = {}
    for part in PARTS:
        mask = getattr(data, f"{part}_mask", None)
        if mask is not None:
            masks[part] = mask.numpy()
    if len(masks) == len(PARTS):
        return given_splits(masks, data.num_nodes, name, "dataset.split"), ()
    return (), (f"the public split has only {', '.join(masks)}: it is not used",) if masks else ()
