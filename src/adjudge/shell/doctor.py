"""Examine an installation: everything that adjudge needs around it. `examine` is the main function.

An examination that fails itself is reported like any other fault; the others still run.
"""

from __future__ import annotations

import json
import locale
import os
import pkgutil
import platform
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

from adjudge._version import __version__
from adjudge.datasets.catalogue import data_folder, show_size
from adjudge.server.database import hide_password, is_postgres
from adjudge.table.errors import shown
from adjudge.table.files import exists
from adjudge.table.results import Result, Table, text
from adjudge.table.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    Examiner = Callable[[], Iterator["Finding"]]


# The result of examining an installation: what is as it should be, and what to do about the rest.


State = Literal["ok", "warning", "fault"]


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    what: str
    state: State
    found: str
    advice: str = ""
    """What to do; nothing where all is well."""


@dataclass(frozen=True, kw_only=True)
class Diagnosis(Result):
    """Everything that was looked at. A warning leaves adjudge usable, a fault does not."""

    verb: ClassVar[str] = "doctor"

    findings: tuple[Finding, ...]

    def counted(self, state: State) -> int:
        """How many findings are of this state."""
        return sum(finding.state == state for finding in self.findings)

    @property
    def healthy(self) -> bool:
        """Whether there is no fault."""
        return self.counted("fault") == 0

    def tables(self) -> tuple[Table, ...]:
        """One line per finding."""
        rows = tuple((finding.state, finding.what, finding.found, finding.advice or None) for finding in self.findings)
        columns = (text("state"), text("what"), text("found"), text("what to do"))
        bad = f"{counted(self.counted('warning'), 'warning')}, {counted(self.counted('fault'), 'fault')}"
        return (Table("This installation", columns, rows, note=f"{self.counted('ok')} ok, {bad}."),)

    def to_dict(self) -> dict[str, Any]:
        """The documented keys, with the verdict in one word."""
        return {**super().to_dict(), "healthy": self.healthy}


# Databases: SQLite itself, and one that holds a campaign. It is only read, never changed.


OLDEST_SQLITE = (3, 31)  # asked for by Django 5.2
_APPLIED = "SELECT name FROM django_migrations WHERE app = 'collect'"
SECONDS = 5


def examine_sqlite() -> Iterator[Finding]:
    """The library, and a log that can be written ahead, without which saves would wait for readers."""
    version = f"version {sqlite3.sqlite_version}"
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        yield Finding("SQLite", "fault", version, "install a Python with SQLite 3.31 or newer")
        return
    with tempfile.TemporaryDirectory() as folder, closing(sqlite3.connect(Path(folder) / "tried.sqlite3")) as tried:
        mode = tried.execute("PRAGMA journal_mode=WAL").fetchone()[0]
    if mode == "wal":
        yield Finding("SQLite", "ok", f"{version}, write-ahead log works")
    else:
        advice = "keep campaigns on a local disk, not on a network folder"
        yield Finding("SQLite", "warning", f"{version}, no write-ahead log in the temporary folder ({mode})", advice)


def examine_given(database: str) -> Iterator[Finding]:
    """The database that was asked about: a file, sqlite:///file, or the address of a PostgreSQL server."""
    if is_postgres(database):
        yield from _examine_postgres(database)
        return
    parts = urlsplit(database)
    if "://" in database and parts.scheme != "sqlite":
        advice = "give a file, or postgres://user@host/name"
        yield Finding("database", "fault", f"{hide_password(database)} is of no known kind", advice)
        return
    yield from _examine_file(Path(unquote(parts.path) if parts.scheme == "sqlite" else database))


def _examine_file(file: Path) -> Iterator[Finding]:
    if not file.is_file():
        yield Finding("database", "fault", f"{file}: no such file", "check the path; 'adjudge serve' makes the file")
        return
    try:
        with closing(
            sqlite3.connect(f"file:{quote(str(file.resolve()))}?mode=ro", uri=True, timeout=SECONDS)
        ) as opened:
            problems = [str(row[0]) for row in opened.execute("PRAGMA integrity_check(10)")]
            applied = _read_applied(opened) if problems == ["ok"] else set()
    except sqlite3.Error as fault:
        advice = "restore it from a copy; it must be a database that 'adjudge serve' made"
        yield Finding("database", "fault", f"{file}: {fault}", advice)
        return
    if problems != ["ok"]:
        yield Finding(
            "database", "fault", f"{file}: {'; '.join(problems)}", "restore it from a copy, then export again"
        )
        return
    yield Finding("database", "ok", f"{file}: whole (integrity check)")
    yield _compare_tables(applied)


