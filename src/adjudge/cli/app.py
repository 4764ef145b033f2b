"""All commands in one place, in the order of the flow."""

from typing import Annotated

import typer

from adjudge._version import __version__
from adjudge.cli import (
    agree,
    audit,
    check,
    demo,
    design,
    export,
    formats,
    gold,
    import_,
    meta,
    parity,
    plan,
    qe,
    rank,
    replicate,
    report,
    serve,
    simulate,
    testset,
    tournament,
)

app = typer.Typer(
    name="adjudge",
    help="Turns human judgments of translations into a ranking you can defend.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"adjudge {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


app.command("demo")(demo.demo)
app.command("plan")(plan.plan)
app.command("testset")(testset.testset)
app.command("design")(design.design)
app.command("import")(import_.import_)
app.command("check")(check.check)
app.command("agree")(agree.agree)
app.command("rank")(rank.rank)
app.command("tournament")(tournament.tournament)
app.command("audit")(audit.audit)
app.command("parity")(parity.parity)
app.command("replicate")(replicate.replicate)
app.command("serve")(serve.serve)
app.command("export")(export.export)
app.command("gold")(gold.gold)
app.command("meta")(meta.meta)
app.command("qe")(qe.qe)
app.command("formats")(formats.formats)
app.command("simulate")(simulate.simulate)
app.command("report")(report.report)
