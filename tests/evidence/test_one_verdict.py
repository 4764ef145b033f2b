"""One verdict: ranking, claims, chart, report and paper never disagree about who is decided better than whom."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from adjudge.evidence.audit import Audit, AuditSettings, audit
from adjudge.evidence.claims import Claims
from adjudge.evidence.verdict import add_verdict, say_headline
from adjudge.evidence.verdict_facts import decide_by_claims, decide_by_ranking
from adjudge.ranking.methods import rank
from adjudge.ranking.ranking import Ranking
from adjudge.reports import latex
from adjudge.reports.audit_section import claims_chart
from adjudge.reports.build import PairResults, build_report
from adjudge.reports.charts import draw_forest, make_forest, sketch_forest
from adjudge.table.judgments import Judgments
from tests.evidence.test_claims import campaign
from tests.helpers.made import pair_results
from tests.helpers.rank_make import blocks, random_blocks
from tests.helpers.released import read_released

LONGEST = 25
"""Words of a headline."""
SIZE = 0.05


@dataclass(frozen=True)
class Told:
    """What is said of one set of judgments in the two ways that decide."""

    ranking: Ranking
    claims: Claims
    audited: Audit

    @property
    def decided(self) -> set[tuple[str, str]]:
        return {(pair.better, pair.worse) for pair in self.ranking.comparisons if pair.decided}

    @property
    def report(self) -> PairResults:
        plain = replace(pair_results(), others=(), tournament=None, checked=None, agreement=None)
        return replace(plain, ranking=self.ranking, audit=self.audited)


def tell(judgments: Judgments) -> Told:
    ranking = add_verdict(rank(judgments))
    audited = audit(judgments, only=["claims"], settings=AuditSettings())
    claims = audited.sections["claims"]
    assert isinstance(claims, Claims)
    return Told(ranking, claims, audited)


def with_disasters() -> Judgments:
    """The best system in most of its scores fails in a tenth of them."""
    judgments = campaign({"daring": 6.0, "steady": 0.0, "plain": 0.0}, annotators=12, documents=30, seed=4)
    rng = np.random.default_rng(5)
    table = judgments.table
    failed = (table["system"] == "daring").to_numpy() & (rng.random(len(table)) < 0.1)
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


INVENTED: dict[str, Callable[[], Judgments]] = {
    "scores, equal": lambda: campaign(dict.fromkeys("ABCDE", 0.0), seed=2),
    "scores, graded": lambda: campaign({name: 3.0 * i for i, name in enumerate("ABCDEF")}, seed=3),
    "scores, two levels": lambda: campaign({"A": 8.0, "B": 8.0, "C": 0.0, "D": 0.0}, seed=5),
    "scores, a human": lambda: campaign({"HUMAN": 14.0, "A": 9.0, "B": 0.0, "C": 0.0}, seed=6),
    "scores, a human between": lambda: campaign({"A": 20.0, "HUMAN": 8.0, "B": 0.0, "C": -2.0}, seed=7),
    "scores, disasters": with_disasters,
    "scores, one person": lambda: campaign({"A": 15.0, "B": 0.0, "C": -3.0}, annotators=1, seed=8),
    "scores, two people": lambda: campaign({"A": 15.0, "B": 0.0, "C": -3.0}, annotators=2, seed=8),
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
}

RELEASED = {
    "wmt10/data_RNK.csv": "wmt-ranking",
    "pairwise/wmt10.Czech,English": None,
    "wmt24esa/esa_generalMT2024_wave3.csv": None,
    "mqm/mqm_ted_ende.tsv": None,
    "wmt22sqm/WMT22.Appraise.SegLvlLivRef.20221031.filtered.csv": None,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", INVENTED)
def test_no_two_places_disagree_about_invented_campaigns(name: str) -> None:
    check(tell(INVENTED[name]()))


@pytest.mark.slow
@pytest.mark.parametrize("name", RELEASED)
def test_no_two_places_disagree_about_released_judgments(data: Path, name: str) -> None:
    """The smallest language pair of each set."""
    if not (data / name).exists():
        pytest.skip(f"{name} is not in {data}")
    parts = read_released(data / name, RELEASED[name]).by_pair()
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
}


@pytest.fixture(scope="module")
def told() -> Told:
    return tell(INVENTED["scores, a winner"]())


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
    pages_count_alike(told)
    pictures_agree(told.ranking)


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
        assert (points[0] in "○◇") == (page[name]["against the first"] == "undecided")
        decided = {system.system, forest.against} in [
            {pair.better, pair.worse} for pair in ranking.comparisons if pair.decided
        ]
        assert decided == (points[0] in "●◆") or system.system == forest.against
        assert line.endswith(f"  {system.letters}")
        assert page[name]["letters"] == system.letters
    assert "<svg" in ranking._repr_html_()
    assert all(line in str(ranking) for line in sketch_forest(forest))


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
    assert told.ranking.verdict[0] == said[0]
    for sentence in said:
        words = sentence.split()
        assert len(words) <= LONGEST, sentence
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


def pages_count_alike(told: Told) -> None:
    decided, pairs = len(told.decided), len(told.ranking.comparisons)
    page = build_report({"x": told.report}, title="t").pairs[0]
    assert page.facts[1].value == f"{decided:,} of {pairs:,}"
    holds, more, fragile = told.claims.counts
    assert holds + more + fragile == decided
    assert page.facts[1].detail == f"hold: {holds:,}; need more people: {more:,}; fragile: {fragile:,}"
    paragraph = latex.write_paragraph(told.report, "tab:x")
    if pairs == 1:
        expected = "The two systems differ" if decided else "The two systems are not told apart"
    elif decided in (0, pairs):
        expected = f"{'All' if decided else 'None of the'} {pairs:,} pairs differ"
    else:
        expected = f"Of {pairs:,} pairs, {decided:,} differ"
    assert expected in paragraph
    assert (told.claims.method, told.claims.kind) == (told.ranking.method, told.ranking.kind)
    assert decide_by_ranking(told.ranking).lost == decide_by_claims(told.claims).lost


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
