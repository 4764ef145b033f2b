"""Commands on judgments: `check`, `agree`, `rank`, `tournament`, `import`."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge.ranking.methods import RankSettings
from adjudge.shell.declare import ANALYSIS, command
from adjudge.shell.options import check_table
from adjudge.shell.reading import Judged, check_one_pair
from adjudge.table.errors import DataError, param
from adjudge.table.settings import by_option, method_option, option

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adjudge.people.check import CheckRule
    from adjudge.people.coefficients import AgreeOptions
    from adjudge.people.results import Agreement, Checked
    from adjudge.ranking.ranking import Ranking
    from adjudge.ranking.tournament import Tournament, TournamentSettings
    from adjudge.readers.summary import Imported
    from adjudge.table.judgments import Judgments


@dataclass(frozen=True)
class Kept:
    """Where `check` writes what it keeps."""

    kept: Path | None = option(
        None,
        "Write the judgments of the annotators who pass to this table. The input is not changed.",
        only="command line",
        check=check_table,
        after="keep_rejected",
    )


@command(
    "check",
    ANALYSIS,
    "adjudge check batches/ --format mturk-da --kept kept.parquet",
    settings="adjudge.people.check:CheckRule",
    work=True,
)
def check(judged: Judged, settings: CheckRule, kept: Kept) -> Checked:
    """Check each annotator: control items, repeats, pace, runs of equal answers, copied work, agreement."""
    from adjudge.evidence.annotator_fit import check_with_fit
    from adjudge.shell.large_files import check_memory

    if (file := judged.large_file()) is not None:
        check_memory(file)
    parts = judged.by_pair(everyone=True)

    def write_kept(results: Mapping[str, Checked]) -> None:
        if kept.kept is not None:
            _write_kept(parts, results, kept.kept)

    return judged.reading.each(parts, lambda part: check_with_fit(part, rule=settings), then=write_kept)


def _write_kept(parts: Mapping[str, Judgments], results: Mapping[str, Checked], path: Path) -> None:
    import polars as pl

    from adjudge.readers import native
    from adjudge.table.judgments import concat

    chosen = []
    for name, part in parts.items():
        passing = pl.col("annotator").is_in(list(results[name].passing))
        chosen.append(part.keep(passing, otherwise="annotator who did not pass the check"))
    native.write(concat(chosen), path)


@dataclass(frozen=True)
class Pooled:
    """Whether `agree` takes language pairs together, which it always does in Python."""

    pooled: bool = option(False, "Pool all language pairs of the files.", "--pooled", only="command line")


@command(
    "agree",
    ANALYSIS,
    "adjudge agree data_RNK.csv --format wmt-ranking --pair en-cs",
    about="Measure how well annotators agree with each other and with themselves. Language pairs are pooled.",
    settings="adjudge.people.coefficients:AgreeOptions",
    work=True,
)
def agree(judged: Judged, pooled: Pooled, settings: AgreeOptions) -> Agreement:
    """Measure how well annotators agree with each other and with themselves."""
    from adjudge.people.agreement import measure_agreement
    from adjudge.shell.large_files import check_memory

    reading = judged.reading
    settings = replace(settings, labels=reading.options.labels)
    if (file := judged.large_file()) is not None:
        check_memory(file)
    parts = {"all": judged.read()} if pooled.pooled or reading.caller else judged.by_pair()
    return reading.each(parts, lambda part: measure_agreement(part, settings))


@dataclass(frozen=True)
class RankOptions:
    """How systems are ranked, besides what all methods share."""

    method: str | None = method_option("Ranking method. Default: bradley-terry for rankings, mixed for scores.")
    with_scores: Any = option(
        None,
        "Scores of metrics or LLM judges for all outputs, judged or not, as for 'adjudge meta': they make differences "
        "of systems more precise. Repeat for several files or folders.",
        "--with",
        metavar="SCORES",
        typed=list[Path] | None,
        about="scores of metrics or LLM judges for all outputs, judged or not, which make differences of systems more "
        "precise: a path, several paths, or a data frame as in `meta`; `.helpers` and `.gain` say what they are worth. "
        "For the mixed model and Bradley-Terry. See `docs/helpers.md`.",
        after="zero_sd",
    )
    by: tuple[str, ...] = by_option(after="with_scores")
    explain: bool = option(
        False,
        "Explain why raw means, z-scores, the official rule and the model rank systems differently.",
        "--explain",
        about="whether to say why systems have other ranks by raw means, z-scores, the official rule and the model: "
        "`.explained` has ranks and reasons.",
        after="by",
    )


@command(
    "rank",
    ANALYSIS,
    "adjudge rank data_RNK.csv --format wmt-ranking --pair en-cs --method wins-or-ties",
    work=True,
    brief=True,
)
def rank(judged: Judged, options: RankOptions, settings: RankSettings) -> Ranking:
    """Rank the systems, with intervals, rank sets, clusters and a p-value for every pair.

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
    from adjudge.ranking.methods import MODELLED, find_method, rank_large_file
    from adjudge.ranking.methods import rank as rank_judgments
    from adjudge.readers.registry import as_metric_scores
    from adjudge.shell.large_files import check_memory

    method, by = options.method, options.by
    if method is not None:
        find_method(method)
    if (file := judged.large_file()) is not None:
        plain = judged.reading.is_plain and not by and options.with_scores is None and not options.explain
        counted = rank_large_file(file, method, settings, judged.reading.options) if plain else None
        if counted is not None:
            return counted
        check_memory(file, to_rank=True, modelled=method is None or find_method(method).function == MODELLED)
    helpers = None if options.with_scores is None else as_metric_scores(options.with_scores)
    parts = judged.by_pair(everyone=True)
    if helpers is not None:
        check_one_pair(parts, param("with_scores"))

    def ranked(part: Judgments) -> Ranking:
        from adjudge.evidence.conditions import find_composition, find_oddities
        from adjudge.evidence.verdict import add_verdict
        from adjudge.people.check import quality_of

        quality = quality_of(part, all_count=judged.reading.options.everyone)
        kept, otherwise = quality.kept, None
        ranking = rank_judgments(kept, method=method, settings=settings, helpers=helpers)
        if quality.otherwise is not None:
            with suppress(DataError):
                otherwise = rank_judgments(quality.otherwise, method=method, settings=settings, helpers=helpers)
        oddities, composition = find_oddities(kept), find_composition(ranking.method, kept)
        ranking = add_verdict(ranking, quality.failing, otherwise, oddities, part.record, composition=composition)
        if options.explain:
            from adjudge.evidence.explanation import with_explanation

            ranking = with_explanation(ranking, kept, part if quality.left_out else None)
        if not by:
            return ranking
        from adjudge.evidence.breakdown import with_breakdown

        return with_breakdown(ranking, kept, by, seed=settings.seed)

    return judged.reading.each(parts, ranked)


