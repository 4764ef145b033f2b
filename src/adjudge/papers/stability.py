"""Replication of "On the Stability of System Rankings at WMT" (Knowles 2021) over whatever campaigns are at hand.

Knowles's counts are about the campaigns of 2018 to 2020. Where these lie in the folder they are compared; counts over
other campaigns stand beside the published ones, and need not be the same. Official rankings are compared cell by cell
wherever the organisers' files lie beside the judgments.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import polars as pl

import adjudge
from adjudge import AdjudgeError
from adjudge.evidence.stability import Stability, rating_style
from adjudge.papers.figures import Basis, Curve, CurveAt, Curves, Matrix, PaperFigure, PlacesOfSystems, RankingColumn
from adjudge.papers.replicate import (
    Published,
    ReplicatedCell,
    ReplicatedTable,
    Replication,
    Source,
    join_fingerprints,
    name_pair,
    read_published,
    read_released,
)
from adjudge.readers.wmt_da_files import find_campaigns

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from adjudge import Judgments
    from adjudge.ranking.ranking import Ranking

    Parts = Mapping[tuple[str, str], Judgments]
    Key = tuple[str, str]


# Official rankings of direct assessment, cell by cell: the organisers' files against the judgments beside them.
#
# `ad-sys-scores-XX-YY.csv` has each system's means and counts, `clusters.csv` its wins and its cluster. Also what tasks
# and files are made of (Knowles 2021, Table 1 and section 5.1).

_SCORES = re.compile(r"[a-z]+-sys-scores-(?:[0-9]+\.)?(?P<source>[a-z]+)-(?P<target>[a-z]+)\.csv")
# Standardised scores are undone with workers' means of seven digits, so means of z agree to about 1e-6.
DECIMALS = 5
# Figure: (column of the official file, decimals to compare).
_OF_SCORES = {"raw": ("RAW.SCR", DECIMALS), "z": ("Z.SCR", DECIMALS), "N": ("N", 0), "N.ALL": ("N.ALL", 0)}
_OF_CLUSTERS = {"wins": ("WINS", 0), "cluster from": ("CLUSTER_START", 0), "cluster to": ("CLUSTER_END", 0)}
_MISSING = "the files hold no judgments of this system"
KINDS = {"system": "SYSTEM", "repeat": "REPEAT", "reference": "REF", "degraded": "BAD_REF"}
_ABSENT = "this campaign is not in the folder"


@dataclass(frozen=True)
class Figure:
    """One official figure of one system."""

    system: str
    name: str
    value: float
    decimals: int


def official_figures(folder: Path) -> dict[str, list[Figure]]:
    """The figures of every language pair that has official files in the folder."""
    by_pair: dict[str, list[Figure]] = {}
    for path in sorted(folder.iterdir()):
        figures: list[tuple[str, Figure]] = []
        if name := _SCORES.fullmatch(path.name):
            pair = name_pair(name["source"], name["target"])
            by_pair.setdefault(pair, [])
            figures = [(pair, figure) for _, figure in _read_official_rankings(path, "SYS", _OF_SCORES)]
        elif path.name == "clusters.csv":
            figures = _read_official_rankings(path, "SYSTEM", _OF_CLUSTERS)
        for pair, figure in figures:
            by_pair.setdefault(pair, []).append(figure)
    return by_pair


def _read_official_rankings(
    path: Path, system: str, columns: Mapping[str, tuple[str, int]]
) -> list[tuple[str, Figure]]:
    """Every figure of these columns that the file has, with the language pair where the file says it."""
    rows = read_released(path, system, {column for column, _ in columns.values()})
    pairs = [name_pair(row["SRC"] or "", row["TRG"] or "") if "SRC" in row and "TRG" in row else "" for row in rows]
    return [
        (pair, Figure(row[system], name, value, decimals))
        for name, (column, decimals) in columns.items()
        for pair, row in zip(pairs, rows, strict=True)
        if (value := row.get(column)) is not None
    ]


def compared_ranking(campaign: str, pair: str, figures: list[Figure], judgments: Judgments) -> ReplicatedTable:
    """The official figures of one language pair beside those of its judgments."""
    ranking = adjudge.rank(judgments, method="zscore", lines="official", resamples=0)
    ours = recomputed_figures(ranking)
    cells = tuple(
        ReplicatedCell(
            f"{figure.system}: {figure.name}",
            figure.value,
            figure.decimals,
            ours.get((figure.system, figure.name)),
            "" if (figure.system, figure.name) in ours else _MISSING,
        )
        for figure in sorted(figures, key=lambda figure: (_position(ranking, figure.system), figure.system))
    )
    title = "the official ranking, published by the organisers"
    return ReplicatedTable(f"{campaign} {pair}", title, None, cells, Source.ORGANISERS, "the folder of the judgments")


def _position(ranking: Ranking, system: str) -> int:
    return ranking.order.index(system) if system in ranking.order else len(ranking.order)


def recomputed_figures(ranking: Ranking) -> dict[tuple[str, str], float]:
    """The same figures from a ranking by z-scores."""
    figures: dict[tuple[str, str], float] = {}
    ends: dict[int, tuple[int, int]] = {}
    for position, system in enumerate(ranking.systems, start=1):
        ends[system.cluster] = (ends.get(system.cluster, (position, position))[0], position)
    for system in ranking.systems:
        first, last = ends[system.cluster]
        values = {
            "raw": system.numbers["raw"], "z": system.score, "N": system.n, "N.ALL": system.numbers["n_all"],
            "wins": system.numbers["wins"], "cluster from": first, "cluster to": last,
        }  # fmt: skip
        figures |= {(system.system, name): float(value) for name, value in values.items() if value is not None}
    return figures


def kinds_of_items(published: Published, parts: Parts) -> tuple[ReplicatedTable, ReplicatedTable]:
    """Table 1: how many items of each kind passed quality control; and the same of other campaigns in the folder."""
    counts = _counted(parts)
    cells = {f"{campaign}: {kind}": float(n) for (campaign, kind), n in counts.items()}
    printed = published.cells("Table 1")
    unprinted = tuple(ReplicatedCell(name, None, 0, count) for name, count in cells.items() if name not in printed)
    title = (
        "The same for every other campaign in the folder; language pairs of which only means were released are left out"
    )
    return (
        _compare_present(published, "Table 1", cells),
        ReplicatedTable("Table 1, by campaign", title, None, unprinted, Source.NONE),
    )


def _counted(parts: Parts) -> dict[tuple[str, str], int]:
    counts: dict[tuple[str, str], int] = {}
    for (campaign, _), judgments in parts.items():
        table = judgments.table
        if "z" in table.columns and table["z"].is_not_null().any():
            continue
        if "passed" in table.columns:
            table = table.filter(pl.col("passed").fill_null(value=True))
        by_kind = dict(table.group_by("kind").len().iter_rows())
        for kind, name in KINDS.items():
            counts[campaign, name] = counts.get((campaign, name), 0) + int(by_kind.get(kind, 0))
    return counts


def audit_section(judgments: Judgments, name: str, **settings: Any) -> Any:
    """One section of the audit of a language pair."""
    return adjudge.audit(judgments, only=[name], **settings).sections[name]


def workers_who_saw(published: Published, parts: Parts) -> ReplicatedTable:
    """Section 5.1: the share of workers who judged references, degraded references or a human translation."""
    cells: dict[str, float] = {}
    for name, (campaign, pair, what) in published.content["workers"].items():
        if (campaign, pair) in parts:
            try:
                composition = audit_section(parts[campaign, pair], "composition")
            except adjudge.AdjudgeError:
                continue
            cells[name] = 100 * composition.annotators_with[what]
    return _compare_present(published, "Section 5.1", cells)


def _compare_present(published: Published, table: str, cells: dict[str, float]) -> ReplicatedTable:
    """A table whose other cells are about campaigns that are not in the folder."""
    absent = [name for name in published.cells(table) if name not in cells]
    return published.compared(table, cells, dict.fromkeys(absent, _ABSENT), absent=absent)


# Figures 2 to 5 are about single language pairs of 2019 and 2020. Where these lie in the folder they are drawn;
# otherwise language pairs of the campaigns at hand stand for them, chosen by what she chose hers for: the most
# changes (Figure 2), the most judgments (Figure 3).

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
    return [row for row in stability.rows if row.family == "human divided"]


def _flips(stability: Stability) -> tuple[int, int]:
    """How much moves: pairs that turn over, and changes of clusters."""
    rows = _divided_rows(stability)
    return sum(len(row.flips) for row in rows), sum(row.cluster_changed for row in rows)


def _places(figure: str, page: int, key: Key, stability: Stability, basis: Basis) -> PlacesOfSystems:
    """Figures 2 and 3: the original ranking and those with human scores divided, with their clusters."""
    rows = _divided_rows(stability)
    columns = [RankingColumn("orig", rows[0].baseline_order, rows[0].baseline_clusters)]
    columns += [RankingColumn(f"d-{row.divisor:g}", row.order, row.clusters) for row in rows]
    moved = [name for name in columns[0].order if len({column.order.index(name) for column in columns}) > 1]
    low, *_, high = sorted(len(column.clusters) - 1 for column in columns)
    lines = f"{low}" if low == high else f"{low} to {high}"
    printed = "English-German 2020" if figure == "Figure 2" else "Chinese-English 2020"
    return PlacesOfSystems(
        figure=figure,
        title=f"Rankings of {key[1]} ({key[0]}) with human scores divided",
        page=page,
        basis=basis,
        says=f"From {columns[0].order[0]} (first) to {columns[0].order[-1]} (last), {len(moved)} of "
        f"{len(columns[0].order)} systems change places; there are {lines} lines between clusters (bars).",
        note=_note(basis, printed),
        rankings=tuple(columns),
    )


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


ALL_ROWS, GENUINE = "all-rows", "genuine"
"""Which rows are removed with a human translation: all under its name, or without degraded ones."""
COUNTS = ("pairs", "rank", "cluster", "both")
_OTHER = "published for the campaigns of 2018 to 2020; recomputed from {}"
_REMOVALS = {
    ALL_ROWS: "all rows under the human's name are removed, degraded ones too, as in the author's script",
    GENUINE: "degraded versions of the human's text stay as the controls they are",
}


@dataclass(frozen=True)
class AuditedPair:
    """One language pair of one campaign, and what becomes of its ranking after every change."""

    campaign: str
    pair: str
    stability: Stability
    """With Knowles's removal of human translations: all rows under their names go, also degraded ones."""
    genuine: Stability | None = None
    """With degraded rows kept."""


