"""Ranking scores by a mixed model: `mixed`, the default for scores, and the others of `mixed.design.MODELS`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.mixed.helpers import Helped, Matched, help_design, match
from adjudge.mixed.model import model_of
from adjudge.ranking.estimator import ScoreEstimator, decide_scores
from adjudge.ranking.lines import resampled_rank_sets
from adjudge.ranking.ranking import Findings, Provenance, Ranking, assemble, provenance
from adjudge.ranking.relative import unnamed_people_note
from adjudge.ranking.significance import PairTests, mann_whitney
from adjudge.ranking.tastes import draws
from adjudge.table.comparisons import LEFT_BLANK, NOBODY, groups, in_words
from adjudge.table.errors import DataError, param
from adjudge.table.judgments import Judgments, SetAside, weights_note
from adjudge.table.maths import Floats, divide, memoised, student_quantile, student_tail
from adjudge.table.protocols import EDITED, PROTOCOLS, RELATIVE, SCORED
from adjudge.table.rng import generator
from adjudge.table.score_sheet import ItemMeans, Sheet, item_means, resampled_means, sheet_of, standardised
from adjudge.table.texts import edit_rate
from adjudge.table.wording import agreeing, counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from adjudge.mixed.design import MixedDesign
    from adjudge.mixed.fit import MixedFit
    from adjudge.ranking.decisions import PairDecisions
    from adjudge.ranking.estimate import Estimate
    from adjudge.ranking.methods import Method, RankSettings
    from adjudge.readers.metric_scores import MetricScore


@dataclass(frozen=True, eq=False)
class MixedRanking:
    """What a mixed model says of the systems, in the order of `shown.systems`."""

    shown: Estimate
    """What is printed: mean scores in points, or the effects of a model in another unit."""
    fit: MixedFit
    """The model behind what is printed."""
    decided_by: Estimate
    """What pairs are tested by: typical scores, or the same as what is printed."""
    decisions: PairDecisions
    typical: Floats | None = None
    """Where each system's typical score stands among all scores, in percent; None where there is one reading only."""
    low_shares: Floats | None = None
    """The share of each system's scores that are among the lowest of the campaign."""
    helped: Helped | None = None
    """What helpers did, if there are any."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What must be said with the result."""
        return (*(() if self.helped is None else self.helped.notes), *self.fit.notes)

    @property
    def findings(self) -> Findings:
        """What `ranking.ranking.assemble` needs."""
        shown, level = self.shown, self.decisions.level
        low, high = shown.interval(level)
        error = shown.errors_from_mean()
        half = error * student_quantile(level / 2, shown.df.min(axis=1))
        tested = self.decided_by.contrasts
        own: dict[str, Floats] = {}
        if self.typical is not None and self.low_shares is not None:
            own = {"typical": self.typical, "low_share": self.low_shares}
        both: dict[str, Floats] = {}
        if self.typical is not None:
            both = {"typical": np.subtract.outer(self.typical, self.typical), "p_average": shown.contrasts.two_sided}
        return Findings(
            systems=shown.systems,
            human=shown.human,
            scores=shown.effects,
            n=self.fit.n,
            tests=PairTests(tested.greater, tested.two_sided),
            decisions=self.decisions,
            numbers={"low": shown.effects - half, "high": shown.effects + half, "se": error, **own},
            pair_numbers={"se": shown.se, "df": shown.df, "low": low, "high": high, **both},
        )


