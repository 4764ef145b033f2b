"""A judgment table as MQM ratings: one row per error, marked `<v>..</v>` in the source or the target text.

The table must hold the texts (columns `source_text` and `target_text`). The format has no revisions and no controls:
the last revision of genuine judgments is written. A score follows from the errors and is not written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from adjudge.core.errors import DataError, shown
from adjudge.core.files import write_text
from adjudge.core.protocols import NOT_CONTROLS
from adjudge.core.spans import MISSING, SOURCE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from adjudge.core.judgments import Judgments

HEADER = ("system", "doc", "doc_id", "seg_id", "rater", "source", "target", "category", "severity")
NO_ERROR = "No-error"
_OPEN, _CLOSE = "<v>", "</v>"
_BREAKS = str.maketrans({"\t": " ", "\n": " ", "\r": " "})


def written(judgments: Judgments) -> Judgments:
    """The judgments that a file of ratings can hold; the others are set aside."""
    if set(judgments.protocols) - {"mqm"}:
        protocols = ", ".join(judgments.protocols)
        raise DataError(
            f"MQM ratings hold errors with categories (protocol mqm), not '{protocols}'; use another format"
        )
    final = judgments.final().keep(pl.col("score").is_not_null(), otherwise="judgment that is not finished")
    genuine = pl.col("kind").is_in(NOT_CONTROLS)
    return final.keep(genuine, otherwise="control, which MQM ratings cannot tell from others")


def write(judgments: Judgments, path: Path) -> None:
    """Write ratings as a tab-separated file."""
    lines = ["\t".join(HEADER)]
    documents: dict[str, int] = {}
    for row in written(judgments).table.iter_rows(named=True):
        document = row["document"] or ""
        number = documents.setdefault(document, len(documents) + 1)
        identity = (row["system"], document, str(number), row["segment"] or "", row["annotator"] or "")
        lines += ["\t".join(field.translate(_BREAKS) for field in (*identity, *error)) for error in _errors(row)]
    write_text(path, "\n".join(lines) + "\n")


def _errors(row: dict[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    """Source, target, category and severity of every error, or of none."""
    source, target = row["source_text"] or "", row["target_text"] or ""
    for text in (source, target):
        if _OPEN in text or _CLOSE in text:
            raise DataError(f"the text '{shown(text)}' holds {_OPEN} or {_CLOSE}, which mark errors in MQM files")
    if not row["spans"]:
        yield source, target, NO_ERROR, NO_ERROR
    for span in row["spans"]:
        texts = (source, target)
        if span["side"] != MISSING and span["start"] is not None:
            in_source = span["side"] == SOURCE
            texts = (_mark_span(source, span), target) if in_source else (source, _mark_span(target, span))
        yield *texts, span["category"] or "", str(span["severity"]).capitalize()


def _mark_span(text: str, span: dict[str, Any]) -> str:
    start, end = span["start"], span["end"]
    return text[:start] + _OPEN + text[start:end] + _CLOSE + text[end:]
