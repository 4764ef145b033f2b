"""Sections of an audit: sampling of systems; of rankings also sole winners and discrepancies.

A discrepancy is a pair in which the winner of the direct comparison has the lower overall score.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from adjudge.core.wording import counted
from adjudge.results.result import UNWRITTEN
from adjudge.results.table import Column, Table, number, p_value, percent, tabulate, text


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
        return tabulate("Sampling by system", self.systems, columns)


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
        matrix = tuple((name, *shares) for name, shares in zip(self.systems, self.matrix, strict=True))
        return (
            tabulate("Discrepancies between direct comparisons and overall scores", self.pairs, columns, note),
            Table(
                "Share of comparisons in which the column beat the row",
                (text("system"), *(percent(name) for name in self.systems)),
                matrix,
                "Ties count in the denominator. The best system overall comes first.",
            ),
        )
