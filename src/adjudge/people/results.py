"""The result of checking annotators: the measures of each, and who is kept by which rule."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from adjudge.table.protocols import COUNTED, KINDS, NOT_CONTROLS
from adjudge.table.results import Cell, Column, Result, Table, number, p_value, percent, tabulate, text, to_plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from adjudge.table.participants import AccountEvidence

UNTESTED = ("controls cannot be tested", "judged too few controls", "judged no controls")
"""Reasons why somebody does not pass that show nothing against them."""


@dataclass(frozen=True)
class AnnotatorCheck:
    """The measures of one annotator: controls, repeats, pace and runs of equal answers."""

    annotator: str
    judgments: int
    """All answers, including those to controls and examples."""
    tasks: int
    p_controls: float | None
    """p-value of the lead of genuine over degraded outputs; small if the person can tell them apart."""
    control_pairs: int
    control_difference: float | None
    """Mean of genuine minus degraded, in points."""
    p_repeats: float | None
    """p-value of the difference between first and repeated answers; small if the person is inconsistent."""
    repeat_pairs: int
    repeat_difference: float | None
    """Mean absolute difference between first and repeated answers."""
    seconds: float | None
    """Median seconds per judgment."""
    constant: int
    """The longest run of equal answers."""
    rejected: bool
    """Some of the work was rejected when it was collected."""
    passed: bool
    reasons: tuple[str, ...]
    mean_seconds: float | None = None
    """Mean seconds per judgment, which decides about the pace; None if time was not measured."""
    controls: int = 0
    """The number of answers to controls and examples."""
    agreement: float | None = None
    """How far the judgments follow those of the others: 1 as expected, 0 not at all (`mixed.agreement`)."""
    agreement_error: float | None = None
    """Its standard error."""
    slope: float | None = None
    """Of the person's scores on what the others predict."""
    spread: float | None = None
    """Of the person's scores around that, 1 as expected; None for relative judgments."""
    careless: float | None = None
    """Bayes factor of careless against ordinary work."""
    fit: str | None = None
    """`as expected`, `not shown`, `careless` or `too little to tell`; None where no model was asked."""
    reference_screens: int | None = None
    """Rankings: screens with a human translation beside systems."""
    reference_wins: int | None = None
    """On how many of them it was ranked above all systems."""
    reference_wins_of_others: float | None = None
    """The share of such screens among those of all others."""
    p_reference: float | None = None
    """p-value that so few wins of the human translation are chance."""

    @property
    def fails(self) -> bool:
        """Whether something is shown against the person: who could not be tested does not pass, but does not fail."""
        return not (self.passed or {*self.reasons} <= {*UNTESTED})


@dataclass(frozen=True)
class Twins:
    """Two annotators whose answers are identical, or mirrored, for longer than chance allows."""

    annotators: tuple[str, str]
    kind: str
    """`copied` or `mirrored`."""
    first: str
    last: str
    """The first and the last item of the run."""
    items: int
    preferences: int
    p: float


@dataclass(frozen=True)
class SameText:
    """Pairs of identical texts that a person saw together, and how many of them were ranked or scored differently."""

    annotator: str
    pairs: int
    apart: int


@dataclass(frozen=True)
class CalibrationMismatch:
    """How far people's scores of calibration items stand from those of their other items.

    Z-scores from calibration items hold for other items only if the difference is the same for everybody.
    """

    annotators: int
    difference: float
    """Other items minus calibration items, mean over annotators, in points."""
    spread: float
    """Standard deviation of this difference between annotators, beyond what single scores explain."""
    ratio: float
    """Spread of scores on other items over that on calibration items, median over annotators."""
    p: float
    """That the difference is the same for everybody."""


@dataclass(frozen=True)
class OwnSystem:
    """How much better somebody judges the system that they built than others do, beyond how they judge the rest."""

    annotator: str
    system: str
    judgments: int
    """Of the own system."""
    advantage: float
    """In points; in rankings, in the share of systems beside it that it beats."""
    interval: tuple[float, float]
    p: float


@dataclass(frozen=True)
class Drift:
    """How a person's answers change from the first judgment to the last, by linear regression."""

    annotator: str
    judgments: int
    score_change: float | None
    """In points, after subtracting the mean of each system; higher is better, ranks are reversed."""
    p_score: float | None
    time_ratio: float | None
    """Seconds per judgment at the end, relative to the beginning."""
    p_time: float | None
    distance_change: float | None
    """Change of the distance from the mean answer of the others to the same output."""
    p_distance: float | None


