"""Agreement by length of the source text, and the source texts themselves: plain files, line n being segment n.

Lengths n and n + 1 are pooled at n, as in Figure 2 of Bojar et al. 2011.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from adjudge.agree.options import ANY_LANGUAGE
from adjudge.agree.preference_coefficients import brief
from adjudge.core.errors import DataError, InputError, UsageError
from adjudge.core.files import read_text
from adjudge.core.languages import language_code
from adjudge.results.agree import LengthAgreement

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import polars as pl

    from adjudge.agree.annotations import Annotations
    from adjudge.agree.options import LengthUnit
    from adjudge.core.arrays import Ints
    from adjudge.results.agree import Number

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
        pooled = annotations.where((of_cell == length) | (of_cell == length + 1))
        if len(pooled.inter.pairs) + len(pooled.intra.pairs) == 0:
            continue
        inter, intra = (_agreement_of_parts(pooled, kind, labels) for kind in ("inter", "intra"))
        segments = len(np.unique(pooled.segment))
        rows.append(LengthAgreement(length=length, segments=segments, inter=inter, intra=intra))
    return tuple(rows)


def _agreement_of_parts(annotations: Annotations, kind: str, labels: int) -> dict[str, dict[str, Number]]:
    parts = {"all": annotations, "without_reference": annotations.where(~annotations.human)}
    return {
        name: {"pairs": int(getattr(part, kind).pairs.sum()), **brief(part, kind, labels)}
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
