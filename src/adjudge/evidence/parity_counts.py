"""Counts of better, tie and worse against the human, the sign test, and what holds for other people.

The sign test takes every judgment for evidence of its own. Annotators have tastes, so a verdict also needs a model that
allows for them: of scores the mixed model, of ranks Bradley-Terry with tastes, fitted to the system and the human. It
also allows for what annotators of the same segments and documents share.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import polars as pl

from adjudge.evidence.parity_results import Change, Contrast, ModelChange, ParityPart, Part, SystemParity
from adjudge.evidence.verdict_human import note_few_people
from adjudge.people.twins import find_twins
from adjudge.ranking.changes import margin_in_points
from adjudge.ranking.decisions import holm
from adjudge.ranking.estimator import is_relative
from adjudge.ranking.relative_estimator import RelativeEstimator
from adjudge.ranking.scores import ScoreEstimator, fit_cells
from adjudge.table.comparisons import NOBODY, Comparisons, comparisons, segment_keys
from adjudge.table.errors import DataError, UsageError, param
from adjudge.table.judgments import Judgments, codes_of
from adjudge.table.maths import Floats, divide, equivalence, expanded_tail, student_below, student_tail
from adjudge.table.participants import compile_human_pattern
from adjudge.table.protocols import SCORED, WORK
from adjudge.table.rng import generator
from adjudge.table.texts import AFTER, BEFORE
from adjudge.table.wording import agreeing, counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from adjudge.evidence.parity import ParitySettings
    from adjudge.ranking.estimator import Estimate


# Resampling of documents (or of segments where documents are unknown), and the change between two test sets.
#
# Judgments of one document are not independent, and a clean test set holds the same documents as the one before: both
# versions of a document are drawn together, and every figure uses the same draws.


RESAMPLES = 10_000
_DRAW, _EXCHANGE = 61, 62


@dataclass(frozen=True, eq=False)
class Resampler:
    """Which units are drawn, how often each is in every resample, and in which their versions are exchanged."""

    column: str
    names: tuple[str, ...]
    weights: Floats
    """(resamples, units): how often each unit was drawn."""
    exchanged: NDArray[np.bool_]

    @property
    def unit(self) -> str:
        """What is drawn, in words."""
        return f"{self.column}s"

    def codes(self, table: pl.DataFrame) -> NDArray[np.int64]:
        """The unit of every row."""
        known = dict(zip(self.names, range(len(self.names)), strict=True))
        codes = table[self.column].replace_strict(known, default=None, return_dtype=pl.Int64)
        return codes.to_numpy().astype(np.int64)


def resampler(parts: Sequence[Outcomes], *, seed: int, resamples: int = RESAMPLES) -> Resampler:
    """A resampler of all documents in the parts."""
    column = "document" if all(part.documents_known for part in parts) else "segment"
    every = pl.concat([table[column] for part in parts for table in (part.compared, part.worth)])
    if every.null_count():
        raise DataError("some judgments do not say their segment, by which parity is tested; fill the column 'segment'")
    names = tuple(str(name) for name in every.unique().sort().to_list())
    n = len(names)
    weights = generator(seed, _DRAW).multinomial(n, np.full(n, 1 / n), size=resamples).astype(np.float64)
    exchanged = generator(seed, _EXCHANGE).random((resamples, n)) < 0.5
    return Resampler(column, names, weights, exchanged)


@dataclass(frozen=True, eq=False)
class Sums:
    """The sum and the number of values in every unit: all that a mean needs to be resampled."""

    total: Floats
    count: Floats

    @classmethod
    def of(cls, table: pl.DataFrame, value: pl.Expr, drawn: Resampler) -> Sums:
        """The sums of a value over the rows of a table."""
        codes, n = drawn.codes(table), len(drawn.names)
        values = table.select(value.cast(pl.Float64).alias("value"))["value"].to_numpy()
        return cls(np.bincount(codes, values, n).astype(np.float64), np.bincount(codes, minlength=n).astype(np.float64))

    @property
    def mean(self) -> float:
        """The mean of all values."""
        return float(divide(self.total.sum(), self.count.sum()))

    @property
    def units(self) -> int:
        """How many units have a value."""
        return int((self.count > 0).sum())

    def means(self, weights: Floats) -> Floats:
        """The mean in every resample."""
        return divide(weights @ self.total, weights @ self.count)


def interval_of(values: Floats, units: int | None = None) -> tuple[float, float]:
    """The 95% interval of a resampled figure: the middle of its values; NaN where no resample has one.

    Args:
        values: the figure in every resample.
        units: how many units were drawn, where the interval is to be wider for few of them.
    """
    finite = values[np.isfinite(values)]
    if len(finite) == 0:
        return (float("nan"), float("nan"))
    tail = 0.025 if units is None else expanded_tail(0.025, max(units, 2))
    low, high = np.quantile(finite, [tail, 1 - tail])
    return (float(low), float(high))


Pair = tuple[Sums, Sums]
BEYOND = "beyond untouched"


def changes(
    before: Mapping[Part, Outcomes], after: Mapping[Part, Outcomes], drawn: Resampler
) -> tuple[tuple[Change, ...], tuple[Change, ...]]:
    """Changes of every system's parity share and worth in every part, and the differences in differences."""
    systems = sorted(set(before["all"].systems) & set(after["all"].systems))
    changed: list[Change] = []
    beyond: list[Change] = []
    for measure in ("parity_share", "rank_points" if after["all"].relative else "mean_score"):
        for name in systems:
            pairs = {
                part: (_sums(before[part], name, measure, drawn), _sums(after[part], name, measure, drawn))
                for part in before
            }
            changed += [_change(name, measure, part, pair, drawn) for part, pair in pairs.items()]
            if "contaminated" in pairs:
                beyond.append(
                    _change(name, measure, BEYOND, pairs["contaminated"], drawn, untouched=pairs["untouched"])
                )
    return tuple(changed), tuple(beyond)


