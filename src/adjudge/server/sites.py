"""The campaigns of one server: where each is, its database and key, and for which of them a thread works just now.

Each campaign keeps a database of its own, and links, cookies and caches of its own. A request belongs to the campaign
in whose path it lies; `working_for` makes Django's default connection lead to that campaign's database in this thread,
so that all other code knows of one campaign only. Commands that open a single campaign need not say so.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from urllib.parse import urlsplit

from adjudge.table.judgments import fingerprint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from django.db.backends.base.base import BaseDatabaseWrapper
    from django.http import HttpRequest, HttpResponse

    from adjudge.server.served_campaign import ServedCampaign

Kept = TypeVar("Kept")
DEFAULT = "default"
# Connections to a database that wait for the next request.
MOST_IDLE = 16


@dataclass(eq=False)
class Site:
    """A campaign on this server.

    `key` signs its sessions, `path` is where its pages lie (empty where it is alone), `database` are Django's settings
    for its database, reached as `alias`. Several campaigns may share one PostgreSQL database, each in a `schema`.
    """

    key: str
    session_seconds: int
    database: dict[str, Any]
    shown_database: str
    path: str = ""
    alias: str = DEFAULT
    schema: str | None = None
    served: ServedCampaign | None = None
    # SQLite has one writer at a time. Threads that queue here wait their turn; SQLite itself would let them poll.
    deciding: threading.Lock = field(default_factory=threading.Lock)
    writing: threading.Lock = field(default_factory=threading.Lock)
    keeping: threading.RLock = field(default_factory=threading.RLock)
    kept: dict[Any, Any] = field(default_factory=dict)

    @cached_property
    def suffix(self) -> str:
        """What the names of its cookies end in: browsers do not tell the ports of a host apart."""
        return fingerprint(self.key, digits=8)


@dataclass
class _Server:
    sites: tuple[Site, ...] = ()
    deepest_first: tuple[Site, ...] = ()
    prefix: str = ""
    """The path of the public address, which a proxy may leave in requests or take away."""


_server = _Server()
_current: ContextVar[Site] = ContextVar("site")
# Threads share them: one for each thread and campaign would take memory, and be opened again and again.
_idle: defaultdict[str, list[BaseDatabaseWrapper]] = defaultdict(list)


def set_sites(sites: Sequence[Site], url: str | None = None) -> None:
    """Say which campaigns this process serves, and at which public address, if a proxy stands before it."""
    _server.sites = tuple(sites)
    # A campaign may lie below another one.
    _server.deepest_first = tuple(sorted(sites, key=lambda site: -len(site.path)))
    _server.prefix = "" if url is None else urlsplit(url).path.rstrip("/")


def all_sites() -> tuple[Site, ...]:
    """The campaigns that this process serves."""
    return _server.sites


def find_current_site() -> Site | None:
    """The campaign that this thread works for, if any: the only one where there is one."""
    only = _server.sites[0] if len(_server.sites) == 1 else None
    return _current.get(only)


def current_site() -> Site:
    """The campaign that this thread works for."""
    site = find_current_site()
    if site is None:
        raise LookupError(f"this thread works for none of the {len(_server.sites)} campaigns")
    return site


def public_path(site: Site | None = None) -> str:
    """What the addresses of a campaign's pages begin with, or those of the server itself."""
    return _server.prefix + ("" if site is None else site.path)


@contextmanager
def working_for(site: Site) -> Iterator[None]:
    """Work for a campaign in this thread."""
    token = _current.set(site)
    try:
        with _connected(site):
            yield
    finally:
        _current.reset(token)


