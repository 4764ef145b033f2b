"""The pages: small shells that load the script which builds them. Everything shown comes by the JSON interface.

Also the health check: whether the database can be read and written to. A full disk shows there first.
"""

from __future__ import annotations

import gzip
import json
import os
import posixpath
import re
import threading
import time
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db import connection
from django.db.utils import DatabaseError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_safe

from adjudge.campaigns.campaign_file import logo_type
from adjudge.server.database import write_transaction
from adjudge.server.models import Campaign
from adjudge.server.served_campaign import get_served
from adjudge.server.sessions import ANNOTATOR, ORGANISER, find_visitor_of, takes_gzip
from adjudge.server.sites import OfSite, Site, all_sites, current_site, public_path
from adjudge.table.judgments import fingerprint
from adjudge.table.protocols import PROTOCOLS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adjudge.campaigns.campaign_file import Campaign as CampaignFile

# The files that pages load: of each page one script and one style sheet, put together when the server starts.
#
# The sources are small modules, one idea each. A browser would ask for them in turns, as it finds their imports, and
# on a slow line every turn takes as long as a whole file. So the modules that a page needs stand in one script, each
# after those that it imports. Comments and needless spaces are left out: a third of what would be sent.
#
# What nobody needs on the first screen is apart: the modules that are imported by a call, `import("./x.js")`, and those
# that only they need, are a second file, `.later.js`. So are the texts that only these show. The page for judging has a
# script and a style sheet for each kind of campaign, so that nobody loads what other protocols need.
#
# What modules may do is little: `import { a, b } from "./x.js";` above all else, `export` before a function, a
# class or a constant, and `import("./x.js")`. Everything else is refused, by the test that puts together all pages.

STATIC = Path(__file__).resolve().parent / "static" / "collect"
# The style sheets of each page, in the order in which they are read: those of widgets after what all pages share.
_JUDGING = ("palette", "base", "frame", "dialogs", "texts")
SHEETS = {
    "enter": ("palette", "base", "enter"),
    "organise": ("palette", "base", "organise"),
    "overview": ("palette", "base", "enter", "organise"),
    "judge_score": (*_JUDGING, "score"),
    "judge_marks": (*_JUDGING, "score", "marks"),
    "judge_compared": (*_JUDGING, "score", "marks", "compare"),
    "judge_ranking": (*_JUDGING, "ranking"),
    "judge_pairwise": (*_JUDGING, "ranking", "pairs"),
    "judge_postedit": (*_JUDGING, "score", "edit"),
}
LATER = ".later"
_KINDS = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}
_IMPORT = re.compile(r'^import \{([^{}]*)\} from "(\.\.?/[^"\n]+)";$', re.MULTILINE)
_CALL = re.compile(r'\bimport\("(?P<called>\.\.?/[^"\n]+\.js)"\)')
_EXPORT = re.compile(r"^export (?=(?:async function|function|class|const) ([\w$]+))", re.MULTILINE)
_NAME = re.compile(r"^(?:export )?(?:async )?(?:function|class|const|let) ([\w$]+)", re.MULTILINE)
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
# Lines with these words are looked at; types in comments import too, so comments that begin or go on there are removed.
_WORD = re.compile(r"import|export|await|\$later")
_IN_COMMENTS = re.compile(r"/\*.*?(?:\*/|$)|^\s*(?:\*|//).*")
_REFUSED = re.compile(r"^\s*(?:import|export)\b|\bimport\s*[.(]|\$later|^(?!.*\basync\b)(?=\S).*\bawait\b")
# What must stay as written: strings, templates, and regular expressions, which stand after an operator.
_LITERAL = (
    r"""(?P<literal>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`"""
    r"|(?<=[(,=:!&|?\[])\s*/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/)"
)
_CALL_IN_CODE = re.compile(rf"{_CALL.pattern}|{_LITERAL}|/\*.*?\*/|//[^\n]*", re.DOTALL)
_NEEDLESS = re.compile(rf"{_LITERAL}|/\*.*?\*/|//[^\n]*|\s+", re.DOTALL)
# A line may end after these marks or not: it means the same. Between `+` or `-` and its like a space is needed.
_AROUND_MARKS = re.compile(
    rf"{_LITERAL}|[ \t]*(?P<open>[{{(;,=:?&|<>*])\s*|[ \t]*(?P<close>[)}}])[ \t]*|\n\s*", re.DOTALL
)
_NEEDLESS_IN_SHEETS = re.compile(r'(?P<literal>"[^"]*")|/\*.*?\*/\s*|\s+(?=[{}])|(?<=[{};,:])\s+|(?<=\n)\s+', re.DOTALL)
_REFUSED_IN_SHEETS = re.compile(r"@import|@charset|@namespace|url\(")


