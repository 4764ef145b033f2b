"""Results of Appraise: direct assessment, documents with or without error spans, pairs; and the way back.

An account is a task; the person behind it comes from a map (`--annotators`), else the account stands for the person.
Every save is kept, the last one counts. What campaigns append to a document's name (`#bad2`, `#dup`, `#incomplete`, the
system) is taken off, and kept in the column `flags`. Scores of whole documents are set aside (with `--whole-documents`
those of segments are, and documents are ranked by their own scores), and so are the intact
segments of corrupted copies of documents, which only the batches (`--batches`) can tell in campaigns without `#bad`.
A file with "calibration" in its name holds tasks that many did: its outputs are calibration items. Beside it may lie a
map (`x.mapping.csv` for `x.csv`) from accounts to those with which the same people did their calibration task.
"""

from __future__ import annotations

import contextlib
import csv
import re
from typing import TYPE_CHECKING, Any

import polars as pl

from adjudge.readers import appraise_batches, parsing
from adjudge.readers.columns import KINDS_ELSEWHERE
from adjudge.readers.mqm import score_spans
from adjudge.table.errors import InputError, Source, param, shown
from adjudge.table.files import parse_json, read_text
from adjudge.table.judgments import Judgments, SetAside, concat, language_codes
from adjudge.table.participants import mark_humans
from adjudge.table.texts import span_column
from adjudge.table.wording import agreeing, counted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from adjudge.readers.options import ReadOptions
    from adjudge.readers.parsing import UsableRows


# Appraise's result files as columns. They have no header: which columns a file has, its first row tells.
# Every row begins with account, system, item, type, two languages and score. Then may follow: document and whether the
# whole document was scored; the error spans as JSON; two columns of reported errors; start and end; and, where the
# export added them, the batch number, the database's item number and (for pairs) the place of the target. Some exports
# name the source segment between account and system.

BASE = ("account", "system", "item", "type", "source_lang", "target_lang", "score")
SOURCE = "source_segment"
DATA = (
    "account", "domain", "document", "system", "item", "type", "source_lang", "target_lang", "score", "rank_given",
    "start", "end",
)  # fmt: skip
BATCH = ("batch", "database_item", "target_place")
ITEM_TYPES = ("TGT", "BAD", "REF", "CHK")
KINDS = {name: KINDS_ELSEWHERE[name] for name in ITEM_TYPES}
_BOOLEANS = ("True", "False")
# 2001 to 2096: what can be a time in Unix seconds, and not a batch number or a score.
_TIMES = (1e9, 4e9)


def layout(fields: list[str]) -> tuple[str, ...] | None:
    """The columns of a file whose first row this is, or None where it is no result row."""
    if len(fields) >= len(DATA) and _is_type(fields[5]) and not _is_type(fields[3]):
        return DATA if len(fields) == len(DATA) else None
    names = list(BASE)
    if len(fields) > len(BASE) and _is_type(fields[4]) and not _is_type(fields[3]):
        names.insert(1, SOURCE)
    if len(fields) < len(names) or not _is_type(fields[names.index("type")]):
        return None
    unnamed = fields[len(names) :]
    if len(unnamed) >= 2 and unnamed[1] in _BOOLEANS:
        names += ["document", "complete"]
        unnamed = unnamed[2:]
        if unnamed and not _is_number(unnamed[0]):
            names.append("mqm")
            unnamed = unnamed[1:]
    elif len(unnamed) >= 4 and all(map(_is_time, unnamed[2:4])) and not all(map(_is_time, unnamed[:2])):
        names += ["errors", "source_errors"]
        unnamed = unnamed[2:]
    if len(unnamed) >= 2:
        names += ["start", "end"]
        unnamed = unnamed[2:]
    if len(unnamed) > len(BATCH) or len(unnamed) == 1:
        return None
    return (*names, *BATCH[: len(unnamed)])


