"""Why a system moved: its rank by every customary way and by the model, and the reasons for each move.

Of scores, the raw mean of a system is taken apart by the fitted model:

    raw mean - model mean = strictness + tasks + documents + segments + tastes + pages + set aside + rest,

where each part is the mean of the predicted effects (of annotators, of their tasks, ...) over the system's judgments,
weighed as in raw means, where an output counts once however often it was judged. `pages` is how well the system did on
single documents: over documents this adds up to nothing, but raw means count long documents for more than the model
does. In the same way, `tastes` are of those who judged most of the system. `set aside` is what judgments do that the
model does not use (annotators who never move the slider, copies). `rest` is what the model does not predict; it is 0
unless some outputs were judged more often than others. Of a part, what differs between systems moves them: reasons
speak of its distance from the average system.

Of rankings, ratios of wins are compared with strengths: ties, opponents, and one busy annotator.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from adjudge.evidence import verdict_comparison as words
from adjudge.mixed.design import levels_of
from adjudge.mixed.effects import SYSTEM_ON_TEXT, TASTE
from adjudge.mixed.model import Model, model_of
from adjudge.ranking.counts import count_people, group_of, person_of
from adjudge.ranking.estimator import is_relative
from adjudge.ranking.methods import RankSettings, rank
from adjudge.ranking.relative import expected_wins, wins_or_ties
from adjudge.ranking.relative_estimator import RelativeEstimator
from adjudge.ranking.scores import ScoreEstimator, as_scores, low_shares
from adjudge.table.comparisons import comparisons
from adjudge.table.errors import DataError
from adjudge.table.results import Cell, Column, Table, number, shown_name, text, to_plain
from adjudge.table.score_sheet import Sheet, item_means, own_means, sheet_of, standardised

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from adjudge.ranking.ranking import Ranking
    from adjudge.table.judgments import Judgments
    from adjudge.table.maths import Codes, Floats

_PART_OF = {
    "annotator": "strictness",
    "task": "tasks",
    "document": "documents",
    "annotator:document": "documents",
    "segment": "segments",
    "annotator:segment": "segments",
    TASTE: "tastes",
    **dict.fromkeys((*SYSTEM_ON_TEXT, "page"), "pages"),
}
"""The part that an effect of the model belongs to, by its first name."""
PARTS = (*dict.fromkeys(_PART_OF.values()), "set_aside", "rest")
"""What the difference of raw mean and model mean consists of."""
WAYS = {
    "everyone": "raw mean of everybody",
    "raw": "raw mean",
    "z": "z-scores",
    "official": "the official rule",
    "model": "the model",
    "typical": "typical scores",
}
"""Ways of ranking scores by name, in words."""
_MOVES = (("everyone", "raw"), ("raw", "z"), ("z", "official"), ("z", "model"), ("raw", "model"), ("model", "typical"))
_BESIDE = ("z", "typical", "expected-wins")
"""Ways whose place is explained where raw mean and model agree; that by official lines needs no reason."""
_RELATIVE_MOVES = (("wins-or-ties", "expected-wins"), ("expected-wins", "bradley-terry"))
FAR = 3
"""A system that moves by so many ranks is worth a sentence on the first page."""
WORTH_SAYING = 0.25
"""Reasons smaller than this share of the largest, for or against a move, are not said."""
LEAST = 0.01
"""Points, or shares of the wins, below which nothing is a reason."""
MOST_REASONS = 3
BUSY = 0.25
"""Whoever made more of a system's comparisons than this is a busy annotator."""


@dataclass(frozen=True)
class Move:
    """From one way of ranking to the next: ranks before and after, and why they differ."""

    first: str
    second: str
    before: int
    after: int
    reasons: tuple[str, ...]

    def to_dict(self) -> dict[str, object]:
        """The documented keys."""
        ends = {"from": self.first, "to": self.second, "before": self.before, "after": self.after}
        return {**ends, "reasons": list(self.reasons)}


