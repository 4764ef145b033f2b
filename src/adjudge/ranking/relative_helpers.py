"""Metrics that help rankings and pairs, and segments of them that were chosen with unequal probabilities.

Helpers. As for scores (`mixed.helpers`), x is a helper's score of an output less the mean of its scores of that system
over the whole test set, and 0 on average for every system where segments are a random draw. In the working rows of a
screen with the score s and the information H (`working_rows`), what the helper tells of the luck of its outputs is
slope * H x. So

    corrected score of a screen = s - slope * H x

leaves the strengths where they are on average, whatever the slope, and varies less if the helper sees why some outputs
are better than others of the same system. Slopes come from other texts and are shrunken; they are fitted to rows
weighed by the luck of texts, with tastes left in the errors, which costs a little precision and no validity. Errors are
those of the model of the corrected rows, and the variance of the helper's means over the test set.

Chosen segments. Each screen counts w = 1 / probability: strengths solve sum w s = 0, which estimates those on all
segments. With M = sum w H, their covariance is inv(M) (B + T) inv(M). B is from the scores, text by text, since chosen
texts vary more than others: the sum of u u' over documents (or segments), u = sum of w s. T is what tastes add beyond a
text: tau^2 (sum over annotators of A A' - sum over annotators and texts of A A'), A = sum of w H, from the model's tau.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from adjudge.mixed.helpers import (
    FEWEST_PARTS,
    MOST_PARTS,
    RANDOM_DRAW,
    Gain,
    Products,
    covariance_of_means,
    deal,
    gain_of,
    gains_from,
    helpers_of,
    judged_outputs,
    match_outputs,
    means_of_parts,
    notes_on_gain,
    notes_on_matching,
)
from adjudge.ranking.bradley_terry import fit
from adjudge.ranking.counts import count_people, person_of
from adjudge.ranking.tastes import TasteFit, contrasts_of_systems, fit_tastes, over_pairs, plain_rows, taste_fit
from adjudge.ranking.working_rows import ANNOTATOR, SEGMENT, Rows, Solution, fit_rows, rows_of
from adjudge.table.comparisons import block_rows
from adjudge.table.errors import DataError, param
from adjudge.table.judgments import renumber
from adjudge.table.maths import over_contrasts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.mixed.effects import Helper
    from adjudge.mixed.helpers import Matched
    from adjudge.ranking.counts import PeopleCounts
    from adjudge.readers.metric_scores import MetricScore
    from adjudge.table.comparisons import Comparisons
    from adjudge.table.judgments import Judgments
    from adjudge.table.maths import Bools, Codes, Floats


@dataclass(frozen=True, eq=False)
class HelpedStrengths:
    """Strengths with helpers, and what these gain."""

    fit: TasteFit
    helpers: tuple[Helper, ...]
    gain: Gain
    matched: Matched
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums over screens of what slopes and strengths are solved from; columns are helpers."""

    information: Floats
    """(n, n): H."""
    score: Floats
    """(n,): s."""
    columns: Floats
    """(n, columns): H x."""
    inside: Floats
    """(columns, columns): x'Hx."""
    crossed: Floats
    """(columns,): x's."""
    square: float
    rows: int

    def less(self, other: Sums) -> Sums:
        """The sums over the other screens."""
        return Sums(*(getattr(self, name) - getattr(other, name) for name in vars(self)))

    @property
    def inverse(self) -> Floats:
        """Of the information; 0 along the mean of all strengths."""
        return np.asarray(np.linalg.pinv(self.information, hermitian=True))

    @property
    def products(self) -> Products:
        """What slopes are computed from: the systems taken away."""
        onto = self.inverse @ np.column_stack([self.score, self.columns])
        return Products(
            self.square - float(self.score @ onto[:, 0]),
            self.crossed - self.columns.T @ onto[:, 0],
            self.inside - self.columns.T @ onto[:, 1:],
            max(self.rows - len(self.score) + 1, 1),
        )

    def strengths(self) -> Floats:
        """Without the columns, and with each taken off: (1 + columns, n)."""
        taken_off = self.score[:, None] - np.column_stack([np.zeros_like(self.score), self.columns])
        return np.asarray((self.inverse @ taken_off).T)


