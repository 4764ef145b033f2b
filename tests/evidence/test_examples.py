"""What went wrong: rates of marked errors with intervals, and the outputs that are shown as examples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adjudge
from adjudge.evidence.documents import Examples, find_interval
from adjudge.reports.audit_section import examples_section, mark_pieces
from adjudge.table.judgments import Judgments


def span(start: int | None, end: int | None, severity: str, **more: str | None) -> dict[str, Any]:
    return {"start": start, "end": end, "severity": severity, "category": None, "side": "target", "text": None, **more}


def examples(rows: list[dict[str, Any]]) -> Examples:
    columns = {name: [row.get(name) for row in rows] for name in {name for row in rows for name in row}}
    found = adjudge.audit(Judgments.from_columns(columns), only="examples").sections["examples"]
    assert isinstance(found, Examples)
    return found


def scored(annotator: str, segment: int, system: str, score: float, **more: Any) -> dict[str, Any]:
    names = {"annotator": annotator, "document": f"d{segment // 5}", "segment": str(segment), "system": system}
    return {"protocol": "esa", **names, "score": score, "spans": [], "target_text": f"{system} says {segment}",
            "source_text": f"source {segment}", **more}  # fmt: skip


def test_errors_are_counted_by_severity_and_category() -> None:
    """Counted by hand: A has 2 minor and 1 major error in 20 judged outputs, B none in 20."""
    rows = [scored(who, i, system, 80) for who in ("x", "y") for i in range(10) for system in "AB"]
    rows[0]["spans"] = [span(0, 1, "minor", category="Style"), span(2, 3, "minor", category="Style")]
    rows[2]["spans"] = [span(0, 1, "major", category="Accuracy")]
    found = examples(rows)
    counts = {(one.system, one.what): (one.errors, one.rate) for one in (*found.severities, *found.categories)}
    assert counts["A", "minor"] == (2, 0.1)
    assert counts["A", "major"] == (1, 0.05)
    assert counts["A", "Style"] == (2, 0.1)
    assert counts["B", "minor"] == counts["B", "Accuracy"] == (0, 0.0)
    assert all(one.low <= one.rate <= one.high for one in found.severities if one.errors)
    assert all(np.isnan(one.high) for one in found.severities if not one.errors), "no error found is not no error"


def slow_interval(values: list[float], people: list[int], texts: list[int]) -> float:
    """The variance of the mean by the double sum of its definition (Cameron and others 2011, equation 2.7)."""
    n, mean = len(values), sum(values) / len(values)
    parts = []
    for codes in (people, texts, list(zip(people, texts, strict=True))):
        clusters = len({*codes})
        pairs = [(i, j) for i in range(n) for j in range(n) if codes[i] == codes[j]]
        double = sum((values[i] - mean) * (values[j] - mean) for i, j in pairs)
        parts.append(double / n**2 * clusters / (clusters - 1))
    return max(parts[0] + parts[1] - parts[2], parts[0], parts[1])


@pytest.mark.parametrize("seed", range(5))
def test_the_interval_is_that_of_two_way_clusters(seed: int) -> None:
    rng = np.random.default_rng(seed)
    people, texts, values = rng.integers(0, 4, 40), rng.integers(0, 6, 40), rng.poisson(1.0, 40).astype(float)
    mean, low, high = find_interval(values, people, texts)
    expected = slow_interval(list(values), list(people), list(texts)) ** 0.5
    t = 3.182446305284263  # the .975 quantile of Student's t with 3 degrees of freedom, from printed tables
    assert mean == pytest.approx(values.mean())
    assert high - mean == pytest.approx(t * expected)
    assert low == pytest.approx(max(mean - t * expected, 0.0))


@pytest.mark.slow
def test_intervals_cover_the_true_rate_with_strict_people_and_hard_texts() -> None:
    """400 campaigns of 12 people and 20 documents whose rates differ; nominal 95%."""
    rng, covered = np.random.default_rng(5), 0
    people, texts = np.repeat(np.arange(12), 40), np.tile(np.repeat(np.arange(20), 2), 12)
    for _ in range(400):
        person, document = rng.gamma(4, 0.25, 12), rng.gamma(4, 0.25, 20)
        values = rng.poisson(0.8 * person[people] * document[texts]).astype(float)
        _, low, high = find_interval(values, people, texts)
        covered += low <= 0.8 <= high
    assert 0.90 <= covered / 400 <= 0.99


def test_the_worst_and_the_most_disputed_outputs_are_shown_with_their_texts() -> None:
    rows = [scored(who, i, system, 80.0 + i) for who in ("x", "y") for i in range(10) for system in "AB"]
    for row in rows:
        if (row["segment"], row["system"]) == ("3", "A"):
            row["score"] = 5.0
        if (row["segment"], row["system"], row["annotator"]) == ("7", "B", "y"):
            row["score"], row["spans"] = 10.0, [span(2, 6, "major")]
    found = examples(rows)
    first = {kind: next(one for one in found.examples if one.kind == kind) for kind in ("worst", "disputed")}
    assert (first["worst"].segment, first["worst"].outputs[0].system) == ("3", "A")
    assert first["worst"].source == "source 3"
    assert (first["disputed"].segment, first["disputed"].outputs[0].text) == ("7", "B says 7")
    assert len({(one.kind, one.document, one.segment) for one in found.examples}) == len(found.examples)
    section = examples_section(found)
    case = next(case for case in section.cases if case.title.startswith("Disputed: B"))
    assert [quote.label for quote in case.quotes] == ["B, x: 87", "B, y: 10", "A (mean of 2): 87"]
    assert case.quotes[1].pieces == (("B ", ""), ("says", "major"), (" 7", ""))
    assert section.words[-1].startswith("The examples are single outputs")


def test_examples_without_texts_and_marks_are_left_to_the_table() -> None:
    rows = [scored(who, i, system, 60.0 + i, target_text=None) for who in "xy" for i in range(10) for system in "AB"]
    rows[3]["score"] = 5.0
    found = examples(rows)
    section = examples_section(found)
    assert section.cases == ()
    assert any(table.title == "Examples" for table in section.folded)


def test_a_strict_person_disputes_nothing() -> None:
    """y gives 30 points less to everything: only segment 4, on which they differ otherwise, is disputed first."""
    rows = [scored(who, i, system, 60.0 + i - 30 * (who == "y")) for who in "xy" for i in range(10) for system in "AB"]
    next(row for row in rows if (row["annotator"], row["segment"], row["system"]) == ("y", "4", "B"))["score"] += 20
    disputed = [one for one in examples(rows).examples if one.kind == "disputed"]
    assert (disputed[0].segment, disputed[0].outputs[0].system) == ("4", "B")


def test_a_system_that_fails_on_a_few_segments_is_told_of() -> None:
    """A is 2 points better on 54 of 60 segments and 60 worse on 6: its mean is 4.2 lower (54 * 2 - 6 * 60, by 60)."""
    rows = [
        scored(who, i, system, 80.0 + (system == "A") * (-60 if i % 10 == 0 else 2))
        for who in ("x", "y") for i in range(60) for system in "AB"
    ]  # fmt: skip
    found = examples(rows)
    (pair,) = found.parted
    assert (pair.better, pair.worse, pair.segments) == ("A", "B", 60)
    assert (pair.share, pair.difference) == pytest.approx((0.9, -4.2))
    shown = [one for one in found.examples if one.kind == "parted"]
    assert {int(one.segment) % 10 for one in shown} == {0}
    assert [output.system for output in shown[0].outputs] == ["A", "B"]
    assert "A has the higher score on 90% of the segments" in " ".join(examples_section(found).words)


def test_upsets_are_what_people_prefer_against_the_ranking() -> None:
    """A beats B on 20 segments, by two people each; on segment 3 both prefer B."""
    rows = []
    for i in range(20):
        for who in ("x", "y"):
            for system in "AB":
                first = (system == "A") != (i == 3)
                rows.append({"protocol": "ranking", "annotator": who, "screen": f"{who}{i}", "segment": str(i),
                             "system": system, "rank": 1 if first else 2})  # fmt: skip
    (upset,) = examples(rows).examples
    assert upset.segment == "3"
    assert upset.words == ("B is preferred to A in 2 of 2 comparisons; overall B wins 5% of its comparisons and A 95%")


def test_marks_that_overlap_or_lie_outside_are_shown_once() -> None:
    spans = [span(4, 9, "major"), span(0, 5, "minor"), span(8, 99, "minor"), span(None, None, "major", side="missing")]
    assert mark_pieces("abcdefghijk", spans) == (("abcde", "minor"), ("fghi", "major"), ("jk", "minor"))
    assert mark_pieces("", spans) == ()
