"""Gold standards, and what they say about metrics and quality estimation; `meta` is the main function.

`meta` evaluates metrics against human scores, `gold` makes a human score for every document or segment, and `qe` labels
documents from post-edits and evaluates quality estimation against the labels.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from adjudge.core.judgments import Judgments
from adjudge.core.rng import DEFAULT_SEED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from adjudge.results.meta import MetaEvaluation

__all__ = ["meta"]

PERMUTATIONS = 1000
RESAMPLES = 500


def meta(
    gold: Judgments | Path | str,
    scores: Sequence[Path | str] = (),
    *,
    gold_column: str | None = None,
    gold_method: str | None = None,
    lower_is_better: Sequence[str] = (),
    references: Sequence[Path | str] = (),
    outputs: Mapping[str, Path | str] | None = None,
    tokenize: str = "13a",
    permutations: int = PERMUTATIONS,
    resamples: int = RESAMPLES,
    seed: int = DEFAULT_SEED,
) -> MetaEvaluation:
    """Evaluate metrics against human scores, and compare every two of them.

    Args:
        gold: judgments of one language pair (scores, rankings or pairs), or a file with a column of human scores.
        scores: files or folders of metric scores; the file of human scores may be among them.
        gold_column: the column of human scores, where its name does not say so.
        gold_method: ranking method that turns rankings and pairs into system scores; default: Bradley-Terry.
        lower_is_better: metrics, or the human column, that count errors; they are multiplied by -1.
        references: reference texts, with which BLEU, chrF and TER of `outputs` are computed.
        outputs: the file of every system's output.
        tokenize: sacrebleu's tokenizer for BLEU.
        permutations: of every permutation test.
        resamples: of segments, for intervals.
        seed: of permutations and resamples.

    Returns:
        Every metric at every level that the scores allow, and every two metrics compared.
    """
    from adjudge.meta.evaluate import evaluate
    from adjudge.meta.inputs import check_counts, read_inputs
    from adjudge.meta.segment_tau import add_relative_levels

    check_counts(permutations, resamples)
    inputs = read_inputs(
        gold,
        scores,
        gold_column=gold_column,
        gold_method=gold_method,
        seed=seed,
        lower_is_better=lower_is_better,
        references=references,
        outputs=outputs or {},
        tokenize=tokenize,
    )
    result = evaluate(
        inputs.scores,
        permutations=permutations,
        resamples=resamples,
        seed=seed,
        data=inputs.fingerprint,
        set_aside=inputs.set_aside,
        perturbations=inputs.perturbations,
        made_with=inputs.made_with,
        notes=inputs.notes,
    )
    if inputs.ranking is None or not isinstance(gold, Judgments):
        return result
    return add_relative_levels(
        replace(result, settings={**result.settings, "gold_method": inputs.ranking.method}),
        gold,
        inputs.ranking,
        inputs.metrics,
        permutations=permutations,
        resamples=resamples,
        seed=seed,
    )
