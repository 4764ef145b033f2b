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
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import adjudge
from adjudge.papers.figures import TournamentOrder, ViolatedLead
from adjudge.papers.replicate import Replication, look_for_file, missing_data, read_published, sign_data

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from adjudge.papers.replicate import Published
    from adjudge.ranking.ranking import PairComparison

NAME = "in-order"
OPTIMUM = "mfas"
EQUATIONS = {"Equation 1": "wins-or-ties", "Equation 2": "wins-no-reference", "Equation 3": "wins-no-ties"}
Cells = dict[str, float]
BLOCK_KEY = ("annotator", "task", "screen", "segment")


@dataclass(frozen=True, eq=False)
class Task:
    """One task: its data, how many comparisons they hold, orders of its systems, and the leads between them."""

    fingerprint: str
    comparisons: int
    systems: tuple[str, ...]
    orders: Mapping[str, tuple[str, ...]]
    """By method; human translations are left out."""
    net: NDArray[np.int64]
    """By how many judgments the row's system leads over the column's; 0 where it does not lead."""

    @property
    def optimum(self) -> int:
        """How many judgments the best order contradicts; 0 where there is no cycle."""
        return self.cost(self.orders[OPTIMUM])

    def cost(self, order: Iterable[str]) -> int:
        """How many judgments an order contradicts: leads of lower over higher systems."""
        indices = self.indices(order)
        return int(np.tril(self.net[np.ix_(indices, indices)], -1).sum())

    def indices(self, order: Iterable[str]) -> NDArray[np.int64]:
        """An order of names as an order of indices."""
        return np.array([self.systems.index(name) for name in order], dtype=np.int64)


def replicate(folder: Path) -> Replication:
    """All tables of the paper."""
    published = read_published("in_order")
    entries = published.content["tasks"]
    files: dict[Path, adjudge.Judgments] = {}
    tasks = {entry["task"]: loaded for entry in entries if (loaded := _task(folder, entry, files)) is not None}
    missing = [entry["task"] for entry in entries if entry["task"] not in tasks]
    if not tasks:
        raise missing_data(folder, f"neither '{entries[0]['counts']}' nor '{entries[0]['raw']}' nor the like")
    recomputed = _recomputed(tasks, published.content["printed_orders"], complete=not missing)
    recomputed = {"Figure 1": example_block(folder, published.content["example"]), **recomputed}
    return Replication(
        settings={"paper": NAME},
        data=sign_data(task.fingerprint for task in tasks.values()),
        notes=(f"the folder has no data for {', '.join(missing)}",) if missing else (),
        paper=published.paper,
        replicated=tuple(
            published.compared(name, cells, missing_cells := _absent(published, name, cells), absent=missing_cells)
            for name, cells in recomputed.items()
        ),
        figures=draw_tournaments(tasks, published.content["drawn_orders"]),
        not_recomputed=published.not_recomputed(),
    )


def _recomputed(tasks: Mapping[str, Task], printed: Mapping[str, list[str]], *, complete: bool) -> dict[str, Cells]:
    """The cells of every table that the tasks at hand allow."""
    czech, french, metrics = (
        tasks.get(name)
        for name in ("2011 English-Czech individual", "2010 French-English", "2011 Urdu-English tunable metrics")
    )
    return {
        "Table 1": _counts(tasks),
        "Section 5": _totals(tasks) if complete else {},
        "Table 2": {**_costs(czech), **_ranks(czech)} if czech else {},
        "Table 3": _table_3(french, printed["2010 French-English"]) if french else {},
        "Table 4": _table_4(metrics, printed["2011 Urdu-English tunable metrics"]) if metrics else {},
    }


def _absent(published: Published, table: str, cells: Cells) -> dict[str, str]:
    """A note for every cell that cannot be recomputed."""
    return {name: "the folder lacks data for it" for name in published.cells(table) if name not in cells}


def _task(folder: Path, entry: Mapping[str, Any], files: dict[Path, adjudge.Judgments]) -> Task | None:
    judgments = _judgments(folder, entry, files)
    if judgments is None:
        return None
    equation_3 = EQUATIONS["Equation 3"]
    rankings = {
        method: adjudge.rank(judgments, method=method, resamples=0, lines="none")
        for method in (OPTIMUM, *EQUATIONS.values())
        if method != equation_3
    }
    rankings[equation_3] = adjudge.rank(judgments, method=equation_3, reference="exclude", resamples=0, lines="none")
    orders = {
        method: tuple(system.system for system in ranking.systems if not system.human)
        for method, ranking in rankings.items()
    }
    pairs = rankings[EQUATIONS["Equation 1"]].comparisons
    systems = tuple(sorted(orders[OPTIMUM]))
    net = np.zeros((len(systems), len(systems)), dtype=np.int64)
    for pair in pairs:
        if pair.better in systems and pair.worse in systems:
            better, worse = systems.index(pair.better), systems.index(pair.worse)
            lead = _count(pair, "wins") - _count(pair, "losses")
            net[better, worse], net[worse, better] = max(lead, 0), max(-lead, 0)
    number = sum(_count(pair, name) for pair in pairs for name in ("wins", "ties", "losses"))
    return Task(judgments.fingerprint, number, systems, orders, net)


