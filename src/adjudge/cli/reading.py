"""How the files of a command are read: its options once, for every command that has a parameter of type `Reading`.

The options of single formats are the fields of `ReadOptions`: a field added there, with its help, is an option of every
command. A command that has an option of the same name itself keeps its own, and the one of the readers is left out.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import Field, dataclass, field, fields, replace
from functools import cache, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from adjudge.cli import options as o
from adjudge.core.wording import split_names
from adjudge.formats.options import ReadOptions

if TYPE_CHECKING:
    from adjudge.core.judgments import Judgments

PANEL = "How the files are read"
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        "-f",
        help="Format of the files; recognised where left out, else the native table. 'adjudge formats' lists all.",
        autocompletion=o.complete_formats,
        rich_help_panel=PANEL,
    ),
]
Pair = Annotated[
    str | None,
    typer.Option(
        "--pair",
        "-p",
        metavar="SRC-TGT",
        help="Language pair, as cs-en; all pairs where left out.",
        rich_help_panel=PANEL,
    ),
]


@dataclass(frozen=True)
class Reading:
    """The format, the language pair wanted, and what single formats need besides."""

    format: str | None = None
    pair: str | None = None
    options: ReadOptions = field(default_factory=ReadOptions)

    @property
    def is_plain(self) -> bool:
        """Whether nothing but a table of judgments or pairs was asked for, and what holds for every table."""
        return self.pair is None and self.options.is_plain and self.format in (None, "judgments", "pairwise-table")

    def with_human(self, human: str | None) -> Reading:
        """The same with another pattern for human translations."""
        return replace(self, options=replace(self.options, human=human))

    def for_files(self, files: Sequence[Path]) -> Reading:
        """The same with the format that the files have, where none was given."""
        from adjudge.formats import format_of

        return self if self.format else replace(self, format=format_of(files))

    def read(self, files: Sequence[Path]) -> Judgments:
        """The judgments of the pair asked for, or of all pairs, in one table."""
        from adjudge.formats import read

        judgments = read(files, format=self.format, options=self.options)
        return judgments if self.pair is None else judgments.for_pair(self.pair)

    def by_pair(self, files: Sequence[Path]) -> dict[str, Judgments]:
        """The judgments of the pair asked for, or of every pair, by name."""
        from adjudge.core.languages import parse_pair

        parts = self.read(files).by_pair()
        wanted = None if self.pair is None else parse_pair(self.pair)
        return {wanted: parts[wanted]} if wanted is not None and wanted in parts else parts

    @property
    def settings(self) -> dict[str, str | None]:
        """What a result says of how its files were read."""
        from adjudge.core.languages import parse_pair

        return {
            "format": self.format or "judgments",
            "pair": parse_pair(self.pair) if self.pair else None,
            "human": self.options.human,
            "segment_column": self.options.segment_column,
            "rank_columns": ",".join(self.options.rank_columns) or None,
            **self._settings_of_tables(),
        }

    def _settings_of_tables(self) -> dict[str, str | None]:
        """How a table of another shape was understood; only what was asked for, so that signatures stay short."""
        options = self.options
        joined = {"columns": options.columns, "systems": options.systems, "winner": options.winner}
        return {
            **{name: ",".join(values) for name, values in joined.items() if values},
            **({"wide": options.wide} if options.wide else {}),
            **({"attributes": options.attributes.name} if options.attributes else {}),
        }


def takes_reading(command: Callable[..., None]) -> Callable[..., None]:
    """The command as the command line sees it: with the readers' options instead of its parameter `Reading`."""
    signature = inspect.signature(command, eval_str=True)
    replaced = next((name for name, declared in signature.parameters.items() if declared.annotation is Reading), None)
    if replaced is None:
        return command
    added = [parameter for parameter in _reading_parameters() if parameter.name not in signature.parameters]

    @wraps(command)
    def run(**arguments: Any) -> None:
        given = {parameter.name: arguments.pop(parameter.name) for parameter in added}
        command(**_with_standard_input(arguments), **{replaced: _reading(given)})

    parameters: list[inspect.Parameter] = []
    for name, declared in signature.parameters.items():
        parameters += added if name == replaced else [declared.replace(kind=inspect.Parameter.KEYWORD_ONLY)]
    o.set_parameters(run, parameters)
    return run


def _with_standard_input(arguments: dict[str, Any]) -> dict[str, Any]:
    """The same with the file of standard input for `-` in any list of files."""
    from adjudge.core.errors import UsageError
    from adjudge.core.files import keep_standard_input

    dash = Path("-")
    lists = {name: value for name, value in arguments.items() if isinstance(value, list) and dash in value}
    if not lists:
        return arguments
    if sum(value.count(dash) for value in lists.values()) > 1:
        raise UsageError("'-' is standard input, which can be read once; name a file instead of the second one")
    kept = keep_standard_input()
    return arguments | {name: [kept if path == dash else path for path in value] for name, value in lists.items()}


@cache
def _reading_parameters() -> tuple[inspect.Parameter, ...]:
    """Format and pair, and an option for every other field of the readers' options."""
    types = get_type_hints(ReadOptions)
    first = [_parameter("format", Format, None), _parameter("pair", Pair, None)]
    others = [option for option in fields(ReadOptions) if option.name != "pair"]
    return (*first, *(_from_field(option, types[option.name]) for option in others))


def _from_field(option: Field[Any], kind: Any) -> inspect.Parameter:
    # Several names are joined by commas, several files are given by repeating the option.
    typed = {tuple[str, ...]: str | None, tuple[Path, ...]: list[Path] | None}.get(kind, kind)
    names = (f"--{option.name.replace('_', '-')}",) if kind is bool else ()
    described = typer.Option(*names, help=option.metadata["help"], rich_help_panel=PANEL)
    default = option.default if kind is bool else option.default or None
    return _parameter(option.name, Annotated[typed, described], default)


def _parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _reading(given: dict[str, Any]) -> Reading:
    """What was given, in the types of the readers' options."""
    types = get_type_hints(ReadOptions)
    options = {name: _typed(value, types[name]) for name, value in given.items() if name != "format"}
    return Reading(given.get("format"), given.get("pair"), ReadOptions(**options))


def _typed(value: Any, kind: Any) -> Any:
    if kind == tuple[str, ...]:
        return split_names(value) if value else ()
    return tuple(value or ()) if kind == tuple[Path, ...] else value
