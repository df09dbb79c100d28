"""Where graphs come from. In: a dataset section. Out: a `RawGraph`, unchecked, unsplit, unscaled.

One file a source; each imports its library only when it is used.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from harness.graphs.raw import RawGraph
from harness.spec.dataset import Builtin, Dataset, Files, Ogb, Pyg


def read_source(dataset: Dataset, spec_dir: Path, say: Callable[[str], None]) -> RawGraph:
    """Read or make the graph that a dataset section names.

    Raises:
        InputError: the data are missing or malformed.
    """
    if isinstance(dataset, Builtin):
        from harness.graphs.sources.builtin import read_builtin

        return read_builtin(dataset)
    if isinstance(dataset, Pyg):
        from harness.graphs.sources.pyg import read_pyg

        return read_pyg(dataset, say)
    if isinstance(dataset, Ogb):
        from harness.graphs.sources.ogb import read_ogb

        return read_ogb(dataset, say)
    if isinstance(dataset, Files):
        from harness.graphs.sources.files import read_files

        return read_files(dataset, spec_dir)
    from harness.graphs.sources.synthetic import make_synthetic

    return make_synthetic(dataset, say)
