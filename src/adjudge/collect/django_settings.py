"""Django's settings, made from a campaign. Called once per process, before anything else of the app is imported."""

from __future__ import annotations

import os
import secrets
import tempfile
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, urlsplit

from adjudge.collect.database import database_settings, show_database, sqlite_file
from adjudge.core.errors import InputError, UsageError
from adjudge.core.fingerprint import fingerprint

if TYPE_CHECKING:
    from adjudge.collect.served_campaign import ServedCampaign

LOOPBACK = ("127.0.0.1", "localhost", "::1")
_HERE = Path(__file__).resolve().parent


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
    """Configure Django for this process and bring the database up to date.

    `copy` is a copy of the embedded database to work on, where the campaign's own cannot be written to.
    """
    import django
    from django.conf import settings

    key = secrets.token_urlsafe(48) if copy is not None else _secret_key(campaign_file)
    if copy is not None:
        database = None
    file = sqlite_file(database, copy or database_file(campaign_file))
    if file is not None:
        _restrict_to_owner(file)
    # Browsers do not tell ports apart: campaigns on the same host must not share cookies.
    suffix = fingerprint(key, digits=8)
    settings.configure(
        DATABASES={"default": database_settings(database, file or campaign_file)},
        SECRET_KEY=key,
        SESSION_COOKIE_NAME=f"adjudge_session_{suffix}",
        CSRF_COOKIE_NAME=f"adjudge_csrf_{suffix}",
        ADJUDGE_BROWSER_COOKIE=f"adjudge_browser_{suffix}",
        SESSION_COOKIE_AGE=session_hours * 3600,
        ADJUDGE=None,
        **_app_settings(),
        **_security_settings(),
        **_address_settings(host, url),
    )
    django.setup()
    _migrate(show_database(database, database_file(campaign_file)))


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


def _migrate(shown: str) -> None:
    """Make or change the tables as this version needs them; mostly they are so already, which one query tells."""
    from django.core.management import call_command
    from django.db import connection
    from django.db.migrations.recorder import MigrationRecorder
    from django.db.utils import DatabaseError

    known = {("collect", name) for _, name, _ in iter_modules([str(_HERE / "migrations")])}
    try:
        applied = set(MigrationRecorder(connection).applied_migrations())
        later = sorted(applied - known)
        if applied < known:
            call_command("migrate", verbosity=0, interactive=False)
    except DatabaseError as fault:
        reason = str(fault).strip().replace("\n", " ")
        raise InputError(f"the database cannot be used ({reason}); check its address and rights", file=shown) from fault
    if later:
        names = ", ".join(name for _, name in later)
        raise InputError(f"the database was made by a newer adjudge (it has {names}); upgrade adjudge", file=shown)


def set_served(campaign: ServedCampaign) -> None:
    """Tell the app what it serves."""
    from django.conf import settings

    settings.ADJUDGE = campaign


def _app_settings() -> dict[str, Any]:
    return {
        "INSTALLED_APPS": ["adjudge.collect"],
        "MIDDLEWARE": [
            "adjudge.collect.middleware.security_headers",
            "django.middleware.security.SecurityMiddleware",
            # Refuses foreign host names on every request, and says how long answers are.
            "django.middleware.common.CommonMiddleware",
            "adjudge.collect.middleware.only_json",
            "adjudge.collect.middleware.browser_cookie",
            "django.middleware.clickjacking.XFrameOptionsMiddleware",
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.middleware.csrf.CsrfViewMiddleware",
        ],
        "APPEND_SLASH": False,
        "ROOT_URLCONF": "adjudge.collect.urls",
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
            "handlers": {"errors": {"class": "logging.StreamHandler", "level": "ERROR"}},
            "loggers": {"django": {"handlers": ["errors"], "level": "ERROR", "propagate": False}},
        },
    }


def _security_settings() -> dict[str, Any]:
    return {
        # A session is a signed cookie that names a link; whether the link still holds is asked on every request.
        "SESSION_ENGINE": "django.contrib.sessions.backends.signed_cookies",
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
    parts = _split_url(url)
    secure = parts.scheme == "https"
    return {
        "ALLOWED_HOSTS": [parts.hostname, "127.0.0.1", "localhost", "[::1]"],
        "CSRF_TRUSTED_ORIGINS": [f"{parts.scheme}://{parts.netloc}"],
        "SESSION_COOKIE_SECURE": secure,
        "CSRF_COOKIE_SECURE": secure,
        "SECURE_HSTS_SECONDS": 31_536_000 if secure else 0,
        "SECURE_PROXY_SSL_HEADER": ("HTTP_X_FORWARDED_PROTO", "https") if secure else None,
    }


def _split_url(url: str) -> SplitResult:
    """The parts of the public address: a scheme and a host, and nothing behind them."""
    parts = urlsplit(url)
    try:
        known = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        known = False
    if not known:
        raise UsageError(f"--url '{url}' is not an address; write it as https://judge.example.org")
    if parts.path not in ("", "/") or parts.query or parts.fragment:
        raise UsageError(f"--url '{url}' has more than a host; give the campaign a host name (or port) of its own")
    return parts


def _secret_key(campaign_file: Path) -> str:
    """The key that signs cookies, made once and kept in a file that only its owner reads."""
    file = campaign_file.with_suffix(".secret")
    try:
        if not file.exists():
            handle, temporary = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
            with os.fdopen(handle, "w") as new:
                new.write(secrets.token_urlsafe(48))
            Path(temporary).replace(file)
        elif file.stat().st_mode & 0o077:
            file.chmod(0o600)
        key = file.read_text().strip()
    except OSError as fault:
        raise InputError(f"cannot be written or read ({fault.strerror}); check its folder", file=file) from fault
    if len(key) < 32:
        raise InputError("is too short to sign with; delete it, and people log in again with their links", file=file)
    return key
