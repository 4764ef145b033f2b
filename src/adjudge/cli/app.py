"""All commands, in the order in which a campaign uses them."""

from collections.abc import Callable
from functools import cache
from typing import Annotated, Any

import typer
from typer.main import get_command

from adjudge._version import __version__
from adjudge.cli.commands import (
    agree,
    audit,
    check,
    compare,
    data,
    demo,
    design,
    doctor,
    export,
    formats,
    gold,
    import_,
    look,
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


_data = typer.Typer(help="List and download public data sets.", no_args_is_help=True)
app.add_typer(_data, name="data")
_GROUPS = {"": app, "data": _data}


def _add(name: str, command: Callable[..., None]) -> None:
    group, _, verb = name.rpartition(" ")
    _GROUPS[group].command(verb)(with_plain_types(names_files(takes_reading(command))))


_add("demo", repeats_work(demo.demo))
_add("data list", data.list_)
_add("data get", data.get)
_add("doctor", doctor.doctor)
_add("plan", repeats_work(plan.plan))
_add("testset", testset.testset)
_add("design", design.design)
_add("import", import_.import_)
_add("check", repeats_work(check.check))
_add("agree", repeats_work(agree.agree))
_add("rank", repeats_work(rank.rank))
_add("tournament", repeats_work(tournament.tournament))
_add("audit", repeats_work(audit.audit))
_add("look", repeats_work(look.look))
_add("parity", repeats_work(parity.parity))
_add("compare", repeats_work(compare.compare))
_add("replicate", repeats_work(replicate.replicate))
_add("serve", serve.serve)
_add("export", export.export)
_add("gold", repeats_work(gold.gold))
_add("meta", repeats_work(meta.meta))
_add("qe", repeats_work(qe.qe))
_add("formats", formats.formats)
_add("simulate", repeats_work(simulate.simulate))
_add("report", repeats_work(report.report))


@cache
def command_tree() -> Any:
    """The tree of all commands, built once per process."""
    return get_command(app)
