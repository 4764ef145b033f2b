"""Controls of scored tasks: degraded copies, repeats, references and attention checks, as many as planned.

Which screens are checked is planned over the whole design: the systems checked least so far come first. With document
context a control is a page, or the first part of one, so that the number of items comes out as planned. Where outputs
stand side by side, a control is a screen shown again in which one of them is degraded, unrelated or the reference.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from adjudge.campaigns.campaign_file import PAGES, Campaign
from adjudge.campaigns.questions import MOST_POINTS
from adjudge.campaigns.scores import make_chunks
from adjudge.campaigns.tasks import DraftItem, DraftOutput, DraftScreen, Material, Run
from adjudge.table.errors import DataError
from adjudge.table.protocols import PROTOCOLS
from adjudge.table.wording import agreeing, counted

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    import numpy as np


# Degraded copies: a phrase of a translation replaced by one from elsewhere, as in direct assessment.
#
# How many words are replaced depends on the length (Graham et al. 2017, Can machine translation systems be evaluated by
# the crowd alone): 1 of 1 word, 2 of 2-5, 3 of 6-8, 4 of 9-15, 5 of 16-20, a quarter of longer ones. The first and last
# word stay where there is room. Scripts without spaces are treated by characters in the same way.

# Scripts that write no spaces between words: Thai, Lao, Tibetan, Burmese, Khmer, kana, Han.
_UNSPACED = re.compile(
    "[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
ATTEMPTS = 200


def count_replaced(length: int) -> int:
    """How many of `length` words are replaced."""
    for longest, replaced in ((1, 1), (5, 2), (8, 3), (15, 4), (20, 5)):
        if length <= longest:
            return min(replaced, length)
    return length // 4


def is_spaced(text: str) -> bool:
    """Whether the script of the text writes spaces between words."""
    letters = sum(character.isalpha() for character in text)
    return 2 * len(_UNSPACED.findall(text)) <= letters


def degrade(text: str, donors: Sequence[str], rng: np.random.Generator, *, unlike: Collection[str] = ()) -> str | None:
    """Replace a phrase of the text by one from a donor; None if no donor makes a difference.

    Args:
        text: the translation.
        donors: other translations, of other segments.
        rng: the random generator.
        unlike: texts that the result must not equal besides `text` itself.
    """
    spaced = is_spaced(text)
    words = _split(text, spaced)
    if not words:
        return None
    forbidden = {_plain(known) for known in (text, *unlike)}
    for length in range(count_replaced(len(words)), 0, -1):
        for phrase in _draw_phrases(donors, length, spaced, rng):
            # Not at the first or last word where there is room.
            inner = len(words) - length - 1
            start = 1 + int(rng.integers(inner)) if inner >= 1 else int(rng.integers(len(words) - length + 1))
            # The same words but for order and case degrade nothing.
            if sorted(map(str.casefold, phrase)) == sorted(map(str.casefold, words[start : start + length])):
                continue
            damaged = (" " if spaced else "").join([*words[:start], *phrase, *words[start + length :]])
            if _plain(damaged) not in forbidden:
                return damaged
    return None


def _split(text: str, spaced: bool) -> list[str]:
    """Words, or characters with the marks that combine with them (vowel signs, tones, joiners) and stay on them."""
    if spaced:
        return text.split()
    characters: list[str] = []
    for character in "".join(text.split()):
        joins = unicodedata.category(character).startswith("M") or character in "\u200c\u200d"
        if characters and (joins or characters[-1].endswith("\u200d")):
            characters[-1] += character
        else:
            characters.append(character)
    return characters


def _plain(text: str) -> str:
    return "".join(text.split()).casefold()


def _draw_phrases(donors: Sequence[str], length: int, spaced: bool, rng: np.random.Generator) -> Iterator[list[str]]:
    """Phrases of this length from random places of the donors, a limited number."""
    for i in rng.permutation(len(donors))[:ATTEMPTS]:
        words = _split(donors[i], spaced)
        if len(words) >= length:
            start = int(rng.integers(len(words) - length + 1))
            yield words[start : start + length]


ATTENTION = "attention"


@dataclass(frozen=True)
class Amounts:
    """Items per task of every control."""

    degraded: int = 0
    repeats: int = 0
    references: int = 0
    attention: int = 0

    @property
    def total(self) -> int:
        """Items that the controls take in a task."""
        return self.degraded + self.repeats + self.references + self.attention


def plan_amounts(campaign: Campaign) -> Amounts:
    """Counts per task; shares are turned into the nearest count."""
    controls, size = campaign.controls, campaign.design.task_size
    amounts = (controls.degraded, controls.repeats, controls.references, controls.attention)
    return Amounts(*(amount if isinstance(amount, int) else round(amount * size) for amount in amounts))


class TooFewItems(DataError):  # noqa: N818 - it reads as what happened
    """A task of so few screens that the controls wanted cannot be made from them."""

    def __init__(self, kind: str, count: int, screens: int) -> None:
        wanted = f"{count} more '{kind}' {agreeing(count, 'is', 'are')} wanted"
        super().__init__(
            f"a task has too few items for its controls: {wanted} than can be made from "
            f"{counted(screens, 'screen')}; lower the controls or raise design.task_size"
        )
        self.screens = screens


@dataclass
class Controller:
    """Adds controls to one task after the other, and remembers whom it has checked."""

    material: Material
    amounts: Amounts
    rng: np.random.Generator
    checked: dict[str, Counter[str]] = field(default_factory=dict)
    references_seen: dict[str, set[int]] = field(default_factory=dict)

    def add(self, runs: Sequence[Run], people: Sequence[str]) -> list[Run]:
        """The task with its controls."""
        screens = [screen for run in runs for screen in run]
        references = self._references(self.amounts.references, people, screens)
        from_references = self.material.campaign.controls.degraded_from == "references"
        degraded = self._copies(references if from_references else screens, "degraded", self.amounts.degraded)
        repeats = self._copies(screens, "repeat", self.amounts.repeats, {screen.copy_of for screen in degraded})
        attention = self._attention(screens, self.amounts.attention)
        return [*runs, *((screen,) for screen in (*references, *degraded, *repeats, *attention))]

    def _copies(
        self, screens: Sequence[DraftScreen], kind: str, count: int, busy: Collection[int | None] = ()
    ) -> list[DraftScreen]:
        """Copies of `count` items in all, of the systems that were checked least; busy screens only if others lack."""
        checked = self.checked.setdefault(kind, Counter())
        left = [screens[i] for i in self.rng.permutation(len(screens))]
        copies: list[DraftScreen] = []
        while count > 0 and left:
            best = min(left, key=lambda screen: (screen.key in busy, min(checked[system] for system in screen.systems)))
            left.remove(best)
            copy = self._copy(best, kind, count)
            if copy is not None:
                copies.append(copy)
                count -= copy.size
                checked.update(best.systems)
        if count > 0:
            raise TooFewItems(kind, count, len(screens))
        return copies

    def _copy(self, screen: DraftScreen, kind: str, most: int) -> DraftScreen | None:
        """A copy of the first items of a screen: the same again, or degraded; None where it cannot be degraded."""
        column = self._choose_column(screen, kind)
        damaged: list[DraftOutput] = []
        for number, item in enumerate(screen.items[:most] if kind == "degraded" else ()):
            output = item.outputs[column]
            text = degraded_text(self.material, item.index, output.text, self.rng)
            if text is None:
                return None
            of = (screen.key, number, output.systems)
            damaged.append(replace(output, text=text, kind=kind, of=of))
        return self._show_again(screen, most, column if damaged else None, damaged)

    def _choose_column(self, screen: DraftScreen, kind: str) -> int:
        """Which of the outputs side by side is checked: a reference among them, or of the systems checked least."""
        checked = self.checked.setdefault(kind, Counter())
        outputs = screen.items[0].outputs

        def order(column: int) -> tuple[bool, int]:
            output = outputs[column]
            return output.kind != "reference", min(checked[system] for system in output.systems)

        return min(range(len(outputs)), key=order)

    def _show_again(
        self, screen: DraftScreen, most: int, column: int | None, others: Sequence[DraftOutput]
    ) -> DraftScreen:
        """The first items of a screen once more; where a column is given, with other outputs in it."""
        items: list[DraftItem] = []
        for number, item in enumerate(screen.items[:most]):
            # What is a copy already refers to its original.
            again = (o if o.kind != "system" else _repeat(o, screen.key, number) for o in item.outputs)
            outputs = [others[number] if place == column else output for place, output in enumerate(again)]
            items.append(DraftItem(item.index, tuple(outputs)))
        return self.material.screen(items, copy_of=screen.key)

    def _references(self, count: int, people: Sequence[str], screens: Sequence[DraftScreen]) -> list[DraftScreen]:
        """Screens of reference texts that none of the task's people has met, as far as there are enough."""
        if not count:
            return []
        seen = [self.references_seen.setdefault(person, set()) for person in people or ("",)]
        name, texts = _first_reference(self.material)
        pages_added: list[DraftScreen] = []
        for indices in self._sort_pages(texts, set[int]().union(*seen)):
            if count <= 0:
                break
            page = [DraftOutput((name,), texts[index], "reference") for index in indices[:count]]
            if self.material.campaign.side_by_side == 1:
                items = [DraftItem(index, (output,)) for index, output in zip(indices, page, strict=False)]
                pages_added.append(self.material.screen(items))
            else:
                beside = [screen for screen in screens if screen.items[0].index == indices[0]]
                if not beside or beside[0].key in {screen.copy_of for screen in pages_added}:
                    continue
                column = self._choose_column(beside[0], "reference")
                pages_added.append(self._show_again(beside[0], count, column, page))
            count -= len(page)
            for indices_seen in seen:
                indices_seen.update(indices)
        if count > 0:
            raise DataError("more references are wanted per task than there are segments; lower controls.references")
        return pages_added

    def _sort_pages(self, texts: Sequence[str], seen: set[int]) -> list[tuple[int, ...]]:
        """Pages or single segments in random order, those that are of little use last."""
        everything = range(len(self.material.testset))
        with_context = self.material.campaign.design.structure in PAGES
        chunks = make_chunks(self.material, everything) if with_context else []
        pages = [chunk.indices for chunk in chunks] or [(index,) for index in everything]
        shuffled = [pages[i] for i in self.rng.permutation(len(pages))]
        translations = [{output[index] for output in self.material.systems.values()} for index in everything]

        def worth(indices: tuple[int, ...]) -> float:
            """The share of segments that were met before, or whose reference some system has made as well."""
            return sum(index in seen or texts[index] in translations[index] for index in indices) / len(indices)

        return sorted(shuffled, key=worth)

    def _attention(self, screens: Sequence[DraftScreen], count: int) -> list[DraftScreen]:
        places = [(item.index, screen) for screen in screens for item in screen.items]
        drawn = [places[int(self.rng.integers(len(places)))] for _ in range(count)]
        if self.material.campaign.side_by_side == 1:
            return [self.material.screen([DraftItem(index, (self._attention_check(index),))]) for index, _ in drawn]
        return [
            self._show_again(
                screen,
                1,
                self._choose_column(screen, ATTENTION),
                [self._attention_check(screen.items[0].index)],
            )
            for _, screen in drawn
        ]

    def _attention_check(self, index: int) -> DraftOutput:
        """A text that asks for a certain score, on the scale's own steps, or the translation of another segment.

        That deserves a score in the lower half, grave errors, or many edits.
        """
        campaign, scale = self.material.campaign, self.material.campaign.score_scale
        if (text := campaign.controls.attention_text) is not None:
            score = scale.low + scale.step * int(self.rng.integers(int((scale.high - scale.low) / scale.step) + 1))
            return DraftOutput((ATTENTION,), text.replace("{score}", f"{score:g}"), ATTENTION, expected=(score, score))
        expected = (scale.low, (scale.low + scale.high) / 2)
        if not PROTOCOLS[campaign.protocol].chosen:
            expected = (50.0, 100.0) if campaign.protocol == "postedit" else (campaign.spans.weights.major, MOST_POINTS)
        text = choose_unrelated_text(self.material, index, self.rng)
        return DraftOutput((ATTENTION,), text, ATTENTION, expected=expected)


