"""Bradley-Terry strengths with errors that hold for other annotators and texts: a mixed model of working rows.

Annotators like some systems more than others, so the judgments of one person count for less than as many judgments of
many; and a system does better on some texts than on others, so that judgments of one segment, or of one document, have
luck in common. At the plain fit, judgments are rows of a weighted mixed model with random tastes and lucks (see
`working_rows`). Its variances are estimated by restricted maximum likelihood and the strengths by generalised least
squares, so one busy annotator, or one text that everybody judged, does not outvote the others.

Errors have degrees of freedom by Satterthwaite's rule, but not more than there are ways in which tastes can differ. As
the rule does not see how few people carry an estimate where their taste came out as 0, the bound is reduced where one
of them does most of the work: by (A_e - 1) / (A - 1), where A_e is how many people of equal weight the A people are
worth, each weighing as much as the estimate rests on them.

People may differ more on one system than on others. Its own variance of tastes, shrunk to the common one, is in the
errors of its differences.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from adjudge.mixed.effects import TASTE, VarianceComponent
from adjudge.ranking.bradley_terry import RIDGE, fit
from adjudge.ranking.counts import PeopleCounts, Units, grouped, people_counts, person_of, units_of
from adjudge.ranking.decisions import DRAWS, PairTests, decide
from adjudge.ranking.ranking import Findings
from adjudge.ranking.significance import Separation, contradicted, separation, sign_tests, unanimous_p
from adjudge.ranking.working_rows import (
    ANNOTATOR,
    DOCUMENT,
    LEAST_ERRORS,
    SEGMENT,
    Rows,
    Solution,
    Variances,
    fit_rows,
    moments,
    rows_of,
    rows_of_counts,
    screen_weights,
)
from adjudge.table.maths import Contrasts, Floats, contrasts, over_contrasts, student_below, student_quantile

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adjudge.ranking.methods import Method, RankSettings
    from adjudge.table.comparisons import Comparisons
    from adjudge.table.maths import Codes

MOST_BORDER = 4000
"""Tastes beyond this number, where texts are shared, are those of groups of annotators."""
MOST_DF = 1e6
WORTH_KEEPING, MOST_KEPT = 10_000, 4
"""The latest fits of at least so many comparisons are kept, because many parts of a report ask for the same one."""
_KEPT: dict[bytes, TasteFit] = {}


@dataclass(frozen=True, eq=False)
class TasteFit:
    """Strengths with their joint covariance and the degrees of freedom of every difference."""

    strength: Floats
    covariance: Floats
    df: Floats
    """(n, n), of the difference between two systems; the diagonal is NaN."""
    df_system: Floats
    """(n,), of the difference between a system and the mean of all."""
    taste: float
    dispersion: float
    """How much more a screen on a text of its own varies than independent comparisons would."""
    errors: float
    """What is left of it without the luck of texts."""
    weights: Floats | None
    """About how much each comparison counts, for the luck of its texts; None where no two screens share any."""
    segment_sd: float | None
    """How much a system's strength differs between source segments; None where no two screens share any."""
    document_sd: float | None
    """The same between documents; None where no two screens share any, or documents are segments or not named."""

    def system_errors(self) -> Floats:
        """The standard error of each system's distance from the mean of all."""
        centre = np.eye(len(self.strength)) - 1 / len(self.strength)
        errors: Floats = np.sqrt(np.maximum(np.diag(centre @ self.covariance @ centre), 0.0))
        return errors


def fit_tastes(people: PeopleCounts, blocks: Comparisons | None = None, *, taste: float | None = None) -> TasteFit:
    """Fit strengths with tastes.

    Args:
        people: counts of at least two annotators.
        blocks: the comparisons behind the counts, which tell what stood in one block and on one text.
        taste: the standard deviation of tastes, where it is known; default: estimated.
    """
    if blocks is None or len(blocks) < WORTH_KEEPING:
        return _fitted(people, blocks, taste)
    key = _key(people, blocks, taste)
    found = _KEPT.pop(key, None) or _fitted(people, blocks, taste)
    _KEPT[key] = found
    for oldest in list(_KEPT)[:-MOST_KEPT]:
        _KEPT.pop(oldest, None)
    return found


