"""The matrix of documents by systems: raw means, z-scores, the model's estimates, or a metric."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import adjudge
from adjudge.evidence.composition import Documents
from adjudge.table.errors import DataError, UsageError
from adjudge.table.judgments import Judgments


def campaign(shared: str = "2") -> Judgments:
    """A strict person judges only d1, a generous one d3, and both d2 (or more); all documents are equally hard."""
    rng = np.random.default_rng(6)
    rows = []
    for person, strictness, judged in (("strict", -20.0, f"1{shared}"), ("generous", 20.0, f"{shared}3")):
        for document in judged:
            for system, quality in (("a", 5.0), ("b", -5.0)):
                for segment in range(10):
                    score = 50 + strictness + quality + rng.normal(0, 2)
                    rows.append((person, f"d{document}", f"{document}-{segment}", system, score))
    names = ("annotator", "document", "segment", "system", "score")
    columns: dict[str, object] = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    return Judgments.from_columns({**columns, "protocol": ["da"] * len(rows)})


def documents(documents_by: str | Path, shared: str = "2") -> Documents:
    section = adjudge.audit(campaign(shared), only="documents", documents_by=documents_by).sections["documents"]
    assert isinstance(section, Documents)
    return section


def test_the_model_takes_the_annotators_out() -> None:
    """People who share one document may differ in their view of it alone; those who share three are strict or not."""
    raw, model = documents("raw", "245"), documents("mixed", "245")
    spread = [max(own.difficulty) - min(own.difficulty) for own in (raw, model)]
    assert spread[0] == pytest.approx(40, abs=2)
    assert spread[1] < 10
    assert model.scale == "estimate of the mixed model"
    assert set(model.documents) == set(raw.documents) == {"d1", "d2", "d3", "d4", "d5"}
    assert dict(zip(raw.documents, raw.counts, strict=True)) == dict(zip(model.documents, model.counts, strict=True))


def test_z_scores_are_means_of_standardised_scores() -> None:
    table = campaign().table
    own = documents("zscore")
    scores = {name: table.filter(annotator=name)["score"].to_numpy() for name in ("strict", "generous")}
    part = table.filter(document="d1", system="a")["score"].to_numpy()
    expected = ((part - scores["strict"].mean()) / scores["strict"].std(ddof=1)).mean()
    cell = own.matrix[own.documents.index("d1")][own.systems.index("a")]
    assert cell == pytest.approx(expected, abs=1e-5)
    assert own.scale == "z-score"


def test_a_metric_is_averaged_by_document(tmp_path: Path) -> None:
    file = tmp_path / "metric.tsv"
    lines = [f"{system}\t{d}-{s}\t{d + s / 10}" for system in "ab" for d in (1, 2, 3) for s in range(10)]
    file.write_text("\n".join(["system\tsegment\tsome", *lines]) + "\n")
    own = documents(file)
    assert own.scale == "mean of some"
    assert own.documents == ("d3", "d2", "d1")
    assert own.difficulty == pytest.approx((3.45, 2.45, 1.45))
    note = next(table.note for table in own.tables() if table.title.startswith("Documents, the easiest"))
    assert "mean of some" in note


def test_faults_are_explained(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="scale for"):
        documents("zscores")
    file = tmp_path / "metric.tsv"
    file.write_text("system\tsegment\tsome\nx\t1-1\t3\n")
    with pytest.raises(DataError, match="no score of these systems"):
        documents(file)