def rank_by_model(
    judgments: Judgments, method: Method, settings: RankSettings, *, helpers: Sequence[MetricScore] | None = None
) -> Ranking:
    """Rank systems by their effects in a mixed model.

    Args:
        judgments: scores of one language pair and campaign.
        method: one of the models.
        settings: those that methods share.
        helpers: scores of metrics for all outputs, which tighten what the judgments say (see `helpers`).
    """
    estimator = ScoreEstimator(judgments, model=method.name)
    matched = match(judgments, estimator.design, helpers) if helpers is not None else None
    ranking = rank_scores(estimator, settings, matched)
    model = ranking.fit
    rule = settings.lines or "decided"
    return assemble(
        Provenance(
            judgments.fingerprint,
            estimator.design.set_aside + (() if matched is None else matched.set_aside),
            judgments.final().notes,
        ),
        ranking.findings,
        method=method.name,
        rule=rule,
        level=settings.level,
        settings={
            "method": method.name,
            "effects": "+".join(component.effect for component in model.components[:-1]),
            **({} if ranking.decisions.reading is None else {"decided_by": ranking.decisions.reading}),
            "lines": rule,
            "level": settings.level,
            "draws": draws(settings),
            "seed": settings.seed,
            "converged": model.converged,
            **({} if matched is None else {"helpers": len(matched.names), "with": matched.fingerprint}),
        },
        annotators=estimator.annotators,
        fewest_people=None if estimator.accounts is None else estimator.accounts.fewest_people,
        notes=(*estimator.account_notes(ranking.decisions), *ranking.notes, *_unnamed_note(estimator)),
        components=model.components,
        left_out=model.left_out,
        helpers=() if ranking.helped is None else ranking.helped.helpers,
        gain=None if (helped := ranking.helped) is None else (helped.gain, helped.gain_low, helped.gain_high),
    )


def _unnamed_note(estimator: ScoreEstimator) -> Iterator[str]:
    """Say whose scores are taken to be those that name no annotator, where others do."""
    if estimator.annotator is not None:
        yield from unnamed_people_note(estimator.unnamed, "score", by_task=estimator.design.task is not None)


def rank_scores(estimator: ScoreEstimator, settings: RankSettings, helpers: Matched | None = None) -> MixedRanking:
    """Estimate scores by their readings, with helpers if there are any, and decide all pairs."""
    level, seed, number = settings.level, settings.seed, draws(settings)
    design, reading = estimator.design, estimator.reading
    if helpers is None:
        shown = estimator.estimate if reading is None else estimator.average
        fit = model_of(design if reading is None else design.with_model("mixed-points")).fitted
        decided_by, decisions, helped = estimator.estimate, estimator.decide(level, seed=seed, draws=number), None
        typical = None if reading is None else estimator.typical.effects
    else:
        helped = help_design(design if reading is None else design.with_model("mixed-points"), helpers, seed=seed)
        fit, shown = helped.fit, estimator.estimate_of(helped.fit)
        other, typical = None, None
        if reading is not None:
            normal = help_design(design.with_model("mixed-rank"), helpers, seed=seed, alone=False).fit
            other, typical = estimator.estimate_of(normal), normal.effects
        decided_by = shown if other is None or reading == "average" else other
        agrees = None if other is None else shown if decided_by is other else other
        decisions = decide_scores(decided_by, agrees, reading, level=level, seed=seed, draws=number)
    return MixedRanking(
        shown,
        fit,
        decided_by,
        decisions,
        None if typical is None else _percentile(typical),
        None if reading is None else low_shares(design),
        helped,
    )


def _percentile(normal_scores: Floats) -> Floats:
    from scipy.special import ndtr

    return np.asarray(100 * ndtr(normal_scores))


LOWEST = 0.05
"""Scores as low as the lowest twentieth of a campaign are called very low."""


def low_shares(design: MixedDesign) -> Floats:
    """The share of each system's scores that are among the lowest of the campaign."""
    low = design.as_given <= np.quantile(design.as_given, LOWEST)
    return np.asarray(divide(np.bincount(design.system, low), np.bincount(design.system)))


# The customary ranking of scores: raw or standardised means, Wilcoxon's rank-sum test on segment means, lines.
#
# This is what the translation workshops publish. Its test takes segments for independent, which those of one page are
# not; `adjudge audit` measures on the data at hand how often it calls a system different from itself.


DEFAULT_RESAMPLES = 1000
FEW_ANNOTATORS = 5


