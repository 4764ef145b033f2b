"""Luck that judgments of one text share: in documents and on segments, with one annotator, and where none is named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from bench.bench_shared_documents import ROWS, Campaign
from scipy.stats import binom

from adjudge.mixed.design import design_from
from adjudge.mixed.fit import fit
from adjudge.ranking.counts import block_units, units_of
from adjudge.ranking.methods import RankSettings, rank, rank_large_file
from adjudge.ranking.relative import COUNTED_WITHOUT_TEXTS, TEXTS_NOT_NAMED
from adjudge.table.comparisons import comparisons
from adjudge.table.judgments import Judgments
from tests.helpers.rank_make import random_blocks


def drawn(seed: int = 3) -> Judgments:
    return Campaign(3, 5, 4, 3, 1.0).drawn(np.random.default_rng(seed))


def test_documents_of_one_segment_are_the_segments() -> None:
    judgments = drawn()
    named = Judgments(judgments.table.with_columns(document=pl.col("segment")))
    unnamed = Judgments(judgments.table.with_columns(document=pl.lit(None, dtype=pl.String)))
    first, second = (rank(each) for each in (named, unnamed))
    assert [component.effect for component in first.components] == ["annotator:system", "system:segment"]
    assert [pair.p for pair in first.comparisons] == [pair.p for pair in second.comparisons]


def test_parts_of_the_comparisons_keep_their_documents() -> None:
    compared = comparisons(drawn())
    assert compared.document is not None
    part = compared.of_annotators(np.array([1, 3]))
    assert part.document is not None
    assert part.document.tolist() == compared.document[np.isin(compared.annotator, [1, 3])].tolist()
    left = compared.without(np.array([True, False, False]))
    assert left.document is not None
    assert len(left.document) == len(left)


def test_a_segment_of_unknown_document_is_a_document_of_its_own() -> None:
    table = drawn().table
    partly = pl.when(pl.col("document") == "0").then(None).otherwise("document")
    compared = comparisons(Judgments(table.with_columns(document=partly)))
    assert compared.document is not None
    assert len(np.unique(compared.document)) == 3 + 3


@pytest.mark.slow
def test_equal_systems_differ_no_more_often_than_promised_where_documents_are_shared() -> None:
    """At most 5% of the campaigns; without the effect of documents it was half of them."""
    campaign, number = ROWS["20 people, 5 documents of 8 segments"], 50
    alarms = 0
    for seed in range(number):
        ranking = rank(campaign.drawn(np.random.default_rng(seed)))
        alarms += any(pair.p_holm is not None and pair.p_holm < 0.05 for pair in ranking.comparisons)
    assert alarms <= binom.ppf(0.999, number, 0.05)


@pytest.mark.parametrize(("column", "kind", "number"), [("document", "documents", 4), ("segment", "segments", 12)])
def test_one_person_is_resampled_by_texts_that_blocks_share(column: str, kind: str, number: int) -> None:
    unnamed = {"annotator": None} if column == "document" else {"annotator": None, "document": None}
    table = drawn().table.with_columns(pl.lit(value, dtype=pl.String).alias(name) for name, value in unnamed.items())
    compared = comparisons(Judgments(table))
    units = units_of(compared)
    assert (units.kind, units.number) == (kind, number)
    np.testing.assert_allclose(units.total().wins, block_units(compared).total().wins)
    ranking = rank(Judgments(table))
    assert any(f"so {kind} were resampled" in note for note in ranking.notes)
    assert len({system.cluster for system in ranking.systems}) == 1


def test_blocks_that_share_no_text_stay_the_units_of_one_person() -> None:
    table = random_blocks(1).table.with_columns(annotator=pl.lit("a0"))
    assert units_of(comparisons(Judgments(table))).kind == "blocks"


def test_comparisons_without_names_of_texts_are_said() -> None:
    table = drawn().table
    unnamed = table.with_columns(pl.lit(None, dtype=pl.String).alias(name) for name in ("document", "segment"))
    assert TEXTS_NOT_NAMED in rank(Judgments(unnamed)).notes
    assert TEXTS_NOT_NAMED not in rank(Judgments(table)).notes


def test_counted_comparisons_say_that_segments_are_not_in_the_errors(tmp_path: Path) -> None:
    rows = 60
    pairs = pl.DataFrame(
        {
            "left": ["a"] * rows,
            "right": ["b"] * rows,
            "winner": ["a", "b", "a"] * (rows // 3),
            "annotator": [f"p{row % 10}" for row in range(rows)],
            "segment": [f"s{row % 7}" for row in range(rows)],
        }
    )

    def notes(table: pl.DataFrame) -> tuple[str, ...]:
        table.write_parquet(tmp_path / "pairs.parquet")
        counted = rank_large_file(tmp_path / "pairs.parquet", None, RankSettings())
        assert counted is not None
        return counted.notes

    assert COUNTED_WITHOUT_TEXTS in notes(pairs)
    assert TEXTS_NOT_NAMED in notes(pairs.drop("segment"))
    each = notes(pairs.with_columns(segment=pl.int_range(pl.len()).cast(pl.String)))
    assert not {COUNTED_WITHOUT_TEXTS, TEXTS_NOT_NAMED} & set(each)


def scores_without_segments(each: int) -> Judgments:
    rng = np.random.default_rng(5)
    person, output, system = (codes.ravel() for codes in np.indices((6, each, 3)))
    score = 60 + 5 * rng.normal(size=(6, 1, 1)) + 10 * rng.normal(size=(6, each, 3))
    return Judgments.from_columns(
        {
            "protocol": ["da"] * len(person),
            "annotator": [f"a{code}" for code in person],
            "system": [f"m{code}" for code in system],
            "screen": [f"{code}" for code in output],
            "score": score.ravel(),
        }
    )


def test_unnamed_outputs_are_taken_to_be_the_same_for_all_annotators() -> None:
    """The residual variance of a system's mean is that of 8 outputs, not of 48: 1/8 - 1/48 is added."""
    judgments = scores_without_segments(8)
    unnamed = fit(design_from(judgments, model="mixed-points"))
    as_segments = Judgments(judgments.table.with_columns(segment=pl.int_range(pl.len()).cast(pl.String)))
    named = fit(design_from(as_segments, model="mixed-points"))
    residual = unnamed.components[-1].sd ** 2
    added = unnamed.covariance - named.covariance
    np.testing.assert_allclose(added, np.eye(3) * residual * (1 / 8 - 1 / 48), atol=1e-6 * residual)
    assert any("all annotators are assumed to have judged the same outputs" in note for note in unnamed.notes)
    assert not any("segments are not named" in note for note in named.notes)


def test_systems_that_everyone_scored_once_are_scored_as_a_whole() -> None:
    found = fit(design_from(scores_without_segments(1), model="mixed-points"))
    residual = found.components[-1].sd ** 2
    np.testing.assert_allclose(found.covariance[0, 0] - found.covariance[0, 1], residual / 6, rtol=1e-6)
    assert any("taken as a score of the whole system" in note for note in found.notes)
