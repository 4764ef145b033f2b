"""Direct assessment: the structures of its tasks, with document context and without.

With context a screen is a page, one document (or part of one) by one system, in three structures: `pages` (each system
may be judged on other documents), `pages-same-documents` (all systems on the same documents) and `pages-all-systems`
(all systems' pages of a document in one task). Pages whose texts are the same throughout are judged once; single
sentences that agree are not merged, because their context differs.

Single segments, without context, have two structures. `mixed`: every task holds the same share of every system. Items
are dealt system by system, so that the number of items of a system differs by at most one between tasks, and so does
the size of tasks. Each system's segments start elsewhere in the same random order, so that the outputs of one segment
land in different tasks; the few that still meet are exchanged. This is the standard structure of the WMT campaigns,
where the shares were left to chance. `all-systems`: a task holds all systems of its segments, so that one person
compares them on the same segments, at the price of seeing a segment several times; the order of the task keeps them
apart.

With `design.outputs` above 1, a screen shows that many outputs of a segment, or that many systems' pages of a document,
side by side, each with its own score. Every output is on one screen of its segment; which ones stand together is chosen
so that any two systems meet equally often (`campaigns/rankings.py`). The structures hold as before, with such screens
in place of single outputs.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from adjudge.campaigns.allocation import Unit, improve_deal, make_deal, spread_units
from adjudge.campaigns.campaign_file import PAGES
from adjudge.campaigns.rankings import Blocks
from adjudge.campaigns.tasks import DraftItem, DraftOutput, DraftScreen, Material, Run
from adjudge.table.errors import DataError
from adjudge.table.wording import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np


@dataclass(frozen=True)
class Chunk:
    """Consecutive segments of a document that make one page."""

    document: str
    indices: tuple[int, ...]


# A chunk in one translation: one output per segment, all by the same systems.
Page = tuple[Chunk, tuple[DraftOutput, ...]]


def make_chunks(material: Material, indices: Sequence[int]) -> list[Chunk]:
    """The pages of the documents that lie wholly among these indices; long documents are cut into even parts."""
    wanted = set(indices)
    most = material.campaign.context.max_segments
    pages: list[Chunk] = []
    for document, span in material.testset.documents():
        run = [index for index in span if index in wanted]
        parts = math.ceil(len(run) / most) if most else min(1, len(run))
        borders = [round(i * len(run) / parts) for i in range(parts + 1)] if parts else []
        pages += [Chunk(document, tuple(run[a:b])) for a, b in pairwise(borders)]
    return pages


def make_pages(
    material: Material, indices: Sequence[int], *, capacity: int, rng: np.random.Generator
) -> list[list[Run]]:
    """Tasks of pages, spread so that all systems meet equally often and no task holds a document twice if avoidable."""
    parts = make_chunks(material, indices)
    check_lengths(parts, 1, capacity)
    pages = [(chunk, page) for chunk in parts for page in material.pages(chunk.indices)]
    limit = material.campaign.design.segments
    if material.campaign.design.structure == "pages" and limit is not None:
        pages = _sample_pages(pages, limit, rng)
    return deal_pages(material, pages, capacity=capacity, rng=rng)


def deal_pages(
    material: Material, pages: Sequence[Page], *, capacity: int, rng: np.random.Generator
) -> list[list[Run]]:
    """Tasks of these pages, spread so that all systems meet equally often."""
    units = [
        Unit(len(page), dict.fromkeys(material.judged_as(chunk.indices[0], page[0].systems), len(page)), chunk.document)
        for chunk, page in pages
    ]
    groups = spread_units(units, capacity=capacity, rng=rng, rounds=material.rounds)
    return [[(_make_screen(material, *pages[i]),) for i in group] for group in groups]


def make_pages_all_systems(
    material: Material, indices: Sequence[int], *, capacity: int, rng: np.random.Generator
) -> list[list[Run]]:
    """Tasks in which every page comes by all systems."""
    parts = make_chunks(material, indices)
    pages = [material.pages(chunk.indices) for chunk in parts]
    check_lengths(parts, max(map(len, pages)), capacity)
    units = [
        _make_unit(material, chunk.indices[0], [output for page in translations for output in page], chunk.document)
        for chunk, translations in zip(parts, pages, strict=True)
    ]
    groups = spread_units(units, capacity=capacity, rng=rng, rounds=material.rounds)
    return [[(_make_screen(material, parts[i], page),) for i in group for page in pages[i]] for group in groups]


def make_side_by_side(
    material: Material, indices: Sequence[int], *, capacity: int, rng: np.random.Generator
) -> list[list[Run]]:
    """Tasks of screens that show several outputs of a segment, or several systems' pages of a document, together."""
    parts = list_parts(material, indices)
    sides = choose_sides(material, parts, rng, screens=material.campaign.design.screens_per_segment)
    whole = material.campaign.design.structure in ("all-systems", "pages-all-systems")
    return deal_sides(material, sides, capacity=capacity, rng=rng, whole=whole)


