"""Name the files in a sentence about judgments that can be read but do not answer the question."""

from __future__ import annotations

from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge.core.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# The parameters of commands that hold what was judged.
_FILES = ("files", "runs", "gold", "texts", "before", "after")
_SHOWN = 3


def names_files(command: Callable[..., None]) -> Callable[..., None]:
    """The command, whose faults in the data begin with the files that it was given."""

    @wraps(command)
    def run(**given: Any) -> None:
        try:
            command(**given)
        except DataError as fault:
            files = _given_files(given)
            if not files or any(name in str(fault) for name in files):
                raise
            more = f" and {len(files) - _SHOWN} more" if len(files) > _SHOWN else ""
            raise DataError(f"{', '.join(files[:_SHOWN])}{more}: {fault}") from fault

    return run


def _given_files(given: Mapping[str, Any]) -> list[str]:
    values = [given.get(name) for name in _FILES]
    listed = [one for value in values for one in (value if isinstance(value, list) else [value])]
    return [str(one) for one in listed if isinstance(one, Path)]
