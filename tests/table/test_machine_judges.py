"""Machine judges never count as people, however the judgments are read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import adjudge
from adjudge.readers import native
from adjudge.table.errors import AdjudgeError, DataError
from adjudge.table.judgments import Judgments, concat
from adjudge.table.participants import APART, PREFIX, select_machine_rows, set_judges_apart, with_judges
from tests.helpers.judged import campaign
from tests.helpers.tables import command

if TYPE_CHECKING:
    from pathlib import Path

ROWS = 10 * 4 * 5


@pytest.fixture(scope="module")
def judged() -> Judgments:
    return campaign(np.random.default_rng(1), documents=10, people=3)


@pytest.fixture
def file(judged: Judgments, tmp_path: Path) -> Path:
    path = tmp_path / "judgments.parquet"
    native.write(judged, path)
    return path


@pytest.fixture
def people(judged: Judgments, tmp_path: Path) -> Path:
    path = tmp_path / "people.parquet"
    native.write(Judgments(judged.table), path)
    return path


def test_files_hold_the_rows_of_judges_and_reading_sets_them_apart(judged: Judgments, file: Path) -> None:
    assert pl.read_parquet(file)["annotator"].n_unique() == 4
    read = adjudge.read(file)
    assert read.table.equals(judged.table)
    assert read.machine is not None
    assert read.machine["annotator"].unique().to_list() == ["judge:model"]
    assert [(record.reason, record.rows) for record in read.set_aside] == [(APART, ROWS)]


VERBS: list[tuple[str, dict[str, Any]]] = [
    ("rank", {}),
    ("rank", {"method": "zscore"}),
    ("check", {"least_seconds": 0}),
    ("agree", {"resamples": 0}),
    ("audit", {"only": "claims"}),
]


@pytest.mark.parametrize("ending", ["parquet", "csv"])
@pytest.mark.parametrize(("verb", "settings"), VERBS, ids=["rank", "zscore", "check", "agree", "claims"])
def test_results_are_those_of_people_alone(
    verb: str, settings: dict[str, Any], ending: str, judged: Judgments, tmp_path: Path
) -> None:
    path = tmp_path / f"all.{ending}"
    native.write(judged, path)
    made = getattr(adjudge, verb)(path, **settings)
    alone = getattr(adjudge, verb)(Judgments(judged.table), **settings)
    wanted, found = alone.to_dict(), made.to_dict()
    assert {"reason": APART, "rows": ROWS} in found.pop("set_aside")
    for key in ("set_aside", "signature", "settings", "notes", "judges"):
        wanted.pop(key, None)
        found.pop(key, None)
    assert found == wanted


@pytest.mark.parametrize("ending", ["parquet", "csv"])
@pytest.mark.parametrize(
    ("written", "read"),
    [("Judge:model", "judge:model"), (" JUDGE: model", "judge:model"), ("judge:", "judge:unnamed")],
)
def test_slips_in_the_mark_do_not_make_a_machine_a_person(
    written: str, read: str, ending: str, judged: Judgments, tmp_path: Path
) -> None:
    table = with_judges(judged).table.with_columns(pl.col("annotator").replace("judge:model", written))
    path = tmp_path / f"all.{ending}"
    table.drop("spans").write_csv(path) if ending == "csv" else table.write_parquet(path)
    ranking = adjudge.rank(path, method="zscore")
    assert ranking.systems == adjudge.rank(Judgments(judged.table), method="zscore").systems
    assert [record.rows for record in ranking.set_aside if record.reason == APART] == [ROWS]
    machine = adjudge.read(path).machine
    assert machine is not None
    assert machine["annotator"].unique().to_list() == [read]


@pytest.mark.parametrize("mark", ["judge:m", "Judge:m"])
def test_large_tables_of_pairs_count_people_alone(mark: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    rows = [
        (name, str(segment), "a", "b", rng.choice(["left", "right", "tie"]))
        for name in ("x", "y", mark)
        for segment in range(30)
    ]
    frame = pl.DataFrame(rows, schema=["annotator", "segment", "left", "right", "winner"], orient="row")
    both, alone = tmp_path / "both.csv", tmp_path / "alone.csv"
    frame.write_csv(both)
    frame.filter(pl.col("annotator") != mark).write_csv(alone)
    monkeypatch.setattr("adjudge.shell.large_files.LARGE_FILE", 1)
    counted, people = adjudge.rank(both), adjudge.rank(alone)
    assert counted.systems == people.systems
    assert [record.rows for record in counted.set_aside if record.reason == APART] == [30]


def test_the_signature_of_a_ranking_does_not_depend_on_judges(file: Path, people: Path) -> None:
    assert adjudge.rank(file).signature == adjudge.rank(people).signature


def test_annotators_may_be_said_to_be_machines(people: Path) -> None:
    read = adjudge.read(people, judges=["p1"])
    assert read.machine is not None
    assert read.machine["annotator"].unique().to_list() == ["judge:p1"]
    assert sorted(read.table["annotator"].unique()) == ["p0", "p2"]
    ranking = json.loads(command("rank", people, "--judges", "p1,p2", "--json").out)
    assert {"reason": APART, "rows": 2 * ROWS} in ranking["set_aside"]
    with pytest.raises(AdjudgeError, match=r"unknown annotator for 'judges' 'nobody'"):
        adjudge.rank(people, judges="nobody")


def test_a_machine_may_be_named_again(file: Path) -> None:
    assert adjudge.read(file, judges=["model"]).machine is not None
    assert adjudge.read(file, judges=["judge:model"]).machine is not None
    again = adjudge.read(adjudge.read(file), judges=["p0"])
    assert [(record.reason, record.rows) for record in again.set_aside] == [(APART, 2 * ROWS)]


def test_import_keeps_machines_and_counts_them(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    imported = json.loads(command("import", file, "-o", out, "--json").out)
    assert (imported["rows"], imported["annotators"], imported["set_aside"]) == (4 * ROWS, 4, [])
    assert adjudge.read(out).machine is not None


def test_checked_judgments_keep_the_machines(file: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept.parquet"
    assert command("check", file, "--least-seconds", "0", "--kept", kept).code == 0
    assert adjudge.read(kept).machine is not None


def test_judgments_of_machines_alone_rank_nothing(judged: Judgments, tmp_path: Path) -> None:
    alone = tmp_path / "judge.parquet"
    assert judged.machine is not None
    native.write(Judgments(judged.machine), alone)
    for name in ("rank", "check", "audit", "report"):
        run = command(name, alone, *(("-o", tmp_path / "page.html") if name == "report" else ()))
        assert run.code == 1
        assert "all 200 judgments are by machine judges, which never count as people" in run.err
    assert command("import", alone, "-o", tmp_path / "again.parquet").code == 0


def test_parts_of_a_table_share_its_machines(judged: Judgments) -> None:
    parts = [judged.select(pl.col("annotator") == name) for name in ("p0", "p1")]
    joined = concat(parts)
    assert joined.machine is not None
    assert joined.machine.height == ROWS
    assert with_judges(joined).table.height == 3 * ROWS
    assert with_judges(with_judges(joined)).table.height == 3 * ROWS


def test_machines_belong_to_the_language_pair_and_the_campaign_of_people() -> None:
    rows = [
        ("one", "cs", "en", "anna"), ("two", "cs", "en", "anna"), ("one", "de", "en", "anna"),
        ("one", "cs", "en", "judge:m"), ("two", "cs", "en", "judge:m"), ("one", "de", "en", "judge:m"),
        ("other", "cs", "en", "judge:n"), ("one", "und", "und", "judge:o"),
    ]  # fmt: skip
    frame = pl.DataFrame(rows, schema=["campaign", "source_lang", "target_lang", "annotator"], orient="row")
    judgments = set_judges_apart(Judgments.from_columns(frame.with_columns(system=pl.lit("s"))))
    parts = judgments.by_pair()

    def machines(part: str) -> list[tuple[str, str]]:
        found = select_machine_rows(parts[part])
        return [] if found is None else found.select("campaign", "annotator").rows()

    assert machines("one/cs-en") == [("one", "judge:m"), ("one", "judge:o")]
    assert machines("two/cs-en") == [("two", "judge:m")]
    assert machines("de-en") == [("one", "judge:m"), ("one", "judge:o")]
    # A table of judges under another name belongs to everybody's.
    assert judgments.machine is not None
    renamed = Judgments(judgments.table, machine=judgments.machine.filter(pl.col("annotator") == "judge:n"))
    assert select_machine_rows(renamed.by_pair()["one/cs-en"]) is not None


def test_a_campaign_of_judges_alone_is_an_error_in_python(judged: Judgments) -> None:
    assert judged.machine is not None
    with pytest.raises(DataError, match="judges, which never count as people"):
        adjudge.rank(Judgments(judged.machine))
    assert PREFIX == "judge:"