@command(
    "tournament",
    ANALYSIS,
    "adjudge tournament data_RNK.csv --format wmt-ranking --pair fr-en",
    settings="adjudge.ranking.tournament:TournamentSettings",
    work=True,
)
def tournament(judged: Judged, settings: TournamentSettings) -> Tournament:
    """Find cycles, and the order of systems that contradicts the fewest judgments."""
    from adjudge.ranking.tournament import tournament as play

    return judged.reading.each(judged.by_pair(), lambda part: play(part, settings=settings))


@dataclass(frozen=True)
class ImportedTable:
    """Where `import` writes what it reads."""

    output: Path | None = option(
        None,
        "The judgment table to write: .parquet, .csv or .tsv. Default: none, what was understood is shown alone.",
        "--output",
        "-o",
        check=check_table,
        only="command line",
    )


@command("import", ANALYSIS, "adjudge import data_RNK.csv --format wmt-ranking -o wmt10.parquet", output=False)
def import_(judged: Judged, table: ImportedTable) -> Imported:
    """Read judgments in any supported format, say how they were understood, and write a judgment table."""
    from adjudge.readers import native
    from adjudge.readers.summary import describe
    from adjudge.table.participants import with_judges

    judgments = with_judges(judged.read(everyone=True))
    if table.output is not None:
        native.write(judgments, table.output)
    return describe(judgments, judged.reading.for_files(judged.source).settings)
