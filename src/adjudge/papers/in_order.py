"""Replication of "Putting Human Assessments of Machine Translation Systems in Order" (Lopez 2012).

Reads the counts of every task (`A B wins ties losses`) where the folder has them, the raw rankings otherwise; both give
the same figures. Optimal orders are often not unique, so the printed ones are not compared with ours: they are checked
to cost as little, and correlations are those of the printed order.

The paper lists the leads that its orders violate (Tables 2 to 4) and draws tournaments that are invented. Here the
tournaments of its tables are drawn: systems in the order of the paper, and an arc for every lead the order violates.
Figure 1 shows one ranking of five systems from the released data, and the ten comparisons in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import adjudge
from adjudge.papers.figures import TournamentOrder, ViolatedLead
from adjudge.papers.replicate import Replication, join_fingerprints, look_for_file, missing_data, read_published

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from adjudge.ranking.tournament import Tournament


NAME = "in-order"
EQUATIONS = {"Equation 1": "wins-or-ties", "Equation 2": "wins-no-reference", "Equation 3": "wins-no-ties"}
CZECH, FRENCH = "2011 English-Czech individual", "2010 French-English"
METRICS = "2011 Urdu-English tunable metrics"
TABLES = {"Table 2": CZECH, "Table 3": FRENCH, "Table 4": METRICS}
Cells = dict[str, float]


@dataclass(frozen=True, eq=False)
class Task:
    """One task: its data, how many comparisons they hold, its tournament, and the leads between systems."""

    fingerprint: str
    comparisons: int
    tournament: Tournament
    net: NDArray[np.int64]
    """By how many judgments the row's system leads over the column's; 0 where it does not lead."""

    def lead(self, winner: str, loser: str) -> int:
        """By how many judgments one system leads over another; 0 where it does not lead."""
        names = self.tournament.systems
        return int(self.net[names.index(winner), names.index(loser)])

    def violated_leads(self, order: Sequence[str]) -> tuple[ViolatedLead, ...]:
        """The leads of a lower over a higher system in an order, from the top."""
        pairs = [(winner, loser) for low, winner in enumerate(order) for loser in order[:low]]
        return tuple(ViolatedLead(*pair, float(self.lead(*pair))) for pair in pairs if self.lead(*pair) > 0)


def replicate(folder: Path) -> Replication:
    """All tables of the paper."""
    published = read_published("in_order")
    entries, source = published.content["tasks"], _Folder(folder)
    data = {entry["task"]: source.counts_or_rankings(entry) for entry in entries}
    tasks = {name: _task(judgments) for name, judgments in data.items() if judgments is not None}
    missing = [name for name in data if name not in tasks]
    if not tasks:
        raise missing_data(folder, f"neither '{entries[0]['counts']}' nor '{entries[0]['raw']}' nor the like")
    example = published.content["example"]
    recomputed = {
        "Figure 1": _example_block(source.rankings(example), example["systems"]),
        "Table 1": _counts(tasks),
        "Section 5": {} if missing else _totals(tasks),
        **{
            table: _tabulate_task(tasks[name], published.content["printed_orders"].get(name)) if name in tasks else {}
            for table, name in TABLES.items()
        },
    }
    if metrics := tasks.get(METRICS):
        recomputed["Table 4"] |= _correlations(metrics, published.content["printed_orders"][METRICS])
    absent = {
        table: {name: "the folder lacks data for it" for name in published.cells(table) if name not in cells}
        for table, cells in recomputed.items()
    }
    return Replication(
        settings={"paper": NAME},
        data=join_fingerprints(task.fingerprint for task in tasks.values()),
        notes=(f"the folder has no data for {', '.join(missing)}",) if missing else (),
        paper=published.paper,
        replicated=tuple(
            published.compared(table, cells, absent[table], absent=absent[table]) for table, cells in recomputed.items()
        ),
        figures=tuple(
            _draw_order(tasks[entry["task"]], entry)
            for entry in published.content["drawn_orders"]
            if entry["task"] in tasks
        ),
        not_recomputed=published.not_recomputed(),
    )


def _task(judgments: adjudge.Judgments) -> Task:
    played = adjudge.tournament(judgments)
    pairs = adjudge.rank(judgments, method=EQUATIONS["Equation 1"], resamples=0, lines="none").comparisons
    index = {name: i for i, name in enumerate(played.systems)}
    net = np.zeros((len(index), len(index)), dtype=np.int64)
    for pair in pairs:
        if pair.better in index and pair.worse in index:
            better, worse = index[pair.better], index[pair.worse]
            lead = int(pair.numbers["wins"] or 0) - int(pair.numbers["losses"] or 0)
            net[better, worse], net[worse, better] = max(lead, 0), max(-lead, 0)
    number = sum(int(pair.numbers[name] or 0) for pair in pairs for name in ("wins", "ties", "losses"))
    return Task(judgments.fingerprint, number, played, net)


class _Folder:
    """The data in a folder; files of raw rankings hold many tasks and are read once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._raw: dict[Path, adjudge.Judgments] = {}

    def counts_or_rankings(self, entry: Mapping[str, Any]) -> adjudge.Judgments | None:
        """The counts of a task where the folder has them, or else its raw rankings; None where it has neither."""
        counts = look_for_file(self.folder, entry["counts"])
        return self.rankings(entry) if counts is None else adjudge.read(counts, format="pairwise-counts")

    def rankings(self, entry: Mapping[str, Any]) -> adjudge.Judgments | None:
        """The raw rankings of a task; None where the folder has none."""
        path = look_for_file(self.folder, entry["raw"])
        if path is None:
            return None
        if path not in self._raw:
            self._raw[path] = adjudge.read(path, format="wmt-ranking")
        return self._raw[path].for_pair(entry["pair"])


