"""Python and the packages that adjudge needs: there, importable, and of a version that it was made for."""

from __future__ import annotations

import platform
import re
import sys
from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING

from adjudge._version import __version__
from adjudge.doctor.diagnosis import Finding
from adjudge.doctor.importing import importing

if TYPE_CHECKING:
    from collections.abc import Iterator

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


def python() -> Iterator[Finding]:
    """The interpreter."""
    found = f"{platform.python_version()} at {sys.executable}, adjudge {__version__}"
    needed = str(metadata.metadata("adjudge")["Requires-Python"] or "")
    if fits(platform.python_version(), needed):
        yield Finding("Python", "ok", found)
    else:
        yield Finding("Python", "fault", found, f"install Python {needed} and set up again")


def dependencies() -> Iterator[Finding]:
    """What adjudge cannot do without: one line where all is well, one for each that is not."""
    needed = [one for one in requirements() if one.extra is None]
    faults = _examined(needed)
    yield from faults
    if len(needed) > len(faults):
        rest = f" of {len(needed)}" if faults else ""
        yield Finding("dependencies", "ok", f"{len(needed) - len(faults)}{rest} packages import, of the right versions")


def extras() -> Iterator[Finding]:
    """What is needed for some things only."""
    for extra in sorted({one.extra for one in requirements() if one.extra}):
        needed = [one for one in requirements() if one.extra == extra]
        purpose = PURPOSES.get(extra, extra)
        missing = [one.name for one in needed if _version(one.name) is None]
        advice = f"pip install 'adjudge[{extra}]'"
        if len(missing) == len(needed):
            yield Finding(f"extra {extra}", "ok", f"not installed; for {purpose}: {advice}")
        elif missing:
            yield Finding(f"extra {extra}", "warning", f"{', '.join(missing)} missing, for {purpose}", advice)
        else:
            faults = _examined(needed)
            yield from (Finding(one.what, "warning", one.found, advice) for one in faults)
            if not faults:
                yield Finding(f"extra {extra}", "ok", f"installed, for {purpose}")


def requirements() -> list[Requirement]:
    """What the installed package says that it needs."""
    return [parsed(line) for line in metadata.requires("adjudge") or []]


def parsed(line: str) -> Requirement:
    """A line such as `numpy<3,>=2.2` or `psycopg[binary]<4; extra == 'postgres'`."""
    match = _REQUIREMENT.match(line)
    if match is None:
        return Requirement(line, "", None)
    extra = _EXTRA.search(match["marker"] or "")
    return Requirement(match["name"], match["range"].strip(), extra[1] if extra else None)


def fits(version: str, versions: str) -> bool:
    """Whether a version lies in a range such as `<3,>=2.2`; the numbers count, not what follows them."""
    return all(_holds(_numbers(version), sign, _numbers(bound)) for sign, bound in _BOUND.findall(versions))


def _holds(version: tuple[int, ...], sign: str, bound: tuple[int, ...]) -> bool:
    width = max(len(version), len(bound))
    left, right = (one + (0,) * (width - len(one)) for one in (version, bound))
    return {
        ">=": left >= right, "<=": left <= right, "==": left == right, "!=": left != right, "<": left < right,
        ">": left > right,
    }[sign]  # fmt: skip


def _numbers(version: str) -> tuple[int, ...]:
    release = re.match(r"[0-9]+(\.[0-9]+)*", version)
    return tuple(int(part) for part in release[0].split(".")) if release else (0,)


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _examined(needed: list[Requirement]) -> list[Finding]:
    """What is wrong with these packages."""
    faults = {one.name: fault for one in needed if (fault := _wrong_version(one)) is not None}
    broken = importing({one.name: module for one in needed if (module := _module(one.name)) is not None})
    for one in needed:
        if one.name in broken:
            faults.setdefault(one.name, f"cannot be imported ({broken[one.name]})")
    return [
        Finding(one.name, "fault", faults[one.name], f"pip install '{one.name}{one.versions}', or set up again")
        for one in needed
        if one.name in faults
    ]


def _wrong_version(one: Requirement) -> str | None:
    version = _version(one.name)
    if version is None:
        return "not installed"
    return None if fits(version, one.versions) else f"version {version}, {one.versions} is needed"


def _module(name: str) -> str | None:
    """The module to import of a package."""
    try:
        files = metadata.files(name) or []
    except metadata.PackageNotFoundError:
        return None
    tops = [file.parts[0].partition(".")[0] for file in files if file.suffix in (".py", ".so", ".pyd")]
    usable = [top for top in dict.fromkeys(tops) if top.isidentifier() and top != "tests"]
    return min(usable, key=lambda top: (top.startswith("_"), _plain(top) not in _plain(name))) if usable else None


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
