"""`adjudge judge`: a language model judges the outputs of a campaign."""

from pathlib import Path
from typing import Annotated

import typer

from adjudge.cli import options as o


def judge(
    campaign: Annotated[
        Path, typer.Argument(metavar="CAMPAIGN", help="The campaign file, or its tasks from 'adjudge design' (JSON).")
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The judgment table to write: .parquet, .csv or .tsv."),
    ] = None,
    endpoint: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Address of an OpenAI-compatible endpoint, such as http://127.0.0.1:8000/v1."),
    ] = None,
    model: Annotated[str | None, typer.Option(help="The model to ask at the endpoint.")] = None,
    command: Annotated[
        str | None,
        typer.Option(metavar="PROGRAM", help="Instead: a program that reads a prompt and prints the answer."),
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="The judge's name in the table, after 'judge:'. Default: model or program.")
    ] = None,
    prompt: Annotated[
        Path | None, typer.Option(help="A file with the prompt, with placeholders such as {source} and {output}.")
    ] = None,
    repeats: Annotated[
        float, typer.Option(help="Questions to ask twice, for self-agreement: a share below 1, or a number.")
    ] = 0.0,
    parameters: Annotated[
        str, typer.Option(metavar="JSON", help="Further fields of the request.")
    ] = '{"temperature": 0}',
    key_variable: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Environment variable with the key. Default: ADJUDGE_JUDGE_KEY, if set."),
    ] = None,
    jobs: Annotated[int, typer.Option(help="Number of questions asked at the same time.")] = 1,
    retries: Annotated[int, typer.Option(help="Further tries if the endpoint is busy or fails.")] = 5,
    timeout: Annotated[float, typer.Option(help="Seconds to wait for an answer.")] = 120.0,
    ask_again: Annotated[
        bool, typer.Option("--ask-again", help="Ask again what could not be used in an earlier run.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show one prompt and count the questions; nothing is sent.")
    ] = False,
    seed: o.Seed = o.DEFAULT_SEED,
    json: o.Json = False,
) -> None:
    """Let a language model judge the outputs of a campaign, as a machine judge that never counts as a person.

    Answers are kept beside the output as they come. Run the same command again to ask what is missing.

    Example: adjudge judge campaign.toml --endpoint http://127.0.0.1:8000/v1 --model NAME -o judge.parquet
    """
    import sys

    from adjudge.cli.output import progress, write_output
    from adjudge.core.errors import UsageError
    from adjudge.judge import JudgeSettings, preview
    from adjudge.judge import judge as ask_judge

    settings = JudgeSettings(
        endpoint=endpoint,
        model=model,
        command=command,
        name=name,
        prompt=prompt,
        repeats=repeats,
        parameters=parameters,
        key_variable=key_variable,
        jobs=jobs,
        retries=retries,
        timeout=timeout,
        ask_again=ask_again,
        seed=seed,
    )
    if dry_run:
        shown = preview(campaign, settings=settings)
        if not json:
            print(shown.prompt)
        write_output({"all": shown}, json=json, output=None)
        return
    if output is None:
        raise UsageError("--output is missing; name the judgment table to write, such as judge.parquet")
    try:
        with progress() as tell:
            result = ask_judge(campaign, output, settings=settings, tell=tell)
    except KeyboardInterrupt:
        print("adjudge: the answers so far are kept; run the same command to go on", file=sys.stderr)
        raise
    print(f"wrote {output}", file=sys.stderr)
    write_output({"all": result}, json=json, output=None)
