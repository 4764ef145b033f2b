"""Direct assessment collected on Mechanical Turk (or Turkle): batch results with all items of a HIT in one answer.

The answer holds one record per item, in the order shown: `system_segment_type_position__score`. Systems' names and the
type BAD_REF contain the separator, so records are read from both ends. Every assignment is kept, rejected ones too:
the column `rejected` says which, for `check` to decide. Only the time of a whole assignment is known; it is divided
evenly among its items.

A comment may lose its closing quote. A strict reader lets it run on through the next record and loses that without a
word. Here a line that is a whole record always begins a new one; what stood open before is closed and reported.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING

import polars as pl

from adjudge.readers.parsing import BadRows, column_uses, files_in, refuse_empty, stem
from adjudge.readers.wmt_da_files import KINDS
from adjudge.table.errors import InputError, Source, param, shown
from adjudge.table.files import read_bytes, read_text
from adjudge.table.judgments import Judgments, SetAside, concat, language_codes
from adjudge.table.languages import UNKNOWN
from adjudge.table.participants import mark_humans
from adjudge.table.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from adjudge.readers.options import ReadOptions

ANSWER = "Answer.Q1"
NO_COMMENT = "{}"
# What stands for a score where none was given: nothing, or what the page's script makes of it.
NO_SCORE = ("", "undefined", "null", "nan", "na")
_RECORD = (
    r"^(?P<system>.+?)_(?P<segment>[^_]+)_(?P<type>BAD_REF|BAD-REF|SYSTEM|REPEAT|REF)_(?P<place>[0-9]+)_+(?P<score>.*)$"
)
_ITEM = re.compile(r"_(?:BAD_REF|BAD-REF|SYSTEM|REPEAT|REF)_[0-9]+_")
_ZONES = {"PST": -8, "PDT": -7, "MST": -7, "MDT": -6, "CST": -6, "CDT": -5, "EST": -5, "EDT": -4, "UTC": 0, "GMT": 0}
_ZONED = re.compile(r"^\w{3} (?P<time>\w{3} +\d+ \d+:\d+:\d+) (?P<zone>[A-Z]+) (?P<year>\d{4})$")


_NAMES = {
    "source_lang": ("Input.src",),
    "target_lang": ("Input.trg", "Input.tgt"),
    "annotator": ("WorkerId", "Turkle.Username"),
    "task": ("HITId",),
    "system, segment, kind, score": (ANSWER,),
    "text": ("Answer.comments", "Answer.comment"),
    "rejected": ("AssignmentStatus",),
    "started": ("AcceptTime",),
    "ended": ("SubmitTime",),
    "active_seconds": ("WorkTimeInSeconds",),
}
"""What is read, and the names of its column."""


def read(paths: Sequence[Path], options: ReadOptions) -> Judgments:
    """Read batch files, or folders of them; other files in a folder are left alone and named."""
    explicit = {path for path in paths if not path.is_dir()}
    parts: list[Judgments] = []
    others: list[str] = []
    for path in files_in(paths):
        may_be_results = path in explicit or ANSWER.encode() in read_bytes(path).split(b"\n", 1)[0]
        results = read_results(path, needed=ANSWER) if may_be_results else None
        if results is not None:
            # The batches of a folder belong together.
            campaign = stem(path) if paths == [path] else path.resolve().parent.name
            parts.append(_make_judgments(results, campaign, options))
        elif path in explicit:
            refuse_empty(path)
            raise InputError(f"has no column '{ANSWER}'; check that it is a file of batch results", file=path, line=1)
        else:
            others.append(path.name)
    if not parts:
        raise InputError(f"holds no file with a column '{ANSWER}'; check the path and {param('format')}", file=paths[0])
    notes = [f"ignored, not batch results: {', '.join(others)}"] if others else []
    merged = concat(parts)
    return replace(merged, notes=(*merged.notes, *notes))


def _make_judgments(results: Results, campaign: str, options: ReadOptions) -> Judgments:
    if not results.rows:
        raise InputError("holds a header but no assignments; check that the file is complete", file=results.path)
    table, bad = _split_answers(_assignments(results), results, options)
    set_aside, row_notes = bad.settle()
    table = table.filter(bad.usable())
    unscored = table["score"].null_count()
    table = table.with_columns(pl.lit(campaign).alias("campaign"), pl.lit("da").alias("protocol"))
    notes = []
    if results.repaired:
        what = "a comment lost its closing quote; the assignments that follow are kept"
        notes.append(f"{results.path.name}: {what} ({results.repaired} such)")
    taken = {meaning: results.column_index(*names) for meaning, names in _NAMES.items()}
    judgments = Judgments.from_columns(
        table.filter(pl.col("score").is_not_null()),
        set_aside=[SetAside("no score was given", unscored), *set_aside],
        notes=[*notes, *row_notes],
        source=str(results.path),
        uses=column_uses(results.path, results.header, taken),
    )
    return mark_humans(judgments, options.human)


def _assignments(results: Results) -> pl.DataFrame:
    """One row per assignment."""
    columns = list(zip(*(fields for _, fields in results.rows), strict=True))

    def texts(meaning: str) -> pl.Series:
        column = results.column_index(*_NAMES[meaning])
        values = [None] * len(results.rows) if column is None else columns[column]
        cells = [value.strip().strip("'") or None if value else None for value in values]
        return pl.Series(cells, dtype=pl.String)

    return pl.DataFrame(
        {
            "line": [line for line, _ in results.rows],
            **{name: language_codes(texts(name)).fill_null(UNKNOWN) for name in ("source_lang", "target_lang")},
            **{name: texts(name) for name in ("annotator", "task")},
            "answer": texts("system, segment, kind, score"),
            "comment": texts("text"),
            "rejected": texts("rejected") == "Rejected",
            **{name: [_parse_time(text) for text in texts(name)] for name in ("started", "ended")},
            "seconds": texts("active_seconds").cast(pl.Float64, strict=False),
        },
        schema_overrides=dict.fromkeys(("started", "ended"), pl.Datetime("us", "UTC")),
    )


def _split_answers(assignments: pl.DataFrame, results: Results, options: ReadOptions) -> tuple[pl.DataFrame, BadRows]:
    """One row per item, in the order shown, and the items that cannot be read."""
    records = assignments.with_columns(pl.col("answer").fill_null("").str.split("|"))
    records = records.with_columns(pl.col("answer").list.len().alias("items")).explode("answer")
    shown_at = pl.int_range(1, pl.len() + 1).over("line")
    parts = records["answer"].str.extract_groups(_RECORD).struct.unnest()
    written = parts["score"].str.strip_chars()
    table = records.with_columns(*parts, shown_at.alias("shown"), written.alias("written")).with_columns(
        written.cast(pl.Float64, strict=False).fill_nan(None).alias("score")
    )
    bad = _find_bad_items(table, results, options)
    items = table.select(
        "source_lang", "target_lang", "annotator", "task",
        pl.col("shown").cast(pl.String).alias("screen"),
        "segment", "system",
        pl.col("type").replace_strict(KINDS, default=None, return_dtype=pl.String).alias("kind"),
        "score",
        pl.when((pl.col("shown") == 1) & (pl.col("comment") != NO_COMMENT)).then("comment").alias("text"),
        "started", "ended",
        (pl.col("seconds") / pl.col("items")).alias("active_seconds"),
        "rejected",
    )  # fmt: skip
    return items, bad


def _find_bad_items(table: pl.DataFrame, results: Results, options: ReadOptions) -> BadRows:
    """Find the items whose record is cut or broken, and those with a score that is no number or off the scale."""
    lines = table["line"].to_list()
    bad = BadRows(Source(str(results.path), lambda row: lines[row]), options, table.height)

    wanted = "system_segment_type_position__score is needed; the file may be cut"
    cut = table["line"].is_in(list(results.cut))
    bad.mark(cut, lambda row: results.cut[lines[row]], "assignment that is cut or too long")
    bad.mark(table["answer"] == "", lambda _: "holds no answers; check the column", "assignment without answers")
    bad.mark(
        table["type"].is_null(),
        lambda row: f"the answer holds '{shown(table['answer'][row])}', {wanted}",
        "item that cannot be read",
    )
    given = ~table["written"].str.to_lowercase().is_in(list(NO_SCORE))
    broken = given & ~table["score"].is_finite().fill_null(value=False)
    bad.mark(
        broken,
        lambda row: f"score is '{shown(table['written'][row])}', a number is needed; correct it",
        "item with a broken score",
    )
    bad.mark_off_scale(table["score"])
    return bad


def _parse_time(text: str | None) -> datetime | None:
    """A time such as `Mon Nov 21 03:58:59 PST 2016`, or in ISO form; None where it is neither."""
    match = _ZONED.match(text) if text else None
    try:
        if match and match["zone"] in _ZONES:
            zone = timezone(timedelta(hours=_ZONES[match["zone"]]))
            local = datetime.strptime(f"{match['time']} {match['year']}", "%b %d %H:%M:%S %Y").replace(tzinfo=zone)
            return local.astimezone(UTC)
        given = datetime.fromisoformat(text or "")
        return given.astimezone(UTC) if given.tzinfo else given.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


@dataclass(frozen=True)
class Results:
    """The records of a results file: (line number, fields), all of them as long as `header`."""

    path: Path
    header: tuple[str, ...]
    rows: tuple[tuple[int, list[str]], ...]
    repaired: int
    cut: Mapping[int, str]
    """The lines of records that end before the answers or are too long, and the problem of each."""

    def column_index(self, *names: str) -> int | None:
        """The place of the first of these columns that exists."""
        return next((self.header.index(name) for name in names if name in self.header), None)


def read_results(path: Path, *, needed: str) -> Results | None:
    """Read a results file; None where its header has no column `needed`, so that it is something else."""
    text = read_text(path).replace("\r\n", "\n").replace("\r", "\n")
    csv.field_size_limit(max(len(text), 131_072))
    lines = text.split("\n")
    header = tuple(name.strip() for name in _fields(lines[0]))
    if needed not in header:
        return None
    least = header.index(needed) + 1
    rows: list[tuple[int, list[str]]] = []
    repaired = 0
    cut: dict[int, str] = {}
    for number, record, closed in _records(lines, least):
        fields = _fields(record)
        held = f"a record of {counted(len(fields), 'field')}"
        if len(fields) < least:
            cut[number] = f"{held} where {least} are needed ('{shown(record)}'); the file may be cut"
        elif any(field.strip() for field in fields[len(header) :]):
            cut[number] = f"{held} where the header has {len(header)}; check quotes"
        repaired += not closed
        rows.append((number, (fields + [""] * len(header))[: len(header)]))
    return Results(path, header, tuple(rows), repaired, cut)


def _records(lines: list[str], least: int) -> Iterator[tuple[int, str, bool]]:
    """Line number, text, and whether all quotes are closed, of every record after the header."""
    open_lines: list[str] = []
    begin = 0
    for number, line in enumerate(lines[1:], start=2):
        if open_lines and _is_record(line, least):
            yield begin, "\n".join(open_lines).rstrip("\n"), False
            open_lines = []
        if not open_lines:
            if not line.strip():
                continue
            begin = number
        open_lines.append(line)
        if sum(part.count('"') for part in open_lines) % 2 == 0:
            yield begin, "\n".join(open_lines), True
            open_lines = []
    if open_lines:
        yield begin, "\n".join(open_lines).rstrip("\n"), False


def _is_record(line: str, least: int) -> bool:
    """Whether a line is a record by itself, whatever quote stands open before it."""
    fields = _fields(line)
    return len(fields) >= least and (line.count('"') > 1 or _ITEM.search(fields[least - 1]) is not None)


def _fields(record: str) -> list[str]:
    try:
        return next(csv.reader(io.StringIO(record, newline="")), [])
    except csv.Error:
        return []
