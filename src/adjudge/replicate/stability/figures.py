"""The figures of "On the Stability of System Rankings at WMT" (Knowles 2021).

Figures 2 to 5 are about single language pairs of 2019 and 2020. Where these lie in the folder they are drawn; otherwise
language pairs of the campaigns at hand stand for them, chosen by what she chose hers for: the most changes (Figure 2),
the most judgments (Figure 3).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge import AdjudgeError
from adjudge.replicate.stability.official_rankings import audit_section
from adjudge.results.audit.stability import ChangeFamily
from adjudge.results.paper_figures import Curve, CurveAt, Curves, Matrix, PlacesOfSystems, RankingColumn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from adjudge import Judgments
    from adjudge.replicate.published import Published
    from adjudge.results.audit.stability import Stability
    from adjudge.results.paper_figures import Basis, PaperFigure
    from adjudge.results.replication import ReplicatedTable

    Key = tuple[str, str]

DIVISORS = (1.25, 1.5, 2.0, 4.0, 10.0)
"""By which the paper divides the scores of human translations."""
KEYS = ("rank", "cluster", "both")
MOST_DOCUMENTS = 80


def draw_figures(
    published: Published,
    divided: ReplicatedTable,
    stabilities: Mapping[Key, Stability],
    parts: Mapping[Key, Judgments],
) -> tuple[PaperFigure, ...]:
    """All five figures; `stabilities` and `parts` are the language pairs at hand, by campaign and name."""
    figures: list[PaperFigure] = [divided_scores(published, divided)]
    chosen = published.content["figures"]
    with_human = {key: stability for key, stability in stabilities.items() if _divided_rows(stability)}
    dramatic = _choose(chosen["Figure 2"], with_human, lambda key: _flips(with_human[key]))
    if dramatic is not None:
        figures.append(_places("Figure 2", 471, dramatic, with_human[dramatic], _basis(chosen["Figure 2"], dramatic)))
        others = {key: stability for key, stability in with_human.items() if key != dramatic} or with_human
        most = _choose(chosen["Figure 3"], others, lambda key: len(parts[key]))
        assert most is not None
        figures.append(_places("Figure 3", 471, most, with_human[most], _basis(chosen["Figure 3"], most)))
    company = _choose(chosen["Figure 4"], parts, lambda key: (key == dramatic, len(parts[key])))
    if company is not None:
        basis = _basis(chosen["Figure 4"], company)
        figures += _matrices(company, parts[company], basis)
    return tuple(figures)


def _choose(wanted: Sequence[str], among: Mapping[Key, Any], score: Callable[[Key], Any]) -> Key | None:
    """The language pair of the paper where it is at hand; otherwise the one with the highest score."""
    named = (wanted[0], wanted[1])
    return named if named in among else max(sorted(among), key=score, default=None)


def _basis(wanted: Sequence[str], key: Key) -> Basis:
    return "the paper's data" if key == (wanted[0], wanted[1]) else "other data"


def _note(basis: Basis, printed: str) -> str:
    return "" if basis == "the paper's data" else f"The paper shows {printed}, which is not in the folder."


def divided_scores(published: Published, divided: ReplicatedTable) -> Curves:
    """Figure 1: fractions of language pairs that change, as published and over the campaigns at hand."""
    by_name = {cell.name: cell for cell in divided.cells}
    curves: list[Curve] = []
    for source, words in (("published", "2018 to 2020"), ("recomputed", "campaigns in the folder")):
        for style in ("SR–DC", "SR+DC"):
            pairs = getattr(by_name[f"{style}, divided by {DIVISORS[0]:g}: pairs"], source)
            if not pairs:
                continue
            panel = f"{words}, {style} ({pairs:.0f} language pairs)"
            curves += [
                Curve(f"Δ {key}", _fractions(by_name, f"{style}, divided by", key, source), panel) for key in KEYS
            ]
    return Curves(
        figure="Figure 1",
        title="Language pairs that change when human scores are divided",
        page=470,
        basis="other data",
        says=_ranges(curves),
        note="The fractions of 2018 to 2020 are drawn from the counts in the author's repository "
        f"({published.content['counts_file']}); those of the campaigns in the folder are recomputed.",
        x="divisor",
        y="fraction of language pairs",
        curves=tuple(curves),
        ordinal=True,
        share=True,
    )


def _ranges(curves: Sequence[Curve]) -> str:
    """Between which fractions the order changes, by panel."""
    orders = [(curve.panel, [point.y for point in curve.points]) for curve in curves if curve.name == "Δ rank"]
    ranges = [f"{100 * min(shares):.0f} to {100 * max(shares):.0f}% ({panel})" for panel, shares in orders]
    return f"Over the divisors, the order of systems changes in {'; '.join(ranges)}."


def _fractions(cells: Mapping[str, Any], row: str, key: str, source: str) -> tuple[CurveAt, ...]:
    names = {divisor: f"{row} {divisor:g}" for divisor in DIVISORS}
    counts = [
        (divisor, getattr(cells[f"{name}: {key}"], source), getattr(cells[f"{name}: pairs"], source))
        for divisor, name in names.items()
    ]
    return tuple(CurveAt(divisor, count / pairs) for divisor, count, pairs in counts if pairs and count is not None)


def _divided_rows(stability: Stability) -> list[Any]:
    return [row for row in stability.rows if row.family is ChangeFamily.HUMAN_DIVIDED]


def _flips(stability: Stability) -> tuple[int, int]:
    """How much moves: pairs that turn over, and changes of clusters."""
    rows = _divided_rows(stability)
    return sum(len(row.flips) for row in rows), sum(row.cluster_changed for row in rows)


def _places(figure: str, page: int, key: Key, stability: Stability, basis: Basis) -> PlacesOfSystems:
    """Figures 2 and 3: the original ranking and those with human scores divided, with their clusters."""
    rows = _divided_rows(stability)
    columns = [RankingColumn("orig", rows[0].baseline_order, rows[0].baseline_clusters)]
    columns += [RankingColumn(f"d-{row.divisor:g}", row.order, row.clusters) for row in rows]
    moved = [
        system for system in columns[0].order if len({column.order.index(system) for column in columns}) > 1
    ]  # fmt: skip
    lines = {len(column.clusters) - 1 for column in columns}
    printed = "English-German 2020" if figure == "Figure 2" else "Chinese-English 2020"
    return PlacesOfSystems(
        figure=figure,
        title=f"Rankings of {key[1]} ({key[0]}) with human scores divided",
        page=page,
        basis=basis,
        says=f"From {columns[0].order[0]} (first) to {columns[0].order[-1]} (last), {len(moved)} of "
        f"{len(columns[0].order)} systems change places; there are {_numbers(lines)} lines between clusters (bars).",
        note=_note(basis, printed),
        rankings=tuple(columns),
    )


def _numbers(counts: set[int]) -> str:
    low, high = min(counts), max(counts)
    return f"{low}" if low == high else f"{low} to {high}"


def _matrices(key: Key, judgments: Judgments, basis: Basis) -> list[PaperFigure]:
    """Figures 4 and 5, those that the judgments allow."""
    figures: list[PaperFigure] = []
    for draw in (_company, _documents):
        try:
            figures.append(draw(key, judgments, basis))
        except AdjudgeError:
            # Annotators or documents are not known; then there is no such figure.
            continue
    return figures


def _company(key: Key, judgments: Judgments, basis: Basis) -> Matrix:
    """Figure 4: in how many tasks two systems met; the diagonal is all tasks of a system."""
    composition = audit_section(judgments, "composition")
    low, mean, high = composition.systems_per_unit
    return Matrix(
        figure="Figure 4",
        title=f"{composition.unit.capitalize()}s in which two systems met, {key[1]} ({key[0]})",
        page=471,
        basis=basis,
        says=f"A {composition.unit} holds {low} to {high} of {len(composition.systems)} systems, {mean:.1f} as a mean; "
        f"{100 * composition.met_in_half:.0f}% of pairs meet in at least half of their {composition.unit}s.",
        note=_note(basis, "English-Lithuanian 2019"),
        rows=composition.systems,
        columns=composition.systems,
        cells=tuple(tuple(float(count) for count in row) for row in composition.matrix),
        what=f"{composition.unit}s",
    )


def _documents(key: Key, judgments: Judgments, basis: Basis) -> Matrix:
    """Figure 5: mean raw scores of documents by systems; of many documents the easiest and the hardest."""
    documents = audit_section(judgments, "documents")
    count = len(documents.documents)
    half = MOST_DOCUMENTS // 2
    kept = range(count) if count <= MOST_DOCUMENTS else [*range(half), *range(count - half, count)]
    shown = "" if count == len(kept) else f" The {half} easiest and the {half} hardest of {count} documents are drawn."
    mean = sum(documents.difficulty) / count
    explained = {row.factors: row.adjusted_r2 for row in documents.explained}
    with_documents, without = explained["annotators + systems + documents"], explained["annotators + systems"]
    return Matrix(
        figure="Figure 5",
        title=f"Mean raw scores of documents by systems, {key[1]} ({key[0]})",
        page=472,
        basis=basis,
        says=f"Mean scores of documents go from {documents.difficulty[0]:.0f} to {documents.difficulty[-1]:.0f}, the "
        f"best system ({documents.systems[0]}) on the left; blue is above the mean of {mean:.0f}, orange below, blank "
        f"was not judged.{shown}",
        note=f"{_note(basis, 'English-Lithuanian 2019')} Annotators and systems explain {100 * without:.0f}% of the "
        f"spread of raw scores, documents {100 * (with_documents - without):.0f}% more (adjusted R²): cells are also "
        "coloured by who judged them.".strip(),
        rows=tuple(documents.documents[i] for i in kept),
        columns=documents.systems,
        cells=tuple(documents.matrix[i] for i in kept),
        what="mean raw score",
        middle=mean,
    )
