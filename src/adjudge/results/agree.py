"""The result of measuring agreement: within (intra) and between (inter) annotators, by several coefficients."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from adjudge.results.result import Result, to_plain
from adjudge.results.table import Cell, Column, Table, number, percent, text

if TYPE_CHECKING:
    from collections.abc import Mapping

Number = float | int | None
KINDS = ("inter", "intra")
PARTS = ("all", "without_reference")
_LABELS = {
    "s": "S",
    "s_corrected": "S corrected",
    "pi": "pi",
    "kappa": "kappa",
    "fleiss": "Fleiss",
    "alpha": "alpha",
}


@dataclass(frozen=True, kw_only=True)
class Coefficients:
    """Agreement of one kind in one part of the data. Numbers that cannot be computed are NaN (null in JSON)."""

    pairs: int
    """Pairs of annotations of the same item."""
    items: int
    """Items with at least one such pair."""
    observed: float = float("nan")
    """Share of the pairs that agree; not defined for scores."""
    s: float = float("nan")
    s_corrected: float = float("nan")
    pi: float = float("nan")
    kappa: float = float("nan")
    fleiss: float = float("nan")
    alpha: float = float("nan")
    expected: Mapping[str, float] = field(default_factory=dict)
    """Agreement expected by chance, P(E), of each coefficient (for alpha of scores: none)."""
    interval: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """95% intervals from resampling annotators."""
    numbers: Mapping[str, Number] = field(default_factory=dict)
    """Additional numbers of a protocol: correlations and differences of scores."""

    def to_dict(self) -> dict[str, Any]:
        """Flat: numbers of a single protocol are at the same level as the common ones."""
        common = {name: to_plain(getattr(self, name)) for name in ("pairs", "items", "observed", *_LABELS)}
        by_chance = {"expected": to_plain(self.expected), "interval": to_plain(self.interval)}
        return {**common, **to_plain(self.numbers), **by_chance}


@dataclass(frozen=True, kw_only=True)
class AnnotatorAgreement:
    """One annotator: number of judgments, share of ties, and agreement with themselves and with others."""

    annotator: str
    judgments: int
    """Number of ranks or scores given."""
    ties: float
    """Share of their comparisons that are ties; not defined for scores."""
    intra: Mapping[str, Number]
    inter: Mapping[str, Number]


@dataclass(frozen=True, kw_only=True)
class LengthAgreement:
    """Agreement on source texts of `length` and `length` + 1 words (or characters), pooled."""

    length: int
    segments: int
    inter: Mapping[str, Mapping[str, Number]]
    intra: Mapping[str, Mapping[str, Number]]


@dataclass(frozen=True, kw_only=True)
class Agreement(Result):
    """Inter- and intra-annotator agreement, with and without the reference, and by annotator."""

    verb: ClassVar[str] = "agree"

    kind: str
    """`preferences` (better, tie, worse) or `scores`."""
    inter: Mapping[str, Coefficients]
    intra: Mapping[str, Coefficients]
    annotators: tuple[AnnotatorAgreement, ...]
    by_length: tuple[LengthAgreement, ...] | None = None

    def to_dict(self) -> dict[str, Any]:
        """The documented keys; `by_length` only if lengths are known."""
        plain = super().to_dict()
        if self.by_length is None:
            del plain["by_length"]
        return plain

    def tables(self) -> tuple[Table, ...]:
        """The coefficients, their chance agreement and intervals, then annotators, then lengths."""
        first = (self._coefficients(), self._chance()) if self.kind == "preferences" else (self._scores(),)
        lengths = (self._lengths(),) if self.by_length else ()
        intervals = (self._intervals(),) if any(agreement.interval for _, _, agreement in self._parts()) else ()
        return (*first, *intervals, self._annotators(), *lengths)

    def _parts(self) -> list[tuple[str, str, Coefficients]]:
        both = {"inter": self.inter, "intra": self.intra}
        return [(kind, part.replace("_", " "), both[kind][part]) for kind in KINDS for part in PARTS]

    def _coefficients(self) -> Table:
        rows = tuple(
            (kind, part, agreement.pairs, agreement.observed, *(getattr(agreement, name) for name in _LABELS))
            for kind, part, agreement in self._parts()
        )
        columns = (
            text("annotators"),
            text("comparisons"),
            number("pairs", 0, help="pairs of annotations of the same segment and pair of systems"),
            percent("observed", help="share of pairs that agree"),
            *(number(label) for label in _LABELS.values()),
        )
        return Table("Agreement", columns, rows)

    def _chance(self) -> Table:
        rows = tuple(
            (kind, part, *(agreement.expected.get(name) for name in _LABELS)) for kind, part, agreement in self._parts()
        )
        columns = (text("annotators"), text("comparisons"), *(number(label) for label in _LABELS.values()))
        return Table("Agreement expected by chance, P(E)", columns, rows)

    def _scores(self) -> Table:
        names = list(dict.fromkeys(name for _, _, agreement in self._parts() for name in agreement.numbers))
        rows = tuple(
            (kind, part, agreement.pairs, agreement.alpha, *(agreement.numbers.get(name) for name in names))
            for kind, part, agreement in self._parts()
        )
        columns = (
            text("annotators"),
            text("judgments"),
            number("pairs", 0, help="pairs of scores of the same output"),
            number("alpha", help="Krippendorff's alpha, interval"),
            *(number(name.replace("_", " ")) for name in names),
        )
        return Table("Agreement of scores", columns, rows)

    def _intervals(self) -> Table:
        names = list(dict.fromkeys(name for _, _, agreement in self._parts() for name in agreement.interval))
        rows: list[tuple[Cell, ...]] = []
        for kind, part, agreement in self._parts():
            if agreement.interval:
                ends = (end for name in names for end in agreement.interval.get(name, (None, None)))
                rows.append((kind, part, *ends))
        labels = [_LABELS.get(name, name) for name in names]
        columns: list[Column] = [text("annotators"), text("comparisons" if self.kind == "preferences" else "judgments")]
        for label in labels:
            columns += [number(f"{label} low"), number("high")]
        return Table("95% intervals, annotators resampled", tuple(columns), tuple(rows))

    def _annotators(self) -> Table:
        within, between = (("observed", "pi"), ("observed", "kappa"))
        if self.kind == "scores":
            within, between = (("difference", "pearson"),) * 2
        rows = tuple(
            (
                annotator.annotator,
                annotator.judgments,
                annotator.ties,
                annotator.intra.get("pairs"),
                *(annotator.intra.get(name) for name in within),
                annotator.inter.get("pairs"),
                *(annotator.inter.get(name) for name in between),
            )
            for annotator in self.annotators
        )
        columns = (
            text("annotator"),
            number("judgments", 0),
            percent("ties"),
            number("repeats", 0, help="pairs of annotations by this annotator alone"),
            *(number(f"{name} with self") for name in within),
            number("shared", 0, help="pairs of annotations with somebody else"),
            *(number(f"{name} with others") for name in between),
        )
        return Table("Annotators", columns, rows)

    def _lengths(self) -> Table:
        rows = tuple(
            (
                group.length,
                group.segments,
                *(who[part].get(key) for who in (group.inter, group.intra) for part in PARTS for key in ("pairs", "s")),
            )
            for group in self.by_length or ()
        )
        columns = [number("length", 0), number("segments", 0)]
        for kind in KINDS:
            for part in PARTS:
                columns += [number(f"{kind} {part.replace('_', ' ')}: pairs", 0), number("S")]
        note = "Lengths n and n + 1 are pooled in row n."
        return Table("Agreement by length of the source", tuple(columns), rows, note)