@contextmanager
def _connected(site: Site) -> Iterator[None]:
    """Let Django's connections of this thread lead to the database of a campaign: the default one, and by its name."""
    from django.db import connections

    idle, former = _idle[site.alias], {name: connections[name] for name in (DEFAULT, site.alias)}
    try:
        connection = idle.pop()
    except IndexError:
        connection = connections.create_connection(site.alias)
        connection.inc_thread_sharing()
    for name in former:
        connections[name] = connection
    try:
        if site.schema is not None and connection.connection is not None:
            _use_schema(connection, site.schema)
        yield
    finally:
        for name, other in former.items():
            connections[name] = other
        # After a fault it may be of no use any more.
        connection.close_if_unusable_or_obsolete()
        if len(idle) < MOST_IDLE:
            idle.append(connection)
        else:
            connection.close()


def close_connections() -> None:
    """Close those that wait and those of this thread: they must not be shared with another process."""
    from django.db import connections

    for idle in _idle.values():
        while idle:
            idle.pop().close()
    connections.close_all()


class OfSite(Generic[Kept]):
    """Something that this process keeps for each campaign by itself, made when it is first asked for."""

    def __init__(self, make: Callable[[], Kept]) -> None:
        self._make = make

    def __call__(self) -> Kept:
        """What is kept for the campaign that this thread works for."""
        site = current_site()
        with site.keeping:
            if self not in site.kept:
                site.kept[self] = self._make()
            kept: Kept = site.kept[self]
            return kept

    def forget(self) -> None:
        """Let it be made anew."""
        current_site().kept.pop(self, None)


def use_schema_of_site(connection: BaseDatabaseWrapper, **_: Any) -> None:
    """Let a new connection lead to the tables of the campaign for which it was opened."""
    site = _current.get(None)
    if site is not None and site.schema is not None and connection.alias == site.alias:
        vars(connection).pop("schema_used", None)
        _use_schema(connection, site.schema)


def _use_schema(connection: BaseDatabaseWrapper, schema: str) -> None:
    if vars(connection).get("schema_used") != schema:
        with connection.cursor() as cursor:
            cursor.execute(f"SET search_path TO {schema}")
        vars(connection)["schema_used"] = schema


# Requests: to which campaign each belongs, with the cookies of that campaign only.


def route(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware: find the campaign in whose path a request lies; what lies in none is for the server's own pages."""

    def middleware(request: HttpRequest) -> HttpResponse:
        from django.urls import set_script_prefix

        site, path = find_site(request.path_info)
        request.path_info = path
        set_script_prefix(f"{public_path(site)}/")
        if site is None:
            request.urlconf = "adjudge.server.overview"  # type: ignore[attr-defined]
            request.COOKIES = {}
            return get_response(request)
        ending = f"_{site.suffix}"
        request.COOKIES = {
            name.removesuffix(ending): value for name, value in request.COOKIES.items() if name.endswith(ending)
        }
        with working_for(site):
            response = get_response(request)
        for name in list(response.cookies):
            morsel = response.cookies.pop(name)
            morsel.set(name + ending, morsel.value, morsel.coded_value)
            morsel["path"] = public_path(site) or "/"
            response.cookies[morsel.key] = morsel
        return response

    return middleware


def find_site(path: str) -> tuple[Site | None, str]:
    """The campaign in whose path an address lies, if any, and the rest of the address.

    Some proxies take the path of the public address away and some leave it. Where both readings are possible, the path
    of the public address is taken to be there.
    """
    inside = path.removeprefix(_server.prefix)
    shortened = inside if inside != path and inside[:1] in ("", "/") else path
    found = _find_below(shortened)
    return found if found[0] is not None or shortened == path or _is_own_page(shortened) else _find_below(path)


def _find_below(path: str) -> tuple[Site | None, str]:
    for site in _server.deepest_first:
        if path == site.path or path.startswith(f"{site.path}/"):
            return site, path[len(site.path) :] or "/"
    return None, path or "/"


OWN_PAGES = ("", "enter", "organise", "work", "health", "logo", "static", "api")
"""The first parts of paths that are pages of the server itself, and cannot be campaigns."""


def _is_own_page(path: str) -> bool:
    return path.lstrip("/").partition("/")[0] in OWN_PAGES
