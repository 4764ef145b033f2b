"""A small cache of results computed from the same judgments: the sections of an audit need the same tables."""

from __future__ import annotations

import weakref
from collections import deque
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

_Made = TypeVar("_Made")
_Given = ParamSpec("_Given")
LATEST = 3
"""Results that each function remembers, as long as their judgments are in use."""


def memoised(make: Callable[_Given, _Made]) -> Callable[_Given, _Made]:
    """Cache the latest results of a function of judgments. Callers must not change the arrays of a result."""
    latest: deque[tuple[weakref.ref[Any], dict[str, Any], _Made]] = deque(maxlen=LATEST)

    @wraps(make)
    def cached(*args: _Given.args, **settings: _Given.kwargs) -> _Made:
        (judgments,) = args
        for known, known_settings, kept_result in latest:
            if known() is judgments and known_settings == settings:
                return kept_result
        result = make(*args, **settings)
        latest.append((weakref.ref(judgments), dict(settings), result))
        return result

    return cached
