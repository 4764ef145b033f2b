"""`adjudge rank`: systems in order, with significance, clusters and rank sets."""

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
    from adjudge.rank import RankSettings, rank, rank_large_file
    from adjudge.rank.methods import find_method

    if method is not None:
        find_method(method)
    settings = RankSettings(reference, lines, level, significance, resamples, zero_sd, seed)
    if is_large(files):
        counted = reading.is_plain and not by
        large = rank_large_file(files[0], method, settings, reading.options) if counted else None
        if large is not None:
            write_output({"all": large}, json=json, output=output)
            return
        check_memory_to_rank(files[0])
    # Only now: it takes as long to import as a file of a million rows takes to be ranked.
    from adjudge.audit.breakdown import with_breakdown

    parts = reading.by_pair(files)

    def ranked(part: "Judgments") -> "Ranking":
        return with_breakdown(rank(part, method=method, settings=settings), part, by or (), seed=seed)

    write_output(for_each_pair(parts, ranked), json=json, output=output)
