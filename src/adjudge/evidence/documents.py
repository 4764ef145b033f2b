"""Documents: which systems were judged on which, how hard each looks, and whether documents or annotators explain it.

The matrix of raw means (Knowles 2021, Figure 5) looks like difficulty, but each cell is mostly one or two annotators.
So the share of spread that documents explain on top of annotators and systems stands beside it. The matrix may also
hold means of z-scores, the estimates of the mixed model with an effect for every cell, which allows for who judged it,
or the means of a metric, which nobody's strictness touches.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from adjudge.evidence.composition import Documents, ExplainedSpread
from adjudge.ranking.scores import ScoreEstimator, fit_cells
from adjudge.readers.metric_scores import read_metric_scores
from adjudge.table.errors import DataError, param, unknown_choice
from adjudge.table.files import read_bytes
from adjudge.table.judgments import Judgments, fingerprint
from adjudge.table.maths import divide
from adjudge.table.score_sheet import Sheet, sheet_of, standardised

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from adjudge.evidence.audit import AuditSettings


RAW = "raw"
SCALES = (RAW, "zscore", "mixed")
_PATH_MARKS = ("/", "\\", ".")


def documents_setting(settings: AuditSettings) -> str | None:
    """What the matrix shows, where it is not raw means; a file is named with the fingerprint of its content."""
    chosen = str(settings.documents_by)
    if chosen in SCALES:
        return None if chosen == RAW else chosen
    if not any(mark in chosen for mark in _PATH_MARKS):
        raise unknown_choice(f"scale for {param('documents_by')}", chosen, [*SCALES, "a file of a metric's scores"])
    return f"{Path(chosen).name}:{fingerprint(read_bytes(Path(chosen)).decode(errors='replace'))}"


def documents_section(judgments: Judgments, settings: AuditSettings) -> Documents:
    """The matrix of documents by systems and what explains the scores in it."""
    raw = _matrix_of_scores(judgments)
    chosen = str(settings.documents_by)
    if chosen == RAW:
        return raw
    if chosen == "zscore":
        return replace(_matrix_of_scores(judgments, z=True), explained=raw.explained, scale="z-score")
    if chosen == "mixed":
        label, cells = "estimate of the mixed model", _model_cells(judgments)
    else:
        label, cells = _metric_cells(judgments, Path(chosen))
    # The matrix with other values, the document with the highest mean first.
    matrix = {name: [cells.get((name, system)) for system in raw.systems] for name in raw.documents}
    mean = {name: _mean([value for value in row if value is not None]) for name, row in matrix.items()}
    order = sorted(raw.documents, key=lambda name: -np.nan_to_num(mean[name], nan=-np.inf))
    counts = dict(zip(raw.documents, raw.counts, strict=True))
    return replace(
        raw,
        documents=tuple(order),
        matrix=tuple(tuple(matrix[name]) for name in order),
        counts=tuple(counts[name] for name in order),
        difficulty=tuple(mean[name] for name in order),
        scale=label,
    )


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else float("nan")


def _model_cells(judgments: Judgments) -> dict[tuple[str, str], float]:
    """The score of every system on every document by the mixed model with an effect for each."""
    design, table = ScoreEstimator(judgments, check=False).design, judgments.final().table
    known = table["document"][design.row].is_not_null().to_numpy()
    part = design.subset(known)
    names = table["document"][part.row].to_list()
    documents = sorted(set(names))
    code = np.array([documents.index(name) for name in names])
    cells = fit_cells(part, code, documents)
    return {
        (documents[d], part.systems[s]): float(effect)
        for s, d, effect in zip(cells.owner, cells.level, cells.fit.effects, strict=True)
    }


def _metric_cells(judgments: Judgments, path: Path) -> tuple[str, dict[tuple[str, str], float]]:
    """The mean of a metric for every system on every document, and the metric's name."""
    scores = read_metric_scores([path])
    name = next((score.metric for score in scores if score.score is not None), None)
    rows = judgments.table.select("segment", "document").drop_nulls().unique().rows()
    where: dict[str, str | None] = {}
    for segment, document in rows:
        # A segment of that name in two documents says nothing of its document.
        where[segment] = document if where.get(segment, document) == document else None
    values: dict[tuple[str, str], list[float]] = {}
    for score in scores:
        document = score.document or (None if score.segment is None else where.get(score.segment))
        if score.metric == name and document is not None and score.score is not None:
            values.setdefault((document, score.system), []).append(score.score)
    systems = {system for _, system in values}
    if name is None or not systems & set(judgments.systems):
        raise DataError(f"{path.name} has no score of these systems on these documents; check its names")
    return f"mean of {name}", {cell: _mean(cell_scores) for cell, cell_scores in values.items()}


