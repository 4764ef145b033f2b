"""Human parity: is a system as good as the human, and does the claim survive a clean test set?

Counts and the sign test follow S. Läubli, R. Sennrich, M. Volk (2018) and A. Kim and others (2022): better, tie and
worse than the human, a two-sided binomial test, and the share that is at least as good. What they leave open is tested
here: the change from one version of a test set to the other, by resampling documents, and whether contaminated segments
change more than untouched ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from adjudge.audit.parity.agreement import agreement
from adjudge.audit.parity.counts import Ties, count_part, model_contrasts
from adjudge.audit.parity.notes import PLACE, notes_on, twin_notes
from adjudge.audit.parity.outcomes import Outcomes, outcomes
from adjudge.audit.parity.resampling import Resampler, changes, resampler
from adjudge.audit.parity.settings import ParitySettings
from adjudge.core.errors import DataError, UsageError
from adjudge.results.parity import Parity, ParityChange, ParityPart, Part

if TYPE_CHECKING:
    from adjudge.core.judgments import Judgments

__all__ = ["ParitySettings", "parity"]


def parity(
    judgments: Judgments, *, human: str, before: Judgments | None = None, settings: ParitySettings | None = None
) -> Parity:
    """Compare every system with the human translation.

    Args:
        judgments: rankings, pairwise judgments or scores of one language pair.
        human: the human translation: its name, or a regular expression that fits it alone.
        before: judgments on an earlier version of the same test set; then the change to `judgments` is tested too.
        settings: see `ParitySettings`.
    """
    settings = settings or ParitySettings()
    if settings.ties not in ("half", "drop"):
        raise UsageError(f"--ties is '{settings.ties}'; choose half or drop")
    sets = [outcomes(one, human, settings.keys) for one in (judgments, before) if one is not None]
    if len({one.relative for one in sets}) > 1:
        raise DataError("one version holds ranks and the other scores; compare judgments of one kind")
    _check_margin(settings.margin, relative=sets[0].relative)
    drawn = resampler(sets, seed=settings.seed, resamples=settings.resamples)
    parts = [_parts(one, settings.contaminated) for one in sets]
    found = sets[0]
    models, model_notes = ({}, ()) if found.relative else model_contrasts(judgments, found.human, settings.margin)
    said = (*judgments.notes, *(() if before is None else before.notes))
    counted = _counted(parts[0], drawn, settings.ties)
    if models:
        whole = count_part("all", found, drawn, ties=settings.ties, contrasts=models)
        counted = (whole, *counted[1:])
    return Parity(
        settings=_shown(settings, human),
        data="+".join(one.fingerprint for one in (before, judgments) if one is not None),
        set_aside=tuple(one for part in (judgments, before) if part is not None for one in part.final().set_aside),
        notes=tuple(
            dict.fromkeys((*said, *model_notes, *notes_on(sets, drawn, settings), *twin_notes(judgments, before)))
        ),
        human=found.human,
        parts=counted,
        agreement=agreement(judgments, found.human) if found.relative else (),
        change=None if before is None else _change(parts[1], parts[0], drawn, settings.ties),
    )


def _check_margin(margin: float | None, *, relative: bool) -> None:
    if margin is None:
        return
    if not margin > 0:
        raise UsageError(f"--margin is {margin:g}, it must be above 0: the difference in points that is still parity")
    if relative:
        raise UsageError("--margin is in points of a score, but these judgments are ranks; leave it out")


def _parts(found: Outcomes, contaminated: frozenset[str] | None) -> dict[Part, Outcomes]:
    if contaminated is None:
        return {"all": found}
    ids = sorted(contaminated)
    marked = pl.col("segment").is_in(ids) | PLACE.is_in(ids).fill_null(value=False)
    touched, others = found.only(marked), found.only(~marked)
    if touched.compared.height == 0:
        raise DataError(f"none of the {len(ids)} contaminated segments was judged, such as '{ids[0]}'; check the names")
    if others.compared.height == 0:
        raise DataError("all segments are named as contaminated; leave --contaminated out")
    return {"all": found, "contaminated": touched, "untouched": others}


def _counted(parts: dict[Part, Outcomes], drawn: Resampler, ties: Ties) -> tuple[ParityPart, ...]:
    return tuple(count_part(name, one, drawn, ties=ties) for name, one in parts.items())


def _change(before: dict[Part, Outcomes], after: dict[Part, Outcomes], drawn: Resampler, ties: Ties) -> ParityChange:
    found, beyond = changes(
        {str(name): one for name, one in before.items()}, {str(name): one for name, one in after.items()}, drawn
    )
    if not found:
        raise DataError("no system is in both versions; the same systems are needed before and after")
    return ParityChange(_counted(before, drawn, ties), found, beyond, len(drawn.names), drawn.unit)


def _shown(settings: ParitySettings, human: str) -> dict[str, str | int | float | None]:
    marked = settings.contaminated
    return {
        "human": human,
        "ties": settings.ties,
        "contaminated": None if marked is None else len(marked),
        "margin": settings.margin,
        "resamples": settings.resamples,
        "seed": settings.seed,
    }
