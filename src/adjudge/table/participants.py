"""Which systems are human translations: by a column of the file, by the user's choice, or by a name pattern."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from adjudge.table.errors import UsageError, param, unknown_choice
from adjudge.table.judgments import Judgments, SetAside
from adjudge.table.languages import UNKNOWN
from adjudge.table.protocols import RELATIVE
from adjudge.table.wording import agreeing

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray


# HUMAN, HUMAN-A, human.A, Human-refA, ref, _ref, refA, ref-B, ref.A, reference, reference1, translator-A
_LETTER = r"([-_.]?[a-z0-9])?"
_NAME = rf"_?(human([-_.]?ref)?{_LETTER}|ref{_LETTER}|references?{_LETTER}|translator[-_.]?[a-z0-9]+)"
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
