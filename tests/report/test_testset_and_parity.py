"""The pages of a test set and of human parity: page data, and the document they become."""

from __future__ import annotations

from pathlib import Path

from adjudge.audit.parity import ParitySettings, parity
from adjudge.report.html import render
from adjudge.report.parity_page import build_parity_page
from adjudge.report.testset_page import build_testset_page
from adjudge.testset import TestSetOptions, testset
from tests.audit.test_parity import SMALL
from tests.testset.inject import CLEAN


def test_a_test_set(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text(
        "A head\nThey met the the <b>mayor</b>.\n\nB head\nThey left.\n\nC\nIt was ofthe town.\n", encoding="utf-8"
    )
    options = TestSetOptions(language="en", after=file)
    page = build_testset_page(testset([file], options), title="a.txt")
    (only,) = page.pairs
    assert [one.title for one in only.sections] == ["What was found", "Two versions", "Document 1", "Document 3"]
    html = render(page)
    assert "&lt;b&gt;mayor" in html
    assert "<b>mayor" not in html


def test_topics_have_a_chart() -> None:
    options = TestSetOptions(language="en", reference=(CLEAN,), topics=3)
    page = build_testset_page(testset([CLEAN], options), title="clean")
    assert [chart.slug for _, chart in page.charts] == ["topics"]
    assert "No difference from the corpus" in page.pairs[0].sections[1].words[0]


def test_parity() -> None:
    found = parity(SMALL, human="ref", before=SMALL, settings=ParitySettings(resamples=50))
    page = build_parity_page({"en-ko": found}, title="Parity")
    assert page.pairs[0].headline.startswith("Not shown to be below ref")
    assert page.pairs[0].words == (
        "x: +0.0 points of parity from before to after (95% +0.0 to +0.0).",
        "y: +0.0 points of parity from before to after (95% +0.0 to +0.0).",
    )
    assert "Parity shares" in render(page)
