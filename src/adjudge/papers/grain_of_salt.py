"""Replication of "A Grain of Salt for the WMT Manual Evaluation" (Bojar et al. 2011) from the released judgments."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import adjudge
from adjudge.papers.figures import Curve, CurveAt, Curves, FittedLine, Mark, PaperFigure, Scatter, ScatterPoint
from adjudge.papers.replicate import Published, Replication, find_file, join_fingerprints, look_for_file, read_published

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from adjudge import Judgments
    from adjudge.evidence.composition import SampledSystem
    from adjudge.people.results import Agreement


# Tables: every function returns the cells of one by name, "row: column", of more systems than the paper prints.

Cells = dict[str, float]
OFFICIAL = "wins-or-ties"
BLOCK = ("annotator", "task", "screen", "document", "segment")
"""What identifies the block of systems that somebody ranked, within a language pair."""


@dataclass(frozen=True)
class Released:
    """The released files of the campaign, and which tasks and systems the paper looks at closely."""

    rankings: Judgments
    edits: Judgments
    acceptability: Judgments
    focus: str
    edits_focus: str
    systems_in_focus: tuple[str, str]
    tied_apart: tuple[str, str]
    """Two systems of which the first is tied with others much more often (section 2.3)."""

    @property
    def by_pair(self) -> dict[str, Judgments]:
        """The rankings of each language pair."""
        return self.rankings.by_pair()

    def audit_edits(self, pair: str, section: str) -> Any:
        """A section of the audit that looks at the edits."""
        return _audit(self.by_pair[pair], section, edits=self.edits, acceptability=self.acceptability)


def _audit(part: Judgments, section: str, **settings: Any) -> Any:
    return adjudge.audit(part, only=[section], **settings).sections[section]


def sampled_systems(part: Judgments) -> list[SampledSystem]:
    """How often each system was shown, alone and beside the reference, and its official score; sorted by name."""
    return sorted(_audit(part, "sampling", method=OFFICIAL).systems, key=lambda system: system.system)


def score_systems(part: Judgments, method: str) -> dict[str, float]:
    """The systems' scores in percent, sorted by name."""
    ranking = adjudge.rank(part, method=method, resamples=0, lines="none")
    return {system.system: 100 * (system.score or 0.0) for system in sorted(ranking.systems, key=lambda s: s.system)}


def collected_rankings(released: Released) -> Cells:
    """Table 1."""
    rows = {pair: _statistics(part) for pair, part in released.by_pair.items()}
    names = next(iter(rows.values()))
    rows["average"] = {name: float(np.mean([row[name] for row in rows.values()])) for name in names}
    return _flat(rows)


def _statistics(judgments: Judgments) -> Cells:
    agreement = adjudge.agree(judgments, resamples=0)
    systems = sampled_systems(judgments)
    ranks = judgments.table.filter(pl.col("rank").is_not_null())
    return {
        "systems": len(systems),
        "blocks": judgments.table.select(BLOCK).n_unique(),
        "labels": ranks.height,
        "comparisons": sum(_count_pairs(judgments).values()),
        "reference wins-or-ties": float(np.mean([system.score for system in systems if system.human])),
        "intra S": agreement.intra["all"].s,
        "inter S": agreement.inter["all"].s,
    }


def scores_of_systems(released: Released) -> Cells:
    """Table 2: four measures, in percent."""
    measures = ("wins-or-ties", "wins", "block-wins-or-ties", "block-wins")
    return {
        f"{measure}: {system}": score
        for measure in measures
        for system, score in score_systems(released.by_pair[released.focus], measure).items()
    }


def _count_pairs(judgments: Judgments) -> Counter[str]:
    """Comparisons of all pairs of systems: `ties`, and those that one of the two won (`wins`, `losses`)."""
    counts: Counter[str] = Counter()
    for pair in adjudge.rank(judgments, method="wins", resamples=0, lines="none").comparisons:
        counts.update({name: int(pair.numbers[name] or 0) for name in ("wins", "ties", "losses")})
    return counts


def kappas(agreement: Agreement) -> Cells:
    """Table 3. The paper corrects all four pi by the P(E) of all comparisons."""
    chance = agreement.inter["all"].expected["pi"]
    rows = {}
    for kind in ("inter", "intra"):
        for part, one in getattr(agreement, kind).items():
            rows[f"{kind}, {part.replace('_', ' ')}"] = {"S": one.s, "pi": (one.observed - chance) / (1 - chance)}
    return _flat(rows)