@dataclass(frozen=True)
class ExplainedSystem:
    """One system: its rank by every way, the means behind them, what these consist of, and every move."""

    system: str
    human: bool
    ranks: Mapping[str, int | None]
    means: Mapping[str, float]
    parts: Mapping[str, float]
    """What raw mean less model mean consists of, in points; empty for relative judgments."""
    moves: tuple[Move, ...]

    def to_dict(self) -> dict[str, object]:
        """The documented keys: ranks by their names, and the rest."""
        rest = {name: to_plain(getattr(self, name)) for name in ("means", "parts", "moves")}
        return {"system": self.system, "human": self.human, **self.ranks, **rest}


@dataclass(frozen=True)
class Explained:
    """Why systems moved, the best by the last way of ranking first."""

    systems: tuple[ExplainedSystem, ...]
    ways: Mapping[str, str]
    """The ways of ranking by name, in words."""
    ends: tuple[str, str]
    """The customary way and the model, between which the story of a system is told."""

    @property
    def story(self) -> str:
        """The system that moves furthest between raw mean and model, in a sentence; empty where none moves far."""
        told = [(abs(there - here), one) for one in self.systems for here, there in self._ends_of(one)]
        furthest = max(told, key=lambda entry: entry[0], default=None)
        return "" if furthest is None or furthest[0] < FAR else self.why(furthest[1])

    def _ends_of(self, one: ExplainedSystem) -> list[tuple[int, int]]:
        here, there = (one.ranks.get(way) for way in self.ends)
        return [] if here is None or there is None else [(here, there)]

    def why(self, one: ExplainedSystem) -> str:
        """In a sentence why a system moved between raw mean and model; empty where it did not."""
        for here, there in self._ends_of(one):
            if here != there:
                first, second = ((self.ways[way], rank) for way, rank in zip(self.ends, (here, there), strict=True))
                return words.say_moved(one.system, first, second, self.reason(one))
        return ""

    def reason(self, one: ExplainedSystem) -> str:
        """The main reason of the move between raw mean and model; rankings have a way between the two."""
        for here, there in self._ends_of(one):
            steps = [move for move in one.moves if (move.first, move.second) == self.ends]
            steps = steps or [
                move for move in one.moves if here != there and (move.after < move.before) == (there < here)
            ]
            return next((reason for move in steps for reason in move.reasons), "")
        return ""

    def _reason_shown(self, one: ExplainedSystem) -> str | None:
        """The same for the table; where the two ends agree, that of the last way that does not."""
        apart = [move for move in one.moves if move.second in _BESIDE]
        if apart and not self.reason(one):
            return words.say_reason_for_place(self.ways[apart[-1].second], apart[-1].after, apart[-1].reasons[0])
        return self.reason(one) or None

    @property
    def orders(self) -> dict[str, tuple[str, ...]]:
        """The systems in order by every way, for a picture."""
        known = [way for way in self.ways if any(one.ranks.get(way) is not None for one in self.systems)]
        return {
            self.ways[way]: tuple(one.system for one in sorted(self._ranked(way), key=lambda one: one.ranks[way] or 0))
            for way in known
        }

    def _ranked(self, way: str) -> list[ExplainedSystem]:
        return [one for one in self.systems if one.ranks.get(way) is not None]

    def tables(self) -> tuple[Table, ...]:
        """Ranks by every way with the reason for the move, what the difference of means consists of, and every move."""
        ways = [way for way in self.ways if self._ranked(way)]
        names = [shown_name(one.system, one.human) for one in self.systems]
        rows: list[tuple[Cell, ...]] = [
            (name, *(one.ranks.get(way) for way in ways), self._reason_shown(one))
            for name, one in zip(names, self.systems, strict=True)
        ]
        columns = (
            text("system"),
            *(Column(way, digits=0, help=f"rank by {self.ways[way]}") for way in ways),
            text("why"),
        )
        tables = [Table("Why systems moved", columns, tuple(rows), self.story)]
        if self.systems[0].parts:
            means = ("raw", "model")
            parts: list[tuple[Cell, ...]] = [
                (name, *(one.means[way] for way in means), *(one.parts[part] for part in PARTS))
                for name, one in zip(names, self.systems, strict=True)
            ]
            heads = (text("system"), number("raw", 2), number("model", 2), *(_part_column(part) for part in PARTS))
            note = (
                "Raw mean minus model mean is the sum of the parts. Compare a part with its column's mean: "
                "below it, the system was held down."
            )
            tables.append(Table("Where raw mean and model part", heads, tuple(parts), note, detail=True))
        moves: list[tuple[Cell, ...]] = [
            (name, move.first, move.second, move.before, move.after, "; ".join(move.reasons))
            for name, one in zip(names, self.systems, strict=True)
            for move in one.moves
        ]
        labels = (text("system"), text("from"), text("to"), number("before", 0), number("after", 0), text("reasons"))
        if moves:
            tables.append(Table("Every move", labels, tuple(moves), detail=True))
        return tuple(tables)

    def to_dict(self) -> list[dict[str, object]]:
        """The documented keys: a list of systems."""
        return [one.to_dict() for one in self.systems]


