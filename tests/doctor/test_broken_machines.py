"""Machines on which something is missing, broken or full: an answer with a remedy each time, never a traceback."""

from __future__ import annotations

import os
import sys
import time
from importlib import metadata

import pytest

from harness.cli import main
from harness.doctor import backends, examination, memory, places, threads, trial, versions
from harness.doctor.cgroup import Limits, cgroup_limits
from harness.doctor.child import Answer, answer_of
from harness.doctor.load import judged as judged_load
from harness.plan import machine as machine_module
from harness.plan.cpu_flags import half_instructions
from harness.runs.lease import CPU


def texts(findings, level):
    return [f.text for f in findings if f.level == level]


# Libraries


def test_no_torch_makes_every_run_impossible(monkeypatch, tmp_path, capsys):
    stand_in = tmp_path / "python"
    stand_in.write_text("#!/bin/sh\necho 'ModuleNotFoundError: No module named torch' >&2\nexit 1\n")
    stand_in.chmod(0o755)
    monkeypatch.setattr(machine_module.sys, "executable", str(stand_in))
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["harness", "doctor"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    said = capsys.readouterr().out
    assert "problem what torch can do here could not be found out" in said
    assert "to do: try `python -c 'import torch, torch_geometric'`" in " ".join(said.split())
    assert said.splitlines()[-1].endswith("no run is possible before it is mended")


def test_the_ranges_of_the_package(monkeypatch):
    wanted = ["torch>=99", "numpy>=1.26", "absent-thing>=1", "psutil>=5.9", "notebook; extra == 'dev'"]
    monkeypatch.setattr(metadata, "requires", lambda name: wanted)
    found = versions.within_ranges()
    assert [(f.level, f.fatal) for f in found] == [("problem", False), ("problem", False)]
    assert "but >=99 is needed" in found[0].text
    assert found[0].remedy == "pip install 'torch>=99'"
    assert found[1].text == "absent-thing is not installed"


def test_a_library_that_nothing_trains_without(monkeypatch):
    monkeypatch.setattr(versions, "installed", lambda name: None if name == "numba" else "9.9")
    monkeypatch.setattr(metadata, "requires", lambda name: ["numba>=0.60", "numpy>=1.26"])
    assert [(f.text, f.fatal) for f in versions.within_ranges()] == [("numba is not installed", True)]


def test_optional_libraries_absent_and_broken(machine, monkeypatch):
    monkeypatch.setattr(backends, "installed", lambda name: "2.1.2" if name == "torch-scatter" else None)
    libraries = {"pymetis": None, "ogb": None, "pyg_lib": None, "torch_sparse": None, "torch_scatter": None}
    answer = machine(libraries=libraries, faults={"torch_scatter": "OSError: undefined symbol: _ZN3c10"})
    found = backends.optional_libraries(answer)
    metis, ogb, scatter = texts(found, "note")
    assert "pymetis is not installed: partition.method: metis is skipped; fennel, ldg and random work" in metis
    assert "all other sources work" in ogb
    assert "2.1.2 is installed, but cannot be imported (OSError: undefined symbol: _ZN3c10)" in scatter
    assert [f.remedy for f in found][:2] == ["pip install pymetis", "pip install ogb"]
    assert texts(found, "ok") == ["pyg-lib, torch-sparse: not installed, and not needed"]


def test_a_precision_without_a_kernel_is_told_in_the_planners_words(machine):
    kernels = {"cpu": {**machine().kernels["cpu"], "fp16+spmm": "RuntimeError: addmm not implemented for Half"}}
    found = backends.precisions(machine(kernels=kernels))
    assert "cpu: 23 of 24 pairs" in found[0].text
    assert found[1].text == (
        "precision fp16 with aggregation spmm does not work on cpu with torch 2.13.0 "
        "(RuntimeError: addmm not implemented for Half)"
    )


# Computing


@pytest.mark.parametrize(
    ("program", "fault"),
    [
        ("exec sleep 60", "no answer within 0.3 s"),
        ("kill -11 $$", "it crashed (SIGSEGV)"),
        ("echo 'RuntimeError: no kernel image' >&2; exit 1", "RuntimeError: no kernel image"),
        ("echo hello", "its answer cannot be read: 'hello\\n'"),
    ],
)
def test_a_convolution_that_hangs_or_crashes_is_an_answer(program, fault, tmp_path, monkeypatch):
    monkeypatch.setattr(trial, "LIMIT_S", 0.3)
    monkeypatch.setattr(trial, "PROGRAM", ("/bin/sh", "-c", program))
    started = time.monotonic()
    (found,) = trial.judged({"cpu": trial.ask(CPU)})
    assert time.monotonic() - started < 30
    assert (found.level, found.fatal) == ("problem", True)
    assert fault in found.text
    assert "python -m harness.runs.trial_convolution cpu" in found.remedy


def test_a_gpu_that_hangs_leaves_the_cpu():
    worked = Answer('{"convolved": 2e6, "sampled": 4e7, "threads": 1, "width": 64, "finite": true}')
    cpu, gpu = trial.judged({"cpu": worked, "cuda:0": Answer("", "no answer within 120 s")})
    assert "cpu, 1 thread: 2.0 M edges/s" in cpu.text
    assert (gpu.level, gpu.fatal) == ("problem", False)


def test_a_program_that_is_not_there():
    assert answer_of(["/no/such/program"], 1).fault == "it could not be started: No such file or directory"


# Threads, memory, load


def test_a_containers_limits(tmp_path):
    (tmp_path / "own").write_text("0::/job/step\n")
    step = tmp_path / "mount" / "job" / "step"
    step.mkdir(parents=True)
    (step / "memory.max").write_text("max\n")
    (step / "cpu.max").write_text("150000 100000\n")
    (step.parent / "memory.max").write_text("2000000000\n")
    (step.parent / "memory.current").write_text("500000000\n")
    (tmp_path / "mount" / "memory.max").write_text("8000000000\n")
    found = cgroup_limits(tmp_path / "own", tmp_path / "mount")
    assert found == Limits(2_000_000_000, 500_000_000, 1.5)


def test_limits_of_the_older_kind(tmp_path):
    (tmp_path / "own").write_text("5:cpu,cpuacct:/\n4:memory:/box\n")
    box = tmp_path / "memory" / "box"
    box.mkdir(parents=True)
    (tmp_path / "cpu").mkdir()
    (tmp_path / "cpu" / "cpu.cfs_quota_us").write_text("-1\n")
    (tmp_path / "cpu" / "cpu.cfs_period_us").write_text("100000\n")
    (box / "memory.limit_in_bytes").write_text("3000000000\n")
    (box / "memory.usage_in_bytes").write_text("1\n")
    (tmp_path / "memory" / "memory.limit_in_bytes").write_text("9223372036854771712\n")
    assert cgroup_limits(tmp_path / "own", tmp_path) == Limits(3_000_000_000, 1, None)
    assert cgroup_limits(tmp_path / "none", tmp_path) == Limits()


def test_fewer_cpus_than_a_container_shows(monkeypatch):
    monkeypatch.setattr(threads, "usable_cpus", lambda: list(range(64)))
    (said,) = texts(threads.threads(Limits(cpus=4.0)), "note")
    assert "may use 4 CPUs' time and sees 64" in said


def test_variables_that_the_jobs_inherit(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.setenv("OMP_PROC_BIND", "close")
    found = threads.threads(Limits())
    assert any("OMP_NUM_THREADS=7" in said for said in texts(found, "ok"))
    assert any("OMP_PROC_BIND=close" in said for said in texts(found, "note"))


def test_little_memory(monkeypatch):
    (found,) = memory.memory(Limits(memory_bytes=10**9, used_bytes=9 * 10**8))
    assert found.level == "note"
    assert "limit is 1.0 GB, of which 100 MB are free: a run's libraries alone take 0.4 GB" in found.text


def test_allocators(tmp_path, monkeypatch):
    maps = tmp_path / "maps"
    maps.write_text("7f00-7f01 r-xp 00000000 00:00 1 /usr/lib/x86_64-linux-gnu/libjemalloc.so.2\n")
    assert memory.allocator(maps)[0].text.startswith("jemalloc, in the place of")
    maps.write_text("7f00-7f01 r-xp 00000000 00:00 1 /usr/lib/libc.so.6\n")
    monkeypatch.setenv("LD_PRELOAD", "/none/libtcmalloc.so")
    monkeypatch.setenv("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True")
    (found,) = memory.allocator(maps)
    assert (found.level, "asks for tcmalloc, which is not loaded" in found.text) == ("note", True)
    assert found.text.endswith("; PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True")


def test_load():
    assert judged_load(0.1).level == "ok"
    assert judged_load(5.0).level == "note"


@pytest.mark.parametrize(
    ("line", "has"),
    [
        ("flags\t: fpu avx512_bf16 f16c", {"bf16"}),
        ("flags\t: fpu avx512_fp16 amx_bf16", {"bf16", "fp16"}),
        ("flags\t: fpu f16c avx2", set()),
        ("Features\t: fp asimd asimdhp", {"fp16"}),
        ("model name\t: unknown", None),
    ],
)
def test_half_instructions(tmp_path, line, has):
    (tmp_path / "cpuinfo").write_text(f"processor\t: 0\n{line}\n")
    assert half_instructions(tmp_path / "cpuinfo") == has


# Folders


def test_a_cache_that_is_a_file_makes_every_run_impossible(tmp_path):
    (tmp_path / "file").touch()
    found = places.written("HARNESS_CACHE", tmp_path / "file" / "cache", "set HARNESS_CACHE")
    assert (found.level, found.fatal) == ("problem", True)
    assert found.text.endswith("cannot be written (" + str(tmp_path / "file") + " is not a folder)")


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_folder_without_permission(tmp_path):
    (tmp_path / "shut").mkdir(mode=0o500)
    assert places.written("results", tmp_path / "shut", "elsewhere").fatal


def test_folders_that_cannot_be_looked_at(monkeypatch):
    name = "/" + "a" * 300  # stands for one behind a closed folder: either is an OSError
    found = places.written("HARNESS_CACHE", places.Path(name), "set HARNESS_CACHE")
    assert (found.fatal, "cannot be looked at (File name too long)" in found.text) == (True, True)
    monkeypatch.setenv("HARNESS_DATA", name)
    [found] = places.data(places.data_root())
    assert (found.level, "cannot be looked at (File name too long)" in found.text) == ("problem", True)


def test_data_that_are_a_file(tmp_path):
    (tmp_path / "file").touch()
    [found] = places.data(tmp_path / "file")
    assert "which is not a folder" in found.text


def test_a_machine_that_hides_what_is_asked_for():
    def hidden():
        raise FileNotFoundError(2, "No such file or directory", "/proc/meminfo")

    found = examination._section("Memory", hidden)
    assert texts(found.findings, "problem") == ["cannot be told: /proc/meminfo: No such file or directory"]
    assert "mount /proc" in found.findings[0].remedy


def test_a_disk_that_is_full(tmp_path, monkeypatch):
    def full(**_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(places.tempfile, "NamedTemporaryFile", full)
    found = places.written("results", tmp_path, "free space")
    assert (found.fatal, "(No space left on device)" in found.text) == (True, True)


def test_data_sets_that_are_there(tmp_path, monkeypatch):
    for folder in ("pyg/Planetoid/Cora/raw", "pyg/Reddit2/raw", "ogb/ogbn_arxiv", "files"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "files" / "mine.npz").touch()
    (tmp_path / "files" / "LICENSE").touch()
    monkeypatch.setenv("HARNESS_DATA", str(tmp_path))
    (found,) = places.data(tmp_path)
    assert found.facts["data_sets"] == ["pyg/Planetoid (Cora)", "pyg/Reddit2", "ogb/ogbn_arxiv", "files/mine.npz"]
    (absent,) = places.data(tmp_path / "none")
    assert (absent.level, "which is not there" in absent.text) == ("note", True)


def test_an_answer_that_cannot_be_kept_is_used_all_the_same(machine, monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "file"))
    monkeypatch.setattr(examination, "ask", machine)
    assert examination.machine_or_fault() == machine()
