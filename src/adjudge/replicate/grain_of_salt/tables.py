"""The tables of "A Grain of Salt for the WMT Manual Evaluation" (Bojar et al. 2011), recomputed.

Every function returns the cells of one table by name, "row: column". They cover more systems than the paper prints.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from adjudge.agree import agree
from adjudge.agree.coefficients import above_chance, kappa_of_table, random_clicker
from adjudge.audit import AuditSettings, audit
from adjudge.audit.composition import scores_by, shown
from adjudge.audit.intervals import correlate
from adjudge.core.comparisons import BLOCK_KEY, comparisons
from adjudge.core.maths import divide
from adjudge.rank.resampling_units import tally
from adjudge.results.audit.edits import Acceptability, Edits
from adjudge.results.audit.sampling import Discrepancies, SoleWinners

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adjudge.core.judgments import Judgments
    from adjudge.rank.counts import Tally
    from adjudge.results.agree import Agreement

Cells = dict[str, float]
OFFICIAL = "wins-or-ties"
KINDS_AND_PARTS = [(kind, part) for kind in ("inter", "intra") for part in ("all", "without_reference")]


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

    @property
    def beside(self) -> AuditSettings:
        """Settings of audits that look at the edits."""
        return AuditSettings(edits=self.edits, acceptability=self.acceptability)


def collected_rankings(released: Released) -> Cells:
    """Table 1."""
    rows = {pair: _statistics(part) for pair, part in released.by_pair.items()}
    names = next(iter(rows.values()))
    rows["average"] = {name: float(np.mean([row[name] for row in rows.values()])) for name in names}
    return _flat(rows)


def _statistics(judgments: Judgments) -> Cells:
    compared = comparisons(judgments)
    counted = tally(compared)
    agreement = agree(judgments, resamples=0)
    return {
        "systems": len(compared.systems),
        "blocks": len(compared.block_annotator),
        "labels": len(compared.label_rank),
        "comparisons": len(compared),
        "reference wins-or-ties": float(scores_by(counted, OFFICIAL)[counted.human].mean()),
        "intra S": agreement.intra["all"].s,
        "inter S": agreement.inter["all"].s,
    }


def scores_of_systems(released: Released) -> Cells:
    """Table 2: four measures, in percent."""
    counted = tally(comparisons(released.by_pair[released.focus]))
    measures = ("wins-or-ties", "wins", "block-wins-or-ties", "block-wins")
    return {
        f"{measure}: {system}": 100 * float(score)
        for measure in measures
        for system, score in zip(counted.systems, scores_by(counted, measure), strict=True)
    }


def kappas(agreement: Agreement) -> Cells:
    """Table 3. The paper corrects all four pi by the P(E) of all comparisons."""
    chance = agreement.inter["all"].expected["pi"]
    rows = {}
    for kind, part in KINDS_AND_PARTS:
        coefficients = getattr(agreement, kind)[part]
        rows[f"{kind}, {part.replace('_', ' ')}"] = {
            "S": coefficients.s,
            "pi": above_chance(coefficients.observed, chance),
        }
    return _flat(rows)


def sole_winners(released: Released, named: set[str]) -> Cells:
    """Table 4; systems that are not `named` are added up."""
    winners = audit(released.by_pair[released.focus], only=["sole_winners"]).sections["sole_winners"]
    assert isinstance(winners, SoleWinners)
    cells = {system.system: system.wins for system in winners.systems}
    others = sum(system.wins for system in winners.systems if system.system not in named)
    last = {
        "one of eight other systems": others,
        "no sole winner": winners.tied + winners.empty,
        "total": winners.blocks,
    }
    return {f"blocks: {name}": float(count) for name, count in (cells | last).items()}


def sampling(released: Released, *, decimals: int | None = 1) -> tuple[Cells, Cells]:
    """Tables 5 and 10: scores in percent, rounded as the campaign's overview prints them, or not (None)."""
    columns: dict[str, np.ndarray[Any, np.dtype[np.float64]]] = {}
    for pair, part in released.by_pair.items():
        blocks = shown(part)
        machine = ~blocks.tally.human
        scores = 100 * scores_by(blocks.tally, OFFICIAL)
        rounded = scores if decimals is None else np.round(scores, decimals)
        columns[pair] = np.stack([blocks.times, blocks.with_reference, rounded])[:, machine]
    columns["overall"] = np.concatenate(list(columns.values()), axis=1)
    times, presence = (
        {f"pearson: {name}": correlate(x[i], x[2]).pearson for name, x in columns.items()} for i in (0, 1)
    )
    return times, presence


