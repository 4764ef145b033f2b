"""The tournaments of "Putting Human Assessments of Machine Translation Systems in Order" (Lopez 2012), drawn.

The paper lists the leads that its orders violate (Tables 2 to 4) and draws tournaments that are invented. Here the
tournaments of its tables are drawn: systems in the order of the paper, and an arc for every lead the order violates.
Figure 1 shows one ranking of five systems from the released data, and the ten comparisons in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from adjudge.core.languages import parse_pair
from adjudge.formats import read
from adjudge.replicate.published import file_if_there
from adjudge.results.figures import TournamentOrder, ViolatedLead

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from adjudge.replicate.in_order import Task

BLOCK_KEY = ("annotator", "task", "screen", "segment")


def draw_tournaments(tasks: Mapping[str, Task], orders: Sequence[Mapping[str, Any]]) -> tuple[TournamentOrder, ...]:
    """Every order that the data file names, where its task is at hand."""
    return tuple(_drawn(tasks[entry["task"]], entry) for entry in orders if entry["task"] in tasks)


def _drawn(task: Task, entry: Mapping[str, Any]) -> TournamentOrder:
    order = entry.get("order") or list(task.tournament.orders[entry["method"]])
    leads = violated_leads(task, order)
    cost = sum(lead.weight for lead in leads)
    best = task.tournament.mfas.cost
    says = (
        f"{len(leads)} leads of {cost:g} judgments in all point upward; no order of these {len(order)} systems "
        f"violates fewer than {best:,}."
    )
    if leads:
        largest = max(leads, key=lambda lead: lead.weight)
        says += f" The largest: {largest.winner} beats {largest.loser} by {largest.weight:g} judgments."
    return TournamentOrder(
        figure=entry["figure"], title=entry["title"], page=entry.get("page"), says=says, order=tuple(order), leads=leads
    )


def violated_leads(task: Task, order: Sequence[str]) -> tuple[ViolatedLead, ...]:
    """The leads of a lower over a higher system, from the top."""
    indices = task.indices(order)
    return tuple(
        ViolatedLead(order[low], order[high], float(task.net[indices[low], indices[high]]))
        for low in range(len(order))
        for high in range(low)
        if task.net[indices[low], indices[high]] > 0
    )


def example_block(folder: Path, entry: Mapping[str, Any]) -> dict[str, float]:
    """Figure 1: the ranks of the block that holds these systems, and how many of its pairs are decided or tied.

    Empty where the folder has no raw rankings. The example is found by its systems, which met in one block only.
    """
    path = file_if_there(folder, entry["raw"])
    if path is None:
        return {}
    table = read([path], format="wmt-ranking").for_pair(parse_pair(entry["pair"])).table
    key = [name for name in BLOCK_KEY if name in table.columns]
    wanted = sorted(entry["systems"])
    blocks = (
        table.group_by(key, maintain_order=True)
        .agg(pl.col("system"), pl.col("rank"))
        .filter(pl.col("system").list.sort() == wanted)
    )
    cells = {"blocks of these five systems": float(blocks.height)}
    if blocks.height != 1:
        return cells
    ranks = dict(zip(blocks["system"][0], blocks["rank"][0], strict=True))
    cells |= {f"rank of {system}": float(rank) for system, rank in ranks.items()}
    values = list(ranks.values())
    pairs = [(a, b) for i, a in enumerate(values) for b in values[:i]]
    return cells | {"pairs": float(len(pairs)), "pairs that are tied": float(sum(a == b for a, b in pairs))}
