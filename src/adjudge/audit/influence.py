"""Influence of single annotators and documents: leave each out, fit the mixed model again at the same variances.

Effects are compared after subtracting their mean, because the general level says nothing about the systems.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.comparisons import NOBODY
from adjudge.core.errors import DataError
from adjudge.core.wording import short_list
from adjudge.rank.contrasts import contrasts
from adjudge.rank.mixed import design_from
from adjudge.rank.mixed.design import levels_of
from adjudge.rank.mixed.shared_fits import model_of
from adjudge.results.audit.trust import Influence, LeftOutUnit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from adjudge.audit.settings import AuditSettings
    from adjudge.core.arrays import Floats
    from adjudge.core.judgments import Judgments
    from adjudge.rank.mixed import MixedFit
    from adjudge.rank.mixed.shared_fits import Model, Refit, Unit


LEVEL = 0.05


def section(judgments: Judgments, settings: AuditSettings) -> Influence:  # noqa: ARG001
    """The section of an audit."""
    return influence(judgments)


def influence(judgments: Judgments) -> Influence:
    """What happens to the effects when each annotator, and each document, is left out."""
    design = design_from(judgments)
    model = model_of(design)
    whole = model.fitted
    table = judgments.final().table
    units: tuple[Unit, ...] = ("annotator", "document")
    rows: list[LeftOutUnit] = []
    needed: list[str] = []
    for unit in units:
        left_out, needed_units = _left_out(model, unit, table[unit].fill_null(NOBODY).to_numpy()[design.row])
        rows += left_out
        needed += needed_units
    if not rows and needed:
        names = short_list(needed, "or")
        raise DataError(f"without {names} the other scores cannot be ranked; collect more judgments")
    if not rows:
        raise DataError("there are no two annotators or documents, so none can be left out; nothing to audit")
    n = len(whole.systems)
    return Influence(
        tuple(sorted(rows, key=lambda row: (-row.in_se, row.name))),
        n * (n - 1) // 2,
        int(_significant(whole).sum()),
        (*model.left_out_notes, *_needed_note(needed)),
    )


def _needed_note(needed: Sequence[str]) -> tuple[str, ...]:
    """What is said of annotators and documents that cannot be left out."""
    if not needed:
        return ()
    names = short_list(needed, "or")
    return (f"without {names} the other scores cannot be ranked, so no shift is shown",)


def _left_out(model: Model, unit: Unit, names: NDArray[np.object_]) -> tuple[list[LeftOutUnit], list[str]]:
    """What leaving out each annotator or document changes, and those without which nothing can be ranked."""
    rows: list[LeftOutUnit] = []
    needed: list[str] = []
    codes = model.codes(unit)
    if codes is None or levels_of(codes) < 2:
        return rows, needed
    known = (model.fitted, _significant(model.fitted))
    for code, refitted in enumerate(model.leave_out(unit, range(levels_of(codes)))):
        gone = codes == code
        name = str(names[np.flatnonzero(gone)[0]])
        if refitted is None:
            needed.append(f"{unit} {name}")
        else:
            rows.append(_compared(known, refitted, unit, name, int(gone.sum())))
    return rows, needed


def _compared(
    known: tuple[MixedFit, NDArray[np.bool_]], refitted: Refit, unit: Unit, name: str, judgments: int
) -> LeftOutUnit:
    whole, significant = known
    kept = np.array([whole.systems.index(system) for system in refitted.systems])
    before, after = whole.effects[kept], refitted.effects
    shift = (after - after.mean()) - (before - before.mean())
    in_se = np.abs(shift) / _centred_se(whole.covariance[np.ix_(kept, kept)])
    most = int(np.argmax(in_se))
    upper = np.triu_indices(len(kept), 1)
    reversed_ = ((before[:, None] - before) * (after[:, None] - after) < 0)[upper]
    was, now = significant[np.ix_(kept, kept)], _significant(refitted)
    was = was | was.T
    now = now | now.T
    return LeftOutUnit(
        unit,
        name,
        judgments,
        refitted.systems[most],
        float(shift[most]),
        float(in_se[most]),
        int(reversed_.sum()),
        int((was & ~now)[upper].sum()),
        int((~was & now)[upper].sum()),
    )


def _centred_se(covariance: Floats) -> Floats:
    """Standard errors of effects minus their mean."""
    centre = np.eye(len(covariance)) - 1 / len(covariance)
    se: Floats = np.sqrt(np.diag(centre @ covariance @ centre))
    return se


def _significant(fitted: Refit) -> NDArray[np.bool_]:
    """Which pairs differ at .05, each by itself: upper triangle."""
    p = contrasts(fitted.effects, fitted.covariance, fitted.df).two_sided
    return np.triu(np.nan_to_num(p, nan=1.0) < LEVEL, 1)
