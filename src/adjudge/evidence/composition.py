"""Composition and sampling: which systems were judged together, and whether scores go with how they were drawn.

Composition of scores is by tasks (Knowles 2021, section 5): a z-score compares a system with whatever else its
annotator judged, and where tasks hold few of the systems, that company is a matter of luck. Of relative judgments it is
by blocks, with the strength of each system's opponents: a ratio of wins depends on the opponents a system happened to
meet (Bojar et al. 2011, sections 2.5.1 and 3.2). A block counts where a system was shown, labelled or not.

Sampling asks whether scores go with how often a system was judged, or met a human translation: a system shown more
often, or more often beside the reference, scored lower in some tasks (sections 2.4 and 3.2). Correlations are over
systems that are not human.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl

from adjudge.ranking.counts import Tally, tally
from adjudge.ranking.estimator import is_relative
from adjudge.ranking.methods import find_method
from adjudge.ranking.significance import sign_tests
from adjudge.table.comparisons import BLOCK_KEY, Comparisons, comparisons, relative_judgments
from adjudge.table.errors import DataError, UsageError
from adjudge.table.maths import Correlation, Floats, correlate, divide
from adjudge.table.protocols import RATED, SCORED
from adjudge.table.results import UNWRITTEN, Cell, Column, Table, number, p_value, percent, tabulate, text
from adjudge.table.rng import DEFAULT_SEED, generator
from adjudge.table.score_sheet import Sheet, item_means, sheet_of, standardised
from adjudge.table.wording import as_sentences, counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import scipy.sparse as sp
    from numpy.typing import NDArray

    from adjudge.evidence.audit import AuditSettings
    from adjudge.table.judgments import Judgments


DEFAULT_METHOD = "wins-or-ties"


def _matrix_table(
    title: str,
    systems: Sequence[str],
    matrix: Sequence[Sequence[Cell]],
    column: Callable[[str], Column],
    note: str = "",
) -> Table:
    """Systems against systems."""
    rows = tuple((name, *cells) for name, cells in zip(systems, matrix, strict=True))
    return Table(title, (text("system"), *map(column, systems)), rows, note)


def _count(name: str) -> Column:
    return number(name, 0)


@dataclass(frozen=True)
class TaskComposition:
    """Which systems met in tasks: `matrix[i][j]` tasks, `shares[i][j]` of the tasks of system i."""

    unit: str
    """`task`, or `annotator` where tasks are not known."""
    units: int
    systems: tuple[str, ...]
    matrix: tuple[tuple[int, ...], ...]
    shares: tuple[tuple[float, ...], ...]
    systems_per_unit: tuple[int, float, int]
    """Fewest, mean and most systems in a task."""
    met_in_half: float
    """Share of ordered pairs of systems that met in at least half of the tasks of the first."""
    annotators: int
    annotators_with: dict[str, float]
    """Share of annotators who judged a reference, a degraded output, a human translation."""
    annotators_with_one_task: float | None

    def tables(self) -> tuple[Table, ...]:
        """The figures, then the matrix."""
        low, mean, high = self.systems_per_unit
        rows: list[tuple[Cell, ...]] = [
            (
                f"systems per {self.unit}, of {len(self.systems)}",
                f"{low}" if low == high else f"{low} to {high}, {mean:.1f} on average",
            ),
            (f"pairs that meet {self._in} half of their {self.unit}s", f"{100 * self.met_in_half:.0f}%"),
            *((f"annotators who judged {what}", f"{100 * share:.0f}%") for what, share in self.annotators_with.items()),
        ]
        if self.annotators_with_one_task is not None:
            rows.append(("annotators who did one task only", f"{100 * self.annotators_with_one_task:.0f}%"))
        figures = Table(
            f"Composition: what {self.unit}s {'judged' if self._by_people else 'are made of'}",
            (text("what"), text("found")),
            tuple(rows),
            self._warning(),
        )
        met = "who judged both systems" if self._by_people else "in which two systems met"
        return figures, _matrix_table(f"Composition: {self.unit}s {met}", self.systems, self.matrix, _count)

    @property
    def _by_people(self) -> bool:
        return self.unit == "annotator"

    @property
    def _in(self) -> str:
        return "with" if self._by_people else "in"

    def _warning(self) -> str:
        parts: list[str] = []
        if self.met_in_half < 0.5:
            half = f"{self._in} fewer than half of their {self.unit}s"
            parts.append(f"most systems meet {half}, so a score depends on the other systems")
        if self.annotators_with_one_task is not None and self.annotators_with_one_task > 0.5:
            most = "every annotator" if self.annotators_with_one_task == 1 else "most annotators"
            parts.append(f"{most} did one task, so an annotator's z-score is mostly a task's")
        return " ".join(as_sentences(parts))


@dataclass(frozen=True)
class Opposition:
    """Whom a system met: how many others, how strong they are on average, how often a human translation."""

    system: str
    human: bool
    shown: int
    opponents: int
    opponent_score: float
    reference_share: float


@dataclass(frozen=True)
class Composition:
    """Which systems were shown together: `matrix[i][j]` blocks, `shares[i][j]` of the blocks of system i."""

    unit: str
    method: str
    systems: tuple[str, ...]
    matrix: tuple[tuple[int, ...], ...]
    shares: tuple[tuple[float, ...], ...]
    opposition: tuple[Opposition, ...]
    fewest: int
    most: int

    def tables(self) -> tuple[Table, ...]:
        """Whom each system met, then the matrix."""
        columns = {
            "system": text("system"),
            "shown": number(f"{self.unit}s", 0),
            "opponents": number("opponents", 0, help="different systems it was shown with"),
            "opponent_score": number(
                "opponents' score", help=f"mean score of those it was shown with, by {self.method}"
            ),
            "reference_share": percent("with reference"),
        }
        fewest = f"{self.fewest:,} to " if self.fewest < self.most else ""
        note = f"Two systems met in {fewest}{counted(self.most, self.unit)}."
        title = f"Composition: {self.unit}s in which two systems were shown together"
        met = tabulate("Composition: whom each system met", self.opposition, columns, note)
        return met, _matrix_table(title, self.systems, self.matrix, _count)


@dataclass(frozen=True)
class ExplainedSpread:
    """How much of the spread of raw scores a set of factors explains, allowing for how many levels they have."""

    factors: str
    r2: float
    adjusted_r2: float


@dataclass(frozen=True)
class Documents:
    """Documents by systems, easiest document and best system first; empty cells were not judged."""

    documents: tuple[str, ...]
    systems: tuple[str, ...]
    matrix: tuple[tuple[float | None, ...], ...]
    counts: tuple[tuple[int, ...], ...]
    difficulty: tuple[float, ...]
    """Mean score of each document."""
    coverage: float
    """Share of document-by-system cells that were judged."""
    explained: tuple[ExplainedSpread, ...]
    scale: str = "raw score"
    """What the matrix holds: means of raw scores or z-scores, estimates of a model, or a metric."""

    def tables(self) -> tuple[Table, ...]:
        """What explains the spread, then coverage by document."""
        spread = tabulate(
            "Documents: what explains the spread of raw scores",
            self.explained,
            {"factors": text("factors"), "r2": percent("R²"), "adjusted_r2": percent("adjusted R²")},
            "Where documents add little once annotators are known, documents differ mostly by who judged them.",
        )
        judged = tuple(sum(count > 0 for count in row) for row in self.counts)
        rows = tuple(
            (name, mean, systems, sum(row))
            for name, mean, systems, row in zip(self.documents, self.difficulty, judged, self.counts, strict=True)
        )
        columns = (
            text("document"),
            number("mean", 1 if self.scale == "raw score" else 2),
            number("systems", 0),
            number("judgments", 0),
        )
        what = "" if self.scale == "raw score" else f" Means are of the {self.scale}."
        note = f"{100 * self.coverage:.0f}% of document-by-system cells were judged.{what}"
        return spread, Table("Documents, the easiest first", columns, rows, note)


@dataclass(frozen=True)
class SampledSystem:
    """How often a system was shown, how often together with a human translation, and its score."""

    system: str
    human: bool
    shown: int
    labelled: int
    reference_share: float
    score: float


@dataclass(frozen=True)
class Sampling:
    """Does a system's score go with how often it was judged, or with how often it met the reference?"""

    method: str
    times_judged: Correlation
    reference_presence: Correlation
    systems: tuple[SampledSystem, ...]
    kind: Literal["relative", "scores"] = field(metadata=UNWRITTEN)
    """Whether systems were compared or scored."""

    def tables(self) -> tuple[Table, ...]:
        """The two correlations, then the systems behind them."""
        rows = tuple(
            (name, correlation.pearson, *correlation.interval, correlation.spearman, correlation.n)
            for name, correlation in (
                ("times judged and score", self.times_judged),
                ("presence of the reference and score", self.reference_presence),
            )
            if not math.isnan(correlation.pearson)
        )
        figures = (number("Pearson"), number("low"), number("high"), number("Spearman"), number("systems", 0))
        note = f"Over systems that are not human; score by {self.method}."
        title = "Sampling: does the score depend on how systems were drawn?"
        correlations = Table(title, (text("correlation of"), *figures), rows, note)
        columns: dict[str, Column] = {"system": text("system")}
        if self.kind == "scores":
            # Of scores there are no items that were shown and left without an answer.
            columns["shown"] = number("judged", 0, help="how often it was judged")
            beside = "share of its judgments by annotators who judged a human translation, too"
        else:
            columns["shown"] = number("shown", 0, help="blocks in which it was shown")
            columns["labelled"] = number("labelled", 0, help="blocks in which it got a rank")
            beside = "share of its blocks in which a human translation was shown too"
        columns |= {"reference_share": percent("with reference", help=beside), "score": number("score")}
        by_system = tabulate("Sampling by system", self.systems, columns)
        # Where all were drawn equally often, nothing can go with it.
        return (correlations, by_system) if rows else (replace(by_system, note="All were drawn equally often."),)


