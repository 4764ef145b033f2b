"""Post-edits by system: how many each system got, and what the editors did (Bojar et al. 2011, Table 11).

A row is an edit, whatever the editor did; `N/A` is an action too. With few edits per system the shares say little,
which is what their intervals show.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.audit.proportion import proportion
from adjudge.core.errors import DataError
from adjudge.results.audit.edits import EditedSystem, Edits

if TYPE_CHECKING:
    from adjudge.audit.settings import AuditSettings
    from adjudge.core.judgments import Judgments

EDITED = ("system", "reference", "repeat")
UNCHANGED, UNANSWERED = "OK", "N/A"


def held_apart(judgments: Judgments, apart: Judgments | None, protocol: str) -> pl.DataFrame:
    """The rows of a protocol: from a table given apart, or from the judgments themselves."""
    held = judgments if apart is None else apart
    return held.select(pl.col("protocol") == protocol).final().table


def same_pair(table: pl.DataFrame, judgments: Judgments) -> pl.DataFrame:
    """The rows of the language pair that is audited."""
    pairs = judgments.table.select("source_lang", "target_lang").unique()
    return table.join(pairs, on=["source_lang", "target_lang"], how="semi")


def section(judgments: Judgments, settings: AuditSettings) -> Edits:
    """Count edits by system and action."""
    table = same_pair(held_apart(judgments, settings.edits, "postedit"), judgments)
    # What was damaged on purpose, or is practice, says nothing of a system; a reference among them was edited too.
    table = table.filter(pl.col("kind").is_in(EDITED))
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
