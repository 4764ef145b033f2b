"""Drafts become tasks: ids, context, what is shown of source and reference, and links between copies and originals."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from adjudge.design.campaign import PAGES
from adjudge.design.prefilled_marks import find_prefilled
from adjudge.design.tasks import ContextSegment, Item, Output, Screen, Task

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.core.protocols import TaskKind
    from adjudge.design.drafts import DraftItem, DraftScreen, Material, OutputKey


@dataclass(frozen=True)
class Assembler:
    """Makes tasks from ordered drafts."""

    material: Material

    def task(
        self, name: str, screens: Sequence[DraftScreen], *, kind: TaskKind, people: Sequence[str], judgments: int
    ) -> Task:
        """One task with its screens in the order given."""
        ids: dict[OutputKey, str] = {}
        assembled = [
            self._screen(f"{name}-s{number:02d}", screen, kind, ids) for number, screen in enumerate(screens, start=1)
        ]
        linked = [
            _link_copies(screen, draft, ids) if any(o.of for i in draft.items for o in i.outputs) else screen
            for screen, draft in zip(assembled, screens, strict=True)
        ]
        return Task(name, tuple(linked), kind, judgments, tuple(people))

    def _screen(self, name: str, screen: DraftScreen, kind: TaskKind, ids: dict[OutputKey, str]) -> Screen:
        items: list[Item] = []
        for number, item in enumerate(screen.items):
            outputs = tuple(
                Output(
                    f"{name}-i{number + 1}-o{i}",
                    output.systems,
                    output.text,
                    "calibration" if kind == "calibration" and output.kind == "system" else output.kind,
                    expected=output.expected,
                    prefilled=find_prefilled(self.material, item.index, output),
                )
                for i, output in enumerate(item.outputs, start=1)
            )
            for draft, output in zip(item.outputs, outputs, strict=True):
                if draft.of is None:
                    ids[screen.key, number, draft.systems] = output.id
            items.append(self._item(f"{name}-i{number + 1}", item, outputs))
        before, after = self._context(screen)
        source = self.material.testset.source[screen.items[0].index]
        return Screen(name, source.document, tuple(items), before, after, source.version)

    def _item(self, name: str, item: DraftItem, outputs: tuple[Output, ...]) -> Item:
        source = self.material.testset.source[item.index]
        show, references = self.material.campaign.context.show, self.material.testset.references
        reference = next(iter(references.values()))[item.index] if show != "source" and references else None
        return Item(
            name,
            source.segment,
            None if show == "reference" else source.text,
            outputs,
            reference,
            inclusion=self.material.inclusion.get(item.index),
        )

    def _context(self, screen: DraftScreen) -> tuple[tuple[ContextSegment, ...], tuple[ContextSegment, ...]]:
        """Neighbours within the document; with the same system's translation where the screen is one system's page."""
        wanted, source = self.material.campaign.context, self.material.testset.source
        first, last = screen.items[0].index, screen.items[-1].index
        document, version = source[first].document, source[first].version

        def beside(indices: range) -> list[int]:
            return [i for i in indices if (source[i].document, source[i].version) == (document, version)]

        before = beside(range(max(0, first - wanted.before), first))
        end = min(len(source), last + 1 + wanted.after)
        after = beside(range(last + 1, end))
        return tuple(self._neighbour(i, screen) for i in before), tuple(self._neighbour(i, screen) for i in after)

    def _neighbour(self, index: int, screen: DraftScreen) -> ContextSegment:
        segment = self.material.testset.source[index]
        name = screen.items[0].outputs[0].systems[0]
        texts = {**self.material.testset.references, **self.material.systems}.get(name)
        whole = self.material.campaign.design.structure in PAGES and texts is not None
        shown = None if self.material.campaign.context.show == "reference" else segment.text
        return ContextSegment(segment.segment, shown, texts[index] if whole and texts is not None else None)


def _link_copies(screen: Screen, draft: DraftScreen, ids: dict[OutputKey, str]) -> Screen:
    """The screen with `of` filled in for copies."""
    items = tuple(
        replace(
            item,
            outputs=tuple(
                replace(output, of=ids[drafted.of] if drafted.of is not None else None)
                for output, drafted in zip(item.outputs, planned.outputs, strict=True)
            ),
        )
        for item, planned in zip(screen.items, draft.items, strict=True)
    )
    return replace(screen, items=items)
