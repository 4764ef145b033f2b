"""How settings are declared: a field of a dataclass says its default, its help and how it is given.

    @dataclass(frozen=True, kw_only=True)
    class TournamentSettings:
        time_limit: float = option(60.0, "CPU seconds for proving that the order is optimal.", above=0, unit="seconds")

From it `shell.line` makes the option of the command line, `shell.declare` the keyword of the Python function and the
checks of both, and `shell.reference` the reference.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

from adjudge.table.errors import UsageError, param
from adjudge.table.rng import DEFAULT_SEED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

KEY: Final = "option"
"""The key of an `Option` in the metadata of a field."""


class _Unset:
    def __repr__(self) -> str:
        return "UNSET"


UNSET: Final = _Unset()
REQUIRED: Final = _Unset()
"""The default of a setting that has none."""


@dataclass(frozen=True, kw_only=True)
class Option:
    """What a field of settings declares besides its type and default."""

    help: str
    """One or more sentences; `table.errors.param` names other settings."""
    flags: tuple[str, ...] = ()
    """The names on the command line; default: that of the field. An argument has none."""
    argument: bool = False
    """Given by its place on the command line."""
    positional: bool | Literal["rest", "keywords"] = False
    """Given by its place in Python; `rest` takes all values that follow, `keywords` all further keywords."""
    only: Literal["command line", "python"] | None = None
    """Where the setting exists, if not in both."""
    typed: Any = UNSET
    """The type that the command line takes, if it is not that of the field."""
    python: str | None = None
    """The annotation in Python, if it is not that of the field; a `Path` may always be given as `str` too."""
    about: str | None = None
    """What Python's documentation says instead of the help."""
    parse: Callable[[Any], Any] | None = None
    """Makes from what was typed what Python would be given."""
    convert: Callable[[Any], Any] | None = None
    """Makes the value of the field from what was given, which is not None."""
    least: float | None = None
    most: float | None = None
    above: float | None = None
    unit: str = ""
    after: str | None = None
    """The setting after which it is listed, if that is in another class."""
    reads: bool = False
    """Also an option of the readers."""
    complete: str | None = None
    """What shell completion offers: `formats`, `methods`, `data sets` or `papers`."""
    panel: str | None = None
    metavar: str | None = None
    envvar: str | None = None
    check: Callable[[Any], Any] | None = None
    """Called with what was typed, before anything is computed; it raises an error or returns the value."""


def option(default: Any, help: str, *flags: str, **more: Any) -> Any:  # noqa: A002
    """A field that is an option of the command line and a keyword in Python.

    Args:
        default: the default, or `REQUIRED`.
        help: what it means.
        *flags: names on the command line, such as `--method`, `-m`; default: that of the field.
        **more: the other attributes of `Option`.
    """
    metadata = {KEY: Option(help=help, flags=flags, **more)}
    return field(metadata=metadata) if default is REQUIRED else field(default=default, metadata=metadata)


def argument(default: Any, help: str, **more: Any) -> Any:  # noqa: A002
    """A field that is given by its place, on the command line and in Python."""
    return option(default, help, argument=True, positional=True, **more)


def seed_option() -> Any:
    """The random seed, which every command with chance has."""
    return option(DEFAULT_SEED, "Random seed. The same seed gives the same result.", "--seed", least=0)


def method_option(help: str, **more: Any) -> Any:  # noqa: A002
    """The ranking method."""
    return option(None, help, "--method", "-m", complete="methods", **more)


def by_option(**more: Any) -> Any:
    """Columns by which a ranking is broken down."""
    return option(
        (),
        f"Break the ranking down by a column of the judgments or of {param('attributes')}, or by source_length, and "
        "test whether the differences between systems depend on it. May be repeated.",
        "--by",
        metavar="COLUMN",
        typed=list[str] | None,
        python="str | Iterable[str]",
        about=f"columns of the judgments (or of {param('attributes')}, a side table), or `source_length`, by which to "
        "break down the ranking, as a list or comma-separated.",
        convert=column_names,
        **more,
    )


def documents_by_option() -> Any:
    """What is shown of every document and system."""
    return option(
        "raw",
        "What to show in the table of documents by systems: mean raw scores, mean z-scores, estimates of the mixed "
        "model, or the metric scores in a file.",
        metavar="raw|zscore|mixed|FILE",
        typed=str,
        python="str | Path",
        about="what to show in the table of documents by systems: `raw` or `zscore` means, estimates of the `mixed` "
        "model, or a file of metric scores.",
    )


def column_names(names: Any) -> tuple[str, ...]:
    """Names as a tuple, from a list or, in Python, from a comma-separated text."""
    listed = names.split(",") if isinstance(names, str) else names
    return tuple(name.strip() for name in listed if name.strip())


def option_of(metadata: Mapping[Any, Any]) -> Option | None:
    """What a field declares, None if it is not a setting that users choose."""
    declared: Option | None = metadata.get(KEY)
    return declared


def check_least(settings: object, least: float, *names: str) -> None:
    """Refuse settings that are below a value, or no numbers, naming their options."""
    for name in names:
        value = getattr(settings, name)
        if not math.isfinite(value) or value < least:
            raise UsageError(f"{param(name)} is {value:g}; at least {least:g} is needed")


def check_shares(settings: object, *names: str, most: float = 1.0, ends: bool = True) -> None:
    """Refuse settings that are no shares, naming their options; `ends` says whether 0 and the most are allowed."""
    for name in names:
        value = getattr(settings, name)
        if not 0 <= value <= most or (not ends and value in (0, most)):
            raise UsageError(f"{param(name)} is {value:g}; a share between 0 and {most:g} is needed")
