"""The results of importing and exporting: the contents of files, and what a campaign has collected."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from adjudge.readers.columns import KNOWN
from adjudge.table.judgments import CRITERION, SKIPPED, no_answer
from adjudge.table.protocols import KINDS, NOT_JUDGED, PROTOCOLS
from adjudge.table.record import count_answers
from adjudge.table.results import Result, Setting, Table, number, text
from adjudge.table.wording import as_argument, counted, split_names

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adjudge.table.judgments import ColumnUse, Judgments
    from adjudge.table.record import CampaignRecord


# Options besides the columns that say how a table is read.
_LAYOUT = ("pair", "systems", "raters", "wide", "sheets", "winner", "values", "scale", "criterion", "encoding")


@dataclass(frozen=True, kw_only=True)
class Imported(Result):
    """Counts of what was read."""

    verb: ClassVar[str] = "import"

    rows: int
    annotators: int
    systems: int
    documents: int
    segments: int
    pairs: tuple[str, ...]
    protocols: tuple[str, ...]
    kinds: Mapping[str, int] = field(default_factory=dict)
    """Rows of each kind: outputs of systems, repeats, references, degraded outputs and other controls."""
    columns: tuple[ColumnUse, ...] = ()
    """How every column of the files was understood, for readers that use column names."""
    judgments: int = 0
    """Outputs judged by people, each once per person, even if several systems produced it and each has a row."""

    @property
    def answers(self) -> tuple[int, str]:
        """How many answers there are, and what one is: of a pair that was compared both outputs were judged."""
        in_pairs = bool(self.protocols) and all(PROTOCOLS[name].in_pairs for name in self.protocols)
        return (self.judgments // 2, "comparison") if in_pairs else (self.judgments, "judgment")

    @property
    def judged_by(self) -> str:
        """`20 annotators`, or that the data do not name them."""
        return counted(self.annotators, "annotator") if self.annotators else "people whom the data do not name"

    def tables(self) -> tuple[Table, ...]:
        """One table of counts."""
        counts = ("rows", "annotators", "systems", "documents", "segments")
        rows = tuple((name, getattr(self, name)) for name in counts)
        kinds = tuple((f"rows of kind {kind}", count) for kind, count in self.kinds.items())
        named = (("pairs", ", ".join(self.pairs)), ("protocols", ", ".join(self.protocols)))
        imported = Table("Imported", (text("what"), number("count", 0)), rows + kinds + named)
        if not self.columns:
            return (imported,)
        # The name of the file stands first if there are several.
        first = 0 if len({use.file for use in self.columns}) > 1 else 1
        header = (text("file"), text("column"), text("taken for"))[first:]
        uses = tuple((use.file, use.column, use.taken_for or use.use)[first:] for use in self.columns)
        return imported, Table("Columns", header, uses)


def describe(judgments: Judgments, settings: Mapping[str, Setting]) -> Imported:
    """Count the contents of a judgment table; segments and documents are counted per campaign and language pair.

    Tutorials and attention checks are rows, but neither systems nor texts of the campaign.
    """
    table = judgments.table
    judged = table.filter(~pl.col("kind").is_in(NOT_JUDGED))
    counts = dict(table.group_by("kind").len().iter_rows())
    scope = ("campaign", "source_lang", "target_lang")

    def distinct(*columns: str) -> int:
        return judged.select(*scope, *columns).drop_nulls(columns[-1]).n_unique()

    return Imported(
        settings=settings,
        data=judgments.fingerprint,
        set_aside=judgments.set_aside,
        notes=(*judgments.notes, *_say_again(judgments.columns, settings)),
        rows=table.height,
        annotators=table["annotator"].drop_nulls().n_unique(),
        systems=judged["system"].drop_nulls().n_unique(),
        documents=distinct("document"),
        segments=distinct("document", "segment") if table["document"].is_not_null().any() else distinct("segment"),
        pairs=judgments.pairs,
        protocols=judgments.protocols,
        kinds={kind: counts[kind] for kind in KINDS if kind in counts},
        columns=judgments.columns,
        judgments=count_answers(judgments.final().table).judgments,
    )


def _say_again(uses: tuple[ColumnUse, ...], settings: Mapping[str, Setting]) -> tuple[str, ...]:
    """The command that reads the columns of one file as they were read, where their names alone do not say it."""
    files = {use.file for use in uses}
    known = [use for use in uses if use.taken_for in KNOWN]
    named = {use.taken_for: use.column for use in known}
    # Formats with several columns of one meaning, such as five systems in a row, are no table of such columns.
    several = len(named) < len(known)
    if len(files) != 1 or several or all(meaning == column for meaning, column in named.items()):
        return ()
    said = {name: str(value) for name, value in settings.items() if value and name in _LAYOUT}
    scores = [entry for entry in split_names(str(settings.get("columns") or "")) if entry.startswith("score=")]
    meant = [f"{meaning}={column}" for meaning, column in named.items() if meaning != column]
    columns = as_argument([*meant, *(scores if len(scores) > 1 else [])])
    options = [f"--{name} {as_argument(split_names(value))}" for name, value in said.items()]
    options += ["--lower-is-better"] * bool(settings.get("lower_is_better"))
    command = " ".join(["adjudge rank", shlex.quote(files.pop()), "--columns", columns, *options])
    return (f"the columns as they were understood: {command}",)


def describe_answers(judgments: Judgments, settings: Mapping[str, Setting]) -> Imported:
    """Count what people answered: neither what they left blank nor what they have changed since counts."""
    final = judgments.final()
    answered = replace(final, table=final.table.filter(~no_answer(final.table)))
    return replace(describe(answered, settings), data=judgments.fingerprint)


@dataclass(frozen=True, kw_only=True)
class Exported(Imported):
    """Counts of what was collected."""

    verb: ClassVar[str] = "export"

    repeats: int = 0
    """Outputs that a person judged a second time; they are among the controls."""
    controls: int = 0
    """Answers to controls."""
    calibration: int = 0
    """Outputs that all annotators judge."""
    examples: int = 0
    """Answers in tutorials."""
    skipped: int = 0
    """Outputs that people skipped with a reason; not included above."""
    withdrawn: int = 0
    """Answers that were withdrawn without a replacement; not included above."""
    superseded: int = 0
    """Answers that were changed later: the history."""
    record: CampaignRecord | None = None
    """How the campaign was collected, as the file says it too."""

    def tables(self) -> tuple[Table, ...]:
        """One table of counts."""
        [first, *others] = super().tables()
        apart = ("judgments", "controls", "repeats", "calibration", "examples", "skipped", "withdrawn", "superseded")
        rows = (*((name, getattr(self, name)) for name in apart), *first.rows)
        return tuple(replace(table, title="Exported") for table in (replace(first, rows=rows), *others))


def describe_export(judgments: Judgments, settings: Mapping[str, Setting]) -> Exported:
    """Count the contents of an export: judgments, controls and history separately, as on the organisers' page."""
    counted = describe(judgments, settings)
    answer = [name for name in ("annotator", "task", "output", CRITERION) if name in judgments.table.columns]
    table = judgments.table if "output" in answer else judgments.table.with_row_index("output")
    answer = answer if "output" in answer else [*answer, "output"]
    once = table.sort("revision").unique(answer, keep="last")
    apart, blank = count_answers(once), once.filter(no_answer(once))
    return Exported(
        **{**{field.name: getattr(counted, field.name) for field in fields(counted)}, **vars(apart)},
        withdrawn=blank.height if SKIPPED not in blank.columns else blank[SKIPPED].null_count(),
        superseded=table.unique([*answer, "revision"]).height - once.height,
        record=judgments.record,
    )
