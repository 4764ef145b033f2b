"""Options that several commands share, so that they have the same name, meaning and help everywhere."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adjudge.table.settings import REQUIRED, argument, option


def check_table(path: Path | None) -> Path | None:
    """Refuse a judgment table that cannot be written before anything is computed."""
    from adjudge.readers import native

    if path is not None:
        native.check_ending(path)
    return path


def silent(_: str) -> None:
    """Ignore progress messages."""


@dataclass(frozen=True)
class Table:
    """The judgment table that a command writes."""

    output: Path = option(
        REQUIRED,
        "The judgment table to write: .parquet, .csv or .tsv.",
        "--output",
        "-o",
        check=check_table,
        only="command line",
    )


def page_option(**more: Any) -> Any:
    """A page that is written besides."""
    more = {"only": "command line"} | more
    return option(None, "Also write a page with charts: .html or .pdf.", "--report", metavar="OUT.html", **more)


def read_keys(keys: Any) -> Any:
    """The document of every segment; read from a table if a path is given."""
    from adjudge.metrics.join import read_keys as read_table

    return read_table(Path(keys)) if isinstance(keys, str | Path) else keys


def keys_option(**more: Any) -> Any:
    """The document of every segment."""
    return option(
        None,
        "A table that maps segments to documents, if the judgments do not name documents.",
        "--keys",
        typed=Path | None,
        python="str | Path | Mapping[str, str] | None",
        about="the document of every segment, as a mapping or a table, if the judgments do not name documents.",
        **more,
    )


def campaign_argument() -> Any:
    """The campaign file."""
    return argument(REQUIRED, "The campaign file, usually campaign.toml.", metavar="CAMPAIGN")


def database_option() -> Any:
    """The database of a campaign."""
    return option(
        None,
        "PostgreSQL URL, postgres://user:password@host/name. Default: SQLite next to the campaign file, or the "
        "database to which the campaign was moved.",
        "--database",
        envvar="ADJUDGE_DATABASE",
    )
