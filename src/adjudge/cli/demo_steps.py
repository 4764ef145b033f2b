"""The steps of the demo, each told in a line or two as it is done."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from adjudge.report.results import PairResults
    from adjudge.results.simulate import Recovery, Simulated, Truth
    from adjudge.results.tournament import Tournament

TITLE = "Two simulated campaigns"
# One system is clearly the best, and several are so close that their places stay open.
QUALITIES = (-0.4, 0.8, 0.0, 1.9, 0.4, -1.2, 0.45, -0.45, 0.05)


def run_demo(folder: Path, seed: int, *, calls: str = "adjudge", tell: Callable[[str], None]) -> Iterator[str]:
    """Run everything, told line by line; `calls` is how the command is typed here, `tell` hears what is at work."""
    from adjudge.cli.compute import ReportSettings, pair_results
    from adjudge.core.judgments import concat
    from adjudge.formats import native
    from adjudge.simulate import recovery

    yield "Two campaigns whose truth is known, from judgments to report:"
    campaigns = _campaigns(seed)
    native.write(concat([one.judgments for one in campaigns.values()]), folder / "judgments.parquet")
    _write_truth(campaigns, folder / "truth.json")
    results: dict[str, PairResults] = {}
    for name, simulated in campaigns.items():
        yield from _told_simulation(name, simulated)
        settings = ReportSettings(texts={"": simulated.sources}, only_passing=True, seed=seed, tell=tell)
        results[name] = pair_results(simulated.judgments, settings)
        yield from _told_results(results[name])
        yield from _told_recovery(recovery(simulated.truth, results[name].ranking), simulated.truth)
    tell("writing the report")
    _write_ranking(results, folder / "ranking.json")
    _write_report(results, folder / "report.html")
    yield f"\nThe report is {folder / 'report.html'}: open it in a browser."
    yield f"  {(folder / 'report.html').resolve().as_uri()}"
    yield f"Now look closer: {calls} rank {folder / 'judgments.parquet'}, or {calls} --help."


def _campaigns(seed: int) -> dict[str, Simulated]:
    from adjudge.simulate import RankingCampaign, ScoreCampaign, simulate

    rankings = RankingCampaign(
        systems=9, qualities=QUALITIES, annotators=24, blocks=900, uneven=0.6, careless=0.1, length_effect=0.5,
        name="rankings",
    )  # fmt: skip
    scores = ScoreCampaign(systems=6, annotators=20, tasks=60, careless=0.1, name="scores")
    drawn = {one.name: simulate(one, seed=seed) for one in (rankings, scores)}
    # The names that `adjudge report` gives to the parts of the table.
    return {f"{name}/{one.judgments.pairs[0]}": one for name, one in drawn.items()}


def _told_simulation(name: str, simulated: Simulated) -> Iterator[str]:
    from adjudge.report.words import counted
    from adjudge.results.import_ import describe

    held = describe(simulated.judgments, {})
    careless = len(simulated.truth.careless)
    yield f"\n{name}"
    yield (
        f"  simulate    {counted(held.rows, 'judgment')} of {counted(held.systems, 'system')} by "
        f"{counted(held.annotators, 'annotator')}, {careless} of them careless"
    )


def _told_results(results: PairResults) -> Iterator[str]:
    from adjudge.report.sections.agreement import coefficient
    from adjudge.report.sections.claims import claims_of
    from adjudge.report.words import headline, pairs_told_apart

    ranking, agreement = results.ranking, results.agreement
    if results.checked is not None:
        failed = [one.annotator for one in results.checked.annotators if not one.passed]
        yield f"  check       {', '.join(failed) + ' left out' if failed else 'nobody can be tested, all are kept'}"
    if agreement is not None:
        name, inter = coefficient(agreement, agreement.inter["all"])
        _, intra = coefficient(agreement, agreement.intra["all"])
        yield f"  agree       {name} {inter:.2f} between annotators, {intra:.2f} with themselves"
    made = claims_of(results)
    told, pairs = pairs_told_apart(ranking)
    yield f"  rank        {headline(ranking, made)}"
    yield f"              {told} of {pairs} pairs of systems are told apart ({ranking.method})"
    if results.tournament is not None:
        yield from _told_tournament(results.tournament)
    if made is not None:
        open_pairs = pairs - made.counted("holds") - made.counted("fragile")
        yield (
            f"  audit       {made.counted('holds')} differences hold in every audit, {made.counted('fragile')} are "
            f"fragile, {open_pairs} stay open"
        )


def _told_tournament(found: Tournament) -> Iterator[str]:
    circles = "no circles" if found.acyclic else f"winners run in circles among {sum(map(len, found.cycles))} systems"
    proof = "proved the best" if found.mfas.optimal else "not proved the best"
    yield f"  tournament  {circles}; an order with {found.mfas.cost} contradictions, {proof}"


def _told_recovery(found: Recovery, truth: Truth) -> Iterator[str]:
    tau = "–" if found.kendall is None else f"{found.kendall:.2f}"
    best = "found" if found.best_found else f"missed (it is {truth.order[0]})"
    wrong = "none is wrong" if not found.wrong_claims else f"{len(found.wrong_claims)} are wrong"
    yield (
        f"  truth       Kendall's tau {tau} with the true order, the first place {best}; "
        f"of the pairs that a line separates, {wrong}"
    )


def _write_truth(campaigns: Mapping[str, Simulated], path: Path) -> None:
    from adjudge.core.files import write_text
    from adjudge.report.machine import to_json

    truths = {name: one.truth.to_dict() for name, one in campaigns.items()}
    write_text(path, to_json(next(iter(truths.values())) if len(truths) == 1 else truths) + "\n")


def _write_ranking(results: Mapping[str, PairResults], path: Path) -> None:
    from adjudge.cli.shared import as_object
    from adjudge.core.files import write_text
    from adjudge.report.machine import to_json

    write_text(path, to_json(as_object({name: one.ranking for name, one in results.items()})) + "\n")


def _write_report(results: Mapping[str, PairResults], path: Path) -> None:
    from adjudge.core.files import write_text
    from adjudge.report.build import build_report
    from adjudge.report.html import render

    write_text(path, render(build_report(results, title=TITLE)))
