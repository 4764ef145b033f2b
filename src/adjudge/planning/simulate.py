"""Campaigns with known truth, drawn from parameters: relative rankings or scores. `simulate` is the main function.

    from adjudge.simulate import RankingCampaign, simulate

    simulated = simulate(RankingCampaign(systems=8, annotators=20, blocks=600), seed=1)
    simulated.judgments, simulated.truth

`recovery` compares a ranking with that truth.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adjudge.planning.simulated_rankings import RankingCampaign, simulate_rankings
from adjudge.planning.simulated_scores import ScoreCampaign, simulate_scores
from adjudge.planning.truth import Simulated, draw_texts
from adjudge.readers.post_edits import EditedDocument
from adjudge.table.rng import DEFAULT_SEED, generator
from adjudge.work.tasks import map_tasks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adjudge.table.maths import Floats


def simulate(campaign: RankingCampaign | ScoreCampaign, *, seed: int = DEFAULT_SEED) -> Simulated:
    """Draw the judgments of a campaign; the same campaign and seed give the same judgments."""
    if isinstance(campaign, ScoreCampaign):
        return simulate_scores(campaign, seed=seed)
    return simulate_rankings(campaign, seed=seed)


def simulate_many(
    campaign: RankingCampaign | ScoreCampaign, campaigns: int, *, seed: int = DEFAULT_SEED
) -> list[Simulated]:
    """Draw so many campaigns, the first with this seed, each of the others with the next one."""
    return map_tasks(lambda each: simulate(campaign, seed=each), range(seed, seed + campaigns), what="campaigns")


# Machine translations with two post-editions and systems that predict them, with known truth. All text is invented.
#
# Every document has a share of words that are wrong in themselves, and a share that is wrong only in the light of the
# whole document. A person who sees single sentences corrects the former (first post-edition), one who sees the document
# the latter (second). Systems of quality estimation sense the two shares to different degrees: as the second gains
# weight in a label made of both, those that sense it rise.

# How much each invented system senses of errors in sentences, and of errors in context.
SENSES: dict[str, tuple[float, float]] = {"sentences": (1.0, 0.0), "both": (0.7, 0.7), "context": (0.0, 1.0)}


@dataclass(frozen=True)
class SimulatedEdits:
    """The texts, what systems predict of them, and the truth behind both."""

    documents: tuple[EditedDocument, ...]
    predictions: Mapping[str, Mapping[str, float]]
    in_sentences: Floats
    """The true share of words that are wrong in themselves, by document."""
    in_context: Floats


def simulate_post_edits(
    *,
    documents: int = 60,
    segments: int = 10,
    sentence_errors: float = 0.3,
    context_errors: float = 0.04,
    noise: float = 0.5,
    senses: Mapping[str, tuple[float, float]] | None = None,
    seed: int = DEFAULT_SEED,
) -> SimulatedEdits:
    """Draw documents whose two shares of errors do not depend on each other.

    Args:
        documents: how many.
        segments: sentences of each.
        sentence_errors: mean share of words that are wrong in themselves.
        context_errors: mean share of words that are wrong only in context.
        noise: of predictions, in standard deviations of what a system senses.
        senses: of every system, how much it senses of both shares.
        seed: of everything.
    """
    rng = generator(seed)
    in_sentences = np.minimum(rng.gamma(9, sentence_errors / 9, documents), 0.9)
    in_context = np.minimum(rng.gamma(2, context_errors / 2, documents), 0.5)
    texts = draw_texts(documents * segments, rng)
    edited = tuple(
        _document(i, texts[i * segments : (i + 1) * segments], float(in_sentences[i]), float(in_context[i]), rng)
        for i in range(documents)
    )
    predicted = {
        name: predictions_from(weights, in_sentences, in_context, noise, rng)
        for name, weights in (senses or SENSES).items()
    }
    names = [copy.name for copy in edited]
    predictions = {name: dict(zip(names, map(float, values), strict=True)) for name, values in predicted.items()}
    return SimulatedEdits(edited, predictions, in_sentences, in_context)


def _document(
    number: int, right: tuple[str, ...], in_sentences: float, in_context: float, rng: np.random.Generator
) -> EditedDocument:
    """Make a document: the second edition is correct, the first has errors of context, the output all errors."""
    first = tuple(_replace_words(text, in_context, rng) for text in right)
    output = tuple(_replace_words(text, in_sentences, rng) for text in first)
    return EditedDocument(f"document-{number + 1}", output, first, right)


def _replace_words(text: str, share: float, rng: np.random.Generator) -> str:
    """Replace this share of the words by words that occur nowhere else."""
    words = text.split()
    wrong = rng.random(len(words)) < share
    return " ".join(
        f"x{rng.integers(10**9)}" if is_wrong else word for word, is_wrong in zip(words, wrong, strict=True)
    )


def predictions_from(
    weights: tuple[float, float], in_sentences: Floats, in_context: Floats, noise: float, rng: np.random.Generator
) -> Floats:
    """Predict as a system that senses the two shares of errors with these weights, on the scale of an edit rate."""
    of_sentences, of_context = weights
    sensed = of_sentences * _standardise(in_sentences) + of_context * _standardise(in_context)
    noisy = sensed + noise * rng.normal(size=len(sensed)) * max(float(sensed.std()), 1e-9)
    return np.asarray(0.3 + 0.05 * noisy)


def _standardise(values: Floats) -> Floats:
    spread = float(values.std())
    return np.asarray((values - values.mean()) / spread if spread else np.zeros(len(values)))
