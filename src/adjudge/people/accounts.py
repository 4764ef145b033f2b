"""People behind accounts: how many there are at least, and whether there is reason to think that they are fewer.

Some tools hand out an account per task, so that one person works under several, one after the other. Who is behind an
account cannot be told safely, but two things can. Accounts at work at the same moment belong to different people: the
largest number of accounts whose spans (first to last judgment) contain one moment is the fewest people. And a person
who goes on under another account starts it soon after the last one ended, never before. In a crowd, as many start
shortly before another's end as shortly after it, so that the two counts tell hand-overs from coincidence.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.table.maths import memoised
from adjudge.table.protocols import RATED
from adjudge.table.wording import agreeing, counted

if TYPE_CHECKING:
    from adjudge.table.judgments import Judgments
    from adjudge.table.maths import Floats

HAND_OVER_SECONDS = 600.0
"""Of the accounts that start so soon after another ended, 83% are of the same person (ESA 2024, with its map)."""
FEWEST_HAND_OVERS = 4
"""Hand-overs that are needed as evidence."""
ASK_FOR_MAP = "give the map with --annotators to decide by people, or say --accounts-are-people"
CHANCE = 0.01
"""Hand-overs are evidence if a coin would give as many, among all starts near an end, with at most this probability."""


@dataclass(frozen=True)
class AccountEvidence:
    """What times and tasks say of the people behind accounts."""

    accounts: int
    fewest_people: int | None
    """The largest number of accounts at work at one moment; None if times are not known."""
    hand_overs: int
    """Accounts that start within ten minutes after another ended."""
    coincidences: int
    """Accounts that start within ten minutes before another ends, which no hand-over explains."""
    one_task_each: bool
    """Whether every account is named as its only task: the account of a task, not of a person."""

    @property
    def handed_over(self) -> bool:
        """Whether there are more hand-overs than chance explains."""
        near = self.hand_overs + self.coincidences
        by_chance = sum(comb(near, more) for more in range(self.hand_overs, near + 1)) / 2**near
        return self.hand_overs >= FEWEST_HAND_OVERS and by_chance <= CHANCE

    @property
    def suspected(self) -> bool:
        """Whether accounts may be fewer people than they seem."""
        fewer = self.fewest_people is None or self.fewest_people < self.accounts
        return self.accounts > 1 and fewer and (self.one_task_each or self.handed_over)

    @property
    def factor(self) -> float:
        """How many accounts a person may have, at most on average; 1 if nothing is suspected or no times are known."""
        return self.accounts / self.fewest_people if self.suspected and self.fewest_people else 1.0

    @property
    def in_words(self) -> str:
        """That accounts may be fewer people, and why."""
        accounts = counted(self.accounts, "account")
        if self.fewest_people is None:
            return f"{accounts} may be fewer people ({self.reason}), and no times say how few"
        few = agreeing(self.fewest_people, "one person", f"{self.fewest_people} people")
        return f"{accounts} may be as few as {few} ({self.reason})"

    @property
    def reason(self) -> str:
        """Why accounts are suspected to be fewer people."""
        if self.handed_over:
            soon = f"{counted(self.hand_overs, 'account starts', 'accounts start')} within 10 minutes after another"
            return f"{soon} ended, {self.coincidences} within 10 minutes before"
        return "every account has one task"


@memoised
def account_evidence(judgments: Judgments) -> AccountEvidence | None:
    """What the judgments of one language pair say of the people behind accounts; None if the annotators are people.

    They are people where a map from accounts was read or the user says so (`Judgments.people`), or where none is named.
    """
    table = judgments.final().table
    named = table.filter(pl.col("annotator").is_not_null())
    accounts = named.filter(pl.col("kind").is_in(RATED))["annotator"].n_unique()
    if judgments.people or not accounts:
        return None
    is_task = (pl.col("annotator") == pl.col("task")).fill_null(value=False).all()
    span = named.group_by("annotator").agg(
        start=pl.coalesce("started", "ended").min().dt.epoch("us") / 1e6,
        end=pl.coalesce("ended", "started").max().dt.epoch("us") / 1e6,
    )
    # An account of unknown times may be that of anybody.
    timed = span.drop_nulls()
    start, end = timed["start"].to_numpy(), timed["end"].to_numpy()
    after, before = _near_ends(start, end)
    return AccountEvidence(
        accounts=accounts,
        fewest_people=_most_at_once(start, end) or None,
        hand_overs=after,
        coincidences=before,
        one_task_each=bool(named.select(is_task).item()),
    )


def _most_at_once(start: Floats, end: Floats) -> int:
    """The largest number of spans that contain one moment: some span's start."""
    begun = np.searchsorted(np.sort(start), start, side="right")
    over = np.searchsorted(np.sort(end), start, side="left")
    return int((begun - over).max(initial=0))


def _near_ends(start: Floats, end: Floats) -> tuple[int, int]:
    """How many spans start shortly after the end of another, and how many shortly before one."""
    ends = np.sort(end)
    since = np.searchsorted(ends, start - HAND_OVER_SECONDS, side="left")
    now = np.searchsorted(ends, start, side="right")
    soon = np.searchsorted(ends, start + HAND_OVER_SECONDS, side="right")
    # A span that is itself so short must not count as the other one.
    own_now, own_soon = end <= start, (end > start) & (end <= start + HAND_OVER_SECONDS)
    return int((now - since - own_now > 0).sum()), int((soon - now - own_soon > 0).sum())
