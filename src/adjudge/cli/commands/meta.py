"""`adjudge meta`: evaluates metrics against human scores."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from adjudge.cli import options as o
from adjudge.cli.reading import Reading


def meta(
    gold: Annotated[
        Path, typer.Argument(metavar="GOLD", help="Human scores: a table, a *.seg.score file, or judgments.")
    ],
    reading: Reading,
    scores: Annotated[
        list[Path] | None, typer.Argument(metavar="SCORES", help="Metric scores: tables, score files or folders.")
    ] = None,
    format: Annotated[  # noqa: A002
        str | None,
        typer.Option(
            "--format", "-f", help="Format of GOLD if it holds judgments; 'judgments' for the judgment table."
        ),
    ] = None,
    gold_column: Annotated[str | None, typer.Option(help="Column of GOLD with the human scores.")] = None,
    gold_method: Annotated[
        str | None,
        typer.Option(
            help="Ranking method that turns rankings and pairs into system scores. Default: bradley-terry.",
            autocompletion=o.complete_methods,
        ),
    ] = None,
    lower_is_better: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="A metric (or the human column) where lower is better; its sign is reversed."
        ),
    ] = None,
    references: Annotated[
        list[Path] | None, typer.Option(help="Reference translations, to compute BLEU, chrF and TER of --outputs.")
    ] = None,
    outputs: Annotated[
        list[str] | None, typer.Option(metavar="NAME=FILE", help="Output of a system; repeat for each system.")
    ] = None,
    tokenize: Annotated[str, typer.Option(help="sacrebleu's tokenizer for BLEU.")] = "13a",
    permutations: Annotated[
        int, typer.Option(help="Permutations per test; more are used if there are many metrics.")
    ] = 1000,
    resamples: Annotated[int, typer.Option(help="Bootstrap resamples of documents (or segments) for intervals.")] = 500,
    seed: o.Seed = o.DEFAULT_SEED,
    report: o.ReportFile = None,
    json: o.Json = False,
    output: o.Output = None,
) -> None:
    """Correlate metrics with human scores, and test which metric is better.

    Example: adjudge meta human.tsv metrics.tsv
    """
    from adjudge.cli.output import write_output, write_standard_page
    from adjudge.meta import meta

    result = meta(
        gold if format is None else replace(reading, format=format).read([gold]),
        scores or [],
        gold_column=gold_column,
        gold_method=gold_method,
        lower_is_better=lower_is_better or [],
        references=references or [],
        outputs=_named_files(outputs or []),
        tokenize=tokenize,
        permutations=permutations,
        resamples=resamples,
        seed=seed,
    )
    write_standard_page(result, report, title=gold.stem)
    write_output({"all": result}, json=json, output=output)


def _named_files(outputs: list[str]) -> dict[str, Path]:
    """The file of every system, named by NAME=FILE or by the file itself."""
    from adjudge.core.errors import UsageError

    named: dict[str, Path] = {}
    for output in outputs:
        name, _, file = output.rpartition("=")
        named[name or Path(file).stem] = Path(file)
    if len(named) < len(outputs):
        raise UsageError("--outputs names a system twice; give each its own NAME=FILE")
    return named
