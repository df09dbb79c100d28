"""Peak memory of the training, over what the process held before it.

What is counted
    CPU: anonymous memory (tensors, arrays, allocator's arenas), because that is what a machine must have for the
    training not to fail. Pages of files, i.e. the memory maps of the graph and the libraries' code, are left out:
    the kernel takes them back under pressure, and how many are resident depends on who read the files before.
    So `features.home: disk` shows what it saves.
    CUDA: bytes the caching allocator gave out, beside the bytes it reserved from the device.

How, on Linux
    Writing 5 to ``/proc/self/clear_refs`` sets the kernel's high-water mark ``VmHWM`` back to the present resident
    size. VmHWM counts file pages too, so the pages of files present at the end of a window are taken off:
    ``peak = VmHWM - RssFile - RssShmem``. Graphs stay mapped between epochs, so this errs by at most the file
    pages first touched within the window, and towards too small; windows are therefore single epochs, and the first
    epoch has touched nearly all. A thread that samples RssAnon would see the same but take the interpreter's lock
    within the timed epochs, and miss short peaks. The kernel keeps the mark at no cost.

At the end of each window what is held then is noted too (anonymous memory; CUDA: allocated bytes),
so that memory which grows from epoch to epoch is seen (`harness.runs.growth`).

Elsewhere (macOS)
    ``getrusage``: the whole process's peak since its start, which cannot be set back. The method is named in the record
    (counter ``memory_method``), and figures by different methods are not comparable.
"""

from __future__ import annotations

import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

from harness.records.record import Memory
from harness.runs.growth import grows, growth
from harness.runs.process import sizes

_CLEAR_REFS = Path("/proc/self/clear_refs")


class PeakMemory:
    """The largest peak over the windows opened so far, counted over the base taken when this object was made.

    Attributes:
        method: how it is measured: ``vmhwm-anonymous``, ``ru_maxrss`` or ``cuda-allocator``.
    """

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self.method = _method(device)
        self._base = 0 if device.type == "cuda" else self._resident()
        self._peaks: list[int] = []
        self._reserved: list[int] = []
        self._held: list[int] = []

    @contextmanager
    def window(self) -> Iterator[None]:
        """Measure what happens inside; the peak before it does not count."""
        self._reset()
        yield
        self._peaks.append(self._high_water())
        if self._device.type == "cuda":
            self._reserved.append(torch.cuda.max_memory_reserved(self._device))
        if self.method != "ru_maxrss":  # a mark that cannot be set back never falls
            self._held.append(self._present())

    def keep(self, last: int) -> None:
        """Drop all windows (warm-up) but the last so many."""
        for windows in (self._peaks, self._reserved, self._held):
            del windows[: max(0, len(windows) - last)]

    def read(self) -> Memory:
        """Peak over the base, bytes, and how what is held grows from window to window."""
        over_base = max(0, max(self._peaks, default=0) - self._base)
        found = Memory(peak_bytes=over_base, kind="rss", base_bytes=self._base)
        if self._device.type == "cuda":
            found = Memory(peak_bytes=over_base, kind="cuda_allocated", reserved_bytes=max(self._reserved, default=0))
        slope = growth(self._held)
        said = [f"memory grows by {slope / 1e6:.1f} MB an epoch"] if slope and grows(self._held, over_base) else []
        return found.model_copy(update={"growth_bytes_per_epoch": slope, "warnings": said})

    def _reset(self) -> None:
        if self.method == "cuda-allocator":
            torch.cuda.reset_peak_memory_stats(self._device)
        elif self.method == "vmhwm-anonymous":
            _CLEAR_REFS.write_text("5")

    def _high_water(self) -> int:
        if self.method == "cuda-allocator":
            return torch.cuda.max_memory_allocated(self._device)
        if self.method == "vmhwm-anonymous":
            present = sizes()
            return present["VmHWM"] - present["RssFile"] - present["RssShmem"]
        return _ru_maxrss()

    def _present(self) -> int:
        """Bytes held now: anonymous memory, or what CUDA's allocator gave out."""
        if self._device.type == "cuda":
            return torch.cuda.memory_allocated(self._device)
        return self._resident()

    def _resident(self) -> int:
        return sizes()["RssAnon"] if self.method == "vmhwm-anonymous" else _ru_maxrss()


def _method(device: torch.device) -> str:
    if device.type == "cuda":
        return "cuda-allocator"
    try:
        _CLEAR_REFS.write_text("5")
        return "vmhwm-anonymous" if {"VmHWM", "RssAnon", "RssFile", "RssShmem"} <= sizes().keys() else "ru_maxrss"
    except OSError:  # no /proc (macOS), or a container that shows it read-only
        return "ru_maxrss"


def _ru_maxrss() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024  # macOS counts bytes, Linux kilobytes
