"""Sections of an audit: sampling of systems; of rankings also sole winners and discrepancies.

A discrepancy is a pair in which the winner of the direct comparison has the lower overall score.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from adjudge.core.wording import counted
from adjudge.results.result import UNWRITTEN
from adjudge.results.table import Column, Table, number, p_value, percent, shown_name, text


@dataclass(frozen=True)
class Correlation:
    """Pearson's correlation over systems, its 95% interval (Fisher's z) and Spearman's; NaN where not defined."""

    pearson: float
    interval: tuple[float, float]
    spearman: float
    n: int


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
        return (self._correlations(), self._systems())

    def _correlations(self) -> Table:
        rows = tuple(
            (name, correlation.pearson, *correlation.interval, correlation.spearman, correlation.n)
            for name, correlation in (
                ("times judged and score", self.times_judged),
                ("presence of the reference and score", self.reference_presence),
            )
        )
        columns = (
            text("correlation of"), number("Pearson"), number("low"), number("high"), number("Spearman"),
            number("systems", 0),
        )  # fmt: skip
        note = f"Over systems that are not human; score by {self.method}. Empty if all were drawn equally often."
        return Table("Sampling: does the score depend on how systems were drawn?", columns, rows, note)

    def _systems(self) -> Table:
        # Of scores there are no items that were shown and left without an answer.
        of_scores = self.kind == "scores"
        rows = tuple(
            (
                shown_name(system.system, system.human),
                *((system.shown,) if of_scores else (system.shown, system.labelled)),
                system.reference_share,
                system.score,
            )
            for system in self.systems
        )
        if of_scores:
            counts: tuple[Column, ...] = (number("judged", 0, help="how often it was judged"),)
            beside = "share of its judgments by annotators who judged a human translation, too"
        else:
            counts = (
                number("shown", 0, help="blocks in which it was shown"),
                number("labelled", 0, help="blocks in which it got a rank"),
            )
            beside = "share of its blocks in which a human translation was shown too"
        columns = (text("system"), *counts, percent("with reference", help=beside), number("score"))
        return Table("Sampling by system", columns, rows)


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
        rows = tuple(
            (shown_name(system.system, system.human), system.wins, system.labelled, system.share)
            for system in self.systems
        )
        others = [("no sole winner: several share the best label", self.tied, None, None)]
        if self.empty:
            others.append(("no sole winner: no label at all", self.empty, None, None))
        columns = (
            text("system"),
            number("sole wins", 0),
            number("labelled", 0, help="blocks in which it got a rank"),
            percent("share"),
        )
        table = Table("Sole winners of blocks", columns, (*rows, *others), f"{counted(self.blocks, 'block')}.")
        return (table,)


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
        rows = tuple(
            (pair.better, pair.worse, pair.wins, pair.ties, pair.losses, pair.better_score, pair.worse_score, pair.p)
            for pair in self.pairs
        )
        columns = (
            text("wins directly"),
            text("against"),
            number("wins", 0),
            number("ties", 0),
            number("losses", 0),
            number("score"),
            number("its score"),
            p_value("p", help="sign test on the direct comparison, not adjusted"),
        )
        of_all = f"{len(self.pairs)} of {counted(self.compared, 'pair')} that met"
        note = f"{of_all}: the direct winner scores lower by {self.method}."
        matrix = tuple((name, *shares) for name, shares in zip(self.systems, self.matrix, strict=True))
        return (
            Table("Discrepancies between direct comparisons and overall scores", columns, rows, note),
            Table(
                "Share of comparisons in which the column beat the row",
                (text("system"), *(percent(name) for name in self.systems)),
                matrix,
                "Ties count in the denominator. The best system overall comes first.",
            ),
        )
