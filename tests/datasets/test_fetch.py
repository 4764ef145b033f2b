"""Fetching data sets from a server on this machine: whole, resumed, refused, from elsewhere, and unpacked."""

from __future__ import annotations

import hashlib
import io
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adjudge.datasets.catalogue import DataFile, DataSet, find_folder, list_sets
from adjudge.datasets.download import describe_found, fetch
from adjudge.table.errors import InputError, UsageError
from tests.helpers.server import Site, serving

TEXT = b"A B 3 1 2\n" * 50_000
SUM = hashlib.sha256(TEXT).hexdigest()


@pytest.fixture
def site() -> Iterator[Site]:
    with serving({"counts.txt": TEXT, "sub/more.txt": b"more"}) as running:
        yield running


def a_set(site: Site, *files: DataFile) -> DataSet:
    return DataSet(
        name="tiny",
        holds="counts",
        format="pairwise-counts",
        command="adjudge rank {folder}/counts.txt --format pairwise-counts",
        cite="nobody",
        page=site.address,
        files=files or (DataFile("counts.txt", f"{site.address}/counts.txt", bytes=len(TEXT), sha256=SUM),),
    )


def left(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_a_file_is_fetched_confirmed_and_said_to_be_there(site: Site, tmp_path: Path) -> None:
    reports: list[tuple[str, int, int | None]] = []
    dataset = a_set(site)
    assert find_folder(dataset, tmp_path) is None
    fetched = fetch(dataset, tmp_path, tell=lambda *progress: reports.append(progress))
    assert (tmp_path / "tiny" / "counts.txt").read_bytes() == TEXT
    assert [(file.sha256, file.confirmed, file.fresh, file.bytes) for file in fetched.files] == [
        (SUM, True, True, len(TEXT))
    ]
    assert fetched.command == f"adjudge rank {tmp_path}/tiny/counts.txt --format pairwise-counts"
    assert reports[-1] == ("counts.txt", len(TEXT), len(TEXT))
    assert find_folder(dataset, tmp_path) == tmp_path / "tiny"
    assert left(tmp_path) == ["tiny/.adjudge-data.json", "tiny/counts.txt"]


def test_what_is_there_is_not_fetched_again_unless_asked_for(site: Site, tmp_path: Path) -> None:
    dataset = a_set(site)
    fetch(dataset, tmp_path)
    second = fetch(dataset, tmp_path)
    assert len(site.asked) == 1
    assert not second.files[0].fresh
    assert second.files[0].source == f"{site.address}/counts.txt"
    assert fetch(dataset, tmp_path, again=True).files[0].fresh
    assert len(site.asked) == 2


def test_a_file_that_was_damaged_is_fetched_again(site: Site, tmp_path: Path) -> None:
    dataset = a_set(site)
    fetch(dataset, tmp_path)
    (tmp_path / "tiny" / "counts.txt").write_bytes(b"damaged")
    assert fetch(dataset, tmp_path).files[0].fresh
    assert (tmp_path / "tiny" / "counts.txt").read_bytes() == TEXT


def test_without_a_checksum_it_is_computed_and_not_called_confirmed(site: Site, tmp_path: Path) -> None:
    dataset = a_set(site, DataFile("counts.txt", f"{site.address}/counts.txt"))
    fetched = fetch(dataset, tmp_path)
    assert (fetched.files[0].sha256, fetched.files[0].confirmed) == (SUM, False)
    assert "none recorded" in str(fetched.tables()[0].rows)


def test_an_interrupted_download_goes_on_where_it_stopped(site: Site, tmp_path: Path) -> None:
    site.cut_after = 200_000
    with pytest.raises(InputError, match=r"cannot be reached .*run the command again"):
        fetch(a_set(site), tmp_path)
    assert find_folder(a_set(site), tmp_path) is None
    assert not (tmp_path / "tiny" / "counts.txt").exists()
    site.cut_after = None
    fetch(a_set(site), tmp_path)
    assert site.asked == [("/counts.txt", None), ("/counts.txt", "bytes=200000-")]
    assert (tmp_path / "tiny" / "counts.txt").read_bytes() == TEXT
    assert left(tmp_path) == ["tiny/.adjudge-data.json", "tiny/counts.txt"]


@pytest.mark.parametrize("ranges", [True, False])
def test_a_file_that_changed_in_between_is_fetched_from_its_beginning(site: Site, tmp_path: Path, ranges: bool) -> None:
    dataset = a_set(site, DataFile("counts.txt", f"{site.address}/counts.txt"))
    site.cut_after = 200_000
    with pytest.raises(InputError):
        fetch(dataset, tmp_path)
    changed = TEXT.replace(b"3", b"4")
    site.files["counts.txt"], site.cut_after, site.ranges = changed, None, ranges
    fetch(dataset, tmp_path)
    assert (tmp_path / "tiny" / "counts.txt").read_bytes() == changed


def test_a_part_that_is_longer_than_the_file_is_dropped(site: Site, tmp_path: Path) -> None:
    site.cut_after = 200_000
    with pytest.raises(InputError):
        fetch(a_set(site), tmp_path)
    (part,) = tmp_path.rglob("*.part")
    part.write_bytes(TEXT + b"more")
    site.cut_after = None
    fetch(a_set(site), tmp_path)
    assert (tmp_path / "tiny" / "counts.txt").read_bytes() == TEXT


def test_another_content_than_was_published_is_refused(site: Site, tmp_path: Path) -> None:
    site.files["counts.txt"] = b"something else"
    with pytest.raises(InputError, match=rf"not the file that was published .*{SUM}.*nothing was kept"):
        fetch(a_set(site), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_mirror_stands_in_for_an_address_that_is_gone(site: Site, tmp_path: Path) -> None:
    gone = DataFile("counts.txt", f"{site.address}/gone", mirrors=(f"{site.address}/counts.txt",), sha256=SUM)
    assert fetch(a_set(site, gone), tmp_path).files[0].source.endswith("/counts.txt")


def test_what_cannot_be_had_is_said_plainly(site: Site, tmp_path: Path) -> None:
    gone = a_set(site, DataFile("counts.txt", f"{site.address}/gone"))
    with pytest.raises(InputError, match=r"/gone: the server answers 404 Not Found; .*'from'"):
        fetch(gone, tmp_path)
    nobody = a_set(site, DataFile("counts.txt", "http://127.0.0.1:9/counts.txt"))
    with pytest.raises(InputError, match=r"127.0.0.1:9/counts.txt: cannot be reached .*check the network.*'from'"):
        fetch(nobody, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_copy_a_folder_or_another_server_can_be_given(site: Site, tmp_path: Path) -> None:
    copy = tmp_path / "copy.txt"
    copy.write_bytes(TEXT)
    assert fetch(a_set(site), tmp_path / "1", source=str(copy)).files[0].confirmed
    assert fetch(a_set(site), tmp_path / "2", source=f"{site.address}/counts.txt").files[0].confirmed
    two = a_set(site, DataFile("counts.txt", "http://127.0.0.1:9/"), DataFile("sub/more.txt", "http://127.0.0.1:9/"))
    assert len(fetch(two, tmp_path / "3", source=site.address).files) == 2
    again = fetch(two, tmp_path / "4", source=str(tmp_path / "3" / "tiny"))
    assert (tmp_path / "4" / "tiny" / "sub" / "more.txt").read_bytes() == b"more"
    assert [file.fresh for file in again.files] == [True, True]
    with pytest.raises(UsageError, match=r"'from' is one file, tiny has 2"):
        fetch(two, tmp_path / "5", source=str(copy))
    with pytest.raises(InputError, match=r"no-such: no such file or folder; check 'from'"):
        fetch(two, tmp_path / "5", source=str(tmp_path / "no-such"))


def packed(kind: str) -> bytes:
    held = {"top/data/a.txt": b"a", "top/data/deep/b.txt": b"b", "top/code.py": b"print()"}
    buffer = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(buffer, "w") as archive:
            for name, content in held.items():
                archive.writestr(name, content)
        return buffer.getvalue()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive_of_tar:
        for name, content in held.items():
            about = tarfile.TarInfo(name)
            about.size = len(content)
            archive_of_tar.addfile(about, io.BytesIO(content))
    return buffer.getvalue()


@pytest.fixture(params=["this Python", "Python 3.11.2"])
def any_python(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Archives are unpacked by this Python, and by one whose tarfile has no filters, as that of Debian 12."""
    if request.param != "this Python":
        monkeypatch.delattr(tarfile, "data_filter", raising=False)


@pytest.mark.usefixtures("any_python")
@pytest.mark.parametrize("kind", ["zip", "tar.gz"])
@pytest.mark.parametrize(
    ("inside", "expected"), [("data", ["a.txt", "deep/b.txt"]), ("", ["code.py", "data/a.txt", "data/deep/b.txt"])]
)
def test_archives_are_unpacked_without_their_outermost_folder(
    site: Site, tmp_path: Path, kind: str, inside: str, expected: list[str]
) -> None:
    site.files["all"] = packed(kind)
    dataset = a_set(site, DataFile("all", f"{site.address}/all", unpack=True, inside=inside))
    fetch(dataset, tmp_path)
    assert left(tmp_path / "tiny") == [".adjudge-data.json", *expected]
    assert not fetch(dataset, tmp_path).files[0].fresh
    fetch(dataset, tmp_path, again=True)
    assert left(tmp_path / "tiny") == [".adjudge-data.json", *expected]


def tar_of(name: str, **about: Any) -> bytes:
    """An archive with one empty member."""
    buffer, member = io.BytesIO(), tarfile.TarInfo(name)
    for attribute, value in about.items():
        setattr(member, attribute, value)
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        archive.addfile(member, io.BytesIO())
    return buffer.getvalue()


@pytest.mark.usefixtures("any_python")
def test_an_archive_that_is_none_or_leads_out_of_its_folder_is_refused(site: Site, tmp_path: Path) -> None:
    site.files |= {
        "bad": b"no archive",
        "out": tar_of("../outside.txt"),
        "link": tar_of("link", type=tarfile.SYMTYPE, linkname="../../outside.txt"),
        "other": packed("zip"),
    }
    for name, inside in (("bad", ""), ("out", ""), ("link", ""), ("other", "elsewhere")):
        dataset = a_set(site, DataFile(name, f"{site.address}/{name}", unpack=True, inside=inside))
        with pytest.raises(InputError, match=r"cannot be unpacked|holds no folder 'elsewhere'"):
            fetch(dataset, tmp_path)
        assert find_folder(dataset, tmp_path) is None
    assert not (tmp_path / "outside.txt").exists()
    assert not (tmp_path.parent / "outside.txt").exists()


def test_a_collection_that_holds_the_set_under_another_name_is_found(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADJUDGE_DATA", str(tmp_path))
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "counts.txt").write_bytes(TEXT)
    plain = a_set(site)
    known = DataSet(**{**vars(plain), "found_in": "elsewhere", "probe": "counts.txt"})
    assert [part.folder for part in list_sets([plain, known]).sets] == [None, str(tmp_path / "elsewhere")]
    held = describe_found(known, tmp_path / "elsewhere")
    assert [(file.path, file.confirmed, file.fresh) for file in held.files] == [("counts.txt", True, False)]
