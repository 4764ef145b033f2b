"""Replication of "On the Stability of System Rankings at WMT" (Knowles 2021) over whatever campaigns are at hand.

Knowles's counts are about the campaigns of 2018 to 2020. Where these lie in the folder they are compared; counts over
other campaigns stand beside the published ones, and need not be the same. Official rankings are compared cell by cell
wherever the organisers' files lie beside the judgments.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import adjudge
from adjudge.audit.stability import rating_style, stability
from adjudge.formats.wmt_da.files import find_campaigns
from adjudge.replicate.published import read_published, sign_data
from adjudge.replicate.stability.figures import draw_figures
from adjudge.replicate.stability.official_rankings import (
    compared_ranking,
    kinds_of_items,
    official_figures,
    workers_who_saw,
)
from adjudge.results.audit.stability import ONCE_PER_PAIR, ChangeFamily, Stability, over_pairs
from adjudge.results.replication import ReplicatedCell, ReplicatedTable, Replication, Source
from adjudge.work import map_tasks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from adjudge import Judgments
    from adjudge.formats.wmt_da.files import Campaign
    from adjudge.replicate.published import Published
    from adjudge.replicate.stability.official_rankings import Figure

ALL_ROWS, GENUINE = "all-rows", "genuine"
"""Which rows are removed with a human translation: all under its name, or without degraded ones."""
COUNTS = ("pairs", "rank", "cluster", "both")
_OTHER = "published for the campaigns of 2018 to 2020; recomputed from {}"
_ABSENT = "this campaign is not in the folder"
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
    """The removal alone, with degraded rows kept."""


@dataclass(frozen=True)
class _Data:
    audited: tuple[AuditedPair, ...]
    official: tuple[ReplicatedTable, ...]
    notes: tuple[str, ...]
    fingerprint: str
    judgments: Mapping[tuple[str, str], Judgments] = field(default_factory=dict)
    """By campaign and language pair."""


def replicate(folder: Path) -> Replication:
    """Knowles's tables over the campaigns in the folder, the toy example, and the official rankings cell by cell."""
    published = read_published("stability")
    data = _read(folder, published)
    divided = figure_1(published, data.audited)
    stabilities = {(pair.campaign, pair.pair): pair.stability for pair in data.audited}
    return Replication(
        settings={"paper": "stability", "lines": published.content["rule"], "removal": ALL_ROWS},
        data=data.fingerprint,
        notes=data.notes,
        figures=draw_figures(published, divided, stabilities, data.judgments),
        not_recomputed=published.not_recomputed(),
        paper=published.paper,
        replicated=(
            *kinds_of_items(published, data.judgments),
            workers_who_saw(published, data.judgments),
            table_2(published, data.audited),
            table_3(published, data.audited),
            divided,
            _by_campaign(data.audited),
            published.compared("Section 5", _toy(published)),
            *data.official,
        ),
    )


def _read(folder: Path, published: Published) -> _Data:
    """Every campaign that can be read; what is left out is said, and a folder without any is a fault."""
    parts: list[_Data] = []
    notes: list[str] = []
    faults: list[adjudge.AdjudgeError] = []
    for campaign in find_campaigns([folder]):
        try:
            parts.append(_read_campaign(campaign, published))
        except adjudge.AdjudgeError as fault:
            faults.append(fault)
            notes.append(f"{campaign.name} is left out: {fault}")
    if not parts:
        raise faults[0]
    return _Data(
        tuple(pair for part in parts for pair in part.audited),
        tuple(table for part in parts for table in part.official),
        (*notes, *(note for part in parts for note in part.notes)),
        sign_data(part.fingerprint for part in parts),
        {key: judgments for part in parts for key, judgments in part.judgments.items()},
    )


def _read_campaign(campaign: Campaign, published: Published) -> _Data:
    judgments = adjudge.read([file.path for file in campaign.given], format="wmt-da")
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
        {(campaign.name, pair): part for pair, part in judgments.by_pair().items()},
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
    except adjudge.AdjudgeError as fault:
        notes.append(f"{campaign} {pair} is not audited: {fault}")
    return _Data(audited, official, tuple(notes), "")


def _audited(campaign: str, pair: str, judgments: Judgments, rule: str) -> AuditedPair:
    style = rating_style(judgments)
    rows = stability(judgments, rule=rule, families=ONCE_PER_PAIR, removal=ALL_ROWS)
    genuine = stability(judgments, rule=rule, families=(ChangeFamily.HUMAN_REMOVED,), removal=GENUINE)
    whole, removal = (Stability(changes, style, "zscore", rule) for changes in (rows, genuine))
    return AuditedPair(campaign, pair, whole, removal)


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


def table_3(published: Published, pairs: Sequence[AuditedPair]) -> ReplicatedTable:
    """The lowest or the highest system removed."""
    recomputed = _Recomputed()
    for row, (family, style) in published.content["removals"].items():
        recomputed.add_total(published, row, (family, style), pairs)
    return recomputed.compared(published, "Table 3")


def figure_1(published: Published, pairs: Sequence[AuditedPair]) -> ReplicatedTable:
    """Language pairs that change when human scores are divided; the counts are those of the author's repository."""
    recomputed = _Recomputed()
    for row, (family, style) in published.content["divisions"].items():
        recomputed.add_total(published, row, (family, style), pairs)
    return recomputed.compared(published, "Figure 1")


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
