"""Official rankings of direct assessment, cell by cell: the organisers' files against the judgments beside them.

`ad-sys-scores-XX-YY.csv` has each system's means and counts, `clusters.csv` its wins and its cluster. Also what tasks
and files are made of (Knowles 2021, Table 1 and section 5.1).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

import adjudge
from adjudge.core.languages import language_code, pair_name
from adjudge.formats.parsing.spaced import read_spaced
from adjudge.results.replication import ReplicatedCell, ReplicatedTable, Source

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from adjudge import Judgments
    from adjudge.replicate.published import Published
    from adjudge.results.rank import Ranking

    Parts = Mapping[tuple[str, str], Judgments]

_SCORES = re.compile(r"[a-z]+-sys-scores-(?:[0-9]+\.)?(?P<source>[a-z]+)-(?P<target>[a-z]+)\.csv")
_CLUSTERS = "clusters.csv"
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
        if name := _SCORES.fullmatch(path.name):
            pair = _pair(name["source"], name["target"])
            by_pair.setdefault(pair, []).extend(_read_scores(path))
        elif path.name == _CLUSTERS:
            for pair, figures in _read_clusters(path).items():
                by_pair.setdefault(pair, []).extend(figures)
    return by_pair


def _pair(source: str | None, target: str | None) -> str:
    return pair_name(language_code(source or ""), language_code(target or ""))


def _read_scores(path: Path) -> list[Figure]:
    return [figure for _, figure in _read(path, "SYS", _OF_SCORES)]


def _read_clusters(path: Path) -> dict[str, list[Figure]]:
    by_pair: dict[str, list[Figure]] = {}
    for pair, figure in _read(path, "SYSTEM", _OF_CLUSTERS):
        by_pair.setdefault(pair, []).append(figure)
    return by_pair


def _read(path: Path, system: str, columns: Mapping[str, tuple[str, int]]) -> list[tuple[str, Figure]]:
    """Every figure of these columns that the file has, with the language pair where the file says it."""
    table = read_spaced(path, header=system)
    system_column = None if table is None else table.column_index(system)
    if table is None or system_column is None:
        return []
    table.refuse_ragged()
    source, target = table.column_index("SRC"), table.column_index("TRG")
    pairs = [""] * table.frame.height
    if source is not None and target is not None:
        pairs = [_pair(a, b) for a, b in zip(table.texts(source), table.texts(target), strict=True)]
    figures: list[tuple[str, Figure]] = []
    for name, (column, decimals) in columns.items():
        if (at := table.column_index(column)) is None:
            continue
        for pair, owner, value in zip(pairs, table.texts(system_column), table.numbers(at, column), strict=True):
            if value is not None:
                figures.append((pair, Figure(owner, name, value, decimals)))
    return figures


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
    absent = [name for name in printed if name not in cells]
    unprinted = tuple(ReplicatedCell(name, None, 0, count) for name, count in cells.items() if name not in printed)
    title = (
        "The same for every other campaign in the folder; language pairs of which only means were released are left out"
    )
    return (
        published.compared("Table 1", cells, dict.fromkeys(absent, _ABSENT), absent=absent),
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


def audit_section(judgments: Judgments, name: str) -> Any:
    """One section of the audit of a language pair."""
    return adjudge.audit(judgments, only=[name]).sections[name]


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
    absent = [name for name in published.cells("Section 5.1") if name not in cells]
    return published.compared("Section 5.1", cells, dict.fromkeys(absent, _ABSENT), absent=absent)
