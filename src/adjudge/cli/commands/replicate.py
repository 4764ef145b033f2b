"""`adjudge replicate`: a paper's tables from its released data."""

from pathlib import Path
from typing import Annotated

import typer

from adjudge.cli import options as o


def replicate(
    paper: Annotated[
        str,
        typer.Argument(
            metavar="PAPER",
            help="One of document-qe, grain-of-salt, in-order, stability, suboptimal.",
            autocompletion=o.complete_papers,
        ),
    ],
    data: Annotated[Path, typer.Option("--data", "-d", metavar="DIR", help="Folder of the paper's released data.")],
    report: o.ReportFile = None,
    json: o.Json = False,
    output: o.Output = None,
) -> None:
    """Recompute a paper's tables and figures from its released data, published and recomputed side by side.

    Example: adjudge replicate grain-of-salt --data wmt10 --report grain-of-salt.html
    """
    from adjudge.cli.output import write_output, write_page
    from adjudge.replicate import PAPERS, replicate
    from adjudge.report.output.pages import check_page_ending
    from adjudge.report.replication_page import build_replication_page

    if report is not None:
        check_page_ending(report)
    result = replicate(paper, data)
    if report is not None:
        write_page(build_replication_page(result, title=PAPERS[paper][1]), report)
    write_output({paper: result}, json=json, output=output)
