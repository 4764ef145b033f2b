"""Groups of systems that are connected, computed from a table or from a graph."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from adjudge.table import judgments
from adjudge.table.judgments import groups, number_of_groups

meetings = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 9)), min_size=1, max_size=25)


@given(meetings)
def test_a_table_and_a_graph_tell_the_same_groups(met: list[tuple[int, int]]) -> None:
    system, other = np.array(met).T
    expected = _slow_groups(met, 7)
    assert groups(system, other, 7) == expected
    assert judgments._group_by_graph(system, other, 7) == expected
    assert number_of_groups(system, other, 7) == len(expected)


def _slow_groups(met: list[tuple[int, int]], systems: int) -> tuple[tuple[int, ...], ...]:
    """Join two groups whenever one level was met by both."""
    joined = [{system} for system in range(systems)]
    for system, level in met:
        for other, same in met:
            if same == level:
                first = next(group for group in joined if system in group)
                second = next(group for group in joined if other in group)
                if first is not second:
                    joined.remove(second)
                    first |= second
    return tuple(sorted(tuple(sorted(group)) for group in joined))
