"""Files are whole or absent, and what the disk refuses is one message with its remedy."""

import errno
import os
import stat
import tempfile
import threading

import pytest
from pydantic import BaseModel

from harness.records.files import read_model, write_atomically
from harness.spec.errors import InputError


class Some(BaseModel):
    """A model of a test's own."""

    a: int


def looped(tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    return tmp_path / "loop"


def below_a_file(tmp_path):
    (tmp_path / "file").touch()
    return tmp_path / "file" / "x.json"


def named_as_a_folder(tmp_path):
    (tmp_path / "x.json").mkdir()
    return tmp_path / "x.json"


def too_long(tmp_path):
    return tmp_path / ("x" * 300)


@pytest.mark.parametrize("place", [looped, below_a_file, named_as_a_folder, too_long])
def test_a_place_that_cannot_be_read_is_one_message(tmp_path, place):
    path = place(tmp_path)
    with pytest.raises(InputError) as caught:
        read_model(path, Some)
    assert [problem.file for problem in caught.value.problems] == [str(path)]


@pytest.mark.parametrize(
    ("place", "says"),
    [
        (below_a_file, "a file stands where a folder should be"),
        (named_as_a_folder, "a folder has this name"),
        (too_long, "the name is too long"),
    ],
)
def test_a_place_that_cannot_be_written_is_one_message_and_leaves_nothing(tmp_path, place, says):
    path = place(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InputError, match=says):
        write_atomically(path, "text")
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EFBIG, errno.EROFS, errno.EIO])
def test_a_disk_that_refuses_leaves_what_was_there(tmp_path, monkeypatch, number):
    path = tmp_path / "x.json"
    path.write_text("old")

    def refused(*_, **__):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(tempfile, "NamedTemporaryFile", refused)
    with pytest.raises(InputError, match=r"x\.json: could not be written: .+"):
        write_atomically(path, "new")
    assert path.read_text() == "old"


def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path):
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    write_atomically(pipe, "text")
    reader.join(10)
    assert read == ["text"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