def rank_by_means(judgments: Judgments, method: Method, settings: RankSettings) -> Ranking:
    """Rank systems by `raw`, `zscore` or `zscore-calibrated`: means of items, with tests between them.

    Segments and judgments are counted raw.
    """
    sheet = sheet_of(judgments)
    if len(sheet.systems) < 2:
        raise DataError(f"at least two systems must be scored, the data hold {sheet.systems[0]}; nothing can be ranked")
    z_sheet = standardised(sheet, zero_sd=settings.zero_sd, calibrated=method.name == "zscore-calibrated")
    chosen = sheet if method.name == "raw" else z_sheet
    resamples = DEFAULT_RESAMPLES if settings.resamples is None else settings.resamples
    resampled = resampled_means(chosen, resamples if len(chosen.annotators) > 1 else 0, generator(settings.seed))
    n, raw, z = len(sheet.systems), item_means(sheet), item_means(z_sheet)
    means = raw if method.name == "raw" else z
    scores = means.system_means(n)
    if np.isnan(scores).all():
        raise DataError(
            f"no annotator's scores vary, so there is no z-score; use {param('method')} raw or {param('zero_sd')} zero"
        )
    tests = mann_whitney(means.mean, means.system, n) if means.weight is None else weighted_tests(means, n)
    # As the official tables count them: every system that this one is significantly better than, wherever it ranks.
    wins = (np.nan_to_num(tests.greater, nan=1.0) < settings.level).sum(1)
    rule = settings.lines or "official"
    ranks = resampled_rank_sets(scores, resampled, settings.level)
    return assemble(
        _source(judgments),
        Findings(
            systems=sheet.systems,
            human=sheet.human,
            scores=scores,
            n=np.bincount(raw.system, minlength=n),
            tests=tests,
            numbers={
                "raw": raw.system_means(n),
                "z": z.system_means(n),
                "n_all": raw.judgments,
                "wins": wins,
                "rank_low": ranks[:, 0],
                "rank_high": ranks[:, 1],
            },
        ),
        method=method.name,
        rule=rule,
        level=settings.level,
        settings={
            "method": method.name,
            "zero_sd": settings.zero_sd,
            "test": "wilcoxon rank-sum" if means.weight is None else "weighted t",
            "alternative": "greater",
            "lines": rule,
            "level": settings.level,
            "resampled": "annotators",
            "resamples": len(resampled),
            "seed": settings.seed,
        },
        annotators=None if NOBODY in sheet.annotators else len(sheet.annotators),
        notes=(*_notes(sheet, z_sheet), *weights_note(means.weight)),
    )


def _source(judgments: Judgments) -> Provenance:
    """Where the scores come from; rows of which the score was left blank are set aside."""
    blank = (pl.col("protocol").is_in(SCORED) & pl.col("score").is_null()) | LEFT_BLANK
    rows = judgments.final().table.select(blank.sum()).item()
    source = provenance(judgments)
    return replace(source, set_aside=(*source.set_aside, *[SetAside("no score was given", rows)] * bool(rows)))


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


def _notes(raw: Sheet, z: Sheet) -> Iterator[str]:
    """Equal scores, few people, people without a name, and groups of systems without a common annotator."""
    equal, scores = np.unique(raw.annotator[np.isnan(z.score) & ~np.isnan(raw.score)]), int(np.isnan(z.score).sum())
    if len(equal):
        judged = f"{counted(scores, 'score')} {agreeing(scores, 'has', 'have')} no z"
        yield f"{counted(len(equal), 'annotator')} gave the same score throughout, so that {judged}"
    named = len(raw.annotators) - (NOBODY in raw.annotators)
    if 0 < named < FEW_ANNOTATORS:
        yield f"only {counted(named, 'annotator')}: ranks from resampling so few people are too narrow"
    if NOBODY in raw.annotators:
        nameless = int(((raw.annotator == raw.annotators.index(NOBODY)) & np.isnan(raw.given_z)).sum())
        if nameless:
            they, them = agreeing(nameless, "it is", "they are"), agreeing(nameless, "it", "them")
            what = f"{they} standardised as if one person had given {them}"
            yield f"{counted(nameless, 'score names', 'scores name')} no annotator: {what}"
    apart = groups(raw.system[raw.rated], raw.annotator[raw.rated], len(raw.systems))
    if len(apart) > 1:
        yield (
            f"the systems fall into {len(apart)} groups without a common annotator: {in_words(apart, raw.systems)}; "
            "raw means compare the groups as if all annotators were alike, z-scores as if all groups were equally good"
        )


