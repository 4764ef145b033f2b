"""BLEU, chrF and TER of outputs against references, through sacrebleu: every segment, and every whole test set.

The score of a whole test set is sacrebleu's own (of summed counts), not the mean of its segments. Sentence BLEU is of
effective order. TER counts errors, so it is turned round: higher is better for all three.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adjudge.core.edit_rates import signature_text
from adjudge.core.errors import InputError, UsageError
from adjudge.core.wording import counted
from adjudge.formats.metric_score_files import MetricScore
from adjudge.formats.texts import aligned
from adjudge.formats.texts.columns import read_column

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from adjudge.formats.texts import Column

TURNED = "TER counts errors, so its sign is reversed (multiplied by -1) and higher is better"
DEFAULT_TOKENIZER = "13a"


@dataclass(frozen=True)
class Texts:
    """References (one or several) and the output of every system, all with the same segments."""

    segments: tuple[str, ...]
    documents: tuple[str | None, ...]
    references: tuple[tuple[str, ...], ...]
    outputs: Mapping[str, tuple[str, ...]]


def read_texts(references: Sequence[Path], outputs: Mapping[str, Path]) -> Texts:
    """Read and align the files: plain text (line n is segment n), TSV, WMT XML or SGM."""
    first = read_column(references[0], names=("reference", "ref", "refA"))
    others = [_align(first, read_column(path, names=("reference", "ref", "refA"))) for path in references[1:]]
    texts = {
        name: _align(first, read_column(path, names=(name, "mt", "output", "system", "translation")))
        for name, path in outputs.items()
    }
    segments = first.segments or tuple(str(i) for i in range(1, len(first.texts) + 1))
    if len(set(segments)) < len(segments):
        # Numbers that restart in every document do not identify a segment; line numbers do.
        segments = tuple(str(i) for i in range(1, len(segments) + 1))
    documents: tuple[str | None, ...] = first.documents or (None,) * len(segments)
    return Texts(segments, documents, (first.texts, *others), texts)


def _align(reference: Column, other: Column) -> tuple[str, ...]:
    texts = aligned(reference, other)
    if texts is None:
        held = counted(len(other.texts), "segment")
        what = f"has {held} where the reference {reference.path} has {len(reference.texts)}"
        raise InputError(f"{what}; one line per segment is needed", file=other.path)
    return texts


def text_metrics(texts: Texts, *, tokenize: str = DEFAULT_TOKENIZER) -> tuple[list[MetricScore], dict[str, str]]:
    """All scores, and how sacrebleu made each metric (its signature)."""
    metrics = _metrics(tokenize)
    references = [list(reference) for reference in texts.references]
    scores: list[MetricScore] = []
    for system, output in texts.outputs.items():
        for name, (of_segments, of_all) in metrics.items():
            sentences = [
                of_segments.sentence_score(line, [reference[i] for reference in references])
                for i, line in enumerate(output)
            ]
            sign = -1.0 if name == "TER" else 1.0
            whole = _ter(sentences) if name == "TER" else of_all.corpus_score(list(output), references).score
            scores.append(MetricScore(name, system, None, None, sign * whole))
            scores += [
                MetricScore(name, system, segment, document, sign * float(sentence.score))
                for segment, document, sentence in zip(texts.segments, texts.documents, sentences, strict=True)
            ]
    return scores, {name: signature_text(whole) for name, (_, whole) in metrics.items()}


def _ter(sentences: Sequence[Any]) -> float:
    """Compute sacrebleu's TER of the whole from its segments: all edits by all reference words."""
    words = sum(sentence.ref_length for sentence in sentences)
    edits = sum(sentence.num_edits for sentence in sentences)
    return 100 * float(edits / words) if words else 100.0 * (edits > 0)


def _metrics(tokenize: str) -> dict[str, tuple[Any, Any]]:
    """By name: the metric for segments, and for the whole."""
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF
    from sacrebleu.metrics.ter import TER

    if tokenize not in BLEU.TOKENIZERS:
        raise UsageError(f"unknown tokenizer '{tokenize}': choose one of {', '.join(BLEU.TOKENIZERS)}")
    try:
        bleu = BLEU(tokenize=tokenize, effective_order=True), BLEU(tokenize=tokenize)
    except (ImportError, RuntimeError) as fault:
        raise UsageError(f"the tokenizer '{tokenize}' is not installed ({fault}); choose another") from fault
    return {"BLEU": bleu, "chrF": (CHRF(), CHRF()), "TER": (ter := TER(), ter)}
