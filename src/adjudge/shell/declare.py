"""`@command`: one function and its settings make a command of the command line and a function of the Python interface.

    @command("tournament", ANALYSIS, "adjudge tournament data_RNK.csv --pair fr-en", work=True)
    def tournament(judged: Judged, settings: TournamentSettings) -> Tournament:
        '''Find cycles, and the order of systems that contradicts the fewest judgments.'''
        return judged.reading.each(judged.by_pair(), lambda part: play(part, settings))

A parameter of the function is a dataclass whose fields are settings (`table.settings.option`), `Judged` (a source of
judgments with the options of the readers), or `Reading` (those options alone). `adjudge.tournament` is what the
decorator returns; `shell.line` makes the command. Both check values by the same declaration.
"""

from __future__ import annotations

import inspect
import math
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, fields
from functools import cached_property, wraps
from importlib import import_module
from numbers import Integral, Real
from pathlib import Path
from pkgutil import resolve_name
from types import UnionType
from typing import Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

from adjudge.readers.options import ReadOptions
from adjudge.shell.reading import Judged, Reading, as_paths
from adjudge.table.errors import UsageError, explain_missing_module, in_python, param, unknown_choice
from adjudge.table.settings import REQUIRED, UNSET, Option, argument, option_of

P = ParamSpec("P")
R = TypeVar("R")

START, ANALYSIS, BEFORE, DURING, METRICS = (
    "Getting started",
    "Analysing judgments",
    "Before a campaign",
    "During a campaign",
    "Metrics and papers",
)
"""The headings under which `adjudge --help` lists the commands."""
_KINDS = {
    True: inspect.Parameter.POSITIONAL_OR_KEYWORD,
    "rest": inspect.Parameter.VAR_POSITIONAL,
    False: inspect.Parameter.KEYWORD_ONLY,
    "keywords": inspect.Parameter.VAR_KEYWORD,
}
_PATHS: dict[Any, tuple[str, Callable[[Any], Any]]] = {
    Path: ("str | Path", Path),
    list[Path]: ("str | Path | Iterable[str | Path]", as_paths),
}
"""How Python may give paths, and what makes the value of the field from that."""
_STARS: dict[Any, str] = {"rest": "*", "keywords": "**"}
_SECTIONS = ("Returns:", "Raises:", "Example:")
_READING = "how the source is read, as in `adjudge.read`: `format`, `pair`, ..."


