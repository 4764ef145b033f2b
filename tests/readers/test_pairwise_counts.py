"""Counts become comparisons, each once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.readers import registry
from adjudge.readers.options import ReadOptions
from adjudge.table.comparisons import comparisons
from adjudge.table.errors import InputError
from adjudge.table.judgments import Judgments
from tests.conftest import examples


def read(tmp_path: Path, *lines: str, name: str = "test.Czech,English", strict: bool = False) -> Judgments:
    file = tmp_path / name
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return registry.read([file], format="pairwise-counts", strict=strict)


def counts(judgments: Judgments) -> Counter[tuple[str, str, int]]:
    result = comparisons(judgments)
    rows = zip(result.first.tolist(), result.second.tolist(), result.outcome.tolist(), strict=True)
    return Counter((result.systems[first], result.systems[second], outcome) for first, second, outcome in rows)


def test_both_directions_count_once(tmp_path: Path) -> None:
    judgments = read(tmp_path, "b a 1 2 3", "", "a  b\t3 2 1", "a _ref 0 0 4")
    assert counts(judgments) == {("a", "b", 1): 3, ("a", "b", 0): 2, ("a", "b", -1): 1, ("_ref", "a", 1): 4}
    assert judgments.pairs == ("cs-en",)
    assert judgments.protocols == ("pairwise",)
    assert judgments.table["annotator"].null_count() == len(judgments) == 20
    assert judgments.table["screen"].n_unique() == 10
    assert judgments.table.filter(human=True)["system"].unique().to_list() == ["_ref"]


def test_one_direction_and_a_header(tmp_path: Path) -> None:
    assert counts(read(tmp_path, "A B wins ties losses", "a b 2 0 1")) == {("a", "b", 1): 2, ("a", "b", -1): 1}


def test_a_system_that_met_nobody_is_noted(tmp_path: Path) -> None:
    assert read(tmp_path, "a b 1 0 0", "a c 0 0 0").notes == ("'c' is named but never compared",)


@settings(max_examples=examples(40))
@given(
    st.dictionaries(
        st.sampled_from([(x, y) for x in "abcd" for y in "abcd" if x < y]),
        st.tuples(*[st.integers(0, 5)] * 3).filter(any),
        min_size=1,
    ),
    st.randoms(),
)
def test_any_mixture_of_directions(tmp_path_factory: pytest.TempPathFactory, table: dict, random) -> None:  # type: ignore[type-arg, no-untyped-def]
    lines = []
    for (x, y), (wins, ties, losses) in table.items():
        way = random.choice(["one", "other", "both"])
        lines += [f"{x} {y} {wins} {ties} {losses}"] if way != "other" else []
        lines += [f"{y} {x} {losses} {ties} {wins}"] if way != "one" else []
    random.shuffle(lines)
    expected = Counter(
        {(*pair, outcome): n for pair, row in table.items() for outcome, n in zip((1, 0, -1), row, strict=True)}
    )
    assert counts(read(tmp_path_factory.mktemp("counts"), *lines)) == +expected


def test_a_folder_holds_one_campaign_per_file_and_the_pair_chooses(tmp_path: Path) -> None:
    for name in ("11.Czech,English.combo", "11.Czech,English.single", "11.German,English"):
        (tmp_path / name).write_text("a b 1 0 0\n")
    judgments = registry.read([tmp_path], format="pairwise-counts", options=ReadOptions(pair="de-en"))
    assert list(judgments.by_pair()) == ["11.Czech,English.combo/cs-en", "11.Czech,English.single/cs-en", "de-en"]


def test_the_pair_of_a_file_that_does_not_say_it(tmp_path: Path) -> None:
    (tmp_path / "counts.txt").write_text("a b 1 0 0\n")
    for pair, expected in ((None, "und-und"), ("Czech-English", "cs-en")):
        options = ReadOptions(pair=pair)
        judgments = registry.read([tmp_path / "counts.txt"], format="pairwise-counts", options=options)
        assert judgments.pairs == (expected,)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([""], "holds no comparison"),
        (["a b 0 0 0"], "holds no comparison"),
        (["a b 1 0"], "line 1: 4 fields where 'A B wins ties losses' has 5"),
        (["a b 1 0 0 0"], "line 1: 6 fields"),
        (["a b 1 0 0", "a a 1 0 0"], "line 2: 'a' is compared with itself"),
        (["a b 1 -2 0"], "line 1: a count is '-2', it cannot be negative"),
        (["a b 1 2.5 0"], "line 1: a count is '2.5'"),
        (["a b 1 two 0"], "line 1: a count is 'two'"),
        (["a b 1 2 3", "c a 1 1 1", "b a 3 2 2"], "line 3: 'b' and 'a' have other counts than on line 1"),
        (["a b 1 2 3", "a b 1 2 4"], "line 2: 'a' and 'b' have other counts than on line 1"),
        (["a b 1000000000 0 0"], "stands for 1,000,000,000 comparisons"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, lines: list[str], words: str) -> None:
    with pytest.raises(InputError, match=words):
        read(tmp_path, *lines)


def test_lines_that_repeat_others_count_once(tmp_path: Path) -> None:
    judgments = read(tmp_path, "a b 1 2 3", "b a 3 2 1", "b a 3 2 1", "a b 1 2 3", "a b 1 2 3")
    assert len(judgments) == 12
    assert [(part.reason, part.rows) for part in judgments.set_aside] == [("line repeated later in the file", 3)]
    assert "3 lines repeat others; each pair counts once" in judgments.notes


def test_few_lines_that_cannot_be_read_are_set_aside_and_named(tmp_path: Path) -> None:
    lines = [f"s{i} s{j} 1 2 3" for i in range(20) for j in range(i)]
    lines[4] = "s3 s1 1 two 3"
    judgments = read(tmp_path, *lines)
    assert len(judgments) == 2 * 6 * (len(lines) - 1)
    assert sum(part.rows for part in judgments.set_aside) == 1
    assert any("line 5: a count is 'two'" in note for note in judgments.notes)
    with pytest.raises(InputError, match="line 5: a count is 'two'"):
        read(tmp_path, *lines, strict=True)
