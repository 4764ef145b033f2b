"""Which database, and how it is written to: every write is one durable transaction, or nothing."""

from __future__ import annotations

import os
import re
import secrets
from contextlib import contextmanager, nullcontext
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from adjudge.server.sites import (
    DEFAULT,
    Site,
    close_connections,
    current_site,
    set_sites,
    use_schema_of_site,
    working_for,
)
from adjudge.table.errors import InputError, UsageError, param
from adjudge.table.files import atomic_path, read_text, sync_folder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from adjudge.server.served_campaign import ServedCampaign


# FULL: the log is on the disk before a save is acknowledged, so that even a power cut loses nothing acknowledged.
_SQLITE_PRAGMAS = "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA fullfsync=ON; PRAGMA cache_size=-{};"
# Kilobytes of a database that each connection keeps in memory: all campaigns of a server share them.
_CACHE_KILOBYTES, _LEAST_CACHE_KILOBYTES = 16_000, 1_000
# Acknowledged only when on the disk; statements are planned once per connection, which halves the server's work.
_POSTGRES_OPTIONS = {"options": "-c synchronous_commit=on", "server_side_binding": True, "prepare_threshold": 3}
# Behind a pool that hands out connections by transaction, nothing may be left on a connection for later.
_POOLED_OPTIONS = {"server_side_binding": True, "prepare_threshold": None}
_POSTGRES_SCHEMES = ("postgres", "postgresql")
_SCHEMA_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")


def is_postgres(url: str | None) -> bool:
    """Whether a database URL names a PostgreSQL server."""
    return url is not None and urlsplit(url).scheme in _POSTGRES_SCHEMES


def database_settings(url: str | None, default_file: Path) -> dict[str, Any]:
    """Django's settings for a database: a SQLite file, or PostgreSQL by URL."""
    if url is None:
        return _sqlite_settings(default_file)
    parts = urlsplit(url)
    if parts.scheme == "sqlite":
        return _sqlite_settings(Path(unquote(parts.path)))
    if parts.scheme in _POSTGRES_SCHEMES:
        return _postgres_settings(url)
    what = f"database '{hide_password(url)}' is of no known kind"
    raise UsageError(f"{what}; give postgres://user@host/name, or leave it out for SQLite")


def sqlite_file(database: str | None, default_file: Path) -> Path | None:
    """The file of an embedded database; None where it is PostgreSQL."""
    if database is None:
        return default_file
    parts = urlsplit(database)
    return Path(unquote(parts.path)) if parts.scheme == "sqlite" else None


def show_database(database: str | None, default_file: Path) -> str:
    """Name a database in a message: its file, or its address without the password."""
    file = sqlite_file(database, default_file)
    return str(file) if file is not None else hide_password(database or "")


def database_note_file(campaign_file: Path) -> Path:
    """The file in which `adjudge move` notes where the database of a campaign is now."""
    return campaign_file.with_suffix(".database")


def write_database_note(campaign_file: Path, database: str | None) -> None:
    """Write down which database a campaign has from now on; None: the embedded one beside it. Holds at once."""
    note = database_note_file(campaign_file)
    if database is None:
        note.unlink(missing_ok=True)
        # Back after a power cut, it would lead to the database that was left.
        sync_folder(note.absolute().parent)
        return
    with atomic_path(note, secret=True) as temporary:
        temporary.write_text(f"{database}\n", encoding="utf-8")


def choose_database(campaign_file: Path, given: str | None) -> str | None:
    """The database of a campaign: as given, or as noted when it was moved; None for the embedded one beside it.

    An address that is given and another one that is noted are refused: work would go on in a database that was left.
    """
    note = database_note_file(campaign_file)
    if not note.is_file():
        return given
    noted = read_text(note).strip()
    file = sqlite_file(noted, campaign_file)
    if file is not None and not file.is_absolute():
        noted = f"sqlite:{quote(str(campaign_file.resolve().parent / file))}"
    if given is None or _identify(given) == _identify(noted):
        return given or noted
    if (schema := read_schema(noted)) and _identify(with_schema(given, schema)) == _identify(noted):
        # The database that several campaigns share: each has its own schema in it.
        return with_schema(given, schema)
    raise UsageError(
        f"{param('database')} is {hide_password(given)}, but the campaign was moved "
        f"to {hide_password(noted)}; leave the "
        f"option out (and ADJUDGE_DATABASE unset), or delete {note} to return to the former database"
    )


