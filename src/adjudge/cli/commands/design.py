"""`adjudge design`: creates tasks from texts and system outputs, and shows their balance."""

from pathlib import Path
from typing import Annotated

import typer

from adjudge.cli import options as o


def design(
    campaign: Annotated[Path, typer.Argument(metavar="CAMPAIGN", help="The campaign file, usually campaign.toml.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the tasks to this JSON file. Default: only show the balance."),
    ] = None,
    appraise_batches: Annotated[
        Path | None, typer.Option(help="Also write the tasks as Appraise batches (JSON).")
    ] = None,
    select: Annotated[
        str | None,
        typer.Option(
            metavar="outputs|FILE",
            help="Sample design.segments segments with known probabilities. 'outputs' prefers segments whose outputs "
            "differ most; a FILE gives a number per segment, and larger numbers are preferred.",
        ),
    ] = None,
    json: o.Json = False,
) -> None:
    """Create the tasks of a campaign and show how balanced they are.

    Example: adjudge design examples/da/campaign.toml -o tasks.json
    """
    import sys

    from adjudge.cli.output import write_output
    from adjudge.design.balance import measure_balance
    from adjudge.design.campaign.toml_file import load_campaign, set_selection
    from adjudge.design.input_texts import read_texts
    from adjudge.design.make import design as make_tasks
    from adjudge.design.tasks import save_tasks

    chosen = load_campaign(campaign)
    if select is not None:
        chosen = set_selection(chosen, select)
    testset = read_texts(chosen)
    tasks = make_tasks(chosen, testset)
    report = measure_balance(tasks, chosen, testset)
    if appraise_batches is not None:
        from adjudge.core.wording import counted
        from adjudge.design.appraise import write_batches

        filled = write_batches(tasks, appraise_batches)
        print(
            f"wrote {appraise_batches} ({counted(filled, 'repeat')} added to fill tasks up to 100 items)",
            file=sys.stderr,
        )
    if output is not None:
        save_tasks(tasks, output)
        print(f"wrote {output}", file=sys.stderr)
    write_output({"all": report}, json=json, output=None)
