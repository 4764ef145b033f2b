"""Sizes of a test set: counted by hand on made-up texts, and on the released source texts of the parity study."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from adjudge.table.errors import MissingExtraError, UsageError
from adjudge.testsets.check import TestSetOptions, testset
from adjudge.testsets.documents import Document, Segment
from adjudge.testsets.findings import count_sentences, text_statistics


def document(name: str, *texts: str) -> Document:
    return Document("f", name, tuple(Segment(line, text) for line, text in enumerate(texts, 1)))


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("The storm passed.", 1),
        ("The storm passed. Nobody was hurt.", 2),
        ('"Is it over?" she asked. "Yes!" They laughed.', 3),
        ("Mr. Smith met J. Brown at 3.30 p.m. in Paris.", 1),
        ("No mark at all", 1),
        ("彼は来た。私は帰った。", 2),
        ("वह आया। मैं गया।", 2),
        ("...", 1),
    ],
)
def test_sentences_are_counted_by_their_marks(text: str, sentences: int) -> None:
    assert count_sentences(text) == sentences


def test_words_are_counted_in_lower_case_without_punctuation() -> None:
    counted = text_statistics(
        [document("a", "The storm, the rain.", "It rained."), document("b", "A storm!")], language="en", tokenize=None
    )
    assert (counted.documents, counted.segments, counted.sentences) == (2, 3, 3)
    assert (counted.words, counted.distinct_words) == (8, 6)
    assert [(length.document, length.segments, length.words) for length in counted.by_document] == [
        ("a", 2, 6),
        ("b", 1, 2),
    ]
    assert counted.sentences_per_segment == pytest.approx(1)


def test_scripts_without_blanks_are_counted_by_characters() -> None:
    counted = text_statistics([document("a", "天気が天気だ。")], language="ja", tokenize=None)
    assert counted.tokenize == "char"
    assert (counted.words, counted.distinct_words) == (6, 4)


def test_an_unknown_tokeniser_is_refused() -> None:
    with pytest.raises(UsageError, match="tokeniser"):
        text_statistics([document("a", "x")], language="en", tokenize="nonsense")


def test_the_released_sources_of_the_parity_study(data: Path) -> None:
    """The released sources are 437 sentences, twice, one per line: nearly each counts as one sentence.

    Their Table 1 describes the whole test set in paragraphs, which was not released with the study.
    """
    counted = testset([data / "suboptimal" / "bts" / "src.txt"], TestSetOptions()).statistics
    assert counted.segments == 2 * 437
    assert 2 * 437 <= counted.sentences <= 1.02 * 2 * 437


@pytest.mark.parametrize(
    ("tokenize", "extra", "package"), [("ko-mecab", "korean", "mecab_ko"), ("ja-mecab", "japanese", "MeCab")]
)
def test_a_tokenizer_without_its_packages_names_the_extra(tokenize: str, extra: str, package: str) -> None:
    if find_spec(package):
        pytest.skip(f"{package} is installed")
    with pytest.raises(MissingExtraError, match=rf"pip install 'adjudge\[{extra}\]'"):
        text_statistics([], language="ko", tokenize=tokenize)
