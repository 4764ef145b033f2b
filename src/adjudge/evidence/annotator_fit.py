"""Whose judgments do not follow those of the others: what the model and the embedded reference say of every annotator.

Scores are predicted from those of all others by the mixed model (`mixed.agreement`). Relative judgments are compared
with the strengths that the others give. Annotator g has the score s and the information H of the likelihood at the
plain fit t (`ranking.tastes`); H = sum l q q' gives the rows

    x = sqrt(l) q,    z = q's / sqrt(l) + x't,    Var(z) = phi + tau^2 l,

and the agreement is the slope of z on x'u, where u are the strengths by all others. A person who clicks at random
spreads comparisons as much as others do, so that no spread is estimated. Comparisons tell less than scores.

A screen with a human translation tells more: how often the person ranks it above all systems, beside how often the
others do (hypergeometric, one-sided).

Careless people spoil the predictions and variances by which they are found. So everybody is compared with those whose
agreement is shown, which are found in a few rounds. Nobody is left out of any ranking by this.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from adjudge.mixed.agreement import MOST_ROWS, PersonFit, fits_of_people
from adjudge.mixed.design import MixedDesign, design_from
from adjudge.people.check import CheckRule, check
from adjudge.ranking import bradley_terry
from adjudge.ranking.counts import MOST_PEOPLE, PeopleCounts, count_people, labelling_annotators, person_of
from adjudge.ranking.decisions import holm
from adjudge.ranking.estimator import is_relative
from adjudge.ranking.scores import as_scores
from adjudge.ranking.tastes import fit_tastes
from adjudge.ranking.working_rows import moments
from adjudge.table.comparisons import comparisons
from adjudge.table.errors import DataError
from adjudge.table.wording import agreeing, counted, say_p, short_list

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from adjudge.people.results import AnnotatorCheck, Checked
    from adjudge.table.comparisons import Comparisons
    from adjudge.table.judgments import Judgments
    from adjudge.table.maths import Bools, Floats

NAMED = 30.0
"""A Bayes factor for careless work above this names a person."""
SHOWN = 1.645
"""Agreement is shown where it is so many standard errors above 0."""
ENOUGH = 2.5
"""With fewer standard errors than this between careless and ordinary work, too little is known to tell."""
ROUNDS = 3
"""How often it is looked at anew who can be trusted, at most."""
MOST_WORK = 500_000
"""Scores that may be fitted in these rounds: some seconds."""
FEWEST_PEOPLE = 3
MOST_NAMED = 5
"""So many suspects are told one by one."""
USUAL_SPREAD = 0.25
"""By how much the logarithm of the spread of ordinary people differs, at least."""
NARROW = 3.3
"""Scores hardly vary where they spread by so many standard deviations less than those of the others do."""
FEWEST_SPREADS = 5
"""So many people must have a spread."""
REFERENCE_LEVEL = 0.01
"""People are told who let the human translation win so seldom, after Holm's correction."""
_LARGEST = 1e12
"""Larger Bayes factors say no more."""
_RANK = 1e-9


def check_with_fit(judgments: Judgments, *, rule: CheckRule | None = None) -> Checked:
    """Check the annotators of one language pair, and say whose judgments follow those of the others."""
    return with_fit(check(judgments, rule=rule), judgments)


def with_fit(checked: Checked, judgments: Judgments) -> Checked:
    """A check with the agreement of every annotator; `passed` and `dropped` stay as they are."""
    found = _fits(judgments)
    annotators = tuple(_described(one, found) for one in checked.annotators)
    notes = (*checked.notes, *found.notes, *_notes(annotators, relative=found.relative))
    return replace(checked, annotators=annotators, notes=notes)


@dataclass(frozen=True)
class ReferenceWins:
    """How often somebody ranked the human translation above all systems of a screen."""

    screens: int
    wins: int
    others: float
    """The share among the screens of all others."""
    p: float
    """That so few wins are chance."""


@dataclass(frozen=True, eq=False)
class _Found:
    people: Mapping[str, PersonFit | None]
    """By name; None for those of whom the model can tell nothing."""
    wins: Mapping[str, ReferenceWins]
    relative: bool
    notes: tuple[str, ...] = ()


