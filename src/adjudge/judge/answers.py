"""What a judge answered: a number on the scale or a choice, read strictly. What cannot be used has a reason."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adjudge.core.errors import shown

if TYPE_CHECKING:
    from adjudge.design.campaign import Scale

_OBJECT = re.compile(r"\{[^{}]*\}")
_NUMBER = re.compile(r"[-+]?\d[\d.,]*")
_CHOICES = (0, 1, 2)


class UnusableAnswerError(ValueError):
    """An answer that is none; the text says why, and is shown to the judge once."""


@dataclass(frozen=True)
class AnswerReader:
    """Reads the answers of one campaign."""

    scale: Scale
    in_pairs: bool

    def read(self, text: str) -> float:
        """The score, or the choice: 1, 2, or 0 for a tie."""
        if not text.strip():
            raise UnusableAnswerError("the answer is empty")
        value = _from_json(text, "better" if self.in_pairs else "score")
        if value is None and self.in_pairs:
            raise UnusableAnswerError('the answer has no JSON object with "better"')
        number = _last_number(text, self.scale.high) if value is None else _as_number(value)
        if self.in_pairs:
            if number not in _CHOICES:
                raise UnusableAnswerError(f'"better" is {number:g}, it must be 0, 1 or 2')
        elif not self.scale.low <= number <= self.scale.high:
            raise UnusableAnswerError(f"{number:g} is not on the scale from {self.scale.low:g} to {self.scale.high:g}")
        return number


def _from_json(text: str, key: str) -> Any:
    """The value of the key in the last JSON object that has it; None if there is none."""
    for found in reversed(_OBJECT.findall(text)):
        try:
            content = json.loads(found)
        except (ValueError, RecursionError):
            continue
        if isinstance(content, dict) and content.get(key) is not None:
            return content[key]
    return None


def _as_number(value: Any) -> float:
    if isinstance(value, str):
        value = value.strip()
    try:
        number = math.nan if isinstance(value, bool | list | dict) else float(value)
    except (ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise UnusableAnswerError(f"'{shown(value)}' is not a number")
    return number


def _last_number(text: str, high: float) -> float:
    """The last number of a text; in "85/100" and "85 out of 100" the highest value of the scale is not the answer."""
    plain = re.sub(rf"(/|\bout\s+of)\s*{high:g}(\.0+)?(?![\d.,]*\d)", " ", text)
    numbers = _NUMBER.findall(plain)
    if not numbers:
        raise UnusableAnswerError("the answer has no number")
    # 85,5 and 1.000,0 are not the same everywhere, so they are refused rather than guessed.
    return _as_number(numbers[-1].rstrip(".,"))
