"""What an extension adds: new texts whole, new systems on the texts judged so far, and more judgments of the same.

New systems are judged on all segments that were judged before, beside as many outputs of the former systems, so that
both are scored in the same tasks: people score differently on other days, and only such tasks tell days from systems.
In blocks, the new systems meet the former ones, as often as these were shown on average. More judgments go to the
systems and segments that have fewest. In all, the systems judged least come first, and in blocks those that met least.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING

from adjudge.core.errors import DataError
from adjudge.core.protocols import PROTOCOLS
from adjudge.core.wording import counted
from adjudge.design.campaign import PAGES
from adjudge.design.direct_assessment import make_chunks
from adjudge.design.drafts import DraftItem, DraftOutput, Material, Run
from adjudge.design.make import make_drafts
from adjudge.design.ranking import consecutive_runs, make_blocks
from adjudge.design.task_allocation import Unit, spread_units

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np

    from adjudge.design.tasks import TaskSet

BESIDE = 1.0
"""Outputs of former systems for each of a new one: more precise per judgment than half or twice as many (docs)."""


@dataclass
class Judged:
    """What the tasks so far hold: by system and index in the test set, and which systems met on screens."""

    times: Counter[tuple[str, int]] = field(default_factory=Counter)
    met: Counter[tuple[str, str]] = field(default_factory=Counter)
    apart: set[int] = field(default_factory=set)
    """Segments of calibration tasks, which no other task uses."""

    @property
    def indices(self) -> list[int]:
        """The segments judged so far, in the order of the text."""
        return sorted({index for _, index in self.times})

    def total(self, system: str) -> int:
        """All judgments of a system."""
        return sum(times for (name, _), times in self.times.items() if name == system)


def count_judged(stored: TaskSet, places: dict[tuple[str, str], int]) -> Judged:
    """Count the genuine outputs of the tasks; `places` are the indices of documents and segments."""
    judged = Judged()
    for task in stored.tasks:
        for screen in task.screens if task.kind != "tutorial" else ():
            for item in screen.items:
                index = places[screen.document, item.segment]
                shown = [output for output in item.outputs if output.kind == "system"]
                if task.kind == "calibration":
                    judged.apart.add(index)
                    continue
                for output in shown:
                    judged.times.update({(system, index): task.judgments for system in output.systems})
                judged.met.update(dict.fromkeys(_list_meetings([output.systems for output in shown]), task.judgments))
    return judged


def _list_meetings(shown: Sequence[tuple[str, ...]]) -> Iterator[tuple[str, str]]:
    """Every system with itself, and every two in different outputs."""
    yield from ((system, system) for systems in shown for system in systems)
    for first, second in combinations(shown, 2):
        yield from ((min(a, b), max(a, b)) for a in first for b in second if a != b)


@dataclass(frozen=True)
class Work:
    """What is to be added: segments of the test set, systems, and a number of judgments of what there is."""

    segments: list[int]
    systems: tuple[str, ...]
    judgments: int
    beside: float = BESIDE


def draft_extension(
    material: Material, judged: Judged, work: Work, *, capacity: int, stream: int, rng: np.random.Generator
) -> list[list[Run]]:
    """The work of the new tasks."""
    if PROTOCOLS[material.campaign.protocol].relative:
        return _draft_blocks(material, judged, work, capacity=capacity, rng=rng)
    drafts = make_drafts(material, work.segments, capacity, stream) if work.segments else []
    pieces = _list_pieces(material, judged.indices)
    chosen = [piece for piece in pieces if set(piece.systems) & set(work.systems)]
    others = [piece for piece in pieces if not set(piece.systems) & set(work.systems)]
    there = sum(piece.size for piece in others)
    link = min(there, math.ceil(work.beside * sum(piece.size for piece in chosen)))
    more = math.ceil(work.judgments / material.campaign.design.judgments)
    chosen += _choose_least_judged(others, judged, link + more, material.campaign.design.judgments, rng)
    if there < link + more:
        most = there - link
        raise DataError(
            f"--judgments {work.judgments} is more than one round of the same texts "
            f"({counted(most * material.campaign.design.judgments, 'judgment')}); extend several times"
        )
    return drafts + _deal_pieces(material, chosen, capacity, rng)


@dataclass(frozen=True)
class Piece:
    """Work that stays together: a segment or a page, in one translation."""

    indices: tuple[int, ...]
    outputs: tuple[DraftOutput, ...]
    label: str

    @property
    def size(self) -> int:
        """The number of items."""
        return len(self.indices)

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems that made it."""
        return self.outputs[0].systems


