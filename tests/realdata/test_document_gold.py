"""Document-level direct assessment (Graham et al. 2017): correlation and curve of the self-replication."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from adjudge import gold
from adjudge.metrics.results import Gold


@cache
def replication(folder: Path) -> Gold:
    runs = [folder / "batched-hits" / name for name in ("runA", "runB")]
    return gold(*runs, format="mturk-da", keys=folder / "seg-key-enes", orders=5)


def test_the_correlation_is_published(data: Path) -> None:
    """Section 4 of the paper: r = 0.901; the last line of the released `cor.csv`: 0.901291670479518."""
    correlation = replication(data / "eacl2017").correlation
    assert correlation is not None
    assert correlation.n == 62
    assert correlation.pearson == pytest.approx(0.901291670479518, abs=1e-13)


def test_all_points_of_the_curve_are_published(data: Path) -> None:
    """`cor.csv` (Figure 2): fewest and mean assessments per document, correlation; in the order of submission."""
    expected = [line.split() for line in (data / "eacl2017" / "cor.csv").read_text().splitlines()]
    curve = replication(data / "eacl2017").curve
    assert len(curve) == len(expected) == 83
    for point, (fewest, mean, r) in zip(curve, expected, strict=True):
        assert point.fewest == int(fewest)
        assert point.mean == pytest.approx(float(mean))
        assert point.pearson == pytest.approx(float(r), abs=1e-12)


def test_document_scores_are_the_official_ones(data: Path) -> None:
    """`runA/doc-key-enes.csv`: mean z, mean raw score and judgments of each of 62 documents."""
    rows = [line.split() for line in (data / "eacl2017" / "runA" / "doc-key-enes.csv").read_text().splitlines()[1:]]
    expected = {row[1]: (float(row[2]), float(row[3]), int(row[4])) for row in rows}
    scores = replication(data / "eacl2017").scores
    assert len(scores) == len(expected) == 62
    for score in scores:
        assert score.document is not None
        z, raw, n = expected[score.document]
        assert score.z == pytest.approx(z, abs=1e-12)
        assert score.raw == pytest.approx(raw)
        assert score.n == n