def _matrix_of_scores(judgments: Judgments, *, z: bool = False) -> Documents:
    sheet = sheet_of(judgments)
    if z:
        sheet = standardised(sheet)
        sheet = sheet.keep(~np.isnan(sheet.score))
    sheet = sheet.keep(sheet.rated & (sheet.document >= 0))
    if len(np.unique(sheet.document)) < 2:
        raise DataError("it needs at least two known documents")
    shape = (len(sheet.documents), len(sheet.systems))
    cell = sheet.document * shape[1] + sheet.system
    counts = np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape)
    sums = np.bincount(cell, weights=sheet.score, minlength=shape[0] * shape[1]).astype(float).reshape(shape)
    means = divide(sums, counts)
    difficulty, quality = (divide(sums.sum(axis), counts.sum(axis)) for axis in (1, 0))
    rows = [i for i in np.argsort(-np.nan_to_num(difficulty, nan=-np.inf), kind="stable") if counts[i].sum()]
    columns = np.argsort(-np.nan_to_num(quality, nan=-np.inf), kind="stable")
    return Documents(
        documents=tuple(sheet.documents[i] for i in rows),
        systems=tuple(sheet.systems[j] for j in columns),
        matrix=tuple(tuple(None if counts[i, j] == 0 else float(means[i, j]) for j in columns) for i in rows),
        counts=tuple(tuple(int(counts[i, j]) for j in columns) for i in rows),
        difficulty=tuple(float(difficulty[i]) for i in rows),
        coverage=float((counts[rows] > 0).mean()),
        explained=_explained(sheet),
    )


def _explained(sheet: Sheet) -> tuple[ExplainedSpread, ...]:
    factors = {"systems": sheet.system, "documents": sheet.document, "annotators": sheet.annotator}
    shown = ("systems", "systems + documents", "annotators", "annotators + systems",
             "annotators + systems + documents")  # fmt: skip
    return tuple(_fit(names, [factors[name] for name in names.split(" + ")], sheet.score) for names in shown)


def _fit(name: str, factors: Sequence[NDArray[np.int64]], score: NDArray[np.float64]) -> ExplainedSpread:
    """Least squares on indicator columns, by the normal equations; their rank is the number of free parameters."""
    from scipy.sparse import coo_array, hstack

    rows = np.arange(len(score))
    blocks = [coo_array((np.ones(len(score)), (rows, np.unique(factor, return_inverse=True)[1]))) for factor in factors]
    design = hstack(blocks).tocsr()
    values, vectors = np.linalg.eigh((design.T @ design).toarray())
    usable = values > values.max() * 1e-10
    centred = score - score.mean()
    projected = vectors[:, usable].T @ (design.T @ centred)
    explained = float((projected**2 / values[usable]).sum())
    total = float(centred @ centred)
    free = len(score) - int(usable.sum())
    r2 = explained / total if total > 0 else 0.0
    adjusted = 1 - (1 - r2) * (len(score) - 1) / free if free > 0 else float("nan")
    return ExplainedSpread(name, r2, adjusted)
