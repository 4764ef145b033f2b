"""Fuzzing: mutated inputs for every reader. No traceback, no hang above 20 s, no input above 2 GB, no silent loss.

Whole files of every format (judgments, texts, metric scores, campaigns) are damaged by bytes, by cells and by lines,
and packed. A child process reads them, so that a crash, a hang or a fat input costs that input only, and is printed.

    python -m bench fuzz                     2,000 inputs
    ADJUDGE_FUZZ=100000 python -m bench fuzz
"""

from __future__ import annotations

import gzip
import io
import multiprocessing
import os
import random
import resource
import signal
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.formats.samples import SAMPLES

from adjudge.core.errors import AdjudgeError

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

INPUTS = int(os.environ.get("ADJUDGE_FUZZ", "2000"))
SEED = int(os.environ.get("ADJUDGE_FUZZ_SEED", "1"))
MOST_SECONDS = 20
MOST_BYTES = 2_000_000_000
TOKENS = [
    b"", b"x", b"-1", b"nan", b"1e400", b"9" * 5000, b'"', b"\t", b"\n", b"\r", b",", b"\x00", b"\xff", b"\xef\xbb\xbf",
    b"\\ud800", b"[" * 5000, b"{}", b"null", b"<seg", b"</seg>", b"inf", b"0x1", b"=1+1", "\u2028".encode(), b"TGT",
]  # fmt: skip
TEXTS = {
    "texts/a.sgm": b"<doc docid='d'>\n<seg id='1'>a</seg>\n<seg id='2'>b</seg>\n</doc>\n",
    "texts/a.xml": b"<dataset><doc id='d'><src lang='en'><p><seg id='1'>a</seg></p></src></doc></dataset>",
    "texts/a.tsv": b"document\tsegment\tsource\nd\t1\tA cat.\nd\t2\tA dog.\n",
    "texts/a.txt": b"A cat.\nA dog.\n\nA bird.\n",
}
METRICS = {
    "metrics/m.seg.score": b"a\t1\na\t2\nb\tNone\nb\t3\n",
    "metrics/m.json": b'[{"name": "BLEU", "score": 30.5}, {"name": "TER", "score": 50}]',
    "metrics/m.tsv": b"system\tsegment\tBLEU\na\t1\t3.5\nb\t1\t2\n",
}
CAMPAIGN = {
    "campaign/campaign.toml": (
        b'name = "c"\nprotocol = "da"\n[languages]\nsource = "en"\ntarget = "cs"\n[files]\nsource = "s.txt"\n'
        b'systems = { a = "a.txt" }\n[design]\nannotators = 2\ntask_size = 10\n[controls]\nrepeats = 0.1\n'
    )
}


def run() -> None:
    """Fuzz all readers and print a table of what came out."""
    generator = random.Random(SEED)
    targets = _targets()
    outcomes: Counter[tuple[str, str]] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        reader = _Child(Path(folder))
        began = time.monotonic()
        for number in range(INPUTS):
            name, whole = generator.choice(targets)
            raw, mutation = _mutated(whole, generator)
            outcome, details = reader.read(name, raw)
            outcomes[name.split("/")[0], outcome] += 1
            if outcome not in ("read", "explained"):
                print(f"input {number} of {name} ({mutation}): {outcome}\n{details}\n{raw[:300]!r}")
        reader.stop()
    print(f"{INPUTS:,} inputs in {time.monotonic() - began:.0f} s, seed {SEED}")
    for (name, outcome), count in sorted(outcomes.items()):
        print(f"{name:20} {outcome:12} {count:7,}")


def _targets() -> list[tuple[str, bytes]]:
    judgments = [(f"{name}/{i}", text.encode()) for name, texts in SAMPLES.items() for i, text in enumerate(texts)]
    return [*judgments, *_binary(), *TEXTS.items(), *METRICS.items(), *CAMPAIGN.items()]


def _binary() -> list[tuple[str, bytes]]:
    """The native table as Parquet, ours and another tool's, and as Excel."""
    import polars as pl
    import xlsxwriter

    from adjudge.core.judgments import Judgments
    from adjudge.formats.tables.parquet import parquet_bytes

    frame = pl.DataFrame({"system": ["a", "b"], "score": [1.0, 2.0], "annotator": ["x", "y"]})
    judgments = Judgments.from_columns(frame)
    foreign, workbook = io.BytesIO(), io.BytesIO()
    frame.write_parquet(foreign)
    with xlsxwriter.Workbook(workbook) as book:
        sheet = book.add_worksheet()
        for row, values in enumerate([frame.columns, *frame.rows()]):
            sheet.write_row(row, 0, values)
    own = parquet_bytes(judgments.table, judgments.fingerprint)
    return [("judgments/own", own), ("judgments/foreign", foreign.getvalue()), ("judgments/xlsx", workbook.getvalue())]


