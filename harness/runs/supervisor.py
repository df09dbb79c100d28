"""One process a run, and a record whatever happens to it.

The supervisor starts the fork server (`harness.runs.server`), hands it one run at a time, holds the run to its limits,
and turns how it ended into a status. It raises only for faults of the harness itself; a run that fails is an outcome.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any

from filelock import Timeout

from harness.plan.memory_parts import KERNELS_KEPT
from harness.records.record import Record, Status
from harness.records.store import RecordStore
from harness.runs.failure import speaks_of_no_memory
from harness.runs.lease import CPU, Device
from harness.runs.parent import GLANCE_S, check_parent, wait_for_lock
from harness.runs.process import anonymous_bytes, cgroup_oom_kills, signal_name
from harness.runs.request import Outcome, RunRequest
from harness.spec.schema import Limits

MEGABYTE = 10**6
_WATCH_S = 0.05  # between readings of a child's memory, where a limit is set
_LOG_TAIL = 4096
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
# oneDNN compiles bfloat16 kernels for each batch size, and torch keeps 1,024 of them in a cache of its own beside
# oneDNN's: of batches that are sampled none is needed again. Only both caches together let them go.
KERNEL_CACHES = dict.fromkeys(("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY"), str(KERNELS_KEPT))


@dataclass(frozen=True)
class Engine:
    """What the fork server imports and its children call; tests put small functions in the places of ours.

    Attributes:
        execute: ``module:function``, called as ``f(request, report) -> Outcome``.
        parity: likewise, ``f(reference request, variant request, report) -> Parity``.
        drawing: likewise, ``f(request, report) -> DrawnBatch``.
        preload: modules that the server imports beside those three, before the first fork.
        warm_up: what the server calls once before it, ``module:function``; None for nothing.
    """

    execute: str = "harness.runs.execute:execute"
    parity: str = "harness.runs.parity_check:run_parity"
    drawing: str = "harness.runs.drawn_batch:draw_batch"
    preload: tuple[str, ...] = ("torch", "torch_geometric")
    warm_up: str | None = "harness.runs.warm_up:warm_up"

    @property
    def modules(self) -> list[str]:
        own = (path.partition(":")[0] for path in (self.execute, self.parity, self.drawing))
        return list(dict.fromkeys([*self.preload, *own]))


ENGINE = Engine()


class ServerFault(RuntimeError):
    """The fork server could not be started, or ended before its time: a fault of the harness, not of a run."""


@dataclass(frozen=True)
class Ending:
    """How a child ended.

    Attributes:
        outcome: JSON values of what its function returned, or had counted when the training diverged; else None.
        phase: the last phase that the run reported, ``done`` if it is ok.
        started_at, ended_at: UTC, ISO 8601.
    """

    status: Status
    phase: str
    message: str
    outcome: dict[str, Any] | None
    started_at: str
    ended_at: str


class ForkServer:
    """A process that has torch and PyG imported and forks a child for each run; started at the first call.

    Its environment fixes the number of threads before any library reads it, and shows the children one device at most.

    Args:
        threads: threads that a child computes with.
        device: as leased.
        engine: what children call.
    """

    def __init__(self, threads: int, device: Device = CPU, engine: Engine = ENGINE) -> None:
        self.threads, self.device, self.engine = threads, device, engine
        self.environment: dict[str, Any] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self._pending = b""
        self._scratch = Path()
        self._calls = 0

    def __enter__(self) -> ForkServer:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    @property
    def pid(self) -> int | None:
        """The server's pid while it runs."""
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        """Start the server if it does not run yet; seconds, for the imports.

        Raises:
            ServerFault: a module cannot be imported; the traceback is on stderr.
        """
        if self._process is not None:
            return
        self._scratch = Path(tempfile.mkdtemp(prefix="harness-run-"))
        # A session of its own: Ctrl-C reaches the supervisor alone, which then stops the child in order.
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "harness.runs.server",
                str(self._scratch),
                self.engine.warm_up or "",
                *self.engine.modules,
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=child_environment(self.threads, self.device),
            start_new_session=True,
        )
        ready = self._wait("ready", None)
        assert ready is not None
        self.environment = ready["environment"] | {"threads": self.threads, "device": self.device.name}

    def call(self, function: str, requests: Sequence[RunRequest], log: Path, limits: Limits) -> Ending:
        """Run a function in a fresh child and wait for its end.

        Args:
            function: ``module:name``; takes the requests and ``report(phase)``, returns a pydantic model.
            log: where the child's stdout and stderr go.
            limits: seconds on the clock from the fork on; megabytes added to the process (CPU only).

        Raises:
            ServerFault: the server ended.
            KeyboardInterrupt: passed on after the child has been stopped.
        """
        check_parent()
        self.start()
        self._calls += 1
        result, phases = self._scratch / f"{self._calls}.json", self._scratch / f"{self._calls}.phases"
        limit = _memory_limit(limits, self.device)
        started_at, kills = _now(), cgroup_oom_kills()
        self._send(
            function=function,
            requests=[r.model_dump_json() for r in requests],
            log=str(log.absolute()),
            result=str(result),
            phases=str(phases),
            memory_bytes=limit,
        )
        started = self._wait("started", None)
        assert started is not None
        code, stopped = self._supervise(started, limits, limit)
        new_kills = (cgroup_oom_kills() or 0) - (kills or 0)
        ended_at = _now()
        answer = stopped or _read_answer(result) or _how_it_died(code, log, new_kills)
        phase = "done" if answer["status"] == "ok" else _last_phase(phases)
        result.unlink(missing_ok=True)
        phases.unlink(missing_ok=True)
        return Ending(answer["status"], phase, answer.get("message", ""), answer.get("outcome"), started_at, ended_at)

    def close(self) -> None:
        """End the server, and the child with it if there is one."""
        process, self._process = self._process, None
        if process is None:
            return
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):  # it is gone already
                    pipe.close()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        shutil.rmtree(self._scratch, ignore_errors=True)

    def _supervise(
        self, started: Mapping[str, Any], limits: Limits, memory: int | None
    ) -> tuple[int, dict[str, Any] | None]:
        """Exit code of the child, and why it was stopped, if it was."""
        pid, deadline, stopped = started["pid"], time.monotonic() + limits.time_s, None
        try:
            while True:
                left = deadline - time.monotonic() if stopped is None else 10.0
                watch = _WATCH_S if memory is not None and stopped is None else GLANCE_S
                ended = self._wait("ended", max(0.0, min(left, watch)))
                if ended is not None:
                    return ended["code"], stopped
                check_parent()
                if stopped is None:
                    stopped = _over_a_limit(pid, deadline, limits, memory, started["anonymous_bytes"])
                    if stopped is not None:
                        _kill_group(pid)
        except BaseException:
            _kill_group(pid)
            self.close()  # the rest of the conversation is lost; a later call starts a new server
            raise

    def _wait(self, event: str, seconds: float | None) -> dict[str, Any] | None:
        """The next reply, which must be this one; None if it has not come within the time."""
        assert self._process is not None
        assert self._process.stdout is not None
        replies = self._process.stdout.fileno()
        until = None if seconds is None else time.monotonic() + seconds
        while b"\n" not in self._pending:
            left = GLANCE_S if until is None else max(0.0, until - time.monotonic())
            ready, _, _ = select.select([replies], [], [], left)
            if ready:
                more = os.read(replies, 1 << 16)
                if not more:
                    self._fail(event)
                self._pending += more
            elif until is not None:
                return None
            else:
                check_parent()
        line, _, self._pending = self._pending.partition(b"\n")
        reply: dict[str, Any] = json.loads(line)
        if reply["event"] != event:
            raise ServerFault(f"the fork server said {reply['event']!r} where {event!r} was due")
        return reply

    def _send(self, **request: Any) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            self._process.stdin.write((json.dumps(request) + "\n").encode())
            self._process.stdin.flush()
        except BrokenPipeError:
            self._fail("request")

    def _fail(self, event: str) -> None:
        assert self._process is not None
        code = self._process.wait()
        self.close()
        how = f"was killed by {signal_name(-code)}" if code < 0 else f"ended with exit code {code}"
        when = "while it imported the engine; see the traceback above" if event == "ready" else "before its time"
        raise ServerFault(f"the fork server {how} {when}")


