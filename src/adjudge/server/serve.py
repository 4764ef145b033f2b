"""From a campaign file to a running server: tasks, database, links, then serving until stopped."""

from __future__ import annotations

import csv
import errno
import io
import os
import shutil
import socket
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from sys import stderr
from typing import TYPE_CHECKING, TextIO

from adjudge.campaigns.campaign_file import Campaign, load_campaign
from adjudge.campaigns.tasks import TaskSet, load_tasks, save_tasks
from adjudge.server.database import choose_database, is_postgres, locate_database, set_served, start_django
from adjudge.table.errors import DataError, InputError, UsageError, param
from adjudge.table.files import sync_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from adjudge.server.panels import Panel
    from adjudge.server.preparation import NewLink
    from adjudge.table.judgments import Judgments
    from adjudge.table.record import LooksRecord

MOST_WORKERS = 64
LINKS_HEADER = "role\tname\tlink\n"
EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104 - to recognise, not to bind


@dataclass(frozen=True)
class Address:
    """Where the server listens, and the address that people use, where a proxy stands between."""

    host: str
    port: int
    url: str | None = None

    @property
    def base(self) -> str:
        """What links begin with."""
        host = socket.gethostname() if self.host in EVERYWHERE else self.host
        return self.url or f"http://{f'[{host}]' if ':' in host else host}:{self.port}"


def serve(
    campaign_file: Path,
    *,
    address: Address,
    tasks_file: Path | None,
    database: str | None,
    workers: int | None,
    new_links: bool,
    panels: Sequence[Panel],
    ready: Callable[[TaskSet, list[NewLink]], None],
    links_file: Path | None = None,
) -> None:
    """Serve a campaign until stopped.

    Args:
        campaign_file: the campaign; its database and its tasks lie beside it.
        address: where to listen.
        tasks_file: the tasks; `tasks.json` beside the campaign where left out, designed if it does not exist.
        database: a PostgreSQL URL; default: SQLite.
        workers: processes; default: one on SQLite, which has one writer, two on PostgreSQL.
        new_links: whether all annotators get new links, the former ones being revoked.
        panels: statistics for the organisers' page.
        ready: called with the links that were made, once the server listens.
        links_file: where new links are written, before they hold.
    """
    given, database = database, choose_database(campaign_file, database)
    processes = workers if workers is not None else 2 if is_postgres(database) else 1
    if not 1 <= processes <= MOST_WORKERS:
        raise UsageError(
            f"{param('workers')} {workers} is not between 1 and {MOST_WORKERS}; choose a number of processes"
        )
    if processes > 1 and not is_postgres(database):
        raise UsageError(
            f"{param('workers')} {workers} needs PostgreSQL; give {param('database')} postgres://..., or leave it out"
        )
    _check_free(address)
    write_down = None if links_file is None else LinkFile(links_file, address.base).add
    file = tasks_file or campaign_file.with_name("tasks.json")
    tasks, links = open_campaign(
        campaign_file,
        file,
        address=address,
        database=database,
        new_links=new_links,
        panels=panels,
        write_down=write_down,
    )
    if choose_database(campaign_file, given) != database:
        raise DataError(f"{campaign_file}: was moved to another database just now; start the server again")
    from adjudge.server.web_server import run_server

    run_server(host=address.host, port=address.port, workers=processes, ready=lambda: ready(tasks, links))


def open_campaign(
    campaign_file: Path,
    tasks_file: Path,
    *,
    address: Address,
    database: str | None,
    new_links: bool,
    panels: Sequence[Panel],
    write_down: Callable[[list[NewLink]], None] | None = None,
) -> tuple[TaskSet, list[NewLink]]:
    """Make everything ready in this process: Django, the database, the tasks and the links."""
    campaign = load_campaign(campaign_file)
    start_django(
        campaign_file,
        database=database,
        session_hours=campaign.links.session_hours,
        host=address.host,
        url=address.url,
    )
    from django.db import connections

    from adjudge.server.processes import begin_serving

    begin_serving(address.base)
    from adjudge.server.preparation import campaign_id, find_ineffective_keys, load_stored_tasks, prepare_database
    from adjudge.server.served_campaign import ServedCampaign

    tasks = _load_tasks(tasks_file, campaign, load_stored_tasks())
    check_same_campaign(tasks, campaign, tasks_file)
    links = prepare_database(campaign, tasks, new_links=new_links, write_down=write_down)
    if keys := find_ineffective_keys(campaign):
        # On the terminal and in the log, so that it is clear why a change has no effect.
        stderr.write(f"adjudge: changed, but without effect until the tasks are made anew: {', '.join(keys)}\n")
    set_served(ServedCampaign(campaign, tasks, tuple(panels), id=campaign_id(), fingerprint=tasks.fingerprint))
    connections.close_all()
    return tasks, links


@contextmanager
def open_served(campaign_file: Path, database: str | None) -> Iterator[None]:
    """Make the database of a campaign ready that was served, or is being served, for reading in this process."""
    campaign = load_campaign(campaign_file)
    unserved = ": there is no database beside it; begin with adjudge serve"
    database, embedded = locate_database(campaign_file, database, unserved)
    with copy_if_read_only(embedded) as copy:
        start_django(campaign_file, database=database, session_hours=campaign.links.session_hours, copy=copy)
        from adjudge.server.preparation import load_stored_tasks
        from adjudge.server.served_campaign import ServedCampaign

        tasks = load_stored_tasks()
        if tasks is None:
            raise InputError(
                "has not been served yet: its database is empty; begin with adjudge serve", file=campaign_file
            )
        check_same_campaign(tasks, campaign, campaign_file)
        set_served(ServedCampaign(campaign, tasks, fingerprint=tasks.fingerprint))
        yield