@dataclass(frozen=True)
class Side:
    """The pages of a chunk that stand side by side on one screen."""

    chunk: Chunk
    pages: tuple[tuple[DraftOutput, ...], ...]


def list_parts(material: Material, indices: Sequence[int]) -> list[Chunk]:
    """What is judged together: pages of documents, or single segments."""
    if material.campaign.design.structure in PAGES:
        return make_chunks(material, indices)
    return [Chunk(material.testset.source[index].document, (index,)) for index in indices]


def choose_sides(
    material: Material,
    parts: Sequence[Chunk],
    rng: np.random.Generator,
    *,
    screens: int | None,
    before: Mapping[tuple[str, str], float] | None = None,
) -> list[Side]:
    """The screens of every part: `screens` of them, or as many as all its outputs need (None).

    `before` says how often two systems have met in earlier tasks; of a system with itself, how often it was shown.
    """
    if not parts:
        return []
    pages = [material.pages(chunk.indices) for chunk in parts]
    source = material.testset.source
    sizes: list[list[int]] = []
    for chunk, translations in zip(parts, pages, strict=True):
        most = material.campaign.outputs_beside(max(len(source[index].text) for index in chunk.indices))
        sizes.append(_divide_evenly(len(translations), most, screens))
    numbers = [number for number, of_part in enumerate(sizes) for _ in of_part]
    # All outputs of a page are by the same systems: its first stands for it.
    heads = [[page[0] for page in pages[number]] for number in numbers]
    flat = [size for of_part in sizes for size in of_part]
    blocks = Blocks(heads, fixed=[()] * len(heads), sizes=flat, siblings=numbers, scored=True)
    blocks.remember(before or {})
    chosen = blocks.choose(rng)
    return [
        Side(parts[number], tuple(pages[number][i] for i in places))
        for number, places in zip(numbers, chosen, strict=True)
    ]


