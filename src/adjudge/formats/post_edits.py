"""Machine translations with one or two post-editions, and what quality-estimation systems predict of documents.

Texts are a TSV file with the columns `document`, `mt`, `pe1` and, where there are two editions, `pe2`; one row per
segment, or one per document. A column `source` lets costs be counted by source words. Predictions are a table with the
column `document` and one column per system; a higher number means more errors, as in the labels.

`write_post_edits` writes such texts from a judgment table that holds them (columns `source_text` and `target_text`).
Where every translation was edited by two people, both editions are written; where only some were, the first by the
annotators' names. Several systems are told apart in the names of the documents.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import polars as pl

from adjudge.core.errors import DataError, InputError, shown
from adjudge.core.files import read_json, write_text
from adjudge.core.judgments import SetAside
from adjudge.core.protocols import NOT_CONTROLS
from adjudge.formats.parsing.delimited import read_delimited, to_float

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from adjudge.core.judgments import Judgments
    from adjudge.formats.parsing.delimited import Delimited

_OUTPUT = ("system", "document", "segment")
_BREAKS = str.maketrans({"\t": " ", "\n": " ", "\r": " "})


@dataclass(frozen=True)
class EditedDocument:
    """The segments of one document: translation, first and second post-edition (None where there is none)."""

    name: str
    mt: tuple[str, ...]
    pe1: tuple[str, ...]
    pe2: tuple[str, ...] | None = None
    source: tuple[str, ...] | None = None


def read_post_edits(path: Path) -> tuple[EditedDocument, ...]:
    """Read the texts, documents in the order of the file."""
    table = read_delimited(path, "\t", quoting=False)
    document, mt, pe1 = table.need("document", "doc"), table.need("mt"), table.need("pe1", "pe")
    pe2, source = table.find("pe2"), table.find("source")
    rows: dict[str, list[list[str]]] = {}
    for line, fields in table.rows:
        if not fields[pe1].strip() or (pe2 is not None and not fields[pe2].strip()):
            raise InputError("a post-edition is empty; TER needs words to compare with", file=path, line=line)
        rows.setdefault(fields[document].strip(), []).append(fields)
    if not rows:
        raise InputError("holds a header but no texts", file=path)

    def column(part: list[list[str]], index: int | None) -> tuple[str, ...] | None:
        return None if index is None else tuple(fields[index].strip() for fields in part)

    return tuple(
        EditedDocument(name, column(part, mt) or (), column(part, pe1) or (), column(part, pe2), column(part, source))
        for name, part in rows.items()
    )


def read_predictions(path: Path) -> dict[str, dict[str, float]]:
    """Read the predictions of each system for each document."""
    table = read_delimited(path, None)
    systems = [i for i, name in enumerate(table.header) if name.casefold() not in ("document", "doc", "segment")]
    if not systems:
        raise InputError("has no column of predictions beside the documents", file=path, line=1)
    return {table.header[i]: _read_numbers(table, i) for i in systems}


def read_document_scores(path: Path) -> dict[str, float]:
    """Direct assessment of documents: a table with `document` and `z` (or `score`, `raw`), or the JSON of `gold`."""
    if path.suffix == ".json":
        return _read_gold(path)
    table = read_delimited(path, None)
    return _read_numbers(table, table.need("z", "score", "raw", "human"))


def _read_numbers(table: Delimited, index: int) -> dict[str, float]:
    document = table.need("document", "doc")
    numbers: dict[str, float] = {}
    for line, fields in table.rows:
        name = fields[document].strip()
        if name in numbers:
            raise InputError(f"document '{shown(name)}' occurs twice; keep one row each", file=table.path, line=line)
        numbers[name] = to_float(fields[index], table.header[index], table.path, line)
    return numbers


def _read_gold(path: Path) -> dict[str, float]:
    content = read_json(path)
    rows: list[Mapping[str, object]] = content.get("documents", []) if isinstance(content, dict) else []
    what = "is not what 'adjudge gold --json' says of documents by one system each"
    try:
        scores = {str(row["document"]): float(str(row["z"])) for row in rows if row.get("z") is not None}
    except (KeyError, TypeError, ValueError, AttributeError) as fault:
        raise InputError(what, file=path) from fault
    if not scores or len(scores) < len(rows) or not all(map(math.isfinite, scores.values())):
        raise InputError(what, file=path)
    return scores


def _select_finished(judgments: Judgments) -> Judgments:
    """The edits that the file can hold; the others are set aside."""
    if set(judgments.protocols) - {"postedit"}:
        raise DataError(f"there are no post-edits in judgments of protocol '{', '.join(judgments.protocols)}'")
    final = judgments.final().keep(pl.col("text").is_not_null(), otherwise="post-edit that is not finished")
    return final.keep(pl.col("kind").is_in(NOT_CONTROLS), otherwise="control, which is no translation of a system")


def write_post_edits(judgments: Judgments, path: Path) -> Judgments:
    """Write the edits; returns those that were written."""
    kept = _select_finished(judgments)
    # The name decides which comes first, so that the same table gives the same file.
    table = kept.table.sort("annotator", maintain_order=True)
    grouped = table.group_by(_OUTPUT, maintain_order=True).agg(
        pl.col("source_text").first(), pl.col("target_text").first(), "text"
    )
    if grouped.height == 0:
        raise DataError("there is no finished post-edit yet")
    editions = 2 if (grouped["text"].list.len() >= 2).all() else 1
    several = grouped["system"].n_unique() > 1
    lines = ["\t".join(("document", "source", "mt", "pe1", "pe2")[: 3 + editions])]
    for row in _sort_edits(grouped).iter_rows(named=True):
        document = f"{row['document']}#{row['system']}" if several else str(row["document"])
        fields = (document, row["source_text"] or "", row["target_text"], *row["text"][:editions])
        lines.append("\t".join(field.translate(_BREAKS) for field in fields))
    write_text(path, "\n".join(lines) + "\n")
    more = kept.table.height - editions * grouped.height
    record = (SetAside("edition beyond those that every translation has", more),) if more else ()
    return replace(kept, set_aside=kept.set_aside + record)


def _sort_edits(grouped: pl.DataFrame) -> pl.DataFrame:
    """The edits by document and system, segments in the order of their numbers where they have such."""
    number = pl.col("segment").cast(pl.Int64, strict=False)
    return grouped.sort("document", "system", number, "segment", nulls_last=True, maintain_order=True)