def _fitted(people: PeopleCounts, blocks: Comparisons | None, taste: float | None) -> TasteFit:
    strength, rows = plain_rows(people, blocks)
    found = fit_rows(rows, strength, None if taste is None else {ANNOTATOR: taste**2})
    fitted = taste_fit(strength, found, rows, blocks)
    return fitted if taste is None else replace(fitted, taste=taste)


def _key(people: PeopleCounts, blocks: Comparisons, taste: float | None) -> bytes:
    """What tells a fit apart from all others: everything that it is computed from."""
    fields = (blocks.first, blocks.second, blocks.outcome, blocks.annotator, blocks.segment, blocks.block)
    texts = () if blocks.document is None else (blocks.document,)
    digest = blake2b(repr((taste, people.wins.shape, len(blocks), len(texts))).encode())
    for part in (people.wins, people.ties, people.group, *fields, *texts, blocks.label_block, blocks.block_annotator):
        digest.update(part.dtype.str.encode())
        digest.update(np.ascontiguousarray(part).data)
    return digest.digest()


def plain_rows(people: PeopleCounts, blocks: Comparisons | None) -> tuple[Floats, Rows]:
    """The strengths of the plain fit, and the working rows there."""
    plain = fit(people.wins.sum(0), people.ties.sum(0))
    strength, log_tie = plain.strength, float(plain.log_tie)
    if blocks is None or len(blocks) == 0:
        return strength, rows_of_counts(people, strength, log_tie)
    return strength, _bounded(rows_of(blocks, people.group[person_of(blocks)], strength, log_tie))


def taste_fit(strength: Floats, found: Solution, rows: Rows, blocks: Comparisons | None) -> TasteFit:
    """Strengths with their errors, from a solution of the rows at the plain fit's strengths."""
    n, variances = len(strength), found.variances
    df, covariance = _with_own_tastes(found)
    lucks = {name: float(np.sqrt(variances.of(name))) for name in (SEGMENT, DOCUMENT) if name in variances.ratios}
    luck = sum(sd**2 for sd in lucks.values())
    return TasteFit(
        strength=strength + found.delta,
        covariance=covariance,
        df=over_pairs(df, n),
        df_system=df[-n:],
        taste=float(np.sqrt(variances.of(ANNOTATOR))),
        dispersion=variances.errors + (luck * rows.typical_information() if luck else 0.0),
        errors=variances.errors,
        weights=screen_weights(rows, variances)[_screens(blocks)] if lucks and blocks is not None else None,
        segment_sd=lucks.get(SEGMENT),
        document_sd=lucks.get(DOCUMENT),
    )


def _screens(blocks: Comparisons) -> Codes:
    """The screen of each comparison: 0, 1, 2, ..."""
    return np.unique(blocks.block, return_inverse=True)[1]