@dataclass(frozen=True, kw_only=True)
class Checked(Result):
    """The check of all annotators. Nothing is deleted: `kept` and `dropped` count annotators and judgments."""

    verb: ClassVar[str] = "check"

    rule: str
    annotators: tuple[AnnotatorCheck, ...]
    twins: tuple[Twins, ...]
    kept: Mapping[str, int]
    dropped: Mapping[str, int]
    same_texts: tuple[SameText, ...] = ()
    """Empty if the data do not say what was shown."""
    drifts: tuple[Drift, ...] = ()
    own_systems: tuple[OwnSystem, ...] = ()
    """Empty unless the column `own_system` says who built which system."""
    calibration: CalibrationMismatch | None = None
    """Set if annotators judged calibration items beside others."""
    accounts: AccountEvidence | None = None
    """Set if tasks and times suggest that the annotators are accounts of fewer people."""

    @property
    def unit(self) -> str:
        """What those who were checked are called: an account is not called an annotator."""
        return "annotator" if self.accounts is None else "account"

    @property
    def passing(self) -> frozenset[str]:
        """The names of the annotators who are kept."""
        return frozenset(annotator.annotator for annotator in self.annotators if annotator.passed)

    @property
    def failing(self) -> tuple[AnnotatorCheck, ...]:
        """Those who fail, without those who could not be tested."""
        return tuple(one for one in self.annotators if one.fails)

    def tables(self) -> tuple[Table, ...]:
        """Who is kept, and the measures of each annotator."""
        controlled = any(what in KINDS and what not in NOT_CONTROLS for what in self.kept)
        # The columns and the export count controls apart: the same word must not stand for both.
        names = {"judgments": "judgments and controls"} if controlled else {}
        counted = tuple((names.get(what, what), self.kept[what], self.dropped.get(what, 0)) for what in self.kept)
        counts = Table("Kept and dropped", (text("what"), number("kept", 0), number("dropped", 0)), counted, self.rule)
        tables = [counts, _annotators_table(self.annotators, self.kept), *_fit_table(self.annotators)]
        found: tuple[tuple[Any, Callable[[Any], Table]], ...] = (
            (self.twins, _twins_table),
            (self.same_texts, _same_text_table),
            (self.drifts, _drift_table),
            (self.own_systems, _own_table),
            (self.calibration, _calibration_table),
        )
        return (*tables, *(make(what) for what, make in found if what))


def _own_table(own: tuple[OwnSystem, ...]) -> Table:
    columns: dict[Any, Column] = {
        "annotator": text("annotator"), "system": text("own system"), "judgments": number("judgments", 0),
        "advantage": number("advantage", 2, help="over how others judge it, in points or in the share of wins"),
        lambda one: one.interval[0]: number("low", 2), lambda one: one.interval[1]: number("high", 2), "p": p_value(),
    }  # fmt: skip
    note = "Leave out judgments of one's own system, or those people, where the advantage is not chance."
    return tabulate("Annotators and the systems they built", own, columns, note)


def _calibration_table(mismatch: CalibrationMismatch) -> Table:
    columns = {
        "annotators": number("annotators", 0),
        "difference": number("other minus calibration", 1, help="in points, mean over annotators"),
        "spread": number("between annotators", 1, help="standard deviation beyond that of single scores"),
        "ratio": number("ratio of spreads", 2),
        "p": p_value(),
    }
    note = "Z-scores from calibration items need the same difference for everybody; a small p says that it is not."
    return tabulate("Calibration items beside others", (mismatch,), columns, note)


def _annotators_table(annotators: tuple[AnnotatorCheck, ...], kept: Mapping[str, int]) -> Table:
    # References tell nothing of a person: where nothing else was shown as a control, they are called by their name.
    only_references = {what for what in kept if what in KINDS and what not in COUNTED} == {"reference"}
    columns: dict[Any, Column] = {
        "annotator": text("annotator"),
        lambda one: "yes" if one.passed else "no": text("kept"),
        lambda one: one.judgments - one.controls: number(
            "judgments", 0, help=f"without {'references' if only_references else 'controls and examples'}"
        ),
        "controls": number("references", 0, help="how many were shown")
        if only_references
        else number("controls", 0, help="answers to controls and examples"),
        "tasks": number("tasks", 0),
        "p_controls": p_value("p controls"),
        "control_difference": number("lead", 1, help="genuine minus degraded, in points"),
        "p_repeats": p_value("p repeats"),
        "repeat_difference": number("repeat diff.", 1),
        "mean_seconds": number("seconds (mean)", 1, help="per judgment"),
        "constant": number("run", 0, help="longest run of equal answers"),
        lambda one: "; ".join(one.reasons): text("why not"),
    }
    return tabulate("Annotators", annotators, columns)