def drop_header(rows: list[tuple[int, list[str]]]) -> list[tuple[int, list[str]]]:
    """The rows below a header, if somebody wrote one, without the numbers that data frames write before their rows."""
    header = [name.strip().casefold() for name in rows[0][1]] if rows else []
    if "score" not in header or layout(rows[0][1]) is not None:
        return rows
    first = 0 if header[0] else 1
    return [(line, fields[first:]) for line, fields in rows[1:]]


def is_result(rows: list[tuple[int, list[str]]]) -> bool:
    """Whether a file that begins with these rows is one of results."""
    below = drop_header(rows)
    names = layout(below[0][1]) if below else None
    return names is not None and _is_number(below[0][1][names.index("score")])


def find_separator(line: str) -> str:
    """Find the separator of the fields of a row; the error spans in it contain commas."""
    return next((sign for sign in ("\t", ";") if line.count(sign) >= len(BASE)), ",")


def _is_type(text: str) -> bool:
    return text.split(".", 1)[0] in ITEM_TYPES


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _is_time(text: str) -> bool:
    return _is_number(text) and (float(text) == 0 or _TIMES[0] <= float(text) <= _TIMES[1])


def read_rows(path: Path, options: ReadOptions) -> UsableRows | None:
    """Read the rows of a result file with typed columns; None if the file is something else."""
    text = read_text(path)
    separator = find_separator(text.split("\n", 1)[0])
    rows = [(line, fields) for line, fields in parsing.split_rows(text, separator, path) if any(fields)]
    if rows and rows[0][1][-1:] == [""] and layout(rows[0][1]) is None:
        rows = [(line, fields[:-1]) for line, fields in rows]
    rows = drop_header(rows)
    names = layout(rows[0][1]) if rows else None
    if names is None:
        return None
    bad = parsing.BadRows(Source(str(path), lambda row: rows[row][0]), options, len(rows))
    for row, (_, fields) in enumerate(rows):
        if len(fields) != len(names):
            problem = f"{counted(len(fields), 'field')} where the first row has {len(names)}; the file may be cut"
            bad.row(row, problem, "row of another length than the first")
    whole = [(fields + [""] * len(names))[: len(names)] for _, fields in rows]
    columns = dict(zip(names, zip(*whole, strict=True), strict=True))
    frame = pl.DataFrame(
        {**columns, "line": [line for line, _ in rows]}, schema_overrides=dict.fromkeys(names, pl.String)
    )
    return bad.keep_usable(_convert_columns(frame, bad, path))


def _convert_columns(frame: pl.DataFrame, bad: parsing.BadRows, path: Path) -> pl.DataFrame:
    def refuse(broken: pl.Series, column: str, problem: str) -> None:
        bad.mark(
            broken.fill_null(value=True),
            lambda row: problem.replace("{}", shown(frame[column][row])),
            f"row with a broken {column}",
        )

    score = frame["score"].str.strip_chars().cast(pl.Float64, strict=False)
    empty = frame["score"].str.strip_chars() == ""
    inside = score.is_between(*parsing.SCORE_SCALE).fill_null(value=False)
    refuse(~(inside | empty), "score", "score is '{}', a number between 0 and 100 is needed; correct it")
    known = frame["type"].str.split(".").list.first().is_in(list(ITEM_TYPES))
    refuse(~known, "type", "item type is '{}', one of " + ", ".join(ITEM_TYPES) + " is needed")
    changes = [score, language_codes(frame["source_lang"]), language_codes(frame["target_lang"])]
    if "complete" in frame.columns:
        refuse(~frame["complete"].is_in(list(_BOOLEANS)), "complete", "'{}' stands where True or False is needed")
        changes.append(frame["complete"] == "True")
    for row, (text, line) in enumerate(frame.select("mqm", "line").iter_rows() if "mqm" in frame.columns else ()):
        try:
            appraise_batches.parse_spans(text, path, line)
        except InputError:
            bad.row(row, f"'{shown(text)}' is not a list of error spans; the file may be cut", "row with broken spans")
    times = [_parse_seconds(frame, name, bad) for name in ("start", "end") if name in frame.columns]
    return frame.with_columns(*changes, *times)


