"""Replication of "Putting Human Assessments of Machine Translation Systems in Order" (Lopez 2012).

Reads the counts of every task (`A B wins ties losses`) where the folder has them, the raw rankings otherwise; both give
the same figures.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from adjudge.core.comparisons import comparisons
from adjudge.core.errors import InputError
from adjudge.core.languages import parse_pair
from adjudge.core.replication import Replication
from adjudge.formats import read
from adjudge.rank.mfas import cost_of, net_wins
from adjudge.rank.tally import tally
from adjudge.rank.tournament import tournament
from adjudge.replicate.published import find_file, read_published

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from adjudge.core.judgments import Judgments
    from adjudge.core.tournament import Tournament

NAME = "in-order"
EQUATIONS = {"Equation 1": "wins-or-ties", "Equation 2": "wins-no-reference", "Equation 3": "wins-no-ties"}
Cells = dict[str, float]


@dataclass(frozen=True)
class _Task:
    """One task: its judgments, how many comparisons they hold, and its tournament."""

    judgments: Judgments
    comparisons: int
    found: Tournament


def replicate(folder: Path) -> Replication:
    """All tables of the paper."""
    published = read_published("in_order")
    tasks = {entry["task"]: _task(folder, entry) for entry in published.content["tasks"]}
    printed = published.content["printed_orders"]
    recomputed = {
        "Table 1": _counts(tasks),
        "Section 5": _totals(tasks),
        "Table 2": _costs(tasks["2011 English-Czech individual"]),
        "Table 3": _table_3(tasks["2010 French-English"], printed["2010 French-English"]),
        "Table 4": _table_4(tasks["2011 Urdu-English tunable metrics"], printed["2011 Urdu-English tunable metrics"]),
    }
    fingerprints = "".join(task.judgments.fingerprint for task in tasks.values())
    return Replication(
        settings={"paper": NAME},
        data=hashlib.sha256(fingerprints.encode()).hexdigest()[:12],
        paper=published.paper,
        replicated=tuple(published.compared(name, cells) for name, cells in recomputed.items()),
    )


def _task(folder: Path, entry: Mapping[str, Any]) -> _Task:
    judgments = _judgments(folder, entry)
    found = tournament(judgments, methods=EQUATIONS.values(), all_optima=False)
    return _Task(judgments, len(comparisons(judgments)), found)


def _judgments(folder: Path, entry: Mapping[str, Any]) -> Judgments:
    try:
        return read([find_file(folder, entry["counts"])], format="pairwise-counts")
    except InputError:
        raw = read([find_file(folder, entry["raw"])], format="wmt-ranking")
        return raw.for_pair(parse_pair(entry["pair"]))


def _counts(tasks: Mapping[str, _Task]) -> Cells:
    cells: Cells = {}
    for name, task in tasks.items():
        cells[f"{name}: systems"] = len(task.found.systems)
        cells[f"{name}: pairs"] = task.comparisons
    return cells


def _totals(tasks: Mapping[str, _Task]) -> Cells:
    found = [task.found for task in tasks.values()]
    totals = {
        f"violations of {name}": sum(one.violations[method] for one in found) for name, method in EQUATIONS.items()
    }
    acyclic, optimum = sum(one.acyclic for one in found), sum(one.mfas.cost for one in found)
    return {"acyclic tournaments": acyclic, "violations of the optimum": optimum, **totals}


def _costs(task: _Task) -> Cells:
    costs = {f"cost of {name}": float(task.found.violations[method]) for name, method in EQUATIONS.items()}
    return {"cost of the optimum": task.found.mfas.cost, **costs}


def _table_3(task: _Task, printed: list[str]) -> Cells:
    return {"systems": len(task.found.systems), **_costs(task), "cost of the printed order": _cost_of(task, printed)}


def _table_4(task: _Task, printed: list[str]) -> Cells:
    rho = task.found.spearman
    first, second = EQUATIONS["Equation 1"], EQUATIONS["Equation 2"]
    return {
        **_costs(task),
        "cost of the printed order": _cost_of(task, printed),
        "Spearman, Equation 2 and the optimum": rho["mfas"][second],
        "Spearman, Equation 1 and the optimum": rho["mfas"][first],
        "Spearman, Equations 1 and 2": rho[first][second],
    }


def _cost_of(task: _Task, order: list[str]) -> int:
    """What an order costs: optimal orders are often not unique, so the printed one need not be ours."""
    found = tally(comparisons(task.judgments))
    place = {name: i for i, name in enumerate(found.systems)}
    return cost_of(net_wins(found.wins), np.array([place[name] for name in order]))
