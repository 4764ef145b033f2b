"""What was collected, as the judgment table: one row per revision of a judgment, history included.

An output that several systems produced was judged once; each of them gets the row. `active_seconds` are the seconds
spent on the row's output up to that revision; where several outputs are one decision, each has its share.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from adjudge.campaigns.tasks import corrected_segments, text_hash
from adjudge.server.models import Annotator, Decision, Draw, Save
from adjudge.server.processes import ensure_tasks
from adjudge.server.record import make_record
from adjudge.server.saves import parse_times, read_revisions, read_states
from adjudge.server.served_campaign import get_served
from adjudge.server.tasks import is_adaptive
from adjudge.table.errors import AdjudgeError
from adjudge.table.judgments import CRITERION, FIRST_EDIT, INCLUSION, POSITION, SCHEMA, SKIPPED, Judgments, SetAside
from adjudge.table.protocols import PROTOCOLS
from adjudge.table.texts import CORRECTED, VERSION

if TYPE_CHECKING:
    from collections.abc import Callable

    from adjudge.table.record import LooksRecord

Columns = dict[str, pl.DataType | type[pl.DataType]]
# Columns beyond the judgment table's own.
EXTRA: Columns = {
    "output": pl.String,
    "text_hash": pl.String,
    "saved": pl.Datetime("us", "UTC"),
    "screen_visible_seconds": pl.Float64,
    "screen_shown_seconds": pl.Float64,
    "excluded": pl.Boolean,
}
# And where errors are marked: who made each mark, what the translation came with, what was asked back and kept.
EXTRA_MARKED: Columns = {
    "span_origins": pl.String,
    "prefilled": pl.String,
    "warning": pl.String,
    "warning_kept": pl.Boolean,
}
# And of post-edits, whose text stands where comments are elsewhere: whether something was changed, and the comment.
EXTRA_EDITED: Columns = {"action": pl.String, "comment": pl.String}
# And where outputs stand side by side: at which place, from 0, as they were shown.
EXTRA_SIDE_BY_SIDE: Columns = {POSITION: pl.Int64}
# And where scores are given by several criteria: by which. A whole page has no segment.
EXTRA_CRITERIA: Columns = {CRITERION: pl.String}
# And of pairs: whether outputs that are equally good are both good or both bad.
EXTRA_TIES: Columns = {"both": pl.String}
# And where something can be skipped: why it was.
EXTRA_SKIPPED: Columns = {SKIPPED: pl.String}
# And of edits that are corrected again or judged: the edit that was shown, and who had made it.
EXTRA_STAGES: Columns = {FIRST_EDIT: pl.String, "first_editor": pl.String}
# And where there is sound or video: how many seconds of what belongs to the output or its source were played.
EXTRA_MEDIA: Columns = {"played_seconds": pl.Float64}
# And of adaptive campaigns: the number of the decision that handed the task out, and the probability of its outcome.
EXTRA_DRAWN: Columns = {"draw": pl.Int64, "draw_probability": pl.Float64}
# And where segments were chosen with unequal probabilities: that of the segment.
EXTRA_SELECTED: Columns = {INCLUSION: pl.Float64}
# And where two versions of a test set are judged: which one, and whether the source of the segment was corrected.
EXTRA_VERSIONS: Columns = {VERSION: pl.String, CORRECTED: pl.Boolean}


Stamp = tuple[int, tuple[int, ...]]


def current_stamp() -> Stamp:
    """What changes when judgments do: how many saves there are, and who is excluded."""
    excluded = Annotator.objects.filter(excluded=True).order_by("pk").values_list("pk", flat=True)
    return Save.objects.count(), tuple(excluded)


def read_judgments(*, with_excluded: bool = False, with_texts: bool = False) -> Judgments:
    """All judgments so far. Those of excluded annotators are set aside, or kept and marked in column `excluded`.

    With texts, `source_text` and `target_text` say what was shown. `with_record` says how they were collected.
    """
    frame = _credit_systems(_read_answers())
    set_aside: list[SetAside] = []
    if not with_excluded:
        set_aside = _list_excluded(frame)
        frame = frame.filter(~pl.col("excluded"))
    protocol = PROTOCOLS[get_served().campaign.protocol]
    schema = _list_columns(frame)
    table = frame.select(
        pl.col(name).cast(dtype) if name in frame.columns else pl.lit(None, dtype).alias(name)
        for name, dtype in schema.items()
    )
    # Edit rates need the outputs beside the edits.
    return Judgments.from_columns(_add_texts(table) if with_texts or protocol.edited else table, set_aside=set_aside)


def _list_columns(frame: pl.DataFrame) -> Columns:
    """The columns that the campaign has, beyond those of every judgment table."""
    campaign = get_served().campaign
    protocol = PROTOCOLS[campaign.protocol]
    wanted = (
        (True, EXTRA),
        (protocol.marked, EXTRA_MARKED),
        (protocol.edited, EXTRA_EDITED),
        (campaign.side_by_side > 1, EXTRA_SIDE_BY_SIDE),
        (bool(campaign.criteria), EXTRA_CRITERIA),
        (campaign.page.ties == "good-or-bad", EXTRA_TIES),
        (campaign.page.skip is not False or not frame[SKIPPED].is_null().all(), EXTRA_SKIPPED),
        (campaign.files.media is not None, EXTRA_MEDIA),
        (not frame["first_editor"].is_null().all(), EXTRA_STAGES),
        (is_adaptive(), EXTRA_DRAWN),
        (not frame[INCLUSION].is_null().all(), EXTRA_SELECTED),
        (not frame[VERSION].is_null().all(), EXTRA_VERSIONS),
    )
    return dict(SCHEMA) | {name: dtype for has, columns in wanted if has for name, dtype in columns.items()}


def by_first_criterion(judgments: Judgments) -> Judgments:
    """The judgments by the criterion that the campaign names first: statistics of the whole campaign are of one."""
    asked = get_served().campaign.asked
    if CRITERION not in judgments.table.columns or not asked:
        return judgments
    first = asked[0].name
    return judgments.keep(pl.col(CRITERION) == first, otherwise=f"by another criterion than '{first}'")


def with_record(judgments: Judgments, read_looks: Callable[[], LooksRecord | None] | None) -> Judgments:
    """The judgments with the record of the campaign; a file of looks that cannot be read is noted there."""
    looks, notes = None, judgments.notes
    try:
        looks = None if read_looks is None else read_looks()
    except AdjudgeError as fault:
        notes = (*notes, fault.for_command_line())
    return replace(judgments, record=make_record(judgments, looks), notes=notes)


def _read_answers() -> pl.DataFrame:
    """One row per revision, by screen, output and revision, with who made it and when."""
    states = read_states()
    ensure_tasks(states["task"].unique())
    revisions = read_revisions(states)
    names = ("state", "question", "revision", "ended", "saved", *revisions.cell_names)
    columns = list(zip(*revisions.known, strict=True)) or [()] * len(names)
    types = {**SCHEMA, **EXTRA, **EXTRA_MARKED, **EXTRA_EDITED, **EXTRA_TIES, **EXTRA_SKIPPED}
    types |= {"state": pl.Int64, "question": pl.String}
    frame = pl.DataFrame(
        [
            pl.Series("history", revisions.history, dtype=pl.Int64),
            pl.Series("active_seconds", revisions.seconds, dtype=pl.Float64),
            *(
                parse_times(pl.Series(name, values))
                if name in ("ended", "saved")
                else pl.Series(name, values, dtype=types[name], strict=False)
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
    """The rows of every answer, once for every system that made what was judged."""
    tasks, campaign = get_served().tasks, get_served().campaign
    corrected = corrected_segments(tasks)
    # A score that follows from marks stands beside the criteria under the name of the protocol.
    unnamed = tasks.protocol if campaign.criteria else None
    outputs = pl.DataFrame(
        [
            (task, question, placed.judged, placed.screen.id, placed.screen.document,
             None if placed.whole else placed.item.segment, placed.output.kind,
             None if placed.whole else text_hash(placed.output.text), placed.item.inclusion, placed.screen.version,
             (placed.screen.document, placed.item.segment) in corrected, placed.position,
             None if placed.output.original is None else placed.output.text, placed.output.editor,
             unnamed if placed.asked is None else placed.asked.name, number, system, system in tasks.human)
            for (task, question), placed in get_served().question_by_id.items()
            for number, system in enumerate(placed.output.systems)
        ],
        schema={
            **dict.fromkeys(("task", "question", "output", "screen", "document", "segment"), pl.String),
            "kind": pl.String, "text_hash": pl.String, **EXTRA_SELECTED, **EXTRA_VERSIONS, **EXTRA_SIDE_BY_SIDE,
            **EXTRA_STAGES, **EXTRA_CRITERIA, "number": pl.Int64, "system": pl.String, "human": pl.Boolean,
        },
        orient="row",
    )  # fmt: skip
    rows = answers.join(outputs, on=["task", "question"], how="inner", maintain_order="left")
    if campaign.files.media is not None:
        rows = _add_played(rows)
    return rows.sort("state", "history", "number", "revision").with_columns(
        campaign=pl.lit(tasks.campaign),
        protocol=pl.lit(tasks.protocol),
        source_lang=pl.lit(tasks.source_lang),
        target_lang=pl.lit(tasks.target_lang),
    )


def _add_played(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with the seconds that the person played of what belongs to the output or stands beside its source."""
    seconds: dict[tuple[int, str], float] = defaultdict(float)
    for state, events in Save.objects.filter(events__contains='"played"').values_list("state", "events"):
        for event in json.loads(events):
            if event[1] == "played" and len(event) == 4 and isinstance(event[3], int | float):
                seconds[state, str(event[2])] += event[3]
    asked = get_served().question_by_id
    played = [
        seconds.get((state, question.output.id), 0.0) + seconds.get((state, question.item.id), 0.0)
        for state, task, name in rows.select("state", "task", "question").iter_rows()
        for question in (asked[task, name],)
    ]
    return rows.with_columns(pl.Series("played_seconds", played, dtype=pl.Float64))


def _list_excluded(frame: pl.DataFrame) -> list[SetAside]:
    """The rows of everybody who is excluded, with the reason of the last decision."""
    reasons = dict(
        Decision.objects.filter(annotator__excluded=True).order_by("made", "pk").values_list("annotator", "reason")
    )
    counted = frame.filter(pl.col("excluded")).group_by("person", "annotator", maintain_order=True).len()
    return [
        SetAside(f"annotator {name} was excluded: {reasons.get(person, '')}", count)
        for person, name, count in counted.iter_rows()
    ]


def _add_texts(frame: pl.DataFrame) -> pl.DataFrame:
    # A whole page has no single text.
    shown = [get_served().question_by_id.get(place) for place in frame.select("task", "output").iter_rows()]
    targets = [None if q is None else q.output.text if q.output.original is None else q.output.original for q in shown]
    return frame.with_columns(
        pl.Series("source_text", [None if q is None else q.item.source for q in shown], dtype=pl.String),
        pl.Series("target_text", targets, dtype=pl.String),
    )
