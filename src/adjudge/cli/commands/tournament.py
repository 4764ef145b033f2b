"""`adjudge tournament`: cycles among systems, and the order with the fewest contradictions."""

from typing import Annotated

import typer

from adjudge.cli import options as o
from adjudge.cli.reading import Reading


def tournament(
    files: o.Files,
    reading: Reading,
    time_limit: Annotated[float, typer.Option(help="CPU seconds for proving that the order is optimal.")] = 60.0,
    seed: o.Seed = o.DEFAULT_SEED,
    json: o.Json = False,
    output: o.Output = None,
) -> None:
    """Find cycles, and the order of systems that contradicts the fewest judgments.

    Example: adjudge tournament data_RNK.csv --format wmt-ranking --pair fr-en
    """
    from adjudge.cli.output import for_each_pair, write_output
    from adjudge.core.errors import UsageError
    from adjudge.rank.tournament import tournament

    if time_limit <= 0:
        raise UsageError(f"--time-limit is {time_limit:g}, it must be more than 0 seconds")
    parts = reading.by_pair(files)
    results = for_each_pair(parts, lambda part: tournament(part, time_limit=time_limit, seed=seed))
    write_output(results, json=json, output=output)