def _sums(outcomes: Outcomes, system: str, measure: str, drawn: Resampler) -> Sums:
    if measure == "parity_share":
        return Sums.of(outcomes.compared.filter(pl.col("system") == system), pl.col("outcome") >= 0, drawn)
    return Sums.of(outcomes.worth.filter(pl.col("system") == system), pl.col("value"), drawn)


def _change(
    system: str, measure: str, part: str, pair: Pair, drawn: Resampler, *, untouched: Pair | None = None
) -> Change:
    """The change from the first to the second of a pair; with a pair of untouched segments, how much more it is."""
    before, after = (version.mean for version in pair)
    resampled, exchanged = _differences(pair, drawn)
    if untouched is not None:
        # Here "before" is the change on untouched segments, "after" that on contaminated ones.
        before, after = untouched[1].mean - untouched[0].mean, after - before
        others = _differences(untouched, drawn)
        resampled, exchanged = resampled - others[0], exchanged - others[1]
    difference, p = after - before, float("nan")
    finite = exchanged[np.isfinite(exchanged)]
    if np.isfinite(difference) and len(finite):
        p = (1 + int((np.abs(finite) >= abs(difference) - 1e-12).sum())) / (1 + len(finite))
    return Change(system, measure, part, before, after, difference, interval_of(resampled), p)


def _differences(pair: Pair, drawn: Resampler) -> tuple[Floats, Floats]:
    """The difference in every resample, and where the two versions of some units have changed places."""
    before, after = pair
    resampled = after.means(drawn.weights) - before.means(drawn.weights)
    stay, swap = (~drawn.exchanged).astype(np.float64), drawn.exchanged.astype(np.float64)
    later = divide(stay @ after.total + swap @ before.total, stay @ after.count + swap @ before.count)
    earlier = divide(stay @ before.total + swap @ after.total, stay @ before.count + swap @ after.count)
    return resampled, later - earlier


Ties = Literal["half", "drop"]
FEWEST_PEOPLE = 2
"""One person's taste cannot be told from quality."""


def sign_test(better: int, tie: int, worse: int, ties: Ties = "half") -> float:
    """Two-sided exact binomial test. `half`: x = round(better + tie / 2) of all; `drop`: ties left out."""
    from scipy.stats import binomtest

    x, n = (round(better + tie / 2), better + tie + worse) if ties == "half" else (better, better + worse)
    # Never 0: what is too small for a number is the smallest number.
    return max(float(binomtest(x, n).pvalue), sys.float_info.min) if n else float("nan")


