"""The result of checking annotators: the measures of each, and who is kept by which rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from adjudge.core.protocols import KINDS, NOT_CONTROLS
from adjudge.results.result import Result
from adjudge.results.table import Table, number, p_value, percent, tabulate, text

if TYPE_CHECKING:
    from collections.abc import Mapping


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

    @property
    def passing(self) -> frozenset[str]:
        """The names of the annotators who are kept."""
        return frozenset(annotator.annotator for annotator in self.annotators if annotator.passed)

    def tables(self) -> tuple[Table, ...]:
        """Who is kept, and the measures of each annotator."""
        controlled = any(what in KINDS and what not in NOT_CONTROLS for what in self.kept)
        # The columns and the export count controls apart: the same word must not stand for both.
        names = {"judgments": "judgments and controls"} if controlled else {}
        counted = tuple((names.get(what, what), self.kept[what], self.dropped.get(what, 0)) for what in self.kept)
        counts = Table("Kept and dropped", (text("what"), number("kept", 0), number("dropped", 0)), counted, self.rule)
        tables = [counts, _annotators_table(self.annotators)]
        if self.twins:
            tables.append(_twins_table(self.twins))
        if self.same_texts:
            tables.append(_same_text_table(self.same_texts))
        if self.drifts:
            tables.append(_drift_table(self.drifts))
        return tuple(tables)


def _annotators_table(annotators: tuple[AnnotatorCheck, ...]) -> Table:
    columns = (
        text("annotator"), text("kept"),
        number("judgments", 0, help="without controls and examples"),
        number("controls", 0, help="answers to controls and examples"), number("tasks", 0), p_value("p controls"),
        number("lead", 1, help="genuine minus degraded, in points"), p_value("p repeats"),
        number("repeat diff.", 1), number("seconds", 1, help="per judgment, mean"),
        number("run", 0, help="longest run of equal answers"),
        text("why not"),
    )  # fmt: skip
    rows = tuple(
        (
            annotator.annotator,
            "yes" if annotator.passed else "no",
            annotator.judgments - annotator.controls,
            annotator.controls,
            annotator.tasks,
            annotator.p_controls,
            annotator.control_difference,
            annotator.p_repeats,
            annotator.repeat_difference,
            annotator.mean_seconds,
            annotator.constant,
            "; ".join(annotator.reasons),
        )
        for annotator in annotators
    )
    return Table("Annotators", columns, rows)


def _twins_table(twins: tuple[Twins, ...]) -> Table:
    columns = (
        text("annotators"),
        text("what"),
        text("from"),
        text("to"),
        number("items", 0),
        number("answers", 0),
        p_value(),
    )
    rows = tuple(
        (" and ".join(pair.annotators), pair.kind, pair.first, pair.last, pair.items, pair.preferences, pair.p)
        for pair in twins
    )
    return Table("Copied or mirrored answers", columns, rows, "Runs of shared items that chance does not explain.")


def _same_text_table(same: tuple[SameText, ...]) -> Table:
    rows = tuple((part.annotator, part.pairs, part.apart, part.apart / part.pairs) for part in same)
    columns = (text("annotator"), number("pairs", 0), number("judged apart", 0), percent("share"))
    return Table("Identical texts shown together", columns, rows)


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
