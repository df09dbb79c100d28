"""The store of records: one JSON file per run id, whole or absent, shared by all specs."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable
from pathlib import Path

from filelock import FileLock
from pydantic import ValidationError

from harness.records.files import write_atomically
from harness.records.record import Record

_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def _to_stderr(message: str) -> None:
    print(f"warning: {message}", file=sys.stderr)


class RecordStore:
    """Records by run id under one folder, ``results/runs``.

    A file that is no record of this version (cut short, edited, written by another version of the harness) counts as
    absent: it is moved aside with a warning and the run is made again.

    Args:
        root: the folder; made when the first record is written.
        warn: called with one line when a file is moved aside.
    """

    def __init__(self, root: Path, warn: Callable[[str], None] = _to_stderr) -> None:
        self.root = root
        self._warn = warn

    def path(self, run_id: str) -> Path:
        """Where the record of this run is, or will be.

        Raises:
            ValueError: the id is no plain file name.
        """
        if not _RUN_ID.fullmatch(run_id):
            raise ValueError(f"run id {run_id!r} is not a plain file name")
        return self.root / f"{run_id}.json"

    def log_path(self, run_id: str) -> Path:
        """Where the run's stdout and stderr go."""
        return self.root / "logs" / self.path(run_id).with_suffix(".log").name

    def has(self, run_id: str) -> bool:
        """Whether there is a file for this run; cheap, and does not read it."""
        return self.path(run_id).exists()

    def run_ids(self) -> list[str]:
        """Ids of all runs that have a file, sorted."""
        return sorted(path.stem for path in self.root.glob("*.json") if _RUN_ID.fullmatch(path.stem))

    def read(self, run_id: str) -> Record | None:
        """The record, or None where there is none that this version can read."""
        path = self.path(run_id)
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            self._move_aside(path, f"cannot be read ({error})")
            return None
        try:
            record = Record.model_validate_json(text)
        except ValidationError as error:
            self._move_aside(path, _why_foreign(text, error))
            return None
        if record.run_id != run_id:
            self._move_aside(path, f"is the record of another run ({record.run_id})")
            return None
        return record

    def write(self, record: Record) -> Path:
        """Write the record; a reader sees all of it or nothing.

        Raises:
            InputError: the disk is full or the folder cannot be written.
        """
        path = self.path(record.run_id)
        write_atomically(path, record.model_dump_json(indent=1) + "\n")
        return path

    def lock(self, run_id: str) -> FileLock:
        """The lock of whoever makes this run. The kernel frees it when its owner dies, however it dies."""
        folder = self.root / "locks"
        folder.mkdir(parents=True, exist_ok=True)
        return FileLock(folder / f"{self.path(run_id).stem}.lock")

    def forget(self, statuses: Collection[str], run_ids: Iterable[str]) -> list[str]:
        """Remove those of the given runs whose record has one of the statuses, so that they run again.

        Returns:
            The run ids forgotten, in the order given.
        """
        forgotten = []
        for run_id in run_ids:
            record = self.read(run_id)
            if record is not None and record.status in statuses:
                self.path(run_id).unlink(missing_ok=True)
                forgotten.append(run_id)
        return forgotten

    def _move_aside(self, path: Path, why: str) -> None:
        aside = path.with_name(f"{path.stem}.unreadable-{os.getpid()}")
        try:
            path.replace(aside)
            self._warn(f"{path} {why}; moved to {aside.name}, the run will be made again")
        except FileNotFoundError:
            return  # another process moved it first
        except OSError as error:
            self._warn(f"{path} {why}; it could not be moved aside ({error.strerror}), the run will be made again")


def _why_foreign(text: str, error: ValidationError) -> str:
    """Why a file is no record of this version, in a few words."""
    try:
        found = json.loads(text)
    except ValueError:
        return "is not whole"
    if isinstance(found, dict) and found.get("version") != 1:
        return f"was written by another version of the harness (record version {found.get('version')!r}, not 1)"
    first = error.errors()[0]
    return f"is no record of this version ({'.'.join(map(str, first['loc']))}: {first['msg']})"
