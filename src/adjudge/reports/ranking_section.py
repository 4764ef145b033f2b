"""The ranking: scores with intervals, possible ranks, clusters."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from adjudge.evidence import verdict, verdict_facts
from adjudge.evidence.trust import AATest
from adjudge.mixed.effects import TASTE, VarianceComponent
from adjudge.reports import chart_theme
from adjudge.reports.audit_section import audit_tables
from adjudge.reports.chart_theme import Layer, channel
from adjudge.reports.charts import (
    draw_gaps,
    draw_heatmap,
    draw_names,
    draw_places,
    draw_rank_ranges,
    draw_scores,
    find_first_system,
    find_undecided,
    make_axes,
    place_names,
    show_where_wide,
)
from adjudge.reports.page import Chart, Section
from adjudge.table.results import Cell, Table, percent, show, text
from adjudge.table.wording import counted, short_list

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.ranking.ranking import PairComparison, Ranking
    from adjudge.ranking.tournament import Tournament
    from adjudge.ranking.tournament_uncertainty import PartialOrder
    from adjudge.reports.build import PairResults


ROW_HEIGHT = 30
NO_SPREAD = 0.005
"""A standard deviation that is shown as 0.00."""
_OF_SCORES = ("single scores' own noise", "scores")


def ranking_section(results: PairResults) -> Section:
    """Every report has this section."""
    ranking = results.ranking
    first, *_ = ranking.tables()
    charts = ranking_charts(ranking)
    return Section("ranking", "Ranking", (summarise_ranking(ranking),), charts, (first,), notes=ranking.notes)


def ranking_charts(ranking: Ranking) -> tuple[Chart, ...]:
    """Scores or distances, and the ranks that are possible."""
    possible = "A long bar means that the data say little about the system's place."
    return (
        scores_chart(ranking),
        Chart("ranges", "Ranks that the data leave possible", possible, draw_rank_ranges(ranking)),
    )


def summarise_ranking(ranking: Ranking) -> str:
    """What was ranked, and what bars and bands are."""
    humans = sum(system.human for system in ranking.systems)
    also = f" and {counted(humans, 'human translation')}" if humans else ""
    what = f"{counted(len(ranking.systems) - humans, 'system')}{also} ranked by {ranking.method}"
    if _has_intervals(ranking) or _has_gaps(ranking):
        share = f"{100 * (1 - ranking.lines.level):g}"
        what += f". A bar is the range in which the true value lies in {share} of 100 such campaigns"
    return f"{what}; shaded bands are clusters: between two bands the data draw a line, within a band they do not."


def scores_chart(ranking: Ranking) -> Chart:
    """Scores with intervals, or distances from the first where the method gives intervals of differences."""
    if _has_gaps(ranking):
        unit = ranking.difference_unit or ranking.unit
        return Chart("forest", "Distance from the first", _bars(ranking), draw_gaps(ranking, unit=unit))
    title = "Scores and intervals" if _has_intervals(ranking) else "Scores"
    return Chart("forest", title, _bars(ranking), draw_scores(ranking, unit=ranking.unit))


def _bars(ranking: Ranking) -> str:
    """What bars and points say: a bar is about one system, what is decided is about all pairs."""
    first = ranking.order[0] if _has_gaps(ranking) else find_first_system(ranking)
    undecided = find_undecided(ranking, first)
    if not any(comparison.p is not None for comparison in ranking.comparisons):
        return f"{ranking.order[0]} has the highest score, {ranking.order[-1]} the lowest."
    says = verdict.say_apart_from(first, len(undecided), len(ranking.systems) - 1)
    by_eye = [
        comparison.worse for comparison in verdict_facts.lost_to_correction(ranking) if comparison.better == first
    ]
    if by_eye and _has_gaps(ranking):
        says += verdict.say_bars_off_line(first, by_eye)
    elif _has_intervals(ranking):
        separate = _separate_bars(ranking)
        corrected = {(comparison.better, comparison.worse) for comparison in verdict_facts.lost_to_correction(ranking)}
        lost = sum(pair in corrected for pair in separate)
        says += verdict.say_bars_apart(lost, len(separate) - lost)
    return says


def _separate_bars(ranking: Ranking) -> list[tuple[str, str]]:
    """Undecided pairs whose bars do not reach each other."""
    ends = {system.system: (system.numbers.get("low"), system.numbers.get("high")) for system in ranking.systems}
    apart = verdict_facts.told_apart(ranking)
    separate = []
    for comparison in ranking.comparisons:
        low, high = ends[comparison.better][0], ends[comparison.worse][1]
        pair = (comparison.better, comparison.worse)
        if low is not None and high is not None and low > high and pair not in apart:
            separate.append(pair)
    return separate


def _has_intervals(ranking: Ranking) -> bool:
    return any("low" in system.numbers for system in ranking.systems)


def _has_gaps(ranking: Ranking) -> bool:
    """Whether the method gives intervals of differences, which say more than intervals of scores."""
    return any("low" in comparison.numbers for comparison in ranking.comparisons)


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
        f"After {noise}, {largest.effect} matters most: {largest.meaning} ({size}).",
        "A ranking that ignores these sources takes them for differences between systems.",
        *_tastes(ranking.components),
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


def _tastes(components: Sequence[VarianceComponent]) -> tuple[str, ...]:
    """What annotators' tastes mean, where the model has them."""
    taste = next((component for component in components if component.effect == TASTE), None)
    if taste is None or taste.sd <= 0:
        return ()
    return (
        f"Annotators have tastes: how much more or less one likes a system varies by {_size(taste.sd)} between people.",
        "The intervals allow for that; more annotators narrow them further than more judgments by the same people.",
    )


