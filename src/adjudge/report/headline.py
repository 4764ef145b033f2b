"""The headline of a ranking, and the sentences under it: who is best, and what the data cannot decide."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.core.wording import short_list
from adjudge.results.audit.claim_sentences import (
    BEST_SYSTEM,
    HumanStanding,
    against_human,
    correction,
    scope,
    standings,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.results.audit.claims import Claims
    from adjudge.results.rank import PairComparison, RankedSystem, Ranking


def machines(ranking: Ranking) -> list[RankedSystem]:
    """The systems that are no human translations."""
    return [system for system in ranking.systems if not system.human]


def leaders(ranking: Ranking) -> list[RankedSystem]:
    """The machine systems that may be the best: no other machine is shown to be better.

    Where only human translations were judged, they are the systems.
    """
    among = machines(ranking) or list(ranking.systems)
    names = {system.system for system in among}
    beaten = {worse for better, worse in told_apart(ranking) if better in names}
    return [system for system in among if system.system not in beaten]


def told_apart(ranking: Ranking) -> set[tuple[str, str]]:
    """Pairs of systems, the better first, that differ by more than chance explains (Holm, at the lines' level).

    Where a method gives no p-values, the lines between clusters tell systems apart.
    """
    if all(comparison.p_holm is None for comparison in ranking.comparisons):
        cluster = {system.system: system.cluster for system in ranking.systems}
        return {
            (comparison.better, comparison.worse)
            for comparison in ranking.comparisons
            if cluster[comparison.better] != cluster[comparison.worse]
        }
    level = ranking.lines.level
    return {
        (comparison.better, comparison.worse)
        for comparison in ranking.comparisons
        if comparison.p_holm is not None and comparison.p_holm < level
    }


def headline(ranking: Ranking, claims: Claims | None = None, annotators: int | None = None) -> str:
    """One sentence: who is best, or between whom the data cannot decide. Audited claims have the last word.

    Where one or two people judged, it is about them only, and says so. A single system is never called the best: how
    it stands to the human translation is said instead.
    """
    best = [leader.system for leader in leaders(ranking)]
    people = FEW_PEOPLE.get(annotators or 0, "")
    if len(machines(ranking)) == 1:
        stands = next(iter(_humans(ranking, claims)), "Only one system was judged.")
        return f"{people}: {stands}" if people else stands
    if len(best) == 1:
        if people:
            return f"{people}: {best[0]} comes out best."
        return _HEADLINES[verdict_on(best[0], ranking, claims)].format(best[0])
    if len(best) == len(machines(ranking)) or len(best) == len(ranking.systems):
        undecided = "data cannot tell which system is best: no two of them are told apart."
    else:
        undecided = f"data cannot tell which is best: {short_list(best, 'or')}."
    return f"{people}: the {undecided}" if people else f"The {undecided}"


NOT_AUDITED = "not audited"
FEW_PEOPLE = {1: "For this one person only", 2: "For these two people only"}
_HEADLINES = {
    **BEST_SYSTEM,
    NOT_AUDITED: "{} comes out best; that was not put to the audits.",
}


def verdict_on(best: str, ranking: Ranking, claims: Claims | None) -> str:
    """The weakest verdict on the claims that this system is better than the other machines.

    Where no claims were audited, or those of another method, there is no verdict to rely on.
    """
    if claims is None or claims.method != ranking.method:
        return NOT_AUDITED
    others = {system.system for system in machines(ranking)} - {best}
    verdicts = [
        claim.verdict for claim in claims.claims if claim.kind == "better" and _is_over(claim.systems, best, others)
    ]
    return max(verdicts, key=list(_HEADLINES).index, default=NOT_AUDITED)


def _is_over(systems: tuple[str, ...], best: str, others: set[str]) -> bool:
    return systems[0] == best and systems[1] in others


def verdict(ranking: Ranking, claims: Claims | None = None, annotators: int | None = None) -> tuple[str, ...]:
    """The sentences under the headline."""
    sentences = (
        *_humans(ranking, claims),
        _decided(ranking),
        correction(len(lost_to_correction(ranking)), len(ranking.comparisons)),
        _clusters(ranking),
        scope(annotators),
    )
    return tuple(sentence for sentence in sentences if sentence)


def lost_to_correction(ranking: Ranking) -> list[PairComparison]:
    """Pairs that differ by themselves, but not after Holm's correction for all pairs."""
    level = ranking.lines.level
    return [
        comparison
        for comparison in ranking.comparisons
        if comparison.p is not None and comparison.p_holm is not None and comparison.p < level <= comparison.p_holm
    ]


def pairs_told_apart(ranking: Ranking) -> tuple[int, int]:
    """How many pairs of systems the data tell apart (Holm, at the level of the lines), and how many there are."""
    return len(told_apart(ranking)), len(ranking.comparisons)


def _decided(ranking: Ranking) -> str:
    apart, pairs = pairs_told_apart(ranking)
    chance = f"by more than chance explains (Holm, {100 * ranking.lines.level:g}%)"
    if pairs == 1:
        return f"The one pair of systems {'differs' if apart else 'does not differ'} {chance}."
    if apart in (0, pairs):
        return f"{'All' if apart else 'None of the'} {pairs:,} pairs of systems differ {chance}."
    differ, left = ("differs" if apart == 1 else "differ"), pairs - apart
    stay = "the other one stays" if left == 1 else f"the other {left:,} stay"
    return f"Of {pairs:,} pairs of systems, {apart:,} {differ} {chance}; {stay} open."


def _clusters(ranking: Ranking) -> str:
    if len(ranking.clusters) == 1:
        return "No line can be drawn anywhere in the ranking."
    if len(ranking.clusters) == len(ranking.systems):
        return ""
    return f"Lines cut the ranking into {len(ranking.clusters)} clusters; the order within a cluster is not a finding."


def _humans(ranking: Ranking, claims: Claims | None) -> list[str]:
    """How the systems stand to every human translation, each by itself.

    That no difference was found is told apart from parity, which is claimed only where it was tested.
    """
    if claims is not None and claims.method == ranking.method and claims.humans:
        margin, stand = claims.margin, standings(claims)
    else:
        margin, stand = None, _standings(ranking)
    if not machines(ranking):
        return []
    return [sentence for standing in stand for sentence in against_human(standing, margin, short_list)]


def _standings(ranking: Ranking) -> tuple[HumanStanding, ...]:
    """The same from a ranking whose claims were not audited."""
    apart, systems = told_apart(ranking), [system.system for system in machines(ranking)]
    return tuple(_standing(human.system, systems, apart) for human in ranking.systems if human.human)


def _standing(human: str, systems: Sequence[str], apart: set[tuple[str, str]]) -> HumanStanding:
    better = tuple(name for name in systems if (name, human) in apart)
    worse = tuple(name for name in systems if (human, name) in apart)
    left_open = tuple(name for name in systems if name not in better and name not in worse)
    return HumanStanding(human, better, (), left_open, worse, audited=False)
