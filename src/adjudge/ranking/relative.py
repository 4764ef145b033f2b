"""Ranking from relative judgments: by strengths with annotators' tastes, or by other scores with a bootstrap."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from adjudge.ranking.counts import Tally, Units, count_people, people_counts, person_of, units_of
from adjudge.ranking.decisions import check_connected, rank_bounds, resampled_rank_sets
from adjudge.ranking.ranking import Findings, Provenance, Ranking, assemble, provenance
from adjudge.ranking.significance import (
    circles,
    contradicted,
    difference_spread,
    resampling_tests,
    separation,
    sign_tests,
    small_sample_factor,
)
from adjudge.ranking.tastes import (
    ComparedStrengths,
    compare_fitted,
    compare_people,
    draws,
    spread_components,
    strength_findings,
)
from adjudge.table.comparisons import Comparisons, block_rows, not_compared, relative_judgments
from adjudge.table.comparisons import comparisons as compare
from adjudge.table.errors import DataError, UsageError, param
from adjudge.table.judgments import INCLUSION, weights_note, weights_of
from adjudge.table.maths import distinct, divide, normal_quantile
from adjudge.table.participants import MOST_SHOWN, one_judge
from adjudge.table.rng import generator
from adjudge.table.wording import agreeing, counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from adjudge.ranking.methods import Method, RankSettings
    from adjudge.ranking.significance import Separation
    from adjudge.readers.metric_scores import MetricScore
    from adjudge.table.judgments import Judgments
    from adjudge.table.maths import Floats

    _Numbers = NDArray[np.float64] | NDArray[np.int64]


# What must be said of a ranking from relative judgments: few people, tastes ignored, cycles, unbounded leads.


VERY_FEW = 3
"""Up to so many people, whatever is told rests on each of them."""
FEW = 8
"""Below so many people who share the work evenly, intervals from resampling them are too narrow."""
_SHARED_LUCK = "judgments of one text are not independent, so errors are too small if texts were judged several times"
TEXTS_NOT_NAMED = f"segments are not named: {_SHARED_LUCK}; name the segments"
COUNTED_WITHOUT_TEXTS = f"comparisons were counted without their segments: {_SHARED_LUCK}"


def effective_people(units: Units) -> float:
    """How many annotators who share the work evenly the annotators are worth: (sum of work)^2 / sum of squares."""
    n = len(units.systems)
    work = np.asarray(units.counts[:, : 2 * n * n].sum(axis=1)).ravel()
    return float(work.sum() ** 2 / (work**2).sum())


def few_people_note(units: Units) -> Iterator[str]:
    """Say that two or three people decide."""
    if units.number <= VERY_FEW:
        people = "these" if units.unnamed else f"these {units.number} people"
        yield f"only {_people(units)}: tastes are allowed for, but the result rests on {people}; ask more"


def _people(units: Units) -> str:
    """Who judged; those without a name, however many they are, are no number of people."""
    if not units.unnamed:
        return counted(units.number, "annotator")
    return f"{counted(units.number - 1, 'annotator')} and judgments without a name, which count as one person's"


def unnamed_people_note(unnamed: int, what: str, *, by_task: bool = False) -> Iterator[str]:
    """Say that judgments without an annotator, among others with one, count as one person's: all, or of each task."""
    if unnamed:
        named = counted(unnamed, f"{what} names", f"{what}s name")
        they = agreeing(unnamed, "it counts as that", "they count as those")
        whose = "one more person for each task" if by_task else "one more person"
        yield f"{named} no annotator: {they} of {whose}; name the annotators"


def lone_judge_note(units: Units) -> Iterator[str]:
    """Say which systems one of several annotators alone judged."""
    n = len(units.systems)
    cells = units.counts[:, : 2 * n * n].tocoo()
    seen = np.zeros((units.counts.shape[0], n), dtype=bool)
    for system in divmod(cells.col[cells.data > 0] % (n * n), n):
        seen[cells.row[cells.data > 0], system] = True
    named = np.arange(len(seen)) != (-1 if units.nobody is None else units.nobody)
    yield from one_judge(units.systems, seen[named], seen[~named])


