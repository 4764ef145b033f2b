"""What counts as a judgment, and who competes to be the best."""

from __future__ import annotations

import polars as pl

from adjudge.evidence.audit import audit
from adjudge.evidence.claims import Claims
from adjudge.ranking.methods import rank
from adjudge.table.judgments import Judgments
from adjudge.table.record import count_answers
from tests.evidence.test_claims import campaign
from tests.helpers.rank_make import random_blocks


def test_ranking_and_facts_count_the_same_judgments_without_repeats() -> None:
    judgments = campaign({"A": 6.0, "B": 0.0, "C": 0.0}, seed=3)
    again = judgments.table.filter(pl.col("document") == "d0").with_columns(
        kind=pl.lit("repeat").cast(judgments.table["kind"].dtype), score=pl.col("score") + 1, task=pl.lit("later")
    )
    both = Judgments(pl.concat([judgments.table, again]))
    ranking = rank(both)
    assert sum(system.n for system in ranking.systems) == count_answers(both.final().table).judgments == len(judgments)
    assert any(f"{len(again)} repeats are used" in note for note in ranking.notes)


def test_a_reference_that_is_ranked_counts_as_a_judgment() -> None:
    table = random_blocks(3, number=60).final().table
    first = pl.col("system") == table["system"][0]
    table = table.with_columns(kind=pl.when(first).then(pl.lit("reference")).otherwise("kind"))
    assert (table["kind"] == "reference").any()
    counts = count_answers(table)
    assert (counts.judgments, counts.controls) == (table["rank"].is_not_null().sum(), 0)


def test_a_human_translation_is_never_claimed_to_be_the_best_system() -> None:
    judgments = campaign({"HUMAN": 30.0, "A": 15.0, "B": 0.0, "C": 0.0}, seed=6)
    claims = audit(judgments, only=["claims"]).sections["claims"]
    assert isinstance(claims, Claims)
    assert [claim.claim for claim in claims.claims if claim.kind == "best"] == ["A is the best machine translation"]
