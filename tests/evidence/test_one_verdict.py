"""One verdict: ranking, claims, chart, report, parity and paper never disagree, and say it in short sentences.

Each class of contradiction is looked for on invented campaigns and on released sets: who is decided better than whom,
who is called the best, how many judgments and pairs there are, for whom it is said, and what a test of parity says.
"""

from __future__ import annotations

import re
import tarfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from html import unescape
from importlib import import_module
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
import pytest

from adjudge.evidence.audit import Audit
from adjudge.evidence.claims import Claims
from adjudge.evidence.look import LookSettings, look
from adjudge.evidence.look_claims import Look, count_judgments
from adjudge.evidence.parity import ParitySettings, parity
from adjudge.evidence.parity_results import Parity
from adjudge.evidence.verdict import add_verdict, say_headline
from adjudge.evidence.verdict_facts import decide_by_claims, decide_by_ranking, lost_to_correction
from adjudge.people.check import quality_of
from adjudge.ranking.methods import METHODS, rank
from adjudge.ranking.ranking import Ranking
from adjudge.reports import latex
from adjudge.reports.audit_section import claims_chart
from adjudge.reports.build import PairResults, build_report
from adjudge.reports.charts import draw_forest, make_forest, sketch_forest
from adjudge.reports.display import short_html
from adjudge.reports.page import Chart, PairPage
from adjudge.reports.ranking_section import pairs_chart
from adjudge.server.panels import PanelTable
from adjudge.shell.panels import compute_state
from adjudge.shell.report_stages import ReportSettings, make_report
from adjudge.table.errors import DataError
from adjudge.table.judgments import Judgments
from adjudge.table.wording import as_sentences
from tests.evidence.test_claims import campaign
from tests.helpers.rank_make import blocks, random_blocks
from tests.helpers.released import read_released
from tests.reports import test_collected

LONGEST = 25
"""Words of a sentence. A name is one word, however long it is."""
SIZE = 0.05


@dataclass(frozen=True)
class Told:
    """What is said of one set of judgments in the ways that decide."""

    ranking: Ranking
    claims: Claims
    audited: Audit
    report: PairResults
    parity: Parity | None = None
    """Against the first human translation, where there is one that can be compared."""
    look: Look | None = None
    """At all judgments, as the first and last look of a plan."""
    panels: tuple[PanelTable, ...] = ()
    """The organisers' page, half of the plan being done."""

    @property
    def decided(self) -> set[tuple[str, str]]:
        return {(pair.better, pair.worse) for pair in self.ranking.comparisons if pair.decided}

    @cached_property
    def page(self) -> PairPage:
        results = replace(self.report, ranking=self.ranking, audit=self.audited)
        return build_report({"x": results}, title="t").pairs[0]

    @property
    def page_charts(self) -> Iterator[tuple[str, Chart]]:
        """All charts of the page, with the titles of their sections."""
        if self.page.picture is not None:
            yield "picture", self.page.picture
        yield from ((section.title, chart) for section in self.page.sections for chart in section.charts)

    @cached_property
    def paragraph(self) -> str:
        return latex.write_paragraph(replace(self.report, ranking=self.ranking, audit=self.audited), "tab:x")

    @property
    def said(self) -> dict[str, list[str]]:
        """Everything that is said in words, by where."""
        page, reasons = self.page, [f"{claim.claim}: {claim.reason}." for claim in self.claims.claims]
        sections = [
            [
                *section.words, *(chart.says for chart in section.charts), *as_sentences(section.notes),
                *(table.note for table in (*section.tables, *section.folded)),
            ]
            for section in page.sections
        ]  # fmt: skip
        paper = [line for line in self.paragraph.splitlines() if not line.startswith("%")]
        against = () if self.parity is None else (*self.parity.first_lines, *as_sentences(self.parity.notes))
        looked = () if self.look is None else (*self.look.first_lines, *(made.note for made in self.look.tables()))
        return {
            "rank": [*self.ranking.first_lines, *as_sentences(self.ranking.notes)],
            "report": [page.headline, *page.words, *(f"{fact.value} {fact.detail}" for fact in page.facts)],
            "sections": [words for section in sections for words in section],
            "picture": [] if page.picture is None else [page.picture.says],
            "audit": [*self.audited.first_lines, *as_sentences(self.audited.notes)],
            "claims": reasons,
            "paper": [re.sub(r"~?\\cite\{[^}]*\}", "", line) for line in paper],
            "parity": list(against),
            "notebook": read_notebook(short_html(self.ranking)),
            "look": list(looked),
            "organisers": [words for panel in self.panels for words in (panel.headline, panel.note)],
        }