def resampling_notes(units: Units, significance: str, method: Method) -> Iterator[str]:
    """Say what resampling so few people, or the sign test, leaves out."""
    if units.kind != "annotators":
        who = "those who judged" if units.unnamed else "this person"
        yield (f"fewer than two annotators are known, so {units.kind} were resampled: the result holds for {who} only")
        return
    yield from unnamed_people_note(units.unnamed, "comparison")
    worth = effective_people(units)
    instead = "" if method.significance == "tastes" else "; bradley-terry allows for it"
    if worth < FEW:
        alike = "" if worth > 0.9 * units.number else f", worth {worth:.1f} who share the work evenly"
        yield (
            f"only {_people(units)}{alike}: intervals, rank sets and lines from resampling so few "
            f"people are too narrow{instead}"
        )
    if significance == "sign":
        yield f"p-values are sign tests, which ignore that annotators have tastes{instead}"


TIES_COUNT = ("wins-or-ties", "block-wins-or-ties")
"""Methods by which a tie is worth as much as a win."""
MUCH = 0.05


def ties_note(tally: Tally, method: Method) -> Iterator[str]:
    """Say what ties, counted as won, do to systems that tie unequally often (Bojar et al. 2011, 2.3)."""
    if method.name not in TIES_COUNT:
        return
    met = tally.met.sum(-1)
    share = np.divide(tally.ties.sum(-1), met, out=np.zeros(len(met)), where=met > 0)
    most, least = int(share.argmax()), int(share.argmin())
    if share[most] - share[least] >= MUCH:
        apart = f"{share[least]:.0%} ({tally.systems[least]}) to {share[most]:.0%} ({tally.systems[most]})"
        yield (
            f"{method.name} counts a tie as much as a win, which favours systems that tie often (from {apart} "
            "of their comparisons): bradley-terry does not"
        )


def evidence_notes(tally: Tally, scores: NDArray[np.float64], level: float) -> Iterator[str]:
    """Say where nothing was decided, where systems beat each other in a circle, and where scores contradict a pair."""
    if not tally.wins.any():
        yield "every comparison is a tie, so the systems cannot be separated"
        return
    for group in circles(tally.wins, level):
        names = ", ".join(tally.systems[i] for i in group)
        yield f"the direct comparisons of {names} form a cycle, so no order agrees with all of them"
    order = np.argsort(-scores, kind="stable")
    earlier = np.argsort(order)[:, None] < np.argsort(order)[None, :]
    better, worse = np.nonzero(contradicted(scores, tally.wins) & earlier & (tally.wins < tally.wins.T))
    if len(better):
        shown = [
            f"{tally.systems[i]} won {tally.wins[i, j]:.0f} and lost {tally.wins[j, i]:.0f} against {tally.systems[j]}"
            for i, j in zip(better[:MOST_SHOWN], worse[:MOST_SHOWN], strict=True)
        ]
        more = f" and {len(better) - MOST_SHOWN} more" if len(better) > MOST_SHOWN else ""
        these = agreeing(len(better), "this pair", "these pairs")
        yield f"of {these} nothing is claimed, as scores contradict direct comparisons: {'; '.join(shown)}{more}"


def unopposed_note(tally: Tally, apart: Separation) -> Iterator[str]:
    """Say whose strength no judgment bounds."""
    leading = apart.unbounded & (apart.leads | apart.leads.T).any(axis=1)
    if leading.any():
        names = ", ".join(name for name, leads in zip(tally.systems, leading, strict=True) if leads)
        doubt = "its size depends on the prior alone; p-values come from how often it was seen"
        yield f"no judgment contradicts the lead or lag of {names}: {doubt}"


DEFAULT_RESAMPLES = 1000


