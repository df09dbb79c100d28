"""Features in float16: converted in pieces, refused where one does not fit, and a copy on disk for runs to map."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from filelock import FileLock

from harness.graphs.features import row_slices, write_npy_header
from harness.graphs.folders import clear_disk_messages

LARGEST = 65504  # that float16 holds


class TooLargeForHalf(ValueError):
    """A feature that float16 would hold as an infinity; the message names the largest one, and a remedy."""


@dataclass(frozen=True)
class HalfCopy:
    """The features of a graph in float16, on disk.

    Attributes:
        x: read-only memory map, float16, ``[num_nodes, features]``.
        underflowed: values other than 0 that became 0.
        seconds: what making it took, whenever that was.
    """

    x: np.ndarray
    underflowed: int
    seconds: float


def halves(x: np.ndarray) -> Iterator[tuple[slice, np.ndarray, int]]:
    """The rows in float16, rounded to the nearest, in pieces of about 16 MB: which rows, what they hold, and how many
    of their values other than 0 became 0 (those up to 2**-25).

    Args:
        x: finite, float32, ``[num_nodes, features]``.

    Raises:
        TooLargeForHalf: a value becomes an infinity.
    """
    for chunk in row_slices(*x.shape):
        piece = np.asarray(x[chunk])
        with np.errstate(over="ignore"):
            half = piece.astype(np.float16)
        if np.isinf(half).any():
            largest = max(float(np.abs(x[rows]).max()) for rows in row_slices(*x.shape))
            raise TooLargeForHalf(
                f"precision: fp16-features: the largest feature is {largest:g} and float16 holds at most {LARGEST}; "
                "scale the features (dataset.transform: {scale: standard}), or store them in float32"
            )
        yield chunk, half, int(np.count_nonzero(piece) - np.count_nonzero(half))


def half_copy(folder: Path, x: np.ndarray) -> HalfCopy:
    """The float16 copy beside a prepared graph's `x.npy`, made where it is not there yet.

    Several processes may ask at once: one makes it, the others wait. In memory is one piece at a time. It is whole
    or not there: the file is renamed when it is written. One that was damaged since is made again. A graph that is
    prepared anew has a new folder.

    Args:
        folder: of the prepared graph.
        x: its features, float32, ``[num_nodes, features]``.

    Raises:
        TooLargeForHalf: a feature does not fit.
        InputError: the disk is full or may not be written.
    """
    path, facts = folder / "x.float16.npy", folder / "x.float16.json"
    with clear_disk_messages(folder), FileLock(folder / "x.float16.lock"):
        copy = _read(path, facts, x.shape)
        if copy is None:
            _write(path, facts, x)
            copy = _read(path, facts, x.shape)
    assert copy is not None
    return copy


def _read(path: Path, facts: Path, shape: tuple[int, ...]) -> HalfCopy | None:
    """The copy; None where it is not there, or not the whole of a table of this shape."""
    try:
        found = json.loads(facts.read_text(encoding="utf-8"))
        rows = np.load(path, mmap_mode="r", allow_pickle=False)
        copy = HalfCopy(rows, found["underflowed"], found["seconds"])
    except (FileNotFoundError, EOFError, ValueError, KeyError, TypeError):
        return None
    return copy if rows.shape == shape and rows.dtype == np.float16 else None


def _write(path: Path, facts: Path, x: np.ndarray) -> None:
    started, underflowed = time.perf_counter(), 0
    partial = path.with_name(f".{path.name}.partial")
    try:
        with partial.open("wb") as file:
            write_npy_header(file, x.shape, np.dtype("<f2"))
            for _, half, lost in halves(x):
                file.write(memoryview(half).cast("B"))
                underflowed += lost
        found = {"underflowed": underflowed, "seconds": round(time.perf_counter() - started, 6)}
        facts.write_text(json.dumps(found), encoding="utf-8")
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