def direct_comparisons(released: Released) -> Cells:
    """Table 6: percent of comparisons in which the column beat the row."""
    discrepancies = audit(released.by_pair[released.focus], only=["discrepancies"]).sections["discrepancies"]
    assert isinstance(discrepancies, Discrepancies)
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
    cells = {"agreeing": agreeing, "sentences": total, "percent": 100 * agreeing / total}
    return {f"agreement: {name}": float(value) for name, value in cells.items()} | {
        "agreement: Cohen's kappa": kappa_of_table(counts)
    }


def six_annotators(rows: Mapping[str, list[int]]) -> Cells:
    """Table 8: only its totals follow from what is printed."""
    names = ("B", "T", "both fine", "both wrong")
    return {f"total: {name}": float(sum(row[i] for row in rows.values())) for i, name in enumerate(names)}


def ranked_twice(released: Released, entry: Mapping[str, Any]) -> Cells:
    """Table 9: the ranks of two systems in the two blocks of one annotator that hold both, in the order of the file."""
    table = released.by_pair[entry["pair"]].table.filter(pl.col("segment") == entry["segment"])
    blocks = table.group_by(BLOCK_KEY, maintain_order=True).agg("system", "rank")
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
    for pair, part in released.by_pair.items():
        edits = audit(part, only=["edits"], settings=released.beside).sections["edits"]
        assert isinstance(edits, Edits)
        rows[pair] = {
            "minimum": float(edits.smallest),
            "average": edits.mean,
            "standard deviation": edits.sd,
            "maximum": float(edits.largest),
        }
    return _flat(rows)


def figures_in_the_text(released: Released, agreement: Agreement) -> Cells:
    """Figures that the text gives outside its tables."""
    blocks = shown(released.by_pair[released.focus])
    counted, ties = blocks.tally, divide(blocks.tally.ties.sum(-1), blocks.tally.met.sum(-1))
    rows: dict[str, Cells] = {
        "section 2.2.2": {
            "P(E) of a random clicker": random_clicker(int(agreement.settings["labels"] or 0)),
            "share of ties": _share_of_ties(released.rankings),
            "P(E) of pi": agreement.inter["all"].expected["pi"],
        },
        "section 2.1": {"systems that are no combinations": _not_combined(counted)},
        "section 2.3": {
            "blocks per system": float(blocks.times.mean()),
            "swing between the two": _difference_of_ties(released, counted, ties),
        }
        | {f"percent of ties, {name}": 100 * float(tie) for name, tie in zip(counted.systems, ties, strict=True)}
        | {f"blocks of {name}": float(times) for name, times in zip(counted.systems, blocks.times, strict=True)},
        "section 2.5": _two_systems(released),
        "section 4.1": _edits_in_focus(released),
    }
    return _flat(rows)


def _not_combined(counted: Tally) -> float:
    names = [name for name, human in zip(counted.systems, counted.human, strict=True) if not human]
    return float(sum(not name.endswith("-combo") for name in names))


def _difference_of_ties(released: Released, counted: Tally, ties: np.ndarray[Any, np.dtype[np.float64]]) -> float:
    """By how much more often, in percent, the first of two systems is tied than the second."""
    first, second = (counted.systems.index(name) for name in released.tied_apart)
    return 100 * float(ties[first] - ties[second])


def _share_of_ties(judgments: Judgments) -> float:
    return float((comparisons(judgments).outcome == 0).mean())


def _two_systems(released: Released) -> Cells:
    compared = comparisons(released.by_pair[released.focus])
    first_name, other = released.systems_in_focus
    first, second = sorted(compared.systems.index(name) for name in (first_name, other))
    both = (compared.first == first) & (compared.second == second)
    better = {compared.systems[first]: 1, compared.systems[second]: -1}
    outcome = compared.outcome[both]
    return {
        f"{first_name} and {other} both ranked": float(both.sum()),
        f"{first_name} better": float((outcome == better[first_name]).sum()),
        f"{other} better": float((outcome == better[other]).sum()),
        "tied": float((outcome == 0).sum()),
        "sentences": float(len(np.unique(compared.segment[both]))),
    }


def _edits_in_focus(released: Released) -> Cells:
    part = released.by_pair[released.edits_focus]
    sections = audit(part, only=["edits", "acceptability"], settings=released.beside).sections
    edits, accepted = sections["edits"], sections["acceptability"]
    assert isinstance(edits, Edits)
    assert isinstance(accepted, Acceptability)
    cells = {f"post-edits of {system.system}": float(system.edits) for system in edits.systems}
    for system in accepted.systems:
        cells[f"acceptable of {system.system}"] = float(system.yes)
        cells[f"percent acceptable of {system.system}"] = 100 * system.yes / max(system.acceptable.n, 1)
    return cells


def _flat(rows: Mapping[str, Mapping[str, float]]) -> Cells:
    return {f"{row}: {column}": float(value) for row, cells in rows.items() for column, value in cells.items()}
