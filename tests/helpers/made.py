"""Results made by hand, so that tests of the report do not depend on how results are computed."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np

from adjudge.evidence.audit import Audit, Section
from adjudge.evidence.claims import Claim, Claims
from adjudge.evidence.composition import Documents, ExplainedSpread, SampledSystem, Sampling, TaskComposition
from adjudge.evidence.stability import Stability, StabilityRow
from adjudge.evidence.trust import AARate, AATest, HalfAgreement, Influence, LeftOutUnit, Reliability
from adjudge.evidence.verdict_facts import Verdict
from adjudge.mixed.effects import VarianceComponent
from adjudge.people.results import Agreement, AnnotatorAgreement, AnnotatorCheck, Checked, Coefficients, LengthAgreement
from adjudge.ranking.changes import ChangeFamily
from adjudge.ranking.decisions import decide
from adjudge.ranking.methods import find_method
from adjudge.ranking.ranking import Lines, PairComparison, RankedSystem, Ranking
from adjudge.ranking.tournament import CheapestOrder, Movable, Tournament, Violation
from adjudge.readers.summary import Imported
from adjudge.reports.build import PairResults
from adjudge.table.judgments import SetAside
from adjudge.table.maths import Correlation

LEVEL = 0.05
NASTY = "</script><script>window.hacked=1</script><img src=x onerror='window.hacked=1'>"


def ranked(name: str, rank: int, *, cluster: int, ranks: tuple[int, int], human: bool = False) -> RankedSystem:
    score = 1.0 - rank / 4
    numbers = {
        "wins": 100 - rank,
        "ties": 10,
        "losses": 50 + rank,
        "se": 0.1,
        "low": score - 0.2,
        "high": score + 0.2,
    }
    return RankedSystem(name, human, score, rank, ranks, cluster, 160 + rank, numbers)


def ranking(
    *systems: RankedSystem, open_pairs: tuple[tuple[str, str], ...] = (), method: str = "bradley-terry"
) -> Ranking:
    """A ranking of these systems, the best first; all pairs are decided except the open ones."""
    comparisons = tuple(
        PairComparison(
            better=a.system,
            worse=b.system,
            difference=0.25,
            p=p,
            p_holm=p,
            p_bh=p,
            numbers={"wins": 60 + i, "ties": 5, "losses": 40, "p_sign": p, "se": 0.1},
            p_adjusted=p,
            decided=p < LEVEL,
            state="decided" if p < LEVEL else "open",
        )
        for i, (a, b) in enumerate(combinations(systems, 2))
        for p in [0.4 if (a.system, b.system) in open_pairs else 0.0001]
    )
    systems = with_letters(systems, comparisons)
    numbers = sorted({system.cluster for system in systems})
    return Ranking(
        settings={"method": method, "seed": 1},
        data="0123456789ab",
        version="test",
        method=method,
        kind=find_method(method).judgments,
        unit=find_method(method).unit,
        annotators=6,
        systems=systems,
        comparisons=comparisons,
        clusters=tuple(tuple(system.system for system in systems if system.cluster == number) for number in numbers),
        lines=Lines("decided", LEVEL),
        set_aside=(SetAside("blank label", 3),),
    )


def with_letters(
    systems: tuple[RankedSystem, ...], comparisons: tuple[PairComparison, ...]
) -> tuple[RankedSystem, ...]:
    """The systems with letters as their comparisons say: those of an undecided pair share one."""
    place = {system.system: i for i, system in enumerate(systems)}
    p = np.full((len(systems), len(systems)), 1.0)
    for pair in comparisons:
        i, j = place[pair.better], place[pair.worse]
        p[i, j] = p[j, i] = 0.0 if pair.decided else 1.0
    order = np.arange(len(systems))
    letters = decide(-order.astype(float), p, None, level=LEVEL).letters(order)
    assert letters is not None
    return tuple(replace(system, letters=own) for system, own in zip(systems, letters, strict=True))


def undecided(pair: PairComparison, p: float, p_adjusted: float) -> PairComparison:
    """The pair with these p-values, which do not decide it."""
    return replace(pair, p=p, p_holm=p_adjusted, p_bh=p, p_adjusted=p_adjusted, decided=False, state="open")


def three_systems(first: str = "alpha") -> Ranking:
    """A reference above two systems that the data do not separate."""
    return ranking(
        ranked("ref", 1, cluster=1, ranks=(1, 1), human=True),
        ranked(first, 2, cluster=2, ranks=(2, 3)),
        ranked("beta", 3, cluster=2, ranks=(2, 3)),
        open_pairs=((first, "beta"),),
    )


def counts() -> Imported:
    return Imported(
        settings={}, data="0123456789ab", version="test", rows=480, judgments=480, annotators=6, systems=3, documents=4,
        segments=40, pairs=("en-cs",), protocols=("ranking",),
    )  # fmt: skip


def agreement(*, lengths: bool = True) -> Agreement:
    def coefficients(kappa: float) -> Coefficients:
        return Coefficients(
            pairs=300, items=90, observed=0.6, s=0.4, s_corrected=0.38, pi=0.37, kappa=kappa, fleiss=0.36, alpha=0.37,
            expected={"s": 1 / 3}, interval={"kappa": (kappa - 0.1, kappa + 0.1)},
        )  # fmt: skip

    some = {"pairs": 50, "observed": 0.6, "s": 0.4, "pi": 0.3}
    both = {"all": some, "without_reference": some}
    return Agreement(
        settings={"seed": 1},
        data="0123456789ab",
        version="test",
        kind="preferences",
        inter={"all": coefficients(0.35), "without_reference": coefficients(0.3)},
        intra={"all": coefficients(0.55), "without_reference": coefficients(0.5)},
        annotators=(AnnotatorAgreement(annotator="ann", judgments=80, ties=0.2, intra=some, inter=some),),
        by_length=tuple(LengthAgreement(length=i, segments=4, inter=both, intra=both) for i in (5, 10, 15))
        if lengths
        else None,
    )


def pair_results(first: str = "alpha") -> PairResults:
    best = three_systems(first)
    other = ranking(best.systems[0], best.systems[2], best.systems[1], method="wins")
    return PairResults(
        counts=counts(),
        ranking=best,
        others=(other,),
        tournament=tournament(first),
        checked=checked(),
        agreement=agreement(),
        audit=audit(),
    )


def checked() -> Checked:
    """Two annotators, one of whom does not tell degraded from genuine outputs."""

    def annotator_check(name: str, p: float, lead: float, seconds: float) -> AnnotatorCheck:
        passed = p < 0.05
        return AnnotatorCheck(
            annotator=name, judgments=80, tasks=2, p_controls=p, control_pairs=12, control_difference=lead,
            p_repeats=0.4, repeat_pairs=10, repeat_difference=9.0, seconds=seconds, constant=3, rejected=False,
            mean_seconds=seconds,
            passed=passed, reasons=() if passed else ("does not tell degraded from genuine outputs",),
        )  # fmt: skip

    return Checked(
        settings={"test": "paired-t"}, data="0123456789ab", version="test", rule="kept: by controls",
        annotators=(annotator_check("ann", 0.001, 22.0, 14.0), annotator_check("bob", 0.6, -1.0, 3.0)), twins=(),
        kept={"annotators": 1}, dropped={"annotators": 1},
    )  # fmt: skip


def audit() -> Audit:
    none = Correlation(0.1, (-0.6, 0.7), 0.2, 3)
    systems = (SampledSystem("alpha", human=False, shown=40, labelled=40, reference_share=0.2, score=0.6),)
    return Audit(
        settings={"seed": 1}, data="0123456789ab", version="test",
        sections={"sampling": Sampling("wins-or-ties", none, none, systems, "relative")},
    )  # fmt: skip


def score_results(first: str = "alpha") -> PairResults:
    """The same systems scored instead of compared."""
    results = pair_results(first)
    pairs = tuple(
        replace(comparison, numbers={"se": 0.1, "low": 0.05, "high": 0.45})
        for comparison in results.ranking.comparisons
    )
    spread = (
        VarianceComponent("annotator", 9.0, 7.0, 12.0, 6, "how strict or generous each annotator is"),
        VarianceComponent("residual", 17.0, None, None, 480, "what is left"),
    )
    results = replace(results, tournament=None)
    mixed = find_method("mixed")
    best = replace(
        results.ranking,
        method="mixed",
        kind="scores",
        unit=mixed.unit,
        difference_unit=mixed.difference_unit,
        comparisons=pairs,
        components=spread,
    )
    sections: dict[str, Section] = dict(audit().sections)
    pairs_of: tuple[tuple[str, str, Verdict], ...] = (
        ("ref", first, "holds"),
        ("ref", "beta", "fragile"),
        (first, "beta", "not supported"),
    )
    sections |= trust(first)
    sections |= {
        "claims": made_claims(*pairs_of, method="mixed"),
        "stability": stability(first),
        "composition": composition(first),
        "documents": documents(first),
    }
    return replace(results, ranking=best, audit=replace(audit(), sections=sections))


def stability(first: str) -> Stability:
    def row(change: str, family: ChangeFamily, *order: str) -> StabilityRow:
        before = (first, "beta")
        changed = order != before
        flips = ((first, "beta"),) if changed else ()
        return StabilityRow(change, family, ("ref",), changed, False, order, (order,), flips, before, (before,), 1)

    rows = (
        row("human and references removed", ChangeFamily.HUMAN_REMOVED, "beta", first),
        row("human divided by 2", ChangeFamily.HUMAN_DIVIDED, first, "beta"),
        row("without ann", ChangeFamily.ANNOTATOR_REMOVED, first, "beta"),
        row("without bob", ChangeFamily.ANNOTATOR_REMOVED, "beta", first),
    )
    return Stability(rows, "SR+DC", "zscore", "scipy-1.6")


def composition(first: str) -> TaskComposition:
    counts, shares = ((4, 2, 1), (2, 3, 2), (1, 2, 3)), ((1.0, 0.5, 0.25), (0.7, 1.0, 0.7), (0.3, 0.7, 1.0))
    return TaskComposition(
        "task", 6, ("ref", first, "beta"), counts, shares, (2, 2.5, 3), 0.5, 2, {"references": 1.0}, 0.5
    )


def documents(first: str) -> Documents:
    return Documents(
        ("doc-1", "doc-2"), ("ref", first, "beta"), ((90.0, 80.0, None), (70.0, 65.0, 50.0)), ((4, 4, 0), (4, 4, 4)),
        (85.0, 62.0), 5 / 6, (ExplainedSpread("systems", 0.1, 0.08),),
    )  # fmt: skip


def made_claims(*pairs: tuple[str, str, Verdict], method: str = "bradley-terry") -> Claims:
    """Claims that the first of each pair is better than the second, with these verdicts."""
    corrected = {"holds": 0.001, "needs more people": 0.02, "fragile": 0.001, "not supported": 0.4}
    made = []
    for a, b, verdict in pairs:
        fragile, p = verdict == "fragile", corrected[verdict]
        made.append(
            Claim(
                claim=f"{a} is better than {b}",
                kind="better",
                systems=(a, b),
                estimate=1.5,
                interval=(-0.5, 3.5) if verdict == "not supported" else (0.5, 2.5),
                p_holm=p,
                survives=("without the worst system",) if verdict in ("holds", "needs more people") else (),
                broken_by=("annotator ann left out",) if fragile else (),
                verdict=verdict,
                p=p,
                fails=("any annotator left out",) if fragile else (),
                p_adjusted=p,
                replication=None if verdict == "not supported" else 0.6,
                people_needed=9 if verdict == "needs more people" else None,
                reason="without annotator ann the difference is not significant (p = 0.080)" if fragile else "",
            )
        )
    parity = Claim("beta is at parity with ref", "parity", ("beta", "ref"), -0.2, (-1.0, 0.6), 0.01, (), (), "holds")
    return Claims(method, "points", 0.05, 3.0, (*made, parity), ("without the worst system", "any annotator left out"))


def trust(first: str) -> dict[str, Section]:
    """An A/A test that one test fails, reliability by two methods, and one influential annotator."""
    rates = {"zscore": AARate(75, 0.33, 0.21, (0.24, 0.44)), "mixed": AARate(75, 0.05, 0.01, (0.02, 0.13))}
    halves = {"mixed": HalfAgreement(50, 0.8, 0.4, 1.0), "zscore": HalfAgreement(50, 0.6, 0.2, 1.0)}
    left_out = LeftOutUnit("annotator", "bob", 80, first, -1.2, -0.6, 0, 1, 0)
    return {
        "aa": AATest(rates, 25, 3),
        "reliability": Reliability(halves, 6, 3),
        "influence": Influence((left_out,), 3, 2),
    }


def tournament(first: str) -> Tournament:
    """Three systems in a circle."""
    cheapest = CheapestOrder(
        (first, "beta", "gamma"), 2, True, 2, (Violation("gamma", first, 2),), 2, True, (Movable("beta", 1, 2),)
    )
    return Tournament(
        settings={}, data="0123456789ab", version="test", systems=(first, "beta", "gamma"), acyclic=False,
        cycles=((first, "beta", "gamma"),), mfas=cheapest, orders={"wins": ("beta", first, "gamma")},
        violations={"mfas": 2, "wins": 7}, spearman={"mfas": {"mfas": 1.0, "wins": 0.5}},
    )  # fmt: skip