def rank_relative(
    judgments: Judgments, method: Method, settings: RankSettings, *, helpers: Sequence[MetricScore] | None = None
) -> Ranking:
    """Rank systems by one of the methods for relative judgments.

    Args:
        judgments: relative judgments of one language pair and campaign.
        method: one of the methods.
        settings: those that methods share.
        helpers: scores of metrics for all outputs, which tighten what the judgments say (see `relative_helpers`).
    """
    compared = _prepared(judgments, method, settings)
    source = replace(provenance(judgments), set_aside=not_compared(judgments))
    weight = weights_of(relative_judgments(judgments).table)
    if weight is None and helpers is None:
        return rank_units(units_of(compared), source, method, settings, blocks=compared)
    units = units_of(compared)
    _check_model(units, method, settings, weight, helped=helpers is not None)
    check_connected(units.total())
    from adjudge.ranking.relative_helpers import help_strengths, weighted_strengths

    people = people_counts(units)
    if helpers is None:
        of_block = 1 / block_rows(judgments)[INCLUSION].cast(float).to_numpy()
        of_pair = of_block[compared.block] / of_block[compared.block].mean()
        weighted = count_people(compared, person_of(compared), people.group, weights=of_pair)
        found = compare_fitted(weighted_strengths(compared, of_pair, people), people, weighted.wins.sum(0))
        known = found, weights_note(of_pair, "comparison")
        return _rank_by_tastes(units, source, method, settings, blocks=compared, known=known)
    helped = help_strengths(judgments, compared, people, helpers, settings.seed)
    source = replace(source, set_aside=(*source.set_aside, *helped.matched.set_aside))
    known = compare_fitted(helped.fit, people), helped.notes
    ranking = _rank_by_tastes(units, source, method, settings, blocks=compared, known=known)
    gain = helped.gain
    return replace(
        ranking,
        settings={**ranking.settings, "helpers": len(helped.helpers), "with": helped.matched.fingerprint},
        helpers=helped.helpers,
        gain=gain.shown,
        gain_low=gain.low,
        gain_high=gain.high,
    )


def _check_model(units: Units, method: Method, settings: RankSettings, weight: Floats | None, *, helped: bool) -> None:
    """Refuse weights and helpers where there is no model with tastes, and both at once."""
    what = param("with_scores") if helped else "a column 'inclusion' with unequal probabilities"
    if (settings.significance or method.significance) != "tastes":
        raise UsageError(f"{what} needs bradley-terry with its model of tastes; choose it, or leave the other out")
    if units.kind != "annotators":
        raise DataError(f"{what} needs the names of two annotators or more; give a column 'annotator'")
    if helped and weight is not None:
        raise UsageError(
            f"{param('with_scores')} and a column 'inclusion' go together for scores only; leave out one of them"
        )


def rank_units(
    units: Units, source: Provenance, method: Method, settings: RankSettings, *, blocks: Comparisons | None = None
) -> Ranking:
    """Rank systems from counts by annotator or block; `blocks` are the underlying comparisons, if known."""
    tally = units.total()
    check_connected(tally)
    wanted = settings.significance or method.significance
    if wanted == "tastes" and method.significance != "tastes":
        raise UsageError(
            f"{method.name} has no model of tastes; choose bradley-terry, or {param('significance')} resample"
        )
    if wanted == "tastes" and units.kind == "annotators":
        return _rank_by_tastes(units, source, method, settings, blocks=blocks)
    return _rank_by_resamples(units, source, method, settings, "resample" if wanted == "tastes" else wanted)


def _count_people(units: Units) -> int | None:
    """How many people judged; None where some are not named."""
    if units.kind == "annotators":
        return None if units.unnamed else units.number
    return None if units.unnamed else 1


def _rank_by_tastes(
    units: Units,
    source: Provenance,
    method: Method,
    settings: RankSettings,
    *,
    blocks: Comparisons | None,
    known: tuple[ComparedStrengths, tuple[str, ...]] | None = None,
) -> Ranking:
    """Strengths with a model of annotators' tastes; `known` where weights or helpers are in them, with notes."""
    compared, notes = (compare_people(people_counts(units), blocks), ()) if known is None else known
    tally = units.total()
    rule = settings.lines or "decided"
    segments = 0 if blocks is None else len(distinct(blocks.segment))
    documents = 0 if blocks is None or blocks.document is None else len(distinct(blocks.document))
    return assemble(
        source,
        strength_findings(units, compared, settings),
        method=method.name,
        rule=rule,
        level=settings.level,
        settings={
            "method": method.name,
            "reference": method.reference or settings.reference or "include",
            "significance": "tastes",
            "lines": rule,
            "level": settings.level,
            "draws": draws(settings),
            "seed": settings.seed,
        },
        annotators=_count_people(units),
        notes=(
            *notes,
            *few_people_note(units),
            *unnamed_people_note(units.unnamed, "comparison"),
            *([TEXTS_NOT_NAMED] if segments == 1 else []),
            *lone_judge_note(units),
            *evidence_notes(tally, compared.fit.strength, settings.level),
            *unopposed_note(tally, compared.apart),
        ),
        components=spread_components(compared.fit, units.number, segments, documents),
    )


