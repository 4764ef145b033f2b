"""One comparison per row, in the conventions of several tools."""

from __future__ import annotations

from pathlib import Path

import pytest

from adjudge.readers import registry
from adjudge.table.errors import InputError, UsageError
from adjudge.table.judgments import Judgments


def read(tmp_path: Path, *lines: str, name: str = "battles.csv") -> Judgments:
    file = tmp_path / name
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return registry.read([file], format="pairwise-table")


def ranks(judgments: Judgments) -> list[tuple[str, str, int | None]]:
    return judgments.table.select("screen", "system", "rank").rows()


@pytest.mark.parametrize(
    ("header", "left", "right", "tie"),
    [
        ("left,right,winner", "left", "right", "tie"),
        ("left,right,label", "a sys", "b", "draw"),
        ("model_a,model_b,winner", "model_a", "model_b", "tie (bothbad)"),
        ("x,y,winner", "X", "Y", "Draw"),
    ],
)
def test_conventions(tmp_path: Path, header: str, left: str, right: str, tie: str) -> None:
    judgments = read(tmp_path, header, f"a sys,b,{left}", f"a sys,b,{right}", f"a sys,b,{tie}", "b,a sys,")
    assert ranks(judgments) == [
        *[("1", "a sys", 1), ("1", "b", 2)],
        *[("2", "a sys", 2), ("2", "b", 1)],
        *[("3", "a sys", 1), ("3", "b", 1)],
        *[("4", "b", None), ("4", "a sys", None)],
    ]
    assert judgments.protocols == ("pairwise",)


@pytest.mark.parametrize(
    ("left", "right", "tie"),
    [("-1", "1", "0"), ("-1.0", "1.0", "0.0"), (">", "<", "-"), ("+2", "-2", "0")],
)
def test_the_sign_of_a_number_is_no_hyphen(tmp_path: Path, left: str, right: str, tie: str) -> None:
    file = tmp_path / "battles.csv"
    file.write_text(f"left,right,winner\nx,y,{left}\nx,y,{right}\nx,y,{tie}\nx,y,\n", encoding="utf-8")
    values = [f"left={left.removesuffix('.0')}", f"right={right}", f"tie={tie}"]
    judgments = registry.read([file], format="pairwise-table", winner=values)
    assert judgments.table["rank"].to_list() == [1, 2, 2, 1, 1, 1, None, None]


def test_a_value_of_the_winner_has_one_meaning(tmp_path: Path) -> None:
    file = tmp_path / "battles.csv"
    file.write_text("left,right,winner\nx,y,1\n", encoding="utf-8")
    with pytest.raises(UsageError, match="'1' means left and right"):
        registry.read([file], format="pairwise-table", winner=["left=1", "right=1"])


def test_a_system_may_be_called_left(tmp_path: Path) -> None:
    judgments = read(tmp_path, "left,right,winner", "other,left,left", "other,x,left")
    assert ranks(judgments) == [("1", "other", 2), ("1", "left", 1), ("2", "other", 1), ("2", "x", 2)]


def test_other_columns_are_understood_or_kept(tmp_path: Path) -> None:
    judgments = read(
        tmp_path,
        "worker\tleft\tright\tlabel\tsegment\tsource_lang\ttarget_lang\tscore\tcomment",
        "w1\ta\t_ref\t_ref\t17\tCzech\teng\t3\tfine",
    )
    row = judgments.table.row(1, named=True)
    assert (row["annotator"], row["system"], row["segment"], row["human"]) == ("w1", "_ref", "17", True)
    assert row["text"] == "fine"
    assert row["campaign"] == "battles"
    assert judgments.pairs == ("cs-en",)
    assert [use.column for use in judgments.columns if use.use == "not used"] == ["score"]


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["", ""], "is empty"),
        (["left,right,winner"], "holds a header but no comparison"),
        (["left,right", "a,b"], "has no column 'winner', it has left, right"),
        (["left,winner", "a,b"], "has no column 'right'"),
        (["left,right,winner", "a,b,left", "a,b,c"], "line 3: has winner 'c', which is neither"),
        (["left,right,winner", "a,,left"], "line 2: has no 'right'"),
        (["left,right,winner", "a,a,left"], "line 2: compares 'a' with itself"),
        (["left,right,winner", "a,b,left,more"], "line 2: 4 fields where the header has 3"),
        (["left,right,winner,worker", "a,b,left,ann", "a,b,left"], "line 3: 3 fields where the header has 4"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, lines: list[str], words: str) -> None:
    with pytest.raises(InputError, match=words):
        read(tmp_path, *lines)


@pytest.mark.parametrize(("swapped", "said"), [(0, True), (1, True), (10, False)])
def test_systems_that_keep_their_side_are_said(tmp_path: Path, swapped: int, said: bool) -> None:
    """Of 21 comparisons `swapped` show the systems the other way round."""
    shown = ["a,b,a"] * (21 - swapped) + ["b,a,tie"] * swapped
    rows = [f"{row},p{number % 2},s{number}" for number, row in enumerate(shown)]
    path = tmp_path / "pairs.csv"
    path.write_text("\n".join(["left,right,winner,annotator,segment", *rows]) + "\n")
    notes = [note for note in registry.read([path]).notes if "one side passes for quality" in note]
    assert len(notes) == said
    if said:
        assert "1 pair of systems stands in one order nearly always ('a' is left of 'b')" in notes[0]
