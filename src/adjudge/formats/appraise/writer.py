"""A judgment table as an Appraise result file: 9 columns for outputs alone, 11 for documents, 12 with error spans.

What the format cannot hold is lost: people behind accounts (the task is written as the account where there is one),
ranks, texts, and whether a span was filled in beforehand. Scores must be numbers; a judgment without one is refused.
"""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

import polars as pl

from adjudge.core.errors import DataError, UsageError
from adjudge.core.files import write_text
from adjudge.core.languages import three_letter_code
from adjudge.core.wording import agreeing, counted
from adjudge.formats.appraise.spans import format_spans

if TYPE_CHECKING:
    from pathlib import Path

    from adjudge.core.judgments import Judgments

COLUMNS = (9, 11, 12)
_TYPES = {
    "system": "TGT",
    "degraded": "BAD",
    "reference": "REF",
    "repeat": "CHK",
    "tutorial": "TGT",
    "calibration": "TGT",
    # Appraise has no attention checks; degraded outputs also show who pays attention.
    "attention": "BAD",
}


def write(judgments: Judgments, path: Path, *, columns: int | None = None) -> None:
    """Write a result file.

    Args:
        judgments: the table; every revision becomes a row.
        path: the file to write.
        columns: 9, 11 or 12; default: as few as hold the table's documents and error spans.
    """
    table = judgments.table
    if columns is None:
        columns = 12 if table["spans"].is_not_null().any() else 11 if table["document"].is_not_null().any() else 9
    if columns not in COLUMNS:
        raise UsageError(f"Appraise files have 9, 11 or 12 columns, not {columns}")
    unscored = table["score"].null_count()
    if unscored:
        without = counted(unscored, "judgment has", "judgments have")
        raise DataError(f"{without} no score, which Appraise files need; leave {agreeing(unscored, 'it', 'them')} out")
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    if "flags" not in table.columns:
        table = table.with_columns(pl.lit(None, dtype=pl.String).alias("flags"))
    # Where times are equal or missing, the order of the rows decides which revision is the last.
    for row in table.sort("revision", maintain_order=True).with_columns(_account()).iter_rows(named=True):
        writer.writerow(_fields(row, columns))
    write_text(path, text.getvalue())


def _account() -> pl.Expr:
    """The task, as an account is one; with the person where several people did the same task."""
    people = pl.col("annotator").n_unique().over("task")
    task, person = pl.col("task").fill_null(""), pl.col("annotator").fill_null("")
    alone = pl.when(task == "").then(person).otherwise(task)
    return pl.when((people > 1) & (task != "")).then(pl.format("{}.{}", task, person)).otherwise(alone).alias("account")


def _fields(row: dict[str, Any], columns: int) -> list[str]:
    fields = [
        row["account"],
        row["system"],
        row["segment"] or "",
        _item_type(row),
        three_letter_code(row["source_lang"]),
        three_letter_code(row["target_lang"]),
        # In MQM nobody gives a score: Appraise writes 0, and it follows from the errors.
        "0" if row["protocol"] == "mqm" else f"{row['score']:.15g}",
    ]
    if columns >= 11:
        fields += ["#".join(part for part in (row["document"] or "", row["flags"]) if part), "False"]
    if columns == 12:
        fields.append(format_spans(row["spans"]))
    return [*fields, _seconds(row["started"]), _seconds(row["ended"])]


def _item_type(row: dict[str, Any]) -> str:
    # A document that was repeated whole is flagged as such, and its items are ordinary ones.
    return "TGT" if row["kind"] == "repeat" and "dup" in (row["flags"] or "") else _TYPES[row["kind"]]


def _seconds(moment: Any) -> str:
    return "" if moment is None else f"{moment.timestamp():.3f}"
