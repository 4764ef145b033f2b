"""What the claims of a ranking say, in sentences: the best system, the humans, corrections, and for whom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adjudge.core.wording import agreeing, listed, measured

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from adjudge.results.audit.claims import Claim, Claims, Verdict

FEWEST_ANNOTATORS = 4
"""With fewer no claim can be tried on halves of the annotators: a half would be a single person or nobody."""
_FEW = {1: "Only one person judged: all of this is about this person only.",
        2: "Two people judged: all of this is about these two only."}  # fmt: skip
BEST_SYSTEM = {
    "holds": "{} is the best system.",
    "fragile": "{} comes out best, but not in every audit.",
    "not supported": "{} comes out first, but the data do not establish that it is the best.",
}
"""What is said of the system that comes out first, by the verdict on it."""


@dataclass(frozen=True)
class HumanStanding:
    """How the systems stand to one human translation; every system is in one of the lists."""

    human: str
    better: tuple[str, ...]
    """Systems that are better than it, by more than the margin where there is one."""
    parity: tuple[str, ...]
    """Systems that are no further from it than the margin."""
    open: tuple[str, ...]
    """Systems that the data do not separate from it."""
    worse: tuple[str, ...]
    fragile: tuple[str, ...] = ()
    """Those of the better, the worse and the ones at parity whose claim does not survive every audit."""
    audited: bool = True
    """Whether claims were put to audits at all."""


def sentences(claims: Claims) -> tuple[str, ...]:
    """Everything that is to be said, the most important first."""
    statements = [_best(claims)]
    for standing in standings(claims):
        statements += against_human(standing, claims.margin)
    if claims.humans and claims.margin is None and claims.kind == "scores":
        statements.append("Parity was not tested: no margin is customary on this scale; give one with --margin.")
    statements += [_correction(claims), scope(claims.annotators)]
    return tuple(sentence for sentence in statements if sentence)


def standings(claims: Claims) -> tuple[HumanStanding, ...]:
    """Every human translation by itself."""
    return tuple(_standing(claims, human) for human in claims.humans)


def _standing(claims: Claims, human: str) -> HumanStanding:
    supported = [claim for claim in claims.claims if claim.verdict != "not supported"]
    parity = {claim.systems[0] for claim in supported if claim.kind == "parity" and claim.systems[1] == human}
    told_apart = {claim.systems for claim in supported if claim.kind == "better"}
    systems = [name for name in systems_in_order(claims) if name not in claims.humans]
    better = [name for name in systems if (name, human) in told_apart and name not in parity]
    worse = [name for name in systems if (human, name) in told_apart and name not in parity]
    left = [name for name in systems if name not in parity and name not in better and name not in worse]
    equal = [name for name in systems if name in parity]
    fragile = {(claim.kind, *claim.systems) for claim in supported if claim.verdict == "fragile"}
    shaky = [name for name in equal if ("parity", name, human) in fragile]
    shaky += [name for name in better if ("better", name, human) in fragile]
    shaky += [name for name in worse if ("better", human, name) in fragile]
    return HumanStanding(human, tuple(better), tuple(equal), tuple(left), tuple(worse), tuple(shaky))


def systems_in_order(claims: Claims) -> list[str]:
    """All systems, the best first: who is better in how many pairs."""
    pairs = [claim.systems for claim in claims.claims if claim.kind == "better"]
    ahead = {name: 0 for pair in pairs for name in pair}
    for better, _ in pairs:
        ahead[better] += 1
    return sorted(ahead, key=lambda name: (-ahead[name], name))


def _best(claims: Claims) -> str:
    """The best of the systems that are no human translations, or between whom the data cannot decide."""
    systems = [name for name in systems_in_order(claims) if name not in claims.humans] or systems_in_order(claims)
    if len(systems) < 2:
        return ""
    among = [claim for claim in claims.claims if claim.kind == "better" and set(claim.systems) <= set(systems)]
    beaten = {claim.systems[1] for claim in among if claim.verdict != "not supported"}
    first = [name for name in systems if name not in beaten]
    if not beaten:
        return "The data cannot tell which system is best: no two of them are told apart."
    if len(first) > 1:
        return f"The data cannot tell which is best: {listed(first, 'or')}."
    return BEST_SYSTEM[_weakest([claim for claim in among if claim.systems[0] == first[0]])].format(first[0])


def _weakest(claims: Sequence[Claim]) -> Verdict:
    order: tuple[Verdict, ...] = ("not supported", "fragile", "holds")
    return next(verdict for verdict in order if any(claim.verdict == verdict for claim in claims))


def against_human(
    standing: HumanStanding, margin: float | None, named: Callable[[Sequence[str]], str] | None = None
) -> list[str]:
    """How the systems stand to one human translation.

    Args:
        standing: who is better, at parity, not separated, and worse.
        margin: within which parity is claimed.
        named: lists names, for those who show fewer than all.
    """
    human, named = standing.human, named or listed
    if len(standing.worse) > 1 and not (standing.better or standing.parity or standing.open):
        return [_above_all(standing, named)]
    statements = _by_strength(standing.better, standing, f"better than the human translation {human}", named)
    if standing.parity and margin is not None:
        within = f"at parity with {human}, within {measured(margin, 'point')}"
        statements += _by_strength(standing.parity, standing, within, named)
    if standing.open:
        open_ = f"The data do not separate {named(standing.open)} from {human}"
        statements.append(f"{open_}; that leaves the question open, it does not show that they are equal.")
    return statements + _by_strength(standing.worse, standing, f"worse than the human translation {human}", named)


def _above_all(standing: HumanStanding, named: Callable[[Sequence[str]], str]) -> str:
    """The human translation is ahead of every system, of all or of some in every audit."""
    shaky = [name for name in standing.worse if name in standing.fragile]
    if not shaky:
        is_ = "is" if standing.audited else "comes out"
        return f"The human translation {standing.human} {is_} better than every system."
    whole = f"The human translation {standing.human} comes out better than every system"
    return f"{whole}, but {'' if len(shaky) == len(standing.worse) else f'over {named(shaky)} '}not in every audit."


def _by_strength(
    names: Sequence[str], standing: HumanStanding, what: str, named: Callable[[Sequence[str]], str]
) -> list[str]:
    """What holds is said plainly; what is fragile, or was never audited, is no more than what comes out."""
    sure = [name for name in names if name not in standing.fragile]
    shaky = [name for name in names if name in standing.fragile]
    statements = [f"{named(sure)} {_verb(sure, audited=standing.audited)} {what}."] if sure else []
    if shaky:
        statements.append(f"{named(shaky)} {_verb(shaky, audited=False)} {what}, but not in every audit.")
    return statements


def _verb(names: Sequence[str], *, audited: bool) -> str:
    return agreeing(len(names), "is", "are") if audited else agreeing(len(names), "comes out", "come out")


def _correction(claims: Claims) -> str:
    pairs = [claim for claim in claims.claims if claim.kind == "better"]
    return correction(sum(claim.lost_to_correction(claims.level) for claim in pairs), len(pairs))


def correction(lost: int, pairs: int) -> str:
    """What is said of pairs that differ by themselves, but not after the correction for all pairs."""
    if not lost:
        return ""
    differ = (
        "One pair of systems differs by itself but stays"
        if lost == 1
        else f"{lost} pairs differ by themselves but stay"
    )
    return f"{differ} undecided: Holm's correction for all {pairs} pairs makes the difference."


def scope(annotators: int | None) -> str:
    """For whom the claims are made, where few people judged."""
    if annotators is None or annotators == 0 or annotators >= FEWEST_ANNOTATORS:
        return ""
    few = f"Only {annotators} people judged: no claim could be tested on other people, so none holds."
    return _FEW.get(annotators, few)
