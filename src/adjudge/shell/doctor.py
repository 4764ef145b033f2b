"""Examine an installation: everything that adjudge needs around it. `examine` is the main function.

An examination that fails itself is reported like any other fault; the others still run.
"""

from __future__ import annotations

import json
import locale
import operator
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
from contextlib import closing, suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

from adjudge._version import __version__
from adjudge.datasets.catalogue import data_folder, show_size
from adjudge.server.database import hide_password, is_postgres
from adjudge.table.errors import install_line, shown
from adjudge.table.files import exists
from adjudge.table.results import Result, Table, text
from adjudge.table.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

State = Literal["ok", "warning", "fault"]


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    what: str
    state: State
    found: str
    advice: str = ""
    """What to do; nothing where all is well."""


def _finding(what: str, found: str, advice: str, *, bad: State | None = "warning") -> Finding:
    """What was found is good, where `bad` is None, or of this state and in need of advice."""
    return Finding(what, "ok", found) if bad is None else Finding(what, bad, found, advice)


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
    log = "write-ahead log works" if mode == "wal" else f"no write-ahead log in the temporary folder ({mode})"
    advice = "keep campaigns on a local disk, not on a network folder"
    yield _finding("SQLite", f"{version}, {log}", advice, bad=None if mode == "wal" else "warning")


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
    address = f"file:{quote(str(file.resolve()))}?mode=ro"
    try:
        with closing(sqlite3.connect(address, uri=True, timeout=SECONDS)) as opened:
            problems = [str(row[0]) for row in opened.execute("PRAGMA integrity_check(10)")]
            held = opened.execute("SELECT 1 FROM sqlite_master WHERE name = 'django_migrations'").fetchone()
            applied = {str(row[0]) for row in opened.execute(_APPLIED)} if held and problems == ["ok"] else set()
    except sqlite3.Error as fault:
        advice = "restore it from a copy; it must be a database that 'adjudge serve' made"
        yield Finding("database", "fault", f"{file}: {fault}", advice)
        return
    if problems != ["ok"]:
        reason = "; ".join(problems)
        yield Finding("database", "fault", f"{file}: {reason}", "restore it from a copy, then export again")
        return
    yield Finding("database", "ok", f"{file}: whole (integrity check)")
    yield _compare_tables(applied)


def _examine_postgres(url: str) -> Iterator[Finding]:
    try:
        import psycopg
    except ImportError:
        yield Finding("database", "fault", "PostgreSQL needs its driver", install_line("postgres"))
        return
    shown, parts = hide_password(url), urlsplit(url)
    # The server's library does not know our own word in the address.
    query = urlencode([(name, value) for name, value in parse_qsl(parts.query) if name != "pooling"])
    try:
        with psycopg.connect(urlunsplit(parts._replace(query=query)), connect_timeout=SECONDS) as opened:
            version = opened.info.server_version // 10_000
            # What a server without it acknowledges can be lost with its power.
            durable = (opened.execute("SHOW fsync").fetchone() or ("",))[0]
            held = (opened.execute("SELECT to_regclass('django_migrations')").fetchone() or (None,))[0]
            applied = {str(row[0]) for row in opened.execute(_APPLIED)} if held else set()
    except psycopg.Error as fault:
        advice = "check the address, the rights and that the server runs"
        yield Finding("database", "fault", f"{shown}: {' '.join(str(fault).split())}", advice)
        return
    yield Finding("database", "ok", f"{shown}: PostgreSQL {version}")
    if durable != "on":
        yield Finding("durability", "warning", f"fsync is {durable}", "set fsync = on, or a power cut loses judgments")
    yield _compare_tables(applied)


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


# The machine: linear algebra, processors, memory, folders, fonts, terminal and port.


LITTLE_MEMORY = 1_000_000_000


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
    advice = "set OPENBLAS_NUM_THREADS=1: threads wait for each other"
    yield _finding("linear algebra", library, advice, bad="warning" if most > _count_processors() else None)


def _count_processors() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def examine_resources(
    meminfo: Path = Path("/proc/meminfo"), limit: Path = Path("/sys/fs/cgroup/memory.max")
) -> Iterator[Finding]:
    """Processors, and the memory that is left, also where a container sets a limit."""
    yield Finding("processors", "ok", str(_count_processors()))
    known: list[int] = []
    with suppress(OSError, KeyError, ValueError):
        lines = dict(line.split(":", 1) for line in meminfo.read_text().splitlines() if ":" in line)
        known.append(int(lines["MemAvailable"].split()[0]) * 1024)
    with suppress(OSError, ValueError):
        known.append(int(limit.read_text()) - int(limit.with_name("memory.current").read_text()))
    if not known:
        yield Finding("memory", "ok", "not known on this system")
        return
    advice = "close other programs, or give the container more: large campaigns need 1 GB"
    bad: State | None = "warning" if min(known) < LITTLE_MEMORY else None
    yield _finding("memory", f"{show_size(min(known))} free", advice, bad=bad)


