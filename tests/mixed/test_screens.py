"""What one person's judgments of a text share, and people who count by their work."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from adjudge.mixed import effects as effects_module
from adjudge.mixed.design import MixedDesign, design_from
from adjudge.mixed.effects import SCREENS, Cause, Effects, Work, identify, taste_degrees
from adjudge.mixed.fit import fit, refit
from adjudge.table.judgments import Judgments, renumber
from tests.helpers.mixed_make import campaign

Floats = NDArray[np.float64]


def side_by_side(
    seed: int, *, seen: int = 3, systems: int = 5, people: int = 4, documents: int = 12, segments: int = 2
) -> Judgments:
    """Each document by two people, who judge the outputs of some systems there."""
    rng = np.random.default_rng(seed)
    rows = []
    view = rng.normal(0, 5, (people, documents))
    for document in range(documents):
        for person in rng.choice(people, 2, replace=False):
            for system in rng.choice(systems, seen, replace=False):
                for segment in range(segments):
                    score = 70 + view[person, document] + rng.normal(0, 2 + segment)
                    rows.append((f"a{person}", f"d{document}", f"{segment}", f"s{system}", float(score)))
    table = pl.DataFrame(rows, schema=["annotator", "document", "segment", "system", "score"], orient="row")
    return Judgments.from_columns(table.with_columns(protocol=pl.lit("da")))


def names(effects: Effects) -> list[str]:
    return [effect.name for effect in effects.kept]


def test_a_persons_view_of_a_document_is_an_effect_where_several_systems_are_judged_there() -> None:
    kept = identify(design_from(side_by_side(1)))
    assert names(kept)[-3:] == ["annotator:document", "annotator:segment", "page"]
    assert "annotator:segment" not in names(identify(design_from(side_by_side(1, seen=2)).subset(one_missing(1))))
    plain = identify(design_from(side_by_side(1), model="mixed-plain"))
    assert not set(SCREENS) & set(names(plain)), "the model of earlier versions stays as it was"


def one_missing(seed: int) -> NDArray[np.bool_]:
    """All but one row: then some person saw one system of a segment, and the mean is below two."""
    return np.arange(len(design_from(side_by_side(seed, seen=2)))) > 0


def test_without_documents_the_view_of_a_segment_is_the_screen() -> None:
    table = side_by_side(2, seen=2, segments=1).table.with_columns(
        segment=pl.col("document"), document=pl.lit(None, dtype=pl.String)
    )
    design = design_from(Judgments(table))
    assert "annotator:segment" in names(identify(design))
    assert "annotator:segment" in names(identify(design.subset(np.arange(len(design)) > 0)))


@pytest.mark.parametrize("case", ["one system each", "one person each", "one document each", "one person"])
def test_what_cannot_be_told_apart_changes_nothing(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bit for bit the fit of a model without these effects; their known variances go to where they belong."""
    judgments = campaign("pages", 3, annotators=6, documents=9, taste=3.0)
    person, system, document = (
        pl.col(name).str.slice(1).cast(pl.Int64) for name in ("annotator", "system", "document")
    )
    rows = {
        "one system each": (person + document) % 3 == system,
        "one person each": document % 6 == person,
        "one document each": document % 6 == person,
        "one person": person == 0,
    }[case]
    if case == "one document each":
        judgments = Judgments(judgments.table.with_columns(document=pl.lit("d") + (document % 6).cast(pl.String)))
    design = design_from(judgments.select(rows))
    here = identify(design)
    assert not set(SCREENS) & {part for effect in here.kept for part in effect.parts}
    assert {left.effect for left in here.left_out if left.cause == Cause.NO_SCREEN} == set(SCREENS)
    home = {"one system each": "page", "one person each": "document", "one document each": "document"}
    owner = next(effect for effect in here.kept if "annotator:document" in effect.implied)
    assert home.get(case, "document") in owner.parts
    known = {owner.narrowest: 0.3, "annotator:document": 0.2}
    assert here.ratios(known)[here.kept.index(owner)] == pytest.approx(0.5)
    found = fit(design)
    candidates = effects_module._candidates
    monkeypatch.setattr(
        effects_module, "_candidates", lambda rows: [it for it in candidates(rows) if it[0] not in SCREENS]
    )
    before = fit(design)
    np.testing.assert_array_equal(found.effects, before.effects)
    np.testing.assert_array_equal(found.covariance, before.covariance)
    np.testing.assert_array_equal(found.df, before.df)
    assert found.components == before.components
    assert found.notes == before.notes


