"""Who takes part: which systems are human translations, which annotators are machines, which accounts are one person.

A system is a human translation by a column of the file, by the user's choice, or by a name pattern.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from math import ceil, comb, sqrt
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.table.errors import UsageError, param, unknown_choice
from adjudge.table.judgments import Judgments, SetAside
from adjudge.table.languages import UNKNOWN
from adjudge.table.maths import memoised
from adjudge.table.protocols import RATED, RELATIVE
from adjudge.table.wording import agreeing, counted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from adjudge.table.maths import Floats


# HUMAN, HUMAN-A, human.A, Human-refA, human translation, ref, _ref, refA, ref-B, ref.A, reference, reference1,
# reference translation, professional translator, translator-A
_GAP = r"[-_. ]?"
_LETTER = rf"({_GAP}[a-z0-9])?"
_WORK = rf"{_GAP}(ref|reference|translat(ion|or)s?)"
_NAME = (
    rf"_?((human|references?|ref)({_WORK})?{_LETTER}|(human{_GAP})?(professional|expert){_WORK}{_LETTER}"
    rf"|translator{_GAP}[a-z0-9]+)"
)
# Files add other parts to the name, separated by full stops: HUMAN-B.12, wmt23.refA, newstest.en-de.ref.A.de.txt
HUMAN_PATTERN = rf"([^.]+\.)*{_NAME}(\.[^.]+)*"


def compile_human_pattern(pattern: str | None) -> re.Pattern[str]:
    """The pattern for human systems; `pattern` is a name, or a regular expression over whole names; case ignored."""
    try:
        # A name may contain characters with a special meaning in regular expressions.
        either = HUMAN_PATTERN if pattern is None else f"(?:{pattern})|(?:{re.escape(pattern)})"
        return re.compile(either, re.IGNORECASE)
    except re.error as fault:
        raise UsageError(f"{param('human')} '{pattern}' is not a regular expression ({fault}); correct it") from fault


def is_human(system: str, pattern: re.Pattern[str] | None = None) -> bool:
    """Whether the name is that of a human translation."""
    return (pattern or compile_human_pattern(None)).fullmatch(system) is not None


def find_humans(systems: Iterable[str], pattern: re.Pattern[str]) -> list[str]:
    """The names of human translations among these, sorted and without duplicates."""
    return sorted({system for system in systems if is_human(system, pattern)})


def human_columns(systems: pl.Series, pattern: str | None) -> dict[str, pl.Series]:
    """The columns `human` and `kind` for a column of system names: a human translation is a reference."""
    human = find_humans(systems.unique().drop_nulls().to_list(), compile_human_pattern(pattern))
    flag = systems.is_in(human).fill_null(value=False)
    kind = pl.select(pl.when(flag).then(pl.lit("reference")).otherwise(pl.lit("system"))).to_series()
    return {"human": flag.alias("human"), "kind": kind.alias("kind")}


def mark_humans(judgments: Judgments, pattern: str | None, *, given: Collection[str] = ()) -> Judgments:
    """Set `human`, and `kind` for rankings: there a human translation is a reference.

    Args:
        judgments: the judgments.
        pattern: a name or a regular expression; None for the documented pattern of names.
        given: columns of the file. Its own `human` and `kind` are kept, but the user's pattern takes precedence.
    """
    if pattern is None and "human" in given:
        return judgments
    people = find_humans(judgments.table["system"].unique().to_list(), compile_human_pattern(pattern))
    human = pl.col("system").is_in(people)
    columns = [human.alias("human")]
    if "kind" not in given:
        reference = human & pl.col("protocol").is_in(list(RELATIVE)) & (pl.col("kind") == "system")
        columns.append(pl.when(reference).then(pl.lit("reference")).otherwise("kind").alias("kind"))
    return replace(judgments, table=judgments.table.with_columns(columns))


# Machine judges: annotators that are programs, such as language models. They never count as people.
#
# An annotator whose name begins with `judge:` is a machine, in capitals and behind spaces as well: a slip in a file
# must not make a person of it. The readers move its rows out of the table, into `Judgments.machine`, so that no
# ranking, check or agreement can take them for a person's. Only the audit of judges uses them, and files that are
# written hold them again.

PREFIX = "judge:"
MARK = r"(?i)^\s*judge:\s*"
"""What names of machines begin with in files, as a regular expression; they are read as `PREFIX` and the rest."""
UNNAMED = "unnamed"
APART = "judgment by a machine judge, which never counts as a person's"
_LANGUAGES = ("source_lang", "target_lang")


def judge_name(annotator: str) -> str:
    """The name of a machine judge without the mark that it is one."""
    return annotator.removeprefix(PREFIX)


# Control characters, and signs such as the zero-width space.
_INVISIBLE = ("Cc", "Cf")


def any_judge(annotators: Collection[str | None] | pl.Series) -> bool:
    """Whether one of these annotators is a machine."""
    return any(name is not None and re.match(MARK, name) for name in annotators)


def visible_name(name: str) -> str:
    """The name as people see it: names that look alike are the same, whatever invisible signs or blanks they hold."""
    seen = (letter for letter in unicodedata.normalize("NFC", name) if unicodedata.category(letter) not in _INVISIBLE)
    return " ".join("".join(seen).split())


def set_judges_apart(judgments: Judgments, named: Collection[str] = ()) -> Judgments:
    """The judgments of people; those of machines are moved to `machine` and counted among what is set aside.

    Args:
        judgments: all judgments.
        named: annotators that are machines although their names do not say so.
    """
    judgments = _mark_names(judgments, named)
    annotators = judgments.table["annotator"]
    if not any_judge(annotators.unique()):
        return judgments
    is_machine = annotators.str.contains(MARK).fill_null(value=False)
    name = pl.col("annotator").str.replace(MARK, PREFIX).replace(PREFIX, f"{PREFIX}{UNNAMED}")
    earlier = () if judgments.machine is None else (judgments.machine,)
    machine = pl.concat([*earlier, judgments.table.filter(is_machine).with_columns(name)], how="diagonal_relaxed")
    record = SetAside(APART, machine.height)
    others = tuple(other for other in judgments.set_aside if other.reason != APART)
    return replace(judgments, table=judgments.table.filter(~is_machine), machine=machine, set_aside=(*others, record))


def with_judges(judgments: Judgments) -> Judgments:
    """The judgments of people and machines in one table, as files hold them."""
    if judgments.machine is None:
        return judgments
    table = pl.concat([judgments.table, judgments.machine], how="diagonal_relaxed")
    others = tuple(record for record in judgments.set_aside if record.reason != APART)
    return replace(judgments, table=table, machine=None, set_aside=others)


def select_machine_rows(judgments: Judgments) -> pl.DataFrame | None:
    """The rows of machines about what these people judged: of their language pair, and of their campaign.

    Rows of a campaign that no person has belong to all: tables of people and of judges may be named differently.
    """
    machine, table = judgments.machine, judgments.table
    if machine is None:
        return None
    for name in _LANGUAGES:
        known = [code for code in table[name].unique().to_list() if code != UNKNOWN]
        if known:
            machine = machine.filter(pl.col(name).is_in([*known, UNKNOWN]))
    campaigns = table["campaign"].unique()
    same = machine["campaign"].is_in(campaigns.implode(), nulls_equal=True)
    machine = machine.filter(same) if same.any() else machine
    return machine if machine.height else None


def _mark_names(judgments: Judgments, named: Collection[str]) -> Judgments:
    """Put the mark before the names of annotators that were said to be machines."""
    if not named:
        return judgments
    machine = [] if judgments.machine is None else judgments.machine["annotator"].unique().to_list()
    known = {*judgments.table["annotator"].drop_nulls().unique().to_list(), *machine}
    for name in named:
        if not {name, f"{PREFIX}{name}"} & known:
            raise unknown_choice(f"annotator for {param('judges')}", name, sorted(known))
    marked = {name: f"{PREFIX}{name}" for name in named if not any_judge([name])}
    return replace(judgments, table=judgments.table.with_columns(pl.col("annotator").replace(marked)))


# People behind accounts: how many there are at least, and whether there is reason to think that they are fewer.
#
# Some tools hand out an account per task, so that one person works under several, one after the other. Who is behind an
# account cannot be told safely, but two things can. Accounts at work at the same moment belong to different people: the
# largest number of accounts whose spans (first to last judgment) contain one moment is the fewest people. And a person
# who goes on under another account starts it soon after the last one ended, never before. In a crowd, as many start
# shortly before another's end as shortly after it, so that the two counts tell hand-overs from coincidence. Where only
# the names of accounts are suspicious and there are no more hand-overs than by chance, the accounts that go on for
# another cannot be many: what hand-overs exceed coincidences by, two standard errors more, over the share of such
# accounts that start so soon, within ten minutes or an hour, whichever leaves fewer people.

HAND_OVER_SECONDS = 600.0
"""Of the accounts that start so soon after another ended, 83% are of the same person (ESA 2024, with its map)."""
AN_HOUR = 3600.0
PROMPT, WITHIN_HOUR = 0.4, 0.5
"""The share of a person's further accounts that start in 10 minutes, and in an hour: 109 and 128 of 245 (ESA 2024)."""
FEWEST_HAND_OVERS = 4
"""Hand-overs that are needed as evidence."""
ASK_FOR_MAP = "Give the map with --annotators to decide by people, or say --accounts-are-people"
CHANCE = 0.01
"""Hand-overs are evidence if a coin would give as many, among all starts near an end, with at most this probability."""


