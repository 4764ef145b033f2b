"""The log of a campaign: whatever is changed, removed or reordered in the database or beside it is found."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from adjudge.readers.registry import read
from tests.conftest import Run
from tests.helpers.campaigns import make_campaign
from tests.helpers.serving import Server, new_save, panels_of
from tests.server.test_adaptive import campaign as adaptive_campaign
from tests.server.test_adaptive import judge_all, judge_task, systems_by_output

pytestmark = pytest.mark.slow


def change(file: Path, database: str | None, *statements: str) -> int:
    """Change the database behind everybody's back; returns how many rows the last statement changed."""
    if database is None:
        with closing(sqlite3.connect(file.with_suffix(".sqlite3"))) as connection:
            changed = [connection.execute(statement).rowcount for statement in statements]
            connection.commit()
            return changed[-1]
    import psycopg

    with psycopg.connect(database) as connection:
        return [connection.execute(statement).rowcount for statement in statements][-1]


def verify(adjudge: Callable[..., Run], file: Path, database: str | None = None, *options: Any) -> tuple[int, Any]:
    """The exit code of `verify`, and its JSON."""
    stored = () if database is None else ("--database", database)
    run = adjudge("verify", file, "--json", *options, *stored)
    assert run.out, run.err
    return run.code, json.loads(run.out)


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An adaptive campaign that was looked at, with an answer that was revised, and one person excluded."""
    file = adaptive_campaign(tmp_path_factory.mktemp("verify"))
    with Server(file) as server:
        systems = systems_by_output(file)
        judge_all(server, systems, 24)
        anna = server.client("anna")
        first = anna.work()["tasks"][0]["id"]
        work = anna.get(f"/api/work?task={first}").json
        output = work["task"]["screens"][0]["items"][0]["outputs"][0]["id"]
        for score in (3, 5):
            assert anna.post("/api/saves", new_save(work, 0, [{"output": output, "score": score}])).status == 200
        panels_of(server, "state")
        organiser = server.client("organiser")
        people = {
            person["name"]: person["id"] for person in organiser.get("/api/organiser/overview").json["annotators"]
        }
        decision = {"excluded": True, "reason": "too fast"}
        assert organiser.post(f"/api/organiser/annotators/{people['cleo']}/decision", decision).status == 200
    return file


@pytest.fixture
def copy(judged: Path, tmp_path: Path) -> Path:
    """The same campaign once more, to be tampered with."""
    shutil.copytree(judged.parent, tmp_path / "copy")
    return tmp_path / "copy" / judged.name


def test_a_campaign_that_nobody_touched(judged: Path, adjudge: Callable[..., Run]) -> None:
    code, found = verify(adjudge, judged)
    assert (code, found["faults"], found["notes"]) == (0, [], [])
    assert found["checked"]["exclusions"] == 1
    assert found["checked"]["looks"] == 1
    assert found["checked"]["draws"] >= 24
    assert found["checked"]["saves"] >= 24 + 2
    assert found["signature"].startswith("adjudge verify|")
    assert "Nothing was changed or removed." in " ".join(adjudge("verify", judged).out.split())


ONE = "(SELECT id FROM collect_save WHERE number = 1 ORDER BY received LIMIT 1)"
REVISED = "(SELECT state_id FROM collect_save WHERE number = 3)"
SAVE, STATE, DRAW = "UPDATE collect_save SET", "UPDATE collect_screenstate SET", "UPDATE collect_draw SET"
SCORE = """replace(answers, '"score":5', '"score":95')"""
TAMPERED = {
    "a score": (f"""{SAVE} changes = replace(changes, '"score",', '"score",1') WHERE id = {ONE}""", "save 1"),
    "when it was saved": (
        f"{SAVE} received = '2020-01-01 00:00:00' WHERE state_id = {REVISED} AND number = 2",
        "save 2 of screen",
    ),
    "what the page did": (f"{SAVE} events = '[[1,2]]' WHERE id = {ONE}", "save 1"),
    "a save removed": (f"DELETE FROM collect_save WHERE state_id = {REVISED} AND number = 2", "save 2 of screen"),
    "the last save removed": (f"DELETE FROM collect_save WHERE state_id = {REVISED} AND number = 3", "last saves"),
    "two saves in another order": (
        f"{SAVE} number = 5 - number WHERE state_id = {REVISED} AND number > 1",
        "save 2 of screen",
    ),
    "the state of a screen": (f"{STATE} judged = judged - 1 WHERE id = 2", "judged"),
    "answers of a screen": (
        f"{STATE} answers = {SCORE} WHERE id = {REVISED}",
        "does not follow from its saves: answers",
    ),
    "seconds": (f"{STATE} active_seconds = active_seconds + 1 WHERE id = 2", "seconds"),
    "when a screen was shown": (f"{STATE} first_shown = '2020-01-01 00:00:00' WHERE id = 2", "save 1"),
    "who judged": ("UPDATE collect_annotator SET name = 'zoe' WHERE name = 'anna'", "by zoe was changed"),
    "whose task it is": ("UPDATE collect_assignment SET annotator_id = 2 WHERE id = 1", "was changed"),
    "a probability": (f"{DRAW} probability = probability / 2 WHERE number = 3", "draw 3 was changed"),
    "the number of a draw": (f"{DRAW} number = 1000 WHERE number = 3", "draw 3 is missing"),
    "a draw removed": ("DELETE FROM collect_draw WHERE number = 5", "draw 5 is in the log, but was removed"),
    "a draw that cannot be read": (f"{DRAW} decision = '{{' WHERE number = 2", "draw 2 was changed"),
    "an observation": ("UPDATE collect_observed SET value = value + 1 WHERE number = 0", "after it was handed in"),
    "a time that is none": ("UPDATE collect_decision SET made = 'zz'", "an exclusion cannot be read"),
    "when a task was taken": ("UPDATE collect_assignment SET taken = 'zz'", "a save cannot be read"),
    "the id of a save": (f"{SAVE} id = 'zz' WHERE id = {ONE}", "a save cannot be read"),
    "a reason": ("UPDATE collect_decision SET reason = 'no reason'", "the decision about cleo"),
    "an exclusion removed": ("DELETE FROM collect_decision", "decision 1 is in the log, but was removed"),
    "an exclusion undone": (
        "UPDATE collect_annotator SET excluded = FALSE WHERE name = 'cleo'",
        "cleo is not excluded",
    ),
    "an entry": (
        "UPDATE collect_entry SET content = replace(content, 'too fast', 'too slow')",
        "of the log (exclusion 1)",
    ),
    "an entry removed": ("DELETE FROM collect_entry WHERE number = 4", "entry 4 of the log is missing"),
    "the fingerprint of the tasks": ("UPDATE collect_campaign SET fingerprint = 'abc'", "the tasks were changed"),
}


def test_a_text_that_was_changed_is_refused(copy: Path, adjudge: Callable[..., Run]) -> None:
    change(copy, None, """UPDATE collect_campaign SET tasks = replace(tasks, '"text": "', '"text": "not ')""")
    run = adjudge("verify", copy)
    assert run.code == 1
    assert "does not match its hash" in run.err


@pytest.mark.parametrize("what", TAMPERED)
def test_what_is_changed_in_the_database_is_found(what: str, copy: Path, adjudge: Callable[..., Run]) -> None:
    statement, said = TAMPERED[what]
    assert change(copy, None, statement) > 0, "the statement changes something"
    code, found = verify(adjudge, copy)
    assert code == 1
    assert any(said in fault for fault in found["faults"]), found["faults"]


def test_draws_that_were_changed_are_an_error_of_the_export(copy: Path, adjudge: Callable[..., Run]) -> None:
    change(copy, None, "UPDATE collect_draw SET probability = probability / 2 WHERE number = 3")
    run = adjudge("export", copy, "-o", copy.with_name("j.parquet"), "--draws", copy.with_name("draws.jsonl"))
    assert run.code == 1
    assert "draw 3 was changed" in run.err


@pytest.mark.parametrize(
    "statement",
    [
        f"{SAVE} changes = '{{' WHERE id = {ONE}",
        f"{SAVE} spent = '[null]' WHERE id = {ONE}",
        f"{SAVE} received = 'zz' WHERE id = {ONE}",
        f"{STATE} first_shown = 'zz' WHERE id = 2",
        "UPDATE collect_assignment SET task = 'zz' WHERE id = 1",
    ],
)
def test_an_export_of_what_cannot_be_read_says_what_was_changed(
    statement: str, copy: Path, adjudge: Callable[..., Run]
) -> None:
    change(copy, None, statement)
    run = adjudge("export", copy, "-o", copy.with_name("j.parquet"))
    assert run.code == 1
    assert "its database was changed or is damaged" in run.err
    assert not copy.with_name("j.parquet").exists()


@pytest.mark.parametrize("how", ["changed", "another", "removed"])
def test_looks_that_were_changed_are_found(how: str, copy: Path, adjudge: Callable[..., Run]) -> None:
    file = copy.with_name("looks.json")
    content = json.loads(file.read_text())
    if how == "removed":
        file.unlink()
    elif how == "changed":
        content["looks"][0]["record"]["judgments"] += 1
        file.write_text(json.dumps(content))
    else:
        # With digests of its own, as `adjudge look` on other data would write it.
        from adjudge.evidence.look import History, LookRecord, write_history

        record = LookRecord(**{**content["looks"][0]["record"], "judgments": 3})
        write_history(file, History(content["plan"], (record,)))
    code, found = verify(adjudge, copy)
    said = {"changed": "was changed after it was taken", "another": "is not the one", "removed": "not in looks.json"}
    assert code == 1
    assert any(said[how] in fault for fault in found["faults"]), found["faults"]


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_an_export_is_compared_with_the_log(ending: str, copy: Path, adjudge: Callable[..., Run]) -> None:
    table = copy.with_name(f"judgments.{ending}")
    assert adjudge("export", copy, "-o", table).code == 0
    code, found = verify(adjudge, copy, None, "--export", table)
    assert (code, found["faults"]) == (0, [])
    if ending == "csv":
        changed = pl.read_csv(table, infer_schema=False).with_row_index("i")
        changed = changed.with_columns(
            score=pl.when(pl.col("i") == 4).then(pl.lit("1.0")).otherwise("score"),
            draw_probability=pl.when(pl.col("i") == 6).then(pl.lit("0.5")).otherwise("draw_probability"),
        ).filter(pl.col("i") != 9)
        changed.drop("i").write_csv(table)
        code, found = verify(adjudge, copy, None, "--export", table)
        assert code == 1
        assert [fault.partition(":")[2][:25] for fault in found["faults"]] == [
            " column 'score' differs i",
            " column 'draw_probability",
            " 1 row of the log missing",
        ]


def test_the_record_travels_with_the_export(judged: Path, tmp_path: Path, adjudge: Callable[..., Run]) -> None:
    """Design, policy, looks, exclusions and the one count: in Parquet, beside CSV, in JSON, and in what `rank` says."""
    exported = {ending: tmp_path / f"judgments.{ending}" for ending in ("parquet", "csv")}
    written = [adjudge("export", judged, "-o", file, "--json").json for file in exported.values()]
    tables = {ending: read([file]) for ending, file in exported.items()}
    record = tables["parquet"].record
    assert record is not None
    beside = tables["csv"].record
    assert beside is not None
    assert (beside.looks, beside.exclusions, beside.counts) == (record.looks, record.exclusions, record.counts)
    assert record.protocol == "da"
    assert record.systems == ("alpha", "beta", "gamma")
    assert record.adaptive is not None
    assert (record.adaptive["policy"], record.adaptive["floor"]) == ("best", 0.15)
    assert record.looks is not None
    assert (record.looks.planned, record.looks.looks, len(record.looks.taken)) == (90, 2, 1)
    assert 0 < record.looks.spent < 0.05
    assert [(who.annotator, who.reason) for who in record.excluded] == [("cleo", "too fast")]
    assert record.counts.judgments == written[0]["judgments"] == written[0]["record"]["counts"]["judgments"]
    assert record.log["entries"] > 24
    # It stays with the judgments, and the fingerprint does not depend on it.
    assert tables["parquet"].final().select(pl.col("system") != "gamma").record == record
    assert tables["parquet"].fingerprint == read([exported["parquet"]]).fingerprint
    notes = " ".join(adjudge("rank", exported["parquet"], "--json").json["notes"])
    for said in (
        "adaptive policy 'best'",
        "1 was taken",
        "of the level 0.05 is spent",
        "excluded 1 person: cleo (too fast)",
    ):
        assert said in notes
    # A table that was changed since is not taken for what the record tells of.
    exported["csv"].write_text(exported["csv"].read_text().replace("da,de,en", "da,de,fr", 1))
    changed = read([exported["csv"]])
    assert changed.record is None
    assert any("was changed after its export" in note for note in changed.notes)


def test_one_count_of_judgments_everywhere(tmp_path: Path, adjudge: Callable[..., Run]) -> None:
    """Delta translates as alpha does: its texts have two rows and are judged once. Controls and repeats stand apart.

    Everybody gives degraded outputs a low score, and the same text the same one, so that nobody is left out.
    """
    more = "[controls]\nrepeats = 1\ndegraded = 1\n"
    file = make_campaign(
        tmp_path, documents=6, task_size=12, annotators='["anna", "bert", "cleo"]', systems=4, more=more
    )
    (tmp_path / "delta.txt").write_text((tmp_path / "alpha.txt").read_text())
    texts = "\n".join((tmp_path / f"{name}.txt").read_text() for name in ("alpha", "beta", "gamma"))
    rng = np.random.default_rng(5)
    scores = {text: int(rng.integers(40, 90)) for text in texts.splitlines()}
    with Server(file) as server:
        for name in ("anna", "bert", "cleo"):
            client = server.client(name)
            work = client.work()
            while work["task"]:
                for number, screen in enumerate(work["task"]["screens"]):
                    outputs = [output for item in screen["items"] for output in item["outputs"]]
                    changes = [{"output": output["id"], "score": scores.get(output["text"], 5)} for output in outputs]
                    assert client.post("/api/saves", new_save(work, number, changes)).status == 200
                assert client.post(f"/api/tasks/{work['task']['id']}/finish").json["finished"]
                work = client.work()
        organiser = server.client("organiser")
        progress = organiser.get("/api/organiser/overview").json["progress"]
        page = tmp_path / "page.csv"
        page.write_text(organiser.get("/api/organiser/export").text)
    exported = adjudge("export", file, "-o", tmp_path / "judgments.parquet", "--json").json
    table = pl.read_parquet(tmp_path / "judgments.parquet")
    judged_once = table.filter(pl.col("kind") == "system").select("annotator", "task", "output").n_unique()
    assert exported["repeats"] > 0
    assert table.filter(pl.col("kind") == "system").height > judged_once
    # The page's own export goes into `look`, with the plan that the page counts towards.
    plan = ("--planned", progress["judgments_wanted"], "--looks", 1)
    looks = [adjudge("look", source, *plan, "--json").json for source in (page, tmp_path / "judgments.parquet")]
    assert {progress["judgments"], progress["judgments_wanted"], exported["judgments"], judged_once} == {judged_once}
    assert [look["judgments"] for look in looks] == [judged_once] * 2


@pytest.mark.parametrize("more_after", [False, True])
def test_a_database_of_an_earlier_version_begins_its_log(
    own_database: str | None, more_after: bool, tmp_path: Path, adjudge: Callable[..., Run]
) -> None:
    """What it holds is digested when it is upgraded, so that later changes of it are found as well."""
    file = adaptive_campaign(tmp_path)
    with Server(file, database=own_database) as server:
        systems = systems_by_output(file)
        judge_all(server, systems, 9)
        links = {name: link for name, link in server.links.items() if name != "organiser"}
    change(
        file,
        own_database,
        "DROP TABLE collect_filledform",
        "ALTER TABLE collect_annotator DROP COLUMN number",
        "DROP TABLE collect_halt",
        "ALTER TABLE collect_annotator DROP COLUMN reassigned",
        "DROP TABLE collect_entry",
        *(f"ALTER TABLE collect_save DROP COLUMN {name}" for name in ("number", "chain")),
        *(f"ALTER TABLE collect_screenstate DROP COLUMN {name}" for name in ("saves", "chain")),
        "DELETE FROM django_migrations WHERE name IN ('0006_log', '0007_steering', '0008_forms')",
    )
    code, found = verify(adjudge, file, own_database)
    assert (code, found["faults"]) == (0, [])
    assert "the log begins on" in found["notes"][0]
    if more_after:
        with Server(file, database=own_database) as server:
            server.links.update(links)
            anna = server.client("anna")
            assert judge_task(anna, systems, 5)
            # An answer from before the log is revised after it has begun.
            work = anna.get(f"/api/work?task={anna.work()['tasks'][0]['id']}").json
            output = work["task"]["screens"][0]["items"][0]["outputs"][0]["id"]
            assert anna.post("/api/saves", new_save(work, 0, [{"output": output, "score": 7}])).status == 200
        code, found = verify(adjudge, file, own_database)
        assert (code, found["faults"]) == (0, [])
        assert change(file, own_database, "UPDATE collect_save SET events = '[[1,2]]' WHERE number = 1") > 0
        code, found = verify(adjudge, file, own_database)
        assert code == 1
        return
    old = "UPDATE collect_save SET changes = '[]' WHERE number IS NULL"
    assert change(file, own_database, old) > 0
    code, found = verify(adjudge, file, own_database)
    assert code == 1
    assert "saves from before the log began were changed or removed" in found["faults"]


def test_people_who_judge_at_once_leave_a_whole_log(
    own_database: str | None, tmp_path: Path, adjudge: Callable[..., Run]
) -> None:
    """Saves, draws, tasks handed in and exclusions from many threads, on both databases."""
    from concurrent.futures import ThreadPoolExecutor

    file = adaptive_campaign(tmp_path)
    with Server(file, database=own_database) as server:
        systems = systems_by_output(file)
        organiser = server.client("organiser")
        people = organiser.get("/api/organiser/overview").json["annotators"]
        clients = [server.client(name) for name in ("anna", "ben", "cleo")]

        def judge(number: int) -> None:
            for chance in range(6):
                judge_task(clients[number], systems, chance + number)

        def decide(_: int) -> None:
            for excluded in (True, False):
                decision = {"excluded": excluded, "reason": "to try it out"}
                organiser.post(f"/api/organiser/annotators/{people[2]['id']}/decision", decision)

        with ThreadPoolExecutor(4) as threads:
            list(threads.map(lambda job: job[0](job[1]), [(judge, 0), (judge, 1), (judge, 2), (decide, 0)]))
    code, found = verify(adjudge, file, own_database)
    assert (code, found["faults"]) == (0, [])
    assert found["checked"]["exclusions"] == 2
    assert change(file, own_database, "UPDATE collect_draw SET probability = 0.9 WHERE number = 1") == 1
    assert verify(adjudge, file, own_database)[0] == 1
