"""Which column of a table is taken for what: as the user says, by its own name, or by a synonym.

The tables below are the only place for synonyms; `docs/formats.md` shows them. The first name that a file has is taken.
Names are compared without regard to case, and without blanks, underscores and hyphens: `Model_Name`, `model name` and
`modelName` are the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from adjudge.core.errors import InputError, UsageError, shown, unknown_choice
from adjudge.core.judgments import SCHEMA, ColumnUse
from adjudge.core.wording import as_argument, counted, short_list

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    import polars as pl

    from adjudge.core.errors import Source

# column of the judgment table: names it has elsewhere, the likeliest first
SYNONYMS: dict[str, tuple[str, ...]] = {
    "system": (
        "system", "model", "system_name", "system_id", "model_name", "model_id", "mt_system", "sys", "engine",
        "candidate", "submission", "mt_engine",
    ),
    "score": (
        "score", "rating", "raw_score", "da_score", "esa_score", "da", "points", "grade", "mark", "value",
        "overall", "quality", "overall_score", "quality_score",
    ),
    "rank": ("rank", "ranking", "position"),
    "annotator": (
        "annotator", "rater", "worker", "user", "judge", "evaluator", "assessor", "annotator_id", "rater_id",
        "worker_id",
        "workerid", "user_id", "userid", "judge_id", "username", "annotator_name", "participant", "participant_id",
        "performer", "reviewer", "completed_by", "evaluator_id", "evaluator_name", "rater_name",
    ),
    "segment": (
        "segment", "item", "segment_id", "seg_id", "item_id", "seg", "sentence_id", "sentence", "sent_id",
        "question_id",
        "example_id", "example", "prompt_id", "line_id", "srcindex",
    ),
    "document": ("document", "doc", "document_id", "doc_id", "docid", "article_id", "article"),
    "task": ("task", "task_id", "hit", "hit_id", "hitid", "batch", "batch_id", "assignment_id"),
    "screen": ("screen", "screen_id", "page", "page_id"),
    "campaign": ("campaign", "campaign_id", "project"),
    "protocol": ("protocol",),
    "source_lang": ("source_lang", "src_lang", "srclang", "source_language", "sourcelanguage"),
    "target_lang": ("target_lang", "tgt_lang", "trg_lang", "tgtlang", "trglang", "target_language", "targetlanguage"),
    "kind": ("kind", "item_type"),
    "human": ("human", "is_human"),
    "spans": ("spans", "error_spans"),
    "text": ("text", "comment", "comments", "post_edit", "postedit"),
    "started": ("started", "start_time", "started_at", "accept_time", "accepttime"),
    "ended": (
        "ended", "end_time", "ended_at", "submit_time", "submittime", "submitted_at", "created_at", "timestamp",
        "tstamp",
    ),
    "active_seconds": ("active_seconds", "seconds", "duration", "time_spent", "lead_time", "work_time_in_seconds"),
    "revision": ("revision",),
    # Not a column of the judgment table: `en-cs`, taken apart into the two languages.
    "pair": ("pair", "language_pair", "lang_pair", "langpair", "lp", "langs"),
}  # fmt: skip

# A comparison of two systems: who stood left, who right, who won.
PAIR_COLUMNS: dict[str, tuple[str, ...]] = {
    "left": (
        "left", "model_a", "system_a", "sysa", "sys_a", "a", "x", "system1", "system_1", "sys1", "model1",
        "model_1", "first",
        "left_system", "left_model",
    ),
    "right": (
        "right", "model_b", "system_b", "sysb", "sys_b", "b", "y", "system2", "system_2", "sys2", "model2", "model_2",
        "second", "right_system", "right_model",
    ),
    "winner": ("winner", "preference", "outcome", "choice", "label", "better", "winner_model", "result", "verdict"),
}  # fmt: skip

# What files write for a winner besides the systems' names; compared like column names.
WINNERS: dict[str, tuple[str, ...]] = {
    "left": PAIR_COLUMNS["left"],
    "right": PAIR_COLUMNS["right"],
    "tie": ("tie", "draw", "equal", "both", "same", "="),
    "both-good": ("both good", "tie (bothgood)", "tie (both good)", "bothgood"),
    "both-bad": ("both bad", "tie (bothbad)", "tie (both bad)", "bothbad", "neither"),
    "none": (),
}
KNOWN = {**SYNONYMS, **PAIR_COLUMNS}
BRACKETS = re.compile(r"\s*[(\[][^()\[\]]*[)\]]\s*$")


@dataclass(frozen=True)
class ColumnMap:
    """For every meaning (`system`, `score`, `left`, ...) the column of the file that has it."""

    columns: Mapping[str, str]
    header: tuple[str, ...]
    source: Source

    def __contains__(self, meaning: str) -> bool:
        return meaning in self.columns

    def need(self, meaning: str) -> str:
        """The column with this meaning; an error that names the columns there are, and the option, where none has."""
        if meaning not in self.columns:
            raise self.missing(meaning)
        return self.columns[meaning]

    def missing(
        self,
        meaning: str,
        *,
        instead: str | None = None,
        why: str = "",
        guesses: Mapping[str, int] | None = None,
        likeliest: str | None = None,
        also: Mapping[str, str] | None = None,
    ) -> InputError:
        """The error for a table in which no column has this meaning.

        Args:
            meaning: what is missing.
            instead: another meaning that would do.
            why: who needs it.
            guesses: the columns that may be it, and how many different values each holds.
            likeliest: the one of them to name in the example.
            also: what else is missing, and the column that may be it.
        """
        taken = {column: name for name, column in self.columns.items() if column != name}
        listed = ", ".join(f"{name} (taken for {taken[name]})" if name in taken else name for name in self.header)
        likely = list(guesses or (name for name in self.header if name not in self.columns.values()))[:1]
        free, either_of = (likely or ["NAME"])[0], ""
        if guesses and len(guesses) > 1:
            several = [f"{shown(name)} ({counted(values, 'different value')})" for name, values in guesses.items()]
            free, either_of = likeliest or "NAME", f"; {short_list(several, 'or')} may be it"
        either = f"'{instead}' or '{meaning}'" if instead else f"'{meaning}'"
        what = f"has no column {either}{why}, it has {shown(listed, 300)}{either_of}"
        wide = " (or --systems, where each system has a column)" if meaning == "system" else ""
        if meaning == "score" and either_of and "annotator" not in self.columns:
            wide = " (or --raters, where each annotator has a column)"
        said = as_argument([f"{name}={shown(column)}" for name, column in {meaning: free, **(also or {})}.items()])
        return self.source.fault(f"{what}; say which it is, as --columns {said}{wide}, or give --format")

    def looks_wide(self, systems: Sequence[str]) -> InputError:
        """The error for a table without a column of systems, but with columns of numbers that may be systems."""
        what = f"has no column 'system', but {len(systems)} columns of numbers ({shown(', '.join(systems), 200)})"
        names = shown(as_argument(systems), 200)
        other = "otherwise which is the system, as --columns system=NAME"
        return self.source.fault(f"{what}; if each is a system, say --systems {names}; {other}")

    def refuse_twice(self, twice: Collection[str], *, also: Collection[str] = ()) -> None:
        """Refuse a file in which two columns have the name of one that is used; of comments there may be several.

        Args:
            twice: the names that several columns have.
            also: further columns that are used.
        """
        used = [column for meaning, column in self.columns.items() if meaning != "text"]
        if column := next((name for name in (*used, *also) if name in twice), None):
            raise self.source.fault(f"has the column '{shown(column)}' twice; keep one, or give the other another name")

    def sides(self) -> set[str]:
        """The columns that hold the two systems and the winner."""
        return {self.columns[side] for side in PAIR_COLUMNS if side in self.columns}

    def without(self, names: Iterable[str]) -> ColumnMap:
        """Drop some columns from the map, so that they have no meaning."""
        left_out = set(names)
        kept = {meaning: column for meaning, column in self.columns.items() if column not in left_out}
        return replace(self, columns=kept)

    def uses(self, unused: Iterable[str] = ()) -> tuple[ColumnUse, ...]:
        """List the meaning of every column; columns kept under their own names have none."""
        taken = {column: name for name, column in self.columns.items()}
        left_out = set(unused)
        if not left_out and set(self.header) <= set(SCHEMA):
            # The judgment table itself: there is nothing to tell.
            return ()
        return tuple(
            ColumnUse(
                self.source.name,
                name,
                taken.get(name),
                "not used" if name in left_out else "used" if name in taken else "kept",
            )
            for name in self.header
        )


def parse_columns(wanted: Sequence[str], known: Iterable[str] = KNOWN) -> dict[str, str]:
    """`("system=model", ...)` as meanings, of those that are known, and columns."""
    chosen: dict[str, str] = {}
    for entry in wanted:
        meaning, equals, column = (part.strip() for part in entry.partition("="))
        if not equals or not column:
            raise UsageError(f"--columns has '{shown(entry)}', NAME=COLUMN is needed, as in system=model")
        if meaning not in known:
            raise unknown_choice("column of the judgment table", meaning, known)
        if meaning in chosen:
            raise UsageError(f"--columns says twice which column is '{meaning}'; say it once")
        chosen[meaning] = column
    return chosen


def map_columns(
    header: Sequence[str],
    source: Source,
    *,
    columns: Sequence[str] = (),
    meanings: Iterable[str] | None = None,
    known: Mapping[str, Sequence[str]] = KNOWN,
) -> ColumnMap:
    """Find out what the columns of a table are.

    Args:
        header: the names in the file.
        source: the file, for messages.
        columns: what the user says, as `system=model`.
        meanings: what to look for, all that is known where left out; what the user says is always taken.
        known: the names of every meaning.
    """
    meanings = tuple(known if meanings is None else meanings)
    said = parse_columns(columns, known)
    chosen = {meaning: _find(header, column, meaning, source) for meaning, column in said.items()}
    by_name = _by_plain_name(header)
    taken = set(chosen.values())
    # The judgment table's own names come before synonyms: 'item' is no segment where there is a column 'segment'.
    for exact in (True, False):
        for meaning in meanings:
            for name in known[meaning][:1] if exact else known[meaning][1:]:
                column = by_name.get(plain(name))
                # A column that is named like one of the judgment table is that column and no other.
                may_be = column is not None and (column == meaning or column not in SCHEMA)
                if meaning not in chosen and column is not None and column not in taken and may_be:
                    chosen[meaning] = column
                    taken.add(column)
    for meaning, column in _find_nested(header, {meaning: known[meaning] for meaning in meanings}, taken).items():
        chosen.setdefault(meaning, column)
    return ColumnMap(chosen, tuple(header), source)


def _by_plain_name(header: Sequence[str]) -> dict[str, str]:
    """The columns by their names as they are compared; of `Score (0-100)` also without brackets, where one has it."""
    by_name: dict[str, str] = {}
    for name in header:
        by_name.setdefault(plain(name), name)
    short = [plain(BRACKETS.sub("", name)) for name in header]
    return {
        plain_name: name for plain_name, name in zip(short, header, strict=True) if short.count(plain_name) == 1
    } | by_name


def _find_nested(header: Sequence[str], known: Mapping[str, Sequence[str]], taken: set[str]) -> dict[str, str]:
    """Fields inside fields, by their last name or the last two, where one field alone has it: `judgment.score`."""
    by_name: dict[str, set[str]] = {}
    for column in header:
        parts = column.split(".")
        if len(parts) > 1 and column not in taken:
            for name in (parts[-1], "_".join(parts[-2:])):
                by_name.setdefault(plain(name), set()).add(column)
    inside: dict[str, str] = {}
    for meaning, names in known.items():
        for name in names:
            columns = by_name.get(plain(name), set()) - set(inside.values())
            if meaning not in inside and len(columns) == 1:
                inside[meaning] = next(iter(columns))
    return inside


def _find(header: Sequence[str], column: str, meaning: str, source: Source) -> str:
    if column in header:
        return column
    same = [name for name in header if plain(name) == plain(column)]
    if len(same) == 1:
        return same[0]
    listed = shown(", ".join(header), 300)
    raise source.fault(f"--columns takes '{shown(column)}' for '{meaning}', but the columns are {listed}")


def renamed(frame: pl.DataFrame, mapping: ColumnMap) -> pl.DataFrame:
    """The frame under the names of the judgment table."""
    new = {column: meaning for meaning, column in mapping.columns.items() if column != meaning}
    # A column is renamed if the user gave its name to another one.
    displaced = {name: f"{name} (column)" for name in new.values() if name in frame.columns and name not in new}
    return frame.rename({**displaced, **new})


def plain(name: str) -> str:
    """A name as it is compared: without case, underscores, hyphens and blanks."""
    return "".join(name.replace("_", " ").replace("-", " ").casefold().split())
