"""Delimited text read row by row with line numbers, so that every fault can be named with its place."""

from __future__ import annotations

import codecs
import csv
import io
import math
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import polars as pl

from adjudge.readers.options import ReadOptions
from adjudge.table.errors import InputError, Source, on_command_line, param, shown
from adjudge.table.files import parse_json, read_bytes, read_text
from adjudge.table.judgments import SCHEMA, ColumnUse, Judgments, SetAside, concat
from adjudge.table.languages import UNKNOWN, find_pair, pair_in_name, split_pair
from adjudge.table.texts import span_column
from adjudge.table.wording import agreeing, counted

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from adjudge.table.record import CampaignRecord


# Rows and cells that cannot be read. A row without a usable answer is set aside, a broken value in a column that
# nothing needs becomes null. While the unusable rows are at most the share `bad_rows` of all, the rest is used.

SCORE_SCALE = (0.0, 100.0)
LINES_NAMED = 5
# Where more rows than this are unusable, an option that sets them aside would be bad advice.
WORTH_SETTING_ASIDE = 0.2


@dataclass(frozen=True)
class UsableRows:
    """The rows of one file that can be used, and what was set aside of it."""

    frame: pl.DataFrame
    set_aside: tuple[SetAside, ...]
    notes: tuple[str, ...]
    uses: tuple[ColumnUse, ...] = ()


@dataclass
class BadRows:
    """The rows of one file that cannot be used, and the cells that were left empty.

    Rows are counted from 0; `source` knows the file and the line of a row. `rows` is how many rows the file has.
    """

    source: Source
    options: ReadOptions
    rows: int
    problems: dict[int, str] = field(default_factory=dict)
    reasons: dict[int, str] = field(default_factory=dict)
    emptied: dict[str, list[int]] = field(default_factory=dict)

    def row(self, row: int, problem: str, reason: str = "row that cannot be read") -> None:
        """Set one row aside; the first problem of a row is the one that is reported."""
        self.problems.setdefault(row, problem)
        self.reasons.setdefault(row, reason)

    def mark(self, bad: pl.Series, problem: Callable[[int], str], reason: str) -> None:
        """Set aside the rows where `bad` holds."""
        if not bad.any():
            return
        for row in bad.fill_null(value=False).arg_true():
            if row not in self.problems:
                self.row(row, problem(row), reason)

    def mark_nameless(self, systems: pl.Series) -> None:
        """Set aside the rows that do not name a system."""
        nameless = systems.is_null() | (systems == "")
        self.mark(nameless, lambda _: "has no system; name what was judged", "row without a system")

    def mark_off_scale(self, score: pl.Series) -> None:
        """Set aside the rows with a score below 0 or above 100."""
        off = (score < SCORE_SCALE[0]) | (score > SCORE_SCALE[1])
        wanted = "it must lie between 0 and 100; correct it"
        self.mark(off, lambda row: f"score is {score[row]:g}, {wanted}", "score off the scale")

    def empty(self, bad: pl.Series, column: str, problem: Callable[[int], str]) -> None:
        """Leave cells of a column that nothing needs empty; strictly read, they are faults like others."""
        rows = bad.fill_null(value=False).arg_true().to_list()
        if rows and self.options.strict:
            raise self.source.fault(problem(rows[0]), rows[0])
        if rows:
            self.emptied.setdefault(column, []).extend(rows)

    def usable(self) -> pl.Series:
        """Mark the rows that can be used."""
        if not self.problems:
            return pl.Series([True]).new_from_index(0, self.rows)
        return ~pl.int_range(self.rows, eager=True, dtype=pl.Int64).is_in(list(self.problems))

    def settle(self) -> tuple[list[SetAside], list[str]]:
        """Return what was set aside, and notes with the lines; refuse the file if it is too much."""
        allowed = 0 if self.options.strict else math.floor(self.options.bad_rows * self.rows)
        if len(self.problems) > allowed:
            raise self._make_refusal()
        return [SetAside(reason, count) for reason, count in Counter(self.reasons.values()).items()], self._notes()

    def keep_usable(self, frame: pl.DataFrame, uses: tuple[ColumnUse, ...] = ()) -> UsableRows:
        """Keep the rows of a frame that can be used; refuse the file if too many cannot."""
        set_aside, notes = self.settle()
        return UsableRows(frame.filter(self.usable()), tuple(set_aside), tuple(notes), uses)

    def _make_refusal(self) -> InputError:
        share, advice = len(self.problems) / max(self.rows, 1), ""
        if not self.options.strict and share <= WORTH_SETTING_ASIDE:
            rounded = math.ceil(share * 1000) / 1000
            advice = f"; {param('bad_rows')} {rounded:g} sets such rows aside ({len(self.problems):,} of {self.rows:,})"
        first = min(self.problems)
        return self.source.fault(self.problems[first] + advice, first)

    def _notes(self) -> list[str]:
        notes: list[str] = []
        if self.problems:
            rows = sorted(self.problems)
            notes.append(
                f"set aside as unreadable, {self._list_lines(rows)}: {on_command_line(self.problems[rows[0]])}"
            )
        for column, rows in self.emptied.items():
            left = agreeing(len(rows), "is left empty", "are left empty")
            values = f"{counted(len(rows), 'value')} of column '{column}' cannot be read and {left}"
            notes.append(f"{values}, {self._list_lines(rows)}")
        return notes

    def _list_lines(self, rows: list[int]) -> str:
        unit = "line" if self.source.line_of is not None else "row"
        numbers = [str(self.source.number(row)) for row in rows[:LINES_NAMED]]
        more = f" and {len(rows) - LINES_NAMED:,} more" if len(rows) > LINES_NAMED else ""
        return f"{self.source.name}, {unit}{'s' if len(rows) > 1 else ''} {', '.join(numbers)}{more}"