def _first_reference(material: Material) -> tuple[str, Sequence[str]]:
    """The reference that is shown as a control, with its name."""
    references = material.testset.references
    if not references:
        raise DataError("controls.references are wanted, but there is no reference; name one in files.references")
    return min(references), references[min(references)]


def degraded_text(material: Material, index: int, text: str, rng: np.random.Generator) -> str | None:
    """A degraded version of a translation, unlike every translation of its segment."""
    references: list[Sequence[str]] = [*(material.testset.references or material.systems).values()]
    donors = [texts[i] for texts in references for i in range(len(texts)) if i != index]
    everyone = (*material.testset.references.values(), *material.systems.values())
    return degrade(text, donors, rng, unlike=[texts[index] for texts in everyone])


def choose_unrelated_text(material: Material, index: int, rng: np.random.Generator) -> str:
    """A translation of another segment, of another document where there are several, about as long."""
    source = material.testset.source
    texts = next(iter(material.testset.references.values()), None) or next(iter(material.systems.values()))
    translations = {
        translation[index] for translation in (*material.systems.values(), *material.testset.references.values())
    }
    others = [i for i in range(len(source)) if texts[i] and texts[i] not in translations]
    elsewhere = [i for i in others if source[i].document != source[index].document] or others
    if not elsewhere:
        raise DataError("an attention check needs a text of another segment, but all are the same; remove attention")
    length = len(texts[index])
    nearest = sorted(elsewhere, key=lambda i: abs(len(texts[i]) - length))[:10]
    return texts[nearest[int(rng.integers(len(nearest)))]]