def count_part(
    part: Part,
    outcomes: Outcomes,
    resampler: Resampler,
    *,
    ties: Ties,
    contrasts: Mapping[str, Contrast] | None = None,
) -> ParityPart:
    """All systems on one part of the segments."""
    compared = {name: outcomes.compared.filter(pl.col("system") == name) for name in outcomes.systems}
    counts, tests = {}, {}
    for name, rows in compared.items():
        better, tie, worse = (int((rows["outcome"].sign() == sign).sum()) for sign in (1, 0, -1))
        counts[name], tests[name] = (better, tie, worse), sign_test(better, tie, worse, ties)
    adjusted = dict(zip(tests, holm(np.array(list(tests.values()))), strict=True))
    by_people = _people_tests(outcomes)
    systems = []
    for name, (better, tie, worse) in counts.items():
        n = better + tie + worse
        share = Sums.of(compared[name], pl.col("outcome") >= 0, resampler)
        lead = Sums.of(compared[name], pl.col("outcome"), resampler)
        points, score = _points_and_score(outcomes, name)
        systems.append(
            SystemParity(
                system=name,
                human=name in outcomes.humans,
                mt_better=better,
                tie=tie,
                human_better=worse,
                n=n,
                p=tests[name],
                p_holm=float(adjusted[name]),
                parity_share=(better + tie) / n,
                interval=interval_of(share.means(resampler.weights), share.units),
                lead=(better - worse) / n,
                lead_interval=interval_of(lead.means(resampler.weights), lead.units),
                rank_points=points,
                mean_score=score,
                contrast=(contrasts or {}).get(name),
                p_people=by_people.get(name),
            )
        )
    segments = outcomes.compared.select("document", "segment").n_unique()
    judged = max((counted.n for counted in systems), default=0)
    return ParityPart(part, judged, segments, tuple(systems), *_points_and_score(outcomes, outcomes.human))


def _people_tests(outcomes: Outcomes) -> dict[str, float]:
    """For ranks by two named people or more, p of every system against the human with tastes allowed for (Holm)."""
    if (outcomes.annotators or 0) < FEWEST_PEOPLE:
        return {}
    p = {}
    for name in outcomes.systems:
        rows = outcomes.compared.filter(pl.col("system") == name)
        if rows["annotator"].n_unique() < FEWEST_PEOPLE:
            p[name] = 1.0
            continue
        compared = _comparisons(rows, (name, outcomes.human))
        tested = RelativeEstimator(compared).estimate.contrasts.two_sided[0, 1]
        p[name] = max(float(tested), sys.float_info.min)
    return {name: float(value) for name, value in zip(p, holm(np.array(list(p.values()))), strict=True)}


def _comparisons(rows: pl.DataFrame, systems: tuple[str, str]) -> Comparisons:
    """The outcomes of one system against the human, each a block of its own."""
    annotator, segment, document = (
        codes.astype(np.int32) for codes in codes_of(rows, ["annotator"], ["document", "segment"], ["document"])
    )
    outcome = rows["outcome"].to_numpy().astype(np.int8)
    number = np.arange(rows.height, dtype=np.int32)
    return Comparisons(
        systems=systems,
        human=np.array([False, True]),
        annotators=tuple(rows["annotator"].unique().sort().to_list()),
        first=np.zeros_like(number),
        second=np.ones_like(number),
        outcome=outcome,
        annotator=annotator,
        segment=segment,
        block=number,
        label_system=np.tile(np.array([0, 1], dtype=np.int32), rows.height),
        label_rank=(1 + (np.stack([-outcome, outcome], axis=1) > 0)).ravel().astype(np.int32),
        label_block=np.repeat(number, 2),
        block_annotator=annotator,
        document=document if rows["document"].null_count() == 0 else None,
    )


def _points_and_score(outcomes: Outcomes, system: str) -> tuple[float | None, float | None]:
    """The mean of rank points, or of scores; the other is None."""
    mean = outcomes.worth.filter(pl.col("system") == system).select(pl.col("value").mean()).item()
    worth = None if mean is None else float(mean)
    return (worth, None) if outcomes.relative else (None, worth)


def _human_competes(human: str) -> pl.Expr:
    """The kind of every row. The model leaves references out as controls; here the human is one of those compared.

    Degraded copies of the human's translation stay controls: they are not what the human wrote.
    """
    competes = (pl.col("system") == human) & (pl.col("kind") == "reference")
    return pl.when(competes).then(pl.lit("system")).otherwise(pl.col("kind")).alias("kind")


