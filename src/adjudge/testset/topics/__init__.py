"""Topical contaminants: does a test set have the mix of topics of a reference corpus? `compare_topics` is the function.

Documents are points in a space of word use (TF-IDF, reduced by latent semantic analysis), test set and corpus together;
or in the space of a sentence model, where the user has one and asks for it.
The two clouds are compared by their energy distance, with a permutation test over documents. Groups of documents are
made for people to look at; no test is made on them, because where their borders run depends on the seed.

G. Székely and M. Rizzo (2004): Testing for equal distributions in high dimension.
S. Deerwester and others (1990): Indexing by latent semantic analysis.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.errors import DataError, UsageError
from adjudge.core.rng import generator
from adjudge.core.wording import counted
from adjudge.results.testset import DocumentTopic, NearPair, Topic, Topics
from adjudge.testset.topics.document_space import Space, energy_test, group, make_space
from adjudge.testset.topics.embeddings import WORDS, embed, load

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.core.arrays import Bools, Ints
    from adjudge.testset.document import Document

FEWEST_DOCUMENTS = 5
MOST_REFERENCE = 3000
PERMUTATIONS = 2000
NEAR = 0.5
MOST_PAIRS = 20
TERMS = 6


def compare_topics(
    test: Sequence[Document],
    reference: Sequence[Document],
    *,
    topics: int,
    labels: Sequence[str],
    seed: int,
    embeddings: str = WORDS,
) -> Topics:
    """Compare the documents of a test set with those of a corpus."""
    if min(len(test), len(reference)) < FEWEST_DOCUMENTS:
        counts = f"{counted(len(test), 'document')} in the test set and {len(reference)} in the corpus"
        raise DataError(f"topics need {FEWEST_DOCUMENTS} documents or more on both sides, not {counts}")
    if labels and len(labels) != topics:
        names = f"{counted(len(labels), 'name')} for {counted(topics, 'topic')}"
        raise UsageError(f"--labels has {names}; give one for each, or change --topics")
    reference = _sample(reference, seed)
    space = make_space([" ".join(document.texts) for document in (*test, *reference)], seed)
    if embeddings != WORDS:
        encoder = load(embeddings)
        embeddings, space = encoder.name, replace(space, points=embed([*test, *reference], encoder))
    is_test = np.arange(len(test) + len(reference)) < len(test)
    member, named = _name_topics(space, is_test, topics, labels, seed)
    distance, p = energy_test(space.points, is_test, permutations=PERMUTATIONS, seed=seed)
    return Topics(
        documents_test=len(test),
        documents_reference=len(reference),
        energy_distance=distance,
        p=p,
        permutations=PERMUTATIONS,
        embeddings=embeddings,
        topics=tuple(named.values()),
        near_pairs=_near_pairs(space, test),
        by_document=tuple(
            DocumentTopic(document.name, named[topic].label)
            for document, topic in zip(test, member[: len(test)].tolist(), strict=True)
        ),
    )


def _sample(documents: Sequence[Document], seed: int) -> Sequence[Document]:
    """A large corpus is sampled: more documents than this tell no more."""
    if len(documents) <= MOST_REFERENCE:
        return documents
    chosen = generator(seed, 71).choice(len(documents), MOST_REFERENCE, replace=False)
    return [documents[i] for i in np.sort(chosen)]


def _name_topics(
    space: Space, is_test: Bools, number: int, labels: Sequence[str], seed: int
) -> tuple[Ints, dict[int, Topic]]:
    """The group of every document, and the groups by number, the largest first."""
    member = group(space.points, min(number, len(space.points)), seed)
    order = sorted(set(member.tolist()), key=lambda topic: -int((member == topic).sum()))
    topics: dict[int, Topic] = {}
    for index, topic in enumerate(order):
        terms = space.terms_of(member == topic, TERMS)
        label = labels[index] if index < len(labels) else " / ".join(terms[:2])
        shares = (float((member[side] == topic).mean()) for side in (is_test, ~is_test))
        topics[topic] = Topic(label, terms, *shares)
    return member, topics


def _near_pairs(space: Space, test: Sequence[Document]) -> tuple[NearPair, ...]:
    test_weights = space.weights[: len(test)]
    alike = np.asarray((test_weights @ test_weights.T).todense())
    first, second = np.nonzero(np.triu(alike >= NEAR, k=1))
    order = np.argsort(-alike[first, second], kind="stable")[:MOST_PAIRS]
    return tuple(
        NearPair(test[i].name, test[j].name, float(alike[i, j]), test[i].texts[0][:80], test[j].texts[0][:80])
        for i, j in zip(first[order], second[order], strict=True)
    )
