"""The device's own clock: CUDA events, read beside the host's clock."""

from __future__ import annotations

import torch


class DeviceClock:
    """Seconds between two points in a CUDA device's queue, by the device itself.

    Both are put into the present stream; neither waits for anything. To be read after the device was waited for.

    Attributes:
        epoch_s: seconds of whole epochs, for whoever measures them.
    """

    def __init__(self) -> None:
        self._begin, self._end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        self.epoch_s: list[float] = []

    def start(self) -> None:
        """The span begins when the device gets here."""
        self._begin.record()

    def stop(self) -> None:
        """The span ends when the device gets here."""
        self._end.record()

    def read_s(self) -> float:
        """Seconds of the last span; resolution about half a microsecond."""
        return float(self._begin.elapsed_time(self._end)) / 1e3


def device_clock(device: torch.device) -> DeviceClock | None:
    """A clock of this device; None for the CPU, whose work is done when a call returns."""
    return DeviceClock() if device.type == "cuda" else None
