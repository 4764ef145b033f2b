"""The same judgments ranked by other methods."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.evidence.verdict import say_orders
from adjudge.report.charts.rank_changes import draw_places
from adjudge.report.page import Chart, Section
from adjudge.results.audit.trust import AATest
from adjudge.results.table import Cell, Table, percent, show, text

if TYPE_CHECKING:
    from adjudge.results.rank import Ranking
    from adjudge.results.report import PairResults


def methods_section(results: PairResults) -> Section | None:
    """Shown where other methods were run."""
    if not results.others:
        return None
    first, others = results.ranking, results.others
    agree = [other.method for other in others if _same_order(first, other)]
    differ = [other.method for other in others if not _same_order(first, other)]
    words = say_orders(first.method, agree, differ)
    moves = "Coloured lines are systems whose place depends on the method."
    says = moves if differ else "No system's place depends on the method."
    chart = Chart("methods", "Places by method", says, draw_places({one.method: one.order for one in (first, *others)}))
    words += _false_alarms(results)
    return Section(
        "methods", "Other methods", tuple(words), (chart,), (_orders((first, *others)),),
        tuple(other.tables()[0] for other in others if _has_rank_sets(other)),
    )  # fmt: skip


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
