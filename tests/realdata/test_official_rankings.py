"""The official rankings of the 2021 news and wikipedia tasks, to the digit, from the released judgments.

Expected values are read from the official files beside the judgments: `ad-sys-scores-*` (means, N, N.ALL),
`clusters.csv` (wins, order, lines), `adwilcox-*` (p-values; 0.12 there means not significant or not tested).
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import mannwhitneyu

from adjudge.ranking.methods import RankSettings, rank
from adjudge.ranking.ranking import Ranking
from adjudge.ranking.significance import mann_whitney
from adjudge.table.judgments import Judgments
from tests.helpers.released import read_released

NEWS = "newstest2021-toen"
WIKIPEDIA = "facebook-wikipedia-2021"
PAIRS = [(NEWS, f"{source}-en") for source in ("cs", "de", "ha", "is", "ja", "ru", "zh")]
PAIRS += [(WIKIPEDIA, pair) for pair in ("bn-hi", "hi-bn", "xh-zu", "zu-xh")]
NOT_TESTED = 0.12


@cache
def judgments_of(folder: Path) -> dict[str, Judgments]:
    return read_released(folder, "wmt-da").by_pair()


@cache
def ranking_of(folder: Path, pair: str, lines: str = "official") -> Ranking:
    return rank(judgments_of(folder)[pair], method="zscore", settings=RankSettings(lines=lines, resamples=0))


def official_scores(folder: Path, pair: str) -> dict[str, tuple[float, float, int, int]]:
    """System -> raw mean, z mean, N, N.ALL."""
    rows = [line.split() for line in (folder / f"ad-sys-scores-{pair}.csv").read_text().splitlines()[1:]]
    return {row[3].strip('"'): (float(row[0]), float(row[1]), int(row[2]), int(row[4])) for row in rows if row}


def official_clusters(folder: Path, pair: str) -> list[tuple[str, int, bool]]:
    """In rank order: system, wins, whether a line follows."""
    source, target = pair.split("-")
    rows = [line.split() for line in (folder / "clusters.csv").read_text().splitlines()[1:]]
    return [(row[7], int(row[2]), row[6] == "True") for row in rows if row[:2] == [source, target]]


@pytest.mark.parametrize(("campaign", "pair"), PAIRS)
def test_means_and_counts_are_official(data: Path, campaign: str, pair: str) -> None:
    folder = data / "wmt21" / campaign
    expected = official_scores(folder, pair)
    ranking = ranking_of(folder, pair)
    assert set(ranking.order) == set(expected)
    for system in ranking.systems:
        raw, z, n, n_all = expected[system.system]
        assert system.score == pytest.approx(z, abs=1e-12)
        assert system.numbers["raw"] == pytest.approx(raw, abs=1e-10)
        assert (system.n, system.numbers["n_all"]) == (n, n_all)


@pytest.mark.parametrize(("campaign", "pair"), PAIRS)
def test_order_wins_and_clusters_are_official(data: Path, campaign: str, pair: str) -> None:
    folder = data / "wmt21" / campaign
    ranking = ranking_of(folder, pair)
    order = [(system.system, system.numbers["wins"]) for system in ranking.systems]
    expected = official_clusters(folder, pair)
    assert order == [(system, wins) for system, wins, _ in expected]
    last = [cluster[-1] for cluster in ranking.clusters]
    assert last == [system for system, _, line in expected if line]


def official_p(folder: Path, pair: str) -> dict[tuple[str, str], float]:
    lines = (folder / f"adwilcox-{pair.replace('-', '')}.csv").read_text().splitlines()
    names = lines[0].split()
    rows = [line.split() for line in lines[1:] if line.strip()]
    return {(row[0], names[j]): float(p) for row in rows for j, p in enumerate(row[1:])}


@pytest.mark.parametrize(("campaign", "pair"), PAIRS)
def test_p_values_are_official_from_segment_means(data: Path, campaign: str, pair: str) -> None:
    folder = data / "wmt21" / campaign
    rows = [line.split() for line in (folder / f"ad-seg-scores-{pair}.csv").read_text().splitlines()[1:]]
    kept = [(row[0].strip('"'), float(row[-2])) for row in rows if row and row[-2] != "NA"]
    names = sorted({name for name, _ in kept})
    codes = np.array([names.index(name) for name, _ in kept])
    # The official test took the numbers as they were, with ties broken by the last digit.
    tests = mann_whitney(np.array([z for _, z in kept]), codes, len(names), decimals=None)
    compared = 0
    for (better, worse), p in official_p(folder, pair).items():
        if p != NOT_TESTED:
            assert tests.greater[names.index(better), names.index(worse)] == pytest.approx(p, abs=1e-10, rel=1e-9)
            compared += 1
    assert compared > 3


@pytest.mark.parametrize(("campaign", "pair"), PAIRS)
def test_p_values_from_raw_scores_agree_within_two_percent(data: Path, campaign: str, pair: str) -> None:
    folder = data / "wmt21" / campaign
    p = {(comparison.better, comparison.worse): comparison.p for comparison in ranking_of(folder, pair).comparisons}
    for places, expected in official_p(folder, pair).items():
        if expected != NOT_TESTED and places in p:
            assert p[places] == pytest.approx(expected, rel=0.02)


def slow_clusters(judgments: Judgments, ranking: Ranking, rule: str) -> list[int]:
    """Sizes of clusters by the rules of docs/rank.md, spelled out with polars and scipy's `mannwhitneyu`."""
    z = (pl.col("score") - pl.col("score").mean().over("annotator")) / pl.col("score").std().over("annotator")
    rated = judgments.table.with_columns(z=z.fill_nan(None)).filter(pl.col("kind").is_in(["system", "repeat"]))
    means = rated.group_by("system", "document", "segment").agg(pl.col("z").mean().round(10)).drop_nulls()
    values = {name: means.filter(pl.col("system") == name)["z"].to_numpy() for name in ranking.order}

    def p(a: str, b: str, alternative: str) -> float:
        return float(mannwhitneyu(values[a], values[b], alternative=alternative, method="asymptotic").pvalue)

    ends: list[int] = []
    for i, name in enumerate(ranking.order[:-1]):
        below = ranking.order[i + 1 :]
        above = ranking.order[: i + 1] if rule == "strict" else (name,)
        alternative = "greater" if rule == "strict" else "two-sided"
        level = 0.1 if rule == "scipy-1.6" else 0.05  # half the two-sided p below .05
        if all(p(a, b, alternative) < level for a in above for b in below):
            ends.append(i + 1)
    return [b - a for a, b in pairwise([0, *ends, len(ranking.order)])]


@pytest.mark.parametrize("rule", ["scipy-1.6", "scipy-1.7", "strict"])
@pytest.mark.parametrize(("campaign", "pair"), [(NEWS, "de-en"), (WIKIPEDIA, "hi-bn")])
def test_the_other_line_rules(data: Path, campaign: str, pair: str, rule: str) -> None:
    """German-English and Hindi-Bengali separate the rules."""
    folder = data / "wmt21" / campaign
    ranking = ranking_of(folder, pair, rule)
    sizes = [len(cluster) for cluster in ranking.clusters]
    assert sizes == slow_clusters(judgments_of(folder)[pair], ranking, rule)
    assert sizes != [len(cluster) for cluster in ranking_of(folder, pair).clusters]
