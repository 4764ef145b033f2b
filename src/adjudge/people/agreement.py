"""Agreement: how often annotators say the same about the same thing, twice by themselves and against each other.

Rankings and pairwise judgments are compared as preferences (better, tie, worse) for a pair of systems on a segment;
scores as numbers for one system's output. docs/agree.md defines every coefficient.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from adjudge.people.coefficients import ANY_LANGUAGE, RESAMPLES, AgreeOptions, measure_simple, texts_by_language
from adjudge.people.results import Agreement, LengthAgreement, Number
from adjudge.table.errors import DataError, InputError, UsageError
from adjudge.table.files import read_text
from adjudge.table.languages import language_code
from adjudge.table.protocols import RELATIVE
from adjudge.table.rng import DEFAULT_SEED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import polars as pl

    from adjudge.people.coefficients import Annotations, LengthUnit
    from adjudge.table.judgments import Judgments
    from adjudge.table.maths import Ints


# Agreement by length of the source text, and the source texts themselves: plain files, line n being segment n.
#
# Lengths n and n + 1 are pooled at n, as in Figure 2 of Bojar et al. 2011.

UNKNOWN_LENGTH = -1


def segment_lengths(segments: pl.DataFrame, texts: Mapping[str, Sequence[str]], unit: LengthUnit) -> Ints:
    """The length of every segment, or `UNKNOWN_LENGTH` where there is no text for it.

    Args:
        segments: their keys, with columns `source_lang` and `segment`; a segment is named by its line, from 1.
        texts: the lines of the source by language code; those under `ANY_LANGUAGE` serve all other languages.
        unit: count words (what blanks separate) or characters.
    """
    if unit not in ("words", "characters"):
        raise UsageError(f"lengths are counted in words or characters, not in '{unit}'; choose one")
    length = {
        language: [len(line.split() if unit == "words" else line.strip()) for line in lines]
        for language, lines in texts.items()
    }
    common = length.get(ANY_LANGUAGE, [])
    rows = segments.select("source_lang", "segment").rows()
    known_lengths = [_look_up(length.get(language, common), segment) for language, segment in rows]
    if rows and max(known_lengths) == UNKNOWN_LENGTH:
        longest = max(map(len, length.values()), default=0)
        raise DataError(
            f"none of the segments (such as '{rows[0][1]}') is a line of the {longest:,} given texts; "
            "give the source file whose line numbers name the segments"
        )
    return np.array(known_lengths, dtype=np.int64)


def _look_up(lengths: Sequence[int], segment: str | None) -> int:
    if segment is None or not segment.isascii() or not segment.isdigit():
        return UNKNOWN_LENGTH
    line = int(segment)
    return lengths[line - 1] if 1 <= line <= len(lengths) else UNKNOWN_LENGTH


def by_length(annotations: Annotations, lengths: Ints, labels: int) -> tuple[LengthAgreement, ...]:
    """Agreement at every length that occurs; `lengths` are those of the segments, by code."""
    of_cell = lengths[annotations.segment]
    rows: list[LengthAgreement] = []
    for length in np.unique(of_cell[of_cell >= 0]).tolist():
        pooled = annotations.keep((of_cell == length) | (of_cell == length + 1))
        if len(pooled.inter.pairs) + len(pooled.intra.pairs) == 0:
            continue
        inter, intra = (_agreement_of_parts(pooled, kind, labels) for kind in ("inter", "intra"))
        segments = len(np.unique(pooled.segment))
        rows.append(LengthAgreement(length=length, segments=segments, inter=inter, intra=intra))
    return tuple(rows)


def _agreement_of_parts(annotations: Annotations, kind: str, labels: int) -> dict[str, dict[str, Number]]:
    parts = {"all": annotations, "without_reference": annotations.keep(~annotations.human)}
    return {
        name: {"pairs": int(getattr(part, kind).pairs.sum()), **measure_simple(part, kind, labels)}
        for name, part in parts.items()
    }


def read_source_texts(named: Iterable[str]) -> dict[str, list[str]]:
    """The lines of `LANG=FILE` by language, and of a plain `FILE` for every language that has none of its own."""
    texts: dict[str, list[str]] = {}
    for argument in named:
        language, equals, file = argument.partition("=")
        code = language_code(language) if equals else ANY_LANGUAGE
        if code in texts:
            raise UsageError(f"two source texts are given for '{code or 'all languages'}' ('{argument}'); give one")
        texts[code] = _lines(Path(file if equals else argument))
    return texts


def _lines(path: Path) -> list[str]:
    # Only line feeds end a line: other separators of Unicode occur inside segments.
    text = read_text(path)
    if not text.strip():
        raise InputError("is empty; a source text with one segment per line is needed", file=path)
    return text.removesuffix("\n").split("\n")


def agree(
    judgments: Judgments,
    *,
    labels: int | None = None,
    texts: Mapping[str, Sequence[str]] | Sequence[str] | None = None,
    length_unit: LengthUnit = "words",
    resamples: int = RESAMPLES,
    seed: int = DEFAULT_SEED,
) -> Agreement:
    """Measure agreement within and between annotators. Several language pairs in the table are pooled.

    Args:
        judgments: rankings or pairwise judgments, or scores.
        labels: how many rank labels there were to choose from; default: the largest label or block.
        texts: the source's lines (or those of each source language by its code), for agreement by length.
        length_unit: count the length of texts in words or characters.
        resamples: how often annotators are drawn again for the intervals; 0 for none.
        seed: seed of the draws.
    """
    by_language = None if texts is None else texts_by_language(texts)
    return measure_agreement(judgments, AgreeOptions(labels, by_language, length_unit, resamples, seed))


def measure_agreement(judgments: Judgments, options: AgreeOptions) -> Agreement:
    """Measure agreement with these settings."""
    if judgments.table["protocol"].is_in(RELATIVE).any():
        from adjudge.people.preferences import agree_on_preferences

        return agree_on_preferences(judgments, options)
    if options.texts is not None:
        raise UsageError("agreement by length is measured for rankings only; leave the texts out")
    from adjudge.people.scores import agree_on_scores

    return agree_on_scores(judgments, options)
