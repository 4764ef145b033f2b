"""Controls of scored tasks: degraded copies, repeats, references and attention checks, as many as planned.

Which screens are checked is planned over the whole design: the systems checked least so far come first. With document
context a control is a page, or the first part of one, so that the number of items comes out as planned.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from adjudge.core.errors import DataError
from adjudge.core.protocols import PROTOCOLS
from adjudge.core.wording import agreeing, counted
from adjudge.design.campaign import MOST_POINTS, PAGES
from adjudge.design.degrade import degrade
from adjudge.design.direct_assessment import make_chunks
from adjudge.design.drafts import DraftItem, DraftOutput, DraftScreen, Material, Run

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import numpy as np

    from adjudge.design.campaign import Campaign

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
    size = campaign.design.task_size

    def count(amount: float) -> int:
        return amount if isinstance(amount, int) else round(amount * size)

    controls = campaign.controls
    return Amounts(
        count(controls.degraded), count(controls.repeats), count(controls.references), count(controls.attention)
    )


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
        references = self._references(self.amounts.references, people)
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
        items: list[DraftItem] = []
        for number, item in enumerate(screen.items[:most]):
            output = item.outputs[0]
            text: str | None = output.text
            if kind == "degraded":
                text = degraded_text(self.material, item.index, output.text, self.rng)
            if text is None:
                return None
            of = (screen.key, number, output.systems)
            items.append(DraftItem(item.index, (replace(output, text=text, kind=kind, of=of),)))
        return self.material.screen(items, copy_of=screen.key)

    def _references(self, count: int, people: Sequence[str]) -> list[DraftScreen]:
        """Screens of reference texts that none of the task's people has met, as far as there are enough."""
        if not count:
            return []
        seen = [self.references_seen.setdefault(person, set()) for person in people or ("",)]
        pages_added: list[DraftScreen] = []
        for indices in self._reference_pages(set[int]().union(*seen)):
            if count <= 0:
                break
            name = min(self.material.testset.references)
            texts = self.material.testset.references[name]
            items = [DraftItem(index, (DraftOutput((name,), texts[index], "reference"),)) for index in indices[:count]]
            pages_added.append(self.material.screen(items))
            count -= len(items)
            for indices_seen in seen:
                indices_seen.update(indices)
        if count > 0:
            raise DataError("more references are wanted per task than there are segments; lower controls.references")
        return pages_added

    def _reference_pages(self, seen: set[int]) -> list[tuple[int, ...]]:
        """Pages or single segments in random order, those that are of little use last."""
        if not self.material.testset.references:
            raise DataError("controls.references are wanted, but there is no reference; name one in files.references")
        everything = range(len(self.material.testset))
        with_context = self.material.campaign.design.structure in PAGES
        chunks = make_chunks(self.material, everything) if with_context else []
        pages = [chunk.indices for chunk in chunks] or [(index,) for index in everything]
        shuffled = [pages[i] for i in self.rng.permutation(len(pages))]
        texts = self.material.testset.references[min(self.material.testset.references)]
        translations = [{output[index] for output in self.material.systems.values()} for index in everything]

        def worth(indices: tuple[int, ...]) -> float:
            """The share of segments that were met before, or whose reference some system has made as well."""
            return sum(index in seen or texts[index] in translations[index] for index in indices) / len(indices)

        return sorted(shuffled, key=worth)

    def _attention(self, screens: Sequence[DraftScreen], count: int) -> list[DraftScreen]:
        indices = [item.index for screen in screens for item in screen.items]
        screens_added: list[DraftScreen] = []
        instructed = self.material.campaign.controls.attention_text is not None
        for _ in range(count):
            index = indices[int(self.rng.integers(len(indices)))]
            output = self._instructed() if instructed else self._unrelated(index)
            screens_added.append(self.material.screen([DraftItem(index, (output,))]))
        return screens_added

    def _instructed(self) -> DraftOutput:
        """A text that asks for a certain score, on the scale's own steps."""
        scale = self.material.campaign.score_scale
        text = self.material.campaign.controls.attention_text or ""
        score = scale.low + scale.step * int(self.rng.integers(int((scale.high - scale.low) / scale.step) + 1))
        return DraftOutput((ATTENTION,), text.replace("{score}", f"{score:g}"), ATTENTION, expected=(score, score))

    def _unrelated(self, index: int) -> DraftOutput:
        """The translation of another segment: it deserves a score in the lower half, grave errors, or many edits."""
        campaign, scale = self.material.campaign, self.material.campaign.score_scale
        expected = (scale.low, (scale.low + scale.high) / 2)
        if not PROTOCOLS[campaign.protocol].on_scale:
            expected = (50.0, 100.0) if campaign.protocol == "postedit" else (campaign.spans.weights.major, MOST_POINTS)
        text = choose_unrelated_text(self.material, index, self.rng)
        return DraftOutput((ATTENTION,), text, ATTENTION, expected=expected)


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
