"""One rule of quality: who fails on evidence is left out by every command, with a record, unless all are asked for."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import adjudge
from adjudge.evidence.verdict import say_left_out
from adjudge.evidence.verdict_facts import decide_by_ranking
from adjudge.people.check import check, quality_of, without_failed
from adjudge.ranking.methods import rank
from adjudge.readers import native
from adjudge.readers.registry import read
from adjudge.reports.people_section import check_words
from adjudge.table.judgments import Judgments, SetAside, concat
from tests.conftest import Run

ANSWERS = {
    # genuine and degraded scores of six segments
    "anna": ([80, 70, 90, 60, 75, 85], [40, 35, 50, 30, 45, 38]),
    "ben": ([75, 72, 88, 66, 70, 81], [50, 45, 52, 41, 48, 55]),
    "clicker": ([50, 70, 40, 80, 60, 55], [60, 65, 50, 75, 70, 52]),
}


def controlled(target: str = "de", **more: pl.Expr) -> Judgments:
    rng = np.random.default_rng(8)
    rows = [
        {
            "annotator": who, "task": "t", "segment": str(i), "kind": kind, "score": float(score), "system": system,
            "protocol": "da", "source_lang": "en", "target_lang": target,
        }
        for who, (genuine, degraded) in ANSWERS.items()
        for i in range(6)
        for system, kind, score in (
            ("A", "system", genuine[i]), ("A", "degraded", degraded[i]),
            ("B", "system", genuine[i] - 3 + rng.integers(-9, 10)),
        )
    ]  # fmt: skip
    # One who judged no controls, and somebody without a name.
    for name in ("new", None):
        score = rng.uniform(55, 90, 12).round().tolist()
        judged = [row for row in rows[:18] if row["kind"] == "system"]
        rows += [{**row, "annotator": name, "score": given} for row, given in zip(judged, score, strict=True)]
    return Judgments.from_columns(pl.DataFrame(rows).with_columns(**more))


def names(judgments: Judgments) -> set[str | None]:
    return set(judgments.table["annotator"])


def test_who_fails_controls_is_left_out_with_a_record() -> None:
    judgments = controlled()
    quality = quality_of(judgments)
    assert quality.left_out == ("clicker",)
    kept = quality.kept
    assert names(kept) == {"anna", "ben", "new", None}
    assert kept.set_aside == (SetAside("annotator failed the check: controls", 18),)
    (note,) = kept.notes
    assert note == ("1 of 4 annotators fails the check and is left out: clicker (controls); keep them with --everyone")
    assert quality.reasons["clicker"][0].startswith("does not tell degraded from genuine outputs (p = ")
    # As `check` says, but for who could not be tested.
    assert {one.annotator for one in check(judgments).annotators if not one.passed} == {"clicker", "new"}
    assert quality_of(kept).kept is kept


def test_who_fails_may_count_all_the_same_and_is_named() -> None:
    judgments = controlled()
    quality = quality_of(judgments, all_count=True)
    assert quality.kept is judgments
    assert quality.left_out == ()
    assert quality.otherwise is not None
    assert names(quality.otherwise) == {"anna", "ben", "new", None}
    decisions = decide_by_ranking(rank(judgments))
    sentences = say_left_out(decisions, quality.failing, rank(quality.otherwise))
    assert sentences[0] == "1 annotator fails the check of controls and counts all the same: clicker."
    assert sentences[1].startswith(("Without clicker", "Settle the check first: without clicker"))
    other = quality_of(judgments)
    assert other.otherwise is judgments
    assert say_left_out(decisions, other.failing, None)[0].endswith("of controls and is left out: clicker.")


def test_pace_and_rejected_work_are_evidence() -> None:
    fast = controlled(active_seconds=pl.when(pl.col("annotator") == "ben").then(0.3).otherwise(9.0))
    assert quality_of(fast).left_out == ("ben", "clicker")
    assert {aside.reason for aside in quality_of(fast).kept.set_aside} == {
        "annotator failed the check: controls", "annotator failed the check: pace"
    }  # fmt: skip
    refused = controlled(rejected=pl.col("annotator") == "anna")
    assert quality_of(refused).left_out == ("anna", "clicker")


def test_accounts_that_may_be_of_one_person_are_not_judged_by_their_few_controls() -> None:
    hour = pl.col("annotator").rank("dense").fill_null(0).cast(pl.Int64)
    started = pl.datetime(2024, 5, 1, 8, time_zone="UTC") + pl.duration(hours=hour)
    accounts = controlled(task=pl.col("annotator"), started=started, ended=started).select(
        pl.col("annotator").is_not_null()
    )
    assert quality_of(accounts).left_out == ()
    assert quality_of(replace(accounts, people=True)).left_out == ("clicker",)
    fast = replace(accounts, table=accounts.table.with_columns(active_seconds=0.2))
    assert quality_of(fast).nobody_passes
    assert quality_of(fast).note.startswith("none of 4 accounts passes the check, so all judgments are kept")
    checked = check(accounts)
    assert checked.unit == "account"
    assert any(note.startswith("4 accounts may be as few as one person") for note in checked.notes)
    assert "account" in check_words(checked)[0]
    assert "annotator" not in check_words(checked)[0]
    assert check(controlled()).unit == "annotator"


def test_without_evidence_nothing_changes() -> None:
    judgments = controlled()
    plain = judgments.select(pl.col("kind") == "system")
    assert quality_of(plain).kept is plain
    assert without_failed(plain) is plain


def test_a_release_with_its_own_control_decides() -> None:
    released = controlled(passed=pl.lit(value=True))
    assert quality_of(released).kept is released


def test_who_has_only_seen_examples_is_nobody_to_rank_by() -> None:
    """All others work too fast; without them nothing would be left but a tutorial."""
    fast = controlled(active_seconds=pl.lit(0.1)).table.drop_nulls("annotator")
    example = fast.head(1).with_columns(annotator=pl.lit("late"), kind=pl.lit("tutorial"), active_seconds=pl.lit(9.0))
    quality = quality_of(Judgments(pl.concat([fast, example])))
    assert "late" not in quality.reasons
    assert quality.nobody_passes
    assert quality.left_out == ()


def test_if_nobody_passes_all_are_kept_and_told() -> None:
    judgments = controlled().select(pl.col("annotator").is_in(["clicker"]))
    quality = quality_of(judgments)
    assert quality.left_out == ()
    assert len(quality.kept) == len(judgments)
    assert quality.kept.notes[0].startswith("the one annotator does not pass the check, so all judgments are kept")


def test_pairs_have_their_own_rule() -> None:
    """Somebody who fails in one language pair is left out of that alone."""
    good = controlled("fr").select(pl.col("annotator") != "clicker")
    also = good.table.filter(pl.col("annotator") == "anna").with_columns(annotator=pl.lit("clicker"))
    both = concat([controlled("de"), good, Judgments(also)])
    kept = without_failed(both)
    assert "clicker" not in names(kept.for_pair("en-de"))
    assert "clicker" in names(kept.for_pair("en-fr"))
    assert kept.notes[0].startswith("en-de: 1 of 4 annotators fails")
    assert kept.for_pair("en-fr").notes == ()


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "scores.parquet"
    native.write(controlled(), path)
    return path


def test_every_command_leaves_them_out_unless_asked(adjudge: Callable[..., Run], table: Path) -> None:
    for verb in ("rank", "agree", "audit"):
        more = ("--only", "sampling") if verb == "audit" else ()
        by_default = json.loads(adjudge(verb, table, "--json", *more).out)
        everyone = json.loads(adjudge(verb, table, "--json", "--everyone", *more).out)
        reason = {"reason": "annotator failed the check: controls", "rows": 18}
        assert reason in by_default["set_aside"], verb
        assert reason not in everyone["set_aside"], verb
        assert any("clicker" in note for note in by_default["notes"])
    assert json.loads(adjudge("check", table, "--json").out)["dropped"]["annotators"] == 2
    gold, all_of_them = (
        json.loads(adjudge("gold", table, "--json", *more).out)["runs"][0] for more in ((), ("--everyone",))
    )
    assert all_of_them["kept"] == gold["kept"] + 1


def test_python_too_and_reading_keeps_everybody(table: Path) -> None:
    assert "clicker" in names(adjudge.read(table))
    assert any("clicker" in note for note in adjudge.rank(table).notes)
    assert not any("clicker" in note for note in adjudge.rank(table, everyone=True).notes)


def test_a_report_checks_all_and_ranks_who_counts(table: Path) -> None:
    report = adjudge.report(table)
    (results,) = report.pairs.values()
    assert results.failing.left_out == ("clicker",)
    assert results.checked is not None
    assert {one.annotator for one in results.checked.annotators} == {"anna", "ben", "clicker", "new"}
    assert SetAside("annotator failed the check: controls", 18) in report.set_aside
    (everyone,) = adjudge.report(table, everyone=True).pairs.values()
    assert everyone.failing.left_out == ()


@pytest.mark.slow
def test_released_sets_that_were_filtered_stay_as_they_are(data: Path) -> None:
    """Sets with the release's own control, or whose annotators all pass, come out as before."""
    esa = data / "wmt24esa"
    file, people = esa / "esa_generalMT2024_wave3.csv", esa / "annotator_mapping.json"
    for judgments in (
        read([file], format="appraise", annotators=people),
        read([data / "wmt21" / "newstest2021-toen"], format="wmt-da"),
        read([data / "wmt21" / "facebook-wikipedia-2021"], format="wmt-da"),
        read([data / "mqm" / "mqm_ted_ende.tsv"], format="mqm"),
        read([data / "wmt10" / "data_RNK.csv"], format="wmt-ranking"),
        read(sorted((data / "wmt22sqm").glob("*filtered*.csv")), format="appraise"),
        read([data / "esa-study" / "240520rc6GEMBA.scores.csv"], format="appraise"),
        read([data / "esa-study" / "240520rc6ESA.scores.csv"], format="appraise"),
    ):
        assert without_failed(judgments) is judgments
