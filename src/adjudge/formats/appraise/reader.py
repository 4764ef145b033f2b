"""Results of Appraise: direct assessment, documents with or without error spans, pairs; and the way back.

An account is a task; the person behind it comes from a map (`--annotators`), else the account stands for the person.
Every save is kept, the last one counts. What campaigns append to a document's name (`#bad2`, `#dup`, `#incomplete`, the
system) is taken off, and kept in the column `flags`. Scores of whole documents are set aside, and so are the intact
segments of corrupted copies of documents, which only the batches (`--batches`) can tell in campaigns without `#bad`.
A file with "calibration" in its name holds tasks that many did: its outputs are calibration items. Beside it may lie a
map (`x.mapping.csv` for `x.csv`) from accounts to those with which the same people did their calibration task.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from adjudge.core.errors import InputError
from adjudge.core.humans import mark_humans
from adjudge.core.judgments import Judgments, SetAside, concat
from adjudge.core.spans import span_column
from adjudge.core.wording import agreeing, counted
from adjudge.formats.appraise.batches import Batches, find_lines_of_corrupted_copies, read_batches
from adjudge.formats.appraise.people import read_people
from adjudge.formats.appraise.rows import KINDS, SOURCE, read_rows
from adjudge.formats.appraise.segments import (
    items_restart_in_each_task,
    number_segments_by_place,
    place_in_document,
    split_document_name,
)
from adjudge.formats.appraise.spans import UNDECIDED, parse_spans
from adjudge.formats.mqm.weights import score_spans
from adjudge.formats.parsing.sources import campaign_names, files_in, refuse_empty

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from adjudge.formats.options import ReadOptions
    from adjudge.formats.parsing.bad_rows import UsableRows

# A click takes longer; such a time says that none was recorded.
INSTANT = 0.0015
_TUTORIAL = r"-tutorial"
_TUTORIAL_SOURCE = r"tutorial"
_TUTORIAL_ITEMS = 1_000_000
_CALIBRATION = "calibration"
MANY_ACCOUNTS = 10
"""So many accounts without a map are hardly as many people: an account of this tool is a task."""
_OPTIONAL = ("document", "mqm", "errors", "source_errors", "batch", "database_item", "target_place", SOURCE)


def read(paths: Sequence[Path], options: ReadOptions) -> Judgments:
    """Read result files, or the results among the files of a folder; each becomes a campaign named after it."""
    tables, others = _result_files(paths, options)
    batches = read_batches(options.batches) if options.batches else None
    accounts = {account for rows in tables.values() for account in rows.frame["account"].unique()}
    people_file = options.annotators or _find_people_file(list(tables))
    people = read_people(people_file, accounts) if people_file else None
    names = campaign_names(list(tables))
    parts = [
        _Campaign(path, name, options, batches, people).judgments(rows)
        for (path, rows), name in zip(tables.items(), names, strict=True)
    ]
    merged = concat(parts)
    notes = [*merged.notes, *(batches.notes if batches else ())]
    if others:
        notes.append(f"ignored, not results: {', '.join(others)}")
    if people is not None and (strangers := len(accounts) - len(people)) > 0:
        are = agreeing(strangers, "is", "are")
        notes.append(f"{strangers} of {counted(len(accounts), 'account')} {are} not in the map of annotators")
    if people is None and len(accounts) >= MANY_ACCOUNTS:
        notes.append(
            f"{len(accounts)} accounts are taken for as many people; if one person worked under several, give the map "
            "(--annotators), or one person's taste counts as that of several"
        )
    return Judgments(merged.table, merged.set_aside, tuple(notes))


def _find_people_file(files: Sequence[Path]) -> Path | None:
    """The map from accounts to people that lies beside a file of calibration tasks."""
    beside = [file.with_name(f"{file.stem}.mapping.csv") for file in files if _CALIBRATION in file.name.lower()]
    return next((path for path in beside if path.is_file()), None)


def _result_files(paths: Sequence[Path], options: ReadOptions) -> tuple[dict[Path, UsableRows], list[str]]:
    """Read the result files; and list the names of other files in the folders given."""
    explicit = {path for path in paths if not path.is_dir()}
    tables: dict[Path, UsableRows] = {}
    others: list[str] = []
    for path in files_in(paths):
        is_table = path in explicit or path.name.lower().removesuffix(".gz").endswith(".csv")
        rows = read_rows(path, options) if is_table else None
        if rows is not None:
            tables[path] = rows
        elif path in explicit:
            refuse_empty(path)
            problem = "is no result file: rows must begin with account, system, item, type (TGT, BAD, REF or CHK)"
            raise InputError(f"{problem}, languages and score; check --format", file=path, line=1)
        else:
            others.append(path.name)
    if not tables:
        raise InputError("holds no result file of Appraise; check the path and --format", file=paths[0])
    return tables, others


class _Campaign:
    """Turns the rows of one file into judgments, and collects what there is to say about it."""

    def __init__(
        self, path: Path, name: str, options: ReadOptions, batches: Batches | None, people: dict[str, str] | None
    ) -> None:
        self.path, self.name, self.human = path, name, options.human
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
        if has_documents:
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
        lines = find_lines_of_corrupted_copies(rows, self.batches)
        return self._keep(rows, ~pl.col("line").is_in(lines), "intact segment of a corrupted copy of a document")

    def _add_segments(self, rows: pl.DataFrame, *, has_documents: bool) -> pl.DataFrame:
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
            parse_spans(mqm, self.path, line, texts.get((page, system, item, kind)))
            for mqm, line, page, system, item, kind in rows.select(
                "mqm", "line", "page", "system", "item", "type"
            ).iter_rows()
        ]
        if undecided := sum(span["severity"] == UNDECIDED for all_spans in spans for span in all_spans):
            undone = f"{counted(undecided, 'error span')} {agreeing(undecided, 'has', 'have')}"
            self.notes.append(f"{self.name}: {undone} no severity (an unfinished click)")
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
        self._note_times(rows)
        judgments = Judgments.from_columns(columns, set_aside=self.left_out, notes=self.notes, source=str(self.path))
        return mark_humans(judgments, self.human, given=("kind",))

    def _note_times(self, rows: pl.DataFrame) -> None:
        instant = rows.select((pl.col("end") - pl.col("start") <= INSTANT).mean()).item()
        if instant and instant > 0.2:
            what = f"{instant:.0%} of the times recorded are zero"
            self.notes.append(f"{self.name}: {what}; they span mouse clicks, not reading")


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