@dataclass(frozen=True)
class SoleWinner:
    """How often a system alone had the best label of a block."""

    system: str
    human: bool
    wins: int
    labelled: int
    share: float


@dataclass(frozen=True)
class SoleWinners:
    """Blocks by which system, if any, alone had the best label."""

    blocks: int
    tied: int
    empty: int
    systems: tuple[SoleWinner, ...]

    def tables(self) -> tuple[Table, ...]:
        """One table, ending with the blocks that nobody won alone."""
        others = [("no sole winner: several share the best label", self.tied, None, None)]
        if self.empty:
            others.append(("no sole winner: no label at all", self.empty, None, None))
        columns = {
            "system": text("system"),
            "wins": number("sole wins", 0),
            "labelled": number("labelled", 0, help="blocks in which it got a rank"),
            "share": percent("share"),
        }
        winners = tabulate("Sole winners of blocks", self.systems, columns, f"{counted(self.blocks, 'block')}.")
        return (replace(winners, rows=(*winners.rows, *others)),)


@dataclass(frozen=True)
class Discrepancy:
    """A pair whose direct comparison and overall scores point in opposite directions."""

    better: str
    """The winner of the direct comparison, whose overall score is lower."""
    worse: str
    wins: int
    losses: int
    ties: int
    better_score: float
    worse_score: float
    p: float
    """Two-sided sign test on the direct comparison."""


