"""Columns of csv, tsv and parquet files.

Pandas is imported where a table is read: all other data, the builtin graph among them, do without it.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from harness.graphs.faults import data_fault

if TYPE_CHECKING:
    import pandas as pd


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
        header = None if all(_is_number(field) for field in fields) else 0
        return pd.read_csv(path, sep=separator, header=header, comment="#", skipinitialspace=True)


def read_text_rows(path: Path, key: str) -> pd.DataFrame:
    """All rows of a csv or tsv file as text, the first too; an empty line is a row, an empty field is missing.

    Raises:
        InputError: the file is empty, or rows have different numbers of fields.
    """
    import pandas as pd

    with _plain_faults(path, key):
        first = _first_line(path)
        separator = next((mark for mark in (",", ";", "\t") if mark in first), ",")
        options = {"keep_default_na": False, "na_values": [""], "skip_blank_lines": False, "skipinitialspace": True}
        return pd.read_csv(path, sep=separator, header=None, dtype=str, **options)


@contextmanager
def _plain_faults(path: Path, key: str) -> Iterator[None]:
    import pandas as pd

    try:
        yield
    except pd.errors.EmptyDataError:
        raise data_fault(path, key, "is empty; write one row a line") from None
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
    if pd.api.types.is_integer_dtype(values.dtype) and not values.hasnans:
        return values.to_numpy(dtype=np.int64)
    numbers = pd.to_numeric(values, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    wrong = np.flatnonzero(~(numbers == np.floor(numbers)))
    if not len(wrong) and not pd.api.types.is_float_dtype(values.dtype):
        return numbers.astype(np.int64)
    at = int(wrong[0]) if len(wrong) else 0
    field = "nothing" if pd.isna(values.iloc[at]) else repr(values.iloc[at])
    raise data_fault(path, key, f"row {at + 1} of column {column!r} holds {field}; {remedy}")


def _first_line(path: Path) -> str:
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                return line.strip()
    return ""


def _is_number(field: str) -> bool:
    try:
        float(field.strip() or "nan")
    except ValueError:
        return False
    return True