def _fit_table(annotators: tuple[AnnotatorCheck, ...]) -> tuple[Table, ...]:
    """Whose judgments follow those of the others, the least first; none where no model was asked."""
    told = [one for one in annotators if one.fit is not None]
    if all(one.agreement is None and one.p_reference is None for one in told):
        return ()
    columns: dict[Any, Column] = {
        "annotator": text("annotator"),
        "fit": text("follows the others"),
        "agreement": number("agreement", 2, help="1 as expected, 0 if unrelated to the others"),
        "agreement_error": number("error", 2, help="standard error of the agreement"),
        "careless": number("careless", 1, help="Bayes factor of careless against ordinary work"),
    }
    if any(one.spread is not None for one in told):
        columns["slope"] = number("slope", 2, help="of the scores on what the others predict")
        columns["spread"] = number("spread", 2, help="of the scores around that; 1 as expected")
    if any(one.p_reference is not None for one in told):
        columns["reference_screens"] = number("screens", 0, help="with a human translation beside systems")
        columns[_share_of_wins] = percent("human wins", help="the human translation is ranked above all systems")
        columns["reference_wins_of_others"] = percent("by others")
        columns["p_reference"] = p_value("p", help="that so few wins are chance, not corrected")
    told.sort(key=lambda one: (-(one.careless or 0.0), one.annotator))
    note = "Told by the model without controls. Suspects are named and nobody is dropped for it."
    return (tabulate("Agreement with the others", tuple(told), columns, note),)


def _share_of_wins(one: AnnotatorCheck) -> float | None:
    return (one.reference_wins or 0) / one.reference_screens if one.reference_screens else None


def _twins_table(twins: tuple[Twins, ...]) -> Table:
    run = {"kind": text("what"), "first": text("from"), "last": text("to")}
    counts = {"items": number("items", 0), "preferences": number("answers", 0), "p": p_value()}
    columns: dict[Any, Column] = {lambda pair: " and ".join(pair.annotators): text("annotators"), **run, **counts}
    return tabulate("Copied or mirrored answers", twins, columns, "Runs of shared items that chance does not explain.")


def _same_text_table(same: tuple[SameText, ...]) -> Table:
    columns: dict[Any, Column] = {
        "annotator": text("annotator"), "pairs": number("pairs", 0), "apart": number("judged apart", 0),
        lambda one: one.apart / one.pairs: percent("share"),
    }  # fmt: skip
    return tabulate("Identical texts shown together", same, columns)


def _drift_table(drifts: tuple[Drift, ...]) -> Table:
    columns = {
        "annotator": text("annotator"),
        "judgments": number("judgments", 0),
        "score_change": number("score", 1, help="change from the first judgment to the last, in points"),
        "p_score": p_value("p"),
        "time_ratio": number("time", 2, help="seconds per judgment at the end, relative to the beginning"),
        "p_time": p_value("p"),
        "distance_change": number(
            "distance", 1, help="change of the distance from the others' mean answer to the same output"
        ),
        "p_distance": p_value("p"),
    }
    note = (
        "Straight lines through screen means, in the order of the work. The p-values are per annotator, not corrected "
        "for the number of annotators."
    )
    return tabulate("Drift over the work", drifts, columns, note)


# The result of measuring agreement: within (intra) and between (inter) annotators, by several coefficients.

Number = float | int | None
AGREEMENT_KINDS = ("inter", "intra")
PARTS = ("all", "without_reference")
_LABELS = {
    "s": "S", "s_corrected": "S corrected", "pi": "pi", "kappa": "kappa", "fleiss": "Fleiss", "alpha": "alpha"
}  # fmt: skip


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


