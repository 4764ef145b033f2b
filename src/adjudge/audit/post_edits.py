"""Post-edits and their acceptability by system (Bojar et al. 2011, Table 11).

A row is an edit, whatever the editor did; `N/A` is an action too. With few edits per system the shares say little,
which is what their intervals show. Each judgment of acceptability counts for the system that it names. Where the edits
are given too, the judgments are counted whose edit belongs to another system there: joining the two by the number of
the edit would move them.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.audit.intervals import proportion
from adjudge.core.errors import DataError, InputError
from adjudge.core.files import read_bytes
from adjudge.core.protocols import WORK
from adjudge.formats import read
from adjudge.formats.tables.parquet import PARQUET_MAGIC
from adjudge.results.audit.edits import Acceptability, AcceptedSystem, EditedSystem, Edits

if TYPE_CHECKING:
    from pathlib import Path

    from adjudge.audit.settings import AuditSettings
    from adjudge.core.judgments import Judgments
    from adjudge.formats.options import ReadOptions


_PROTOCOLS = {"wmt-edits": "postedit", "wmt-acceptability": "acceptability"}


def read_companion(path: Path, released: str, options: ReadOptions) -> Judgments:
    """Read the native table, or else the format in which such a file was released."""
    native = _is_native(read_bytes(path))
    judgments = read([path], format="judgments" if native else released, options=options)
    if _PROTOCOLS[released] not in judgments.protocols:
        held = ", ".join(judgments.protocols)
        raise InputError(f"holds {held} judgments, {_PROTOCOLS[released]} is needed; name another file", file=path)
    return judgments


def _is_native(raw: bytes) -> bool:
    header = raw.split(b"\n", 1)[0].removeprefix(b"\xef\xbb\xbf").strip()
    names = header.replace(b"\t", b",").split(b",")
    return raw.startswith(PARQUET_MAGIC) or {b"system", b"protocol"} <= set(names)


UNCHANGED, UNANSWERED = "OK", "N/A"


def held_apart(judgments: Judgments, apart: Judgments | None, protocol: str) -> pl.DataFrame:
    """The rows of a protocol: from a table given apart, or from the judgments themselves."""
    held = judgments if apart is None else apart
    return held.select(pl.col("protocol") == protocol).final().table


def same_pair(table: pl.DataFrame, judgments: Judgments) -> pl.DataFrame:
    """The rows of the language pair that is audited."""
    pairs = judgments.table.select("source_lang", "target_lang").unique()
    return table.join(pairs, on=["source_lang", "target_lang"], how="semi")


def edits_section(judgments: Judgments, settings: AuditSettings) -> Edits:
    """Count edits by system and action."""
    table = same_pair(held_apart(judgments, settings.edits, "postedit"), judgments)
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
    table = same_pair(held_apart(judgments, settings.acceptability, "acceptability"), judgments)
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
        mismatched=_mismatched(table, held_apart(judgments, settings.edits, "postedit")),
    )


def _mismatched(table: pl.DataFrame, edits: pl.DataFrame) -> int | None:
    if edits.height == 0 or "edit" not in edits.columns or "edit" not in table.columns:
        return None
    owners = edits.select("edit", pl.col("system").alias("edited")).unique("edit", keep="first")
    joined = table.select("edit", "system").join(owners, on="edit", how="inner")
    return int((joined["system"] != joined["edited"]).sum())
