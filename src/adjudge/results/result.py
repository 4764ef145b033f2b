"""The base class of all results: settings, data fingerprint, what was set aside, version, and signature."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from adjudge._version import __version__

if TYPE_CHECKING:
    import polars as pl

    from adjudge.core.judgments import SetAside
    from adjudge.results.table import Table

Setting = str | int | float | bool | None
UNWRITTEN = {"written": False}
"""Metadata of fields that are used internally and are not part of the JSON."""


@dataclass(frozen=True, kw_only=True)
class Result:
    """Base class of all results. A result records how it was computed (`settings`, with the seed) and has `tables`."""

    verb: ClassVar[str]

    settings: Mapping[str, Setting]
    data: str
    set_aside: tuple[SetAside, ...] = ()
    notes: tuple[str, ...] = ()
    version: str = __version__

    @property
    def signature(self) -> str:
        """One line that reproduces the result: command, settings, data fingerprint, version."""
        return make_signature(self.verb, self.settings, self.data, self.version)

    def tables(self) -> tuple[Table, ...]:
        """The summary tables, the most important first."""
        raise NotImplementedError

    def all_tables(self) -> tuple[Table, ...]:
        """The summary tables, and those that are too long to be printed by default."""
        return self.tables()

    def to_frame(self, table: str | int | None = None) -> pl.DataFrame:
        """A table of the result as a polars data frame, in full precision.

        Args:
            table: its index in `all_tables()`, or words of its title; default: the most important table.
        """
        from adjudge.results.display import find_table, frame_of

        return frame_of(find_table(self, table))

    def to_pandas(self, table: str | int | None = None) -> Any:
        """The same as `to_frame`, as a pandas data frame. Needs pandas."""
        from adjudge.results.display import as_pandas

        return as_pandas(self.to_frame(table))

    def plot(self, chart: str | None = None) -> Any:
        """A chart of the report as an Altair object, which notebooks display and `save` writes to a file.

        Args:
            chart: its name; default: the first. An unknown name lists the available ones.
        """
        from adjudge.results.display import altair_chart

        return altair_chart(self, chart)

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        # Set on every class, so that `dataclass` does not add a `__repr__` that prints all numbers.
        cls.__repr__ = Result.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.signature}>"

    def __str__(self) -> str:
        from adjudge.results.display import short_text

        return short_text(self)

    def _repr_html_(self) -> str:
        from adjudge.results.display import short_html

        return short_html(self)

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values in full precision for JSON, with None instead of NaN."""
        return {"signature": self.signature, **_plain_fields(self)}


def make_signature(verb: str, settings: Mapping[str, Setting], data: str, version: str) -> str:
    """The signature line, as in `adjudge rank|method:wins|seed:1|data:0123abcd|version:0.1.0`."""
    parts = [f"{key}:{_plain_setting(value)}" for key, value in settings.items() if value is not None]
    return "|".join([f"adjudge {verb}", *parts, f"data:{data}", f"version:{version}"])


def _plain_setting(value: Setting) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def to_plain(value: Any) -> Any:
    """Convert dataclasses, arrays and tuples to dicts, lists and numbers for JSON; NaN and infinities become None."""
    if value is None or type(value) in (str, int, bool):
        return value
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, np.generic | np.ndarray):
        return to_plain(value.tolist())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        to_dict = getattr(value, "to_dict", None)
        if to_dict is not None:
            return to_dict()
        return _plain_fields(value)
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_plain(item) for item in value]
    return value


def _plain_fields(value: Any) -> dict[str, Any]:
    """The fields of a dataclass, without internal ones."""
    written = (field.name for field in dataclasses.fields(value) if field.metadata.get("written", True))
    return {name: to_plain(getattr(value, name)) for name in written}
