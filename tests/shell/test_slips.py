"""Mistyped calls and unusual environments: the message says what to do, and the exit code is right."""

from __future__ import annotations

import io
import json
import os
import pty
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from adjudge.shell.output import allow_any_text, is_unicode
from tests.conftest import Run, assert_explained
from tests.helpers.tables import command, ranking_rows, write_table
from tests.helpers.warm_command import PATIENCE

CALL = [sys.executable, "-m", "adjudge"]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write_table(tmp_path / "judgments.csv", ranking_rows())


@pytest.mark.parametrize(
    ("words", "code", "names"),
    [
        ("ranck FILE", 2, ("'ranck'", "Did you mean 'rank'", "adjudge --help")),
        ("data gett", 2, ("'gett'", "Did you mean 'get'", "adjudge data --help")),
        ("rank FILE --methd wins", 2, ("--methd", "--method")),
        ("rank", 2, ("Missing argument 'FILE'", "adjudge rank --help")),
        ("rank no-such.csv", 1, ("no-such.csv: no such file or folder",)),
        ("rank FOLDER", 1, ("FOLDER: this folder holds no table",)),
        ("rank FILE --format judgment", 2, ("unknown format 'judgment'", "did you mean 'judgments'")),
        ("rank FILE --method wins-or-tie", 2, ("unknown method", "did you mean 'wins-or-ties'")),
        ("rank FILE --pair de-fr", 1, ("judgments.csv", "'de-fr' is not in the data; it has cs-en")),
        ("rank FILE --output FOLDER", 1, ("FOLDER: cannot be written, it is a folder; name a file",)),
        ("rank FILE --output FILE/x.json", 1, ("x.json: cannot be written", "choose another path")),
        ("report FILE --output FILE/x.html", 1, ("x.html: cannot be written",)),
        ("import FILE --output FILE/x.parquet", 1, ("x.parquet: cannot be written",)),
        ("import no-such.csv --output x.foo", 1, ("x.foo: a judgment table cannot be written as '.foo'",)),
        ("import no-such.csv --output FOLDER", 1, ("FOLDER: cannot be written, it is a folder; name a file",)),
        ("export no-such.toml --output x.foo", 1, ("x.foo: a judgment table cannot be written as '.foo'",)),
        ("simulate --systems 0 --output x", 1, ("x: a judgment table cannot be written under a name without",)),
        ("check no-such.csv --kept x.foo", 1, ("x.foo: a judgment table cannot be written as '.foo'",)),
        ("rank FILE --seed -1", 2, ("--seed",)),
        ("data get no-such", 2, ("unknown data set 'no-such'",)),
    ],
)
def test_slips_are_explained(words: str, code: int, names: tuple[str, ...], table: Path, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    given = [word.replace("FILE", str(table)).replace("FOLDER", str(folder)) for word in words.split()]
    run = command(*given)
    assert_explained(run, code=code, names=tuple(name.replace("FOLDER", str(folder)) for name in names))


def test_a_folder_for_the_output_is_made(table: Path, tmp_path: Path) -> None:
    output = tmp_path / "not" / "yet" / "ranking.json"
    assert command("rank", table, "--output", output).code == 0
    assert json.loads(output.read_text())["systems"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "words", [("--help",), ("rank", "--help"), ("formats",), ("rank", "FILE"), ("rank", "FILE", "--json")]
)
def test_a_reader_that_goes_away_is_no_fault(words: tuple[str, ...], table: Path) -> None:
    """As in `adjudge rank ... | head -1`; here nothing is read at all, so that writing is sure to fail."""
    reading, writing = os.pipe()
    os.close(reading)
    call = [*CALL, *(str(table) if word == "FILE" else word for word in words)]
    done = subprocess.run(call, stdout=writing, stderr=subprocess.PIPE, text=True, check=False, timeout=PATIENCE)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
@pytest.mark.parametrize("words", [("--help",), ("formats",), ("rank", "FILE"), ("rank", "FILE", "--json")])
def test_a_full_disk_is_said_and_a_closed_output_is_none(words: tuple[str, ...], table: Path) -> None:
    """As in `adjudge rank ... > file` on a full disk, and in `adjudge rank ... >&-`."""
    call = [*CALL, *(str(table) if word == "FILE" else word for word in words)]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(call, stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=PATIENCE)
    said = "adjudge: standard output cannot be written (No space left on device); make room, or choose a file with -o\n"
    assert (done.returncode, done.stderr) == (1, said)
    closed = ["sh", "-c", 'exec "$@" >&-', "sh", *call]
    done = subprocess.run(closed, stderr=subprocess.PIPE, text=True, check=False, timeout=PATIENCE)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "words", [("check", "LONG"), ("serve", "LONG"), ("restore", "LONG", "x"), ("rank", "FILE", "-o", "LONG.csv")]
)
def test_a_name_that_is_too_long_for_a_file_is_no_fault_of_ours(
    words: tuple[str, ...], table: Path, adjudge: Callable[..., Run]
) -> None:
    named = [str(table) if word == "FILE" else word.replace("LONG", "a" * 300) for word in words]
    done = adjudge(*named)
    assert done.code in (1, 2)
    # From Python 3.14 on, a path that no file can have is a missing file.
    assert "too long" in done.err or "no such" in done.err
    assert "fault of adjudge" not in done.err
    assert len(done.err.splitlines()) == 1


