"""Examine an installation: everything that adjudge needs around it. `examine` is the main function.

An examination that fails itself is reported like any other fault; the others still run.
"""

from __future__ import annotations

import platform
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adjudge.doctor import database, machine, packages
from adjudge.doctor.diagnosis import Diagnosis, Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Examiner = Callable[[], Iterator[Finding]]

__all__ = ["Examination", "examine"]


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
    for what, examiner in _examiners(wanted):
        tell(what)
        findings += _guarded(what, examiner)
    return Diagnosis(
        settings={"port": wanted.port, "database": wanted.database is not None},
        data=f"python{platform.python_version()}",
        findings=tuple(findings),
    )


def _examiners(wanted: Examination) -> Sequence[tuple[str, Examiner]]:
    asked = wanted.database
    return (
        ("Python", packages.python),
        ("dependencies", packages.dependencies),
        ("extras", packages.extras),
        ("SQLite", database.sqlite),
        ("folders", machine.folders),
        ("charts", machine.charts),
        ("linear algebra", machine.linear_algebra),
        ("processors and memory", machine.resources),
        ("terminal", machine.terminal),
        ("port", lambda: machine.port(wanted.port)),
        ("clock", machine.clock),
        *((("database", lambda: database.given(asked)),) if asked is not None else ()),
    )


def _guarded(what: str, examiner: Examiner) -> list[Finding]:
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
