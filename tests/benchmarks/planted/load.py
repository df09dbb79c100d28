"""A process beside which it is hard to measure: busy threads, and no child of the process that measures."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def busy_threads(count: int) -> Iterator[None]:
    """So many threads of another process compute until the block ends.

    The process is handed over to init: a child of this one would count as part of the timing job, and the load of
    others would read 0.
    """
    command = [sys.executable, __file__, str(count)]
    started = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert started.stdin is not None
    assert started.stdout is not None
    try:
        if started.stdout.readline() != b"busy\n":
            raise SystemExit("the competing process did not start")
        started.wait()
        yield
    finally:
        started.stdin.close()
        started.stdout.read()  # until it has ended


def main(count: int) -> None:
    """Compute until stdin ends."""
    if os.fork():
        os._exit(0)
    for _ in range(count):
        threading.Thread(target=_compute, daemon=True).start()
    os.write(1, b"busy\n")
    sys.stdin.buffer.read()


def _compute() -> None:
    data = bytes(1 << 20)
    while True:
        hashlib.sha256(data).digest()  # without the interpreter's lock: a millisecond of work


if __name__ == "__main__":
    main(int(sys.argv[1]))