def test_a_part_without_shared_screens_has_their_variance_elsewhere() -> None:
    """One of the systems of each screen alone: its view of the document is part of the page, the rest of the residual.

    With more residual, all ratios are smaller.
    """
    design = design_from(side_by_side(4))
    whole = fit(design).ratios
    assert design.annotator is not None
    assert design.document is not None
    screen = np.unique(design.annotator * 100 + design.document, return_inverse=True)[1]
    shown = np.empty(screen.max() + 1, dtype=np.int64)
    shown[screen] = design.system
    part = refit(design.subset(design.system == shown[screen]), whole).ratios
    assert whole["annotator:document"] > 0.05
    page = (whole["annotator:document"] + whole["page"]) / (1 + whole["annotator:segment"])
    assert part["page"] == pytest.approx(page)


def people_by_weight(pages: Floats, taste: float, noise: float) -> float:
    """1 / sum(h^2), h the share of a person in sum_r l_r / (1 + taste l_r), l_r the eigenvalues of what one knows."""
    weight = []
    for own in pages:
        known = np.linalg.eigvalsh((np.diag(own) - np.outer(own, own) / own.sum()) / noise)
        weight.append(float((known / (1 + taste * known)).sum()))
    share = np.array(weight) / np.sum(weight)
    return float(1 / (share**2).sum())


def crossed(pages: NDArray[np.int64]) -> MixedDesign:
    """So many pages of three rows of each system (columns) by each person (rows), nothing else being named."""
    cell = np.repeat(np.arange(pages.size), 3 * pages.ravel())
    rng = np.random.default_rng(1)
    person, system = np.divmod(cell, pages.shape[1])
    page = np.repeat(np.arange(int(pages.sum())), 3)
    return MixedDesign(
        score=60 + rng.normal(0, 8, len(cell)) + rng.normal(0, 4, page.max() + 1)[page],
        systems=tuple("abcdefgh"[: pages.shape[1]]),
        human=np.zeros(pages.shape[1], dtype=bool),
        system=system,
        annotator=person,
        task=None,
        document=None,
        segment=None,
        page=page,
        row=np.arange(len(cell)),
        annotator_system=renumber(cell),
        model=replace(design_from(side_by_side(1)).model, name="test"),
    )


@pytest.mark.parametrize("seed", range(5))
def test_people_count_by_their_weight(seed: int) -> None:
    """Against eigenvalues of what each person knows of the systems: (A_e - 1) / (A - 1) of the degrees of freedom."""
    rng = np.random.default_rng(seed)
    pages = rng.integers(1, 5, (6, 4)) * rng.choice([1, 10], (6, 1))
    design = crossed(pages)
    kept = identify(design)
    ratios = rng.uniform(0.01, 0.6, len(kept.kept))
    by_name = dict(zip(names(kept), ratios, strict=True))
    expected = people_by_weight(pages.astype(float), by_name["annotator:system"], by_name["page"] + 1 / 3)
    assert Work.of(design).share(kept, ratios) == pytest.approx((expected - 1) / 5, abs=1e-9)


@pytest.mark.parametrize("shape", [(4, 3), (7, 5)])
def test_equal_work_counts_as_heads(shape: tuple[int, int]) -> None:
    design = crossed(np.full(shape, 3))
    kept = identify(design)
    for ratio in (1e-8, 0.1, 3.0):
        assert Work.of(design).share(kept, np.full(len(kept.kept), ratio)) == 1.0


def test_one_who_does_most_of_the_work_is_not_eight() -> None:
    """Seven others do a tenth of the work: the bound is that of few people, unless tastes outweigh everything."""
    pages = np.vstack([np.full((1, 4), 60), np.full((7, 4), 1)])
    design = crossed(pages)
    kept = identify(design)
    ratios = dict(zip(names(kept), np.zeros(len(kept.kept)), strict=True))
    small, large = (
        Work.of(design).share(kept, np.array([size if "system" in name else 0.01 for name in ratios]))
        for size in (1e-8, 1e3)
    )
    assert small < 0.05
    assert large > 0.99
    fitted = fit(design)
    off = ~np.eye(4, dtype=bool)
    assert (fitted.df[off] < taste_degrees(design, strictness=True)).all()


def test_those_who_judged_one_system_do_not_dilute_the_others() -> None:
    """Five people judged everything, fifty one system each, of whom tastes learn nothing."""
    alone = np.zeros((50, 4), dtype=np.int64)
    alone[np.arange(50), np.arange(50) % 4] = 2
    design = crossed(np.vstack([np.full((5, 4), 3), alone]))
    kept = identify(design)
    assert Work.of(design).share(kept, np.full(len(kept.kept), 0.1)) == 1.0