def _read_applied(opened: sqlite3.Connection) -> set[str]:
    held = opened.execute("SELECT 1 FROM sqlite_master WHERE name = 'django_migrations'").fetchone()
    return {str(row[0]) for row in opened.execute(_APPLIED)} if held else set()


def _examine_postgres(url: str) -> Iterator[Finding]:
    try:
        import psycopg
    except ImportError:
        yield Finding("database", "fault", "PostgreSQL needs its driver", "pip install 'adjudge[postgres]'")
        return
    shown = hide_password(url)
    try:
        with psycopg.connect(_without_pooling(url), connect_timeout=SECONDS) as opened:
            version = opened.info.server_version // 10_000
            # What a server without it acknowledges can be lost with its power.
            durable = (opened.execute("SHOW fsync").fetchone() or ("",))[0]
            held = (opened.execute("SELECT to_regclass('django_migrations')").fetchone() or (None,))[0]
            applied = {str(row[0]) for row in opened.execute(_APPLIED)} if held else set()
    except psycopg.Error as fault:
        reason = " ".join(str(fault).split())
        yield Finding(
            "database", "fault", f"{shown}: {reason}", "check the address, the rights and that the server runs"
        )
        return
    yield Finding("database", "ok", f"{shown}: PostgreSQL {version}")
    if durable != "on":
        yield Finding("durability", "warning", f"fsync is {durable}", "set fsync = on, or a power cut loses judgments")
    yield _compare_tables(applied)


def _without_pooling(url: str) -> str:
    # Our own word in the address, which the server's library does not know.
    parts = urlsplit(url)
    kept = [(name, value) for name, value in parse_qsl(parts.query) if name != "pooling"]
    return urlunsplit(parts._replace(query=urlencode(kept)))


def _compare_tables(applied: set[str]) -> Finding:
    """Whether the tables are those of this version."""
    from adjudge.server import migrations as kept

    known = {module.name for module in pkgutil.iter_modules(kept.__path__)}
    if not applied:
        return Finding("tables", "warning", "no campaign has been served from it yet", "start 'adjudge serve' with it")
    if later := sorted(applied - known):
        return Finding("tables", "fault", f"made by a newer adjudge ({', '.join(later)})", "upgrade adjudge")
    if missing := sorted(known - applied):
        advice = "make a copy; 'adjudge serve' brings them up to date"
        return Finding("tables", "warning", f"of an older adjudge (without {', '.join(missing)})", advice)
    return Finding("tables", "ok", "of this version")


# The machine: linear algebra, processors, memory, folders, charts and their fonts, terminal, port and clock.


LITTLE_MEMORY = 1_000_000_000
_PACKAGE = Path(__file__).resolve().parent.parent


def examine_linear_algebra() -> Iterator[Finding]:
    """The library behind numpy and scipy, and how many threads it starts."""
    import scipy.linalg  # noqa: F401 - so that its library is loaded and counted
    import threadpoolctl

    pools = [pool for pool in threadpoolctl.threadpool_info() if pool.get("user_api") == "blas"]
    if not pools:
        yield Finding("linear algebra", "warning", "no library was recognised", "expect the mixed model to be slow")
        return
    most = max(int(pool["num_threads"]) for pool in pools)
    library = f"{', '.join(sorted({str(pool['internal_api']) for pool in pools}))}, {counted(most, 'thread')}"
    if most > count_processors():
        yield Finding("linear algebra", "warning", library, "set OPENBLAS_NUM_THREADS=1: threads wait for each other")
    else:
        yield Finding("linear algebra", "ok", library)


def count_processors() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def examine_resources(
    meminfo: Path = Path("/proc/meminfo"), limit: Path = Path("/sys/fs/cgroup/memory.max")
) -> Iterator[Finding]:
    """Processors, and the memory that is left, also where a container sets a limit."""
    yield Finding("processors", "ok", str(count_processors()))
    known = [size for size in (_read_available(meminfo), _read_limit(limit)) if size is not None]
    if not known:
        yield Finding("memory", "ok", "not known on this system")
    elif min(known) < LITTLE_MEMORY:
        advice = "close other programs, or give the container more: large campaigns need 1 GB"
        yield Finding("memory", "warning", f"{show_size(min(known))} free", advice)
    else:
        yield Finding("memory", "ok", f"{show_size(min(known))} free")


def _read_available(meminfo: Path) -> int | None:
    try:
        lines = dict(line.split(":", 1) for line in meminfo.read_text().splitlines() if ":" in line)
        return int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return None