@dataclass(frozen=True)
class _Data:
    """What was read and computed of all campaigns."""

    audited: list[AuditedPair] = field(default_factory=list)
    official: list[ReplicatedTable] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    fingerprints: list[str] = field(default_factory=list)
    judgments: dict[Key, Judgments] = field(default_factory=dict)


def replicate(folder: Path) -> Replication:
    """Knowles's tables over the campaigns in the folder, the toy example, and the official rankings cell by cell."""
    published = read_published("stability")
    data = _read(folder, published)
    divided = total_changes(published, "Figure 1", "divisions", data.audited)
    stabilities = {(pair.campaign, pair.pair): pair.stability for pair in data.audited}
    return Replication(
        settings={"paper": "stability", "lines": published.content["rule"], "removal": ALL_ROWS},
        data=join_fingerprints(data.fingerprints),
        notes=tuple(data.notes),
        figures=draw_figures(published, divided, stabilities, data.judgments),
        not_recomputed=published.not_recomputed(),
        paper=published.paper,
        replicated=(
            *kinds_of_items(published, data.judgments),
            workers_who_saw(published, data.judgments),
            table_2(published, data.audited),
            total_changes(published, "Table 3", "removals", data.audited),
            divided,
            _by_campaign(data.audited),
            published.compared("Section 5", _toy(published)),
            *data.official,
        ),
    )


