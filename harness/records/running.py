"""Jobs under way: a small file each, so that whoever watches a grid knows what runs, and where, without a lock."""

from __future__ import annotations

import contextlib
import os
import socket
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import psutil
from pydantic import Field, ValidationError

from harness.spec.options import Frozen

FOLDER = "running"  # below results/<spec>
JobKind = Literal["run", "time", "confirm-run", "confirm-time"]


class RunningJob(Frozen):
    """``results/<spec>/running/<kind>-<name>.json``, there from a job's start to its end."""

    kind: JobKind
    name: str = Field(description="Of the job's variant.")
    host: str
    pid: int = Field(gt=0)
    born: float = Field(description="When the process started, seconds since 1970: a pid alone is given out again.")
    since: float = Field(description="When the job started.")
    line: str = Field("", description="The last line that it said.")
    heard: float = Field(description="When it said it.")

    @property
    def alive(self) -> bool | None:
        """Whether its process is there; None where that is another machine's to know."""
        if self.host != socket.gethostname():
            return None
        try:
            return abs(psutil.Process(self.pid).create_time() - self.born) < 1.0
        except psutil.Error:
            return False


@dataclass
class Presence:
    """A job's own file: written at its start and with each line, gone at its end.

    A disk that cannot be written costs whoever watches the news, and the job nothing.
    """

    folder: Path
    kind: JobKind
    name: str
    since: float = field(default_factory=time.time)

    @property
    def _path(self) -> Path:
        return self.folder / FOLDER / f"{self.kind}-{self.name}.json"

    def say(self, line: str) -> None:
        """Note that the job is there, and what it said last."""
        pid = os.getpid()
        job = RunningJob(
            kind=self.kind,
            name=self.name,
            host=socket.gethostname(),
            pid=pid,
            born=psutil.Process(pid).create_time(),
            since=self.since,
            line=line,
            heard=time.time(),
        )
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            whole = self._path.with_suffix(f".{pid}")
            whole.write_text(job.model_dump_json() + "\n", encoding="utf-8")
            whole.replace(self._path)

    def end(self) -> None:
        """The job is over."""
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)


def jobs_under_way(folder: Path) -> list[RunningJob]:
    """What is noted below ``results/<spec>``, the oldest first; also of jobs that were killed since."""
    found = []
    for path in (folder / FOLDER).glob("*.json"):
        with contextlib.suppress(OSError, ValidationError):
            found.append(RunningJob.model_validate_json(path.read_bytes()))
    return sorted(found, key=lambda job: (job.since, job.kind, job.name))
