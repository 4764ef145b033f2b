"""The command line `adjudge`: a typer command from every declaration, and how it runs and writes its result.

Heavy modules are imported where they are used, and the options of a command are made when it is called, so that
`adjudge --help` starts fast.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from adjudge._version import __version__
from adjudge.readers.options import ReadOptions
from adjudge.shell.declare import COMMANDS, START, Command, Setting, settings_of
from adjudge.shell.output import files_named, write_output
from adjudge.shell.reading import Reading, Results
from adjudge.table.errors import on_command_line
from adjudge.table.settings import REQUIRED, UNSET, option
from adjudge.table.wording import split_names

MODULES = ("start", "ranking", "evidence", "reporting", "metrics", "planning", "campaigns")
"""The modules of this package that declare commands."""
ORDER = (
    "demo", "doctor", "formats", "data list", "data get", "import", "check", "agree", "rank", "tournament",
    "audit", "parity", "reaudit", "compare", "report", "init", "testset", "plan", "design", "simulate", "serve",
    "export", "verify", "erase", "archive", "extend", "backup", "restore", "move", "look", "judge",
    "gold", "meta", "qe", "replicate",
)  # fmt: skip
"""The order in which `adjudge --help` lists the commands."""
READING_PANEL, WORK_PANEL = "Reading the files", "Running the computation"


def _check_output(path: Path | None) -> Path | None:
    """Refuse an output format that cannot be written before anything is computed."""
    from adjudge.reports.files import check_ending

    if path is not None:
        check_ending(path)
    return path


@dataclass(frozen=True)
class _Selection:
    """Options of the readers on the command line; of `ReadOptions`, `pair` is shown like this."""

    format: str | None = option(
        None,
        "File format. Default: detected from the files. 'adjudge formats' lists all formats.",
        "--format",
        "-f",
        complete="formats",
    )
    pair: str | None = option(
        None, "Language pair, such as cs-en. Default: every pair in the files.", "--pair", "-p", metavar="SRC-TGT"
    )


@dataclass(frozen=True)
class _Work:
    """Options of commands with much to compute."""

    jobs: int | None = option(None, "Number of processes to use. Default: one per core.")
    scheduler: str | None = option(
        None, "Run on a Dask cluster: the address of its scheduler, such as tcp://host:8786.", metavar="ADDRESS"
    )
    no_cache: bool = option(False, "Ignore cached results and do not cache new ones.", "--no-cache")


@dataclass(frozen=True)
class _Written:
    """How the result is written."""

    json: bool = option(False, "Print one JSON object instead of tables.", "--json")
    output: Path | None = option(
        None,
        "Write to this file instead of the terminal: .json, .csv, .parquet, .xlsx, .tex, .html, .pdf or .txt.",
        "--output",
        "-o",
        check=_check_output,
    )
    details: bool = option(False, "Print every column and table.", "--details")


_REGISTRIES = {
    "formats": ("adjudge.readers.registry:FORMATS", "summary"),
    "methods": ("adjudge.ranking.methods:METHODS", None),
    "data sets": ("adjudge.datasets.catalogue:catalogue", "holds"),
    "papers": ("adjudge.papers.replicate:PAPERS", None),
}
"""Where the names are that shell completion offers, and which attribute describes them."""


def _completion(what: str) -> Callable[[str], Any]:
    def complete(incomplete: str) -> list[Any]:
        place, described_by = _REGISTRIES[what]
        found = resolve_name(place)
        known = [each for each in (found() if callable(found) else found).items() if each[0].startswith(incomplete)]
        return [(name, getattr(member, described_by)) if described_by else name for name, member in known]

    return complete


# What `--help` prints as the value of an option of each type. A flag takes no value.
_WORDS: dict[Any, str] = {bool: "", int: "N", float: "X", str: "TEXT", Path: "PATH"}
# Several names are joined by commas, several files are given by repeating the option.
_TYPED: dict[Any, Any] = {tuple[str, ...]: str | None, tuple[Path, ...]: list[Path] | None}


def _make_parameter(setting: Setting, panel: str | None = None) -> inspect.Parameter:
    """A setting as the parameter of a function, from which typer makes an option or argument."""
    declared = setting.option
    kind = _TYPED.get(setting.kind, setting.kind) if declared.typed is UNSET else declared.typed
    if setting.default == () and get_origin(kind) is list:
        kind = kind | None
    default = _type_default(setting.default, kind)
    flags = declared.flags or ((f"--{setting.name.replace('_', '-')}",) if kind is bool and panel else ())
    make: Any = typer.Argument if declared.argument else typer.Option
    info = make(
        *flags,
        help=on_command_line(declared.help),
        metavar=declared.metavar if declared.metavar or declared.argument else _WORDS.get(_find_single_type(kind)),
        rich_help_panel=panel,
        autocompletion=_completion(declared.complete) if declared.complete else None,
        envvar=declared.envvar,
        callback=declared.check,
        min=declared.least,
        max=declared.most,
    )
    return inspect.Parameter(
        setting.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, info]
    )


def _type_default(default: Any, kind: Any) -> Any:
    """The default as it would be typed."""
    if default is REQUIRED:
        return None if type(None) in get_args(kind) else inspect.Parameter.empty
    if kind is str:
        return ",".join(map(str, default)) if isinstance(default, tuple) else str(default)
    return None if default == () else default


def _find_single_type(kind: Any) -> Any:
    """The type of a single value: `Path` for `list[Path] | None`."""
    if get_origin(kind) in (Union, UnionType):
        kind = next(member for member in get_args(kind) if member is not type(None))
    return get_args(kind)[0] if get_origin(kind) is list else kind


def settings_on_line(declared: Command) -> list[Setting]:
    """The settings that the command line knows, without those that many commands share."""
    return [each for each in declared.own if each.option.only != "python"]


@cache
def _reading_settings() -> tuple[Setting, ...]:
    """The format, the pair, and every other option of the readers."""
    others = (each for each in settings_of(ReadOptions) if each.name != "pair")
    return (*settings_of(_Selection), *others)


@dataclass(frozen=True, eq=False)
class _Run:
    """A command as the command line calls it, with what was typed."""

    declared: Command

    @cached_property
    def reading(self) -> list[Setting]:
        """The options of the readers, without those that the command declares itself."""
        own = {each.name for each in settings_on_line(self.declared)}
        return [each for each in _reading_settings() if each.name not in own] if self.declared.reads else []

    @cached_property
    def written(self) -> list[Setting]:
        wanted = {"json": self.declared.json, "output": self.declared.output, "details": self.declared.brief}
        return [each for each in settings_of(_Written) if wanted[each.name]]

    @cached_property
    def parameters(self) -> list[inspect.Parameter]:
        """All options and arguments, in the order in which they are listed."""
        work = settings_of(_Work) if self.declared.work else ()
        return [
            *(_make_parameter(each, each.option.panel) for each in (*settings_on_line(self.declared), *self.written)),
            *(_make_parameter(each, READING_PANEL) for each in self.reading),
            *(_make_parameter(each, WORK_PANEL) for each in work),
        ]

    def __call__(self, **typed: Any) -> None:
        working: Any = nullcontext()
        if self.declared.work:
            from adjudge.work.tasks import make_watcher, workers

            jobs, scheduler, no_cache = (typed.pop(name) for name in ("jobs", "scheduler", "no_cache"))
            working = workers(jobs=jobs, scheduler=scheduler, cache=not no_cache, watch=make_watcher())
        with files_named(typed), working:
            self._run(_read_standard_input(typed) if self.declared.reads else typed)

    def _run(self, typed: dict[str, Any]) -> None:
        written = {each.name: typed.pop(each.name) for each in self.written}
        given = {each.name: _read_option(each, typed.pop(each.name)) for each in self.reading}
        options = ReadOptions(**{name: value for name, value in given.items() if name != "format"})
        reading = Reading(given.get("format"), given.get("pair"), options)
        for setting in settings_on_line(self.declared):
            if (given := typed[setting.name]) is None:
                continue
            if setting.option.above is not None:
                setting.check_bounds(given)
            if setting.option.parse is not None:
                typed[setting.name] = setting.option.parse(given)
        call = self.declared.line or self.declared.function
        arguments = self.declared.arguments(typed, reading)
        asked = inspect.signature(call).parameters
        result = call(**arguments, **{name: value for name, value in written.items() if name in asked})
        if result is None:
            return
        results, json = result if isinstance(result, Results) else Results({"all": result}), written.get("json", False)
        details = written.get("details", True)
        output = written.get("output")
        write_output(results.by_pair, json=json, output=output, summary=results.summary, details=details)
        if self.declared.then is not None and not json:
            self.declared.then(result, **arguments)
        if any(getattr(each, "failed", False) for each in results.by_pair.values()):
            sys.exit(1)


def _read_option(setting: Setting, typed: Any) -> Any:
    """An option of the readers in its own type."""
    if setting.kind == tuple[str, ...]:
        return split_names(typed) if typed else ()
    return tuple(typed or ()) if setting.kind == tuple[Path, ...] else typed


def _read_standard_input(typed: dict[str, Any]) -> dict[str, Any]:
    """What was typed, with `-` in a list of files replaced by a file that holds standard input."""
    from adjudge.table.errors import UsageError
    from adjudge.table.files import keep_standard_input

    dash = Path("-")
    lists = {name: value for name, value in typed.items() if isinstance(value, list) and dash in value}
    if not lists:
        return typed
    if sum(value.count(dash) for value in lists.values()) > 1:
        raise UsageError("'-' is standard input, which can be read once; name a file instead of the second one")
    kept = keep_standard_input()
    return typed | {name: [kept if path == dash else path for path in value] for name, value in lists.items()}


class _PlainHelp:
    """A command whose help shows no Python types: arguments and flags have none that a reader would type."""

    def get_params(self, ctx: Any) -> list[Any]:
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for each in parameters:
            if each.param_type_name == "argument" or getattr(each, "is_flag", False):
                each.display_type_rich = lambda **_: None
        return parameters


class _Command(_PlainHelp, TyperCommand):
    """A command that does something."""


class _Group(_PlainHelp, TyperGroup):
    """A group whose commands get their options when they are called, since that loads much."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, found, rest = super().resolve_command(ctx, args)
        return name, complete_command(found), rest


