"""OGB's node-property-prediction data sets, with their own splits and three habits of OGB 1.3.6 guarded.

It loads with `torch.load`, which needs `weights_only=False` since torch 2.6; it asks on stdin before it downloads or
updates; and importing it starts a thread that queries the network.
"""

from __future__ import annotations

import contextlib
import difflib
import functools
import os
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from harness.graphs.faults import data_fault
from harness.graphs.features import dense_rows
from harness.graphs.folders import is_disk_fault
from harness.graphs.raw import RawGraph, SplitNodes
from harness.graphs.sources.library_root import library_root
from harness.spec.dataset import Ogb
from harness.spec.errors import InputError
from harness.spec.places import data_root

KEY = "dataset.name"
METRICS = ("acc", "rocauc")  # of OGB's Evaluator; the tests hold harness.runs.metrics to it
ALLOW = "HARNESS_DOWNLOAD"
ASK_ABOVE_BYTES = 1 << 30


def read_ogb(dataset: Ogb, say: Callable[[str], None]) -> RawGraph:
    """The graph of a `source: ogb` section, with OGB's own split.

    Raises:
        InputError: no such data set, several labels a node, files missing and not to be had, or a large download
            that was not allowed.
    """
    module = _import_quietly()
    about = _about(module, dataset.name)
    folder = dataset.name.replace("-", "_")
    with library_root("ogb", folder) as own:
        _check_release(own, folder, about["version"])
        with _guarded(module, dataset.name, folder):
            say(f"reading {dataset.name} with OGB")
            graph, labels, parts, names = _read(module, dataset.name, own, folder)
    return RawGraph(
        name=dataset.name,
        file=dataset.name,
        key=KEY,
        source=graph["edge_index"][0],
        target=graph["edge_index"][1],
        features=dense_rows(graph["node_feat"]),
        y=labels,
        class_names=names or tuple(str(c) for c in range(int(about["num classes"]))),
        splits=(SplitNodes(*(np.sort(np.asarray(parts[p], dtype=np.int64)) for p in ("train", "valid", "test"))),),
        own_split="ogb",
        metric=about["eval metric"],
        edge_attr=graph.get("edge_feat"),
    )


def _import_quietly() -> Any:
    """`ogb.nodeproppred.dataset`, without the thread that asks the network for a newer version."""
    absent = object()
    before = sys.modules.get("outdated", absent)
    sys.modules["outdated"] = None  # type: ignore[assignment]
    try:
        import ogb.nodeproppred.dataset as module
    finally:
        if before is absent:
            del sys.modules["outdated"]
        else:
            sys.modules["outdated"] = before  # type: ignore[assignment]
    return module


def _about(module: Any, name: str) -> dict[str, str]:
    """OGB's entry of a data set, checked before anything is downloaded."""
    import pandas as pd

    master = pd.read_csv(Path(module.__file__).with_name("master.csv"), index_col=0, keep_default_na=False)
    if name not in master:
        near = difflib.get_close_matches(name, list(master), n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise data_fault(name, KEY, f"OGB has no such data set, only {', '.join(master)}{hint}")
    about: dict[str, str] = master[name].to_dict()
    if int(about["num tasks"]) != 1:
        raise data_fault(name, KEY, f"has {about['num tasks']} labels a node; multi-label is not supported")
    if about["is hetero"] == "True":
        raise data_fault(name, KEY, "is a heterogeneous graph; only homogeneous graphs can be used")
    if about["eval metric"] not in METRICS:
        raise data_fault(
            name, KEY, f"is evaluated by {about['eval metric']}; only {' and '.join(METRICS)} are measured as OGB does"
        )
    return about


def _check_release(own: Path, folder: str, version: str) -> None:
    """A root that OGB takes as it is, or none, so that it downloads: it would ask what to do with anything else."""
    if not any(own.iterdir()):
        own.rmdir()
        return
    release = f"RELEASE_v{version}.txt"
    if not (own / release).exists():
        ready = data_root() / "ogb" / folder
        raise data_fault(
            ready if ready.is_dir() else own,
            KEY,
            f"lacks {release}: it is another release, or not whole; unpack OGB's current archive there, or remove it",
        )
    (own / "processed").mkdir(exist_ok=True)


def _read(module: Any, name: str, own: Path, folder: str) -> tuple[Any, Any, Any, tuple[str, ...]]:
    try:
        made = module.NodePropPredDataset(name=name, root=str(own.parent))
        graph, labels = made[0]
        parts = made.get_idx_split()
        return graph, labels, parts, _class_names(own, made.num_classes)
    except (InputError, MemoryError):
        raise
    except (Exception, SystemExit) as error:
        if is_disk_fault(error):
            raise
        raise data_fault(
            name,
            KEY,
            f"OGB cannot read it ({type(error).__name__}: {error}); replace the damaged or missing files under "
            f"{data_root() / 'ogb' / folder} (or {own}): unpack OGB's archive there",
        ) from error


def _class_names(own: Path, num_classes: int) -> tuple[str, ...]:
    """Names from OGB's mapping from label to category, where it has one name a class."""
    import pandas as pd

    for path in sorted((own / "mapping").glob("labelidx2*.csv.gz")):
        table = pd.read_csv(path)
        if table.shape == (num_classes, 2):
            return tuple(table.sort_values(table.columns[0]).iloc[:, 1].astype(str))
    return ()


@contextlib.contextmanager
def _guarded(module: Any, name: str, folder: str) -> Iterator[None]:
    """OGB's habits, changed for the duration of one read."""
    import torch

    def decide(url: str) -> bool:
        return _may_download(url, name, folder)

    def never_ask(prompt: str = "") -> str:
        raise data_fault(
            name, KEY, f"OGB asks: {prompt.strip()} Nobody is there to answer; see to {data_root() / 'ogb' / folder}"
        )

    load, ask = torch.load, module.decide_download
    torch.load = functools.partial(load, weights_only=False)
    module.decide_download, module.input = decide, never_ask
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        torch.load, module.decide_download = load, ask
        del module.input


def _may_download(url: str, name: str, folder: str) -> bool:
    """Small downloads go ahead; large ones, and those of unknown size, need $HARNESS_DOWNLOAD=1."""
    place = f"unpack {url} as {data_root() / 'ogb' / folder}"
    try:
        with urllib.request.urlopen(url) as answer:
            size = int(answer.headers["Content-Length"] or 0)
    except (OSError, ValueError, TypeError) as error:
        raise data_fault(name, KEY, f"is not there and cannot be downloaded ({error}); {place}") from error
    if os.environ.get(ALLOW) != "1" and not 0 < size <= ASK_ABOVE_BYTES:
        amount = f"{size / 2**30:.1f} GB" if size else "of unknown size"
        raise data_fault(
            name, KEY, f"is not there, and the download is {amount}; set {ALLOW}=1 to allow it, or {place}"
        )
    return True
