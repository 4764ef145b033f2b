"""Human parity: is a system as good as the human, and does the claim survive a clean test set?

Counts and the sign test follow S. Läubli, R. Sennrich, M. Volk (2018) and A. Kim and others (2022): better, tie and
worse than the human, a two-sided binomial test, and the share that is at least as good. What they leave open is tested
here: the change from one version of a test set to the other, by resampling documents, and whether contaminated segments
change more than untouched ones.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Literal

import polars as pl

from adjudge.evidence.parity_counts import (
    PLACE,
    RESAMPLES,
    Outcomes,
    Resampler,
    Ties,
    changes,
    count_part,
    model_changes,
    model_contrasts,
    notes_on,
    outcomes,
    resampler,
    twin_notes,
)
from adjudge.evidence.parity_results import GroupAgreement, ModelChange, Parity, ParityChange, ParityPart, Part
from adjudge.people.coefficients import cohen_kappa
from adjudge.ranking.changes import check_margin
from adjudge.ranking.scores import as_scores
from adjudge.table.errors import DataError, UsageError, param
from adjudge.table.protocols import NOT_TRANSLATIONS, RELATIVE
from adjudge.table.settings import option, seed_option
from adjudge.table.texts import AFTER, BEFORE, VERSION
from adjudge.table.wording import agreeing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from adjudge.evidence.parity_results import Contrast
    from adjudge.table.judgments import Judgments


# Agreement of every two annotators who ranked the same segments: Cohen's kappa, unweighted.
#
# Over rank numbers: the ranks of all candidates of all shared segments, one after the other. Over preferences: every
# pair of candidates of a segment is one item with the categories better, tie, worse. The human stands first in a
# pair, then candidates go by name; the order matters to kappa, because chance follows how often the first is
# preferred.


FEWEST_SEGMENTS = 5

Ranks = dict[str, int]


def agreement(judgments: Judgments, human: str) -> tuple[GroupAgreement, ...]:
    """One entry for every two annotators with at least a few segments in common, by name."""
    shared: dict[tuple[str, str], list[tuple[Ranks, Ranks]]] = {}
    for by_annotator in _items(judgments).values():
        for first, other in combinations(sorted(by_annotator), 2):
            shared.setdefault((first, other), []).append((by_annotator[first], by_annotator[other]))
    return tuple(
        _group(names, pairs, human) for names, pairs in sorted(shared.items()) if len(pairs) >= FEWEST_SEGMENTS
    )


def _items(judgments: Judgments) -> dict[tuple[str, str, int], dict[str, Ranks]]:
    """Ranks by segment and annotator; a segment that one annotator saw twice is another item the second time."""
    table = judgments.final().table.filter(
        pl.col("protocol").is_in(RELATIVE)
        & ~pl.col("kind").is_in(NOT_TRANSLATIONS)
        & pl.col("rank").is_not_null()
        & pl.col("annotator").is_not_null()
    )
    names = ("annotator", "document", "segment", "task", "screen")
    columns = [pl.col(name).fill_null("") for name in names]
    seen: Counter[tuple[str, str, str]] = Counter()
    times: dict[tuple[str, str, str, str, str], int] = {}
    items: dict[tuple[str, str, int], dict[str, Ranks]] = {}
    for who, document, segment, task, screen, system, rank in table.select(*columns, "system", "rank").iter_rows():
        block = (who, document, segment, task, screen)
        if block not in times:
            times[block] = seen[who, document, segment]
            seen[who, document, segment] += 1
        items.setdefault((document, segment, times[block]), {}).setdefault(who, {}).setdefault(system, rank)
    return items


def _group(names: tuple[str, str], pairs: list[tuple[Ranks, Ranks]], human: str) -> GroupAgreement:
    first_ranks: list[int] = []
    second_ranks: list[int] = []
    first_signs: list[int] = []
    second_signs: list[int] = []
    for first, other in pairs:
        systems = sorted(first.keys() & other.keys(), key=lambda name: (name != human, name))
        first_ranks += [first[name] for name in systems]
        second_ranks += [other[name] for name in systems]
        for a, b in combinations(systems, 2):
            first_signs.append(_sign(first[b] - first[a]))
            second_signs.append(_sign(other[b] - other[a]))
    kappa_ranks = cohen_kappa(first_ranks, second_ranks)
    return GroupAgreement(names, len(pairs), kappa_ranks, cohen_kappa(first_signs, second_signs))


def _sign(value: int) -> int:
    return (value > 0) - (value < 0)


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
        raise UsageError(f"{param('ties')} is '{settings.ties}'; choose half or drop")
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
        raise UsageError(f"{param('margin')} is in points of a score, but these judgments are ranks; leave it out")


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
        raise DataError(f"all segments are named as contaminated; leave {param('contaminated')} out")
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
