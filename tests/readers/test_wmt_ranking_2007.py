"""The files of many judgment types: rankings are taken, the rest is counted, short rows are filled up."""

from __future__ import annotations

from pathlib import Path

import pytest

from adjudge.readers import registry
from adjudge.readers.wmt_rankings import Task, parse_task
from adjudge.table.errors import InputError
from adjudge.table.judgments import Judgments, SetAside

SYSTEMS = "SYSTEM_0,SCORE_0_A,SCORE_0_B,SYSTEM_1,SCORE_1_A,SCORE_1_B,SYSTEM_2,SCORE_2_A,SCORE_2_B"
EARLY = f"TASK,TYPE,ITEM_ID,ANNOTATOR_ID,TIME,{SYSTEMS}"
LATER = f"JUDGEMENT_ID,TASK,TYPE,ITEM_ID,ANNOTATOR_ID,ANNOTATOR_TYPE_COUNT,TIME,{SYSTEMS},EXTRA".replace(",", "\t")


def read(tmp_path: Path, *lines: str) -> Judgments:
    file = tmp_path / "judgements"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return registry.read([file], format="wmt-ranking-2007")


def labels(judgments: Judgments) -> list[tuple[str, str, int | None]]:
    return judgments.table.select("screen", "system", "rank").rows()


@pytest.mark.parametrize(
    ("text", "task"),
    [
        ("WMT09 Multisource-English News", Task("WMT09 News", "xx", "en")),
        ("WMT07 Czech-English News Commentary", Task("WMT07 News Commentary", "cs", "en")),
        ("WMT07 English-French Europarl", Task("WMT07 Europarl", "en", "fr")),
        ("News-Commentary Haitian Creole-English 2012", Task("News-Commentary 2012", "ht", "en")),
        ("WMT08 Klingon-English News", Task("WMT08 News", "klingon", "en")),
        ("Pilot", Task("Pilot", "und", "und")),
        ("a-b-c", Task("a-b-c", "und", "und")),
        ("", Task("", "und", "und")),
        ("-", Task("-", "und", "und")),
    ],
)
def test_a_task_names_campaign_pair_and_domain(text: str, task: Task) -> None:
    assert parse_task(text) == task


def test_commas_and_rows_shorter_than_the_header(tmp_path: Path) -> None:
    judgments = read(
        tmp_path,
        EARLY,
        "WMT07 Czech-English News Commentary,NIST,5,18,1164,x,4,4,y,2,2",
        "WMT07 Czech-English News Commentary,RANK,5,18,39,x,4,,y,2,",
        "WMT07 Czech-English Europarl,RANK,5,18,12,x,1,,ref,-,,z,3,",
        "WMT07 English-French Europarl,CONSTITUENT,110,34,7,x,5,",
    )
    assert labels(judgments) == [("1", "x", 4), ("1", "y", 2), ("2", "x", 1), ("2", "ref", None), ("2", "z", 3)]
    assert judgments.set_aside == (
        SetAside("not a ranking: type CONSTITUENT", 1),
        SetAside("not a ranking: type NIST", 1),
    )
    row = judgments.table.row(0, named=True)
    assert (row["campaign"], row["annotator"], row["segment"], row["active_seconds"]) == (
        *("WMT07 News Commentary", "18", "5", 19.5),
    )
    assert list(judgments.by_pair()) == ["WMT07 News Commentary/cs-en", "WMT07 Europarl/cs-en"]
    assert judgments.table.filter(human=True)["system"].to_list() == ["ref"]


def test_tabs_and_quotes_that_mean_nothing(tmp_path: Path) -> None:
    judgments = read(
        tmp_path,
        LATER,
        "7085\tWMT09 English-Hungarian News\tEDIT\t2112\t91\t2\t67\tx\tEDIT" + "\t" * 8 + 'He said "no,\tand left.',
        "13544\tWMT09 English-Hungarian News\tRANK\t1996\t91\t218\t\tx\t2\t\t\t\t\t\t\t\t",
        "13545\tWMT09 English-Hungarian News\tRANK\t2474\t91\t219\t20\tx\t3\t\ty\t-1\t\tz\t0\t",
    )
    assert labels(judgments) == [("1", "x", 2), ("2", "x", 3), ("2", "y", None), ("2", "z", None)]
    assert judgments.table["active_seconds"].to_list() == [None, *[20 / 3] * 3]
    assert judgments.pairs == ("en-hu",)
    assert judgments.set_aside == (SetAside("not a ranking: type EDIT", 1),)


@pytest.mark.parametrize(
    "row", ["WMT07 Czech-English News,RANK,5,18,39,x,4,,y,2,", "0,WMT07 Czech-English News,RANK,5,18,0,39,x,4,,y,2,"]
)
def test_a_file_without_its_header(tmp_path: Path, row: str) -> None:
    judgments = read(tmp_path, row, row)
    assert labels(judgments) == [("1", "x", 4), ("1", "y", 2), ("2", "x", 4), ("2", "y", 2)]
    assert judgments.table["active_seconds"].to_list() == [19.5] * 4


def test_repeated_judgments_stay_apart(tmp_path: Path) -> None:
    row = "WMT07 Czech-English News,RANK,5,18,39,x,4,,y,2,"
    assert read(tmp_path, EARLY, row, row).table["screen"].to_list() == ["1", "1", "2", "2"]


def test_several_files_do_not_share_screens(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).write_text(f"{EARLY}\nWMT07 Czech-English News,RANK,5,18,39,x,4,,y,2,\n")
    judgments = registry.read([tmp_path / "one", tmp_path / "two"], format="wmt-ranking-2007")
    assert judgments.table["screen"].unique(maintain_order=True).to_list() == ["one:1", "two:1"]
    assert list(judgments.by_pair()) == ["cs-en"]


def test_a_task_without_a_pair_is_noted(tmp_path: Path) -> None:
    judgments = read(tmp_path, EARLY, "Pilot,RANK,5,18,39,x,4,,y,2,")
    assert judgments.pairs == ("und-und",)
    assert judgments.notes == ("no language pair found in TASK 'Pilot'",)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["", ""], "is empty"),
        ([EARLY], "holds a header but no judgment"),
        ([EARLY, "t,NIST,1,2,3,x,1,1"], "holds no row of type RANK, only NIST"),
        ([EARLY, "t,RANK,1,2,3,x,7,"], "line 2: rank is '7'"),
        ([EARLY, "t,RANK"], "line 2: only 2 fields"),
        ([EARLY, "t,RANK,1,2,3,x,1,,y"], "line 2: only 9 fields; the file may be cut"),
        ([EARLY, "t,NIST,1,2,3,x,1,1", "t"], "line 3: only 1 field"),
        ([EARLY, "t,RANK,1,2,3" + ",x" * 20], "line 2: 25 fields where the header has 14"),
        ([EARLY, "t,RANK,1,2,3,,,,"], "without any system"),
        (["TASK,TYPE,ITEM_ID", "t,RANK,1"], "has no column 'ANNOTATOR_ID'"),
        (["TASK,TYPE,ITEM_ID,ANNOTATOR_ID,SYSTEM_0", "t,RANK,1,2,3"], "has no column 'SCORE_0_A'"),
        ([EARLY, 't,RANK,1,2,3,"x\ry",1,', 't\r,RANK,"1'], "line 3: is a ranking without any system"),
        (["some words", "more words"], "has no header with TASK and TYPE"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, lines: list[str], words: str) -> None:
    with pytest.raises(InputError, match=words):
        read(tmp_path, *lines)
