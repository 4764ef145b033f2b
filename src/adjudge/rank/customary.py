"""The customary ranking of scores: raw or standardised means, Wilcoxon's rank-sum test on segment means, lines.

This is what the translation workshops publish. Its test takes segments for independent, which those of one page are
not; `adjudge audit` measures on the data at hand how often it calls a system different from itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.comparisons import NOBODY
from adjudge.core.errors import DataError
from adjudge.core.rng import generator
from adjudge.core.sheet import Sheet, item_means, resampled_means, sheet_of, standardised
from adjudge.rank.assemble import Estimate, assemble, provenance
from adjudge.rank.connected import groups, in_words
from adjudge.rank.lines import resampled_rank_sets
from adjudge.rank.mann_whitney import mann_whitney

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adjudge.core.judgments import Judgments
    from adjudge.rank import RankSettings
    from adjudge.rank.methods import Method
    from adjudge.results.rank import Ranking

DEFAULT_RESAMPLES = 1000
FEW_ANNOTATORS = 5


def rank_customary(judgments: Judgments, method: Method, settings: RankSettings) -> Ranking:
    """Rank systems by `raw`, `zscore` or `zscore-calibrated`."""
    raw = sheet_of(judgments)
    if len(raw.systems) < 2:
        raise DataError(f"at least two systems must be scored, the data hold {raw.systems[0]}; nothing can be ranked")
    z = standardised(raw, zero_sd=settings.zero_sd, calibrated=method.name == "zscore-calibrated")
    chosen = raw if method.name == "raw" else z
    estimate = _estimate(raw, z, chosen, settings)
    if np.isnan(estimate.scores).all():
        raise DataError("no annotator's scores vary, so there is no z-score; use --method raw or --zero-sd zero")
    return assemble(
        provenance(judgments),
        estimate,
        method=method.name,
        rule=settings.lines or "official",
        level=settings.level,
        settings={
            "method": method.name,
            "zero_sd": settings.zero_sd,
            "test": "wilcoxon rank-sum",
            "alternative": "greater",
            "lines": settings.lines or "official",
            "level": settings.level,
            "resampled": "annotators",
            "resamples": _resamples(raw, settings),
            "seed": settings.seed,
        },
        notes=_notes(raw, z),
    )


def _estimate(raw: Sheet, z: Sheet, chosen: Sheet, settings: RankSettings) -> Estimate:
    """System means of the chosen sheet with their tests and rank sets; segments and judgments are counted raw."""
    n = len(raw.systems)
    of_raw, of_z, means = item_means(raw), item_means(z), item_means(chosen)
    scores = means.system_means(n)
    resampled = resampled_means(chosen, _resamples(chosen, settings), generator(settings.seed))
    tests = mann_whitney(means.mean, means.system, n)
    # As the official tables count them: every system that this one is significantly better than, wherever it ranks.
    wins = (np.nan_to_num(tests.greater, nan=1.0) < settings.level).sum(1)
    return Estimate(
        systems=raw.systems,
        human=raw.human,
        scores=scores,
        n=np.bincount(of_raw.system, minlength=n),
        tests=tests,
        rank_sets=resampled_rank_sets(scores, resampled, settings.level),
        numbers={"raw": of_raw.system_means(n), "z": of_z.system_means(n), "n_all": of_raw.judgments, "wins": wins},
    )


def _resamples(sheet: Sheet, settings: RankSettings) -> int:
    if len(sheet.annotators) < 2:
        return 0
    return DEFAULT_RESAMPLES if settings.resamples is None else settings.resamples


def _notes(raw: Sheet, z: Sheet) -> tuple[str, ...]:
    notes: list[str] = []
    without = np.unique(raw.annotator[np.isnan(z.score) & ~np.isnan(raw.score)])
    if len(without):
        rows = int(np.isnan(z.score).sum())
        notes.append(f"{len(without)} annotators gave the same score throughout, so their {rows} scores have no z")
    if len(raw.annotators) < FEW_ANNOTATORS:
        notes.append(f"only {len(raw.annotators)} annotators: rank sets from resampling so few people are too narrow")
    return (*notes, *_strangers(raw), *_groups(raw))


def _strangers(raw: Sheet) -> Iterator[str]:
    """Scores of unknown annotators are standardised as if one person had given them."""
    if NOBODY not in raw.annotators:
        return
    nameless = (raw.annotator == raw.annotators.index(NOBODY)) & np.isnan(raw.given_z)
    if nameless.any():
        yield f"{int(nameless.sum())} scores name no annotator: they are standardised as if one person had given them"


def _groups(raw: Sheet) -> Iterator[str]:
    """Nobody judged systems of two groups, so nothing in the scores themselves compares the groups."""
    apart = groups(raw.system[raw.rated], raw.annotator[raw.rated], len(raw.systems))
    if len(apart) > 1:
        yield (
            f"the systems fall into {len(apart)} groups without a common annotator: {in_words(apart, raw.systems)}; "
            "raw means compare the groups as if all annotators were alike, z-scores as if all groups were equally good"
        )
