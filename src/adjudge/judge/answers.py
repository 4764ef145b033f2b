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

_NUMBER = re.compile(r"[-+]?\d[\d.,]*")
_CHOICES = (0, 1, 2)
_DECODER = json.JSONDecoder()


class UnusableAnswerError(ValueError):
    """An answer that cannot be used; the text says why, the value in parentheses, and is shown to the judge once."""


@dataclass(frozen=True)
class AnswerReader:
    """Reads the answers of one campaign."""

    scale: Scale
    in_pairs: bool

    def read(self, text: str) -> float:
        """The score, or the choice: 1, 2, or 0 for a tie."""
        if not text.strip():
            raise UnusableAnswerError("the answer is empty")
        value = _find_in_json(text, "better" if self.in_pairs else "score")
        if value is None and self.in_pairs:
            raise UnusableAnswerError('the answer has no JSON object with "better"')
        number = self._last_number(text) if value is None else _to_number(value)
        if not self.accepts(number):
            on_scale = f"the score is not on the scale from {self.scale.low:g} to {self.scale.high:g}"
            what = '"better" is not 0, 1 or 2' if self.in_pairs else on_scale
            raise UnusableAnswerError(f"{what} ({number:g})")
        return number

    def accepts(self, number: float) -> bool:
        """Whether this number is a choice, or on the scale."""
        return number in _CHOICES if self.in_pairs else self.scale.low <= number <= self.scale.high

    def _last_number(self, text: str) -> float:
        """The last number of a text that does not only name the scale, as "85/100" and "from 0 to 100" do."""
        low, high = (re.escape(f"{end:g}") for end in (self.scale.low, self.scale.high))
        plain = re.sub(rf"(/|\bout\s+of|\b{low}\s*(to|and|-|–))\s*{high}(\.0+)?(?![\d.,]*\d)", " ", text)
        numbers = _NUMBER.findall(plain)
        if not numbers:
            raise UnusableAnswerError("the answer has no number")
        # 85,5 and 1.000,0 are not the same everywhere, so they are refused rather than guessed.
        return _to_number(numbers[-1].rstrip(".,"))


def _find_in_json(text: str, key: str) -> Any:
    """The value of the key in the last JSON object that has it, whatever else the object holds; None without the key.

    Where the key is there but no value can be read, as in an answer that was cut, other numbers are not the answer.
    """
    value, start = None, text.find("{")
    while start >= 0:
        end = start + 1
        try:
            content, after = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            content = {}
        else:
            if content.get(key) is not None:
                value, end = content[key], after
        start = text.find("{", end)
    if value is None and re.search(rf"[\"']{key}[\"']\s*:", text):
        raise UnusableAnswerError(f'no value of "{key}" can be read in the JSON object')
    return value


def _to_number(value: Any) -> float:
    if isinstance(value, str):
        value = value.strip()
    try:
        number = math.nan if isinstance(value, bool | list | dict) else float(value)
    except (ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise UnusableAnswerError(f"the answer is not a number ({shown(value)})")
    return number