# Names of columns may be whole questions.
_LONGEST_NAME = 5_000


@dataclass(frozen=True)
class LoadedTable:
    """The columns of a file, where its rows stand, and what there is to say about the file."""

    frame: pl.DataFrame
    source: Source
    notes: tuple[str, ...] = ()
    ragged: Mapping[int, str] = field(default_factory=dict)
    """Rows that are longer or shorter than the header, or broken, and what is wrong: in the frame, but no use."""
    twice: frozenset[str] = frozenset()
    """Names that several columns of the file have; the first of them has it in the frame."""
    added: frozenset[str] = frozenset()
    """Columns that the file does not have, such as the annotator after whom a sheet is named."""
    record: CampaignRecord | None = None
    """How the judgments were collected, where the file says it."""

    def __post_init__(self) -> None:
        """Refuse names of columns in which no word can be looked for within reason."""
        name = max(self.frame.columns, key=len, default="")
        if len(name) > _LONGEST_NAME:
            what = f"has a column whose name has {len(name):,} characters, '{shown(name)}'"
            raise self.source.fault(f"{what}; the file may be damaged, as by a quotation mark that nothing closes")

    def bad_rows(self, options: ReadOptions) -> BadRows:
        """The rows that cannot be used: at first those of another length than the header."""
        bad = BadRows(self.source, options, self.frame.height)
        for row, problem in self.ragged.items():
            bad.row(row, problem, "row of another length than the header")
        return bad

    def refuse_ragged(self) -> None:
        """Refuse a table in which some row is not as long as the header."""
        if self.ragged:
            raise self.source.fault(self.ragged[min(self.ragged)], min(self.ragged))

    def take_rows(self, rows: Sequence[int], note: str, *added: str) -> LoadedTable:
        """These rows, in this order and as often; `added` are columns that the caller will add."""
        return replace(
            self,
            frame=self.frame[rows],
            source=self.source.moved(lambda row: rows[row] if row < len(rows) else row),
            notes=(*self.notes, note),
            ragged={place: self.ragged[row] for place, row in enumerate(rows) if row in self.ragged},
            added=self.added | {*added},
        )


DELIMITERS = ("\t", ",", ";")


