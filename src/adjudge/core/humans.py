"""Which "systems" are human translations: a documented pattern over names, which the user can override."""

from __future__ import annotations

import re

from adjudge.core.errors import UsageError

# HUMAN, HUMAN-A, human.A, Human-refA, ref, _ref, refA, ref-B, ref.A, reference, reference1, translator-A
_LETTER = r"([-_.]?[a-z0-9])?"
_NAME = rf"_?(human([-_.]?ref)?{_LETTER}|ref{_LETTER}|references?{_LETTER}|translator[-_.]?[a-z0-9]+)"
# Files put other things around the name, between full stops: HUMAN-B.12, wmt23.refA, newstest.en-de.ref.A.de.txt
HUMAN_PATTERN = rf"([^.]+\.)*{_NAME}(\.[^.]+)*"


def compile_human_pattern(pattern: str | None) -> re.Pattern[str]:
    """The pattern for human systems; `pattern` is a name, or a regular expression over whole names; case ignored."""
    try:
        # A name may hold signs that mean something else in a regular expression.
        either = HUMAN_PATTERN if pattern is None else f"(?:{pattern})|(?:{re.escape(pattern)})"
        return re.compile(either, re.IGNORECASE)
    except re.error as fault:
        raise UsageError(f"--human '{pattern}' is not a regular expression ({fault}); correct it") from fault


def is_human(system: str, pattern: re.Pattern[str] | None = None) -> bool:
    """Whether the name says that people made this translation."""
    return (pattern or compile_human_pattern(None)).fullmatch(system) is not None