@dataclass(frozen=True)
class AccountEvidence:
    """What times and tasks say of the people behind accounts."""

    accounts: int
    at_once: int | None
    """The largest number of accounts at work at one moment; None if times are not known."""
    hand_overs: int
    """Accounts that start within ten minutes after another ended."""
    coincidences: int
    """Accounts that start within ten minutes before another ends, which no hand-over explains."""
    one_task_each: bool
    """Whether every account is named as its only task: the account of a task, not of a person."""

    within_hour: tuple[int, int] = (0, 0)
    """Accounts that start within an hour after another ended, and before one ends."""
    timed: bool = True
    """Whether the times of all accounts are known."""

    @property
    def fewest_people(self) -> int | None:
        """As few people as times allow; None if they are not known."""
        if self.at_once is None or self.handed_over or not self.timed:
            return self.at_once
        counts = ((self.hand_overs, self.coincidences, PROMPT), (*self.within_hour, WITHIN_HOUR))
        further = max(
            (max(after - before, 0) + 2 * sqrt(after + before + 1)) / share for after, before, share in counts
        )
        return max(self.at_once, self.accounts - ceil(further))

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
            assumed = "No times say how few, so that each is taken for a person"
            return f"{accounts} may be fewer people ({self.reason}). {assumed}"
        few = agreeing(self.fewest_people, "one person", f"{self.fewest_people} people")
        return f"{accounts} may be as few as {few} ({self.reason})"

    @property
    def reason(self) -> str:
        """Why accounts are suspected to be fewer people."""
        if self.handed_over:
            soon = f"{counted(self.hand_overs, 'account starts', 'accounts start')} within 10 minutes after another"
            return f"{soon} ended, {self.coincidences} within 10 minutes before"
        return "every account has one task"