def examine_terminal() -> Iterator[Finding]:
    """Whether every script can be printed."""
    written = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().replace("-", "")
    encodings = f"output {written}, files {locale.getpreferredencoding(do_setlocale=False).lower()}"
    advice = "set PYTHONUTF8=1 or LC_ALL=C.UTF-8, to see names in every script"
    yield _finding("encoding", encodings, advice, bad=None if written == "utf8" else "warning")


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


LITTLE_ROOM = 200_000_000


def examine_folders() -> Iterator[Finding]:
    """Temporary files, the data sets, and the folder where the command was called."""
    temporary = Path(tempfile.gettempdir())
    yield examine_folder("temporary files", temporary, "set TMPDIR to a folder of your own", needed=True)
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


_SCRIPTS = {"Latin": "A", "Greek": "Ω", "Cyrillic": "Ж", "Arabic": "ع", "Hindi": "क", "Chinese": "中", "Korean": "한"}
# Not assigned to any script: drawn as what a font shows for letters that it lacks.
_NO_LETTER = "\u0378"
_SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="30">'
    '<text x="5" y="20" font-family="sans-serif" font-size="16">{}</text></svg>'
)
FONTS = "install fonts for them, on Debian fonts-noto-core and fonts-noto-cjk; pages in a browser are not affected"


def examine_letters() -> Iterator[Finding]:
    """The scripts that can be drawn in PNG and PDF, where the extra `pdf` is installed."""
    from adjudge.reports.files import can_write_images, write_image

    if not can_write_images():
        return

    def draw(letter: str) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "letter.png"
            write_image(_SVG.format(letter), path)
            return path.read_bytes()

    # Letters of a script that no font has look like a letter that no font can have.
    nothing = [draw(letter) for letter in (_NO_LETTER, "")]
    missing = [name for name, letter in _SCRIPTS.items() if draw(letter) in nothing]
    if missing:
        yield Finding("letters in PNG charts", "warning", f"none for {', '.join(missing)}", FONTS)
    else:
        yield Finding("letters in PNG charts", "ok", ", ".join(_SCRIPTS))


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
    """Say why modules cannot be imported, by the name of their package; those that can are left out."""
    call = [sys.executable, "-c", _CHILD, json.dumps(dict(modules))]
    try:
        printed = subprocess.run(call, capture_output=True, text=True, check=False, timeout=SECONDS_PACKAGES).stdout
    except subprocess.TimeoutExpired as late:
        printed = (late.stdout or b"").decode()
    # The last word on a package counts: it is written before the import is tried, and again afterwards.
    last: dict[str, str] = dict(json.loads(line) for line in printed.splitlines() if line.startswith("["))
    return {name: shown(" ".join(reason.split()), 160) for name, reason in last.items() if reason}


PURPOSES = {
    "cluster": "repetitions on a cluster",
    "embeddings": "comparing topics by meaning in testset",
    "metrics": "computing BLEU, chrF and TER",
    "pdf": "reports as PDF",
    "postgres": "serving from PostgreSQL",
    "serve": "collecting judgments in a browser",
    "testset": "checking source texts",
}
_REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9._-]+)(\[[^\]]*\])?\s*(?P<range>[^;]*)(;(?P<marker>.*))?$")
_EXTRA = re.compile(r"extra\s*==\s*['\"]([^'\"]+)['\"]")
_BOUND = re.compile(r"(>=|<=|==|!=|<|>)\s*([0-9][0-9.]*)")
_SIGNS = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
}


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
    bad: State | None = None if is_in_range(platform.python_version(), needed) else "fault"
    yield _finding("Python", interpreter, f"install Python {needed} and set up again", bad=bad)


def examine_dependencies() -> Iterator[Finding]:
    """What adjudge cannot do without: one line where all is well, one for each that is not."""
    needed = [requirement for requirement in list_requirements() if requirement.extra is None]
    faults = _examine_packages(needed)
    yield from faults
    if len(needed) > len(faults):
        good = f"{len(needed) - len(faults)}{f' of {len(needed)}' if faults else ''}"
        yield Finding("dependencies", "ok", f"{good} packages import, of the right versions")


