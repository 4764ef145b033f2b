"""What a report is made of: the results for each language pair, computed elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from adjudge.results.agree import Agreement
    from adjudge.results.audit import Audit
    from adjudge.results.check import Checked
    from adjudge.results.import_ import Imported
    from adjudge.results.rank import Ranking
    from adjudge.results.result import Result
    from adjudge.results.tournament import Tournament


@dataclass(frozen=True, kw_only=True)
class PairResults:
    """The results for one language pair; what was not computed, or cannot be, is None and left out of the report."""

    counts: Imported
    ranking: Ranking
    others: tuple[Ranking, ...] = ()
    """The same systems ranked by other methods."""
    tournament: Tournament | None = None
    checked: Checked | None = None
    agreement: Agreement | None = None
    audit: Audit | None = None
    missing: tuple[str, ...] = ()
    """Why a part is left out, in one sentence each."""

    @property
    def results(self) -> tuple[Result, ...]:
        """All results, for signatures and records of what was set aside."""
        maybe = (self.counts, self.ranking, *self.others, self.tournament, self.checked, self.agreement, self.audit)
        return tuple(one for one in maybe if one is not None)
