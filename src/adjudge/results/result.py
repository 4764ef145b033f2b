"""What every result carries: settings, data fingerprint, what was set aside, version, and the line naming it all."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from adjudge._version import __version__

if TYPE_CHECKING:
    from adjudge.core.judgments import SetAside
    from adjudge.results.table import Table

Setting = str | int | float | bool | None


@dataclass(frozen=True, kw_only=True)
class Result:
    """Base of all results. A result says how it was made (`settings`, with the seed), and shows itself (`tables`)."""

    verb: ClassVar[str]

    settings: Mapping[str, Setting]
    data: str
    set_aside: tuple[SetAside, ...] = ()
    notes: tuple[str, ...] = ()
    version: str = __version__

    @property
    def signature(self) -> str:
        """One line that reproduces the result: verb, settings, data fingerprint, version."""
        return make_signature(self.verb, self.settings, self.data, self.version)

    def tables(self) -> tuple[Table, ...]:
        """The summary tables, the most important first."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """The result for machines: plain values in full precision, null instead of NaN."""
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        plain: dict[str, Any] = to_plain(fields)
        return {"signature": self.signature, **plain}


def make_signature(verb: str, settings: Mapping[str, Setting], data: str, version: str) -> str:
    """The signature line, as in `adjudge rank|method:wins|seed:1|data:0123abcd|version:0.1.0`."""
    parts = [f"{key}:{_plain_setting(value)}" for key, value in settings.items() if value is not None]
    return "|".join([f"adjudge {verb}", *parts, f"data:{data}", f"version:{version}"])


def _plain_setting(value: Setting) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def to_plain(value: Any) -> Any:
    """Dataclasses, arrays and tuples as dicts, lists and numbers that JSON can hold; NaN and infinities as null."""
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, np.generic | np.ndarray):
        return to_plain(value.tolist())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        own = getattr(value, "to_dict", None)
        if own is not None:
            return own()
        return {field.name: to_plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): to_plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_plain(one) for one in value]
    return value
