"""The truth behind simulated judgments: made from what was drawn, and compared with a ranking."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from adjudge.table.protocols import NOT_CONTROLS
from adjudge.table.results import Result, Table, number, tabulate, text
from adjudge.table.wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from adjudge.planning.simulated_rankings import RankingCampaign
    from adjudge.planning.simulated_scores import ScoreCampaign
    from adjudge.ranking.ranking import Ranking
    from adjudge.table.judgments import Judgments
    from adjudge.table.maths import Bools, Floats


# The truth behind simulated judgments, and how far a ranking recovered it.


@dataclass(frozen=True)
class TrueSystem:
    """One simulated system: its true quality, in the unit of the truth, and its true rank."""

    system: str
    human: bool
    quality: float
    rank: int


@dataclass(frozen=True, kw_only=True)
class Truth(Result):
    """The truth behind simulated judgments. `systems` are in true order, the best first."""

    verb: ClassVar[str] = "simulate"

    protocol: str
    unit: str
    systems: tuple[TrueSystem, ...]
    careless: tuple[str, ...]

    @property
    def order(self) -> tuple[str, ...]:
        """The names of the systems in true order, the best first."""
        return tuple(system.system for system in self.systems)

    def tables(self) -> tuple[Table, ...]:
        """The systems in true order."""
        columns = {
            "rank": number("true rank", 0), "system": text("system"), "quality": number("quality", help=self.unit)
        }  # fmt: skip
        who = ", ".join(self.careless) or "nobody"
        note = f"Quality in {self.unit}. Careless annotators: {who}."
        return (tabulate("The truth", self.systems, columns, note),)


@dataclass(frozen=True)
class Simulated:
    """Simulated judgments with the truth they were drawn from, and a source text for every segment."""

    judgments: Judgments
    truth: Truth
    sources: tuple[str, ...] = ()

    def __str__(self) -> str:
        """One line about what was simulated."""
        judged = int(self.judgments.table["kind"].is_in(NOT_CONTROLS).sum())
        held = f"{counted(judged, 'judgment')} of {counted(len(self.judgments.systems), 'system')}"
        if judged < len(self.judgments):
            held += f" and {counted(len(self.judgments) - judged, 'answer')} to controls"
        return f"Simulated: {held}; see .judgments, .truth and .sources"

    __repr__ = __str__


@dataclass(frozen=True)
class Recovery:
    """A ranking compared with the truth, over the systems that both have.

    `wrong_claims` are pairs in different clusters whose order contradicts the truth.
    """

    systems: int
    kendall: float | None
    pairs: int
    misordered: tuple[tuple[str, str], ...]
    wrong_claims: tuple[tuple[str, str], ...]
    best_found: bool
    rank_sets_covering: int


# Names of simulated things, and source texts: words of no language, sentences of the lengths that news has.


def numbered(what: str, count: int) -> list[str]:
    """Names that sort as they count: `system-01`, `system-02`, ..."""
    width = max(2, len(str(count)))
    return [f"{what}-{i:0{width}d}" for i in range(1, count + 1)]


def human_names(count: int) -> list[str]:
    """`human-A`, `human-B`, ...: names that are recognised as human translations."""
    letters = [chr(ord("A") + i) for i in range(26)]
    return [f"human-{letters[i] if i < len(letters) else i}" for i in range(count)]


USUAL_LENGTH = 18
_FIRST = ("b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z")
_SECOND = ("a", "e", "i", "o", "u")
_SPREAD_OF_LENGTH = 0.55


def draw_texts(count: int, rng: np.random.Generator) -> tuple[str, ...]:
    """One sentence per segment; lengths in words are log-normal around `USUAL_LENGTH`, at least 3."""
    lengths = np.maximum(3, np.exp(rng.normal(np.log(USUAL_LENGTH), _SPREAD_OF_LENGTH, count)).round().astype(int))
    words = _words(int(lengths.sum()), rng)
    ends = np.cumsum(lengths)
    return tuple(
        " ".join(words[end - length : end]).capitalize() + "." for length, end in zip(lengths, ends, strict=True)
    )


def _words(count: int, rng: np.random.Generator) -> NDArray[np.str_]:
    """Words of one to four syllables from a vocabulary of their own."""
    syllables = np.array([first + second for first in _FIRST for second in _SECOND])
    vocabulary = ["".join(rng.choice(syllables, size=rng.integers(1, 5))) for _ in range(400)]
    return rng.choice(np.array(vocabulary), size=count)


def truth_of(
    campaign: RankingCampaign | ScoreCampaign,
    seed: int,
    fingerprint: str,
    *,
    humans: Sequence[str] = (),
    names: Sequence[str] | None = None,
    people: Sequence[str] | None = None,
    quality: Floats,
    careless: Bools,
    protocol: str,
    unit: str,
    notes: tuple[str, ...] = (),
) -> Truth:
    """The systems in true order with their qualities, and who was careless.

    Args:
        campaign: its parameters.
        seed: of the draw.
        fingerprint: of the judgments.
        humans: the names of human translations, which follow those of the systems.
        names: of all systems, human translations last; default: numbers.
        people: the names of the annotators; default: numbers.
        quality: of every system and human translation.
        careless: which annotators click at random.
        protocol: of the judgments.
        unit: of the qualities.
        notes: where the judgments are not as the parameters say.
    """
    names = names or [*numbered("system", campaign.systems), *humans]
    systems = tuple(
        TrueSystem(names[i], bool(i >= campaign.systems), float(quality[i]), 1 + int((quality > quality[i]).sum()))
        for i in np.argsort(-quality, kind="stable")
    )
    people = people or numbered("annotator", campaign.annotators)
    plain = {name: value for name, value in vars(campaign).items() if name != "qualities"}
    given = None if campaign.qualities is None else ",".join(f"{quality:g}" for quality in campaign.qualities)
    return Truth(
        settings={"protocol": protocol, **plain, "qualities": given, "seed": seed},
        data=fingerprint,
        notes=notes,
        protocol=protocol,
        unit=unit,
        systems=systems,
        careless=tuple(name for name, is_careless in zip(people, careless, strict=True) if is_careless),
    )


def recovery(truth: Truth, ranking: Ranking) -> Recovery:
    """Compare a ranking with the truth: Kendall's tau, pairs in the wrong order, claims of clusters that are wrong.

    Systems that only one of the two holds (as a reference left out of the ranking) do not count, and true ranks are
    taken among the systems that count. Pairs that are truly equal can be in no wrong order and are left out of tau.
    """
    quality = {true.system: true.quality for true in truth.systems}
    ranked = [line for line in ranking.systems if line.system in quality]
    pairs = [(a, b) for a, b in combinations(ranked, 2) if quality[a.system] != quality[b.system]]
    misordered = [(a, b) for a, b in pairs if quality[a.system] < quality[b.system]]
    wrong_claims = [(a, b) for a, b in misordered if a.cluster != b.cluster]
    names = {line.system for line in ranked}
    best = max((quality[name] for name in names), default=None)
    true_rank = {name: 1 + sum(quality[other] > quality[name] for other in names) for name in names}
    return Recovery(
        systems=len(ranked),
        kendall=1 - 2 * len(misordered) / len(pairs) if pairs else None,
        pairs=len(pairs),
        misordered=tuple((a.system, b.system) for a, b in misordered),
        wrong_claims=tuple((a.system, b.system) for a, b in wrong_claims),
        best_found=bool(ranked) and quality[ranked[0].system] == best,
        rank_sets_covering=sum(line.rank_set[0] <= true_rank[line.system] <= line.rank_set[1] for line in ranked),
    )
