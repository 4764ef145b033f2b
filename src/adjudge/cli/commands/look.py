"""`adjudge look`: sequential testing while a campaign runs."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from adjudge.cli import options as o
from adjudge.cli.reading import Reading


def look(
    files: o.Files,
    reading: Reading,
    planned: Annotated[
        int | None,
        typer.Option(help="Planned number of judgments, without controls; a comparison counts as two. Required."),
    ] = None,
    looks: Annotated[int | None, typer.Option(help="Planned number of looks. Required.")] = None,
    history: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File with the earlier looks; this look is added to it.")
    ] = None,
    goal: Annotated[str, typer.Option(help="What to settle: pairs, best, or top:k.")] = "pairs",
    between: Annotated[
        list[str] | None, typer.Option(metavar="A,B", help="A pair to compare; may be repeated. Default: all pairs.")
    ] = None,
    spending: Annotated[
        Literal["kim-demets", "obrien-fleming", "pocock", "anytime"],
        typer.Option(help="How the level is spread over looks; anytime allows any number of looks."),
    ] = "kim-demets",
    level: Annotated[
        float, typer.Option(help="Largest probability of any false claim, over all claims and looks.")
    ] = 0.05,
    final: Annotated[
        bool,
        typer.Option("--final", help="The last look of a campaign that ended early; it uses the rest of the level."),
    ] = False,
    method: Annotated[str | None, o.method_option("Ranking method. Default: as in 'adjudge rank'.")] = None,
    seed: o.Seed = o.DEFAULT_SEED,
    json: o.Json = False,
    output: o.Output = None,
) -> None:
    """Check during a campaign which claims are settled, which are open, and whether to stop.

    Example: adjudge look judgments.parquet --planned 5000 --looks 5 --goal best --history looks.json
    """
    from adjudge.cli.output import for_each_pair, write_output
    from adjudge.core.errors import UsageError
    from adjudge.look import look

    if planned is None or looks is None:
        raise UsageError(
            "a look needs a plan, made before the first one; give the judgments planned in all with --planned, and how "
            "many looks with --looks"
        )
    parts = reading.by_pair(files)
    if history is not None and len(parts) > 1:
        raise UsageError(
            f"a history is of one language pair, the files hold {', '.join(parts)}; choose one with --pair"
        )
    pairs = tuple(_pair(text) for text in between or ())
    results = for_each_pair(
        parts,
        lambda part: look(
            part,
            planned=planned,
            looks=looks,
            goal=goal,
            between=pairs,
            spending=spending,
            level=level,
            history=history,
            final=final,
            method=method,
            seed=seed,
        ),
    )
    write_output(results, json=json, output=output)


def _pair(text: str) -> tuple[str, str]:
    from adjudge.core.errors import UsageError

    first, _, second = (part.strip() for part in text.partition(","))
    if not first or not second or first == second:
        raise UsageError(f"--between is '{text}'; give two systems joined by a comma")
    return first, second
