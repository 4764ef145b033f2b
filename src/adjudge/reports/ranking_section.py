"""The ranking: scores with intervals, possible ranks, clusters."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from adjudge.evidence import verdict, verdict_facts
from adjudge.evidence.trust import AATest
from adjudge.mixed.effects import TASTE, VarianceComponent
from adjudge.reports import drawing
from adjudge.reports.audit_section import audit_tables, claims_chart_of
from adjudge.reports.charts import (
    are_same_order,
    draw_forest,
    draw_named_points,
    draw_places,
    draw_rank_ranges,
    draw_row_bars,
    find_first_system,
    find_undecided,
    has_gaps,
    make_forest,
)
from adjudge.reports.drawing import Drawing, Frame, HeatCell, Names, Numbers, draw_cells
from adjudge.reports.page import Chart, Section
from adjudge.table.results import Cell, Table, percent, show, text
from adjudge.table.wording import agreeing, counted, short_list

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.ranking.ranking import PairComparison, Ranking
    from adjudge.ranking.tournament import Tournament
    from adjudge.ranking.tournament_uncertainty import PartialOrder
    from adjudge.reports.build import PairResults


ROW_HEIGHT = 30
NO_SPREAD = 0.005
"""A standard deviation that is shown as 0.00."""
_OF_SCORES = ("the noise of single scores", "scores")


# What a method is called in a sentence, and what to cite for it.
_METHODS = {
    "bradley-terry": ("the Bradley-Terry model with ties after Davidson", ("bradley1952rank", "davidson1970extending")),
    "expected-wins": ("expected wins", ("koehn2012simulating",)),
    "trueskill": ("TrueSkill", ("herbrich2006trueskill", "sakaguchi2014efficient")),
    "mfas": ("the order that contradicts the fewest judgments", ("lopez2012putting",)),
    "wins-or-ties": ("the share of comparisons won or tied", ("bojar2011grain",)),
    "wins": ("the share of comparisons won", ("bojar2011grain",)),
    "wins-no-ties": ("the share of comparisons won, without ties", ("bojar2011grain",)),
    "raw": ("mean scores", ()),
    "zscore": ("mean scores standardised by annotator", ("graham2017crowd",)),
    "mixed": ("a linear mixed model fitted by restricted maximum likelihood", ("patterson1971recovery",)),
    "mixed-rank": ("a linear mixed model of rank scores", ("patterson1971recovery",)),
}


def describe_method(ranking: Ranking) -> tuple[str, tuple[str, ...]]:
    """What the method is called in a sentence, and the keys of what to cite for it."""
    return _METHODS.get(ranking.method, (f"the method {ranking.method}", ()))


def ranking_section(results: PairResults) -> Section:
    """Every report has this section: the picture first, then who beats whom, where that was audited."""
    ranking = results.ranking
    first, *_ = ranking.tables()
    picture, *ranges = ranking_charts(ranking)
    claims = claims_chart_of(results)
    charts = (picture, *ranges) if claims is None else (picture, claims, *ranges)
    return Section("ranking", "Ranking", (summarise_ranking(ranking),), charts, (first,), notes=ranking.notes)


def ranking_charts(ranking: Ranking) -> tuple[Chart, ...]:
    """Scores or distances, and the ranks that are possible unless every system may have every rank."""
    scores = scores_chart(ranking)
    if len({system.rank_set for system in ranking.systems}) == 1:
        return (scores,)
    possible = "A long bar means that the data say little about the system's place."
    return scores, Chart("ranges", "Ranks that the data leave possible", possible, draw_rank_ranges(ranking))


def summarise_ranking(ranking: Ranking) -> str:
    """What was ranked, and what bars and bands are."""
    humans = sum(system.human for system in ranking.systems)
    also = f" and {counted(humans, 'human translation')}" if humans else ""
    what = f"{counted(len(ranking.systems) - humans, 'system')}{also} ranked by {describe_method(ranking)[0]}"
    if _has_intervals(ranking) or has_gaps(ranking):
        share = f"{100 * (1 - ranking.lines.level):g}"
        what += f". A bar is the range in which the true value lies in {share} of 100 such campaigns"
    return f"{what}. Shaded bands are clusters: between two bands the data draw a line, within a band they do not."


def scores_chart(ranking: Ranking) -> Chart:
    """Distances from the first where the method gives intervals of differences, else scores with intervals."""
    forest = make_forest(ranking)
    return Chart("forest", forest.title, _bars(ranking), draw_forest(forest))


def _bars(ranking: Ranking) -> str:
    """What bars and points say: a bar is about one system, what is decided is about all pairs."""
    first = ranking.order[0] if has_gaps(ranking) else find_first_system(ranking)
    undecided = find_undecided(ranking, first)
    if not any(comparison.p is not None for comparison in ranking.comparisons):
        return f"{ranking.order[0]} has the highest score, {ranking.order[-1]} the lowest."
    says = verdict.say_apart_from(first, len(undecided), len(ranking.systems) - 1)
    by_eye = [
        comparison.worse for comparison in verdict_facts.lost_to_correction(ranking) if comparison.better == first
    ]
    if by_eye and has_gaps(ranking):
        says += verdict.say_bars_off_line(first, by_eye)
    elif undecided and _has_intervals(ranking):
        says += verdict.BARS_OF_SINGLE_SYSTEMS
    return says


def _has_intervals(ranking: Ranking) -> bool:
    return any("low" in system.numbers for system in ranking.systems)


def spread_section(results: PairResults) -> Section | None:
    """Where the spread of scores comes from, by methods that model it."""
    ranking = results.ranking
    if not ranking.components:
        return None
    largest = max(ranking.components, key=lambda component: component.sd if component.effect != "residual" else -1.0)
    relative = ranking.kind == "relative"
    noise, judged = ("the chance in single comparisons", "comparisons") if relative else _OF_SCORES
    size = f"standard deviation {_size(largest.sd)}"
    words: tuple[str, ...] = (
        f"Beside {noise}, {largest.effect} matters most ({size}).",
        f"It stands for {largest.meaning.replace(', and ', '. It also stands for ')}.",
        "A ranking that ignores these sources takes them for differences between systems.",
        *_tastes(ranking.components, judged),
    )
    if largest.sd < NO_SPREAD:
        words = (f"Beside {noise}, nothing adds to the spread.",)
    intervals = any(component.low is not None for component in ranking.components)
    says = "Bars are standard deviations" + ("; thin lines are their intervals." if intervals else ".")
    chart = Chart("spread", f"Where the spread of {judged} comes from", says, draw_components(ranking.components))
    return Section("spread", "Sources of spread", words, (chart,), ranking.tables()[1:])


def _size(sd: float) -> str:
    """Two digits where the first may be all that is left of a small number, as in log-odds; else one."""
    return f"{sd:.1f}" if sd >= 1.5 else f"{sd:.2f}"


def _tastes(components: Sequence[VarianceComponent], judged: str) -> tuple[str, ...]:
    """What annotators' tastes mean, where the model has them."""
    taste = next((component for component in components if component.effect == TASTE), None)
    if taste is None:
        return ()
    if taste.sd < NO_SPREAD:
        return (f"No tastes of annotators are found in these {judged}.",)
    return (
        f"Annotators have tastes: how much more or less one likes a system varies by {_size(taste.sd)} between people.",
        "The intervals allow for that; more annotators narrow them further than more judgments by the same people.",
    )