def tell(judgments: Judgments) -> Told:
    (results,) = make_report({"x": judgments}, ReportSettings(), title="t").pairs.values()
    assert results.audit is not None
    claims = results.audit.sections["claims"]
    assert isinstance(claims, Claims)
    ranking = add_verdict(results.ranking, results.failing, results.otherwise, results.oddities, results.record)
    compared = None
    human = next((system.system for system in ranking.systems if system.human), None)
    if human is not None:
        with suppress(DataError):
            kept = quality_of(judgments).kept
            compared = parity(kept, human=human, settings=ParitySettings(resamples=200))
    return Told(ranking, claims, results.audit, results, compared, *look_at(quality_of(judgments).kept))


def look_at(judgments: Judgments) -> tuple[Look | None, tuple[PanelTable, ...]]:
    """A look at everything that was planned, and the organisers' page where twice as much was; None if neither can."""
    with suppress(DataError), TemporaryDirectory() as folder:
        count = count_judgments(judgments)
        state = compute_state(judgments, None, Path(folder) / "looks.json", planned=2 * count)
        return look(judgments, LookSettings(planned=count, looks=1)), tuple(state)
    return None, ()


def read_notebook(page: str) -> list[str]:
    """The sentences of a notebook's display: not its table, its drawing and its signature."""
    text = re.sub(r"<(table|svg|code)\b.*?</\1>", "\n", page, flags=re.DOTALL)
    lines = [unescape(line).strip() for line in re.sub(r"<[^>]+>", "\n", text).split("\n")]
    notes = as_sentences([line.removeprefix("note: ") for line in lines if line.startswith("note: ")])
    return [line for line in lines if line and not line.startswith(("note: ", "set aside: "))] + notes


def with_disasters(*failing: str, **effects: float) -> Judgments:
    """The best system in most of its scores, or others, fail in a tenth of them."""
    effects = effects or {"daring": 6.0, "steady": 0.0, "plain": 0.0}
    judgments = campaign(effects, annotators=12, documents=30, seed=4)
    rng = np.random.default_rng(5)
    table = judgments.table
    failed = table["system"].is_in(failing or ("daring",)).to_numpy() & (rng.random(len(table)) < 0.1)
    return Judgments(table.with_columns(score=np.where(failed, 2.0, table["score"].to_numpy())))


def with_copy(judgments: Judgments, system: str) -> Judgments:
    """A system under two names."""
    copy = judgments.table.filter(pl.col("system") == system).with_columns(system=pl.lit("copy"))
    return Judgments(pl.concat([judgments.table, copy]))


def as_penalties(judgments: Judgments) -> Judgments:
    """Scores as sums of penalties, of which the average decides."""
    return Judgments(judgments.table.with_columns(score=(pl.col("score") - 100) / 5, protocol=pl.lit("mqm")))


def ranked_by(strengths: dict[str, float], *, annotators: int = 6, number: int = 150, seed: int = 1) -> Judgments:
    """Rankings of all systems with noise."""
    rng = np.random.default_rng(seed)
    names = list(strengths)
    rankings: list[dict[str, int | None]] = []
    for _ in range(number):
        value = np.round(np.array([*strengths.values()]) + rng.normal(size=len(names)))
        ranks = 1 + (value[:, None] < value[None, :]).sum(1)
        rankings.append({name: int(place) for name, place in zip(names, ranks, strict=True)})
    return blocks(rankings, annotators=[f"a{i % annotators}" for i in range(number)])


