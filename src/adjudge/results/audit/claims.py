"""Claims: statements of a ranking with their evidence, the audits they survive, and what breaks them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from adjudge.core.wording import as_sentences
from adjudge.evidence.verdict import count_claims
from adjudge.results.result import UNWRITTEN, to_plain
from adjudge.results.table import P_HOLM, Cell, Table, number, text

Verdict = Literal["holds", "fragile", "not supported"]
MOST_SHOWN = 40


@dataclass(frozen=True)
class Claim:
    """One statement. Claims that the data do not support are not put to the audits."""

    claim: str
    kind: Literal["better", "best", "parity"]
    systems: tuple[str, ...]
    estimate: float | None
    interval: tuple[float, float] | None
    p_holm: float | None
    survives: tuple[str, ...]
    broken_by: tuple[str, ...]
    verdict: Verdict
    p: float | None = None
    """Before the correction for all claims of its kind."""
    fails: tuple[str, ...] = ()
    """The audits that do not leave it whole; `broken_by` has their single trials, as one for each annotator."""

    def lost_to_correction(self, level: float) -> bool:
        """Whether the claim would be supported if it were the only one: Holm's correction makes the difference."""
        return self.p is not None and self.p < level and self.verdict == "not supported"


@dataclass(frozen=True)
class Claims:
    """All claims of one ranking, the best supported first."""

    method: str
    unit: str
    """What estimates are measured in."""
    level: float
    margin: float | None
    """Two systems no further apart than this count as equal, where parity is claimed."""
    claims: tuple[Claim, ...]
    audits: tuple[str, ...]
    """The audits that supported claims were put to."""
    humans: tuple[str, ...] = ()
    """The human translations, each of which is compared by itself."""
    annotators: int | None = None
    """How many people judged, where they are named."""
    kind: Literal["relative", "scores"] = field(default="scores", metadata=UNWRITTEN)
    """Whether systems were compared or scored."""
    notes: tuple[str, ...] = ()
    """How audits of a large campaign were computed, where not as usual."""

    @property
    def pairs(self) -> int:
        """How many pairs of systems there are."""
        return sum(claim.kind == "better" for claim in self.claims)

    def counted(self, verdict: Verdict, kind: str = "better") -> int:
        """How many claims of this kind have this verdict."""
        return sum(claim.verdict == verdict and claim.kind == kind for claim in self.claims)

    def to_dict(self) -> list[dict[str, Any]]:
        """The documented keys: a list of claims."""
        plain: list[dict[str, Any]] = to_plain(self.claims)
        return plain

    def tables(self) -> tuple[Table, ...]:
        """The claims that hold and those that are fragile, in plain words; the others are counted."""
        supported = [claim for claim in self.claims if claim.verdict != "not supported"]
        rows = tuple(_row(claim) for claim in supported[:MOST_SHOWN])
        columns = (
            text("claim"), text("verdict"), number("by", 2, help=self.unit), number("low", 2), number("high", 2),
            P_HOLM, text("audits survived"), text("broken by"),
        )  # fmt: skip
        return (Table("Claims", columns, rows, self.in_words(len(supported))),)

    def in_words(self, supported: int) -> str:
        """What the counts say, in a sentence or two."""
        words = [count_claims(self.counted("holds"), self.counted("fragile"), self.pairs, self.unit)]
        if supported > MOST_SHOWN:
            words.append(f"The first {MOST_SHOWN} claims are shown; --json has all.")
        return " ".join([*words, *as_sentences(self.notes)])


def _row(claim: Claim) -> tuple[Cell, ...]:
    low, high = claim.interval or (None, None)
    survived = f"{len(claim.survives)} of {len(claim.survives) + len(claim.fails)}"
    further = len(claim.broken_by) - 3
    broken = "; ".join(claim.broken_by[:3]) + (f" and {further} more" if further > 0 else "")
    return (claim.claim, claim.verdict, claim.estimate, low, high, claim.p_holm, survived, broken)
