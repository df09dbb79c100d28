"""Whatever happens to a child, there is a record of it, the next run works, and nothing is left running."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import psutil
import pytest

from harness.records.store import RecordStore
from harness.runs.lease import alone_on_machine
from harness.runs.supervisor import Engine, ForkServer, ServerFault, run_one
from harness.spec.schema import Limits

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="runs are forked")
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc and RLIMIT_DATA")
LIMITS = Limits(time_s=60)


@pytest.fixture
def store(tmp_path: Path) -> RecordStore:
    return RecordStore(tmp_path / "results" / "runs")


@pytest.fixture
def run(store, children, request_of):
    """Run one function of `children.py`, each test in a server of its own."""
    servers = []

    def make(execute="outcome", run_id="r0", limits=LIMITS, **request):
        server = ForkServer(1, engine=children(execute))
        servers.append(server)
        return run_one(request_of(run_id, **request), store=store, server=server, limits=limits)

    yield make
    for server in servers:
        server.close()


def wait_for(condition, seconds=20.0):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found = condition()
        if found:
            return found
        time.sleep(0.02)
    pytest.fail("waited in vain")


def pids_of(folder: Path) -> dict[str, int]:
    path = folder / "pids.json"
    wait_for(path.exists)
    return json.loads(path.read_text())


def gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def test_a_run_that_ends_well_is_a_whole_record(run, store, request_of):
    record = run(seed=4)
    assert (record.status, record.phase, record.message) == ("ok", "done", "")
    assert record.metrics.test.accuracy == pytest.approx(0.86)
    assert record.data == {"fingerprint": "of-the-child"}
    assert record.environment["group"] == record.environment["pid"]
    assert record.environment["threads"] == 1
    assert record.started_at <= record.ended_at
    assert record.log_path == "runs/logs/r0.log"
    assert store.read("r0") == record


def test_a_record_that_is_there_is_not_made_again(run, tmp_path):
    assert run() == run()
    assert len((tmp_path / "trained").read_text().splitlines()) == 1


def test_each_run_has_a_process_of_its_own_from_one_server(store, children, request_of):
    with ForkServer(1, engine=children()) as server:
        records = [run_one(request_of(f"r{i}"), store=store, server=server, limits=LIMITS) for i in range(3)]
    assert len({r.environment["pid"] for r in records}) == 3
    assert len({r.environment["parent"] for r in records}) == 1


def test_threads_are_set_before_the_libraries_are_loaded(store, children, request_of):
    with ForkServer(3, engine=children()) as server:
        record = run_one(request_of(threads=3), store=store, server=server, limits=LIMITS)
    assert record.counters["threads"] == "3"
    assert record.environment["threads"] == 3


@pytest.mark.parametrize(
    ("execute", "status", "phase", "message"),
    [
        ("raise_error", "error", "prepare", "ValueError: the first line"),
        ("diverge", "diverged", "train", "the training loss is nan in epoch 1, batch 2"),
        ("unsupported", "unsupported", "start", "no half kernel here"),
        ("out_of_memory_in_words", "oom", "start", "RuntimeError: CUDA out of memory. Tried to allocate 20.00 GiB."),
        ("segfault", "killed", "start", "killed by SIGSEGV"),
        ("leave", "error", "start", "ended with exit code 7 and no outcome"),
    ],
)
def test_a_failure_is_a_record_with_its_status(run, store, execute, status, phase, message):
    record = run(execute)
    assert (record.status, record.phase, record.message) == (status, phase, message)
    assert record.metrics is None
    assert store.read("r0") == record


def test_a_record_keeps_what_was_counted_before_the_training_diverged(run):
    record = run("diverge_after_counting")
    assert (record.status, record.phase, record.counters) == ("diverged", "train", {"nonfinite_aggregations": 3})


def test_the_traceback_is_in_the_log_alone(run, store):
    record = run("raise_error")
    log = (store.root.parent / record.log_path).read_text()
    assert "Traceback" in log
    assert "a second that is for the log" in log
    assert "\n" not in record.message


def test_an_abort_for_want_of_memory_is_oom(run):
    record = run("abort_for_memory")
    assert record.status == "oom"
    assert "bad_alloc" in record.message


def test_output_of_a_run_goes_to_its_log_and_it_reads_nothing(run, store):
    record = run("chatter")
    assert record.status == "ok"
    assert record.counters["stdin"] == ""
    log = (store.root.parent / record.log_path).read_text()
    assert log.splitlines() == ["a printed line", "a native line", "a line of a process"]


def test_the_next_run_works_after_each_way_to_fail(store, children, request_of):
    ways = ["raise_error", "segfault", "leave", "abort_for_memory"]
    with ForkServer(1, engine=children()) as server:
        for way in ways:
            failed = server.call(f"children:{way}", [request_of()], store.log_path(way), LIMITS)
            assert failed.status != "ok"
            record = run_one(request_of(f"after-{way}"), store=store, server=server, limits=LIMITS)
            assert record.status == "ok"


def test_a_run_over_its_time_limit_is_stopped_with_all_it_started(run, tmp_path):
    before = time.monotonic()
    record = run("sleep", limits=Limits(time_s=1.5))
    assert time.monotonic() - before < 20
    assert (record.status, record.phase) == ("timeout", "train")
    assert "1.5 s" in record.message
    pids = pids_of(tmp_path)
    wait_for(lambda: gone(pids["child"]) and gone(pids["grandchild"]))


def test_a_run_killed_from_outside_is_killed(run, tmp_path):
    killer = threading.Thread(target=lambda: os.kill(pids_of(tmp_path)["child"], signal.SIGKILL))
    killer.start()
    record = run("sleep")
    killer.join()
    assert (record.status, record.phase, record.message) == ("killed", "train", "killed by SIGKILL")
    wait_for(lambda: gone(pids_of(tmp_path)["grandchild"]))


@linux
def test_an_allocation_over_the_memory_limit_is_oom_and_within_it_is_not(run):
    over = run("allocate_at_once", limits=Limits(time_s=60, memory_mb=300.0))
    assert (over.status, over.phase) == ("oom", "train")
    assert "MemoryError" in over.message
    within = run("allocate_at_once", run_id="r1", limits=Limits(time_s=60, memory_mb=600.0))
    assert within.status == "ok"


@linux
def test_the_watch_alone_holds_the_memory_limit(store, children, request_of, tmp_path, monkeypatch):
    """Where the kernel does not enforce the limit (a child that lifted it, a system without it) the supervisor does."""
    (tmp_path / "greedy.py").write_text(
        textwrap.dedent("""
        import resource, time
        def grow(request, report):
            hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
            resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))
            taken = bytearray(300 * 10**6)
            time.sleep(60)
        """)
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with ForkServer(1, engine=Engine("greedy:grow", "greedy:grow", "greedy:grow", (), None)) as server:
        record = run_one(request_of(), store=store, server=server, limits=Limits(time_s=30, memory_mb=100.0))
    assert record.status == "oom"
    assert "limit of 100 MB" in record.message


def _run_slow(root: Path, request, engine: Engine) -> None:
    with ForkServer(1, engine=engine) as server:
        server.start()
        run_one(request, store=RecordStore(root), server=server, limits=LIMITS)


def test_two_processes_that_want_the_same_run_train_it_once(store, children, request_of, tmp_path):
    context = multiprocessing.get_context("spawn")
    arguments = (store.root, request_of(), children("slow"))
    both = [context.Process(target=_run_slow, args=arguments) for _ in range(2)]
    for process in both:
        process.start()
    for process in both:
        process.join()
    assert [process.exitcode for process in both] == [0, 0]
    assert len((tmp_path / "trained").read_text().splitlines()) == 1


SUPERVISOR = """
import sys
from pathlib import Path
from harness.records.store import RecordStore
from harness.runs.request import RunRequest
from harness.runs.supervisor import Engine, ForkServer, run_one
from harness.spec.schema import Limits

