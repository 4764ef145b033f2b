"""`adjudge plan`: how many judgments, annotators and which design for the power wanted."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from adjudge.cli import options as o
from adjudge.cli.reading import Reading

if TYPE_CHECKING:
    from adjudge.core.judgments import Judgments


def plan(
    reading: Reading,
    systems: Annotated[int, typer.Option(help="Systems to be compared.")] = 8,
    protocol: Annotated[
        Literal["scores", "ranking", "pairwise"],
        typer.Option(help="What people will do: score, rank blocks, or compare."),
    ] = "scores",
    difference: Annotated[
        float | None,
        typer.Option(
            help="The difference that matters, in points of 100 (3) or, of rankings and pairs, log-odds (0.3)."
        ),
    ] = None,
    block_size: Annotated[int, typer.Option(help="Rankings: systems that are ranked together.")] = 5,
    power: Annotated[float, typer.Option(help="Probability with which the difference is to be found.")] = 0.8,
    level: Annotated[float, typer.Option(help="Level of significance, shared by all comparisons.")] = 0.05,
    comparisons: Annotated[int | None, typer.Option(help="Comparisons that matter; all pairs where left out.")] = None,
    annotators: Annotated[int, typer.Option(help="People who judge.")] = 10,
    documents: Annotated[int, typer.Option(help="Documents at hand.")] = 200,
    segments: Annotated[int, typer.Option(help="Segments of each document.")] = 8,
    page: Annotated[int | None, typer.Option(help="Most segments on a page; whole documents where left out.")] = None,
    task_size: Annotated[int, typer.Option(help="Judgments in a task, controls included.")] = 100,
    controls: Annotated[float, typer.Option(help="Share of controls in a task.")] = 0.2,
    per_item: Annotated[str, typer.Option(help="Judgments per item to try, joined by commas.")] = "1,2",
    structures: Annotated[str, typer.Option(help="Structures to try, joined by commas.")] = "",
    seconds: Annotated[float | None, typer.Option(help="Seconds that a judgment takes (20), or a block (60).")] = None,
    like: Annotated[
        list[Path] | None,
        typer.Option(help="Judgments whose spread is assumed; that of large shared tasks if left out."),
    ] = None,
    looks: Annotated[int, typer.Option(help="Looks on the way, where goals and policies are compared.")] = 5,
    spending: Annotated[
        Literal["kim-demets", "obrien-fleming", "pocock"], typer.Option(help="How looks spend the level.")
    ] = "kim-demets",
    select: Annotated[
        Path | None,
        typer.Option(help="A number per segment by which segments would be chosen, as for design --select."),
    ] = None,
    draws: Annotated[int, typer.Option(help="Simulated campaigns of the recommended design; 0 for none.")] = 30,
    plot: Annotated[Path | None, typer.Option(help="Write a chart to this file: .svg or .png.")] = None,
    seed: o.Seed = o.DEFAULT_SEED,
    json: o.Json = False,
    output: o.Output = None,
) -> None:
    """Find how many judgments each design needs to find a difference of a given size.

    Example: adjudge plan --systems 10 --difference 3 --annotators 15
    """
    import sys

    from adjudge.api.calls import as_command
    from adjudge.api.planning import plan as make_plan
    from adjudge.cli.output import write_output
    from adjudge.results.plan import Plan

    result = as_command(make_plan)(
        protocol=protocol,
        systems=systems,
        difference=difference,
        block_size=block_size,
        power=power,
        level=level,
        comparisons=comparisons,
        annotators=annotators,
        documents=documents,
        segments=segments,
        page=page,
        task_size=task_size,
        controls=controls,
        per_item=_numbers(per_item),
        structures=[name.strip() for name in structures.split(",") if name.strip()],
        seconds=seconds,
        like=(lambda: _pilot(like, reading)) if like else None,
        looks=looks,
        spending=spending,
        select=select,
        draws=draws,
        seed=seed,
        progress=lambda what: print(what, file=sys.stderr) if sys.stderr.isatty() else None,
    )
    if plot is not None and isinstance(result, Plan):
        from adjudge.report.charts.plan import write_plan_chart

        write_plan_chart(result, plot)
        print(f"wrote {plot}", file=sys.stderr)
    write_output({"all": result}, json=json, output=output)


def _numbers(text: str) -> tuple[int, ...]:
    from adjudge.core.errors import UsageError

    try:
        numbers = tuple(int(part) for part in text.split(","))
    except ValueError:
        numbers = (0,)
    if min(numbers) < 1:
        raise UsageError(f"--per-item is '{text}'; give whole numbers from 1, joined by commas")
    return numbers


def _pilot(files: list[Path], reading: Reading) -> "Judgments":
    """The judgments of the one language pair whose spread is assumed."""
    from adjudge.core.errors import UsageError

    parts = reading.by_pair(files)
    if len(parts) > 1:
        raise UsageError(f"the files hold {len(parts)} language pairs ({', '.join(parts)}); choose one with --pair")
    return next(iter(parts.values()))
