"""Memory of this process while something runs, looked at every few milliseconds."""

from __future__ import annotations

import threading
from types import TracebackType

from harness.runs.process import sizes

_EVERY_S = 0.02


class WatchedMemory:
    """Peaks within the ``with``: of all resident pages, and of anonymous ones, which files do not back.

    Attributes:
        resident, anonymous: bytes, peaks.
        base: anonymous bytes at the start.
    """

    def __enter__(self) -> WatchedMemory:
        self.base = sizes()["RssAnon"]
        self.resident = self.anonymous = 0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._done.set()
        self._thread.join()
        self._look()

    def _watch(self) -> None:
        while not self._done.wait(_EVERY_S):
            self._look()

    def _look(self) -> None:
        present = sizes()
        self.anonymous = max(self.anonymous, present["RssAnon"])
        self.resident = max(self.resident, present["RssAnon"] + present["RssFile"] + present["RssShmem"])
