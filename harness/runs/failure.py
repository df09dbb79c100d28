"""What an exception in a run amounts to: a status and one line. Knows torch's errors by their words, not by import."""

from __future__ import annotations

from dataclasses import dataclass

from harness.records.one_line import one_line
from harness.records.record import Status
from harness.runs.request import Diverged, Unsupported

# Words of allocators that had no memory to give. Anything else is never called `oom`.
_ALLOCATORS = (
    "can't allocate memory",  # torch, CPU
    "not enough memory",  # torch, CPU, other platforms
    "CUDA out of memory",
    "HIP out of memory",
    "CUDA error: out of memory",
    "CUBLAS_STATUS_ALLOC_FAILED",
    "CUDNN_STATUS_ALLOC_FAILED",
    "std::bad_alloc",
    "Cannot allocate memory",  # ENOMEM, e.g. of mmap
    "Unable to allocate",  # numpy
)


@dataclass(frozen=True)
class Failure:
    """How a run failed."""

    status: Status
    message: str


def failure_of(error: BaseException) -> Failure:
    """Status and message of a run that ended with this exception.

    Only what an allocator itself says is `oom`; a loss that is not finite is `diverged`; what the library or the
    hardware cannot do is `unsupported`; everything else is `error`.
    """
    if isinstance(error, Diverged):
        return Failure("diverged", one_line(str(error)))
    if isinstance(error, Unsupported):
        return Failure("unsupported", one_line(str(error)))
    status: Status = "oom" if isinstance(error, MemoryError) or speaks_of_no_memory(str(error)) else "error"
    return Failure(status, one_line(f"{type(error).__name__}: {error}"))


def speaks_of_no_memory(text: str) -> bool:
    """Whether this is an allocator's message."""
    return any(words in text for words in _ALLOCATORS)