def _rank_by_resamples(
    units: Units, source: Provenance, method: Method, settings: RankSettings, wanted: str
) -> Ranking:
    """Scores of the tally, with intervals and rank sets from resampled annotators (or texts, or blocks)."""
    tally, rng, level = units.total(), generator(settings.seed), settings.level
    count = method.resamples or DEFAULT_RESAMPLES if settings.resamples is None else settings.resamples
    # A single block cannot be resampled.
    drawn = [method.score(part, rng) for part in units.resampled(count, rng)] if units.number > 1 else []
    resampled = np.concatenate(drawn) if drawn else np.empty((0, len(tally.systems)))
    scores = method.score(tally, rng)
    if np.isnan(scores).all():
        raise DataError(f"every comparison is a tie, so {method.name} has nothing to count; try wins-or-ties")
    # Without resamples, only the sign test is available.
    significance = wanted if len(resampled) > 1 else "sign"
    apart, signs = separation(tally.wins), sign_tests(tally.wins)
    counts = {"wins": tally.wins, "ties": tally.ties, "losses": tally.losses}
    numbers: dict[str, _Numbers] = {name: table.sum(-1).astype(np.int64) for name, table in counts.items()}
    pair_numbers: dict[str, _Numbers] = {name: table.astype(np.int64) for name, table in counts.items()}
    pair_numbers["p_sign"] = signs.two_sided
    if len(resampled) > 1:
        spread = pair_numbers["se"] = difference_spread(resampled, units.number)
        errors = _errors(resampled, units.number, level)
        # Resampling cannot find the intervals of systems that no judgment bounds.
        unbounded = np.zeros_like(apart.unbounded) if method.bounded else apart.unbounded
        numbers |= {name: np.where(unbounded, np.nan, values) for name, values in errors.items()}
    if significance == "sign":
        tests = signs.without_claims(contradicted(scores, tally.wins))
    else:
        tests = resampling_tests(scores, spread, units.number, tally.wins)
    if drawn:
        # Widened for systems that no judgment bounds.
        ranks = np.stack(rank_bounds(scores), axis=1)
        sets = apart.widened(resampled_rank_sets(scores, resampled, level), ranks, level)
        numbers |= {"rank_low": sets[:, 0], "rank_high": sets[:, 1]}
    rule = settings.lines or "decided"
    return assemble(
        source,
        Findings(
            systems=tally.systems,
            human=tally.human,
            scores=scores,
            n=tally.met.sum(-1).astype(int),
            tests=tests,
            numbers=numbers,
            pair_numbers=pair_numbers,
        ),
        method=method.name,
        rule=rule,
        level=level,
        settings={
            "method": method.name,
            "reference": method.reference or settings.reference or "include",
            "significance": significance,
            "lines": rule,
            "level": level,
            "resampled": units.kind,
            "resamples": len(resampled),
            "seed": settings.seed,
        },
        annotators=_count_people(units),
        notes=(
            *resampling_notes(units, significance, method),
            *ties_note(tally, method),
            *evidence_notes(tally, scores, level),
            *(() if method.bounded else unopposed_note(tally, apart)),
        ),
    )


def _errors(resampled: NDArray[np.float64], units: int, level: float) -> dict[str, NDArray[np.float64]]:
    """The standard error and the interval of every score, from scores of resamples."""
    known, unknown = np.ma.masked_invalid(resampled), np.isnan(resampled).any(axis=0)
    low, high = np.quantile(np.nan_to_num(resampled), [level / 2, 1 - level / 2], axis=0)
    return {
        "se": np.asarray(known.std(axis=0, ddof=1).filled(np.nan)) * np.sqrt(small_sample_factor(units)),
        "low": np.where(unknown, np.nan, low),
        "high": np.where(unknown, np.nan, high),
    }


