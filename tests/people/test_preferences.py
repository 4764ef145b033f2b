"""Agreement on preferences: the fast sums against a slow, obvious count of every pair of annotations."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import adjudge
from adjudge.people.agreement import agree
from adjudge.people.coefficients import above_chance, alpha, group_annotations, pair_annotators, pair_repeats
from adjudge.table.comparisons import comparisons
from adjudge.table.errors import DataError, UsageError
from adjudge.table.judgments import Judgments
from tests.conftest import examples
from tests.helpers.check_make import Block, random_rankings, rankings

Annotation = tuple[str, int]
Ranks = dict[str, int | None]


def every_annotation(judgments: Judgments, *, reference: bool) -> dict[tuple[str, str, str], list[Annotation]]:
    """By item (segment and two systems): annotators and their answers (1 better, 0 tie, -1 worse)."""
    by_item: dict[tuple[str, str, str], list[Annotation]] = defaultdict(list)
    for (_, who, segment), block in judgments.table.group_by("screen", "annotator", "segment"):
        rows = block.drop_nulls("rank").sort("system").select("system", "rank").rows()
        for (first, rank), (second, other) in combinations(rows, 2):
            if reference or "ref" not in (first, second):
                by_item[(str(segment), first, second)].append((str(who), int(np.sign(other - rank))))
    return by_item


def slow_pairs(items: dict[tuple[str, str, str], list[Annotation]], kind: str) -> list[tuple[Annotation, Annotation]]:
    every = [pair for item in items.values() for pair in combinations(item, 2)]
    return [(a, b) for a, b in every if (a[0] == b[0]) == (kind == "intra")]


def slow_kappa(pairs: list[tuple[Annotation, Annotation]], ties: dict[str, float], kind: str) -> float:
    """Pooled over pairs of people; who has which share of ties is taken from what they share with the other."""
    groups: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    for a, b in pairs:
        (who, answer), (other, answered) = sorted((a, b))
        groups[(who, other)].append((answer, answered))
    observed = expected = 0.0
    for (who, _), both in groups.items():
        observed += sum(a == b for a, b in both)
        if kind == "intra":
            first = second = ties[who]
        else:
            first = sum(a == 0 for a, _ in both) / len(both)
            second = sum(b == 0 for _, b in both) / len(both)
        expected += len(both) * (first * second + (1 - first) * (1 - second) / 2)
    total = max(len(pairs), 1)
    return above_chance(observed / total, expected / total) if pairs else math.nan


@pytest.mark.slow
@settings(max_examples=examples(40))
@given(st.integers(0, 10_000), st.sampled_from(["inter", "intra"]), st.booleans())
def test_sums_agree_with_counting_every_pair(seed: int, kind: str, reference: bool) -> None:
    judgments = random_rankings(seed)
    result = agree(judgments, resamples=0)
    agreement = getattr(result, kind)["all" if reference else "without_reference"]
    items = every_annotation(judgments, reference=reference)
    pairs = slow_pairs(items, kind)
    annotations_made = [annotation for item in items.values() for annotation in item]
    tie = sum(what == 0 for _, what in annotations_made) / len(annotations_made)
    share = sum(a[1] == b[1] for a, b in pairs) / len(pairs)
    assert agreement.pairs == len(pairs)
    assert agreement.observed == pytest.approx(share)
    assert agreement.s == pytest.approx((share - 1 / 3) / (2 / 3))
    assert agreement.s_corrected == pytest.approx(above_chance(share, 1 / 9 + 2 * (1 / 3) ** 2))
    assert agreement.expected["pi"] == pytest.approx(tie**2 + (1 - tie) ** 2 / 2)
    assert agreement.pi == pytest.approx(above_chance(share, tie**2 + (1 - tie) ** 2 / 2))
    own = Counter(who for who, _ in annotations_made)
    ties = {who: sum(1 for name, what in annotations_made if name == who and what == 0) / own[who] for who in own}
    assert agreement.kappa == pytest.approx(slow_kappa(pairs, ties, kind), nan_ok=True)


@settings(max_examples=examples(20))
@given(st.integers(0, 10_000))
def test_alpha_and_fleiss_of_single_annotations_are_the_usual_ones(seed: int) -> None:
    """Where nobody repeats, the inter coefficients are those of the table entered in both directions."""
    rng = np.random.default_rng(seed)
    blocks: list[Block] = [
        (f"a{who}", str(segment), {"x": int(rng.integers(1, 4)), "y": int(rng.integers(1, 4)), "ref": 1})
        for segment in range(6)
        for who in rng.choice(5, size=3, replace=False)
    ]
    result = agree(rankings(blocks), resamples=0)
    items = every_annotation(rankings(blocks), reference=True)
    units, values = [], []
    for number, item in enumerate(items.values()):
        for _, what in item:
            units += [2 * number, 2 * number + 1]
            values += [what, -what]
    assert result.inter["all"].alpha == pytest.approx(alpha(units, values, level="nominal"))
    from statsmodels.stats.inter_rater import fleiss_kappa

    table = [
        [[what for _, what in item].count(sign * c) for c in (-1, 0, 1)] for item in items.values() for sign in (1, -1)
    ]
    assert result.inter["all"].fleiss == pytest.approx(fleiss_kappa(np.array(table)))


def test_two_annotators_have_cohens_kappa() -> None:
    """With two people, kappa is Cohen's of the preferences entered in both directions (statsmodels 0.15)."""
    from statsmodels.stats.inter_rater import cohens_kappa

    rng = np.random.default_rng(3)
    blocks: list[Block] = [
        (who, str(segment), {"x": int(rng.integers(1, 4)), "y": int(rng.integers(1, 4))})
        for segment in range(40)
        for who in ("ann", "bob")
    ]
    table = np.zeros((3, 3))
    for item in every_annotation(rankings(blocks), reference=True).values():
        (_, a), (_, b) = sorted(item)
        table[a + 1, b + 1] += 1
        table[1 - a, 1 - b] += 1
    agreement = agree(rankings(blocks), resamples=0).inter["all"]
    assert agreement.kappa == pytest.approx(cohens_kappa(table, return_results=False))


