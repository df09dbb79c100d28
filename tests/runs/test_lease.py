"""A GPU and the machine have one owner at a time, and a dead owner owns nothing."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading

import pytest

from harness.plan.machine import Machine
from harness.runs import lease
from harness.runs.lease import CPU, Gpu, alone_on_machine, find_gpus, lease_device, lease_one
from harness.spec.errors import InputError

pytestmark = pytest.mark.usefixtures("locks")


def silent(_: str) -> None:
    return


@pytest.fixture
def machine(monkeypatch):
    """A machine as the driver and torch would describe it."""

    def make(gpus: list[Gpu], torch_can: bool = True, visible: str | None = None):
        answer = Machine(torch="2", pyg="2", cuda=torch_can, device_name="H200", kernels={}, libraries={})
        monkeypatch.setattr(lease, "driver_present", lambda: bool(gpus))
        monkeypatch.setattr(lease, "_driver_list", lambda: gpus)
        monkeypatch.setattr(lease, "probe", lambda cache: answer)
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
        if visible is not None:
            monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)

    return make


TWO = [Gpu("GPU-aa", "H200"), Gpu("GPU-bb", "A100")]


def test_two_jobs_get_two_gpus_and_a_third_waits(machine):
    machine(TWO)
    said, third = [], []
    with lease_device("auto", silent) as first, lease_device("auto", silent) as second:
        assert (first.name, first.visible, first.kind) == ("cuda:0", "GPU-aa", "cuda H200")
        assert (second.name, second.visible, second.kind) == ("cuda:0", "GPU-bb", "cuda A100")

        def wait():
            with lease_one(["GPU-aa", "GPU-bb"], said.append, poll_s=0.01) as name:
                third.append(name)

        waiting = threading.Thread(target=wait)
        waiting.start()
        waiting.join(0.3)
        assert waiting.is_alive()
        assert third == []
    waiting.join(10)
    assert third == ["GPU-aa"]
    assert said == ["waiting for a GPU: other jobs use all 2"]


@pytest.mark.parametrize(
    ("visible", "expected"),
    [(None, ["GPU-aa", "GPU-bb"]), ("1", ["1"]), ("GPU-bb, 0", ["GPU-bb", "0"]), ("", []), ("-1", [])],
)
def test_only_gpus_that_the_user_shows_are_leased(machine, visible, expected):
    machine(TWO, visible=visible)
    assert [gpu.id for gpu in find_gpus()] == expected


def test_auto_is_the_cpu_where_torch_can_use_no_gpu(machine):
    machine(TWO, torch_can=False)
    with lease_device("auto", silent) as device:
        assert device == CPU
    machine([])
    with lease_device("auto", silent) as device:
        assert device == CPU
    assert CPU.visible == ""


@pytest.mark.parametrize(
    ("gpus", "torch_can", "visible", "message"),
    [([], True, None, "no driver"), (TWO, False, None, "build of torch"), (TWO, True, "", "hides them all")],
)
def test_cuda_where_there_is_none_is_an_error_with_a_remedy(machine, gpus, torch_can, visible, message):
    machine(gpus, torch_can, visible)
    with pytest.raises(InputError, match=message), lease_device("cuda", silent):
        pass


def test_one_timing_job_has_the_machine_and_the_next_says_that_it_waits():
    said, order = [], []

    def second():
        with alone_on_machine(said.append):
            order.append("second")

    with alone_on_machine(silent):
        waiting = threading.Thread(target=second)
        waiting.start()
        waiting.join(0.3)
        order.append("first")
    waiting.join(10)
    assert order == ["first", "second"]
    assert said == ["waiting for the machine: another timing job has it"]


def test_a_killed_owner_frees_the_machine():
    hold = (
        "import tempfile, sys, time; tempfile.tempdir = sys.argv[1]\n"
        "from harness.runs.lease import alone_on_machine\n"
        "with alone_on_machine(print): print('held', flush=True); time.sleep(60)"
    )
    owner = subprocess.Popen([sys.executable, "-c", hold, tempfile.gettempdir()], stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    assert owner.stdout.readline() == "held\n"
    owner.kill()
    owner.communicate()
    said = []
    with alone_on_machine(said.append):
        pass
    assert said == []
