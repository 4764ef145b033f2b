"""What was collected, as the judgment table: one row per revision of a judgment, history included.

An output that several systems produced was judged once; each of them gets the row. `active_seconds` are the seconds
spent on the row's output up to that revision; where several outputs are one decision, each has its share.
"""

from __future__ import annotations

import polars as pl

from adjudge.campaigns.tasks import corrected_segments, text_hash
from adjudge.server.models import Annotator, Decision, Draw, Save
from adjudge.server.processes import ensure_tasks
from adjudge.server.saves import parse_times, read_revisions, read_states
from adjudge.server.served_campaign import get_served
from adjudge.server.tasks import is_adaptive
from adjudge.table.judgments import INCLUSION, SCHEMA, Judgments, SetAside
from adjudge.table.protocols import PROTOCOLS
from adjudge.table.texts import CORRECTED, VERSION

# Columns beyond the judgment table's own.
EXTRA: dict[str, pl.DataType | type[pl.DataType]] = {
    "output": pl.String,
    "text_hash": pl.String,
    "saved": pl.Datetime("us", "UTC"),
    "screen_visible_seconds": pl.Float64,
    "screen_shown_seconds": pl.Float64,
    "excluded": pl.Boolean,
}
# And where errors are marked: who made each mark, what the translation came with, what was asked back and kept.
EXTRA_MARKED: dict[str, pl.DataType | type[pl.DataType]] = {
    "span_origins": pl.String,
    "prefilled": pl.String,
    "warning": pl.String,
    "warning_kept": pl.Boolean,
}
# And of post-edits, whose text stands where comments are elsewhere: whether something was changed, and the comment.
EXTRA_EDITED: dict[str, pl.DataType | type[pl.DataType]] = {"action": pl.String, "comment": pl.String}
# And of adaptive campaigns: the number of the decision that handed the task out, and the probability of its outcome.
EXTRA_DRAWN: dict[str, pl.DataType | type[pl.DataType]] = {"draw": pl.Int64, "draw_probability": pl.Float64}
# And where segments were chosen with unequal probabilities: that of the segment.
EXTRA_SELECTED: dict[str, pl.DataType | type[pl.DataType]] = {INCLUSION: pl.Float64}
# And where two versions of a test set are judged: which one, and whether the source of the segment was corrected.
EXTRA_VERSIONS: dict[str, pl.DataType | type[pl.DataType]] = {VERSION: pl.String, CORRECTED: pl.Boolean}


Stamp = tuple[int, tuple[int, ...]]


def current_stamp() -> Stamp:
    """What changes when judgments do: how many saves there are, and who is excluded."""
    excluded = Annotator.objects.filter(excluded=True).order_by("pk").values_list("pk", flat=True)
    return Save.objects.count(), tuple(excluded)


def read_judgments(*, with_excluded: bool = False, with_texts: bool = False) -> Judgments:
    """All judgments so far. Those of excluded annotators are set aside, or kept and marked in column `excluded`.

    With texts, `source_text` and `target_text` say what was shown.
    """
    frame = _credit_systems(_read_answers())
    set_aside: list[SetAside] = []
    if not with_excluded:
        set_aside = _list_excluded(frame)
        frame = frame.filter(~pl.col("excluded"))
    protocol = PROTOCOLS[get_served().campaign.protocol]
    schema = {**SCHEMA, **EXTRA, **(EXTRA_MARKED if protocol.marked else {})}
    if protocol.edited:
        schema |= EXTRA_EDITED
    if is_adaptive():
        schema |= EXTRA_DRAWN
    if not frame[INCLUSION].is_null().all():
        schema |= EXTRA_SELECTED
    if not frame[VERSION].is_null().all():
        schema |= EXTRA_VERSIONS
    table = frame.select(
        pl.col(name).cast(dtype) if name in frame.columns else pl.lit(None, dtype).alias(name)
        for name, dtype in schema.items()
    )
    # Edit rates need the outputs beside the edits.
    return Judgments.from_columns(_add_texts(table) if with_texts or protocol.edited else table, set_aside=set_aside)


