"""`adjudge plan`: the number of judgments that each design needs for a given power."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from adjudge.cli import options as o
from adjudge.cli.reading import Reading

if TYPE_CHECKING:
    from adjudge.core.judgments import Judgments


def plan(
    reading: Reading,
    systems: Annotated[int, typer.Option(help="Number of systems.")] = 8,
    protocol: Annotated[
        Literal["scores", "ranking", "pairwise"],
        typer.Option(help="How annotators judge: scores, ranking of blocks, or pairwise comparison."),
    ] = "scores",
    difference: Annotated[
        float | None,
        typer.Option(
            help="Smallest difference to detect. Default: 3 points of 100; for rankings and pairs, 0.3 log-odds."
        ),
    ] = None,
    block_size: Annotated[int, typer.Option(help="Rankings: systems per block.")] = 5,
    power: Annotated[float, typer.Option(help="Probability of detecting the difference.")] = 0.8,
    level: Annotated[float, typer.Option(help="Significance level over all comparisons together.")] = 0.05,
    comparisons: Annotated[
        int | None, typer.Option(help="Number of comparisons to correct for. Default: all pairs.")
    ] = None,
    annotators: Annotated[int, typer.Option(help="Number of annotators.")] = 10,
    documents: Annotated[int, typer.Option(help="Number of documents available.")] = 200,
    segments: Annotated[int, typer.Option(help="Segments per document.")] = 8,
    page: Annotated[
        int | None, typer.Option(help="Largest number of segments on a page. Default: whole documents.")
    ] = None,
    task_size: Annotated[int, typer.Option(help="Judgments per task, including controls.")] = 100,
    controls: Annotated[float, typer.Option(help="Share of control items in a task.")] = 0.2,
    per_item: Annotated[str, typer.Option(help="Numbers of judgments per item to try, comma-separated.")] = "1,2",
    structures: Annotated[str, typer.Option(help="Designs to try, comma-separated. Default: all.")] = "",
    seconds: Annotated[
        float | None, typer.Option(help="Seconds per judgment (default 20) or per block (default 60).")
    ] = None,
    like: Annotated[
        list[Path] | None,
        typer.Option(help="Judgments to take the variances from. Default: those of large shared tasks."),
    ] = None,
    looks: Annotated[
        int, typer.Option(help="Number of looks during the campaign, for the comparison of goals and policies.")
    ] = 5,
    spending: Annotated[
        Literal["kim-demets", "obrien-fleming", "pocock"], typer.Option(help="How the level is spread over looks.")
    ] = "kim-demets",
    select: Annotated[
        Path | None,
        typer.Option(help="A file with a number per segment for sampling segments, as in 'adjudge design --select'."),
    ] = None,
    draws: Annotated[int, typer.Option(help="Campaigns to simulate with the recommended design; 0 for none.")] = 30,
    plot: Annotated[Path | None, typer.Option(help="Write a chart to this file: .svg or .png.")] = None,
    seed: o.Seed = o.DEFAULT_SEED,
    json: o.Json = False,
    output: o.Output = None,
) -> None:
    """Compute how many judgments each design needs to detect a difference.

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
    """The judgments from which the variances are taken; they must have one language pair."""
    from adjudge.core.errors import UsageError

    parts = reading.by_pair(files)
    if len(parts) > 1:
        raise UsageError(f"the files hold {len(parts)} language pairs ({', '.join(parts)}); choose one with --pair")
    return next(iter(parts.values()))
