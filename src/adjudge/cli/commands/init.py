"""`adjudge init`: a new campaign folder."""

from pathlib import Path
from typing import Annotated, cast

import typer

from adjudge.cli import options as o


def init(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of the new campaign.")],
    protocol: Annotated[
        str, typer.Option("--protocol", help="How people judge: da, ranking, pairwise, sqm, esa, mqm or postedit.")
    ] = "da",
    pair: Annotated[
        str | None, typer.Option("--pair", metavar="SRC-TGT", help="The language pair, such as en-de.")
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option("--source", help="The source text: one segment per line, a blank line between documents."),
    ] = None,
    system: Annotated[
        list[str] | None,
        typer.Option("--system", metavar="NAME=FILE", help="A system's translation of the source. May be repeated."),
    ] = None,
    annotators: Annotated[
        str, typer.Option("--annotators", metavar="N|NAMES", help="Number of annotators, or their names: Marie,Jean.")
    ] = "2",
    json: o.Json = False,
) -> None:
    """Start a campaign: write a folder with a campaign file that explains itself, and with texts.

    Without --source and --system, the texts are made-up examples, so that the campaign can be tried at once.

    Example: adjudge init my-campaign --protocol da --pair en-de
    """
    from adjudge.api.calls import as_command
    from adjudge.api.campaigns import init as start
    from adjudge.cli.output import write_output
    from adjudge.core.errors import unknown_choice
    from adjudge.core.protocols import COLLECTED, CollectedProtocol

    if protocol not in COLLECTED:
        raise unknown_choice("protocol", protocol, COLLECTED)
    started = as_command(start)(
        folder,
        protocol=cast(CollectedProtocol, protocol),
        pair=pair,
        source=source,
        systems=named_files(system),
        annotators=_people(annotators),
    )
    write_output({"all": started}, json=json, output=None)
    if not json:
        print("Next:", *started.next, sep="\n  ")


def named_files(given: list[str] | None) -> dict[str, Path]:
    """The systems and files of `--system NAME=FILE`."""
    from adjudge.core.errors import UsageError

    files: dict[str, Path] = {}
    for text in given or []:
        name, equals, file = text.partition("=")
        if not (equals and name.strip() and file.strip()):
            raise UsageError(f"--system '{text}' is not of the form NAME=FILE; write --system ours=ours.txt")
        if name.strip() in files:
            raise UsageError(f"--system names '{name.strip()}' twice; give every system a name of its own")
        files[name.strip()] = Path(file.strip())
    return files


def _people(text: str) -> int | tuple[str, ...]:
    from adjudge.core.wording import split_names

    # A number below zero is no name either.
    return int(text) if text.strip().removeprefix("-").isdecimal() else split_names(text)