@dataclass(frozen=True)
class Delimited:
    """A table with a header: `rows` are (line number, fields)."""

    path: Path
    header: tuple[str, ...]
    rows: tuple[tuple[int, list[str]], ...]
    options: ReadOptions = field(default_factory=lambda: ReadOptions(strict=True))

    @property
    def source(self) -> Source:
        """The file and its lines, for messages."""
        return Source(str(self.path), lambda row: self.rows[row][0])

    @cached_property
    def bad(self) -> BadRows:
        """The rows that cannot be used, first of all those of another length than the header."""
        return BadRows(self.source, self.options, len(self.rows))

    def find(self, *names: str) -> int | None:
        """Return the place of the first of these columns that exists, case ignored."""
        return find_column(self.header, names)

    def need(self, *names: str) -> int:
        """Return the place of a column that must exist."""
        index = self.find(*names)
        if index is None:
            existing = shown(", ".join(self.header), 200)
            raise InputError(
                f"has no column '{names[0]}', it has {existing}; check {param('format')}", file=self.path, line=1
            )
        return index

    def texts(self, index: int | None, *, strip: bool = True) -> pl.Series:
        """A column, without blanks around its values unless asked for; all null where the column is missing."""
        if index is None:
            return pl.Series([None], dtype=pl.String).new_from_index(0, len(self.rows))
        column = pl.Series(self._columns[index], dtype=pl.String)
        return column.str.strip_chars() if strip else column

    @cached_property
    def _columns(self) -> list[tuple[str, ...]]:
        return list(zip(*(fields for _, fields in self.rows), strict=True)) or [()] * len(self.header)


def find_column(header: Sequence[str], names: Iterable[str]) -> int | None:
    """Return the place of the first of these columns that a header has, case and blanks around it ignored."""
    folded = [name.strip().casefold() for name in header]
    return next((folded.index(name.casefold()) for name in names if name.casefold() in folded), None)


