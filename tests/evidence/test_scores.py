"""Sections of an audit of scores: composition of tasks, documents, sampling, and the command over several pairs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from adjudge.evidence.audit import audit
from adjudge.evidence.composition import Documents, Sampling, TaskComposition
from adjudge.readers import native
from adjudge.table.errors import DataError
from adjudge.table.judgments import Judgments, concat
from tests.conftest import Run


def campaign(seed: int = 1, *, target: str = "de") -> Judgments:
    """Six tasks of pages: each shows some systems on some documents; the human is in half of them."""
    rng = np.random.default_rng(seed)
    rows = []
    for task in range(6):
        systems = ["A", "B", "C"][: 2 + task % 2] + (["HUMAN"] if task % 2 else [])
        for system in systems:
            for document in (task % 3, (task + 1) % 3):
                for segment in range(4):
                    score = float(np.clip(70 - 5 * ord(system[0]) % 7 - 6 * document + rng.normal(0, 8), 0, 100))
                    rows.append(
                        (
                            f"a{task // 2}",
                            f"t{task}",
                            f"{system}{document}",
                            f"d{document}",
                            str(segment),
                            system,
                            score,
                        )
                    )
    names = ("annotator", "task", "screen", "document", "segment", "system", "score")
    columns: dict[str, object] = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    fixed = {"protocol": ["da"] * len(rows), "campaign": ["t"] * len(rows), "target_lang": [target] * len(rows)}
    return Judgments.from_columns({**columns, **fixed, "human": [row[5] == "HUMAN" for row in rows]})


def test_composition_counts_tasks() -> None:
    composition = audit(campaign(), only=["composition"]).sections["composition"]
    assert isinstance(composition, TaskComposition)
    index = {name: i for i, name in enumerate(composition.systems)}
    assert composition.matrix[index["A"]][index["A"]] == 6
    assert composition.matrix[index["A"]][index["C"]] == 3
    assert composition.shares[index["C"]][index["HUMAN"]] == 1
    assert composition.systems_per_unit == (2, 3.0, 4)
    assert composition.annotators_with["a human system"] == 1
    assert composition.annotators_with["references"] == 0
    assert composition.annotators_with_one_task == 0


def test_explained_spread_is_that_of_a_regression() -> None:
    """statsmodels `OLS` on indicator columns."""
    import statsmodels.api as sm

    judgments = campaign()
    documents = audit(judgments, only=["documents"]).sections["documents"]
    assert isinstance(documents, Documents)
    table = judgments.table
    dummies = table.select("system", "document").to_dummies(drop_first=True).to_numpy().astype(float)
    expected = sm.OLS(table["score"].to_numpy(), sm.add_constant(dummies)).fit()
    explained = {part.factors: part for part in documents.explained}["systems + documents"]
    assert explained.r2 == pytest.approx(expected.rsquared)
    assert explained.adjusted_r2 == pytest.approx(expected.rsquared_adj)


def test_documents_are_ordered_from_easy_to_hard() -> None:
    documents = audit(campaign(), only=["documents"]).sections["documents"]
    assert isinstance(documents, Documents)
    assert list(documents.difficulty) == sorted(documents.difficulty, reverse=True)
    assert documents.documents[0] == "d0"
    means = campaign().table.group_by("document", "system").agg(m=pl.col("score").mean())
    cells = {(row["document"], row["system"]): row["m"] for row in means.iter_rows(named=True)}
    for document, row in zip(documents.documents, documents.matrix, strict=True):
        for system, mean in zip(documents.systems, row, strict=True):
            assert mean == (pytest.approx(cells[document, system]) if (document, system) in cells else None)
    assert documents.coverage == pytest.approx(len(cells) / 12)


def test_sampling_of_scores_counts_judgments() -> None:
    sampling = audit(campaign(), only=["sampling"]).sections["sampling"]
    assert isinstance(sampling, Sampling)
    assert {system.system: system.shown for system in sampling.systems} == {"A": 48, "B": 48, "C": 24, "HUMAN": 24}
    assert all(system.reference_share == 1 for system in sampling.systems)


def test_several_pairs_are_summed_up(tmp_path: Path, adjudge: Callable[..., Run]) -> None:
    file = tmp_path / "two.parquet"
    native.write(concat([campaign(1), campaign(2, target="fr")]), file)
    result = adjudge("audit", file, "--only", "stability", "--json").json
    assert set(result["pairs"]) == {"und-de", "und-fr"}
    changes = {(change["family"], change["style"]): change for change in result["summary"]["changes"]}
    assert changes["human removed", "SR+DC"]["pairs"] == 2
    row = result["pairs"]["und-de"]["stability"][0]
    expected = {"change", "removed", "rank_changed", "cluster_changed", "both_changed", "order", "clusters", "flips"}
    assert expected <= set(row)
    text = adjudge("audit", file, "--only", "stability").out
    assert "Stability over all rankings" in text


def test_a_pair_that_is_left_out_does_not_change_the_shape_of_the_rest(
    tmp_path: Path, adjudge: Callable[..., Run]
) -> None:
    file = tmp_path / "two.parquet"
    alone = campaign(2, target="fr").select(pl.col("system") == "A")
    native.write(concat([campaign(1), alone]), file)
    for command in ("rank", "audit"):
        done = adjudge(command, file, *(("--only", "composition") if command == "audit" else ()), "--json")
        assert set(done.json["pairs"]) == {"und-de"}
        assert "und-fr is left out: " in done.err


@pytest.mark.parametrize("only", [None, ["documents"], ["stability", "composition"]])
def test_one_system_is_no_ranking(only: list[str] | None) -> None:
    judgments = campaign()
    alone = judgments.select(pl.col("system") == judgments.table["system"][0])
    with pytest.raises(DataError, match="at least two systems are needed"):
        audit(alone, only=only)
