"""Few documents leave it hardly known how differently systems do on documents, so that errors are hardly known."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.stats import t as student

from adjudge.mixed.design import MixedDesign, design_from
from adjudge.mixed.fit import fit, prepare
from adjudge.table.judgments import Judgments
from adjudge.table.maths import contrasts


def design(systems: int, people: int, documents: int, segments: int, *, model: str = "mixed-points") -> MixedDesign:
    """Everybody scores every output."""
    places = list(product(range(people), range(systems), range(documents), range(segments)))
    columns: dict[str, object] = {
        "annotator": [f"p{place[0]}" for place in places],
        "system": [f"s{place[1]}" for place in places],
        "document": [f"d{place[2]}" for place in places],
        "segment": [f"{place[2]}-{place[3]}" for place in places],
        "score": np.random.default_rng(1).normal(70, 10, len(places)),
        "protocol": ["da"] * len(places),
    }
    return design_from(Judgments.from_columns(columns), model=model)


@pytest.mark.parametrize(
    ("systems", "documents", "most"),
    [(2, 2, 1), (2, 3, 2), (3, 2, 2), (4, 3, 6), (2, 13, 18), (4, 8, 21**2 / 8)],
)
def test_no_more_degrees_of_freedom_than_documents_leave(systems: int, documents: int, most: float) -> None:
    """(systems - 1) (documents - 1) of them, or their square by 8; nothing of it where tastes are not in the model."""
    df = fit(design(systems, 60, documents, 2)).df
    apart = ~np.eye(systems, dtype=bool)
    assert (df[apart] <= most + 1e-9).all()
    plain = fit(design(systems, 60, documents, 2, model="mixed-plain"))
    assert (plain.df[apart] > most).all()


def test_one_document_is_judged_by_its_segments() -> None:
    assert (fit(design(2, 30, 1, 4)).df[0, 1]) <= 3 + 1e-9


@pytest.mark.slow
def test_two_equal_systems_on_two_documents_are_rarely_told_apart() -> None:
    """Without the bound, in 10% of simulated campaigns (standard error 1)."""
    rng, laid_out = np.random.default_rng(5), prepare(design(2, 12, 2, 4))
    rows = laid_out.design
    assert rows.annotator is not None
    assert rows.document is not None
    told = 0
    for _ in range(80):
        taste, own = rng.normal(0, 3, (12, 2)), rng.normal(0, 5, (2, 2))
        score = taste[rows.annotator, rows.system] + own[rows.document, rows.system] + rng.normal(0, 10, len(rows))
        model = laid_out.fit(score)
        compared = contrasts(model.effects, model.covariance, model.df)
        told += bool(compared.two_sided[0, 1] < 0.05)
        assert compared.two_sided[0, 1] >= 2 * student.sf(abs(compared.difference / compared.se)[0, 1], 1) - 1e-9
    assert told <= 4