def _parse_seconds(frame: pl.DataFrame, name: str, bad: parsing.BadRows) -> pl.Series:
    """Unix seconds; null where nothing, or zero, was recorded, or what stands there is no number."""
    given = frame[name].str.strip_chars()
    parsed = given.cast(pl.Float64, strict=False)
    broken = parsed.is_null() & (given != "")
    bad.empty(broken, name, lambda row: f"{name} time is '{shown(given[row])}', a number is needed; correct it")
    return pl.select(pl.when(parsed.is_between(*_TIMES)).then(parsed).alias(name)).to_series()


# Which person uses an account: maps in the forms that campaigns release.
# JSON from people to lists of accounts, or from accounts to people; or a table (comma, tab or semicolon, with a
# header or without) that has accounts in one column and people in another. One person may have several accounts,
# never the other way round; that, and the accounts in the results, tell which column is which.

_PEOPLE = re.compile(r"annotator|person|people|worker|rater|name", re.IGNORECASE)


def read_people(path: Path, accounts: set[str]) -> dict[str, str]:
    """The person behind each account, for the accounts of `accounts` that the file knows."""
    text = read_text(path)
    if not text.strip():
        raise InputError("is empty; a map from accounts to people is needed", file=path)
    rows = _parse_json(text, path) if text.lstrip()[0] in "[{" else _parse_table(text, path)
    columns = list(zip(*rows, strict=True))
    best: tuple[int, dict[str, str]] = (0, {})
    for account in range(len(columns)):
        people = _people_column(columns, account)
        if people is None:
            continue
        both = {(key, who) for key, who in zip(columns[account], columns[people], strict=True) if key and who}
        pairs = dict(both)
        known = len(accounts & pairs.keys())
        # An account that others are mapped to is a person itself.
        persons = accounts & set(pairs.values())
        if len(both) == len(pairs) and known + len(persons) > best[0]:
            best = (known + len(persons), {**{person: person for person in persons}, **pairs})
    if not best[0]:
        raise InputError(f"knows none of the accounts in the results; check {param('annotators')}", file=path)
    return {account: best[1][account] for account in accounts & best[1].keys()}


def _parse_json(text: str, path: Path) -> list[tuple[str, ...]]:
    try:
        given: Any = parse_json(text)
    except ValueError as fault:
        line = getattr(fault, "lineno", None)
        raise InputError("is damaged JSON; check that the file is complete", file=path, line=line) from fault
    if isinstance(given, dict):
        lists = {str(key): value if isinstance(value, list) else [value] for key, value in given.items()}
        return [(key, str(entry)) for key, entries in lists.items() for entry in entries] or [("", "")]
    if isinstance(given, list) and all(isinstance(entry, dict) for entry in given):
        keys = list(dict.fromkeys(key for entry in given for key in entry))
        return [tuple(keys), *(tuple(str(entry.get(key) or "") for key in keys) for entry in given)]
    raise InputError("is JSON, but neither an object nor a list of objects", file=path)


def _parse_table(text: str, path: Path) -> list[tuple[str, ...]]:
    try:
        rows = [row for _, row in parsing.row_lines(text, parsing.detect_delimiter(text))]
    except csv.Error as fault:
        raise InputError(f"cannot be read as a table ({fault}); check quotes", file=path) from fault
    width = max(map(len, rows))
    return [tuple(field.strip() for field in row) + ("",) * (width - len(row)) for row in rows]


def _people_column(columns: list[tuple[str, ...]], account: int) -> int | None:
    """The column of people: the one that its header names so, else the first other one that is filled."""
    others = [column for column in range(len(columns)) if column != account and sum(map(bool, columns[column])) > 1]
    others = others or [column for column in range(len(columns)) if column != account and any(columns[column])]
    named = [column for column in others if _PEOPLE.search(columns[column][0])]
    return next(iter(named or others), None)