def _read_answers() -> pl.DataFrame:
    """One row per revision, by screen, output and revision, with who made it and when."""
    states = read_states()
    ensure_tasks(states["task"].unique())
    revisions = read_revisions(states)
    names = revisions.cell_names
    columns = list(zip(*revisions.cells, strict=True)) or [()] * len(names)
    types = {**SCHEMA, **EXTRA_MARKED, **EXTRA_EDITED}
    frame = pl.DataFrame(
        [
            pl.Series("state", revisions.state, dtype=pl.Int64),
            pl.Series("output", revisions.output, dtype=pl.String),
            pl.Series("history", revisions.history, dtype=pl.Int64),
            pl.Series("revision", revisions.revision, dtype=pl.Int32),
            pl.Series("active_seconds", revisions.seconds, dtype=pl.Float64),
            parse_times(pl.Series("ended", revisions.edited)),
            parse_times(pl.Series("saved", revisions.received)),
            *(
                pl.Series(name, values, dtype=types[name], strict=False)
                for name, values in zip(names, columns, strict=True)
            ),
        ]
    )
    joined = frame.join(states, on="state", how="left", maintain_order="left")
    if not is_adaptive():
        return joined
    drawn = pl.DataFrame(
        list(Draw.objects.values_list("assignment", "number", "probability")),
        schema={"assignment": pl.Int64, **EXTRA_DRAWN},
        orient="row",
    )
    return joined.join(drawn, on="assignment", how="left", maintain_order="left")


def _credit_systems(answers: pl.DataFrame) -> pl.DataFrame:
    """The rows of every output, once for every system that made it."""
    tasks = get_served().tasks
    corrected = corrected_segments(tasks)
    outputs = pl.DataFrame(
        [
            (task, output, placed.screen.id, placed.screen.document, placed.item.segment, placed.output.kind,
             text_hash(placed.output.text), placed.item.inclusion, placed.screen.version,
             (placed.screen.document, placed.item.segment) in corrected, number, system, system in tasks.human)
            for (task, output), placed in get_served().output_by_id.items()
            for number, system in enumerate(placed.output.systems)
        ],
        schema={
            "task": pl.String, "output": pl.String, "screen": pl.String, "document": pl.String, "segment": pl.String,
            "kind": pl.String, "text_hash": pl.String, **EXTRA_SELECTED, **EXTRA_VERSIONS, "number": pl.Int64,
            "system": pl.String, "human": pl.Boolean,
        },
        orient="row",
    )  # fmt: skip
    rows = answers.join(outputs, on=["task", "output"], how="inner", maintain_order="left")
    return rows.sort("state", "history", "number", "revision").with_columns(
        campaign=pl.lit(tasks.campaign),
        protocol=pl.lit(tasks.protocol),
        source_lang=pl.lit(tasks.source_lang),
        target_lang=pl.lit(tasks.target_lang),
    )


def _list_excluded(frame: pl.DataFrame) -> list[SetAside]:
    """The rows of everybody who is excluded, with the reason of the last decision."""
    reasons = _exclusion_reasons()
    excluded = frame.filter(pl.col("excluded"))
    counted = excluded.group_by("person", "annotator", maintain_order=True).len()
    return [
        SetAside(f"annotator {name} was excluded: {reasons.get(person, '')}", count)
        for person, name, count in counted.iter_rows()
    ]


def _add_texts(frame: pl.DataFrame) -> pl.DataFrame:
    shown = [get_served().output_by_id[task, output] for task, output in frame.select("task", "output").iter_rows()]
    sources = pl.Series("source_text", [placed.item.source for placed in shown], dtype=pl.String)
    return frame.with_columns(
        sources, pl.Series("target_text", [placed.output.text for placed in shown], dtype=pl.String)
    )


def _exclusion_reasons() -> dict[int, str]:
    """The reason of the last decision about everybody who is excluded."""
    excluded = set(Annotator.objects.filter(excluded=True).values_list("pk", flat=True))
    decisions = Decision.objects.select_related("annotator").order_by("made", "pk")
    return {decision.annotator.pk: decision.reason for decision in decisions if decision.annotator.pk in excluded}
