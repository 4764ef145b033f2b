"""`adjudge rank`: systems in order, with significance, clusters and rank sets."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from adjudge.cli import options as o
from adjudge.cli.reading import Reading

if TYPE_CHECKING:
    from adjudge.core.judgments import Judgments
    from adjudge.results.rank import Ranking


def rank(
    files: o.Files,
    reading: Reading,
    method: Annotated[
        str | None, o.method_option("Ranking method. Default: bradley-terry for rankings, mixed for scores.")
    ] = None,
    reference: Annotated[
        Literal["include", "exclude"] | None, typer.Option(help="Whether to count comparisons with the reference.")
    ] = None,
    lines: Annotated[
        str | None,
        typer.Option(help="Rule for cluster lines: rank-sets, official, scipy-1.6, scipy-1.7, strict, holm or none."),
    ] = None,
    level: Annotated[float, typer.Option(help="Significance level.")] = 0.05,
    significance: Annotated[
        Literal["sign", "resample", "tastes"] | None,
        typer.Option(
            help="Rankings: the test for pairs of systems. sign: sign test on the judgments of the pair; resample: "
            "bootstrap; tastes: model of annotators' tastes (bradley-terry only)."
        ),
    ] = None,
    resamples: Annotated[int | None, typer.Option(help="Bootstrap resamples for rank sets and intervals.")] = None,
    zero_sd: Annotated[
        Literal["drop", "zero"],
        typer.Option(help="z-scores of annotators whose scores are all equal: none (drop) or 0 (zero)."),
    ] = "drop",
    with_scores: Annotated[
        list[Path] | None,
        typer.Option(
            "--with",
            metavar="SCORES",
            help="Scores of metrics or LLM judges for all outputs, judged or not, as for 'adjudge meta': they make "
            "differences of systems more precise. Repeat for several files or folders.",
        ),
    ] = None,
    by: o.By = None,
    seed: o.Seed = o.DEFAULT_SEED,
    json: o.Json = False,
    output: o.Output = None,
) -> None:
    """Rank the systems, with intervals, rank sets, clusters and a p-value for every pair.

    Example: adjudge rank data_RNK.csv --format wmt-ranking --pair en-cs --method wins-or-ties
    """
    from adjudge.api.large_files import check_memory_to_rank, is_large
    from adjudge.cli.output import for_each_pair, write_output
    from adjudge.core.errors import UsageError
    from adjudge.formats.metric_score_files import read_metric_scores
    from adjudge.rank import RankSettings, rank, rank_large_file
    from adjudge.rank.methods import find_method

    if method is not None:
        find_method(method)
    settings = RankSettings(reference, lines, level, significance, resamples, zero_sd, seed)
    if is_large(files):
        counted = reading.is_plain and not by and not with_scores
        large = rank_large_file(files[0], method, settings, reading.options) if counted else None
        if large is not None:
            write_output({"all": large}, json=json, output=output)
            return
        check_memory_to_rank(files[0])
    helpers = read_metric_scores(with_scores) if with_scores else None
    parts = reading.by_pair(files)
    if helpers is not None and len(parts) > 1:
        raise UsageError(f"--with has scores of one language pair, the judgments have {', '.join(parts)}; give --pair")

    def ranked(part: "Judgments") -> "Ranking":
        ranking = rank(part, method=method, settings=settings, helpers=helpers)
        if not by:
            return ranking
        from adjudge.audit.breakdown import with_breakdown

        return with_breakdown(ranking, part, by, seed=seed)

    write_output(for_each_pair(parts, ranked), json=json, output=output)