@dataclass(frozen=True)
class Discrepancies:
    """Direct comparisons against overall scores. `matrix[i][j]`: share of comparisons in which j beat i."""

    method: str
    systems: tuple[str, ...]
    scores: tuple[float, ...]
    matrix: tuple[tuple[float | None, ...], ...]
    compared: int
    pairs: tuple[Discrepancy, ...]

    def tables(self) -> tuple[Table, ...]:
        """The discrepancies, then the matrix."""
        columns = {
            "better": text("wins directly"),
            "worse": text("against"),
            "wins": number("wins", 0),
            "ties": number("ties", 0),
            "losses": number("losses", 0),
            "better_score": number("score"),
            "worse_score": number("its score"),
            "p": p_value("p", help="sign test on the direct comparison, not adjusted"),
        }
        of_all = f"{len(self.pairs)} of {counted(self.compared, 'pair')} that met"
        note = f"{of_all}: the direct winner scores lower by {self.method}."
        title, ties = "Share of comparisons in which the column beat the row", "Ties count in the denominator."
        return (
            tabulate("Discrepancies between direct comparisons and overall scores", self.pairs, columns, note),
            _matrix_table(title, self.systems, self.matrix, percent, f"{ties} The best system overall comes first."),
        )


def composition_section(judgments: Judgments, settings: AuditSettings) -> TaskComposition | Composition:
    """The section of an audit: by blocks of relative judgments, by tasks of scores."""
    return block_composition(judgments, settings.method) if is_relative(judgments) else task_composition(judgments)