def sole_winners(released: Released, named: set[str]) -> Cells:
    """Table 4; systems that are not `named` are added up."""
    winners = _audit(released.by_pair[released.focus], "sole_winners")
    cells = {system.system: system.wins for system in winners.systems}
    others = sum(wins for name, wins in cells.items() if name not in named)
    last = {"one of eight other systems": others, "no sole winner": winners.tied + winners.empty}
    return {f"blocks: {name}": float(count) for name, count in (cells | last | {"total": winners.blocks}).items()}


def sampling(released: Released, *, decimals: int | None = 1) -> tuple[Cells, Cells]:
    """Tables 5 and 10: scores in percent, rounded as the campaign's overview prints them, or not (None)."""
    columns: dict[str, np.ndarray[Any, np.dtype[np.float64]]] = {}
    for pair, part in released.by_pair.items():
        systems = [system for system in sampled_systems(part) if not system.human]
        scores = 100 * np.array([system.score for system in systems])
        rounded = scores if decimals is None else np.round(scores, decimals)
        shown = [[system.shown, system.reference_share] for system in systems]
        columns[pair] = np.vstack([np.transpose(shown), rounded])
    columns["overall"] = np.concatenate(list(columns.values()), axis=1)
    times, presence = (
        {f"pearson: {name}": float(np.corrcoef(x[i], x[2])[0, 1]) for name, x in columns.items()} for i in (0, 1)
    )
    return times, presence


def direct_comparisons(released: Released) -> Cells:
    """Table 6: percent of comparisons in which the column beat the row."""
    discrepancies = _audit(released.by_pair[released.focus], "discrepancies")
    return {
        f"{row}: {column}": 100 * cell
        for row, cells in zip(discrepancies.systems, discrepancies.matrix, strict=True)
        for column, cell in zip(discrepancies.systems, cells, strict=True)
        if cell is not None
    }


def two_annotators(matrix: list[list[int]]) -> Cells:
    """Table 7, from its printed counts."""
    counts = np.array(matrix)
    agreeing, total = int(np.trace(counts)), int(counts.sum())
    observed, expected = agreeing / total, float(counts.sum(1) @ counts.sum(0)) / total**2
    cells = {"agreeing": agreeing, "sentences": total, "percent": 100 * agreeing / total}
    return _flat({"agreement": cells | {"Cohen's kappa": (observed - expected) / (1 - expected)}})


def six_annotators(rows: Mapping[str, list[int]]) -> Cells:
    """Table 8: only its totals follow from what is printed."""
    names = ("B", "T", "both fine", "both wrong")
    return _flat({"total": dict(zip(names, map(sum, zip(*rows.values(), strict=True)), strict=True))})


def ranked_twice(released: Released, entry: Mapping[str, Any]) -> Cells:
    """Table 9: the ranks of two systems in the two blocks of one annotator that hold both, in the order of the file."""
    table = released.by_pair[entry["pair"]].table.filter(pl.col("segment") == entry["segment"])
    blocks = table.group_by(BLOCK, maintain_order=True).agg("system", "rank")
    ranks: dict[str, list[dict[str, int]]] = {}
    for row in blocks.iter_rows(named=True):
        given = dict(zip(row["system"], row["rank"], strict=True))
        if all(given.get(system) is not None for system in entry["systems"]):
            ranks.setdefault(row["annotator"], []).append(given)
    twice = next((given for given in ranks.values() if len(given) == 2), [])
    return {
        f"{system}: {which} ranking": float(given[system])
        for system in entry["systems"]
        for which, given in zip(("first", "second"), twice, strict=False)
    }


def post_edits(released: Released) -> Cells:
    """Table 11."""
    rows = {}
    for pair in released.by_pair:
        edits = released.audit_edits(pair, "edits")
        middle = {"average": edits.mean, "standard deviation": edits.sd}
        rows[pair] = {"minimum": edits.smallest, **middle, "maximum": edits.largest}
    return _flat(rows)


