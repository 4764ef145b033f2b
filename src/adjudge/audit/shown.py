"""What was shown together, labelled or not: the blocks of relative judgments as a matrix blocks x systems."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.core.comparisons import BLOCK_KEY, comparisons, relative_judgments
from adjudge.core.errors import DataError, UsageError
from adjudge.rank.methods import find_method
from adjudge.rank.tally import tally

if TYPE_CHECKING:
    import scipy.sparse as sp
    from numpy.typing import NDArray

    from adjudge.core.comparisons import Comparisons
    from adjudge.core.judgments import Judgments
    from adjudge.rank.tally import Tally

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
        return np.where(self.tally.human, met_another, met) / np.maximum(self.times, 1)


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
    places = (
        relative_judgments(judgments)
        .table.select(
            (pl.struct(BLOCK_KEY).rank("dense") - 1).alias("block"),
            pl.col("system").replace_strict(compared.systems, range(len(compared.systems)), return_dtype=pl.Int64),
        )
        .unique()
    )
    block, system = places["block"].to_numpy(), places["system"].to_numpy()
    number = int(block.max()) + 1
    matrix = csr_array((np.ones(len(block)), (block, system)), shape=(number, len(compared.systems)))
    return Shown(matrix, tally(compared))


def scores_by(tally: Tally, method: str | None) -> NDArray[np.float64]:
    """The systems' scores by a method for relative judgments that needs the tally alone."""
    chosen = find_method(method or DEFAULT_METHOD)
    if chosen.judgments != "relative" or chosen.name == "trueskill":
        raise UsageError(f"{chosen.name} cannot be audited on rankings; choose a ratio such as {DEFAULT_METHOD}")
    module = import_module(f"adjudge.rank.{chosen.module}")
    if chosen.reference == "exclude":
        found = np.full(len(tally.systems), np.nan)
        found[~tally.human] = module.scores(tally.without(tally.human))
        return found
    return np.asarray(module.scores(tally), dtype=float)