def numbered_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines that hold something, with their numbers. Only line feeds end a line: a text may hold other breaks."""
    lines = enumerate(text.split("\n"), start=1)
    return ((number, line.removesuffix("\r")) for number, line in lines if line.strip())


def stripped_lines(text: str) -> tuple[str, ...]:
    """Split a text into lines without blanks around them. Only line feeds end a line: texts hold other separators."""
    lines = [line.strip() for line in text.split("\n")]
    return tuple(lines[:-1] if lines and not lines[-1] else lines)


def detect_delimiter(text: str) -> str:
    """The delimiter that cuts the first line into the most fields: tab, comma or semicolon."""
    end = text.find("\n")
    first = text if end < 0 else text[:end]
    return max(DELIMITERS, key=first.count)


def read_delimited(
    path: Path, delimiter: str | None = ",", *, quoting: bool = True, options: ReadOptions | None = None
) -> Delimited:
    """Read a delimited file with a header.

    Args:
        path: the file.
        delimiter: where it is None, the header decides between tab, comma and semicolon.
        quoting: whether quotation marks enclose fields.
        options: how many rows may be of another length than the header; without options such a row is an error. With
            them it stays in its place, cut or filled up, and is among the bad rows.
    """
    text = read_text(path)
    rows = split_rows(text, delimiter or detect_delimiter(text), path, quoting=quoting)
    first = next(rows, None)
    if first is None:
        raise InputError("is empty; a header line and rows are needed", file=path)
    header = tuple(name.strip() for name in first[1])
    while len(header) > 1 and header[-1].startswith("#"):
        # A comment behind the names of columns.
        header = header[:-1]
    body: list[tuple[int, list[str]]] = []
    ragged: dict[int, str] = {}
    for line, fields in rows:
        if not any(field.strip() for field in fields):
            continue
        while len(fields) > len(header) and not fields[-1].strip():
            # Some tools end every row with a delimiter; nothing is lost with it.
            fields.pop()
        if len(fields) != len(header):
            problem = f"{counted(len(fields), 'field')} where the header has {len(header)}"
            problem = f"{problem}; the file may be cut or not what {param('format')} says"
            if options is None:
                raise InputError(problem, file=path, line=line)
            ragged[len(body)] = problem
        body.append((line, (fields + [""] * len(header))[: len(header)]))
    table = Delimited(path, header, tuple(body), options or ReadOptions(strict=True))
    for row, problem in ragged.items():
        table.bad.row(row, problem, "row of another length than the header")
    return table


def split_rows(
    text: str, delimiter: str, path: Path | None = None, *, quoting: bool = True
) -> Iterator[tuple[int, list[str]]]:
    """Split a text into rows of fields, with the line where each begins.

    Args:
        text: the content of the file.
        delimiter: what stands between fields.
        path: the file, to read strictly and to name in the error; without it quotation marks are read leniently.
        quoting: whether quotation marks enclose fields.
    """
    # A field may be as large as the file; the csv module's default limit would refuse long texts.
    csv.field_size_limit(max(len(text), 131_072))
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=delimiter,
        quoting=csv.QUOTE_MINIMAL if quoting else csv.QUOTE_NONE,
        strict=quoting and path is not None,
    )
    line = 1
    try:
        for fields in reader:
            yield line, fields
            line = reader.line_num + 1
    except csv.Error as fault:
        if path is None:
            raise
        raise InputError(f"cannot be read as a table ({fault}); check quotes", file=path, line=line) from fault


def row_lines(text: str, separator: str, *, quoting: bool = True) -> Iterator[tuple[int, list[str]]]:
    """Split a text leniently into the rows that hold something, with the line where each begins."""
    return ((line, fields) for line, fields in split_rows(text, separator, quoting=quoting) if any(fields))


def to_int(value: str, what: str, path: Path, line: int) -> int:
    """A whole number, or an error with its place."""
    # int() alone would take `1_000` and the digits of other scripts, which are damage in these files.
    if re.fullmatch(r"\s*[+-]?[0-9]{1,18}\s*", value):
        return int(value)
    raise InputError(f"{shown(what)} is '{shown(value)}', a whole number is needed; correct it", file=path, line=line)


def to_float(value: str, what: str, path: Path, line: int | None = None) -> float:
    """A finite number, or an error with its place."""
    try:
        number = float("nan") if "_" in value else float(value)
    except ValueError:
        number = float("nan")
    if not math.isfinite(number):
        raise InputError(f"{shown(what)} is '{shown(value)}', a number is needed; correct it", file=path, line=line)
    return number


# What a reader took the columns of a file for, as `adjudge import` reports it.


def column_uses(
    path: Path | str,
    header: Sequence[str],
    taken: Mapping[str, int | Iterable[int] | None],
    *,
    kept: Iterable[int] = (),
) -> tuple[ColumnUse, ...]:
    """One entry per column of a file.

    Args:
        path: the file.
        header: the names of its columns.
        taken: what the reader looked for, and where it stands: one column, several, or none.
        kept: columns that stay in the table under their own names.
    """
    meanings: dict[int, str] = {}
    for meaning, columns in taken.items():
        for column in () if columns is None else (columns,) if isinstance(columns, int) else columns:
            meanings.setdefault(column, meaning)
    kept_places = set(kept)
    return tuple(
        ColumnUse(
            str(path),
            name or "(without a name)",
            meanings.get(index),
            "used" if index in meanings else "kept" if index in kept_places else "not used",
        )
        for index, name in enumerate(header)
    )


# What readers share about files before they look inside: folders, names of campaigns, language pairs in names.


# A name such as `2011.Czech,English.combo` has no ending in this sense: all of it says what the file is.
_ENDINGS = (".gz", ".csv", ".tsv", ".txt", ".tab", ".json", ".jsonl", ".parquet")


def stem(path: Path) -> str:
    """The name of a file without the endings that say how it is written."""
    name = path.name
    while name.lower().endswith(_ENDINGS) and "." in name[1:]:
        name = name[: name.rindex(".")]
    return name


def files_in(paths: Sequence[Path]) -> list[Path]:
    """The files named, and those directly inside the folders named, in order of name; hidden ones are left alone."""
    files: list[Path] = []
    for path in paths:
        if not path.is_dir():
            files.append(path)
            continue
        try:
            inside = sorted(file for file in path.iterdir() if file.is_file() and not file.name.startswith("."))
        except OSError as fault:
            raise InputError(f"cannot be listed ({fault.strerror}); check its permissions", file=path) from fault
        if not inside:
            raise InputError("this folder holds no files; name another", file=path)
        files += inside
    for file, times in Counter(file.resolve() for file in files).items():
        if times > 1:
            raise InputError("is given twice, its judgments would count twice; name it once", file=file)
    return files


def refuse_empty(path: Path) -> None:
    """Say of an empty file that it is empty, before saying what it is not."""
    if not read_bytes(path).removeprefix(codecs.BOM_UTF8).strip():
        raise InputError("is empty; check that the file is complete", file=path)


def campaign_names(paths: Sequence[Path]) -> list[str]:
    """One name per file: its stem, with its ending and its folders where those are needed to tell files apart."""
    full = [path.resolve() for path in paths]
    for depth in range(max(len(path.parts) for path in full)):
        for last in ([stem(path) for path in full], [path.name for path in full]):
            folders = [path.parts[len(path.parts) - 1 - min(depth, len(path.parts) - 2) : -1] for path in full]
            names = ["/".join([*before, name]) for before, name in zip(folders, last, strict=True)]
            if len(set(names)) == len(names):
                return names
    return [str(path) for path in full]


def read_each(
    paths: Sequence[Path], options: ReadOptions, read_file: Callable[[Path, str, ReadOptions], Judgments]
) -> Judgments:
    """Read files and those in folders, each a campaign named after it, by a function of path, campaign and options."""
    files = files_in(paths)
    return concat([read_file(file, name, options) for file, name in zip(files, campaign_names(files), strict=True)])


def pair_of(path: Path, options: ReadOptions) -> tuple[str, str]:
    """The languages of a file that does not say them: from its name, else from --pair, else unknown.

    The name comes first, so that --pair chooses among several files instead of renaming them all.
    """
    if languages := pair_in_name(path.name):
        return languages
    return split_pair(options.pair) if options.pair else (UNKNOWN, UNKNOWN)


def add_languages(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """The frame with the languages of its column `pair` in columns of their own, and a note on what is no pair."""
    if "pair" not in frame.columns or {"source_lang", "target_lang"} & set(frame.columns):
        return frame, []
    given = frame["pair"].cast(pl.String)
    pairs = {text: find_pair(text) for text in given.unique(maintain_order=True).drop_nulls()}
    sides = [{text: codes[side] for text, codes in pairs.items() if codes} for side in range(2)]
    columns = [
        given.replace_strict(codes, default=None, return_dtype=pl.String).alias(name)
        for name, codes in zip(("source_lang", "target_lang"), sides, strict=True)
    ]
    strange = [text for text, codes in pairs.items() if codes is None and text.strip()]
    rows = int(given.is_in(strange).sum())
    what = f"{counted(rows, 'row')} {agreeing(rows, 'has', 'have')} no language pair in the column of pairs"
    notes = [f"{what}, such as '{shown(strange[0])}'; write en-cs"] if strange else []
    return frame.with_columns(columns), notes


# What readers of JSON lines share: which files, their objects with line numbers, and columns made from rows.

SECTION = "_#_"
"""Between the parts of an item's name, as in `en-cs_CZ_#_news_#_doc1_#_0`: languages, domain, document, place."""
_LANGUAGES = re.compile(r"([a-z]{2,3})-([a-z]{2,3})(?:_[A-Za-z]+)*")