def draw_components(components: Sequence[VarianceComponent]) -> dict[str, Any]:
    """One bar per effect, in the order of the model; a thin line is the interval."""
    fields = ("effect", "sd", "low", "high", "meaning")
    rows = [{name: getattr(component, name) for name in fields} for component in components]
    base = Layer(rows).encode(
        y=channel("effect:N", sort=[component.effect for component in components], title=None),
        tooltip=[
            channel("effect:N"),
            channel("sd:Q", format=".2f"),
            channel("low:Q", title="from", format=".2f"),
            channel("high:Q", title="to", format=".2f"),
            channel("meaning:N"),
        ],
    )
    bars = base.mark("bar", height=14, cornerRadius=3, fill=chart_theme.ACCENT, opacity=0.45).encode(
        x=channel("sd:Q", title="standard deviation")
    )
    known = base.transform(filter="isValid(datum.low) && isValid(datum.high)")
    intervals = known.mark("rule", strokeWidth=2, stroke=chart_theme.ACCENT).encode(x="low:Q", x2="high:Q")
    return chart_theme.finish(bars, intervals, height=ROW_HEIGHT * len(components))


# The same judgments ranked by other methods.


def methods_section(results: PairResults) -> Section | None:
    """Shown where other methods were run."""
    if not results.others:
        return None
    first, others = results.ranking, results.others
    agree = [other.method for other in others if _same_order(first, other)]
    differ = [other.method for other in others if not _same_order(first, other)]
    words = verdict.say_orders(first.method, agree, differ)
    moves = "Coloured lines are systems whose place depends on the method."
    says = moves if differ else "No system's place depends on the method."
    chart = Chart("methods", "Places by method", says, draw_places({one.method: one.order for one in (first, *others)}))
    words += _false_alarms(results)
    charts, tables, folded = (
        [chart],
        [_orders((first, *others))],
        [one.tables()[0] for one in others if _has_rank_sets(one)],
    )
    explained = results.explained
    if explained is not None:
        ways = "From the customary ways to the model, step by step; the table says why a system moves."
        why, *more = explained.tables()
        charts = [*charts, Chart("moves", "Why systems moved", ways, draw_places(explained.orders))]
        words, tables, folded = (
            [*words, *[explained.story] * bool(explained.story)],
            [*tables, replace(why, note="")],
            [*more, *folded],
        )
    return Section("methods", "Other methods", tuple(words), tuple(charts), tuple(tables), tuple(folded))


def _false_alarms(results: PairResults) -> list[str]:
    """How often the test behind each method calls a system different from itself, where that was audited."""
    audited = None if results.audit is None else results.audit.sections.get("aa")
    if not isinstance(audited, AATest):
        return []
    names = [ranking.method for ranking in (results.ranking, *results.others) if ranking.method in audited.rates]
    alarms = [f"{name} {show(audited.rates[name].rate_05, percent('rate', 0))}" for name in names]
    return [f"False alarms of the test behind each method on these data (5% is nominal): {', '.join(alarms)}."]


