"""`adjudge meta`: metrics and quality estimation against human scores."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adjudge.cli import options as o
from adjudge.cli.reading import Reading

if TYPE_CHECKING:
    from adjudge.core.judgments import Judgments
    from adjudge.formats.metric_scores import MetricScore


def meta(
    gold: Annotated[Path, typer.Argument(metavar="GOLD", help="Human scores: a table, *.seg.score, or judgments.")],
    reading: Reading,
    scores: Annotated[
        list[Path] | None, typer.Argument(metavar="SCORES", help="Metric scores: tables, score files, folders.")
    ] = None,
    format: Annotated[  # noqa: A002
        str | None,
        typer.Option(
            "--format", "-f", help="Format of GOLD where it holds judgments; 'judgments' for the native table."
        ),
    ] = None,
    gold_column: Annotated[str | None, typer.Option(help="Column of GOLD that holds the human scores.")] = None,
    lower_is_better: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A metric (or the human column) that counts errors; turned round."),
    ] = None,
    references: Annotated[
        list[Path] | None, typer.Option(help="Reference texts, to compute BLEU, chrF and TER of --outputs.")
    ] = None,
    outputs: Annotated[
        list[str] | None, typer.Option(metavar="NAME=FILE", help="Output of a system; once for each system.")
    ] = None,
    tokenize: Annotated[str, typer.Option(help="sacrebleu's tokenizer for BLEU.")] = "13a",
    permutations: Annotated[int, typer.Option(help="Permutations of each test.")] = 1000,
    resamples: Annotated[int, typer.Option(help="Resamples of segments for intervals.")] = 500,
    seed: o.Seed = o.DEFAULT_SEED,
    report: o.ReportFile = None,
    json: o.Json = False,
    output: o.Output = None,
) -> None:
    """Evaluate metrics against human scores, and compare every two of them; computes BLEU, chrF and TER from texts.

    Example: adjudge meta human.tsv metrics.tsv
    """
    from adjudge.cli.output import write_output, write_standard_page
    from adjudge.core.errors import UsageError
    from adjudge.formats.metric_scores import read_metric_scores
    from adjudge.meta.evaluate import evaluate
    from adjudge.meta.humans import from_judgments, from_table
    from adjudge.meta.join import fingerprint, join
    from adjudge.meta.text_metrics import TURNED

    if permutations < 1 or resamples < 0:
        raise UsageError("--permutations must be at least 1 and --resamples at least 0")
    judgments = None if format is None else _judgments(gold, replace(reading, format=format))
    people, made = (from_table([gold], gold_column), None) if judgments is None else from_judgments(judgments)
    names = {one.metric for one in people}
    # A table may hold human and metric scores side by side: the human column is no metric.
    given = scores or []
    machines = [one for one in read_metric_scores(given) if one.metric not in names or gold not in given]
    computed, made_with, notes = _computed(references or [], outputs or [], tokenize, given=bool(given))
    if not notes and any(path.suffix == ".json" for path in given) and any(one.metric == "TER" for one in machines):
        notes = (TURNED,)
    machines += computed
    people, machines = _turned(people, machines, lower_is_better or [])
    joined, aside = join(people, machines)
    moved = _perturbations(judgments, machines)
    result = evaluate(
        joined,
        permutations=permutations,
        resamples=resamples,
        seed=seed,
        data=fingerprint([*people, *machines]),
        set_aside=(*(made.set_aside if made is not None else ()), *aside),
        perturbations=moved,
        made_with={**made_with, "lower_is_better": ",".join(lower_is_better)} if lower_is_better else made_with,
        notes=(*(made.notes if made is not None else ()), *notes),
    )
    write_standard_page(result, report, title=gold.stem)
    write_output({"all": result}, json=json, output=output)


def _turned(
    people: "list[MetricScore]", machines: "list[MetricScore]", names: list[str]
) -> "tuple[list[MetricScore], list[MetricScore]]":
    """Both sides with error counts turned round."""
    from adjudge.formats.metric_scores import turned_round

    turned = turned_round([*people, *machines], names)
    return turned[: len(people)], turned[len(people) :]


def _computed(
    references: list[Path], outputs: list[str], tokenize: str, *, given: bool
) -> "tuple[list[MetricScore], dict[str, str], tuple[str, ...]]":
    """BLEU, chrF and TER where texts were given, with sacrebleu's signatures and a note."""
    from adjudge.core.errors import UsageError

    if bool(references) != bool(outputs):
        raise UsageError("--references and --outputs belong together; give both to compute BLEU, chrF and TER")
    if not references:
        if not given:
            raise UsageError("there is no metric; give files of scores, or --references and --outputs")
        return [], {}, ()
    from adjudge.meta.text_metrics import TURNED, read_texts, text_metrics

    named: dict[str, Path] = {}
    for one in outputs:
        name, _, file = one.rpartition("=")
        named[name or Path(file).stem] = Path(file)
    if len(named) < len(outputs):
        raise UsageError("--outputs names a system twice; give each its own NAME=FILE")
    scores, signatures = text_metrics(read_texts(references, named), tokenize=tokenize)
    return scores, signatures, (TURNED,)


def _judgments(gold: Path, reading: Reading) -> "Judgments":
    from adjudge.core.errors import DataError

    judgments = reading.read([gold])
    if reading.pair is None and len(judgments.pairs) > 1:
        raise DataError(f"the judgments hold several language pairs ({', '.join(judgments.pairs)}); choose with --pair")
    return judgments


def _perturbations(judgments: "Judgments | None", machines: "list[MetricScore]"):  # type: ignore[no-untyped-def]
    if judgments is None:
        return ()
    from adjudge.meta.join import system_means
    from adjudge.meta.perturbations import perturbations

    return perturbations(judgments, system_means(machines))
