"""`adjudge report`: writes one self-contained HTML or PDF file."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adjudge.cli import options as o
from adjudge.cli.reading import Reading

if TYPE_CHECKING:
    from adjudge.api.report import CampaignReport
    from adjudge.results.report import Written


def report(
    files: o.Files,
    reading: Reading,
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write: .html or .pdf.")],
    method: Annotated[str | None, o.method_option("Ranking method. Default: as in 'adjudge rank'.")] = None,
    title: Annotated[str | None, typer.Option(help="Title of the report.")] = None,
    texts: Annotated[
        list[str] | None,
        typer.Option(metavar="[LANG=]FILE", help="Source text with segment n on line n, for agreement by length."),
    ] = None,
    only_passing: Annotated[
        bool, typer.Option("--only-passing", help="Leave out annotators who fail 'adjudge check'.")
    ] = False,
    by: o.By = None,
    documents_by: o.DocumentsBy = "raw",
    tables: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Also write every table to this folder, as CSV and LaTeX.")
    ] = None,
    plots: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Also write every chart to this folder, as SVG and PNG.")
    ] = None,
    paper: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Also write a table, figure, paragraph and references for a paper to this folder."
        ),
    ] = None,
    seed: o.Seed = o.DEFAULT_SEED,
    json: o.Json = False,
) -> None:
    """Write a report of all analyses to one self-contained HTML or PDF file.

    Example: adjudge report data_RNK.csv --format wmt-ranking --pair en-cs -o report.html
    """
    import sys

    from adjudge.report.output.pages import check_page_ending
    from adjudge.work import AUDIT_MODULES, prepared_processes

    check_page_ending(output)
    with prepared_processes(files, AUDIT_MODULES):
        parts = reading.by_pair(files)
    # Only now, so that the other processes start first.
    from adjudge.api.report import ReportSettings, make_report
    from adjudge.cli.output import progress, write_output

    with progress() as tell:
        settings = ReportSettings(
            method=method,
            texts=_sources(texts),
            only_passing=only_passing,
            by=tuple(by or ()),
            documents_by=documents_by,
            seed=seed,
            tell=tell,
        )
        campaign_report = make_report(parts, settings, title=title or _title(files, list(parts)))
        tell("writing")
        written = _write(campaign_report, output, tables=tables, plots=plots, paper=paper)
    left_out = [f"adjudge: {name} is left out: {reason}" for name, reason in campaign_report.left_out.items()]
    for line in [*left_out, *(f"wrote {path}" for path in written)]:
        print(line, file=sys.stderr)
    if json:
        write_output({"all": _written(written, campaign_report)}, json=True, output=None)


def _write(
    campaign_report: "CampaignReport", output: Path, *, tables: Path | None, plots: Path | None, paper: Path | None
) -> list[Path]:
    """Write the page and the requested tables, charts and paper files; return their paths."""
    from adjudge.report.output.pages import write_page
    from adjudge.report.output.paper import write_paper, write_plots, write_tables

    page = campaign_report.page()
    write_page(page, output)
    if tables is not None:
        write_tables(page, tables)
    if plots is not None:
        write_plots(page, plots)
    if paper is not None:
        write_paper(campaign_report.pairs, paper)
    return [path for path in (output, tables, plots, paper) if path is not None]


def _written(files: list[Path], campaign_report: "CampaignReport") -> "Written":
    from adjudge.results.report import Written

    return Written(
        command="report",
        settings=campaign_report.settings,
        data=campaign_report.data,
        set_aside=campaign_report.set_aside,
        notes=campaign_report.notes,
        files=[str(file) for file in files],
        pairs=list(campaign_report.pairs),
    )


def _title(files: list[Path], pairs: list[str]) -> str:
    from adjudge.core.languages import pair_title

    name = files[0].stem if len(files) == 1 else files[0].parent.name
    if len(pairs) > 1:
        return f"{name}, {len(pairs)} language pairs"
    pair = pair_title(pairs[0])
    return f"{name}, {pair}" if pair else name


def _sources(texts: list[str] | None) -> dict[str, list[str]] | None:
    from adjudge.agree import read_source_texts

    return read_source_texts(texts) if texts else None