@dataclass(frozen=True)
class Source:
    """What `Judged` declares besides the options of the readers."""

    source: Any = argument(
        REQUIRED,
        "Files with judgments, or - for standard input. Some formats also take a folder.",
        metavar="FILE",
        typed=list[Path],
        about="a path, several paths, a polars or pandas data frame, or judgments.",
    )


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One setting of a command: a field of one of its classes of settings."""

    name: str
    group: str
    """The parameter of the function whose class has the field."""
    written: str
    """The type as the class writes it."""
    kind: Any
    default: Any
    option: Option

    @property
    def annotation(self) -> str:
        """The annotation in Python."""
        kind, is_optional = _without_none(self.kind)
        if self.option.python is not None or kind not in _PATHS:
            return self.option.python or self.written
        return _PATHS[kind][0] + (" | None" if is_optional and self.default is not REQUIRED else "")

    @property
    def signature_default(self) -> Any:
        """The default as a signature has it."""
        if self.default is REQUIRED or self.option.positional in _STARS:
            return inspect.Parameter.empty
        return None if (self.option.python or "").endswith("| None") else self.default

    def value(self, given: Any) -> Any:
        """The value of the field from what was given; None is the default unless the type allows it."""
        kind, is_optional = _without_none(self.kind)
        if given is UNSET or (given is None and not is_optional):
            return None if self.default is REQUIRED else self.default
        convert = self.option.convert or _PATHS.get(kind, ("", None))[1]
        return given if given is None or convert is None else convert(given)

    def check(self, given: Any) -> None:
        """Refuse an unknown choice, what is not a number, and a number out of bounds."""
        kind, is_optional = _without_none(self.kind)
        if (given is None and is_optional) or self.option.python is not None:
            return
        if get_origin(kind) is Literal and given not in get_args(kind):
            raise unknown_choice(self.name, str(given), get_args(kind))
        if kind not in (int, float):
            return
        # 1e4 means a whole number, but it is not accepted as a seed.
        is_number = isinstance(given, Real) and (kind is float or (float(given).is_integer() and self.name != "seed"))
        if not (is_number or isinstance(given, Integral)) or math.isnan(given):
            needed = "a whole number" if kind is int else "a number"
            raise UsageError(f"{param(self.name)} is {given!r}, {needed} is needed")
        self.check_bounds(given)

    def check_bounds(self, given: Any) -> None:
        """Refuse a number out of bounds; the command line checks those that its help shows itself."""
        bounds, unit = self.option, f" {self.option.unit}" if self.option.unit else ""
        if bounds.least is not None and given < bounds.least:
            raise UsageError(f"{param(self.name)} is {given}, it must be {bounds.least:g} or more")
        if bounds.most is not None and given > bounds.most:
            raise UsageError(f"{param(self.name)} is {given}, it must be {bounds.most:g} or less")
        if bounds.above is not None and given <= bounds.above:
            raise UsageError(f"{param(self.name)} is {given:g}, it must be more than {bounds.above:g}{unit}")


def _without_none(kind: Any) -> tuple[Any, bool]:
    """The type without `None`, and whether it allows `None`."""
    if get_origin(kind) not in (Union, UnionType):
        return kind, False
    others = [member for member in get_args(kind) if member is not type(None)]
    return (others[0] if len(others) == 1 else Any), len(others) < len(get_args(kind))


def settings_of(kind: type, group: str = "") -> Iterator[Setting]:
    """The settings that a dataclass declares, in their order."""
    declared = [(each, choice) for each in fields(kind) if (choice := option_of(each.metadata)) is not None]
    written = {each.name: each.type for each, _ in declared}
    # Only the types of settings: others may be of modules that are not loaded.
    kinds = get_type_hints(type(kind.__name__, (), {"__annotations__": written, "__module__": kind.__module__}))
    for each, choice in declared:
        yield Setting(
            name=each.name,
            group=group,
            written=str(each.type),
            kind=kinds[each.name],
            default=REQUIRED if each.default is MISSING else each.default,
            option=choice,
        )


@dataclass(frozen=True, eq=False)
class Command:
    """A command: its function, and where and how it is offered. The settings are looked up when they are needed."""

    name: str
    """What is typed; a group and a name for `data list`."""
    panel: str | None
    """The heading under which `adjudge --help` lists it."""
    example: str
    """A call that works."""
    function: Callable[..., Any]
    details: str = ""
    """A paragraph that follows the documentation of the function and names parameters."""
    about: str = ""
    """What Python's documentation begins with instead of `text`."""
    line: Callable[..., Any] | None = None
    """What the command line calls instead of the function, with the same settings."""
    then: Callable[..., None] | None = None
    """What the command line calls with the result, which it has printed, and the settings; not for JSON."""
    settings: str | None = None
    """The class of the parameter `settings`, as `module:class`, if its module is slow to load."""
    work: bool = False
    """Whether it has much to compute, so that it takes `--jobs`, `--scheduler` and `--no-cache`."""
    output: bool = True
    """Whether the result can be written to a file, by `--output`."""
    brief: bool = False
    """Whether the most important columns and tables are printed, and the others by `--details` only."""
    json: bool = True
    """Whether the result can be printed as JSON. What the command line calls may take `json` and `output` itself."""

    @cached_property
    def groups(self) -> dict[str, type]:
        """The class of every parameter of the function."""
        known, groups = vars(inspect.getmodule(self.function)), {}
        for name, parameter in inspect.signature(self.function).parameters.items():
            if name in ("json", "output"):
                continue
            written = str(parameter.annotation)
            groups[name] = resolve_name(self.settings) if name == "settings" and self.settings else known[written]
        return groups

    @cached_property
    def own(self) -> list[Setting]:
        """The settings without those of the readers, in the order in which they are listed."""
        found: list[Setting] = []
        for group, kind in self.groups.items():
            if kind is not Reading:
                found += settings_of(Source if kind is Judged else kind, group)
        ordered = [each for each in found if each.option.after is None]
        for each in found:
            if each.option.after is not None:
                places = {other.name: place for place, other in enumerate(ordered)}
                ordered.insert(places[each.option.after] + 1, each)
        return ordered

    @cached_property
    def reads(self) -> bool:
        """Whether it takes the options of the readers."""
        return any(kind in (Judged, Reading) for kind in self.groups.values())

    @cached_property
    def text(self) -> str:
        """What the command does: the documentation of the function without its sections for Python."""
        parts = [part for part in self._paragraphs if not part.startswith(_SECTIONS)]
        return "\n\n".join([*parts, self.details] if self.details else parts)

    @property
    def _paragraphs(self) -> list[str]:
        return inspect.cleandoc(self.function.__doc__ or "").split("\n\n")

    def arguments(self, values: dict[str, Any], reading: Reading) -> dict[str, Any]:
        """The arguments of the function from the values of all settings, which have been checked.

        Args:
            values: what was given, by the name of the setting; what is missing has its default.
            reading: the options of the readers, if the command reads.
        """
        made: dict[str, dict[str, Any]] = {group: {} for group in self.groups}
        for setting in self.own:
            made[setting.group][setting.name] = setting.value(values.get(setting.name, UNSET))
        also = {each.name: made[each.group][each.name] for each in self.own if each.option.reads}
        reading = reading.with_options(**{name: value for name, value in also.items() if value is not None})
        arguments: dict[str, Any] = {}
        for group, kind in self.groups.items():
            if kind is Judged:
                arguments[group] = Judged(made[group]["source"], reading)
            else:
                arguments[group] = reading if kind is Reading else kind(**made[group])
        return arguments

    @cached_property
    def in_python(self) -> list[Setting]:
        """The settings that Python knows, those given by their place first, arguments before options."""
        known = [each for each in self.own if each.option.only != "command line"]
        return sorted(known, key=lambda each: (list(_KINDS).index(each.option.positional), not each.option.argument))

    @cached_property
    def signature(self) -> inspect.Signature:
        """The signature of the Python function."""
        parameters = [
            inspect.Parameter(
                each.name, _KINDS[each.option.positional], default=each.signature_default, annotation=each.annotation
            )
            for each in self.in_python
        ]
        if self.reads:
            parameters.append(inspect.Parameter("reading", inspect.Parameter.VAR_KEYWORD, annotation="Any"))
        returned = inspect.signature(self.function).return_annotation
        return inspect.Signature(parameters, return_annotation=returned)

    @cached_property
    def documentation(self) -> str:
        """The documentation of the Python function, with a list of its parameters."""
        lines = []
        for each in self.in_python:
            stars, about = _STARS.get(each.option.positional, ""), each.option.about or sentence(each.option.help)
            lines.append(f"{stars}{each.name}: {about}")
        lines += [f"**reading: {_READING}"] if self.reads else []
        wrapper = textwrap.TextWrapper(116, initial_indent="    ", subsequent_indent="        ")
        listed = "\n".join(wrapper.fill(in_python(line)) for line in lines)
        sections = [part for part in self._paragraphs if part.startswith(_SECTIONS)]
        return "\n\n".join([in_python(self.about or self.text), f"Args:\n{listed}", *sections])

    def call(self, *args: Any, **keywords: Any) -> Any:
        """Call the function as Python does."""
        if self.reads:
            self._check_keywords(keywords)
        try:
            given = self.signature.bind(*args, **keywords).arguments
        except TypeError as fault:
            raise TypeError(f"{self.name}() {fault}") from None
        read = given.pop("reading", {})
        for setting in self.in_python:
            if setting.name in given:
                setting.check(given[setting.name])
        return self.function(**self.arguments(given, Reading.in_python(self.name, read)))

    def _check_keywords(self, keywords: dict[str, Any]) -> None:
        """Refuse a keyword that is neither a parameter of the function nor an option of the readers."""
        named = [each.name for each in self.in_python]
        allowed = [*named, "format", *(each.name for each in fields(ReadOptions)), "options"]
        for keyword in keywords:
            if keyword not in allowed:
                raise unknown_choice(f"parameter of adjudge.{self.name}", keyword, dict.fromkeys(allowed))


