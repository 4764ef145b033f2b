"""The pages of a test set and of human parity: page data, and the document they become."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from adjudge.evidence.parity import ParitySettings, parity
from adjudge.evidence.parity_results import Contrast, SystemParity
from adjudge.reports.files import render
from adjudge.reports.page import PairPage
from adjudge.reports.parity_page import build_parity_page
from adjudge.reports.testset_page import build_testset_page
from adjudge.testsets.check import TestSetOptions, testset
from tests.evidence.test_parity import SMALL
from tests.helpers.inject import CLEAN


def test_a_test_set(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text(
        "A head\nThey met the the <b>mayor</b>.\n\nB head\nThey left.\n\nC\nIt was ofthe town.\n", encoding="utf-8"
    )
    options = TestSetOptions(language="en", after=file)
    page = build_testset_page(testset([file], options), title="a.txt")
    (only,) = page.pairs
    assert [section.title for section in only.sections] == [
        "What was found",
        "Size",
        "Two versions",
        "Document 1",
        "Document 3",
    ]
    html = render(page)
    assert "&lt;b&gt;mayor" in html
    assert "<b>mayor" not in html


def test_topics_have_a_chart() -> None:
    options = TestSetOptions(language="en", reference=(CLEAN,), topics=3)
    page = build_testset_page(testset([CLEAN], options), title="clean")
    assert [chart.slug for _, chart in page.charts] == ["topics"]
    assert "No difference from the corpus" in page.pairs[0].sections[2].words[0]


def test_parity() -> None:
    comparison = parity(SMALL, human="ref", before=SMALL, settings=ParitySettings(resamples=50))
    page = build_parity_page({"en-ko": comparison}, title="Parity")
    assert page.pairs[0].headline == ("The data cannot tell x and y from ref, which is no proof of parity.")
    assert page.pairs[0].words == (
        "x: +0.0 points of parity from before to after (95% +0.0 to +0.0, by resampling 2 documents).",
        "y: +0.0 points of parity from before to after (95% +0.0 to +0.0, by resampling 2 documents).",
    )
    assert "Parity shares" in render(page)


def test_every_verdict_has_its_sentence() -> None:
    comparison = parity(SMALL, human="ref", settings=ParitySettings(resamples=50))
    assert comparison.conditions is not None
    comparison = replace(comparison, annotators=12, conditions=replace(comparison.conditions, people=12))
    near = Contrast(0.1, 0.2, (-0.3, 0.5), 0.6, margin=2.0, p_equivalence=0.001)
    x, y = comparison.systems

    def page_of(*systems: SystemParity) -> PairPage:
        changed = replace(comparison, parts=(replace(comparison.parts[0], systems=systems),))
        return build_parity_page({"en-ko": changed}, title="Parity").pairs[0]

    below = replace(x, p_holm=0.001, p_people=0.01, lead_interval=(-0.9, -0.5))
    level = replace(y, contrast=near)
    assert page_of(below).headline == "x is below ref."
    assert page_of(below, replace(below, system="z")).headline == "All systems are below ref."
    assert replace(below, p_people=0.2).verdict == "not told apart"
    assert replace(below, p_holm=0.2).verdict == "not told apart"
    mixed = page_of(below, level)
    assert mixed.headline == "y is at parity with ref: less than 2 points apart, as 12 people judged."
    assert mixed.words == (
        "x is below ref.",
        "A ranking leaves x open: it corrects for 3 pairs.",
        "Judged by 12 people.",
        (
            "Not known: experts or crowd; source or reference beside it; in context or not; "
            "the original language; faults of the test set."
        ),
        "There is one human translation: another translator may do better or worse.",
    )
    assert page_of(replace(x, p_holm=0.001, p_people=0.01, lead_interval=(0.5, 0.9)), y).headline == (
        "x is above ref, as 12 people judged."
    )
