"""A page as a file: HTML that needs no network, or PDF, by its ending.

Nothing that comes from data is trusted: the templates escape every text, specifications of charts are JSON that is
never executed, and the page's own policy allows only the two scripts whose checksums it names.
"""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from adjudge.core.errors import InputError, UsageError
from adjudge.core.files import write_text
from adjudge.report.charts.theme import DARK, LIGHT
from adjudge.results.table import show
from adjudge.work import kept_with_version

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from adjudge.report.page import ReportPage

ENDINGS = (".html", ".pdf")
# Characters that could end a script element or a line of JavaScript, written so that they cannot.
_UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def check_page_ending(path: Path) -> None:
    """Refuse a folder, and a file that is neither HTML nor PDF."""
    if path.is_dir():
        raise InputError("cannot be written, it is a folder; name a file", file=path)
    if path.suffix.lower() not in ENDINGS:
        raise UsageError(f"{path}: a report is written as {' or '.join(ENDINGS)}; choose one of these endings")


def write_page(page: ReportPage, path: Path) -> None:
    """Write a page."""
    check_page_ending(path)
    if path.suffix.lower() == ".pdf":
        from adjudge.report.output.pdf import write_pdf

        write_pdf(page, path)
    else:
        write_text(path, render(page))


def render(page: ReportPage) -> str:
    """The whole document as HTML."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("adjudge.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["cell"] = show
    library = charts_library()
    starter = _source(environment, "charts.js")
    return environment.get_template("report.html.j2").render(
        page=page,
        light=LIGHT,
        dark=DARK,
        style=Markup(_source(environment, "style.css")),  # noqa: S704  our own file
        specs=Markup(json_for_script(page.charts_by_id())),  # noqa: S704  escaped by json_for_script
        library=Markup(library),  # noqa: S704  the charts' library
        starter=Markup(starter),  # noqa: S704  our own file
        hashes=[checksum(library), checksum(starter)],
    )


def json_for_script(value: Mapping[str, Any]) -> str:
    """JSON that can stand inside a script element whatever its texts hold."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character, written in _UNSAFE.items():
        text = text.replace(character, written)
    return text


def checksum(script: str) -> str:
    """The checksum of an inline script as a content security policy names it."""
    digest = hashlib.sha256(script.encode()).digest()
    return "sha256-" + base64.b64encode(digest).decode()


@cache
def charts_library() -> str:
    """The library that draws the charts, whole: nothing is fetched."""
    from importlib.metadata import version

    import vl_convert

    # Put together from its parts by a compiler, which takes longer than many an audit.
    bundle = partial(vl_convert.javascript_bundle)
    return str(kept_with_version("charts library", version("vl-convert-python"), bundle))


def _source(environment: Any, name: str) -> str:
    return str(environment.loader.get_source(environment, name)[0])
