"""The customary ranking of scores: raw or standardised means, Wilcoxon's rank-sum test on segment means, lines.

This is what the translation workshops publish. Its test takes segments for independent, which those of one page are
not; `adjudge audit` measures on the data at hand how often it calls a system different from itself.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.core.comparisons import LEFT_BLANK, NOBODY
from adjudge.core.errors import DataError
from adjudge.core.inclusion_weights import weights_note
from adjudge.core.judgments import SetAside
from adjudge.core.maths import student_tail
from adjudge.core.protocols import SCORED
from adjudge.core.rng import generator
from adjudge.core.score_sheet import ItemMeans, Sheet, item_means, resampled_means, sheet_of, standardised
from adjudge.core.wording import agreeing, counted
from adjudge.rank.assemble import Findings, Provenance, assemble, provenance
from adjudge.rank.connected_groups import groups, in_words
from adjudge.rank.lines_and_rank_sets import resampled_rank_sets
from adjudge.rank.mann_whitney import mann_whitney
from adjudge.rank.significance import PairTests

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adjudge.core.judgments import Judgments
    from adjudge.rank import RankSettings
    from adjudge.rank.methods import Method
    from adjudge.results.rank import Ranking
    from adjudge.results.result import Setting

DEFAULT_RESAMPLES = 1000
FEW_ANNOTATORS = 5


def rank_by_means(judgments: Judgments, method: Method, settings: RankSettings) -> Ranking:
    """Rank systems by `raw`, `zscore` or `zscore-calibrated`."""
    raw = sheet_of(judgments)
    if len(raw.systems) < 2:
        raise DataError(f"at least two systems must be scored, the data hold {raw.systems[0]}; nothing can be ranked")
    z = standardised(raw, zero_sd=settings.zero_sd, calibrated=method.name == "zscore-calibrated")
    return _assemble_means(judgments, raw, z, method, settings)


def _source(judgments: Judgments) -> Provenance:
    """Where the scores come from; rows of which the score was left blank are set aside."""
    blank = (pl.col("protocol").is_in(SCORED) & pl.col("score").is_null()) | LEFT_BLANK
    rows = judgments.final().table.select(blank.sum()).item()
    source = provenance(judgments)
    return replace(source, set_aside=(*source.set_aside, *[SetAside("no score was given", rows)] * bool(rows)))


def _assemble_means(
    judgments: Judgments, raw_sheet: Sheet, z_sheet: Sheet, method: Method, settings: RankSettings
) -> Ranking:
    """The ranking by means of items, with tests between them; segments and judgments are counted raw."""
    chosen = raw_sheet if method.name == "raw" else z_sheet
    resampled = resampled_means(chosen, _resamples(chosen, settings), generator(settings.seed))
    n, raw, z = len(raw_sheet.systems), item_means(raw_sheet), item_means(z_sheet)
    means = raw if method.name == "raw" else z
    scores = means.system_means(n)
    if np.isnan(scores).all():
        raise DataError("no annotator's scores vary, so there is no z-score; use --method raw or --zero-sd zero")
    tests = mann_whitney(means.mean, means.system, n) if means.weight is None else weighted_tests(means, n)
    # As the official tables count them: every system that this one is significantly better than, wherever it ranks.
    wins = (np.nan_to_num(tests.greater, nan=1.0) < settings.level).sum(1)
    findings = Findings(
        systems=raw_sheet.systems,
        human=raw_sheet.human,
        scores=scores,
        n=np.bincount(raw.system, minlength=n),
        tests=tests,
        rank_sets=resampled_rank_sets(scores, resampled, settings.level),
        numbers={"raw": raw.system_means(n), "z": z.system_means(n), "n_all": raw.judgments, "wins": wins},
    )
    return assemble(
        _source(judgments),
        findings,
        method=method.name,
        rule=settings.lines or "official",
        level=settings.level,
        settings=_settings(method, settings, len(resampled), weighted=means.weight is not None),
        notes=_notes(raw_sheet, z_sheet) + weights_note(means.weight),
    )


def weighted_tests(means: ItemMeans, systems: int) -> PairTests:
    """Welch's t-test on weighted means of segments, for segments chosen with unequal probabilities.

    Ranks cannot be weighted so that the rank-sum test keeps its level; the mean can. Its variance is the sum of
    w^2 (y - mean)^2 over the square of the sum of weights, as of a ratio of two sums.
    """
    weight = np.ones(len(means.mean)) if means.weight is None else means.weight
    centre = means.system_means(systems)
    count, total = (np.bincount(means.system, weights, minlength=systems) for weights in (None, weight))
    squares = np.bincount(means.system, (weight * (means.mean - centre[means.system])) ** 2, minlength=systems)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = squares / total**2 * count / (count - 1)
        per_degree = variance**2 / (count - 1)
        spread = variance[:, None] + variance[None, :]
        t = (centre[:, None] - centre[None, :]) / np.sqrt(spread)
        df = spread**2 / (per_degree[:, None] + per_degree[None, :])
    greater, two_sided = student_tail(t, df), np.minimum(1.0, 2 * student_tail(np.abs(t), df))
    for p in (greater, two_sided):
        np.fill_diagonal(p, np.nan)
    return PairTests(greater, two_sided, alternative="greater")


def _settings(method: Method, settings: RankSettings, resamples: int, *, weighted: bool) -> dict[str, Setting]:
    return {
        "method": method.name,
        "zero_sd": settings.zero_sd,
        "test": "weighted t" if weighted else "wilcoxon rank-sum",
        "alternative": "greater",
        "lines": settings.lines or "official",
        "level": settings.level,
        "resampled": "annotators",
        "resamples": resamples,
        "seed": settings.seed,
    }


def _resamples(sheet: Sheet, settings: RankSettings) -> int:
    if len(sheet.annotators) < 2:
        return 0
    return DEFAULT_RESAMPLES if settings.resamples is None else settings.resamples


def _notes(raw: Sheet, z: Sheet) -> tuple[str, ...]:
    without = np.unique(raw.annotator[np.isnan(z.score) & ~np.isnan(raw.score)])
    return (
        *_equal_scores_note(len(without), int(np.isnan(z.score).sum())),
        *_few_annotators_note(len(raw.annotators) - (NOBODY in raw.annotators)),
        *_strangers(raw),
        *_groups(raw),
    )


def _equal_scores_note(annotators: int, scores: int) -> Iterator[str]:
    """Say how many annotators gave equal scores only, and how many of these there are."""
    if annotators:
        judged = f"{counted(scores, 'score')} {agreeing(scores, 'has', 'have')} no z"
        yield f"{counted(annotators, 'annotator')} gave the same score throughout, so that {judged}"


def _few_annotators_note(annotators: int) -> Iterator[str]:
    """Warn of rank sets that rest on a handful of people, of whom so many are named."""
    if 0 < annotators < FEW_ANNOTATORS:
        yield f"only {counted(annotators, 'annotator')}: rank sets from resampling so few people are too narrow"


def _strangers(raw: Sheet) -> Iterator[str]:
    """Scores of unknown annotators are standardised as if one person had given them."""
    if NOBODY not in raw.annotators:
        return
    nameless = (raw.annotator == raw.annotators.index(NOBODY)) & np.isnan(raw.given_z)
    if nameless.any():
        scores = int(nameless.sum())
        named, they = counted(scores, "score names", "scores name"), agreeing(scores, "it is", "they are")
        yield f"{named} no annotator: {they} standardised as if one person had given {agreeing(scores, 'it', 'them')}"


def _groups(raw: Sheet) -> Iterator[str]:
    """Nobody judged systems of two groups, so nothing in the scores themselves compares the groups."""
    apart = groups(raw.system[raw.rated], raw.annotator[raw.rated], len(raw.systems))
    if len(apart) > 1:
        yield (
            f"the systems fall into {len(apart)} groups without a common annotator: {in_words(apart, raw.systems)}; "
            "raw means compare the groups as if all annotators were alike, z-scores as if all groups were equally good"
        )
