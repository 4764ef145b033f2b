"""Tasks while they are made: screens without ids or order, and the material that they are made from."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING

from adjudge.design.prefilled_marks import read_prefilled

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from adjudge.core.spans import Mark
    from adjudge.core.test_set import TestSet
    from adjudge.design.campaign import Campaign

# Which output another one repeats or degrades: key of its screen, number of its item, systems.
OutputKey = tuple[int, int, tuple[str, ...]]


@dataclass(frozen=True)
class DraftOutput:
    """A text to be judged, credited to all systems that made exactly this text."""

    systems: tuple[str, ...]
    text: str
    kind: str = "system"
    of: OutputKey | None = None
    expected: tuple[float, float] | None = None


@dataclass(frozen=True)
class DraftItem:
    """A segment, by its index in the test set, with the outputs judged together."""

    index: int
    outputs: tuple[DraftOutput, ...]


@dataclass(frozen=True)
class DraftScreen:
    """What is shown together. `copy_of` is the key of the screen that this one checks, to be shown far from it."""

    key: int
    items: tuple[DraftItem, ...]
    copy_of: int | None = None

    @property
    def size(self) -> int:
        """The number of items."""
        return len(self.items)

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems of the first item (of all, where a screen is one system's page)."""
        return tuple(system for output in self.items[0].outputs for system in output.systems)


# Screens that stay together, in this order: consecutive segments of a ranking.
Run = tuple[DraftScreen, ...]


@dataclass(frozen=True)
class Material:
    """What tasks are made from. `systems` are all that are judged, human ones included; `prefilled` their marks."""

    campaign: Campaign
    testset: TestSet
    systems: Mapping[str, Sequence[str]]
    prefilled: Mapping[tuple[str, int], tuple[Mark, ...]] = field(default_factory=dict)
    inclusion: Mapping[int, float] = field(default_factory=dict)
    """By index in the test set, the probability with which a segment was chosen; empty where none were."""
    _keys: Iterator[int] = field(default_factory=count, repr=False)

    def screen(self, items: Sequence[DraftItem], *, copy_of: int | None = None) -> DraftScreen:
        """A new screen under a key of its own."""
        return DraftScreen(next(self._keys), tuple(items), copy_of)

    def outputs(self, index: int) -> tuple[DraftOutput, ...]:
        """The distinct outputs of a segment, each with all systems that made it."""
        makers: dict[str, list[str]] = {}
        for name, texts in self.systems.items():
            makers.setdefault(texts[index], []).append(name)
        return tuple(DraftOutput(tuple(names), text) for text, names in makers.items())

    def judged_as(self, index: int, systems: Sequence[str]) -> tuple[str, ...]:
        """What is to be balanced over tasks: the systems, of each version by itself where there are two."""
        version = self.testset.source[index].version
        return tuple(systems) if version is None else tuple(f"{name}\t{version}" for name in systems)

    def pages(self, indices: Sequence[int]) -> tuple[tuple[DraftOutput, ...], ...]:
        """The distinct translations of several segments as a whole: for each, one output per segment."""
        makers: dict[tuple[str, ...], list[str]] = {}
        for name, texts in self.systems.items():
            makers.setdefault(tuple(texts[index] for index in indices), []).append(name)
        return tuple(tuple(DraftOutput(tuple(names), text) for text in page) for page, names in makers.items())


def make_material(campaign: Campaign, testset: TestSet) -> Material:
    """The systems to be judged: the outputs, and the references where the campaign treats them as systems."""
    systems = dict(testset.systems)
    if campaign.design.references_as_systems:
        systems |= testset.references
    return Material(campaign, testset, systems, read_prefilled(campaign, testset))