def _mutated(raw: bytes, generator: random.Random) -> tuple[bytes, str]:
    names = [generator.choice(list(MUTATIONS)) for _ in range(generator.randint(1, 3))]
    for name in names:
        raw = MUTATIONS[name](raw, generator)
    return raw, ", ".join(names)


def _flip(raw: bytes, generator: random.Random) -> bytes:
    changed = bytearray(raw or b"x")
    changed[generator.randrange(len(changed))] ^= 1 << generator.randrange(8)
    return bytes(changed)


def _insert(raw: bytes, generator: random.Random) -> bytes:
    start = generator.randint(0, len(raw))
    end = min(len(raw), start + generator.randint(0, 10))
    return raw[:start] + generator.choice(TOKENS) + raw[end:]


def _cell(raw: bytes, generator: random.Random) -> bytes:
    lines = raw.split(b"\n")
    number = generator.randrange(len(lines))
    delimiter = max((b"\t", b",", b";", b" "), key=lines[number].count)
    cells = lines[number].split(delimiter)
    cells[generator.randrange(len(cells))] = generator.choice(TOKENS)
    lines[number] = delimiter.join(cells)
    return b"\n".join(lines)


def _cut(raw: bytes, generator: random.Random) -> bytes:
    return raw[: generator.randint(0, len(raw))]


def _lines(raw: bytes, generator: random.Random) -> bytes:
    lines = raw.split(b"\n")
    generator.shuffle(lines)
    return b"\n".join(lines + lines[: generator.randint(0, 3)])


def _pack(raw: bytes, generator: random.Random) -> bytes:
    packed = gzip.compress(raw)
    return _flip(packed, generator) if generator.random() < 0.5 else packed


MUTATIONS: dict[str, Callable[[bytes, random.Random], bytes]] = {
    "flip": _flip,
    "insert": _insert,
    "cell": _cell,
    "cut": _cut,
    "lines": _lines,
    "pack": _pack,
}


class _Child:
    """A process that reads one input after the other; it is started again when an input ends it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, self.folder), daemon=True)
        self.process.start()
        theirs.close()

    def read(self, name: str, raw: bytes) -> tuple[str, str]:
        self.connection.send((name, raw))
        # The child stops itself; this is for one that cannot even do that. Starting takes a while.
        if not self.connection.poll(MOST_SECONDS + 60):
            self.process.kill()
            self._start()
            return "hang", ""
        try:
            outcome: tuple[str, str] = self.connection.recv()
        except EOFError:
            self.process.join()
            code = self.process.exitcode
            self._start()
            return "crash", f"exit code {code}"
        return outcome

    def stop(self) -> None:
        self.connection.close()
        self.process.join(5)


class _TooLongError(Exception):
    pass


def _serve(connection: Connection, folder: Path) -> None:
    def too_long(*_: Any) -> None:
        raise _TooLongError

    signal.signal(signal.SIGALRM, too_long)
    while True:
        try:
            name, raw = connection.recv()
        except EOFError:
            return
        signal.alarm(MOST_SECONDS)
        try:
            outcome = _outcome(name, raw, folder)
        except _TooLongError:
            outcome = ("hang", traceback.format_exc(limit=-4))
        finally:
            signal.alarm(0)
        if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 > MOST_BYTES and outcome[0] in (
            "read",
            "explained",
        ):
            outcome = ("too large", "more than 2 GB")
        connection.send(outcome)


def _outcome(name: str, raw: bytes, folder: Path) -> tuple[str, str]:
    try:
        _read(name, raw, folder)
    except AdjudgeError as fault:
        return ("explained", "") if str(fault).isprintable() and len(str(fault)) < 3000 else ("unreadable", str(fault))
    except _TooLongError:
        raise
    except BaseException:  # noqa: BLE001, whatever it is, it is what the bench looks for
        return "traceback", traceback.format_exc(limit=-6)
    return "read", ""


def _read(name: str, raw: bytes, folder: Path) -> None:
    kind, _, rest = name.partition("/")
    file = folder / (rest if "." in rest else "input.csv")
    file.write_bytes(raw)
    if kind == "texts":
        from adjudge.formats.texts.columns import read_column

        read_column(file, names=("source",))
    elif kind == "metrics":
        from adjudge.formats.metric_scores import read_metric_scores

        read_metric_scores([file])
    elif kind == "campaign":
        from adjudge.design import load_campaign

        for text in ("s.txt", "a.txt"):
            (folder / text).write_text("A cat.\n", encoding="utf-8")
        load_campaign(file)
    else:
        _read_judgments(kind, file)


def _read_judgments(kind: str, file: Path) -> None:
    """Read with any number of bad rows allowed: then what is not in the table must be among what was set aside."""
    from adjudge.formats import ReadOptions, read

    columns = ("a_rank", "b_rank", "c_rank") if kind == "rank-table" else ()
    judgments = read(file, format=kind, options=ReadOptions(rank_columns=columns, bad_rows=1.0))
    if not len(judgments):
        raise RuntimeError("an empty table")
