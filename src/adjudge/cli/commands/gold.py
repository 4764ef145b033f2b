"""`adjudge gold`: a human score for every document or segment, and how well a second run repeats it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adjudge.cli import options as o
from adjudge.cli.reading import Reading

if TYPE_CHECKING:
    from adjudge.core.judgments import Judgments


def gold(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN", help="One or two runs: a file or a folder each.")],
    reading: Reading,
    keys: Annotated[
        Path | None, typer.Option(help="Table that maps segments to documents, for judgments that do not say it.")
    ] = None,
    all_annotators: Annotated[
        bool, typer.Option(help="Keep annotators who do not pass the check on controls.")
    ] = False,
    orders: Annotated[int, typer.Option(help="Random orders for the band around the curve.")] = 200,
    seed: o.Seed = o.DEFAULT_SEED,
    report: o.ReportFile = None,
    json: o.Json = False,
    output: o.Output = None,
) -> None:
    """Score documents or segments from human judgments; with two runs, say how well the second repeats the first.

    Example: adjudge gold runA/ runB/ --format mturk-da --keys seg-key.txt
    """
    from adjudge.cli.output import for_each_pair, write_output, write_standard_page
    from adjudge.core.errors import UsageError
    from adjudge.meta.gold import gold
    from adjudge.meta.keys import read_keys

    if len(runs) > 2:
        raise UsageError(f"{len(runs)} runs were given, one or two are needed; join files of one run in a folder")
    if orders < 0:
        raise UsageError(f"--orders is {orders}, it must be 0 or more")
    parts = _by_pair([reading.read([run]) for run in runs])
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


def _by_pair(tables: "list[Judgments]") -> "dict[str, list[Judgments]]":
    """The runs of every language pair; where each run holds one pair only, they belong together whatever it is."""
    from adjudge.core.errors import DataError

    first = tables[0].pairs
    if all(len(table.pairs) == 1 for table in tables):
        return {first[0]: tables}
    common = [name for name in first if all(name in table.pairs for table in tables)]
    if not common:
        held = " and ".join(", ".join(table.pairs) for table in tables)
        raise DataError(f"the runs have no language pair in common, they hold {held}; check --pair")
    return {name: [table.for_pair(name) for table in tables] for name in common}