class PageFileError(Exception):
    """A source of a page that cannot be put together with the others: a fault of this package."""


@dataclass(frozen=True)
class PageFile:
    """What is sent: the same bytes by all processes, even when the package is replaced on the disk meanwhile."""

    zipped: bytes
    kind: str


class _Module(NamedTuple):
    exports: tuple[str, ...]
    source: str
    text: str
    names: tuple[str, ...]
    imported: tuple[str, ...]
    calls: tuple[str, ...]


class Script(NamedTuple):
    """A page's script, and what it loads after its first screen, each with the sources that it is made of."""

    first: str
    later: str
    first_sources: str
    later_sources: str


@cache
def page_files() -> dict[str, PageFile]:
    """All files by their names below `static_prefix`."""
    contents = {f"{page}.css": bundle_styles(sheets) for page, sheets in SHEETS.items()}
    contents["icon.svg"] = (STATIC / "icon.svg").read_text(encoding="utf-8")
    scripts = {page: bundle_script(f"{page}.js") for page in SHEETS}
    for page, script in scripts.items():
        contents |= {f"{page}.js": script.first} | ({f"{page}{LATER}.js": script.later} if script.later else {})
    contents |= _page_texts(scripts)
    return {
        name: PageFile(gzip.compress(content.encode(), compresslevel=9, mtime=0), _KINDS[Path(name).suffix])
        for name, content in contents.items()
    }


def _page_texts(scripts: dict[str, Script]) -> Iterator[tuple[str, str]]:
    """The texts of each page in each language: those that its script names, and those that no script names."""
    sources = {page: script.first_sources for page, script in scripts.items()}
    sources |= {f"{page}{LATER}": script.later_sources for page, script in scripts.items() if script.later}
    catalogues = {language: read_texts(language) for language in languages()}
    named = {part: {key for key in catalogues["en"] if _names_text(source, key)} for part, source in sources.items()}
    anywhere = set().union(*named.values())
    for part, keys in named.items():
        first = named.get(part.removesuffix(LATER), keys)
        shown = keys - first if part.endswith(LATER) else keys | (catalogues["en"].keys() - anywhere)
        for language, texts in catalogues.items():
            kept = {key: text for key, text in texts.items() if key in shown or key == "direction"}
            yield f"texts/{part}.{language}.json", json.dumps(kept, ensure_ascii=False, separators=(",", ":"))


def _names_text(source: str, key: str) -> bool:
    """Whether a script has the key of a text, as a whole or with a part that is only known in the browser."""
    return f'"{key}"' in source or any(re.fullmatch(pattern, key) for pattern in _patterns(source))


@cache
def _patterns(source: str) -> tuple[str, ...]:
    keys = re.findall(r"\bt\(`([^`]*)`", source)
    return tuple({".+".join(map(re.escape, re.split(r"\$\{[^}]*\}", key))) for key in keys})


@cache
def languages() -> dict[str, str]:
    """The languages of the interface with their own names: one catalogue file each."""
    files = sorted((STATIC / "texts").glob("*.json"))
    return {file.stem: json.loads(file.read_text(encoding="utf-8"))["name"] for file in files}


def read_texts(language: str) -> dict[str, Any]:
    """All texts in a language, English where there is none. Words of scales have the English ones as keys."""
    english, own = _read_catalogue("en"), _read_catalogue(language)
    texts = (english | own).items()
    return {f"={english[key]}" if key.startswith("anchor_") else key: text for key, text in texts}


