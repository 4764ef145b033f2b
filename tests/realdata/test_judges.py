"""Metrics as machine judges of WMT23 English-German, beside four panels of people who judged the same outputs.

The panels are those of MQM and of DA+SQM (mean scores of the shared task), and two of error span annotation (ESA study
2024; in the second, annotators corrected the errors that GEMBA-MQM had marked). Each stands for one person here: who
judged what is not in all of these files.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, cast

import polars as pl
import pytest

import adjudge

if TYPE_CHECKING:
    from pathlib import Path

    from adjudge.judges.alternative import JudgeReport, Judges

GOOD = (
    "BLEURT-20-refA",
    "COMET-refA",
    "CometKiwi-XXL-src",
    "GEMBA-MQM-src",
    "MetricX-23-b-refA",
    "XCOMET-Ensemble-refA",
)


def panels(data: Path) -> pl.DataFrame:
    """One row per panel and output; segments are numbered as the lines of the test set."""
    documents = [line.split()[1] for line in (data / "wmt23/documents/en-de.docs").read_text().splitlines()]
    first = {name: documents.index(name) + 1 for name in documents}
    rows: list[tuple[str, str, str, str, float]] = []
    for name in ("mqm", "da-sqm"):
        line: Counter[str] = Counter()
        for text in (data / f"wmt23/human-scores/en-de.{name}.seg.score").read_text().splitlines():
            system, score = text.split()
            line[system] += 1
            if score != "None":
                rows.append((name, system, str(line[system]), documents[line[system] - 1], float(score)))
    for name, file in (("esa", "240520rc6ESA.scores.csv"), ("esa-ai", "240520rc6GEMBA.scores.csv")):
        table = adjudge.read(data / "esa-study" / file, format="appraise").final().table
        scored = table.filter((pl.col("kind") == "system") & pl.col("score").is_not_null())
        for system, document, segment, score in scored.select("system", "document", "segment", "score").iter_rows():
            number = str(first[document] + int(segment) - 1)
            rows.append((name, system.removeprefix("wmt23."), number, document, score))
    schema = ["annotator", "system", "segment", "document", "score"]
    return pl.DataFrame(rows, schema=schema, orient="row").with_columns(protocol=pl.lit("mqm"))


@pytest.fixture(scope="module")
def reports(data: Path) -> dict[str, JudgeReport]:
    metrics = data / "wmt23/metric-scores/en-de"
    families = {"GEMBA-MQM-src": "GPT"}
    made = adjudge.audit(panels(data), only="judges", judge_scores=metrics, judge_families=families)
    section = cast("Judges", made.sections["judges"])
    assert section.clusters == "document"
    return {report.judge: report for report in section.judges}


@pytest.mark.parametrize("name", GOOD)
def test_learned_metrics_stand_up_to_the_panels(name: str, reports: dict[str, JudgeReport]) -> None:
    assert (reports[name].outcome, reports[name].winning_rate) == ("passed", 1.0)


@pytest.mark.parametrize("name", ["BLEU-refA", "Random-sysname-src"])
def test_counting_words_and_random_scores_do_not(name: str, reports: dict[str, JudgeReport]) -> None:
    assert reports[name].outcome == "failed"
    assert reports[name].winning_rate == 0


def test_items_and_documents_are_those_of_the_files(reports: dict[str, JudgeReport]) -> None:
    people = {test.annotator: test for test in reports["GEMBA-MQM-src"].people}
    assert (people["esa"].items, people["esa"].clusters) == (2691, 71)
    assert (people["mqm"].items, people["da-sqm"].items) == (5980, 6435)


def test_gemba_rates_the_output_of_its_own_model_higher_than_people_do(reports: dict[str, JudgeReport]) -> None:
    (family,) = (bias for bias in reports["GEMBA-MQM-src"].biases if bias.name == "own family")
    assert family.estimate > 0
    assert family.p is not None
    assert family.p < 0.05
