"""The fork server: a process that has imported torch and PyG once, and forks a child for each run.

``python -m harness.runs.server <scratch> <warm-up> <module> …`` is started by `supervisor.ForkServer` and speaks
JSON lines: requests on stdin, replies on what was stdout. Importing torch and PyG takes seconds, a fork 0.01 to 0.1.

What keeps a fork safe: this process runs one thread and no parallel torch operation, numba ``prange`` or BLAS call (a
child of a process with a thread pool hangs or aborts), never touches CUDA (a context does not survive a fork) and never
imports ogb (whose import starts a thread).

Who dies with whom: this process ends when stdin closes, i.e. with its supervisor however that died, and takes the
child's process group with it; the child has the kernel's word that it is killed when this process dies.

Requests:  ``{"function", "requests", "log", "result", "phases", "memory_bytes"}``: ``module:name`` of a function that
           takes the `RunRequest`s (each as JSON text) and ``report(phase)`` and returns a pydantic model
Replies:   ``{"event": "ready", "environment"}``, ``{"event": "started", "pid", "anonymous_bytes"}``,
           ``{"event": "ended", "code"}`` (an exit code, or minus a signal)
"""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import importlib
import json
import os
import resource
import select
import shutil
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from pydantic import BaseModel

from harness.runs.failure import failure_of
from harness.runs.process import anonymous_bytes, die_with_parent, lift_data_limit, limit_data, prefer_as_victim
from harness.runs.request import Diverged, RunRequest


class _Parent:
    """The server's side of the conversation, and its one child at a time."""

    def __init__(self, replies: int) -> None:
        self._replies = replies
        self._requests = sys.stdin.fileno()
        self._pending = b""
        self._woken, self._waker = os.pipe()
        os.set_blocking(self._waker, False)
        signal.set_wakeup_fd(self._waker)
        signal.signal(signal.SIGCHLD, lambda *_: None)  # a handler, so that the wake-up pipe is written
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the supervisor's to handle

    def say(self, **reply: Any) -> None:
        with contextlib.suppress(BrokenPipeError):  # the supervisor is gone; stdin, closed too, will say so
            os.write(self._replies, (json.dumps(reply) + "\n").encode())

    def serve(self) -> None:
        """Fork a child for each request until the supervisor closes the pipe."""
        while (request := self._next_request()) is not None:
            pid = self._fork(request)
            code = self._wait(pid)
            if code is None:
                return
            self.say(event="ended", code=code)

    def _next_request(self) -> dict[str, Any] | None:
        while b"\n" not in self._pending:
            if not self._read_more():
                return None
        line, _, self._pending = self._pending.partition(b"\n")
        request: dict[str, Any] = json.loads(line)
        return request

    def _read_more(self) -> bool:
        """Wait for input; False when the supervisor has closed the pipe or died."""
        more = os.read(self._requests, 1 << 16)
        self._pending += more
        return bool(more)

    def _fork(self, request: dict[str, Any]) -> int:
        server = os.getpid()
        present = anonymous_bytes(server)
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            for inherited in (self._replies, self._woken, self._waker):
                os.close(inherited)
            _be_child(server, request)
        _own_group(pid)  # in both processes, so that neither can be ahead of it
        self.say(event="started", pid=pid, anonymous_bytes=present)
        return pid

    def _wait(self, pid: int) -> int | None:
        """Exit code of the child; None when the supervisor went away, and the child with it."""
        while True:
            status = _reap(pid)
            if status is not None:
                return os.waitstatus_to_exitcode(status)
            ready, _, _ = select.select([self._requests, self._woken], [], [])
            if self._woken in ready:
                os.read(self._woken, 4096)
            if self._requests in ready and not self._read_more():
                _kill_group(pid)
                os.waitpid(pid, 0)
                return None


def _reap(pid: int) -> int | None:
    """Wait status of the child if it has ended; what it started itself ends with it."""
    if hasattr(os, "waitid"):
        if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            return None
        _kill_group(pid)  # before the pid is given back, so that no other group can have it
        return os.waitpid(pid, 0)[1]
    ended, status = os.waitpid(pid, os.WNOHANG)  # macOS before Python 3.13
    if ended:
        _kill_group(pid)
    return status if ended else None


def _own_group(pid: int) -> None:
    try:
        os.setpgid(pid, pid)
    except (PermissionError, ProcessLookupError):
        return  # the other process did it first, or the child is over already


def _kill_group(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except (PermissionError, ProcessLookupError):
        return  # nothing left in it (macOS answers EPERM for a group of zombies)


def _be_child(server: int, request: dict[str, Any]) -> NoReturn:
    """Run one function and leave its outcome, or what went wrong, in the result file."""
    code = 1
    try:
        _own_group(0)
        die_with_parent(server)
        _redirect(Path(request["log"]))
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        prefer_as_victim()
        if request["memory_bytes"] is not None:
            limit_data(request["memory_bytes"])
        answer = _answer(request)
        partial = Path(request["result"] + ".partial")
        partial.write_text(json.dumps(answer))
        partial.replace(request["result"])
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        # No interpreter shutdown: it would run the exit hooks of a process that this one is only a copy of.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _redirect(log: Path) -> None:
    """Send stdout and stderr, of native code too, to the log; read nothing."""
    log.parent.mkdir(parents=True, exist_ok=True)
    to = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o644)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(to, 1)
    os.dup2(to, 2)
    os.close(to)
    os.close(nothing)
    faulthandler.enable()  # a crash in native code says where it was


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    phases = os.open(request["phases"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def report(phase: str) -> None:
        os.write(phases, f"{phase}\n".encode())

    try:
        report("start")
        requests = [RunRequest.model_validate_json(r) for r in request["requests"]]
        outcome: BaseModel = function_at(request["function"])(*requests, report)
        return {"status": "ok", "outcome": outcome.model_dump(mode="json")}
    except BaseException as error:
        lift_data_limit()
        traceback.print_exc()
        failure = failure_of(error)
        counted = error.outcome if isinstance(error, Diverged) else None
        so_far = {} if counted is None else {"outcome": counted.model_dump(mode="json")}
        return {"status": failure.status, "message": failure.message, **so_far}


def function_at(path: str) -> Callable[..., Any]:
    """The function that ``module:name`` names."""
    module, _, name = path.partition(":")
    function: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return function


def main() -> None:
    """Import what the runs need, then serve."""
    replies = os.dup(1)
    os.dup2(2, 1)  # whatever a library prints must not end up between the replies
    scratch, warm_up, modules = Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
    parent = _Parent(replies)
    sys.modules["outdated"] = None  # type: ignore[assignment]  # ogb's import would query the network in a thread
    for module in modules:
        importlib.import_module(module)
    if warm_up:
        function_at(warm_up)()
    # Objects that live for ever are taken out of collection, or the child's first collection would copy every page.
    gc.collect()
    gc.freeze()
    parent.say(event="ready", environment=_environment() if "torch" in modules else {})
    try:
        parent.serve()
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _environment() -> dict[str, Any]:
    from harness.runs.environment import environment

    return environment("cpu")


if __name__ == "__main__":
    main()
