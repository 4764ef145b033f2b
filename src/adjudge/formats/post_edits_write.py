"""Post-edits of a judgment table as the TSV file that `adjudge qe` reads: `document`, `source`, `mt`, `pe1`, `pe2`.

The table must hold the texts (columns `source_text` and `target_text`). Where every translation was edited by two
people, both editions are written; where only some were, the first by the annotators' names. Several systems are told
apart in the names of the documents.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from adjudge.core.errors import DataError
from adjudge.core.files import write_text
from adjudge.core.judgments import SetAside

if TYPE_CHECKING:
    from pathlib import Path

    from adjudge.core.judgments import Judgments

_GENUINE = ("system", "calibration")
_PLACE = ("system", "document", "segment")
_BREAKS = str.maketrans({"\t": " ", "\n": " ", "\r": " "})


def written(judgments: Judgments) -> Judgments:
    """The edits that the file can hold; the others are set aside."""
    if set(judgments.protocols) - {"postedit"}:
        raise DataError(f"there are no post-edits in judgments of protocol '{', '.join(judgments.protocols)}'")
    final = judgments.final().keep(pl.col("text").is_not_null(), otherwise="post-edit that is not finished")
    return final.keep(pl.col("kind").is_in(_GENUINE), otherwise="control, which is no translation of a system")


def write(judgments: Judgments, path: Path) -> Judgments:
    """Write the edits; returns those that were written."""
    kept = written(judgments)
    # Who is first is told by the name, so that the same table gives the same file.
    table = kept.table.sort("annotator", maintain_order=True)
    grouped = table.group_by(_PLACE, maintain_order=True).agg(
        pl.col("source_text").first(), pl.col("target_text").first(), "text"
    )
    if grouped.height == 0:
        raise DataError("there is no finished post-edit yet")
    editions = 2 if (grouped["text"].list.len() >= 2).all() else 1
    several = grouped["system"].n_unique() > 1
    lines = ["\t".join(("document", "source", "mt", "pe1", "pe2")[: 3 + editions])]
    for row in _in_order(grouped).iter_rows(named=True):
        document = f"{row['document']}#{row['system']}" if several else str(row["document"])
        fields = (document, row["source_text"] or "", row["target_text"], *row["text"][:editions])
        lines.append("\t".join(field.translate(_BREAKS) for field in fields))
    write_text(path, "\n".join(lines) + "\n")
    more = kept.table.height - editions * grouped.height
    record = (SetAside("edition beyond those that every translation has", more),) if more else ()
    return replace(kept, set_aside=kept.set_aside + record)


def _in_order(grouped: pl.DataFrame) -> pl.DataFrame:
    """The edits by document and system, segments in the order of their numbers where they have such."""
    number = pl.col("segment").cast(pl.Int64, strict=False)
    return grouped.sort("document", "system", number, "segment", nulls_last=True, maintain_order=True)
