"""Inputs for the fuzzing bench: whole files of every kind, and the ways in which they are damaged.

An input is made from its number alone, so that any of them can be made again.
"""

from __future__ import annotations

import gzip
import io
import json
import random
import re
import zipfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from tests.helpers.record_files import FILES
from tests.helpers.samples import SAMPLES

if TYPE_CHECKING:
    import polars as pl

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
PUBLISHED = {
    "published/clusters.csv": (
        b"SRC TRG WINS TOTAL CLUSTER_START CLUSTER_END END_OF_CLUSTER SYSTEM\n"
        b"de en 3 4 1 1 True A.3\nde en 1 4 2 4 True B.0\n"
    ),
    "published/list.txt": b"1. A 81.2\n2-4. B 70.0\n-----\n2-4. C 69.5\n",
    "published/line.txt": b"A > B = C > D\n",
    "published/table.csv": b"Rank,System,Ave.\n1,A,80\n2-4,B,70\n",
    "published/tiers.tsv": b"model\ttier\nA\t1\nB\t1.5\n",
    "published/table.tex": b"Rank & Team & Ave. \\\\\n1 & \\textbf{A} & 80 \\\\\n2 & B & 70 \\\\\n",
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
# Tables that are read with options, by their kind; `side` is a file beside the table, which alone is damaged.
OPTIONS: dict[str, dict[str, object]] = {
    "judgments/raters": {"raters": ("ann", "bob")},
    "judgments/ranks": {"wide": "ranks", "systems": ("x", "y")},
    "judgments/joined": {"wide": "segment,system"},
    "judgments/words": {"values": ("good=3", "bad=1")},
    "judgments/scale": {"scale": ("0", "100"), "lower_is_better": True},
    "judgments/columns": {"columns": ("system=engine", "score=stars", "annotator=none")},
    "judgments/criterion": {"criterion": "fluency"},
    "judgments/winner": {"winner": ("left=1", "right=2", "tie=0")},
    "judgments/cp1252": {"encoding": "cp1252"},
    "judgments/sheets.xlsx": {"sheets": ("all",)},
    "judgments/sheet.xlsx": {"sheets": ("ann",)},
    "judgments/strict": {"strict": True},
    "side/attributes": {"attributes": "a"},
    "side/annotators": {"annotators": "a", "format": "appraise"},
    "side/batches.json": {"batches": ("a",), "format": "appraise"},
}
WITH_OPTIONS = {
    "judgments/raters": b"system,segment,ann,bob\nx,1,70,60\ny,1,80,85\n",
    "judgments/ranks": b"annotator,segment,x,y\nann,1,1,2\nbob,1,2,1\n",
    "judgments/joined": b"annotator,1_x,1_y,2_x,2_y\nann,70,60,50,40\nbob,71,61,51,41\n",
    "judgments/words": b"system,annotator,segment,score\nx,ann,1,good\ny,ann,1,bad\n",
    "judgments/scale": b"system,annotator,segment,score\nx,ann,1,0\ny,ann,1,100\n",
    "judgments/columns": b"engine;who;stars\nx;ann;4\ny;ann;5\n",
    "judgments/criterion": b"system,annotator,segment,criterion,score\nx,a,1,fluency,3\ny,a,1,adequacy,4\n",
    "judgments/winner": b"left,right,winner,annotator\nx,y,1,ann\nx,y,0,bob\n",
    "judgments/cp1252": "système;score\nMüller;3,5\nÅse;4,5\n".encode("cp1252"),
    "judgments/strict": b"system,annotator,segment,score\nx,ann,1,70\ny,ann,1,60\n",
    "side/attributes": b"segment\tdomain\n1\tnews\n2\ttalk\n",
    "side/annotators": b"account,person\nengces0101,ann\n",
    "side/batches.json": (
        b'[{"items": [{"itemID": 1, "itemType": "TGT", "sourceText": "a", "targetText": "b"}], "task": {}}]'
    ),
}
SIDE_TABLES = {
    "attributes": b"system,annotator,segment,score\nx,ann,1,70\ny,ann,2,60\n",
    "annotators": SAMPLES["appraise"][0].encode(),
    "batches.json": SAMPLES["appraise"][0].encode(),
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
    texts = {**TEXTS, **METRICS, **CAMPAIGN, **EDITS, **PUBLISHED, **TABLES, **WITH_OPTIONS}
    others = {**texts, "history/looks.json": _history()}
    return [*judgments, *_binary(), *others.items(), ("tasks/tasks.json", _tasks())]


def _history() -> bytes:
    """The history of a plan before its first look."""
    from adjudge.evidence.look import _START, _digest

    plan = {"level": 0.05, "planned": 100}
    return json.dumps({"plan": plan, "looks": [], "end": {"looks": 0, "digest": _digest(_START, plan)}}).encode()


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
    """Tables as Parquet (ours, another tool's, nested), as sheets of Excel and OpenDocument, and in a zip archive."""
    import polars as pl

    from adjudge.readers.tables import parquet_bytes
    from adjudge.table.judgments import Judgments

    frame = pl.DataFrame({"system": ["a", "b"], "score": [1.0, 2.0], "annotator": ["x", "y"]})
    judgments = Judgments.from_columns(frame)
    foreign = io.BytesIO()
    frame.write_parquet(foreign)
    own = parquet_bytes(judgments.table, judgments.fingerprint)
    sheets = _workbook({"ann": frame, "bob": frame})
    nested = io.BytesIO()
    frame.with_columns(judged=pl.struct("score", "annotator"), parts=pl.concat_list("score")).write_parquet(nested)
    return [
        ("judgments/own", own),
        ("judgments/foreign", foreign.getvalue()),
        ("judgments/nested", nested.getvalue()),
        ("judgments/xlsx", _workbook({"Sheet1": frame})),
        ("judgments/sheets.xlsx", sheets),
        ("judgments/sheet.xlsx", sheets),
        ("judgments/ods", _open_document(frame)),
        ("judgments/zip", _zip({"a.csv": frame.write_csv().encode()})),
    ]


def _workbook(frames: dict[str, pl.DataFrame]) -> bytes:
    import xlsxwriter

    workbook = io.BytesIO()
    with xlsxwriter.Workbook(workbook) as book:
        for name, frame in frames.items():
            sheet = book.add_worksheet(name)
            for row, values in enumerate([frame.columns, *frame.rows()]):
                sheet.write_row(row, 0, values)
    return workbook.getvalue()


def _open_document(frame: pl.DataFrame) -> bytes:
    names = ("office", "table", "text")
    spaces = "".join(f' xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in names)
    rows = "".join(
        "<table:table-row>"
        + "".join(
            f'<table:table-cell office:value-type="string"><text:p>{value}</text:p></table:table-cell>' for value in row
        )
        + "</table:table-row>"
        for row in [frame.columns, *frame.rows()]
    )
    sheet = f'<office:spreadsheet><table:table table:name="S">{rows}</table:table></office:spreadsheet>'
    content = f"<office:document-content{spaces}><office:body>{sheet}</office:body></office:document-content>"
    kind = b"application/vnd.oasis.opendocument.spreadsheet"
    return _zip({"mimetype": kind, "content.xml": content.encode(), "META-INF/manifest.xml": b"<manifest/>"})


def _zip(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


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


def _inside(raw: bytes, generator: random.Random) -> bytes:
    """Damage a file inside of an archive, whose checksums are right: what a workbook's own XML says."""
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
    except (zipfile.BadZipFile, ValueError, OSError, zlib.error, NotImplementedError, EOFError, RuntimeError):
        return _cell(raw, generator)
    name = generator.choice(list(files))
    numbers = list(re.finditer(rb"[0-9]+|[A-Z]+(?=[0-9])", files[name]))
    if numbers and generator.random() < 0.5:
        place = generator.choice(numbers)
        value = generator.choice([b"0", b"-1", b"99999999", b"9" * 400, b"ZZZZZ", b"1048577", b""])
        files[name] = files[name][: place.start()] + value + files[name][place.end() :]
    else:
        files[name] = _insert(files[name], generator)
    return _zip(files)


MUTATIONS: dict[str, Callable[[bytes, random.Random], bytes]] = {
    "flip": _flip, "insert": _insert, "cell": _cell, "cut": _cut, "lines": _lines, "pack": _pack, "inside": _inside,
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