def task_composition(judgments: Judgments) -> TaskComposition:
    """Count who met whom in tasks."""
    scored = pl.col("protocol").is_in(SCORED) & pl.col("score").is_not_null() & pl.col("annotator").is_not_null()
    table = judgments.final().table.filter(scored)
    rated = table.filter(pl.col("kind").is_in(RATED))
    if rated.height == 0:
        raise DataError("it needs scores by known annotators")
    has_tasks = rated["task"].is_not_null().any()
    unit = ["annotator", "task"] if has_tasks else ["annotator"]
    systems = rated["system"].unique().sort().to_list()
    member = _membership(rated, unit, systems)
    together = member.T @ member
    times = np.diag(together)
    shares = divide(together, times[:, None], otherwise=0.0)
    pairs = ~np.eye(len(systems), dtype=bool)
    per_unit = member.sum(1)
    tasks = table.group_by("annotator").agg(pl.col("task").n_unique())["task"]
    people = table["annotator"].n_unique()
    controls = {
        "references": pl.col("kind") == "reference",
        "degraded outputs": pl.col("kind") == "degraded",
        "a human system": pl.col("human") & pl.col("kind").is_in(RATED),
    }
    return TaskComposition(
        unit="task" if has_tasks else "annotator",
        units=len(member),
        systems=tuple(systems),
        matrix=tuple(tuple(int(count) for count in row) for row in together),
        shares=tuple(tuple(float(share) for share in row) for row in shares),
        systems_per_unit=(int(per_unit.min()), float(per_unit.mean()), int(per_unit.max())),
        met_in_half=float((shares[pairs] >= 0.5).mean()) if len(systems) > 1 else 1.0,
        annotators=people,
        annotators_with={
            what: table.filter(control)["annotator"].n_unique() / people for what, control in controls.items()
        },
        annotators_with_one_task=float((tasks == 1).sum()) / len(tasks) if has_tasks else None,
    )


def _membership(rated: pl.DataFrame, unit: list[str], systems: list[str]) -> np.ndarray:
    """(units, systems): 1 where the system was judged in the unit."""
    seen = rated.select(*unit, "system").unique()
    units = seen.select(unit).unique().with_row_index("row")
    placed = seen.join(units, on=unit, nulls_equal=True)
    column = placed["system"].replace_strict(systems, range(len(systems)), return_dtype=pl.Int64).to_numpy()
    member = np.zeros((units.height, len(systems)))
    member[placed["row"].to_numpy(), column] = 1
    return member


def block_composition(judgments: Judgments, method: str | None) -> Composition:
    """Count who met whom in blocks, and how strong the opponents of each were."""
    blocks = shown(judgments)
    tally, together, times, presence = blocks.tally, blocks.together, blocks.times, blocks.with_reference
    scores = scores_by(tally, method)
    known = np.isfinite(scores)
    weight = together[:, known].astype(float)
    company = divide(weight @ scores[known], weight.sum(1))
    pairs = together[np.triu_indices(len(times), k=1)]
    return Composition(
        unit="block",
        method=method or DEFAULT_METHOD,
        systems=tally.systems,
        matrix=tuple(tuple(row) for row in together.tolist()),
        shares=tuple(tuple(row) for row in divide(together, times[:, None], otherwise=0.0).tolist()),
        opposition=tuple(
            Opposition(
                tally.systems[i],
                bool(tally.human[i]),
                int(times[i]),
                int((together[i] > 0).sum()),
                float(company[i]),
                float(presence[i]),
            )
            for i in range(len(times))
        ),
        fewest=int(pairs.min()),
        most=int(pairs.max()),
    )


