"""How long a job still takes, from the runs it has made."""

from __future__ import annotations

from datetime import datetime

from harness.records.record import Record


class Remaining:
    """Mean seconds of the runs seen so far, times the runs still to make."""

    def __init__(self) -> None:
        self._seconds: list[float] = []

    def saw(self, record: Record) -> None:
        """Count a run, made now or before."""
        self._seconds.append(seconds_of(record))

    def words(self, runs_left: int) -> str:
        """E.g. ``about 1:20 left``; empty where nothing is left or nothing is known."""
        if runs_left <= 0 or not self._seconds:
            return ""
        seconds = round(runs_left * sum(self._seconds) / len(self._seconds))
        hours, minutes, seconds = seconds // 3600, seconds // 60 % 60, seconds % 60
        clock = f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"
        return f"about {clock} left"


def seconds_of(record: Record) -> float:
    """What a run took on the clock."""
    seconds = (datetime.fromisoformat(record.ended_at) - datetime.fromisoformat(record.started_at)).total_seconds()
    return max(0.0, seconds)
