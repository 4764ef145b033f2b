"""How much of a text was changed: what the longest common part of both versions leaves out.

A coarse measure for controls and tutorials, which the annotators' page computes in the same way. For figures that are
published there is the edit rate (HTER).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

WORD = re.compile(r"\S+")


def changed_percent(before: str, after: str, *, spaced: bool = True) -> float:
    """The share of words (characters, where a script writes no spaces) that both versions do not have in common."""
    parts = [WORD.findall(text) if spaced else [one for one in text if not one.isspace()] for text in (before, after)]
    total = len(parts[0]) + len(parts[1])
    return 0.0 if not total else 100 * (1 - 2 * _common(*parts) / total)


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """The length of the longest common subsequence."""
    row = [0] * (len(other) + 1)
    for word in one:
        corner = 0
        for i, wanted in enumerate(other, start=1):
            above = row[i]
            row[i] = corner + 1 if word == wanted else max(above, row[i - 1])
            corner = above
    return row[-1]