def model_contrasts(
    judgments: Judgments, human: str, margin: float | str | None
) -> tuple[dict[str, Contrast], tuple[str, ...]]:
    """The contrast of every system with the human, and what is to be known of the model.

    Where the model cannot be fitted, there are none and the note says why.
    """
    table = judgments.final().table.with_columns(_human_competes(human))
    try:
        estimator = ScoreEstimator(replace(judgments, table=table), model="mixed-points")
        estimate = estimator.average
    except DataError as fault:
        return {}, (f"the mixed model is left out: {fault.for_command_line()}",)
    points = margin_in_points(margin, estimator.design.as_given, default=False)
    if human not in estimate.systems:
        return {}, (f"the mixed model is left out: it has no scores of '{human}'",)
    return _contrasts_with(estimate, human, points), estimator.notes


def _contrasts_with(estimate: Estimate, human: str, margin: float | None) -> dict[str, Contrast]:
    """The contrast of every other system with the human; p-values are corrected for all of them (Holm)."""
    reference, compared = estimate.systems.index(human), estimate.contrasts
    low, high = compared.interval()
    others = [i for i in range(len(estimate.systems)) if i != reference]
    tests = {i: None if margin is None else equivalence(compared, i, reference, margin=margin) for i in others}
    p_holm = holm(np.array([compared.two_sided[i, reference] for i in others]))
    p_equivalence = holm(np.array([np.nan if (test := tests[i]) is None else test.p for i in others]))
    results = {}
    for number, i in enumerate(others):
        tested = tests[i]
        results[estimate.systems[i]] = Contrast(
            difference=float(compared.difference[i, reference]),
            se=float(compared.se[i, reference]),
            interval=(float(low[i, reference]), float(high[i, reference])),
            p=max(float(compared.two_sided[i, reference]), sys.float_info.min),
            margin=margin,
            p_equivalence=None if tested is None else max(tested.p, sys.float_info.min),
            p_holm=max(float(p_holm[number]), sys.float_info.min),
            p_equivalence_holm=None if tested is None else max(float(p_equivalence[number]), sys.float_info.min),
        )
    return results


# Notes on results about parity: how they were resampled, what was marked, what the versions share.


PLACE = pl.concat_str("document", "segment", separator=":", ignore_nulls=False)
"""A segment by its document, for segments that are numbered anew in every document."""
FEW_DOCUMENTS = 10


def is_marked(contaminated: frozenset[str] | None) -> pl.Expr:
    """Whether a row is of a segment that is named as contaminated."""
    names = sorted(contaminated or ())
    return pl.col("segment").is_in(names) | PLACE.is_in(names).fill_null(value=False)


def notes_on(sets: Sequence[Outcomes], drawn: Resampler, settings: ParitySettings) -> list[str]:
    """Notes on the figures; `sets` are the judgments, and those before where there are two versions."""
    notes = []
    if drawn.column == "segment":
        notes.append(
            "documents are not known, so segments are resampled; as segments of a document are alike, true intervals "
            "are wider: name the documents with --keys"
        )
    elif len(drawn.names) < FEW_DOCUMENTS:
        notes.append(f"only {counted(len(drawn.names), 'document')}: intervals by resampling so few are too narrow")
    if sets[0].relative:
        # The model of scores has notes of its own.
        notes += note_few_people(sets[0].annotators)
    marked = settings.contaminated or frozenset()
    judged = {name for version in sets for name in version.compared["segment"]}
    judged |= {name for version in sets for name in version.compared.select(PLACE.alias("place"))["place"]}
    unknown = sorted(marked - judged)
    if unknown:
        of_all = f"{len(unknown)} of the {counted(len(marked), 'contaminated segment')}"
        notes.append(f"{of_all} {agreeing(len(unknown), 'was', 'were')} not judged, such as '{unknown[0]}'")
    after, before = ({*part.compared.select("document", "segment").iter_rows()} for part in (sets[0], sets[-1]))
    if after != before:
        gone, new = len(before - after), len(after - before)
        what = f"{counted(gone, 'segment was', 'segments were')} judged only before and {new} only after"
        its_own = "they count in their own version, so that a part of the change may come from other segments"
        notes.append(f"{what}; {its_own}")
    if settings.ties == "half":
        notes.append("the sign test counts a tie as half a win for each; --ties drop leaves ties out")
    return notes


