"""What all functions of the Python interface share: any source, one language pair, messages that name parameters."""

from __future__ import annotations

import ast
import inspect
import re
from dataclasses import fields
from functools import wraps
from importlib import import_module
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from adjudge.core.errors import AdjudgeError, DataError, UsageError, unknown_choice
from adjudge.work import one_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence, Sized

    from adjudge.core.judgments import Judgments

P = ParamSpec("P")
R = TypeVar("R")
_Part = TypeVar("_Part", bound="Sized")
_OPTION = re.compile(r"(?<![\w-])--([a-z][a-z0-9-]*)")
_RENAMED = {"with": "with_scores"}
"""Options whose parameter has another name, because Python reserves the option's."""
_CHOICES = re.compile(r"Literal(\[.*?\])( \| None)?")
_NUMBERS = {"int": "a whole number", "float": "a number"}


def verb(function: Callable[P, R]) -> Callable[P, R]:
    """Make errors of a function name parameters (`'level'`) instead of command-line options (`--level`).

    Linear algebra uses one thread, as in commands, so that both give the same digits.
    """
    signature = inspect.signature(function)
    parameters = signature.parameters

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        import_module("numpy")  # its threads can only be limited once it is loaded
        try:
            if "reading" in parameters:
                _check_keywords(function.__name__, kwargs, [name for name in parameters if name != "reading"])
            _check_values(signature, args, kwargs)
            with one_thread():
                return function(*args, **kwargs)
        except AdjudgeError as fault:
            fault.args = (in_python(str(fault)),)
            raise

    return call


def _check_keywords(name: str, keywords: Iterable[str], parameters: list[str]) -> None:
    """Refuse a keyword that is neither a parameter of the function nor an option of the readers."""
    from adjudge.formats.options import ReadOptions

    allowed = [*parameters, "format", *(option.name for option in fields(ReadOptions)), "options"]
    for keyword in keywords:
        if keyword not in allowed:
            raise unknown_choice(f"parameter of adjudge.{name}", keyword, dict.fromkeys(allowed))


def _check_values(signature: inspect.Signature, args: Sequence[Any], keywords: Mapping[str, Any]) -> None:
    """Refuse what the command line refuses: an unknown choice, a value that is not a number, a negative seed."""
    parameters = signature.parameters
    for name, value in (*zip(parameters, args, strict=False), *keywords.items()):
        written = str(parameters[name].annotation) if name in parameters else ""
        number = _NUMBERS.get(written.removesuffix(" | None"))
        if value is None and written.endswith(" | None"):
            continue
        if (choices := _CHOICES.fullmatch(written)) and value not in ast.literal_eval(choices[1]):
            raise unknown_choice(name, str(value), ast.literal_eval(choices[1]))
        # 1e4 means a whole number, but it is not accepted as a seed.
        whole = isinstance(value, Integral) or (
            isinstance(value, Real) and float(value).is_integer() and name != "seed"
        )
        if number and not (whole or (number == _NUMBERS["float"] and isinstance(value, Real))):
            raise UsageError(f"'{name}' is {value!r}, {number} is needed")
        if name == "seed" and value < 0:
            raise UsageError(f"'seed' is {value}, it must be 0 or more")


def as_command(function: Callable[P, R]) -> Callable[P, R]:
    """The function as a command calls it: errors name options."""
    return cast("Callable[P, R]", inspect.unwrap(function))


def in_python(message: str) -> str:
    """The message with parameters instead of options."""
    return _OPTION.sub(lambda option: f"'{_RENAMED.get(option[1], option[1].replace('-', '_'))}'", message)


def judgments_of(source: Any, reading: dict[str, Any]) -> Judgments:
    """The judgments of any source: a path, several paths, a data frame, or judgments."""
    from adjudge.formats import read

    return read(source, **reading)


def column_names(names: str | Iterable[str]) -> tuple[str, ...]:
    """Names as a list, from a list or a comma-separated text."""
    listed = names.split(",") if isinstance(names, str) else names
    return tuple(name.strip() for name in listed if name.strip())


def single_pair(source: Any, reading: dict[str, Any], *, doing: str) -> Judgments:
    """The judgments of a source with one language pair; several are refused, with advice."""
    judgments = judgments_of(source, reading)
    parts = judgments.by_pair()
    if len(parts) > 1:
        one_by_one = f"{{name: adjudge.{doing}(part) for name, part in judgments.by_pair().items()}}"
        problem = f"the judgments hold {len(parts)} language pairs ({', '.join(parts)})"
        raise DataError(f"{problem}; choose one with --pair, or take them one by one: {one_by_one}")
    return judgments


def compute_pairs(
    parts: Mapping[str, _Part], compute: Callable[[_Part], R], *, seconds_per_row: float = 0.0
) -> tuple[dict[str, R], dict[str, DataError]]:
    """The results by language pair, and reasons for pairs without one. If all fail, the first error is raised.

    If there are enough pairs for all workers, each pair is one task; otherwise the work for each pair is divided.

    Args:
        parts: the judgments of each pair.
        compute: computes the result of a pair.
        seconds_per_row: a lower limit of the CPU seconds per row, if known.
    """
    from adjudge.work import try_tasks

    sizes = [float(len(part)) for part in parts.values()]
    seconds = seconds_per_row * sum(sizes)
    outcomes = try_tasks(compute, parts.values(), what="language pairs", sizes=sizes, known_seconds=seconds)
    results: dict[str, R] = {}
    faults: dict[str, DataError] = {}
    for name, outcome in zip(parts, outcomes, strict=True):
        if isinstance(outcome.fault, DataError):
            faults[name] = outcome.fault
        else:
            results[name] = outcome.unwrap()
    if not results:
        raise next(iter(faults.values()))
    return results, faults


def if_possible(what: str, missing: list[str], compute: Callable[[], R]) -> R | None:
    """Leave out a part that the data do not allow, and add the reason to `missing`."""
    try:
        return compute()
    except DataError as fault:
        missing.append(f"{what} is left out: {fault}.")
        return None


def silent(_: str) -> None:
    """Ignore progress messages."""


def with_reading_options(function: Callable[P, R]) -> Callable[P, R]:
    """Show the readers' options, instead of `**reading`, in the signature and the help of a function."""
    from adjudge.formats.options import ReadOptions

    signature = inspect.signature(function)
    options = fields(ReadOptions)
    named = [each for each in signature.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
    named += [
        inspect.Parameter(option.name, inspect.Parameter.KEYWORD_ONLY, default=option.default, annotation=option.type)
        for option in options
    ]
    function.__signature__ = signature.replace(parameters=named)  # type: ignore[attr-defined]
    lines = "\n".join(f"    {option.name}: {_sentence(option.metadata['help'])}" for option in options)
    # From Python 3.13 on, docstrings come without their indentation.
    function.__doc__ = inspect.cleandoc(function.__doc__ or "").replace("    **reading: see below.", lines)
    return function


def _sentence(text: str) -> str:
    return in_python(text[0].lower() + text[1:])
