"""`adjudge replicate`: recomputes published tables and figures."""

from pathlib import Path
from typing import Annotated

import typer

from adjudge.cli import options as o


def replicate(
    paper: Annotated[
        str,
        typer.Argument(
            metavar="PAPER",
            help="The paper: document-qe, grain-of-salt, in-order, stability or suboptimal.",
            autocompletion=o.complete_papers,
        ),
    ],
    data: Annotated[
        Path, typer.Option("--data", "-d", metavar="DIR", help="Folder with the released data of the paper.")
    ],
    report: o.ReportFile = None,
    json: o.Json = False,
    output: o.Output = None,
) -> None:
    """Recompute the tables and figures of a paper from its released data.

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