def _read(folder: Path, published: Published) -> _Data:
    """Every campaign that can be read; what is left out is said, and a folder without any is a fault."""
    data = _Data()
    faults: dict[str, adjudge.AdjudgeError] = {}
    for campaign in find_campaigns([folder]):
        try:
            judgments = adjudge.read([file.path for file in campaign.given], format="wmt-da")
            parts, figures = judgments.by_pair(), official_figures(campaign.folder)
            left_out = published.content["left_out"].get(campaign.name, ())
            rules = {pair: None if pair in left_out else published.content["rule"] for pair in parts}
            tasks = [(campaign.name, pair, part, figures.get(pair), rules[pair]) for pair, part in parts.items()]
            results = [_read_pair(task) for task in tasks]
        except adjudge.AdjudgeError as fault:
            faults[campaign.name] = fault
            continue
        data.fingerprints.append(judgments.fingerprint)
        data.judgments.update({(campaign.name, pair): part for pair, part in parts.items()})
        for audited, official, notes in results:
            data.audited.extend(audited)
            data.official.extend(official)
            data.notes.extend(notes)
    if not data.fingerprints:
        raise next(iter(faults.values()))
    return replace(
        data, notes=[f"{name} is left out: {fault.for_command_line()}" for name, fault in faults.items()] + data.notes
    )


