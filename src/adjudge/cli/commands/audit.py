"""`adjudge audit`: how far a ranking can be trusted."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adjudge.cli import options as o
from adjudge.cli.reading import Reading

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from adjudge.results.result import Result


def audit(
    files: o.Files,
    reading: Reading,
    only: Annotated[
        str | None, typer.Option(help="Sections to compute, comma-separated. Default: all that apply.")
    ] = None,
    method: Annotated[
        str | None, o.method_option("Ranking method to audit. Default for rankings: wins-or-ties.")
    ] = None,
    lines: Annotated[
        str | None,
        typer.Option(help="Rule for cluster lines in the section stability. Default: scipy-1.6."),
    ] = None,
    removal: Annotated[
        str,
        typer.Option(
            metavar="genuine|all-rows",
            help="Stability: rows to remove with a human translation; all-rows includes degraded ones (Knowles 2021).",
        ),
    ] = "genuine",
    margin: Annotated[
        str | None,
        typer.Option(
            metavar="POINTS|SHARE%",
            help="Largest difference that counts as human parity. Default: 3 points on a scale of 0 to 100, else none.",
        ),
    ] = None,
    by: o.By = None,
    documents_by: o.DocumentsBy = "raw",
    edits: Annotated[
        Path | None, typer.Option(help="Post-edits from the same campaign: a judgment table or a wmt-edits file.")
    ] = None,
    acceptability: Annotated[
        Path | None, typer.Option(help="Judgments of these post-edits: a judgment table or a wmt-acceptability file.")
    ] = None,
    judge_scores: Annotated[
        list[Path] | None,
        typer.Option(help="Scores of metrics by segment, each tested as a machine judge. May be given several times."),
    ] = None,
    lower_is_better: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A metric of --judge-scores where lower is better; its sign is reversed."),
    ] = None,
    judge_allowance: Annotated[
        float,
        typer.Option(help="Judges: how much more often a person may be closer to others: .2 experts, .1 crowd."),
    ] = 0.15,
    judge_scale: Annotated[
        str,
        typer.Option(metavar="matched|z|raw", help="Judges: how scores are compared with people's (docs/judges.md)."),
    ] = "matched",
    judge_family: Annotated[
        list[str] | None,
        typer.Option(metavar="JUDGE=PATTERN", help="Systems of a judge's own family: does it favour them?"),
    ] = None,
    seed: o.Seed = o.DEFAULT_SEED,
    json: o.Json = False,
    output: o.Output = None,
) -> None:
    """Test how far a ranking can be trusted, and list the claims that survive.

    Sections include stability under changes to the data, A/A tests, reliability, influence of single annotators and
    documents, sampling and composition.

    Example: adjudge audit data_RNK.csv --format wmt-ranking --pair en-cs --edits data_EDT.tsv
    """
    from adjudge.work import AUDIT_MODULES, prepared_processes

    names = only.split(",") if only is not None else None
    with prepared_processes(files, AUDIT_MODULES if names is None else ()):
        parts = reading.by_pair(files)
    if judge_scores and len(parts) > 1:
        from adjudge.core.errors import UsageError

        raise UsageError(f"--judge-scores are of one language pair; choose it with --pair: {', '.join(parts)}")
    # Only now, so that the other processes start first.
    from adjudge.audit import SECONDS_PER_ROW, AuditSettings, audit, read_companion
    from adjudge.cli.output import for_each_pair, write_output

    settings = AuditSettings(
        method=method,
        lines=lines,
        removal=removal,
        margin=margin,
        documents_by=documents_by,
        by=tuple(by or ()),
        edits=read_companion(edits, "wmt-edits", reading.options) if edits else None,
        acceptability=read_companion(acceptability, "wmt-acceptability", reading.options) if acceptability else None,
        judge_scores=_metric_judges(judge_scores or [], lower_is_better or []),
        judge_allowance=judge_allowance,
        judge_scale=judge_scale,
        judge_families=tuple(judge_family or ()),
        seed=seed,
    )
    least = SECONDS_PER_ROW if names is None else 0.0
    results = for_each_pair(parts, lambda part: audit(part, only=names, settings=settings), seconds_per_row=least)
    write_output(results, json=json, output=output, summary=_over_pairs(results))


def _metric_judges(files: list[Path], lower_is_better: list[str]) -> "pl.DataFrame | None":
    from adjudge.audit.judges import read_judge_scores
    from adjudge.core.errors import UsageError

    if lower_is_better and not files:
        raise UsageError("--lower-is-better names metrics of --judge-scores; give both")
    return read_judge_scores(files, lower_is_better=lower_is_better) if files else None


def _over_pairs(results: "Mapping[str, Result]") -> "Result | None":
    """Stability summed over language pairs, if several were audited."""
    from adjudge.results.audit import Audit
    from adjudge.results.audit.stability import Stability, over_pairs

    audits = {name: result for name, result in results.items() if isinstance(result, Audit)}
    stabilities = {
        name: part for name, audit in audits.items() if isinstance(part := audit.sections.get("stability"), Stability)
    }
    return (
        over_pairs(stabilities, data="+".join(audit.data for audit in audits.values()))
        if len(stabilities) > 1
        else None
    )
