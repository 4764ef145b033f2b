"""Replication of "On the Stability of System Rankings at WMT" (Knowles 2021) over whatever campaigns are at hand.

Her counts are about the campaigns of 2018 to 2020. Where these lie in the folder they are compared; counts over other
campaigns stand beside hers, and need not be the same. Official rankings are compared cell by cell wherever the
organisers' files lie beside the judgments.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from adjudge.audit.changes import DIVISORS
from adjudge.audit.stability import rating_style, stability
from adjudge.core.errors import DataError, InputError
from adjudge.core.fingerprint import fingerprint_of_parts
from adjudge.core.judgments import Judgments
from adjudge.core.sheet import sheet_of, standardised
from adjudge.formats import read
from adjudge.formats.wmt_da.files import find_campaigns
from adjudge.replicate.official_rankings import compared_ranking, official_figures
from adjudge.replicate.published import read_published
from adjudge.replicate.replication import ReplicatedCell, ReplicatedTable, Replication
from adjudge.results.audit.stability import ONCE_PER_PAIR, Stability, over_pairs
from adjudge.work import map_tasks

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from adjudge.formats.wmt_da.files import Campaign
    from adjudge.replicate.official_rankings import Figure
    from adjudge.replicate.published import Published

COUNTS = ("pairs", "rank", "cluster", "both")
_OTHER = "published for the campaigns of 2018 to 2020; recomputed from {}"
_ABSENT = "this campaign is not in the folder"


@dataclass(frozen=True)
class AuditedPair:
    """One language pair of one campaign, and what becomes of its ranking after every change."""

    campaign: str
    pair: str
    stability: Stability


@dataclass(frozen=True)
class _Data:
    audited: tuple[AuditedPair, ...]
    official: tuple[ReplicatedTable, ...]
    notes: tuple[str, ...]
    fingerprint: str


def replicate(folder: Path) -> Replication:
    """Her tables over the campaigns in the folder, the toy example, and the official rankings cell by cell."""
    published = read_published("stability")
    data = _read(folder, published)
    missing = published.content["not_recomputed"].items()
    return Replication(
        settings={"paper": "stability", "lines": published.content["rule"]},
        data=data.fingerprint,
        notes=(*data.notes, *(f"{name} is not recomputed: {why}" for name, why in missing)),
        paper=published.paper,
        replicated=(
            table_2(published, data.audited),
            table_3(published, data.audited),
            _figure_1(data.audited),
            _by_campaign(data.audited),
            published.compared("Section 5", _toy(published)),
            *data.official,
        ),
    )


def _read(folder: Path, published: Published) -> _Data:
    """Every campaign that can be read; what is left out is said, and a folder without any is a fault."""
    parts: list[_Data] = []
    notes: list[str] = []
    faults: list[InputError] = []
    for campaign in find_campaigns([folder]):
        try:
            parts.append(_read_campaign(campaign, published))
        except InputError as fault:
            faults.append(fault)
            notes.append(f"{campaign.name} is left out: {fault}")
    if not parts:
        raise faults[0]
    return _Data(
        tuple(pair for part in parts for pair in part.audited),
        tuple(table for part in parts for table in part.official),
        (*notes, *(note for part in parts for note in part.notes)),
        fingerprint_of_parts(part.fingerprint for part in parts),
    )


def _read_campaign(campaign: Campaign, published: Published) -> _Data:
    judgments = read([file.path for file in campaign.given], format="wmt-da")
    figures = official_figures(campaign.folder)
    left_out = published.content["left_out"].get(campaign.name, ())
    rule = published.content["rule"]

    def recompute(named: tuple[str, Judgments]) -> _Data:
        pair, part = named
        return _read_pair(campaign.name, pair, part, figures.get(pair), None if pair in left_out else rule)

    pairs = map_tasks(recompute, judgments.by_pair().items(), what=f"language pairs of {campaign.name}")
    return _Data(
        tuple(audited for pair in pairs for audited in pair.audited),
        tuple(table for pair in pairs for table in pair.official),
        tuple(note for pair in pairs for note in pair.notes),
        judgments.fingerprint,
    )


def _read_pair(campaign: str, pair: str, judgments: Judgments, figures: list[Figure] | None, rule: str | None) -> _Data:
    """The official ranking of a language pair where there are figures, and its stability where there is a rule."""
    audited: tuple[AuditedPair, ...] = ()
    official: tuple[ReplicatedTable, ...] = ()
    notes: list[str] = []
    try:
        if figures:
            official = (compared_ranking(campaign, pair, figures, judgments),)
        else:
            notes.append(f"{campaign} {pair} has no official figures beside its judgments")
        if rule is not None:
            audited = (_audited(campaign, pair, judgments, rule),)
    except DataError as fault:
        notes.append(f"{campaign} {pair} is not audited: {fault}")
    return _Data(audited, official, tuple(notes), "")


def _audited(campaign: str, pair: str, judgments: Judgments, rule: str) -> AuditedPair:
    rows = stability(judgments, rule=rule, families=ONCE_PER_PAIR)
    return AuditedPair(campaign, pair, Stability(rows, rating_style(judgments), "zscore", rule))


def count(pairs: Sequence[AuditedPair], family: str, style: str) -> dict[str, int]:
    """Of the language pairs in this style to which the change applies: how many there are, and how many changed."""
    stable = {f"{pair.campaign} {pair.pair}": pair.stability for pair in pairs if pair.stability.style == style}
    changes = over_pairs(stable, data="").changes if stable else ()
    counted = [change for change in changes if change.family == family]
    return {name: getattr(counted[0], name) for name in COUNTS} if counted else dict.fromkeys(COUNTS, 0)


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
        if own := _of_row(published, row, pairs):
            recomputed.add(row, count(own, "human removed", entry["style"]))
        else:
            recomputed.not_compared(row, _ABSENT)
    for row, style in published.content["totals"].items():
        recomputed.add_total(published, row, ("human removed", style), pairs)
    return published.compared("Table 2", recomputed.cells, recomputed.notes, recomputed.other)


def table_3(published: Published, pairs: Sequence[AuditedPair]) -> ReplicatedTable:
    """The lowest or the highest system removed."""
    recomputed = _Recomputed()
    for row, (family, style) in published.content["removals"].items():
        recomputed.add_total(published, row, (family, style), pairs)
    return published.compared("Table 3", recomputed.cells, recomputed.notes, recomputed.other)


def _figure_1(pairs: Sequence[AuditedPair]) -> ReplicatedTable:
    """Fractions of language pairs that change when human scores are divided; the paper draws them, without numbers."""
    cells: list[ReplicatedCell] = []
    for style in sorted({pair.stability.style for pair in pairs}):
        for divisor in DIVISORS:
            counts = count(pairs, f"human divided by {divisor:g}", style)
            for key in COUNTS[1:]:
                share = counts[key] / counts["pairs"] if counts["pairs"] else None
                note = f"{counts[key]} of {counts['pairs']} language pairs"
                cells.append(ReplicatedCell(f"{style}, divided by {divisor:g}: {key}", None, 3, share, note))
    title = "Fractions of language pairs with changes after dividing human and REF scores; drawn, not printed"
    return ReplicatedTable("Figure 1", title, 470, tuple(cells))


def _by_campaign(pairs: Sequence[AuditedPair]) -> ReplicatedTable:
    """The rows of Table 2 for the campaigns at hand."""
    cells: list[ReplicatedCell] = []
    for campaign, style in dict.fromkeys((pair.campaign, pair.stability.style) for pair in pairs):
        counts = count([pair for pair in pairs if pair.campaign == campaign], "human removed", style)
        note = "" if counts["pairs"] else "no human translation was judged"
        cells += [ReplicatedCell(f"{campaign} ({style}): {key}", None, 0, float(counts[key]), note) for key in COUNTS]
    return ReplicatedTable("Table 2, by campaign", "The same for every campaign in the folder", None, tuple(cells))


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
        sheet = sheet_of(Judgments.from_columns(columns))
        z = standardised(sheet).score
        cells[name] = float(z[np.flatnonzero(sheet.score == 50)[0]])
    return cells
