"""What a campaign is to settle: all pairs, named pairs, the best system, or the top k.

Pairs are tested two-sided, each at its share of the level, by the group sequential Holm procedure.

"A is the best system" needs A to be better than every other. Such a claim can be false in these ways only: A is better
than B is said for some A and the true best B, which are n - 1 statements, or, where another system equals B, that B is
better than it, one more. So n one-sided tests at a / n keep the chance of a false claim below a, however many looks and
candidates there are. For the top k against the rest there are k (n - k) + 1 such statements.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from adjudge.core.errors import DataError, UsageError
from adjudge.core.wording import counted

GoalKind = Literal["pairs", "top"]


@dataclass(frozen=True)
class Goal:
    """What is to be settled. The best system is the top 1."""

    kind: GoalKind = "pairs"
    size: int = 1
    """Of the top."""
    between: tuple[tuple[str, str], ...] = ()
    """The pairs that are to be settled; all where none are named."""

    def __str__(self) -> str:
        """As the command line has it."""
        if self.kind == "pairs":
            return "pairs"
        return "best" if self.size == 1 else f"top:{self.size}"

    def check(self, systems: tuple[str, ...]) -> None:
        """Refuse a goal that these systems cannot have."""
        unknown = [name for pair in self.between for name in pair if name not in systems]
        if unknown:
            raise DataError(f"'{unknown[0]}' is not among the systems ({', '.join(systems)}); check --between")
        if self.kind == "top" and self.size >= len(systems):
            raise DataError(
                f"--goal {self} needs more than {counted(self.size, 'system')}, the data hold {len(systems)}; choose a "
                "smaller top"
            )

    def one_sided_level(self, level: float, systems: int) -> float:
        """The level of each comparison where the top is the goal."""
        return level / (self.size * (systems - self.size) + 1)


def parse_goal(text: str, between: tuple[tuple[str, str], ...] = ()) -> Goal:
    """`pairs`, `best` or `top:3`; with named pairs, `pairs` means these."""
    if text == "pairs":
        return Goal(between=between)
    if between:
        raise UsageError(f"named pairs are for the goal 'pairs', not for '{text}'; leave one of them out")
    if text == "best":
        return Goal("top", 1)
    kind, _, size = text.partition(":")
    if kind == "top" and size.isascii() and size.isdigit() and int(size) >= 1:
        return Goal("top", int(size))
    raise UsageError(f"unknown goal '{text}'; choose pairs, best, or top:k with a whole number k, such as top:3")