request = RunRequest.model_validate_json(Path(sys.argv[1]).read_text())
with ForkServer(1, engine=Engine("children:sleep", "children:parity", "children:drawing", (), None)) as server:
    run_one(request, store=RecordStore(Path(sys.argv[2])), server=server, limits=Limits(time_s=60))
"""


@pytest.fixture
def supervisor(store, children, request_of, tmp_path):
    """A process that supervises a sleeping run, and the pids below it."""
    children()
    (tmp_path / "request.json").write_text(request_of().model_dump_json())
    # tests that a shell runs in the background ignore Ctrl-C, and so would what they start
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(
        [sys.executable, "-c", SUPERVISOR, str(tmp_path / "request.json"), str(store.root)], stderr=subprocess.PIPE
    )
    signal.signal(signal.SIGINT, before)
    pids = pids_of(tmp_path)
    yield process, pids
    process.kill()
    process.communicate()
    wait_for(lambda: all(gone(pid) for pid in pids.values()))


def test_nothing_outlives_a_supervisor_that_is_killed(supervisor, store):
    process, pids = supervisor
    process.kill()
    process.wait()
    wait_for(lambda: all(gone(pid) for pid in pids.values()))
    assert list(store.root.glob("*.json")) == []
    store.lock("r0").acquire(timeout=0)  # free again


def test_ctrl_c_stops_the_child_and_leaves_no_record(supervisor, store):
    process, pids = supervisor
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=20)
    assert process.returncode != 0
    assert b"KeyboardInterrupt" in said
    assert b"BrokenPipe" not in said
    wait_for(lambda: all(gone(pid) for pid in pids.values()))
    assert list(store.root.glob("*.json")) == []


@linux
def test_the_child_dies_with_a_server_that_is_killed_and_that_is_a_fault(supervisor, store):
    process, pids = supervisor
    os.kill(pids["server"], signal.SIGKILL)
    _, said = process.communicate(timeout=20)
    assert b"ServerFault: the fork server was killed by SIGKILL before its time" in said
    wait_for(lambda: gone(pids["child"]))
    os.kill(pids["grandchild"], signal.SIGKILL)  # the kernel's death signal reaches the child alone
    assert list(store.root.glob("*.json")) == []


def test_a_job_ends_when_the_snakemake_that_started_it_is_killed(store, children, request_of, tmp_path):
    children()
    (tmp_path / "request.json").write_text(request_of().model_dump_json())
    (tmp_path / "supervise.py").write_text(SUPERVISOR)
    starter = tmp_path / "snakemake"
    starter.write_text("import subprocess, sys; subprocess.run([sys.executable, *sys.argv[1:]])")
    command = [sys.executable, starter, tmp_path / "supervise.py", tmp_path / "request.json", store.root]
    snakemake = subprocess.Popen([str(word) for word in command], stderr=subprocess.DEVNULL)
    pids = pids_of(tmp_path)
    snakemake.kill()
    snakemake.wait()
    wait_for(lambda: all(gone(pid) for pid in pids.values()))
    assert list(store.root.glob("*.json")) == []


def test_a_job_that_waits_for_the_machine_ends_with_its_snakemake(locks, tmp_path):
    (tmp_path / "wait.py").write_text(
        "import os, sys, tempfile; tempfile.tempdir = sys.argv[1]\n"
        "from harness.runs.lease import alone_on_machine\n"
        "with alone_on_machine(lambda line: print(os.getpid(), flush=True)): print('held', flush=True)"
    )
    starter = tmp_path / "snakemake"
    starter.write_text("import subprocess, sys; subprocess.run([sys.executable, *sys.argv[1:]])")
    command = [sys.executable, str(starter), str(tmp_path / "wait.py"), str(locks)]
    with alone_on_machine(lambda line: None):
        snakemake = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        waiting = int(snakemake.stdout.readline())
        snakemake.kill()
        rest, _ = snakemake.communicate()
        wait_for(lambda: gone(waiting))
    assert rest == ""


def test_an_engine_that_cannot_be_imported_is_a_fault(request_of, store, capfd):
    with (
        pytest.raises(ServerFault, match="exit code 1 while it imported the engine"),
        ForkServer(1, engine=Engine("no_such_module:f", "no_such_module:f", "no_such_module:f", (), None)) as server,
    ):
        run_one(request_of(), store=store, server=server, limits=LIMITS)
    assert "No module named 'no_such_module'" in capfd.readouterr().err
    assert not store.has("r0")


def test_the_scratch_folder_goes_with_the_server(locks, children, request_of, store):
    with ForkServer(1, engine=children()) as server:
        run_one(request_of(), store=store, server=server, limits=LIMITS)
        assert len(list(locks.iterdir())) == 1
    assert list(locks.iterdir()) == []


def test_a_run_stopped_by_a_tighter_limit_is_made_again(run):
    assert run("sleep", limits=Limits(time_s=0.3)).status == "timeout"
    again = run("outcome", limits=Limits(time_s=0.3))
    assert (again.status, again.limits.time_s) == ("timeout", 0.3)
    assert run("outcome", limits=Limits(time_s=0.2)).status == "timeout"
    wider = run("outcome", limits=Limits(time_s=60))
    assert (wider.status, wider.limits.time_s) == ("ok", 60.0)
    assert run("sleep", limits=Limits(time_s=0.3)).status == "ok"