def _fits(judgments: Judgments) -> _Found:
    judgments = as_scores(judgments)
    try:
        if is_relative(judgments):
            compared = comparisons(judgments).of_named_annotators()
            return _Found(relative_fits(compared), reference_wins(compared), relative=True)
        # Agreement has no unit: the fit to normal scores, by which pairs are decided, serves here too.
        design = design_from(judgments, model="mixed-rank")
        design.check()
        return _Found(score_fits(design, _names(judgments, design)), {}, relative=False, notes=_too_many(design))
    except DataError:
        # What cannot be ranked has no model; the check says what it can without one.
        return _Found({}, {}, relative=False)


def _names(judgments: Judgments, design: MixedDesign) -> dict[int, str]:
    """The names of annotators by code; those that stand for nobody known have none."""
    if design.annotator is None:
        return {}
    codes, first = np.unique(design.annotator, return_index=True)
    named = judgments.final().table["annotator"].gather(design.row[first])
    return {int(code): name for code, name in zip(codes, named, strict=True) if name is not None}


def _too_many(design: MixedDesign) -> tuple[str, ...]:
    if len(design) <= MOST_ROWS:
        return ()
    return (f"whose scores follow those of the others is not computed for more than {MOST_ROWS:,} scores",)


def score_fits(design: MixedDesign, names: Mapping[int, str]) -> dict[str, PersonFit | None]:
    """The agreement of every named annotator with the others; `names` has those of the codes that have one."""
    if design.annotator is None:
        return {}
    fits = _settled(int(design.annotator.max()) + 1, partial(fits_of_people, design), len(design))
    return {name: fits.get(code) for code, name in names.items()}


def _settled(people: int, fits_beside: Callable[[Bools], dict[int, PersonFit]], rows: int = 0) -> dict[int, PersonFit]:
    """Fits beside those whose agreement is shown, which are found in a few rounds, beginning with everybody.

    Where less than half of all people, or fewer than `FEWEST_PEOPLE`, could be trusted, nobody is known to be right,
    and the first round stands. Rounds that would take too long are left out.

    Args:
        people: how many there are.
        fits_beside: the fits of everybody beside those who are marked.
        rows: what it takes to compare one person with those.
    """
    if people < 2:
        return {}
    trusted, work = np.ones(people, dtype=bool), 0
    first = fits = fits_beside(trusted)
    for _ in range(ROUNDS):
        shown = np.array([code not in fits or _is_shown(fits[code]) for code in range(people)])
        if (shown == trusted).all():
            break
        if shown.sum() < max(FEWEST_PEOPLE, people / 2):
            return first
        work += rows * int((~shown).sum())
        if work > MOST_WORK:
            break
        try:
            fits = fits_beside(shown)
        except DataError:
            return first
        trusted = shown
    return fits


def _is_shown(fit: PersonFit) -> bool:
    return bool(fit.agreement * np.sqrt(fit.information) >= SHOWN)


def _is_named(fit: PersonFit) -> bool:
    # The rows of few comparisons are far from normal, so that a large factor says little.
    enough = fit.spread is not None or fit.information >= ENOUGH**2
    return enough and fit.log_bayes_factor > np.log(NAMED)


def relative_fits(compared: Comparisons) -> dict[str, PersonFit | None]:
    """The agreement of every annotator's comparisons with the strengths by the others."""
    who = labelling_annotators(compared)
    if not len(compared) or not 1 < len(who) <= MOST_PEOPLE:
        return {}
    fits = _settled(len(who), partial(_fits_beside, compared))
    return {compared.annotators[code]: fits.get(place) for place, code in enumerate(who)}


