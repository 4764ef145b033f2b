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
        ("Python", packages.examine_python),
        ("dependencies", packages.examine_dependencies),
        ("extras", packages.examine_extras),
        ("SQLite", database.examine_sqlite),
        ("folders", machine.examine_folders),
        ("charts", machine.examine_charts),
        ("linear algebra", machine.examine_linear_algebra),
        ("processors and memory", machine.examine_resources),
        ("terminal", machine.examine_terminal),
        ("port", lambda: machine.examine_port(wanted.port)),
        ("clock", machine.examine_clock),
        *((("database", lambda: database.examine_given(asked)),) if asked is not None else ()),
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