def draw_components(components: Sequence[VarianceComponent]) -> Drawing:
    """One bar per effect, in the order of the model; a thin line is the interval."""
    ends = [end for one in components for end in (one.sd, one.low, one.high) if end is not None]
    scale = Numbers.around(ends, "standard deviation", zero=True)
    frame = Frame(scale, Names(tuple(one.effect for one in components), systems=False), ROW_HEIGHT * len(components))
    for i, one in enumerate(components):
        known = one.low is not None and one.high is not None
        facts = {"effect": one.effect, "sd": f"{one.sd:.2f}", "meaning": one.meaning}
        with frame.mark(facts | ({"interval": f"{one.low:.2f} to {one.high:.2f}"} if known else {})):
            frame.box(frame.x(0.0), frame.y(i) - 7, frame.x(one.sd) - frame.x(0.0), 14, drawing.ACCENT, rx="3",
                      fill_opacity="0.45")  # fmt: skip
            if one.low is not None and one.high is not None:
                frame.line([(frame.x(one.low), frame.y(i)), (frame.x(one.high), frame.y(i))], drawing.ACCENT, 2.0)
    return frame.finish()


# The same judgments ranked by other methods.


def methods_section(results: PairResults) -> Section | None:
    """Shown where other methods were run."""
    if not results.others:
        return None
    first, others = results.ranking, results.others
    agree = [other.method for other in others if _same_order(first, other)]
    differ = [other.method for other in others if not _same_order(first, other)]
    words = verdict.say_orders(first.method, agree, differ)
    words += _false_alarms(results)
    charts, tables, folded = (
        list(_places_chart((first, *others))),
        [_orders((first, *others))] * bool(differ),
        [one.tables()[0] for one in others if _has_rank_sets(one)],
    )
    explained = results.explained
    if explained is not None:
        ways = "From the customary ways to the model, step by step; the table says why a system moves."
        why, *more = explained.tables()
        if not are_same_order(list(explained.orders.values())):
            charts.append(Chart("moves", "Why systems moved", ways, draw_places(explained.orders)))
            tables.append(replace(why, note=""))
        words, folded = [*words, *[explained.story] * bool(explained.story)], [*more, *folded]
    return Section("methods", "Other methods", tuple(words), tuple(charts), tuple(tables), tuple(folded))


