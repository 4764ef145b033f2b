"""Direct assessment with document context: a screen is a page, one document (or part of one) by one system.

Three structures: `pages` (each system may be judged on other documents), `pages-same-documents` (all systems on the
same documents) and `pages-all-systems` (all systems' pages of a document in one task). Pages whose texts are the same
throughout are judged once; single sentences that agree are not merged, because their context differs.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from adjudge.core.errors import DataError
from adjudge.design.drafts import DraftItem, DraftOutput, DraftScreen, Material, Run
from adjudge.design.spread import Unit, spread

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np


@dataclass(frozen=True)
class Chunk:
    """Consecutive segments of a document that make one page."""

    document: str
    indices: tuple[int, ...]


# A chunk in one translation: one output per segment, all by the same systems.
Page = tuple[Chunk, tuple[DraftOutput, ...]]


def chunks(material: Material, indices: Sequence[int]) -> list[Chunk]:
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
    parts = chunks(material, indices)
    _check_lengths(parts, 1, capacity)
    pages = [(chunk, page) for chunk in parts for page in material.pages(chunk.indices)]
    limit = material.campaign.design.segments
    if material.campaign.design.structure == "pages" and limit is not None:
        pages = _sample(pages, limit, rng)
    units = [
        Unit(len(page), dict.fromkeys(material.judged_as(chunk.indices[0], page[0].systems), len(page)), chunk.document)
        for chunk, page in pages
    ]
    return [[(_screen(material, *pages[i]),) for i in group] for group in spread(units, capacity=capacity, rng=rng)]


def make_pages_all_systems(
    material: Material, indices: Sequence[int], *, capacity: int, rng: np.random.Generator
) -> list[list[Run]]:
    """Tasks in which every page comes by all systems."""
    parts = chunks(material, indices)
    pages = [material.pages(chunk.indices) for chunk in parts]
    _check_lengths(parts, max(map(len, pages)), capacity)
    units: list[Unit] = []
    for chunk, translations in zip(parts, pages, strict=True):
        counts = Counter(
            system
            for page in translations
            for output in page
            for system in material.judged_as(chunk.indices[0], output.systems)
        )
        units.append(Unit(len(chunk.indices) * len(translations), dict(counts), chunk.document))
    groups = spread(units, capacity=capacity, rng=rng)
    return [[(_screen(material, parts[i], page),) for i in group for page in pages[i]] for group in groups]


def _check_lengths(parts: Sequence[Chunk], together: int, capacity: int) -> None:
    longest = max(parts, key=lambda chunk: len(chunk.indices))
    need = len(longest.indices) * together
    if need > capacity:
        by_all = f" by {together} systems" if together > 1 else ""
        raise DataError(
            f"a page of document '{longest.document}' has {len(longest.indices)} segments{by_all}, but a task has room "
            f"for {capacity} items besides its controls; raise design.task_size or lower context.max_segments"
        )


def _screen(material: Material, chunk: Chunk, page: Sequence[DraftOutput]) -> DraftScreen:
    return material.screen([DraftItem(index, (output,)) for index, output in zip(chunk.indices, page, strict=True)])


def _sample(pages: Sequence[Page], limit: int, rng: np.random.Generator) -> list[Page]:
    """About `limit` segments of every system, from documents that are used equally often."""
    judged: Counter[str] = Counter()
    used: Counter[Chunk] = Counter()
    left: dict[str, list[Page]] = {}
    for i in rng.permutation(len(pages)):
        left.setdefault(pages[i][1][0].systems[0], []).append(pages[i])
    chosen: list[Page] = []
    while left:
        system = min(left, key=lambda name: judged[name])
        fitting = [candidate for candidate in left[system] if _fits(candidate, judged, limit)]
        if not fitting:
            del left[system]
            continue
        best = min(fitting, key=lambda candidate: used[candidate[0]])
        left[system] = [candidate for candidate in fitting if candidate is not best]
        chosen.append(best)
        used[best[0]] += 1
        judged.update(dict.fromkeys(best[1][0].systems, len(best[1])))
    if not chosen:
        raise DataError(
            f"no page has at most design.segments = {limit} segments; raise it or lower context.max_segments"
        )
    return chosen


def _fits(page: Page, judged: Counter[str], limit: int) -> bool:
    return all(judged[system] + len(page[1]) <= limit for system in page[1][0].systems)
