"""What a step needs, brought to the device while the step before it computes.

CUDA runs one stream's work in order, so that copies overlap with computing only on a stream of their own. torch's rules
for that (its notes on CUDA semantics, and `Tensor.record_stream`):

- A copy from the host runs beside it only from pinned memory, with ``non_blocking``. torch keeps the pinned memory
  until the copy is done.
- What one stream wrote, another may read only behind an event recorded after it.
- A tensor's memory belongs to the stream it was made on, which may use it again as soon as the tensor is gone. Who uses
  it on another stream says so by ``record_stream``; then the memory waits for that stream too.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Arriving:
    """Tensors that may still be on their way to the device."""

    _tensors: tuple[torch.Tensor, ...]
    _written: torch.cuda.Event | None

    def ready(self) -> tuple[torch.Tensor, ...]:
        """The tensors, for work queued on this thread's present stream from now on. The host does not wait."""
        if self._written is not None:
            stream = torch.cuda.current_stream(self._tensors[0].device)
            stream.wait_event(self._written)
            for tensor in self._tensors:
                tensor.record_stream(stream)
        return self._tensors


class SideStream:
    """A stream for the background threads of a loader; on the CPU there is none, and everything is there at once.

    One stream serves all threads: the device has one copy engine each way, and memory freed on one stream is not used
    again on another. Made where what it reads (a cache on the device) is made: it waits for what was queued by then.

    Args:
        device: where tensors go.
    """

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._stream: torch.cuda.Stream | None = None
        if device.type == "cuda":
            self._stream = torch.cuda.Stream(device)
            self._stream.wait_stream(torch.cuda.current_stream(device))

    def current(self) -> AbstractContextManager[object]:
        """Within it this thread's work for the device goes to the side stream."""
        return nullcontext() if self._stream is None else torch.cuda.stream(self._stream)

    def send(self, *tensors: torch.Tensor) -> Arriving:
        """Send tensors to the device, those that are there already as they are. Within `current` alone.

        Args:
            tensors: at least one; on the device, or in the host's memory, which must not be written to any more.
        """
        moved = tuple(self._moved(tensor) for tensor in tensors)
        return Arriving(moved, None if self._stream is None else self._stream.record_event())

    def _moved(self, tensor: torch.Tensor) -> torch.Tensor:
        if self._stream is None or tensor.device.type == "cuda":
            return tensor
        return tensor.pin_memory().to(self._device, non_blocking=True)
