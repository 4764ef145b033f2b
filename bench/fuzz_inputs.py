"""Inputs for the fuzzing bench: whole files of every kind, and the ways in which they are damaged.

An input is made from its number alone, so that any of them can be made again.
"""

from __future__ import annotations

import gzip
import io
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from tests.helpers.record_files import FILES
from tests.helpers.samples import SAMPLES

TOKENS = [
    b"", b"x", b"-1", b"nan", b"1e400", b"9" * 5000, b'"', b"\t", b"\n", b"\r", b",", b"\x00", b"\xff", b"\xef\xbb\xbf",
    b"\\ud800", b"[" * 5000, b"{}", b"null", b"<seg", b"</seg>", b"inf", b"0x1", b"=1+1", "\u2028".encode(), b"TGT",
]  # fmt: skip
# Values for a damaged record. None of them is an id of another record, which would merge the two.
VALUES = [
    "", " ", "-1", "-7.5", "nan", "1e400", "9" * 400, "1000000", '"', '""', "'", "\t", ",", ";", "|", " a b ", "\r",
    "\n", "\x0b", "\x1f", "\u2028", "\ufeff", "Z", "=1+1", "[", "{}", "null", "None", "NA", "<v>", "</v>",
    "Q_9_SYSTEM_3__",
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
        b'[scale]\nlow = 0\nhigh = 100\nstep = 1\nanchors = [{ at = 0, text = "bad" }]\n[links]\nsession_hours = 9\n'
    )
}
EDITS = {
    "edits/a.tsv": b"document\tmt\tpe1\tpe2\nd\ta cat\tthe cat\ta dog\nd\tb\tc\td\n",
    "predictions/a.tsv": b"document\tqe1\tqe2\nd\t0.5\t1\ne\t2\t3\n",
    "gold/a.json": b'{"documents": [{"document": "d", "z": 0.5}, {"document": "e", "z": -1}]}',
}
TABLES = {
    "judgments/wide": b"id;rater;x;y\n1;ann;70,5;80\n2;ann;60;90,25\n",
    "judgments/lines.jsonl": b'{"meta": {"model": "x"}, "rating": 70}\n{"meta": {"model": "y"}, "rating": 60}\n',
    "judgments/studio.json": (
        b'[{"id": 7, "data": {"model": "x", "src": "a"}, "annotations": [{"completed_by": 3, "result": '
        b'[{"from_name": "rating", "value": {"rating": 4}}]}]}]'
    ),
    "judgments/utf16": "model\trating\nx\t7\ny\t9\n".encode("utf-16"),
}


@dataclass(frozen=True)
class FuzzInput:
    """One input: its kind (`judgments/0`), the damaged bytes, and how they were damaged.

    Inputs with a `record` are whole files of records in which this one alone was damaged; `others` is the file without
    it.
    """

    target: str
    raw: bytes
    mutation: str
    record: int | None = None
    others: bytes = b""

    def __str__(self) -> str:
        """The input in a few lines: of a file of records, those that are not as they were."""
        if self.record is None:
            return f"{self.target} ({self.mutation}): {self.raw[:600]!r}"
        others = set(self.others.split(b"\n"))
        changed = [row for row in self.raw.split(b"\n") if row not in others]
        return f"{self.target} ({self.mutation}): {changed!r:.600}"


def make_input(number: int, seed: int) -> FuzzInput:
    """The input of this number."""
    generator = random.Random(f"{seed} {number}")
    if number % 2:
        return _damaged_record(generator)
    target, whole = generator.choice(wholes())
    raw, mutation = damage(whole, generator)
    return FuzzInput(target, raw, mutation)


@cache
def wholes() -> Sequence[tuple[str, bytes]]:
    """Whole files of every kind."""
    judgments = [(f"{name}/{i}", text.encode()) for name, texts in SAMPLES.items() for i, text in enumerate(texts)]
    others = {**TEXTS, **METRICS, **CAMPAIGN, **EDITS, **TABLES}
    return [*judgments, *_binary(), *others.items(), ("tasks/tasks.json", _tasks())]


def _tasks() -> bytes:
    """The tasks of a campaign of two segments."""
    from adjudge.campaigns.tasks import Item, Output, Screen, Task, TaskSet, to_json

    outputs = (Output("o1", ("a",), "Kočka."), Output("o2", ("b",), "Pes.", "degraded", "o1", (0, 50)))
    screens = tuple(Screen(f"s{i}", "d", (Item(f"i{i}", str(i), "A cat.", outputs),)) for i in range(2))
    people = ("ann", "bob")
    tasks = TaskSet(
        "c", "da", "en", "cs", "ltr", "ltr", 1, people, ("a", "b"), (), (Task("t1", screens, annotators=people),)
    )
    return to_json(tasks).encode()


def _binary() -> list[tuple[str, bytes]]:
    """The native table as Parquet, ours and another tool's, and as Excel."""
    import polars as pl
    import xlsxwriter

    from adjudge.readers.tables import parquet_bytes
    from adjudge.table.judgments import Judgments

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


def damage(raw: bytes, generator: random.Random) -> tuple[bytes, str]:
    """A file after one to three accidents, and their names."""
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
    "flip": _flip, "insert": _insert, "cell": _cell, "cut": _cut, "lines": _lines, "pack": _pack,
}  # fmt: skip


def _damaged_record(generator: random.Random) -> FuzzInput:
    """A file of forty records or more, one of which is damaged."""
    name = generator.choice(list(FILES))
    file = FILES[name]
    record = generator.randrange(len(file.rows))
    damaged, mutation = _record(file.rows[record], generator)
    rows = [*file.rows[:record], damaged, *file.rows[record + 1 :]]
    others = [*file.rows[:record], *file.rows[record + 1 :]]
    return FuzzInput(f"{file.format}#{name}", _text(file.header, rows), mutation, record, _text(file.header, others))


def _text(header: str, rows: list[str]) -> bytes:
    return ("\n".join([*([header] if header else []), *rows]) + "\n").encode()


def _record(row: str, generator: random.Random) -> tuple[str, str]:
    how = generator.choice(["cell", "cell", "insert", "cut", "more"])
    value = generator.choice(VALUES)
    position = generator.randint(0, len(row))
    if how == "insert":
        return row[:position] + value + row[position:], f"insert {value!r}"
    if how == "cut":
        return row[:position], f"cut at {position}"
    if row.startswith("{"):
        return _json_cell(row, generator)
    delimiter = max(("\t", ",", " "), key=row.count)
    cells = row.split(delimiter)
    if how == "more":
        return delimiter.join([*cells, value]), f"one cell more, {value!r}"
    number = generator.randrange(len(cells))
    cells[number] = value
    return delimiter.join(cells), f"cell {number} is {value!r}"


def _json_cell(row: str, generator: random.Random) -> tuple[str, str]:
    content = json.loads(row)
    name = generator.choice(list(content))
    content[name] = generator.choice([None, [], {}, "", "Z", 7, -1, [[]], [None], {"Z": 5}, True])
    return json.dumps(content), f"{name} is {content[name]!r}"
