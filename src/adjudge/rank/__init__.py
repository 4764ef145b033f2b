"""Ranking systems. `rank` is the main function; `methods` lists the methods, which return the same kind of result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from adjudge.core.errors import DataError, UsageError
from adjudge.core.protocols import RELATIVE
from adjudge.core.settings import option, seed_option
from adjudge.rank.methods import DEFAULTS, METHODS, find_method

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from adjudge.core.judgments import Judgments
    from adjudge.formats.metric_score_files import MetricScore
    from adjudge.formats.options import ReadOptions
    from adjudge.rank.methods import Method
    from adjudge.results.rank import Ranking

__all__ = ["METHODS", "RankSettings", "default_method", "rank"]


@dataclass(frozen=True)
class RankSettings:
    """Settings shared by all methods; None leaves the choice to the method."""

    reference: Literal["include", "exclude"] | None = option(None, "Whether to count comparisons with the reference.")
    lines: str | None = option(
        None, "Rule for cluster lines: rank-sets, official, scipy-1.6, scipy-1.7, strict, holm or none."
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
        "drop", "z-scores of annotators whose scores are all equal: none (drop) or 0 (zero)."
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
            (`rank.mixed.helpers`); for the mixed model.

    Returns:
        Systems in rank order with rank sets, clusters, and every pair compared.
    """
    settings = settings or RankSettings()
    _check(settings)
    from adjudge.rank.edits_as_scores import as_scores

    judgments = as_scores(judgments)
    chosen = find_method(method or default_method(judgments))
    _check_for_method(chosen, settings, helped=helpers is not None)
    if chosen.judgments == "relative":
        from adjudge.core.inclusion_weights import weights_of
        from adjudge.rank.relative import rank_relative

        if weights_of(judgments.table) is not None:
            raise DataError(
                f"the segments were chosen with unequal probabilities, which {chosen.name} cannot undo: differences "
                "would come out too large; collect scores, or leave out the column 'inclusion' if that is meant"
            )

        return rank_relative(judgments, chosen, settings)
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
    from adjudge.rank.large_files.pairs import rank_pairs_file

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
        raise UsageError(f"--level is {settings.level:g}, it must lie between 0 and 1; the usual value is 0.05")
    if settings.resamples is not None and settings.resamples < 0:
        raise UsageError(f"--resamples is {settings.resamples}, it must be 0 or more")
    if settings.lines is not None:
        from adjudge.rank.lines_and_rank_sets import check_rule

        check_rule(settings.lines)


def _check_for_method(method: Method, settings: RankSettings, *, helped: bool = False) -> None:
    """Refuse settings that this method would ignore."""
    if helped and not method.takes_helpers:
        if method.judgments == "relative":
            raise UsageError(f"--with is for scores, {method.name} ranks relative judgments; leave out --with")
        others = ", ".join(name for name, other in METHODS.items() if other.takes_helpers)
        raise UsageError(f"{method.name} cannot use --with; choose one of {others} by --method, or leave out --with")
    if settings.zero_sd != "drop" and not method.standardises:
        others = ", ".join(name for name, other in METHODS.items() if other.standardises)
        raise UsageError(
            f"{method.name} makes no z-scores; --zero-sd {settings.zero_sd} is for {others}: choose one by --method, "
            "or leave it out"
        )
    if method.judgments == "relative":
        return
    if settings.reference == "exclude":
        raise UsageError(f"{method.name} scores every system by itself; --reference exclude is for relative rankings")
    if settings.significance is not None:
        test = f"--significance {settings.significance} is for relative rankings"
        raise UsageError(f"{method.name} has a test of its own; {test}, leave it out")
