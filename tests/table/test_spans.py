"""Marks of errors: which are allowed in a text, and where they go when the text is degraded."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.table.texts import Mark, MarkRules, carry_over, find_mark_fault, find_marks_fault

TARGET = "The 👩‍🚀 sees a café\u0301 ."
SOURCE = "Die Astronautin sieht ein Café."
RULES = MarkRules(("minor", "major"), ("Accuracy/Omission",), source=True)


def fault(mark: Mark, rules: MarkRules = RULES) -> str | None:
    return find_mark_fault(mark, rules, target=TARGET, source=SOURCE)


@pytest.mark.parametrize(
    "mark",
    [
        Mark(0, 3, "minor", text="The"),
        # An emoji of three code points, one of them a joiner: offsets count code points, not UTF-16 units.
        Mark(4, 7, "major", text="👩‍🚀"),
        Mark(0, 3, "major", side="source", text="Die"),
        Mark(None, None, "minor", "Accuracy/Omission", "missing"),
    ],
)
def test_what_lies_in_the_text_is_allowed(mark: Mark) -> None:
    assert fault(mark) is None


@pytest.mark.parametrize(
    ("mark", "why"),
    [
        (Mark(0, 3, "minor", text="Die"), "quotes 'Die' where the text has 'The'"),
        (Mark(3, 3, "minor", text=""), "does not lie within"),
        (Mark(3, 2, "minor", text=""), "does not lie within"),
        (Mark(-1, 3, "minor", text="The"), "does not lie within"),
        (Mark(0, len(TARGET) + 1, "minor", text=TARGET), "does not lie within"),
        (Mark(None, None, "minor", text=None), "does not lie within"),
        (Mark(0, 3, "awful", text="The"), "severity 'awful' is none of minor, major"),
        (Mark(0, 3, "minor", "Style", text="The"), "category 'Style' is not"),
        (Mark(0, 3, "minor", side="left", text="The"), "side 'left' is none of"),
        (Mark(0, 3, "minor", side="missing", text="The"), "an omission has no place"),
    ],
)
def test_what_does_not_is_named(mark: Mark, why: str) -> None:
    assert why in str(fault(mark))


def test_sides_that_the_campaign_does_not_have_are_refused() -> None:
    only_target = MarkRules(("minor",), missing=False)
    assert "is none of target" in str(fault(Mark(0, 3, "minor", side="source", text="Die"), only_target))
    assert "is none of target" in str(fault(Mark(None, None, "minor", side="missing"), only_target))


def test_marks_of_one_side_overlap_only_where_that_is_allowed() -> None:
    longer, shorter = Mark(0, 7, "minor", text=TARGET[0:7]), Mark(4, 7, "major", text=TARGET[4:7])
    touching, elsewhere = Mark(7, 8, "minor", text=" "), Mark(0, 7, "minor", side="source", text=SOURCE[0:7])
    texts = {"target": TARGET, "source": SOURCE}
    assert "overlap" in str(find_marks_fault([longer, shorter], RULES, **texts))
    assert find_marks_fault([longer, touching, elsewhere], RULES, **texts) is None
    free = MarkRules(("minor", "major"), ("A", "B"), overlap=True)
    assert find_marks_fault([longer, shorter], free, **texts) is None
    twice = [Mark(0, 3, "minor", category, text="The") for category in ("A", "B", "A")]
    assert find_marks_fault(twice[:2], free, **texts) is None
    assert "marked twice as 'A'" in str(find_marks_fault(twice, free, **texts))


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(1, 9), st.sampled_from(["target", "source"])), max_size=5))
def test_an_overlap_is_found_as_by_comparing_all_with_all(places: list[tuple[int, int, str]]) -> None:
    text = "abcdefghi"
    marks = [Mark(a, b, "minor", side=side, text=text[a:b]) for a, b, side in places if a < b]
    slowly = any(
        mark.side == other.side
        and set(range(mark.start or 0, mark.end or 0)) & set(range(other.start or 0, other.end or 0))
        for i, mark in enumerate(marks)
        for other in marks[:i]
    )
    assert (find_marks_fault(marks, RULES, target=text, source=text) is not None) == slowly


def test_marks_stay_where_the_text_stays() -> None:
    before, after = "one two three four", "one two elephants and mice four"
    marks = [
        Mark(0, 3, "minor", text="one"),
        Mark(8, 13, "major", text="three"),
        Mark(14, 18, "minor", text="four"),
        Mark(None, None, "major", side="missing"),
    ]
    kept = carry_over(marks, before, after)
    assert [text.text for text in kept] == ["one", "four", None]
    assert kept[1] == Mark(27, 31, "minor", text="four")


@given(st.text("ab c", max_size=12), st.text("ab c", max_size=12), st.data())
def test_carried_marks_quote_the_new_text(before: str, after: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, max(0, len(before) - 1)))
    end = data.draw(st.integers(start + 1, max(start + 1, len(before))))
    if end > len(before):
        return
    for mark in carry_over([Mark(start, end, "minor", text=before[start:end])], before, after):
        assert mark.text == after[mark.start : mark.end] == before[start:end]
    assert carry_over([Mark(start, end, "minor", text=before[start:end])], before, before)[0].start == start
