"""Composition and sampling of scores: which systems were judged together in tasks (Knowles 2021, section 5).

A z-score compares a system with whatever else its annotator judged. Where tasks hold few of the systems, that company
is a matter of luck. Sampling asks whether scores go with how often a system was judged, or met a human translation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.audit.intervals import correlate
from adjudge.core.errors import DataError
from adjudge.core.maths import divide
from adjudge.core.protocols import RATED, SCORED
from adjudge.core.score_sheet import item_means, sheet_of, standardised
from adjudge.results.audit.composition import TaskComposition
from adjudge.results.audit.sampling import SampledSystem, Sampling

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adjudge.audit.settings import AuditSettings
    from adjudge.core.judgments import Judgments
    from adjudge.core.score_sheet import Sheet


def composition_section(judgments: Judgments, settings: AuditSettings) -> TaskComposition:  # noqa: ARG001
    """Count who met whom in tasks."""
    table = judgments.final().table.filter(
        pl.col("protocol").is_in(SCORED) & pl.col("score").is_not_null() & pl.col("annotator").is_not_null()
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
    shares = divide(together, times[:, None], otherwise=0.0)
    pairs = ~np.eye(len(systems), dtype=bool)
    per_unit = member.sum(1)
    tasks = table.group_by("annotator").agg(pl.col("task").n_unique())["task"]
    return TaskComposition(
        unit="task" if has_tasks else "annotator",
        units=len(member),
        systems=tuple(systems),
        matrix=tuple(tuple(int(count) for count in row) for row in together),
        shares=tuple(tuple(float(share) for share in row) for row in shares),
        systems_per_unit=(int(per_unit.min()), float(per_unit.mean()), int(per_unit.max())),
        met_in_half=float((shares[pairs] >= 0.5).mean()) if len(systems) > 1 else 1.0,
        annotators=table["annotator"].n_unique(),
        annotators_with=_shares_of_annotators(table),
        annotators_with_one_task=float((tasks == 1).sum()) / len(tasks) if has_tasks else None,
    )


def _shares_of_annotators(table: pl.DataFrame) -> dict[str, float]:
    """The share of the annotators who met references, degraded outputs, or a human translation among the systems."""
    people = table["annotator"].n_unique()
    met = {
        "references": pl.col("kind") == "reference",
        "degraded outputs": pl.col("kind") == "degraded",
        "a human system": pl.col("human") & pl.col("kind").is_in(RATED),
    }
    return {what: table.filter(condition)["annotator"].n_unique() / people for what, condition in met.items()}


def _membership(rated: pl.DataFrame, unit: list[str], systems: list[str]) -> np.ndarray:
    """(units, systems): 1 where the system was judged in the unit."""
    seen = rated.select(*unit, "system").unique()
    units = seen.select(unit).unique().with_row_index("row")
    placed = seen.join(units, on=unit, nulls_equal=True)
    column = placed["system"].replace_strict(systems, range(len(systems)), return_dtype=pl.Int64).to_numpy()
    member = np.zeros((units.height, len(systems)))
    member[placed["row"].to_numpy(), column] = 1
    return member


def sampling_section(judgments: Judgments, settings: AuditSettings) -> Sampling:
    """Correlate system scores with how systems were drawn."""
    sheet = sheet_of(judgments)
    chosen = sheet if settings.method == "raw" else standardised(sheet)
    n = len(sheet.systems)
    scores = item_means(chosen).system_means(n)
    times = np.bincount(sheet.system[sheet.rated], minlength=n).astype(float)
    presence = _beside_human(sheet)
    machine = ~sheet.human
    return Sampling(
        kind="scores",
        method="raw" if settings.method == "raw" else "zscore",
        times_judged=correlate(times[machine], scores[machine]),
        reference_presence=correlate(presence[machine], scores[machine]),
        systems=tuple(
            SampledSystem(
                system=sheet.systems[i],
                human=bool(sheet.human[i]),
                shown=int(times[i]),
                labelled=int(times[i]),
                reference_share=float(presence[i]),
                score=float(scores[i]),
            )
            for i in np.argsort(-np.nan_to_num(scores, nan=-np.inf), kind="stable")
        ),
    )


def _beside_human(sheet: Sheet) -> NDArray[np.float64]:
    """Of each system's judgments, the share by annotators who also judged a human translation; NaN if nobody did."""
    human = sheet.of_kind("reference") | (sheet.of_systems(sheet.human) & sheet.rated)
    n = len(sheet.systems)
    if not human.any():
        return np.full(n, np.nan)
    met = np.zeros(len(sheet.annotators))
    met[np.unique(sheet.annotator[human])] = 1
    system, beside = sheet.system[sheet.rated], met[sheet.annotator[sheet.rated]]
    times = np.bincount(system, minlength=n)
    return divide(np.bincount(system, weights=beside, minlength=n), times, otherwise=0.0)
