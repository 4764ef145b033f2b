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
    """Check the annotators: controls, repeats, pace, runs of equal answers, copied or mirrored blocks.

    Args:
        source: a path, several paths, a polars or pandas data frame, or judgments; controls included.
        test: on controls: `paired-t`, `paired-t-two-sided`, `welch`, `signed-rank` or `rank-sum`.
        level: annotators are kept up to this p.
        least_seconds: drop who is faster than this per judgment on average; 0 or None for any pace.
        longest_run: drop who gave more equal answers in a row.
        keep_rejected: keep annotators some of whose work was rejected.
        **reading: how the source is read, as in `adjudge.read`: `format`, `pair`, ...
    """
    from adjudge.check import CheckRule
    from adjudge.check import check as check_annotators

    rule = CheckRule(test, level, least_seconds, longest_run, not keep_rejected)
    if (file := large_file(source)) is not None:
        from adjudge.check.large_files import check_large_file

        options = plain_options(reading)
        checked = check_large_file(file, rule, options) if options is not None else None
        if checked is not None:
            return checked
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
    """Measure agreement within and between annotators. Several language pairs are pooled.

    Args:
        source: a path, several paths, a polars or pandas data frame, or judgments.
        labels: how many rank labels there were to choose from; what the data show where left out.
        texts: the source's lines (or those of each source language by its code), for agreement by length.
        length_unit: what the length of texts is counted in.
        resamples: of annotators, for the intervals; 0 for none.
        seed: of the resamples.
        **reading: how the source is read, as in `adjudge.read`: `format`, `pair`, ...
    """
    from adjudge.agree import agree as measure

    if labels is not None:
        reading["labels"] = labels
    if (file := large_file(source)) is not None:
        from adjudge.agree.large_files import agree_large_file
        from adjudge.agree.options import AgreeOptions

        options, settings = plain_options(reading), AgreeOptions(labels, None, length_unit, resamples, seed)
        agreement = agree_large_file(file, settings, options) if options is not None and texts is None else None
        if agreement is not None:
            return agreement
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
    seed: int = DEFAULT_SEED,
    **reading: Any,
) -> Ranking:
    """Rank the systems of one language pair, with what the judgments do not settle.

    Args:
        source: a path, several paths, a polars or pandas data frame, or judgments.
        method: `bradley-terry` for comparisons and `mixed` for scores where left out. `docs/rank.md` explains all.
        reference: count comparisons with the human reference or not, where a method can do both.
        lines: the rule for lines between clusters: `rank-sets`, `official`, `scipy-1.6`, `scipy-1.7`, `strict`,
            `holm` or `none`; the method's own where left out.
        level: of significance, for lines, rank sets and intervals.
        significance: the test between pairs of relative methods: `sign` on their own judgments, `resample`, or `tastes`
            (the default of `bradley-terry`), which holds for other annotators. Refused for scores.
        resamples: for rank sets and intervals; 0 for none.
        zero_sd: annotators whose scores are all equal have no z-score (`drop`), or 0 (`zero`). Refused by methods
            without z-scores.
        by: columns of the judgments (or of `attributes`, a side table) by which the ranking is broken down, in a list
            or joined by commas; `.breakdown` says whether systems differ between subsets.
        seed: the same seed gives the same numbers.
        **reading: how the source is read, as in `adjudge.read`: `format`, `pair`, ...

    Returns:
        The systems in order. `print` shows them; `.order` and `.clusters` hold names, `.to_frame()` the table,
        `.to_frame("pairs")` every pair with its p-values, `.plot()` the chart, `.signature` the line to cite.

    Raises:
        AdjudgeError: the source cannot be read, holds several language pairs, or cannot answer the question. The
            message says what to do.

    Example:
        >>> ranking = adjudge.rank("scores.csv", level=0.01)  # doctest: +SKIP
        >>> print(ranking)  # doctest: +SKIP
    """
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
    if (file := large_file(source)) is not None:
        options = plain_options(reading)
        counted = rank_large_file(file, method, settings, options) if options is not None and not columns else None
        if counted is not None:
            return counted
        check_memory_to_rank(file)
    from adjudge.audit.breakdown import with_breakdown

    judgments = single_pair(source, reading, doing="rank")
    ranking = rank_judgments(judgments, method=method, settings=settings)
    return with_breakdown(ranking, judgments, columns, seed=seed)


@verb
def tournament(source: Any, *, time_limit: float = 60.0, seed: int = DEFAULT_SEED, **reading: Any) -> Tournament:
    """Find cycles, the order that contradicts the fewest judgments (proved), and what every ranking contradicts.

    Args:
        source: rankings or pairwise judgments: a path, several paths, a polars or pandas data frame, or judgments.
        time_limit: seconds of CPU for the proof that the order is cheapest.
        seed: of the methods that draw at random.
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
    seed: int = DEFAULT_SEED,
    **reading: Any,
) -> Audit:
    """Audit the judgments: stability, composition, documents, sampling, A/A test, and every claim of the ranking.

    Args:
        source: a path, several paths, a polars or pandas data frame, or judgments.
        only: the sections to make, in a list or joined by commas; all that apply where left out.
        method: whose scores are audited; `wins-or-ties` for rankings where left out.
        lines: the rule for lines in the audit of stability; `scipy-1.6` where left out.
        removal: which rows go when stability removes human translations: their `genuine` ones, or `all-rows` under
            their names, degraded versions among them, as the script of Knowles (2021) does.
        margin: how far a system may be from a human translation and still be at parity: in points, or as a share of
            the scale such as `5%`. Where left out, 3 points on scales from 0 to 100, and no claims of parity on others.
        by: columns of the judgments by which the ranking is broken down, in a list or joined by commas.
        documents_by: what the matrix of documents by systems shows: `raw` or `zscore` means, the `mixed` model's
            estimates, or a file of a metric's scores.
        edits: post-edits of the same campaign: a path, or judgments.
        acceptability: judgments of these edits: a path, or judgments.
        seed: of everything drawn at random.
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
        seed=seed,
    )
    names = only.split(",") if isinstance(only, str) else only
    return make_audit(single_pair(source, reading, doing="audit"), only=names, settings=settings)


def _companion(source: Any, format_name: str) -> Judgments | None:
    """Judgments as they are; a file as the native table or as the format of its kind."""
    from adjudge.audit import read_companion
    from adjudge.core.judgments import Judgments
    from adjudge.formats import ReadOptions

    if source is None or isinstance(source, Judgments):
        return source
    return read_companion(Path(source), format_name, ReadOptions())
