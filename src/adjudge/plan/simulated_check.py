"""The recommended design put to the test: campaigns simulated, ranked by the mixed model, and compared with the truth.

Half of the systems are better than the other half by the difference asked for. So every campaign holds pairs with a
true difference, which should be found, and equal pairs, about which nothing should be claimed.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.maths import NORMAL_95
from adjudge.core.rng import generator
from adjudge.plan.layout import mixed_design
from adjudge.rank.contrasts import contrasts
from adjudge.rank.lines_and_rank_sets import holm
from adjudge.rank.mixed import fit
from adjudge.results.plan import PlanCheck
from adjudge.results.rank import TASTE
from adjudge.simulate.score_campaign import ScoreCampaign, ScoreDesign
from adjudge.simulate.scores import draw_scores
from adjudge.work import map_tasks

if TYPE_CHECKING:
    from adjudge.core.arrays import Codes, Floats, Ints
    from adjudge.plan.layout import Layout
    from adjudge.plan.settings import PlanSettings, Variances

_DRAWS = 3003


def simulate_plan(layout: Layout, settings: PlanSettings, variances: Variances, per_item: int) -> PlanCheck:
    """Draw, rank and count."""
    rows = layout.rows(settings.annotators, per_item)
    quality = np.where(np.arange(settings.systems) % 2 == 0, 0.5, -0.5) * settings.difference
    design = _score_design(settings, variances, rows, quality)
    rng = generator(settings.seed, _DRAWS)
    first, second = np.triu_indices(settings.systems, 1)
    truth = np.sign(quality[first] - quality[second])
    detected: list[float] = []
    claimed: list[float] = []
    campaigns = [draw_scores(design, rng).score[0] for _ in range(settings.draws)]
    for p, sign in map_tasks(partial(_test_pairs, rows, settings.systems), campaigns, what="simulated campaigns"):
        significant = p < settings.level
        detected.append(float((significant & (sign == truth))[truth != 0].mean()))
        if (truth == 0).any():
            claimed.append(float(significant[truth == 0].mean()))
    wrong = [share > 0 for share in claimed]
    return PlanCheck(
        draws=settings.draws,
        found=float(np.mean(detected)),
        found_interval=_interval(detected),
        claimed=float(np.mean(claimed)) if claimed else None,
        any_claim=float(np.mean(wrong)) if claimed else None,
        any_claim_interval=_share_interval(sum(wrong), len(wrong)) if claimed else None,
    )


def _score_design(settings: PlanSettings, variances: Variances, rows: dict[str, Ints], quality: Floats) -> ScoreDesign:
    task_annotator = np.empty(int(rows["task"].max()) + 1, dtype=np.int64)
    task_annotator[rows["task"]] = rows["annotator"]
    return ScoreDesign(
        campaign=_campaign(settings, variances, rows, quality),
        **{name: rows[name] for name in ("task", "screen", "document", "segment", "system")},
        kind=np.zeros(len(rows["task"]), dtype=np.int64),
        task_annotator=task_annotator,
    )


def _test_pairs(rows: dict[str, Codes], systems: int, score: Floats) -> tuple[Floats, Floats]:
    """Holm-adjusted p and the sign of every difference in a campaign with these scores."""
    model = fit(mixed_design(rows, systems, score).with_model("mixed"))
    tested = contrasts(model.effects, model.covariance, model.df)
    first, second = np.triu_indices(len(model.systems), 1)
    return holm(tested.two_sided[first, second]), np.sign(tested.difference[first, second])


def _campaign(settings: PlanSettings, variances: Variances, rows: dict[str, Ints], quality: Floats) -> ScoreCampaign:
    """Parameters of the simulator. Variances found in data already contain what the ends of the scale do to scores."""
    sd = variances.sd
    plain = {"scale": 0.0, "ends": False, "round_numbers": 0.0} if variances.fitted else {}
    return ScoreCampaign(
        systems=settings.systems,
        humans=0,
        annotators=settings.annotators,
        tasks=int(rows["task"].max()) + 1,
        documents=int(rows["document"].max()) + 1,
        qualities=tuple(quality.tolist()),
        leniency=sd["annotator"],
        taste=sd[TASTE],
        task_effect=sd["task"],
        document_effect=sd["document"],
        segment_effect=sd["segment"],
        system_document_effect=sd["system:document"],
        page_effect=sd["page"],
        residual=sd["residual"],
        **plain,  # type: ignore[arg-type]
    )


def _interval(shares: list[float]) -> tuple[float, float]:
    """A 95% interval of a mean over campaigns."""
    half = NORMAL_95 * float(np.std(shares, ddof=1)) / len(shares) ** 0.5 if len(shares) > 1 else 1.0
    mean = float(np.mean(shares))
    return max(0.0, mean - half), min(1.0, mean + half)


def _share_interval(hits: int, total: int) -> tuple[float, float]:
    """Clopper and Pearson's exact 95% interval of a share."""
    from scipy.stats import beta

    low = float(beta.ppf(0.025, hits, total - hits + 1)) if hits else 0.0
    high = float(beta.ppf(0.975, hits + 1, total - hits)) if hits < total else 1.0
    return low, high