def figures_in_the_text(released: Released, agreement: Agreement) -> Cells:
    """Figures that the text gives outside its tables."""
    systems = sampled_systems(released.by_pair[released.focus])
    ties = _ties_by_system(released.by_pair[released.focus])
    tied, seldom_tied = released.tied_apart
    labels = int(agreement.settings["labels"] or 0)
    rows: dict[str, Cells] = {
        "section 2.2.2": {
            # Of better, tie and worse between two people who choose among the labels at random.
            "P(E) of a random clicker": (1 / labels) ** 2 + 2 * ((1 - 1 / labels) / 2) ** 2,
            "share of ties": _share_of_ties(released),
            "P(E) of pi": agreement.inter["all"].expected["pi"],
        },
        "section 2.1": {
            "systems that are no combinations": sum(
                not system.human and not system.system.endswith("-combo") for system in systems
            )
        },
        "section 2.3": {
            "blocks per system": float(np.mean([system.shown for system in systems])),
            "swing between the two": 100 * (ties[tied] - ties[seldom_tied]),
        }
        | {f"percent of ties, {system.system}": 100 * ties[system.system] for system in systems}
        | {f"blocks of {system.system}": float(system.shown) for system in systems},
        "section 2.5": _two_systems(released),
        "section 4.1": _edits_in_focus(released),
    }
    return _flat(rows)


def _ties_by_system(part: Judgments) -> dict[str, float]:
    """The share of ties among the comparisons of each system."""
    systems = adjudge.rank(part, method="wins", resamples=0, lines="none").systems
    counts = {one.system: [int(one.numbers[name] or 0) for name in ("ties", "wins", "losses")] for one in systems}
    return {name: count[0] / sum(count) for name, count in counts.items()}


def _share_of_ties(released: Released) -> float:
    counts = sum((_count_pairs(part) for part in released.by_pair.values()), Counter[str]())
    return counts["ties"] / sum(counts.values())


def _two_systems(released: Released) -> Cells:
    first, other = released.systems_in_focus
    ranks = released.by_pair[released.focus].table.filter(pl.col("rank").is_not_null())
    one, two = (ranks.filter(pl.col("system") == name).select(*BLOCK, pl.col("rank")) for name in (first, other))
    both = one.join(two, on=BLOCK, nulls_equal=True, suffix=" of the other")
    lead = (both["rank of the other"] - both["rank"]).sign()
    return {
        f"{first} and {other} both ranked": float(both.height),
        f"{first} better": float((lead > 0).sum()),
        f"{other} better": float((lead < 0).sum()),
        "tied": float((lead == 0).sum()),
        "sentences": float(both["segment"].n_unique()),
    }


def _edits_in_focus(released: Released) -> Cells:
    edits, accepted = (released.audit_edits(released.edits_focus, name) for name in ("edits", "acceptability"))
    cells = {f"post-edits of {system.system}": float(system.edits) for system in edits.systems}
    for system in accepted.systems:
        cells[f"acceptable of {system.system}"] = float(system.yes)
        cells[f"percent acceptable of {system.system}"] = 100 * system.yes / max(system.acceptable.n, 1)
    return cells


def _flat(rows: Mapping[str, Mapping[str, float]]) -> Cells:
    return {f"{row}: {column}": float(value) for row, cells in rows.items() for column, value in cells.items()}


# Figure 2 needs the source texts, which are not in the release. Where the folder has them as plain lines, `source.en`,
# `source.cs` and so on (line n being sentence n of the 2,034 that were judged), it is drawn too.

OTHERS = "≥ others (%)"
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


def _scatter(figure: str, page: int, title: str, x: str, points: Sequence[ScatterPoint]) -> Scatter:
    """Points of systems against an axis, with their line; what is to be seen is said by the caller."""
    return Scatter(
        figure=figure, title=title, page=page, says="", x=x, y=OTHERS, points=tuple(points), line=fit_line(points)
    )


def all_in_block(pairs: Mapping[str, Judgments]) -> Scatter:
    """Figure 1: two readings of the official score, all systems of all language pairs."""
    points: list[ScatterPoint] = []
    for pair, part in pairs.items():
        others, block = (score_systems(part, method) for method in (OFFICIAL, "block-wins-or-ties"))
        names = [system.system for system in sampled_systems(part) if not system.human]
        points += [ScatterPoint(name, pair, others[name], block[name]) for name in names]
    drawn = _scatter("Figure 1", 3, "“≥ all in block” and “≥ others” order systems alike", OTHERS, points)
    says = (
        f"{len(points)} systems of {len(pairs)} language pairs lie close to a rising line (r = {drawn.line.r:.3f}): "
        "counting whole blocks instead of comparisons hardly changes the order."
    )
    return replace(drawn, y="≥ all in block (%)", says=says, named=False)


