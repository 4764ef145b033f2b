"""Functions for the daily work with a campaign: `init`, `backup`, `restore`, `move`, `extend`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from adjudge.api.calls import verb

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from adjudge.collect.extend_campaign import LooksTaken
    from adjudge.results.campaigns import BackedUp, Extended, Initialised, Moved, Restored

    AnyPath = str | Path


@verb
def init(
    folder: AnyPath,
    *,
    protocol: Literal["da", "ranking", "pairwise", "sqm", "esa", "mqm", "postedit"] = "da",
    pair: str | None = None,
    source: AnyPath | None = None,
    systems: Mapping[str, AnyPath] | None = None,
    annotators: int | Iterable[str] = 2,
) -> Initialised:
    """Start a campaign: write a folder with a campaign file that explains itself, and with texts.

    Args:
        folder: the folder of the campaign; made if it does not exist. Nothing in it is overwritten.
        protocol: how people judge.
        pair: the language pair, such as `en-de`; needed with texts of your own.
        source: the source text, one segment per line. Default: made-up example texts.
        systems: by the name of a system, its translation of the same lines.
        annotators: number of annotators, or their names.

    Returns:
        The files, and under `next` the commands that come next.
    """
    from adjudge.core.wording import split_names
    from adjudge.design.start_campaign import init as start

    # A text is names with commas, as for the command, and not a name for each of its letters.
    people = split_names(annotators) if isinstance(annotators, str) else annotators
    return start(
        Path(folder),
        protocol=protocol,
        pair=pair,
        source=None if source is None else Path(source),
        systems={name: Path(file) for name, file in (systems or {}).items()},
        annotators=people if isinstance(people, int) else tuple(people),
    )


@verb
def backup(campaign: AnyPath, output: AnyPath, *, database: str | None = None) -> BackedUp:
    """Back a campaign up while people judge, or at any other time: one archive with all that belongs to it.

    Args:
        campaign: the campaign file.
        output: the archive to write, a .zip file. It is secret: it holds all judgments and the campaign's key.
        database: the address of its database; default: the one that the campaign is served from.
    """
    from adjudge.collect.copies.backup import backup as back_up

    return back_up(Path(campaign), Path(output), database=database)


@verb
def restore(archive: AnyPath, folder: AnyPath, *, database: str | None = None) -> Restored:
    """Make a campaign again from a backup; every row is read back and compared with it.

    Args:
        archive: what `adjudge.backup` wrote.
        folder: where the campaign comes; a new or empty folder.
        database: the address of an empty PostgreSQL database; default: SQLite in the folder.
    """
    from adjudge.collect.copies.backup import restore as make_again

    return make_again(Path(archive), Path(folder), database=database)


@verb
def move(campaign: AnyPath, to: AnyPath, *, database: str | None = None) -> Moved:
    """Move a campaign that is not being served to another database: from SQLite to PostgreSQL, or back.

    Args:
        campaign: the campaign file. Beside it is noted where the database is from now on.
        to: the address of an empty PostgreSQL database, or a new SQLite file (.sqlite3).
        database: the address of its present database; default: the one that the campaign is served from.
    """
    from adjudge.collect.copies.move import move as move_campaign

    return move_campaign(Path(campaign), str(to), database=database)


@verb
def extend(
    campaign: AnyPath,
    *,
    judgments: int = 0,
    beside: float = 1.0,
    dry_run: bool = False,
    database: str | None = None,
    url: str | None = None,
    links: AnyPath | None = None,
) -> Extended:
    """Add to a campaign that runs or has run: what its file has beyond the tasks so far, and more judgments.

    Args:
        campaign: the campaign file, with the annotators, systems and texts that are wanted now.
        judgments: how many more judgments of the same texts and systems are wanted.
        beside: for scores, how many outputs of the former systems come beside each of a new one.
        dry_run: only say what would be added, with the balance before and after.
        database: the address of its database; default: the one that the campaign is served from.
        url: the address that the links of new annotators begin with; default: that of the server that runs.
        links: write new links to this file (TSV) instead of the result.
    """
    from adjudge.collect.extend_campaign import extend as extend_campaign

    return extend_campaign(
        Path(campaign),
        judgments=judgments,
        beside=beside,
        dry_run=dry_run,
        database=database,
        base=url,
        links_file=None if links is None else Path(links),
        looks=_looks_taken(Path(campaign)),
    )


def _looks_taken(campaign_file: Path) -> LooksTaken | None:
    """The planned looks that the organisers' page has taken, None where there are none."""
    from adjudge.collect.extend_campaign import LooksTaken
    from adjudge.look.history import read_history

    history = read_history(campaign_file.with_name("looks.json"))
    if history is None or not history.records:
        return None
    return LooksTaken(len(history.records), history.plan, history.records[-1].fraction)
