"""Errors put into clean text, one at a time, with their lines: what a detector should find."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

CLEAN = Path(__file__).with_name("clean.txt")


@dataclass(frozen=True)
class Injected:
    """A text with one error. A finding of one of the `categories` on one of the `lines` (from 1) has found it."""

    kind: str
    lines: frozenset[int]
    categories: frozenset[str]
    text: str


Where = Callable[[str], list[int]]
_OPEN = re.compile(r"(?:(?<=^)|(?<=\s))[\"“](?=\S)")
_CLOSE = re.compile(r"(?<=[^\s\d])[\"”](?=\s|$)")
_WORD = re.compile(r"(?<![\w'’-])[a-z]{5,}(?![\w'’-])")
_SPACE = re.compile(r"(?<=[a-z]{2}) (?=[a-z]{2})")
_APOSTROPHE = re.compile(r"(?<=[a-z])['’](?=[a-z]|\s[a-z])")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def clean_lines() -> list[str]:
    """The lines of the clean text; blank ones separate documents."""
    return CLEAN.read_text(encoding="utf-8").split("\n")


def _without(text: str, start: int, end: int, new: str = "") -> str:
    return text[:start] + new + text[end:]


def _quotation(lines: list[str], index: int) -> frozenset[int]:
    """The lines of the quotation that a mark on this line belongs to: its neighbours as far as no mark is met."""
    first, last = index, index
    if len(re.findall('["“”]', lines[index])) % 2:
        while last + 1 < len(lines) and lines[last + 1] and not _CLOSE.search(lines[last]):
            last += 1
        while first > 0 and lines[first - 1] and not _OPEN.search(lines[first]):
            first -= 1
    return frozenset(range(first + 1, last + 2))


def _opens_anew(lines: list[str], index: int, position: int) -> bool:
    """Whether the quotation was open already: an opening mark at each paragraph of a long quotation is optional."""
    before = lines[index - 1] if index else ""
    return position == 0 and len(_OPEN.findall(before)) > len(_CLOSE.findall(before))


def _each(
    lines: list[str], shape: re.Pattern[str], kind: str, categories: set[str], change: Callable[[re.Match[str]], str]
) -> Iterator[Injected]:
    for index, line in enumerate(lines):
        for match in shape.finditer(line):
            changed = _without(line, *match.span(), change(match))
            if changed == line or (kind == "opening quote" and _opens_anew(lines, index, match.start())):
                continue
            where = _quotation(lines, index) if "quote" in kind else frozenset({index + 1})
            text = "\n".join([*lines[:index], changed, *lines[index + 1 :]])
            yield Injected(kind, where, frozenset(categories), text)


def _misspelt(random: Random) -> Callable[[re.Match[str]], str]:
    def change(match: re.Match[str]) -> str:
        word, i = match.group(), random.randrange(1, len(match.group()))
        kind = random.choice(["drop", "double", "change", "swap"])
        letter = random.choice(_LETTERS)
        return {
            "drop": word[:i] + word[i + 1 :],
            "double": word[:i] + letter + word[i:],
            "change": word[:i] + letter + word[i + 1 :],
            "swap": word[: i - 1] + word[i] + word[i - 1] + word[i + 1 :],
        }[kind]

    return change


def _broken_encoding(match: re.Match[str]) -> str:
    return "".join(_windows(byte) for byte in match.group().encode("utf-8"))


def _windows(byte: int) -> str:
    """The character that browsers show for a byte: Windows-1252, and the bytes it lacks as they are."""
    try:
        return bytes([byte]).decode("cp1252")
    except UnicodeDecodeError:
        return chr(byte)


def injected(lines: list[str], seed: int = 1, most: int = 120) -> dict[str, list[Injected]]:
    """Errors of every kind, at most so many of each, drawn at random."""
    random = Random(seed)
    quotes = {"quotation-marks"}
    apostrophes = {"apostrophe", "quotation-marks"}
    period = re.compile(r"(?<=[a-z0-9])\.(?=[\"”]?$)")
    kinds = {
        "end quote": _each(lines, _CLOSE, "end quote", quotes, lambda _: ""),
        "opening quote": _each(lines, _OPEN, "opening quote", quotes, lambda _: ""),
        "period": _each(lines, period, "period", {"final-period"}, lambda _: ""),
        "one-letter typo": _each(lines, _WORD, "typo", {"typo", "spacing"}, _misspelt(random)),
        "dropped space": _each(lines, _SPACE, "space", {"typo", "spacing"}, lambda _: ""),
        "apostrophe turned quote": _each(lines, _APOSTROPHE, "apostrophe", apostrophes, lambda _: '"'),
        "mojibake": _each(
            [_curly(line) for line in lines], re.compile("[“”’éüñ—]"), "mojibake", {"mojibake"}, _broken_encoding
        ),
    }
    by_kind: dict[str, list[Injected]] = {}
    for name, errors in kinds.items():
        everything = list(errors)
        random.shuffle(everything)
        by_kind[name] = everything[:most]
    return by_kind


def _curly(line: str) -> str:
    """The text as a word processor would set it, so that there is something to break."""
    line = re.sub(r"(?<=\w)'(?=\w)", "’", line)
    return _CLOSE.sub("”", _OPEN.sub("“", line))