def _read_catalogue(language: str) -> dict[str, Any]:
    files = [STATIC / "texts" / f"{language}.json", STATIC / "texts" / "organise" / f"{language}.json"]
    return {key: text for file in files for key, text in json.loads(file.read_text(encoding="utf-8")).items()}


@cache
def static_prefix() -> str:
    """Where the files lie: the path changes with their content, so that browsers keep them for ever."""
    return f"/static/{fingerprint(b''.join(name.encode() + file.zipped for name, file in page_files().items()))}/"


def bundle_styles(sheets: tuple[str, ...], folder: Path = STATIC) -> str:
    """Style sheets one after the other: a later rule goes before an earlier one, as between files."""
    parts = []
    for sheet in sheets:
        text = (folder / "styles" / f"{sheet}.css").read_text(encoding="utf-8")
        refused = _REFUSED_IN_SHEETS.search(text)
        if refused:
            raise PageFileError(f"styles/{sheet}.css: '{refused[0]}' does not work in sheets that are put together")
        parts.append(_NEEDLESS_IN_SHEETS.sub(lambda found: found["literal"] or "", text))
    return "\n".join(parts)


def bundle_script(name: str, folder: Path = STATIC) -> Script:
    """A module with all that it imports, and apart from it what it imports by calls.

    They share one scope, without a function and lists of names for each: no name may stand in two of them.
    """
    modules: dict[str, _Module] = {}
    _add_module(name, folder, modules, ())
    first = list(modules)
    waiting = list(modules)
    while waiting:
        for called in modules[waiting.pop()].calls:
            known = len(modules)
            _add_module(called, folder, modules, ())
            waiting += list(modules)[known:]
    later = list(modules)[len(first) :]
    _refuse_same_names(modules)
    parts = [
        "\n".join(_bind_calls(one, modules, apart=apart) for one in names)
        for names, apart in ((first, set(later)), (later, set()))
    ]
    if later:
        parts = _join_parts(Path(name).stem, parts, modules, first, later)
    sources = ("\n".join(modules[one].source for one in names) for names in (first, later))
    return Script(*map(shorten_script, parts), *sources)


def names_of_script(name: str) -> set[str]:
    """The names that the modules of a page share, in both of its files."""
    sources = bundle_script(name)
    return set(_NAME.findall(f"{sources.first_sources}\n{sources.later_sources}"))


def _refuse_same_names(modules: dict[str, _Module]) -> None:
    owners: dict[str, str] = {}
    for name, module in modules.items():
        for one in module.names:
            if owners.setdefault(one, name) != name:
                raise PageFileError(f"{name}: '{one}' is a name of {owners[one]}, too; call one of them otherwise")


def _bind_calls(name: str, modules: dict[str, _Module], *, apart: set[str]) -> str:
    """The text of a module, in which imports by calls give what is there, or load what is apart."""

    def bind(match: re.Match[str]) -> str:
        if match["called"] is None:
            return match[0]
        called = _resolve_import(name, match["called"])
        return "$later()" if called in apart else f"Promise.resolve({{ {', '.join(modules[called].exports)} }})"

    return _CALL_IN_CODE.sub(bind, modules[name].text)


def _join_parts(
    page: str, parts: list[str], modules: dict[str, _Module], first: list[str], later: list[str]
) -> list[str]:
    """Both files as modules of the browser: the second imports from the first what its own modules need of it."""
    there = {export for one in first for export in modules[one].exports}
    called = {called for one in first for called in modules[one].calls}
    # What the second file gives back by a call, it needs as much as what it imports.
    again = (export for one in later for call in modules[one].calls for export in modules[call].exports)
    needed = sorted(there & {*again, *(imported for one in later for imported in modules[one].imported)})
    given = [export for one in later if one in called for export in modules[one].exports]
    # Some browsers never ask again for a file that they did not get, so that the next attempt has another address.
    load = (
        "let $tries = 0;\nconst $later = () =>\n"
        f'import("./{page}{LATER}.js" + ($tries ? `?${{$tries}}` : "")).catch((fault) => {{\n'
        "$tries += 1;\nthrow fault;\n});\n"
    )
    return [
        f"{load}{parts[0]}\nexport {{ {', '.join(needed)} }};\n",
        f'import {{ {", ".join(needed)} }} from "./{page}.js";\n{parts[1]}\nexport {{ {", ".join(given)} }};\n',
    ]


