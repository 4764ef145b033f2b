"""What some formats need to know besides the files. Every field is a command-line option of the same name."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path  # noqa: TC003, the command line asks for the types when it runs


def _help(text: str) -> dict[str, str]:
    """What `--help` says of the option, in every command that reads judgments."""
    return {"help": text}


@dataclass(frozen=True)
class ReadOptions:
    """Options of the readers; each reader uses those that concern it."""

    human: str | None = field(
        default=None, metadata=_help("The system that is a human translation: a name, or a regular expression.")
    )
    """Where there is none, `core.humans.HUMAN_PATTERN`."""
    pair: str | None = field(default=None, metadata=_help("The language pair of files that do not say it."))
    columns: tuple[str, ...] = field(
        default=(),
        metadata=_help("Tables: which column is what, as system=model,score=rating (the name here = the file's name)."),
    )
    systems: tuple[str, ...] = field(
        default=(), metadata=_help("Wide tables: the columns that hold one system each, joined by commas.")
    )
    wide: str | None = field(
        default=None, metadata=_help("Wide tables: whether the columns of systems hold 'scores' or 'ranks'.")
    )
    winner: tuple[str, ...] = field(
        default=(),
        metadata=_help(
            "Pairs: what the winner's values mean, as left=1,right=2,tie=0 (or both-good=..., both-bad=...)."
        ),
    )
    attributes: Path | None = field(
        default=None,
        metadata=_help(
            "A side table (CSV, Excel, JSON, ...) whose columns are added to the judgments, by segment, document or "
            "whatever both name."
        ),
    )
    strict: bool = field(default=False, metadata=_help("Refuse a file in which a single value cannot be read."))
    bad_rows: float = field(
        default=0.01, metadata=_help("The share of rows that may be unreadable; they are set aside and named.")
    )
    segment_column: str | None = field(
        default=None, metadata=_help("rank-table: the column that identifies the segment.")
    )
    rank_columns: tuple[str, ...] = field(
        default=(), metadata=_help("rank-table: the rank columns, one per candidate, joined by commas.")
    )
    mqm_weights: str | None = field(
        default=None,
        metadata=_help("mqm: what errors cost: workshops (the default), google, or a list as minor=1,major=10."),
    )
    batches: tuple[Path, ...] = field(default=(), metadata=_help("appraise: batch files (JSON or zip) of the tasks."))
    annotators: Path | None = field(default=None, metadata=_help("appraise: file that maps accounts to people."))
    labels: int | None = field(
        default=None,
        metadata=_help("rankings: labels on the scale; a rank beyond is refused. By default what the format says."),
    )
    stacked: int = field(
        default=1, metadata=_help("rank-lines: annotators that stand one after the other in each file.")
    )

    @property
    def is_plain(self) -> bool:
        """Whether nothing was chosen but what holds for every table: humans, and how many rows may be bad."""
        return self == ReadOptions(human=self.human, strict=self.strict, bad_rows=self.bad_rows)
