"""Ranking systems. `rank` is the main function; `methods` lists the methods, which return the same kind of result."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from adjudge.table.errors import DataError, UsageError, param, unknown_choice
from adjudge.table.protocols import RELATIVE
from adjudge.table.settings import option, seed_option

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from adjudge.ranking.counts import Tally
    from adjudge.ranking.ranking import Ranking
    from adjudge.readers.metric_scores import MetricScore
    from adjudge.readers.options import ReadOptions
    from adjudge.table.judgments import Judgments


# All ranking methods by name: the judgments they need, the meaning of their scores, and the function of each.


Reference = Literal["include", "exclude"]
Kind = Literal["relative", "scores"]


@dataclass(frozen=True)
class Method:
    """A ranking method and its properties."""

    name: str
    judgments: Kind
    function: str
    """Its function, as `module.function` within `adjudge.ranking`: it turns a tally, or judgments, into scores."""
    what: str
    unit: str
    """What a score is, for the axis of a chart."""
    difference_unit: str = ""
    """The unit of score differences, if it has a shorter name."""
    reference: Reference | None = None
    """Set if the method is defined with, or without, the reference; None if the user can choose."""
    counts_reference: bool = False
    """Whether a tournament of the other systems counts this method's comparisons with the reference: as published,
    or as the ranking by this method does."""
    significance: Literal["sign", "resample", "tastes"] = "sign"
    """The default test between pairs of systems."""
    resamples: int | None = None
    """The default number of resamples, if the usual number takes too long."""
    random: bool = False
    """Whether scores are random, for example by the order of matches."""
    bounded: bool = True
    """Whether scores stay finite if a system won everything."""
    standardises: bool = False
    """Whether z-scores are computed, if only to be shown with the means."""
    takes_helpers: bool = False
    """Whether metric scores of all outputs can tighten what it says."""
    beside: tuple[str, ...] = ()
    """The other methods that a report shows with this one."""
    ignores_people: bool = False
    """Whether its test takes every judgment for evidence of its own, so that the taste of a few counts as quality."""
    equal_systems: tuple[int, int] | None = None
    """Rules without any guarantee: percent of simulated campaigns of equal systems in which some pair is called
    different, and percent of all pairs (`bench/results/recipes.json`)."""

    def load(self) -> Callable[..., Any]:
        """The function, imported on demand."""
        module, name = self.function.rsplit(".", 1)
        function: Callable[..., Any] = getattr(import_module(f"adjudge.ranking.{module}"), name)
        return function

    def score(self, tally: Tally, rng: np.random.Generator) -> NDArray[np.float64]:
        """The score of every system of a tally (or of many tallies at once), for methods of relative judgments."""
        function = self.load()
        scores: NDArray[np.float64] = function(tally, rng) if self.random else function(tally)
        return scores


MODELLED = "scores.rank_by_model"
"""The function that fits the mixed model, which takes more memory than the others."""
_RATIOS = ("expected-wins", "wins-no-ties", "wins-or-ties")
_MEANS = ("mixed-points", "zscore", "raw")


def _ratio(
    name: str,
    what: str,
    *,
    function: str | None = None,
    unit: str | None = None,
    reference: Reference | None = None,
    counts_reference: bool = False,
) -> Method:
    return Method(
        name,
        "relative",
        f"relative.{(function or name).replace('-', '_')}",
        what,
        unit or f"share by {name}",
        reference=reference,
        counts_reference=counts_reference,
        beside=_RATIOS,
    )


_ALL = (
    Method(
        "bradley-terry", "relative", "bradley_terry.scores",
        "strengths that explain all comparisons, with Davidson ties",
        "strength (log-odds of winning)", counts_reference=True, significance="tastes", bounded=False,
        takes_helpers=True, beside=_RATIOS,
    ),
    _ratio("expected-wins", "mean over opponents of wins / (wins + losses)", unit="expected share of wins"),
    Method(
        "trueskill", "relative", "relative.score_by_trueskill", "skills updated match by match", "skill", resamples=200,
        random=True, beside=_RATIOS,
    ),
    _ratio("wins-or-ties", "share of comparisons won or tied (>= others)", counts_reference=True),
    _ratio("wins", "share of comparisons won (> others)", counts_reference=True),
    _ratio("wins-no-ties", "wins / (wins + losses)"),
    _ratio("wins-no-reference", "share won of comparisons without the reference", function="wins", reference="exclude"),
    _ratio("block-wins-or-ties", "share of blocks in which none was better", counts_reference=True),
    _ratio("block-wins", "share of blocks won outright", counts_reference=True),
    _ratio("block-any", "share of blocks in which it was not alone in the last place", counts_reference=True),
    _ratio("rank-points", "mean of labels + 1 - rank", unit="rank points", counts_reference=True),
    Method(
        "mixed", "scores", MODELLED,
        "effects in points of a mixed model with annotators, their tastes, and pages",
        "score in points, adjusted", "points", takes_helpers=True, beside=_MEANS,
    ),
    Method(
        "mixed-rank", "scores", MODELLED, "the same in standard deviations of normal scores",
        "normal score of ranks, adjusted", takes_helpers=True, beside=_MEANS,
    ),
    Method(
        "mixed-points", "scores", MODELLED, "the same model on the scores themselves",
        "score in points, adjusted", "points", takes_helpers=True, beside=_MEANS,
    ),
    Method(
        "mixed-plain", "scores", MODELLED,
        "the same on the scores themselves, without annotators' tastes", "score in points, adjusted", "points",
        takes_helpers=True, beside=_MEANS, ignores_people=True,
    ),
    Method(
        "mfas", "relative", "tournament.score_by_mfas", "the order that contradicts the fewest judgments",
        "place in the order", reference="exclude", resamples=100, beside=_RATIOS,
    ),
    Method(
        "zscore", "scores", "scores.rank_by_means", "mean of scores standardised by annotator", "mean z-score",
        standardises=True, beside=_MEANS, ignores_people=True,
    ),
    Method(
        "zscore-task", "scores", "scores.rank_by_means", "mean of scores standardised by task (HIT)", "mean z-score",
        standardises=True, beside=_MEANS, ignores_people=True,
    ),
    Method(
        "raw", "scores", "scores.rank_by_means", "mean of scores", "mean score",
        standardises=True, beside=_MEANS, ignores_people=True,
    ),
    Method(
        "zscore-calibrated", "scores", "scores.rank_by_means",
        "mean of scores standardised by what all annotators judged", "mean z-score",
        standardises=True, beside=_MEANS, ignores_people=True,
    ),
    *(
        Method(
            f"wmt{year}", "scores", "recipes.rank_by_recipe", f"the rule of the workshop of 20{year}",
            "mean z-score" if year == 22 else "mean score", beside=_MEANS, equal_systems=rates,
        )
        for year, rates in ((22, (96, 30)), (23, (96, 29)), (24, (100, 38)), (25, (100, 47)), (26, (98, 32)))
    ),
)  # fmt: skip
METHODS = {method.name: method for method in _ALL}
DEFAULTS: dict[Kind, str] = {"relative": "bradley-terry", "scores": "mixed"}


def find_method(name: str) -> Method:
    """The method of this name."""
    if name not in METHODS:
        raise unknown_choice("method", name, METHODS)
    return METHODS[name]


@dataclass(frozen=True)
class RankSettings:
    """Settings shared by all methods; None leaves the choice to the method."""

    reference: Literal["include", "exclude"] | None = option(None, "Whether to count comparisons with the reference.")
    lines: str | None = option(
        None,
        "Rule for cluster lines: decided, official, fewest-wins, ranges, scipy-1.6, scipy-1.7, strict, holm, rank-sets "
        "or none.",
    )
    level: float = option(0.05, "Significance level.")
    significance: Literal["sign", "resample", "tastes"] | None = option(
        None,
        "Rankings: the test for pairs of systems. sign: sign test on the judgments of the pair; resample: bootstrap; "
        "tastes: model of annotators' tastes (bradley-terry only).",
    )
    resamples: int | None = option(
        None,
        "Bootstrap resamples for rank sets and intervals.",
        about="number of bootstrap resamples for rank sets and intervals; 0 for none.",
    )
    zero_sd: Literal["drop", "zero"] = option(
        "drop", "z-scores: annotators whose scores are all equal get none (drop) or 0 (zero)."
    )
    correct_screens: bool = option(
        False,
        "Scores with several systems on a screen: correct them for their place on it and for the best output beside "
        "them.",
        "--correct-screens",
    )
    seed: int = seed_option()


def rank(
    judgments: Judgments,
    *,
    method: str | None = None,
    settings: RankSettings | None = None,
    helpers: Sequence[MetricScore] | None = None,
) -> Ranking:
    """Rank the systems of one language pair.

    Args:
        judgments: the judgments, of one language pair and campaign.
        method: a name from `METHODS`; default: Bradley-Terry for relative judgments, the mixed model for scores.
        settings: settings shared by all methods.
        helpers: scores of metrics for all outputs, judged or not, which make the differences of systems more precise
            (`mixed.helpers`); for the mixed model and Bradley-Terry.

    Returns:
        Systems in rank order with rank sets, clusters, and every pair compared.
    """
    settings = settings or RankSettings()
    _check(settings)
    from adjudge.ranking.scores import as_scores

    judgments = as_scores(judgments)
    chosen = find_method(method or default_method(judgments))
    _check_for_method(chosen, settings, helped=helpers is not None)
    if chosen.judgments == "relative":
        from adjudge.ranking.relative import rank_relative

        return rank_relative(judgments, chosen, settings, helpers=helpers)
    with_helpers = {} if helpers is None else {"helpers": helpers}
    ranking: Ranking = chosen.load()(judgments, chosen, settings, **with_helpers)
    return ranking


def rank_large_file(
    path: Path, method: str | None, settings: RankSettings, options: ReadOptions | None = None
) -> Ranking | None:
    """Rank a CSV or Parquet file of pairs by counting its columns; None if the columns or the method do not allow that.

    Args:
        path: the file, perhaps of tens of millions of rows.
        method: a name from `METHODS`, or None for the default.
        settings: settings shared by all methods.
        options: how to read; only `human`, `strict` and `bad_rows` are used.
    """
    from adjudge.ranking.large_files import rank_pairs_file

    _check(settings)
    chosen = find_method(method or DEFAULTS["relative"])
    if method is not None:
        _check_for_method(chosen, settings)
    if path.suffix.lower() not in (".csv", ".parquet") or chosen.judgments != "relative" or settings.zero_sd != "drop":
        return None
    return rank_pairs_file(path, chosen, settings, options)


def default_method(judgments: Judgments) -> str:
    """The default method for this kind of judgments."""
    if not len(judgments):
        raise DataError("there are no judgments to rank; check the file and the filters")
    relative = any(protocol in RELATIVE for protocol in judgments.protocols)
    return DEFAULTS["relative" if relative else "scores"]


def _check(settings: RankSettings) -> None:
    if not 0 < settings.level < 1:
        raise UsageError(
            f"{param('level')} is {settings.level:g}, it must lie between 0 and 1; the usual value is 0.05"
        )
    if settings.resamples is not None and settings.resamples < 0:
        raise UsageError(f"{param('resamples')} is {settings.resamples}, it must be 0 or more")
    if settings.lines is not None:
        from adjudge.ranking.decisions import check_rule

        check_rule(settings.lines)


def _takes(method: Method, kind: Kind) -> bool:
    return method.takes_helpers and method.judgments == kind


def _check_for_method(method: Method, settings: RankSettings, *, helped: bool = False) -> None:
    """Refuse settings that this method would ignore."""
    if helped and not method.takes_helpers:
        others = ", ".join(name for name, other in METHODS.items() if _takes(other, method.judgments))
        raise UsageError(
            f"{method.name} cannot use {param('with_scores')}; choose one of {others} by "
            f"{param('method')}, or leave out {param('with_scores')}"
        )
    if settings.zero_sd != "drop" and not method.standardises:
        others = ", ".join(name for name, other in METHODS.items() if other.standardises)
        raise UsageError(
            f"{method.name} makes no z-scores; {param('zero_sd')} {settings.zero_sd} is for "
            f"{others}: choose one by {param('method')}, "
            "or leave it out"
        )
    if settings.correct_screens and (helped or not _takes(method, "scores")):
        what = "scores without helpers" if helped else "the mixed model of scores"
        raise UsageError(f"{param('correct_screens')} is for {what}; leave it out")
    if method.judgments == "relative":
        return
    if settings.reference == "exclude":
        raise UsageError(
            f"{method.name} scores every system by itself; {param('reference')} exclude is for relative rankings"
        )
    if settings.significance is not None:
        test = f"{param('significance')} {settings.significance} is for relative rankings"
        raise UsageError(f"{method.name} has a test of its own; {test}, leave it out")