def shorten_script(script: str) -> str:
    """The same program without comments and needless spaces."""
    blank = _NEEDLESS.sub(lambda found: found["literal"] or ("\n" if "\n" in found[0] else " "), script)
    return _AROUND_MARKS.sub(lambda found: found["literal"] or found["open"] or found["close"] or "\n", blank)


def _add_module(name: str, folder: Path, modules: dict[str, _Module], importers: tuple[str, ...]) -> None:
    """Add a module after those that it imports."""
    if name in importers:
        raise PageFileError(f"modules import each other in a circle: {' -> '.join([*importers, name])}")
    if name in modules:
        return
    if name.startswith("../") or not (folder / name).is_file():
        raise PageFileError(f"{name}: there is no such module{', imported by ' + importers[-1] if importers else ''}")
    source = (folder / name).read_text(encoding="utf-8")
    _refuse_other_forms(name, source)
    imported: list[str] = []
    for match in _IMPORT.finditer(source):
        _add_module(_resolve_import(name, match[2]), folder, modules, (*importers, name))
        imported += _check_import(name, match, modules[_resolve_import(name, match[2])])
    exports = tuple(_EXPORT.findall(source))
    text = _EXPORT.sub("", _IMPORT.sub("", source))
    calls = tuple(_resolve_import(name, match["called"]) for match in _CALL_IN_CODE.finditer(source) if match["called"])
    modules[name] = _Module(exports, source, text, tuple(_NAME.findall(text)), tuple(imported), calls)


def _resolve_import(name: str, imported: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), imported))


def _check_import(name: str, match: re.Match[str], module: _Module) -> list[str]:
    """The names of an import, which are those of the module."""
    names = [part.strip() for part in match[1].split(",") if part.strip()]
    for one in names:
        if one not in module.exports:
            raise PageFileError(f"{name}: '{one}' is not exported by {match[2]}")
    return names


def _refuse_other_forms(name: str, source: str) -> None:
    """Refuse what would mean something else in a function. What is overlooked here is no valid script there."""
    last = max((match.end() for match in _IMPORT.finditer(source)), default=0)
    if _COMMENT.sub("", _IMPORT.sub("", source[:last])).strip():
        raise PageFileError(f"{name}: an import stands below other code; imports come first")
    rest = _EXPORT.sub("", _IMPORT.sub(lambda match: "\n" * match[0].count("\n"), _CALL.sub("null", source)))
    for word in _WORD.finditer(rest):
        line = rest[rest.rfind("\n", 0, word.start()) + 1 :].partition("\n")[0]
        if _REFUSED.search(_IN_COMMENTS.sub("", line)):
            number = rest.count("\n", 0, word.start()) + 1
            raise PageFileError(
                f"{name}, line {number}: '{line.strip()}' is not understood; modules import {{ names }} from './x.js' "
                "and export functions, classes and constants, and await nothing outside functions"
            )


# Anybody may ask, and each answer is a write: so it holds for a while.
_FRESH_SECONDS = 5.0
LEAST_FREE_BYTES = 50_000_000


@dataclass
class _Health:
    """What the last check of a campaign's database found, and when."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    checked: float | None = None
    trouble: str = ""


_health = OfSite(_Health)


@require_safe
@ensure_csrf_cookie
def home(request: HttpRequest) -> HttpResponse:
    """The address without a path: redirects people to their page, or asks them to open their personal link."""
    if find_visitor_of(request, ANNOTATOR) is not None:
        return _redirect("/work")
    if find_visitor_of(request, ORGANISER) is not None:
        return _redirect("/organise")
    return _render_shell(request, "enter")


def _redirect(path: str) -> HttpResponse:
    return redirect(f"{public_path(current_site())}{path}")


@require_safe
@ensure_csrf_cookie
def page(request: HttpRequest, name: str, role: str | None) -> HttpResponse:
    """A page: that of a role, or, for everybody, where personal links lead and their secret becomes a session.

    Without a name it is the one for judging.
    """
    may_enter = role is None or find_visitor_of(request, role) is not None
    return _render_shell(request, name or judging_page(get_served().campaign)) if may_enter else _redirect("/enter")


def judging_page(campaign: CampaignFile) -> str:
    """The page for judging that has what a campaign needs, and no more."""
    kind = campaign.protocol
    if kind in ("ranking", "pairwise", "postedit"):
        return f"judge_{kind}"
    if campaign.side_by_side > 1 or any(asked.of == "document" for asked in campaign.asked):
        return "judge_compared"
    return "judge_marks" if PROTOCOLS[kind].marked else "judge_score"


@require_safe
def logo(request: HttpRequest) -> HttpResponse:
    """The campaign's logo. Opened by itself, an SVG file could hold scripts: the policy lets none run."""
    file = get_served().campaign.page.logo
    if file is None or not file.is_file():
        return not_found(request, FileNotFoundError())
    answer = HttpResponse(file.read_bytes(), content_type=logo_type(file))
    answer["Content-Security-Policy"] = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
    answer["Cache-Control"] = "max-age=3600"
    return answer