def _fits_beside(compared: Comparisons, trusted: Bools) -> dict[int, PersonFit]:
    """The fit of every annotator beside the trusted ones, whose strengths, taste and dispersion count."""
    who = labelling_annotators(compared)
    counts = count_people(compared, person_of(compared), np.arange(len(who)))
    known = PeopleCounts(counts.wins[trusted], counts.ties[trusted], np.arange(int(trusted.sum())))
    fitted = fit_tastes(known, compared.of_annotators(who[trusted]))
    plain = bradley_terry.fit(known.wins.sum(0), known.ties.sum(0))
    told = zip(*moments(counts, plain.strength, float(plain.log_tie)), strict=True)
    rows = [_working_rows(score, information, plain.strength) for score, information in told]
    spread = [fitted.dispersion + fitted.taste**2 * (x**2).sum(1) for x, _ in rows]
    weights = np.array([x.T @ (x / v[:, None]) for (x, _), v in zip(rows, spread, strict=True)])
    pulls = np.array([x.T @ (z / v) for (x, z), v in zip(rows, spread, strict=True)])
    total, pull = weights[trusted].sum(0), pulls[trusted].sum(0)
    fits = {}
    for person, ((x, z), v) in enumerate(zip(rows, spread, strict=True)):
        own = float(trusted[person])
        found = _beside(x, z, v, total - own * weights[person], pull - own * pulls[person])
        if found is not None:
            fits[person] = found
    return fits


def _working_rows(score: Floats, information: Floats, strength: Floats) -> tuple[Floats, Floats]:
    """Rows x and z of one annotator."""
    value, vector = np.linalg.eigh(information)
    known = value > _RANK * max(float(value[-1]), 1e-12)
    root = np.sqrt(value[known])
    x = root[:, None] * vector[:, known].T
    return x, vector[:, known].T @ score / root + x @ strength


def _beside(x: Floats, z: Floats, spread: Floats, information: Floats, pull: Floats) -> PersonFit | None:
    """The slope of a person's rows on what the others predict, with the errors of both."""
    value, vector = np.linalg.eigh(information)
    known = value > _RANK * max(float(value[-1]), 1e-12)
    if not len(x) or known.sum() < len(value) - 1:
        return None  # The others do not compare all systems.
    covariance = (vector[:, known] / value[known]) @ vector[:, known].T
    predicted = x @ (covariance @ pull)
    weighed = np.linalg.solve(np.diag(spread) + x @ covariance @ x.T, np.column_stack([predicted, z]))
    known_by = float(predicted @ weighed[:, 0])
    return PersonFit(float(predicted @ weighed[:, 1]) / known_by, None, known_by) if known_by > _RANK else None


def reference_wins(compared: Comparisons) -> dict[str, ReferenceWins]:
    """How often each annotator ranked a human translation above all systems on the same screen."""
    from scipy.stats import hypergeom

    human = compared.human[compared.label_system]
    blocks = int(compared.label_block.max(initial=-1)) + 1
    best, best_system = (_lowest(compared, rows, blocks) for rows in (human, ~human))
    both = np.isfinite(best) & np.isfinite(best_system)
    if not both.any() or both.sum() == (best < best_system)[both].sum():
        return {}
    who, won = compared.block_annotator[:blocks][both], (best < best_system)[both]
    screens = np.bincount(who, minlength=len(compared.annotators))
    wins = np.bincount(who, won, minlength=len(compared.annotators)).astype(np.int64)
    every, all_wins = int(screens.sum()), int(wins.sum())
    found = {}
    for code in np.flatnonzero((screens > 0) & (screens < every)):
        n, w = int(screens[code]), int(wins[code])
        p = float(hypergeom.cdf(w, every, all_wins, n))
        found[compared.annotators[code]] = ReferenceWins(n, w, (all_wins - w) / (every - n), p)
    return found


def _lowest(compared: Comparisons, rows: Bools, blocks: int) -> Floats:
    """The best rank on each screen among some of the ranks; infinite where there is none."""
    lowest = np.full(blocks, np.inf)
    np.minimum.at(lowest, compared.label_block[rows], compared.label_rank[rows])
    return lowest