def _counts(tasks: Mapping[str, Task]) -> Cells:
    cells: Cells = {}
    for name, task in tasks.items():
        cells |= {f"{name}: systems": len(task.tournament.systems), f"{name}: pairs": task.comparisons}
    return cells


def _totals(tasks: Mapping[str, Task]) -> Cells:
    """Section 5, with the systems of section 5.1 that beat two others which scores put first."""
    french, czech = tasks[FRENCH], tasks[CZECH]
    tournaments = {name: task.tournament for name, task in tasks.items()}
    combined = [played for name, played in tournaments.items() if name.endswith("syscomb")]
    beaten = [name for name in czech.tournament.systems if czech.lead("cu-marecek", name) > 0]
    return {
        "acyclic tournaments": sum(played.acyclic for played in tournaments.values()),
        "acyclic system combination tasks": sum(played.acyclic for played in combined),
        "violations of the optimum": sum(played.mfas.cost for played in tournaments.values()),
        **{
            f"violations of {name}": sum(played.violations[method] for played in tournaments.values())
            for name, method in EQUATIONS.items()
        },
        "systems that beat onlineB, French-English 2010": sum(
            french.lead(name, "onlineB") > 0 for name in french.tournament.systems
        ),
        "judgments by which lium beats onlineB": french.lead("lium", "onlineB"),
        "systems that cu-marecek does not beat, English-Czech 2011": len(czech.tournament.systems) - 1 - len(beaten),
    }


def _tabulate_task(task: Task, printed: Sequence[str] | None) -> Cells:
    """The cells of a task's table: what orders cost, the leads that the printed one violates, the ranks of systems."""
    methods = {"the optimum": "mfas", **EQUATIONS}
    played = task.tournament
    cells: Cells = {"systems": len(played.systems), "cost of the optimum": played.mfas.cost}
    cells |= {f"cost of {name}": float(played.violations[method]) for name, method in EQUATIONS.items()}
    if printed is not None:
        leads = task.violated_leads(printed)
        cells["cost of the printed order"] = int(sum(lead.weight for lead in leads))
        cells["leads that the printed order violates"] = len(leads)
        cells |= {f"violated: {lead.winner} over {lead.loser}": lead.weight for lead in leads}
    return cells | {
        f"rank of {system} by {name}": rank
        for name, method in methods.items()
        for rank, system in enumerate(played.orders[method], start=1)
    }


def _correlations(task: Task, printed: Sequence[str]) -> Cells:
    """Table 4: Spearman's rho of two equations and the printed optimum."""

    def spearman(one: Sequence[str], other: Sequence[str]) -> float:
        squares = sum((place - other.index(name)) ** 2 for place, name in enumerate(one))
        return 1 - 6 * squares / (len(one) * (len(one) ** 2 - 1))

    first, second = (task.tournament.orders[EQUATIONS[f"Equation {i}"]] for i in (1, 2))
    return {
        "Spearman, Equation 2 and the optimum": spearman(second, printed),
        "Spearman, Equation 1 and the optimum": spearman(first, printed),
        "Spearman, Equations 1 and 2": spearman(first, second),
    }


def _draw_order(task: Task, entry: Mapping[str, Any]) -> TournamentOrder:
    order = entry.get("order") or task.tournament.orders[entry["method"]]
    leads = task.violated_leads(order)
    says = (
        f"{len(leads)} leads of {sum(lead.weight for lead in leads):g} judgments in all point upward; no order of "
        f"these {len(order)} systems violates fewer than {task.tournament.mfas.cost:,}."
    )
    if leads:
        largest = max(leads, key=lambda lead: lead.weight)
        says += f" The largest: {largest.winner} beats {largest.loser} by {largest.weight:g} judgments."
    return TournamentOrder(
        figure=entry["figure"], title=entry["title"], page=entry.get("page"), says=says, order=tuple(order), leads=leads
    )


def _example_block(rankings: adjudge.Judgments | None, systems: Iterable[str]) -> Cells:
    """Figure 1: the ranks of the block that holds these systems, and how many of its pairs are decided or tied.

    Empty where the folder has no raw rankings. The example is found by its systems, which met in one block only.
    """
    if rankings is None:
        return {}
    key = [name for name in ("annotator", "task", "screen", "segment") if name in rankings.table.columns]
    blocks = (
        rankings.table.group_by(key, maintain_order=True)
        .agg(pl.col("system"), pl.col("rank"))
        .filter(pl.col("system").list.sort() == sorted(systems))
    )
    cells = {"blocks of these five systems": float(blocks.height)}
    if blocks.height != 1:
        return cells
    ranks = dict(zip(blocks["system"][0], blocks["rank"][0], strict=True))
    tied = [a == b for a, b in combinations(ranks.values(), 2)]
    cells |= {f"rank of {system}": float(rank) for system, rank in ranks.items()}
    return cells | {"pairs": float(len(tied)), "pairs that are tied": float(sum(tied))}
