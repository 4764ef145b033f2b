"""Verbs on judgments: `check`, `agree`, `rank`, `tournament`, `audit`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from adjudge.api.calls import column_names, judgments_of, single_pair, verb
from adjudge.api.large_files import check_memory, check_memory_to_rank, large_file, plain_options
from adjudge.core.passing_rule import LEAST_SECONDS
from adjudge.core.rng import DEFAULT_SEED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import polars as pl

    from adjudge.core.judgments import Judgments
    from adjudge.results.agree import Agreement
    from adjudge.results.audit import Audit
    from adjudge.results.check import Checked
    from adjudge.results.rank import Ranking
    from adjudge.results.tournament import Tournament


@verb
def check(
    source: Any,
    *,
    test: str = "paired-t",
    level: float = 0.05,
    least_seconds: float | None = LEAST_SECONDS,
    longest_run: int | None = None,
    keep_rejected: bool = False,
    **reading: Any,
) -> Checked:
    """Check each annotator: control items, repeats, pace, runs of equal answers, copied work.

    Args:
        source: a path, several paths, a polars or pandas data frame, or judgments, including controls.
        test: test on control items: `paired-t`, `paired-t-two-sided`, `welch`, `signed-rank` or `rank-sum`.
        level: keep annotators whose p-value on controls is at most this.
        least_seconds: drop annotators faster than this on average; 0 or None accepts any pace.
        longest_run: drop annotators who gave the same answer more often than this in a row.
        keep_rejected: keep annotators with rejected work.
        **reading: how the source is read, as in `adjudge.read`: `format`, `pair`, ...
    """
    from adjudge.check import CheckRule
    from adjudge.check import check as check_annotators

    rule = CheckRule(test, level, least_seconds, longest_run, not keep_rejected)
    if (file := large_file(source)) is not None:
        check_memory(file)
    return check_annotators(single_pair(source, reading, doing="check"), rule=rule)


@verb
def agree(
    source: Any,
    *,
    labels: int | None = None,
    texts: Mapping[str, Sequence[str]] | Sequence[str] | None = None,
    length_unit: Literal["words", "characters"] = "words",
    resamples: int = 1000,
    seed: int = DEFAULT_SEED,
    **reading: Any,
) -> Agreement:
    """Measure how well annotators agree with each other and with themselves. Language pairs are pooled.

    Args:
        source: a path, several paths, a polars or pandas data frame, or judgments.
        labels: number of ranks on the scale; default: the largest in the data.
        texts: the lines of the source text (or those of each source language by its code), for agreement by length.
        length_unit: unit of text length.
        resamples: number of bootstrap resamples of annotators for intervals; 0 for no intervals.
        seed: random seed for resampling.
        **reading: how the source is read, as in `adjudge.read`: `format`, `pair`, ...
    """
    from adjudge.agree import agree as measure

    if labels is not None:
        reading["labels"] = labels
    if (file := large_file(source)) is not None:
        check_memory(file)
    judgments = judgments_of(source, reading)
    return measure(judgments, labels=labels, texts=texts, length_unit=length_unit, resamples=resamples, seed=seed)


@verb
def rank(
    source: Any,
    *,
    method: str | None = None,
    reference: Literal["include", "exclude"] | None = None,
    lines: str | None = None,
    level: float = 0.05,
    significance: Literal["sign", "resample", "tastes"] | None = None,
    resamples: int | None = None,
    zero_sd: Literal["drop", "zero"] = "drop",
    by: str | Iterable[str] = (),
    with_scores: Any = None,
    seed: int = DEFAULT_SEED,
    **reading: Any,
) -> Ranking:
    """Rank the systems of one language pair, with intervals, rank sets, clusters and p-values.

    Args:
        source: a path, several paths, a polars or pandas data frame, or judgments.
        method: ranking method; default: `bradley-terry` for rankings and pairs, `mixed` for scores. See `docs/rank.md`.
        reference: whether to count comparisons with the human reference, if the method can do both.
        lines: rule for cluster lines: `rank-sets`, `official`, `scipy-1.6`, `scipy-1.7`, `strict`, `holm` or `none`;
            the default depends on the method.
        level: significance level for lines, rank sets and intervals.
        significance: for rankings and pairs, the test between two systems: `sign` test on their judgments, `resample`
            (bootstrap), or `tastes` (default of `bradley-terry`), which is valid for other annotators.
        resamples: number of bootstrap resamples for rank sets and intervals; 0 for none.
        zero_sd: z-scores of annotators whose scores are all equal: none (`drop`) or 0 (`zero`). Only for methods with
            z-scores.
        by: columns of the judgments (or of `attributes`, a side table) by which to break down the ranking, as a list
            or comma-separated; `.breakdown` has the result.
        with_scores: scores of metrics or LLM judges for all outputs, judged or not, which make differences of systems
            more precise: a path, several paths, or a data frame as in `meta`; `.helpers` and `.gain` say what they are
            worth. For the mixed model. See `docs/helpers.md`.
        seed: the same seed gives the same numbers.
        **reading: how the source is read, as in `adjudge.read`: `format`, `pair`, ...

    Returns:
        The ranking. `print` shows it; `.order` and `.clusters` have names, `.to_frame()` the table,
        `.to_frame("pairs")` every pair with its p-values, `.plot()` the chart, `.signature` the line to cite.

    Raises:
        AdjudgeError: the source cannot be read, has several language pairs, or cannot be ranked. The message says
            what to do.

    Example:
        >>> ranking = adjudge.rank("scores.csv", level=0.01)  # doctest: +SKIP
        >>> print(ranking)  # doctest: +SKIP
    """
    from adjudge.formats import as_metric_scores
    from adjudge.rank import RankSettings, rank_large_file
    from adjudge.rank import rank as rank_judgments

    settings = RankSettings(
        reference=reference,
        lines=lines,
        level=level,
        significance=significance,
        resamples=resamples,
        zero_sd=zero_sd,
        seed=seed,
    )
    columns = column_names(by)
    helpers = None if with_scores is None else as_metric_scores(with_scores)
    if (file := large_file(source)) is not None:
        options = plain_options(reading)
        plain = options is not None and not columns and helpers is None
        counted = rank_large_file(file, method, settings, options) if plain else None
        if counted is not None:
            return counted
        check_memory_to_rank(file)
    judgments = single_pair(source, reading, doing="rank")
    ranking = rank_judgments(judgments, method=method, settings=settings, helpers=helpers)
    if not columns:
        return ranking
    from adjudge.audit.breakdown import with_breakdown

    return with_breakdown(ranking, judgments, columns, seed=seed)


@verb
def tournament(source: Any, *, time_limit: float = 60.0, seed: int = DEFAULT_SEED, **reading: Any) -> Tournament:
    """Find cycles, and the order of systems that contradicts the fewest judgments.

    Args:
        source: rankings or pairwise judgments: a path, several paths, a polars or pandas data frame, or judgments.
        time_limit: CPU seconds for proving that the order is optimal.
        seed: random seed.
        **reading: how the source is read, as in `adjudge.read`: `format`, `pair`, ...
    """
    from adjudge.core.errors import UsageError
    from adjudge.rank.tournament import tournament as play

    if time_limit <= 0:
        raise UsageError(f"--time-limit is {time_limit:g}, it must be more than 0 seconds")
    return play(single_pair(source, reading, doing="tournament"), time_limit=time_limit, seed=seed)


@verb
def audit(
    source: Any,
    *,
    only: str | Iterable[str] | None = None,
    method: str | None = None,
    lines: str | None = None,
    removal: str = "genuine",
    margin: float | str | None = None,
    by: str | Iterable[str] = (),
    documents_by: str | Path = "raw",
    edits: Any = None,
    acceptability: Any = None,
    judge_scores: str | Path | Iterable[str | Path] = (),
    lower_is_better: str | Iterable[str] = (),
    judge_allowance: float = 0.15,
    judge_scale: Literal["matched", "z", "raw"] = "matched",
    judge_families: Mapping[str, str] | None = None,
    seed: int = DEFAULT_SEED,
    **reading: Any,
) -> Audit:
    """Test how far a ranking can be trusted, and list the claims that survive.

    Args:
        source: a path, several paths, a polars or pandas data frame, or judgments.
        only: sections to compute, as a list or comma-separated; default: all that apply.
        method: ranking method to audit; default for rankings: `wins-or-ties`.
        lines: rule for cluster lines in the section stability; default `scipy-1.6`.
        removal: which rows stability removes with human translations: the `genuine` ones, or `all-rows` under their
            names, including degraded versions, as the script of Knowles (2021) does.
        margin: largest difference from a human translation that counts as parity: in points, or as a share of the
            scale such as `5%`. Default: 3 points on scales from 0 to 100; no claims of parity on other scales.
        by: columns by which to break down the ranking, as a list or comma-separated.
        documents_by: what to show in the table of documents by systems: `raw` or `zscore` means, estimates of the
            `mixed` model, or a file of metric scores.
        edits: post-edits from the same campaign: a path, or judgments.
        acceptability: judgments of these post-edits: a path, or judgments.
        judge_scores: files with scores of metrics by segment, each of which is tested as a machine judge. Annotators
            that are machines are named by `judges`, or by names that begin with `judge:`.
        lower_is_better: metrics of these files where lower is better, as a list or comma-separated.
        judge_allowance: how much more often a person may be closer to the other people than a judge that may still
            stand in for one; the authors of the test suggest .2 for experts, .15 for skilled people, .1 for crowds.
        judge_scale: how scores of a judge are compared with people's: `matched` to the scores of each person, in the
            judge's order; standardised (`z`); or as they are (`raw`).
        judge_families: by judge, a regular expression of the systems that are of its own family.
        seed: random seed.
        **reading: how the source is read, as in `adjudge.read`: `format`, `pair`, ...
    """
    from adjudge.audit import AuditSettings
    from adjudge.audit import audit as make_audit

    settings = AuditSettings(
        method=method,
        lines=lines,
        removal=removal,
        margin=margin,
        documents_by=documents_by,
        by=column_names(by),
        edits=_companion(edits, "wmt-edits"),
        acceptability=_companion(acceptability, "wmt-acceptability"),
        judge_scores=_metric_judges(judge_scores, lower_is_better),
        judge_allowance=judge_allowance,
        judge_scale=judge_scale,
        judge_families=tuple(f"{name}={pattern}" for name, pattern in (judge_families or {}).items()),
        seed=seed,
    )
    names = only.split(",") if isinstance(only, str) else only
    return make_audit(single_pair(source, reading, doing="audit"), only=names, settings=settings)


def _metric_judges(files: str | Path | Iterable[str | Path], lower: str | Iterable[str]) -> pl.DataFrame | None:
    from adjudge.audit.judges import read_judge_scores

    paths = [Path(files)] if isinstance(files, str | Path) else [Path(file) for file in files]
    return read_judge_scores(paths, lower_is_better=column_names(lower)) if paths else None


def _companion(source: Any, format_name: str) -> Judgments | None:
    """Judgments unchanged; a file as a judgment table or in the format for its kind."""
    from adjudge.audit import read_companion
    from adjudge.core.judgments import Judgments
    from adjudge.formats import ReadOptions

    if source is None or isinstance(source, Judgments):
        return source
    return read_companion(Path(source), format_name, ReadOptions())
