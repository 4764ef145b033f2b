"""All commands, in the groups in which `adjudge --help` lists them."""

from collections.abc import Callable
from functools import cache
from typing import Annotated, Any

import typer
from typer.main import get_command

from adjudge._version import __version__
from adjudge.cli.commands import (
    agree,
    audit,
    backup,
    check,
    compare,
    data,
    demo,
    design,
    doctor,
    export,
    extend,
    formats,
    gold,
    import_,
    init,
    judge,
    look,
    meta,
    move,
    parity,
    plan,
    qe,
    rank,
    replicate,
    report,
    restore,
    serve,
    simulate,
    testset,
    tournament,
)
from adjudge.cli.errors import names_files
from adjudge.cli.options import repeats_work, with_plain_types
from adjudge.cli.reading import takes_reading

app = typer.Typer(
    name="adjudge",
    help="Turn human judgments of translations into a ranking you can defend.",
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


# The headings under which `adjudge --help` lists the commands.
_START, _ANALYSIS, _BEFORE, _DURING, _METRICS = (
    "Getting started",
    "Analysing judgments",
    "Before a campaign",
    "During a campaign",
    "Metrics and papers",
)
_data = typer.Typer(help="List and download public data sets.", no_args_is_help=True)
app.add_typer(_data, name="data", rich_help_panel=_START)
_GROUPS = {"": app, "data": _data}


def _add(name: str, command: Callable[..., None], panel: str | None = None) -> None:
    group, _, verb = name.rpartition(" ")
    _GROUPS[group].command(verb, rich_help_panel=panel)(with_plain_types(names_files(takes_reading(command))))


_add("demo", repeats_work(demo.demo), _START)
_add("doctor", doctor.doctor, _START)
_add("formats", formats.formats, _START)
_add("data list", data.list_)
_add("data get", data.get)
_add("import", import_.import_, _ANALYSIS)
_add("check", repeats_work(check.check), _ANALYSIS)
_add("agree", repeats_work(agree.agree), _ANALYSIS)
_add("rank", repeats_work(rank.rank), _ANALYSIS)
_add("tournament", repeats_work(tournament.tournament), _ANALYSIS)
_add("audit", repeats_work(audit.audit), _ANALYSIS)
_add("parity", repeats_work(parity.parity), _ANALYSIS)
_add("compare", repeats_work(compare.compare), _ANALYSIS)
_add("report", repeats_work(report.report), _ANALYSIS)
_add("init", init.init, _BEFORE)
_add("testset", testset.testset, _BEFORE)
_add("plan", repeats_work(plan.plan), _BEFORE)
_add("design", design.design, _BEFORE)
_add("simulate", repeats_work(simulate.simulate), _BEFORE)
_add("serve", serve.serve, _DURING)
_add("export", export.export, _DURING)
_add("extend", extend.extend, _DURING)
_add("backup", backup.backup, _DURING)
_add("restore", restore.restore, _DURING)
_add("move", move.move, _DURING)
_add("look", repeats_work(look.look), _DURING)
_add("judge", judge.judge, _DURING)
_add("gold", repeats_work(gold.gold), _METRICS)
_add("meta", repeats_work(meta.meta), _METRICS)
_add("qe", repeats_work(qe.qe), _METRICS)
_add("replicate", repeats_work(replicate.replicate), _METRICS)


@cache
def command_tree() -> Any:
    """The tree of all commands, built once per process."""
    return get_command(app)