def complete_command(listed: Any) -> Any:
    """The command with its options, for one that `adjudge --help` lists."""
    declared: Command | None = getattr(listed.callback, "declared", None)
    return listed if declared is None else _command(declared)


@cache
def _command(declared: Command) -> Any:
    call = _Run(declared)

    def run(**typed: Any) -> None:
        call(**typed)

    run.__signature__ = inspect.Signature(call.parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in call.parameters}
    alone = typer.Typer(add_completion=False)
    name = declared.name.rpartition(" ")[2]
    alone.command(name, cls=_Command, help=_help(declared), rich_help_panel=declared.panel)(run)
    return get_command(alone)


def _help(declared: Command) -> str:
    return f"{on_command_line(declared.text)}\n\nExample: {declared.example}"


app = typer.Typer(
    name="adjudge",
    cls=_Group,
    help="Turn human judgments of translations into a ranking you can defend.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)
_data = typer.Typer(cls=_Group, help="List and download public data sets.", no_args_is_help=True)
app.add_typer(_data, name="data", rich_help_panel=START)


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


def _list_command(declared: Command) -> None:
    """Let `adjudge --help` list the command; its options follow when it is called."""

    def listed() -> None:
        pass

    listed.declared = declared  # type: ignore[attr-defined]
    group, _, name = declared.name.rpartition(" ")
    {"": app, "data": _data}[group].command(name, help=_help(declared), rich_help_panel=declared.panel)(listed)


for _module in MODULES:
    import_module(f"adjudge.shell.{_module}")
for _name in ORDER:
    _list_command(COMMANDS[_name])


@cache
def command_tree() -> Any:
    """The tree of all commands, built once per process."""
    return get_command(app)
