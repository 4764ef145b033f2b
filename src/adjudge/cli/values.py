"""What `--help` writes for the value of an option: a plain word instead of a Python type."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from copy import copy
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from typer.models import OptionInfo

# A flag takes no value.
_WORDS: dict[Any, str] = {bool: "", int: "N", float: "X", str: "TEXT", Path: "PATH"}


def in_plain_words(command: Callable[..., None]) -> Callable[..., None]:
    """The command, with a word for the value of every option that names none itself."""
    signature = inspect.signature(command, eval_str=True)
    parameters = [one.replace(annotation=_worded(one.annotation)) for one in signature.parameters.values()]
    command.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    return command


def _worded(annotation: Any) -> Any:
    if get_origin(annotation) is not Annotated:
        return annotation
    kind, info = get_args(annotation)[:2]
    word = _WORDS.get(_single(kind))
    if not isinstance(info, OptionInfo) or info.metavar is not None or word is None:
        return annotation
    worded = copy(info)
    worded.metavar = word
    return Annotated[kind, worded]


def _single(kind: Any) -> Any:
    """The type of one value: `Path` of `list[Path] | None`."""
    if get_origin(kind) in (Union, UnionType):
        kind = next(one for one in get_args(kind) if one is not type(None))
    return get_args(kind)[0] if get_origin(kind) is list else kind