def test_resampled_agreement_agrees_with_counting() -> None:
    """With annotators drawn several times: every pair counted, but those of copies of one annotator."""
    judgments = random_rankings(8)
    compared = comparisons(judgments)
    grouped = group_annotations(compared, np.ones(len(compared), dtype=bool))
    times = dict(zip(grouped.annotators, (2, 0, 3, 1), strict=True))
    weights = np.array([[times[who] for who in grouped.annotators]], dtype=float)
    items = every_annotation(judgments, reference=True)
    for kind, pairs in (("inter", pair_annotators(grouped)), ("intra", pair_repeats(grouped))):
        counted = [
            (times[a[0]] * (times[b[0]] if kind == "inter" else 1), a[1] == b[1]) for a, b in slow_pairs(items, kind)
        ]
        assert pairs.summed(pairs.pairs, weights) == [sum(weight for weight, _ in counted)]
        assert pairs.summed(pairs.agreeing, weights) == [sum(weight for weight, same in counted if same)]


def test_names_of_systems_do_not_matter() -> None:
    judgments = random_rankings(11)
    new_names = {"ref": "zz", "s0": "m", "s1": "aa", "s2": "b"}
    renamed = Judgments(judgments.table.with_columns(pl.col("system").replace(new_names)))
    before, after = agree(judgments), agree(renamed)
    for part in ("all", "without_reference"):
        for name in ("pairs", "observed", "pi", "kappa", "fleiss", "alpha"):
            assert getattr(after.inter[part], name) == pytest.approx(getattr(before.inter[part], name))
            assert getattr(after.intra[part], name) == pytest.approx(getattr(before.intra[part], name))


def test_perfect_agreement_is_one() -> None:
    same: Ranks = {"x": 1, "y": 2, "z": 2}
    result = agree(rankings([(who, segment, same) for who in "abc" for segment in "12"]))
    coefficients = result.inter["all"]
    assert (
        coefficients.observed,
        coefficients.s,
        coefficients.s_corrected,
        coefficients.pi,
        coefficients.kappa,
        coefficients.fleiss,
        coefficients.alpha,
    ) == (1,) * 7
    assert coefficients.interval["pi"] == (1, 1)


