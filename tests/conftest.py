"""Fixtures that every folder of tests shares."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Folder of the real graphs: $HARNESS_DATA, else `shared/data` beside the repository; skips where there is none."""
    named = os.environ.get("HARNESS_DATA")
    candidates = [Path(named)] if named else [REPOSITORY.parent / "shared" / "data"]
    for folder in candidates:
        if (folder / "pyg").is_dir() or (folder / "files").is_dir():
            return folder.resolve()
    pytest.skip(f"no real graphs under {candidates[0]}: set HARNESS_DATA to a folder with pyg/ and files/")


@pytest.fixture
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty $HARNESS_CACHE of this test's own."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("HARNESS_CACHE", str(folder))
    return folder
