"""Columns of csv, tsv and parquet files.

Pandas is imported where a table is read: all other data, the builtin graph among them, do without it.
"""

from __future__ import annotations

import csv
import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, cast

import numpy as np

from harness.graphs.faults import data_fault

if TYPE_CHECKING:
    import pandas as pd

_TEXT = "utf-8-sig"
_GZIP = b"\x1f\x8b"
_BEYOND = 2.0**53  # from here on a double does not tell whole numbers apart


def read_table(path: Path, key: str, suffix: str) -> pd.DataFrame:
    """The columns of a table of numbers; the first line is a header if one of its fields is not a number.

    Fields are separated by commas, semicolons, tabs or blanks; lines that start with `#` are comments.

    Raises:
        InputError: the file is empty, or is not such a table.
    """
    import pandas as pd

    with _plain_faults(path, key):
        if suffix == ".parquet":
            return pd.read_parquet(path)
        first = _first_line(path)
        separator = next((mark for mark in (",", ";", "\t") if mark in first), r"\s+")
        fields = first.split() if separator == r"\s+" else first.split(separator)
        header = None if all(is_number(field) for field in fields) else 0
        return pd.read_csv(path, sep=separator, header=header, comment="#", skipinitialspace=True)


def read_text_rows(path: Path, key: str) -> pd.DataFrame:
    """All rows of a csv or tsv file as text, the first too; an empty line is a row, an empty field is missing.

    Lines above the first row that start with `#` are comments, unless rows below do so too: those are words then.

    Raises:
        InputError: the file is empty, or rows have different numbers of fields.
    """
    import pandas as pd

    with _plain_faults(path, key):
        comments = _comments_above(path)
        first = _first_line(path, comments)
        separator = next((mark for mark in (",", ";", "\t") if mark in first), ",")
        options = {"keep_default_na": False, "na_values": [""], "skip_blank_lines": False, "skipinitialspace": True}
        columns = range(len(next(csv.reader([first], delimiter=separator), [""])))  # the first row may be empty
        return pd.read_csv(path, sep=separator, header=None, names=columns, skiprows=comments, dtype=str, **options)


@contextmanager
def _plain_faults(path: Path, key: str) -> Iterator[None]:
    import pandas as pd

    try:
        yield
    except pd.errors.EmptyDataError:
        raise data_fault(path, key, "is empty; write one row a line") from None
    except UnicodeDecodeError as error:
        why = f"byte 0x{error.object[error.start]:02x} is none"
        remedy = "name it .gz if it is compressed" if error.object.startswith(_GZIP) else "save it as UTF-8"
        raise data_fault(path, key, f"is not text in UTF-8 ({why}); {remedy}") from None
    except (ValueError, OSError, EOFError, zlib.error) as error:  # the parsers of pandas and pyarrow raise ValueErrors
        text = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise data_fault(
            path, key, f"cannot be read as a table ({text}); write one row a line, fields separated by commas"
        ) from None


def whole_number_column(table: pd.DataFrame, column: object, path: Path, key: str, remedy: str) -> np.ndarray:
    """A column of integers, int64.

    Raises:
        InputError: a field is empty, text, or not whole; the message has the row.
    """
    import pandas as pd

    values = table[column]
    if pd.api.types.is_signed_integer_dtype(values.dtype) and not values.hasnans:
        return values.to_numpy(dtype=np.int64)
    numbers = pd.to_numeric(values, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    wrong = np.flatnonzero(~((numbers == np.floor(numbers)) & (np.abs(numbers) < _BEYOND)))
    if not len(wrong) and not pd.api.types.is_float_dtype(values.dtype):
        return numbers.astype(np.int64)
    at = int(wrong[0]) if len(wrong) else 0
    field = "nothing" if pd.isna(values.iloc[at]) else repr(values.iloc[at : at + 1].tolist()[0])
    raise data_fault(path, key, f"row {at + 1} of column {column!r} holds {field}; {remedy}")


@contextmanager
def _lines(path: Path) -> Iterator[TextIO]:
    """A file's text; the mark that some programs put before it (a byte order mark) is no part of the first field."""
    with gzip.open(path, "rt", encoding=_TEXT) if path.suffix == ".gz" else path.open(encoding=_TEXT) as file:
        yield cast(TextIO, file)


def _first_line(path: Path, skipped: int | None = None) -> str:
    """The first that holds something, after `skipped` lines; else after all that start with `#`."""
    with _lines(path) as file:
        for line in islice(file, skipped, None):
            if line.strip() and not (skipped is None and line.startswith("#")):
                return line.strip()
    return ""


def _comments_above(path: Path) -> int:
    """How many lines above the first row start with `#`; 0 where a row below does too, whose words these are then."""
    with _lines(path) as file:
        above = sum(1 for _ in takewhile(lambda line: line.startswith("#"), file))
        return 0 if above and any(line.startswith("#") for line in file) else above


def is_number(field: str) -> bool:
    """Whether a field of a table, perhaps in quotes, is a number; an empty one is."""
    try:
        float(field.strip().strip('"') or "nan")
    except ValueError:
        return False
    return True
