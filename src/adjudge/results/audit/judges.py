"""Machine judges beside people: whether one may stand in for a person, and where its answers lean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from adjudge.results.result import to_plain
from adjudge.results.table import Table, number, p_value, percent, text

if TYPE_CHECKING:
    from adjudge.results.table import Cell

Outcome = Literal["passed", "failed", "open"]


@dataclass(frozen=True)
class PersonTest:
    """One person left out: who is closer to the others, this person or the judge?"""

    annotator: str
    items: int
    clusters: int
    judge_as_close: float
    """Share of items on which the judge is at least as close to the others as the person."""
    person_as_close: float
    """The same for the person; both count where they are as close."""
    difference: float
    """The second share minus the first: how much more often the person is closer."""
    interval: tuple[float, float]
    """95% interval of the difference."""
    p: float
    """That the person is closer by the allowance or more; a small one speaks for the judge."""
    p_worse: float
    """That the person is closer by less than the allowance; a small one speaks against the judge."""
    se: float
    """Standard error of the difference."""
    allowance: float
    """The difference that is allowed: as asked for, or half of `shuffled` where that is less."""
    shuffled: float = float("nan")
    """The difference that the same answers have if they are shuffled among the items."""
    p_by: float = float("nan")
    """`p` corrected for the number of people (Benjamini and Yekutieli)."""
    needed: int = 0
    """About how many items would show with a probability of 80% that a judge like the person is one."""


@dataclass(frozen=True)
class Bias:
    """One way in which a judge's answers lean, compared with those of people."""

    name: str
    estimate: float
    interval: tuple[float, float] | None
    p: float | None
    n: int
    sentence: str
    system: str | None = None
    p_holm: float | None = None
    """`p` corrected for the number of systems."""


@dataclass(frozen=True)
class JudgeReport:
    """One judge: the test, its verdict, and what its answers lean to."""

    judge: str
    outcome: Outcome
    passed: bool
    winning_rate: float | None
    """Share of people to whom it stands up; None if nobody could be compared."""
    p: float | None
    """Corrected p-value that decides: of the person who makes up the half that is needed to pass."""
    verdict: str
    shuffled: float | None
    """How often the same answers would pass if they were shuffled among the items: should be about never."""
    people: tuple[PersonTest, ...]
    biases: tuple[Bias, ...]


@dataclass(frozen=True)
class Judges:
    """All judges, and how they were tested."""

    judges: tuple[JudgeReport, ...]
    allowance: float
    scale: str
    """How scores were compared: `matched`, `z` or `raw`; `labels` for comparisons."""
    clusters: str
    """What the items were grouped by: `document` or `segment`."""
    level: float
    notes: tuple[str, ...] = ()

    def to_dict(self) -> list[dict[str, Any]]:
        """The documented list: a judge each, with the settings of the test."""
        settings = {"allowance": self.allowance, "scale": self.scale, "clusters": self.clusters}
        return [{**to_plain(judge), **settings} for judge in self.judges]

    def tables(self) -> tuple[Table, ...]:
        """The verdicts; then every person, and the biases."""
        return (self._verdicts(), self._people(), self._biases())

    def _verdicts(self) -> Table:
        rows = tuple(
            (judge.judge, judge.winning_rate, len(judge.people), judge.p, judge.shuffled, judge.verdict)
            for judge in self.judges
        )
        columns = (
            text("judge"),
            percent("winning rate", help="share of people whom it equals or beats, up to the allowance"),
            number("people", 0),
            p_value("p", help="corrected for the number of people; decides"),
            percent("shuffled", help="how often shuffled answers would pass"),
            text("verdict"),
        )
        note = (
            "Each person was left out in turn: is the judge as close to the others as this person, up to an allowance "
            f"of {self.allowance:g} (at most half of what shuffled answers fall short by)? Items of one "
            f"{self.clusters} count as dependent. {_ON_SCALE[self.scale]}"
        )
        return Table("Machine judges", columns, rows, note)

    def _people(self) -> Table:
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (judge.judge, person.annotator, person.items, person.clusters, person.judge_as_close,
             person.person_as_close, person.difference, *person.interval, person.allowance, person.p_by)
            for judge in self.judges for person in judge.people
        )  # fmt: skip
        columns = (
            text("judge"),
            text("person"),
            number("items", 0),
            number(f"{self.clusters}s", 0),
            percent("judge as close", help="items on which the judge is at least as close to the others"),
            percent("person as close"),
            number("difference", 2, help="how much more often the person is closer"),
            number("low", 2),
            number("high", 2),
            number("allowed", 2, help="the allowance, or half of what shuffled answers fall short by"),
            p_value("p (BY)"),
        )
        return Table("Judges against each person", columns, rows)

    def _biases(self) -> Table:
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (judge.judge, bias.name if bias.system is None else f"system {bias.system}", bias.estimate,
             *(bias.interval or (None, None)), bias.p if bias.p_holm is None else bias.p_holm, bias.n, bias.sentence)
            for judge in self.judges for bias in judge.biases
        )  # fmt: skip
        columns = (
            text("judge"),
            text("bias"),
            number("estimate", 2),
            number("low", 2),
            number("high", 2),
            p_value("p", help="of systems: corrected for their number (Holm)"),
            number("n", 0),
            text("in words"),
        )
        return Table("Biases of judges", columns, rows)


_ON_SCALE = {
    "matched": "The judge was given the scores of the person left out, in the order of its own.",
    "z": "Scores were standardised, those of every person and of the judge.",
    "raw": "Scores were compared as they are.",
    "labels": "Better, tie and worse were compared.",
}
