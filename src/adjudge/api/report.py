"""`report`: all that is to be said of a campaign. The stages are called one after the other for every language pair."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from adjudge.api.calls import column_names, compute_pairs, judgments_of, verb
from adjudge.core.errors import DataError
from adjudge.core.rng import DEFAULT_SEED
from adjudge.results.result import Result, to_plain
from adjudge.work import cached, current_workers, do_task, try_tasks, workers, worth_dividing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from adjudge.core.judgments import Judgments
    from adjudge.rank import RankSettings
    from adjudge.report.page import ReportPage
    from adjudge.results.agree import Agreement
    from adjudge.results.check import Checked
    from adjudge.results.rank import Ranking
    from adjudge.results.report import PairResults
    from adjudge.results.table import Table
    from adjudge.work import Outcome

_Computed = TypeVar("_Computed")
SECONDS_BESIDE_PER_ROW = 5e-5
"""CPU seconds that check, agreement and rankings take for a judgment at least."""


@dataclass(frozen=True, kw_only=True)
class ReportSettings:
    """What a user can choose for a report."""

    method: str | None = None
    texts: Mapping[str, Sequence[str]] | None = None
    only_passing: bool = False
    """Leave out the judgments of annotators who do not pass the check."""
    by: tuple[str, ...] = ()
    """Columns of the judgments by which the ranking is broken down."""
    documents_by: str | Path = "raw"
    """What the matrix of documents by systems shows."""
    seed: int = DEFAULT_SEED
    tell: Callable[[str], None] = lambda _: None
    """Called with what is being done, for those who wait."""


@dataclass(frozen=True, kw_only=True, repr=False)
class CampaignReport(Result):
    """Everything about a campaign, by language pair: `save` writes it, `pairs` holds the results themselves."""

    verb: ClassVar[str] = "report"

    title: str
    pairs: Mapping[str, PairResults]
    left_out: Mapping[str, str]
    """Language pairs that could not be ranked, and why."""

    def tables(self) -> tuple[Table, ...]:
        """One line per language pair."""
        from adjudge.report.build import overview

        return (overview(self.pairs),)

    def to_dict(self) -> dict[str, Any]:
        """The results of every language pair, by the verb that made them."""
        pairs = {name: {result.verb: result.to_dict() for result in pair.main} for name, pair in self.pairs.items()}
        about = {"settings": dict(self.settings), "version": self.version, "set_aside": to_plain(self.set_aside)}
        return {"signature": self.signature, **about, "notes": list(self.notes), "title": self.title, "pairs": pairs}

    def plot(self, chart: str | None = None) -> Any:
        """A chart of the ranking of the first language pair; `pairs[name].ranking.plot()` has those of the others."""
        return next(iter(self.pairs.values())).ranking.plot(chart)

    def page(self) -> ReportPage:
        """The report as data: every sentence, chart and table."""
        from adjudge.report.build import build_report

        return build_report(self.pairs, title=self.title)

    def save(self, path: str | Path) -> Path:
        """Write the report to one HTML file that needs no network, or as PDF.

        Args:
            path: the file to write; its ending, `.html` or `.pdf`, says what.
        """
        from adjudge.report.output.pages import write_page

        write_page(self.page(), Path(path))
        return Path(path)

    def save_paper(self, folder: str | Path) -> list[Path]:
        """Write what goes into a paper: a narrow LaTeX table, the figure, a draft paragraph, and BibTeX.

        Args:
            folder: where to write; made where it is missing.
        """
        from adjudge.report.output.paper import write_paper

        return write_paper(self.pairs, Path(folder))


@verb
def report(
    source: Any,
    *,
    method: str | None = None,
    title: str | None = None,
    texts: Mapping[str, Sequence[str]] | None = None,
    only_passing: bool = False,
    by: str | Iterable[str] = (),
    documents_by: str | Path = "raw",
    seed: int = DEFAULT_SEED,
    progress: Callable[[str], None] = lambda _: None,
    **reading: Any,
) -> CampaignReport:
    """Compute all that is to be said of a campaign: annotators, agreement, ranking, other methods, audits.

    Args:
        source: a path, several paths, a polars or pandas data frame, or judgments; of any number of language pairs.
        method: of the ranking; that of `adjudge.rank` where left out.
        title: of the report; the file's name where left out.
        texts: the source's lines of each source language by its code, for agreement by length.
        only_passing: leave out annotators who do not pass `adjudge.check`.
        by: columns of the judgments by which the ranking is broken down, in a list or joined by commas.
        documents_by: what the matrix of documents by systems shows: `raw` or `zscore` means, the `mixed` model's
            estimates, or a file of a metric's scores.
        seed: of everything drawn at random.
        progress: called with what is being done.
        **reading: how the source is read, as in `adjudge.read`: `format`, `pair`, ...

    Returns:
        The report: `.save("report.html")` writes it, `.pairs` holds the results by language pair.
    """
    judgments = judgments_of(source, reading)
    settings = ReportSettings(
        method=method,
        texts=texts,
        only_passing=only_passing,
        by=column_names(by),
        documents_by=documents_by,
        seed=seed,
        tell=progress,
    )
    file_name = Path(source).stem if isinstance(source, str | Path) else "Report"
    return make_report(judgments.by_pair(), settings, title=title or file_name)


def make_report(parts: Mapping[str, Judgments], settings: ReportSettings, *, title: str) -> CampaignReport:
    """The report on these language pairs; one of several that cannot be ranked is left out with a note."""
    from adjudge.audit import SECONDS_PER_ROW
    from adjudge.core.judgments import concat

    # One pair tells what is being done; of several, which may be done at the same time, their number is told.
    pair_settings = settings if len(parts) == 1 else replace(settings, tell=silent)
    with workers(watch=lambda line: settings.tell(line or "computing")):
        compute = partial(pair_results, settings=pair_settings)
        results, faults = compute_pairs(parts, compute, seconds_per_row=SECONDS_PER_ROW)
    used = concat([parts[name] for name in results])
    chosen = {"method": settings.method, "only_passing": settings.only_passing, "by": ",".join(settings.by) or None}
    return CampaignReport(
        settings={**chosen, "seed": settings.seed},
        data="+".join(parts[name].fingerprint for name in results),
        set_aside=used.final().set_aside,
        notes=used.notes,
        title=title,
        pairs=results,
        left_out={name: str(fault) for name, fault in faults.items()},
    )


def silent(_: str) -> None:
    """Nobody is told."""


def pair_results(judgments: Judgments, settings: ReportSettings) -> PairResults:
    """Everything that a report shows of one language pair."""
    import polars as pl

    from adjudge.audit import AuditSettings, audit
    from adjudge.rank.tournament import tournament
    from adjudge.results.import_export import describe
    from adjudge.results.report import PairResults

    missing: list[str] = []
    beside = _beside(judgments, settings)
    settings.tell("checking the annotators")
    checked = _if_possible("The check of annotators", missing, beside.checked)
    if checked is not None and settings.only_passing:
        passing = pl.col("annotator").is_in(list(checked.passing))
        judgments = judgments.keep(passing, otherwise="judgment of an annotator who did not pass the check")
        beside = replace(beside, judgments=judgments)
    settings.tell("ranking")
    ranking = beside.ranking()
    kind = ranking.kind
    audits = AuditSettings(by=settings.by, documents_by=settings.documents_by, seed=settings.seed)
    settings.tell("ranking by other methods, agreement and audits")
    return PairResults(
        counts=describe(judgments, {}),
        ranking=ranking,
        others=beside.others(ranking),
        tournament=_if_possible("The tournament", missing, lambda: tournament(judgments, seed=settings.seed))
        if kind == "relative"
        else None,
        checked=checked,
        agreement=_if_possible("Agreement", missing, lambda: beside.agreement(kind)),
        audit=_if_possible("The audit", missing, lambda: audit(judgments, settings=audits)),
        missing=tuple(missing),
    )


@dataclass(frozen=True, eq=False)
class _Beside:
    """What a report says beside the audit. Each is computed when it is asked for, or was before (`outcomes`)."""

    judgments: Judgments
    settings: ReportSettings
    cache: bool
    outcomes: Mapping[str, Outcome[Any]] = field(default_factory=dict)

    def __call__(self, part: str) -> dict[str, Outcome[Any]]:
        """What is said of the `people`, or the `rankings`, computed in this process or another."""
        # Other processes do not know what was chosen in this one.
        with workers(cache=self.cache):
            if part == "people":
                checked = do_task(lambda _: self.checked(), None)
                return {"checked": checked, "agreement": do_task(self.agreement, "")}
            ranking = do_task(lambda _: self.ranking(), None)
            others = {} if ranking.fault else {"others": do_task(self.others, ranking.unwrap())}
            return {"ranking": ranking, **others}

    def _once(self, name: str, compute: Callable[[], _Computed]) -> _Computed:
        return self.outcomes[name].unwrap() if name in self.outcomes else compute()

    def checked(self) -> Checked:
        from adjudge.check.annotators import check

        return self._once("checked", lambda: check(self.judgments))

    def ranking(self) -> Ranking:
        from adjudge.rank import RankSettings

        settings = RankSettings(seed=self.settings.seed)
        return self._once("ranking", lambda: _kept_ranking(self.judgments, self.settings.method, settings))

    def others(self, ranking: Ranking) -> tuple[Ranking, ...]:
        return self._once("others", lambda: _other_rankings(self.judgments, ranking, self.settings.seed))

    def agreement(self, kind: str) -> Agreement:
        """Agreement, by length of the source where texts are given and rankings were judged."""
        from adjudge.agree import agree

        texts = self.settings.texts if kind == "relative" else None
        return self._once("agreement", lambda: agree(self.judgments, texts=texts, seed=self.settings.seed))


def _beside(judgments: Judgments, settings: ReportSettings) -> _Beside:
    """The parts of a report beside the audit, divided between two processes where that is faster."""
    undivided = _Beside(judgments, settings, current_workers().cache)
    seconds = len(judgments) * SECONDS_BESIDE_PER_ROW
    # Agreement by length waits for the kind of the ranking, and a ranking of those who pass for the check.
    if settings.only_passing or settings.texts is not None or not worth_dividing(seconds, tasks=2, most_jobs=3):
        return undivided
    make, parts = replace(undivided, settings=replace(settings, tell=silent)), {"people": 2.0, "rankings": 1.0}
    outcomes = try_tasks(make, parts, what="annotators and rankings", sizes=[*parts.values()], known_seconds=seconds)
    return replace(undivided, outcomes=outcomes[0].unwrap() | outcomes[1].unwrap())


def _other_rankings(judgments: Judgments, ranking: Ranking, seed: int) -> tuple[Ranking, ...]:
    """The same judgments by other methods; of relative ones for their order alone, without resamples."""
    from adjudge.rank import METHODS, RankSettings

    settings = RankSettings(resamples=0 if ranking.kind == "relative" else None, seed=seed)
    others = []
    for name in METHODS[ranking.method].beside:
        try:
            others.append(_kept_ranking(judgments, name, settings))
        except DataError:  # a method that these data do not allow is no part of the comparison
            continue
    return tuple(other for other in others if other.method != ranking.method and set(other.order) & set(ranking.order))


def _kept_ranking(judgments: Judgments, method: str | None, settings: RankSettings) -> Ranking:
    """The ranking, from the cache if it was made before."""
    from adjudge.rank import rank

    key = (method, settings, judgments.fingerprint, judgments.set_aside, judgments.notes)
    return cached("rank", key, lambda: rank(judgments, method=method, settings=settings))


def _if_possible(what: str, missing: list[str], compute: Callable[[], _Computed]) -> _Computed | None:
    """A part that some data do not allow: left out, with the reason added to `missing`."""
    try:
        return compute()
    except DataError as fault:
        missing.append(f"{what} is left out: {fault}.")
        return None
