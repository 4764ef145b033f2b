"""Composition and sampling of relative judgments: which systems their blocks show.

Composition: which systems were shown together, and how strong the opponents of each were. A ratio of wins depends on
the opponents a system happened to meet (Bojar et al. 2011, sections 2.5.1 and 3.2).
Sampling: a system shown more often, or more often beside the reference, scored lower in some tasks (sections 2.4 and
3.2). Correlations are over systems that are not human; a block counts where a system was shown, labelled or not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.audit.intervals import correlate
from adjudge.core.comparisons import BLOCK_KEY, comparisons, relative_judgments
from adjudge.core.errors import DataError, UsageError
from adjudge.core.maths import divide
from adjudge.core.rng import DEFAULT_SEED, generator
from adjudge.rank.methods import find_method
from adjudge.rank.resampling_units import tally
from adjudge.results.audit.composition import Composition, Opposition
from adjudge.results.audit.sampling import SampledSystem, Sampling

if TYPE_CHECKING:
    import scipy.sparse as sp
    from numpy.typing import NDArray

    from adjudge.audit.settings import AuditSettings
    from adjudge.core.comparisons import Comparisons
    from adjudge.core.judgments import Judgments
    from adjudge.rank.counts import Tally

DEFAULT_METHOD = "wins-or-ties"


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


def composition_section(judgments: Judgments, settings: AuditSettings) -> Composition:
    """Count who met whom."""
    blocks = shown(judgments)
    tally, together, times = blocks.tally, blocks.together, blocks.times
    scores = scores_by(tally, settings.method)
    known = np.isfinite(scores)
    weight = together[:, known].astype(float)
    company = divide(weight @ scores[known], weight.sum(1))
    presence = blocks.with_reference
    pairs = together[np.triu_indices(len(times), k=1)]
    return Composition(
        unit="block",
        method=settings.method or DEFAULT_METHOD,
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
    blocks = shown(judgments)
    tally = blocks.tally
    scores = scores_by(tally, settings.method)
    machine = ~tally.human
    times, presence = blocks.times.astype(float), blocks.with_reference
    no_reference = not tally.human.any()
    return Sampling(
        kind="relative",
        method=settings.method or DEFAULT_METHOD,
        times_judged=correlate(times[machine], scores[machine]),
        reference_presence=correlate(presence[machine], scores[machine]),
        systems=tuple(
            SampledSystem(
                system=tally.systems[i],
                human=bool(tally.human[i]),
                shown=int(times[i]),
                labelled=int(tally.blocks[i]),
                reference_share=float("nan") if no_reference else float(presence[i]),
                score=float(scores[i]),
            )
            for i in np.argsort(-np.nan_to_num(scores, nan=-np.inf), kind="stable")
        ),
    )