def test_ctrl_c_ends_with_130_and_one_word(tmp_path: Path) -> None:
    with socket.socket() as silent:
        # A server that never answers: the command is sure to be running when it is stopped.
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        running = subprocess.Popen(
            [*CALL, "data", "get", "wmt12", "--from", f"http://127.0.0.1:{silent.getsockname()[1]}/file"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "ADJUDGE_DATA": str(tmp_path)},
        )
        silent.settimeout(120)
        asked, _ = silent.accept()
        asked.recv(10)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=120)
        asked.close()
    assert (running.returncode, out, err) == (130, "", "adjudge: stopped\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_terminals_that_know_few_signs_get_a_likeness(table: Path) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    for words in (["rank", str(table)], ["rank", "--help"], ["rank", "nö–such.csv"]):
        done = subprocess.run([*CALL, *words], capture_output=True, check=False, env=environment, timeout=PATIENCE)
        assert b"Traceback" not in done.stderr
        assert b"fault of adjudge itself" not in done.stderr
        done.stdout.decode("ascii")
    named = write_table(
        table.with_name("named.csv"), [row.replace(",c,system", ",č–中,system") for row in ranking_rows()]
    )
    printed = subprocess.run(
        [*CALL, "rank", str(named), "--json"], capture_output=True, check=True, env=environment, timeout=PATIENCE
    )
    assert "č–中" in [system["system"] for system in json.loads(printed.stdout.decode("ascii"))["systems"]]


def test_a_likeness_is_printed_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    allow_any_text()
    stream.write("2–3, ≥ 4 × č")
    stream.flush()
    assert raw.getvalue() == b"2-3, >= 4 x ?"
    assert not is_unicode(stream)
    assert is_unicode(io.StringIO())


def test_lines_may_end_as_on_windows(table: Path) -> None:
    windows = table.with_name("windows.csv")
    windows.write_bytes(table.read_bytes().replace(b"\n", b"\r\n"))
    assert command("rank", windows, "--json").json == command("rank", table, "--json").json


@pytest.mark.slow
@pytest.mark.parametrize("columns", [40, 80, 200])
def test_a_terminal_of_any_width_shows_whole_numbers(columns: int, table: Path) -> None:
    shown = in_terminal([*CALL, "rank", str(table)], columns)
    scores = [f"{system['score']:.3f}" for system in command("rank", table, "--json").json["systems"]]
    assert all(score in shown for score in scores)


@pytest.mark.slow
def test_no_colour_where_none_is_wanted(table: Path) -> None:
    coloured, plain = (in_terminal([*CALL, "rank", "--help"], 80, NO_COLOR=value) for value in ("", "1"))
    assert "\x1b[1;33m" in coloured
    assert not any(f"\x1b[{code}m" in plain for code in ("1;33", "33", "36", "1;36", "31"))


def in_terminal(call: list[str], columns: int, **more: str) -> str:
    """What a command prints where a terminal of this width watches."""
    watched, end = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm", **more}
    environment = {name: value for name, value in environment.items() if value or name != "NO_COLOR"}
    running = subprocess.Popen(call, stdout=end, stderr=subprocess.DEVNULL, env=environment)
    os.close(end)
    printed = b""
    while True:
        try:
            assert select.select([watched], [], [], PATIENCE)[0], "nothing is printed, and it does not end"
            piece = os.read(watched, 65536)
        except OSError:  # Linux raises this when the other end was closed
            break
        if not piece:
            break
        printed += piece
    os.close(watched)
    assert running.wait(PATIENCE) == 0
    return printed.decode()