def export_judgments(
    campaign_file: Path,
    *,
    database: str | None,
    with_excluded: bool = False,
    with_texts: bool = False,
    read_looks: Callable[[], LooksRecord | None] | None = None,
) -> Judgments:
    """Read the judgments of a campaign that was served, or is being served, with the record of the campaign."""
    with open_served(campaign_file, database):
        from adjudge.server.export import read_judgments, with_record

        judgments = with_record(read_judgments(with_excluded=with_excluded, with_texts=with_texts), read_looks)
    if not len(judgments):
        left_out = sum(record.rows for record in judgments.set_aside)
        hint = f"; {left_out} of excluded annotators are left out, --with-excluded keeps them" if left_out else ""
        raise DataError(f"{campaign_file}: nothing has been judged yet{hint}")
    return judgments


@contextmanager
def copy_if_read_only(file: Path | None) -> Iterator[Path | None]:
    """Copy the embedded database if it cannot be written to, as in a backup; yields None otherwise.

    Even reading needs to write: SQLite merges the log of a database in use, and an earlier version is upgraded.
    """
    if file is None or (os.access(file, os.W_OK) and os.access(file.resolve().parent, os.W_OK)):
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="adjudge-") as folder:
        copy = Path(folder) / file.name
        try:
            for part in (file, file.with_name(f"{file.name}-wal")):
                if part == file or part.exists():
                    shutil.copyfile(part, copy.with_name(part.name))
        except OSError as fault:
            raise InputError(f"cannot be read ({fault.strerror}); check its rights", file=file) from fault
        yield copy


def _load_tasks(file: Path, campaign: Campaign, stored: TaskSet | None) -> TaskSet:
    """Load the tasks of the file, or of the database if the file is gone or lacks later additions; else make them."""
    if file.exists():
        tasks = load_tasks(file)
        if stored is None or len(stored.tasks) <= len(tasks.tasks) or stored.tasks[: len(tasks.tasks)] != tasks.tasks:
            return tasks
    if stored is None:
        from adjudge.campaigns.design import design

        stored = design(campaign)
    save_tasks(stored, file)
    return stored


def check_same_campaign(tasks: TaskSet, campaign: Campaign, file: Path) -> None:
    """Refuse tasks of another campaign, protocol or language pair: their judgments cannot be mixed."""
    designed = (tasks.campaign, tasks.protocol, f"{tasks.source_lang}-{tasks.target_lang}")
    now = (campaign.name, campaign.protocol, "-".join(campaign.languages.codes))
    if designed != now:
        raise InputError(
            f"was made for campaign '{designed[0]}' ({designed[1]}, {designed[2]}), "
            f"not for '{now[0]}' ({now[1]}, {now[2]}); put the campaign file back as it was, "
            "or begin a new campaign in a folder of its own, with new tasks and a new database",
            file=file,
        )


def _check_free(address: Address) -> None:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address.host, address.port))
        except OSError as fault:
            reason = fault.strerror or str(fault)
            raise UsageError(
                f"cannot listen on {address.host} port {address.port} ({reason}); choose another "
                f"with {param('port')} or {param('host')}"
            ) from fault


class LinkFile:
    """The file in which new links are handed out: a table (TSV), readable by its owner alone.

    Their secrets are nowhere else, so nothing in it is ever overwritten: new links are added at its end.
    """

    def __init__(self, path: Path, base: str) -> None:
        """Look into the file now, so that no link is made that could not be written down.

        Args:
            path: the file; made where it does not exist.
            base: the address that links begin with.
        """
        self.path, self.base = path, base
        try:
            with self._open() as file:
                first = file.readline()
        except (OSError, UnicodeDecodeError) as fault:
            reason = getattr(fault, "strerror", None) or "it holds something else"
            raise InputError(f"links cannot be written here ({reason}); choose another file", file=path) from fault
        if first not in ("", LINKS_HEADER):
            raise InputError(f"holds something other than links; choose another file for {param('links')}", file=path)
        self._empty = first == ""

    def add(self, links: Sequence[NewLink]) -> None:
        """Write links at the end; they are on the disk when this returns."""
        from adjudge.server.preparation import address

        text = io.StringIO()
        rows = csv.writer(text, delimiter="\t", lineterminator="\n")
        rows.writerows([link.role, link.name, address(link.secret, self.base)] for link in links)
        try:
            with self._open() as file:
                file.write((LINKS_HEADER if self._empty else "") + text.getvalue())
                file.flush()
                os.fsync(file.fileno())
            if self._empty:
                sync_folder(self.path.absolute().parent)
        except OSError as fault:
            raise InputError(f"links cannot be written ({fault.strerror}); no link was made", file=self.path) from fault
        self._empty = False

    def _open(self) -> TextIO:
        """The file for reading from its beginning and writing at its end, readable by its owner alone."""
        if self.path.exists() and not self.path.is_file():
            raise OSError(errno.EINVAL, "it is no plain file")
        handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        os.fchmod(handle, 0o600)
        return os.fdopen(handle, "r+", encoding="utf-8", newline="")
