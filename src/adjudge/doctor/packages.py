"""Python and the packages that adjudge needs: installed, importable, and of a version that it was made for.

Packages are imported in a process of their own, so that one that breaks takes nothing else with it.
"""

from __future__ import annotations

import json
import platform
import re
import subprocess
import sys
from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING

from adjudge._version import __version__
from adjudge.core.errors import shown
from adjudge.doctor.diagnosis import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SECONDS = 600
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
        printed = subprocess.run(call, capture_output=True, text=True, check=False, timeout=SECONDS).stdout
    except subprocess.TimeoutExpired as late:
        printed = (late.stdout or b"").decode()
    # The last word on a package counts: it is written before the import is tried, and again afterwards.
    last: dict[str, str] = dict(json.loads(line) for line in printed.splitlines() if line.startswith("["))
    return {name: shown(" ".join(reason.split()), 160) for name, reason in last.items() if reason}


PURPOSES = {
    "postgres": "serving from PostgreSQL",
    "embeddings": "comparing topics by meaning in testset",
}
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