@dataclass(frozen=True)
class PeopleKappas:
    """The range of Cohen's kappa over pairs of annotators, by how the answers are read."""

    reading: str
    pairs: int
    """Pairs of annotators who share at least ten annotations."""
    low: float
    mean: float
    sd: float
    high: float
    fleiss: float
    """Fleiss' kappa of the items that everybody annotated; only where classes are kept apart."""
    same: float
    """Share of items on which everybody says the same: of these items where classes are kept apart, otherwise of those
    that two people or more annotated."""


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
    pairs_of_people: tuple[PeopleKappas, ...] = ()

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
        return (*first, *intervals, *self._people(), self._annotators(), *lengths)

    def _people(self) -> tuple[Table, ...]:
        if not self.pairs_of_people:
            return ()
        kappas = {name: number(name) for name in ("low", "mean", "sd", "high")}
        columns = {"reading": text("answers"), "pairs": number("pairs", 0), **kappas}
        if any(one.fleiss == one.fleiss for one in self.pairs_of_people):
            columns |= {"fleiss": number("Fleiss"), "same": percent("all say the same")}
        return (tabulate("Kappa of every two annotators", self.pairs_of_people, columns),)

    def _parts(self) -> list[tuple[str, str, Coefficients]]:
        both = {"inter": self.inter, "intra": self.intra}
        return [(kind, part.replace("_", " "), both[kind][part]) for kind in AGREEMENT_KINDS for part in PARTS]

    def _by_part(self, title: str, cells: Callable[[Coefficients], Iterable[Cell]], *columns: Column) -> Table:
        """A row for each part of the data of which anything is known."""
        rows = [(kind, part, *cells(agreement)) for kind, part, agreement in self._parts()]
        head = (text("annotators"), text("comparisons" if self.kind == "preferences" else "judgments"))
        return Table(title, (*head, *columns), tuple(row for row in rows if len(row) > len(head)))

    def _coefficients(self) -> Table:
        return self._by_part(
            "Agreement",
            lambda one: (one.pairs, one.observed, *(getattr(one, name) for name in _LABELS)),
            number("pairs", 0, help="pairs of annotations of the same segment and pair of systems"),
            percent("observed", help="share of pairs that agree"),
            *(number(label) for label in _LABELS.values()),
        )

    def _chance(self) -> Table:
        labels = (number(label) for label in _LABELS.values())
        title = "Agreement expected by chance, P(E)"
        return self._by_part(title, lambda one: (one.expected.get(name) for name in _LABELS), *labels)

    def _scores(self) -> Table:
        names = list(dict.fromkeys(name for _, _, agreement in self._parts() for name in agreement.numbers))
        return self._by_part(
            "Agreement of scores",
            lambda one: (one.pairs, one.alpha, *(one.numbers.get(name) for name in names)),
            number("pairs", 0, help="pairs of scores of the same output"),
            number("alpha", help="Krippendorff's alpha, interval"),
            *(number(name.replace("_", " ")) for name in names),
        )

    def _intervals(self) -> Table:
        names = list(dict.fromkeys(name for _, _, agreement in self._parts() for name in agreement.interval))

        def ends(one: Coefficients) -> Iterable[Cell]:
            return (end for name in names for end in one.interval.get(name, (None, None)) if one.interval)

        labels = [(number(f"{_LABELS.get(name, name)} low"), number("high")) for name in names]
        columns = (column for both in labels for column in both)
        return self._by_part("95% intervals, annotators resampled", ends, *columns)

    def _annotators(self) -> Table:
        within, between = (("observed", "pi"), ("observed", "kappa"))
        if self.kind == "scores":
            within, between = (("difference", "pearson"),) * 2
        rows = tuple(
            (one.annotator, one.judgments, one.ties, *(one.intra.get(name) for name in ("pairs", *within)),
             *(one.inter.get(name) for name in ("pairs", *between)))
            for one in self.annotators
        )  # fmt: skip
        columns = (
            text("annotator"),
            number("judgments" if self.kind == "scores" else "comparisons", 0, help="with repeats"),
            percent("ties"),
            number("repeats", 0, help="pairs of annotations by this annotator alone"),
            *(number(f"{name} with self") for name in within),
            number("shared", 0, help="pairs of annotations with somebody else"),
            *(number(f"{name} with others") for name in between),
        )
        return Table("Annotators", columns, rows)

    def _lengths(self) -> Table:
        rows = tuple(
            (one.length, one.segments, *(who[part].get(key) for who in (one.inter, one.intra) for part in PARTS
             for key in ("pairs", "s")))
            for one in self.by_length or ()
        )  # fmt: skip
        columns = [number("length", 0), number("segments", 0)]
        for kind in AGREEMENT_KINDS:
            for part in PARTS:
                columns += [number(f"{kind} {part.replace('_', ' ')}: pairs", 0), number("S")]
        note = "Lengths n and n + 1 are pooled in row n."
        return Table("Agreement by length of the source", tuple(columns), rows, note)
