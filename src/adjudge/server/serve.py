"""From a campaign file to a running server: tasks, database, links, then serving until stopped."""

from __future__ import annotations

import csv
import errno
import io
import os
import re
import shutil
import socket
import tempfile
import tomllib
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from sys import stderr
from typing import TYPE_CHECKING, TextIO

from adjudge.campaigns.campaign_file import Campaign, load_campaign
from adjudge.campaigns.tasks import TaskSet, load_tasks, save_tasks
from adjudge.server.database import (
    choose_database,
    configure_django,
    is_postgres,
    locate_database,
    make_site,
    migrate,
    read_schema,
    set_served,
    start_django,
    with_schema,
    write_database_note,
)
from adjudge.server.sites import OWN_PAGES, close_connections, current_site, working_for
from adjudge.table.errors import AdjudgeError, DataError, InputError, UsageError, param
from adjudge.table.files import read_text, sync_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from adjudge.server.panels import Statistics
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


@dataclass(frozen=True)
class Place:
    """A campaign to be served: its file, and the path of its pages, which is empty where it is alone."""

    file: Path
    path: str = ""


@dataclass(frozen=True)
class Opened:
    """A campaign that is ready: its tasks, the links that were made, and the address that they begin with."""

    tasks: TaskSet
    links: list[NewLink]
    base: str


def find_campaigns(given: Sequence[Path]) -> list[Place]:
    """The campaigns to serve: one file, several, or those in a folder, each at the path of its own folder."""
    for file in given:
        if not file.exists():
            raise InputError("no such campaign file or folder; check the path", file=file)
    if len(given) == 1 and given[0].is_file():
        return [Place(given[0])]
    places: list[Place] = []
    for path in given:
        if path.is_file():
            places.append(Place(path, _path_of(path.resolve().parent.name)))
            continue
        found = _campaigns_below(path)
        if not found:
            raise InputError("holds no campaign; begin one with adjudge init", file=path)
        places += [Place(file, _path_of(_name_below(file, path))) for file in found]
    for i, place in enumerate(places):
        first = place.path.lstrip("/").partition("/")[0]
        if first in OWN_PAGES:
            raise InputError(
                f"lies in a folder called '{first}', the name of a page; rename the folder", file=place.file
            )
        same = next((other.file for other in places[:i] if other.path == place.path), None)
        if same is not None:
            raise InputError(
                f"would have the same address as {same}; give each campaign its own folder", file=place.file
            )
    return places


def _campaigns_below(folder: Path) -> list[Path]:
    """The campaign files in a folder and at most three folders below it; hidden folders are left out."""
    patterns = ("*.toml", "*/*.toml", "*/*/*.toml", "*/*/*/*.toml")
    files = [file for pattern in patterns for file in folder.glob(pattern)]
    hidden = [file for file in files if any(part.startswith(".") for part in file.relative_to(folder).parts)]
    return sorted(file for file in files if file not in hidden and _is_campaign(file))


def _is_campaign(file: Path) -> bool:
    """Whether a TOML file is meant as a campaign file; one that cannot be read is reported when it is opened."""
    try:
        keys = tomllib.loads(read_text(file))
    except tomllib.TOMLDecodeError:
        return True
    return {"protocol", "files"} <= keys.keys()


def _name_below(file: Path, folder: Path) -> str:
    below = file.parent.relative_to(folder)
    return below.as_posix() if below.parts else folder.resolve().name


def _path_of(name: str) -> str:
    """A folder's name as a path of an address."""
    parts = [re.sub(r"[^A-Za-z0-9._~-]+", "-", part).strip("-") or "campaign" for part in name.split("/")]
    return "/" + "/".join(parts)


def serve(
    places: Sequence[Place],
    *,
    address: Address,
    tasks_file: Path | None,
    database: str | None,
    workers: int | None,
    new_links: bool,
    statistics_of: Callable[[Path, str | None], Statistics | None],
    ready: Callable[[list[Opened]], None],
    links_file: Path | None = None,
) -> None:
    """Serve campaigns until stopped.

    Args:
        places: the campaigns; the database and the tasks of each lie beside its file.
        address: where to listen.
        tasks_file: the tasks; `tasks.json` beside the campaign where left out, designed if it does not exist.
        database: a PostgreSQL URL; default: SQLite. Several campaigns each get a schema of it.
        workers: processes; default: one on SQLite, which has one writer, two on PostgreSQL.
        new_links: whether all annotators get new links, the former ones being revoked.
        statistics_of: makes the statistics for the organisers' page of a campaign in a database.
        ready: called with the links that were made, once the server listens.
        links_file: where new links are written, before they hold.
    """
    if len(places) > 1 and tasks_file is not None:
        raise UsageError(f"{param('tasks')} is for one campaign; leave it out, or serve the campaign alone")
    wanted = [_wanted_database(place, database) for place in places]
    databases = [choose_database(place.file, url) for place, url in zip(places, wanted, strict=True)]
    all_postgres = all(map(is_postgres, databases))
    processes = workers if workers is not None else 2 if all_postgres else 1
    if not 1 <= processes <= MOST_WORKERS:
        raise UsageError(
            f"{param('workers')} {workers} is not between 1 and {MOST_WORKERS}; choose a number of processes"
        )
    if processes > 1 and not all_postgres:
        raise UsageError(
            f"{param('workers')} {workers} needs PostgreSQL; give {param('database')} postgres://..., or leave it out"
        )
    _check_free(address)
    opened: list[Opened] = []
    try:
        open_campaigns(
            places,
            opened,
            address=address,
            tasks_file=tasks_file,
            databases=databases,
            new_links=new_links,
            statistics_of=statistics_of,
            links_file=links_file,
        )
    except AdjudgeError:
        if opened and links_file is None:
            # The links of these were made, and are shown only once.
            ready(opened)
        raise
    for place, url, chosen in zip(places, wanted, databases, strict=True):
        if choose_database(place.file, url) != chosen:
            raise DataError(f"{place.file}: was moved to another database just now; start the server again")
        if chosen is not None and read_schema(chosen) and place.path:
            # So that other commands find the campaign in a database that several share.
            write_database_note(place.file, chosen)
    from adjudge.server.web_server import run_server

    run_server(host=address.host, port=address.port, workers=processes, ready=lambda: ready(opened))


