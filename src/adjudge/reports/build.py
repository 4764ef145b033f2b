"""Builds the data of the report page from results: every sentence, chart and table, without layout."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from adjudge.evidence.verdict import (
    NOBODY_FAILS,
    count_claims_in_short,
    name_best,
    put_looks_first,
    say_headline,
    say_left_out,
    say_oddities,
    say_ranking,
    say_who_is_meant,
    say_who_judged,
)
from adjudge.evidence.verdict_facts import decide_by_ranking
from adjudge.evidence.verdict_looks import say_exclusions
from adjudge.reports import people_section
from adjudge.reports.audit_section import audit_sections, claims_of, claims_section, decide
from adjudge.reports.page import GUIDE, Fact, PairPage, ReportPage, Section
from adjudge.reports.ranking_section import (
    methods_section,
    opponents_section,
    pairs_section,
    ranking_section,
    spread_section,
    tournament_section,
)
from adjudge.table.languages import part_word
from adjudge.table.protocols import PROTOCOLS
from adjudge.table.record import say_record
from adjudge.table.results import Cell, Result, Span, Table, number, span, text
from adjudge.table.wording import call_accounts, counted, listed, short_list
from adjudge.work.tasks import try_tasks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from adjudge.evidence.audit import Audit
    from adjudge.evidence.conditions import Oddities
    from adjudge.evidence.explanation import Explained
    from adjudge.evidence.verdict_facts import Decisions
    from adjudge.people.check import Failing
    from adjudge.people.results import Agreement, Checked
    from adjudge.ranking.ranking import Ranking
    from adjudge.ranking.tournament import Tournament
    from adjudge.readers.summary import Imported
    from adjudge.table.judgments import SetAside
    from adjudge.table.record import CampaignRecord


SECONDS_PER_PAGE = 0.3
"""A lower limit of the CPU seconds for the page of a language pair; charts take most of them."""
# The order of a pair's page; a section that has nothing to show returns None.
FIRST: tuple[Callable[[PairResults], Section | None], ...] = (
    ranking_section,
    claims_section,
    people_section.collected_section,
)
"""What every reader needs, on two pages: it stays open, the rest is folded."""
FOLDED: tuple[Callable[[PairResults], Section | None], ...] = (
    pairs_section,
    methods_section,
    tournament_section,
    opponents_section,
    spread_section,
    people_section.annotators_section,
    people_section.agreement_section,
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
        matrix=ranks_by_pair(results),
        guide=GUIDE,
    )


def _pair_page(named: tuple[str, PairResults, str]) -> PairPage:
    """The page of a language pair, given its name, results and slug."""
    name, results, slug = named
    sections = [section for make in FIRST if (section := make(results)) is not None]
    folded = [section for make in FOLDED if (section := make(results)) is not None]
    sections += [replace(section, audit=True) for section in (*folded, *audit_sections(results))]
    decisions = decide(results)
    first = say_headline(decisions)
    further = [sentence for sentence in say_ranking(decisions) if sentence != first]
    if results.ranking.accounts:
        sections = [section.reworded(call_accounts) for section in sections]
    picture, *others = sections[0].charts
    sections[0] = replace(sections[0], charts=tuple(others))
    first, *looked = put_looks_first(first, None if results.record is None else results.record.looks)
    collected = () if results.record is None else say_record(results.record)
    return PairPage(
        name=name,
        slug=slug,
        headline=first,
        judged=say_what_was_judged(results),
        words=(
            *looked,
            *dict.fromkeys(
                (
                    *say_left_out(decisions, results.failing, results.otherwise),
                    *people_section.fail_and_count(results),
                )
            ),
            *say_oddities(results.oddities),
            *say_exclusions(results.record),
            *say_who_is_meant(results.ranking, decided=bool(decisions.apart), headline=first),
            *further,
            *results.missing,
        ),
        facts=_facts(results, decisions),
        sections=tuple(_without(section, results.counts.notes) for section in sections),
        notes=tuple(note for note in results.counts.notes if note not in collected),
        set_aside=_set_aside(results),
        signatures=tuple(dict.fromkeys(result.signature for result in results.results)),
        picture=picture,
    )


def _set_aside(results: PairResults) -> tuple[SetAside, ...]:
    """What was not used: of the data and in the ranking, and what another result alone did not use, with its name."""
    asides = dict.fromkeys((*results.counts.set_aside, *results.ranking.set_aside))
    others = (result for result in results.results if result.verb != "rank")
    named = {
        replace(aside, reason=f"{aside.reason} (in '{result.verb}')"): None
        for result in others
        for aside in result.set_aside
        if aside not in asides
    }
    return (*asides, *named)


def say_what_was_judged(results: PairResults) -> str:
    """One sentence: which systems, by whom, on what, how, and how many judgments."""
    ranking, counts = results.ranking, results.counts
    humans = sum(system.human for system in ranking.systems)
    what = counted(len(ranking.systems) - humans, "system")
    if humans:
        what += f" and {counted(humans, 'human translation')}"
    where = [counted(n, word) for n, word in ((counts.segments, "segment"), (counts.documents, "document")) if n]
    texts = f" on {' of '.join(where)}" if where else ""
    how = listed([PROTOCOLS[name].label for name in counts.protocols if name in PROTOCOLS] or ["judgments"])
    answers, unit = counts.answers
    who = say_who_judged(ranking, counts.judged_by)
    return f"{who[:1].upper()}{who[1:]} judged {what}{texts} by {how}: {counted(answers, unit)}."


def _without(section: Section, notes: tuple[str, ...]) -> Section:
    """A section without the notes about the data, which are shown only once."""
    return replace(section, notes=tuple(note for note in section.notes if note not in notes))


def _slugs(names: Sequence[str]) -> list[str]:
    """Unique ids for the HTML document, of letters, digits and dashes."""
    plain = [re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "pair" for name in names]
    return [slug if plain.count(slug) == 1 else f"{slug}-{i}" for i, slug in enumerate(plain, start=1)]


def _facts(results: PairResults, decisions: Decisions) -> tuple[Fact, ...]:
    counts = results.counts
    facts = [
        Fact(*name_best(decisions, results.ranking.method)),
        Fact("Pairs decided", f"{decisions.apart:,} of {decisions.pairs:,}", _say_notes(results)),
    ]
    if results.agreement is not None:
        shared = results.agreement.inter["all"]
        name, value = people_section.choose_coefficient(results.agreement, shared)
        # A few pairs by chance shared say nothing of the campaign.
        if not math.isnan(value) and shared.pairs >= people_section.FEWEST_PAIRS:
            between = f"{name} between {'accounts' if results.ranking.accounts else 'annotators'}"
            facts.append(Fact("Agreement", f"{value:z.2f}", f"{between}, {people_section.name_agreement(value)}"))
    answers, what = counts.answers
    texts = f" on {counted(counts.segments, 'segment')}" if counts.segments else ""
    facts.append(
        Fact(f"{what.capitalize()}s", f"{answers:,}", f"by {say_who_judged(results.ranking, counts.judged_by)}{texts}")
    )
    return tuple(facts)


def _say_notes(results: PairResults) -> str:
    claims = claims_of(results)
    if claims is None:
        return counted(len(results.ranking.clusters), "cluster")
    return count_claims_in_short(*claims.counts)


def overview(results: Mapping[str, PairResults]) -> Table:
    """One line per language pair or criterion: which system is best, and how many pairs are settled."""
    rows: list[tuple[Cell, ...]] = []
    for name, result in results.items():
        decisions = decide_by_ranking(result.ranking)
        apart = f"{decisions.apart:,} of {decisions.pairs:,}"
        rows.append(
            (name, _name_leaders(decisions), apart, decisions.clusters, decisions.ranked,
             result.counts.annotators, result.counts.judgments)
        )  # fmt: skip
    columns = (
        text(part_word(results)),
        text("best system", help="several where the data cannot decide; human translations do not compete"),
        text("pairs decided"),
        number("clusters", 0),
        number("systems", 0),
        number("annotators", 0),
        number("judgments", 0),
    )
    return Table(f"All {part_word(results)}s", columns, tuple(rows))


def ranks_by_pair(results: Mapping[str, PairResults]) -> Table | None:
    """The possible ranks of every system in every language pair, where some system is in several."""
    ranks = {name: {system.system: system for system in result.ranking.systems} for name, result in results.items()}
    counts = Counter(system for ranked in ranks.values() for system in ranked)
    if max(counts.values(), default=0) < 2:
        return None
    found = {system: [ranked[system].rank_set for ranked in ranks.values() if system in ranked] for system in counts}
    # Systems of most pairs come first, then those with the better ranks.
    order = sorted(counts, key=lambda name: (-counts[name], sum(map(sum, found[name])) / counts[name], name))
    rows = tuple(
        (name, *(Span(*ranked[name].rank_set) if name in ranked else None for ranked in ranks.values()))
        for name in order
    )
    columns = (text("system"), *(span(name) for name in results))
    return Table(
        f"Possible ranks in each {part_word(results)}", columns, rows, "Ranks that the decided pairs of systems leave."
    )


def _name_leaders(decisions: Decisions) -> str:
    only_first = len(decisions.leaders) == 1 and not decisions.all_behind
    return f"undecided; {decisions.leaders[0]} comes first" if only_first else short_list(decisions.leaders, "or")


# The contents of a report (the results for each language pair), and the files that a command wrote.


@dataclass(frozen=True, kw_only=True)
class PairResults:
    """The results for one language pair; parts that were not computed are None and left out of the report."""

    counts: Imported
    ranking: Ranking
    others: tuple[Ranking, ...] = ()
    """The same systems ranked by other methods."""
    explained: Explained | None = None
    """Why systems have other ranks by other ways of ranking."""
    tournament: Tournament | None = None
    checked: Checked | None = None
    agreement: Agreement | None = None
    audit: Audit | None = None
    only_passing: bool = False
    """Whether the judgments of all annotators who do not pass the check were left out, the untested among them."""
    failing: Failing = NOBODY_FAILS
    """Who fails the rule of quality."""
    otherwise: Ranking | None = None
    """The ranking of what would count the other way: with those who are left out, or without those who fail."""
    missing: tuple[str, ...] = ()
    """The reasons why parts are left out, one sentence each."""
    record: CampaignRecord | None = None
    """How the judgments were collected, where their file says it."""
    oddities: Oddities | None = None
    """What looks like a mistake in the data."""

    @property
    def main(self) -> tuple[Result, ...]:
        """The results without the rankings by other methods."""
        maybe = (self.counts, self.ranking, self.tournament, self.checked, self.agreement, self.audit)
        return tuple(result for result in maybe if result is not None)

    @property
    def results(self) -> tuple[Result, ...]:
        """All results, for signatures and records of what was set aside."""
        counts, ranking, *more = self.main
        return (counts, ranking, *self.others, *more)


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