def json_files(paths: Sequence[Path]) -> list[Path]:
    """The files named, and the .jsonl files of the folders named."""
    explicit = {path for path in paths if not path.is_dir()}
    files = [path for path in files_in(paths) if path in explicit or ".jsonl" in path.name.lower()]
    if not files:
        raise InputError(f"holds no .jsonl file; check the path and {param('format')}", file=paths[0])
    return files


def json_lines(path: Path, options: ReadOptions, *, needed: str) -> tuple[list[tuple[int, str, Any]], BadRows]:
    """Every line that is JSON, with its row, its text and what it says; and the lines that cannot be used.

    Args:
        path: the file.
        options: how many bad lines there may be.
        needed: what a line holds; it ends the sentence about an empty file.
    """
    lines = list(numbered_lines(read_text(path)))
    if not lines:
        raise InputError(f"is empty; {needed} is needed", file=path)
    bad = BadRows(Source(str(path), lambda row: lines[row][0]), options, len(lines))
    entries: list[tuple[int, str, Any]] = []
    for row, (_, text) in enumerate(lines):
        try:
            entries.append((row, text, parse_json(text)))
        except ValueError:
            bad.row(row, "is damaged JSON; the file may be cut", "line that is damaged JSON")
    return entries, bad


def pair_of_item(name: str) -> tuple[str, str] | None:
    """The languages in an item's name; where its first part is just that, also languages that we do not know."""
    first, between, _ = name.partition(SECTION)
    match = _LANGUAGES.fullmatch(first) if between else None
    return pair_in_name(first) or ((match[1], match[2]) if match else None)


