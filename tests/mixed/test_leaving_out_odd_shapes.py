"""Annotators and documents left out of campaigns of odd shapes, against generalised least squares by dense matrices."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from adjudge.evidence.trust import influence
from adjudge.mixed.design import MixedDesign, design_from
from adjudge.mixed.effects import identify
from adjudge.mixed.model import Unit, model_of
from adjudge.ranking.estimator import estimator_of
from adjudge.readers.registry import read
from adjudge.table.errors import DataError
from adjudge.table.maths import Bools, Floats

SHAPES = ("one document", "one person per document", "one score", "seen by one person", "coarse", "repeats", "unnamed")


def campaign(shape: str, seed: int) -> pl.DataFrame:
    """Scores with strictness and tastes, of which a fifth is missing at random."""
    rng = np.random.default_rng([seed, SHAPES.index(shape)])
    people, systems = int(rng.integers(3, 6)), int(rng.integers(2, 5))
    documents = 1 if shape == "one document" else int(rng.integers(3, 7))
    strictness, taste = rng.normal(0, 8, people), rng.normal(0, 4, (people, systems))
    rows = []
    for document, person, system, segment in np.ndindex(documents, people, systems, 3):
        alone = shape == "one person per document" and document % 2 and person != document % people
        unseen = shape == "seen by one person" and system == 0 and person != 0
        if alone or unseen or rng.random() < 0.2:
            continue
        score = 60 + 4 * system + strictness[person] + taste[person, system] + 3 * document + rng.normal(0, 9)
        score = round(score / 25) * 25 if shape == "coarse" else score
        row = {
            "annotator": None if shape == "unnamed" and person == 0 else f"a{person}",
            "document": f"d{document}",
            "segment": f"{document}-{segment}",
            "system": f"S{system}",
            "score": float(np.clip(score, 0, 100)),
            "kind": "system",
        }
        rows.append(row)
        if shape == "repeats" and rng.random() < 0.2:
            rows.append({**row, "kind": "repeat"})
    if shape == "one score":
        rows.append({**rows[0], "annotator": "one score", "score": 70.0})
    return pl.DataFrame(rows)


def dense_fit(design: MixedDesign, kept: Bools, known: dict[str, float]) -> tuple[Floats, Floats]:
    """Effects and covariance of the systems, by the inverse of the whole covariance matrix of the scores."""
    part = design.subset(kept)
    effects = identify(part)
    spread = np.eye(len(part))
    for effect, ratio in zip(effects.kept, effects.ratios(known), strict=True):
        has = np.ones(len(part), dtype=bool) if effect.marked is None else effect.marked[effect.codes]
        spread += ratio * ((effect.codes[:, None] == effect.codes) & has)
    shown = np.eye(len(part.systems))[part.system]
    weight = np.linalg.inv(spread)
    relative = np.linalg.inv(shown.T @ weight @ shown)
    estimated = relative @ shown.T @ weight @ part.score
    rest = part.score - shown @ estimated
    return estimated, relative * (rest @ weight @ rest) / (len(part) - len(part.systems))


@pytest.mark.parametrize("shape", SHAPES)
def test_every_unit_left_out_of_odd_shapes(shape: str) -> None:
    fits = 0
    for seed in range(3):
        design = design_from(read(campaign(shape, seed)), model="mixed")
        model = model_of(design)
        # With the systems over which people part, which parts keep.
        design = model.design
        units: tuple[Unit, ...] = ("annotator", "document")
        for unit in units:
            codes = model.codes(unit)
            assert codes is not None
            for code, fitted in enumerate(model.leave_out(unit, range(int(codes.max()) + 1))):
                strictness_known = "annotator" in {
                    part for effect in identify(design.subset(codes != code)).kept for part in effect.parts
                }
                if fitted is None or not strictness_known:
                    continue
                effects, covariance = dense_fit(design, codes != code, dict(model.fitted.ratios))
                assert fitted.effects == pytest.approx(effects, abs=1e-7)
                assert fitted.covariance == pytest.approx(covariance, rel=1e-6, abs=1e-6)
                bounded = fitted.df[~np.eye(len(effects), dtype=bool)]
                assert (bounded >= 1).all()
                fits += 1
    assert fits > 3


def test_units_on_which_the_ranking_rests_are_named() -> None:
    """The first two share no system with the others but through the third person."""
    rng = np.random.default_rng(2)
    seen = {"ann": "AB", "ben": "AB", "cy": "BC", "dee": "CD", "eve": "CD"}
    rows = [
        {"annotator": name, "segment": f"{name}{segment}", "system": system, "score": float(rng.normal(60, 9))}
        for name, systems in seen.items()
        for segment in range(4)
        for system in systems
    ]
    rests = influence(estimator_of(read(pl.DataFrame(rows))))
    assert {row.name for row in rests.rows} == {"ann", "ben", "dee", "eve"}
    assert any("without annotator cy the other scores cannot be ranked" in note for note in rests.notes)


def test_two_people_of_whom_neither_can_be_left_out() -> None:
    rows = {"annotator": ["anna", "anna", "ben"], "segment": [17] * 3, "system": ["A", "B", "A"], "score": [82, 90, 75]}
    with pytest.raises(DataError, match="without annotator anna or annotator ben the other scores cannot be ranked"):
        influence(estimator_of(read(pl.DataFrame(rows))))
