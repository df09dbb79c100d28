"""The probe: what torch can do here, asked once."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from harness.plan import machine as module
from harness.plan.machine import Machine, probe
from harness.spec.errors import InputError


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Machine]:
    folder = tmp_path_factory.mktemp("cache") / "new"
    return folder, probe(folder)


def test_the_probe_knows_this_machine(asked: tuple[Path, Machine]) -> None:
    found = asked[1]
    assert found.torch[0].isdigit()
    assert found.libraries["pymetis"]
    assert found.libraries["ogb"]
    # measured on torch 2.13: all half kernels work on a CPU, sparse products and their backward too
    wanted = {p + a for p in ("bf16", "fp16") for a in ("", "-linear", "+spmm", "+segment", "+dense")}
    assert set(found.kernels["cpu"]) == wanted
    assert found.kernels["cpu"]["fp16-linear"] is None
    assert set(found.kernels) == ({"cpu", "cuda"} if found.cuda else {"cpu"})
    assert found.device("auto") == ("cuda" if found.cuda else "cpu")
    assert found.device("cpu") == "cpu"


def test_the_answer_is_kept(asked: tuple[Path, Machine], monkeypatch: pytest.MonkeyPatch) -> None:
    folder, found = asked
    assert [path.name for path in folder.iterdir()] == [f"probe-{module.probe_key()}.json"]
    monkeypatch.setattr(module, "ask", lambda: pytest.fail("asked again"))
    assert probe(folder) == found


def test_another_version_or_device_asks_again(monkeypatch: pytest.MonkeyPatch) -> None:
    key = module.probe_key()
    assert key == module.probe_key()
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "7")
    other = module.probe_key()
    monkeypatch.setattr(module, "_version", lambda name: "0.1")
    assert len({key, other, module.probe_key()}) == 3


def test_a_broken_answer_is_asked_for_again(
    asked: tuple[Path, Machine], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / f"probe-{module.probe_key()}.json").write_text('{"torch": "2')
    monkeypatch.setattr(module, "ask", lambda: asked[1])
    assert probe(tmp_path) == asked[1]
    assert Machine.model_validate_json((tmp_path / f"probe-{module.probe_key()}.json").read_text()) == asked[1]


def interpreter(folder: Path, body: str) -> str:
    """A stand-in for Python that does what ``body`` says."""
    path = folder / "python"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (
            "echo 'ModuleNotFoundError: No module named torch' >&2; exit 1",
            "exit code 1: ModuleNotFoundError: No module",
        ),
        ("kill -11 $$", "exit code -11: no message"),
        ("echo hello", "its answer cannot be read: 'hello"),
        ("exec sleep 30", "no answer within 1 s"),
    ],
)
def test_a_probe_that_fails_is_no_silent_pass(
    body: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", interpreter(tmp_path, body))
    monkeypatch.setattr(module, "PROBE_TIMEOUT_S", 1)
    with pytest.raises(InputError) as caught:
        probe(tmp_path / "cache")
    assert says in str(caught.value)
    assert "import torch, torch_geometric" in str(caught.value)
    assert not list(tmp_path.glob("cache/*"))


def test_a_cache_that_cannot_be_written_says_so(
    asked: tuple[Path, Machine], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(module, "ask", lambda: asked[1])
    with pytest.raises(InputError, match="HARNESS_CACHE"):
        probe(tmp_path / "file")
