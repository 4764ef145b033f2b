"""Every row twice gives the same ranking as once, in every format that is read and in the path for large files."""

from __future__ import annotations

from pathlib import Path

import pytest

import adjudge
from adjudge.ranking.ranking import Ranking
from adjudge.readers.duplicates import keep_lines_once
from adjudge.readers.registry import FORMATS, read
from tests.helpers.record_files import FILES, ITEMS, SYSTEMS, File, ranks

# Post-edits cannot be ranked without texts to compare them with.
RANKED = [name for name in FILES if name != "wmt-edits"]


def twice(rows: list[str], how: str) -> list[str]:
    return [row for row in rows for _ in range(2)] if how == "each row" else rows + rows


def ranked(folder: Path, file: File, rows: list[str]) -> Ranking:
    path = folder / file.name
    path.write_text("\n".join([*([file.header] if file.header else []), *rows]) + "\n", encoding="utf-8")
    return adjudge.rank(path, format=file.format, method=file.method, resamples=20, **file.reading)


def numbers(ranking: Ranking) -> dict[str, object]:
    return {
        **{
            f"{name} of {one.system}": value
            for one in ranking.systems
            for name, value in {"score": one.score, "n": one.n, **one.numbers}.items()
        },
        **{f"rank {k} of {one.system}": one.rank_set[k] for one in ranking.systems if one.rank_set for k in (0, 1)},
        **{f"p of {pair.better} and {pair.worse}": pair.p for pair in ranking.comparisons},
    }


def test_every_format_is_tried() -> None:
    """Ranks in files of their own have a test below."""
    assert {file.format for file in FILES.values()} | {"rank-lines"} == set(FORMATS)


@pytest.mark.parametrize("how", ["each row", "the whole file"])
@pytest.mark.parametrize("name", RANKED)
def test_every_row_twice_is_the_ranking_of_once(name: str, how: str, tmp_path: Path) -> None:
    file = FILES[name]
    once, again = ranked(tmp_path, file, file.rows), ranked(tmp_path, file, twice(file.rows, how))
    assert again.order == once.order
    # Screens of these formats are called by their lines: those that stay are not added up in the same order.
    by_lines = name in ("wmt-ranking", "wmt-ranking-2007")
    assert numbers(again) == (pytest.approx(numbers(once), rel=1e-12) if by_lines else numbers(once))
    before, after = (sum(part.rows for part in ranking.set_aside) for ranking in (once, again))
    assert after > before


@pytest.mark.parametrize("how", ["each row", "the whole file"])
@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("judgments of pairs", None),
        ("judgments of pairs by nobody known", "wins"),
    ],
)
def test_large_files_count_every_row_once(
    name: str, method: str | None, how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counts do not know which comparisons share a text, so every comparison is on a text of its own."""
    texts = FILES[name].header.split(",").index("question_id")
    cells = [row.split(",") for row in FILES[name].rows]
    rows = [",".join([*row[:texts], str(number), *row[texts + 1 :]]) for number, row in enumerate(cells)]
    file = FILES[name]._replace(method=method, rows=rows)
    ordinary = ranked(tmp_path, file, file.rows)
    monkeypatch.setattr("adjudge.shell.large_files.LARGE_FILE", 1)
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
        for column, system in enumerate(SYSTEMS):
            text = "\n".join(str(row[column]) for row in rows) + "\n"
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
    assert keep_lines_once(["1"] * 80) == (range(80), 1)
    different = [str(i) for i in range(30)]
    assert keep_lines_once(different * 3) == (range(60, 90), 3)
    assert keep_lines_once([line for line in different for _ in range(3)]) == (range(2, 90, 3), 3)
    assert keep_lines_once([*different, *different[:-1], "x"]) == (range(60), 1)
