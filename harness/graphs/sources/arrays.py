"""A person's array files, read without ever running code from them; every mistake names file, key and remedy."""

from __future__ import annotations

import tokenize
import zipfile
import zlib
from pathlib import Path

import numpy as np
import scipy.sparse

from harness.graphs.faults import data_fault

# what numpy raises for a file that is cut short or garbled, a header of any text among it
DAMAGED = (
    OSError,
    EOFError,
    zipfile.BadZipFile,
    zlib.error,
    KeyError,
    SyntaxError,
    tokenize.TokenError,
    OverflowError,
    MemoryError,
    RecursionError,
)
MAGIC = b"\x93NUMPY"
PICKLED = "holds Python objects, which could run code when they are read; save plain arrays (numbers, strings)"


def check_suffix(path: Path, key: str, allowed: tuple[str, ...]) -> str:
    """The suffix of `path`, without a trailing .gz.

    Raises:
        InputError: it is none of `allowed`.
    """
    name = path.name.lower().removesuffix(".gz")
    for suffix in allowed:
        if name.endswith(suffix):
            return suffix
    raise data_fault(path, key, f"unknown file type '{path.suffix}'; allowed: {', '.join(allowed)}")


def read_npz(path: Path, key: str, wanted: set[str] | None = None) -> dict[str, np.ndarray]:
    """The arrays of an npz file, or those of them that are wanted.

    Raises:
        InputError: it is not an npz file, is damaged, or a wanted array holds Python objects.
    """
    try:
        archive = np.load(path, allow_pickle=False)
    except ValueError:
        raise data_fault(path, key, "is not an npz file (it may be a pickle); write it with numpy.savez") from None
    except DAMAGED as error:
        raise data_fault(
            path, key, f"cannot be read as npz ({error}); it may be cut short: write or copy it again"
        ) from None
    if isinstance(archive, np.ndarray):
        raise data_fault(path, key, "holds a single array, as npy does; write an npz with numpy.savez, or name it .npy")
    with archive:
        names = [name for name in archive.files if wanted is None or name in wanted]
        return {name: _member(archive, name, path, key) for name in names}


def _member(archive: np.lib.npyio.NpzFile, name: str, path: Path, key: str) -> np.ndarray:
    try:
        return archive[name]
    except ValueError as error:
        why = PICKLED if "allow_pickle" in str(error) else f"is damaged ({error}); write it again"
        raise data_fault(path, key, f"array {name} {why}") from None
    except DAMAGED as error:
        raise data_fault(path, key, f"array {name} is damaged ({error}); write or copy the file again") from None


def read_npy(path: Path, key: str) -> np.ndarray:
    """The array of an npy file, as a read-only memory map.

    Raises:
        InputError: it is not an npy file, is damaged, or holds Python objects.
    """
    try:
        with path.open("rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise data_fault(path, key, "is not an npy file (text, a pickle, or an npz); write it with numpy.save")
        array: np.ndarray = np.load(path, mmap_mode="r", allow_pickle=False)
    except ValueError as error:
        why = PICKLED if "object" in str(error) else f"cannot be read as npy ({error}); write it with numpy.save"
        raise data_fault(path, key, why) from None
    except DAMAGED as error:
        raise data_fault(path, key, f"cannot be read as npy ({error}); write or copy it again") from None
    return array


def is_scipy_sparse(arrays: dict[str, np.ndarray]) -> bool:
    """The npz was written by scipy.sparse.save_npz."""
    return "format" in arrays and "shape" in arrays


def read_scipy_sparse(path: Path, key: str) -> scipy.sparse.coo_matrix:
    """A matrix written by scipy.sparse.save_npz, as COO.

    Raises:
        InputError: it is damaged or its indices do not fit its shape.
    """
    try:
        matrix = scipy.sparse.coo_matrix(scipy.sparse.load_npz(path))
    except (ValueError, NotImplementedError, IndexError, *DAMAGED) as error:
        raise data_fault(
            path, key, f"is not a sound sparse matrix ({error}); write it with scipy.sparse.save_npz"
        ) from None
    for name, ids, size in (("row", matrix.row, matrix.shape[0]), ("column", matrix.col, matrix.shape[1])):
        if len(ids) and (ids.min() < 0 or ids.max() >= size):
            wrong = ids.min() if ids.min() < 0 else ids.max()
            raise data_fault(path, key, f"has an entry in {name} {wrong}, but shape {matrix.shape}; write it again")
    return matrix


def compressed_rows(
    indptr: np.ndarray, indices: np.ndarray, rows: int, columns: int, names: tuple[str, str], path: Path, key: str
) -> tuple[np.ndarray, np.ndarray]:
    """A checked CSR structure: int64 row pointer, integer columns.

    Args:
        indptr: row pointer, ``[rows + 1]``.
        indices: column of each entry.
        rows, columns: shape.
        names: what the file calls the two arrays.
        path, key: for messages.

    Raises:
        InputError: the pointer has another length, does not start at 0, falls, or does not end at the number of
            entries; or a column is outside [0, columns).
    """
    pointer, entries = names
    for name, array in zip(names, (indptr, indices), strict=True):
        if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer):
            raise data_fault(
                path, key, f"array {name} is {array.dtype} {list(array.shape)}; it must be 1-d and integer"
            )
    if len(indptr) != rows + 1:
        raise data_fault(path, key, f"array {pointer} has {len(indptr)} entries; {rows} rows need {rows + 1}")
    indptr = indptr.astype(np.int64)
    if indptr[0] != 0 or indptr[-1] != len(indices):
        raise data_fault(
            path, key, f"array {pointer} runs from {indptr[0]} to {indptr[-1]}; it must run from 0 to {len(indices)}"
        )
    falls = np.flatnonzero(np.diff(indptr) < 0)
    if len(falls):
        raise data_fault(
            path, key, f"array {pointer} falls at row {falls[0]}; a row pointer never decreases: write it again"
        )
    if len(indices) and (indices.min() < 0 or indices.max() >= columns):
        at = int(np.flatnonzero((indices < 0) | (indices >= columns))[0])
        raise data_fault(path, key, f"array {entries} has {indices[at]} at {at}; allowed is 0 .. {columns - 1}")
    return indptr, indices