_MEANINGS = {
    "strictness": "who judged it: how generous these people are",
    "tasks": "how generous they were in its tasks",
    "documents": "how easy its documents are",
    "segments": "how easy its segments are",
    "tastes": "how much those who judged most of it like it",
    "set_aside": "judgments that the model does not use",
    "pages": "whether it does better on long documents, which the model counts for less",
    "rest": "whether outputs that were judged more often score lower",
}


def _part_column(part: str) -> Column:
    return Column(part.replace("_", " "), digits=2, help=_MEANINGS[part], name=part)


def with_explanation(ranking: Ranking, judgments: Judgments, everyone: Judgments | None = None) -> Ranking:
    """The ranking with the reasons why systems moved, and the best story among its first sentences."""
    explained = explain(judgments, everyone)
    verdict_ = (*ranking.verdict, *[explained.story] * bool(explained.story))
    notes = (*ranking.notes, "the explanation is of human scores alone, without helpers") if ranking.helpers else None
    settings = {**ranking.settings, "explain": True}
    return replace(ranking, explained=explained, verdict=verdict_, settings=settings, notes=notes or ranking.notes)


def explain(judgments: Judgments, everyone: Judgments | None = None) -> Explained:
    """Why systems have other ranks by one way of ranking than by the next.

    Args:
        judgments: of one language pair and campaign, relative or scores (post-edits and verdicts count as scores).
        everyone: the same with the judgments of those who do not count, where there are any.
    """
    judgments = as_scores(judgments)
    if is_relative(judgments):
        return _explain_relative(judgments)
    return _explain_scores(_Scores(judgments, None if everyone is None else as_scores(everyone)))


def _ranks(scores: Floats) -> list[int | None]:
    """The rank of each system; equal scores share the best, and a system without a score has none."""
    # What differs in the last digits alone is equal, such as a system under two names.
    scores = np.round(scores, 9)
    return [None if np.isnan(score) else 1 + int((scores > score).sum()) for score in scores]


def _reasons(gains: Sequence[tuple[float, str]], *, up: bool, gap: float = 0.0) -> tuple[str, ...]:
    """The reasons that explain a move over this gap, the largest first; none where others weigh far more."""
    least = max(WORTH_SAYING * max(gap, *(abs(gain) for gain, _ in gains), 0.0), LEAST)
    fitting = sorted((-abs(gain), why) for gain, why in gains if gain and (gain > 0) == up and abs(gain) >= least)
    return tuple(why for _, why in fitting[:MOST_REASONS])


