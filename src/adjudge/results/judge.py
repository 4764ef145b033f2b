"""What a machine judge was asked and answered."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from adjudge.results.result import UNWRITTEN, Result
from adjudge.results.table import Table, number, text

if TYPE_CHECKING:
    from adjudge.core.judgments import Judgments

_COLUMNS = (text("what"), number("count", 0))


@dataclass(frozen=True, kw_only=True)
class Judged(Result):
    """The answers of one judge; `judgments` has the table."""

    verb: ClassVar[str] = "judge"

    judge: str
    questions: int
    asked: int
    """Questions that this run asked; the others were answered before."""
    answers: int
    """Answers that can be used."""
    repeats: int
    rows: int
    seconds: float
    """The time that the judge took, of all answers together."""
    judgments: Judgments = field(metadata=UNWRITTEN)

    def tables(self) -> tuple[Table, ...]:
        """One table of counts."""
        rows = (
            ("questions", self.questions),
            ("asked in this run", self.asked),
            ("usable answers", self.answers),
            ("repeats among the questions", self.repeats),
            ("rows written", self.rows),
            ("seconds that the judge took", round(self.seconds)),
        )
        return (Table(f"Answers of judge:{self.judge}", _COLUMNS, rows),)


@dataclass(frozen=True, kw_only=True)
class Preview(Result):
    """What a judge would be asked."""

    verb: ClassVar[str] = "judge"

    judge: str
    questions: int
    characters: int
    """Of all prompts together."""
    prompt: str
    """The first prompt."""

    def tables(self) -> tuple[Table, ...]:
        """One table of counts; the prompt is printed by the command."""
        rows = (("questions", self.questions), ("characters of all prompts", self.characters))
        note = "Nothing was sent. Answers, and second tries for answers that cannot be used, come on top."
        return (Table(f"What judge:{self.judge} would be asked", _COLUMNS, rows, note),)