def _read_limit(limit: Path) -> int | None:
    try:
        return int(limit.read_text()) - int(limit.with_name("memory.current").read_text())
    except (OSError, ValueError):
        return None


def examine_terminal() -> Iterator[Finding]:
    """Whether every script can be printed."""
    written = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().replace("-", "")
    encodings = f"output {written}, files {locale.getpreferredencoding(do_setlocale=False).lower()}"
    if written == "utf8":
        yield Finding("encoding", "ok", encodings)
    else:
        yield Finding(
            "encoding", "warning", encodings, "set PYTHONUTF8=1 or LC_ALL=C.UTF-8, to see names in every script"
        )


def examine_port(number: int) -> Iterator[Finding]:
    """Whether `serve` could listen."""
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind(("127.0.0.1", number))
        except OSError as fault:
            reason = fault.strerror or str(fault)
            yield Finding("port", "warning", f"{number}: {reason}", "serve with another one: --port")
            return
    yield Finding("port", "ok", f"{number} is free for serve")


def examine_clock(now: float | None = None) -> Iterator[Finding]:
    """A clock that stands before the time at which adjudge was installed is wrong, and so is every time it gives."""
    seconds = time.time() if now is None else now
    shown = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")
    installed = max(file.stat().st_mtime for file in _PACKAGE.glob("*.py"))
    if seconds < installed - 86_400:
        yield Finding(
            "clock", "warning", f"{shown}, before adjudge was installed", "set the clock: links and times depend on it"
        )
    else:
        yield Finding("clock", "ok", shown)


LITTLE_ROOM = 200_000_000


def examine_folders() -> Iterator[Finding]:
    """Temporary files, the data sets, and the folder where the command was called."""
    yield examine_folder(
        "temporary files", Path(tempfile.gettempdir()), "set TMPDIR to a folder of your own", needed=True
    )
    yield examine_folder("data sets", data_folder(), "set ADJUDGE_DATA or XDG_CACHE_HOME to a folder of your own")
    yield examine_folder("this folder", Path.cwd(), "write results elsewhere with --output")


def examine_folder(what: str, folder: Path, advice: str, *, needed: bool = False) -> Finding:
    """Whether a file can be written to the folder, or to the nearest one above it that exists."""
    existing = next((parent for parent in (folder, *folder.parents) if exists(parent)), folder)
    try:
        with tempfile.TemporaryFile(dir=existing):
            pass
        room = shutil.disk_usage(existing).free
    except OSError as fault:
        return Finding(what, "fault" if needed else "warning", f"{folder}: {fault.strerror or fault}", advice)
    state = f"{folder}, {show_size(room)} free"
    if room < LITTLE_ROOM:
        return Finding(what, "warning", state, "make room, or " + advice)
    return Finding(what, "ok", state if existing == folder else f"{state} (made when needed)")


_CHART = {
    "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
    "data": {"values": [{"x": 1, "y": 2}]},
    "mark": "point",
    "encoding": {"x": {"field": "x", "type": "quantitative"}, "y": {"field": "y", "type": "quantitative"}},
}
_SCRIPTS = {"Latin": "A", "Greek": "Ω", "Cyrillic": "Ж", "Arabic": "ع", "Hindi": "क", "Chinese": "中", "Korean": "한"}
# Not assigned to any script: drawn as what a font shows for letters that it lacks.
_NO_LETTER = "\u0378"
_SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="30">'
    '<text x="5" y="20" font-family="sans-serif" font-size="16">{}</text></svg>'
)
FONTS = "install fonts for them, on Debian fonts-noto-core and fonts-noto-cjk; pages in a browser are not affected"


def examine_charts() -> Iterator[Finding]:
    """Charts as SVG and PNG, and the scripts that can be drawn in PNG."""
    import vl_convert

    svg = vl_convert.vegalite_to_svg(_CHART)
    if not svg.startswith("<svg") or not vl_convert.svg_to_png(svg).startswith(b"\x89PNG"):
        yield Finding("charts", "fault", "a small chart could not be drawn", "install vl-convert-python again")
        return
    yield Finding("charts", "ok", "a small chart was drawn as SVG and PNG")
    missing = find_missing_scripts()
    if missing:
        yield Finding("letters in PNG charts", "warning", f"none for {', '.join(missing)}", FONTS)
    else:
        yield Finding("letters in PNG charts", "ok", ", ".join(_SCRIPTS))