@require_safe
def page_file(request: HttpRequest, version: str, name: str) -> HttpResponse:
    """A file that a page loads, compressed where the browser can unpack it, as all of today can."""
    file = page_files().get(name) if static_prefix() == f"/static/{version}/" else None
    if file is None:
        return not_found(request, FileNotFoundError())
    zipped = takes_gzip(request)
    answer = HttpResponse(file.zipped if zipped else gzip.decompress(file.zipped), content_type=file.kind)
    if zipped:
        answer["Content-Encoding"] = "gzip"
    answer["Vary"] = "Accept-Encoding"
    answer["Cache-Control"] = "max-age=31536000, public, immutable"
    return answer


@require_safe
def health(request: HttpRequest) -> HttpResponse:  # noqa: ARG001
    """For watchdogs: the process answers, and the database can be read and written to."""
    reason = find_trouble()
    return HttpResponse(f"{reason or 'ok'}\n", content_type="text/plain", status=503 if reason else 200)


def find_trouble() -> str:
    """What is wrong with the database of a campaign, in a few words, as found within the last seconds."""
    health = _health()
    with health.lock:
        if health.checked is None or time.monotonic() - health.checked > _FRESH_SECONDS:
            health.trouble = _check_database()
            health.checked = time.monotonic()
        return health.trouble


def _render_shell(request: HttpRequest, page: str) -> HttpResponse:
    campaign = get_served().campaign
    return render_page(request, page, campaign.name, current_site(), with_logo=campaign.page.logo is not None)


def render_page(
    request: HttpRequest, page: str, title: str, site: Site | None = None, *, with_logo: bool = False
) -> HttpResponse:
    """The shell of a page: of a campaign, or of the server itself."""
    base = public_path(site)
    context = {
        "page": page,
        # The same for all campaigns, so that browsers load them once.
        "static": f"{public_path()}{static_prefix()}",
        "base": base,
        "home": public_path() + "/" if len(all_sites()) > 1 else "",
        "languages": json.dumps(languages(), ensure_ascii=False),
        "title": title,
        "logo": f"{base}/logo" if with_logo else "",
    }
    return render(request, "collect/shell.html", context)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001
    """There is nothing at this address."""
    return HttpResponse("There is no such page. Please open your personal link.\n", "text/plain", status=404)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001
    """The request cannot be understood or allowed."""
    return HttpResponse("This request cannot be answered.\n", "text/plain", status=400)


def server_error(request: HttpRequest) -> HttpResponse:  # noqa: ARG001
    """A fault of the server itself; what was saved is safe."""
    return HttpResponse("Something went wrong here. What was saved is safe.\n", "text/plain", status=500)


def _check_database() -> str:
    """What is wrong, in a few words; empty where nothing is."""
    try:
        with write_transaction():
            if not Campaign.objects.update(checked=timezone.now()):
                return "no campaign"
    except DatabaseError:
        return "the database cannot be written to (is the disk full?)"
    if connection.vendor != "sqlite":
        return ""
    disk = os.statvfs(Path(str(connection.settings_dict["NAME"])).parent)
    return "the disk is almost full" if disk.f_bavail * disk.f_frsize < LEAST_FREE_BYTES else ""
