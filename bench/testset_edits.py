"""What the authors of a cleaned test set edited, by category: a gold standard for detectors on real text.

Two versions of a segment are compared letter by letter, curly marks as straight ones, blanks at the ends left out:

- `quotation-marks`: a double mark was put in;
- `apostrophe`: a double mark became an apostrophe or was taken out;
- `quote-style`: a single mark became a double one;
- `final-period`: a period was put in at the end, or before the mark at the end;
- `spacing`: a blank was put in or taken out; `typo`: letters were changed.

Changed dashes and dots of omission are a matter of style and do not count. The editors missed errors, and closed some
quotations that open anew in the next segment but not others, so even a perfect reader of the text would not reach 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from adjudge.papers.replicate import read_published
from adjudge.testsets.alignment import realign
from adjudge.testsets.documents import Document, Segment
from adjudge.testsets.quotes import restore_marks

_STRAIGHT = str.maketrans("“”‘’", "\"\"''")
_STYLE = set("-–—….")
QUOTES = frozenset({"quotation-marks", "apostrophe", "quote-style"})


@dataclass(frozen=True)
class Edited:
    """A test set as released, the same with the marks back that a reader took away, and what its authors edited."""

    released: tuple[str, ...]
    repaired: tuple[str, ...]
    starts: tuple[int, ...]
    gold: tuple[frozenset[str], ...]
    marked: tuple[bool, ...]
    """Segments that the authors marked as contaminated, for whatever reason."""

    def documents(self, texts: Sequence[str]) -> list[Document]:
        """The texts as documents; a segment's line is its number."""
        bounds = zip(self.starts, [*self.starts[1:], len(texts) + 1], strict=True)
        return [
            Document("released", str(name), tuple(Segment(i, texts[i - 1]) for i in range(first, last)))
            for name, (first, last) in enumerate(bounds, start=1)
        ]


def read_edited(folder: Path) -> Edited:
    """Read the released test set of the parity study; every segment stands twice, once per annotator."""
    content = read_published("suboptimal").content
    before, after = (_lines(folder / name / "src.txt") for name in ("bts", "ats"))
    size = len(before) // content["stacked"]
    before, after = before[:size], after[:size]
    translation = realign(before, _lines(folder / "bts" / "mt_google.txt"))
    marks = [_lines(folder / name / "error.txt")[:size] for name in ("bts", "ats")]
    return Edited(
        released=tuple(before),
        repaired=tuple(restore_marks(text, other) for text, other in zip(before, translation, strict=True)),
        starts=tuple(content["document_starts"]["segments"]),
        gold=tuple(edits(text, other) for text, other in zip(before, after, strict=True)),
        marked=tuple("T" in pair for pair in zip(*marks, strict=True)),
    )


def edits(before: str, after: str) -> frozenset[str]:
    """The categories of all changes between two versions of a segment."""
    old, new = (text.translate(_STRAIGHT).strip() for text in (before, after))
    kinds: set[str] = set()
    for kind, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            kinds |= _kinds(old[i:j], new[k:m], at_end=m >= len(new) - 1)
    return frozenset(kinds)


def _kinds(old: str, new: str, *, at_end: bool) -> set[str]:
    kinds = set()
    if '"' in old and '"' not in new:
        kinds.add("apostrophe")
    elif "'" in old and '"' in new:
        kinds.add("quote-style")
    elif new.count('"') > old.count('"'):
        kinds.add("quotation-marks")
    if at_end and "." in new and not old.strip('"'):
        kinds.add("final-period")
    elif not (set(old + new) & _STYLE) and (old + new).isspace():
        kinds.add("spacing")
    if any(letter.isalpha() for letter in old + new):
        kinds.add("typo")
    return kinds


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
