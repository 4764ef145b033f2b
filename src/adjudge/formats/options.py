"""Options of the file readers. Every field is a command-line option of the same name."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path  # noqa: TC003, the command line asks for the types when it runs


def _help(text: str) -> dict[str, str]:
    """The text that `--help` shows for the option in every command that reads judgments."""
    return {"help": text}


@dataclass(frozen=True)
class ReadOptions:
    """Options of the readers. Each reader uses those that apply to it."""

    human: str | None = field(
        default=None, metadata=_help("The human translation among the systems: its name, or a regular expression.")
    )
    """Default: `core.humans.HUMAN_PATTERN`."""
    pair: str | None = field(default=None, metadata=_help("The language pair of files that do not name one."))
    columns: tuple[str, ...] = field(
        default=(),
        metadata=_help("Tables: the columns to use, as NAME=COLUMN, such as system=model,score=rating."),
    )
    systems: tuple[str, ...] = field(
        default=(), metadata=_help("Wide tables: the columns with one system each, comma-separated.")
    )
    raters: tuple[str, ...] = field(
        default=(), metadata=_help("Wide tables: the columns with one annotator each, comma-separated.")
    )
    wide: str | None = field(
        default=None, metadata=_help("Wide tables: whether these columns hold 'scores' or 'ranks'.")
    )
    winner: tuple[str, ...] = field(
        default=(),
        metadata=_help(
            "Pairs: the values in the winner column, such as left=1,right=2,tie=0 (also both-good=..., both-bad=...)."
        ),
    )
    attributes: Path | None = field(
        default=None,
        metadata=_help(
            "A table (CSV, Excel, JSON, ...) whose columns are added to the judgments, joined on the columns that both "
            "have, such as segment or document."
        ),
    )
    sheets: tuple[str, ...] = field(
        default=(),
        metadata=_help("Excel: the sheets to read, comma-separated, or 'all'; each is an annotator if no column is."),
    )
    encoding: str | None = field(
        default=None, metadata=_help("Encoding of text files that are not UTF-8, such as cp1252 or cp1251.")
    )
    judges: tuple[str, ...] = field(
        default=(),
        metadata=_help("Annotators that are programs, comma-separated. They do not count as people (docs/judges.md)."),
    )
    strict: bool = field(default=False, metadata=_help("Stop if any value in a file cannot be read."))
    bad_rows: float = field(
        default=0.01, metadata=_help("Largest share of unreadable rows to accept. They are set aside and listed.")
    )
    segment_column: str | None = field(
        default=None, metadata=_help("rank-table: the column that identifies the segment.")
    )
    rank_columns: tuple[str, ...] = field(
        default=(), metadata=_help("rank-table: the rank columns, one per candidate, comma-separated.")
    )
    mqm_weights: str | None = field(
        default=None,
        metadata=_help("mqm: error weights: workshops (default), google, or a list such as minor=1,major=10."),
    )
    batches: tuple[Path, ...] = field(
        default=(), metadata=_help("appraise: the batch files of the tasks (JSON or zip).")
    )
    annotators: Path | None = field(default=None, metadata=_help("appraise: a file that maps accounts to annotators."))
    labels: int | None = field(
        default=None,
        metadata=_help("Rankings: number of ranks on the scale; larger ranks are errors. Default: set by the format."),
    )
    stacked: int = field(
        default=1, metadata=_help("rank-lines: number of annotators whose ranks follow each other in a file.")
    )

    @property
    def is_plain(self) -> bool:
        """Whether only options that apply to every table are set: humans, strictness, share of bad rows."""
        return self == ReadOptions(human=self.human, strict=self.strict, bad_rows=self.bad_rows)
