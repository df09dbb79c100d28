"""Features in float16: rounded to the nearest, lost values counted, large ones refused, and the copy made once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from harness.graphs import features, half_features
from harness.graphs.half_features import TooLargeForHalf, half_copy, halves
from harness.spec.errors import InputError


@pytest.fixture
def x(tmp_path: Path) -> np.ndarray:
    rows = np.random.default_rng(0).standard_normal((300, 5)).astype(np.float32)
    rows[3, :4] = 1e-8, -2e-8, 0.0, 1e-7  # the first two are nearer to 0 than to the smallest of float16, 6e-8
    np.save(tmp_path / "x.npy", rows)
    return np.load(tmp_path / "x.npy", mmap_mode="r")


def test_pieces_make_up_the_whole(x, monkeypatch):
    monkeypatch.setattr(features, "CHUNK_BYTES", 70 * 5 * 4)
    made = list(halves(x))
    assert [len(half) for _, half, _ in made] == [70, 70, 70, 70, 20]
    whole = np.zeros(x.shape, np.float16)
    for rows, half, _ in made:
        whole[rows] = half
    assert np.array_equal(whole, np.asarray(x).astype(np.float16))
    assert sum(lost for _, _, lost in made) == 2


@pytest.mark.parametrize(("value", "fits"), [(65504.0, True), (65519.0, True), (65520.0, False), (-70000.0, False)])
def test_the_largest_feature_is_named_where_one_does_not_fit(x, value, fits):
    rows = np.array(x)
    rows[1, 1], rows[250, 0] = value, 2.0
    if fits:
        assert next(halves(rows))[1][1, 1] == 65504
        return
    with pytest.raises(
        TooLargeForHalf, match=f"the largest feature is {abs(value):.0f} and float16 holds at most 65504"
    ):
        list(halves(rows))
    with pytest.raises(TooLargeForHalf, match="scale the features"):
        half_copy(Path(x.filename).parent, rows)
    assert {p.name for p in Path(x.filename).parent.iterdir()} <= {"x.npy", "x.float16.lock"}


def test_the_copy_is_made_once_however_many_ask(x, tmp_path, monkeypatch):
    made, write, gate = [], half_features._write, threading.Barrier(3)
    monkeypatch.setattr(half_features, "_write", lambda *a: made.append(1) or write(*a))

    def ask(_: int) -> half_features.HalfCopy:
        gate.wait()
        return half_copy(tmp_path, x)

    with ThreadPoolExecutor(3) as pool:
        copies = list(pool.map(ask, range(3)))
    assert made == [1]
    for copy in copies:
        assert isinstance(copy.x, np.memmap)
        assert np.array_equal(copy.x, np.asarray(x).astype(np.float16))
        assert (copy.underflowed, copy.seconds) == (2, copies[0].seconds)
        assert copy.seconds > 0


def test_a_copy_that_was_cut_short_is_made_again(x, tmp_path):
    (tmp_path / ".x.float16.npy.partial").write_bytes(b"half")
    assert half_copy(tmp_path, x).x.shape == (300, 5)
    assert not (tmp_path / ".x.float16.npy.partial").exists()


def test_a_folder_that_may_not_be_written_is_named(x, tmp_path, monkeypatch):
    def refused(*_: object) -> None:
        raise PermissionError(13, "Permission denied", str(tmp_path / "x.float16.npy"))

    monkeypatch.setattr(half_features, "_write", refused)
    with pytest.raises(InputError, match="HARNESS_CACHE"):
        half_copy(tmp_path, x)


@pytest.mark.parametrize(
    ("name", "content"),
    [("x.float16.npy", b""), ("x.float16.npy", b"cut"), ("x.float16.json", b"{"), ("x.float16.json", None)],
)
def test_a_damaged_copy_is_made_again(x, tmp_path, name, content):
    half_copy(tmp_path, x)
    (tmp_path / name).unlink()
    if content is not None:
        (tmp_path / name).write_bytes(content)
    copy = half_copy(tmp_path, x)
    assert np.array_equal(copy.x, np.asarray(x).astype(np.float16))
    assert copy.underflowed == 2


def test_a_copy_of_another_table_or_cut_within_its_rows_is_made_again(x, tmp_path):
    half_copy(tmp_path, x[:100])
    assert half_copy(tmp_path, x).x.shape == (300, 5)
    with (tmp_path / "x.float16.npy").open("r+b") as file:
        file.truncate(5000)
    assert np.array_equal(half_copy(tmp_path, x).x, np.asarray(x).astype(np.float16))
