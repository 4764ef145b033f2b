"""All ranking methods by name: the judgments they need, the meaning of their scores, and the function of each."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from adjudge.core.errors import unknown_choice

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from adjudge.rank.counts import Tally

Reference = Literal["include", "exclude"]
Kind = Literal["relative", "scores"]


@dataclass(frozen=True)
class Method:
    """A ranking method and its properties."""

    name: str
    judgments: Kind
    function: str
    """Its function, as `module.function` within `adjudge.rank`: it turns a tally, or judgments, into scores."""
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

    def load(self) -> Callable[..., Any]:
        """The function, imported on demand."""
        module, name = self.function.rsplit(".", 1)
        function: Callable[..., Any] = getattr(import_module(f"adjudge.rank.{module}"), name)
        return function

    def score(self, tally: Tally, rng: np.random.Generator) -> NDArray[np.float64]:
        """The score of every system of a tally (or of many tallies at once), for methods of relative judgments."""
        function = self.load()
        scores: NDArray[np.float64] = function(tally, rng) if self.random else function(tally)
        return scores


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
        f"ratios.{(function or name).replace('-', '_')}",
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
        beside=_RATIOS,
    ),
    _ratio("expected-wins", "mean over opponents of wins / (wins + losses)", unit="expected share of wins"),
    Method(
        "trueskill", "relative", "trueskill.scores", "skills updated match by match", "skill", resamples=200,
        random=True, beside=_RATIOS,
    ),
    _ratio("wins-or-ties", "share of comparisons won or tied (>= others)", counts_reference=True),
    _ratio("wins", "share of comparisons won (> others)", counts_reference=True),
    _ratio("wins-no-ties", "wins / (wins + losses)"),
    _ratio("wins-no-reference", "share won of comparisons without the reference", function="wins", reference="exclude"),
    _ratio("block-wins-or-ties", "share of blocks in which none was better", counts_reference=True),
    _ratio("block-wins", "share of blocks won outright", counts_reference=True),
    _ratio("rank-points", "mean of labels + 1 - rank", unit="rank points", counts_reference=True),
    Method(
        "mixed", "scores", "mixed.ranking.rank_by_model",
        "effects in points of a mixed model with annotators, their tastes, and pages",
        "score in points, adjusted", "points", takes_helpers=True, beside=_MEANS,
    ),
    Method(
        "mixed-rank", "scores", "mixed.ranking.rank_by_model", "the same in standard deviations of normal scores",
        "normal score of ranks, adjusted", takes_helpers=True, beside=_MEANS,
    ),
    Method(
        "mixed-points", "scores", "mixed.ranking.rank_by_model", "the same model on the scores themselves",
        "score in points, adjusted", "points", takes_helpers=True, beside=_MEANS,
    ),
    Method(
        "mixed-plain", "scores", "mixed.ranking.rank_by_model",
        "the same on the scores themselves, without annotators' tastes", "score in points, adjusted", "points",
        takes_helpers=True, beside=_MEANS,
    ),
    Method(
        "mfas", "relative", "mfas.scores", "the order that contradicts the fewest judgments", "place in the order",
        reference="exclude", resamples=100, beside=_RATIOS,
    ),
    Method(
        "zscore", "scores", "score_means.rank_by_means", "mean of scores standardised by annotator", "mean z-score",
        standardises=True, beside=_MEANS,
    ),
    Method(
        "raw", "scores", "score_means.rank_by_means", "mean of scores", "mean score",
        standardises=True, beside=_MEANS,
    ),
    Method(
        "zscore-calibrated", "scores", "score_means.rank_by_means",
        "mean of scores standardised by what all annotators judged", "mean z-score",
        standardises=True, beside=_MEANS,
    ),
)  # fmt: skip
METHODS = {method.name: method for method in _ALL}
DEFAULTS: dict[Kind, str] = {"relative": "bradley-terry", "scores": "mixed"}


def find_method(name: str) -> Method:
    """The method of this name."""
    if name not in METHODS:
        raise unknown_choice("method", name, METHODS)
    return METHODS[name]