def _read_pair(
    named: tuple[str, str, Judgments, list[Figure] | None, str | None],
) -> tuple[list[AuditedPair], list[ReplicatedTable], list[str]]:
    """The stability of a language pair where there is a rule, its official ranking where there are figures; notes."""
    campaign, pair, judgments, figures, rule = named
    audited: list[AuditedPair] = []
    official: list[ReplicatedTable] = []
    notes: list[str] = []
    try:
        if figures:
            official.append(compared_ranking(campaign, pair, figures, judgments))
        else:
            notes.append(f"{campaign} {pair} has no official figures beside its judgments")
        if rule is not None:
            audited.append(_audited(campaign, pair, judgments, rule))
    except adjudge.AdjudgeError as fault:
        why = fault.for_command_line().removeprefix("section 'stability' cannot be made: ")
        notes.append(f"{campaign} {pair} is not audited: {why}")
    return audited, official, notes


def _audited(campaign: str, pair: str, judgments: Judgments, rule: str) -> AuditedPair:
    if len(judgments.systems) == 1:
        # Nothing can change, and an audit refuses it; it still counts among the campaigns of its style.
        return AuditedPair(campaign, pair, *[Stability((), rating_style(judgments), "zscore", rule)] * 2)
    whole, genuine = (
        audit_section(judgments, "stability", method="zscore", lines=rule, removal=removal)
        for removal in (ALL_ROWS, GENUINE)
    )
    return AuditedPair(campaign, pair, whole, genuine)


def count(pairs: Sequence[AuditedPair], family: str, style: str) -> dict[str, int]:
    """Of the language pairs in this style to which the change applies: how many there are, and how many changed."""
    of_style = [pair.stability.rows for pair in pairs if pair.stability.style == style]
    rows = [row for rows in of_style for row in rows if row.label == family]
    changed = {key: sum(getattr(row, f"{key}_changed") for row in rows) for key in KEYS}
    return {"pairs": len(rows), **changed}


def _of_row(published: Published, row: str, pairs: Sequence[AuditedPair]) -> list[AuditedPair]:
    """The language pairs behind a row of Table 2, where the folder holds all of them; none otherwise."""
    entry = published.content["rows"][row]
    audited = [pair for pair in pairs if pair.campaign in entry["campaigns"] and pair.stability.style == entry["style"]]
    return audited if len(audited) == int(published.cells("Table 2")[f"{row}: pairs"]) else []


def _of_style(published: Published, style: str, pairs: Sequence[AuditedPair]) -> tuple[list[AuditedPair], bool]:
    """The paper's language pairs in this style and True; where some are missing, all that there are and False."""
    rows = [row for row, entry in published.content["rows"].items() if entry["style"] == style]
    by_row = [_of_row(published, row, pairs) for row in rows]
    if all(by_row):
        return [pair for row in by_row for pair in row], True
    return [pair for pair in pairs if pair.stability.style == style], False