def _places_chart(rankings: tuple[Ranking, ...]) -> tuple[Chart, ...]:
    """The places by method; flat lines would say nothing, and the words have said it."""
    orders = {ranking.method: ranking.order for ranking in rankings}
    if are_same_order(list(orders.values())):
        return ()
    says = "Coloured lines are systems whose place depends on the method."
    return (Chart("methods", "Places by method", says, draw_places(orders)),)


def _false_alarms(results: PairResults) -> list[str]:
    """How often the test behind each method calls a system different from itself, where that was audited."""
    audited = None if results.audit is None else results.audit.sections.get("aa")
    if not isinstance(audited, AATest):
        return []
    names = [ranking.method for ranking in (results.ranking, *results.others) if ranking.method in audited.rates]
    rates = {name: show(audited.rates[name].rate_05, percent("rate", 0)) for name in names}
    if len(rates) == 1:
        [(name, rate)] = rates.items()
        return [f"The test of {name} calls equal systems different in {rate} of cases here (5% is nominal)."]
    each = ", ".join(f"{name} {rate}" for name, rate in rates.items())
    return [f"The tests call equal systems different in these shares of cases (5% is nominal): {each}."] * bool(rates)


def _has_rank_sets(ranking: Ranking) -> bool:
    """Whether anything is known about possible ranks: a method that ran for its order alone knows nothing."""
    return any(system.rank_set != (1, len(ranking.systems)) for system in ranking.systems)


def _same_order(ranking: Ranking, other: Ranking) -> bool:
    """Whether both put the systems that they share into the same order."""
    return are_same_order([ranking.order, other.order])


def _orders(rankings: tuple[Ranking, ...]) -> Table:
    most = max(len(ranking.systems) for ranking in rankings)
    rows: list[tuple[Cell, ...]] = [
        tuple(ranking.order[i] if i < len(ranking.order) else None for ranking in rankings) for i in range(most)
    ]
    return Table("Orders side by side", tuple(text(ranking.method) for ranking in rankings), tuple(rows))


