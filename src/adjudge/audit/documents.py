"""Documents: which were judged by which systems, how hard they look, and whether that is the documents or the people.

The matrix of raw means (Knowles 2021, Figure 5) looks like difficulty, but each cell is mostly one or two annotators.
So the share of spread that documents explain on top of annotators and systems stands beside it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.errors import DataError
from adjudge.core.maths import divide
from adjudge.core.sheet import sheet_of
from adjudge.results.audit.tasks import Documents, ExplainedSpread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from adjudge.audit.settings import AuditSettings
    from adjudge.core.judgments import Judgments
    from adjudge.core.sheet import Sheet


def section(judgments: Judgments, settings: AuditSettings) -> Documents:  # noqa: ARG001
    """The matrix of documents by systems and what explains the scores in it."""
    sheet = sheet_of(judgments)
    sheet = sheet.keep(sheet.rated & (sheet.document >= 0))
    if len(np.unique(sheet.document)) < 2:
        raise DataError("it needs at least two known documents")
    shape = (len(sheet.documents), len(sheet.systems))
    cell = sheet.document * shape[1] + sheet.system
    counts = np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape)
    sums = np.bincount(cell, weights=sheet.score, minlength=shape[0] * shape[1]).astype(float).reshape(shape)
    means = divide(sums, counts)
    difficulty, quality = _margin(sums, counts, 1), _margin(sums, counts, 0)
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


def _margin(sums: NDArray[np.float64], counts: NDArray[np.int64], axis: int) -> NDArray[np.float64]:
    return divide(sums.sum(axis), counts.sum(axis))


def _explained(sheet: Sheet) -> tuple[ExplainedSpread, ...]:
    factors = {"systems": sheet.system, "documents": sheet.document, "annotators": sheet.annotator}
    sets = (
        ("systems",),
        ("systems", "documents"),
        ("annotators",),
        ("annotators", "systems"),
        ("annotators", "systems", "documents"),
    )
    return tuple(_fit(" + ".join(names), [factors[name] for name in names], sheet.score) for names in sets)


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
