"""Results are kept by everything they depend on, and what is broken or old is made again."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from adjudge.work import cache as cache_module
from adjudge.work.cache import cached, folder, shrink
from adjudge.work.tasks import workers

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("ADJUDGE_CACHE", raising=False)
    monkeypatch.setattr(cache_module, "WORTH_KEEPING", 0.0)
    with workers(cache=True):
        yield tmp_path / "adjudge"


class Counted:
    """A computation that counts how often it was made."""

    times = 0

    def __call__(self) -> int:
        self.times += 1
        return self.times


def test_a_result_is_made_once() -> None:
    compute = Counted()
    assert [cached("count", "data", compute) for _ in range(3)] == [1, 1, 1]


def test_other_data_have_another_result() -> None:
    compute = Counted()
    assert [cached("count", key, compute) for key in ("a", "b", "a")] == [1, 2, 1]


def test_other_code_has_another_result(monkeypatch: pytest.MonkeyPatch) -> None:
    compute = Counted()
    cached("count", "data", compute)
    monkeypatch.setattr(cache_module, "code_fingerprint", lambda: "changed")
    assert cached("count", "data", compute) == 2


def test_quick_results_are_not_kept(monkeypatch: pytest.MonkeyPatch, kept: Path) -> None:
    monkeypatch.setattr(cache_module, "WORTH_KEEPING", 1e9)
    assert cached("count", "data", Counted()) == 1
    assert not kept.exists()


@pytest.mark.parametrize("content", [b"", b"cut", b"\x80\x05\x8c\x04gone\x8c\x04also\x93."])
def test_a_broken_file_is_made_again(content: bytes, kept: Path) -> None:
    compute = Counted()
    cached("count", "data", compute)
    (file,) = kept.glob("*.pickle")
    file.write_bytes(content)
    assert [cached("count", "data", compute) for _ in range(2)] == [2, 2]


def test_nothing_but_whole_files_lie_in_the_folder(kept: Path) -> None:
    cached("count", "data", Counted())
    with pytest.raises(KeyboardInterrupt):
        cached("other", "data", _interrupted)
    assert [file.suffix for file in kept.iterdir()] == [".pickle"]


def _interrupted() -> int:
    raise KeyboardInterrupt


def test_a_folder_that_cannot_be_made_is_no_fault(kept: Path) -> None:
    kept.write_text("a file where the folder should be")
    assert cached("count", "data", Counted()) == 1


def test_it_can_be_turned_off(monkeypatch: pytest.MonkeyPatch, kept: Path) -> None:
    compute = Counted()
    with workers(cache=False):
        assert [cached("count", "data", compute) for _ in range(2)] == [1, 2]
    monkeypatch.setenv("ADJUDGE_CACHE", "off")
    assert cached("count", "data", compute) == 3
    assert not kept.exists()


def test_what_was_not_used_for_long_goes_first(kept: Path) -> None:
    kept.mkdir()
    for age, name in enumerate(["new", "middle", "old"]):
        file = kept / f"{name}.pickle"
        file.write_bytes(b"0" * 100)
        os.utime(file, (1000 - age, 1000 - age))
    shrink(kept, 250)
    assert sorted(file.stem for file in kept.iterdir()) == ["middle", "new"]


def test_it_lies_where_the_system_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert folder() == tmp_path / "adjudge"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert folder() == tmp_path / ".cache" / "adjudge"


def test_a_file_that_others_could_write_is_not_loaded(kept: Path) -> None:
    compute = Counted()
    cached("count", "data", compute)
    [file] = kept.glob("*.pickle")
    file.chmod(0o666)
    assert cached("count", "data", compute) == 2


def test_nothing_is_kept_where_the_user_turned_it_off(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADJUDGE_CACHE", "off")
    compute = Counted()
    assert [cached("count", "data", compute) for _ in range(2)] == [1, 2]
    assert not kept.exists()