# Every pair of systems: who beat whom, how often, and whether chance could have done it.

STEPS = (0.25, 0.35, 0.45, 0.55, 0.65, 0.75)
# What a cell of the chart is, by the kind of judgments.
_CELL = {
    "relative": "A cell is the percentage of comparisons that the row's system won against the column's, ties left "
    "out; a dot marks pairs that are decided.",
    "scores": "A cell is the row's score minus the column's; a dot marks pairs that are decided.",
}
# How sure it is that the row's system is better than the column's.
_EVIDENCE = ("open", "perhaps better", "better")
_COLOURS = tuple(drawing.HEAT[i] for i in (3, 4, 6))


def pairs_section(results: PairResults) -> Section:
    """A heat map, of wins where the method counts them, and the table of pairs."""
    ranking = results.ranking
    told = verdict.say_apart_in_table(len(verdict_facts.told_apart(ranking)), len(ranking.comparisons))
    return Section(
        "pairs",
        "Pairs of systems",
        (told, _CELL[ranking.kind]),
        (pairs_chart(ranking),),
        folded=(ranking.comparison_table(), *audit_tables(results, "discrepancies", "sole_winners")),
    )


def pairs_chart(ranking: Ranking) -> Chart:
    """Who beats whom where systems were compared, differences of scores otherwise."""
    if ranking.kind == "relative":
        says = "Blue: the row's system wins more often; orange: it loses more often, although it is ranked above."
        return Chart("pairs", "Share of comparisons won", says, draw_wins(ranking))
    says = "Strong blue: the pair is decided; weak blue: it would be, if it were the only question."
    return Chart("pairs", "Differences", says, draw_differences(ranking))


def draw_wins(ranking: Ranking) -> Drawing:
    """Share of the pair's decided comparisons that the row's system won; a dot marks pairs told apart.

    The other half of the square would repeat what this half says: rows are ranked above their columns.
    """
    cells = [cell for comparison in ranking.comparisons for cell in _share_cell(comparison)]
    return draw_cells(Names(ranking.order), Names(ranking.order, "against"), cells)


def _share_cell(comparison: PairComparison) -> list[HeatCell]:
    wins, losses = comparison.numbers.get("wins") or 0, comparison.numbers.get("losses") or 0
    if not wins + losses:
        return []
    share = wins / (wins + losses)
    dot = "•" if comparison.decided else ""
    facts = {"system": comparison.better, "against": comparison.worse, "share won": f"{share:.1%}",
             "wins": f"{wins:,}", "ties": f"{comparison.numbers.get('ties') or 0:,}", "losses": f"{losses:,}",
             "p (all pairs)": drawing.p_text(comparison.p_adjusted)}  # fmt: skip
    colour = drawing.HEAT[sum(share >= step for step in STEPS)]
    return [HeatCell(comparison.better, comparison.worse, colour, _percent(share) + dot, facts, dot)]


def _percent(share: float) -> str:
    """Whole percents; 0 and 100 only where it is exactly so."""
    if 0 < share < 0.005:
        return "<1"
    return ">99" if 0.995 <= share < 1 else f"{100 * share:.0f}"


def draw_differences(ranking: Ranking) -> Drawing:
    """Row minus column; strong colours are decided, weak ones would be as the only question."""
    lost = {(pair.better, pair.worse) for pair in verdict_facts.lost_to_correction(ranking)}
    cells = [cell for pair in ranking.comparisons for cell in _difference_cell(pair, lost)]
    return draw_cells(Names(ranking.order), Names(ranking.order, "against"), cells, letters=11)


