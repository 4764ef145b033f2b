"""Topics: the energy distance, its test, and documents on the same event."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from adjudge.table.errors import DataError, UsageError
from adjudge.testsets.documents import Document, Segment
from adjudge.testsets.topics import compare_topics, energy_test, make_space

SUBJECTS = {
    "sport": ["match", "goal", "team", "player", "coach", "league", "season", "striker", "keeper", "stadium"],
    "money": ["bank", "shares", "market", "profit", "investor", "rates", "loan", "bonds", "broker", "earnings"],
    "weather": ["storm", "rain", "wind", "flood", "forecast", "snow", "degrees", "clouds", "thunder", "gale"],
}


def documents(mix: dict[str, int], seed: int) -> list[Document]:
    random = np.random.default_rng(seed)
    made = []
    for subject, number in mix.items():
        for i in range(number):
            words = " ".join(random.choice(SUBJECTS[subject], 30))
            made.append(Document("f", f"{subject} {i}", (Segment(1, f"{words} word{seed}{subject}{i}"),)))
    return made


def compared(test: dict[str, int], corpus: dict[str, int], seed: int = 1) -> float:
    return compare_topics(documents(test, seed), documents(corpus, seed + 100), topics=3, labels=(), seed=1).p


EVEN = {"sport": 12, "money": 12, "weather": 12}


def test_another_mix_is_found_and_the_same_mix_is_not() -> None:
    assert compared({"sport": 30, "money": 3, "weather": 3}, EVEN) < 0.01
    assert compared(EVEN, EVEN) > 0.05


def test_a_document_without_a_word_of_the_space_lies_at_the_origin() -> None:
    """Half of the texts share one subject, whose words are too common to tell anything: they have no direction."""
    texts = [*["storm rain wind"] * 6, *["bank loan rates"] * 2, *["goal team coach"] * 2]
    points = make_space(texts, seed=1).points
    lengths = np.linalg.norm(points, axis=1)
    assert (points[:6] == 0).all()
    assert lengths[6:] == pytest.approx(1)


def test_false_alarms_are_as_rare_as_promised() -> None:
    """Sixty random splits of one cloud: about one in twenty below .05."""
    random = np.random.default_rng(7)
    points = random.standard_normal((40, 5))
    alarms = [
        energy_test(points, random.permutation(np.arange(40) < 15), permutations=199, seed=i)[1] <= 0.05
        for i in range(60)
    ]
    assert sum(alarms) <= 7


def test_energy_distance_is_its_definition() -> None:
    random = np.random.default_rng(3)
    points, first = random.standard_normal((12, 3)), np.arange(12) < 5
    x, y = points[first], points[~first]

    def mean(a: np.ndarray, b: np.ndarray) -> float:
        return float(np.mean([np.linalg.norm(p - q) for p in a for q in b]))

    distance, _ = energy_test(points, first, permutations=9, seed=1)
    assert distance == pytest.approx(2 * mean(x, y) - mean(x, x) - mean(y, y))


def test_topics_carry_shares_words_and_labels() -> None:
    comparison = compare_topics(documents(EVEN, 1), documents(EVEN, 2), topics=3, labels=("A", "B", "C"), seed=1)
    assert [topic.label for topic in comparison.topics] == ["A", "B", "C"]
    assert sum(topic.share_test for topic in comparison.topics) == pytest.approx(1)
    assert any(set(topic.terms) <= set(SUBJECTS["sport"]) for topic in comparison.topics)
    counted = Counter(own.topic for own in comparison.by_document)
    for topic in comparison.topics:
        assert counted[topic.label] / comparison.documents_test == pytest.approx(topic.share_test)


def test_documents_on_the_same_event() -> None:
    made = documents(EVEN, 1)
    twin = Document("f", "twin", made[0].segments)
    pairs = compare_topics([*made, twin], documents(EVEN, 2), topics=3, labels=(), seed=1).near_pairs
    assert (pairs[0].first, pairs[0].second) == (made[0].name, "twin")
    assert pairs[0].similarity == pytest.approx(1)


def test_faults() -> None:
    with pytest.raises(DataError, match="5 documents or more"):
        compare_topics(documents({"sport": 2}, 1), documents(EVEN, 2), topics=3, labels=(), seed=1)
    with pytest.raises(UsageError, match="2 names for 3 topics"):
        compare_topics(documents(EVEN, 1), documents(EVEN, 2), topics=3, labels=("a", "b"), seed=1)