def _wanted_database(place: Place, database: str | None) -> str | None:
    """The database for a campaign: of one that several share, a schema named like the path."""
    if database is None or not place.path:
        return database
    name = re.sub(r"[^a-z0-9]+", "_", place.path.lower()).strip("_")
    return with_schema(database, f"adjudge_{name}"[:50])


def open_campaigns(
    places: Sequence[Place],
    opened: list[Opened],
    *,
    address: Address,
    tasks_file: Path | None,
    databases: Sequence[str | None],
    new_links: bool,
    statistics_of: Callable[[Path, str | None], Statistics | None],
    links_file: Path | None = None,
) -> None:
    """Make everything ready in this process: Django, the databases, tasks and links; adds to `opened` one by one."""
    campaigns = [load_campaign(place.file) for place in places]
    sites = [
        make_site(place.file, database=database, session_hours=campaign.links.session_hours, path=place.path)
        for place, campaign, database in zip(places, campaigns, databases, strict=True)
    ]
    configure_django(sites, host=address.host, url=address.url)
    from adjudge.server.preparation import new_shared_link

    # One link for the organisers of all campaigns: each holds the same secret.
    shared = new_shared_link() if places[0].path else None
    if shared is not None and links_file is not None:
        LinkFile(links_file, address.base).add([shared])
    ids: set[str] = set()
    for place, campaign, site, database in zip(places, campaigns, sites, databases, strict=True):
        migrate(site)
        base = f"{address.base.rstrip('/')}{place.path}"
        write_down = None if links_file is None else LinkFile(links_file, base).add
        with working_for(site):
            tasks, links = _open_one(
                campaign,
                tasks_file or place.file.with_name("tasks.json"),
                place=(place.file, database),
                base=base,
                new_links=new_links,
                shared=shared,
                write_down=write_down,
                statistics=statistics_of(place.file, database),
                ids=ids,
            )
        opened.append(Opened(tasks, links, base))
    close_connections()


def _open_one(
    campaign: Campaign,
    tasks_file: Path,
    *,
    place: tuple[Path, str | None],
    base: str,
    new_links: bool,
    shared: NewLink | None,
    write_down: Callable[[list[NewLink]], None] | None,
    statistics: Statistics | None,
    ids: set[str],
) -> tuple[TaskSet, list[NewLink]]:
    """Make a campaign ready; `ids` are the names under which browsers know the others.

    `place` are the campaign file and its database, for commands that organisers start on their page.
    """
    from adjudge.server.preparation import campaign_id, find_ineffective_keys, load_stored_tasks, prepare_database
    from adjudge.server.processes import begin_serving
    from adjudge.server.served_campaign import ServedCampaign

    begin_serving(base)
    tasks = _load_tasks(tasks_file, campaign, load_stored_tasks())
    check_same_campaign(tasks, campaign, tasks_file)
    links = prepare_database(campaign, tasks, new_links=new_links, shared=shared, write_down=write_down)
    if keys := find_ineffective_keys(campaign):
        # On the terminal and in the log, so that it is clear why a change has no effect.
        stderr.write(f"adjudge: changed, but without effect until the tasks are made anew: {', '.join(keys)}\n")
    # Two campaigns with the same tasks must not find each other's unsent answers in a browser.
    name = campaign_id()
    name = f"{name}-{current_site().suffix}" if name in ids else name
    ids.add(name)
    set_served(ServedCampaign(campaign, tasks, statistics, id=name, fingerprint=tasks.fingerprint, place=place))
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
    numbers: bool = False,
    read_looks: Callable[[], LooksRecord | None] | None = None,
) -> Judgments:
    """Read the judgments of a campaign that was served, or is being served, with the record of the campaign.

    With `numbers`, these stand for the people.
    """
    with open_served(campaign_file, database):
        from adjudge.server.export import read_judgments, with_record
        from adjudge.server.verify import explain_damage

        with explain_damage(campaign_file):
            judgments = with_record(read_judgments(with_excluded=with_excluded, with_texts=with_texts), read_looks)
        if numbers:
            from adjudge.server.static_archive import with_numbers

            judgments = with_numbers(judgments)
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
