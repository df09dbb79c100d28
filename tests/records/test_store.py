"""Records are whole or absent, and a file that is neither never stops a grid."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
from pathlib import Path

import pytest

from harness.records.record import Record
from harness.records.store import RecordStore
from harness.spec.errors import InputError
from harness.spec.options import Model, Options, Training
from harness.spec.schema import Limits


def record(run_id: str = "a1", status: str = "ok", **changes: object) -> Record:
    return Record(
        **{
            "run_id": run_id,
            "cell_id": "c",
            "purpose": "quality",
            "seed": 3,
            "model": Model(class_path="my.module:Net", args={"width": 3}),
            "training": Training(clip=1.0),
            "options": Options(),
            "status": status,
            "phase": "done",
            "started_at": "2026-01-01T00:00:00+00:00",
            "ended_at": "2026-01-01T00:01:00+00:00",
            **changes,
        }
    )


@pytest.fixture
def warnings() -> list[str]:
    return []


@pytest.fixture
def store(tmp_path: Path, warnings: list[str]) -> RecordStore:
    return RecordStore(tmp_path / "runs", warnings.append)


def test_a_record_comes_back_as_it_was(store):
    written = record(epoch_s=[0.1, 1 / 3], counters={"nodes": 7, "nested": {"a": [1, 2]}})
    store.write(written)
    assert store.read("a1") == written
    assert store.has("a1")
    assert store.path("a1").name == "a1.json"


def test_what_was_never_written_is_absent(store):
    assert store.read("a1") is None
    assert not store.has("a1")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "not whole"),
        (record().model_dump_json().encode()[:200], "not whole"),
        (b"\xff\xfe\x00", "cannot be read"),
        (b"[1, 2]", "another version|no record"),
        (json.dumps({**json.loads(record().model_dump_json()), "version": 2}).encode(), "record version 2"),
        (json.dumps({**json.loads(record().model_dump_json()), "status": "fine"}).encode(), "status"),
        (record("b2").model_dump_json().encode(), "another run"),
    ],
)
def test_a_file_that_is_no_record_is_moved_aside_with_a_warning(store, warnings, content, why):
    store.root.mkdir()
    store.path("a1").write_bytes(content)
    assert store.read("a1") is None
    assert not store.has("a1")
    aside = list(store.root.glob("a1.unreadable-*"))
    assert [path.read_bytes() for path in aside] == [content]
    assert len(warnings) == 1
    assert "a1.json" in warnings[0]
    assert any(words in warnings[0] for words in why.split("|"))
    store.write(record())
    assert store.read("a1") is not None


def test_a_full_disk_is_said_and_leaves_the_old_record(store, monkeypatch):
    store.write(record(message="old"))

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match=r"a1\.json.*disk is full"):
        store.write(record(message="new"))
    monkeypatch.undo()
    assert store.read("a1").message == "old"
    assert [p.name for p in store.root.iterdir()] == ["a1.json"]


def _rewrite(root: Path, rounds: int) -> None:
    store = RecordStore(root)
    for i in range(rounds):
        store.write(record(message="x" * (1 + i % 7) * 20_000))


def test_a_reader_never_sees_half_a_record(store, warnings):
    store.write(record())
    writer = multiprocessing.get_context("spawn").Process(target=_rewrite, args=(store.root, 100))
    writer.start()
    seen = 0
    while writer.is_alive():
        assert store.read("a1") is not None
        seen += 1
    writer.join()
    assert writer.exitcode == 0
    assert seen > 0
    assert warnings == []


def test_forget_removes_only_the_named_statuses_of_the_named_runs(store):
    for run_id, status in [("a", "ok"), ("b", "oom"), ("c", "timeout"), ("d", "oom")]:
        store.write(record(run_id, status))
    assert store.forget({"oom"}, ["a", "b", "c", "missing"]) == ["b"]
    assert [i for i in "abcd" if store.has(i)] == ["a", "c", "d"]


@pytest.mark.parametrize("run_id", ["", "../x", "a/b", ".hidden", "a\n"])
def test_an_id_that_is_no_file_name_is_refused(store, run_id):
    with pytest.raises(ValueError, match="plain file name"):
        store.path(run_id)


def test_the_lock_of_a_run_has_one_owner(store):
    with store.lock("a1"), store.lock("b2"):
        from filelock import Timeout

        with pytest.raises(Timeout):
            store.lock("a1").acquire(timeout=0)
    store.lock("a1").acquire(timeout=0)


@pytest.mark.parametrize(
    ("status", "then", "now", "holds"),
    [
        ("timeout", Limits(time_s=10), Limits(time_s=10), True),
        ("timeout", Limits(time_s=10), Limits(time_s=5), True),
        ("timeout", Limits(time_s=10), Limits(time_s=11), False),
        ("timeout", None, Limits(time_s=1), False),
        ("oom", Limits(memory_mb=100), Limits(memory_mb=100), True),
        ("oom", Limits(memory_mb=100), Limits(memory_mb=200), False),
        ("oom", Limits(memory_mb=100), Limits(), False),
        ("oom", Limits(), Limits(), True),
        ("oom", Limits(), Limits(memory_mb=100), True),
        ("error", Limits(time_s=1), Limits(time_s=9), True),
        ("ok", None, Limits(), True),
    ],
)
def test_a_stopped_run_holds_only_under_limits_no_wider(status, then, now, holds):
    assert record(status=status, limits=then).holds_under(now) is holds
