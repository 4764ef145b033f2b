"""Every row twice gives the same ranking as once, in every format that is read and in the path for large files."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest

import adjudge
from adjudge.formats import FORMATS, read
from adjudge.formats.duplicates import lines_once
from adjudge.results.rank import Ranking

ITEMS = 40
PEOPLE = ("ann", "bob", "cat")
SYSTEMS = ("x", "y", "refA")
chance = random.Random(7)


class File(NamedTuple):
    """A file of a format: its header (or none), one row per judgment or block, and how it is read."""

    format: str
    header: str
    rows: list[str]
    reading: Mapping[str, Any] = MappingProxyType({})
    method: str | None = None
    name: str = "data.csv"


def person(item: int) -> str:
    return PEOPLE[item % len(PEOPLE)]


def score(system: str) -> int:
    return min(100, SYSTEMS.index(system) * 9 + chance.randrange(70))


def ranks() -> list[int]:
    return chance.choice([[1, 2, 3], [2, 1, 3], [1, 1, 2], [3, 2, 1], [2, 3, 1], [1, 3, 2]])


def of_scores(row: Callable[[int, str], str]) -> list[str]:
    return [row(item, system) for item in range(ITEMS) for system in SYSTEMS]


def of_pairs(row: Callable[[int, str, str, str], str]) -> list[str]:
    pairs = [("x", "y"), ("x", "refA"), ("y", "refA")]
    return [row(item, *pair, chance.choice([*pair, "tie"])) for item in range(ITEMS) for pair in pairs]


def of_ranks(row: Callable[[int, list[int]], str]) -> list[str]:
    return [row(item, ranks()) for item in range(ITEMS)]


def moment(number: int) -> str:
    return f"16657{number:05}.0"


NATIVE = "annotator,segment,system,score"
FILES = {
    "judgments": File("judgments", NATIVE, of_scores(lambda i, s: f"{person(i)},{i},{s},{score(s)}")),
    "judgments of pairs": File(
        "judgments",
        "user,question_id,model_a,model_b,winner",
        of_pairs(lambda i, a, b, w: f"{person(i)},{i},{a},{b},{w}"),
    ),
    "judgments of pairs by nobody known": File(
        "judgments", "question_id,model_a,model_b,winner", of_pairs(lambda i, a, b, w: f"{i},{a},{b},{w}")
    ),
    "wide scores": File(
        "judgments",
        "annotator,segment,x,y,refA",
        of_ranks(lambda i, _: f"{person(i)},{i},{score('x')},{score('y')},{score('refA')}"),
        {"systems": SYSTEMS},
    ),
    "wide ranks": File(
        "judgments",
        "annotator,segment,x,y,refA",
        of_ranks(lambda i, r: f"{person(i)},{i},{r[0]},{r[1]},{r[2]}"),
        {"systems": SYSTEMS},
    ),
    "wmt-ranking": File(
        "wmt-ranking",
        "srclang,trglang,srcIndex,judgeId,system1Id,system2Id,system3Id,system1rank,system2rank,system3rank",
        of_ranks(lambda i, r: f"cs,en,{i},{person(i)},x,y,refA,{r[0]},{r[1]},{r[2]}"),
    ),
    "wmt-ranking-2007": File(
        "wmt-ranking-2007",
        "TASK,TYPE,ITEM_ID,ANNOTATOR_ID,TIME,SYSTEM_0,SCORE_0_A,SYSTEM_1,SCORE_1_A,SYSTEM_2,SCORE_2_A",
        of_ranks(lambda i, r: f"Test Czech-English News,RANK,{i},{person(i)},9,x,{r[0]},y,{r[1]},refA,{r[2]}"),
    ),
    "wmt-acceptability": File(
        "wmt-acceptability",
        "srclang,trglang,srcIndex,judgeId,systemId,editId,judgment",
        of_scores(lambda i, s: f"cs,en,{i},{person(i)},{s},{i},{chance.choice(['YES', 'NO'])}"),
    ),
    "pairwise-counts": File("pairwise-counts", "", ["x y 30 4 22", "x refA 21 9 33", "refA y 40 2 12"]),
    "pairwise-table": File(
        "pairwise-table", "worker,item,left,right,winner", of_pairs(lambda i, a, b, w: f"{person(i)},{i},{a},{b},{w}")
    ),
    "rank-table": File(
        "rank-table",
        "segment,x,y,refA",
        of_ranks(lambda i, r: f"{i},{r[0]},{r[1]},{r[2]}"),
        {"rank_columns": SYSTEMS},
        "wins",
    ),
    "wmt-da": File(
        "wmt-da",
        "HITId WorkerId Input.src Input.trg Input.item hit sys_id rid type sid score time",
        of_scores(lambda i, s: f"H{i} {person(i)} cs en ad {i} {s} {i} SYSTEM {i} {score(s)} 9"),
    ),
    "mturk-da": File(
        "mturk-da",
        "HITId,WorkerId,Input.src,Input.trg,Answer.Q1",
        [
            f"H{i},{person(i)},en,es,{'|'.join(f'{s}_{i}_SYSTEM_{j}__{score(s)}' for j, s in enumerate(SYSTEMS))}"
            for i in range(ITEMS)
        ],
    ),
    "appraise": File(
        "appraise",
        "",
        of_scores(lambda i, s: f"engces010{i % 3},{s},{i},TGT,eng,ces,{score(s)},{moment(i)},{moment(i + 9)}"),
    ),
    "wmt-humeval": File(
        "wmt-humeval",
        "",
        [
            json.dumps(
                {
                    "doc_id": f"en-cs_CZ_#_news_#_d_#_{i}",
                    "scores": {s: [{"score": score(s), "annotator": person(i), "errors": []}] for s in SYSTEMS},
                }
            )
            for i in range(ITEMS)
        ],
        name="data.jsonl",
    ),
    "mqm": File(
        "mqm",
        "system\tdoc\tseg_id\trater\tsource\ttarget\tcategory\tseverity",
        of_scores(
            lambda i, s: f"{s}\td\t{i}\t{person(i)}\ta\t<v>b</v>\tStyle\t{chance.choice(['Minor', 'Major', 'Neutral'])}"
        ),
    ),
    "pearmut": File(
        "pearmut",
        "",
        [
            json.dumps(
                {
                    "user_id": person(i),
                    "item_i": i,
                    "annotation": [{s: {"score": score(s), "error_spans": []} for s in SYSTEMS}],
                    "actions": [{"time": 1771311126.0 + i, "action": "load"}],
                    "item": [{"item_id": f"en-es_#_doc_#_{i}", "src": "a", "tgt": dict.fromkeys(SYSTEMS, "b")}],
                }
            )
            for i in range(ITEMS)
        ],
        name="data.jsonl",
    ),
    "metric-scores": File(
        "metric-scores",
        "",
        [f"{s}\t{score(s)}" for s in SYSTEMS for _ in range(ITEMS)],
        {},
        "raw",
        "en-cs.mqm.seg.score",
    ),
}
# Post-edits cannot be ranked without texts to compare them with; ranks in files of their own have a test below.
OTHERS = ("wmt-edits", "rank-lines")


def twice(rows: list[str], how: str) -> list[str]:
    return [row for row in rows for _ in range(2)] if how == "each row" else rows + rows


def ranked(folder: Path, file: File, rows: list[str]) -> Ranking:
    path = folder / file.name
    path.write_text("\n".join([*([file.header] if file.header else []), *rows]) + "\n", encoding="utf-8")
    return adjudge.rank(path, format=file.format, method=file.method, resamples=20, **file.reading)


def numbers(ranking: Ranking) -> list[object]:
    return [
        [(system.system, system.score, system.n, system.rank_set, dict(system.numbers)) for system in ranking.systems],
        [(pair.better, pair.worse, pair.p) for pair in ranking.comparisons],
    ]


def test_every_format_is_tried() -> None:
    assert {file.format for file in FILES.values()} | set(OTHERS) == set(FORMATS)


@pytest.mark.parametrize("how", ["each row", "the whole file"])
@pytest.mark.parametrize("name", FILES)
def test_every_row_twice_is_the_ranking_of_once(name: str, how: str, tmp_path: Path) -> None:
    file = FILES[name]
    once, again = ranked(tmp_path, file, file.rows), ranked(tmp_path, file, twice(file.rows, how))
    assert numbers(again) == numbers(once)
    before, after = (sum(part.rows for part in ranking.set_aside) for ranking in (once, again))
    assert after > before


@pytest.mark.parametrize("how", ["each row", "the whole file"])
@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("judgments", "raw"),
        ("judgments", "zscore"),
        ("judgments of pairs", None),
        ("judgments of pairs by nobody known", "wins"),
    ],
)
def test_large_files_count_every_row_once(
    name: str, method: str | None, how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = FILES[name]._replace(method=method)
    ordinary = ranked(tmp_path, file, file.rows)
    monkeypatch.setattr("adjudge.api.after.LARGE_FILE", 1)
    path = tmp_path / file.name
    path.write_text("\n".join([file.header, *twice(file.rows, how)]) + "\n", encoding="utf-8")
    counted = adjudge.rank(path, method=method, resamples=20)
    assert counted.data != adjudge.rank(read(path), method=method, resamples=20).data, "not the path for large files"
    assert [(system.system, system.n) for system in counted.systems] == [
        (system.system, system.n) for system in ordinary.systems
    ]
    for mine, theirs in zip(counted.systems, ordinary.systems, strict=True):
        assert mine.score == pytest.approx(theirs.score, abs=1e-9)
    assert sum(part.rows for part in counted.set_aside) == len(file.rows)


@pytest.mark.parametrize("how", ["each row", "the whole file"])
def test_files_of_ranks_that_hold_every_line_twice_count_once(how: str, tmp_path: Path) -> None:
    lines = [ranks() for _ in range(ITEMS)]
    again = [row for row in lines for _ in range(2)] if how == "each row" else lines * 2
    for folder, rows in (("once", lines), ("again", again)):
        (tmp_path / folder).mkdir()
        for place, system in enumerate(SYSTEMS):
            text = "\n".join(str(row[place]) for row in rows) + "\n"
            (tmp_path / folder / f"{system}.txt").write_text(text, encoding="utf-8")
    once, copied = (read(tmp_path / folder, format="rank-lines") for folder in ("once", "again"))
    assert copied.table.drop("campaign").equals(once.table.drop("campaign"))
    assert sum(part.rows for part in copied.set_aside) == ITEMS * len(SYSTEMS)


def test_a_correction_in_a_table_of_ranks_replaces_the_whole_row(tmp_path: Path) -> None:
    file = tmp_path / "ranks.csv"
    file.write_text("segment,x,y\n1,1,2\n2,1,2\n1,2,1\n", encoding="utf-8")
    judgments = read(file, format="rank-table", rank_columns=["x", "y"])
    assert judgments.table.select("segment", "system", "rank").rows() == [
        ("2", "x", 1), ("2", "y", 2), ("1", "x", 2), ("1", "y", 1)
    ]  # fmt: skip
    assert [part.rows for part in judgments.set_aside] == [2]


def test_rows_of_one_number_with_other_texts_are_judgments_of_their_own(tmp_path: Path) -> None:
    file = tmp_path / "ranks.csv"
    file.write_text("segment,source,x,y\n0,a cat,1,2\n0,a dog,2,1\n0,a cat,2,1\n", encoding="utf-8")
    judgments = read(file, format="rank-table", rank_columns=["x", "y"])
    assert judgments.table.select("source", "rank").rows() == [("a dog", 2), ("a dog", 1), ("a cat", 2), ("a cat", 1)]


def test_an_error_of_mqm_that_stands_twice_costs_once(tmp_path: Path) -> None:
    file = tmp_path / "ratings.tsv"
    error = "x\td\t1\tr\ta\t<v>b</v>\tStyle\tMajor"
    other = "x\td\t1\tr\ta\t<v>b</v>\tStyle\tMinor"
    file.write_text(f"{FILES['mqm'].header}\n{error}\n{other}\n{error}\n", encoding="utf-8")
    judgments = read(file, format="mqm")
    assert judgments.table["score"].to_list() == [-6.0]
    assert [part.rows for part in judgments.set_aside] == [1]
    assert any("1 row repeats another in every column" in note for note in judgments.notes)


def test_lines_that_hardly_differ_are_no_copies() -> None:
    assert lines_once(["1"] * 80) == (range(80), 1)
    different = [str(i) for i in range(30)]
    assert lines_once(different * 3) == (range(60, 90), 3)
    assert lines_once([line for line in different for _ in range(3)]) == (range(2, 90, 3), 3)
    assert lines_once([*different, *different[:-1], "x"]) == (range(60), 1)