def _bounded(rows: Rows) -> Rows:
    """The rows with annotators in groups where they and the shared segments are too many for one matrix."""
    annotator, n = rows.level[ANNOTATOR], rows.systems
    least = min(int(level.max()) + 1 for name, level in rows.level.items() if name != DOCUMENT)
    if len(rows.level) == 1 or least * n <= MOST_BORDER:
        return rows
    group = grouped(np.bincount(annotator).astype(float), max(2, MOST_BORDER // n))
    return replace(rows, level={**rows.level, ANNOTATOR: group[annotator]})


def _with_own_tastes(found: Solution) -> tuple[Floats, Floats]:
    """The degrees of freedom of each contrast, in the order of `contrasts_of_systems`, and the covariance."""
    variance, slope = over_contrasts(found.covariance), over_contrasts(found.slopes)
    spread = (slope * np.linalg.lstsq(found.information, slope, rcond=1e-10)[0]).sum(0)
    most = max(1.0, min(found.bound, MOST_DF))
    df = np.clip(2 * variance**2 / np.maximum(spread, 1e-300), 1.0, most)
    added, squares, of_tastes = np.zeros_like(variance), np.zeros_like(variance), np.zeros_like(found.covariance)
    # One system after the other: the contrasts of all systems at once would take gigabytes where there are hundreds.
    for own_taste, own_df in zip(found.own_tastes, found.own_df, strict=True):
        own = over_contrasts(own_taste)
        of_tastes += own_taste
        added += own
        squares += own**2 / own_df
    together: Floats = (variance + added) ** 2 / np.maximum(variance**2 / df + squares, 1e-300)
    return np.clip(together, 1.0, most), found.covariance + of_tastes


def refit(people: PeopleCounts, taste: float, dispersion: float) -> Floats:
    """The strengths alone, where taste and dispersion are known: for counts of some of the judgments."""
    return refit_with_errors(people, taste, dispersion)[0]


def refit_with_errors(people: PeopleCounts, taste: float, dispersion: float) -> tuple[Floats, Floats]:
    """The strengths, where taste and dispersion are known, and their covariance."""
    plain = fit(people.wins.sum(0), people.ties.sum(0))
    n = len(plain.strength)
    scores, information = moments(people, plain.strength, float(plain.log_tie))
    ridge = RIDGE / dispersion * np.eye(n)
    inflation = dispersion * np.eye(n) + taste**2 * information
    weighed = np.linalg.solve(inflation, np.concatenate([information, scores[:, :, None]], axis=2)).sum(0)
    # Along the mean of all strengths there is no information, and the right side is 0.
    delta = np.linalg.solve(weighed[:, :n] + ridge, weighed[:, n] - ridge @ plain.strength)
    strength: Floats = plain.strength + delta - delta.mean()
    centre = np.eye(n) - 1 / n
    return strength, centre @ np.linalg.inv(weighed[:, :n] + ridge) @ centre


def at_known_tastes(fitted: TasteFit, people: PeopleCounts, blocks: Comparisons) -> tuple[Floats, float]:
    """The weights of the texts of comparisons, and the variance of errors by moments, at the tastes and lucks known."""
    rows = plain_rows(people, blocks)[1]
    spreads = {ANNOTATOR: fitted.taste, SEGMENT: fitted.segment_sd or 0.0, DOCUMENT: fitted.document_sd or 0.0}
    squares = sum(group.weighed(None)[2] for group in rows.groups) / max(rows.number, 1)
    errors = max(squares - sum(sd**2 for sd in spreads.values()) * rows.typical_information(), LEAST_ERRORS)
    variances = Variances(fitted.errors, {name: sd**2 / fitted.errors for name, sd in spreads.items()})
    return screen_weights(rows, variances)[_screens(blocks)], errors


def predicted_tastes(people: PeopleCounts, fitted: TasteFit, log_tie: float) -> Floats:
    """The taste of every annotator for every system: tau^2 (phi + tau^2 H)^-1 s, with score s and information H."""
    scores, information = moments(people, fitted.strength, log_tie)
    inflation = fitted.dispersion * np.eye(len(fitted.strength)) + fitted.taste**2 * information
    return np.asarray(fitted.taste**2 * np.linalg.solve(inflation, scores[..., None])[..., 0], dtype=np.float64)


def contrasts_of_systems(n: int) -> Floats:
    """All pairs (i < j), then every system against the mean of all: (contrasts, n)."""
    first, second = np.triu_indices(n, 1)
    pairs = np.zeros((len(first), n))
    row = np.arange(len(first))
    pairs[row, first], pairs[row, second] = 1.0, -1.0
    return np.concatenate([pairs, np.eye(n) - 1 / n])


def over_pairs(values: Floats, n: int) -> Floats:
    """The values of pairs among those of all contrasts, as a matrix."""
    upper = np.triu_indices(n, 1)
    pairs = np.full((n, n), np.nan)
    pairs[upper] = values[: len(upper[0])]
    pairs.T[upper] = pairs[upper]
    return pairs


# Bradley-Terry strengths compared: p-values, intervals and rank sets that hold for other annotators than these.
#
# The covariance and the degrees of freedom come from `tastes`. Three things the model cannot know are added. A lead
# that no judgment contradicts has no size, so its p-value comes from how often each annotator saw it. Systems that no
# chain of wins connects have p = 1. And nothing is claimed against a pair's own judgments: where these say the
# opposite, p is 1.


FEWEST_DRAWS = 100
"""Fewer draws leave the quantile behind rank sets to chance."""


_DIFFERENTLY = "how differently a system does"


@dataclass(frozen=True, eq=False)
class ComparedStrengths:
    """A fit with tastes, and every pair of systems compared by it."""

    fit: TasteFit
    pairs: Contrasts
    apart: Separation
    contradicted: NDArray[np.bool_]
    """Pairs whose own judgments say the opposite of the strengths; symmetric."""


def compare_people(
    people: PeopleCounts, blocks: Comparisons | None = None, *, taste: float | None = None
) -> ComparedStrengths:
    """Fit strengths with tastes (see `fit_tastes`) and compare all pairs."""
    return compare_fitted(fit_tastes(people, blocks, taste=taste), people)


def compare_fitted(fit: TasteFit, people: PeopleCounts, weighted: Floats | None = None) -> ComparedStrengths:
    """The same where strengths are fitted already; `weighted` wins, if comparisons do not count alike."""
    wins = people.wins.sum(0)
    apart, against = separation(wins), contradicted(fit.strength, wins if weighted is None else weighted)
    pairs = contrasts(fit.strength, fit.covariance, fit.df)
    p = np.where(apart.leads | apart.leads.T, unanimous_p(people.wins, fit.taste), pairs.two_sided)
    p[apart.unconnected | against] = 1.0
    np.fill_diagonal(p, np.nan)
    return ComparedStrengths(fit, _with_p(pairs, p), apart, against)


def scores_of(method: Method, compared: Comparisons, rng: np.random.Generator) -> Floats:
    """The score of every system as a ranking by this method has it.

    Bradley-Terry strengths are those with tastes wherever two annotators or more are known, so that tournaments,
    split halves and comparisons of campaigns show the order of the ranking.
    """
    units = units_of(compared)
    if method.significance == "tastes" and units.kind == "annotators":
        return fit_tastes(people_counts(units), compared).strength
    return method.score(units.total(), rng)


def _with_p(pairs: Contrasts, p: Floats) -> Contrasts:
    """The contrasts with other two-sided p-values, and the statistics that belong to them."""
    size = student_quantile(np.maximum(p, 1e-300) / 2, pairs.df)
    ahead = pairs.difference >= 0
    t = np.where(p == pairs.two_sided, pairs.t, np.where(ahead, size, -size))
    return replace(pairs, two_sided=p, greater=np.where(ahead, p / 2, 1 - p / 2), t=t)


def strength_findings(units: Units, compared: ComparedStrengths, settings: RankSettings) -> Findings:
    """What a ranking is put together from."""
    tally, fit, pairs = units.total(), compared.fit, compared.pairs
    decisions = decide(
        fit.strength, pairs.two_sided, fit.covariance, level=settings.level, seed=settings.seed, draws=draws(settings)
    )
    counts = {"wins": tally.wins, "ties": tally.ties, "losses": tally.losses}
    low, high = _intervals(fit, settings.level)
    errors = {"se": fit.system_errors(), "low": low, "high": high}
    bounded = {name: np.where(compared.apart.unbounded, np.nan, values) for name, values in errors.items()}
    return Findings(
        systems=tally.systems,
        human=tally.human,
        scores=fit.strength,
        n=tally.met.sum(-1).astype(int),
        tests=PairTests(pairs.greater, pairs.two_sided),
        decisions=decisions,
        numbers={
            **{name: table.sum(-1).astype(np.int64) for name, table in counts.items()},
            **bounded,
        },
        pair_numbers={
            **{name: table.astype(np.int64) for name, table in counts.items()},
            "p_sign": sign_tests(tally.wins).two_sided,
            "se": pairs.se,
            "df": np.where(np.isfinite(pairs.df), pairs.df, np.nan),
        },
    )


def draws(settings: RankSettings) -> int:
    """How many draws rank sets are made from."""
    return DRAWS if settings.resamples is None else max(settings.resamples, FEWEST_DRAWS)


def _intervals(fit: TasteFit, level: float) -> tuple[Floats, Floats]:
    half = student_below(1 - level / 2, fit.df_system) * fit.system_errors()
    return fit.strength - half, fit.strength + half


def spread_components(fit: TasteFit, people: int, segments: int, documents: int) -> tuple[VarianceComponent, ...]:
    """Tastes, segments and documents as sources of spread, in log-odds."""
    sources = (
        (TASTE, fit.taste, people, "how differently annotators like systems"),
        ("system:segment", fit.segment_sd, segments, f"{_DIFFERENTLY} on segments that several annotators judged"),
        ("system:document", fit.document_sd, documents, f"{_DIFFERENTLY} in documents that several annotators judged"),
    )
    return tuple(
        VarianceComponent(effect, sd, None, None, levels, meaning, sd == 0)
        for effect, sd, levels, meaning in sources
        if sd is not None
    )
