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

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl

from adjudge.audit.intervals import correlate
from adjudge.core.comparisons import BLOCK_KEY, comparisons, relative_judgments
from adjudge.core.errors import DataError, UsageError
from adjudge.core.maths import divide
from adjudge.core.protocols import RATED, SCORED
from adjudge.core.rng import DEFAULT_SEED, generator
from adjudge.core.score_sheet import item_means, sheet_of, standardised
from adjudge.rank.methods import find_method
from adjudge.rank.resampling_units import tally
from adjudge.ranking.estimator import is_relative
from adjudge.results.audit.composition import Composition, Opposition, TaskComposition
from adjudge.results.audit.sampling import SampledSystem, Sampling

if TYPE_CHECKING:
    import scipy.sparse as sp
    from numpy.typing import NDArray

    from adjudge.audit.settings import AuditSettings
    from adjudge.core.arrays import Bools, Codes, Floats
    from adjudge.core.comparisons import Comparisons
    from adjudge.core.judgments import Judgments
    from adjudge.core.score_sheet import Sheet
    from adjudge.rank.counts import Tally

DEFAULT_METHOD = "wins-or-ties"


def composition_section(judgments: Judgments, settings: AuditSettings) -> TaskComposition | Composition:
    """The section of an audit: by blocks of relative judgments, by tasks of scores."""
    return block_composition(judgments, settings.method) if is_relative(judgments) else task_composition(judgments)


def task_composition(judgments: Judgments) -> TaskComposition:
    """Count who met whom in tasks."""
    table = judgments.final().table.filter(
        pl.col("protocol").is_in(SCORED) & pl.col("score").is_not_null() & pl.col("annotator").is_not_null()
    )
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
    return TaskComposition(
        unit="task" if has_tasks else "annotator",
        units=len(member),
        systems=tuple(systems),
        matrix=tuple(tuple(int(count) for count in row) for row in together),
        shares=tuple(tuple(float(share) for share in row) for row in shares),
        systems_per_unit=(int(per_unit.min()), float(per_unit.mean()), int(per_unit.max())),
        met_in_half=float((shares[pairs] >= 0.5).mean()) if len(systems) > 1 else 1.0,
        annotators=table["annotator"].n_unique(),
        annotators_with=_shares_of_annotators(table),
        annotators_with_one_task=float((tasks == 1).sum()) / len(tasks) if has_tasks else None,
    )


def _shares_of_annotators(table: pl.DataFrame) -> dict[str, float]:
    """The share of the annotators who met references, degraded outputs, or a human translation among the systems."""
    people = table["annotator"].n_unique()
    met = {
        "references": pl.col("kind") == "reference",
        "degraded outputs": pl.col("kind") == "degraded",
        "a human system": pl.col("human") & pl.col("kind").is_in(RATED),
    }
    return {what: table.filter(condition)["annotator"].n_unique() / people for what, condition in met.items()}


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
    tally, together, times = blocks.tally, blocks.together, blocks.times
    scores = scores_by(tally, method)
    known = np.isfinite(scores)
    weight = together[:, known].astype(float)
    company = divide(weight @ scores[known], weight.sum(1))
    presence = blocks.with_reference
    pairs = together[np.triu_indices(len(times), k=1)]
    return Composition(
        unit="block",
        method=method or DEFAULT_METHOD,
        systems=tally.systems,
        matrix=tuple(tuple(row) for row in together.tolist()),
        shares=tuple(tuple(row) for row in divide(together, times[:, None], otherwise=0.0).tolist()),
        opposition=tuple(
            Opposition(
                system=tally.systems[i],
                human=bool(tally.human[i]),
                shown=int(times[i]),
                opponents=int((together[i] > 0).sum()),
                opponent_score=float(company[i]),
                reference_share=float(presence[i]),
            )
            for i in range(len(times))
        ),
        fewest=int(pairs.min()),
        most=int(pairs.max()),
    )


def sampling_section(judgments: Judgments, settings: AuditSettings) -> Sampling:
    """Correlate scores with how systems were drawn."""
    drawn = (
        _drawn_in_blocks(judgments, settings.method) if is_relative(judgments) else _drawn(judgments, settings.method)
    )
    machine = ~drawn.human
    return Sampling(
        kind=drawn.kind,
        method=drawn.method,
        times_judged=correlate(drawn.times.astype(float)[machine], drawn.scores[machine]),
        reference_presence=correlate(drawn.presence[machine], drawn.scores[machine]),
        systems=tuple(
            SampledSystem(
                system=drawn.systems[i],
                human=bool(drawn.human[i]),
                shown=int(drawn.times[i]),
                labelled=int(drawn.labelled[i]),
                reference_share=float("nan") if drawn.no_reference else float(drawn.presence[i]),
                score=float(drawn.scores[i]),
            )
            for i in np.argsort(-np.nan_to_num(drawn.scores, nan=-np.inf), kind="stable")
        ),
    )


@dataclass(frozen=True, eq=False)
class _Drawn:
    """How often systems were drawn, beside their scores."""

    kind: Literal["relative", "scores"]
    method: str
    systems: tuple[str, ...]
    human: Bools
    scores: Floats
    times: Codes
    """How often each was judged, or shown."""
    labelled: Codes
    """How often it got an answer."""
    presence: Floats
    """The share of each system's judgments beside a human translation."""
    no_reference: bool = False
    """Whether there was none to be beside, in blocks."""


def _drawn(judgments: Judgments, method: str | None) -> _Drawn:
    sheet = sheet_of(judgments)
    chosen = "raw" if method == "raw" else "zscore"
    n = len(sheet.systems)
    scores = item_means(sheet if chosen == "raw" else standardised(sheet)).system_means(n)
    times = np.bincount(sheet.system[sheet.rated], minlength=n)
    return _Drawn("scores", chosen, sheet.systems, sheet.human, scores, times, times, _beside_human(sheet))


def _drawn_in_blocks(judgments: Judgments, method: str | None) -> _Drawn:
    blocks = shown(judgments)
    tally, scores, labelled = blocks.tally, scores_by(blocks.tally, method), blocks.tally.blocks.astype(np.int64)
    return _Drawn(
        "relative",
        method or DEFAULT_METHOD,
        tally.systems,
        tally.human,
        scores,
        blocks.times,
        labelled,
        blocks.with_reference,
        no_reference=not tally.human.any(),
    )


def _beside_human(sheet: Sheet) -> NDArray[np.float64]:
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
    def blocks(self) -> int:
        """How many blocks there are."""
        return int(self.matrix.shape[0])

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
    def with_reference(self) -> NDArray[np.float64]:
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


def scores_by(tally: Tally, method: str | None) -> NDArray[np.float64]:
    """The systems' scores by a method for relative judgments that needs the tally alone."""
    chosen = find_method(method or DEFAULT_METHOD)
    if chosen.judgments != "relative" or chosen.random:
        raise UsageError(f"{chosen.name} cannot be audited on rankings; choose a ratio such as {DEFAULT_METHOD}")
    rng = generator(DEFAULT_SEED)
    if chosen.reference == "exclude":
        scores = np.full(len(tally.systems), np.nan)
        scores[~tally.human] = chosen.score(tally.without(tally.human), rng)
        return scores
    return np.asarray(chosen.score(tally, rng), dtype=float)
