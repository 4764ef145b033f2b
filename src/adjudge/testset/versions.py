"""Two versions of a test set: which segments changed and how, and what systems' outputs make of it.

TER between the two outputs of a system shows which segments a corrected source changed; an output that changes where
the source did not has another reason. The output before is the hypothesis, the one after the reference.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import TYPE_CHECKING

import regex

from adjudge.core.errors import InputError
from adjudge.results.testset_versions import OutputChange, SegmentChange, Versions
from adjudge.testset.document import SourceText, read_translation
from adjudge.testset.quotes.marks import ALL

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from adjudge.testset.document import Segment

FIT = "they must fit"
_PUNCTUATION = regex.compile(r"[\p{P}\p{S}]")


@dataclass(frozen=True)
class OutputFiles:
    """The output of a system for both versions."""

    name: str
    before: Path
    after: Path


def compare_versions(
    before: SourceText, after: SourceText, outputs: Sequence[OutputFiles] = (), references: Sequence[Path] = ()
) -> Versions:
    """Compare two versions of a test set and, where given, the outputs for both."""
    segments_before, segments_after = _segments(before), _segments(after)
    changes = tuple(_changes(segments_before, segments_after))
    touched = {change.line_before for change in changes}
    in_step = len(segments_before) == len(segments_after)
    lines = [translation.line for translation in segments_before]
    wanted = [read_translation(path, len(segments_before), before.path, FIT)[0] for path in references]
    return Versions(
        segments_before=len(segments_before),
        segments_after=len(segments_after),
        changes=changes,
        outputs=tuple(
            _compare_outputs(output, lines, touched, wanted, source=before.path, in_step=in_step) for output in outputs
        ),
    )


def _segments(source: SourceText) -> list[Segment]:
    return [segment for document in source.documents for segment in document.segments]


def _changes(before: list[Segment], after: list[Segment]) -> list[SegmentChange]:
    if len(before) == len(after):
        pairs: list[tuple[Segment | None, Segment | None]] = list(zip(before, after, strict=True))
    else:
        pairs = _align(before, after)
    return [
        SegmentChange(
            old.line if old else None, new.line if new else None, _kind(old, new), old.text if old else "",
            new.text if new else "",
        )
        for old, new in pairs
        if old is None or new is None or old.text.strip() != new.text.strip()
    ]  # fmt: skip


def _align(before: list[Segment], after: list[Segment]) -> list[tuple[Segment | None, Segment | None]]:
    """Pairs where segments were put in or taken out: equal ones hold the rest together, stretches go in order."""
    old, new = ([_strip_punctuation(segment.text) for segment in side] for side in (before, after))
    opcodes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [pair for _, low, high, start, end in opcodes for pair in zip_longest(before[low:high], after[start:end])]


def _strip_punctuation(text: str) -> str:
    return "".join(_PUNCTUATION.sub("", text).casefold().split())


def _kind(before: Segment | None, after: Segment | None) -> str:
    """In which way two segments differ; the smallest change that explains it."""
    if before is None or after is None:
        return "put in" if before is None else "taken out"
    old, new = before.text.strip(), after.text.strip()
    without_quotes = [text.translate({ord(mark): None for mark in ALL}) for text in (old, new)]
    if without_quotes[0] == without_quotes[1]:
        return "quotation marks"
    if "".join(old.split()) == "".join(new.split()):
        return "spacing"
    if _strip_punctuation(old) == _strip_punctuation(new):
        same_case = _PUNCTUATION.sub("", "".join(old.split())) == _PUNCTUATION.sub("", "".join(new.split()))
        return "punctuation" if same_case else "capital letters"
    return "words"


def _compare_outputs(
    files: OutputFiles,
    lines: list[int],
    touched: set[int | None],
    references: list[list[str]],
    *,
    source: Path,
    in_step: bool,
) -> OutputChange:
    if not in_step:
        raise InputError("the two versions have other numbers of segments, so outputs cannot be compared", file=source)
    before, after = (read_translation(path, len(lines), source, FIT)[0] for path in (files.before, files.after))
    changed = [old != new for old, new in zip(before, after, strict=True)]
    where = [hit for line, hit in zip(lines, changed, strict=True) if line in touched]
    elsewhere = [hit for line, hit in zip(lines, changed, strict=True) if line not in touched]
    return OutputChange(
        system=files.name,
        segments=len(lines),
        changed=sum(changed),
        ter=segment_ter(before, after),
        share_where_source_changed=sum(where) / len(where) if where else None,
        share_where_not=sum(elsewhere) / len(elsewhere) if elsewhere else None,
        metrics=_metrics(before, after, references),
    )


def segment_ter(hypotheses: Sequence[str], references: Sequence[str]) -> tuple[float, ...]:
    """TER of every segment as a share, by sacrebleu with its default settings."""
    from sacrebleu.metrics.ter import TER

    ter = TER()
    pairs = zip(hypotheses, references, strict=True)
    return tuple(float(ter.sentence_score(hypothesis, [reference]).score) / 100 for hypothesis, reference in pairs)


def _metrics(before: list[str], after: list[str], references: list[list[str]]) -> dict[str, tuple[float, float]]:
    """BLEU, chrF and TER of both outputs; the one reference serves both, or each version has its own."""
    if not references:
        return {}
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF
    from sacrebleu.metrics.ter import TER

    both = ((before, references[0]), (after, references[-1]))
    scores: dict[str, tuple[float, float]] = {}
    for name, metric in (("BLEU", BLEU()), ("chrF", CHRF()), ("TER", TER())):
        old, new = (float(metric.corpus_score(texts, [wanted]).score) for texts, wanted in both)
        scores[name] = (old, new)
    return scores