# Post-edits and judgments of acceptability as scores, so that the mixed model ranks them like any others.
#
# A post-edit scores 100 minus its edit rate (HTER) in percent: 100 where nothing was changed, 0 where as many edits
# were made as the edition has words, and below where more were. An output that was too bad to correct scores 0. A
# judgment of acceptability scores 100 for yes and 0 for no, so that a system's score is the share of acceptable edits
# in percent.


VERDICTS = tuple(protocol.name for protocol in PROTOCOLS.values() if protocol.answer == "verdict")
AS_SCORES = "da"
"""The protocol under which the scores count: points that a person gave to one translation."""
UNCHANGED, HOPELESS, UNANSWERED = "OK", "BAD", "N/A"
_EDIT_NOTE = "scores are 100 minus the edit rate (HTER) in percent: 100 where nothing was changed"
_VERDICT_NOTE = "scores are 100 for an acceptable edit and 0 for another: the share of acceptable edits in percent"


def as_scores(judgments: Judgments) -> Judgments:
    """Post-edits, or else judgments of acceptability, as scores; other judgments as they are."""
    protocols = set(judgments.protocols)
    if protocols & {*RELATIVE, *SCORED} or not protocols & {*EDITED, *VERDICTS}:
        return judgments
    return _made_scores(judgments)


@memoised
def _made_scores(judgments: Judgments) -> Judgments:
    """What post-edits, or judgments of acceptability, are as scores: rankings and audits of a report all ask."""
    if set(judgments.protocols) & set(EDITED):
        only = judgments.keep(
            pl.col("protocol").is_in(EDITED), otherwise="judgment of acceptability, beside post-edits"
        )
        return _edits(only.final())
    return _verdicts(judgments.final())


def _verdicts(judgments: Judgments) -> Judgments:
    answered = judgments.keep(pl.col("score").is_not_null(), otherwise="no judgment of acceptability was given")
    points = answered.table.with_columns(pl.col("score") * 100, pl.lit(AS_SCORES).alias("protocol"))
    return replace(answered, table=points, notes=(*answered.notes, _VERDICT_NOTE))


def _edits(judgments: Judgments) -> Judgments:
    if "action" in judgments.table.columns:
        answered = pl.col("action").fill_null(UNANSWERED) != UNANSWERED
        judgments = judgments.keep(answered, otherwise="output that was not edited: no answer was given")
    else:
        judgments = judgments.keep(pl.col("text").is_not_null(), otherwise="output that was not edited")
    table = judgments.table.with_columns(
        pl.lit(AS_SCORES).alias("protocol"), pl.Series("score", _edit_scores(judgments.table), dtype=pl.Float64)
    )
    return replace(judgments, table=table, notes=(*judgments.notes, _EDIT_NOTE))


def _edit_scores(table: pl.DataFrame) -> list[float]:
    actions = table["action"].to_list() if "action" in table.columns else ["EDIT"] * table.height
    outputs = table["target_text"].to_list() if "target_text" in table.columns else [None] * table.height
    scores = []
    for action, edit, output in zip(actions, table["text"].to_list(), outputs, strict=True):
        if action in (UNCHANGED, HOPELESS):
            scores.append(100.0 if action == UNCHANGED else 0.0)
        elif edit is None or output is None:
            needed = "edit rates need the outputs that were edited"
            raise DataError(f"{needed}; give them in a column 'target_text', as adjudge export writes it")
        else:
            scores.append(100 - 100 * edit_rate([edit], [output]))
    return scores