def examine_extras() -> Iterator[Finding]:
    """What is needed for some things only."""
    for extra in sorted({requirement.extra for requirement in list_requirements() if requirement.extra}):
        needed = [requirement for requirement in list_requirements() if requirement.extra == extra]
        purpose = PURPOSES.get(extra, extra)
        missing = [requirement.name for requirement in needed if _installed_version(requirement.name) is None]
        advice = install_line(extra)
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
    found = [parse_requirement(line) for line in metadata.requires("adjudge") or []]
    return [requirement for requirement in found if requirement.name != "adjudge"]  # an extra that brings another


def parse_requirement(line: str) -> Requirement:
    """A line such as `numpy<3,>=2.2` or `psycopg[binary]<4; extra == 'postgres'`."""
    match = _REQUIREMENT.match(line)
    if match is None:
        return Requirement(line, "", None)
    extra = _EXTRA.search(match["marker"] or "")
    return Requirement(match["name"], match["range"].strip(), extra[1] if extra else None)


def is_in_range(version: str, versions: str) -> bool:
    """Whether a version lies in a range such as `<3,>=2.2`; the numbers count, not what follows them."""
    left = _parse_version(version)
    return all(_SIGNS[sign](left, _parse_version(bound)) for sign, bound in _BOUND.findall(versions))


def _parse_version(version: str) -> tuple[int, ...]:
    """The numbers of a version without zeros at the end, so that 1.2 is 1.2.0."""
    release = re.match(r"[0-9]+(\.[0-9]+)*", version)
    numbers = re.sub(r"(\.0+)+$", "", release[0]) if release else "0"
    return tuple(int(part) for part in numbers.split("."))


def _installed_version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _examine_packages(needed: list[Requirement]) -> list[Finding]:
    """What is wrong with these packages."""
    names = [package.name for package in needed]
    broken = find_import_faults({name: module for name in names if (module := _find_module(name))})
    findings = []
    for package in needed:
        name, versions, found = package.name, package.versions, _installed_version(package.name)
        if found is None:
            fault = "not installed"
        elif not is_in_range(found, versions):
            fault = f"version {found}, {versions} is needed"
        elif name in broken:
            fault = f"cannot be imported ({broken[name]})"
        else:
            continue
        findings.append(Finding(name, "fault", fault, f"pip install '{name}{versions}', or set up again"))
    return findings


def _find_module(name: str) -> str | None:
    """The module to import of a package."""
    try:
        files = metadata.files(name) or []
    except metadata.PackageNotFoundError:
        return None
    tops = [file.parts[0].partition(".")[0] for file in files if file.suffix in (".py", ".so", ".pyd")]
    usable = [top for top in dict.fromkeys(tops) if top.isidentifier() and top != "tests"]

    def normalise(name: str) -> str:
        return re.sub(r"[-_.]+", "-", name).lower()

    by_likeness = sorted(usable, key=lambda top: (top.startswith("_"), normalise(top) not in normalise(name)))
    return next(iter(by_likeness), None)


def examine(
    *, database: str | None = None, port: int = 8000, tell: Callable[[str], None] = lambda _: None
) -> Diagnosis:
    """Look at everything.

    Args:
        database: a file of SQLite, or the address of a database, to be looked at as well.
        port: the port on which `serve` would listen.
        tell: is called with what is being looked at.
    """
    examiners: dict[str, Callable[[], Iterator[Finding]]] = {
        "Python": examine_python,
        "dependencies": examine_dependencies,
        "extras": examine_extras,
        "SQLite": examine_sqlite,
        "folders": examine_folders,
        "letters": examine_letters,
        "linear algebra": examine_linear_algebra,
        "processors and memory": examine_resources,
        "terminal": examine_terminal,
        "port": lambda: examine_port(port),
    }
    if database is not None:
        examiners["database"] = lambda: examine_given(database)
    findings: list[Finding] = []
    for what, examiner in examiners.items():
        tell(what)
        try:
            findings.extend(examiner())
        except Exception as fault:  # noqa: BLE001 - a fault of one examination is reported, and the others still run
            reason = " ".join(f"could not be examined ({type(fault).__name__}: {fault})".split())
            findings.append(Finding(what, "fault", reason, "report this as a fault of adjudge"))
    return Diagnosis(
        settings={"port": port, "database": database is not None},
        data=f"python{platform.python_version()}",
        findings=tuple(findings),
    )
