"""The features on disk: written chunk by chunk, checked, and transformed as the spec asks."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from harness.graphs.checks import check_chunk
from harness.graphs.features import write_npy_header
from harness.graphs.raw import RawGraph
from harness.graphs.scaling import apply_scale, divide_rows, fit_scale
from harness.spec.dataset import Transform


def write_features(folder: Path, raw: RawGraph, train: np.ndarray, transform: Transform | None) -> None:
    """Write `x.npy`, float32, chunk by chunk, checked and scaled.

    Raises:
        InputError: a feature is not finite.
        OSError: the disk is full.
    """
    path = folder / "x.npy"
    with path.open("wb") as file:
        write_npy_header(file, (raw.features.num_nodes, raw.features.num_features), np.dtype("<f4"))
        for first, rows in raw.features.chunks():
            check_chunk(raw, first, rows)
            file.write(memoryview(rows).cast("B"))
    if transform is not None:
        x = np.load(path, mmap_mode="r+", allow_pickle=False)
        if transform.scale is None:
            pass
        elif transform.scale == "row":
            divide_rows(x)
        else:
            apply_scale(x, fit_scale(x, train, transform.scale))
        x.flush()
