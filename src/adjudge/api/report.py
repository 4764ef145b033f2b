"""All results that a report on one language pair shows: the stages are called one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from adjudge.core.errors import DataError
from adjudge.core.rng import DEFAULT_SEED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from adjudge.core.judgments import Judgments
    from adjudge.results.agree import Agreement
    from adjudge.results.check import Checked
    from adjudge.results.rank import Ranking
    from adjudge.results.report import PairResults

_Computed = TypeVar("_Computed")


@dataclass(frozen=True, kw_only=True)
class ReportSettings:
    """What a user can choose for a report."""

    method: str | None = None
    texts: Mapping[str, Sequence[str]] | None = None
    only_passing: bool = False
    """Leave out the judgments of annotators who do not pass the check."""
    seed: int = DEFAULT_SEED
    tell: Callable[[str], None] = lambda _: None
    """Called with what is being done, for those who wait."""


def pair_results(judgments: Judgments, settings: ReportSettings) -> PairResults:
    """Everything that a report shows of one language pair."""
    from adjudge.audit import AuditSettings, audit
    from adjudge.check.annotators import check
    from adjudge.rank import RankSettings, rank
    from adjudge.rank.tournament import tournament
    from adjudge.results.import_export import describe
    from adjudge.results.report import PairResults

    missing: list[str] = []
    settings.tell("checking the annotators")
    checked = _if_possible("The check of annotators", missing, lambda: check(judgments))
    if checked is not None and settings.only_passing:
        judgments = _passing(judgments, checked)
    settings.tell("ranking")
    ranking = rank(judgments, method=settings.method, settings=RankSettings(seed=settings.seed))
    kind = ranking.kind
    settings.tell("ranking by other methods, agreement and audits")
    return PairResults(
        counts=describe(judgments, {}),
        ranking=ranking,
        others=_other_rankings(judgments, ranking, kind, settings.seed),
        tournament=_if_possible("The tournament", missing, lambda: tournament(judgments, seed=settings.seed))
        if kind == "relative"
        else None,
        checked=checked,
        agreement=_if_possible("Agreement", missing, lambda: _agreement(judgments, kind, settings)),
        audit=_if_possible("The audit", missing, lambda: audit(judgments, settings=AuditSettings(seed=settings.seed))),
        missing=tuple(missing),
    )


def _passing(judgments: Judgments, checked: Checked) -> Judgments:
    import polars as pl

    passing = pl.col("annotator").is_in(list(checked.passing))
    return judgments.keep(passing, otherwise="judgment of an annotator who did not pass the check")


def _other_rankings(judgments: Judgments, ranking: Ranking, kind: str, seed: int) -> tuple[Ranking, ...]:
    """The same judgments by other methods; of relative ones for their order alone, without resamples."""
    from adjudge.rank import METHODS, RankSettings, rank

    settings = RankSettings(resamples=0 if kind == "relative" else None, seed=seed)
    rankings = []
    for name in METHODS[ranking.method].beside:
        try:
            rankings.append(rank(judgments, method=name, settings=settings))
        except DataError:  # a method that these data do not allow is no part of the comparison
            continue
    return tuple(
        other for other in rankings if other.method != ranking.method and set(other.order) & set(ranking.order)
    )


def _agreement(judgments: Judgments, kind: str, settings: ReportSettings) -> Agreement:
    """Agreement, by length of the source where texts are given and rankings were judged."""
    from adjudge.agree import agree

    return agree(judgments, texts=settings.texts if kind == "relative" else None, seed=settings.seed)


def _if_possible(what: str, missing: list[str], compute: Callable[[], _Computed]) -> _Computed | None:
    """A part that some data do not allow: left out, with the reason added to `missing`."""
    try:
        return compute()
    except DataError as fault:
        missing.append(f"{what} is left out: {fault}.")
        return None
