"""The figures of "A Grain of Salt for the WMT Manual Evaluation" (Bojar et al. 2011), from the released rankings.

Figure 2 needs the source texts, which are not in the release. Where the folder has them as plain lines, `source.en`,
`source.cs` and so on (line n being sentence n of the 2,034 that were judged), it is drawn too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import adjudge
from adjudge.replicate.grain_of_salt.tables import OFFICIAL, sampled_systems, score_systems
from adjudge.replicate.published import look_for_file
from adjudge.results.paper_figures import Curve, CurveAt, Curves, FittedLine, Mark, Scatter, ScatterPoint

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from adjudge import Judgments
    from adjudge.replicate.grain_of_salt.tables import Released
    from adjudge.replicate.published import Published
    from adjudge.results.agree import Agreement
    from adjudge.results.paper_figures import PaperFigure

OTHERS, IN_BLOCK = "≥ others (%)", "≥ all in block (%)"
# Lengths with fewer pairs of judgments than this say nothing about agreement.
FEWEST_PAIRS = 10
# Landis and Koch (1977), as cited by the paper.
MODERATE = 0.4
LONGEST = 36


def draw_figures(released: Released, published: Published, folder: Path) -> tuple[PaperFigure, ...]:
    """Figures 1, 3, 4 and 6, and 2 where the folder has the source texts."""
    pairs = released.by_pair
    by_length = agreement_by_length(released.rankings, folder, published.content["source_texts"])
    focus = published.content["figures"]
    return (
        all_in_block(pairs),
        *((by_length,) if by_length is not None else ()),
        times_judged("Figure 3", 6, focus["Figure 3"], pairs[focus["Figure 3"]]),
        times_judged("Figure 4", 7, focus["Figure 4"], pairs[focus["Figure 4"]]),
        presence_of_reference(focus["Figure 6"], pairs[focus["Figure 6"]]),
    )


def fit_line(points: Sequence[ScatterPoint]) -> FittedLine:
    """The line of least squares through points."""
    x, y = np.array([point.x for point in points]), np.array([point.y for point in points])
    slope, intercept = np.polyfit(x, y, 1)
    return FittedLine(float(slope), float(intercept), float(np.corrcoef(x, y)[0, 1]))


def all_in_block(pairs: Mapping[str, Judgments]) -> Scatter:
    """Figure 1: two readings of the official score, all systems of all language pairs."""
    points = [point for pair, part in pairs.items() for point in _two_readings(pair, part)]
    line = fit_line(points)
    says = (
        f"{len(points)} systems of {len(pairs)} language pairs lie close to a rising line (r = {line.r:.3f}): "
        "counting whole blocks instead of comparisons hardly changes the order."
    )
    return Scatter(
        figure="Figure 1",
        title="“≥ all in block” and “≥ others” order systems alike",
        page=3,
        says=says,
        x=OTHERS,
        y=IN_BLOCK,
        points=tuple(points),
        line=line,
        named=False,
    )


def _two_readings(pair: str, part: Judgments) -> Iterator[ScatterPoint]:
    others, block = (score_systems(part, method) for method in (OFFICIAL, "block-wins-or-ties"))
    for system in sampled_systems(part):
        if not system.human:
            yield ScatterPoint(system.system, pair, others[system.system], block[system.system])


def times_judged(figure: str, page: int, pair: str, part: Judgments) -> Scatter:
    """Figures 3 and 4: the official score against the number of blocks in which a system was shown."""
    points = _points(pair, part, "shown")
    line = fit_line(points)
    lowest = min(points, key=lambda point: point.y)
    says = (
        f"{len(points)} systems of {pair}: Pearson's r of score and times judged is {line.r:.3f}; "
        f"{lowest.name}, the lowest, was judged {lowest.x:.0f} times."
    )
    return Scatter(
        figure=figure,
        title=f"“≥ others” against times judged, {pair}",
        page=page,
        says=says,
        x="number of judgments (blocks)",
        y=OTHERS,
        points=tuple(points),
        line=line,
    )


def presence_of_reference(pair: str, part: Judgments) -> Scatter:
    """Figure 6: the official score against how often the reference was shown beside a system."""
    points = _points(pair, part, "reference_share")
    line = fit_line(points)
    says = (
        f"{len(points)} systems of {pair}: the more often a system was shown beside the reference, the lower its score "
        f"(r = {line.r:.3f})."
    )
    return Scatter(
        figure="Figure 6",
        title=f"“≥ others” against the presence of the reference, {pair}",
        page=9,
        says=says,
        x="relative presence of the reference",
        y=OTHERS,
        points=tuple(points),
        line=line,
    )


def _points(pair: str, part: Judgments, x: str) -> list[ScatterPoint]:
    """Systems without human translations, with their official scores rounded as the campaign's overview prints them."""
    return [
        ScatterPoint(system.system, pair, float(getattr(system, x)), float(np.round(100 * system.score, 1)))
        for system in sampled_systems(part)
        if not system.human
    ]


def agreement_by_length(rankings: Judgments, folder: Path, names: Mapping[str, str]) -> Curves | None:
    """Figure 2, where every source language has its texts in the folder."""
    files = {code: look_for_file(folder, name) for code, name in names.items()}
    if not all(files.values()):
        return None
    texts = {
        code: path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
        for code, path in files.items()
        if path is not None
    }
    agreement = adjudge.agree(rankings, texts=texts, resamples=0)
    curves = tuple(
        Curve(f"{kind}, {words}", _by_length(agreement, kind, part))
        for kind in ("intra", "inter")
        for part, words in (("all", "with reference"), ("without_reference", "without reference"))
    )
    return Curves(
        figure="Figure 2",
        title="Agreement by length of the source sentence",
        page=4,
        says=_falls(curves),
        note="A point at length n is about sentences of n and n + 1 words, as in the paper; lengths with fewer than "
        f"{FEWEST_PAIRS} pairs of judgments are left out.",
        x="words of the source sentence",
        y="kappa (P(E) = 1/3)",
        curves=curves,
        marks=(Mark("moderate agreement", "y", MODERATE),),
    )


def _by_length(agreement: Agreement, kind: str, part: str) -> tuple[CurveAt, ...]:
    points: list[CurveAt] = []
    for row in agreement.by_length or ():
        numbers = getattr(row, kind)[part]
        value = numbers.get("s")
        if row.length <= LONGEST and value is not None and (numbers.get("pairs") or 0) >= FEWEST_PAIRS:
            points.append(CurveAt(float(row.length), float(value)))
    return tuple(points)


def _falls(curves: Sequence[Curve]) -> str:
    ends = [
        f"{curve.name} from {curve.points[0].y:.2f} to {curve.points[-1].y:.2f}" for curve in curves if curve.points
    ]
    return f"From the shortest to the longest sentences: {'; '.join(ends)}."