def _described(one: AnnotatorCheck, found: _Found) -> AnnotatorCheck:
    """What was found of one annotator; nothing of those who are not in the model."""
    wins = found.wins.get(one.annotator)
    if wins is not None:
        one = replace(
            one,
            reference_screens=wins.screens,
            reference_wins=wins.wins,
            reference_wins_of_others=wins.others,
            p_reference=wins.p,
        )
    if one.annotator not in found.people:
        return one
    fit = found.people[one.annotator]
    if fit is None:
        return replace(one, fit="too little to tell")
    return replace(
        one,
        agreement=fit.agreement,
        agreement_error=1 / np.sqrt(fit.information).item(),
        slope=fit.slope,
        spread=fit.spread,
        careless=float(min(np.exp(min(fit.log_bayes_factor, 700.0)), _LARGEST)),
        fit=verdict_on(fit),
    )


def verdict_on(fit: PersonFit) -> str:
    """What is said of a person's agreement."""
    root = float(np.sqrt(fit.information))
    if _is_named(fit):
        return "careless"
    if root < ENOUGH:
        return "too little to tell"
    return "as expected" if fit.agreement * root >= SHOWN else "not shown"


def _notes(annotators: tuple[AnnotatorCheck, ...], *, relative: bool) -> Iterator[str]:
    """Name suspects with the evidence, then those whose agreement is not shown or cannot be told."""
    what = "comparisons" if relative else "scores"
    by_fit: dict[str | None, list[AnnotatorCheck]] = {}
    for one in annotators:
        by_fit.setdefault(one.fit, []).append(one)
    suspects = sorted(by_fit.get("careless", []), key=lambda one: -(one.careless or 0.0))
    for one in suspects[:MOST_NAMED]:
        evidence = f"agreement {one.agreement:.2f}, expected 1, Bayes factor {one.careless:,.0f} for careless work"
        yield f"{what} of {one.annotator} do not follow those of the others: {evidence}"
    if len(suspects) > MOST_NAMED:
        yield f"nor do {what} of {short_list([one.annotator for one in suspects[MOST_NAMED:]])}"
    if suspects:
        yield "suspects are not left out of rankings: look at their work, and leave them out if it is careless"
    if unsure := by_fit.get("not shown"):
        verb = agreeing(len(unsure), "follows", "follow")
        yield f"whether {short_list([one.annotator for one in unsure])} {verb} the others is open"
    yield from _hardly_vary(annotators)
    # One annotator has no others to follow.
    people = sum(one.fit is not None for one in annotators)
    if (few := by_fit.get("too little to tell")) and people > 1:
        many = counted(people, "annotator")
        yield f"too few {what} to tell whether they follow those of the others: {len(few)} of {many}"
    yield from _seldom(annotators)


def _hardly_vary(annotators: tuple[AnnotatorCheck, ...]) -> Iterator[str]:
    """Name those who give nearly the same score all the time; that shows long before their agreement can be told."""
    known = [(one, np.log(one.spread)) for one in annotators if one.spread]
    if len(known) < FEWEST_SPREADS:
        return
    logs = np.array([log for _, log in known])
    usual = float(np.median(logs))
    differ = max(1.4826 * float(np.median(np.abs(logs - usual))), USUAL_SPREAD)
    for one, log in known:
        # The logarithm of a standard deviation of n values is known to about 1 / sqrt(2 n).
        if usual - log > NARROW * np.sqrt(differ**2 + 1 / (2 * max(one.judgments, 1))):
            yield f"scores of {one.annotator} hardly vary: {np.exp(log - usual):.0%} of the usual spread"


def _seldom(annotators: tuple[AnnotatorCheck, ...]) -> Iterator[str]:
    judged = [(one, one.p_reference) for one in annotators if one.p_reference is not None]
    for (one, _), p in zip(judged, holm(np.array([p for _, p in judged])), strict=True):
        if p < REFERENCE_LEVEL and one.reference_screens:
            share = f"{(one.reference_wins or 0) / one.reference_screens:.0%} of {one.reference_screens} screens"
            others = f"the others in {one.reference_wins_of_others or 0.0:.0%} of theirs ({say_p(p)} after Holm)"
            yield f"annotator {one.annotator} ranks the human translation above all systems in {share}, {others}"
