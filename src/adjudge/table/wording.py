"""Wording of sentences: `1 pair` and `2,000 pairs`, verbs that agree with a number, and lists of names.

Also lists of names as the command line takes them.
"""

from __future__ import annotations

import csv
import io
import re
import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_NAMES = 6
LONG_NAME = 40
MOST_LETTERS = 120
MOST_SAID = 600


def counted(number: int, what: str, several: str | None = None) -> str:
    """`1 pair`, `2,000 pairs`; `several` is an irregular plural."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {several or f'{what}s'}"


def measured(number: float, unit: str) -> str:
    """`1 point`, `0.5 points`."""
    return f"{number:g} {unit}" if number == 1 else f"{number:g} {unit}s"


def say_p(p: float) -> str:
    """`p < .001`, `p = .020`."""
    return "p < .001" if p < 0.001 else f"p = {p:.3f}".replace("0.", ".")


def agreeing(number: int, one: str, several: str) -> str:
    """The form of a verb or phrase for one, or for several: `is`, `are`."""
    return one if number == 1 else several


def listed(names: Sequence[str], last: str = "and") -> str:
    """`A`, `A and B`, `A, B and C`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {last} {names[-1]}"


def short_list(names: Sequence[str], last: str = "and") -> str:
    """List names, with long lists shortened to `A, B and 7 others`."""
    kept = len(names) if len(names) <= MOST_NAMES else MOST_NAMES - 1
    while kept > 1 and max(map(len, names)) > LONG_NAME and sum(map(len, names[:kept])) > MOST_LETTERS:
        kept -= 1
    left = len(names) - kept
    return listed([*names[:kept], counted(left, "other")] if left else names, last)


def few_names(names: Sequence[str]) -> str:
    """Up to three names of systems; more are counted, and two of them named."""
    return listed(names) if len(names) <= 3 else f"{len(names)} systems ({names[0]}, {names[1]}, ...)"


def as_sentences(notes: Sequence[str]) -> list[str]:
    """Notes with a capital letter and a full stop; a name that stands first keeps its letter."""
    return [f"{_capital(note)}{'' if note.endswith(('.', '?', '!')) else '.'}" for note in notes]


def _capital(note: str) -> str:
    # A word with a digit, an underscore or a stop in it is a name, as of a file or an annotator.
    first = note.partition(" ")[0].rstrip(".:,;?!")
    return note if re.search(r"[\d_./]", first) else note[:1].upper() + note[1:]


def call_accounts(sentence: str) -> str:
    """A sentence in which accounts, which may be fewer people, are not called annotators.

    Options (`--annotators`) and effects of the model (`annotator:system`, `annotator + task`) keep their names.
    """

    def renamed(found: re.Match[str]) -> str:
        word = found["word"]
        return f"{found['article'] or ''}{'A' if word[0] == 'A' else 'a'}ccount{'s' if word.endswith('s') else ''}"

    return re.sub(r"(?<![-:\w])(?P<article>[Aa]n )?(?P<word>[Aa]nnotators?)\b(?![:-]| \+)", renamed, sentence)


def split_names(text: str) -> tuple[str, ...]:
    """Split comma-separated names; a name with a comma is in double quotes: `A,"B, C"`."""
    rows = csv.reader([" ".join(text.split("\n"))], skipinitialspace=True)
    return tuple(name.strip() for row in rows for name in row)


def as_argument(names: Sequence[str]) -> str:
    """Names in the form that `split_names` understands, quoted for a shell; where they are too many, what to put there.

    An option that is cut short would be wrong.
    """
    if sum(map(len, names)) > MOST_SAID:
        return "NAME,NAME,..."
    joined = io.StringIO()
    csv.writer(joined, lineterminator="").writerow(names)
    text = joined.getvalue()
    # Letters of all languages are safe, which shlex does not know.
    return text if re.fullmatch(r"[\w@%+=:,./-]+", text) else shlex.quote(text)