def _count(pair: PairComparison, name: str) -> int:
    return int(pair.numbers.get(name) or 0)


def _judgments(
    folder: Path, entry: Mapping[str, Any], files: dict[Path, adjudge.Judgments]
) -> adjudge.Judgments | None:
    """The counts of a task where the folder has them, or else its raw rankings; None where it has neither.

    Raw files hold many tasks: `files` keeps those that were read.
    """
    if counts := look_for_file(folder, entry["counts"]):
        return adjudge.read(counts, format="pairwise-counts")
    raw = look_for_file(folder, entry["raw"])
    if raw is None:
        return None
    if raw not in files:
        files[raw] = adjudge.read(raw, format="wmt-ranking")
    return files[raw].by_pair()[entry["pair"]]


def _counts(tasks: Mapping[str, Task]) -> Cells:
    cells: Cells = {}
    for name, task in tasks.items():
        cells[f"{name}: systems"] = len(task.systems)
        cells[f"{name}: pairs"] = task.comparisons
    return cells


def _totals(tasks: Mapping[str, Task]) -> Cells:
    totals = {
        f"violations of {name}": sum(task.cost(task.orders[method]) for task in tasks.values())
        for name, method in EQUATIONS.items()
    }
    optima = {name: task.optimum for name, task in tasks.items()}
    acyclic, optimum = sum(cost == 0 for cost in optima.values()), sum(optima.values())
    combinations = sum(cost == 0 for name, cost in optima.items() if name.endswith("syscomb"))
    counts = {"acyclic tournaments": acyclic, "acyclic system combination tasks": combinations}
    return {**counts, "violations of the optimum": optimum, **totals, **_leaders(tasks)}


def _leaders(tasks: Mapping[str, Task]) -> Cells:
    """Section 5.1: who beats two systems that scores do not put first."""
    french, czech = tasks["2010 French-English"], tasks["2011 English-Czech individual"]
    (online,), (marecek,) = french.indices(["onlineB"]), czech.indices(["cu-marecek"])
    (lium,) = french.indices(["lium"])
    others = np.arange(len(czech.net)) != marecek
    return {
        "systems that beat onlineB, French-English 2010": int((french.net[:, online] > 0).sum()),
        "judgments by which lium beats onlineB": int(french.net[lium, online]),
        "systems that cu-marecek does not beat, English-Czech 2011": int((czech.net[marecek, others] <= 0).sum()),
    }


def _costs(task: Task) -> Cells:
    costs = {f"cost of {name}": float(task.cost(task.orders[method])) for name, method in EQUATIONS.items()}
    return {"cost of the optimum": task.optimum, **costs}


def _ranks(task: Task) -> Cells:
    """The rank of every system by every equation and in our optimal order."""
    orders = {"the optimum": OPTIMUM, **EQUATIONS}
    return {
        f"rank of {system} by {name}": rank
        for name, method in orders.items()
        for rank, system in enumerate(task.orders[method], start=1)
    }


def _violated(task: Task, order: list[str]) -> Cells:
    """The cost of a printed order, and every lead that it violates."""
    leads = {f"violated: {lead.winner} over {lead.loser}": lead.weight for lead in violated_leads(task, order)}
    return {
        "cost of the printed order": task.cost(order),
        "leads that the printed order violates": len(leads),
        **leads,
    }


def _table_3(task: Task, printed: list[str]) -> Cells:
    return {"systems": len(task.systems), **_costs(task), **_violated(task, printed), **_ranks(task)}


def _table_4(task: Task, printed: list[str]) -> Cells:
    first, second = (task.orders[EQUATIONS[f"Equation {i}"]] for i in (1, 2))
    return {
        **_costs(task),
        **_violated(task, printed),
        **_ranks(task),
        "Spearman, Equation 2 and the optimum": _spearman(second, printed),
        "Spearman, Equation 1 and the optimum": _spearman(first, printed),
        "Spearman, Equations 1 and 2": _spearman(first, second),
    }


def _spearman(first: Sequence[str], second: Sequence[str]) -> float:
    squares = sum((place - second.index(name)) ** 2 for place, name in enumerate(first))
    return 1 - 6 * squares / (len(first) * (len(first) ** 2 - 1))


def draw_tournaments(tasks: Mapping[str, Task], orders: Sequence[Mapping[str, Any]]) -> tuple[TournamentOrder, ...]:
    """Every order that the data file names, where its task is at hand."""
    return tuple(_drawn(tasks[entry["task"]], entry) for entry in orders if entry["task"] in tasks)


def _drawn(task: Task, entry: Mapping[str, Any]) -> TournamentOrder:
    order = entry.get("order") or list(task.orders[entry["method"]])
    leads = violated_leads(task, order)
    cost = sum(lead.weight for lead in leads)
    best = task.optimum
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
    path = look_for_file(folder, entry["raw"])
    if path is None:
        return {}
    table = adjudge.read(path, format="wmt-ranking", pair=entry["pair"]).table
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