def locate_database(campaign_file: Path, given: str | None, missing: str) -> tuple[str | None, Path | None]:
    """The database of a campaign, and its file where it is embedded; `missing` says what to do where there is none."""
    chosen = choose_database(campaign_file, given)
    embedded = sqlite_file(chosen, database_file(campaign_file))
    if embedded is not None and not embedded.is_file():
        raise InputError(f"has not been served yet{missing}", file=campaign_file)
    return chosen, embedded


def is_same_database(first: str | None, second: str | None, default_file: Path) -> bool:
    """Whether two addresses lead to the same database; None is the embedded one."""
    embedded = f"sqlite:{quote(str(default_file.absolute()))}"
    return _identify(first or embedded) == _identify(second or embedded)


def _identify(database: str) -> tuple[str, ...]:
    """Identify what an address leads to, however it is written."""
    parts = urlsplit(database)
    if parts.scheme in _POSTGRES_SCHEMES:
        schema = read_schema(database) or ""
        return ("postgres", parts.hostname or "", _read_port(database) or "5432", unquote(parts.path), schema)
    return (parts.scheme, str(Path(unquote(parts.path)).resolve()))


def read_schema(database: str | None) -> str | None:
    """The schema that an address of PostgreSQL names, `postgres://host/name?schema=x`; None where it names none."""
    return dict(parse_qsl(urlsplit(database).query)).get("schema") if database and is_postgres(database) else None


def with_schema(database: str, schema: str) -> str:
    """The address of a schema in a PostgreSQL database; an address that names one already stays as it is."""
    if not is_postgres(database) or read_schema(database) is not None:
        return database
    parts = urlsplit(database)
    return parts._replace(query="&".join(filter(None, (parts.query, urlencode({"schema": schema}))))).geturl()


def _sqlite_settings(file: Path) -> dict[str, Any]:
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": str(file),
        "CONN_MAX_AGE": None,
        "OPTIONS": {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": _SQLITE_PRAGMAS.format(_CACHE_KILOBYTES),
        },
    }


def _postgres_settings(url: str) -> dict[str, Any]:
    import psycopg  # noqa: F401  # Django would hide that it is missing

    parts = urlsplit(url)
    name = unquote(parts.path.lstrip("/"))
    if not name:
        raise UsageError(f"database '{hide_password(url)}' names no database; write postgres://user@host/name")
    given = dict(parse_qsl(parts.query))
    pooling = given.pop("pooling", "session")
    if pooling not in ("session", "transaction"):
        raise UsageError(
            f"pooling={pooling} in {param('database')} is not known; write pooling=transaction, or leave it out"
        )
    pooled = pooling == "transaction"
    schema = given.pop("schema", None)
    if schema is not None and not _SCHEMA_NAME.fullmatch(schema):
        raise UsageError(f"schema={schema} in {param('database')} is no plain name; write small letters, digits and _")
    if schema is not None and pooled:
        raise UsageError(
            f"{param('database')} has a schema and pooling=transaction; give the campaign its own database"
        )
    options = dict(_POOLED_OPTIONS if pooled else _POSTGRES_OPTIONS)
    if schema is not None:
        options["options"] = f"{options['options']} -c search_path={schema}"
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": name,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": unquote(parts.hostname or ""),
        "PORT": _read_port(url),
        "CONN_MAX_AGE": None,
        "DISABLE_SERVER_SIDE_CURSORS": pooled,
        "OPTIONS": {**given, **options},
    }


def _read_port(url: str) -> str:
    try:
        return str(urlsplit(url).port or "")
    except ValueError:
        raise UsageError(
            f"database '{hide_password(url)}' has a port that is no number; write postgres://user@host:5432/name"
        ) from None


