"""Translations beside their source: lines out of step, lines that equal the source, empty lines.

Whether two files are in step is told without a dictionary: long segments have long translations, and numbers and names
in Latin letters stay. The score of a shift is the correlation of lengths plus the share of such anchors that are found
again; a file is out of step where another shift than 0 scores clearly better, in all of it or in a stretch of it.
"""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np
import regex

from adjudge.table.maths import pearson
from adjudge.table.wording import counted
from adjudge.testsets.documents import Document, is_ended
from adjudge.testsets.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


FARTHEST = 10
WINDOW = 30
FEWEST = 10
CLEAR_GAIN = 0.4
COST_OF_CHANGE = 2.0
"""What a change of shift between two lines must save."""
_ANCHOR = re.compile(r"\d+(?:[.,:]\d+)*|[A-Z][A-Za-z]{2,}")


def find_alignment(source: Sequence[str], translation: Sequence[str], path: Path) -> Iterator[Finding]:
    """Find what is wrong with a translation that has as many segments as the source."""
    name = str(path)
    same = 0
    for line, (source_line, translated_line) in enumerate(zip(source, translation, strict=True), start=1):
        if source_line.strip() and not translated_line.strip():
            what = "the source has text, the translation has none"
            yield Finding(name, line, "", "blank", source_line[:64], None, 0.95, what)
        elif source_line.strip() == translated_line.strip() and len(source_line.split()) > 3:
            same += 1
            what = "the translation equals the source"
            yield Finding(name, line, "", "untranslated", source_line[:64], None, 0.9, what)
    for first, last, shift in find_shifted_stretches(source, translation) if same < len(source) / 2 else ():
        direction = "behind" if shift > 0 else "ahead"
        where = f"lines {first} to {last}" if last - first + 1 < len(source) else "all lines"
        what = f"{where} fit the source better when moved: the translation is {counted(abs(shift), 'line')} {direction}"
        yield Finding(name, first, "", "misaligned", translation[first - 1][:64], None, 0.85, what)


def find_shifted_stretches(source: Sequence[str], translation: Sequence[str]) -> list[tuple[int, int, int]]:
    """Stretches (first line, last line, shift) where line i of the source fits line i + shift of the translation."""
    if len(source) < FEWEST:
        return []
    shifts = {0}
    for start in range(0, len(source), WINDOW):
        # The last window overlaps the one before, so that it is full.
        low = max(0, min(start, len(source) - WINDOW))
        shifts.add(_best_shift(source, translation, low, min(low + WINDOW, len(source))))
    if shifts == {0}:
        return []
    path = _best_path(source, translation, sorted(shifts, key=abs))
    stretches, first = [], 0
    for shift, run in groupby(path):
        last = first + len(list(run))
        if shift and last - first >= FEWEST:
            stretches.append((first + 1, last, shift))
        first = last
    return stretches


def realign(source: Sequence[str], translation: Sequence[str]) -> list[str]:
    """The translation of every segment, where stretches that are out of step are moved back."""
    moved = list(translation)
    for first, last, shift in find_shifted_stretches(source, translation):
        for line in range(first - 1, last):
            moved[line] = translation[(line + shift) % len(translation)]
    return moved


def _best_path(source: Sequence[str], translation: Sequence[str], shifts: list[int]) -> list[int]:
    """The shift of every line: the cheapest way through all lines, where changing the shift costs (Viterbi)."""
    source_lines, translated_lines = [_features(text) for text in source], [_features(text) for text in translation]
    ratio = float(np.median([y[0] for y in translated_lines]) - np.median([x[0] for x in source_lines]))
    costs = np.array(
        [
            [_misfit(line, translated_lines[(i + shift) % len(translated_lines)], ratio) for shift in shifts]
            for i, line in enumerate(source_lines)
        ]
    )
    best = costs[0]
    came_from = np.zeros(costs.shape, dtype=int)
    for i in range(1, len(source_lines)):
        ways = best[:, None] + COST_OF_CHANGE * (1 - np.eye(len(shifts)))
        came_from[i] = ways.argmin(axis=0)
        best = ways.min(axis=0) + costs[i]
    state = int(best.argmin())
    path = [state]
    for i in range(len(source_lines) - 1, 0, -1):
        state = int(came_from[i, state])
        path.append(state)
    return [shifts[state] for state in reversed(path)]


