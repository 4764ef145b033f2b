"""All results of a report, for `report` and `demo`: calls the stages one after the other, computes nothing itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from adjudge.core.errors import DataError
from adjudge.core.rng import DEFAULT_SEED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from adjudge.core.judgments import Judgments
    from adjudge.core.ranking import Ranking
    from adjudge.report.results import PairResults

_Computed = TypeVar("_Computed")

# Methods that stand beside the default, where they fit the judgments.
BESIDE = {
    "relative": ("expected-wins", "wins-no-ties", "wins-or-ties"),
    "scores": ("mixed-rank", "zscore", "raw"),
}


@dataclass(frozen=True, kw_only=True)
class ReportSettings:
    """What a user can choose for a report."""

    method: str | None = None
    texts: Mapping[str, Sequence[str]] | None = None
    only_passing: bool = False
    """Leave out the judgments of annotators who do not pass the check."""
    seed: int = DEFAULT_SEED


def pair_results(judgments: Judgments, settings: ReportSettings) -> PairResults:
    """Everything that a report shows of one language pair."""
    import polars as pl

    from adjudge.audit import AuditSettings, audit
    from adjudge.check import agree
    from adjudge.check.annotators import check
    from adjudge.core.imported import describe
    from adjudge.rank import RankSettings, rank
    from adjudge.report.results import PairResults

    missing: list[str] = []
    checked = _optional("The check of annotators", missing, lambda: check(judgments))
    if checked is not None and settings.only_passing:
        passing = pl.col("annotator").is_in(list(checked.passing))
        judgments = judgments.keep(passing, otherwise="judgment of an annotator who did not pass the check")
    ranking = rank(judgments, method=settings.method, settings=RankSettings(seed=settings.seed))
    return PairResults(
        counts=describe(judgments, {}),
        ranking=ranking,
        others=_others(judgments, ranking, settings),
        checked=checked,
        agreement=_optional("Agreement", missing, lambda: agree(judgments, texts=settings.texts, seed=settings.seed)),
        audit=_optional("The audit", missing, lambda: audit(judgments, settings=AuditSettings(seed=settings.seed))),
        missing=tuple(missing),
    )


def _others(judgments: Judgments, ranking: Ranking, settings: ReportSettings) -> tuple[Ranking, ...]:
    """The same judgments by other methods, for their order alone: no resamples."""
    from adjudge.rank import METHODS, RankSettings, rank

    kind = METHODS[ranking.method].judgments
    names = [name for name in BESIDE[kind] if name in METHODS and name != ranking.method]
    quick = RankSettings(resamples=0, seed=settings.seed)
    return tuple(rank(judgments, method=name, settings=quick) for name in names)


def _optional(what: str, missing: list[str], compute: Callable[[], _Computed]) -> _Computed | None:
    """A part that some data do not allow: left out, with the reason."""
    try:
        return compute()
    except DataError as fault:
        missing.append(f"{what} is left out: {fault}.")
        return None
