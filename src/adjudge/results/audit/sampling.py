"""Sections of an audit of rankings: how systems were sampled, and which were shown together."""

from __future__ import annotations

from dataclasses import dataclass

from adjudge.results.table import Cell, Table, number, percent, shown_name, text


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

    def tables(self) -> tuple[Table, ...]:
        """The two correlations, then the systems behind them."""
        rows = tuple(
            (name, correlation.pearson, *correlation.interval, correlation.spearman, correlation.n)
            for name, correlation in (
                ("times judged and score", self.times_judged),
                ("presence of the reference and score", self.reference_presence),
            )
        )
        columns = (text("correlation of"), number("Pearson"), number("low"), number("high"), number("Spearman"))
        note = f"Over systems that are not human; score by {self.method}. Empty where all were drawn alike."
        # Of scores there are no items that were shown and left without an answer.
        alike = self.method in ("raw", "zscore")
        systems = tuple(
            (
                shown_name(system.system, system.human),
                *((system.shown,) if alike else (system.shown, system.labelled)),
                system.reference_share,
                system.score,
            )
            for system in self.systems
        )
        counts = (
            (number("judged", 0, help="how often it was judged"),)
            if alike
            else (
                number("shown", 0, help="blocks in which it was shown"),
                number("labelled", 0, help="blocks in which it got a rank"),
            )
        )
        beside = (
            "share of its judgments by annotators who judged a human translation, too"
            if alike
            else "share of its blocks in which a human translation was shown too"
        )
        details = (
            text("system"),
            *counts,
            percent("with reference", help=beside),
            number("score"),
        )
        return (
            Table(
                "Sampling: does the score go with how systems were drawn?", (*columns, number("systems", 0)), rows, note
            ),
            Table("Sampling by system", details, systems),
        )


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
        rows = tuple(
            (
                shown_name(opposition.system, opposition.human),
                opposition.shown,
                opposition.opponents,
                opposition.opponent_score,
                opposition.reference_share,
            )
            for opposition in self.opposition
        )
        columns = (
            text("system"),
            number(f"{self.unit}s", 0),
            number("opponents", 0, help="different systems it was shown with"),
            number("opponents' score", help=f"mean score of those it was shown with, by {self.method}"),
            percent("with reference"),
        )
        note = f"Two systems met in {self.fewest:,} to {self.most:,} {self.unit}s."
        matrix: tuple[tuple[Cell, ...], ...] = tuple(
            (name, *counts) for name, counts in zip(self.systems, self.matrix, strict=True)
        )
        return (
            Table("Composition: whom each system met", columns, rows, note),
            Table(
                f"Composition: {self.unit}s in which two systems were shown together",
                (text("system"), *(number(name, 0) for name in self.systems)),
                matrix,
            ),
        )
