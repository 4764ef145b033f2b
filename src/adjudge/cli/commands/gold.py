"""`adjudge gold`: human scores of documents or segments, and how well two runs agree."""

from pathlib import Path
from typing import Annotated

import typer

from adjudge.cli import options as o
from adjudge.cli.reading import Reading


def gold(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN", help="One or two runs, each a file or a folder.")],
    reading: Reading,
    keys: o.Keys = None,
    all_annotators: Annotated[bool, typer.Option(help="Keep annotators who fail the check on control items.")] = False,
    orders: Annotated[int, typer.Option(help="Random orders of judgments for the band around the curve.")] = 200,
    seed: o.Seed = o.DEFAULT_SEED,
    report: o.ReportFile = None,
    json: o.Json = False,
    output: o.Output = None,
) -> None:
    """Compute human scores of documents or segments; with two runs, how well they correlate.

    Example: adjudge gold runA/ runB/ --format mturk-da --keys seg-key.txt
    """
    from adjudge.cli.output import for_each_pair, write_output, write_standard_page
    from adjudge.core.errors import UsageError
    from adjudge.meta.document_keys import read_keys
    from adjudge.meta.gold import check_gold, gold, runs_by_pair

    check_gold(len(runs), orders)
    parts = runs_by_pair([reading.read([run]) for run in runs])
    if report is not None and len(parts) > 1:
        raise UsageError(f"--report shows one language pair, the runs hold {', '.join(parts)}; choose with --pair")
    mapping = read_keys(keys) if keys is not None else None
    names = [str(run) for run in runs]
    results = for_each_pair(
        parts,
        lambda part: gold(part, names=names, keys=mapping, checked=not all_annotators, orders=orders, seed=seed),
    )
    if report is not None:
        write_standard_page(next(iter(results.values())), report, title=", ".join(run.stem for run in runs))
    write_output(results, json=json, output=output)
