"""Builds the data of the report page from results: every sentence, chart and table, without layout."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from adjudge._version import __version__
from adjudge.core.wording import counted, short_list
from adjudge.report.guide import GUIDE
from adjudge.report.headline import NOT_AUDITED, headline, leaders, machines, pairs_told_apart, verdict, verdict_on
from adjudge.report.page import Fact, PairPage, ReportPage, Section
from adjudge.report.sections.agreement import agreement_section, coefficient, in_figures, in_words
from adjudge.report.sections.annotators import annotators_section, nobody_passes
from adjudge.report.sections.audits import audit_sections
from adjudge.report.sections.claims import annotators_of, claims_of, claims_section
from adjudge.report.sections.methods import methods_section
from adjudge.report.sections.opponents import opponents_section
from adjudge.report.sections.pairs import pairs_section
from adjudge.report.sections.ranking import ranking_section, spread_section
from adjudge.report.sections.tournament import tournament_section
from adjudge.results.table import Cell, Table, number, text
from adjudge.work import try_tasks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from adjudge.results.report import PairResults

SECONDS_PER_PAGE = 0.3
"""A lower limit of the CPU seconds for the page of a language pair; charts take most of them."""
# The order of a pair's page; a section that has nothing to show returns None.
SECTIONS: tuple[Callable[[PairResults], Section | None], ...] = (
    claims_section,
    ranking_section,
    pairs_section,
    methods_section,
    tournament_section,
    opponents_section,
    spread_section,
    annotators_section,
    agreement_section,
)


def build_report(results: Mapping[str, PairResults], *, title: str) -> ReportPage:
    """The page data of a report on one or several language pairs, by name."""
    named = [(name, result, slug) for (name, result), slug in zip(results.items(), _slugs(list(results)), strict=True)]
    known = SECONDS_PER_PAGE * len(named)
    pages = try_tasks(_pair_page, named, what="pages", sizes=[1.0] * len(named), known_seconds=known)
    return ReportPage(
        title=title,
        pairs=tuple(page.unwrap() for page in pages),
        overview=overview(results) if len(results) > 1 else None,
        guide=GUIDE,
        version=__version__,
    )


def _pair_page(named: tuple[str, PairResults, str]) -> PairPage:
    """The page of a language pair, given its name, results and slug."""
    name, results, slug = named
    sections = [section for make in SECTIONS if (section := make(results)) is not None]
    sections += audit_sections(results)
    set_aside = dict.fromkeys(aside for result in results.results for aside in result.set_aside)
    claims, annotators = claims_of(results), annotators_of(results)
    first = headline(results.ranking, claims, annotators)
    further = [sentence for sentence in verdict(results.ranking, claims, annotators) if sentence != first]
    return PairPage(
        name=name,
        slug=slug,
        headline=first,
        words=(*nobody_passes(results), *further, *results.missing),
        facts=_facts(results),
        sections=tuple(_without(section, results.counts.notes) for section in sections),
        notes=results.counts.notes,
        set_aside=tuple(set_aside),
        signatures=tuple(dict.fromkeys(result.signature for result in results.results)),
    )


def _without(section: Section, notes: tuple[str, ...]) -> Section:
    """A section without the notes about the data, which are shown only once."""
    return replace(section, notes=tuple(note for note in section.notes if note not in notes))


def _slugs(names: Sequence[str]) -> list[str]:
    """Unique ids for the HTML document, of letters, digits and dashes."""
    plain = [re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "pair" for name in names]
    return [slug if plain.count(slug) == 1 else f"{slug}-{i}" for i, slug in enumerate(plain, start=1)]


def _facts(results: PairResults) -> tuple[Fact, ...]:
    ranking, counts = results.ranking, results.counts
    apart, pairs = pairs_told_apart(ranking)
    facts = [
        _best(results),
        Fact("Pairs told apart", f"{apart:,} of {pairs:,}", _told(results)),
    ]
    if results.agreement is not None:
        name, value = coefficient(results.agreement, results.agreement.inter["all"])
        if not math.isnan(value):
            facts.append(Fact("Agreement", in_figures(value), f"{name} between annotators, {in_words(value)}"))
    answers, what = counts.answers
    texts = f" on {counted(counts.segments, 'segment')}" if counts.segments else ""
    facts.append(Fact(f"{what.capitalize()}s", f"{answers:,}", f"by {counts.judged_by}{texts}"))
    return tuple(facts)


def _best(results: PairResults) -> Fact:
    ranking = results.ranking
    best = [leader.system for leader in leaders(ranking)]
    if len(machines(ranking)) == 1:
        return Fact("Systems", "one", f"{best[0]}, compared with human translations only", "open")
    if len(best) > 1:
        return Fact("Best system", "undecided", f"between {short_list(best)}", "open")
    if (annotators_of(results) or 3) < 3:
        return Fact("Best system", best[0], "for the people who judged, and them only", "warning")
    verdict_on_best = verdict_on(best[0], ranking, claims_of(results))
    if verdict_on_best == "not supported":
        return Fact("Best system", "undecided", f"{best[0]} comes out first", "open")
    if verdict_on_best == "fragile":
        return Fact("Best system", best[0], "but not in every audit", "warning")
    if verdict_on_best == NOT_AUDITED:
        return Fact("Best system", best[0], f"by {ranking.method}, not audited", "warning")
    return Fact("Best system", best[0], f"by {ranking.method}", "decided")


def _told(results: PairResults) -> str:
    claims = claims_of(results)
    if claims is None:
        return counted(len(results.ranking.clusters), "cluster")
    return f"in every audit: {claims.counted('holds'):,}; fragile: {claims.counted('fragile'):,}"


def overview(results: Mapping[str, PairResults]) -> Table:
    """One line per language pair: which system is best, and how many pairs are settled."""
    rows: list[tuple[Cell, ...]] = []
    for name, result in results.items():
        apart, pairs = pairs_told_apart(result.ranking)
        best = short_list([leader.system for leader in leaders(result.ranking)], "or")
        rows.append(
            (name, best, f"{apart:,} of {pairs:,}", len(result.ranking.clusters), len(result.ranking.systems),
             result.counts.annotators, result.counts.rows)
        )  # fmt: skip
    columns = (
        text("language pair"),
        text("best system", help="several where the data cannot decide"),
        text("pairs told apart"),
        number("clusters", 0),
        number("systems", 0),
        number("annotators", 0),
        number("judgments", 0),
    )
    return Table("All language pairs", columns, tuple(rows))
