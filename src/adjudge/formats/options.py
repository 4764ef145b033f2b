"""Options of the file readers. Every field is a command-line option of the same name."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path  # noqa: TC003, the command line asks for the types when it runs
from typing import Any


def _option(default: Any, text: str) -> Any:
    """Declare an option with its default and the text that `--help` shows in every command that reads judgments."""
    return field(default=default, metadata={"help": text})


@dataclass(frozen=True)
class ReadOptions:
    """Options of the readers. Each reader uses those that apply to it."""

    human: str | None = _option(None, "The human translation among the systems: its name, or a regular expression.")
    """Default: `core.humans.HUMAN_PATTERN`."""
    pair: str | None = _option(None, "The language pair of files that do not name one.")
    columns: tuple[str, ...] = _option(
        (), "Tables: the columns to use, as NAME=COLUMN, such as system=model,score=rating."
    )
    systems: tuple[str, ...] = _option((), "Wide tables: the columns with one system each, comma-separated.")
    raters: tuple[str, ...] = _option((), "Wide tables: the columns with one annotator each, comma-separated.")
    wide: str | None = _option(None, "Wide tables: whether these columns hold 'scores' or 'ranks'.")
    winner: tuple[str, ...] = _option(
        (), "Pairs: the values in the winner column, such as left=1,right=2,tie=0 (also both-good=..., both-bad=...)."
    )
    attributes: Path | None = _option(  # noqa: RUF009
        None,
        "A table (CSV, Excel, JSON, ...) whose columns are added to the judgments, joined on the columns that both "
        "have, such as segment or document.",
    )
    sheets: tuple[str, ...] = _option(
        (), "Excel: the sheets to read, comma-separated, or 'all'; each is an annotator if no column is."
    )
    encoding: str | None = _option(None, "Encoding of text files that are not UTF-8, such as cp1252 or cp1251.")
    judges: tuple[str, ...] = _option(
        (), "Annotators that are programs, comma-separated. They do not count as people (docs/judges.md)."
    )
    strict: bool = _option(False, "Stop if any value in a file cannot be read.")
    bad_rows: float = _option(0.01, "Largest share of unreadable rows to accept. They are set aside and listed.")
    segment_column: str | None = _option(None, "rank-table: the column that identifies the segment.")
    rank_columns: tuple[str, ...] = _option((), "rank-table: the rank columns, one per candidate, comma-separated.")
    mqm_weights: str | None = _option(
        None, "mqm: error weights: workshops (default), google, or a list such as minor=1,major=10."
    )
    batches: tuple[Path, ...] = _option((), "appraise: the batch files of the tasks (JSON or zip).")
    annotators: Path | None = _option(None, "appraise: a file that maps accounts to annotators.")  # noqa: RUF009
    labels: int | None = _option(
        None, "Rankings: number of ranks on the scale; larger ranks are errors. Default: set by the format."
    )
    stacked: int = _option(1, "rank-lines: number of annotators whose ranks follow each other in a file.")

    @property
    def is_plain(self) -> bool:
        """Whether only options that apply to every table are set: humans, strictness, share of bad rows."""
        return self == ReadOptions(human=self.human, strict=self.strict, bad_rows=self.bad_rows)
