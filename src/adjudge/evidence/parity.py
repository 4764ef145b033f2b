"""Human parity: is a system as good as the human, and does the claim survive a clean test set?

Counts and the sign test follow S. Läubli, R. Sennrich, M. Volk (2018) and A. Kim and others (2022): better, tie and
worse than the human, a two-sided binomial test, and the share that is at least as good. What they leave open is tested
here: the change from one version of a test set to the other, by resampling documents, and whether contaminated segments
change more than untouched ones.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import fmean
from typing import TYPE_CHECKING, Literal

import polars as pl

from adjudge.evidence import parity_counts
from adjudge.evidence.conditions import find_conditions
from adjudge.evidence.parity_results import LEVEL, Contrast, GroupAgreement, Parity, ParityChange, ParityPart, Part
from adjudge.people.coefficients import cohen_kappa
from adjudge.ranking.changes import check_margin
from adjudge.ranking.scores import as_scores
from adjudge.table.errors import DataError, UsageError, param
from adjudge.table.protocols import NOT_TRANSLATIONS, RELATIVE
from adjudge.table.settings import option, seed_option
from adjudge.table.texts import AFTER, BEFORE, VERSION
from adjudge.table.wording import agreeing

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    ranks: tuple[list[int], list[int]] = ([], [])
    preferences: tuple[list[int], list[int]] = ([], [])
    for both in pairs:
        systems = sorted(both[0].keys() & both[1].keys(), key=lambda name: (name != human, name))
        for given, own_ranks, preferred in zip(both, ranks, preferences, strict=True):
            own_ranks += [given[name] for name in systems]
            preferred += [(given[b] > given[a]) - (given[b] < given[a]) for a, b in combinations(systems, 2)]
    return GroupAgreement(names, len(pairs), cohen_kappa(*ranks), cohen_kappa(*preferences))


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
    if settings.ties not in ("half", "drop"):
        raise UsageError(f"{param('ties')} is '{settings.ties}'; choose half or drop")
    sets = [parity_counts.outcomes(version, human, settings.keys) for version in versions]
    if len({version.relative for version in sets}) > 1:
        raise DataError("one version holds ranks and the other scores; compare judgments of one kind")
    later = sets[0]
    if settings.margin is not None:
        check_margin(settings.margin)
        if later.relative:
            raise UsageError(f"{param('margin')} is in points of a score, but these judgments are ranks; leave it out")
    drawn = parity_counts.resampler(sets, seed=settings.seed, resamples=settings.resamples)
    parts = [_parts(version, settings.contaminated) for version in sets]
    models, model_notes = (
        ({}, ()) if later.relative else parity_counts.model_contrasts(judgments, later.human, settings.margin)
    )
    modelled, change_notes = (
        ((), ())
        if before is None
        else parity_counts.model_changes(before, judgments, later.human, settings.contaminated)
    )
    change = None
    if before is not None:
        changed, beyond = parity_counts.changes(parts[1], parts[0], drawn)
        if not changed:
            raise DataError("no system is in both versions; the same systems are needed before and after")
        earlier = _counted(parts[1], drawn, settings.ties)
        change = ParityChange(earlier, changed, beyond, len(drawn.names), drawn.unit, modelled)
    read_notes = [note for version in versions for note in version.notes]
    annotators = judgments.table["annotator"]
    read_notes += [
        *model_notes,
        *change_notes,
        *parity_counts.notes_on(sets, drawn, settings),
        *parity_counts.twin_notes(judgments, before),
    ]
    groups = agreement(judgments, later.human) if later.relative else ()
    kappas = [group.kappa_ranks for group in groups if math.isfinite(group.kappa_ranks)]
    humans = judgments.table.filter(pl.col("human"))["system"].unique().to_list()
    conditions = replace(
        find_conditions(judgments, len({*humans, later.human}), checked=True if settings.contaminated else None),
        agreement=fmean(kappas) if kappas else None,
    )
    counted = _counted(parts[0], drawn, settings.ties, models)
    pairs, decided = _decided_in_ranking(judgments, later.human, settings.seed)
    beside = tuple(replace(system, in_ranking=decided.get(system.system)) for system in counted[0].systems)
    return Parity(
        settings={
            "human": human,
            "ties": settings.ties,
            "contaminated": None if settings.contaminated is None else len(settings.contaminated),
            "margin": settings.margin,
            "resamples": settings.resamples,
            "seed": settings.seed,
        },
        data="+".join(version.fingerprint for version in reversed(versions)),
        set_aside=tuple(aside for version in versions for aside in version.final().set_aside),
        notes=tuple(dict.fromkeys(read_notes)),
        human=later.human,
        parts=(replace(counted[0], systems=beside), *counted[1:]),
        agreement=groups,
        change=change,
        annotators=None if annotators.null_count() else annotators.n_unique(),
        conditions=conditions,
        pairs=pairs,
    )


def _decided_in_ranking(judgments: Judgments, human: str, seed: int) -> tuple[int, dict[str, bool]]:
    """How many pairs a ranking has, and which systems it decides better or worse than the human; nothing if none."""
    from adjudge.ranking.estimator import estimator_of

    try:
        estimator = estimator_of(judgments, seed=seed)
        better = estimator.decide(LEVEL, seed=seed).better
    except DataError:
        return 0, {}
    systems = estimator.systems
    if human not in systems:
        return 0, {}
    place = systems.index(human)
    decided = {name: bool(better[i, place] or better[place, i]) for i, name in enumerate(systems) if i != place}
    return len(systems) * (len(systems) - 1) // 2, decided


def split_versions(judgments: Judgments) -> tuple[Judgments | None, Judgments]:
    """Before and after, where one campaign judged both versions of a test set; None and all of it where not."""
    table = judgments.table
    if VERSION not in table.columns or not {BEFORE, AFTER} <= set(table[VERSION].unique().to_list()):
        return None, judgments
    return judgments.select(pl.col(VERSION) == BEFORE), judgments.select(pl.col(VERSION) == AFTER)


def _parts(whole: parity_counts.Outcomes, contaminated: frozenset[str] | None) -> dict[Part, parity_counts.Outcomes]:
    if contaminated is None:
        return {"all": whole}
    ids, marked = sorted(contaminated), parity_counts.is_marked(contaminated)
    touched, others = whole.only(marked), whole.only(~marked)
    if touched.compared.height == 0:
        several = f"none of the {len(ids)} contaminated segments was judged, such as '{ids[0]}'"
        none = agreeing(len(ids), f"the contaminated segment '{ids[0]}' was not judged", several)
        raise DataError(f"{none}; check the names")
    if others.compared.height == 0:
        raise DataError(f"all segments are named as contaminated; leave {param('contaminated')} out")
    return {"all": whole, "contaminated": touched, "untouched": others}


def _counted(
    parts: dict[Part, parity_counts.Outcomes],
    drawn: parity_counts.Resampler,
    ties: parity_counts.Ties,
    contrasts: Mapping[str, Contrast] | None = None,
) -> tuple[ParityPart, ...]:
    """All systems on every part; the model's contrasts are of the whole."""
    return tuple(
        parity_counts.count_part(name, part, drawn, ties=ties, contrasts=contrasts if name == "all" else None)
        for name, part in parts.items()
    )


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
    resamples: int = parity_counts.RESAMPLES
    seed: int = seed_option()
