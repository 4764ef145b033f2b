"""Post-edits and their acceptability by system (Bojar et al. 2011, Table 11).

A row is an edit, whatever the editor did; `N/A` is an action too. With few edits per system the shares say little,
which is what their intervals show. Each judgment of acceptability counts for the system that it names. Where the edits
are given too, the judgments are counted whose edit belongs to another system there: joining the two by the number of
the edit would move them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.readers.registry import read
from adjudge.readers.tables import PARQUET_MAGIC
from adjudge.table.errors import DataError, InputError
from adjudge.table.files import read_bytes
from adjudge.table.maths import Proportion, proportion
from adjudge.table.protocols import WORK
from adjudge.table.results import Cell, Column, Table, number, percent, shown_name, text
from adjudge.table.wording import agreeing, counted

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from adjudge.evidence.audit import AuditSettings
    from adjudge.readers.options import ReadOptions
    from adjudge.table.judgments import Judgments


@dataclass(frozen=True)
class EditedSystem:
    """Post-edits of one system's output: how many, by what the editor did, and the share left as it was."""

    system: str
    human: bool
    edits: int
    actions: Mapping[str, int]
    unchanged: Proportion


@dataclass(frozen=True)
class Edits:
    """Post-edits per system: how unevenly they are spread."""

    edits: int
    smallest: int
    mean: float
    sd: float
    largest: int
    systems: tuple[EditedSystem, ...]

    def tables(self) -> tuple[Table, ...]:
        """Counts by system and action."""
        actions = list(dict.fromkeys(action for system in self.systems for action in system.actions))
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (shown_name(one.system, one.human), one.edits, *(one.actions.get(action, 0) for action in actions),
             one.unchanged.share, *one.unchanged.interval)
            for one in self.systems
        )  # fmt: skip
        columns: tuple[Column, ...] = (
            text("system"),
            number("edits", 0),
            *(number(action, 0) for action in actions),
            percent("OK share", help="nothing to correct, of those with an answer"),
            percent("low"),
            percent("high"),
        )
        spread = f"{self.smallest} to {self.largest} per system, on average {self.mean:.1f} (sd {self.sd:.1f})."
        return (Table("Post-edits by system", columns, rows, spread),)


@dataclass(frozen=True)
class AcceptedSystem:
    """Judgments of one system's edited outputs."""

    system: str
    human: bool
    yes: int
    no: int
    unknown: int
    acceptable: Proportion


@dataclass(frozen=True)
class Acceptability:
    """How many edited outputs were found acceptable; few observations leave wide intervals."""

    judgments: int
    systems: tuple[AcceptedSystem, ...]
    mismatched: int | None
    """Judgments whose edit belongs to another system in the file of edits; null where that was not given."""

    def tables(self) -> tuple[Table, ...]:
        """Counts and shares by system."""
        rows = tuple(
            (shown_name(one.system, one.human), one.yes, one.no, one.unknown, one.acceptable.share,
             *one.acceptable.interval)
            for one in self.systems
        )  # fmt: skip
        columns = (
            text("system"),
            number("yes", 0),
            number("no", 0),
            number("unknown", 0),
            percent("acceptable", help="yes, of yes and no"),
            percent("low"),
            percent("high"),
        )
        note = ""
        if self.mismatched:
            plural = "name another system than the edit they judge"
            name = agreeing(self.mismatched, "names another system than the edit it judges", plural)
            note = f"{self.mismatched:,} of {counted(self.judgments, 'judgment')} {name}."
        return (Table("Acceptability of edited outputs", columns, rows, note),)


_PROTOCOLS = {"wmt-edits": "postedit", "wmt-acceptability": "acceptability"}