def _gap(i: int, before: Sequence[int | None], after: Sequence[int | None], means: Floats) -> float:
    """How far off in these means the farthest system is that system i passed, or that passed it."""

    def passed(j: int) -> bool:
        known = None not in (before[j], after[j])
        return known and ((before[i] or 0) < (before[j] or 0)) != ((after[i] or 0) < (after[j] or 0))

    gaps = [abs(float(means[i] - means[j])) for j in range(len(means)) if passed(j)]
    return float(np.nanmax([0.0, *gaps]))


class _Scores:
    """Means of scores by every way, what they consist of, and what the moves between them are due to."""

    def __init__(self, judgments: Judgments, everyone: Judgments | None) -> None:
        self.estimator = ScoreEstimator(judgments)
        self.design, self.systems = self.estimator.design, self.estimator.systems
        self.model: Model = model_of(self.design.with_model("mixed-points"))
        self.sheet = sheet_of(judgments)
        self.z_sheet = standardised(self.sheet)
        self.all_sheet = None if everyone is None or len(everyone) == len(judgments) else sheet_of(everyone)
        self.n = np.bincount(self.design.system, minlength=len(self.systems))
        self.means = {
            **({} if self.all_sheet is None else {"everyone": self._sheet_means(self.all_sheet)}),
            "raw": self._sheet_means(self.sheet),
            "z": self._sheet_means(self.z_sheet),
            "model": self.model.fitted.effects,
            "typical": self.estimator.typical.effects,
        }
        self.parts = self._parts()

    def _sheet_means(self, sheet: Sheet) -> Floats:
        """The customary means, in the order of the design's systems."""
        means = dict(zip(sheet.systems, item_means(sheet).system_means(len(sheet.systems)), strict=True))
        return np.array([means.get(name, np.nan) for name in self.systems])

    def _parts(self) -> dict[str, Floats]:
        """What raw mean less model mean consists of."""
        effects = {part: [name for name, own in _PART_OF.items() if own == part] for part in _PART_OF.values()}
        parts = {part: self.model.part_of_means(*names) for part, names in effects.items()}
        parts["set_aside"] = self.means["raw"] - self.model.over_rows(self.design.as_given)
        parts["rest"] = self.means["raw"] - self.means["model"] - sum(parts.values())
        return parts

    def rank_by_official_lines(self) -> list[int | None]:
        """The rank by z-scores where systems between two official lines share the best of theirs."""
        best: dict[str, int] = {}
        # Where nobody has a z-score, nobody has a rank by them.
        with suppress(DataError):
            for cluster in rank(self.estimator.judgments, method="zscore", settings=RankSettings(resamples=0)).clusters:
                best |= dict.fromkeys(cluster, len(best) + 1)
        return [best.get(name) for name in self.systems]

    def busiest_people(self) -> list[tuple[float, bool, bool]]:
        """Of each system the share that the busiest person judged; whether nobody is stricter, or more generous."""
        annotator = self.design.annotator
        effect = self.model.predictions.get(("annotator",))
        if annotator is None or effect is None:
            return [(0.0, False, False)] * len(self.systems)
        generous = np.zeros(levels_of(annotator))
        generous[annotator] = effect
        work = np.zeros((len(self.systems), len(generous)))
        np.add.at(work, (self.design.system, annotator), 1.0)
        ends = int(generous.argmin()), int(generous.argmax())
        shares = (work.max(1) / self.n).tolist()
        return [(share, b == ends[0], b == ends[1]) for share, b in zip(shares, work.argmax(1), strict=True)]

    def systems_seen(self) -> Floats:
        """How many systems those who judged a system saw, on average over its judgments."""
        annotator = self.design.annotator
        if annotator is None:
            return np.full(len(self.systems), float(len(self.systems)))
        seen = np.zeros((levels_of(annotator), len(self.systems)), dtype=bool)
        seen[annotator, self.design.system] = True
        return self.model.over_rows(seen.sum(1)[annotator].astype(np.float64))

    def counted_rows(self, sheet: Sheet) -> Codes:
        """How many scores of each system a sheet has."""
        count = np.bincount(sheet.system[sheet.rated], minlength=len(sheet.systems))
        of_name = dict(zip(sheet.systems, count, strict=True))
        return np.array([of_name.get(name, 0) for name in self.systems])