def _has_rank_sets(ranking: Ranking) -> bool:
    """Whether anything is known about possible ranks: a method that ran for its order alone knows nothing."""
    return any(system.rank_set != (1, len(ranking.systems)) for system in ranking.systems)


def _same_order(ranking: Ranking, other: Ranking) -> bool:
    """Whether both put the systems that they share into the same order."""
    common = set(ranking.order) & set(other.order)
    return [name for name in ranking.order if name in common] == [name for name in other.order if name in common]


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
# How sure it is that the row's system is worse, or better, than the column's.
_EVIDENCE = ("worse", "perhaps worse", "open", "perhaps better", "better")
_COLOURS = (chart_theme.HEAT[0], chart_theme.HEAT[2], chart_theme.HEAT[3], chart_theme.HEAT[4], chart_theme.HEAT[6])


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
        says = "Blue: the row's system wins more often; orange: it loses more often."
        return Chart("pairs", "Who beats whom", says, draw_wins(ranking))
    says = "Blue: the row's system is better; orange: worse; weak colours: decided if it were the only question."
    return Chart("pairs", "Differences", says, draw_differences(ranking, unit=ranking.unit))


def draw_wins(ranking: Ranking) -> dict[str, Any]:
    """Share of the pair's decided comparisons that the row's system won; a dot marks pairs told apart (Holm)."""
    cells = [cell for comparison in ranking.comparisons for cell in _share_cells(comparison)]
    return draw_heatmap(
        cells,
        ranking.order,
        (show_where_wide(ranking.order, 34, 12), channel("label:N")),
        (show_where_wide(ranking.order, 34, 10, narrow=True), channel("dot:N")),
        title="against",
        colour=channel(
            "share:Q",
            title="share won",
            scale=dict(type="threshold", domain=list(STEPS), range=list(chart_theme.HEAT)),
            legend=None,
        ),
        tooltip=[
            channel("row:N", title="system"),
            channel("column:N", title="against"),
            channel("share:Q", title="share won", format=".1%"),
            channel("wins:Q"),
            channel("ties:Q"),
            channel("losses:Q"),
            channel("p:N", title="p (all pairs)"),
        ],
    )


def _share_cells(comparison: PairComparison) -> list[dict[str, Any]]:
    wins, losses = comparison.numbers.get("wins") or 0, comparison.numbers.get("losses") or 0
    decided = wins + losses
    if not decided:
        return []
    common: dict[str, Any] = {"ties": comparison.numbers.get("ties"), "p": chart_theme.p_text(comparison.p_adjusted)}
    common["dot"] = "•" if comparison.decided else ""

    def cell(row: str, column: str, won: float, lost: float) -> dict[str, Any]:
        share = won / decided
        label = _percent(share) + common["dot"]
        return {"row": row, "column": column, "share": share, "wins": won, "losses": lost, "label": label, **common}

    return [
        cell(comparison.better, comparison.worse, wins, losses),
        cell(comparison.worse, comparison.better, losses, wins),
    ]


def _percent(share: float) -> str:
    """Whole percents; 0 and 100 only where it is exactly so."""
    if 0 < share < 0.005:
        return "<1"
    return ">99" if 0.995 <= share < 1 else f"{100 * share:.0f}"


def draw_differences(ranking: Ranking, *, unit: str) -> dict[str, Any]:
    """Row minus column; strong colours are decided, weak ones differ by themselves only."""
    cells = [cell for comparison in ranking.comparisons for cell in _difference_cells(comparison, ranking.lines.level)]
    return draw_heatmap(
        cells,
        ranking.order,
        (show_where_wide(ranking.order, 40, 11), channel("label:N")),
        # Where cells are too narrow for numbers, dots alone mark the pairs that are told apart.
        (show_where_wide(ranking.order, 40, 10, narrow=True), channel("dot:N")),
        title="against",
        colour=channel("evidence:N", legend=None, scale=dict(domain=list(_EVIDENCE), range=list(_COLOURS))),
        tooltip=[
            channel("row:N", title="system"),
            channel("column:N", title="against"),
            channel("difference:Q", title=unit, format="+.2f"),
            channel("p:N", title="p (all pairs)"),
            channel("evidence:N"),
        ],
    )


