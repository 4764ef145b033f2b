"""The contents of a report (the results for each language pair), and the files that a command wrote."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adjudge.results.result import Result
from adjudge.results.table import Table, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.results.agree import Agreement
    from adjudge.results.audit import Audit
    from adjudge.results.check import Checked
    from adjudge.results.import_export import Imported
    from adjudge.results.rank import Ranking
    from adjudge.results.tournament import Tournament


@dataclass(frozen=True, kw_only=True)
class PairResults:
    """The results for one language pair; parts that were not computed are None and left out of the report."""

    counts: Imported
    ranking: Ranking
    others: tuple[Ranking, ...] = ()
    """The same systems ranked by other methods."""
    tournament: Tournament | None = None
    checked: Checked | None = None
    agreement: Agreement | None = None
    audit: Audit | None = None
    only_passing: bool = False
    """Whether the judgments of annotators who do not pass the check were left out."""
    missing: tuple[str, ...] = ()
    """The reasons why parts are left out, one sentence each."""

    @property
    def main(self) -> tuple[Result, ...]:
        """The results without the rankings by other methods."""
        maybe = (self.counts, self.ranking, self.tournament, self.checked, self.agreement, self.audit)
        return tuple(result for result in maybe if result is not None)

    @property
    def results(self) -> tuple[Result, ...]:
        """All results, for signatures and records of what was set aside."""
        maybe = (self.counts, self.ranking, *self.others, self.tournament, self.checked, self.agreement, self.audit)
        return tuple(result for result in maybe if result is not None)


@dataclass(frozen=True, kw_only=True)
class Written(Result):
    """Written files and folders, and their language pairs."""

    command: str
    files: Sequence[str]
    pairs: Sequence[str]

    @property
    def verb(self) -> str:  # type: ignore[override]
        """The command that wrote the files."""
        return self.command

    def to_dict(self) -> dict[str, Any]:
        """The documented keys: the written files, besides the settings."""
        plain = super().to_dict()
        del plain["command"]
        return plain

    def tables(self) -> tuple[Table, ...]:
        """One line per file."""
        return (Table("Written", (text("file"),), tuple((file,) for file in self.files)),)
