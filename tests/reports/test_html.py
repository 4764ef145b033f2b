"""The document: self-contained, escaped, well-formed, readable by everybody."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from adjudge.reports.build import build_report
from adjudge.reports.drawing import DARK, LIGHT
from adjudge.reports.files import checksum, render
from tests.helpers.made import NASTY, pair_results, score_results

VOID = {"meta", "img", "br", "hr", "link", "input", "col"}


class Document(HTMLParser):
    """What the document holds: elements with their attributes, texts of scripts, and whether all tags are closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            self.scripts.append(data)
        elif self.open and self.open[-1] != "style":
            self.words.append(data)

    def attributes(self, name: str) -> list[str]:
        return [str(attrs[name]) for _, attrs in self.elements if name in attrs]

    def named(self, tag: str) -> Iterator[dict[str, str | None]]:
        return (attrs for each, attrs in self.elements if each == tag)


@pytest.fixture(scope="module")
def text() -> str:
    results = {"en-cs": pair_results(), "x/<b>de-en</b>": score_results(NASTY)}
    return render(build_report(results, title="A <i>campaign</i> & more"))


@pytest.fixture(scope="module")
def document(text: str) -> Document:
    return Document(text)


@pytest.mark.slow
def test_nothing_is_loaded_from_anywhere(document: Document) -> None:
    assert document.attributes("src") == []
    assert {tag for tag, _ in document.elements}.isdisjoint(
        {"link", "iframe", "img", "object", "embed", "base", "form"}
    )
    assert all(target.startswith("#") for target in document.attributes("href"))
    assert not re.search(r"@import|url\(", "".join(document.words))


def test_the_policy_allows_the_one_script_and_nothing_else(document: Document) -> None:
    (policy,) = (str(meta["content"]) for meta in document.named("meta") if "http-equiv" in meta)
    (script,) = document.scripts
    assert policy.startswith("default-src 'none'")
    assert re.findall(r"'(sha256-[^']+)'", policy) == [checksum(script)]
    assert "script-src 'sha256-" in policy


def test_texts_of_the_data_are_inert(text: str, document: Document) -> None:
    assert "<img src=x" not in text
    assert "<i>campaign" not in text
    assert NASTY not in text
    assert any(NASTY in words for words in document.words), "the name is shown as it is"


def test_sentences_in_cells_read_from_the_left_whatever_name_stands_first(text: str) -> None:
    cells = re.findall(r"<td([^>]*)>[^<]* is better than [^<]*<", text)
    assert cells
    assert all("unicode-bidi: isolate" in attributes for attributes in cells)


def test_every_link_leads_somewhere_and_no_id_occurs_twice(document: Document) -> None:
    ids = document.attributes("id")
    assert len(ids) == len(set(ids))
    targets = [target[1:] for target in document.attributes("href")]
    labels = document.attributes("aria-labelledby")
    assert set(targets) | {name for label in labels for name in label.split()} <= set(ids)
    assert targets


def test_every_chart_has_its_place_and_its_words(document: Document) -> None:
    page = build_report({"en-cs": pair_results(), "x/<b>de-en</b>": score_results(NASTY)}, title="")
    places = [attrs for _, attrs in document.elements if "data-chart" in attrs]
    assert [attrs["data-chart"] for attrs in places] == list(page.charts_by_id())
    drawings = list(document.named("svg"))
    assert len(drawings) == len(places)
    ids = set(document.attributes("id"))
    assert all(attrs["role"] == "img" and set(str(attrs["aria-labelledby"]).split()) <= ids for attrs in drawings)


def test_headings_step_down_one_by_one(document: Document) -> None:
    levels = [int(tag[1]) for tag, _ in document.elements if re.fullmatch(r"h\d", tag)]
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_landmarks_tables_and_language_are_there_for_screen_readers(document: Document) -> None:
    tags = [tag for tag, _ in document.elements]
    assert [tags.count(tag) for tag in ("html", "header", "nav", "main", "footer")] == [1] * 5
    assert next(document.named("html"))["lang"] == "en"
    assert tags.count("table") == tags.count("caption")
    assert all(attrs.get("scope") == "col" for attrs in document.named("th"))
    assert all(attrs.get("tabindex") == "0" for _, attrs in document.elements if attrs.get("class") == "scroll")


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_texts_stand_out_from_what_they_stand_on(palette: dict[str, str]) -> None:
    """WCAG 2.2, success criterion 1.4.3 (AA): a contrast of at least 4.5 for text, 3 for parts of charts."""

    def contrast(text: str, other: str) -> float:
        light, dark = sorted((luminance(palette[text]), luminance(palette[other])), reverse=True)
        return (light + 0.05) / (dark + 0.05)

    for ground in ("paper", "band"):
        for ink in ("ink", "muted", "accent", "human", "warn"):
            assert contrast(ink, ground) >= 4.5, (ink, ground)
    for step in range(7):
        assert contrast("ink", f"heat-{step}") >= 4.5, step
