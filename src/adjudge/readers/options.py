"""Options of the file readers. Every field is a command-line option of the same name."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge.table.errors import UsageError, shown
from adjudge.table.settings import option

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class ReadOptions:
    """Options of the readers. Each reader uses those that apply to it."""

    human: str | None = option(None, "The human translation among the systems: its name, or a regular expression.")
    """Default: `table.participants.HUMAN_PATTERN`."""
    pair: str | None = option(None, "The language pair of files that do not name one.")
    columns: tuple[str, ...] = option(
        (), "Tables: the columns to use, as NAME=COLUMN, such as system=model,score=rating."
    )
    systems: tuple[str, ...] = option((), "Wide tables: the columns with one system each, comma-separated.")
    raters: tuple[str, ...] = option((), "Wide tables: the columns with one annotator each, comma-separated.")
    wide: str | None = option(
        None,
        "Wide tables: what the columns hold, 'scores' or 'ranks'; or what their names join (segment,system).",
    )
    winner: tuple[str, ...] = option(
        (), "Pairs: the values in the winner column, such as left=1,right=2,tie=0 (also both-good=..., both-bad=...)."
    )
    values: tuple[str, ...] = option((), "Tables: what words in the score column are worth, such as good=3,bad=1.")
    scale: tuple[str, ...] = option((), "Tables: the lowest and the highest score, as LOW,HIGH; others are errors.")
    lower_is_better: bool = option(False, "Tables: lower scores are better, as when errors are counted.")
    criterion: str | None = option(
        None,
        "Tables: the criterion to read, if outputs were scored by several, or weights for their mean, such as "
        "adequacy=2,fluency=1. Default: all, one at a time.",
    )
    attributes: Path | None = option(
        None,
        "A table (CSV, Excel, JSON, ...) whose columns are added to the judgments, joined on the columns that both "
        "have, such as segment or document.",
    )
    sheets: tuple[str, ...] = option(
        (),
        "Excel: the sheets to read, comma-separated, or 'all'. Without a column of annotators, each is one annotator.",
    )
    encoding: str | None = option(None, "Encoding of text files that are not UTF-8, such as cp1252 or cp1251.")
    judges: tuple[str, ...] = option(
        (), "Annotators that are programs, comma-separated. They do not count as people (docs/judges.md)."
    )
    strict: bool = option(False, "Stop if any value in a file cannot be read.")
    bad_rows: float = option(0.01, "Largest share of unreadable rows to accept. They are set aside and listed.")
    segment_column: str | None = option(None, "rank-table: the column that identifies the segment.")
    rank_columns: tuple[str, ...] = option((), "rank-table: the rank columns, one per candidate, comma-separated.")
    mqm_weights: str | None = option(
        None, "mqm: error weights: workshops (default), google, or a list such as minor=1,major=10."
    )
    batches: tuple[Path, ...] = option((), "appraise: the batch files of the tasks (JSON or zip).")
    annotators: Path | None = option(None, "appraise: a file that maps accounts to annotators.")
    whole_documents: bool = option(
        False, "appraise: read the scores of whole documents instead of those of their segments."
    )
    accounts_are_people: bool = option(
        False, "Take every account for one person, even if tasks and times suggest fewer people (docs/rank.md)."
    )
    everyone: bool = option(False, "Keep annotators who fail 'adjudge check' on controls or pace (docs/check.md).")
    labels: int | None = option(
        None, "Rankings: number of ranks on the scale; larger ranks are errors. Default: set by the format."
    )
    stacked: int = option(1, "rank-lines: number of annotators in a file, one after the other.")

    @property
    def is_plain(self) -> bool:
        """Whether only options that apply to every table are set: humans, who counts, strictness, share of bad rows."""
        common = ("human", "accounts_are_people", "everyone", "strict", "bad_rows")
        return self == ReadOptions(**{name: getattr(self, name) for name in common})


# What users of Python read from: paths, and tables in memory.


def as_frame(source: Any) -> pl.DataFrame | None:
    """Convert a table in memory to a data frame of polars; None for anything else.

    Tables are data frames of polars, pandas and pyarrow, whatever speaks Arrow (`__arrow_c_stream__`), columns (a
    mapping from names to values) and records (a list of mappings).
    """
    kind = type(source)
    # People derive classes of their own from those of the libraries.
    kinds = {(each.__module__.split(".")[0], each.__name__) for each in kind.__mro__}
    if kinds & {("polars", "DataFrame"), ("polars", "LazyFrame")}:
        frame: pl.DataFrame = source.lazy().collect()
        return frame
    if ("pandas", "DataFrame") in kinds:
        return _convert_pandas(source)
    if ("polars", "Series") in kinds or not (hasattr(source, "__arrow_c_stream__") or _holds_rows(source)):
        return None
    import polars as pl

    if isinstance(source, Mapping):
        # Columns of pandas, which polars would convert with pyarrow alone.
        of_pandas = {name: column for name, column in source.items() if hasattr(column, "iloc")}
        source = {**source, **{name: _convert_pandas(each.to_frame("x"))["x"] for name, each in of_pandas.items()}}

    if isinstance(source, list | tuple) and len(widths := {tuple(row) for row in source}) > 1:
        names = dict.fromkeys(name for width in widths for name in width)
        source = [{name: row.get(name) for name in names} for row in source]
    try:
        return pl.DataFrame(source, infer_schema_length=None, strict=False)
    except (pl.exceptions.PolarsError, ImportError, TypeError, ValueError) as fault:
        reason = shown(str(fault).split("\n", 1)[0], 160)
        raise UsageError(f"{kind.__name__} cannot be read as a table ({reason}); give columns of one length") from fault


def _holds_rows(source: Any) -> bool:
    """Whether it is a mapping from names to columns, or a list of records."""
    if isinstance(source, Mapping):
        columns = source.values()
        return bool(columns) and all(isinstance(column, Iterable) and not isinstance(column, str) for column in columns)
    return isinstance(source, list | tuple) and bool(source) and all(isinstance(row, Mapping) for row in source)


def _convert_pandas(source: Any) -> pl.DataFrame:
    """Convert column by column, because polars would need pyarrow. Named levels of an index become columns."""
    import polars as pl

    if new := [name for name in source.index.names if name is not None and name not in source.columns]:
        source = source.reset_index(level=new)
    columns: dict[str, pl.Series] = {}
    names = [str(name) for name in source.columns]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f"data frame: column '{shown(twice)}' occurs twice; drop or rename one of them")
    for name in source.columns:
        column, missing = source[name], source[name].isna()
        values = [
            None if gone else value.to_pydatetime(warn=False) if hasattr(value, "to_pydatetime") else value
            for value, gone in zip(column.tolist(), missing.tolist(), strict=True)
        ]
        columns[str(name)] = pl.Series(str(name), values, strict=False)
    return pl.DataFrame(columns)


# What systems allow; questions about longer names are errors, not answers.
_LONGEST_PATH, _LONGEST_NAME = 4095, 255


def as_paths(source: Any, what: str = "judgments") -> list[Path]:
    """Make a list of one or several paths; `what` is read from them, for messages."""
    if isinstance(source, str | PathLike):
        source = [source]
    if not isinstance(source, Iterable) or isinstance(source, bytes | Mapping):
        problem = f"{what} cannot be read from {type(source).__name__}"
        raise UsageError(f"{problem}; give a path, several paths, a data frame, columns, records or {what}")
    paths = list(source)
    for path in paths:
        if not isinstance(path, str | PathLike):
            raise UsageError(f"a path is needed, not {type(path).__name__}; give paths, a data frame or judgments")
        if len(os.fsencode(path)) > _LONGEST_PATH or len(os.fsencode(Path(path).name)) > _LONGEST_NAME:
            raise UsageError(f"'{shown(path)}' is too long for the name of a file; give a path")
    return [Path(path) for path in paths]