def _centred(values: Floats) -> Floats:
    """Distances from the average system."""
    return np.asarray(values - np.nanmean(values))


def _explain_scores(scores: _Scores) -> Explained:
    ranks = {way: _ranks(values) for way, values in scores.means.items()}
    ranks["official"] = scores.rank_by_official_lines()
    words = _ScoreReasons(scores, ranks)
    ways = {way: words_ for way, words_ in WAYS.items() if way in ranks}
    systems = []
    for i in np.lexsort((np.array(scores.systems), -scores.means["model"])):
        own = {way: ranks[way][i] for way in ways}
        moves = []
        for first, second in _MOVES:
            before, after = own.get(first), own.get(second)
            if before is not None and after is not None and before != after:
                moves.append(Move(first, second, before, after, words.reasons(int(i), first, second)))
        means = {way: float(values[i]) for way, values in scores.means.items()}
        parts = {part: float(scores.parts[part][i]) for part in PARTS}
        human = bool(scores.estimator.human[i])
        systems.append(ExplainedSystem(scores.systems[i], human, own, means, parts, tuple(moves)))
    return Explained(tuple(systems), ways, ("raw", "model"))


class _ScoreReasons:
    """The reasons for a move of a system; `gains` are what the system wins by a step, compared with the average."""

    def __init__(self, scores: _Scores, ranks: Mapping[str, Sequence[int | None]]) -> None:
        self.scores, self.ranks = scores, ranks
        self.parts = {part: _centred(values) for part, values in scores.parts.items()}
        self.shares = scores.busiest_people()
        self.own_means = _centred(scores.model.over_rows(own_means(scores.estimator.judgments)[scores.design.row]))
        # What z-scores take off beyond strictness.
        self.distortion = self.own_means - self.parts["strictness"]
        self.seen = scores.systems_seen()
        self.low = low_shares(scores.design)

    def reasons(self, i: int, first: str, second: str) -> tuple[str, ...]:
        """Why the rank of a system by one way differs from that by another."""
        before, after = self.ranks[first][i] or 0, self.ranks[second][i] or 0
        if second == "official":
            return (words.say_official_lines(before - after),)
        gains = self._gains(i, first, second)
        own = self._own_change(i, first, second)
        in_points = "raw" if "raw" in (first, second) else "model"
        gap = _gap(i, self.ranks[first], self.ranks[second], self.scores.means[in_points])
        # The typical score is explained by shares, which no gap in points measures.
        gap = 0.0 if second == "typical" else gap
        return _reasons(gains, up=after < before, gap=gap) or (words.say_others_moved(own),)

    def _own_change(self, i: int, first: str, second: str) -> float | None:
        """How a system's distance from the average changed, where both are in points."""
        if "z" in (first, second) or second == "typical":
            return None
        means = self.scores.means
        return float(_centred(means[second])[i] - _centred(means[first])[i])

    def _gains(self, i: int, first: str, second: str) -> list[tuple[float, str]]:
        if first == "everyone":
            return self._by_filter(i)
        if (first, second) == ("raw", "z"):
            return [(-self.own_means[i], words.say_own_means(-self.own_means[i]))]
        if (first, second) == ("z", "model"):
            undone = self.distortion[i]
            why = words.say_z_distortion(-undone, self.seen[i], len(self.seen))
            return [(undone, why), *self._by_parts(i, without="strictness")]
        if second == "typical":
            of_all = float((self.low * self.scores.n).sum() / self.scores.n.sum())
            return [(self.low[i] - of_all, words.say_disasters(float(self.low[i]), of_all))]
        return self._by_parts(i)

    def _by_parts(self, i: int, without: str = "") -> list[tuple[float, str]]:
        gains = []
        for part, values in self.parts.items():
            held = float(values[i])
            if part in (without, "set_aside"):
                continue
            if part == "strictness":
                share, strictest, kindest = self.shares[i]
                why = words.say_strictness(held, share, extreme=strictest if held < 0 else kindest)
            else:
                why = words.say_what_judged(part, held)
            gains.append((-held, why))
        used, rows = self.scores.n[i], self.scores.counted_rows(self.scores.sheet)[i]
        if rows > used:
            held = float(self.parts["set_aside"][i])
            gains.append((-held, words.say_set_aside(int(rows - used), int(rows), held)))
        return gains

    def _by_filter(self, i: int) -> list[tuple[float, str]]:
        scores = self.scores
        if scores.all_sheet is None:
            return []
        rows, used = scores.counted_rows(scores.all_sheet)[i], scores.counted_rows(scores.sheet)[i]
        held = float(_centred(scores.means["everyone"])[i] - _centred(scores.means["raw"])[i])
        return [(-held, words.say_set_aside(int(rows - used), int(rows), held))] if rows > used else []