# Which segment of a document an item is, where a campaign numbers the items of each task from 1 on.
# Most campaigns number segments within the document or the test set; such numbers are taken as they are. Where the
# numbers run from 1 to the length of the task instead, the same segment has another number in every task. Then a
# segment is known by its place on the page, and a document that was cut at the end of a task goes on in the next.

_PAGE = ("account", "page", "system")
_OUTPUT = ("document", "system")
# Some accounts break the rule, because they stopped midway or got an item twice.
_MOST = 0.9
_FLAG = re.compile(r"bad[0-9]*|dup|duplicate[0-9]*|incomplete")


def items_restart_in_each_task(rows: pl.DataFrame) -> bool:
    """Whether the item numbers of (nearly) every account run from 1 to the number of its items."""
    number = rows["item"].cast(pl.Int64, strict=False)
    if number.null_count():
        return False
    items = rows.select("account", *_PAGE[1:], number.alias("number")).unique()
    accounts = items.group_by("account").agg(
        (pl.col("number").is_unique().all() & (pl.col("number").min() == 1)).alias("once"),
        (pl.col("number").max() == pl.len()).alias("whole"),
        pl.struct("page", "system").n_unique().alias("pages"),
    )
    fits = accounts["once"] & accounts["whole"]
    several = bool((accounts["pages"] > 1).any())
    return several and float(fits.sum()) >= _MOST * accounts.height