def find_missing_scripts() -> list[str]:
    """Scripts whose letters look like a letter that no font has."""
    none = _draw(_NO_LETTER)
    return [script for script, letter in _SCRIPTS.items() if _draw(letter) in (none, _draw(""))]


def _draw(letters: str) -> bytes:
    import vl_convert

    return bytes(vl_convert.svg_to_png(_SVG.format(letters)))


# Python and the packages that adjudge needs: installed, importable, and of a version that it was made for.
#
# Packages are imported in a process of their own, so that one that breaks takes nothing else with it.


SECONDS_PACKAGES = 600
# Packages for Django can only be imported where Django has settings.
_CHILD = """
import importlib, json, sys
try:
    from django.conf import settings
    settings.configure()
except Exception:
    pass
for name, module in json.loads(sys.argv[1]).items():
    print(json.dumps([name, "ends the interpreter"]), flush=True)
    try:
        importlib.import_module(module)
        reason = ""
    except BaseException as fault:
        reason = f"{type(fault).__name__}: {fault}"
    print(json.dumps([name, reason]), flush=True)
"""


def find_import_faults(modules: Mapping[str, str]) -> dict[str, str]:
    """By name of a package, why its module cannot be imported; nothing for those that can."""
    call = [sys.executable, "-c", _CHILD, json.dumps(dict(modules))]
    try:
        printed = subprocess.run(call, capture_output=True, text=True, check=False, timeout=SECONDS_PACKAGES).stdout
    except subprocess.TimeoutExpired as late:
        printed = (late.stdout or b"").decode()
    # The last word on a package counts: it is written before the import is tried, and again afterwards.
    last: dict[str, str] = dict(json.loads(line) for line in printed.splitlines() if line.startswith("["))
    return {name: shown(" ".join(reason.split()), 160) for name, reason in last.items() if reason}


PURPOSES = {"postgres": "serving from PostgreSQL", "embeddings": "comparing topics by meaning in testset"}
_REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9._-]+)(\[[^\]]*\])?\s*(?P<range>[^;]*)(;(?P<marker>.*))?$")
_EXTRA = re.compile(r"extra\s*==\s*['\"]([^'\"]+)['\"]")
_BOUND = re.compile(r"(>=|<=|==|!=|<|>)\s*([0-9][0-9.]*)")


@dataclass(frozen=True)
class Requirement:
    """A package, the versions that will do, and the extra that asks for it."""

    name: str
    versions: str
    extra: str | None


def examine_python() -> Iterator[Finding]:
    """The interpreter."""
    interpreter = f"{platform.python_version()} at {sys.executable}, adjudge {__version__}"
    needed = str(metadata.metadata("adjudge")["Requires-Python"] or "")
    if is_in_range(platform.python_version(), needed):
        yield Finding("Python", "ok", interpreter)
    else:
        yield Finding("Python", "fault", interpreter, f"install Python {needed} and set up again")


def examine_dependencies() -> Iterator[Finding]:
    """What adjudge cannot do without: one line where all is well, one for each that is not."""
    needed = [requirement for requirement in list_requirements() if requirement.extra is None]
    faults = _examine_packages(needed)
    yield from faults
    if len(needed) > len(faults):
        of_all = f" of {len(needed)}" if faults else ""
        yield Finding(
            "dependencies", "ok", f"{len(needed) - len(faults)}{of_all} packages import, of the right versions"
        )


def examine_extras() -> Iterator[Finding]:
    """What is needed for some things only."""
    for extra in sorted({requirement.extra for requirement in list_requirements() if requirement.extra}):
        needed = [requirement for requirement in list_requirements() if requirement.extra == extra]
        purpose = PURPOSES.get(extra, extra)
        missing = [requirement.name for requirement in needed if _installed_version(requirement.name) is None]
        advice = f"pip install 'adjudge[{extra}]'"
        if len(missing) == len(needed):
            yield Finding(f"extra {extra}", "ok", f"not installed; for {purpose}: {advice}")
        elif missing:
            yield Finding(f"extra {extra}", "warning", f"{', '.join(missing)} missing, for {purpose}", advice)
        else:
            faults = _examine_packages(needed)
            yield from (Finding(finding.what, "warning", finding.found, advice) for finding in faults)
            if not faults:
                yield Finding(f"extra {extra}", "ok", f"installed, for {purpose}")


def list_requirements() -> list[Requirement]:
    """What the installed package says that it needs."""
    return [parse_requirement(line) for line in metadata.requires("adjudge") or []]


