"""Sections of an audit of rankings: sole winners, and direct comparisons against overall scores."""

from __future__ import annotations

from dataclasses import dataclass

from adjudge.results.table import Table, number, p_value, percent, shown_name, text


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
        table = Table("Sole winners of blocks", columns, (*rows, *others), f"{self.blocks:,} blocks.")
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
        note = f"{len(self.pairs)} of {self.compared} pairs that met: the direct winner scores lower by {self.method}."
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