def _misfit(source: Features, translated: Features, ratio: float) -> float:
    """Measure how badly two lines fit: the difference of log lengths plus the share of anchors not found again."""
    anchors = source[1] | translated[1]
    lost = 1 - len(source[1] & translated[1]) / len(anchors) if anchors else 0.5
    return min(1.5, abs(translated[0] - source[0] - ratio)) + lost


def _best_shift(source: Sequence[str], translation: Sequence[str], low: int, high: int) -> int:
    source_lines = [_features(text) for text in source[low:high]]
    scores: dict[int, float] = {}
    for shift in range(-FARTHEST, FARTHEST + 1):
        # Indices wrap around, because misaligned files may be rotated.
        translated_lines = [_features(translation[(i + shift) % len(translation)]) for i in range(low, high)]
        scores[shift] = _fit(source_lines, translated_lines)
    best = max(scores, key=lambda shift: (scores[shift], -abs(shift)))
    return best if scores[best] - scores[0] > CLEAR_GAIN and scores[best] > 0.7 else 0


Features = tuple[float, frozenset[str]]


def _features(text: str) -> Features:
    return float(np.log1p(len(text))), frozenset(_ANCHOR.findall(text))


def _fit(source_lines: list[Features], translated_lines: list[Features]) -> float:
    """Correlation of log lengths, plus the share of anchors that the other side has too."""
    x, y = (np.array([length for length, _ in side]) for side in (source_lines, translated_lines))
    wanted = sum(len(anchors) for _, anchors in source_lines)
    met = sum(len(anchors & others) for (_, anchors), (_, others) in zip(source_lines, translated_lines, strict=True))
    correlation = pearson(x, y) if len(x) >= 3 else float("nan")
    return (0.0 if np.isnan(correlation) else correlation) + (met / wanted if wanted else 0.0)


# What only shows beside other documents: missing headlines, documents that start in the middle, repeated segments.

FEWEST_DOCUMENTS = 5
MOST_HAVE_ONE = 0.75
"""Share of documents with a headline from which on its absence is worth a word."""
_MIDDLE = regex.compile(
    r"(?:And|But|However|Meanwhile|Also|Then|He|She|They|It|His|Her|Their|This|These|That)\s|\p{Ll}"
)


def missing_headlines(documents: Sequence[Document]) -> Iterator[Finding]:
    """All findings of a set of documents."""
    with_text = [document for document in documents if len(document.segments) > 1]
    headed = sum(has_headline(document) for document in with_text)
    if len(with_text) < FEWEST_DOCUMENTS or headed < MOST_HAVE_ONE * len(with_text):
        return
    for document in with_text:
        if has_headline(document):
            continue
        what = f"no headline, {headed} of {len(with_text)} documents have one"
        yield document.finding(0, "headline", what, 0.7)
        if _MIDDLE.match(document.texts[0]):
            yield document.finding(0, "out-of-context", "the document seems to start in the middle of its text", 0.5)


def has_headline(document: Document) -> bool:
    """Whether the first segment does not end like a sentence; a question or a quotation may be a headline too."""
    first = document.texts[0].rstrip()
    return not is_ended(first) or first.rstrip("\"'”’").endswith(("?", "!", ":", "…"))


FEWEST_WORDS = 5


def repeated_segments(documents: Sequence[Document]) -> Iterator[Finding]:
    """All repeats after the first occurrence, in order; short segments may well recur."""
    first: dict[str, tuple[str, int]] = {}
    for document in documents:
        for index, segment in enumerate(document.segments):
            if not segment.text.strip():
                yield document.finding(index, "blank", "an empty segment", 0.95)
                continue
            key = " ".join(segment.text.casefold().split())
            if len(key.split()) < FEWEST_WORDS and len(key) < 25:
                continue
            if key in first:
                name, line = first[key]
                yield document.finding(
                    index, "duplicate", f"the same text stands on line {line} (document {name})", 0.9
                )
            else:
                first[key] = (document.name, segment.line)
