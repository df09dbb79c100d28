"""The fingerprints of a graph's parts, kept beside `graph.json`: what it is that differs between two graphs."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from harness.graphs.fingerprint import ARRAYS, EDGE_ATTR, part_fingerprints
from harness.graphs.graph import Graph
from harness.records.data_version import DataParts, DataVersion
from harness.records.files import write_atomically
from harness.spec.errors import InputError

FILE = "fingerprints.json"


def data_version(graph: Graph) -> DataVersion:
    """Builder and fingerprints of a prepared graph.

    They are read from `FILE` where it is of these arrays; else all arrays are read and hashed once, which takes about a
    second a gigabyte, and kept there. `graph.json` itself never changes after it is written.
    """
    path, meta = graph.path / FILE, graph.meta
    kept = _read(path)
    if kept is not None and (kept.builder_version, kept.fingerprint) == (meta.builder_version, meta.fingerprint):
        return kept
    arrays = {name: getattr(graph, name) for name in ARRAYS}
    if graph.edge_attr is not None:
        arrays[EDGE_ATTR] = graph.edge_attr
    parts = DataParts(**part_fingerprints(arrays, meta.num_classes))
    found = DataVersion(builder_version=meta.builder_version, fingerprint=meta.fingerprint, parts=parts)
    with suppress(InputError):  # a folder that cannot be written costs the hashing again, and nothing else
        write_atomically(path, found.model_dump_json(indent=1) + "\n")
    return found


def _read(path: Path) -> DataVersion | None:
    try:
        return DataVersion.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None
