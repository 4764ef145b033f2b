"""`adjudge check`: quality control of annotators."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adjudge.cli import options as o
from adjudge.cli.reading import Reading
from adjudge.core.passing_rule import LEAST_SECONDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adjudge.core.judgments import Judgments
    from adjudge.results.check import Checked


def check(
    files: o.Files,
    reading: Reading,
    test: Annotated[
        str, typer.Option(help="Test on control items: paired-t, paired-t-two-sided, welch, signed-rank or rank-sum.")
    ] = "paired-t",
    level: Annotated[float, typer.Option(help="Keep annotators whose p-value on controls is at most this.")] = 0.05,
    least_seconds: Annotated[
        float,
        typer.Option(help="Drop annotators faster than this on average, in seconds per judgment; 0 accepts any pace."),
    ] = LEAST_SECONDS,
    longest_run: Annotated[
        int | None, typer.Option(help="Drop annotators who gave the same answer more often than this in a row.")
    ] = None,
    keep_rejected: Annotated[bool, typer.Option(help="Keep annotators with rejected work.")] = False,
    kept: Annotated[
        Path | None,
        typer.Option(
            callback=o.check_table,
            help="Write the judgments of the annotators who pass to this table. The input is not changed.",
        ),
    ] = None,
    json: o.Json = False,
    output: o.Output = None,
) -> None:
    """Check each annotator: control items, repeats, pace, runs of equal answers, copied work.

    Example: adjudge check batches/ --format mturk-da --kept kept.parquet
    """
    from adjudge.api.large_files import check_memory, is_large
    from adjudge.check.annotators import CheckRule, check
    from adjudge.cli.output import for_each_pair, write_output

    rule = CheckRule(test, level, least_seconds, longest_run, not keep_rejected)
    if is_large(files):
        check_memory(files[0])
    parts = reading.by_pair(files)
    results = for_each_pair(parts, lambda part: check(part, rule=rule))
    if kept is not None:
        _write_kept(parts, results, kept)
    write_output(results, json=json, output=output)


def _write_kept(parts: "Mapping[str, Judgments]", results: "Mapping[str, Checked]", path: Path) -> None:
    import polars as pl

    from adjudge.core.judgments import concat
    from adjudge.formats import native

    chosen = [
        part.keep(
            pl.col("annotator").is_in(list(results[name].passing)), otherwise="annotator who did not pass the check"
        )
        for name, part in parts.items()
    ]
    native.write(concat(chosen), path)