def sentence(text: str) -> str:
    """A help text as Python's documentation says it."""
    return text[0].lower() + text[1:]


COMMANDS: dict[str, Command] = {}
"""All commands by name; `shell.line.MODULES` declare them."""


def command(name: str, panel: str | None, example: str, **more: Any) -> Callable[[Callable[P, R]], Callable[..., R]]:
    """Declare a command; `more` are further attributes of `Command`."""

    def declare(function: Callable[P, R]) -> Callable[..., R]:
        COMMANDS[name] = Command(name, panel, example, function, **more)
        return python_function(COMMANDS[name])

    return declare


def python_function(declared: Command) -> Callable[..., Any]:
    """The function of the Python interface, without its signature and documentation (`described` adds them)."""

    @as_python_call
    def call(*args: Any, **keywords: Any) -> Any:
        return declared.call(*args, **keywords)

    del call.__wrapped__  # type: ignore[attr-defined]  # its signature is that of the settings
    call.__name__ = call.__qualname__ = declared.function.__name__
    call.__module__ = declared.function.__module__
    call.__test__ = False  # type: ignore[attr-defined]  # `testset` is no test, whatever its name looks like to pytest
    return call


def as_python_call(function: Callable[P, R]) -> Callable[P, R]:
    """The function as Python calls it. Linear algebra uses one thread, so that commands give the same digits."""

    @wraps(function)
    def call(*args: P.args, **keywords: P.kwargs) -> R:
        import_module("numpy")  # its threads can only be limited once it is loaded
        from adjudge.work.tasks import one_thread

        try:
            with one_thread():
                return function(*args, **keywords)
        except ModuleNotFoundError as fault:
            raise explain_missing_module(fault) or fault from None

    return call


def described(function: Callable[P, R]) -> Callable[P, R]:
    """The function with the signature and documentation that its settings give, for which these are loaded."""
    declared = COMMANDS.get(function.__name__)
    if declared is not None and not hasattr(function, "__signature__"):
        function.__signature__ = declared.signature  # type: ignore[attr-defined]
        function.__doc__ = declared.documentation
    return function
