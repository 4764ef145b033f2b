"""Agreement of every two annotators who ranked the same segments: Cohen's kappa, unweighted.

Over rank numbers: the ranks of all candidates of all shared segments, one after the other. Over preferences: every pair
of candidates of a segment is one item with the categories better, tie, worse. The human stands first in a pair, then
candidates go by name; the order matters to kappa, because chance follows how often the first is preferred.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING

import polars as pl

from adjudge.agree.coefficients import cohen_kappa
from adjudge.core.protocols import NOT_TRANSLATIONS, RELATIVE
from adjudge.results.parity import GroupAgreement

if TYPE_CHECKING:
    from adjudge.core.judgments import Judgments

FEWEST_SEGMENTS = 5

Ranks = dict[str, int]


def agreement(judgments: Judgments, human: str) -> tuple[GroupAgreement, ...]:
    """One entry for every two annotators with at least a few segments in common, by name."""
    shared: dict[tuple[str, str], list[tuple[Ranks, Ranks]]] = {}
    for by_annotator in _items(judgments).values():
        for first, other in combinations(sorted(by_annotator), 2):
            shared.setdefault((first, other), []).append((by_annotator[first], by_annotator[other]))
    return tuple(
        _group(names, pairs, human) for names, pairs in sorted(shared.items()) if len(pairs) >= FEWEST_SEGMENTS
    )


def _items(judgments: Judgments) -> dict[tuple[str, str, int], dict[str, Ranks]]:
    """Ranks by segment and annotator; a segment that one annotator saw twice is another item the second time."""
    table = judgments.final().table.filter(
        pl.col("protocol").is_in(RELATIVE)
        & ~pl.col("kind").is_in(NOT_TRANSLATIONS)
        & pl.col("rank").is_not_null()
        & pl.col("annotator").is_not_null()
    )
    names = ("annotator", "document", "segment", "task", "screen")
    columns = [pl.col(name).fill_null("") for name in names]
    seen: Counter[tuple[str, str, str]] = Counter()
    times: dict[tuple[str, str, str, str, str], int] = {}
    items: dict[tuple[str, str, int], dict[str, Ranks]] = {}
    for who, document, segment, task, screen, system, rank in table.select(*columns, "system", "rank").iter_rows():
        block = (who, document, segment, task, screen)
        if block not in times:
            times[block] = seen[who, document, segment]
            seen[who, document, segment] += 1
        items.setdefault((document, segment, times[block]), {}).setdefault(who, {}).setdefault(system, rank)
    return items


def _group(names: tuple[str, str], pairs: list[tuple[Ranks, Ranks]], human: str) -> GroupAgreement:
    first_ranks: list[int] = []
    second_ranks: list[int] = []
    first_signs: list[int] = []
    second_signs: list[int] = []
    for first, other in pairs:
        systems = sorted(first.keys() & other.keys(), key=lambda name: (name != human, name))
        first_ranks += [first[name] for name in systems]
        second_ranks += [other[name] for name in systems]
        for a, b in combinations(systems, 2):
            first_signs.append(_sign(first[b] - first[a]))
            second_signs.append(_sign(other[b] - other[a]))
    kappa_ranks = cohen_kappa(first_ranks, second_ranks)
    return GroupAgreement(names, len(pairs), kappa_ranks, cohen_kappa(first_signs, second_signs))


def _sign(value: int) -> int:
    return (value > 0) - (value < 0)