def sums_of(rows: Rows, columns: Floats, luck: float, part: Codes) -> list[Sums]:
    """The sums over the screens of each part; `columns` are of labels (labels, columns), `part` of screens."""
    return [_sums(rows, columns, luck, part == number) for number in range(int(part.max()) + 1)]


def _sums(rows: Rows, columns: Floats, luck: float, chosen_screens: Bools) -> Sums:
    n, number = rows.systems, columns.shape[1]
    found = Sums(
        np.zeros((n, n)), np.zeros(n), np.zeros((n, number)), np.zeros((number, number)), np.zeros(number), 0, 0
    )
    for whole in rows.groups:
        chosen = chosen_screens[rows.screen[whole.label[:, 0]]]
        if not chosen.any():
            continue
        group = whole.of(chosen)
        score, information, square = group.weighed(np.full(len(group.label), luck))
        system, x = rows.system[group.label], columns[group.label]
        moved = information @ x
        np.add.at(found.information, (system[:, :, None], system[:, None, :]), information)
        np.add.at(found.score, system, score)
        np.add.at(found.columns, system, moved)
        found = replace(
            found,
            inside=found.inside + np.einsum("bmh,bmk->hk", x, moved),
            crossed=found.crossed + np.einsum("bmh,bm->h", x, score),
            square=found.square + square,
            rows=found.rows + group.rows,
        )
    return found


def total(parts: Sequence[Sums]) -> Sums:
    """The sums over all parts."""
    return Sums(*(sum(getattr(part, name) for part in parts) for name in vars(parts[0])))


def match_labels(judgments: Judgments, compared: Comparisons, scores: Sequence[MetricScore]) -> Matched:
    """The helpers' scores for every ranked output."""
    blocks = block_rows(judgments).select("segment", "document").rows()
    names = [compared.systems[system] for system in compared.label_system]
    judged = judged_outputs(
        (name, *blocks[block]) for name, block in zip(names, compared.label_block.tolist(), strict=True)
    )
    return match_outputs(judged, compared.systems, compared.human, compared.label_system.astype(np.int64), scores)


