"""All methods by name: what judgments each needs, how it treats the reference, and where it lives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from adjudge.core.errors import unknown_choice

Reference = Literal["include", "exclude"]


@dataclass(frozen=True)
class Method:
    """A method: the module of `adjudge.rank` that holds it, and what the shell needs to know."""

    name: str
    module: str
    judgments: Literal["relative", "scores"]
    what: str
    reference: Reference | None = None
    """Set where a method is defined with, or without, the reference; free otherwise."""
    significance: Literal["sign", "resample"] = "sign"
    """The default test between pairs of systems."""
    resamples: int | None = None
    """The default number of resamples, where the usual number takes too long."""


_ALL = (
    Method(
        "bradley-terry", "bradley_terry", "relative", "strengths that explain all comparisons, with Davidson ties",
        significance="resample",
    ),
    Method("expected-wins", "expected_wins", "relative", "mean over opponents of wins / (wins + losses)"),
    Method("trueskill", "trueskill", "relative", "skills updated match by match", resamples=200),
    Method("wins-or-ties", "wins_or_ties", "relative", "share of comparisons won or tied (>= others)"),
    Method("wins", "wins", "relative", "share of comparisons won (> others)"),
    Method("wins-no-ties", "wins_no_ties", "relative", "wins / (wins + losses)"),
    Method("wins-no-reference", "wins", "relative", "share won of comparisons without the reference", "exclude"),
    Method("block-wins-or-ties", "block_wins_or_ties", "relative", "share of blocks in which none was better"),
    Method("block-wins", "block_wins", "relative", "share of blocks won outright"),
    Method("rank-points", "rank_points", "relative", "mean of labels + 1 - rank"),
    Method("mixed", "mixed", "scores", "effects of a mixed model with annotators, tasks, documents and pages"),
    Method("mixed-rank", "mixed", "scores", "the same on normal scores of ranks"),
    Method("mfas", "mfas", "relative", "the order that contradicts the fewest judgments", "exclude", resamples=100),
    Method("zscore", "customary", "scores", "mean of scores standardised by annotator"),
    Method("raw", "customary", "scores", "mean of scores"),
    Method("zscore-calibrated", "customary", "scores", "mean of scores standardised by what all annotators judged"),
)  # fmt: skip
METHODS = {method.name: method for method in _ALL}


def find_method(name: str) -> Method:
    """The method of this name."""
    if name not in METHODS:
        raise unknown_choice("method", name, METHODS)
    return METHODS[name]
