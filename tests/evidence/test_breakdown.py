"""Systems within subsets of the judgments, and the test whether they differ between subsets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats

from adjudge.evidence.audit import AuditSettings, audit
from adjudge.evidence.breakdown import (
    RIDGE,
    Breakdown,
    relative_breakdown,
    score_breakdown,
    statistics,
    subsets,
)
from adjudge.evidence.breakdown import breakdown as break_down
from adjudge.ranking.scores import ScoreEstimator
from adjudge.readers import native
from adjudge.table.errors import DataError, UsageError
from adjudge.table.judgments import Judgments
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


def rankings(seed: int, *, weaker: float = 0.0, people: int = 6) -> Judgments:
    """Rankings of three of four systems with tastes; d is weaker by `weaker` logits in documents of odd number."""
    rng = np.random.default_rng(seed)
    taste = rng.normal(0, 0.5, (people, 4))
    rows: list[tuple[str, str, str, str, str, int, str]] = []
    for person in range(people):
        for block in range(40):
            document, segment = int(rng.integers(12)), int(rng.integers(4))
            shown = rng.choice(4, 3, replace=False)
            strength = taste[person] - weaker * (np.arange(4) == 3) * (document % 2)
            latent = strength[shown] + rng.gumbel(size=3)
            domain = "news" if document % 2 else "talks"
            for system, rank in zip(shown, (-latent).argsort().argsort() + 1, strict=True):
                where = (f"p{person}", f"d{document}", str(segment), f"{person}-{block}")
                rows.append((*where, "abcd"[system], int(rank), domain))
    names = ("annotator", "document", "segment", "screen", "system", "rank", "domain")
    columns: dict[str, object] = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    return Judgments.from_columns({**columns, "protocol": ["ranking"] * len(rows), "campaign": ["c"] * len(rows)})


def breakdown(judgments: Judgments, *columns: str) -> Breakdown:
    section = audit(judgments, only=["breakdown"], settings=AuditSettings(by=columns)).sections["breakdown"]
    assert isinstance(section, Breakdown)
    return section


def test_a_system_that_is_worse_on_long_sources_is_found() -> None:
    by_length, by_domain = breakdown(campaign(1, harder=25.0), "length", "domain").columns
    assert by_length.levels == ("low (5 to 14)", "middle (17 to 26)", "high (29 to 38)")
    assert by_length.p_holm == min(2 * by_length.p, 1)
    assert by_length.p_holm < 0.01
    scores = {(score.system, score.level[:3]): score for score in by_length.scores}
    assert scores["c", "hig"].shift < -5
    assert scores["c", "hig"].p < 0.05
    assert scores["c", "hig"].rank == 3
    assert by_domain.levels == ("news", "talks")
    assert by_domain.p_holm > by_domain.p or by_domain.p > 0.5


def test_balanced_data_give_the_f_of_an_analysis_of_variance() -> None:
    """Systems by domains with documents as blocks: MS(interaction) / MS(error), df (K-1)(L-1) and (K-1)(D-L)."""
    rng = np.random.default_rng(4)
    systems, levels, within = 3, 2, 10
    score = rng.normal(50, 5, (systems, levels, within)) + rng.normal(0, 4, (levels, within))
    score[0, 1] -= 4
    rows = [
        {"system": "abc"[s], "document": f"d{level}-{d}", "segment": "1", "score": score[s, level, d],
         "domain": "xy"[level], "protocol": "da"}
        for s in range(systems) for level in range(levels) for d in range(within)
    ]  # fmt: skip
    judgments = Judgments.from_columns(pl.DataFrame(rows))
    cell, document, level = score.mean(2), score.mean(0), score.mean((0, 2))
    interaction = cell - cell.mean(1, keepdims=True) - level + score.mean()
    error = score - cell[:, :, None] - document + level[:, None]
    q, df = (systems - 1) * (levels - 1), (systems - 1) * (levels * within - levels)
    f = (within * (interaction**2).sum() / q) / ((error**2).sum() / df)
    tested = score_breakdown(ScoreEstimator(judgments, model="mixed-points", check=False), "domain")
    assert tested.p == pytest.approx(stats.f.sf(f, q, df), rel=1e-3)


@pytest.mark.slow
def test_cells_that_nobody_judged_are_allowed() -> None:
    """Without people and documents the test is that of two nested least-squares fits, one cell missing."""
    rng = np.random.default_rng(9)
    cells = [(s, level) for s in "abc" for level in "xyz" if (s, level) != ("c", "z")]
    rows = [
        {"system": s, "domain": level, "protocol": "da", "score": float(rng.normal(50 + 4 * (s + level == "ax"), 6))}
        for s, level in cells
        for _ in range(6)
    ]
    table = pl.DataFrame(rows)
    cell = table.group_by("system", "domain", maintain_order=True).agg(pl.len(), pl.col("score").mean())
    full = float(((table["score"] - table.select(pl.col("score").mean().over("system", "domain"))["score"]) ** 2).sum())
    indicators = np.hstack([table["system"].to_dummies().to_numpy(), table["domain"].to_dummies().to_numpy()]).astype(
        float
    )
    score = table["score"].to_numpy()
    sums = float(((score - indicators @ np.linalg.pinv(indicators) @ score) ** 2).sum())
    q, df = cell.height - 5, table.height - cell.height
    judgments = Judgments.from_columns(table)
    tested = score_breakdown(ScoreEstimator(judgments, model="mixed-points", check=False), "domain")
    assert tested.p == pytest.approx(stats.f.sf(((sums - full) / q) / (full / df), q, df), rel=1e-6)
    assert all(not np.isnan(score.shift) for score in tested.scores)


@pytest.mark.slow
def test_the_test_keeps_its_level() -> None:
    """No interaction: of 30 campaigns 5 or fewer may be significant at .05 but in one case of a hundred (binomial)."""
    p = [breakdown(campaign(seed), "domain").columns[0].p for seed in range(30)]
    assert sum(value < 0.05 for value in p) <= 5


def test_rankings_are_broken_down() -> None:
    own = breakdown(rankings(3, weaker=1.5), "domain").columns[0]
    assert own.test == "documents permuted 1,999 times"
    assert own.p_holm < 0.01
    shifted = {score.system for score in own.scores if score.p < 0.05}
    assert "d" in shifted
    shift = {(score.system, score.level): score.shift for score in own.scores}
    assert shift["d", "news"] < -0.3
    assert shift["d", "news"] == pytest.approx(-shift["d", "talks"])


@pytest.mark.slow
def test_rankings_keep_the_level() -> None:
    """As for scores; tastes of .5 logit, whole documents of a domain."""
    rng = np.random.default_rng(1)
    p = [relative_breakdown(rankings(seed), "domain", rng, 199).p for seed in range(30)]
    assert sum(value < 0.05 for value in p) <= 5


def test_what_changes_places_fits_the_column() -> None:
    judgments = rankings(5)
    lengths = judgments.table["segment"].cast(pl.Int64) * 10 + judgments.table["document"].str.slice(1).cast(pl.Int64)
    groups = judgments.table["annotator"].str.slice(1).cast(pl.Int64) % 2
    table = judgments.table.with_columns(lengths.alias("length"), group=pl.when(groups == 0).then(pl.lit("crowd")))
    table = table.with_columns(pl.col("group").fill_null("experts"))
    tests = [column.test for column in break_down(Judgments(table), ["length", "group", "document"]).columns]
    permuted = "permuted 1,999 times"
    assert tests == [f"segments within their documents {permuted}", f"annotators {permuted}", f"segments {permuted}"]


def test_the_statistic_is_what_a_slow_computation_gives() -> None:
    rng = np.random.default_rng(2)
    units, n, levels = 7, 4, 3
    score = rng.normal(size=(units, n))
    halves = rng.normal(size=(units, n, n))
    information = halves @ np.swapaxes(halves, 1, 2)
    level = rng.integers(levels, size=(5, units))
    fast = statistics(score, information, level, levels)[0]
    for draw in range(5):
        squares = freedom = 0.0
        for subset in range(levels):
            inside = level[draw] == subset
            total, held = score[inside].sum(0), information[inside].sum(0)
            inverse = np.linalg.inv(held + RIDGE * np.eye(n))
            squares += total @ inverse @ total
            freedom += np.trace(inverse @ held)
        assert fast[draw] == pytest.approx(squares / freedom)


def test_values_make_subsets() -> None:
    table = pl.DataFrame({"flag": ["T", "F", None, "nan"], "group": ["10", "2", "2", "10"]})
    flag = subsets(table, "flag")
    assert (flag.levels, flag.code.tolist()) == (("F", "T"), [1, 0, -1, -1])
    assert subsets(table, "group").levels == ("2", "10")
    sentences = pl.DataFrame({"source_text": [" ".join(["w"] * count) for count in range(1, 13)]})
    assert subsets(sentences, "source_length").levels == ("low (1 to 4)", "middle (5 to 8)", "high (9 to 12)")


def test_long_numbers_stay_apart() -> None:
    """Six digits do not tell dates apart."""
    days = [20240501, 20240502, 20240503]
    own = subsets(pl.DataFrame({"day": days * 2}), "day")
    assert own.levels == ("20240501", "20240502", "20240503")
    assert own.code.tolist() == [0, 1, 2, 0, 1, 2]
    many = pl.DataFrame({"n": [20240500.0 + i for i in range(9)]})
    assert subsets(many, "n").levels[0] == "low (20240500 to 20240502)"


@pytest.mark.parametrize("column", ["score", "rank"])
def test_the_answers_themselves_make_no_subsets(column: str) -> None:
    with pytest.raises(UsageError, match=f"'by' {column} would divide the judgments by what is ranked"):
        subsets(pl.DataFrame({column: [1, 2]}), column)


def test_faults_are_explained() -> None:
    with pytest.raises(UsageError, match="column for 'by'"):
        breakdown(campaign(1), "domian")
    with pytest.raises(DataError, match="fewer than two values"):
        breakdown(campaign(1), "protocol")
    with pytest.raises(DataError, match="lengths need the source texts"):
        breakdown(campaign(1), "source_length")
    with pytest.raises(DataError, match="differs within what was compared"):
        breakdown(rankings(1), "system")


def test_the_command(adjudge: Callable[..., Run], tmp_path: Path) -> None:
    table = tmp_path / "judgments.parquet"
    native.write(campaign(1), table)
    result = adjudge("audit", table, "--only", "breakdown", "--by", "domain", "--json").json
    assert result["breakdown"]["columns"][0]["column"] == "domain"
    keys = {"system", "level", "n", "score", "se", "shift", "rank", "p"}
    assert set(result["breakdown"]["columns"][0]["scores"][0]) == keys


@pytest.mark.slow
def test_rank_and_report_take_a_side_table(adjudge: Callable[..., Run], tmp_path: Path) -> None:
    table, side = tmp_path / "judgments.parquet", tmp_path / "topics.csv"
    native.write(rankings(3, weaker=1.5), table)
    side.write_text("doc_id,topic\n" + "".join(f"d{i},{'sport' if i % 2 else 'law'}\n" for i in range(1, 14)))
    run = adjudge("rank", table, "--by", "topic", "--attributes", side, "--json").json
    assert run["breakdown"]["columns"][0]["levels"] == ["law", "sport"]
    assert run["settings"]["by"] == "topic"
    assert run["breakdown"]["columns"][0]["p"] < 0.05
    notes = " ".join(run["notes"])
    assert "1 of 12 values of document in the judgments" in notes
    assert "2 of 13 rows of topics.csv name a document that nobody judged" in notes
    page = tmp_path / "report.html"
    adjudge("report", table, "--by", "topic", "--attributes", side, "-o", page)
    html = page.read_text()
    assert "Systems by topic" in html
    assert "Shifts beyond chance: d in" in html
