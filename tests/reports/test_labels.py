"""Names beside points: none covers another or a point, and all are inside the plot."""

from __future__ import annotations

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.reports.charts import CHARACTER, LINE, RADIUS, place_labels
from tests.conftest import examples

WIDTH, HEIGHT = 300.0, 460.0
INSIDE = st.tuples(st.floats(20, WIDTH - 20), st.floats(20, HEIGHT - 20))
# Twenty systems with names of up to fourteen letters are what the figures of papers hold.
POINTS = st.lists(st.tuples(INSIDE, st.integers(2, 14)), min_size=1, max_size=20)


def boxes(points: list[tuple[tuple[float, float], int]]) -> list[tuple[float, float, float, float]]:
    names = ["x" * length for _, length in points]
    centres = place_labels([point for point, _ in points], names, width=WIDTH, height=HEIGHT)
    sizes = [(CHARACTER * len(name) / 2, LINE / 2) for name in names]
    return [(x - w, y - h, x + w, y + h) for (x, y), (w, h) in zip(centres, sizes, strict=True)]


@given(POINTS)
@settings(max_examples=examples(60))
def test_no_name_covers_another_and_all_are_inside(points: list[tuple[tuple[float, float], int]]) -> None:
    placed = boxes(points)
    for a, b in itertools.combinations(placed, 2):
        assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
    for left, top, right, bottom in placed:
        assert left >= -1
        assert top >= -1
        assert right <= WIDTH + 5
        assert bottom <= HEIGHT + 5


@given(POINTS)
@settings(max_examples=examples(30))
def test_no_name_covers_a_point(points: list[tuple[tuple[float, float], int]]) -> None:
    for left, top, right, bottom in boxes(points):
        for (x, y), _ in points:
            assert not (left - RADIUS / 2 < x < right + RADIUS / 2 and top - RADIUS / 2 < y < bottom + RADIUS / 2)


def test_a_single_point_has_its_name_at_the_right() -> None:
    ((x, y),) = place_labels([(100.0, 200.0)], ["system"], width=WIDTH, height=HEIGHT)
    assert x > 100
    assert y == 200
    ((x, _),) = place_labels([(WIDTH - 5, 200.0)], ["system"], width=WIDTH, height=HEIGHT)
    assert x < WIDTH - 5
