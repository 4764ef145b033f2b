"""The customary ranking of scores: raw or standardised means, Wilcoxon's rank-sum test on segment means, lines.

This is what the translation workshops publish. Its test takes segments for independent, which those of one page are
not; `adjudge audit` measures on the data at hand how often it calls a system different from itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.errors import DataError
from adjudge.core.rng import generator
from adjudge.rank.assemble import Estimate, assemble, provenance
from adjudge.rank.mann_whitney import mann_whitney
from adjudge.rank.rank_sets import rank_sets
from adjudge.rank.sheet import Sheet, item_means, resampled_means, sheet_of, standardised

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adjudge.core.judgments import Judgments
    from adjudge.core.ranking import Ranking
    from adjudge.rank import RankSettings
    from adjudge.rank.methods import Method

DEFAULT_RESAMPLES = 1000
FEW_ANNOTATORS = 5


def rank_customary(judgments: Judgments, method: Method, settings: RankSettings) -> Ranking:
    """Rank systems by `raw`, `zscore` or `zscore-calibrated`."""
    raw = sheet_of(judgments)
    if len(raw.systems) < 2:
        raise DataError(f"at least two systems must be scored, the data hold {raw.systems[0]}; nothing can be ranked")
    z = standardised(raw, zero_sd=settings.zero_sd, calibrated=method.name == "zscore-calibrated")
    chosen = raw if method.name == "raw" else z
    estimate = estimate_means(chosen, settings, numbers=_both_means(raw, z))
    if np.isnan(estimate.scores).all():
        raise DataError("no annotator's scores vary, so there is no z-score; use --method raw or --zero-sd zero")
    return assemble(
        provenance(judgments.final()),
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


def estimate_means(
    sheet: Sheet, settings: RankSettings, *, numbers: dict[str, NDArray[np.float64] | NDArray[np.int64]] | None = None
) -> Estimate:
    """System means of a sheet with their tests and rank sets."""
    means = item_means(sheet)
    n = len(sheet.systems)
    scores = means.system_means(n)
    resampled = resampled_means(sheet, _resamples(sheet, settings), generator(settings.seed))
    return Estimate(
        systems=sheet.systems,
        human=sheet.human,
        scores=scores,
        n=np.bincount(means.system, minlength=n),
        tests=mann_whitney(means.mean, means.system, n),
        rank_sets=rank_sets(scores, resampled, settings.level),
        numbers={**(numbers or {}), "n_all": means.judgments},
    )


def _resamples(sheet: Sheet, settings: RankSettings) -> int:
    if len(sheet.annotators) < 2:
        return 0
    return DEFAULT_RESAMPLES if settings.resamples is None else settings.resamples


def _both_means(raw: Sheet, z: Sheet) -> dict[str, NDArray[np.float64] | NDArray[np.int64]]:
    n = len(raw.systems)
    return {"raw": item_means(raw).system_means(n), "z": item_means(z).system_means(n)}


def _notes(raw: Sheet, z: Sheet) -> tuple[str, ...]:
    notes: list[str] = []
    without = np.unique(raw.annotator[np.isnan(z.score) & ~np.isnan(raw.score)])
    if len(without):
        rows = int(np.isnan(z.score).sum())
        notes.append(f"{len(without)} annotators gave the same score throughout, so their {rows} scores have no z")
    if len(raw.annotators) < FEW_ANNOTATORS:
        notes.append(f"only {len(raw.annotators)} annotators: rank sets from resampling so few people are too narrow")
    return tuple(notes)
