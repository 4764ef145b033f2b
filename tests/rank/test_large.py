"""Means straight from CSV are those of the ordinary ranking."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from adjudge.core.errors import InputError
from adjudge.formats import native
from adjudge.rank import RankSettings, large, rank
from adjudge.rank.large import means_of_file
from tests.rank.test_customary import random_scores


def test_the_means_are_those_of_zscore(tmp_path: Path) -> None:
    judgments = random_scores(4)
    file = tmp_path / "scores.csv"
    native.write(judgments, file)
    expected = {one.system: one for one in rank(judgments, method="zscore", settings=RankSettings(resamples=0)).systems}
    found = means_of_file(file)
    assert [one.system for one in found] == list(expected)
    for one in found:
        assert one.z == pytest.approx(expected[one.system].score, abs=1e-12)
        assert one.raw == pytest.approx(expected[one.system].numbers["raw"], abs=1e-12)
        assert (one.n, one.n_all) == (expected[one.system].n, expected[one.system].numbers["n_all"])


def slowly(table: pl.DataFrame) -> list[tuple[str, float, float, int, int]]:
    """The same by plain loops over dictionaries."""
    scored = [row for row in table.to_dicts() if row["score"] is not None and row["annotator"] is not None]
    scale: dict[str, tuple[float, float]] = {}
    for who in {row["annotator"] for row in scored}:
        own = [row["score"] for row in scored if row["annotator"] == who]
        sd = float(np.std(own, ddof=1)) if len(set(own)) > 1 else math.nan
        scale[who] = (float(f"{np.mean(own):.7g}"), float(f"{sd:.7g}"))
    items: dict[tuple[str, str | None, str], list[tuple[float, float]]] = {}
    for row in scored:
        if row["kind"] in ("system", "repeat"):
            mean, sd = scale[row["annotator"]]
            key = (row["system"], row["document"], row["segment"])
            items.setdefault(key, []).append((row["score"], (row["score"] - mean) / sd))
    means = []
    for system in {key[0] for key in items}:
        ours = [np.array(pairs) for key, pairs in items.items() if key[0] == system]
        z = [one[:, 1][~np.isnan(one[:, 1])].mean() for one in ours if not np.isnan(one[:, 1]).all()]
        raw = float(np.mean([one[:, 0].mean() for one in ours]))
        means.append((system, raw, float(np.mean(z)), len(ours), sum(map(len, ours))))
    return sorted(means, key=lambda one: -one[2])


@pytest.mark.parametrize(("rows_at_once", "marks"), [(1 << 16, 1 << 26), (7, 1 << 26), (7, 1)])
def test_gaps_controls_decimals_and_equal_scores_count_as_in_a_slow_version(
    rows_at_once: int, marks: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Documents and scores may be missing, one annotator gives .1 throughout, another one score only."""
    monkeypatch.setattr(large, "SLICE", rows_at_once)
    monkeypatch.setattr(large, "MOST_MARKS", marks)
    rng = np.random.default_rng(1)
    n = 400
    who = rng.choice(["a", "b", "constant", "d"], n).tolist()
    scores = [0.1 if one == "constant" else round(float(rng.uniform(0, 100)), 1) for one in who]
    table = pl.DataFrame(
        {
            "system": rng.choice(["x", "y", "z"], n),
            "annotator": [*who[:-1], "once"],
            "document": [None if i % 9 == 0 else f"d{i % 5}" for i in range(n)],
            "segment": rng.choice(["1", "01", "2", "3"], n),
            "kind": rng.choice(["system", "repeat", "degraded"], n),
            "score": [None if i % 11 == 5 else score for i, score in enumerate(scores)],
        }
    )
    file = tmp_path / "scores.csv"
    table.write_csv(file)
    found = means_of_file(file)
    expected = slowly(table)
    assert [(one.system, one.n, one.n_all) for one in found] == [
        (name, n, judged) for name, _, _, n, judged in expected
    ]
    assert [one.raw for one in found] == pytest.approx([one[1] for one in expected], abs=1e-12)
    assert [one.z for one in found] == pytest.approx([one[2] for one in expected], abs=1e-12)


def test_a_system_that_only_equal_scores_rate_has_no_z_and_comes_last(tmp_path: Path) -> None:
    file = tmp_path / "scores.csv"
    rows = ["system,annotator,segment,score", "x,w,1,5", "x,w,2,5", "y,v,1,1", "y,v,2,3"]
    file.write_text("\n".join(rows))
    found = means_of_file(file)
    assert [one.system for one in found] == ["y", "x"]
    assert math.isnan(found[1].z)


def test_what_cannot_be_read_is_explained(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        means_of_file(tmp_path / "none.csv")
    file = tmp_path / "x.csv"
    file.write_text("system,score\na,1\n")
    with pytest.raises(InputError, match="no column 'annotator'"):
        means_of_file(file)
    file.write_text("system,annotator,segment,score\n,b,1,5\n")
    with pytest.raises(InputError, match="without a system"):
        means_of_file(file)
    file.write_text("system,annotator,segment,score\na,b,1,much\n")
    with pytest.raises(InputError, match="cannot be read as scores"):
        means_of_file(file)
