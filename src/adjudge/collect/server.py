"""The server: gunicorn starts and watches processes, one on SQLite, several on PostgreSQL; `front` serves in each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gunicorn.app.base import BaseApplication
from whitenoise import WhiteNoise

from adjudge.collect.front import GRACE_SECONDS, FrontWorker

if TYPE_CHECKING:
    from collections.abc import Callable

_YEAR_SECONDS = 31_536_000


def application() -> Any:
    """The app with its scripts and styles."""
    from django.core.wsgi import get_wsgi_application

    # Imported before the processes part, so that they share it and the first visitor need not wait.
    import adjudge.collect.urls  # noqa: F401
    from adjudge.collect.middleware import HEADERS
    from adjudge.collect.pages import STATIC, static_prefix

    def add_headers(headers: Any, path: str, url: str) -> None:  # noqa: ARG001
        for name, value in HEADERS.items():
            if name != "Cache-Control":
                headers[name] = value
        headers["X-Content-Type-Options"] = "nosniff"

    return WhiteNoise(
        get_wsgi_application(),
        root=str(STATIC),
        prefix=static_prefix(),
        max_age=_YEAR_SECONDS,
        add_headers_function=add_headers,
    )


def run_server(*, host: str, port: int, workers: int, ready: Callable[[], None]) -> None:
    """Serve until stopped; `ready` is called once the address is bound."""
    shown_host = f"[{host}]" if ":" in host else host
    _Server(
        {
            "bind": f"{shown_host}:{port}",
            "workers": workers,
            "worker_class": FrontWorker,
            "graceful_timeout": int(GRACE_SECONDS) + 1,
            "timeout": 60,
            "loglevel": "warning",
            "accesslog": None,
            "preload_app": True,
            "control_socket_disable": True,
            "when_ready": lambda _server: ready(),
            "post_fork": lambda _server, _worker: _close_connections(),
        }
    ).run()


def _close_connections() -> None:
    """A connection must not be shared with the parent process."""
    from django.db import connections

    connections.close_all()


class _Server(BaseApplication):  # type: ignore[misc]  # gunicorn has no types
    def __init__(self, options: dict[str, Any]) -> None:
        self._options = options
        super().__init__()

    def load_config(self) -> None:
        for name, value in self._options.items():
            if name in self.cfg.settings:
                self.cfg.set(name, value)

    def load(self) -> Any:
        return application()