def run_one(
    request: RunRequest,
    *,
    store: RecordStore,
    server: ForkServer,
    limits: Limits,
    data: Mapping[str, Any] | None = None,
    say: Callable[[str], None] = lambda line: None,
    name: str = "",
    made: Callable[[Record], None] = lambda record: None,
) -> Record:
    """The record of this run: the one that is there, else the run is made, once, whoever else wants it.

    A run that was stopped by a tighter limit than the present one is made again.

    Args:
        request: the run; its id is where the record goes.
        data: what the record says of the data where the run did not come to say it (``fingerprint``).
        say: called with a line if another job is making this run and is waited for.
        name: what that line calls the cell; its id if empty.
        made: called with the record if it was made here, and neither found nor waited for.

    Raises:
        ServerFault: the fork server failed. No record is written.
        InputError: the record cannot be written.
    """
    record = standing(store, request.run_id, limits)
    if record is not None:
        return record
    lock = store.lock(request.run_id)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        say(f"waiting for {name or request.cell_id} seed {request.seed}, which another job is training")
        wait_for_lock(lock, poll_s=0.1)
    try:
        record = standing(store, request.run_id, limits)
        if record is None:
            record = _make(request, store, server, limits, dict(data or {}))
            store.write(record)
            made(record)
        return record
    finally:
        lock.release()