def _prepared(judgments: Judgments, method: Method, settings: RankSettings) -> Comparisons:
    if method.reference and settings.reference and settings.reference != method.reference:
        raise UsageError(
            f"{method.name} is defined with {param('reference')} {method.reference}; choose another method"
        )
    compared = compare(judgments)
    if (method.reference or settings.reference) == "exclude":
        compared = compared.without(compared.human)
    check_comparable(compared)
    return compared


def check_comparable(compared: Comparisons) -> None:
    """Refuse fewer than two systems, and systems that were never compared."""
    if len(compared.systems) < 2:
        names = ", ".join(compared.systems) or "no system"
        raise DataError(f"at least two systems must be compared, the data hold {names}; nothing can be ranked")
    if len(compared) == 0:
        raise DataError("no two systems were ranked in the same block, so nothing can be compared; check the columns")


# The customary ratios of wins, one function per method. Each takes a tally and gives every system's score.
#
# `wins-or-ties`        share of comparisons won or tied, ">= others" (Bojar et al. 2011; Equation 1 of Lopez 2012).
#                       Rewards ties: systems that resemble many others gain by it.
# `wins`                share of comparisons won, "> others" (Bojar et al. 2011). Ties count against both systems.
#                       `wins-no-reference` leaves out comparisons with the reference (Equation 2 of Lopez 2012).
# `wins-no-ties`        wins / (wins + losses), ties left out (Bojar et al. 2011; Equation 3 of Lopez 2012).
# `block-wins-or-ties`  share of blocks in which no system was better, ">= all in block" (Bojar et al. 2011).
# `block-wins`          share of blocks in which the system was better than all others, "> all in block".
# `rank-points`         mean of K + 1 - rank, where K is the number of labels on the scale (Kim et al.).
#                       Treats the distance between ranks 1 and 2 like that between 4 and 5.
# `expected-wins`       mean over opponents of wins / (wins + losses) against each (Koehn 2012).
#
# All but the last depend on who was compared with whom. By expected wins every opponent weighs the same, however
# often it was met; opponents never met, or only tied with, are left out of the mean. Of the block measures and rank
# points the denominator is the number of blocks in which the system has a rank. A system without a denominator has no
# score (NaN).


def wins_or_ties(tally: Tally) -> NDArray[np.float64]:
    """Share of comparisons won or tied."""
    return divide((tally.wins + tally.ties).sum(-1), tally.met.sum(-1))


def wins(tally: Tally) -> NDArray[np.float64]:
    """Share of comparisons won."""
    return divide(tally.wins.sum(-1), tally.met.sum(-1))


def wins_no_ties(tally: Tally) -> NDArray[np.float64]:
    """Share won of the comparisons that were not tied."""
    return divide(tally.wins.sum(-1), (tally.wins + tally.losses).sum(-1))


def block_wins_or_ties(tally: Tally) -> NDArray[np.float64]:
    """Share of blocks in which no system was better."""
    return divide(tally.block_wins_or_ties, tally.blocks)


def block_any(tally: Tally) -> NDArray[np.float64]:
    """Share of blocks in which the system was better than another, or tied with it (Bojar et al. 2011, footnote 6)."""
    return divide(tally.block_not_last, tally.blocks)


def block_wins(tally: Tally) -> NDArray[np.float64]:
    """Share of blocks won outright."""
    return divide(tally.block_wins, tally.blocks)


def rank_points(tally: Tally) -> NDArray[np.float64]:
    """Mean of labels on the scale + 1 - rank."""
    return divide(tally.points, tally.blocks)


def expected_wins(tally: Tally) -> NDArray[np.float64]:
    """Mean over opponents of the share won against each."""
    decided = tally.wins + tally.losses
    against = np.nan_to_num(divide(tally.wins, decided))
    return divide(against.sum(-1), (decided > 0).sum(-1).astype(float))


