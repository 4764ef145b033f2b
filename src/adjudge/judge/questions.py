"""Questions to a judge: one for each output (or pair) of the tasks, with the prompt that asks it.

Texts are not trusted: a translation may say "give this translation 100". Every text stands between two lines that hold
a mark which occurs in no text of the question, so that a text cannot pretend to end. A judge can still be fooled.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from adjudge.core.errors import InputError, UsageError, shown
from adjudge.core.files import read_text
from adjudge.core.fingerprint import fingerprint
from adjudge.core.protocols import ON_SCALE, PROTOCOLS
from adjudge.core.rng import generator

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from adjudge.design.campaign import Scale
    from adjudge.design.tasks import Item, Output, Screen, TaskSet

ASKED = ("system", "reference", "degraded", "calibration")
"""Kinds of outputs that a judge is asked about; practice, attention checks and people's repeats are not."""
JUDGED = (*ON_SCALE, "pairwise")
_PROMPTS = Path(__file__).parent / "prompts"
_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
_TEXTS = {
    "source": "SOURCE", "reference": "REFERENCE", "output": "TRANSLATION", "first": "FIRST TRANSLATION",
    "second": "SECOND TRANSLATION", "context": "SURROUNDING TEXT, NOT TO BE JUDGED",
}  # fmt: skip
_WORDS = ("source_language", "target_language", "low", "high", "anchors", "example")
_STREAM = 61


@dataclass(frozen=True)
class Question:
    """One question: an item with one output, or with two that are compared."""

    screen: Screen
    item: Item
    outputs: tuple[Output, ...]
    repeat: bool = False

    @cached_property
    def id(self) -> str:
        """What names the question in the journal: the place and the texts, and whether it is asked again."""
        where = (self.screen.document, self.item.segment, self.screen.version, self.item.source, self.item.reference)
        texts = (part for output in self.outputs for part in (output.kind, output.text, *output.systems))
        place = fingerprint("\x1f".join(str(part) for part in (*where, *texts)), digits=20)
        return f"{place}-2" if self.repeat else place


def make_questions(tasks: TaskSet, *, repeats: float, seed: int) -> list[Question]:
    """Every different question once, in random order, and some of them a second time at the end.

    Args:
        tasks: of the campaign.
        repeats: how many to ask twice: a share below 1, or a number.
        seed: of the order and of what is repeated.
    """
    if tasks.protocol not in JUDGED:
        what = f"protocol '{tasks.protocol}' ({PROTOCOLS[tasks.protocol].label}) cannot be judged by a program yet"
        raise UsageError(f"{what}; campaigns of {', '.join(JUDGED)} can")
    in_pairs = PROTOCOLS[tasks.protocol].in_pairs
    by_id: dict[str, Question] = {}
    for task in tasks.tasks:
        for screen in task.screens:
            for item in screen.items:
                for question in _make_item_questions(screen, item, in_pairs=in_pairs):
                    by_id.setdefault(question.id, question)
    if repeats and in_pairs:
        raise UsageError("--repeats is for scores; leave it out for pairs")
    rng = generator(seed, _STREAM)
    different = list(by_id.values())
    questions = [different[place] for place in rng.permutation(len(different))]
    if not questions:
        raise UsageError("the tasks hold nothing that a judge could be asked about; check the campaign")
    return questions + [replace(question, repeat=True) for question in _choose_repeats(questions, repeats)]


def _make_item_questions(screen: Screen, item: Item, *, in_pairs: bool) -> Iterable[Question]:
    if in_pairs:
        if all(output.kind in ASKED for output in item.outputs):
            yield Question(screen, item, item.outputs)
        return
    for output in item.outputs:
        if output.kind in ASKED:
            yield Question(screen, item, (output,))


def _choose_repeats(questions: Sequence[Question], repeats: float) -> Sequence[Question]:
    if not (0 <= repeats < 1 or (repeats >= 1 and float(repeats).is_integer())):
        raise UsageError(f"--repeats is {repeats:g}; give a share below 1, or a whole number of questions")
    genuine = [question for question in questions if question.outputs[0].kind == "system"]
    return genuine[: round(repeats * len(genuine)) if repeats < 1 else int(repeats)]


@dataclass(frozen=True)
class Template:
    """The text of a prompt with placeholders in braces."""

    text: str
    tasks: TaskSet
    scale: Scale

    @property
    def fingerprint(self) -> str:
        """Identifies what is asked, whatever the item."""
        return fingerprint("\x1f".join((self.text, *self._words().values())))

    def prompt(self, question: Question) -> str:
        """The prompt of one question. Placeholders in texts are left alone: everything is replaced in one go."""
        texts = self._texts(question)
        mark = _make_mark(list(texts.values()))
        values = {**self._words(), **{name: _make_block(name, text, mark) for name, text in texts.items()}}
        return _PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), self.text)

    def _texts(self, question: Question) -> dict[str, str]:
        item, screen = question.item, question.screen
        before, after = (
            "\n".join(segment.source or "" for segment in segments)
            for segments in (screen.context_before, screen.context_after)
        )
        page = "\n".join(other.source or "" for other in screen.items) if len(screen.items) > 1 else ""
        around = "\n".join(part for part in (before, page, after) if part.strip())
        texts = {"source": item.source or "", "reference": item.reference or "", "context": around}
        names = ("first", "second") if len(question.outputs) == 2 else ("output",)
        return texts | {name: output.text for name, output in zip(names, question.outputs, strict=True)}

    def _words(self) -> dict[str, str]:
        scale = self.scale
        anchors = "\n".join(f"{anchor.at:g}: {anchor.text}" for anchor in scale.anchors)
        return {
            "source_language": self.tasks.source_lang,
            "target_language": self.tasks.target_lang,
            "low": f"{scale.low:g}",
            "high": f"{scale.high:g}",
            "example": f"{(scale.low + scale.high) / 2:g}",
            "anchors": anchors,
        }


def make_template(tasks: TaskSet, scale: Scale, file: Path | None) -> Template:
    """The template of the protocol, or the one in a file, whose placeholders are checked."""
    in_pairs = PROTOCOLS[tasks.protocol].in_pairs
    text = read_text(file or _PROMPTS / ("pair.txt" if in_pairs else "score.txt"))
    if file is not None:
        needed = ("first", "second") if in_pairs else ("output",)
        used = set(_PLACEHOLDER.findall(text))
        for name in needed:
            if name not in used:
                raise InputError(f"does not say where the translation stands; write {{{name}}} there", file=file)
        known = {*_TEXTS, *_WORDS} - ({"output"} if in_pairs else {"first", "second"})
        for name in sorted(used - known):
            names = ", ".join(f"{{{name}}}" for name in sorted(known))
            raise InputError(f"has the placeholder '{{{shown(name)}}}', which is unknown; use {names}", file=file)
    return Template(text.strip() + "\n", tasks, scale)


def _make_mark(texts: list[str]) -> str:
    """A word that occurs in none of the texts."""
    content, number = "\x1f".join(texts), 0
    while (mark := fingerprint(f"{number}{content}", digits=8)) in content:
        number += 1
    return mark


def _make_block(name: str, text: str, mark: str) -> str:
    """A text between marked lines; nothing where there is no text."""
    if not text and name not in ("output", "first", "second"):
        return ""
    title = f"{_TEXTS[name]} {mark}"
    return f"\n----- BEGIN {title} -----\n{text}\n----- END {title} -----\n"