def sampling_section(judgments: Judgments, settings: AuditSettings) -> Sampling:
    """Correlate scores with how systems were drawn."""
    kind: Literal["relative", "scores"] = "relative" if is_relative(judgments) else "scores"
    if kind == "relative":
        blocks = shown(judgments)
        method, systems, human = settings.method or DEFAULT_METHOD, blocks.tally.systems, blocks.tally.human
        scores, times, labelled = scores_by(blocks.tally, method), blocks.times, blocks.tally.blocks.astype(np.int64)
        presence = blocks.with_reference
        share = presence if human.any() else np.full(len(systems), np.nan)
    else:
        sheet = sheet_of(judgments)
        method, systems, human = "raw" if settings.method == "raw" else "zscore", sheet.systems, sheet.human
        scores = item_means(sheet if method == "raw" else standardised(sheet)).system_means(len(systems))
        times = labelled = np.bincount(sheet.system[sheet.rated], minlength=len(systems))
        presence = share = _beside_human(sheet)
    machine = ~human
    return Sampling(
        kind=kind,
        method=method,
        times_judged=correlate(times.astype(float)[machine], scores[machine]),
        reference_presence=correlate(presence[machine], scores[machine]),
        systems=tuple(
            SampledSystem(
                systems[i], bool(human[i]), int(times[i]), int(labelled[i]), float(share[i]), float(scores[i])
            )
            for i in np.argsort(-np.nan_to_num(scores, nan=-np.inf), kind="stable")
        ),
    )


def _beside_human(sheet: Sheet) -> Floats:
    """Of each system's judgments, the share by annotators who also judged a human translation; NaN if nobody did."""
    human = sheet.of_kind("reference") | (sheet.of_systems(sheet.human) & sheet.rated)
    n = len(sheet.systems)
    if not human.any():
        return np.full(n, np.nan)
    met = np.zeros(len(sheet.annotators))
    met[np.unique(sheet.annotator[human])] = 1
    system, beside = sheet.system[sheet.rated], met[sheet.annotator[sheet.rated]]
    times = np.bincount(system, minlength=n)
    return divide(np.bincount(system, weights=beside, minlength=n), times, otherwise=0.0)


@dataclass(frozen=True, eq=False)
class Shown:
    """Which systems each block showed, beside how they fared."""

    matrix: sp.csr_array
    """Blocks x systems: 1 where the system was shown, whether or not it got a label."""
    tally: Tally

    @property
    def times(self) -> NDArray[np.int64]:
        """In how many blocks each system was shown."""
        return np.asarray(self.matrix.sum(0), dtype=np.int64)

    @property
    def together(self) -> NDArray[np.int64]:
        """In how many blocks two systems were shown together; the diagonal is 0."""
        both = np.asarray((self.matrix.T @ self.matrix).toarray(), dtype=np.int64)
        np.fill_diagonal(both, 0)
        return both

    @property
    def with_reference(self) -> Floats:
        """The share of each system's blocks in which a human translation (another one, for a human) was shown too."""
        humans = np.asarray(self.matrix @ self.tally.human.astype(float))
        met = np.asarray(self.matrix.T @ (humans > 0).astype(float))
        met_another = np.asarray(self.matrix.T @ (humans > 1).astype(float))
        return divide(np.where(self.tally.human, met_another, met), self.times, otherwise=0.0)


def compared_systems(judgments: Judgments) -> Comparisons:
    """The comparisons, of which there must be some."""
    compared = comparisons(judgments)
    if len(compared) == 0:
        raise DataError("no two systems were ranked in the same block, so there is nothing to audit; check the columns")
    return compared


