"""Official rankings of direct assessment, cell by cell: the organisers' files against the judgments beside them.

`ad-sys-scores-XX-YY.csv` has each system's means and counts, `clusters.csv` its wins and its cluster.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adjudge.core.languages import language_code, pair_name
from adjudge.formats.parsing.spaced import read_spaced
from adjudge.rank import RankSettings, rank
from adjudge.replicate.replication import ReplicatedCell, ReplicatedTable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from adjudge.core.judgments import Judgments
    from adjudge.results.rank import Ranking

_SCORES = re.compile(r"[a-z]+-sys-scores-(?:[0-9]+\.)?(?P<source>[a-z]+)-(?P<target>[a-z]+)\.csv")
_CLUSTERS = "clusters.csv"
# Standardised scores are undone with workers' means of seven digits, so means of z agree to about 1e-6.
DECIMALS = 5
# Figure: (column of the official file, decimals to compare).
_OF_SCORES = {"raw": ("RAW.SCR", DECIMALS), "z": ("Z.SCR", DECIMALS), "N": ("N", 0), "N.ALL": ("N.ALL", 0)}
_OF_CLUSTERS = {"wins": ("WINS", 0), "cluster from": ("CLUSTER_START", 0), "cluster to": ("CLUSTER_END", 0)}
_MISSING = "the files hold no judgments of this system"


@dataclass(frozen=True)
class Figure:
    """One official figure of one system."""

    system: str
    name: str
    value: float
    decimals: int


def official_figures(folder: Path) -> dict[str, list[Figure]]:
    """The figures of every language pair that has official files in the folder."""
    found: dict[str, list[Figure]] = {}
    for path in sorted(folder.iterdir()):
        if name := _SCORES.fullmatch(path.name):
            pair = _pair(name["source"], name["target"])
            found.setdefault(pair, []).extend(_read_scores(path))
        elif path.name == _CLUSTERS:
            for pair, figures in _read_clusters(path).items():
                found.setdefault(pair, []).extend(figures)
    return found


def _pair(source: str | None, target: str | None) -> str:
    return pair_name(language_code(source or ""), language_code(target or ""))


def _read_scores(path: Path) -> list[Figure]:
    return [figure for _, figure in _read(path, "SYS", _OF_SCORES)]


def _read_clusters(path: Path) -> dict[str, list[Figure]]:
    found: dict[str, list[Figure]] = {}
    for pair, figure in _read(path, "SYSTEM", _OF_CLUSTERS):
        found.setdefault(pair, []).append(figure)
    return found


def _read(path: Path, system: str, columns: Mapping[str, tuple[str, int]]) -> list[tuple[str, Figure]]:
    """Every figure of these columns that the file has, with the language pair where the file says it."""
    table = read_spaced(path, header=system)
    place = None if table is None else table.column_index(system)
    if table is None or place is None:
        return []
    source, target = table.column_index("SRC"), table.column_index("TRG")
    pairs = [""] * table.frame.height
    if source is not None and target is not None:
        pairs = [_pair(a, b) for a, b in zip(table.texts(source), table.texts(target), strict=True)]
    figures: list[tuple[str, Figure]] = []
    for name, (column, decimals) in columns.items():
        if (at := table.column_index(column)) is None:
            continue
        for pair, one, value in zip(pairs, table.texts(place), table.numbers(at, column), strict=True):
            if value is not None:
                figures.append((pair, Figure(one, name, value, decimals)))
    return figures


def compared_ranking(campaign: str, pair: str, figures: list[Figure], judgments: Judgments) -> ReplicatedTable:
    """The official figures of one language pair beside those of its judgments."""
    ranking = rank(judgments, method="zscore", settings=RankSettings(lines="official", resamples=0))
    ours = recomputed_figures(ranking)
    cells = tuple(
        ReplicatedCell(
            f"{one.system}: {one.name}",
            one.value,
            one.decimals,
            ours.get((one.system, one.name)),
            "" if (one.system, one.name) in ours else _MISSING,
        )
        for one in sorted(figures, key=lambda figure: (_place(ranking, figure.system), figure.system))
    )
    return ReplicatedTable(f"{campaign} {pair}", "the official ranking, published by the organisers", None, cells)


def _place(ranking: Ranking, system: str) -> int:
    return ranking.order.index(system) if system in ranking.order else len(ranking.order)


def recomputed_figures(ranking: Ranking) -> dict[tuple[str, str], float]:
    """The same figures from a ranking by z-scores."""
    found: dict[tuple[str, str], float] = {}
    ends: dict[int, tuple[int, int]] = {}
    for place, one in enumerate(ranking.systems, start=1):
        ends[one.cluster] = (ends.get(one.cluster, (place, place))[0], place)
    for one in ranking.systems:
        first, last = ends[one.cluster]
        values = {
            "raw": one.numbers["raw"], "z": one.score, "N": one.n, "N.ALL": one.numbers["n_all"],
            "wins": one.numbers["wins"], "cluster from": first, "cluster to": last,
        }  # fmt: skip
        found |= {(one.system, name): float(value) for name, value in values.items() if value is not None}
    return found