def _list_pieces(material: Material, indices: Sequence[int]) -> list[Piece]:
    if material.campaign.design.structure in PAGES:
        parts = make_chunks(material, indices)
        return [Piece(part.indices, page, part.document) for part in parts for page in material.pages(part.indices)]
    return [Piece((index,), (output,), str(index)) for index in indices for output in material.outputs(index)]


def _choose_least_judged(
    pieces: Sequence[Piece], judged: Judged, items: int, people: int, rng: np.random.Generator
) -> list[Piece]:
    """Pieces of about so many items: of the system judged least, its segments judged least, again and again."""
    totals = Counter({name: judged.total(name) for piece in pieces for name in piece.systems})
    left: dict[str, list[Piece]] = {}
    for i in rng.permutation(len(pieces)):
        left.setdefault(pieces[i].systems[0], []).append(pieces[i])
    for group in left.values():
        group.sort(key=lambda piece: sum(judged.times[piece.systems[0], i] for i in piece.indices) / piece.size)
    chosen: list[Piece] = []
    while items > 0 and left:
        system = min(left, key=lambda name: totals[name])
        piece = left[system].pop(0)
        if not left[system]:
            del left[system]
        chosen.append(piece)
        totals.update(dict.fromkeys(piece.systems, people * piece.size))
        items -= piece.size
    return chosen


def _deal_pieces(
    material: Material, pieces: Sequence[Piece], capacity: int, rng: np.random.Generator
) -> list[list[Run]]:
    """Tasks of these pieces, spread so that all systems meet equally often."""
    if not pieces:
        return []
    longest = max(pieces, key=lambda piece: piece.size)
    if longest.size > capacity:
        raise DataError(
            f"a page of document '{longest.label}' has {counted(longest.size, 'segment')}, but a task has room for "
            f"{counted(capacity, 'item')} besides its controls; raise design.task_size or lower context.max_segments"
        )
    units = [Unit(piece.size, dict.fromkeys(piece.systems, piece.size), piece.label) for piece in pieces]
    screens = [
        material.screen([DraftItem(i, (output,)) for i, output in zip(piece.indices, piece.outputs, strict=True)])
        for piece in pieces
    ]
    return [[(screens[i],) for i in group] for group in spread_units(units, capacity=capacity, rng=rng)]


def _draft_blocks(
    material: Material, judged: Judged, work: Work, *, capacity: int, rng: np.random.Generator
) -> list[list[Run]]:
    """Tasks of blocks: on all new segments, and on former ones as many as new systems and judgments need."""
    design = material.campaign.design
    size = 2 if PROTOCOLS[material.campaign.protocol].in_pairs else min(design.outputs, len(material.systems))
    length = min(design.consecutive, capacity)
    wanted = math.ceil(work.judgments / (size * design.judgments))
    if work.systems:
        former = [judged.met[name, name] / design.judgments for name in material.systems if name not in work.systems]
        shown = sum(former) / len(former)
        wanted += math.ceil(shown * max(1.0, len(work.systems) / (size - 1)))
    runs = consecutive_runs(material, judged.indices, length)
    order = [runs[i] for i in rng.permutation(len(runs))]
    order.sort(key=lambda run: sum(judged.times[name, i] for name in material.systems for i in run) / len(run))
    chosen: list[list[int]] = []
    while order and wanted > 0:
        # Each segment once before any comes again.
        run = order[len(chosen) % len(order)]
        chosen.append(run)
        wanted -= len(run)
    new = consecutive_runs(material, work.segments, length) * design.screens_per_segment
    if not new and not chosen:
        return []
    before = {pair: times / design.judgments for pair, times in judged.met.items()}
    return make_blocks(material, [*new, *chosen], capacity=capacity, rng=rng, before=before)
