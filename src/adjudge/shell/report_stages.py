"""The whole report of a campaign. The stages are called one after the other for every language pair."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from adjudge.shell.options import silent
from adjudge.shell.reading import compute_pairs
from adjudge.table.errors import DataError
from adjudge.table.results import Result, Table, to_plain
from adjudge.table.settings import by_option, documents_by_option, method_option, option, seed_option
from adjudge.work.cache import cached
from adjudge.work.tasks import Outcome, current_workers, do_task, is_worth_dividing, try_tasks, workers

if TYPE_CHECKING:
    from adjudge.evidence.audit import Audit, AuditSettings
    from adjudge.evidence.explanation import Explained
    from adjudge.people.check import Quality
    from adjudge.people.results import Agreement, Checked
    from adjudge.ranking.ranking import Ranking
    from adjudge.ranking.tournament import Tournament
    from adjudge.reports.build import PairResults
    from adjudge.reports.page import ReportPage
    from adjudge.table.judgments import Judgments

_Computed = TypeVar("_Computed")
_PEOPLE, _RANKINGS = ("checked", "agreement"), ("ranking", "others", "explained")
_SHARE = {_PEOPLE: 0.5, _RANKINGS: 0.8}
"""The duration of the parts other than the audit, in the unit of `AuditTasks.sizes`."""


def _read_texts(named: list[str]) -> Mapping[str, Sequence[str]]:
    from adjudge.people.agreement import read_source_texts

    return read_source_texts(named)


@dataclass(frozen=True, kw_only=True)
class ReportSettings:
    """The settings of a report."""

    method: str | None = method_option("Ranking method. Default: as in 'adjudge rank'.")
    texts: Mapping[str, Sequence[str]] | None = option(
        None,
        "Source text with segment n on line n, for agreement by length.",
        metavar="[LANG=]FILE",
        typed=list[str] | None,
        parse=_read_texts,
        about="the lines of the source text for each source language code, for agreement by length.",
    )
    only_passing: bool = option(
        False, "Also leave out annotators who could not be tested by 'adjudge check'.", "--only-passing"
    )
    by: tuple[str, ...] = by_option()
    documents_by: str | Path = documents_by_option()
    seed: int = seed_option()
    progress: Callable[[str], None] = option(silent, "Called with progress messages.", only="python")

    @property
    def audit(self) -> AuditSettings:
        """Those of the audit."""
        from adjudge.evidence.audit import AuditSettings

        return AuditSettings(by=self.by, documents_by=self.documents_by, seed=self.seed)


@dataclass(frozen=True, kw_only=True, repr=False)
class CampaignReport(Result):
    """The report of a campaign: `save` writes it, `pairs` has the results by language pair."""

    verb: ClassVar[str] = "report"

    title: str
    pairs: Mapping[str, PairResults]
    left_out: Mapping[str, str]
    """Language pairs that could not be ranked, and why."""

    def tables(self) -> tuple[Table, ...]:
        """One line per language pair."""
        from adjudge.reports.build import overview

        return (overview(self.pairs),)

    def to_dict(self) -> dict[str, Any]:
        """The results of every language pair, by the function that computed them."""
        pairs = {name: {result.verb: result.to_dict() for result in pair.main} for name, pair in self.pairs.items()}
        about = {"settings": dict(self.settings), "version": self.version, "set_aside": to_plain(self.set_aside)}
        return {"signature": self.signature, **about, "notes": list(self.notes), "title": self.title, "pairs": pairs}

    def plot(self, chart: str | None = None) -> Any:
        """A chart of the ranking of the first language pair; `pairs[name].ranking.plot()` has those of the others."""
        return next(iter(self.pairs.values())).ranking.plot(chart)

    def page(self) -> ReportPage:
        """The report as data: every sentence, chart and table."""
        from adjudge.reports.build import build_report

        return build_report(self.pairs, title=self.title)

    def save(self, path: str | Path) -> Path:
        """Write the report to one self-contained HTML file, or as PDF; other endings write its overview.

        Args:
            path: the file to write, `.html` or `.pdf`; `.json` writes all numbers.
        """
        from adjudge.reports.files import ENDINGS, write_page

        if Path(path).suffix.lower() not in ENDINGS:
            return super().save(path)
        write_page(self.page(), Path(path))
        return Path(path)

    def save_paper(self, folder: str | Path) -> list[Path]:
        """Write files for a paper: a narrow LaTeX table, the figure, a draft paragraph, and BibTeX.

        Args:
            folder: the folder to write to; created if it is missing.
        """
        from adjudge.reports.latex import write_paper

        return write_paper(self.pairs, Path(folder))


def compute_or_note(what: str, missing: list[str], compute: Callable[[], _Computed]) -> _Computed | None:
    """Leave out a part that the data do not allow, and add the reason to `missing`."""
    try:
        return compute()
    except DataError as fault:
        missing.append(f"{what} is left out: {fault.for_command_line()}.")
        return None


def make_report(
    judged: Mapping[str, Judgments], settings: ReportSettings, *, title: str, everyone: bool = False
) -> CampaignReport:
    """The report on these language pairs. If there are several, one that cannot be ranked is left out with a note.

    Args:
        judged: the judgments of everybody by language pair.
        settings: those of the report.
        title: of the page.
        everyone: whether annotators who fail the rule of quality count all the same.
    """
    from adjudge.evidence.audit import SECONDS_PER_ROW
    from adjudge.people.check import quality_of
    from adjudge.table.judgments import concat

    # For one pair, its steps are shown; for several, which may run at the same time, the number of pairs done.
    pair_settings = settings if len(judged) == 1 else replace(settings, progress=silent)
    qualities = {name: quality_of(part, all_count=everyone) for name, part in judged.items()}
    parts = {name: quality.kept for name, quality in qualities.items()}
    with workers(watch=lambda line: settings.progress(line or "computing")):
        compute = partial(pair_results, settings=pair_settings)
        results, faults = compute_pairs(qualities, compute, seconds_per_row=SECONDS_PER_ROW)
    used = concat([parts[name] for name in results])
    by, seed = ",".join(settings.by) or None, settings.seed
    return CampaignReport(
        settings={"method": settings.method, "only_passing": settings.only_passing, "by": by, "seed": seed},
        data="+".join(parts[name].fingerprint for name in results),
        set_aside=used.final().set_aside,
        notes=used.notes,
        title=title,
        pairs=results,
        left_out={name: fault.for_command_line() for name, fault in faults.items()},
    )


def pair_results(quality: Quality, settings: ReportSettings) -> PairResults:
    """Everything that a report shows of one language pair: the check of everybody, all else of those who count."""
    import polars as pl

    from adjudge.evidence.conditions import find_oddities
    from adjudge.readers.summary import describe_answers
    from adjudge.reports.build import PairResults

    missing: list[str] = []
    judgments = quality.kept
    parts = _compute_parts(judgments, quality.everyone, settings)
    settings.progress("checking the annotators")
    checked = compute_or_note("The check of annotators", missing, parts.checked)
    if checked is not None and settings.only_passing:
        passing = pl.col("annotator").is_in(list(checked.passing))
        judgments = judgments.keep(passing, otherwise="judgment of an annotator who did not pass the check")
        parts = replace(parts, judgments=judgments)
    settings.progress("ranking")
    ranking = parts.ranking()
    settings.progress("ranking by other methods, agreement and audits")
    return PairResults(
        counts=describe_answers(judgments, {}),
        ranking=ranking,
        others=parts.others(ranking),
        explained=parts.explained(),
        tournament=compute_or_note("The tournament", missing, parts.tournament) if ranking.kind == "relative" else None,
        checked=checked,
        agreement=compute_or_note("Agreement", missing, lambda: parts.agreement(ranking.kind)),
        audit=compute_or_note("The audit", missing, parts.audit),
        only_passing=settings.only_passing,
        failing=quality.failing,
        otherwise=None if quality.otherwise is None else parts.otherwise(quality.otherwise),
        missing=tuple(missing),
        record=judgments.record,
        oddities=find_oddities(judgments),
    )


@dataclass(frozen=True, eq=False)
class _Parts:
    """The parts of a report on a language pair. Each is computed on demand, or was computed before (`outcomes`)."""

    judgments: Judgments
    everyone: Judgments
    """Also those of annotators who are left out, for the check."""
    settings: ReportSettings
    cache: bool
    make_sections: Callable[[Sequence[str]], dict[str, Outcome[Any]]] | None = None
    outcomes: Mapping[str, Outcome[Any]] = field(default_factory=dict)

    def __call__(self, names: tuple[str, ...]) -> dict[str, Outcome[Any]]:
        """What is said of people, or the rankings, or some sections of the audit, in this process or another."""
        if self.make_sections is not None and names not in _SHARE:
            return self.make_sections(names)
        with workers(cache=self.cache):  # other processes do not know what was chosen in this one
            if names == _PEOPLE:
                return {"checked": do_task(lambda _: self.checked(), None), "agreement": do_task(self.agreement, "")}
            ranking = do_task(lambda _: self.ranking(), None)
            if ranking.fault:
                return {"ranking": ranking}
            others = do_task(self.others, ranking.unwrap())
            return {"ranking": ranking, "others": others, "explained": do_task(lambda _: self.explained(), None)}

    def _once(self, name: str, compute: Callable[[], _Computed]) -> _Computed:
        return self.outcomes[name].unwrap() if name in self.outcomes else compute()

    def checked(self) -> Checked:
        from adjudge.evidence.annotator_fit import check_with_fit

        return self._once("checked", lambda: check_with_fit(self.everyone))

    def ranking(self) -> Ranking:
        return self._once("ranking", lambda: self._rank(self.settings.method))

    def _rank(self, method: str | None, resamples: int | None = None) -> Ranking:
        from adjudge.ranking.methods import RankSettings, rank

        judgments, settings = self.judgments, RankSettings(resamples=resamples, seed=self.settings.seed)
        key = (method, settings, judgments.fingerprint, judgments.set_aside, judgments.notes, judgments.people)
        return cached("rank", key, lambda: rank(judgments, method=method, settings=settings))

    def otherwise(self, judgments: Judgments) -> Ranking | None:
        """The ranking of what would count the other way; None where there is none."""
        from adjudge.ranking.methods import RankSettings, rank

        with suppress(DataError):
            return rank(judgments, method=self.settings.method, settings=RankSettings(seed=self.settings.seed))
        return None

    def others(self, ranking: Ranking) -> tuple[Ranking, ...]:
        return self._once("others", lambda: tuple(self._other_rankings(ranking)))

    def _other_rankings(self, ranking: Ranking) -> Iterator[Ranking]:
        """The same judgments by other methods; of relative ones for their order alone, without resamples."""
        from adjudge.ranking.methods import METHODS

        for name in METHODS[ranking.method].beside:
            with suppress(DataError):  # a method that these data do not allow is left out of the comparison
                other = self._rank(name, resamples=0 if ranking.kind == "relative" else None)
                if other.method != ranking.method and set(other.order) & set(ranking.order):
                    yield other

    def explained(self) -> Explained | None:
        """Why systems moved between ways of ranking; None where these data do not allow them all."""
        from adjudge.evidence.explanation import explain

        everyone = None if self.everyone is self.judgments else self.everyone
        key = (self.judgments.fingerprint, None if everyone is None else everyone.fingerprint, self.judgments.people)

        def made() -> Explained | None:
            with suppress(DataError):
                return cached("explain", key, lambda: explain(self.judgments, everyone))
            return None

        return self._once("explained", made)

    def agreement(self, kind: str) -> Agreement:
        """Agreement, by length of the source where texts are given and rankings were judged."""
        from adjudge.people.agreement import agree

        texts = self.settings.texts if kind == "relative" else None
        return self._once("agreement", lambda: agree(self.judgments, texts=texts, seed=self.settings.seed))

    def tournament(self) -> Tournament:
        from adjudge.ranking.tournament import TournamentSettings, tournament

        return tournament(self.judgments, settings=TournamentSettings(seed=self.settings.seed))

    def audit(self) -> Audit:
        from adjudge.evidence.audit import audit

        return audit(self.judgments, settings=self.settings.audit, outcomes=self.outcomes)


def _compute_parts(judgments: Judgments, everyone: Judgments, settings: ReportSettings) -> _Parts:
    """The parts of a report, computed by two or three processes if that is faster, otherwise on demand."""
    from adjudge.evidence.audit import SECONDS_PER_ROW, audit_tasks

    undivided = _Parts(judgments, everyone, settings, current_workers().cache)
    seconds = len(judgments) * SECONDS_PER_ROW
    # Agreement by length waits for the kind of the ranking, and a ranking of those who pass for the check.
    if settings.only_passing or settings.texts is not None or not is_worth_dividing(seconds, tasks=2, most_jobs=3):
        return undivided
    audit = audit_tasks(judgments, settings=settings.audit)
    make = replace(undivided, settings=replace(settings, progress=silent), make_sections=audit.make)
    tasks, sizes = (*_SHARE, *audit.groups), (*_SHARE.values(), *audit.sizes)
    outcomes = try_tasks(make, tasks, what="rankings and audits", sizes=sizes, known_seconds=seconds)
    return replace(undivided, outcomes={name: made for part in outcomes for name, made in part.unwrap().items()})