def hide_password(url: str) -> str:
    """Make a database address that may be shown and logged, from the parts that hold no secret.

    What cannot be parsed is not shown at all: it may be an address with a password in an unknown form.
    """
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "an address that cannot be read"
    if not parts.scheme or not parts.scheme.isalnum():
        return url if url.isalnum() else "an address that cannot be read"
    # A password with an unquoted @, / or # in it ends up in the parts behind it.
    unclear = "@" in parts.path + parts.query + parts.fragment or "@" in (parts.hostname or "")
    if unclear or (parts.netloc.count("@") > 1):
        return f"{parts.scheme}://…"
    hidden = "" if parts.password is None else ":***"
    user = f"{parts.username}{hidden}@" if parts.username else ""
    schema = read_schema(url)
    return f"{parts.scheme}://{user}{parts.hostname or ''}{port}{parts.path}{f'?schema={schema}' if schema else ''}"


@contextmanager
def decision_lock() -> Iterator[None]:
    """One decision at a time about who gets what. Enter it before `write_transaction`.

    PostgreSQL needs no more than the lock on the campaign, which holds up no saves. SQLite has one writer: there a
    decision is made under this lock, and only its outcome is written while saves wait.
    """
    from django.db import connection

    with current_site().deciding if connection.vendor == "sqlite" else nullcontext():
        yield


@contextmanager
def write_transaction() -> Iterator[None]:
    """One transaction: what is written inside is on the disk when the block has ended, or not at all."""
    from django.db import connection, transaction

    with current_site().writing if connection.vendor == "sqlite" else nullcontext(), transaction.atomic():
        if connection.settings_dict.get("DISABLE_SERVER_SIDE_CURSORS"):
            connection.cursor().execute("SET LOCAL synchronous_commit = on")
        yield


# Django's settings, made from a campaign. Called once per process, before anything else of the app is imported.

LOOPBACK = ("127.0.0.1", "localhost", "::1")
SESSION_COOKIE = "adjudge_session"
_HERE = Path(__file__).resolve().parent
_PATH = re.compile(r"(/[A-Za-z0-9._~-]+)*/?")


def database_file(campaign_file: Path) -> Path:
    """Where the embedded database of a campaign lies: beside its file."""
    return campaign_file.with_suffix(".sqlite3")


def start_django(
    campaign_file: Path,
    *,
    database: str | None,
    session_hours: int,
    host: str = "127.0.0.1",
    url: str | None = None,
    copy: Path | None = None,
) -> None:
    """Configure Django for one campaign in this process, and bring its database up to date.

    `copy` is a copy of the embedded database to work on, where the campaign's own cannot be written to.
    """
    site = make_site(campaign_file, database=database, session_hours=session_hours, copy=copy)
    configure_django([site], host=host, url=url)
    migrate(site)
    close_connections()


def make_site(
    campaign_file: Path, *, database: str | None, session_hours: int, path: str = "", copy: Path | None = None
) -> Site:
    """A campaign as a process serves it, with its database and the key that signs its cookies."""
    key = secrets.token_urlsafe(48) if copy is not None else _secret_key(campaign_file)
    if copy is not None:
        database = None
    file = sqlite_file(database, copy or database_file(campaign_file))
    if file is not None:
        _restrict_to_owner(file)
    return Site(
        key=key,
        session_seconds=session_hours * 3600,
        database=database_settings(database, file or campaign_file),
        shown_database=show_database(database, database_file(campaign_file)),
        path=path,
        schema=read_schema(database),
    )


def configure_django(sites: Sequence[Site], *, host: str = "127.0.0.1", url: str | None = None) -> None:
    """Configure Django for this process, once, with the databases of its campaigns."""
    import django
    from django.conf import settings
    from django.db.backends.signals import connection_created

    databases = {DEFAULT: sites[0].database} if len(sites) == 1 else {DEFAULT: {}, **_name_databases(sites)}
    settings.configure(
        DATABASES=databases,
        # Signs nothing: every campaign signs its sessions with its own key.
        SECRET_KEY=secrets.token_urlsafe(48),
        **_app_settings(),
        **_address_settings(host, url),
    )
    set_sites(sites, url)
    connection_created.connect(use_schema_of_site, dispatch_uid="schema of site")
    django.setup()