def parse_requirement(line: str) -> Requirement:
    """A line such as `numpy<3,>=2.2` or `psycopg[binary]<4; extra == 'postgres'`."""
    match = _REQUIREMENT.match(line)
    if match is None:
        return Requirement(line, "", None)
    extra = _EXTRA.search(match["marker"] or "")
    return Requirement(match["name"], match["range"].strip(), extra[1] if extra else None)


def is_in_range(version: str, versions: str) -> bool:
    """Whether a version lies in a range such as `<3,>=2.2`; the numbers count, not what follows them."""
    return all(
        _compare(_parse_version(version), sign, _parse_version(bound)) for sign, bound in _BOUND.findall(versions)
    )


def _compare(version: tuple[int, ...], sign: str, bound: tuple[int, ...]) -> bool:
    width = max(len(version), len(bound))
    left, right = (numbers + (0,) * (width - len(numbers)) for numbers in (version, bound))
    return {
        ">=": left >= right, "<=": left <= right, "==": left == right, "!=": left != right, "<": left < right,
        ">": left > right,
    }[sign]  # fmt: skip


def _parse_version(version: str) -> tuple[int, ...]:
    release = re.match(r"[0-9]+(\.[0-9]+)*", version)
    return tuple(int(part) for part in release[0].split(".")) if release else (0,)


def _installed_version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _examine_packages(needed: list[Requirement]) -> list[Finding]:
    """What is wrong with these packages."""
    faults = {package.name: fault for package in needed if (fault := _check_version(package)) is not None}
    modules = {package.name: module for package in needed if (module := _find_module(package.name)) is not None}
    broken = find_import_faults(modules)
    for package in needed:
        if package.name in broken:
            faults.setdefault(package.name, f"cannot be imported ({broken[package.name]})")
    return [
        Finding(
            package.name,
            "fault",
            faults[package.name],
            f"pip install '{package.name}{package.versions}', or set up again",
        )
        for package in needed
        if package.name in faults
    ]


def _check_version(package: Requirement) -> str | None:
    version = _installed_version(package.name)
    if version is None:
        return "not installed"
    return None if is_in_range(version, package.versions) else f"version {version}, {package.versions} is needed"


def _find_module(name: str) -> str | None:
    """The module to import of a package."""
    try:
        files = metadata.files(name) or []
    except metadata.PackageNotFoundError:
        return None
    tops = [file.parts[0].partition(".")[0] for file in files if file.suffix in (".py", ".so", ".pyd")]
    usable = [top for top in dict.fromkeys(tops) if top.isidentifier() and top != "tests"]
    return (
        min(usable, key=lambda top: (top.startswith("_"), _normalise(top) not in _normalise(name))) if usable else None
    )


def _normalise(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@dataclass(frozen=True)
class Examination:
    """What a user can choose."""

    database: str | None = None
    """A file of SQLite, or the address of a database, to be looked at as well."""
    port: int = 8000
    """The port on which `serve` would listen."""


def examine(wanted: Examination, tell: Callable[[str], None] = lambda _: None) -> Diagnosis:
    """Look at everything; `tell` is called with what is being looked at."""
    findings: list[Finding] = []
    for what, examiner in _list_examiners(wanted):
        tell(what)
        findings += _run_examiner(what, examiner)
    return Diagnosis(
        settings={"port": wanted.port, "database": wanted.database is not None},
        data=f"python{platform.python_version()}",
        findings=tuple(findings),
    )


def _list_examiners(wanted: Examination) -> Sequence[tuple[str, Examiner]]:
    asked = wanted.database
    return (
        ("Python", examine_python),
        ("dependencies", examine_dependencies),
        ("extras", examine_extras),
        ("SQLite", examine_sqlite),
        ("folders", examine_folders),
        ("charts", examine_charts),
        ("linear algebra", examine_linear_algebra),
        ("processors and memory", examine_resources),
        ("terminal", examine_terminal),
        ("port", lambda: examine_port(wanted.port)),
        ("clock", examine_clock),
        *((("database", lambda: examine_given(asked)),) if asked is not None else ()),
    )


def _run_examiner(what: str, examiner: Examiner) -> list[Finding]:
    """The findings; an examination that breaks off is itself a finding."""
    findings: list[Finding] = []
    try:
        findings.extend(examiner())
    except Exception as fault:  # noqa: BLE001 - a fault of one examination is reported, and the others still run
        reason = " ".join(f"{type(fault).__name__}: {fault}".split())
        findings.append(
            Finding(what, "fault", f"could not be examined ({reason})", "report this as a fault of adjudge")
        )
    return findings