# Controls of rankings and pairs.
#
# Ranking: a degraded copy or an unrelated text takes a place in a block beside the genuine output, so no judgment is
# spent on it alone; a full block gives up the output whose system has been shown most. Pairs: a control is a pair of
# its own, genuine against degraded, unrelated or reference. Repeats show a whole screen again in both.


@dataclass
class ComparedController:
    """Adds controls to one task after the other, and remembers whom it has checked and shown."""

    material: Material
    amounts: Amounts
    rng: np.random.Generator
    shown: Counter[str]
    checked: Counter[str] = field(default_factory=Counter)

    def add(self, runs: Sequence[Run], people: Sequence[str]) -> list[Run]:  # noqa: ARG002
        """The task with its controls."""
        screens = [screen for run in runs for screen in run]
        if self.amounts.repeats > len(screens):
            raise _too_few_error("repeat", self.amounts.repeats, len(screens))
        repeats: list[Run] = []
        for i in self.rng.permutation(len(screens))[: self.amounts.repeats]:
            items = [
                DraftItem(item.index, tuple(_repeat(output, screens[i].key, number) for output in item.outputs))
                for number, item in enumerate(screens[i].items)
            ]
            repeats.append((self.material.screen(items, copy_of=screens[i].key),))
        busy = {screen.copy_of for (screen,) in repeats}
        if PROTOCOLS[self.material.campaign.protocol].in_pairs:
            return [*runs, *self._control_pairs(runs, busy), *repeats]
        return [*self._with_slots(runs, busy), *repeats]

    def _with_slots(self, runs: Sequence[Run], busy: set[int | None]) -> list[Run]:
        """Blocks with a degraded or unrelated output in one position."""
        screens = {screen.key: screen for run in runs for screen in run}
        free = [key for key in screens if key not in busy]
        free = [free[i] for i in self.rng.permutation(len(free))]
        # Blocks that have room lose nothing by a control.
        free.sort(key=lambda key: len(screens[key].items[0].outputs))
        for kind, count in (("degraded", self.amounts.degraded), (ATTENTION, self.amounts.attention)):
            left = count
            for key in list(free):
                if left and (changed := self._slot(screens[key], kind)) is not None:
                    screens[key] = changed
                    free.remove(key)
                    left -= 1
            if left:
                raise _too_few_error(kind, count, count - left)
        return [tuple(screens[screen.key] for screen in run) for run in runs]

    def _slot(self, screen: DraftScreen, kind: str) -> DraftScreen | None:
        """The block with one control, or None where none can be made."""
        item = screen.items[0]
        outputs, dropped = list(item.outputs), None
        source = self.material.testset.source[item.index].text
        if len(outputs) >= self.material.campaign.outputs_beside(len(source)):
            spare = [output for output in outputs if output.kind == "system"]
            if len(spare) < 2:
                return None
            dropped = max(spare, key=lambda output: max(self.shown[system] for system in output.systems))
            outputs.remove(dropped)
        control = self._degraded(screen, outputs) if kind == "degraded" else self._unrelated(item.index, len(outputs))
        if control is None:
            return None
        if dropped is not None:
            self.shown.subtract(dropped.systems)
        return replace(screen, items=(DraftItem(item.index, (*outputs, control)),))

    def _degraded(self, screen: DraftScreen, outputs: Sequence[DraftOutput]) -> DraftOutput | None:
        """A degraded copy of the output whose systems were checked least."""
        index = screen.items[0].index
        genuine = [output for output in outputs if output.kind == "system"]
        for output in sorted(genuine, key=lambda output: min(self.checked[system] for system in output.systems)):
            text = degraded_text(self.material, index, output.text, self.rng)
            if text is not None:
                self.checked.update(output.systems)
                return DraftOutput(output.systems, text, "degraded", (screen.key, 0, output.systems))
        return None

    def _unrelated(self, index: int, others: int) -> DraftOutput:
        """A text of another segment; it must not come first."""
        text = choose_unrelated_text(self.material, index, self.rng)
        return DraftOutput((ATTENTION,), text, ATTENTION, expected=(2, others + 1))

    def _control_pairs(self, runs: Sequence[Run], busy: Collection[int | None]) -> list[Run]:
        """Pairs of a genuine output, already judged in another pair of the task, with something known about it."""
        screens = [screen for run in runs for screen in run if screen.key not in busy]
        screens = [screens[i] for i in self.rng.permutation(len(screens))]
        plan: list[tuple[str, int, Callable[[DraftScreen, DraftOutput], DraftOutput | None]]] = [
            ("degraded", self.amounts.degraded, lambda screen, output: self._degraded(screen, [output])),
            (ATTENTION, self.amounts.attention, lambda screen, _: self._unrelated(screen.items[0].index, 1)),
            ("reference", self.amounts.references, self._reference),
        ]
        runs_added: list[Run] = []
        for kind, count, make in plan:
            pairs: list[Run] = []
            while len(pairs) < count and screens:
                screen = screens.pop(0)
                item = screen.items[0]
                # With the output of the screen that was checked least.
                genuine = min(item.outputs, key=lambda output: min(self.checked[system] for system in output.systems))
                control = make(screen, genuine)
                if control is not None:
                    pair = DraftItem(item.index, (_repeat(genuine, screen.key, 0), control))
                    pairs.append((self.material.screen([pair], copy_of=screen.key),))
            if len(pairs) < count:
                raise _too_few_error(kind, count, len(pairs))
            runs_added += pairs
        return runs_added

    def _reference(self, screen: DraftScreen, genuine: DraftOutput) -> DraftOutput | None:
        name, texts = _first_reference(self.material)
        text = texts[screen.items[0].index]
        return None if text == genuine.text else DraftOutput((name,), text, "reference")


def _repeat(output: DraftOutput, key: int, number: int) -> DraftOutput:
    return replace(output, kind="repeat", of=(key, number, output.systems))


def _too_few_error(kind: str, wanted: int, possible: int) -> DataError:
    return DataError(
        f"a task has too few screens for its controls: {wanted} of kind '{kind}' are wanted, {possible} could be made; "
        "lower the controls or raise design.task_size"
    )