def read_companion(path: Path, released: str, options: ReadOptions) -> Judgments:
    """Read the native table, or else the format in which such a file was released."""
    raw = read_bytes(path)
    header = raw.split(b"\n", 1)[0].removeprefix(b"\xef\xbb\xbf").strip()
    columns = header.replace(b"\t", b",").split(b",")
    native = raw.startswith(PARQUET_MAGIC) or {b"system", b"protocol"} <= set(columns)
    judgments = read([path], format="judgments" if native else released, options=options)
    if _PROTOCOLS[released] not in judgments.protocols:
        held = ", ".join(judgments.protocols)
        raise InputError(f"holds {held} judgments, {_PROTOCOLS[released]} is needed; name another file", file=path)
    return judgments


UNCHANGED, UNANSWERED = "OK", "N/A"


def select_companion(judgments: Judgments, apart: Judgments | None, protocol: str) -> pl.DataFrame:
    """The rows of a protocol: from a table given apart, or from the judgments themselves."""
    held = judgments if apart is None else apart
    return held.select(pl.col("protocol") == protocol).final().table


def select_same_pair(table: pl.DataFrame, judgments: Judgments) -> pl.DataFrame:
    """The rows of the language pair that is audited."""
    pairs = judgments.table.select("source_lang", "target_lang").unique()
    return table.join(pairs, on=["source_lang", "target_lang"], how="semi")


def edits_section(judgments: Judgments, settings: AuditSettings) -> Edits:
    """Count edits by system and action."""
    table = select_same_pair(select_companion(judgments, settings.edits, "postedit"), judgments)
    # What was damaged on purpose, or is practice, says nothing of a system; a reference among them was edited too.
    table = table.filter(pl.col("kind").is_in(WORK))
    if table.height == 0:
        raise DataError("there are no post-edits of this language pair")
    action = pl.col("action") if "action" in table.columns else pl.lit("EDIT").alias("action")
    rows = table.select("system", "human", action.fill_null(UNANSWERED)).rows()
    human = {system: is_human for system, is_human, _ in rows}
    counted: dict[str, Counter[str]] = {system: Counter() for system in sorted(human)}
    for system, _, what in rows:
        counted[system][what] += 1
    totals = np.array([sum(actions.values()) for actions in counted.values()])
    return Edits(
        edits=int(totals.sum()),
        smallest=int(totals.min()),
        mean=float(totals.mean()),
        sd=float(totals.std(ddof=1)) if len(totals) > 1 else float("nan"),
        largest=int(totals.max()),
        systems=tuple(
            EditedSystem(
                system=system,
                human=human[system],
                edits=sum(actions.values()),
                actions=dict(sorted(actions.items())),
                unchanged=proportion(actions[UNCHANGED], sum(actions.values()) - actions[UNANSWERED]),
            )
            for system, actions in counted.items()
        ),
    )


def acceptability_section(judgments: Judgments, settings: AuditSettings) -> Acceptability:
    """Count judgments of edits by system."""
    table = select_same_pair(select_companion(judgments, settings.acceptability, "acceptability"), judgments)
    if table.height == 0:
        raise DataError("there are no judgments of post-edits of this language pair")
    yes, no = (pl.col("score") == 1).sum(), (pl.col("score") == 0).sum()
    counted = (
        table.group_by("system")
        .agg(pl.col("human").any(), yes.alias("yes"), no.alias("no"), pl.col("score").is_null().sum().alias("unknown"))
        .sort("system")
    )
    return Acceptability(
        judgments=table.height,
        systems=tuple(
            AcceptedSystem(**row, acceptable=proportion(row["yes"], row["yes"] + row["no"]))
            for row in counted.iter_rows(named=True)
        ),
        mismatched=_mismatched(table, select_companion(judgments, settings.edits, "postedit")),
    )


def _mismatched(table: pl.DataFrame, edits: pl.DataFrame) -> int | None:
    if edits.height == 0 or "edit" not in edits.columns or "edit" not in table.columns:
        return None
    owners = edits.select("edit", pl.col("system").alias("edited")).unique("edit", keep="first")
    joined = table.select("edit", "system").join(owners, on="edit", how="inner")
    return int((joined["system"] != joined["edited"]).sum())
