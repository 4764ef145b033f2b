"""The options for reading files, shared by every command with a parameter of type `Reading`.

The options of individual formats are the fields of `ReadOptions`: a field added there, with its help text, becomes an
option of every command. If a command defines an option of the same name, its own definition is used.
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

PANEL = "Reading the files"
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        "-f",
        help="File format. Default: detected from the files. 'adjudge formats' lists all formats.",
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
        help="Language pair, such as cs-en. Default: every pair in the files.",
        rich_help_panel=PANEL,
    ),
]


@dataclass(frozen=True)
class Reading:
    """The format, the requested language pair, and the options of individual formats."""

    format: str | None = None
    pair: str | None = None
    options: ReadOptions = field(default_factory=ReadOptions)

    @property
    def is_plain(self) -> bool:
        """Whether the file is a plain table of judgments or pairs, without options for other layouts."""
        return self.pair is None and self.options.is_plain and self.format in (None, "judgments", "pairwise-table")

    def with_human(self, human: str | None) -> Reading:
        """A copy with another pattern for human translations."""
        return replace(self, options=replace(self.options, human=human))

    def for_files(self, files: Sequence[Path]) -> Reading:
        """A copy with the format detected from the files, if none was given."""
        from adjudge.formats import format_of

        return self if self.format else replace(self, format=format_of(files))

    def read(self, files: Sequence[Path]) -> Judgments:
        """The judgments of the requested pair, or of all pairs, in one table."""
        from adjudge.formats import read

        judgments = read(files, format=self.format, options=self.options)
        return judgments if self.pair is None else judgments.for_pair(self.pair)

    def by_pair(self, files: Sequence[Path]) -> dict[str, Judgments]:
        """The judgments of the requested pair, or of every pair, by name."""
        from adjudge.core.languages import parse_pair

        parts = self.read(files).by_pair()
        wanted = None if self.pair is None else parse_pair(self.pair)
        return {wanted: parts[wanted]} if wanted is not None and wanted in parts else parts

    @property
    def settings(self) -> dict[str, str | None]:
        """The reading options that a result records in its signature."""
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
        """How a table with another layout was read. Only options that were given, to keep signatures short."""
        options = self.options
        names = ("columns", "systems", "raters", "sheets", "winner", "judges")
        return {
            **{name: ",".join(values) for name in names if (values := getattr(options, name))},
            **{name: value for name in ("wide", "encoding") if (value := getattr(options, name))},
            **({"attributes": options.attributes.name} if options.attributes else {}),
        }


def takes_reading(command: Callable[..., None]) -> Callable[..., None]:
    """The command as the command line sees it: with the readers' options in place of its parameter `Reading`."""
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
    """The arguments with `-` in a list of files replaced by a file that holds standard input."""
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
    """The format, the pair, and one option for each other field of `ReadOptions`."""
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
    """The given values, converted to the types of `ReadOptions`."""
    types = get_type_hints(ReadOptions)
    options = {name: _typed(value, types[name]) for name, value in given.items() if name != "format"}
    return Reading(given.get("format"), given.get("pair"), ReadOptions(**options))


def _typed(value: Any, kind: Any) -> Any:
    if kind == tuple[str, ...]:
        return split_names(value) if value else ()
    return tuple(value or ()) if kind == tuple[Path, ...] else value
