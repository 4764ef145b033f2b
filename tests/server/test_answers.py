"""Changes become one state: the newest change of a field wins, whatever order changes arrive in."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.campaigns.campaign_file import Campaign
from adjudge.campaigns.tasks import Item, Output, Screen
from adjudge.server.answers import Answers, Change, Refused, check_changes, find_missing, merge, time_of_change

SCREEN = Screen(
    "s1", "d1", (Item("i1", "1", "Quelle", tuple(Output(f"o{i}", ("x",), f"text {i}") for i in range(1, 4))),)
)


def campaign(protocol: str = "da", **more: Any) -> Campaign:
    return Campaign.model_validate(
        {
            "name": "test",
            "protocol": protocol,
            "languages": {"source": "de", "target": "en"},
            "files": {"source": {"file": "a"}, "systems": {"x": {"file": "b"}}},
            **more,
        },
        strict=False,
    )


def values(answers: Answers) -> dict[str, dict[str, Any]]:
    return {
        output: {field: answer[field] for field in ("score", "rank", "comment") if field in answer}
        for output, answer in answers.items()
    }


changes = st.builds(
    Change,
    output=st.sampled_from(["o1", "o2"]),
    field=st.sampled_from(["score", "comment"]),
    value=st.one_of(st.none(), st.integers(0, 100)),
)


@given(st.lists(st.tuples(st.integers(1, 10**6), changes), max_size=8, unique_by=lambda save: save[0]), st.randoms())
def test_the_state_does_not_depend_on_the_order_of_arrival(saves: list[tuple[int, Change]], chance: Any) -> None:
    def state(order: list[tuple[int, Change]]) -> dict[str, dict[str, Any]]:
        answers: Answers = {}
        for revision, (at, change) in enumerate(order, 1):
            answers = merge(answers, [change], at=at, base=0, revision=revision).answers
        return values(answers)

    shuffled = list(saves)
    chance.shuffle(shuffled)
    assert state(sorted(saves, key=lambda save: save[0])) == state(shuffled)


def test_fields_and_outputs_of_two_tabs_do_not_touch_each_other() -> None:
    first = merge({}, [Change("o1", "score", 70)], at=1, base=0, revision=1, tab="a")
    second = merge(first.answers, [Change("o2", "score", 20)], at=2, base=0, revision=2, tab="b")
    third = merge(second.answers, [Change("o1", "comment", "fine")], at=3, base=0, revision=3, tab="b")
    assert values(third.answers) == {"o1": {"score": 70, "comment": "fine"}, "o2": {"score": 20}}
    assert (first.conflicts, second.conflicts, third.conflicts) == ((), (), ())


def test_two_tabs_that_change_the_same_answer_are_told() -> None:
    first = merge({}, [Change("o1", "score", 70)], at=1, base=0, revision=1, tab="a")
    newer = merge(first.answers, [Change("o1", "score", 20)], at=2, base=0, revision=2, tab="b")
    assert newer.conflicts == ("o1",)
    assert values(newer.answers) == {"o1": {"score": 20}}
    older = merge(newer.answers, [Change("o1", "score", 90)], at=1, base=1, revision=3, tab="a")
    assert older.conflicts == ("o1",)
    assert values(older.answers) == {"o1": {"score": 20}}


def test_a_tab_is_not_told_of_its_own_changes() -> None:
    first = merge({}, [Change("o1", "score", 70)], at=1, base=0, revision=1, tab="a")
    second = merge(first.answers, [Change("o1", "score", 71)], at=2, base=0, revision=2, tab="a")
    assert second.conflicts == ()


@pytest.mark.parametrize("arrives", [[1, 2, 3], [3, 1, 2], [2, 3, 1], [3, 2, 1]])
@pytest.mark.parametrize("estimated", [[10, 20, 30], [30, 20, 10], [20, 20, 20]])
def test_saves_of_one_tab_count_in_the_order_in_which_they_were_made(arrives: list[int], estimated: list[int]) -> None:
    """However long each was on its way, which makes it seem younger than it is."""
    answers: Answers = {}
    times = {}
    for revision, number in enumerate(arrives, 1):
        changes = [Change("o1", "score", number)]
        at = time_of_change(answers, changes, estimated=estimated[number - 1], base=0, tab="a", number=number)
        answers = merge(answers, changes, at=at, base=0, revision=revision, tab="a", number=number).answers
        times[number] = (at, revision)
    assert values(answers) == {"o1": {"score": 3}}
    assert max(times, key=lambda number: times[number]) == 3, "an export goes by these times"


def test_saves_of_other_tabs_and_pages_without_numbers_go_by_the_clock() -> None:
    first = merge({}, [Change("o1", "score", 70)], at=5, base=0, revision=1, tab="a", number=7).answers
    change = [Change("o1", "score", 20)]
    for tab, number in (("b", 8), ("a", 0), ("", 8)):
        assert time_of_change(first, change, estimated=3, base=0, tab=tab, number=number) == 3
    stored_by_an_earlier_version = {"o1": {"score": 70, "score_last": [5, 1, "a"]}}
    assert time_of_change(stored_by_an_earlier_version, change, estimated=3, base=0, tab="a", number=8) == 3


def test_zero_is_a_score_and_null_is_none() -> None:
    answers = merge({}, [Change("o1", "score", 0), Change("o2", "score", None)], at=1, base=0, revision=1).answers
    assert find_missing(answers, SCREEN, campaign()) == ["o2", "o3"]


@pytest.mark.parametrize(
    ("protocol", "change", "why"),
    [
        ("da", Change("o9", "score", 5), "not on screen"),
        ("da", Change("o1", "score", 101), "does not lie between 0 and 100"),
        ("da", Change("o1", "score", -1), "does not lie between 0 and 100"),
        ("da", Change("o1", "score", float("nan")), "does not lie between"),
        ("da", Change("o1", "score", 5.5), "not a step of 1"),
        ("da", Change("o1", "rank", 1), "has no rank"),
        ("da", Change("o1", "comment", "x"), "takes no comments"),
        ("ranking", Change("o1", "rank", 4), "does not exist among 3"),
        ("ranking", Change("o1", "rank", 0), "does not exist among 3"),
        ("pairwise", Change("o1", "score", 3), "has no score"),
        ("sqm", Change("o1", "score", 7), "does not lie between 0 and 6"),
    ],
)
def test_what_the_protocol_does_not_have_is_refused(protocol: str, change: Change, why: str) -> None:
    with pytest.raises(Refused, match=why):
        check_changes([change], SCREEN, campaign(protocol))


def test_unsetting_is_always_allowed() -> None:
    check_changes([Change("o1", "score", None), Change("o1", "comment", None)], SCREEN, campaign())