def twin_notes(judgments: Judgments, before: Judgments | None) -> list[str]:
    """A block of one annotator's answers that mirrors another's has turned a verdict before: always say so."""
    sets = {"": judgments} if before is None else {" before": before, " after": judgments}
    return [
        f"{' and '.join(twins.annotators)} are {twins.kind} on {twins.items} segments{when} "
        f"({twins.first} to {twins.last}), which chance does not explain; look at them with adjudge check"
        for when, part in sets.items()
        for twins in find_twins(part)
    ]


# How a system's distance from the human changes between two versions of a test set, by a model.
#
# Of scores: the mixed model with an effect for every system in every version (and for contaminated and untouched
# segments apart), so that strictness, tastes, documents and pages are allowed for. With m(s, v) the effect of system
# s in version v and h the human, the change is [m(s, after) - m(h, after)] - [m(s, before) - m(h, before)], and
# beyond untouched segments the difference of two such changes. Of ranks: the strengths of Bradley-Terry with tastes,
# fitted to every part by itself; tastes that two parts share make their difference more certain than is said.


_VERSION, _PART = "version of the test set", "part of the segments"
PARTS = {"all": ("contaminated", "untouched"), "contaminated": ("contaminated",), "untouched": ("untouched",)}


class _Estimate(NamedTuple):
    """A change with its standard error and degrees of freedom."""

    change: float
    se: float
    df: float


def model_changes(
    before: Judgments, after: Judgments, human: str, contaminated: frozenset[str] | None
) -> tuple[tuple[ModelChange, ...], tuple[str, ...]]:
    """The change of every system on every part of the segments; where no model can be fitted, a note says why."""
    try:
        estimated = (_rank_changes if is_relative(after) else _score_changes)(before, after, human, contaminated)
    except DataError as fault:
        return (), (f"the model of the change is left out: {fault.for_command_line()}",)
    least = sys.float_info.min
    changed: list[ModelChange] = []
    for part, by_system in estimated.items():
        p = np.array(
            [
                2 * float(student_tail(abs(change) / se, df)) if se > 0 else np.nan
                for change, se, df in by_system.values()
            ]
        )
        for (system, (change, se, df)), alone, of_all in zip(by_system.items(), p, holm(p), strict=True):
            reach = float(student_below(0.975, df)) * se
            p_values = (max(float(alone), least), max(float(of_all), least))
            changed.append(ModelChange(system, part, change, se, (change - reach, change + reach), *p_values))
    return tuple(changed), ()


def _part_of(contaminated: frozenset[str] | None) -> pl.Expr:
    touched = pl.when(is_marked(contaminated)).then(pl.lit("contaminated"))
    return touched.otherwise(pl.lit("untouched")).alias(_PART)


def _score_changes(
    before: Judgments, after: Judgments, human: str, contaminated: frozenset[str] | None
) -> dict[str, dict[str, _Estimate]]:
    table = _both_versions(before, after, human, contaminated)
    design = ScoreEstimator(Judgments(table), model="mixed-points", check=False).design
    names = [f"{v}\t{p}" for v, p in table[design.row].select(_VERSION, _PART).iter_rows()]
    levels = sorted(set(names))
    cells = fit_cells(design, np.array([levels.index(name) for name in names]), levels)
    fitted, weight = cells.fit, cells.n.astype(float)
    index = {
        (design.systems[s], *levels[k].split("\t")): i
        for i, (s, k) in enumerate(zip(cells.owner, cells.level, strict=True))
    }

    def contrast(name: str, parts: tuple[str, ...]) -> Floats | None:
        row = np.zeros(len(weight))
        for who, sign in ((name, 1.0), (human, -1.0)):
            for version, direction in ((AFTER, 1.0), (BEFORE, -1.0)):
                inside = [index[who, version, part] for part in parts if (who, version, part) in index]
                if not inside:
                    return None
                row[inside] += sign * direction * weight[inside] / weight[inside].sum()
        return row

    def estimate(row: Floats) -> _Estimate:
        se = float(np.sqrt(max(float(row @ fitted.covariance @ row), 0.0)))
        return _Estimate(float(row @ fitted.effects), se, float(fitted.degrees.of(row[None])[0]))

    contrasts: dict[str, dict[str, Floats]] = {}
    for part, held in PARTS.items():
        if part == "all" or contaminated is not None:
            rows = {name: contrast(name, held) for name in design.systems if name != human}
            contrasts[part] = {name: row for name, row in rows.items() if row is not None}
    if contaminated is not None:
        touched, others = contrasts["contaminated"], contrasts["untouched"]
        contrasts[BEYOND] = {name: touched[name] - others[name] for name in touched if name in others}
    return {
        part: {name: estimate(row) for name, row in by_name.items()} for part, by_name in contrasts.items() if by_name
    }