def _divide_evenly(outputs: int, most: int, screens: int | None) -> list[int]:
    """How many outputs each screen of a part shows. None stands alone, if there is another to stand beside it."""
    if screens is not None:
        return [min(most, outputs)] * screens
    count = math.ceil(outputs / most)
    least = min(2, outputs)
    return [max(least, outputs // count + (i < outputs % count)) for i in range(count)]


def deal_sides(
    material: Material, sides: Sequence[Side], *, capacity: int, rng: np.random.Generator, whole: bool = False
) -> list[list[Run]]:
    """Tasks of these screens; `whole`: those of one part stay in one task."""
    together: dict[int | Chunk, list[Side]] = defaultdict(list)
    for number, side in enumerate(sides):
        together[side.chunk if whole else number].append(side)
    groups = list(together.values())
    check_lengths([group[0].chunk for group in groups], max(map(len, groups)), capacity, what="screen")
    units: list[Unit] = []
    for group in groups:
        counts: Counter[str] = Counter()
        for side in group:
            for page in side.pages:
                for name in material.judged_as(side.chunk.indices[0], page[0].systems):
                    counts[name] += len(page)
        chunk = group[0].chunk
        label = chunk.document if len(chunk.indices) > 1 else str(chunk.indices[0])
        units.append(Unit(len(chunk.indices) * len(group), dict(counts), label))
    dealt = spread_units(units, capacity=capacity, rng=rng, rounds=material.rounds)
    return [[(_lay_side(material, side),) for i in task for side in groups[i]] for task in dealt]


def _lay_side(material: Material, side: Side) -> DraftScreen:
    rows = zip(*side.pages, strict=True)
    return material.screen([DraftItem(index, row) for index, row in zip(side.chunk.indices, rows, strict=True)])


def check_lengths(parts: Sequence[Chunk], together: int, capacity: int, *, what: str = "system") -> None:
    """Refuse pages that no task has room for, each by so many systems, or on so many screens."""
    longest = max(parts, key=lambda chunk: len(chunk.indices))
    need = len(longest.indices) * together
    if need > capacity:
        by_all = f" {'by' if what == 'system' else 'on'} {counted(together, what)}" if together > 1 else ""
        held, room = counted(len(longest.indices), "segment"), counted(capacity, "item")
        raise DataError(
            f"a page of document '{longest.document}' has {held}{by_all}, but a task has room for {room} besides its "
            "controls; raise design.task_size or lower context.max_segments"
        )


def _make_screen(material: Material, chunk: Chunk, page: Sequence[DraftOutput]) -> DraftScreen:
    return material.screen([DraftItem(index, (output,)) for index, output in zip(chunk.indices, page, strict=True)])


def _sample_pages(pages: Sequence[Page], limit: int, rng: np.random.Generator) -> list[Page]:
    """About `limit` segments of every system, from documents that are used equally often."""
    judged: Counter[str] = Counter()
    used: Counter[Chunk] = Counter()
    left: dict[str, list[Page]] = {}
    for i in rng.permutation(len(pages)):
        left.setdefault(pages[i][1][0].systems[0], []).append(pages[i])
    chosen: list[Page] = []
    while left:
        system = min(left, key=lambda name: judged[name])
        fitting = [
            (chunk, page)
            for chunk, page in left[system]
            if all(judged[name] + len(page) <= limit for name in page[0].systems)
        ]
        if not fitting:
            del left[system]
            continue
        best = min(fitting, key=lambda candidate: used[candidate[0]])
        fitting.remove(best)
        left[system] = fitting
        chosen.append(best)
        used[best[0]] += 1
        judged.update(dict.fromkeys(best[1][0].systems, len(best[1])))
    if not chosen:
        raise DataError(
            f"no page has at most design.segments = {counted(limit, 'segment')}; raise it or lower context.max_segments"
        )
    return chosen


def make_mixed(
    material: Material, indices: Sequence[int], *, capacity: int, rng: np.random.Generator
) -> list[list[Run]]:
    """Tasks of single segments."""
    order = [indices[i] for i in rng.permutation(len(indices))]
    items = [(index, output) for index in order for output in material.outputs(index)]
    tasks = math.ceil(len(items) / capacity)
    dealt_as = [material.judged_as(index, output.systems) for index, output in items]
    same_systems: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for i, names in enumerate(dealt_as):
        same_systems[names].append(i)
    # System by system in turn, each starting one task after the one before.
    goal, dealt = [0] * len(items), 0
    for number, group in enumerate(same_systems.values()):
        shift = (number - dealt) % tasks
        for i, item in enumerate(group):
            goal[item] = (dealt + (i + shift) % len(group)) % tasks
        dealt += len(group)
    _separate_segments(items, [same_systems[names] for names in dealt_as], goal, tasks, rng)
    groups: list[list[int]] = [[] for _ in range(tasks)]
    for i, task in enumerate(goal):
        groups[task].append(i)
    shared = [i for i, (_, output) in enumerate(items) if len(output.systems) > 1]
    if shared:
        # Shared outputs count for several systems at once, which dealing cannot foresee.
        units = [
            Unit(1, dict.fromkeys(names, 1), str(index)) for (index, _), names in zip(items, dealt_as, strict=True)
        ]
        groups = improve_deal(make_deal(units, goal, tasks=tasks, capacity=capacity), rng, only=shared)
    return [[(material.screen([DraftItem(items[i][0], (items[i][1],))]),) for i in group] for group in groups]


def _separate_segments(
    items: Sequence[tuple[int, DraftOutput]],
    partners: Sequence[Sequence[int]],
    goal: list[int],
    tasks: int,
    rng: np.random.Generator,
) -> None:
    """Exchange items of the same systems between tasks, until no task holds a segment more often than it must."""
    held = Counter((task, index) for task, (index, _) in zip(goal, items, strict=True))
    outputs = Counter(index for index, _ in items)
    for i, (index, _) in enumerate(items):
        allowed = math.ceil(outputs[index] / tasks)
        if held[goal[i], index] <= allowed:
            continue
        for other in rng.permutation(partners[i]):
            other_index = items[other][0]
            fits_there = held[goal[other], index] < allowed
            fits_here = held[goal[i], other_index] < math.ceil(outputs[other_index] / tasks)
            if goal[other] != goal[i] and fits_there and fits_here:
                held.subtract([(goal[i], index), (goal[other], other_index)])
                goal[i], goal[other] = goal[other], goal[i]
                held.update([(goal[i], index), (goal[other], other_index)])
                break


def make_all_systems(
    material: Material, indices: Sequence[int], *, capacity: int, rng: np.random.Generator
) -> list[list[Run]]:
    """Tasks of single segments, in which every segment comes with all its outputs."""
    outputs = [material.outputs(index) for index in indices]
    largest = max(map(len, outputs))
    if largest > capacity:
        raise DataError(
            f"a segment has {largest} different outputs, but a task has room for {counted(capacity, 'item')} besides "
            "its controls; raise design.task_size or choose the structure 'mixed'"
        )
    units = [_make_unit(material, index, texts, str(index)) for index, texts in zip(indices, outputs, strict=True)]
    return [
        [(material.screen([DraftItem(indices[i], (output,))]),) for i in group for output in outputs[i]]
        for group in spread_units(units, capacity=capacity, rng=rng, rounds=material.rounds)
    ]


def _make_unit(material: Material, index: int, outputs: Sequence[DraftOutput], label: str) -> Unit:
    """All outputs of a segment, or of the page that begins with it."""
    counts = Counter(system for output in outputs for system in material.judged_as(index, output.systems))
    return Unit(len(outputs), dict(counts), label)