def _difference_cell(comparison: PairComparison, lost: set[tuple[str, str]]) -> list[HeatCell]:
    difference = comparison.difference
    if difference is None:
        return []
    place = 2 if comparison.decided else int((comparison.better, comparison.worse) in lost)
    # Where cells are too narrow for numbers, dots alone mark the pairs that are told apart.
    dot = "•" if comparison.decided else ""
    shown = (f"{difference:+.1f}" if abs(difference) >= 1 else f"{difference:+.2f}").replace("-", "−") + dot
    facts = {"system": comparison.better, "against": comparison.worse, "difference": f"{difference:+.2f}",
             "p (all pairs)": drawing.p_text(comparison.p_adjusted), "evidence": _EVIDENCE[place]}  # fmt: skip
    return [HeatCell(comparison.better, comparison.worse, _COLOURS[place], shown, facts, dot)]


# How the comparisons were spread: times judged, and who met whom.

_SHADES = drawing.HEAT[3:]


def opponents_section(results: PairResults) -> Section | None:
    """Shown for relative judgments, where an unequal spread can bend a ranking."""
    ranking = results.ranking
    if ranking.kind != "relative":
        return None
    most = max(ranking.systems, key=lambda system: system.n)
    least = min(ranking.systems, key=lambda system: system.n)
    often, seldom = ([system.system for system in ranking.systems if system.n == end.n] for end in (most, least))
    spread = f"{short_list(often)} {agreeing(len(often), 'was', 'were')} compared most often "
    spread += f"({counted(most.n, 'time')}), {short_list(seldom)} least often ({least.n:,})."
    if most.n == least.n:
        spread = f"All were compared equally often ({counted(most.n, 'time')})."
    spread += (
        " Win ratios are fair only if all systems met the same opponents; Bradley-Terry takes the opponents' strength "
        "into account."
    )
    charts: tuple[Chart, ...] = ()
    if 1.1 * least.n < most.n:
        slope = "Points on a slope: the sampling may favour some systems."
        charts = (Chart("times", "Score against times judged", slope, draw_times_judged(ranking)),)
    meetings = count_meetings(ranking)
    if len(set(map(_shade, meetings.values()))) > 1:
        shades = "A stronger blue: compared more often than the average pair; a weaker one: less often."
        charts += (Chart("opponents", "Comparisons of every pair", shades, draw_meetings(ranking)),)
    if meetings:
        fewest, *_, highest = sorted(count for count, _ in (*meetings.values(), *meetings.values()))
        meet = counted(fewest, "time") if fewest == highest else f"{fewest:,} to {counted(highest, 'time')}"
        spread += f" Pairs met {meet}."
    table, *others = audit_tables(results, "sampling", "composition") or (None,)
    tables = () if table is None else (table,)
    return Section(
        "opponents", "Who met whom", (spread,), charts, tables, tuple(table for table in others if table is not None)
    )


def count_meetings(ranking: Ranking) -> dict[tuple[str, str], tuple[int, float]]:
    """The comparisons of every pair, and how many times as many they are as the average pair's."""
    counts = {
        (pair.better, pair.worse): sum(int(pair.numbers.get(name) or 0) for name in ("wins", "ties", "losses"))
        for pair in ranking.comparisons
    }
    mean = sum(counts.values()) / max(len(counts), 1)
    return {pair: (count, count / mean if mean else 0.0) for pair, count in counts.items()}


def _shade(met: tuple[int, float]) -> str:
    return _SHADES[sum(met[1] >= step for step in (0.5, 1.25, 2))]


def draw_meetings(ranking: Ranking) -> Drawing:
    """The number of comparisons of every pair, darker where it is larger than the average pair's."""
    cells = []
    for (better, worse), met in count_meetings(ranking).items():
        # Who met whom has no direction: one half of the square says all.
        facts = {
            "system": better,
            "met": worse,
            "comparisons": f"{met[0]:,}",
            "against the average pair": f"{met[1]:.2f}",
        }
        cells.append(HeatCell(better, worse, _shade(met), f"{met[0]:,}", facts))
    return draw_cells(Names(ranking.order), Names(ranking.order, "met"), cells, letters=11)