def test_one_annotator_has_no_inter_agreement() -> None:
    result = agree(rankings([("a", "1", {"x": 1, "y": 2}), ("a", "1", {"x": 2, "y": 1})]))
    assert result.inter["all"].pairs == 0
    assert math.isnan(result.inter["all"].observed)
    assert result.intra["all"].pairs == 1
    assert result.intra["all"].observed == 0
    assert "no two people" in result.notes[0]
    assert result.to_dict()["inter"]["all"]["kappa"] is None


def test_every_annotator_is_listed() -> None:
    blocks: list[Block] = [
        ("a", "1", {"x": 1, "y": 2}),
        ("a", "1", {"x": 1, "y": 1}),
        ("b", "1", {"x": 1, "y": 2}),
        ("c", "2", {"x": 1, "y": None}),
    ]
    a, b, c = agree(rankings(blocks), resamples=0).annotators
    assert (a.annotator, a.judgments, a.ties, a.intra["pairs"], a.inter["pairs"]) == ("a", 4, 0.5, 1, 2)
    assert (b.annotator, b.judgments, b.ties, b.inter["observed"]) == ("b", 2, 0.0, 0.5)
    assert (c.annotator, c.judgments, c.inter["pairs"]) == ("c", 1, 0)
    # b never ties and a ties half of what they share: P(E) = .5 * 0 + .5 * 1 / 2.
    assert b.inter["kappa"] == pytest.approx((0.5 - 0.25) / 0.75)


def test_lengths_are_pooled_in_twos() -> None:
    same: Ranks = {"x": 1, "y": 2}
    other: Ranks = {"x": 2, "y": 1}
    blocks: list[Block] = [
        ("a", "1", same),
        ("b", "1", same),
        ("a", "2", same),
        ("b", "2", other),
        ("a", "3", same),
        ("b", "3", same),
    ]
    result = agree(rankings(blocks), texts=["one two", "one two three", "one two three four five"], resamples=0)
    assert result.by_length is not None
    rows = [
        (length_row.length, length_row.segments, length_row.inter["all"]["pairs"], length_row.inter["all"]["observed"])
        for length_row in result.by_length
    ]
    assert rows == [(2, 2, 2, 0.5), (3, 1, 1, 0.0), (5, 1, 1, 1.0)]
    by_characters = agree(
        rankings(blocks), texts={"en": ["你好", "你好吗", "好"]}, length_unit="characters", resamples=0
    )
    assert by_characters.by_length is not None
    assert [length_row.length for length_row in by_characters.by_length] == [1, 2, 3]


def test_texts_that_do_not_fit_are_explained() -> None:
    blocks: list[Block] = [("a", "77", {"x": 1, "y": 2}), ("b", "77", {"x": 1, "y": 2})]
    with pytest.raises(DataError, match="such as '77'"):
        agree(rankings(blocks), texts=["one line"])


def test_the_same_seed_gives_the_same_intervals() -> None:
    judgments = random_rankings(2, blocks=80, people=9)
    assert agree(judgments, seed=5).to_dict() == agree(judgments, seed=5).to_dict()
    assert agree(judgments, seed=5).inter["all"].interval != agree(judgments, seed=6).inter["all"].interval


def test_judgments_without_annotator_are_set_aside() -> None:
    judgments = rankings([(who, "1", {"x": 1, "y": 2}) for who in ("a", "b", "c", "c")])
    unknown = Judgments(judgments.table.with_columns(pl.col("annotator").replace("c", None)))
    result = agree(unknown, resamples=0)
    assert (result.inter["all"].pairs, result.intra["all"].pairs) == (1, 0)
    assert [(aside.reason, aside.rows) for aside in result.set_aside] == [
        ("comparison without annotator or segment", 2)
    ]
    assert [annotator.annotator for annotator in result.annotators] == ["a", "b"]


def test_segments_of_different_pairs_and_campaigns_are_different_items() -> None:
    judgments = rankings([("a", "1", {"x": 1, "y": 2}), ("b", "1", {"x": 1, "y": 2}), ("b", "1", {"x": 1, "y": 2})])
    for column in ("campaign", "source_lang", "target_lang", "document"):
        changed = pl.when(pl.col("annotator") == "b").then(pl.lit("other")).otherwise(pl.col(column)).alias(column)
        result = agree(Judgments(judgments.table.with_columns(changed)), resamples=0)
        assert (result.inter["all"].pairs, result.intra["all"].pairs) == (0, 1)


