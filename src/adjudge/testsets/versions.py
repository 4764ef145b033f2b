"""Two versions of a test set: which segments changed and how, and what systems' outputs make of it.

TER between the two outputs of a system shows which segments a corrected source changed; an output that changes where
the source did not has another reason. The output before is the hypothesis, the one after the reference.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import TYPE_CHECKING

import regex

from adjudge.table.errors import InputError
from adjudge.table.results import Cell, Table, number, percent, text
from adjudge.table.wording import counted
from adjudge.testsets.documents import Segment, SourceText, read_translation
from adjudge.testsets.quotes import ALL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from sacrebleu.metrics.base import Metric, Score


# What changed between two versions of a test set, and what systems made of it.


@dataclass(frozen=True)
class SegmentChange:
    """A segment that differs; a line is None where the segment is in one version only."""

    line_before: int | None
    line_after: int | None
    kind: str
    before: str
    after: str


@dataclass(frozen=True)
class OutputChange:
    """A system's output for both versions. TER: the output before as hypothesis, that after as reference."""

    system: str
    segments: int
    changed: int
    ter: tuple[float, ...]
    """Of every segment, as a share: 0.5 is one edit for every two words."""
    share_where_source_changed: float | None
    """Of segments with a changed source: the share whose output changed."""
    share_where_not: float | None
    """Of segments with an untouched source: the share whose output changed all the same, so for another reason."""
    metrics: Mapping[str, tuple[float, float]]
    """BLEU, chrF and TER against the reference translation, before and after, where there is one."""
    margins: Mapping[str, tuple[float, float]]
    """Half-widths of their 95% intervals, by resampling segments, as sacreBLEU computes them."""

    @property
    def mean_ter(self) -> float:
        """Mean over segments."""
        return sum(self.ter) / len(self.ter) if self.ter else 0.0


@dataclass(frozen=True)
class Versions:
    """All changed segments, and the outputs."""

    segments_before: int
    segments_after: int
    changes: tuple[SegmentChange, ...]
    outputs: tuple[OutputChange, ...]

    @property
    def kinds(self) -> dict[str, int]:
        """How many segments changed in which way."""
        return dict(Counter(change.kind for change in self.changes).most_common())

    def tables(self) -> tuple[Table, ...]:
        """Kinds of change, every change, and the outputs."""
        kinds = Table(
            "What changed",
            (text("kind"), number("segments", 0)),
            (*self.kinds.items(), ("all", len(self.changes))),
            f"{counted(self.segments_before, 'segment')} before, {self.segments_after:,} after.",
        )
        rows = tuple((_lines(change), change.kind, change.before, change.after) for change in self.changes)
        diff = Table("Changed segments", (text("line"), text("kind"), text("before"), text("after")), rows)
        return (kinds, diff, *([self._outputs()] if self.outputs else []))

    def _outputs(self) -> Table:
        names = list(dict.fromkeys(name for output in self.outputs for name in output.metrics))
        rows: list[tuple[Cell, ...]] = []
        for output in self.outputs:
            metrics: list[Cell] = []
            for name in names:
                metrics += (*output.metrics.get(name, (None, None)), *output.margins.get(name, (None, None)))
            shares = (output.share_where_source_changed, output.share_where_not)
            highest = max(output.ter, default=0.0)
            rows.append((output.system, output.changed, output.mean_ter, highest, *shares, *metrics))
        columns = (
            text("system"),
            number("changed", 0, help="segments whose output differs"),
            number("mean TER", 3),
            number("highest", 3),
            percent("where the source changed"),
            percent("where it did not"),
            *(number(f"{name} {what}", 2) for name in names for what in ("before", "after", "± before", "± after")),
        )
        note = "TER between the two outputs: before as hypothesis, after as reference."
        if names:
            note += f" ± is half of a 95% interval of {', '.join(names)}, from {RESAMPLES:,} resamples of the segments."
        return Table("Outputs for both versions", columns, tuple(rows), note)


def _lines(change: SegmentChange) -> str:
    before, after = (str(line) if line is not None else "–" for line in (change.line_before, change.line_after))
    return before if before == after else f"{before} → {after}"


FIT = "they must fit"
RESAMPLES = 1000
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
    segments_before, segments_after = (
        [segment for document in version.documents for segment in document.segments] for version in (before, after)
    )
    changes = tuple(_changes(segments_before, segments_after))
    touched = {change.line_before for change in changes}
    in_step = len(segments_before) == len(segments_after)
    lines = [segment.line for segment in segments_before]
    wanted = [read_translation(path, len(segments_before), before.path, FIT)[0] for path in references]
    return Versions(
        segments_before=len(segments_before),
        segments_after=len(segments_after),
        changes=changes,
        outputs=tuple(
            _compare_outputs(output, lines, touched, wanted, source=before.path, in_step=in_step) for output in outputs
        ),
    )


def _changes(before: list[Segment], after: list[Segment]) -> list[SegmentChange]:
    in_step = len(before) == len(after)
    changes = []
    for old, new in zip(before, after, strict=True) if in_step else _align(before, after):
        if old is None or new is None or old.text.strip() != new.text.strip():
            lines = (old.line if old else None, new.line if new else None)
            changes.append(SegmentChange(*lines, _kind(old, new), old.text if old else "", new.text if new else ""))
    return changes


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
    metrics, margins = _metrics(before, after, references)
    return OutputChange(
        system=files.name,
        segments=len(lines),
        changed=sum(changed),
        ter=segment_ter(before, after),
        share_where_source_changed=sum(where) / len(where) if where else None,
        share_where_not=sum(elsewhere) / len(elsewhere) if elsewhere else None,
        metrics=metrics,
        margins=margins,
    )


def segment_ter(hypotheses: Sequence[str], references: Sequence[str]) -> tuple[float, ...]:
    """TER of every segment as a share, by sacrebleu with its default settings."""
    from sacrebleu.metrics.ter import TER

    ter = TER()
    pairs = zip(hypotheses, references, strict=True)
    return tuple(float(ter.sentence_score(hypothesis, [reference]).score) / 100 for hypothesis, reference in pairs)


_Pairs = dict[str, tuple[float, float]]


def _metrics(before: list[str], after: list[str], references: list[list[str]]) -> tuple[_Pairs, _Pairs]:
    """BLEU, chrF and TER of both outputs, and half-widths; the one reference serves both, or each version has its own.

    Both versions are resampled with the same seed, which is sacreBLEU's own.
    """
    if not references:
        return {}, {}
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF
    from sacrebleu.metrics.ter import TER

    both = ((before, references[0]), (after, references[-1]))
    scores: _Pairs = {}
    margins: _Pairs = {}
    metrics: dict[str, Metric] = {"BLEU": BLEU(), "chrF": CHRF(), "TER": TER()}
    for name, metric in metrics.items():
        old, new = (metric.corpus_score(texts, [wanted], n_bootstrap=RESAMPLES) for texts, wanted in both)
        scores[name] = (float(old.score), float(new.score))
        margins[name] = (_half_width(old, metric), _half_width(new, metric))
    return scores, margins


def _half_width(score: Score, metric: Metric) -> float:
    """Half of the interval, which sacreBLEU gives in its JSON only."""
    return float(
        json.loads(score.format(width=6, is_json=True, signature=metric.get_signature().format())).get(
            "confidence_var", 0.0
        )
    )