def standing(store: RecordStore, run_id: str, limits: Limits) -> Record | None:
    """The record that is there and holds under these limits."""
    record = store.read(run_id)
    return record if record is not None and record.holds_under(limits) else None


def _make(
    request: RunRequest,
    store: RecordStore,
    server: ForkServer,
    limits: Limits,
    data: dict[str, Any],
) -> Record:
    log = store.log_path(request.run_id)
    ending = server.call(server.engine.execute, [request], log, limits)
    outcome = Outcome() if ending.outcome is None else Outcome.model_validate_json(json.dumps(ending.outcome))
    return Record(
        run_id=request.run_id,
        cell_id=request.cell_id,
        purpose=request.purpose,
        seed=request.seed,
        model=request.model,
        training=request.training,
        options=request.options,
        status=ending.status,
        phase=ending.phase,  # type: ignore[arg-type]  # checked by the record
        message=ending.message,
        metrics=outcome.metrics,
        stages=outcome.stages,
        profile=outcome.profile,
        epoch_s=outcome.epoch_s,
        warmup_s=outcome.warmup_s,
        settled=outcome.settled,
        device_times=outcome.device_times,
        memory=outcome.memory,
        counters=outcome.counters,
        data=data | outcome.data,
        limits=limits,
        environment=server.environment | outcome.environment,
        started_at=ending.started_at,
        ended_at=ending.ended_at,
        log_path=log.relative_to(store.root.parent).as_posix(),
    )


# How a child ended


def _over_a_limit(
    pid: int, deadline: float, limits: Limits, memory: int | None, base: int | None
) -> dict[str, Any] | None:
    if time.monotonic() >= deadline:
        return {"status": "timeout", "message": f"stopped at its limit of {limits.time_s:g} s"}
    if memory is None or base is None:
        return None
    present = anonymous_bytes(pid)
    if present is None or present - base <= memory:
        return None
    used = (present - base) / MEGABYTE
    return {"status": "oom", "message": f"stopped at its limit of {limits.memory_mb:g} MB: it had taken {used:.0f} MB"}


def _read_answer(result: Path) -> dict[str, Any] | None:
    """What the child left; None if it did not come to that."""
    try:
        answer: dict[str, Any] = json.loads(result.read_text())
    except FileNotFoundError:
        return None
    return answer


def _how_it_died(code: int, log: Path, new_oom_kills: int) -> dict[str, Any]:
    """Status of a child that left no answer."""
    how = f"killed by {signal_name(-code)}" if code < 0 else f"ended with exit code {code} and no outcome"
    if code == -signal.SIGKILL and new_oom_kills > 0:
        return {"status": "oom", "message": f"{how}: the memory of its control group was used up"}
    if code != -signal.SIGKILL:
        for line in reversed(_tail(log).splitlines()):
            if speaks_of_no_memory(line):
                return {"status": "oom", "message": f"{how}: {line.strip()[:300]}"}
    return {"status": "killed" if code < 0 else "error", "message": how}


def _tail(log: Path) -> str:
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - _LOG_TAIL))
            return file.read().decode(errors="replace")
    except FileNotFoundError:
        return ""


def _last_phase(phases: Path) -> str:
    try:
        words = phases.read_text().split()
    except FileNotFoundError:
        words = []
    return words[-1] if words else "start"


def _kill_group(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return  # it ended by itself meanwhile


# What surrounds the server


def _memory_limit(limits: Limits, device: Device) -> int | None:
    """Bytes a child may add; None where there is no limit. CUDA reserves address space that says nothing of use."""
    if limits.memory_mb is None or device.name != "cpu":
        return None
    return int(limits.memory_mb * MEGABYTE)


def child_environment(threads: int, device: Device) -> dict[str, str]:
    """The environment of what computes: thread counts are read once, when a library is loaded."""
    return os.environ | {
        **dict.fromkeys(THREAD_VARIABLES, str(threads)),
        **KERNEL_CACHES,
        "JE_ARROW_MALLOC_CONF": "background_thread:false",  # else pyarrow, which PyG imports, starts a thread
        "OBJC_DISABLE_INITIALIZE_FORK_SAFETY": "YES",  # macOS refuses to fork a process that has loaded its frameworks
        "CUDA_VISIBLE_DEVICES": device.visible,
        "PYTORCH_NVML_BASED_CUDA_CHECK": "1",  # or asking for a GPU would make a context, which no fork survives
    }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
