"""Ranking scores by a mixed model: `mixed`, the default for scores, and the others of `mixed.design.MODELS`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.mixed.design import MixedDesign, design_from
from adjudge.mixed.helpers import Helped, Matched, help_design, match
from adjudge.mixed.model import model_of
from adjudge.ranking.lines import DRAWS, RankSets, rank_sets, resampled_rank_sets, simultaneous_interval
from adjudge.ranking.ranking import Findings, Provenance, Ranking, assemble, provenance
from adjudge.ranking.relative import unnamed_people_note
from adjudge.ranking.significance import PairTests, mann_whitney
from adjudge.ranking.tastes import draws
from adjudge.table.comparisons import LEFT_BLANK, NOBODY, groups, in_words
from adjudge.table.errors import DataError, param
from adjudge.table.judgments import Judgments, SetAside, weights_note
from adjudge.table.maths import Contrasts, Floats, contrasts, memoised, student_tail
from adjudge.table.protocols import EDITED, PROTOCOLS, RELATIVE, SCORED
from adjudge.table.rng import DEFAULT_SEED, generator
from adjudge.table.score_sheet import ItemMeans, Sheet, item_means, resampled_means, sheet_of, standardised
from adjudge.table.texts import edit_rate
from adjudge.table.wording import agreeing, counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from adjudge.mixed.fit import MixedFit
    from adjudge.ranking.methods import Method, RankSettings
    from adjudge.readers.metric_scores import MetricScore


DEFAULT_RULE = "holm"


@dataclass(frozen=True, eq=False)
class MixedRanking:
    """A fitted model and what follows from it; arrays are in the order of `fit.systems`."""

    fit: MixedFit
    contrasts: Contrasts
    rank_sets: RankSets
    interval: tuple[Floats, Floats]
    """Low and high of every difference, by itself."""
    simultaneous: tuple[Floats, Floats]
    """Low and high of every difference, all at once."""
    set_aside: tuple[SetAside, ...]
    points: Floats | None = None
    """Effects on the scores themselves (`mixed-points`), where the model is fitted to normal scores."""
    helped: Helped | None = None
    """What helpers did, if there are any."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What must be said with the result."""
        return (*(() if self.helped is None else self.helped.notes), *self.fit.notes)

    @property
    def findings(self) -> Findings:
        """What `ranking.ranking.assemble` needs."""
        low, high = self.interval
        return Findings(
            systems=self.fit.systems,
            human=self.fit.human,
            scores=self.fit.effects,
            n=self.fit.n,
            tests=PairTests(self.contrasts.greater, self.contrasts.two_sided),
            rank_sets=self.rank_sets.simultaneous,
            numbers={
                "se": self.fit.se,
                **({} if self.points is None else {"points": self.points}),
                "rank_low": self.rank_sets.marginal[:, 0],
                "rank_high": self.rank_sets.marginal[:, 1],
            },
            pair_numbers={"se": self.contrasts.se, "df": self.contrasts.df, "low": low, "high": high},
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
    resamples = draws(settings)
    design = design_from(judgments, model=method.name)
    matched = match(judgments, design, helpers) if helpers is not None else None
    ranking = rank_design(design, level=settings.level, seed=settings.seed, resamples=resamples, helpers=matched)
    model = ranking.fit
    if len(model.systems) < 2:
        raise DataError(f"at least two systems must be scored, the data hold {model.systems[0]}")
    rule = settings.lines or DEFAULT_RULE
    return assemble(
        Provenance(
            judgments.fingerprint,
            ranking.set_aside + (() if matched is None else matched.set_aside),
            judgments.final().notes,
        ),
        ranking.findings,
        method=method.name,
        rule=rule,
        level=settings.level,
        settings={
            "method": method.name,
            "effects": "+".join(component.effect for component in model.components[:-1]),
            "lines": rule,
            "level": settings.level,
            "draws": resamples,
            "seed": settings.seed,
            "converged": model.converged,
            **({} if matched is None else {"helpers": len(matched.names), "with": matched.fingerprint}),
        },
        notes=(*ranking.notes, *_unnamed_note(judgments, method)),
        components=model.components,
        left_out=model.left_out,
        helpers=() if ranking.helped is None else ranking.helped.helpers,
        gain=None if (helped := ranking.helped) is None else (helped.gain, helped.gain_low, helped.gain_high),
    )


def _unnamed_note(judgments: Judgments, method: Method) -> Iterator[str]:
    """Say whose scores are taken to be those that name no annotator, where others do."""
    design = design_from(judgments, model=method.name)
    if design.annotator is None:
        return
    unnamed = judgments.final().table["annotator"].gather(design.row).null_count()
    yield from unnamed_people_note(unnamed, "score", by_task=design.task is not None)


def rank_design(
    design: MixedDesign,
    *,
    level: float = 0.05,
    seed: int = DEFAULT_SEED,
    resamples: int = DRAWS,
    helpers: Matched | None = None,
) -> MixedRanking:
    """Fit the model to a design that is at hand, with helpers if there are any, and compare all systems."""
    helped = None if helpers is None else help_design(design, helpers, seed=seed)
    model = model_of(design).fitted if helped is None else helped.fit
    compared = contrasts(model.effects, model.covariance, model.df)
    return MixedRanking(
        fit=model,
        contrasts=compared,
        rank_sets=rank_sets(compared, model.covariance, level=level, seed=seed, draws=resamples),
        interval=compared.interval(level),
        simultaneous=simultaneous_interval(compared, model.covariance, level=level, seed=seed, draws=resamples),
        set_aside=design.set_aside,
        points=_in_points(design, helpers, seed) if design.model.normal else None,
        helped=helped,
    )


def _in_points(design: MixedDesign, helpers: Matched | None, seed: int) -> Floats:
    """Effects on the scores themselves."""
    points = design.with_model("mixed-points")
    if helpers is None:
        return model_of(points).fitted.effects
    return help_design(points, helpers, seed=seed, alone=False).fit.effects


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
    return assemble(
        _source(judgments),
        Findings(
            systems=sheet.systems,
            human=sheet.human,
            scores=scores,
            n=np.bincount(raw.system, minlength=n),
            tests=tests,
            rank_sets=resampled_rank_sets(scores, resampled, settings.level),
            numbers={"raw": raw.system_means(n), "z": z.system_means(n), "n_all": raw.judgments, "wins": wins},
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
        yield f"only {counted(named, 'annotator')}: rank sets from resampling so few people are too narrow"
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