SENTENCES = "tests.evidence.test_sentences"
"""Has campaigns too, and imports this module."""
INVENTED: dict[str, Callable[[], Judgments]] = {
    "scores, equal": lambda: campaign(dict.fromkeys("ABCDE", 0.0), seed=2),
    "scores, graded": lambda: campaign({name: 3.0 * i for i, name in enumerate("ABCDEF")}, seed=3),
    "scores, two levels": lambda: campaign({"A": 8.0, "B": 8.0, "C": 0.0, "D": 0.0}, seed=5),
    "scores, a human": lambda: campaign({"HUMAN": 14.0, "A": 9.0, "B": 0.0, "C": 0.0}, seed=6),
    "scores, a human between": lambda: campaign({"A": 20.0, "HUMAN": 8.0, "B": 0.0, "C": -2.0}, seed=7),
    "scores, disasters": with_disasters,
    "scores, disasters on average alone": lambda: with_disasters(daring=3.0, steady=0.0),
    "scores, disasters everywhere": lambda: with_disasters("A", "B", A=6.0, B=0.0),
    "scores, one person": lambda: campaign({"A": 15.0, "B": 0.0, "C": -3.0}, annotators=1, seed=8),
    "scores, two people": lambda: campaign({"A": 15.0, "B": 0.0, "C": -3.0}, annotators=2, seed=8),
    "scores, three people": lambda: campaign({"A": 12.0, "B": 6.0, "C": 0.0}, annotators=3, seed=8),
    "scores, two humans": lambda: campaign({"refA": 15.0, "A": 8.0, "B": 0.0, "refB": -9.0}, seed=6),
    "scores, two systems": lambda: campaign({"A": 9.0, "B": 0.0}, seed=9),
    "scores, a winner": lambda: campaign({"A": 25.0, "B": 2.0, "C": 0.0, "D": 0.0}, seed=10),
    "scores, a human that loses": lambda: campaign({"A": 20.0, "B": 12.0, "C": 9.0, "HUMAN": 0.0}, seed=11),
    "scores, a copy": lambda: with_copy(campaign({"A": 8.0, "B": 3.0, "C": 0.0}, seed=12), "B"),
    "scores, no line": lambda: campaign({name: 1.2 * i for i, name in enumerate("ABCDEFGH")}, seed=5),
    "scores, a narrow winner": lambda: campaign({"A": 1.5, "B": 0.0, "C": 0.0}, seed=4),
    "scores, penalties": lambda: as_penalties(campaign({"A": 9.0, "B": 2.0, "C": 0.0, "D": 0.0}, seed=13)),
    "rankings, equal": lambda: ranked_by(dict.fromkeys("ABCD", 0.0)),
    "rankings, graded, a reference": lambda: random_blocks(3, number=200),
    "rankings, two levels": lambda: ranked_by({"A": 1.0, "B": 1.0, "C": 0.0, "D": 0.0}),
    "rankings, one person": lambda: ranked_by({"A": 1.0, "B": 0.0, "C": 0.0}, annotators=1),
    "rankings, two systems": lambda: ranked_by({"A": 1.0, "B": 0.0}),
    "rankings, two people": lambda: ranked_by({"A": 1.0, "B": 0.0, "C": -1.0}, annotators=2),
    "rankings, an unbeaten system": lambda: ranked_by({"A": 30.0, "B": 1.0, "C": 0.0, "D": 0.0}),
    "rankings, nobody named": lambda: without_people(ranked_by({"A": 1.0, "B": 0.0, "C": 0.0})),
    "rankings, mirrored": lambda: with_a_mirror(ranked_by({"A": 1.0, "B": 0.0, "C": 0.0}, annotators=4)),
    "scores, clickers": lambda: import_module(SENTENCES).with_clickers(),
    "scores, accounts": lambda: import_module(SENTENCES).behind_accounts(),
    "scores, looks and an exclusion": lambda: test_collected.collected(test_collected.RECORD),
    "scores, two people, a human": lambda: campaign({"HUMAN": 9.0, "A": 8.0, "B": 0.0}, annotators=2, seed=8),
    "scores, a machine judge": lambda: with_a_judge(campaign({"A": 9.0, "B": 2.0, "C": 0.0}, seed=6)),
}


def without_people(judgments: Judgments) -> Judgments:
    return Judgments(judgments.table.with_columns(annotator=pl.lit(None, dtype=pl.String)))


def with_a_mirror(judgments: Judgments) -> Judgments:
    """One more person, whose ranks are those of the first turned around, and the segments are theirs."""
    first = judgments.table.filter(pl.col("annotator") == "a0")
    turned = first.with_columns(annotator=pl.lit("mirror"), rank=(6 - pl.col("rank")).cast(first.schema["rank"]))
    return Judgments(pl.concat([judgments.table, turned]))


def with_a_judge(judgments: Judgments) -> Judgments:
    """A program that gives everything one person's scores."""
    copied = judgments.table.filter(pl.col("annotator") == "a0").with_columns(annotator=pl.lit("judge:x"))
    return Judgments(pl.concat([judgments.table, copied]))