def common_columns(
    rows: Sequence[Mapping[str, Any]], path: Path, options: ReadOptions, *, also: Sequence[str] = ()
) -> dict[str, Any]:
    """Make columns of the judgment table from rows; a row's own language pair counts where the file names none."""
    of_file = pair_of(path, options)
    pairs = [row["pair"] if of_file[0] == UNKNOWN and row["pair"] else of_file for row in rows]
    same = ("annotator", "document", "segment", "system", "score", *also)
    return {
        "source_lang": [source for source, _ in pairs],
        "target_lang": [target for _, target in pairs],
        **{name: [row[name] for row in rows] for name in same},
        "spans": span_column([row["spans"] for row in rows]),
        **{name: _as_times([row[name] for row in rows]) for name in ("started", "ended")},
    }


def _as_times(seconds: Sequence[float | None]) -> pl.Series:
    """Convert Unix seconds to times."""
    micros = pl.Series([None if moment is None else round(moment * 1e6) for moment in seconds], dtype=pl.Int64)
    return micros.cast(pl.Datetime("us", "UTC"))


# White-space separated tables as statistics scripts write them: tabs and blanks mixed, quoted names, header or none.
# They are read column by column, because such files are large.

LINE = "line"
MISSING = "NA"
_QUOTED = re.compile(r'"[^"\n]*"')
# Stands for a blank inside quotes while the text is split; files of this family hold no such character.
_KEPT_BLANK = "\x1f"


@dataclass(frozen=True)
class Spaced:
    """A table of texts: columns are named `0`, `1`, ... and `line`; `header` is empty where the file has none."""

    path: Path
    header: tuple[str, ...]
    frame: pl.DataFrame
    ragged: Mapping[int, str] = field(default_factory=dict)
    """Rows of another length than the first line, and the problem of each: they are in the frame, but no use."""

    def bad_rows(self, options: ReadOptions) -> BadRows:
        """The rows that cannot be used: at first those of another length."""
        lines = self.frame[LINE]
        bad = BadRows(Source(str(self.path), lambda row: int(lines[row])), options, self.frame.height)
        for row, problem in self.ragged.items():
            bad.row(row, problem, "row of another length than the first line")
        return bad

    def refuse_ragged(self) -> None:
        """Refuse a table in which some row is not as long as the first line."""
        if self.ragged:
            first = min(self.ragged)
            raise InputError(self.ragged[first], file=self.path, line=self.frame[LINE][first])

    def column_index(self, *names: str) -> int | None:
        """The place of the first of these columns that the header names, case ignored."""
        return find_column(self.header, names)

    def texts(self, index: int) -> pl.Series:
        """A column with `NA` as null."""
        column = self.frame[str(index)]
        return pl.select(pl.when(column != MISSING).then(column)).to_series()

    def numbers(self, index: int, what: str, bad: BadRows | None = None, *, optional: bool = False) -> pl.Series:
        """A column of finite numbers with `NA` as null; anything else makes a bad row, or is an error with its line.

        Args:
            index: the place of the column.
            what: its name in messages.
            bad: where bad rows are recorded; without it, they are errors.
            optional: nothing needs the column, so that a broken value is left empty and the row can be used.
        """
        given = self.texts(index)
        parsed = given.cast(pl.Float64, strict=False)
        broken = given.is_not_null() & (parsed.is_null() | ~parsed.is_finite())

        def problem(row: int) -> str:
            return f"{what} is '{shown(given[row])}', a number is needed; correct it"

        if bad is None:
            if broken.any():
                first = broken.arg_max() or 0
                raise InputError(problem(first), file=self.path, line=self.frame[LINE][first])
        elif optional:
            bad.empty(broken, what, problem)
        else:
            bad.mark(broken, problem, f"row with a broken {what}")
        return pl.select(pl.when(~broken).then(parsed)).to_series()


