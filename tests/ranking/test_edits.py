"""Post-edits and judgments of acceptability ranked like scores."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from adjudge.evidence.audit import audit
from adjudge.ranking.methods import rank
from adjudge.ranking.scores import as_scores
from adjudge.readers import native
from adjudge.table.errors import DataError
from adjudge.table.judgments import Judgments
from tests.conftest import Run

WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]


def post_edits(changes: dict[str, float], *, annotators: int = 6, segments: int = 12, seed: int = 1) -> Judgments:
    """Every annotator edits ten words of every system; `changes` is how many words are exchanged on average."""
    rng = np.random.default_rng(seed)
    rows = []
    for annotator in range(annotators):
        for segment in range(segments):
            for system, mean in changes.items():
                words = WORDS.copy()
                for index in rng.choice(10, min(10, rng.poisson(mean)), replace=False):
                    words[index] = f"new{index}"
                edit, output = " ".join(words), " ".join(WORDS)
                action = "OK" if edit == output else "EDIT"
                rows.append((f"a{annotator}", f"d{segment // 3}", str(segment), system, edit, output, action))
    names = ("annotator", "document", "segment", "system", "text", "target_text", "action")
    columns: dict[str, object] = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    return Judgments.from_columns({**columns, "protocol": ["postedit"] * len(rows), "campaign": ["c"] * len(rows)})


def test_a_post_edit_scores_100_minus_its_edit_rate() -> None:
    """By hand: two of ten words exchanged are 2 edits of 10 words, so 80; too bad to correct is 0."""
    columns = {
        "protocol": ["postedit"] * 4,
        "annotator": ["a"] * 4,
        "segment": ["1", "2", "3", "4"],
        "system": ["s"] * 4,
        "action": ["EDIT", "OK", "BAD", "N/A"],
        "text": [" ".join(["x", "y", *WORDS[2:]]), " ".join(WORDS), None, None],
        "target_text": [" ".join(WORDS)] * 4,
    }
    scored = as_scores(Judgments.from_columns(columns))
    assert scored.table["score"].to_list() == pytest.approx([80.0, 100.0, 0.0])
    assert sum(aside.rows for aside in scored.set_aside) == 1
    assert any("HTER" in note for note in scored.notes)


def test_systems_are_ranked_by_what_had_to_be_changed() -> None:
    judgments = post_edits({"good": 0.5, "fair": 2.0, "poor": 5.0})
    ranking = rank(judgments)
    assert ranking.order == ("good", "fair", "poor")
    assert ranking.method == "mixed"
    assert [len(cluster) for cluster in ranking.clusters] == [1, 1, 1]
    claims = audit(judgments, only=["claims", "edits"]).to_dict()
    verdicts = {claim["claim"]: claim["verdict"] for claim in claims["claims"]}
    assert verdicts["good is better than poor"] == "holds"
    assert claims["edits"]["edits"] == len(judgments)


def test_raw_means_are_edit_rates() -> None:
    judgments = post_edits({"good": 0.5, "poor": 5.0})
    for system in rank(judgments, method="raw").systems:
        own = judgments.table.filter(pl.col("system") == system.system)
        changed = [
            sum(a != b for a, b in zip(edit.split(), output.split(), strict=True))
            for edit, output in own.select("text", "target_text").iter_rows()
        ]
        assert system.score == pytest.approx(100 - 10 * np.mean(changed))


def test_acceptability_is_a_share() -> None:
    rng = np.random.default_rng(2)
    rows = [
        (f"a{annotator}", str(segment), system, float(rng.random() < share) if rng.random() < 0.95 else None)
        for annotator in range(6)
        for segment in range(40)
        for system, share in (("good", 0.9), ("poor", 0.4))
    ]
    names = ("annotator", "segment", "system", "score")
    columns: dict[str, object] = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    judgments = Judgments.from_columns({**columns, "protocol": ["acceptability"] * len(rows)})
    ranking = rank(judgments, method="raw")
    good = judgments.table.filter((pl.col("system") == "good") & pl.col("score").is_not_null())
    means = good.group_by("segment").agg(pl.col("score").mean())["score"]
    assert ranking.systems[0].score == pytest.approx(100 * np.mean(means.to_numpy()))
    assert rank(judgments).order == ("good", "poor")


def test_edits_without_outputs_are_explained() -> None:
    judgments = post_edits({"good": 0.5, "poor": 5.0})
    bare = Judgments(judgments.table.drop("target_text"))
    with pytest.raises(DataError, match="target_text"):
        rank(bare)
    assert "edits" in audit(bare).sections


@pytest.mark.slow
def test_commands_rank_and_report_them(adjudge: Callable[..., Run], tmp_path: Path) -> None:
    table, page = tmp_path / "edits.parquet", tmp_path / "report.html"
    native.write(post_edits({"good": 0.5, "poor": 5.0}), table)
    assert [system["system"] for system in adjudge("rank", table, "--json").json["systems"]] == ["good", "poor"]
    assert adjudge("report", table, "-o", page).code == 0
    assert "good" in page.read_text(encoding="utf-8")