RELEASED = {
    "wmt10/data_RNK.csv": "wmt-ranking",
    "pairwise/wmt10.Czech,English": None,
    "wmt24esa/esa_generalMT2024_wave3.csv": None,
    "mqm/mqm_ted_ende.tsv": None,
    "wmt22sqm/WMT22.Appraise.SegLvlLivRef.20221031.filtered.csv": None,
    "wmt22sqm/WMT22.Appraise.SegLvlLivSrc.20221031.filtered.csv": None,
    "esa-study/240520rc6ESA.scores.csv": "appraise",
    "esa-study/240520rc6GEMBA.scores.csv": "appraise",
    "wmt11/wmt11-maneval-HC-indivsystems.RNK_results.csv": "wmt-ranking",
    "wmt21/facebook-wikipedia-2021": "wmt-da",
    "pairwise/wmt11.English,Czech.combo": None,
    "pairwise/wmt11.Urdu,English.tunablemetrics": None,
    "wmt23/human-scores/en-de.mqm.seg.score": None,
    "sxs-mqm/sxs_mqm_generalMT2023_ende.3ratingsPerSegment.tsv.tar.gz": None,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", INVENTED)
def test_no_two_places_disagree_about_invented_campaigns(name: str) -> None:
    check(tell(INVENTED[name]()))


@pytest.mark.slow
@pytest.mark.parametrize("name", RELEASED)
def test_no_two_places_disagree_about_released_judgments(data: Path, name: str, tmp_path: Path) -> None:
    """The smallest language pair of each set."""
    file = data / name
    if not file.exists():
        pytest.skip(f"{name} is not in {data}")
    if name.endswith(".tar.gz"):
        with tarfile.open(file) as archive:
            (member,) = (one for one in archive if one.name.endswith(".tsv"))
            held = archive.extractfile(member)
            assert held is not None
            file = tmp_path / "ratings.tsv"
            file.write_bytes(held.read())
    parts = read_released(file, RELEASED[name]).by_pair()
    check(tell(min(parts.values(), key=len)))


def _change_system(told: Told, place: int, **changed: object) -> Told:
    systems = list(told.ranking.systems)
    systems[place] = replace(systems[place], **changed)  # type: ignore[arg-type]
    return replace(told, ranking=replace(told.ranking, systems=tuple(systems)))


def _change_pair(told: Told, **changed: object) -> Told:
    first, *others = told.ranking.comparisons
    pairs = (replace(first, **changed), *others)  # type: ignore[arg-type]
    return replace(told, ranking=replace(told.ranking, comparisons=pairs))


def _change_claim(told: Told, **changed: object) -> Told:
    claims = list(told.claims.claims)
    place = next(i for i, claim in enumerate(claims) if claim.kind == "better" and claim.verdict == "holds")
    claims[place] = replace(claims[place], **changed)  # type: ignore[arg-type]
    said = replace(told.claims, claims=tuple(claims))
    return replace(told, claims=said, audited=replace(told.audited, sections={"claims": said}))


CONTRADICTIONS: dict[str, Callable[[Told], Told]] = {
    "another winner in the headline": lambda told: replace(
        told, ranking=replace(told.ranking, verdict=("B comes out best: it is decided better than every other.",))
    ),
    "a rank that the decisions exclude": lambda told: _change_system(told, 0, rank_set=(1, 2)),
    "a letter shared with the last": lambda told: _change_system(told, 0, letters=told.ranking.systems[-1].letters),
    "no line where all pairs are decided": lambda told: _change_system(
        told, 0, cluster=told.ranking.systems[1].cluster
    ),
    "a pair decided in the claims alone": lambda told: _change_pair(told, decided=False, state="open"),
    "a pair decided in the ranking alone": lambda told: _change_claim(told, verdict="not supported"),
    "a claim that holds and is broken": lambda told: _change_claim(told, broken_by=("without annotator a1",)),
    "another p in the claims": lambda told: _change_claim(told, p_adjusted=0.009),
    "another number of pairs in words": lambda told: _say_more(told, "5 of 6 pairs are decided."),
    "a sentence without an end": lambda told: _say_more(told, f"{'It goes on and on, ' * 6}and on."),
    "a level that the test does not keep": lambda told: replace(told, ranking=replace(told.ranking, method="raw")),
    "people in place of accounts": lambda told: replace(told, claims=replace(told.claims, accounts=True)),
    "more judgments in a fact than are ranked": lambda told: _change_system(told, 0, n=1),
    "a claim that does not hold for no reason": lambda told: _change_claim(told, verdict="needs more people"),
    "a level of people without a name": lambda told: replace(told, ranking=replace(told.ranking, annotators=None)),
    "other people foretold by two": lambda told: replace(told, claims=replace(told.claims, annotators=2)),
    "a number of claims that is not theirs": lambda told: _say_more(
        told, "About 9 people instead of 6 would make the 9 claims that need more people hold."
    ),
    "a look that settles the opposite": lambda told: replace(told, look=_turned_around(told)),
}


def _turned_around(told: Told) -> Look:
    assert told.look is not None
    turned = tuple(replace(claim, systems=claim.systems[::-1]) for claim in told.look.claims)
    return replace(told.look, claims=turned)


def _say_more(told: Told, sentence: str) -> Told:
    return replace(told, ranking=replace(told.ranking, verdict=(*told.ranking.verdict, sentence)))


@pytest.fixture(scope="module")
def told() -> Told:
    return tell(INVENTED["scores, a winner"]())


@pytest.mark.slow
def test_a_parity_that_contradicts_the_ranking_is_found() -> None:
    told = tell(INVENTED["scores, a human"]())
    assert told.parity is not None
    check(told)
    first, *others = told.parity.parts[0].systems
    turned = (replace(first, in_ranking=not first.in_ranking), *others)
    contradicting = replace(told.parity, parts=(replace(told.parity.parts[0], systems=turned),))
    with pytest.raises(AssertionError):
        check(replace(told, parity=contradicting))


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_a_contradiction_is_found(told: Told, name: str) -> None:
    check(told)
    with pytest.raises(AssertionError):
        check(CONTRADICTIONS[name](told))


def check(told: Told) -> None:
    """Everything that is said follows from the decided pairs."""
    claims_follow(told)
    ranks_lines_and_letters_follow(told.ranking, told.decided)
    headlines_follow(told)
    readings_agree(told)
    headlines_name_what_parts_the_readings(told)
    pages_count_alike(told)
    pictures_agree(told.ranking)
    charts_say_what_is_decided(told)
    what_is_shown_has_a_ground(told)
    looks_follow(told)
    sentences_are_short(told)
    it_is_said_for_whom(told)
    humans_accounts_and_unnamed_people_are_called_so(told)
    judgments_are_counted_once(told)
    parity_follows(told)


def pictures_agree(ranking: Ranking) -> None:
    """Terminal, notebook and page mark the same systems as human and as told apart, with the same letters."""
    forest = make_forest(ranking)
    page = {row["system"]: row for row in draw_forest(forest).rows}
    lines = [line for line in sketch_forest(forest) if re.search("  .*[●○◆◇]", line)]
    for system, line in zip(ranking.systems, lines, strict=True):
        name = f"{system.system} (human)" if system.human else system.system
        points = re.findall("[●○◆◇]", line)
        assert ("(human)" in line) == system.human
        assert len(points) == 1
        assert (points[0] in "◆◇") == system.human
        assert (points[0] in "○◇") == (page[name][f"from {forest.against}"] == "not separated")
        decided = {system.system, forest.against} in [
            {pair.better, pair.worse} for pair in ranking.comparisons if pair.decided
        ]
        assert decided == (points[0] in "●◆") or system.system == forest.against
        assert line.endswith(f"  {system.letters}")
        assert page[name]["letters"] == system.letters
    assert "<svg" in ranking._repr_html_()
    assert all(line in str(ranking) for line in sketch_forest(forest))


def charts_say_what_is_decided(told: Told) -> None:
    """Numbers of charts stand under the name of what they are, and marked pairs are those that are counted."""
    lost = {(pair.better, pair.worse) for pair in lost_to_correction(told.ranking)}
    if told.ranking.kind == "scores":
        cells = pairs_chart(told.ranking).drawing.rows
        assert {(cell["system"], cell["against"]) for cell in cells if cell["evidence"] == "better"} == told.decided
        assert {(cell["system"], cell["against"]) for cell in cells if cell["evidence"] == "perhaps better"} == lost
    forest = make_forest(told.ranking)
    gaps = {pair.worse: -(pair.difference or 0.0) for pair in told.ranking.comparisons if pair.better == forest.against}
    for system, row in zip(told.ranking.systems, draw_forest(forest).rows, strict=True):
        expected = system.score if forest.unit == told.ranking.unit else gaps.get(system.system, 0.0)
        assert float(row[forest.unit]) == pytest.approx(expected, abs=6e-4)
    for _, chart in told.page_charts:
        for row in chart.drawing.rows:
            assert not [value for value in row.values() if re.fullmatch(r"[-−]0(\.0*)?", value)], (chart.title, row)


def what_is_shown_has_a_ground(told: Told) -> None:
    """What does not hold says why, and nothing is foretold of people where nothing is known of other people."""
    people, claims = told.claims.annotators, [claim for claim in told.claims.claims if claim.verdict != "not supported"]
    for claim in claims:
        assert bool(claim.reason) == (claim.verdict != "holds"), claim
        foretold = claim.kind != "parity" and people is not None and people > 2
        assert (claim.replication is not None) <= foretold, claim
        assert claim.people_needed is None or (foretold and not told.claims.accounts), claim
    short = sum(claim.kind == "better" and claim.verdict == "needs more people" for claim in claims)
    for _, sentence in each_sentence(told):
        found = re.search(r"would make (?:[\d,]+ of )?the (?:([\d,]+) claims|claim) that needs? more people", sentence)
        assert not found or (found[1] or "1") == f"{short:,}", sentence


def looks_follow(told: Told) -> None:
    """A look settles nothing that the ranking decides the other way round, and of one or two people nothing."""
    settled = {claim.systems for claim in (() if told.look is None else told.look.settled) if len(claim.systems) == 2}
    assert not settled & {(worse, better) for better, worse in told.decided}
    for claim in () if told.look is None else told.look.settled:
        assert claim.standing != "agrees" or claim.interval[0] is None or claim.interval[0] >= 0, claim
    if told.claims.annotators in (1, 2):
        assert not settled


def claims_follow(told: Told) -> None:
    claims = {claim.systems: claim for claim in told.claims.claims if claim.kind == "better"}
    assert {pair for pair, claim in claims.items() if claim.verdict != "not supported"} == told.decided
    assert len(claims) == len(told.ranking.comparisons)
    for pair in told.ranking.comparisons:
        claim = claims[pair.better, pair.worse]
        assert (claim.state, claim.agreeing) == (pair.state, pair.agreeing)
        assert claim.p_adjusted == pytest.approx(pair.p_adjusted, rel=1e-6)
        assert claim.estimate == pytest.approx(pair.difference, rel=1e-6, abs=1e-9)
        if claim.verdict == "holds":
            assert claim.p_adjusted is not None
            assert claim.p_adjusted < 0.01
            assert not claim.broken_by
        assert bool(claim.broken_by) == (claim.verdict == "fragile")
    cells = claims_chart(told.claims, told.ranking.order).rows
    shown = {(cell["better"], cell["worse"]) for cell in cells if cell["verdict"] != "not supported"}
    assert shown == told.decided
    best = next(claim for claim in told.claims.claims if claim.kind == "best")
    parts = [claim.verdict for pair, claim in claims.items() if pair[0] == best.systems[0]]
    order = ["holds", "needs more people", "fragile", "not supported"]
    assert best.verdict == max(parts, key=order.index)


def ranks_lines_and_letters_follow(ranking: Ranking, decided: set[tuple[str, str]]) -> None:
    number = len(ranking.systems)
    for system in ranking.systems:
        better = sum(worse == system.system for _, worse in decided)
        worse = sum(ahead == system.system for ahead, _ in decided)
        assert system.rank_set == (1 + better, number - worse)
    for place in range(1, number):
        above, below = ranking.order[:place], ranking.order[place:]
        line = ranking.systems[place - 1].cluster != ranking.systems[place].cluster
        assert line == all((a, b) in decided for a in above for b in below)
    for a, b in combinations(ranking.systems, 2):
        assert a.letters is not None
        assert b.letters is not None
        shared = {*re.findall(r"[a-z]\d*", a.letters)} & {*re.findall(r"[a-z]\d*", b.letters)}
        assert bool(shared) == ((a.system, b.system) not in decided)


def headlines_follow(told: Told) -> None:
    """A winner is named if and only if one system is decided better than all others, humans apart."""
    machines = [system.system for system in told.ranking.systems if not system.human]
    winners = [name for name in machines if all((name, other) in told.decided for other in machines if other != name)]
    people = told.claims.annotators
    said = [
        say_headline(decide_by_ranking(told.ranking, annotators=people)),
        say_headline(decide_by_ranking(told.ranking, told.claims, people)),
        say_headline(decide_by_claims(told.claims)),
    ]
    if told.report.record is None:
        assert told.ranking.verdict[0] == said[0]
    for sentence in said:
        words = sentence.split()
        assert len(words) <= LONGEST, sentence
        # A headline stands alone: nothing in it points at something else.
        assert not re.search(r"\bthis pair\b|\bthis one\b", sentence), sentence
        assert len(decide_by_claims(told.claims).standings) < 2 or "the human translation is" not in sentence, sentence
        name = r"(\S+) (?:comes out best|is the best|is better than)"
        named = re.findall(name, sentence)
        assert named == (winners if len(machines) > 1 else []), sentence
    by_ranking, by_claims = decide_by_ranking(told.ranking, told.claims, people), decide_by_claims(told.claims)
    assert said[1] == said[2]
    for name in ("systems", "leaders", "strength", "all_behind", "disagreement", "people_needed", "lost"):
        assert getattr(by_ranking, name) == getattr(by_claims, name), name


def readings_agree(told: Told) -> None:
    """Decided pairs agree in the order of what is printed and of typical scores, and no interval contains 0."""
    systems = {system.system: system for system in told.ranking.systems}
    for pair in told.ranking.comparisons:
        assert (pair.state == "decided") == pair.decided
        if not pair.decided:
            continue
        better, worse = systems[pair.better], systems[pair.worse]
        assert (better.score or 0.0) > (worse.score or 0.0)
        assert pair.p_adjusted is not None
        assert pair.p_adjusted < SIZE
        if told.ranking.method == "mixed":
            assert (better.numbers["typical"] or 0.0) > (worse.numbers["typical"] or 0.0)
            assert (pair.numbers["low"] or 0.0) > 0
            assert (pair.numbers["p_average"] or 1.0) < SIZE


def headlines_name_what_parts_the_readings(told: Told) -> None:
    """Whoever is called usually better, or ahead on average, is so by that reading, and stands where it says so."""
    states = {frozenset((pair.better, pair.worse)): pair for pair in told.ranking.comparisons}
    typical = {system.system: system.numbers.get("typical") for system in told.ranking.systems}
    for where, sentence in each_sentence(told):
        found = re.match(
            r"(\S+) is (usually better than|ahead of) (\S+?),? (but .* (is not surely better|is not)|on average"
            r"|in typical scores, but not( surely)? on average)\b", sentence
        )  # fmt: skip
        if not found:
            continue
        first, other, rest = found[1], found[3], found[4]
        pair = states[frozenset((first, other))]
        if rest == "on average":
            assert (pair.better, pair.state) == (first, "average only"), (where, sentence)
            continue
        assert pair.state in ("typical only", "opposed"), (where, sentence)
        assert (typical[first] or 0.0) > (typical[other] or 0.0), (where, sentence)
        assert (pair.better == first) == ("surely" in rest), (where, sentence)


def pages_count_alike(told: Told) -> None:
    decided, pairs = len(told.decided), len(told.ranking.comparisons)
    page, paragraph = told.page, told.paragraph
    assert page.facts[1].value == f"{decided:,} of {pairs:,}"
    holds, more, fragile = told.claims.counts
    assert holds + more + fragile == decided
    assert page.facts[1].detail == f"hold: {holds:,}; need more people: {more:,}; fragile: {fragile:,}"
    if pairs == 1:
        expected = "The two systems differ" if decided else "The two systems are not told apart"
    elif decided in (0, pairs):
        expected = f"{'All' if decided else 'None of the'} {pairs:,} pairs differ"
    else:
        expected = f"Of {pairs:,} pairs, {decided:,} differ"
    assert expected in paragraph
    assert (told.claims.method, told.claims.kind) == (told.ranking.method, told.ranking.kind)
    assert decide_by_ranking(told.ranking).lost == decide_by_claims(told.claims).lost


def sentences_are_short(told: Told) -> None:
    """And no name, number or noun shows how they were put together."""
    for where, sentence in each_sentence(told):
        assert len(sentence.split()) <= LONGEST, (where, sentence)
        assert not re.search(CLUMSY, sentence), (where, sentence)


CLUMSY = (
    r"\b1 (pairs|systems|annotators|people|judgments|comparisons|segments|documents|changes|times|accounts)\b"
    r"|\b1 of 1 (?!hold)[a-z]|\ball 2\b|\bmake 2 groups|annotator annotator|p = [<0]|\bNone\b(?! of)|\bnan\b|  "
    r"|order within (a|the) cluster"
)
"""What is not plain English: wrong plurals, doubled words, numbers that are not shown as elsewhere."""


def each_sentence(told: Told) -> Iterator[tuple[str, str]]:
    """Every sentence with where it stands; names of systems and people are one word."""
    people = [] if told.report.checked is None else [one.annotator for one in told.report.checked.annotators]
    spaced = [name for name in (*told.ranking.order, *people) if " " in name]
    for where, texts in told.said.items():
        whole = "\n".join(texts)
        for name in spaced:
            whole = whole.replace(name, name.replace(" ", "_"))
        for sentence in re.split(r"\n|(?<=[.?!])\s+", whole):
            yield where, sentence


def it_is_said_for_whom(told: Told) -> None:
    """Few people, accounts, people without a name, and tests that ignore who judged are said to be so."""
    everything = [sentence for _, sentence in each_sentence(told)]
    people, ranking = told.claims.annotators, told.ranking
    if told.claims.accounts:
        assert not any(re.search(rf"\b{people} (people|persons)\b", sentence) for sentence in everything)
        for place in ("rank", "report", "audit", "notebook"):
            assert any("accounts may be" in sentence for sentence in told.said[place]), place
    if ranking.annotators is None and told.decided:
        for place in ("rank", "report", "paper", "audit"):
            assert any("named" in sentence or "do not name" in sentence for sentence in told.said[place]), place
    if people in (1, 2):
        about = re.compile(r"(is|are|comes? out) (better|worse|best)\b|the best\b")
        for sentence in (told.page.headline, *told.page.words):
            view = sentence.startswith(("This is the view of", "For this one person", "For these two people", "Alarm"))
            assert view or not about.search(sentence), sentence
    if ranking.settings.get("significance") == "sign" or ranking.method in ("raw", "zscore"):
        assert not any("at a level of" in sentence for sentence in told.said["rank"])
    above = {better for better, _ in told.decided if better in {s.system for s in ranking.systems if s.human}}
    for sentence in everything:
        named = re.match(r"(?:With them: )?(\S+) (?:comes out best|is the best)", sentence)
        if named and above & {better for better, worse in told.decided if worse == named[1]}:
            assert "machine translation" in sentence, sentence


def humans_accounts_and_unnamed_people_are_called_so(told: Told) -> None:
    """A human translation does not compete; accounts are no annotators; no level is kept for people without a name."""
    if told.claims.accounts:
        tables = [table for one in told.page.sections for table in (*one.tables, *one.folded)]
        cells = [str(cell) for table in tables for row in table.rows for cell in row if str(cell).count(" ") > 2]
        heads = [column.label for table in tables for column in table.columns]
        for sentence in (*told.said["sections"], *cells, *heads):
            assert not re.search(r"\bannotators?\b(?! \+|:)", sentence.replace("--annotators", "")), sentence
    if told.ranking.annotators is None:
        said = [sentence for place in ("rank", "report", "notebook") for sentence in told.said[place]]
        assert not any("at a level of" in sentence for sentence in said)
    humans = {system.system for system in told.ranking.systems if system.human}
    [*beaten] = [{worse for better, worse in told.decided if better == name} >= humans for name in told.ranking.order]
    if humans and not any(beaten):
        for headline in (told.ranking.verdict[0], told.page.headline):
            assert re.search(
                r"machine translation|human|usually better|disagree|is ahead of|planned looks", headline
            ), headline


def judgments_are_counted_once(told: Told) -> None:
    """The pairs in words, and the judgments of facts and ranking."""
    decided, pairs = len(told.decided), len(told.ranking.comparisons)
    for _, sentence in each_sentence(told):
        found = re.search(r"^([\d,]+) of ([\d,]+) pairs? (?:is|are) decided(?! by)", sentence)
        if found:
            assert (found[1], found[2]) == (f"{decided:,}", f"{pairs:,}"), sentence
        found = re.match(r"Of ([\d,]+) pairs?[:,]", sentence)
        assert not found or found[1] == f"{pairs:,}", sentence
    if told.ranking.kind == "scores" and told.report.record is None:
        assert sum(system.n for system in told.ranking.systems) == told.report.counts.judgments
    asides = told.page.set_aside
    assert len({aside.reason for aside in asides}) == len(asides)


def parity_follows(told: Told) -> None:
    """What parity and ranking decide of the human translation is the same, or is said with the reason."""
    if told.parity is None:
        return
    human, lines = told.parity.human, " ".join(told.parity.first_lines)
    for system in told.parity.systems:
        pairs = {(system.system, human): "above the human", (human, system.system): "below the human"}
        decided = next((verdict for pair, verdict in pairs.items() if pair in told.decided), None)
        assert system.in_ranking == (decided is not None)
        if system.verdict in pairs.values() and decided is None:
            assert "A ranking leaves" in lines
        elif system.verdict == "not told apart" and decided is not None:
            assert "a ranking by" in lines
        elif system.verdict in pairs.values():
            assert system.verdict == decided


@pytest.mark.parametrize("method", [name for name in METHODS if name != "zscore-calibrated"])
def test_every_method_knows_who_judged_and_says_so(method: str) -> None:
    """That people are not named is said where they are not, by whatever method."""
    relative = METHODS[method].judgments == "relative"
    named = ranked_by({"A": 1.0, "B": 0.0, "C": -1.0}) if relative else campaign({"A": 9.0, "B": 3.0, "C": 0.0}, seed=3)
    ranking = rank(named, method=method)
    assert ranking.annotators == named.table["annotator"].n_unique()
    assert not any("not name" in sentence for sentence in add_verdict(ranking).verdict)
    if not METHODS[method].equal_systems and METHODS[method].name not in ("zscore", "zscore-task"):
        assert rank(without_people(named), method=method).annotators is None


@pytest.mark.parametrize("method", ["raw", "zscore", "mixed-plain", "wins-or-ties", "expected-wins"])
def test_a_test_that_ignores_who_judged_promises_no_level(method: str) -> None:
    graded = {name: 2.0 * i for i, name in enumerate("ABCD")}
    judgments = ranked_by({"A": 1.0, "B": 0.0, "C": -1.0}) if "wins" in method else campaign(graded, seed=3)
    said = add_verdict(rank(judgments, method=method)).verdict
    assert any("by a test that ignores who judged" in sentence for sentence in said)
    assert not any("at a level of" in sentence for sentence in said)
    assert not any("ignores" in sentence for sentence in add_verdict(rank(judgments)).verdict)


@pytest.mark.parametrize("method", ["raw", "zscore"])
def test_rank_sets_of_means_follow_decisions_and_resampled_ranks_stay_numbers(method: str) -> None:
    ranking = rank(campaign({name: 2.0 * i for i, name in enumerate("ABCDEF")}, seed=3), method=method)
    decided = [(pair.better, pair.worse) for pair in ranking.comparisons if pair.decided]
    assert 0 < len(decided) < len(ranking.comparisons)
    for system in ranking.systems:
        better, worse = (sum(pair[side] == system.system for pair in decided) for side in (1, 0))
        assert system.rank_set == (1 + better, len(ranking.systems) - worse)
        low, high = system.numbers["rank_low"], system.numbers["rank_high"]
        assert low is not None
        assert high is not None
        assert low <= system.rank <= high
