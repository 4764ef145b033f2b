"""Scores broken down by a column, and the test of the interaction."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from adjudge.audit import AuditSettings, audit
from adjudge.core.errors import DataError, UsageError
from adjudge.core.judgments import Judgments
from adjudge.formats import native
from adjudge.results.audit.breakdown import Breakdown
from tests.conftest import Run


def campaign(seed: int, *, harder: float = 0.0) -> Judgments:
    """Three systems; c is worse on long sources by `harder` points."""
    rng = np.random.default_rng(seed)
    rows = []
    for annotator in range(8):
        for document in rng.choice(12, 6, replace=False):
            length = 5 + 3 * int(document)
            domain = "news" if document % 2 else "talks"
            for system in "abc":
                lost = harder if system == "c" and length > 25 else 0.0
                for segment in range(2):
                    score = 60 - lost + rng.normal(0, 8)
                    rows.append((f"p{annotator}", f"d{document}", str(segment), system, score, length, domain))
    names = ("annotator", "document", "segment", "system", "score", "length", "domain")
    columns: dict[str, object] = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    return Judgments.from_columns({**columns, "protocol": ["da"] * len(rows), "campaign": ["c"] * len(rows)})


def breakdown(judgments: Judgments, *columns: str) -> Breakdown:
    section = audit(judgments, only=["breakdown"], settings=AuditSettings(by=columns)).sections["breakdown"]
    assert isinstance(section, Breakdown)
    return section


def test_a_system_that_is_worse_on_long_sources_is_found() -> None:
    by_length, by_domain = breakdown(campaign(1, harder=25.0), "length", "domain").columns
    assert by_length.levels == ("low", "middle", "high")
    assert by_length.p_holm < 0.05
    shift = {(score.system, score.level): score.shift for score in by_length.scores}
    assert shift["c", "high"] < -5
    assert by_domain.levels == ("news", "talks")
    assert by_domain.p_holm > by_domain.p or by_domain.p > 0.5


def test_the_test_keeps_its_level() -> None:
    """No interaction: of 30 campaigns 5 or fewer may be significant at .05 but in one case of a hundred (binomial)."""
    p = [breakdown(campaign(seed), "domain").columns[0].p for seed in range(30)]
    assert sum(value < 0.05 for value in p) <= 5


def test_faults_are_explained() -> None:
    with pytest.raises(UsageError, match="column for --by"):
        breakdown(campaign(1), "domian")
    with pytest.raises(DataError, match="fewer than two values"):
        breakdown(campaign(1), "protocol")
    with pytest.raises(DataError, match="12 values"):
        breakdown(campaign(1), "document")


def test_the_command(adjudge: Callable[..., Run], tmp_path: Path) -> None:
    table = tmp_path / "judgments.parquet"
    native.write(campaign(1), table)
    result = adjudge("audit", table, "--only", "breakdown", "--by", "domain", "--json").json
    assert result["breakdown"]["columns"][0]["column"] == "domain"
    assert {"system", "level", "n", "score", "se", "shift"} == set(result["breakdown"]["columns"][0]["scores"][0])
