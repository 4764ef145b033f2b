"""Any file is read as text or refused with file and line; no partly written file remains."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from adjudge.table.errors import AdjudgeError, InputError
from adjudge.table.files import atomic_path, exists, read_text, write_text
from tests.helpers.disk import Disk


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_plain_and_compressed_files_and_a_byte_order_mark(tmp_path: Path) -> None:
    text = "naïve „Zitat“\nsecond line\n"
    for name, raw in {
        "plain.csv": text.encode(),
        "marked.csv": b"\xef\xbb\xbf" + text.encode(),
        "packed.csv.gz": gzip.compress(text.encode()),
        "packed-without-ending": gzip.compress(text.encode()),
    }.items():
        (tmp_path / name).write_bytes(raw)
        assert read_text(tmp_path / name) == text


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"one\ntwo\0three", "line 2: is a binary file"),
        (b"one\ntwo\nth\xe9", "line 3: byte 0xe9 is not UTF-8"),
        (gzip.compress(b"words" * 1000, mtime=0)[:-20], "cannot be read"),
        (b"\x1f\x8b\x08 damaged", "cannot be read"),
    ],
)
def test_what_is_not_text_is_refused_with_its_place(tmp_path: Path, raw: bytes, words: str) -> None:
    file = tmp_path / "file.csv"
    file.write_bytes(raw)
    with pytest.raises(InputError, match=words):
        read_text(file)


def test_missing_files_and_folders(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_text(tmp_path / "missing")
    with pytest.raises(InputError, match="folder"):
        read_text(tmp_path)
    assert not exists(tmp_path / ("long" * 200))
    with pytest.raises(InputError, match="no such file"):
        read_text(tmp_path / ("long" * 200))


def test_writing_makes_folders_and_replaces_the_file_as_a_whole(tmp_path: Path) -> None:
    file = tmp_path / "new" / "folder" / "out.txt"
    write_text(file, "first\n")
    write_text(file, "second\n")
    assert file.read_bytes() == b"second\n"
    assert names_in(file.parent) == ["out.txt"]


def test_a_fault_while_writing_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "out.txt"
    write_text(file, "old\n")

    def fail_half_way() -> None:
        with atomic_path(file) as temporary:
            temporary.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_half_way()
    assert file.read_text() == "old\n"
    assert names_in(tmp_path) == ["out.txt"]


def test_a_file_is_on_the_disk_before_it_gets_its_name_and_its_name_before_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk, file = Disk(monkeypatch), tmp_path / "out.txt"
    write_text(file, "whole\n")
    assert disk.kinds() == ["file", "rename", "folder"]
    assert disk.events[0][2] == len("whole\n")
    assert disk.events[1:] == [("rename", file, len("whole\n")), ("folder", tmp_path, 0)]


def test_a_link_stays_and_the_file_that_it_names_is_written(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    for content, target in (("old\n", tmp_path / "elsewhere" / "out.txt"), (None, tmp_path / "elsewhere" / "new.txt")):
        link = tmp_path / f"link to {target.name}"
        if content is not None:
            target.write_text(content)
        link.symlink_to(target)
        write_text(link, "new\n")
        assert link.is_symlink()
        assert target.read_text() == "new\n"
    assert names_in(tmp_path / "elsewhere") == ["new.txt", "out.txt"]


def test_links_in_a_circle_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(InputError, match="cannot be written"):
        write_text(tmp_path / "a", "x")


def test_a_pipe_is_written_to_and_stays_one(tmp_path: Path) -> None:
    """As are devices: nobody may replace /dev/null by a file."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_text(pipe, "through\n")
        assert os.read(reading, 100) == b"through\n"
    finally:
        os.close(reading)
    assert pipe.is_fifo()
    assert names_in(tmp_path) == ["pipe"]


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for path in (tmp_path, tmp_path / "file" / "below", tmp_path / ("long" * 200)):
        with pytest.raises(InputError, match="cannot be written"):
            write_text(path, "text")
    assert names_in(tmp_path) == ["file"]


def test_a_message_is_one_printable_line() -> None:
    fault = AdjudgeError("first\nsecond\u2028third \x1b[31m red")
    assert str(fault) == "first second third �[31m red"


def test_a_file_is_as_private_as_it_was_and_as_the_mask_says(tmp_path: Path) -> None:
    private, new = tmp_path / "private.txt", tmp_path / "new.txt"
    private.touch(mode=0o600)
    before = os.umask(0o027)
    try:
        write_text(private, "a")
        write_text(new, "b")
    finally:
        os.umask(before)
    assert private.stat().st_mode & 0o777 == 0o600
    assert new.stat().st_mode & 0o777 == 0o640
