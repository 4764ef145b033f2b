"""A report of an exported campaign says how it was collected, and gives the verdict of the looks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adjudge.evidence.verdict_looks import say_verdict_of_looks
from adjudge.people.check import quality_of
from adjudge.reports.build import build_report
from adjudge.shell.report_stages import ReportSettings, pair_results
from adjudge.table.judgments import Judgments, concat
from adjudge.table.record import CampaignRecord, Exclusion, JudgmentCounts, LooksRecord, TakenLook, parse_record
from tests.helpers.look_make import growing

RECORD = CampaignRecord(
    campaign="test", protocol="da", source_lang="en", target_lang="cs", scale="0 to 100 by 1",
    systems=("A", "B", "C"), human=(), documents=15, segments=60, tasks=20, outputs=1, controls={"degraded": 4},
    assignment="pool", adaptive={"policy": "best", "floor": 0.1}, annotators=8, counts=JudgmentCounts(720, 5, 9),
    begun="2026-01-01T00:00:00+00:00", last_save="2026-01-02T00:00:00+00:00", version="0.1.0", fingerprint="abc",
    looks=LooksRecord(1000, 5, "pairs", "kim-demets", 0.05, (
        TakenLook(1, 300, 4, 0.3, 0.00135), TakenLook(2, 720, 8, 0.72, 0.0187, (("A", "B"),)),
    )),
    exclusions=(Exclusion("cleo", True, "too fast", "organiser", "2026-01-01T10:00:00+00:00"),),
)  # fmt: skip


def collected(record: CampaignRecord | None) -> Judgments:
    return replace(growing({"A": 8.0, "B": 0.0, "C": 0.0})[-1], record=record)


def test_a_record_survives_json_and_all_that_is_done_with_judgments() -> None:
    assert parse_record(RECORD.to_json()) == RECORD
    judgments = collected(RECORD)
    assert judgments.final().record == judgments.for_pair("en-cs").record == RECORD
    assert concat([judgments, judgments]).record == RECORD
    assert concat([judgments, collected(None)]).record is None
    assert judgments.fingerprint == collected(None).fingerprint
    with pytest.raises(ValueError, match="campaign"):
        parse_record("{}")


def test_the_verdict_of_a_record_is_that_of_its_looks() -> None:
    assert RECORD.looks is not None
    sentences = say_verdict_of_looks(RECORD.looks)
    assert sentences[0] == "The planned looks settled that A is better than B."
    assert all(len(sentence.split()) <= 25 for sentence in sentences)


@pytest.mark.slow
def test_the_report_says_how_it_was_collected_and_what_the_looks_settled() -> None:
    results = pair_results(quality_of(collected(RECORD)), ReportSettings())
    page = build_report({"en-cs": results}, title="test").pairs[0]
    assert page.headline == "The planned looks settled that A is better than B."
    assert page.words[0].startswith("The campaign was looked at 2 of 5 times while it grew; 0.0187 of the level 0.05")
    assert any(sentence.startswith("A test at the end would say: ") for sentence in page.words)
    (section,) = [section for section in page.sections if section.slug == "collected"]
    assert [table.title for table in section.folded] == ["How it was collected", "Looks", "Exclusions"]
    said = " ".join(section.words)
    for words in (
        "adaptive policy 'best'",
        "720 judgments by 8 people",
        "cleo (too fast)",
        "Controls in the tasks: 4 degraded",
    ):
        assert words in said
    plain = build_report({"en-cs": replace(results, record=None)}, title="test").pairs[0]
    assert all(section.slug != "collected" for section in plain.sections)
    assert not plain.headline.startswith("The planned looks")
