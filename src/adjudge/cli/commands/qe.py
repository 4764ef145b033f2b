"""`adjudge qe`: document-level quality estimation evaluated against post-edits."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adjudge.cli import options as o

if TYPE_CHECKING:
    from adjudge.meta.quality_estimation import Prices


def qe(
    texts: Annotated[
        Path,
        typer.Argument(
            metavar="TEXTS", help="TSV with the columns document, mt, pe1 and, for two-stage post-editing, pe2."
        ),
    ],
    predictions: Annotated[
        Path | None, typer.Option(help="Table with a column document and one column per system; higher is worse.")
    ] = None,
    weight: Annotated[float | None, typer.Option(help="Weight of the second post-edit in the label.")] = None,
    baseline: Annotated[
        str | None,
        typer.Option(help="Baseline system for choosing the weight by the rule of WMT 2016, if no weight is given."),
    ] = None,
    largest: Annotated[float, typer.Option(help="Largest weight to try.")] = 50.0,
    direct: Annotated[
        Path | None,
        typer.Option(help="Direct assessment scores of the documents: a table, or JSON from 'adjudge gold'."),
    ] = None,
    assessments: Annotated[int | None, typer.Option(help="Costs: number of direct assessments.")] = None,
    assessment_price: Annotated[float | None, typer.Option(help="Costs: price of one assessment.")] = None,
    word_price: Annotated[
        tuple[float, float] | None, typer.Option(help="Costs: low and high price per post-edited word.")
    ] = None,
    report: o.ReportFile = None,
    json: o.Json = False,
    output: o.Output = None,
) -> None:
    """Score documents from post-edits, and rank quality-estimation systems for every weight.

    Example: adjudge qe edits.tsv --predictions predictions.tsv --baseline BASELINE
    """
    from adjudge.cli.output import write_output, write_standard_page
    from adjudge.meta.quality_estimation import qe

    result = qe(
        texts,
        predictions,
        weight=weight,
        baseline=baseline,
        largest=largest,
        direct=direct,
        prices=_prices(assessments, assessment_price, word_price),
    )
    write_standard_page(result, report, title=texts.stem)
    write_output({"all": result}, json=json, output=output)


def _prices(assessments: int | None, price: float | None, words: tuple[float, float] | None) -> "Prices | None":
    from adjudge.core.errors import UsageError
    from adjudge.meta.quality_estimation import Prices

    given = (assessments, price, words)
    if all(value is None for value in given):
        return None
    if assessments is None or price is None or words is None:
        raise UsageError("costs need --assessments, --assessment-price and --word-price LOW HIGH together")
    return Prices(assessments, price, *words)
