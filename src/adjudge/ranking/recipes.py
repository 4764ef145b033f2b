"""The rules of the workshops on machine translation, year by year.

A recipe says which rows count, how an output gets its score and a system its mean, which test compares two systems, and
where lines stand. None of them corrects for the number of pairs or asks who judged, so each calls equal systems
different far too often: `bench/results/recipes.json` has the rates, and the first line of every ranking says its own.

`wmt22`  z-scores by annotator (DA+SQM), outputs averaged; rank-sum test on the segments that two systems share, which
         only the system with the higher mean can win; a line where it and all above have as many wins as there are
         systems below. Written after the workshop's script: make_rankings.py, for DA+SQM.
`wmt23`  systems in the order of their raw means (DA+SQM), outputs averaged; rank-sum test on z-scores by annotator of
         the segments that two systems share; lines as in 2022. Written after the table that the workshop released: its
         means, order and lines follow from it, and that wins are counted on z-scores, since one system has more wins
         than two above it.
`wmt24`  rows of incomplete and duplicated documents are left out; the score is the mean over domains of the domain's
         mean; by domain a two-sided signed-rank test on shared segments, combined by Stouffer as if they were
         one-sided. Written after the workshop's scripts: calculate_clusters.py and tools.py; where several waves judged
         one output, these pair every wave with every other, and this averages them.
`wmt25`  the two waves are two segments, each also compared with the other; one-sided signed-rank test, p doubled; a
         system's ranks reach to the next neighbours that differ, and lines stand where no ranks cross. Written after
         the workshop's script: 08-compute_clusters.py.
`wmt26`  outputs averaged; the smaller p of a paired and an unpaired t-test (contrastive ESA). Written after a
         description of the script as of August. Other versions of it (02b-analyze_results.py) test one side, by signed
         ranks and t, or by a bootstrap of 100 draws without a seed, which nobody can repeat.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl

from adjudge.ranking.decisions import PairTests
from adjudge.ranking.ranking import Findings, Ranking, assemble, provenance
from adjudge.table.errors import DataError
from adjudge.table.maths import Floats, divide
from adjudge.table.protocols import RATED, SCORED

if TYPE_CHECKING:
    from collections.abc import Callable

    from adjudge.ranking.methods import Method, RankSettings
    from adjudge.table.judgments import Judgments

WAVES = 2
_DOMAIN_IN_NAME = r"^test-[a-z]+-([a-z]+)_"
"""Documents of 2024 carry their domain in their name."""


@dataclass(frozen=True)
class Recipe:
    """The rule of one year."""

    test: str
    lines: str
    standardises: bool = False
    """Whether scores are standardised by annotator before they are tested."""
    raw_means: bool = False
    """Whether systems are ordered by the scores as given nevertheless, so that the lower mean may win."""
    leaves_out: tuple[str, ...] = ()
    """Rows whose flags contain one of these do not count."""
    repeats: bool = True
    """Whether repeated judgments count."""
    unit: Literal["segment", "domain", "wave"] = "segment"


RECIPES = {
    "wmt22": Recipe("rank-sum on shared segments", "fewest-wins", standardises=True, repeats=False),
    "wmt23": Recipe(
        "rank-sum of z-scores on shared segments", "fewest-wins", standardises=True, raw_means=True, repeats=False
    ),
    "wmt24": Recipe("signed-rank by domain, Stouffer", "strict", leaves_out=("incomplete", "dup"), unit="domain"),
    "wmt25": Recipe("signed-rank over waves", "ranges", unit="wave"),
    "wmt26": Recipe("paired or unpaired t", "strict"),
}


@dataclass(frozen=True, eq=False)
class _Outputs:
    """Scores of outputs: wave by system by segment, NaN where there is none; the domain of every segment."""

    systems: tuple[str, ...]
    human: np.ndarray
    score: Floats
    domain: np.ndarray
    judgments: np.ndarray
    notes: tuple[str, ...]
    given: Floats
    """The same as given, before they were standardised."""
    annotators: int | None
    """How many people gave them; None where some are not named."""


def rank_by_recipe(judgments: Judgments, method: Method, settings: RankSettings) -> Ranking:
    """Rank systems as the workshop of that year did."""
    recipe = RECIPES[method.name]
    outputs = _outputs(judgments, recipe)
    scores = _system_means(outputs, recipe)
    greater = _TESTS[method.name](outputs, scores)
    # Of two systems the one with the higher mean is called better, or neither.
    ahead = scores[:, None] >= scores[None, :]
    tests = PairTests(greater, np.where(ahead, greater, greater.T), "greater")
    wins = np.nan_to_num(greater, nan=1.0) < settings.level
    rule = settings.lines or recipe.lines
    numbers = {"n_all": outputs.judgments, "wins": wins.sum(1), "losses": wins.sum(0)}
    n = (~np.isnan(outputs.score)).sum(axis=(0, 2))
    return assemble(
        provenance(judgments),
        Findings(outputs.systems, outputs.human, scores, n, tests, numbers=numbers),
        method=method.name,
        rule=rule,
        level=settings.level,
        settings={"method": method.name, "test": recipe.test, "lines": rule, "level": settings.level},
        annotators=outputs.annotators,
        notes=(
            *outputs.notes,
            "lines and p-values follow the rule; 'decided', letters and rank sets also Holm's correction",
        ),
    )


def _outputs(judgments: Judgments, recipe: Recipe) -> _Outputs:
    """The scores that count for the recipe, one for every output (and wave)."""
    table = judgments.final().table
    counts = pl.col("protocol").is_in(SCORED) & pl.col("score").is_not_null() & pl.col("kind").is_in(RATED)
    if not recipe.repeats:
        counts &= pl.col("kind") != "repeat"
    scored = table.filter(counts)
    kept = scored.filter(~_left_out(recipe)) if "flags" in table.columns else scored
    if recipe.standardises:
        mean, sd = pl.col("score").mean().over("annotator"), pl.col("score").std().over("annotator")
        kept = kept.with_columns(
            ((pl.col("score") - mean) / sd).alias("score"), sd.alias("_sd"), pl.col("score").alias("_given")
        ).filter(pl.col("_sd") > 0)
    systems = kept["system"].unique().sort()
    if len(systems) < 2:
        raise DataError(f"at least two systems must be scored, the rule leaves {len(systems)}; nothing can be ranked")
    notes = [f"the rule leaves out {scored.height - kept.height:,} of {scored.height:,} scores"]
    rows, domain_note = _with_domain(kept) if recipe.unit == "domain" else (kept, None)
    rows, wave_note = _with_wave(rows) if recipe.unit == "wave" else (rows.with_columns(_wave=0), None)
    score, domain = _matrix(rows, systems, WAVES if recipe.unit == "wave" else 1)
    as_given = rows.with_columns(score=pl.col("_given")) if recipe.raw_means else None
    of_humans = set(kept.filter(pl.col("human"))["system"].to_list())
    counted = dict(kept.group_by("system").len().iter_rows())
    return _Outputs(
        tuple(systems),
        np.array([name in of_humans for name in systems]),
        score,
        domain,
        np.array([counted[name] for name in systems], dtype=np.int64),
        tuple(note for note in (*notes[scored.height == kept.height :], domain_note, wave_note) if note),
        score if as_given is None else _matrix(as_given, systems, 1)[0],
        annotators=None if kept["annotator"].null_count() else kept["annotator"].n_unique(),
    )


def _left_out(recipe: Recipe) -> pl.Expr:
    named = pl.lit(value=False)
    for flag in recipe.leaves_out:
        named |= pl.col("flags").cast(pl.String).str.contains(flag, literal=True).fill_null(value=False)
    return named


def _with_domain(table: pl.DataFrame) -> tuple[pl.DataFrame, str | None]:
    """The domain of every row: its column, or the name of the document; one for all where neither says it."""
    given = pl.col("domain").cast(pl.String) if "domain" in table.columns else pl.lit(None, dtype=pl.String)
    named = table.with_columns(
        pl.coalesce(given, pl.col("document").str.extract(_DOMAIN_IN_NAME)).fill_null("").alias("_domain")
    )
    unknown = int((named["_domain"] == "").sum())
    note = f"{unknown:,} scores name no domain (column domain) and count as one domain" if unknown else None
    return named, note


def _with_wave(table: pl.DataFrame) -> tuple[pl.DataFrame, str | None]:
    """The wave of every row: its place among the judgments of one output. Every wave is compared with every other."""
    place = pl.int_range(pl.len()).over("system", "document", "segment").alias("_wave")
    waves = table.sort(
        *(name for name in ("wave", "annotator") if name in table.columns), nulls_last=True
    ).with_columns(place)
    further = int((waves["_wave"] >= WAVES).sum())
    note = f"{further:,} third and later judgments of one output do not count" if further else None
    return waves.filter(pl.col("_wave") < WAVES), note


def _matrix(table: pl.DataFrame, systems: pl.Series, waves: int) -> tuple[Floats, np.ndarray]:
    """Mean scores by wave, system and segment, and the domain of every segment."""
    domain = pl.col("_domain") if "_domain" in table.columns else pl.lit("")
    segment = pl.struct("document", "segment").rank("dense").cast(pl.Int64) - 1
    rows = table.with_columns(segment.alias("_segment"), domain.alias("_of"))
    means = rows.group_by("_wave", "system", "_segment").agg(pl.col("score").mean()).sort("system", "_segment")
    score = np.full((waves, len(systems), int(rows["_segment"].max() or 0) + 1), np.nan)  # type: ignore[arg-type]
    code = means["system"].replace_strict(systems, range(len(systems)), return_dtype=pl.Int64)
    score[means["_wave"].to_numpy(), code.to_numpy(), means["_segment"].to_numpy()] = means["score"].to_numpy()
    return score, rows.unique("_segment").sort("_segment")["_of"].to_numpy()


def _system_means(outputs: _Outputs, recipe: Recipe) -> Floats:
    """The mean of each system over its outputs; by domain first where the recipe says so."""
    domains = np.unique(outputs.domain) if recipe.unit == "domain" else [None]
    means = np.full((len(domains), len(outputs.systems)), np.nan)
    for k, name in enumerate(domains):
        score = outputs.given if name is None else outputs.given[:, :, outputs.domain == name]
        known = ~np.isnan(score)
        means[k] = divide(np.where(known, score, 0).sum(axis=(0, 2)), known.sum(axis=(0, 2)))
    known = ~np.isnan(means)
    return divide(np.where(known, means, 0).sum(0), known.sum(0))


def _for_pairs(outputs: _Outputs, scores: Floats, p_of: Callable[[int, int], float]) -> Floats:
    """The p-value that the system of the row is better; only the one with the higher mean can be, p is 1 otherwise."""
    n = len(outputs.systems)
    p = np.where(np.eye(n, dtype=bool), np.nan, 1.0)
    for i in range(n):
        for j in range(n):
            if i != j and scores[i] > scores[j]:
                p[i, j] = p_of(i, j)
    return p


def _shared(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    both = ~np.isnan(a) & ~np.isnan(b)
    return a[both], b[both]


def _signed_rank(difference: Floats, alternative: Literal["greater", "two-sided"]) -> float:
    """The p-value of the signed-rank test; 1 where no segment is shared or nothing differs."""
    from scipy.stats import wilcoxon

    return float(wilcoxon(difference, alternative=alternative).pvalue) if np.any(difference) else 1.0


def _test_wmt22(outputs: _Outputs, scores: Floats) -> Floats:
    from scipy.stats import mannwhitneyu

    def p_of(i: int, j: int) -> float:
        a, b = _shared(outputs.score[0, i], outputs.score[0, j])
        return float(mannwhitneyu(a, b, alternative="greater").pvalue) if len(a) else np.nan

    return _for_pairs(outputs, scores, p_of)


def _test_wmt23(outputs: _Outputs, _: Floats) -> Floats:
    """As in 2022, on scores that the order does not follow, so that either system can win."""
    from scipy.stats import mannwhitneyu

    n = len(outputs.systems)
    p = np.full((n, n), np.nan)
    for i in range(n):
        for j in range(n):
            a, b = _shared(outputs.score[0, i], outputs.score[0, j])
            if i != j and len(a):
                p[i, j] = float(mannwhitneyu(a, b, alternative="greater").pvalue)
    return p


def _test_wmt24(outputs: _Outputs, scores: Floats) -> Floats:
    from scipy.stats import norm

    def p_of(i: int, j: int) -> float:
        z = []
        for name in np.unique(outputs.domain):
            inside = outputs.domain == name
            a, b = _shared(outputs.score[0, i, inside], outputs.score[0, j, inside])
            if len(a):
                z.append(norm.isf(_signed_rank(a - b, "two-sided")))
        return float(norm.sf(np.sum(z) / np.sqrt(len(z)))) if z else np.nan

    return _for_pairs(outputs, scores, p_of)


def _test_wmt25(outputs: _Outputs, scores: Floats) -> Floats:
    def p_of(i: int, j: int) -> float:
        a, b = outputs.score[:, i], outputs.score[:, j]
        first, second = _shared(np.concatenate([a, a]).ravel(), np.concatenate([b, b[::-1]]).ravel())
        return min(1.0, 2 * _signed_rank(first - second, "greater")) if len(first) else np.nan

    return _for_pairs(outputs, scores, p_of)


def _test_wmt26(outputs: _Outputs, scores: Floats) -> Floats:
    from scipy.stats import ttest_ind, ttest_rel

    def p_of(i: int, j: int) -> float:
        a, b = outputs.score[0, i], outputs.score[0, j]
        first, second = _shared(a, b)
        with np.errstate(all="ignore"):
            found = [float(ttest_ind(a[~np.isnan(a)], b[~np.isnan(b)]).pvalue)]
            if len(first) > 1 and np.ptp(first - second) > 0:
                found.append(float(ttest_rel(first, second).pvalue))
        return float(np.nanmin(found)) if not np.isnan(found).all() else np.nan

    return _for_pairs(outputs, scores, p_of)


_TESTS: dict[str, Callable[[_Outputs, Floats], Floats]] = {
    "wmt22": _test_wmt22,
    "wmt23": _test_wmt23,
    "wmt24": _test_wmt24,
    "wmt25": _test_wmt25,
    "wmt26": _test_wmt26,
}
