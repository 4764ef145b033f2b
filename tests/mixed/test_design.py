"""What becomes of a judgment table in the mixed model: which rows take part, and which effects can be told apart."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from adjudge.evidence.trust import influence
from adjudge.mixed.design import MixedDesign, design_from, levels_of
from adjudge.mixed.effects import Cause, LeftOut, identify
from adjudge.mixed.fit import fit, refit
from adjudge.ranking.estimator import estimator_of
from adjudge.ranking.methods import rank
from adjudge.table.errors import DataError
from adjudge.table.judgments import Judgments
from adjudge.table.maths import Floats
from adjudge.table.results import to_plain
from tests.helpers.check_make import scores
from tests.helpers.mixed_make import campaign


def kept(design: MixedDesign) -> dict[str, int]:
    return {effect.name: effect.levels for effect in identify(design).kept}


def left_out(design: MixedDesign) -> dict[str, str]:
    return {effect.effect: effect.reason for effect in identify(design).left_out}


def test_controls_and_rows_without_a_score_are_set_aside() -> None:
    table = campaign("pages", 1).table
    n = table.height
    changed = table.with_columns(
        pl.when(pl.int_range(n) < 3).then(pl.lit("degraded")).otherwise("kind").alias("kind"),
        pl.when(pl.int_range(n) >= n - 2).then(None).otherwise("score").alias("score"),
    )
    design = design_from(Judgments(changed))
    assert len(design) == n - 5
    assert sum(aside.rows for aside in design.set_aside) == 5
    assert {aside.reason for aside in design.set_aside} == {
        "no score was given",
        "control or tutorial items, not outputs to rank",
    }


def test_annotators_who_did_not_pass_take_no_part() -> None:
    table = campaign("pages", 1).table.with_columns((pl.col("annotator") != "a1").alias("passed"))
    design = design_from(Judgments(table))
    assert design.annotator is not None
    assert levels_of(design.annotator) == 3


def test_an_annotator_who_never_moves_the_slider_is_set_aside() -> None:
    table = campaign("pages", 1).table
    still = pl.when(pl.col("annotator") == "a1").then(50.0).otherwise("score").alias("score")
    design = design_from(Judgments(table.with_columns(still)))
    rows = table.filter(pl.col("annotator") == "a1").height
    assert rows >= 20
    assert [(aside.reason, aside.rows) for aside in design.set_aside] == [
        ("the annotator gave one and the same score throughout", rows)
    ]
    few = table.filter((pl.col("annotator") != "a1") | (pl.int_range(pl.len()).over("annotator") < 10))
    assert not design_from(Judgments(few.with_columns(still))).set_aside


def test_repeated_pages_are_pages_of_their_own() -> None:
    judgments = campaign("pages", 2)
    design = design_from(judgments)
    assert design.page is not None
    assert levels_of(design.page) == judgments.table.select("annotator", "task", "screen").n_unique()


def test_screens_of_one_segment_leave_the_page_to_annotator_task_system_and_document() -> None:
    judgments = campaign("segments", 2)
    design = design_from(judgments)
    assert design.page is not None
    assert levels_of(design.page) == judgments.table.select("annotator", "task", "system", "document").n_unique()


def test_unknown_names_are_strangers_not_one_person() -> None:
    judgments = Judgments.from_columns(
        {
            "protocol": ["da"] * 6,
            "annotator": ["a", "a", None, None, None, None],
            "task": ["1", "2", "3", "4", "4", None],
            "document": ["d", "d", "d", None, None, None],
            "segment": ["1", "2", None, "1", "2", None],
            "system": ["x", "y", "x", "y", "x", "y"],
            "score": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        }
    )
    design = design_from(judgments)
    assert design.annotator is not None
    assert design.task is not None
    assert design.document is not None
    assert design.segment is not None
    assert design.annotator.tolist() == [0, 0, 1, 2, 2, 3]
    assert len(set(design.task.tolist())) == 5
    assert levels_of(design.document) == 4
    assert levels_of(design.segment) == 6


def test_nothing_but_systems_and_scores_is_a_model_without_random_effects() -> None:
    """Without effects the model is the analysis of variance: means, and the pooled variance over n."""
    score = [1.0, 2.0, 4.0, 3.0, 5.0, 9.0]
    judgments = Judgments.from_columns({"protocol": ["da"] * 6, "system": ["x"] * 3 + ["y"] * 3, "score": score})
    fitted = fit(design_from(judgments, model="mixed-points"))
    np.testing.assert_allclose(fitted.effects, [7 / 3, 17 / 3])
    pooled = (np.var(score[:3], ddof=1) + np.var(score[3:], ddof=1)) / 2
    np.testing.assert_allclose(fitted.covariance, np.diag([pooled / 3, pooled / 3]), atol=1e-12)
    assert fitted.df[0, 1] == pytest.approx(4)
    assert [effect.effect for effect in fitted.left_out] == [
        "annotator", "annotator:system", "task", "document", "segment", "system:document", "page",
    ]  # fmt: skip
    assert any("annotators are not named" in note for note in fitted.notes)


def crossed(*, document: str | None = None) -> Judgments:
    """Six people, eight segments and four systems, all with all; outputs have a quality of their own."""
    rng = np.random.default_rng(4)
    person, segment, system = (codes.ravel() for codes in np.indices((6, 8, 4)))
    score = 60 + 4 * rng.normal(size=6)[person] + 3 * rng.normal(size=(6, 4))[person, system]
    score += 8 * rng.normal(size=8)[segment] + 6 * rng.normal(size=(8, 4))[segment, system]
    score += 5 * rng.normal(size=len(person))
    columns = {
        "protocol": ["da"] * len(person),
        "annotator": [f"a{code}" for code in person],
        "document": [document] * len(person),
        "segment": [f"s{code}" for code in segment],
        "system": [f"m{code}" for code in system],
        "score": score,
    }
    return Judgments.from_columns(columns)


@pytest.mark.parametrize("document", [None, "the only one"])
def test_annotators_of_one_output_share_its_luck_where_there_are_no_documents(document: str | None) -> None:
    """The analysis of variance of a balanced table, which REML is where no variance is 0:

    var(difference) = 2 (MS(system:segment) + MS(annotator:system) - MS(residual)) / (people segments).

    What a person thinks of a segment (annotator:segment) is not in it, as it is the same for all systems.
    """
    judgments = crossed(document=document)
    fitted = fit(design_from(judgments, model="mixed-points"))
    score = judgments.table["score"].to_numpy().reshape(6, 8, 4)

    def effect(*axes: int) -> Floats:
        return np.broadcast_to(score.mean(axis=axes, keepdims=True), score.shape)

    people, segments, systems, whole = effect(1, 2), effect(0, 2), effect(0, 1), effect(0, 1, 2)
    item = effect(0) - segments - systems + whole
    taste = effect(1) - people - systems + whole
    view = effect(2) - people - segments + whole
    residual = score - whole - (people - whole) - (segments - whole) - (systems - whole) - item - taste - view
    squares = [float((part**2).sum()) for part in (item, taste, residual)]
    mean_squares = np.array(squares) / [7 * 3, 5 * 3, 5 * 7 * 3]
    variance = 2 * (mean_squares[0] + mean_squares[1] - mean_squares[2]) / (6 * 8)
    covariance = fitted.covariance
    assert covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1] == pytest.approx(variance, rel=1e-4)
    assert next(part.sd for part in fitted.components if part.effect == "system:segment") == pytest.approx(
        np.sqrt((mean_squares[0] - mean_squares[2]) / 6), rel=1e-4
    )


def test_outputs_judged_once_have_no_luck_of_their_own() -> None:
    table = crossed().table.filter(pl.col("annotator") == "a" + pl.col("segment").str.slice(1))
    assert left_out(design_from(Judgments(table)))["system:segment"].endswith("part of the residual")


def test_within_documents_outputs_need_no_effect_of_their_own() -> None:
    assert "system:segment" not in {**kept(design := design_from(campaign("pages", 1))), **left_out(design)}


def test_copies_of_one_person_count_once() -> None:
    """Errors of copied scores are those of the scores themselves."""
    alone = crossed().table.filter(pl.col("annotator") == "a1")
    copies = pl.concat([alone.with_columns(annotator=pl.lit(name)) for name in "abcd"])
    whole, single = (fit(design_from(Judgments(table))) for table in (copies, alone))
    np.testing.assert_allclose(whole.covariance, single.covariance)
    assert "everyone gave the same scores, so all annotators count as one person" in whole.notes[0]
    (aside,) = design_from(Judgments(copies)).set_aside
    assert (aside.reason, aside.rows) == ("everyone gave the same output the same score: copies", 3 * 32)


def test_the_same_partition_is_folded_into_one_variance() -> None:
    design = design_from(campaign("nested", 1))
    assert "system:document + page" in kept(design)
    assert left_out(design)["page"] == "holds the same scores together as system:document: one variance for both"


def test_the_cause_for_leaving_out_an_effect_is_asked_but_not_written() -> None:
    causes = {effect.effect: effect.cause for effect in identify(design_from(campaign("nested", 1))).left_out}
    assert (causes["page"], causes["page"].confounded) == (Cause.FOLDED, False)
    assert Cause.SYSTEMS.confounded
    assert to_plain(LeftOut("page", "why", Cause.FOLDED)) == {"effect": "page", "reason": "why"}


def test_known_ratios_add_up_where_effects_are_folded_and_shrink_where_the_residual_grows() -> None:
    design = design_from(campaign("nested", 1))
    effects = identify(design)
    known = {"annotator": 0.5, "task": 0.25, "document": 0.1, "segment": 0.2, "system:document": 0.3, "page": 0.4}
    ratios = dict(zip(kept(design), effects.ratios(known), strict=True))
    assert ratios["system:document + page"] == pytest.approx(0.7)
    whole = refit(design, known)
    again = refit(design, {**known, "system:document": 0.0, "page": 0.7})
    np.testing.assert_allclose(whole.effects, again.effects)
    every_row = MixedDesign(
        design.score, design.systems, design.human, design.system, design.annotator, design.task, design.document,
        design.segment, np.arange(len(design)), design.row,
    )  # fmt: skip
    assert "part of the residual" in left_out(every_row)["page"]
    shrunk = dict(zip(kept(every_row), identify(every_row).ratios(known), strict=True))
    assert shrunk["annotator"] == pytest.approx(0.5 / 1.4)


def test_one_annotator_is_said_to_be_one() -> None:
    fitted = fit(design_from(campaign("pages", 3, annotators=1)))
    assert any("only one annotator" in note for note in fitted.notes)
    assert any(
        effect.effect == "annotator" and effect.reason == "there is one annotator only" for effect in fitted.left_out
    )


def test_one_document_is_named_by_itself() -> None:
    table = campaign("pages", 1).table.with_columns(document=pl.lit("d"))
    reasons = left_out(design_from(Judgments(table)))
    assert reasons["document"] == "there is one document only"
    assert reasons["system:document"] == "each system has one document only, so the two cannot be told apart"


def test_an_annotator_per_system_cannot_be_told_from_the_system() -> None:
    table = campaign("crossed", 1).table.with_columns(annotator="by " + pl.col("system"), task=pl.lit("t"))
    fitted = fit(design_from(Judgments(table)))
    assert any(
        effect.effect.startswith("annotator") and "cannot be told apart" in effect.reason for effect in fitted.left_out
    )
    assert any("the errors do not include it" in note for note in fitted.notes)


def test_a_variance_that_the_data_do_not_show_is_zero_and_says_so() -> None:
    fitted = fit(design_from(campaign("segments", 12, systems=4, annotators=8, documents=10)))
    page = next(component for component in fitted.components if component.effect == "page")
    assert page.sd == 0
    assert page.at_zero
    assert page.low is None
    assert fitted.converged


def test_systems_that_share_nothing_have_no_common_scale() -> None:
    first, second = campaign("pages", 1).table, campaign("pages", 2).table
    other = second.with_columns(("other " + pl.col("annotator", "document", "system")).name.keep())
    with pytest.raises(DataError, match=r"2 groups that share no .*\(other s0, other s1, other s2\); \(s0, s1, s2\)"):
        fit(design_from(Judgments(pl.concat([first, other]))))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (pl.lit(7.0).alias("score"), "every score is 7"),
        (pl.lit("s0").alias("system"), "at least two systems"),
        (pl.lit("ranking").alias("protocol"), "scores of systems are needed"),
        (pl.col("system").str.slice(1).cast(pl.Float64).alias("score"), "explain every score exactly"),
    ],
)
def test_what_cannot_be_answered_is_explained(change: pl.Expr, message: str) -> None:
    with pytest.raises(DataError, match=message):
        fit(design_from(Judgments(campaign("pages", 1).table.with_columns(change))))


def test_fewer_scores_than_systems_are_refused() -> None:
    table = campaign("pages", 1).table.unique("system")
    with pytest.raises(DataError, match="3 scores for 3 systems"):
        fit(design_from(Judgments(table)))


def test_scores_without_an_annotator_are_told_and_shown_as_unknown() -> None:
    judgments = campaign("crossed", seed=1)
    first = judgments.table["annotator"].unique().sort()[0]
    unnamed = pl.when(pl.col("annotator") != first).then("annotator").alias("annotator")
    table = judgments.table.with_columns(unnamed, pl.lit(None, pl.String).alias("task"))
    partly = replace(judgments, table=table)
    scores = len(judgments.table.filter(annotator=first))
    note = f"{scores} scores name no annotator: they count as those of one more person; name the annotators"
    assert note in rank(partly).notes
    by_task = replace(judgments, table=judgments.table.with_columns(unnamed))
    assert note.replace("person;", "person for each task;") in rank(by_task).notes
    assert not any("no annotator" in note for note in rank(judgments).notes)
    # Nobody knows whether they are of others, so only those with a name are counted.
    people = judgments.table["annotator"].unique().sort()[:3]
    three = partly.table.filter(pl.col("annotator").is_null() | pl.col("annotator").is_in(people.to_list()))
    assert any(note.startswith("only two annotators") for note in rank(replace(partly, table=three)).notes)
    names = {unit.name for unit in influence(estimator_of(partly)).rows if unit.unit == "annotator"}
    assert "(unknown)" in names
    assert "None" not in names


@pytest.mark.parametrize(
    ("who", "note"),
    [
        (["a0"], "s0 was judged by one annotator: the result"),
        (["a0", "a1"], None),
        (["a0", None], "s0 was judged by one annotator with a name: the result"),
        ([None], "s0 was judged by nobody with a name: the result"),
    ],
)
def test_scores_without_a_name_are_no_judge(who: list[str | None], note: str | None) -> None:
    rng = np.random.default_rng(1)
    rows = [
        (person, str(segment), system, float(rng.integers(20, 90)))
        for system in ("s0", "s1", "s2")
        for person in (who if system == "s0" else ["a0", "a1", "a2"])
        for segment in range(8)
    ]
    told = [note for note in rank(scores(rows)).notes if note.startswith("s0 was judged")]
    assert len(told) == (note is not None)
    assert note is None or told[0].startswith(note)