def _name_databases(sites: Sequence[Site]) -> dict[str, dict[str, Any]]:
    """The databases of several campaigns, each under an alias; schemas of one database share their connections.

    PostgreSQL has few connections to give: one for each thread and campaign would be too many.
    """
    cache = max(_LEAST_CACHE_KILOBYTES, _CACHE_KILOBYTES // len(sites))
    shared: dict[tuple[str, ...], str] = {}
    named: dict[str, dict[str, Any]] = {}
    for number, site in enumerate(sites):
        settings = {**site.database, "OPTIONS": dict(site.database["OPTIONS"])}
        site.alias = f"campaign-{number}"
        if "init_command" in settings["OPTIONS"]:
            settings["OPTIONS"]["init_command"] = _SQLITE_PRAGMAS.format(cache)
        if site.schema is not None:
            settings["OPTIONS"]["options"] = _POSTGRES_OPTIONS["options"]
            place = tuple(str(settings[key]) for key in ("HOST", "PORT", "NAME", "USER"))
            site.alias = shared.setdefault(place, site.alias)
        named.setdefault(site.alias, settings)
    return named


def set_up_models() -> None:
    """Make the tables known to this process without choosing a database, for copies from one to another."""
    import django
    from django.apps import apps
    from django.conf import settings

    if not settings.configured:
        settings.configure(**_app_settings())
        # In a notebook there is an event loop, beside which Django refuses to wait for a database, as users mean it.
        os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
    if not apps.ready:
        django.setup()


def _restrict_to_owner(file: Path) -> None:
    """Make the embedded database readable by its owner alone: it holds everything that people said."""
    try:
        if not file.exists():
            os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        for part in (file, file.with_name(file.name + "-wal"), file.with_name(file.name + "-shm")):
            if part.exists() and part.stat().st_mode & 0o077:
                part.chmod(0o600)
    except FileExistsError:
        return
    except OSError as fault:
        raise InputError(f"the database cannot be used ({fault.strerror}); check its folder", file=file) from fault


def migrate(site: Site) -> None:
    """Make or change the tables as this version needs them; mostly they are so already, which one query tells."""
    from django.core.management import call_command
    from django.db import connection
    from django.db.migrations.recorder import MigrationRecorder
    from django.db.utils import DatabaseError

    known = {("collect", name) for _, name, _ in iter_modules([str(_HERE / "migrations")])}
    shown = site.shown_database
    with working_for(site):
        try:
            if site.schema is not None:
                make_schema(connection, site.schema)
            applied = set(MigrationRecorder(connection).applied_migrations())
            later = sorted(applied - known)
            if applied < known:
                call_command("migrate", verbosity=0, interactive=False)
        except DatabaseError as fault:
            reason = str(fault).strip().replace("\n", " ")
            what = f"the database cannot be used ({reason}); check its address and rights"
            raise InputError(what, file=shown) from fault
    if later:
        names = ", ".join(name for _, name in later)
        raise InputError(f"the database was made by a newer adjudge (it has {names}); upgrade adjudge", file=shown)


def make_schema(connection: Any, schema: str) -> None:
    """Make a schema, unless there is one; the right to make it is needed only then."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", [schema])
        if cursor.fetchone() is None:
            cursor.execute(f"CREATE SCHEMA {schema}")


def set_served(campaign: ServedCampaign) -> None:
    """Tell the app what it serves."""
    current_site().served = campaign


def _app_settings() -> dict[str, Any]:
    return {
        "INSTALLED_APPS": ["adjudge.server"],
        "MIDDLEWARE": [
            "adjudge.server.sites.route",
            "adjudge.server.sessions.security_headers",
            "django.middleware.security.SecurityMiddleware",
            # Refuses foreign host names on every request, and says how long answers are.
            "django.middleware.common.CommonMiddleware",
            "adjudge.server.sessions.compress",
            "adjudge.server.sessions.only_json",
            "django.middleware.clickjacking.XFrameOptionsMiddleware",
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.middleware.csrf.CsrfViewMiddleware",
        ],
        "APPEND_SLASH": False,
        "ROOT_URLCONF": "adjudge.server.endpoints",
        "TEMPLATES": [
            {
                "BACKEND": "django.template.backends.django.DjangoTemplates",
                "DIRS": [_HERE / "templates"],
                "OPTIONS": {"context_processors": ["django.template.context_processors.csrf"]},
            }
        ],
        "USE_TZ": True,
        "TIME_ZONE": "UTC",
        "USE_I18N": False,
        "DEFAULT_AUTO_FIELD": "django.db.models.BigAutoField",
        "LOGGING": {
            "version": 1,
            "disable_existing_loggers": False,
            "filters": {"kinds": {"()": "adjudge.server.fault_log.OncePerKind"}},
            "handlers": {"errors": {"class": "logging.StreamHandler", "level": "ERROR", "filters": ["kinds"]}},
            "loggers": {
                name: {"handlers": ["errors"], "level": "ERROR", "propagate": False} for name in ("django", "waitress")
            },
        },
        # A session is a signed cookie that names a link; whether the link still holds is asked on every request.
        "SESSION_ENGINE": "adjudge.server.sessions",
        # `server.sites` adds to the names of all cookies which campaign they belong to.
        "SESSION_COOKIE_NAME": SESSION_COOKIE,
        "CSRF_COOKIE_NAME": "adjudge_csrf",
        "SESSION_COOKIE_HTTPONLY": True,
        "SESSION_COOKIE_SAMESITE": "Lax",
        "CSRF_COOKIE_HTTPONLY": True,
        "CSRF_COOKIE_SAMESITE": "Lax",
        "SECURE_REFERRER_POLICY": "same-origin",
        "SECURE_CONTENT_TYPE_NOSNIFF": True,
        "SECURE_CROSS_ORIGIN_OPENER_POLICY": "same-origin",
        "X_FRAME_OPTIONS": "DENY",
        "DATA_UPLOAD_MAX_MEMORY_SIZE": 1_000_000,
    }


def _address_settings(host: str, url: str | None) -> dict[str, Any]:
    """Which names the server answers to; behind a proxy with TLS, cookies travel over TLS only."""
    if url is None:
        # Only its own names on loopback, so that no foreign page can reach it by a name of its own.
        return {"ALLOWED_HOSTS": ["127.0.0.1", "localhost", "[::1]"] if host in LOOPBACK else ["*"]}
    parts = urlsplit(url)
    try:
        known = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        known = False
    if not known:
        raise UsageError(f"{param('url')} '{url}' is not an address; write it as https://judge.example.org")
    if parts.query or parts.fragment or not _PATH.fullmatch(parts.path):
        raise UsageError(f"{param('url')} '{url}' has more than a host and a path; write https://host/path")
    secure = parts.scheme == "https"
    return {
        "ALLOWED_HOSTS": [parts.hostname, "127.0.0.1", "localhost", "[::1]"],
        "CSRF_TRUSTED_ORIGINS": [f"{parts.scheme}://{parts.netloc}"],
        "SESSION_COOKIE_SECURE": secure,
        "CSRF_COOKIE_SECURE": secure,
        "SECURE_HSTS_SECONDS": 31_536_000 if secure else 0,
        "SECURE_PROXY_SSL_HEADER": ("HTTP_X_FORWARDED_PROTO", "https") if secure else None,
    }


def _secret_key(campaign_file: Path) -> str:
    """The key that signs cookies, made once and kept in a file that only its owner reads."""
    file = campaign_file.with_suffix(".secret")
    try:
        if not file.exists():
            with atomic_path(file, secret=True) as temporary:
                temporary.write_text(secrets.token_urlsafe(48))
        elif file.stat().st_mode & 0o077:
            file.chmod(0o600)
        key = file.read_text().strip()
    except OSError as fault:
        raise InputError(f"cannot be written or read ({fault.strerror}); check its folder", file=file) from fault
    if len(key) < 32:
        raise InputError("is too short to sign with; delete it, and people log in again with their links", file=file)
    return key