@dataclass(frozen=True)
class _Recomputed:
    """Cells by name, with notes, and which of them are about other data than the published ones."""

    cells: dict[str, float] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    other: set[str] = field(default_factory=set)

    def add(self, row: str, counts: dict[str, int]) -> None:
        self.cells.update({f"{row}: {key}": float(value) for key, value in counts.items()})

    def not_compared(self, row: str, why: str) -> None:
        names = [f"{row}: {key}" for key in COUNTS]
        self.notes.update(dict.fromkeys(names, why))
        self.other.update(names)

    def compared(self, published: Published, table: str) -> ReplicatedTable:
        """The table; what is not recomputed was released, but is not in the folder."""
        return published.compared(table, self.cells, self.notes, self.other, absent=published.cells(table))

    def add_total(self, published: Published, row: str, change: tuple[str, str], pairs: Sequence[AuditedPair]) -> None:
        """Counts over all language pairs of a style; those of other campaigns are not compared."""
        family, style = change
        chosen, same = _of_style(published, style, pairs)
        self.add(row, count(chosen, family, style))
        if not same:
            campaigns = ", ".join(dict.fromkeys(pair.campaign for pair in chosen)) or "none in this style"
            self.not_compared(row, _OTHER.format(campaigns))


def table_2(published: Published, pairs: Sequence[AuditedPair]) -> ReplicatedTable:
    """Human and REF scores removed: the paper's campaigns where they are there, and all language pairs of a style."""
    recomputed = _Recomputed()
    for row, entry in published.content["rows"].items():
        if of_row := _of_row(published, row, pairs):
            recomputed.add(row, count(of_row, "human removed", entry["style"]))
        else:
            recomputed.not_compared(row, _ABSENT)
    for row, style in published.content["totals"].items():
        recomputed.add_total(published, row, ("human removed", style), pairs)
    return recomputed.compared(published, "Table 2")


def total_changes(published: Published, table: str, rows: str, pairs: Sequence[AuditedPair]) -> ReplicatedTable:
    """Table 3, where the lowest or the highest system is removed, and Figure 1, where human scores are divided.

    The counts of Figure 1 are those of the author's repository.
    """
    recomputed = _Recomputed()
    for row, (family, style) in published.content[rows].items():
        recomputed.add_total(published, row, (family, style), pairs)
    return recomputed.compared(published, table)


def _by_campaign(pairs: Sequence[AuditedPair]) -> ReplicatedTable:
    """The rows of Table 2 for the campaigns at hand."""
    cells: list[ReplicatedCell] = []
    for campaign, style in dict.fromkeys((pair.campaign, pair.stability.style) for pair in pairs):
        of_campaign = [pair for pair in pairs if pair.campaign == campaign]
        kept = [replace(pair, stability=pair.genuine) for pair in of_campaign if pair.genuine is not None]
        for removal, chosen in ((ALL_ROWS, of_campaign), (GENUINE, kept)):
            counts = count(chosen, "human removed", style)
            note = _REMOVALS[removal] if counts["pairs"] else "no human translation was judged"
            row = f"{campaign} ({style}), {removal}"
            cells += [ReplicatedCell(f"{row}: {key}", None, 0, float(counts[key]), note) for key in COUNTS]
    title = "The same for every campaign in the folder, with two ways of removing human translations"
    return ReplicatedTable("Table 2, by campaign", title, None, tuple(cells), Source.NONE)


def _toy(published: Published) -> dict[str, float]:
    """The z-score of a raw score of 50 among others of one annotator."""
    cells: dict[str, float] = {}
    for name, scores in published.content["toy"].items():
        columns = {
            "protocol": ["da"] * len(scores),
            "annotator": ["a"] * len(scores),
            "segment": [str(i) for i in range(len(scores))],
            "system": ["s"] * len(scores),
            "score": scores,
        }
        toy = adjudge.gold(adjudge.Judgments.from_columns(columns), level="segments", all_annotators=True)
        cells[name] = next(score.z for score in toy.scores if score.raw == 50 and score.z is not None)
    return cells
