"""Composition of scores: which systems met in tasks, and which annotators saw references (Knowles 2021, section 5).

A z-score compares a system with whatever else its annotator judged. Where tasks hold few of the systems, that company
is a matter of luck.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.core.errors import DataError
from adjudge.core.sheet import RATED, SCORE_PROTOCOLS
from adjudge.results.audit.tasks import TaskComposition

if TYPE_CHECKING:
    from adjudge.audit.settings import AuditSettings
    from adjudge.core.judgments import Judgments


def section(judgments: Judgments, settings: AuditSettings) -> TaskComposition:  # noqa: ARG001
    """Count who met whom in tasks."""
    table = judgments.final().table.filter(
        pl.col("protocol").is_in(SCORE_PROTOCOLS) & pl.col("score").is_not_null() & pl.col("annotator").is_not_null()
    )
    rated = table.filter(pl.col("kind").is_in(RATED))
    if rated.height == 0:
        raise DataError("it needs scores by known annotators")
    has_tasks = rated["task"].is_not_null().any()
    unit = ["annotator", "task"] if has_tasks else ["annotator"]
    systems = rated["system"].unique().sort().to_list()
    member = _membership(rated, unit, systems)
    together = member.T @ member
    times = np.diag(together)
    shares = together / np.maximum(times, 1)[:, None]
    pairs = ~np.eye(len(systems), dtype=bool)
    per_unit = member.sum(1)
    people = table["annotator"].n_unique()
    tasks = table.group_by("annotator").agg(pl.col("task").n_unique())["task"]
    return TaskComposition(
        unit="task" if has_tasks else "annotator",
        units=len(member),
        systems=tuple(systems),
        matrix=tuple(tuple(int(count) for count in row) for row in together),
        shares=tuple(tuple(float(share) for share in row) for row in shares),
        systems_per_unit=(int(per_unit.min()), float(per_unit.mean()), int(per_unit.max())),
        met_in_half=float((shares[pairs] >= 0.5).mean()) if len(systems) > 1 else 1.0,
        annotators=people,
        annotators_with={
            what: table.filter(condition)["annotator"].n_unique() / people
            for what, condition in (
                ("references", pl.col("kind") == "reference"),
                ("degraded outputs", pl.col("kind") == "degraded"),
                ("a human system", pl.col("human") & pl.col("kind").is_in(RATED)),
            )
        },
        annotators_with_one_task=float((tasks == 1).sum()) / len(tasks) if has_tasks else None,
    )


def _membership(rated: pl.DataFrame, unit: list[str], systems: list[str]) -> np.ndarray:
    """(units, systems): 1 where the system was judged in the unit."""
    seen = rated.select(*unit, "system").unique()
    units = seen.select(unit).unique().with_row_index("row")
    placed = seen.join(units, on=unit, nulls_equal=True)
    column = placed["system"].replace_strict(systems, range(len(systems)), return_dtype=pl.Int64).to_numpy()
    member = np.zeros((units.height, len(systems)))
    member[placed["row"].to_numpy(), column] = 1
    return member
