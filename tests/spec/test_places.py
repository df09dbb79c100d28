"""Where data and prepared things lie: one answer, absolute, whoever asks."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.spec.places import cache_root, data_root, find_file

SOURCES = Path(__file__).resolve().parents[2] / "harness"


def test_folders_come_from_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("HARNESS_DATA", "HARNESS_CACHE"):
        monkeypatch.delenv(name, raising=False)
    assert (data_root(), cache_root()) == (tmp_path / "data", tmp_path / ".cache")
    monkeypatch.setenv("HARNESS_DATA", "/d")
    monkeypatch.setenv("HARNESS_CACHE", "/c")
    assert (data_root(), cache_root()) == (Path("/d"), Path("/c"))


def test_the_home_folder_is_expanded_and_an_empty_variable_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("HARNESS_CACHE", "~/kept")
    assert cache_root() == tmp_path / "kept"
    monkeypatch.setenv("HARNESS_CACHE", "")
    assert cache_root() == Path.cwd() / ".cache"


def test_no_other_module_reads_the_variables():
    reading = [p.name for p in SOURCES.rglob("*.py") if 'environ.get("HARNESS_CACHE"' in p.read_text()]
    assert reading == ["places.py"]


def test_the_home_of_nobody_is_a_folder_like_any_other(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HARNESS_DATA", "~nobody-of-this-name/data")
    assert data_root() == Path.cwd() / "~nobody-of-this-name" / "data"
    assert find_file("~nobody-of-this-name/g.npz", tmp_path) is None


def test_a_name_too_long_is_no_file(tmp_path: Path) -> None:
    assert find_file("a" * 300, tmp_path) is None
