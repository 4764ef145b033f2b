"""Pictures, sound and video: from lists of files to the page, in parts, to nobody else, and how much was played."""

from __future__ import annotations

import http.client
import json
import math
import struct
import wave
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from adjudge import read
from adjudge.campaigns.campaign_file import load_campaign
from adjudge.campaigns.design import design
from adjudge.campaigns.media import MEDIA_TYPES, MOST_AT_ONCE, find_medium, find_part
from adjudge.table.errors import InputError
from tests.helpers.campaigns import make_campaign
from tests.helpers.judging import begin, saved, type_number
from tests.helpers.serving import Client, Server, export_file, new_save, outputs, run, wait_for
from tests.server.conftest import shoot

if TYPE_CHECKING:
    from playwright.sync_api import Page

MEDIA = """
[files.media]
folder = "media"
source = "source.media.txt"
[files.media.systems]
alpha = "alpha.media.txt"
"""


def picture(size: int) -> bytes:
    """A PNG file of one colour, as the specification (ISO/IEC 15948) has it."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    rows = b"".join(b"\0" + b"\x30\x80\xc0" * size for _ in range(size))
    head = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def sound(file: Path, seconds: float) -> None:
    with wave.open(str(file), "wb") as out:
        out.setparams((1, 2, 8000, 0, "NONE", ""))
        samples = (int(8000 * math.sin(i / 5)) for i in range(int(8000 * seconds)))
        out.writeframes(b"".join(struct.pack("<h", sample) for sample in samples))


def campaign_with_media(folder: Path, *, people: str = '["anna", "bert"]', more: str = "") -> Path:
    campaign = make_campaign(folder, "da", documents=1, systems=2, task_size=3, annotators=people, more=MEDIA + more)
    (folder / "media").mkdir()
    (folder / "media" / "secret-system-name.png").write_bytes(picture(200))
    sound(folder / "media" / "talk.wav", 3)
    (folder / "source.media.txt").write_text("talk.wav\n-\nsecret-system-name.png\ttalk.wav\n")
    (folder / "alpha.media.txt").write_text("secret-system-name.png\n\n-\n")
    return campaign


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(campaign_with_media(tmp_path_factory.mktemp("media"))) as running:
        yield running


def fetch(client: Client, path: str, headers: dict[str, str] | None = None) -> http.client.HTTPResponse:
    """A raw answer, with its content."""
    cookies = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
    client.connection.request("GET", path, None, {"Cookie": cookies, **(headers or {})})
    return client.connection.getresponse()


def addresses(work: dict[str, object]) -> dict[str, str]:
    """The kind of every medium of the task in hand, by its address."""
    task: dict = work["task"]  # type: ignore[assignment, type-arg]
    media = [m for s in task["screens"] for i in s["items"] for one in (i, *i["outputs"]) for m in one["media"]]
    return {f"/api/media/{task['id']}/{m['place']}/{m['number']}": m["kind"] for m in media}


def test_files_are_served_in_parts_under_strict_types_and_blind_names(server: Server) -> None:
    client = server.client("anna")
    work = client.work()
    assert "secret" not in json.dumps(work)
    assert "talk" not in json.dumps(work)
    assert sorted(addresses(work).values()), "the task has media"
    for path, kind in addresses(work).items():
        name = {"image": "secret-system-name.png", "audio": "talk.wav"}[kind]
        content = (server.campaign.parent / "media" / name).read_bytes()
        whole = fetch(client, path)
        assert (whole.status, whole.read()) == (200, content)
        assert whole.headers["Content-Type"] == {"image": "image/png", "audio": "audio/wav"}[kind]
        assert whole.headers["X-Content-Type-Options"] == "nosniff"
        assert "sandbox" in str(whole.headers["Content-Security-Policy"])
        assert "secret" not in str(whole.headers)
        part = fetch(client, path, {"Range": "bytes=10-19"})
        assert (part.status, part.read()) == (206, content[10:20])
        assert part.headers["Content-Range"] == f"bytes 10-19/{len(content)}"
        last = fetch(client, path, {"Range": "bytes=-5"})
        assert (last.status, last.read()) == (206, content[-5:])
        beyond = fetch(client, path, {"Range": f"bytes={len(content)}-"})
        assert (beyond.status, beyond.headers["Content-Range"], beyond.read()) == (416, f"bytes */{len(content)}", b"")
        changed = fetch(client, path, {"Range": "bytes=0-1", "If-Range": '"another"'})
        assert (changed.status, changed.read()) == (200, content)


def test_nobody_else_gets_a_file_and_nothing_else_is_a_file(server: Server) -> None:
    path = next(iter(addresses(server.client("anna").work())))
    task, place = path.split("/")[3:5]
    assert fetch(server.client(), path).status == 401
    assert fetch(server.client("organiser"), path).status == 403
    # The other person has another task.
    other = server.client("bert")
    assert other.work()["task"]["id"] != task
    assert fetch(other, path).status == 404
    client = server.client("anna")
    for wrong in (
        f"/api/media/{task}/{place}/9",
        f"/api/media/{task}/elsewhere/0",
        f"/api/media/{task}/..%2f..%2fcampaign.toml/0",
        f"/api/media/{task}/{place}/-1",
        f"/api/media/nothing/{place}/0",
    ):
        answer = fetch(client, wrong)
        answer.read()
        assert answer.status == 404, wrong


@pytest.mark.parametrize(
    ("wanted", "part"),
    [
        ("bytes=0-0", (0, 1)),
        ("bytes=5-", (5, 100)),
        ("bytes=-30", (70, 100)),
        ("bytes=-300", (0, 100)),
        ("bytes=90-900", (90, 100)),
        ("bytes=0-1,4-5", None),
        ("bytes=-", None),
        ("lines=1-2", None),
        ("bytes=a-b", None),
        ("", None),
    ],
)
def test_ranges_are_read_as_rfc_9110_has_them(wanted: str, part: tuple[int, int] | None) -> None:
    assert find_part(wanted, 100) == part


def test_no_answer_to_a_player_is_long() -> None:
    assert find_part("bytes=7-", 10**9) == (7, 7 + MOST_AT_ONCE)
    assert find_part("bytes=-999999999", 10**9) == (1, 1 + MOST_AT_ONCE)
    first, end = find_part("bytes=-0", 100) or (0, 0)
    assert first >= end, "nothing is left of it: 416"


def test_nothing_outside_the_folder_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "media"
    (folder / "inner").mkdir(parents=True)
    for file in (tmp_path / "outside.png", folder / "inside.png", folder / "inner" / "deep.png", folder / "page.html"):
        file.write_bytes(b"x")
    (folder / "link.png").symlink_to(tmp_path / "outside.png")
    (folder / "loop.png").symlink_to("loop.png")
    assert find_medium(folder, "inside.png") == (folder / "inside.png").resolve()
    assert find_medium(folder, "inner/deep.png") is not None
    for name in (
        "../outside.png",
        str(tmp_path / "outside.png"),
        "link.png",
        "loop.png",
        "page.html",
        "inner",
        "a\0b.png",
        "",
    ):
        assert find_medium(folder, name) is None, name
    assert not {".svg", ".html", ".js", ".xml", ".pdf"} & set(MEDIA_TYPES), "these may hold scripts"


@pytest.mark.parametrize(
    ("lists", "why"),
    [
        ("talk.wav\n-\n", "has 2 lines where there are 3 segments"),
        ("talk.wav\n-\n../campaign.toml\n", "line 3: '../campaign.toml' is of no kind"),
        ("talk.wav\nnone.wav\n-\n", "line 2: there is no file 'none.wav'"),
    ],
)
def test_lists_that_do_not_fit_are_named_with_their_line(lists: str, why: str, tmp_path: Path) -> None:
    campaign = campaign_with_media(tmp_path)
    (tmp_path / "source.media.txt").write_text(lists)
    with pytest.raises(InputError, match=why):
        design(load_campaign(campaign))


def test_equal_texts_with_other_media_are_judged_apart(tmp_path: Path) -> None:
    campaign = campaign_with_media(tmp_path)
    (tmp_path / "beta.txt").write_text((tmp_path / "alpha.txt").read_text())
    shown = [output.systems for task in design(load_campaign(campaign)).tasks for _, _, output in task.outputs()]
    # Only the first segment of alpha has a file: there it is judged apart, elsewhere once for both.
    assert sorted(shown) == [("alpha",), ("alpha", "beta"), ("alpha", "beta"), ("beta",)]
    with pytest.raises(InputError, match="use repeats"):
        load_campaign(campaign_with_media(tmp_path / "more", more="[controls]\ndegraded = 1\n"))


@pytest.mark.browser
def test_what_is_played_is_logged_and_exported(page: Page, tmp_path: Path) -> None:
    campaign = campaign_with_media(tmp_path, people='["anna"]')
    with Server(campaign) as server:
        page.set_viewport_size({"width": 1280, "height": 800})
        begin(page, server)
        while not page.locator("main audio").count():
            type_number(page, "50")
            page.keyboard.press("Enter")
        expect(page.locator("main :is(img, audio)").first).to_be_visible()
        shoot(page, "media-wide")
        page.keyboard.press("v")
        wait_for(lambda: page.evaluate("document.querySelector('main audio').currentTime > 0.5"))
        place = page.evaluate("document.querySelector('main audio').src.split('/').at(-2)")
        page.keyboard.press("v")
        type_number(page, "70")
        saved(page)
        page.set_viewport_size({"width": 390, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        shoot(page, "media-phone")
    table = read([export_file(campaign)]).final().table
    played = {row["output"]: row["played_seconds"] for row in table.iter_rows(named=True)}
    heard = [seconds for output, seconds in played.items() if output.startswith(place) and seconds]
    assert len(heard) == 1
    assert 0.4 <= heard[0] <= 3.5
    run("verify", campaign)


@pytest.mark.browser
@pytest.mark.parametrize("protocol", ["da", "esa", "postedit", "pairwise", "ranking"])
def test_nothing_but_the_output_is_shown(protocol: str, page: Page, tmp_path: Path) -> None:
    more = '[context]\nshow = "nothing"\n' + ("[criteria.fluency]\n" if protocol == "esa" else "")
    campaign = make_campaign(tmp_path, protocol, documents=1, task_size=20, more=more)
    with Server(campaign) as server:
        client = server.client("anna")
        work = client.work()
        sentences = [line for line in (tmp_path / "source.txt").read_text().splitlines() if line]
        assert not [line for line in sentences if line in json.dumps(work, ensure_ascii=False)]
        begin(page, server)
        assert not [line for line in sentences if line in page.locator("body").inner_text()]
        shoot(page, f"alone-{protocol}")
        if protocol in ("da", "esa"):
            changes = [{"output": output, "score": 3} for output in outputs(work, 0)]
            assert client.post("/api/saves", new_save(work, 0, changes)).status == 200


@pytest.mark.parametrize("where", ["media", "../elsewhere"])
def test_media_are_in_a_backup_and_come_back(where: str, tmp_path: Path) -> None:
    """Those that the lists name, and nothing else of their folder, which may lie outside of the campaign's."""
    campaign = campaign_with_media(tmp_path / "first")
    if where != "media":
        (tmp_path / "first" / "media").rename(tmp_path / "elsewhere")
        campaign.write_text(campaign.read_text().replace('folder = "media"', f'folder = "{where}"'))
    folder = (campaign.parent / where).resolve()
    (folder / "holiday.png").write_bytes(picture(3))
    with Server(campaign) as server:
        assert server.client("anna").work()["task"]
        before = {name: (folder / name).read_bytes() for name in ("talk.wav", "secret-system-name.png")}
        run("backup", campaign, "-o", tmp_path / "backup.zip")
    run("restore", tmp_path / "backup.zip", tmp_path / "second")
    restored = load_campaign(tmp_path / "second" / campaign.name)
    assert restored.files.media is not None
    copies = {file.name: file.read_bytes() for file in restored.files.media.folder.iterdir()}
    assert copies == before
    assert restored.files.media.folder.resolve().is_relative_to((tmp_path / "second").resolve())
    with Server(tmp_path / "second" / campaign.name) as server:
        assert server.links
