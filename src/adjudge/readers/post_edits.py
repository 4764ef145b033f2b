"""Machine translations with one or two post-editions, and what quality-estimation systems predict of documents.

Texts are a TSV file with the columns `document`, `mt`, `pe1` and, where there are two editions, `pe2`; one row per
segment, or one per document. A column `source` lets costs be counted by source words. Instead of texts, the table may
hold edit rates that were computed elsewhere: the columns `document`, `first` and, where there are two editions,
`second`. Predictions are a table with the column `document` and one column per system; a higher number means more
errors, as in the labels. In Python, each may be a data frame.

`write_post_edits` writes such texts from a judgment table that holds them (columns `source_text` and `target_text`).
Two editions are written where a second editor has corrected the first one's text (column `first_edit`). An edit that
another person made independently is no second stage: of several, the first by the annotators' names is written. Several
systems are told apart in the names of the documents.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from adjudge.readers.options import as_frame
from adjudge.readers.parsing import Delimited, column_uses, read_delimited, read_each, to_float
from adjudge.readers.wmt_rankings import context_columns, context_uses
from adjudge.table.errors import DataError, InputError, shown
from adjudge.table.files import read_json, write_text
from adjudge.table.judgments import FIRST_EDIT, Judgments, SetAside
from adjudge.table.participants import human_columns
from adjudge.table.protocols import NOT_CONTROLS
from adjudge.table.wording import agreeing, counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from adjudge.readers.options import ReadOptions


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
    rates: tuple[float, float | None] | None = None
    """The edit rates of both post-editions, where they were given instead of texts."""


def _read_table(source: Any, delimiter: str | None, *, quoting: bool = True) -> Delimited:
    """Read a table from a file, or take a data frame of polars or pandas."""
    frame = as_frame(source)
    if frame is None:
        return read_delimited(Path(source), delimiter, quoting=quoting)
    texts = frame.cast(pl.String).fill_null("").iter_rows()
    return Delimited(Path("data frame"), tuple(frame.columns), tuple(enumerate(map(list, texts), start=1)))


def read_post_edits(source: Any) -> tuple[EditedDocument, ...]:
    """Read the texts, or the edit rates, from a file or a data frame; documents in the order of its rows."""
    table = _read_table(source, "\t", quoting=False)
    if table.find("pe1", "pe") is None and table.find("first") is not None:
        return _read_rates(table)
    path = table.path
    document, mt, pe1 = table.need("document", "doc"), table.need("mt"), table.need("pe1", "pe")
    pe2, source_text = table.find("pe2"), table.find("source")
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
        EditedDocument(
            name, column(part, mt) or (), column(part, pe1) or (), column(part, pe2), column(part, source_text)
        )
        for name, part in rows.items()
    )


def _read_rates(table: Delimited) -> tuple[EditedDocument, ...]:
    """Read edit rates that were computed elsewhere."""
    first = _read_numbers(table, table.need("first"))
    at = table.find("second")
    second = {} if at is None else _read_numbers(table, at)
    if not first:
        raise InputError("holds a header but no edit rates", file=table.path)
    return tuple(EditedDocument(name, (), (), rates=(rate, second.get(name))) for name, rate in first.items())


def read_predictions(source: Any) -> Mapping[str, Mapping[str, float]]:
    """Read the predictions of each system for each document, from a file or a data frame; a mapping is taken as is."""
    if isinstance(source, dict):
        return source
    table = _read_table(source, None)
    systems = [i for i, name in enumerate(table.header) if name.casefold() not in ("document", "doc", "segment")]
    if not systems:
        raise InputError("has no column of predictions beside the documents", file=table.path, line=1)
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


def write_post_edits(judgments: Judgments, path: Path) -> Judgments:
    """Write the edits that the file can hold; returns those that were written, with the others set aside."""
    if set(judgments.protocols) - {"postedit"}:
        raise DataError(f"there are no post-edits in judgments of protocol '{', '.join(judgments.protocols)}'")
    kept = judgments.final().keep(pl.col("text").is_not_null(), otherwise="post-edit that is not finished")
    kept = kept.keep(pl.col("kind").is_in(NOT_CONTROLS), otherwise="control, which is no translation of a system")
    # The name decides which comes first, so that the same table gives the same file.
    table = kept.table.sort("annotator", maintain_order=True)
    first = pl.col(FIRST_EDIT) if FIRST_EDIT in table.columns else pl.lit(None, pl.String)
    grouped = table.group_by(_OUTPUT, maintain_order=True).agg(
        pl.col("source_text", "target_text", "text").first(), first.first().alias(FIRST_EDIT)
    )
    if grouped.height == 0:
        raise DataError("there is no finished post-edit yet")
    editions = 1 if grouped[FIRST_EDIT].null_count() else 2
    several = grouped["system"].n_unique() > 1
    lines = ["\t".join(("document", "source", "mt", "pe1", "pe2")[: 3 + editions])]
    # By document and system, segments in the order of their numbers where they have such.
    number = pl.col("segment").cast(pl.Int64, strict=False)
    ordered = grouped.sort("document", "system", number, "segment", nulls_last=True, maintain_order=True)
    for row in ordered.iter_rows(named=True):
        document = f"{row['document']}#{row['system']}" if several else str(row["document"])
        edits = (row[FIRST_EDIT], row["text"])[2 - editions :]
        fields = (document, row["source_text"] or "", row["target_text"], *edits)
        lines.append("\t".join(field.translate(_BREAKS) for field in fields))
    write_text(path, "\n".join(lines) + "\n")
    more = kept.table.height - grouped.height
    record = (SetAside("edit of a translation by another person, which is no second stage", more),) if more else ()
    return replace(kept, set_aside=kept.set_aside + record)


# Post-edits as the workshops released them (`data_EDT.tsv`): what an editor did to an output, and the edited text.
# The texts hold quotation marks that mean nothing, so the file is read without quoting. Besides the columns of the
# judgment table there are `edit`, the number under which others judged the edit, and `action`: `EDIT`, `OK` (nothing to
# correct), `BAD` (too bad to correct) or `N/A`, which is a value and not a gap.
#
# Judgments of post-edits (`data_ACC.csv`): is the edited text acceptable, YES (a score of 1), NO (0) or UNK (null, no
# judgment given). The column `edit` holds the number of the edit judged. The system is the one this file names: in
# released data it disagrees with the file of edits for some rows, so that joining by edit is unsafe.

_ANNOTATORS = {"postedit": ("editorId", "judgeId"), "acceptability": ("judgeId",)}
ACTIONS = {"0": "N/A", "1": "EDIT", "2": "OK", "3": "BAD"}
ANSWERS = {"YES": 1.0, "NO": 0.0, "UNK": None}


def read_wmt_edits(paths: Sequence[Path], options: ReadOptions) -> Judgments:
    """Read the files; each becomes a campaign named after it."""
    return read_each(paths, options, _read_edits)


def _read_edits(path: Path, campaign: str, options: ReadOptions) -> Judgments:
    table = read_delimited(path, "\t", quoting=False, options=options)
    if not table.rows:
        raise InputError("holds a header but no edits; check that the file is complete", file=path)
    edit, system = table.need("editId"), table.need("system1Id", "systemId")
    text = table.need("system1edit", "edit")
    words, codes = table.find("system1actionStr", "actionStr"), table.find("system1actionVal", "actionVal")
    columns = {"system": table.texts(system), "edit": table.texts(edit), "text": table.texts(text, strip=False)}
    columns["action"], notes = _actions(table, words, codes)
    if again := len(columns["edit"]) - columns["edit"].n_unique():
        notes.append(f"{counted(again, 'row')} {agreeing(again, 'repeats', 'repeat')} the edit id of another row")
    actions = [column for column in (words, codes) if column is not None]
    taken: dict[str, int | list[int]] = {"system": system, "text": text, "edit": edit, "action": actions}
    return _make_judgments(table, campaign, options, protocol="postedit", columns=columns, taken=taken, notes=notes)


def _make_judgments(
    table: Delimited,
    campaign: str,
    options: ReadOptions,
    *,
    protocol: str,
    columns: Mapping[str, pl.Series],
    taken: Mapping[str, int | Sequence[int]],
    notes: Sequence[str] = (),
) -> Judgments:
    """The judgments of a workshops' file with one output per row.

    Args:
        table: the file.
        campaign: the name of the campaign.
        options: how to read.
        protocol: the protocol of all rows.
        columns: what was read of them, besides where and by whom they were judged.
        taken: what was looked for, and the indexes of its columns.
        notes: what there is to say about the file, besides its bad rows.
    """
    annotator = _ANNOTATORS[protocol]
    frame = context_columns(table, options, annotator=annotator).with_columns(
        campaign=pl.lit(campaign),
        protocol=pl.lit(protocol),
        screen=pl.int_range(1, pl.len() + 1).cast(pl.String),
        **columns,
        **human_columns(columns["system"], options.human),
    )
    set_aside, row_notes = table.bad.settle()
    return Judgments.from_columns(
        frame.filter(table.bad.usable()),
        set_aside=set_aside,
        notes=[*notes, *row_notes],
        source=str(table.path),
        uses=column_uses(table.path, table.header, {**context_uses(table, annotator=annotator), **taken}),
    )


def _actions(table: Delimited, word_column: int | None, code_column: int | None) -> tuple[pl.Series, list[str]]:
    """Read the action by its code, or by its word where there is no code."""
    words = table.texts(word_column).str.to_uppercase()
    codes = words if code_column is None else table.texts(code_column)
    known = {**ACTIONS, **{word: word for word in ACTIONS.values()}}
    actions = codes.replace_strict(known, default=None, return_dtype=pl.String)
    table.bad.mark(
        actions.is_null(),
        lambda row: f"action is '{shown(codes[row] or '')}', 0, 1, 2 or 3 is needed",
        "row with an unknown action",
    )
    differ = int((words != actions).sum())
    name = f"{counted(differ, 'row')} {agreeing(differ, 'names', 'name')}"
    return actions, [f"{name} another action than the code says; the code counts"] if differ else []


def read_wmt_acceptability(paths: Sequence[Path], options: ReadOptions) -> Judgments:
    """Read the files; each becomes a campaign named after it."""
    return read_each(paths, options, _read_acceptability)


def _read_acceptability(path: Path, campaign: str, options: ReadOptions) -> Judgments:
    table = read_delimited(path, None, options=options)
    if not table.rows:
        raise InputError("holds a header but no judgments; check that the file is complete", file=path)
    taken = {
        "system": table.need("systemId", "system1Id"),
        "score": table.need("judgment", "judgement"),
        "edit": table.need("editId"),
    }
    given = table.texts(taken["score"]).str.to_uppercase()
    table.bad.mark(
        ~given.is_in(list(ANSWERS)),
        lambda row: f"judgment is '{shown(given[row])}', YES, NO or UNK is needed",
        "row with an unknown judgment",
    )
    scores = given.replace_strict(ANSWERS, default=None, return_dtype=pl.Float64)
    columns = {"system": table.texts(taken["system"]), "score": scores, "edit": table.texts(taken["edit"])}
    return _make_judgments(table, campaign, options, protocol="acceptability", columns=columns, taken=taken)
