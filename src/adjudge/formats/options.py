"""Options of the file readers. Every field is a command-line option of the same name."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path  # noqa: TC003, the command line asks for the types when it runs

from adjudge.core.settings import option


@dataclass(frozen=True)
class ReadOptions:
    """Options of the readers. Each reader uses those that apply to it."""

    human: str | None = option(None, "The human translation among the systems: its name, or a regular expression.")
    """Default: `core.humans.HUMAN_PATTERN`."""
    pair: str | None = option(None, "The language pair of files that do not name one.")
    columns: tuple[str, ...] = option(
        (), "Tables: the columns to use, as NAME=COLUMN, such as system=model,score=rating."
    )
    systems: tuple[str, ...] = option((), "Wide tables: the columns with one system each, comma-separated.")
    raters: tuple[str, ...] = option((), "Wide tables: the columns with one annotator each, comma-separated.")
    wide: str | None = option(None, "Wide tables: whether these columns hold 'scores' or 'ranks'.")
    winner: tuple[str, ...] = option(
        (), "Pairs: the values in the winner column, such as left=1,right=2,tie=0 (also both-good=..., both-bad=...)."
    )
    attributes: Path | None = option(
        None,
        "A table (CSV, Excel, JSON, ...) whose columns are added to the judgments, joined on the columns that both "
        "have, such as segment or document.",
    )
    sheets: tuple[str, ...] = option(
        (), "Excel: the sheets to read, comma-separated, or 'all'; each is an annotator if no column is."
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
    labels: int | None = option(
        None, "Rankings: number of ranks on the scale; larger ranks are errors. Default: set by the format."
    )
    stacked: int = option(1, "rank-lines: number of annotators whose ranks follow each other in a file.")

    @property
    def is_plain(self) -> bool:
        """Whether only options that apply to every table are set: humans, strictness, share of bad rows."""
        return self == ReadOptions(human=self.human, strict=self.strict, bad_rows=self.bad_rows)