def _both_versions(
    before: Judgments, after: Judgments, human: str, contaminated: frozenset[str] | None
) -> pl.DataFrame:
    """The judgments of both versions in one table, each row with its version and its part of the segments."""
    # The same person's work on two versions is not one task or page, whatever its numbers.
    one_work = [
        pl.concat_str(pl.col(_VERSION), pl.col(name).fill_null(""), separator=":").alias(name)
        for name in ("task", "screen")
    ]
    columns = (_human_competes(human), _part_of(contaminated), pl.lit(1).alias("revision"))
    tables = [
        version.final().table.with_columns(*columns, pl.lit(name).alias(_VERSION)).with_columns(one_work)
        for name, version in ((BEFORE, before), (AFTER, after))
    ]
    return pl.concat(tables, how="diagonal_relaxed")


def _rank_changes(
    before: Judgments, after: Judgments, human: str, contaminated: frozenset[str] | None
) -> dict[str, dict[str, _Estimate]]:
    estimates: dict[str, dict[str, _Estimate]] = {}
    for part, held in PARTS.items():
        if part == "all" or contaminated is not None:
            earlier, later = (
                _distances(
                    Judgments(version.table.with_columns(_part_of(contaminated))).select(pl.col(_PART).is_in(held)),
                    human,
                )
                for version in (before, after)
            )
            estimates[part] = {name: _difference(earlier[name], later[name]) for name in earlier if name in later}
    if contaminated is not None:
        first, second = estimates["contaminated"], estimates["untouched"]
        estimates[BEYOND] = {name: _difference(second[name], first[name]) for name in first if name in second}
    return estimates


def _distances(judgments: Judgments, human: str) -> dict[str, _Estimate]:
    """Every system minus the human, by strengths with tastes."""
    compared = comparisons(judgments)
    estimator = RelativeEstimator(compared, check=False)
    if not estimator.by_tastes or human not in compared.systems:
        raise DataError("tastes need two named annotators or more who judged the human in every part")
    estimate, _ = estimator.estimate_at()
    human_code, covariance = compared.systems.index(human), estimate.covariance
    distances = {}
    for i, name in enumerate(compared.systems):
        if i != human_code:
            variance = covariance[i, i] + covariance[human_code, human_code] - 2 * covariance[i, human_code]
            change = float(estimate.effects[i] - estimate.effects[human_code])
            distances[name] = _Estimate(change, float(np.sqrt(max(variance, 0.0))), float(estimate.df[i, human_code]))
    return distances


def _difference(first: _Estimate, second: _Estimate) -> _Estimate:
    """The second minus the first, taken as independent; degrees of freedom after Welch and Satterthwaite."""
    variances = first.se**2, second.se**2
    whole = sum(variances)
    spread = sum(variance**2 / estimate.df for variance, estimate in zip(variances, (first, second), strict=True))
    return _Estimate(second.change - first.change, float(np.sqrt(whole)), whole**2 / spread if spread > 0 else np.inf)


# Every judgment of a system against the human as one row: better (1), as good (0) or worse (-1), with its segment.


