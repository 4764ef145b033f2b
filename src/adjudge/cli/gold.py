"""`adjudge gold`: a human score for every document or segment, and how well a second run repeats it."""

from pathlib import Path
from typing import Annotated

import typer

from adjudge.cli import options as o


def gold(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN [RUN]", help="One or two runs: a file or a folder each.")],
    format: o.Format = None,  # noqa: A002
    pair: o.Pair = None,
    keys: Annotated[
        Path | None, typer.Option(help="Table that maps segments to documents, for judgments that do not say it.")
    ] = None,
    all_annotators: Annotated[
        bool, typer.Option(help="Keep annotators who do not pass the check on controls.")
    ] = False,
    orders: Annotated[int, typer.Option(help="Random orders for the band around the curve.")] = 200,
    seed: o.Seed = o.DEFAULT_SEED,
    human: o.Human = None,
    report: o.ReportFile = None,
    json: o.Json = False,
    output: o.Output = None,
) -> None:
    """Score documents or segments from human judgments; with two runs, say how well the second repeats the first.

    Example: adjudge gold runA/ runB/ --format mturk-da --keys seg-key.txt
    """
    from adjudge.cli.report_file import put_report
    from adjudge.cli.shared import put_out, read_options
    from adjudge.core.errors import UsageError
    from adjudge.formats import read
    from adjudge.meta.gold import gold
    from adjudge.meta.keys import read_keys

    if len(runs) > 2:
        raise UsageError(f"{len(runs)} runs were given, one or two are needed; join files of one run in a folder")
    if orders < 0:
        raise UsageError(f"--orders is {orders}, it must be 0 or more")
    options = read_options(human=human, pair=pair)
    tables = [read([run], format=format, options=options) for run in runs]
    if pair is not None:
        tables = [table.for_pair(pair) for table in tables]
    mapping = read_keys(keys) if keys is not None else None
    result = gold(
        tables, names=[str(run) for run in runs], keys=mapping, checked=not all_annotators, orders=orders, seed=seed
    )
    put_report(result, report, title=", ".join(run.stem for run in runs))
    put_out({"all": result}, json=json, output=output)
