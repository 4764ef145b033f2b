"""The unknowns of the equations: every level of every effect once, where it belongs."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from adjudge.mixed.design import design_from
from adjudge.mixed.effects import Effect, identify
from adjudge.mixed.layout import Group, Unknowns, find_unknowns
from tests.helpers.mixed_make import SHAPES, campaign

Rows = frozenset[int]


def rows_of(group: Group) -> dict[int, Rows]:
    """The rows of each unknown, one row at a time."""
    rows: dict[int, set[int]] = {number: set() for number in range(len(group.kind))}
    for codes in group.codes:
        for row, code in enumerate(codes):
            if code >= 0:
                rows[int(code)].add(row)
    return {number: frozenset(members) for number, members in rows.items()}


def levels_of_effect(effect: Effect) -> set[Rows]:
    return {frozenset(np.flatnonzero(effect.codes == level).tolist()) for level in range(effect.levels)}


def divided(shape: str, seed: int) -> tuple[tuple[Effect, ...], Unknowns]:
    effects = identify(design_from(campaign(shape, seed, annotators=5, documents=6))).kept
    return effects, find_unknowns(effects)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(3))
def test_every_level_is_part_of_one_unknown_that_holds_its_rows(shape: str, seed: int) -> None:
    effects, unknowns = divided(shape, seed)
    members: list[tuple[int, Rows]] = []
    held: list[Rows] = []
    for group in (unknowns.border, unknowns.core, unknowns.absorbed):
        for number, rows in rows_of(group).items():
            held.append(rows)
            members += [(int(effect), rows) for effect in np.flatnonzero(unknowns.parts[group.kind[number]])]
    assert len(set(held)) == len(held), "levels with the same rows are one unknown"
    expected = [(number, rows) for number, effect in enumerate(effects) for rows in levels_of_effect(effect)]
    assert Counter(members) == Counter(expected)
    assert unknowns.levels.sum() == len(held)


@pytest.mark.parametrize("shape", SHAPES)
def test_what_stays_inside_a_block_is_not_in_the_border(shape: str) -> None:
    _, unknowns = divided(shape, 4)
    for group, inside in ((unknowns.border, False), (unknowns.core, True), (unknowns.absorbed, True)):
        for rows in rows_of(group).values():
            assert (len({int(unknowns.block[row]) for row in rows}) == 1) is inside


def test_a_taste_seen_on_one_page_and_the_page_are_one_unknown() -> None:
    effects, unknowns = divided("sparse", 1)
    names = [effect.name for effect in effects]
    taste, page = names.index("annotator:system"), names.index("page")
    both = unknowns.parts[:, taste] * unknowns.parts[:, page]
    alone = levels_of_effect(effects[taste]) & levels_of_effect(effects[page])
    assert len(alone) == int(unknowns.levels @ both) > 0
