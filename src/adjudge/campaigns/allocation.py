"""Who meets whom: units of work dealt out to tasks by an optimiser, and tasks to people.

N[t, s] is the number of items of system s in task t, and G = N'N says how often any two systems share tasks. If G is
even, no system can gain or suffer by the systems beside it (see `measure_bias` in `campaigns/design_report.py`). The
objective, to be minimised:

    sum over pairs s, r          (G[s, r] - even share)^2 / u^4        (s = r included: a system's own company;
                                                                        the share allows for units that stay whole)
  + sum over tasks and systems   (N[t, s] - even share)^2 / u^2
  + sum over tasks               (items of the task - even share)^2 / u^2
  + 4 * pairs of units of one label (segment or document) in one task

u is the mean size of a unit, which puts the parts on one footing. No task may exceed the capacity. Units are placed one
by one, the largest first, in the emptier tasks where they add least; then every unit in turn is moved to, or exchanged
with a unit of, the task where that lowers the objective most, until a whole round brings nothing.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from adjudge.campaigns.tasks import DraftOutput, DraftScreen, Material, Output, Run


LABEL_WEIGHT = 4.0
ROUNDS = 8
# Where there are very many units, only those in the worst tasks are tried, against a sample of the others.
MOST_TRIALS = 4_000
MOST_PARTNERS = 600


@dataclass(frozen=True)
class Unit:
    """Work that stays in one task: its size in items, how many of them each system has, and what it is about."""

    size: int
    systems: Mapping[str, int]
    label: str


def spread_units(
    units: Sequence[Unit], *, capacity: int, rng: np.random.Generator, rounds: int = ROUNDS
) -> list[list[int]]:
    """Tasks as lists of places in `units`, as few as the capacity allows. No unit may be larger than the capacity."""
    tasks = math.ceil(sum(unit.size for unit in units) / capacity)
    if not rounds and units:
        # Units that stay whole may need more. Designs begin as low as ever, so that a seed keeps its tasks.
        tasks = max(tasks, math.ceil(len(units) / (capacity // min(unit.size for unit in units))))
    while True:
        deal = Deal(units, tasks, capacity)
        # Where balance from the start leaves no room for the last units, pack tightly first and balance afterwards.
        placed = deal if deal.place_all(rng) else _pack(units, tasks, capacity)
        if placed is not None:
            return improve_deal(placed, rng, rounds=rounds)
        tasks += 1


def _pack(units: Sequence[Unit], tasks: int, capacity: int) -> Deal | None:
    """Put every unit, the largest first, into the fullest task that has room; None where some unit has none."""
    load = np.zeros(tasks)
    goal = [0] * len(units)
    for i in sorted(range(len(units)), key=lambda i: -units[i].size):
        fits = np.flatnonzero(load + units[i].size <= capacity)
        if not len(fits):
            return None
        goal[i] = int(fits[np.argmax(load[fits])])
        load[goal[i]] += units[i].size
    return make_deal(units, goal, tasks=tasks, capacity=capacity)


def improve_deal(
    deal: Deal, rng: np.random.Generator, *, only: Sequence[int] | None = None, rounds: int = ROUNDS
) -> list[list[int]]:
    """Move and exchange units (only these, where given) while the objective falls."""
    if deal.tasks > 1:
        movable = np.arange(len(deal.units)) if only is None else np.array(only)
        trials = 0
        for _ in range(rounds):
            order = rng.permutation(movable)
            order = order[np.argsort(-deal.task_costs()[deal.task[order]], kind="stable")][: MOST_TRIALS - trials]
            improved = [deal.improve_unit(int(i), rng) for i in order]
            trials += len(order)
            if not any(improved):
                break
    return [[int(i) for i in np.flatnonzero(deal.task == task)] for task in range(deal.tasks)]


class Deal:
    """The state of dealing: which unit is in which task, and all counts that the objective needs."""

    def __init__(self, units: Sequence[Unit], tasks: int, capacity: int) -> None:
        self.units, self.tasks, self.capacity = units, tasks, capacity
        names = {name: i for i, name in enumerate(sorted({name for unit in units for name in unit.systems}))}
        labels = {label: i for i, label in enumerate(sorted({unit.label for unit in units}))}
        self.holds = np.zeros((len(units), len(names)))
        for i, unit in enumerate(units):
            for name, number in unit.systems.items():
                self.holds[i, names[name]] = number
        self.label = np.array([labels[unit.label] for unit in units])
        self.size = np.array([unit.size for unit in units], dtype=float)
        self.scale = float(self.size.mean()) ** 2
        self.share = self.holds.sum(axis=0) / tasks
        self.even = float(self.size.sum()) / tasks
        self.task = np.full(len(units), -1)
        self.load = np.zeros(tasks)
        self.count = np.zeros((tasks, len(names)))
        self.labels = np.zeros((tasks, len(labels)), dtype=np.int32)
        self.placed = np.zeros(len(names))
        self.squares = np.zeros(len(names))
        self.gram = np.zeros((len(names), len(names)))

    def add(self, i: int, task: int) -> None:
        """Put a unit into a task."""
        self._update(i, task, 1)
        self.task[i] = task

    def _update(self, i: int, task: int, sign: int) -> None:
        row, holds = self.count[task], sign * self.holds[i]
        self.gram += np.outer(row, holds) + np.outer(holds, row) + np.outer(holds, holds)
        row += holds
        self.placed += holds
        self.squares += sign * holds**2
        self.load[task] += sign * self.size[i]
        self.labels[task, self.label[i]] += sign

    def place_all(self, rng: np.random.Generator) -> bool:
        """Place every unit, the largest first, where it adds least; False where the capacity does not suffice."""
        order = rng.permutation(len(self.units))
        for i in order[np.argsort(-self.size[order], kind="stable")]:
            open_tasks = self.load + self.size[i] <= self.capacity
            if not open_tasks.any():
                return False
            # Among those that are about as empty as the emptiest, so that the last units still find room.
            open_tasks &= self.load <= self.load[open_tasks].min() + self.size[i]
            cost = np.where(open_tasks, self._cost_of_adding(int(i)), np.inf)
            best = np.flatnonzero(cost <= cost.min() + 1e-9)
            self.add(int(i), int(best[rng.integers(len(best))]))
        return True

    def _cost_of_adding(self, i: int) -> NDArray[np.float64]:
        """How much the objective rises if the unit comes to each task, measured by what is placed so far."""
        holds, size = self.holds[i], self.size[i]
        now = self.placed + holds
        uneven = self.gram - _even_company(now, self.squares + holds**2, self.tasks)
        square = float(holds @ holds)
        with_row = self.count @ holds
        # |row h' + h row' + h h'|^2 and its product with what is uneven already.
        cost: NDArray[np.float64] = 2 * (2 * self.count @ (uneven @ holds) + holds @ uneven @ holds)
        cost += 2 * (self.count**2).sum(axis=1) * square + 2 * with_row**2 + 4 * with_row * square + square**2
        cost /= self.scale**2
        cost += (2 * (self.count - now / self.tasks) @ holds + square) / self.scale
        cost += (2 * self.load * size + size**2) / self.scale
        cost += LABEL_WEIGHT * self.labels[:, self.label[i]]
        return cost

    def task_costs(self) -> NDArray[np.float64]:
        """What every task adds to the objective by itself, whatever other systems it holds."""
        cost: NDArray[np.float64] = ((self.count - self.share) ** 2).sum(axis=1) / self.scale
        cost += LABEL_WEIGHT * (self.labels * (self.labels - 1) / 2).sum(axis=1)
        return cost

    def improve_unit(self, i: int, rng: np.random.Generator) -> bool:
        """Make the best move or exchange of one unit, if any lowers the objective."""
        home = int(self.task[i])
        partners = np.flatnonzero(self.task != home)
        if len(partners) > MOST_PARTNERS:
            partners = np.sort(rng.choice(partners, MOST_PARTNERS, replace=False))
        goals = np.flatnonzero(np.arange(self.tasks) != home)
        change = self._changes(
            i,
            goal=np.concatenate([self.task[partners], goals]),
            partner=np.concatenate([self.holds[partners], np.zeros((len(goals), self.holds.shape[1]))]),
            partner_size=np.concatenate([self.size[partners], np.zeros(len(goals))]),
            partner_label=np.concatenate([self.label[partners], np.full(len(goals), -1)]),
        )
        best = int(np.argmin(change))
        if change[best] > -1e-9:
            return False
        self._update(i, home, -1)
        if best < len(partners):
            other = int(partners[best])
            goal = int(self.task[other])
            self._update(other, goal, -1)
            self.add(other, home)
        else:
            goal = int(goals[best - len(partners)])
        self.add(i, goal)
        return True

    def _changes(
        self,
        i: int,
        *,
        goal: NDArray[np.int64],
        partner: NDArray[np.float64],
        partner_size: NDArray[np.float64],
        partner_label: NDArray[np.int64],
    ) -> NDArray[np.float64]:
        """How much the objective changes if unit i goes to each `goal` and what `partner` holds comes back for it."""
        home = int(self.task[i])
        shift = self.holds[i] - partner
        old_home, old_goal = self.count[home], self.count[goal]
        new_home, new_goal = old_home - shift, old_goal + shift
        cost = ((new_home - self.share) ** 2).sum(axis=1) - ((old_home - self.share) ** 2).sum()
        cost += ((new_goal - self.share) ** 2 - (old_goal - self.share) ** 2).sum(axis=1)
        moved = self.size[i] - partner_size
        load_home, load_goal = self.load[home] - moved, self.load[goal] + moved
        cost += (load_home - self.even) ** 2 - (self.load[home] - self.even) ** 2
        cost += (load_goal - self.even) ** 2 - (self.load[goal] - self.even) ** 2
        label, swapped = int(self.label[i]), partner_label >= 0
        gain = self.labels[goal, label] - (self.labels[home, label] - 1)
        gain = gain + np.where(swapped, self.labels[home, partner_label] - (self.labels[goal, partner_label] - 1), 0)
        same_label = swapped & (partner_label == label)
        cost = cost / self.scale + LABEL_WEIGHT * np.where(same_label, 0, gain).astype(float)
        # The part of G: moving `shift` from row a to row b changes it by shift x' + x shift', x = b - a + shift.
        apart = old_goal - old_home + shift
        uneven = self.gram - _even_company(self.placed, self.squares, self.tasks)
        product = 4 * ((shift @ uneven) * apart).sum(axis=1)
        square = 2 * (shift**2).sum(axis=1) * (apart**2).sum(axis=1) + 2 * (shift * apart).sum(axis=1) ** 2
        cost += (product + square) / self.scale**2
        fits = (load_home <= self.capacity) & (load_goal <= self.capacity)
        return np.where(fits, cost, np.inf)


def _even_company(placed: NDArray[np.float64], squares: NDArray[np.float64], tasks: int) -> NDArray[np.float64]:
    """G for perfectly even tasks, as far as units can be even: what stays together in a unit is a system's own company.

    What a system must keep to itself (its diagonal) is taken evenly from what it shares with the others.
    """
    even = np.outer(placed, placed) / tasks
    excess = np.maximum(0, squares - np.diag(even))
    others = even.sum(axis=1) - np.diag(even)
    less = np.minimum(1, excess / np.maximum(others, 1e-12))
    target: NDArray[np.float64] = even * (1 - (less[:, None] + less[None, :]) / 2)
    target[np.diag_indices_from(target)] = np.diag(even) + excess
    return target


def make_deal(units: Sequence[Unit], task: Sequence[int], *, tasks: int, capacity: int) -> Deal:
    """A deal that starts from a given distribution, to be improved."""
    deal = Deal(units, tasks, capacity)
    for i, goal in enumerate(task):
        deal.add(i, goal)
    return deal


def assign_people(
    tasks: int, people: Sequence[str], *, judgments: int, rng: np.random.Generator
) -> list[tuple[str, ...]]:
    """The people of every task: k different ones per task, equal work, and every two share equally many tasks.

    Loads never differ by more than one task. Among those with the least work, the person is taken who has shared fewest
    tasks with the ones already chosen for the task, so that all people are linked to each other through common items.
    """
    load = np.zeros(len(people))
    shared = np.zeros((len(people), len(people)))
    assigned: list[tuple[str, ...]] = []
    for _ in range(tasks):
        team: list[int] = []
        for _ in range(judgments):
            cost = 1e6 * load + shared[:, team].sum(axis=1) + 1e-3 * shared.sum(axis=1)
            cost[team] = np.inf
            least = np.flatnonzero(cost <= cost.min() + 1e-9)
            team.append(int(least[rng.integers(len(least))]))
        load[team] += 1
        for person in team:
            shared[person, [other for other in team if other != person]] += 1
        assigned.append(tuple(people[person] for person in sorted(team)))
    return assigned


# The order in which annotators see things: the screens of a task, and the outputs on a screen.
#
# Screens are in random order, but those of one segment or document stay apart, and controls far from their originals:
# every run of screens gets a position between 0 and 1; the m runs of one label are 1/m apart; a copy stands half a task
# from its original, and a repeat always after it. On a screen, every system stands equally often at every position.


def order_screens(material: Material, runs: Sequence[Run], rng: np.random.Generator) -> list[DraftScreen]:
    """Put the screens of a task into the order in which they are shown."""
    labels: dict[str, list[int]] = defaultdict(list)
    for run in runs:
        screen, index = run[0], run[0].items[0].index
        if screen.copy_of is None:
            label = material.testset.source[index].document if screen.size > 1 else str(index)
            labels[label].append(screen.key)
    position: dict[int, float] = {}
    for keys in labels.values():
        offset = float(rng.random())
        for i, key in enumerate(rng.permutation(keys)):
            position[int(key)] = (i + offset) / len(keys)
    originals = {screen.key: run[0].key for run in runs for screen in run}
    for run in runs:
        screen = run[0]
        if screen.copy_of is None:
            continue
        start = position[originals[screen.copy_of]]
        if all(output.kind == "repeat" for output in screen.items[0].outputs):
            start %= 0.5
            position[originals[screen.copy_of]] = start
        position[screen.key] = (start + 0.5) % 1
    ordered = sorted(runs, key=lambda run: (position[run[0].key], run[0].key))
    return [screen for run in ordered for screen in run]


MOST_ORDERS = 24


@dataclass
class Positions:
    """Puts outputs into order, screen after screen, and remembers who stood where."""

    rng: np.random.Generator
    stood: Counter[tuple[str, int]] = field(default_factory=Counter)
    before: Counter[tuple[str, str]] = field(default_factory=Counter)

    def order_outputs(self, screens: Sequence[DraftScreen]) -> list[DraftScreen]:
        """The screens with their outputs in the order in which they are shown."""
        return [self._screen(screen) for screen in screens]

    def remember(self, outputs: Sequence[DraftOutput | Output]) -> None:
        """Count who stood where, and before whom."""
        for i, output in enumerate(outputs):
            self.stood.update((system, i) for system in output.systems)
            self.before.update((a, b) for later in outputs[i + 1 :] for a in output.systems for b in later.systems)

    def _screen(self, screen: DraftScreen) -> DraftScreen:
        """One order for the whole screen: on a page, a system stays in its column."""
        outputs = screen.items[0].outputs
        if len(outputs) == 1:
            return screen
        best = min(self._orders(outputs), key=self._cost)
        self.remember(best)
        places = [outputs.index(output) for output in best]
        items = (replace(item, outputs=tuple(item.outputs[place] for place in places)) for item in screen.items)
        return replace(screen, items=tuple(items))

    def _orders(self, outputs: Sequence[DraftOutput]) -> list[list[DraftOutput]]:
        """Some orders to choose from, at random; all of them where there are few."""
        shuffled = [outputs[i] for i in self.rng.permutation(len(outputs))]
        if len(outputs) <= 4:
            return [list(order) for order in permutations(shuffled)]
        return [[outputs[i] for i in self.rng.permutation(len(outputs))] for _ in range(MOST_ORDERS)]

    def _cost(self, order: Sequence[DraftOutput]) -> int:
        """How often these systems have stood at these positions, and in this order before each other."""
        # In pairs, who stands before whom is all that matters.
        weight = 1_000_000 if len(order) == 2 else 1
        cost = 0
        for i, output in enumerate(order):
            cost += sum(self.stood[system, i] for system in output.systems)
            pairs = ((a, b) for later in order[i + 1 :] for a in output.systems for b in later.systems)
            cost += weight * sum(self.before[pair] for pair in pairs)
        return cost
