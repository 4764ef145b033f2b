"""The files that pages load: of each page one script and one style sheet, put together when the server starts.

The sources are small modules, one idea each. A browser would ask for them in turns, as it finds their imports, and on a
slow line every turn takes as long as a whole file. So the modules that a page needs stand in one script, each in a
function of its own, after those that it imports. Their lines stay as they were written, and a comment names each.

What modules may do is little: `import { a, b as c } from "./x.js";` above all else, and `export` before a function, a
class or a constant. Everything else is refused, by the test that puts together the files of all pages.
"""

from __future__ import annotations

import gzip
import posixpath
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from adjudge.core.fingerprint import fingerprint

STATIC = Path(__file__).resolve().parent / "static" / "collect"
# The style sheets of each page, in the order in which they are read: those of widgets after what all pages share.
SHEETS = {
    "enter": ("palette", "base", "enter"),
    "organise": ("palette", "base", "organise"),
    "work": ("palette", "base", "frame", "dialogs", "texts", "score", "ranking", "pairs", "marks", "edit"),
}
_KINDS = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}
_IMPORT = re.compile(r'^import \{([^{}]*)\} from "(\.\.?/[^"\n]+)";$', re.MULTILINE)
_IMPORTED = re.compile(r"([\w$]+)(?: as ([\w$]+))?")
_EXPORT = re.compile(r"^export (?=(?:async function|function|class|const) ([\w$]+))", re.MULTILINE)
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
# Lines with these words are looked at; types in comments import too, so comments that begin or go on there are removed.
_WORD = re.compile(r"import|export|await|\$module")
_IN_COMMENTS = re.compile(r"/\*.*?(?:\*/|$)|^\s*(?:\*|//).*")
_REFUSED = re.compile(r"^\s*(?:import|export)\b|\bimport\s*[.(]|\$module|^(?!.*\basync\b)(?=\S).*\bawait\b")
_REFUSED_IN_SHEETS = re.compile(r"@import|@charset|@namespace|url\(")


class PageFileError(Exception):
    """A source of a page that cannot be put together with the others: a fault of this package."""


@dataclass(frozen=True)
class PageFile:
    """What is sent: the same bytes by all processes, even when the package is replaced on the disk meanwhile."""

    content: bytes
    zipped: bytes
    kind: str


@dataclass(frozen=True)
class _Module:
    variable: str
    exports: tuple[str, ...]
    text: str


@cache
def page_files() -> dict[str, PageFile]:
    """All files by their names below `static_prefix`."""
    contents = {f"{page}.js": bundle_script(f"{page}.js") for page in SHEETS}
    contents |= {f"{page}.css": bundle_styles(sheets) for page, sheets in SHEETS.items()}
    others = [STATIC / "icon.svg", *sorted((STATIC / "texts").glob("*.json"))]
    contents |= {file.relative_to(STATIC).as_posix(): file.read_text(encoding="utf-8") for file in others}
    return {name: _page_file(name, content.encode()) for name, content in contents.items()}


def _page_file(name: str, content: bytes) -> PageFile:
    return PageFile(content, gzip.compress(content, compresslevel=6, mtime=0), _KINDS[Path(name).suffix])


@cache
def static_prefix() -> str:
    """Where the files lie: the path changes with their content, so that browsers keep them for ever."""
    return f"/static/{fingerprint(b''.join(name.encode() + file.content for name, file in page_files().items()))}/"


def bundle_styles(sheets: tuple[str, ...], folder: Path = STATIC) -> str:
    """Style sheets one after the other: a later rule goes before an earlier one, as between files."""
    parts = []
    for sheet in sheets:
        text = (folder / "styles" / f"{sheet}.css").read_text(encoding="utf-8")
        refused = _REFUSED_IN_SHEETS.search(text)
        if refused:
            raise PageFileError(f"styles/{sheet}.css: '{refused[0]}' does not work in sheets that are put together")
        parts.append(f"/* {sheet}.css */\n{text}")
    return "\n".join(parts)


def bundle_script(name: str, folder: Path = STATIC) -> str:
    """A module with all that it imports."""
    modules: dict[str, _Module] = {}
    _add_module(name, folder, modules, ())
    return "\n".join(module.text for module in modules.values())


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
    for match in _IMPORT.finditer(source):
        _add_module(_resolve_import(name, match), folder, modules, (*importers, name))
    code = _EXPORT.sub(
        "", _IMPORT.sub(lambda match: _bind_imports(name, match, modules[_resolve_import(name, match)]), source)
    )
    exports = tuple(_EXPORT.findall(source))
    variable = f"$module{len(modules) + 1}"
    text = f"// {name}\nconst {variable} = (() => {{\n{code.rstrip()}\nreturn {{ {', '.join(exports)} }};\n}})();\n"
    modules[name] = _Module(variable, exports, text)


def _resolve_import(name: str, match: re.Match[str]) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), match[2]))


def _bind_imports(name: str, match: re.Match[str], module: _Module) -> str:
    """An import as constants with the same names, in as many lines."""
    bound = []
    for part in filter(None, map(str.strip, match[1].split(","))):
        imported = _IMPORTED.fullmatch(part)
        if imported is None or imported[1] not in module.exports:
            raise PageFileError(f"{name}: '{part}' is not exported by {match[2]}")
        bound.append(imported[1] if imported[2] is None else f"{imported[1]}: {imported[2]}")
    return f"const {{ {', '.join(bound)} }} = {module.variable};" + "\n" * match[0].count("\n")


def _refuse_other_forms(name: str, source: str) -> None:
    """Refuse what would mean something else in a function. What is overlooked here is no valid script there."""
    last = max((match.end() for match in _IMPORT.finditer(source)), default=0)
    if _COMMENT.sub("", _IMPORT.sub("", source[:last])).strip():
        raise PageFileError(f"{name}: an import stands below other code; imports come first")
    rest = _EXPORT.sub("", _IMPORT.sub(lambda match: "\n" * match[0].count("\n"), source))
    for word in _WORD.finditer(rest):
        line = rest[rest.rfind("\n", 0, word.start()) + 1 :].partition("\n")[0]
        if _REFUSED.search(_IN_COMMENTS.sub("", line)):
            number = rest.count("\n", 0, word.start()) + 1
            raise PageFileError(
                f"{name}, line {number}: '{line.strip()}' is not understood; modules import {{ names }} from './x.js' "
                "and export functions, classes and constants, and await nothing outside functions"
            )
