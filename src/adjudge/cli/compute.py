"""All results of a report, for `report` and `demo`: calls the stages one after the other, computes nothing itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adjudge.core.errors import DataError
from adjudge.core.rng import DEFAULT_SEED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from adjudge.core.agreement import Agreement
    from adjudge.core.judgments import Judgments
    from adjudge.core.ranking import Ranking
    from adjudge.report.results import PairResults

# Methods that stand beside the default, where they fit the judgments.
BESIDE = {
    "relative": ("expected-wins", "trueskill", "wins-no-ties", "wins-or-ties"),
    "scores": ("mixed-rank", "zscore", "raw"),
}


@dataclass(frozen=True, kw_only=True)
class ReportSettings:
    """What a user can choose for a report."""

    method: str | None = None
    texts: Mapping[str, Sequence[str]] | None = None
    seed: int = DEFAULT_SEED


def pair_results(judgments: Judgments, settings: ReportSettings) -> PairResults:
    """Everything that a report shows of one language pair."""
    from adjudge.core.imported import describe
    from adjudge.rank import RankSettings, rank
    from adjudge.report.results import PairResults

    ranking = rank(judgments, method=settings.method, settings=RankSettings(seed=settings.seed))
    missing: list[str] = []
    return PairResults(
        counts=describe(judgments, {}),
        ranking=ranking,
        others=_others(judgments, ranking, settings),
        agreement=_agreement(judgments, settings, missing),
        missing=tuple(missing),
    )


def _others(judgments: Judgments, ranking: Ranking, settings: ReportSettings) -> tuple[Ranking, ...]:
    """The same judgments by other methods, for their order alone: no resamples."""
    from adjudge.rank import METHODS, RankSettings, rank

    kind = METHODS[ranking.method].judgments
    names = [name for name in BESIDE[kind] if name in METHODS and name != ranking.method]
    quick = RankSettings(resamples=0, seed=settings.seed)
    return tuple(rank(judgments, method=name, settings=quick) for name in names)


def _agreement(judgments: Judgments, settings: ReportSettings, missing: list[str]) -> Agreement | None:
    from adjudge.check import agree

    try:
        return agree(judgments, texts=settings.texts, seed=settings.seed)
    except DataError as fault:
        missing.append(f"Agreement is left out: {fault}.")
        return None
