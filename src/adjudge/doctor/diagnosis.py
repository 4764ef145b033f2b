"""The result of examining an installation: what is as it should be, and what to do about the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from adjudge.core.wording import counted
from adjudge.results.result import Result
from adjudge.results.table import Table, text

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
