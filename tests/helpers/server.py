"""A small server on this machine that gives files like the real ones: with tags and ranges, or badly."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Site:
    """What the server holds and how it behaves; `asked` are the requests it got, as path and range."""

    files: dict[str, bytes]
    address: str = ""
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    cut_after: int | None = None
    ranges: bool = True


@contextmanager
def serving(files: dict[str, bytes]) -> Iterator[Site]:
    site = Site(files)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.asked.append((self.path, self.headers.get("Range")))
            content = site.files.get(self.path.lstrip("/"))
            if content is None:
                self.send_error(404)
                return
            tag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
            start = self._start(tag) if site.ranges else 0
            if start >= len(content) > 0:
                self.send_error(416)
                return
            self.send_response(206 if start else 200)
            self.send_header("ETag", tag)
            self.send_header("Content-Length", str(len(content) - start))
            self.end_headers()
            self.wfile.write(content[start:][: site.cut_after])

        def _start(self, tag: str) -> int:
            wanted = self.headers.get("Range")
            if wanted is None or self.headers.get("If-Range") != tag:
                return 0
            return int(wanted.removeprefix("bytes=").rstrip("-"))

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join(60)
