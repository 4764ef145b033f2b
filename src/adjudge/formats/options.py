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
        default=None, metadata=_help("Regular expression for systems that are human translations.")
    )
    """Where there is none, `core.humans.HUMAN_PATTERN`."""
    pair: str | None = field(default=None, metadata=_help("The language pair of files that do not say it."))
    segment_column: str | None = field(
        default=None, metadata=_help("rank-table: the column that identifies the segment.")
    )
    rank_columns: tuple[str, ...] = field(
        default=(), metadata=_help("rank-table: the rank columns, one per candidate, joined by commas.")
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