@dataclass(frozen=True)
class Outcomes:
    """The outcome of every comparison with the human, and what every output was worth, with document and segment.

    `compared` has the columns system, outcome, document, segment, and for ranks the annotator. `worth` has system (the
    human too), value, document, segment: rank points, or scores.
    """

    human: str
    humans: frozenset[str]
    """Other systems that are human translations."""
    compared: pl.DataFrame
    worth: pl.DataFrame
    relative: bool

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems that were compared with the human, by name."""
        return tuple(self.compared["system"].unique().sort().to_list())

    @property
    def documents_known(self) -> bool:
        """Whether every judgment names its document."""
        return self.compared["document"].null_count() == 0

    @property
    def annotators(self) -> int | None:
        """How many people compared systems with the human; None where they are not named, or scores were averaged."""
        if "annotator" not in self.compared.columns:
            return None
        names = self.compared["annotator"].unique().to_list()
        return None if NOBODY in names else len(names)

    def only(self, condition: pl.Expr) -> Outcomes:
        """The judgments at the places that meet the condition."""
        return replace(self, compared=self.compared.filter(condition), worth=self.worth.filter(condition))


def find_human(judgments: Judgments, wanted: str) -> str:
    """The one system that the name, or the regular expression, stands for."""
    systems = judgments.systems
    if wanted in systems:
        return wanted
    pattern = compile_human_pattern(wanted)
    fitting = [name for name in systems if pattern.fullmatch(name)]
    if not fitting:
        raise DataError(f"{param('human')} '{wanted}' names none of the systems; they are {', '.join(systems)}")
    if len(fitting) > 1:
        raise UsageError(f"{param('human')} '{wanted}' fits {', '.join(fitting)}; name the one to compare with")
    return fitting[0]


def outcomes(judgments: Judgments, human: str, keys: Mapping[str, str] | None = None) -> Outcomes:
    """Compare every system with the human: by ranks where there are any, else by the mean score of each segment."""
    name = find_human(judgments, human)
    relative = is_relative(judgments)
    compared, worth = (_compare_ranks if relative else _compare_scores)(judgments, name)
    if compared.height == 0:
        raise DataError(f"no system was judged together with '{name}'; name another with {param('human')}")
    marked = judgments.table.filter(pl.col("human") & (pl.col("system") != name))["system"].unique()
    if keys is not None:
        unknown = [segment for segment in compared["segment"].unique().to_list() if segment not in keys]
        if unknown:
            raise DataError(f"segment '{unknown[0]}' is not in the keys; they must name the document of every segment")
        document = pl.col("segment").replace_strict(keys, default=None, return_dtype=pl.String).alias("document")
        compared, worth = compared.with_columns(document), worth.with_columns(document)
    return Outcomes(name, frozenset(marked.to_list()), compared, worth, relative)


def _compare_ranks(judgments: Judgments, human: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    pairs = comparisons(judgments)
    segments = segment_keys(judgments).select("document", "segment")
    if human not in pairs.systems:
        raise DataError(f"'{human}' has no ranks of its own; name another with {param('human')}")
    if len(pairs.first) == 0:
        raise DataError("no two systems were ranked in the same block, so nothing can be compared; check the columns")
    code = pairs.systems.index(human)
    with_human = (pairs.first == code) | (pairs.second == code)
    first = pairs.first[with_human]
    other = np.where(first == code, pairs.second[with_human], first)
    sign = np.where(first == code, -pairs.outcome[with_human], pairs.outcome[with_human])
    compared = pl.DataFrame(
        {
            "system": np.array(pairs.systems)[other],
            "outcome": sign.astype(np.int64),
            "annotator": np.array(pairs.annotators)[pairs.annotator[with_human]],
        }
    )
    where = segments[pairs.segment[with_human].astype(np.int64)]
    return compared.hstack(where), _rank_points(pairs, segments)


def _rank_points(pairs: Comparisons, segments: pl.DataFrame) -> pl.DataFrame:
    """Candidates + 1 - rank of every label in a block of two or more; candidates as in the largest block."""
    sizes = np.bincount(pairs.label_block)
    segment = np.zeros(len(sizes), dtype=np.int64)
    segment[pairs.block] = pairs.segment
    usable = sizes[pairs.label_block] > 1
    points = int(sizes.max()) + 1 - pairs.label_rank[usable]
    worth = pl.DataFrame({"system": np.array(pairs.systems)[pairs.label_system[usable]], "value": points.astype(float)})
    return worth.hstack(segments[segment[pairs.label_block[usable]]])


def _compare_scores(judgments: Judgments, human: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    table = judgments.final().table.filter(
        pl.col("protocol").is_in(SCORED) & pl.col("kind").is_in(WORK) & pl.col("score").is_not_null()
    )
    if table.height == 0:
        raise DataError("ranks or scores are needed, and the data hold neither; check the export")
    position = ("document", "segment")
    worth = table.group_by("system", *position, maintain_order=True).agg(value=pl.col("score").mean())
    of_human = worth.filter(pl.col("system") == human).select(*position, human_value="value")
    both = worth.filter(pl.col("system") != human).join(of_human, on=position, how="inner", nulls_equal=True)
    # Means of equal scores may differ in their last digit.
    difference = (pl.col("value") - pl.col("human_value")).round(9)
    compared = both.select("system", difference.sign().cast(pl.Int64).alias("outcome"), *position)
    return compared, worth.select("system", "value", *position)