def test_nothing_judged_twice_is_explained() -> None:
    with pytest.raises(DataError, match="nothing was judged twice"):
        agree(rankings([("a", "1", {"x": 1, "y": 2}), ("b", "2", {"x": 1, "y": 2})]))


def test_judgments_of_nobody_are_explained() -> None:
    judgments = rankings([("a", "1", {"x": 1, "y": 2})] * 3)
    for column in ("annotator", "segment"):
        with pytest.raises(DataError, match="who judged which segment"):
            agree(Judgments(judgments.table.with_columns(pl.lit(None, dtype=pl.String).alias(column))))


def test_ties_everywhere_leave_chance_corrected_figures_undefined() -> None:
    agreement = agree(rankings([(who, "1", {"x": 1, "y": 1}) for who in "abcde"])).inter["all"]
    assert (agreement.observed, agreement.s) == (1, 1)
    assert all(math.isnan(value) for value in (agreement.pi, agreement.kappa, agreement.fleiss, agreement.alpha))


def test_one_system_is_explained() -> None:
    with pytest.raises(DataError, match="nothing was judged twice"):
        agree(rankings([("a", "1", {"x": 1}), ("b", "1", {"x": 1})]))


def test_few_annotators_are_noted() -> None:
    same: Ranks = {"x": 1, "y": 2}
    two, four, five = (agree(rankings([(f"a{i}", "1", same) for i in range(n)] * 2)) for n in (2, 4, 5))
    assert two.inter["all"].interval == {}
    assert two.notes == ("2 annotators are too few to draw from, so there are no intervals",)
    assert "only 4 annotators" in four.notes[0]
    assert five.notes == ()


def test_a_scale_smaller_than_the_labels_is_refused() -> None:
    judgments = rankings([(who, "1", {"x": 1, "y": 5}) for who in "ab"])
    assert agree(judgments).settings["labels"] == 5
    assert agree(judgments, labels=7).settings["labels"] == 7
    with pytest.raises(UsageError, match="the data use label 5"):
        agree(judgments, labels=4)


def test_both_good_and_both_bad_are_kept_apart() -> None:
    """Table 7 of Bojar et al. (2011): kappa .387 with four classes; .424 if both kinds of ties are one class."""
    answers = {"B": "left", "T": "right", "fine": "both good", "wrong": "both bad"}
    table = {
        ("B", "B"): 9, ("fine", "B"): 1, ("wrong", "B"): 1, ("B", "T"): 2, ("T", "T"): 13, ("wrong", "T"): 3,
        ("B", "fine"): 2, ("fine", "fine"): 2, ("wrong", "fine"): 3, ("B", "wrong"): 10, ("T", "wrong"): 5,
        ("fine", "wrong"): 1, ("wrong", "wrong"): 11,
    }  # fmt: skip
    pairs = [pair for pair, times in table.items() for _ in range(times)]
    rows = [
        {"annotator": who, "segment": str(i), "left": "B", "right": "T", "winner": answers[answer]}
        for i, pair in enumerate(pairs)
        for who, answer in zip(("author of B", "author of T"), pair, strict=True)
    ]
    merged, apart = adjudge.agree(pl.DataFrame(rows), resamples=0).pairs_of_people
    assert round(merged.mean, 3) == 0.424
    assert round(apart.mean, 3) == 0.387
    assert apart.same == pytest.approx(35 / 63)


def test_the_share_of_items_on_which_all_agree_is_counted() -> None:
    judgments = random_rankings(4, blocks=200)
    slow = [
        {answer for _, answer in given}
        for given in every_annotation(judgments, reference=True).values()
        if len({who for who, _ in given}) > 1
    ]
    told = next(one for one in agree(judgments).pairs_of_people if one.reading == "better, tie, worse")
    assert told.same == pytest.approx(sum(len(answers) == 1 for answers in slow) / len(slow))