def read_spaced(path: Path, *, header: str) -> Spaced | None:
    """Read a table; its first line is a header if it holds the word `header`. None where the file is empty.

    Rows of another length than the first line stay in their place, cut or filled up, and are among the `ragged`.
    """
    text = _squeeze_blanks(read_text(path))
    if not text.strip():
        return None
    text, numbers = _drop_empty_lines(text)
    first = text.split("\n", 1)[0].split(" ")
    width = len(first)
    frame, ragged = _parse(text, width), {}
    if frame is None or frame[str(width - 1)].null_count():
        rows = [row.split(" ") for row in text.removesuffix("\n").split("\n")]
        ragged = {
            row: f"{counted(len(fields), 'field')} where the first line has {width}; "
            f"the file may be cut or not what {param('format')} says"
            for row, fields in enumerate(rows)
            if len(fields) != width
        }
        frame = _parse("\n".join(" ".join((fields + [MISSING] * width)[:width]) for fields in rows), width)
        if frame is None:
            raise InputError("cannot be read as a table; check that it is white-space separated text", file=path)
    if _KEPT_BLANK in text:
        frame = frame.with_columns(pl.all().str.replace_all(_KEPT_BLANK, " ", literal=True))
    frame = frame.with_columns(numbers)
    names = tuple(word.replace(_KEPT_BLANK, " ") for word in first)
    if header.casefold() in [name.casefold() for name in names]:
        return Spaced(path, names, frame[1:], {row - 1: problem for row, problem in ragged.items()})
    return Spaced(path, (), frame, ragged)


def _squeeze_blanks(text: str) -> str:
    """The text with one blank between fields, none at the ends of lines, and no quotes."""
    text = text.replace("\r\n", "\n")
    if any(" " in name or "\t" in name or "\n" in name for name in text.split('"')[1::2]):
        text = _QUOTED.sub(lambda match: match[0][1:-1].replace(" ", _KEPT_BLANK).replace("\t", _KEPT_BLANK), text)
    text = text.replace('"', "").replace("\t", " ")
    while "  " in text:
        text = text.replace("  ", " ")
    return text.replace(" \n", "\n").replace("\n ", "\n").strip(" ")


def _drop_empty_lines(text: str) -> tuple[str, pl.Series]:
    """The lines that hold something, and their numbers in the file."""
    if text.startswith("\n") or "\n\n" in text:
        lines = text.split("\n")
        numbers = [number for number, line in enumerate(lines, start=1) if line]
        return "\n".join(line for line in lines if line), pl.Series(LINE, numbers, dtype=pl.Int64)
    lines_in_all = text.count("\n") + (not text.endswith("\n"))
    return text, pl.int_range(1, lines_in_all + 1, dtype=pl.Int64, eager=True).alias(LINE)


def _parse(text: str, width: int) -> pl.DataFrame | None:
    try:
        return pl.read_csv(
            text.encode(),
            separator=" ",
            has_header=False,
            quote_char=None,
            schema={str(i): pl.String for i in range(width)},
        )
    except pl.exceptions.PolarsError:
        return None


# Spreadsheets compute what begins like a formula, also in CSV, and a formula may send the table away. Such texts get an
# apostrophe before them. Those that begin with apostrophes already get one more, so that it can be taken away again.

_FORMULA = r"^'*[=+\-@\t\r]"
_MARKED = r"^'('*[=+\-@\t\r])"
_NUMBER = r"^[+\-][0-9]+(\.[0-9]+)?([eE][+\-]?[0-9]+)?$"


Frame = TypeVar("Frame", pl.DataFrame, pl.LazyFrame)


def as_plain_text(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with texts that no spreadsheet takes for formulas; numbers stay as they are."""
    text = pl.col(pl.String)
    formula = text.str.contains(_FORMULA) & ~text.str.contains(_NUMBER)
    names = {name: f"'{name}" for name in frame.columns if re.match(_FORMULA, name)}
    return frame.with_columns(pl.when(formula).then("'" + text).otherwise(text).name.keep()).rename(names)


def undo_plain_text(frame: Frame, header: Collection[str]) -> Frame:
    """The frame as it was before `as_plain_text`, if its header is that of a judgment table that adjudge wrote.

    In other tables an apostrophe is left where it stands.
    """
    if not set(SCHEMA) <= set(header):
        return frame
    names = {name: name[1:] for name in header if re.match(_MARKED, name) and name[1:] not in header}
    return frame.with_columns(pl.col(pl.String).str.replace(_MARKED, "${1}")).rename(names)
