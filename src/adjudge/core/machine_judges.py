"""Machine judges: annotators that are programs, such as language models. They never count as people.

An annotator whose name begins with `judge:` is a machine, in capitals and behind spaces as well: a slip in a
file must not make a person of it. The readers move its rows out of the table, into `Judgments.machine`, so that no
ranking, check or agreement can take them for a person's. Only the audit of judges uses them, and files that are written
hold them again.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from adjudge.core.errors import unknown_choice
from adjudge.core.judgments import SetAside
from adjudge.core.languages import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Collection

    from adjudge.core.judgments import Judgments

PREFIX = "judge:"
MARK = r"(?i)^\s*judge:\s*"
"""What names of machines begin with in files, as a regular expression; they are read as `PREFIX` and the rest."""
UNNAMED = "unnamed"
APART = "judgment by a machine judge, which never counts as a person's"
_LANGUAGES = ("source_lang", "target_lang")


def judge_name(annotator: str) -> str:
    """The name of a machine judge without the mark that it is one."""
    return annotator.removeprefix(PREFIX)


def any_judge(annotators: Collection[str | None] | pl.Series) -> bool:
    """Whether one of these annotators is a machine."""
    return any(name is not None and re.match(MARK, name) for name in annotators)


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


def machine_rows(judgments: Judgments) -> pl.DataFrame | None:
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
            raise unknown_choice("annotator for --judges", name, sorted(known))
    marked = {name: f"{PREFIX}{name}" for name in named if not any_judge([name])}
    return replace(judgments, table=judgments.table.with_columns(pl.col("annotator").replace(marked)))