# `trueskill`: skills updated match by match (Herbrich et al. 2006; for translation, Sakaguchi et al. 2014).
#
# Skills start at 0 with spread 1; beta is half the spread, the margin of a draw follows from the share of ties, and
# skills do not drift (systems do not change). The outcome depends on the order of the matches, so the mean over several
# random orders is reported. All orders, and all resamples, advance together, one match at a time.


BETA = 0.5
ORDERS = 16


def score_by_trueskill(tally: Tally, rng: np.random.Generator) -> NDArray[np.float64]:
    """The mean skill over random orders for one tally; over one order each for a batch of tallies."""
    if tally.wins.ndim == 2:
        wins, ties = (np.repeat(counts[None], ORDERS, axis=0) for counts in (tally.wins, tally.ties))
        mean: NDArray[np.float64] = _play(wins, ties, rng).mean(0)
        return mean
    return _play(tally.wins, tally.ties, rng)


def _play(wins: NDArray[np.float64], ties: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    first, second, drawn, last = _matches(wins, ties, rng)
    batch, n = wins.shape[0], wins.shape[-1]
    margin = draw_margin(drawn, last)
    mean, variance = np.zeros((batch, n)), np.ones((batch, n))
    rows = np.arange(batch)
    for match in range(first.shape[1]):
        playing = rows[match < last] if (match >= last).any() else rows
        pair = (playing[None, :], np.stack([first[playing, match], second[playing, match]]))
        mean[pair], variance[pair] = update(mean[pair], variance[pair], drawn[playing, match], margin[playing])
    return mean


def _matches(
    wins: NDArray[np.float64], ties: NDArray[np.float64], rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_], NDArray[np.int64]]:
    """Every comparison once, in random order per row: winner (or either, of a draw), loser, drawn; and how many."""
    batch, n = wins.shape[0], wins.shape[-1]
    cells = np.concatenate([wins.reshape(batch, -1), np.triu(ties, 1).reshape(batch, -1)], axis=1).astype(np.int64)
    last = cells.sum(1)
    played = np.zeros((batch, int(last.max(initial=0))), dtype=np.int64)
    for row in range(batch):
        played[row, : last[row]] = rng.permutation(np.repeat(np.arange(cells.shape[1]), cells[row]))
    drawn, pair = np.divmod(played, n * n)
    first, second = np.divmod(pair, n)
    return first, second, drawn.astype(bool), last


def draw_margin(drawn: NDArray[np.bool_], last: NDArray[np.int64]) -> NDArray[np.float64]:
    """The margin within which two performances count as a draw, from the share of draws of each row."""
    share = drawn.sum(1) / np.maximum(last, 1)
    margin: NDArray[np.float64] = normal_quantile((np.clip(share, 1e-6, 1 - 1e-6) + 1) / 2) * np.sqrt(2) * BETA
    return margin


def update(
    mean: NDArray[np.float64], variance: NDArray[np.float64], drawn: NDArray[np.bool_], margin: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Means and variances (2, matches) of both players after a match that the first one won, or that was drawn."""
    c2 = 2 * BETA**2 + variance.sum(0)
    c = np.sqrt(c2)
    t, e = (mean[0] - mean[1]) / c, margin / c
    v, w = np.empty_like(t), np.empty_like(t)
    v[drawn], w[drawn] = _drawn(t[drawn], e[drawn])
    v[~drawn], w[~drawn] = _won(t[~drawn], e[~drawn])
    moved = mean + variance / c * v * np.array([[1.0], [-1.0]])
    return moved, variance * np.maximum(1 - variance / c2 * w, 1e-6)


def _won(t: NDArray[np.float64], e: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    from scipy.special import log_ndtr

    x = t - e
    v = np.exp(-(x**2) / 2 - log_ndtr(x)) / np.sqrt(2 * np.pi)
    return v, v * (v + x)


def _drawn(t: NDArray[np.float64], e: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    from scipy.special import ndtr

    size = np.abs(t)
    low, high = -e - size, e - size
    mass = np.maximum(ndtr(high) - ndtr(low), 1e-12)
    density_low, density_high = (np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi) for x in (low, high))
    v = (density_low - density_high) / mass
    w = v**2 + (high * density_high - low * density_low) / mass
    return np.where(t < 0, -v, v), w