def suspected_accounts(judgments: Judgments) -> AccountEvidence | None:
    """The evidence that accounts are fewer people, if there is any."""
    evidence = account_evidence(judgments)
    return evidence if evidence is not None and evidence.suspected else None


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
    after, before = _near_ends(start, end, HAND_OVER_SECONDS)
    return AccountEvidence(
        accounts=accounts,
        at_once=_most_at_once(start, end) or None,
        hand_overs=after,
        coincidences=before,
        one_task_each=bool(named.select(is_task).item()),
        within_hour=_near_ends(start, end, AN_HOUR),
        timed=timed.height == span.height,
    )


def _most_at_once(start: Floats, end: Floats) -> int:
    """The largest number of spans that contain one moment: some span's start."""
    begun = np.searchsorted(np.sort(start), start, side="right")
    over = np.searchsorted(np.sort(end), start, side="left")
    return int((begun - over).max(initial=0))


def _near_ends(start: Floats, end: Floats, seconds: float) -> tuple[int, int]:
    """How many spans start shortly after the end of another, and how many shortly before one."""
    ends = np.sort(end)
    since = np.searchsorted(ends, start - seconds, side="left")
    now = np.searchsorted(ends, start, side="right")
    soon = np.searchsorted(ends, start + seconds, side="right")
    # A span that is itself so short must not count as the other one.
    own_now, own_soon = end <= start, (end > start) & (end <= start + seconds)
    return int((now - since - own_now > 0).sum()), int((soon - now - own_soon > 0).sum())


# Notes on systems that one person alone judged.

MOST_SHOWN = 3


def one_judge(systems: Sequence[str], named: NDArray[np.bool_], unnamed: NDArray[np.bool_]) -> Iterator[str]:
    """Say which systems one of several annotators alone judged.

    Judgments without a name are nobody's: they may be those of the one person, or of several others.

    Args:
        systems: the systems.
        named: what each annotator with a name judged (people, systems).
        unnamed: what was judged without a name.
    """
    if len(named) < 2:
        return
    judges, by_others = named.sum(axis=0), unnamed.any(axis=0)
    yield from _say_few_annotators(
        "one annotator{}", "rests on that person's taste", systems, (judges == 1) & ~by_others
    )
    with_others = "rests on that person's taste and on judgments without a name"
    yield from _say_few_annotators("one annotator{} with a name", with_others, systems, (judges == 1) & by_others)
    yield from _say_few_annotators(
        "nobody with a name", "may rest on one person's taste", systems, (judges == 0) & by_others
    )


def _say_few_annotators(who: str, rests: str, systems: Sequence[str], judged_so: NDArray[np.bool_]) -> Iterator[str]:
    names = [name for name, chosen in zip(systems, judged_so, strict=True) if chosen]
    if names:
        shown = ", ".join(names[:MOST_SHOWN]) + (f" and {len(names) - MOST_SHOWN} more" if names[MOST_SHOWN:] else "")
        was, them = agreeing(len(names), "was", "were"), agreeing(len(names), "it", "them")
        by = who.format(agreeing(len(names), "", " each"))
        yield f"{shown} {was} judged by {by}: the result for {them} {rests}"
