"""Human parity: is a system as good as the human, and does the claim survive a clean test set?

Counts and the sign test follow S. Läubli, R. Sennrich, M. Volk (2018) and A. Kim and others (2022): better, tie and
worse than the human, a two-sided binomial test, and the share that is at least as good. What they leave open is tested
here: the change from one version of a test set to the other, by resampling documents, and whether contaminated segments
change more than untouched ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import polars as pl

from adjudge.audit.margins import check_margin
from adjudge.audit.parity.agreement import agreement
from adjudge.audit.parity.counts import Ties, count_part, model_contrasts
from adjudge.audit.parity.model_change import model_changes
from adjudge.audit.parity.notes import PLACE, notes_on, twin_notes
from adjudge.audit.parity.outcomes import Outcomes, outcomes
from adjudge.audit.parity.resampling import RESAMPLES, Resampler, changes, resampler
from adjudge.core.errors import DataError, UsageError
from adjudge.core.settings import option, seed_option
from adjudge.core.test_set import AFTER, BEFORE, VERSION
from adjudge.core.wording import agreeing
from adjudge.rank.edits_as_scores import as_scores
from adjudge.results.parity import Parity, ParityPart, Part
from adjudge.results.parity_change import ModelChange, ParityChange

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from adjudge.core.judgments import Judgments
    from adjudge.results.parity import Contrast

__all__ = ["ParitySettings", "parity", "split_versions"]


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
    # Post-edits and judgments of acceptability are compared as the scores that they stand for.
    judgments, before = as_scores(judgments), None if before is None else as_scores(before)
    versions = [version for version in (judgments, before) if version is not None]
    sets = _compared(versions, human, settings)
    drawn = resampler(sets, seed=settings.seed, resamples=settings.resamples)
    parts = [_parts(version, settings.contaminated) for version in sets]
    later = sets[0]
    models, model_notes = ({}, ()) if later.relative else model_contrasts(judgments, later.human, settings.margin)
    modelled, change_notes = (
        ((), ()) if before is None else model_changes(before, judgments, later.human, settings.contaminated)
    )
    read_notes = [note for version in versions for note in version.notes]
    read_notes += [*model_notes, *change_notes, *notes_on(sets, drawn, settings), *twin_notes(judgments, before)]
    return Parity(
        settings=_shown(settings, human),
        data="+".join(version.fingerprint for version in reversed(versions)),
        set_aside=tuple(aside for version in versions for aside in version.final().set_aside),
        notes=tuple(dict.fromkeys(read_notes)),
        human=later.human,
        parts=_counted(parts[0], drawn, settings.ties, models),
        agreement=agreement(judgments, later.human) if later.relative else (),
        change=None if before is None else _change(parts[1], parts[0], drawn, settings.ties, modelled),
        annotators=_annotators(judgments),
    )


def split_versions(judgments: Judgments) -> tuple[Judgments | None, Judgments]:
    """Before and after, where one campaign judged both versions of a test set; None and all of it where not."""
    table = judgments.table
    if VERSION not in table.columns or not {BEFORE, AFTER} <= set(table[VERSION].unique().to_list()):
        return None, judgments
    return judgments.select(pl.col(VERSION) == BEFORE), judgments.select(pl.col(VERSION) == AFTER)


def _annotators(judgments: Judgments) -> int | None:
    """How many people judged; None where some are not named."""
    names = judgments.table["annotator"]
    return None if names.null_count() else names.n_unique()


def _compared(versions: Sequence[Judgments], human: str, settings: ParitySettings) -> list[Outcomes]:
    """What every comparison with the human came to, by version; settings that do not fit are refused."""
    if settings.ties not in ("half", "drop"):
        raise UsageError(f"--ties is '{settings.ties}'; choose half or drop")
    sets = [outcomes(version, human, settings.keys) for version in versions]
    if len({version.relative for version in sets}) > 1:
        raise DataError("one version holds ranks and the other scores; compare judgments of one kind")
    _check_margin(settings.margin, relative=sets[0].relative)
    return sets


def _check_margin(margin: float | str | None, *, relative: bool) -> None:
    if margin is None:
        return
    check_margin(margin)
    if relative:
        raise UsageError("--margin is in points of a score, but these judgments are ranks; leave it out")


def _parts(whole: Outcomes, contaminated: frozenset[str] | None) -> dict[Part, Outcomes]:
    if contaminated is None:
        return {"all": whole}
    ids = sorted(contaminated)
    marked = pl.col("segment").is_in(ids) | PLACE.is_in(ids).fill_null(value=False)
    touched, others = whole.only(marked), whole.only(~marked)
    if touched.compared.height == 0:
        several = f"none of the {len(ids)} contaminated segments was judged, such as '{ids[0]}'"
        none = agreeing(len(ids), f"the contaminated segment '{ids[0]}' was not judged", several)
        raise DataError(f"{none}; check the names")
    if others.compared.height == 0:
        raise DataError("all segments are named as contaminated; leave --contaminated out")
    return {"all": whole, "contaminated": touched, "untouched": others}


def _counted(
    parts: dict[Part, Outcomes], drawn: Resampler, ties: Ties, contrasts: Mapping[str, Contrast] | None = None
) -> tuple[ParityPart, ...]:
    """All systems on every part; the model's contrasts are of the whole."""
    return tuple(
        count_part(name, part, drawn, ties=ties, contrasts=contrasts if name == "all" else None)
        for name, part in parts.items()
    )


def _change(
    before: dict[Part, Outcomes],
    after: dict[Part, Outcomes],
    drawn: Resampler,
    ties: Ties,
    by_model: tuple[ModelChange, ...],
) -> ParityChange:
    changed, beyond = changes(
        {str(name): part for name, part in before.items()}, {str(name): part for name, part in after.items()}, drawn
    )
    if not changed:
        raise DataError("no system is in both versions; the same systems are needed before and after")
    return ParityChange(_counted(before, drawn, ties), changed, beyond, len(drawn.names), drawn.unit, by_model)


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


@dataclass(frozen=True, kw_only=True)
class ParitySettings:
    """What a user can choose."""

    contaminated: frozenset[str] | None = None
    """Segments (or `document:segment`) to look at on their own."""
    keys: Mapping[str, str] | None = None
    """The document of every segment, where the judgments do not say it."""
    ties: Literal["half", "drop"] = option("half", "Ties in the sign test: half (half a win each) or drop.", typed=str)
    margin: float | str | None = option(
        None,
        "Scores: largest difference that counts as parity, in points or as a share of the scale.",
        metavar="POINTS|SHARE%",
        typed=str | None,
    )
    resamples: int = RESAMPLES
    seed: int = seed_option()
