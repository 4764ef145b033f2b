"""The page that compares campaigns: a scatter of scores, and how ranks change from one campaign to the next."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from adjudge.evidence.verdict_comparison import MORE_THAN_CHANCE
from adjudge.reports import drawing
from adjudge.reports.charts import draw_named_points, draw_places
from adjudge.reports.page import Chart, Fact, PairPage, ReportPage, Section, explain

if TYPE_CHECKING:
    from adjudge.evidence.compared_campaigns import CampaignComparison
    from adjudge.reports.drawing import Drawing

GUIDE = explain(
    {
        "r": "How well the scores of two campaigns agree; its interval says what other people and texts could show.",
        "Flip": "A pair of systems that two campaigns order differently.",
        **dict([MORE_THAN_CHANCE]),
    }
)


def build_compare_page(result: CampaignComparison, *, title: str | None = None) -> ReportPage:
    """The page data; the title names the campaigns where none is given."""
    first = result.pairs[0]
    tables = result.tables()
    page = PairPage.about(
        result,
        (Section("compare", "Side by side", charts=compare_charts(result), tables=tables[:1], folded=tables[1:]),),
        name=" and ".join(result.campaigns),
        slug="compare",
        headline=result.verdict,
        words=tuple(pair.verdict for pair in result.pairs[1:]),
        facts=(
            Fact(f"shared {result.unit}", f"{first.scores.n:,}"),
            Fact("Pearson's r", f"{first.scores.pearson:.3f}"),
            Fact("pairs that flip", f"{first.flip_count.flips:,} of {first.flip_count.pairs:,}"),
        ),
    )
    named = f"{' and '.join(result.campaigns)} compared"
    return ReportPage(title=title or named, pairs=(page,), guide=GUIDE)


def compare_charts(result: CampaignComparison) -> tuple[Chart, ...]:
    """A scatter of the first two campaigns, and the flow of places where the units are systems."""
    a, b = result.pairs[0].campaigns
    scatter = Chart(
        "scatter", "Scores side by side", f"Each point is one of the {result.unit}.", draw_two_campaigns(result)
    )
    if result.unit != "systems":
        return (scatter,)
    orders = {
        # Systems without a rank come last.
        name: [one.system for one in sorted(result.systems, key=lambda one: one.ranks[i] or math.inf)]
        for i, name in enumerate(result.campaigns)
    }
    says = f"Places from {a} to {b if len(result.campaigns) == 2 else result.campaigns[-1]}; coloured ones move."
    return scatter, Chart("flow", "Places from campaign to campaign", says, draw_places(orders))


def draw_two_campaigns(result: CampaignComparison) -> Drawing:
    """The scores of the first campaign against those of the second."""
    a, b = result.pairs[0].campaigns
    i, j = result.campaigns.index(a), result.campaigns.index(b)
    flipped = {name for flip in result.pairs[0].flips if flip.certain for name in (flip.better, flip.worse)}
    both = ((system.system, system.scores[i], system.scores[j]) for system in result.systems)
    points = [(name, x, y) for name, x, y in both if x is not None and y is not None]
    return draw_named_points(points, a, b, dict.fromkeys(flipped, drawing.WARN), named=result.unit == "systems")