def shown(judgments: Judgments) -> Shown:
    """The blocks of one language pair."""
    from scipy.sparse import csr_array

    compared = compared_systems(judgments)
    labels = (
        relative_judgments(judgments)
        .table.select(
            (pl.struct(BLOCK_KEY).rank("dense") - 1).alias("block"),
            pl.col("system").replace_strict(compared.systems, range(len(compared.systems)), return_dtype=pl.Int64),
        )
        .unique()
    )
    block, system = labels["block"].to_numpy(), labels["system"].to_numpy()
    number = int(block.max()) + 1
    matrix = csr_array((np.ones(len(block)), (block, system)), shape=(number, len(compared.systems)))
    return Shown(matrix, tally(compared))


def scores_by(tally: Tally, method: str | None) -> Floats:
    """The systems' scores by a method for relative judgments that needs the tally alone."""
    chosen = find_method(method or DEFAULT_METHOD)
    if chosen.judgments != "relative" or chosen.random:
        raise UsageError(f"{chosen.name} cannot be audited on rankings; choose a ratio such as {DEFAULT_METHOD}")
    rng = generator(DEFAULT_SEED)
    if chosen.reference != "exclude":
        return np.asarray(chosen.score(tally, rng), dtype=float)
    scores = np.full(len(tally.systems), np.nan)
    scores[~tally.human] = chosen.score(tally.without(tally.human), rng)
    return scores


# Sole winners: which system alone had the best label of a block (Bojar et al. 2011, Table 4). A block with one label
# counts as won by it; a block without labels has no winner.
# Discrepancies: pairs in which the winner of the direct comparison has the lower overall score (section 2.5). They can
# come from chance, from different segments, or from uneven opponents; a cycle makes some unavoidable.


def sole_winners_section(judgments: Judgments, settings: AuditSettings) -> SoleWinners:  # noqa: ARG001
    """Count the blocks that each system won alone."""
    compared = compared_systems(judgments)
    counted = tally(compared)
    wins = counted.block_wins.astype(int)
    blocks = len(compared.block_annotator)
    empty = blocks - len(np.unique(compared.label_block))
    won = divide(counted.block_wins, counted.blocks)
    order = sorted(range(len(wins)), key=lambda i: (-wins[i], counted.systems[i]))
    return SoleWinners(
        blocks=blocks,
        tied=blocks - empty - int(wins.sum()),
        empty=empty,
        systems=tuple(
            SoleWinner(counted.systems[i], bool(counted.human[i]), int(wins[i]), int(counted.blocks[i]), float(won[i]))
            for i in order
        ),
    )


def discrepancies_section(judgments: Judgments, settings: AuditSettings) -> Discrepancies:
    """Compare every pair's own judgments with the overall scores."""
    counted = tally(compared_systems(judgments))
    scores = scores_by(counted, settings.method)
    order = np.argsort(-np.nan_to_num(scores, nan=-np.inf), kind="stable")
    shares = divide(counted.losses, counted.met)[np.ix_(order, order)]
    return Discrepancies(
        method=settings.method or DEFAULT_METHOD,
        systems=tuple(counted.systems[i] for i in order),
        scores=tuple(scores[order].tolist()),
        matrix=tuple(tuple(None if np.isnan(cell) else cell for cell in row) for row in shares.tolist()),
        compared=int((np.triu(counted.met, k=1) > 0).sum()),
        pairs=tuple(sorted(_pairs(counted, scores), key=lambda pair: (pair.p, pair.better_score - pair.worse_score))),
    )


def _pairs(counted: Tally, scores: Floats) -> Iterator[Discrepancy]:
    p = sign_tests(counted.wins).two_sided
    for i, j in combinations(range(len(scores)), 2):
        better, worse = (i, j) if counted.wins[i, j] > counted.wins[j, i] else (j, i)
        if counted.wins[better, worse] > counted.wins[worse, better] and scores[better] < scores[worse]:
            yield Discrepancy(
                better=counted.systems[better],
                worse=counted.systems[worse],
                wins=int(counted.wins[better, worse]),
                losses=int(counted.wins[worse, better]),
                ties=int(counted.ties[better, worse]),
                better_score=float(scores[better]),
                worse_score=float(scores[worse]),
                p=float(p[better, worse]),
            )
