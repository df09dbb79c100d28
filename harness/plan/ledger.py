"""Tensors that come and go within a training step, and the most that is held at once, by part."""

from __future__ import annotations

from collections import Counter

MAPPED = 32 * 2**20  # glibc maps what is larger by itself, and gives it back; the rest lies in its heap (mallopt(3))


class Ledger:
    """What is held, part by part.

    Attributes:
        peak: bytes by part at the moment when most was held.
        heap: the most that tensors below `MAPPED` held at once, bytes.
        mapped: the most that larger ones did.
    """

    def __init__(self) -> None:
        self.peak: Counter[str] = Counter()
        self.heap = self.mapped = 0.0
        self._held: Counter[str] = Counter()
        self._heap = self._mapped = 0.0

    def take(self, part: str, size: float) -> tuple[str, float]:
        """A tensor of so many bytes; what `give` takes back."""
        self._add(part, size)
        self.heap, self.mapped = max(self.heap, self._heap), max(self.mapped, self._mapped)
        if sum(self._held.values()) > sum(self.peak.values()):
            self.peak = Counter(self._held)
        return part, size

    def give(self, *tensors: tuple[str, float]) -> None:
        """They are freed."""
        for part, size in tensors:
            self._add(part, -size)

    def _add(self, part: str, size: float) -> None:
        self._held[part] += size  # type: ignore[assignment]  # bytes, expected: not whole
        if abs(size) < MAPPED:
            self._heap += size
        else:
            self._mapped += size