def times_judged(figure: str, page: int, pair: str, part: Judgments) -> Scatter:
    """Figures 3 and 4: the official score against the number of blocks in which a system was shown."""
    points = _points(pair, part, "shown")
    title = f"“≥ others” against times judged, {pair}"
    drawn = _scatter(figure, page, title, "number of judgments (blocks)", points)
    lowest = min(points, key=lambda point: point.y)
    says = (
        f"{len(points)} systems of {pair}: Pearson's r of score and times judged is {drawn.line.r:.3f}; "
        f"{lowest.name}, the lowest, was judged {lowest.x:.0f} times."
    )
    return replace(drawn, says=says)


def presence_of_reference(pair: str, part: Judgments) -> Scatter:
    """Figure 6: the official score against how often the reference was shown beside a system."""
    points = _points(pair, part, "reference_share")
    title = f"“≥ others” against the presence of the reference, {pair}"
    drawn = _scatter("Figure 6", 9, title, "relative presence of the reference", points)
    says = (
        f"{len(points)} systems of {pair}: the more often a system was shown beside the reference, the lower its score "
        f"(r = {drawn.line.r:.3f})."
    )
    return replace(drawn, says=says)


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


NAME = "grain-of-salt"
Table = tuple[Cells, dict[str, str]]


def replicate(folder: Path) -> Replication:
    """All tables that the released data allow."""
    published = read_published("grain_of_salt")
    released = _read(folder, published.content)
    agreement = adjudge.agree(released.rankings, resamples=0)
    figures = draw_figures(released, published, folder)
    parts = (released.rankings, released.edits, released.acceptability)
    return Replication(
        settings={"paper": NAME},
        data=join_fingerprints(part.fingerprint for part in parts),
        figures=figures,
        not_recomputed=published.not_recomputed(drawn=[figure.figure for figure in figures]),
        paper=published.paper,
        replicated=tuple(
            published.compared(name, cells, notes)
            for name, (cells, notes) in _recomputed(published, released, agreement).items()
        ),
    )


def _read(folder: Path, content: Mapping[str, Any]) -> Released:
    files = {name: find_file(folder, file) for name, file in content["files"].items()}
    formats = {"rankings": "wmt-ranking", "edits": "wmt-edits", "acceptability": "wmt-acceptability"}
    rankings, edits, acceptability = (adjudge.read(files[name], format=form) for name, form in formats.items())
    looked_at = {name: content[name] for name in ("focus", "edits_focus", "systems_in_focus", "tied_apart")}
    return Released(rankings, edits, acceptability, **looked_at)


def _recomputed(published: Published, released: Released, agreement: Agreement) -> dict[str, Table]:
    """The cells of every table, and what is to be known of some of them."""
    named = {name.partition(": ")[2] for name in published.cells("Table 4")}
    times, presence = sampling(released)
    exact_times, exact_presence = sampling(released, decimals=None)
    return {
        "Table 1": (collected_rankings(released), {}),
        "Table 2": (scores_of_systems(released), {}),
        "Table 3": (kappas(agreement), _own_chance(agreement)),
        "Table 4": (sole_winners(released, named), {}),
        "Table 5": (times, _unrounded(exact_times)),
        "Table 6": (direct_comparisons(released), {}),
        **_from_printed_counts(published),
        "Table 9": (ranked_twice(released, published.content["ranked_twice"]), {}),
        "Table 10": (presence, _unrounded(exact_presence)),
        "Table 11": (post_edits(released), {}),
        "Text": (figures_in_the_text(released, agreement), {}),
    }


def _own_chance(agreement: Agreement) -> dict[str, str]:
    """The paper corrects agreement without the reference by the P(E) of all comparisons."""
    return {
        f"{kind}, without reference: pi": "with the P(E) of all comparisons, as in the paper; "
        f"with its own P(E) it is {getattr(agreement, kind)['without_reference'].pi:.3f}"
        for kind in ("inter", "intra")
    }


def _unrounded(exact: Mapping[str, float]) -> dict[str, str]:
    return {name: f"scores rounded to 0.1% first; unrounded it is {value:.4f}" for name, value in exact.items()}


def _from_printed_counts(published: Published) -> dict[str, Table]:
    printed = published.content["printed"]
    from_counts = "from the counts printed in the table; the annotations are not in the release"
    two, six = two_annotators(printed["Table 7"]["matrix"]), six_annotators(printed["Table 8"]["rows"])
    missing = "needs the six annotators' labels of each sentence, which are not in the release"
    return {
        "Table 7": (two, dict.fromkeys(published.cells("Table 7"), from_counts)),
        "Table 8": (six, {name: missing for name in published.cells("Table 8") if name not in six}),
    }