def draw_times_judged(ranking: Ranking) -> Drawing:
    """One point per system, its name beside it. Human translations, far above, would hide the rest."""
    points = [
        (system.system, float(system.n), system.score)
        for system in ranking.systems
        if not system.human and system.score is not None
    ]
    return draw_named_points(points, "comparisons", ranking.unit, {})


# The tournament: are there cycles of leads, and what does each ranking contradict?

CHEAPEST = "fewest possible"
ORDER_SAYS = (
    "A line leads from a better system (left) to a worse one (right). If no path of lines leads from one system to "
    "another, their order is open."
)


def tournament_section(results: PairResults) -> Section | None:
    """Shown for relative judgments."""
    return None if results.tournament is None else section_of(results.tournament)


def section_of(tournament: Tournament) -> Section:
    """The section about a tournament."""
    says = "A ranking contradicts a judgment if it puts the loser above the winner; those that agree are subtracted."
    charts: tuple[Chart, ...] = (Chart("costs", "What every ranking contradicts", says, draw_costs(tournament)),)
    first, *others = tournament.tables()
    words: tuple[str, ...] = (_cycles(tournament), _cheapest(tournament))
    if tournament.uncertainty is not None:
        words = (*words, tournament.uncertainty.cycles_by_chance.words)
        order = draw_partial_order(tournament.uncertainty.partial_order, tournament.mfas.order)
        charts = (Chart("order", "The partial order that remains", ORDER_SAYS, order), *charts)
    return Section("tournament", "Tournament", words, charts, (first,), tuple(others), tournament.notes)


def _cycles(tournament: Tournament) -> str:
    if tournament.acyclic:
        return "There is no cycle: some order agrees with the winner of every pair."
    groups = "; ".join(short_list(members) for members in tournament.cycles)
    return f"There are cycles (A beats B, B beats C, C beats A), so no order agrees with every pair. In them: {groups}."


def _cheapest(tournament: Tournament) -> str:
    best = tournament.mfas
    proof = "no order does better" if best.optimal else f"no order does better than {best.lower_bound:,}"
    sentence = f"The best order goes against leads of {counted(best.cost, 'judgment')} in all; {proof}."
    if best.optima > 1:
        least = "" if best.optima_complete else "at least "
        movable = counted(len(best.movable), "system")
        sentence += f" It is one of {least}{best.optima:,} such orders, and {movable} can move between them."
    return sentence


def draw_costs(tournament: Tournament) -> Drawing:
    """One bar per ranking, the cheapest possible order first."""
    contradictions = {CHEAPEST: tournament.mfas.cost, **{k: v for k, v in tournament.violations.items() if k != "mfas"}}
    order = sorted(contradictions, key=lambda name: (contradictions[name], name != CHEAPEST))
    values = {name: {"": float(contradictions[name])} for name in order}
    scale = Numbers(0.0, 1.05 * max(*contradictions.values(), 1), "contradicted judgments")
    return draw_row_bars(values, scale, number=",.0f", colours=())


def draw_partial_order(order: PartialOrder, best: tuple[str, ...]) -> Drawing:
    """A row per system in the best order, further to the right the more systems are surely above it."""
    level = {name: float(i) for i, members in enumerate(order.levels, start=1) for name in members}
    names = sorted(level, key=lambda name: (level[name], best.index(name)))
    at = tuple(float(i) for i in range(1, len(order.levels) + 1))
    frame = Frame(Numbers(0.8, len(at) + 0.2, "level", at=at), Names(tuple(names)), 26 * max(len(names), 2))
    for link in order.links:
        with frame.mark({" ": f"{link.better} above {link.worse}"}):
            ends = [(frame.x(level[name]), frame.y(name)) for name in (link.better, link.worse)]
            frame.line(ends, drawing.MUTED, 1.5, stroke_opacity="0.6")
    for name in names:
        with frame.mark({"system": name, "level": f"{level[name]:.0f}"}, name):
            frame.point(frame.x(level[name]), frame.y(name), "circle", 4.5, fill=drawing.ACCENT)
    return frame.finish()