class _Helping:
    """Corrections of the rows of comparisons."""

    def __init__(self, compared: Comparisons, people: PeopleCounts, matched: Matched, seed: int) -> None:
        self.matched, self.seed = matched, seed
        self.strength, self.rows = plain_rows(people, compared)
        self.without: Solution = fit_rows(self.rows, self.strength)
        blocks = np.unique(compared.block).astype(np.int64)
        text = compared.segment if compared.document is None else compared.document
        texts = renumber(text[np.unique(compared.block, return_index=True)[1]].astype(np.int64))
        if int(texts.max()) == 0:
            what = "all comparisons are of one text, so what metrics explain cannot be learned elsewhere"
            raise DataError(f"{what}; judge more segments, or leave out {param('with_scores')}")
        self.fold, self.part = deal(texts, seed), deal(texts, seed, MOST_PARTS)
        self.of_labels = self._parts_of_labels(compared, blocks)
        segment = np.full(int(compared.label_block.max()) + 1, -1)
        segment[compared.label_block] = matched.segment
        self.numbers = matched.numbers(normal=True)
        place = segment[blocks][self.rows.screen]
        known = self.numbers[:, self.rows.system, place].T
        self.columns = np.where(place[:, None] >= 0, known, 0.0)
        self.luck = self.without.variances.ratios.get(SEGMENT, 0.0)
        folds = sums_of(self.rows, self.columns, self.luck, self.fold)
        self.elsewhere = [total(folds).less(fold).products for fold in folds]

    def _parts_of_labels(self, compared: Comparisons, blocks: Codes) -> Codes:
        """The part of each ranked output; that of a block without a comparison is the first."""
        part = np.zeros(int(compared.label_block.max()) + 1, dtype=np.int64)
        part[blocks] = self.part
        return part[compared.label_block]

    def slopes(self, chosen: Sequence[int]) -> Floats:
        """(folds, helpers), from the other folds."""
        return np.array([products.of(chosen).slopes for products in self.elsewhere])

    def predicted(self, chosen: Sequence[int]) -> Floats:
        """What is taken off each label."""
        slopes = self.slopes(chosen)[self.fold][self.rows.screen]
        return np.asarray(np.einsum("lh,lh->l", self.columns[:, chosen], slopes))

    def everywhere(self, chosen: Sequence[int]) -> Floats:
        """What would be taken off every output of the test set: (systems, segments)."""
        return np.asarray(np.tensordot(self.slopes(chosen).mean(axis=0), self.numbers[list(chosen)], axes=1))

    def corrected(self, chosen: Sequence[int]) -> Solution:
        """The strengths of the corrected rows, with the variance of the helpers' means."""
        off = self.predicted(chosen)
        groups = tuple(
            replace(group, score=group.score - (group.information @ off[group.label][:, :, None])[:, :, 0])
            for group in self.rows.groups
        )
        found = fit_rows(replace(self.rows, groups=groups), self.strength)
        alone = total(sums_of(self.rows, off[:, None], self.luck, np.zeros_like(self.fold))).products
        varied = float(alone.helpers[0, 0])
        slope = float(alone.cross[0]) / varied if varied > 0 else 1.0
        of_means = covariance_of_means(self.everywhere(chosen), self.matched.document)
        centre = np.eye(self.rows.systems) - 1 / self.rows.systems
        return replace(found, covariance=found.covariance + max(2 * slope - 1, 1.0) * centre @ of_means @ centre)

    def gains(self, several: Sequence[Sequence[int]]) -> list[Gain]:
        """Of each choice of helpers, by leaving out texts part by part (`mixed.helpers.estimate_gains`)."""
        columns = np.column_stack([self.predicted(chosen) for chosen in several])
        parts = sums_of(self.rows, columns, self.luck, self.part)
        if len(parts) < FEWEST_PARTS:
            return [Gain(1.0) for _ in several]
        whole, numbers = total(parts), list(range(len(parts)))
        effects = np.array([whole.less(part).strengths() for part in parts])
        shifts = [means_of_parts(self.matched, self.everywhere(chosen), self.of_labels, numbers) for chosen in several]
        people = len(np.unique(self.rows.level[ANNOTATOR]))
        return gains_from(effects, shifts, self._variance_of_people(), (people - 1) * (self.rows.systems - 1))

    def _variance_of_people(self) -> float:
        """What tastes add to the variance of a difference, mean over pairs."""
        variance, n = self.without.variances.of(ANNOTATOR), self.rows.systems
        if variance == 0:
            return 0.0
        # Tastes are the first effect, and phi comes before the effects.
        slope = variance * self.without.slopes[1]
        first, second = np.triu_indices(n, 1)
        return float((slope[first, first] + slope[second, second] - 2 * slope[first, second]).mean())


