"""Post-edits as the workshops released them (`data_EDT.tsv`): what an editor did to an output, and the edited text.

The texts hold quotation marks that mean nothing, so the file is read without quoting. Besides the columns of the
judgment table there are `edit`, the number under which others judged the edit, and `action`: `EDIT`, `OK` (nothing to
correct), `BAD` (too bad to correct) or `N/A`, which is a value and not a gap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from adjudge.core.errors import InputError, shown
from adjudge.core.humans import human_columns
from adjudge.core.judgments import Judgments
from adjudge.core.wording import agreeing, counted
from adjudge.formats.parsing.column_uses import column_uses
from adjudge.formats.parsing.delimited import Delimited, read_delimited
from adjudge.formats.parsing.sources import read_each
from adjudge.formats.wmt.ranking import context_columns, context_uses

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from adjudge.formats.options import ReadOptions

_ANNOTATOR = ("editorId", "judgeId")
ACTIONS = {"0": "N/A", "1": "EDIT", "2": "OK", "3": "BAD"}


def read(paths: Sequence[Path], options: ReadOptions) -> Judgments:
    """Read the files; each becomes a campaign named after it."""
    return read_each(paths, options, _read_file)


def _read_file(path: Path, campaign: str, options: ReadOptions) -> Judgments:
    table = read_delimited(path, "\t", quoting=False, options=options)
    if not table.rows:
        raise InputError("holds a header but no edits; check that the file is complete", file=path)
    edit_column, system_column = table.need("editId"), table.need("system1Id", "systemId")
    words, codes = table.find("system1actionStr", "actionStr"), table.find("system1actionVal", "actionVal")
    edit, system = table.texts(edit_column), table.texts(system_column)
    action, notes = _actions(table, words, codes)
    if again := len(edit) - edit.n_unique():
        notes.append(f"{counted(again, 'row')} {agreeing(again, 'repeats', 'repeat')} the edit id of another row")
    columns = context_columns(table, options, annotator=_ANNOTATOR).with_columns(
        pl.lit(campaign).alias("campaign"),
        pl.lit("postedit").alias("protocol"),
        pl.int_range(1, len(edit) + 1).cast(pl.String).alias("screen"),
        system.alias("system"),
        table.texts(table.need("system1edit", "edit"), strip=False).alias("text"),
        edit.alias("edit"),
        action.alias("action"),
        **human_columns(system, options.human),
    )
    set_aside, row_notes = table.bad.settle()
    columns = columns.filter(table.bad.usable())
    taken: dict[str, int | list[int] | None] = {
        **context_uses(table, annotator=_ANNOTATOR),
        "system": system_column,
        "text": table.need("system1edit", "edit"),
        "edit": edit_column,
        "action": [column for column in (words, codes) if column is not None],
    }
    uses = column_uses(path, table.header, taken)
    return Judgments.from_columns(columns, set_aside=set_aside, notes=[*notes, *row_notes], source=str(path), uses=uses)


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
