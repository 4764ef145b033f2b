"""The verdict in plain words: who is best, what the data cannot decide. Says only what the ranking holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.core.ranking import RankedSystem, Ranking

MOST_NAMES = 6


def listed(names: Sequence[str], last: str = "and") -> str:
    """`A`, `A and B`, `A, B and C`; long lists are cut short with their number."""
    if len(names) > MOST_NAMES:
        names = [*names[: MOST_NAMES - 1], f"{len(names) - MOST_NAMES + 1} others"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {last} {names[-1]}"


def counted(number: int, what: str) -> str:
    """`1 pair`, `2,000 pairs`."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def machines(ranking: Ranking) -> list[RankedSystem]:
    """The systems that are no human translations."""
    return [one for one in ranking.systems if not one.human]


def leaders(ranking: Ranking) -> list[RankedSystem]:
    """The machine systems that may be the best one: no other machine is sure to rank above them.

    Where only human translations were judged, they are the systems. Where no rank sets are known (every rank is
    possible for everybody), the clusters decide.
    """
    among = machines(ranking) or list(ranking.systems)
    humans = [one for one in ranking.systems if one not in among]
    if all(one.rank_set == (1, len(ranking.systems)) for one in ranking.systems):
        return [one for one in among if one.cluster == among[0].cluster]

    def may_lead(one: RankedSystem) -> bool:
        return one.rank_set[0] <= 1 + sum(human.rank_set[0] < one.rank_set[0] for human in humans)

    return [one for one in among if may_lead(one)] or among[:1]


def told_apart(ranking: Ranking) -> set[frozenset[str]]:
    """Pairs of systems that differ by more than chance explains (Holm, at the level of the lines)."""
    level = ranking.lines.level
    return {
        frozenset((one.better, one.worse))
        for one in ranking.comparisons
        if one.p_holm is not None and one.p_holm < level
    }


def headline(ranking: Ranking) -> str:
    """One sentence: who is best, or between whom the data cannot decide."""
    best = [one.system for one in leaders(ranking)]
    if len(best) == 1:
        return f"{best[0]} is the best system."
    if len(best) == len(machines(ranking)) or len(best) == len(ranking.systems):
        return "The data cannot tell which system is best: no line separates any of them."
    return f"The data cannot tell which is best: {listed(best, 'or')}."


def verdict(ranking: Ranking) -> tuple[str, ...]:
    """The sentences under the headline."""
    return tuple(sentence for sentence in (_humans(ranking), _decided(ranking), _clusters(ranking)) if sentence)


def pairs_told_apart(ranking: Ranking) -> tuple[int, int]:
    """How many pairs of systems the data tell apart (Holm, at the level of the lines), and how many there are."""
    return len(told_apart(ranking)), len(ranking.comparisons)


def _decided(ranking: Ranking) -> str:
    told, pairs = pairs_told_apart(ranking)
    chance = f"by more than chance explains (Holm, {100 * ranking.lines.level:g}%)"
    if pairs == 1:
        return f"The one pair of systems {'differs' if told else 'does not differ'} {chance}."
    if told in (0, pairs):
        return f"{'All' if told else 'None of the'} {pairs:,} pairs of systems differ {chance}."
    return f"Of {pairs:,} pairs of systems, {told:,} differ {chance}; the other {pairs - told:,} stay open."


def _clusters(ranking: Ranking) -> str:
    if len(ranking.clusters) == 1:
        return "No line can be drawn anywhere in the ranking."
    if len(ranking.clusters) == len(ranking.systems):
        return ""
    return f"Lines cut the ranking into {len(ranking.clusters)} clusters; the order within a cluster is not a finding."


def _humans(ranking: Ranking) -> str:
    """How human translations stand. That no difference was found is told apart from parity, which was not tested."""
    humans, systems = [one for one in ranking.systems if one.human], machines(ranking)
    if not humans or not systems:
        return ""
    names = f"the human translation{'s' if len(humans) > 1 else ''} ({listed([one.system for one in humans])})"
    apart = told_apart(ranking)

    def differs(system: RankedSystem, human: RankedSystem) -> bool:
        return system.cluster != human.cluster or frozenset((system.system, human.system)) in apart

    still_open = [one.system for one in systems if not all(differs(one, human) for human in humans)]
    above = [one.system for one in systems if one.system not in still_open and one.rank < min(h.rank for h in humans)]
    sentences = []
    if above:
        sentences.append(f"{listed(above)} {_stands(len(above))} above {names}.")
    if still_open:
        sentences.append(
            f"The data do not separate {listed(still_open)} from {names}; "
            "that leaves the question open, it does not show that they are equal."
        )
    if not above and not still_open:
        sentences.append(f"{names[0].upper()}{names[1:]} {_stands(len(humans))} above all systems.")
    return " ".join(sentences)


def _stands(count: int) -> str:
    return "stands" if count == 1 else "stand"
