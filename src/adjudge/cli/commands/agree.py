"""`adjudge agree`: agreement within and between annotators."""

from typing import Annotated, Literal

import typer

from adjudge.cli import options as o
from adjudge.cli.reading import Reading


def agree(
    files: o.Files,
    reading: Reading,
    pooled: Annotated[bool, typer.Option("--pooled", help="Pool all language pairs of the files.")] = False,
    texts: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[LANG=]FILE",
            help="Source text with segment n on line n, for agreement by length. Once, or once per source language.",
        ),
    ] = None,
    length_unit: Annotated[Literal["words", "characters"], typer.Option(help="Unit of text length.")] = "words",
    resamples: Annotated[
        int, typer.Option(help="Bootstrap resamples of annotators for intervals; 0 for no intervals.")
    ] = 1000,
    seed: o.Seed = o.DEFAULT_SEED,
    json: o.Json = False,
    output: o.Output = None,
) -> None:
    """Measure how well annotators agree with each other and with themselves.

    Example: adjudge agree data_RNK.csv --format wmt-ranking --pair en-cs
    """
    from adjudge.agree import agree, read_source_texts
    from adjudge.api.large_files import check_memory, is_large
    from adjudge.cli.output import for_each_pair, write_output

    sources = read_source_texts(texts) if texts else None
    if is_large(files):
        check_memory(files[0])
    parts = {"all": reading.read(files)} if pooled else reading.by_pair(files)
    labels = reading.options.labels
    results = for_each_pair(
        parts,
        lambda part: agree(part, labels=labels, texts=sources, length_unit=length_unit, resamples=resamples, seed=seed),
    )
    write_output(results, json=json, output=output)
