"""Audits of scores: stability, composition of tasks, documents by systems."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from adjudge.core.wording import counted
from adjudge.report.charts.heatmap import draw_matrix
from adjudge.report.charts.rank_changes import draw_places
from adjudge.report.page import Chart, Section
from adjudge.results.audit.composition import TaskComposition
from adjudge.results.audit.stability import ONCE_PER_PAIR, ChangeFamily

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.results.audit.composition import Composition, Documents
    from adjudge.results.audit.stability import Stability, StabilityRow

_SHARES = (0.25, 0.5, 0.75)
_DEVIATIONS = (-10.0, -6.0, -2.0, 2.0, 6.0, 10.0)
MOST_DOCUMENTS = 60
AS_IT_IS = "as it is"


def stability_section(stability: Stability) -> Section:
    """What if the human, the best, the worst were not there, or had been worse?"""
    whole = [row for row in stability.rows if row.family in ONCE_PER_PAIR]
    words = [_summary(stability, whole)]
    words += [_family(family, rows) for family, rows in _families(stability).items()]
    charts: tuple[Chart, ...] = ()
    if whole:
        # Systems are raised step by step; two of the steps show it.
        drawn = [row for row in whole if row.family is not ChangeFamily.LOWEST_RAISED or row.divisor in (2.0, 10.0)]
        orders = {AS_IT_IS: _whole_order(stability.rows), **{row.change: row.order for row in drawn}}
        clusters = {AS_IT_IS: _whole_clusters(stability.rows), **{row.change: row.clusters for row in drawn}}
        says = (
            "Places after every change; coloured systems move, a removed one leaves a gap, bars are lines of clusters."
        )
        charts = (Chart("stability", "Places after a change", says, draw_places(orders, clusters=clusters)),)
    return Section("stability", "Stability", tuple(words), charts, folded=stability.tables())


def _whole_order(rows: Sequence[StabilityRow]) -> list[str]:
    """The order before any change: every row's own lacks the systems that it removes."""
    merged: list[str] = []
    for order in dict.fromkeys(row.baseline_order for row in rows):
        for i, system in enumerate(order):
            if system not in merged:
                merged.insert(merged.index(order[i - 1]) + 1 if i else 0, system)
    return merged


def _whole_clusters(rows: Sequence[StabilityRow]) -> tuple[tuple[str, ...], ...]:
    """The clusters before any change, by a change that removes no system; none where all of them do."""
    whole = _whole_order(rows)
    return next((row.baseline_clusters for row in rows if len(row.baseline_order) == len(whole)), ())


def _summary(stability: Stability, whole: list[StabilityRow]) -> str:
    again = f"The customary ranking (by {stability.method}, lines by the rule {stability.rule}) was recomputed with"
    if not whole:
        return f"{again} something left out."
    changed = sum(row.rank_changed or row.cluster_changed for row in whole)
    human = any(row.family in (ChangeFamily.HUMAN_REMOVED, ChangeFamily.HUMAN_DIVIDED) for row in whole)
    what = "to the human, the best or the worst system" if human else "to the best or the worst system"
    if stability.style == "relative":
        what += ", to ties and repeats, or to who is compared with whom"
    return f"{again} something changed that should not matter: {changed} of {len(whole)} changes {what} move others."


def _families(stability: Stability) -> dict[ChangeFamily, list[StabilityRow]]:
    """Changes of which there are many: one per annotator, document or system."""
    sizes = Counter(row.family for row in stability.rows if row.family not in ONCE_PER_PAIR)
    return {family: [row for row in stability.rows if row.family is family] for family, n in sizes.items() if n > 1}


def _family(family: ChangeFamily, rows: list[StabilityRow]) -> str:
    order = sum(row.rank_changed for row in rows)
    clusters = sum(row.cluster_changed for row in rows)
    changed = f"changes the order in {order} and the clusters in {clusters} of {counted(len(rows), 'case')}"
    return f"Leaving out one {family.unit} {changed}."


def tasks_or_blocks(composition: TaskComposition | Composition) -> Section | None:
    """The section about tasks; None for blocks, of which the tables say all."""
    return composition_section(composition) if isinstance(composition, TaskComposition) else None


def composition_section(composition: TaskComposition) -> Section:
    """Which systems were judged in the same tasks."""
    by_people = composition.unit == "annotator"
    words: tuple[str, ...] = (f"{'An annotator judged' if by_people else 'A task holds'} {_held(composition)}.",)
    if composition.systems_per_unit[0] < len(composition.systems):
        words += ("Where systems rarely meet, their scores depend on who else was judged beside them.",)
    met = "annotators who judged the column, too" if by_people else "tasks in which the column was judged, too"
    says = f"Share of the row's {met}."
    spec = draw_matrix(
        composition.systems, composition.systems, composition.shares, steps=_SHARES, what="share", cell_format=".0%"
    )
    first, *others = composition.tables()
    chart = Chart("composition", "Judged together", says, spec)
    return Section("composition", "Composition", words, (chart,), (first,), tuple(others))


def _held(composition: TaskComposition) -> str:
    """How many of the systems one task, or one annotator, has."""
    low, mean, high = composition.systems_per_unit
    everything = counted(len(composition.systems), "system")
    if low == high:
        return f"all {everything}" if low == len(composition.systems) else f"{low} of {everything}"
    return f"{low} to {high} of {everything}, {mean:.1f} on average"


def documents_section(documents: Documents) -> Section:
    """How systems fare on each document, against the mean of all."""
    words = [
        "How systems fare on each document.",
        "Cells hold few judgments by few people: most of what looks like a pattern is noise, as the table below says.",
    ]
    shown = documents.documents[:MOST_DOCUMENTS]
    if len(shown) < len(documents.documents):
        words.append(f"The {len(shown)} easiest of {len(documents.documents)} documents are drawn.")
    known = [value for value in documents.difficulty if value == value]  # noqa: PLR0124  NaN differs from itself
    mean = sum(known) / max(len(known), 1)
    spread = [abs(value - mean) for row in documents.matrix for value in row if value is not None]
    largest = max(spread, default=1.0) or 1.0
    # Raw scores from 0 to 100 have points; other scales are coloured by their own spread, and show more digits.
    points = documents.scale == "raw score" and largest > _DEVIATIONS[-1]
    step = 1.0 if points else largest / 12
    shown_scale = documents.scale[:1].upper() + documents.scale[1:]
    says = f"{shown_scale}; blue is above the mean of documents ({mean:.1f}), orange below; blank was not judged."
    spec = draw_matrix(
        shown, documents.systems, documents.matrix[: len(shown)],
        steps=[mean + step * deviation for deviation in _DEVIATIONS],
        what=documents.scale, cell_format=".0f" if points else ".2f", row_height=20,
    )  # fmt: skip
    first, *others = documents.tables()
    chart = Chart("documents", "Documents by systems", says, spec)
    return Section("documents", "Documents", tuple(words), (chart,), (first,), tuple(others))