def _explain_relative(judgments: Judgments) -> Explained:
    estimator = RelativeEstimator(comparisons(judgments), judgments)
    tally, strength = estimator.tally, estimator.estimate.effects
    means = {"wins-or-ties": wins_or_ties(tally), "expected-wins": expected_wins(tally), "bradley-terry": strength}
    ranks = {way: _ranks(values) for way, values in means.items()}
    met = tally.met
    number_met = np.maximum(met.sum(1), 1)
    ties = tally.ties.sum(1) / number_met
    of_all = float(tally.ties.sum() / max(met.sum(), 1))
    others = len(strength) - 1
    # An even spread meets every other system equally often.
    opponents = met @ strength / number_met - (strength.sum() - strength) / others
    busy = _busy_annotators(estimator)
    systems = []
    for i in np.lexsort((np.array(estimator.systems), -strength)):
        own = {way: ranks[way][i] for way in means}
        by_ties = (of_all - ties[i], words.say_ties(float(ties[i]), of_all))
        # A log-odds of 1 is worth about a quarter of the wins between equal systems.
        by_opponents = (float(opponents[i]) / 4, words.say_opponents(float(opponents[i])))
        gains = {"expected-wins": [by_ties, by_opponents], "bradley-terry": [by_opponents, *busy[i]]}
        moves = []
        for first, second in _RELATIVE_MOVES:
            before, after = own[first], own[second]
            if before is not None and after is not None and before != after:
                gap = _gap(i, ranks[first], ranks[second], means["expected-wins"])
                why = _reasons(gains[second], up=after < before, gap=gap) or (words.say_others_moved(None),)
                moves.append(Move(first, second, before, after, why))
        numbers = {way: float(values[i]) for way, values in means.items()}
        systems.append(ExplainedSystem(estimator.systems[i], bool(estimator.human[i]), own, numbers, {}, tuple(moves)))
    return Explained(tuple(systems), {way: way for way in means}, ("wins-or-ties", "bradley-terry"))


def _busy_annotators(estimator: RelativeEstimator) -> list[list[tuple[float, str]]]:
    """For each system what one busy annotator did to it, if there is one: gain of the model, and the words."""
    compared = estimator.compared
    people = count_people(compared, person_of(compared), group_of(compared))
    won = people.wins.sum(2) + people.ties.sum(2) / 2
    met = people.wins.sum(2) + people.wins.sum(1) + people.ties.sum(2)
    found: list[list[tuple[float, str]]] = []
    for i in range(len(compared.systems)):
        one, total = int(met[:, i].argmax()), float(met[:, i].sum())
        share = float(met[one, i]) / total if total else 0.0
        if not BUSY < share < 1:
            found.append([])
            continue
        by_one, by_others = won[one, i] / met[one, i], (won[:, i].sum() - won[one, i]) / (total - met[one, i])
        found.append([(float(by_others - by_one) * share, words.say_busy_annotator(share, by_one, by_others))])
    return found