def help_strengths(
    judgments: Judgments, compared: Comparisons, people: PeopleCounts, scores: Sequence[MetricScore], seed: int
) -> HelpedStrengths:
    """Fit strengths with tastes to comparisons that helpers have corrected.

    Args:
        judgments: what the comparisons were made from.
        compared: all comparisons.
        people: their counts, of at least two annotators.
        scores: of metrics, for all outputs, judged or not.
        seed: of the folds.
    """
    matched = match_labels(judgments, compared, scores)
    helping = _Helping(compared, people, matched, seed)
    every = list(range(len(matched.names)))
    slopes, found = helping.slopes(every), helping.corrected(every)
    gain, *gains = helping.gains([every, *([[one] for one in every] if len(every) > 1 else [])])
    gains = gains or [gain]
    larger = gain_of(helping.without.covariance, found.covariance) < 1 or (gain.high is not None and gain.high < 1)
    if larger or not slopes.any():
        found, gain, slopes = helping.without, Gain(1.0, 1.0, 1.0), np.zeros_like(slopes)
    helpers = helpers_of(matched, slopes.mean(axis=0), gains)
    useless = [name for name, numbers in zip(matched.names, helping.numbers, strict=True) if not numbers.any()]
    worth = notes_on_gain(matched, gain, used=bool(slopes.any()), larger=larger)
    notes = (*worth, RANDOM_DRAW, *notes_on_matching(matched, useless))
    return HelpedStrengths(taste_fit(helping.strength, found, helping.rows, compared), helpers, gain, matched, notes)


def weighted_strengths(compared: Comparisons, weight: Floats, people: PeopleCounts) -> TasteFit:
    """Strengths where screens count by weights (one for each comparison), with errors that know of the draw."""
    model = fit_tastes(people, compared)
    person = person_of(compared)
    counts = count_people(compared, person, people.group, weights=weight)
    plain = fit(counts.wins.sum(0), counts.ties.sum(0))
    rows = rows_of(compared, people.group[person], plain.strength, float(plain.log_tie))
    at = np.unique(compared.block, return_index=True)[1]
    text = (compared.segment if compared.document is None else compared.document)[at].astype(np.int64)
    annotator, of_screen = rows.level[ANNOTATOR], weight[at]
    n = rows.systems
    texts, both = renumber(text), renumber(annotator * (int(text.max()) + 1) + text)
    sums = np.zeros((int(texts.max()) + 1, n))
    by_person, by_both = (np.zeros((int(code.max()) + 1, n, n)) for code in (annotator, both))
    for group in rows.groups:
        screen, system = rows.screen[group.label[:, 0]], rows.system[group.label]
        w = of_screen[screen]
        np.add.at(sums, (texts[screen][:, None], system), w[:, None] * group.score)
        for matrix, code in ((by_person, annotator), (by_both, both)):
            place = (code[screen][:, None, None], system[:, :, None], system[:, None, :])
            np.add.at(matrix, place, w[:, None, None] * group.information)
    inverse = np.linalg.pinv(by_person.sum(0), hermitian=True)
    number = len(sums)
    of_texts = inverse @ (sums.T @ sums) @ inverse * number / max(number - 1, 1)
    tastes = sum((part @ part).sum(0) * sign for part, sign in ((by_person, 1), (by_both, -1)))
    of_people = model.taste**2 * inverse @ tastes @ inverse
    df = _degrees(of_texts, of_people, sums @ inverse, model)
    return replace(
        model, strength=plain.strength, covariance=of_texts + of_people, df=over_pairs(df, n), df_system=df[-n:],
        weights=None,
    )  # fmt: skip


def _degrees(of_texts: Floats, of_people: Floats, influence: Floats, model: TasteFit) -> Floats:
    """Satterthwaite's, from those of texts of equal weight and those of tastes, for all pairs and systems."""
    n = len(of_texts)
    directions = contrasts_of_systems(n)
    first, second = over_contrasts(of_texts), over_contrasts(of_people)
    squared = (influence @ directions.T) ** 2
    by_text = np.maximum(squared.sum(0) ** 2 / np.maximum((squared**2).sum(0), 1e-300) - 1, 1.0)
    by_taste = np.append(model.df[np.triu_indices(n, 1)], model.df_system)
    second = np.maximum(second, 0.0)
    spread = np.maximum(first**2 / by_text + second**2 / by_taste, 1e-300)
    return np.asarray(np.maximum((first + second) ** 2 / spread, 1.0))