def _difference_cells(comparison: PairComparison, level: float) -> list[dict[str, Any]]:
    if comparison.difference is None:
        return []
    alone = comparison.p is not None and comparison.p < level
    step = 2 if comparison.decided else int(alone)
    common = {"p": chart_theme.p_text(comparison.p_adjusted), "dot": "•" if step == len(_EVIDENCE) // 2 else ""}

    def cell(row: str, column: str, difference: float, evidence: str) -> dict[str, Any]:
        shown = (f"{difference:+.1f}" if abs(difference) >= 1 else f"{difference:+.2f}") + common["dot"]
        return {"row": row, "column": column, "difference": difference, "label": shown, "evidence": evidence, **common}

    return [
        cell(comparison.better, comparison.worse, comparison.difference, _EVIDENCE[2 + step]),
        cell(comparison.worse, comparison.better, -comparison.difference, _EVIDENCE[2 - step]),
    ]


# How the comparisons were spread: times judged, and who met whom.

TIMES_HEIGHT = 340
_SHADES = (chart_theme.HEAT[3], chart_theme.HEAT[4], chart_theme.HEAT[5], chart_theme.HEAT[6])


def opponents_section(results: PairResults) -> Section | None:
    """Shown for relative judgments, where an unequal spread can bend a ranking."""
    ranking = results.ranking
    if ranking.kind != "relative":
        return None
    most = max(ranking.systems, key=lambda system: system.n)
    least = min(ranking.systems, key=lambda system: system.n)
    spread = (
        f"{most.system} was compared most often ({counted(most.n, 'time')}), {least.system} least often "
        f"({least.n:,}). Win ratios are fair only if all systems met the same opponents; Bradley-Terry takes "
        "the opponents' strength into account."
    )
    charts = (
        Chart("times", "Score against times judged", "Points on a slope: the sampling may favour some systems.",
              draw_times_judged(ranking, unit=ranking.unit)),
        Chart("opponents", "Comparisons of every pair",
              "A stronger blue: compared more often than the average pair; one shade throughout is an even spread.",
              draw_meetings(ranking)),
    )  # fmt: skip
    first, *others = audit_tables(results, "sampling", "composition") or (None,)
    tables = () if first is None else (first,)
    return Section(
        "opponents", "Who met whom", (spread,), charts, tables, tuple(table for table in others if table is not None)
    )


def draw_meetings(ranking: Ranking) -> dict[str, Any]:
    """The number of comparisons of every pair, darker where it is larger than the average pair's."""
    meetings = {
        (comparison.better, comparison.worse): sum(
            int(comparison.numbers.get(name) or 0) for name in ("wins", "ties", "losses")
        )
        for comparison in ranking.comparisons
    }
    mean = sum(meetings.values()) / max(len(meetings), 1)
    cells = [
        {"row": row, "column": column, "comparisons": count, "ratio": count / mean if mean else 0}
        for (better, worse), count in meetings.items()
        for row, column in ((better, worse), (worse, better))
    ]
    scale = dict(type="threshold", domain=[0.5, 1.25, 2], range=list(_SHADES))
    return draw_heatmap(
        cells,
        ranking.order,
        (show_where_wide(ranking.order, 34, 11), channel("comparisons:Q")),
        title="met",
        row_height=28,
        colour=channel("ratio:Q", scale=scale, legend=None),
        tooltip=[
            channel("row:N", title="system"),
            channel("column:N", title="met"),
            channel("comparisons:Q"),
            channel("ratio:Q", title="against the average pair", format=".2f"),
        ],
    )


def draw_times_judged(ranking: Ranking, *, unit: str) -> dict[str, Any]:
    """One point per system, its name beside it. Human translations, far above, would hide the rest."""
    rows = [
        {"name": system.system, "y": system.score, "x": system.n}
        for system in ranking.systems
        if not system.human and system.score is not None
    ]
    x, y = make_axes(rows, "comparisons", unit)
    base = Layer(place_names(rows, TIMES_HEIGHT))
    points = base.mark("point", filled=True, size=60, opacity=1, color=chart_theme.ACCENT).encode(
        x=x,
        y=y,
        tooltip=[
            channel("name:N", title="system"),
            channel("x:Q", title="comparisons"),
            channel("y:Q", title="score", format=".3f"),
        ],
    )
    return chart_theme.finish(*draw_names(base, x, y), points, height=TIMES_HEIGHT)


# The tournament: are there cycles of leads, and what does each ranking contradict?

ROW_HEIGHT_TOURNAMENT = 28
CHEAPEST = "fewest possible"
ORDER_SAYS = (
    "A line joins a better system (left) and a worse one. Two systems that no path of lines joins from left to right "
    "are not ordered."
)


def tournament_section(results: PairResults) -> Section | None:
    """Shown for relative judgments."""
    return None if results.tournament is None else section_of(results.tournament)


def section_of(tournament: Tournament) -> Section:
    """The section about a tournament."""
    says = "A ranking contradicts a judgment that puts the lower of two systems first, net of those that agree."
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
    return f"There are cycles (A beats B, B beats C, C beats A) among {groups}: no order agrees with every pair."


def _cheapest(tournament: Tournament) -> str:
    best = tournament.mfas
    proof = "no order does better" if best.optimal else f"no order does better than {best.lower_bound:,}"
    sentence = f"The order with the fewest contradictions has {best.cost:,}; {proof}."
    if best.optima > 1:
        least = "" if best.optima_complete else "at least "
        movable = counted(len(best.movable), "system")
        sentence += f" {least.capitalize()}{best.optima:,} orders are as good, and {movable} can move between them."
    return sentence


def draw_costs(tournament: Tournament) -> dict[str, Any]:
    """One bar per ranking, the cheapest possible order first."""
    contradictions = {CHEAPEST: tournament.mfas.cost, **{k: v for k, v in tournament.violations.items() if k != "mfas"}}
    order = sorted(contradictions, key=lambda name: (contradictions[name], name != CHEAPEST))
    rows = [
        {"ranking": name, "cost": contradictions[name], "kind": "best" if name == CHEAPEST else "other"}
        for name in order
    ]
    base = Layer(rows).encode(y=channel("ranking:N", sort=order, title=None))
    bars = base.mark("bar", height=14, cornerRadius=3).encode(
        x=channel("cost:Q", title="contradicted judgments", axis=dict(tickMinStep=1, format="d")),
        color=channel(
            "kind:N", legend=None, scale=dict(domain=["best", "other"], range=[chart_theme.ACCENT, chart_theme.MUTED])
        ),
        tooltip=[channel("ranking:N"), channel("cost:Q")],
    )
    numbers = base.mark("text", align="left", dx=5, fontSize=12).encode(x="cost:Q", text="cost:Q")
    return chart_theme.finish(bars, numbers, height=ROW_HEIGHT_TOURNAMENT * max(len(rows), 2))


def draw_partial_order(order: PartialOrder, best: tuple[str, ...]) -> dict[str, Any]:
    """A row per system in the best order, further to the right the more systems are surely above it."""
    level = {name: i for i, members in enumerate(order.levels, start=1) for name in members}
    names = sorted(level, key=lambda name: (level[name], best.index(name)))
    place = {name: i for i, name in enumerate(names, start=1)}
    domain = [0.5, len(names) + 0.5]
    y_scale = dict(domain=domain, reverse=True, nice=False, zero=False)
    y = channel("place:Q", title=None, axis=chart_theme.axis_of_names(tuple(names)), scale=y_scale)
    x_axis = dict(tickMinStep=1, format="d", grid=False)
    x = channel("level:Q", title="level", axis=x_axis, scale=dict(domain=[0.8, len(order.levels) + 0.2], nice=False))
    ends = [
        {"link": f"{link.better} above {link.worse}", "place": place[name], "level": level[name]}
        for link in order.links
        for name in (link.better, link.worse)
    ]
    dots = Layer([{"name": name, "place": place[name], "level": level[name]} for name in names]).mark(
        "point", filled=True, size=60, opacity=1, color=chart_theme.ACCENT
    )
    layers = [dots.encode(x=x, y=y, tooltip=[channel("name:N", title="system"), channel("level:Q")])]
    if ends:
        lines = Layer(ends).mark("line", color=chart_theme.MUTED, opacity=0.6)
        layers.insert(0, lines.encode(x=x, y=y, detail="link:N", tooltip=[channel("link:N", title=" ")]))
    return chart_theme.finish(*layers, height=ROW_HEIGHT_TOURNAMENT * max(len(names), 2))