def number_segments_by_place(rows: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """The rows with `segment` as the place in the document, and how many rows could not be placed."""
    number = pl.col("item").cast(pl.Int64)
    placed = rows.with_columns(number.rank("dense").over(_PAGE).cast(pl.Int64).alias("at"))
    pages = placed.group_by(*_PAGE, "document", maintain_order=True).agg(
        pl.col("at").max().alias("size"), pl.col("flags").first()
    )
    offsets = _offsets(pages)
    joined = placed.join(offsets, on=list(_PAGE), how="left", maintain_order="left")
    unknown = pl.format("{}:{}", "account", "item")
    segment = pl.coalesce((pl.col("at") + pl.col("before")).cast(pl.String), unknown)
    return joined.with_columns(segment.alias("segment")).drop("at", "before"), joined["before"].null_count()


def _offsets(pages: pl.DataFrame) -> pl.DataFrame:
    """Count the segments of the document before each page; null where that is unknown."""
    whole = pl.col("size").max().over("document")
    pages = pages.with_columns((pl.col("size") == whole).alias("is_whole"), whole.alias("whole"))
    parts = pages.filter((pl.col("flags") == "") & ~pl.col("is_whole")).sort("account")
    parts = parts.with_columns(
        (pl.col("size").cum_sum() - pl.col("size")).over(_OUTPUT).alias("before"),
        (pl.col("size").sum().over(_OUTPUT) == pl.col("whole")).alias("adds_up"),
    ).filter("adds_up")
    # A flagged page repeats one that the same account saw, so it begins where that one does.
    known = parts.select("account", *_OUTPUT, "size", "before").unique(["account", *_OUTPUT, "size"])
    placed = pages.join(known, on=["account", *_OUTPUT, "size"], how="left")
    before = pl.when("is_whole").then(0).otherwise(pl.col("before"))
    return placed.select(*_PAGE, before.cast(pl.Int64).alias("before")).unique(list(_PAGE))


def split_document_name(page: str | None, system: str) -> tuple[str | None, str]:
    """The document's own name, and what campaigns appended to it: `talk#SYS#bad2` by `x.SYS` is `talk` and `bad2`."""
    if page is None:
        return None, ""
    name, *added = page.split("#")
    flags: list[str] = []
    while added and _FLAG.fullmatch(added[-1]):
        flags.insert(0, added.pop())
    if added and (system in (added[-1], *added[-1].split("+")) or system.endswith("." + added[-1])):
        added.pop()
    return "#".join([name, *added]), "#".join(flags)


def place_in_document() -> pl.Expr:
    """The name of the source segment, without that of its document where it begins with it: `doc_#_3` is `3`."""
    within = pl.col("document").is_not_null() & pl.col(SOURCE).str.starts_with(pl.col("document"))
    after_document = pl.col(SOURCE).str.slice(pl.col("document").str.len_chars()).str.strip_chars_start("_#-:. ")
    return pl.when(within & (after_document != "")).then(after_document).otherwise(pl.col(SOURCE))


# A click takes longer; such a time says that none was recorded.
INSTANT = 0.0015
_TUTORIAL = r"-tutorial"
_TUTORIAL_SOURCE = r"tutorial"
_TUTORIAL_ITEMS = 1_000_000
_CALIBRATION = "calibration"
_MAPS = (".json", ".csv", ".tsv")
_OPTIONAL = ("document", "mqm", "errors", "source_errors", "batch", "database_item", "target_place", SOURCE)


def read(paths: Sequence[Path], options: ReadOptions) -> Judgments:
    """Read result files, or the results among the files of a folder; each becomes a campaign named after it."""
    tables, others = _result_files(paths, options)
    batches = appraise_batches.read_batches(options.batches) if options.batches else None
    accounts = {account for rows in tables.values() for account in rows.frame["account"].unique()}
    people_file = options.annotators or _find_map(list(tables), others, accounts)
    people = read_people(people_file, accounts) if people_file else None
    names = parsing.campaign_names(list(tables))
    parts = [
        _Campaign(path, name, options, batches, people).judgments(rows)
        for (path, rows), name in zip(tables.items(), names, strict=True)
    ]
    merged = concat(parts)
    notes = [*merged.notes, *(batches.notes if batches else ())]
    if people_file and people_file != options.annotators:
        notes.append(f"people are those of {people_file.name}, beside the results; --annotators names another map")
    if ignored := [file.name for file in others if file != people_file]:
        notes.append(f"ignored, not results: {', '.join(ignored)}")
    if people is not None and (strangers := len(accounts) - len(people)) > 0:
        are = agreeing(strangers, "is", "are")
        notes.append(f"{strangers} of {counted(len(accounts), 'account')} {are} not in the map of annotators")
    known = people is not None and len(people) == len(accounts)
    return Judgments(merged.table, merged.set_aside, tuple(notes), people=known)


def _find_map(results: Sequence[Path], others: Sequence[Path], accounts: set[str]) -> Path | None:
    """The map from accounts to people among the other files of a folder, or beside a file of calibration tasks."""
    beside = [file.with_name(f"{file.stem}.mapping.csv") for file in results if _CALIBRATION in file.name.lower()]
    if named := next((file for file in beside if file.is_file()), None):
        return named
    for file in others:
        # Batches and texts may lie there too, and are no map.
        if file.suffix.lower() in _MAPS:
            with contextlib.suppress(InputError):
                if len(read_people(file, accounts)) > _MOST * len(accounts):
                    return file
    return None


def _result_files(paths: Sequence[Path], options: ReadOptions) -> tuple[dict[Path, UsableRows], list[Path]]:
    """Read the result files; and list the other files in the folders given."""
    explicit = {path for path in paths if not path.is_dir()}
    tables: dict[Path, UsableRows] = {}
    others: list[Path] = []
    for path in parsing.files_in(paths):
        is_table = path in explicit or path.name.lower().removesuffix(".gz").endswith(".csv")
        rows = read_rows(path, options) if is_table else None
        if rows is not None:
            tables[path] = rows
        elif path in explicit:
            parsing.refuse_empty(path)
            problem = "is no result file: rows must begin with account, system, item, type (TGT, BAD, REF or CHK)"
            raise InputError(f"{problem}, languages and score; check {param('format')}", file=path, line=1)
        else:
            others.append(path)
    if not tables:
        raise InputError(f"holds no result file of Appraise; check the path and {param('format')}", file=paths[0])
    return tables, others


class _Campaign:
    """Turns the rows of one file into judgments, and collects what there is to say about it."""

    def __init__(
        self,
        path: Path,
        name: str,
        options: ReadOptions,
        batches: appraise_batches.Batches | None,
        people: dict[str, str] | None,
    ) -> None:
        self.path, self.name, self.human, self.of_documents = path, name, options.human, options.whole_documents
        self.batches, self.people = batches, people or {}
        self.notes: list[str] = []
        self.left_out: list[SetAside] = []

    def judgments(self, read: UsableRows) -> Judgments:
        rows = read.frame
        self.left_out += read.set_aside
        self.notes += read.notes
        has_documents, has_spans = "complete" in rows.columns, "mqm" in rows.columns
        rows = self._split_shared_outputs(rows)
        rows = rows.with_columns(
            *(pl.lit(None, dtype=pl.String).alias(name) for name in _OPTIONAL if name not in rows.columns),
            *(pl.lit(None, dtype=pl.Float64).alias(name) for name in ("start", "end") if name not in rows.columns),
        )
        if self.of_documents:
            rows = self._keep_document_scores(rows, has_documents=has_documents)
        elif has_documents:
            rows = self._drop_document_scores(rows)
        rows = self._keep(rows, pl.col("score").is_not_null(), "no score was given")
        rows = self._name_documents(rows)
        rows = self._drop_corrupted_copies(rows, has_documents=has_documents)
        rows = _number_revisions(rows)
        rows = self._add_segments(rows, has_documents=has_documents)
        if has_spans:
            return self._make_judgments(self._add_spans(rows))
        protocol = "pairwise" if _is_pairwise(rows) else "sqm" if has_documents else "da"
        return self._make_judgments(rows.with_columns(pl.lit(protocol).alias("protocol")))

    def _keep(self, rows: pl.DataFrame, condition: pl.Expr, otherwise: str) -> pl.DataFrame:
        kept = rows.filter(condition)
        self.left_out.append(SetAside(otherwise, rows.height - kept.height))
        return kept

    def _keep_document_scores(self, rows: pl.DataFrame, *, has_documents: bool) -> pl.DataFrame:
        if not has_documents or not rows["complete"].any():
            problem = f"holds no score of a whole document; read it without {param('whole_documents')}"
            raise InputError(problem, file=self.path)
        return self._keep(rows, pl.col("complete"), "score of a segment, not of a whole document")

    def _drop_document_scores(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Leave out scores of whole documents: they stand beside the scores of the document's segments.

        Some campaigns mark every segment as a whole document, for the page to show it so.
        """
        beside = (~pl.col("complete")).any().over("account", "document", "system")
        if rows["complete"].any() and not rows.select((pl.col("complete") & beside).any()).item():
            self.notes.append(f"{self.name}: every row is marked as a whole document; each counts as a segment")
            return rows
        return self._keep(rows, ~pl.col("complete"), "score of a whole document, not of a segment")

    def _split_shared_outputs(self, rows: pl.DataFrame) -> pl.DataFrame:
        """One row for each of the systems that share an output (`A+B`), if all of them also occur on their own."""
        known = set(rows["system"].unique())
        shared = [name for name in known if "+" in name and known.issuperset(name.split("+"))]
        if not shared:
            return rows
        together = pl.col("system").is_in(shared)
        outputs = int(rows.select(together.sum()).item())
        are = f"{counted(outputs, 'output')} {agreeing(outputs, 'is', 'are')} shared by systems"
        self.notes.append(f"{self.name}: {are}; each has a row")
        parts = pl.when(together).then(pl.col("system").str.split("+")).otherwise(pl.concat_list("system"))
        return rows.with_columns(parts.alias("system")).explode("system")

    def _name_documents(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The document without what was appended to it, the flags, and the kind."""
        rows = rows.with_columns(pl.col("document").alias("page"))
        pairs = rows.select("page", "system").unique().rows()
        split = [(page, system, *split_document_name(page, system)) for page, system in pairs]
        schema = {"page": pl.String, "system": pl.String, "document": pl.String, "flags": pl.String}
        names = pl.DataFrame(split, schema=schema, orient="row")
        rows = rows.drop("document").join(names, on=["page", "system"], nulls_equal=True, maintain_order="left")
        given = pl.col("type").str.split(".").list.first().replace_strict(KINDS, return_dtype=pl.String)
        number = pl.col("item").cast(pl.Int64, strict=False).fill_null(0)
        tutorial = (
            pl.col("page").fill_null("").str.contains(_TUTORIAL)
            | pl.col(SOURCE).fill_null("").str.contains(_TUTORIAL_SOURCE)
            | (number >= _TUTORIAL_ITEMS)
        )
        again = (given == "system") & pl.col("flags").str.contains("dup")
        kind = pl.when(tutorial).then(pl.lit("tutorial")).when(again).then(pl.lit("repeat")).otherwise(given)
        if _CALIBRATION in self.path.name.lower():
            kind = pl.when(kind.is_in(["system", "repeat"])).then(pl.lit("calibration")).otherwise(kind)
        return rows.with_columns(kind.alias("kind"))

    def _drop_corrupted_copies(self, rows: pl.DataFrame, *, has_documents: bool) -> pl.DataFrame:
        """Leave out the intact segments of corrupted copies of documents; the corrupted ones stay, as controls."""
        if not has_documents:
            return rows
        flagged = pl.col("flags").str.contains("bad") & (pl.col("kind") != "degraded")
        rows = self._keep(rows, ~flagged, "intact segment of a corrupted copy of a document")
        unflagged = rows.filter((pl.col("kind") == "degraded") & ~pl.col("flags").str.contains("bad"))
        if unflagged.height == 0:
            return rows
        if self.batches is None:
            count = unflagged.select("account", "page", "system").n_unique()
            again = counted(count, "document was", "documents were")
            what = f"{again} shown again with corrupted segments; give the batches (--batches) to tell"
            self.notes.append(f"{self.name}: {what} which of the other segments belong to the corrupted copy")
            return rows
        lines = appraise_batches.find_lines_of_corrupted_copies(rows, self.batches)
        return self._keep(rows, ~pl.col("line").is_in(lines), "intact segment of a corrupted copy of a document")

    def _add_segments(self, rows: pl.DataFrame, *, has_documents: bool) -> pl.DataFrame:
        if self.of_documents:
            return rows.with_columns(pl.lit(None, dtype=pl.String).alias("segment"))
        if rows[SOURCE].null_count() == 0:
            return rows.with_columns(place_in_document().alias("segment"))
        if not has_documents or not items_restart_in_each_task(rows):
            return rows.with_columns(pl.col("item").alias("segment"))
        rows, unknown = number_segments_by_place(rows)
        self.notes.append(f"{self.name}: items are numbered by task; segments are told by their place in the document")
        if unknown:
            what = f"{counted(unknown, 'row is', 'rows are')} of documents cut into parts that do not add up"
            self.notes.append(f"{self.name}: {what}; each of them counts as a segment of its own")
        return rows

    def _add_spans(self, rows: pl.DataFrame) -> pl.DataFrame:
        texts = self.batches.texts if self.batches else {}
        spans = [
            appraise_batches.parse_spans(mqm, self.path, line, texts.get((page, system, item, kind)))
            for mqm, line, page, system, item, kind in rows.select(
                "mqm", "line", "page", "system", "item", "type"
            ).iter_rows()
        ]
        self.notes += [f"{self.name}: {note}" for note in appraise_batches.note_undecided(spans)]
        rows = rows.with_columns(span_column(spans))
        categories = any(span["category"] for all_spans in spans for span in all_spans)
        if not categories or (rows["score"] != 0).any():
            return rows.with_columns(pl.lit("esa").alias("protocol"))
        # Nobody gives a score in MQM: it follows from the errors.
        scores = pl.Series("score", [score_spans(all_spans) for all_spans in spans], dtype=pl.Float64)
        return rows.with_columns(scores, pl.lit("mqm").alias("protocol"))

    def _make_judgments(self, rows: pl.DataFrame) -> Judgments:
        if rows.height == 0:
            raise InputError("holds no score of a segment; check that the file is complete", file=self.path)
        seconds = (pl.col("end") - pl.col("start")).round(3)
        errors = pl.concat_list("errors", "source_errors").list.eval(pl.element().filter(pl.element() != ""))
        text = pl.when(errors.list.len() > 0).then(errors.list.join(" | "))
        columns = rows.select(
            pl.lit(self.name).alias("campaign"), "protocol", "source_lang", "target_lang",
            pl.col("account").replace(self.people).alias("annotator"),
            pl.col("account").alias("task"),
            _screen().alias("screen"), "document", "segment", "system", "kind",
            "score", *(["spans"] if "spans" in rows.columns else []), text.alias("text"),
            _as_time("start").alias("started"), _as_time("end").alias("ended"),
            pl.when(seconds > INSTANT).then(seconds).alias("active_seconds"), "revision",
            pl.when(pl.col("flags") != "").then("flags").alias("flags"),
            *(["batch"] if rows["batch"].null_count() < rows.height else []),
        )  # fmt: skip
        instant = rows.select((pl.col("end") - pl.col("start") <= INSTANT).mean()).item()
        if instant and instant > 0.2:
            what = f"{instant:.0%} of the times recorded are zero"
            self.notes.append(f"{self.name}: {what}; they span mouse clicks, not reading")
        judgments = Judgments.from_columns(columns, set_aside=self.left_out, notes=self.notes, source=str(self.path))
        return mark_humans(judgments, self.human, given=("kind",))


def _number_revisions(rows: pl.DataFrame) -> pl.DataFrame:
    """Revisions in order of time: an item that was saved again has the numbers 1, 2, ..."""
    key = ["account", "page", "system", "item", "type", "source_lang", "target_lang", "database_item"]
    ordered = rows.sort("end", "line", nulls_last=False)
    ordered = ordered.with_columns((pl.int_range(pl.len()).over(key) + 1).alias("revision"))
    return ordered.sort("line")


def _is_pairwise(rows: pl.DataFrame) -> bool:
    """Whether (nearly) every save has two systems: then pairs were judged, each of them as two rows."""
    if rows["target_place"].null_count() == 0 or rows["errors"].null_count() == 0:
        return True
    saves = rows.filter(pl.col("start").is_not_null()).group_by("account", "item", "type", "start", "end")
    sizes = saves.agg(pl.col("system").n_unique())["system"]
    return sizes.len() > 0 and float((sizes == 2).sum()) >= 0.9 * sizes.len()


def _screen() -> pl.Expr:
    """Name what was shown together: a document by a system; for pairs, two outputs of a segment; else one output."""
    together = pl.col("system").unique().sort().str.join("+").over("account", "item", "type", "start", "end")
    pair = pl.format("{}/{}/{}", "item", "type", together)
    page = pl.format("{}#{}", "page", "system")
    single = pl.format("{}/{}/{}", "item", "type", "system")
    return pl.when(pl.col("protocol") == "pairwise").then(pair).otherwise(pl.coalesce(page, single))


def _as_time(seconds: str) -> pl.Expr:
    return pl.from_epoch((pl.col(seconds) * 1e6).round().cast(pl.Int64), time_unit="us").dt.replace_time_zone("UTC")
