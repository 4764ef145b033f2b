"""`adjudge rank --with`: what users give, what they get, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import adjudge
from tests.conftest import assert_explained
from tests.helpers.tables import SYSTEMS, command, ranking_rows, score_rows, write_table

SEGMENTS = 24
WHOLE = 120


def metric_table(judged: Path, *, systems: tuple[str, ...] = SYSTEMS, segments: int = WHOLE) -> pl.DataFrame:
    """Two metrics of all outputs, the first of which knows the mean human score of what was judged."""
    rng = np.random.default_rng(5)
    scores = pl.read_csv(judged).filter(pl.col("kind") == "system")
    means = {(system, segment): mean for system, segment, mean in _means(scores).iter_rows()}
    outputs = [(system, str(segment)) for system in systems for segment in range(segments)]
    return pl.DataFrame(
        {
            "system": [system for system, _ in outputs],
            "segment": [segment for _, segment in outputs],
            "comet": [means.get((s, int(i)), 62 + 8 * rng.normal()) + 4 * rng.normal() for s, i in outputs],
            "noise": rng.normal(size=len(outputs)),
        }
    )


def _means(scores: pl.DataFrame) -> pl.DataFrame:
    return scores.group_by("system", "segment").agg(pl.col("score").mean()).select("system", "segment", "score")


@pytest.fixture
def judged(tmp_path: Path) -> Path:
    return write_table(tmp_path / "scores.csv", score_rows())


@pytest.fixture
def metrics(judged: Path, tmp_path: Path) -> Path:
    file = tmp_path / "metrics.tsv"
    metric_table(judged).write_csv(file, separator="\t")
    return file


def test_json_has_helpers_and_gain(judged: Path, metrics: Path) -> None:
    run = command("rank", judged, "--with", metrics, "--json")
    assert run.code == 0, run.err
    found = json.loads(run.out)
    assert [helper["name"] for helper in found["helpers"]] == ["comet", "noise"]
    assert found["helpers"][0].keys() == {"name", "slope", "gain", "gain_low", "gain_high", "scored", "unscored"}
    assert {type(helper["slope"]) for helper in found["helpers"]} == {float}
    for gained in (found, *found["helpers"]):
        assert gained["gain"] == 1 or gained["gain_low"] > 1
        assert gained["gain_low"] <= gained["gain_high"]
    assert found["settings"]["helpers"] == 2
    assert f"|with:{found['settings']['with']}|" in found["signature"]
    assert "score" in found["systems"][0]
    plain = json.loads(command("rank", judged, "--json").out)
    assert plain["helpers"] == []
    assert plain["gain"] is None
    assert "with" not in plain["settings"]


def test_the_signature_tells_other_scores(judged: Path, metrics: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.tsv"
    other.write_text(metrics.read_text().replace("a\t0\t", "a\t0\t1", 1))
    first, second = (json.loads(command("rank", judged, "--with", file, "--json").out) for file in (metrics, other))
    assert first["data"] == second["data"]
    assert first["signature"] != second["signature"]


def test_text_names_the_helpers_and_says_what_is_assumed(judged: Path, metrics: Path) -> None:
    run = command("rank", judged, "--with", metrics)
    assert run.code == 0, run.err
    assert "Helpers: metrics with scores of all outputs" in run.out
    assert "comet" in run.out
    assert "All together" in run.out
    assert "helpers assume that the judged segments are a random draw" in run.out


@pytest.mark.parametrize("ending", ["html", "csv", "tex", "txt"])
def test_files_show_the_helpers(judged: Path, metrics: Path, tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"out.{ending}"
    run = command("rank", judged, "--with", metrics, "-o", file)
    assert run.code == 0, run.err
    texts = [path.read_text(encoding="utf-8") for path in tmp_path.glob(f"*.{ending}") if path.name != "scores.csv"]
    assert any("comet" in text for text in texts)


def test_files_one_by_one_folders_frames_and_lists_are_the_same(judged: Path, metrics: Path, tmp_path: Path) -> None:
    table = pl.read_csv(metrics, separator="\t", schema_overrides={"segment": pl.String})
    folder = tmp_path / "folder"
    folder.mkdir()
    shifted = table.with_columns(segment=(pl.col("segment").cast(pl.Int64) + 1).cast(pl.String))
    for name in ("comet", "noise"):
        table.select("system", "segment", name).write_csv(tmp_path / f"{name}.csv")
        lines = shifted.select("system", name).iter_rows()
        (folder / f"{name}.seg.score").write_text("".join(f"{system}\t{score}\n" for system, score in lines))
    long = table.unpivot(index=["system", "segment"], variable_name="metric", value_name="score")
    long.write_csv(tmp_path / "long.csv")
    once = adjudge.rank(judged, with_scores=metrics)
    for given in (
        [tmp_path / "comet.csv", tmp_path / "noise.csv"],
        table,
        pd.DataFrame(table.to_dict(as_series=False)),
        long,
        str(tmp_path / "long.csv"),
    ):
        assert adjudge.rank(judged, with_scores=given).to_dict() == once.to_dict()
    run = command("rank", judged, "--with", tmp_path / "comet.csv", "--with", tmp_path / "noise.csv", "--json")
    assert json.loads(run.out)["signature"] == once.signature
    # Lines of these files are numbered from 1, as the segments of judgments must be then.
    judgments = adjudge.read(judged)
    counted = adjudge.read(judgments.table.with_columns(segment=(pl.col("segment").cast(pl.Int64) + 1).cast(pl.String)))
    by_lines = adjudge.rank(counted, with_scores=folder)
    assert by_lines.gain == pytest.approx(once.gain, rel=1e-9)
    assert [helper.name for helper in by_lines.helpers] == ["comet", "noise"]


def test_the_order_of_rows_does_not_matter(judged: Path, metrics: Path) -> None:
    table = pl.read_csv(metrics, separator="\t", schema_overrides={"segment": pl.String})
    once, shuffled = (
        adjudge.rank(judged, with_scores=each) for each in (table, table.sample(fraction=1.0, shuffle=True, seed=1))
    )
    assert shuffled.gain == pytest.approx(once.gain, rel=1e-6)
    assert [system.score for system in shuffled.systems] == pytest.approx([s.score for s in once.systems], abs=1e-6)
    assert shuffled.signature == once.signature


def test_differences_keep_their_meaning_and_get_smaller_errors(judged: Path, metrics: Path) -> None:
    for method in ("mixed", "mixed-rank", "mixed-points", "mixed-plain"):
        plain, better = adjudge.rank(judged, method=method), adjudge.rank(judged, method=method, with_scores=metrics)
        assert set(better.order) == set(plain.order)
        assert better.gain is not None
        errors = [{(c.better, c.worse): c.numbers["se"] for c in each.comparisons} for each in (plain, better)]
        pairs = {frozenset(pair): se for pair, se in errors[0].items()}
        ratios = [(float(pairs[frozenset(pair)] or 0) / float(se or 1)) ** 2 for pair, se in errors[1].items()]
        assert better.gain == pytest.approx(np.mean(ratios), rel=1e-9)


def test_unscored_and_strange_systems_are_named(judged: Path, tmp_path: Path) -> None:
    file = tmp_path / "metrics.csv"
    metric_table(judged, systems=("a", "b", "c", "d")).with_columns(
        pl.when((pl.col("system") == "a") & (pl.col("segment") == "0"))
        .then(None)
        .otherwise(pl.col("comet"))
        .alias("comet")
    ).write_csv(file)
    ranking = adjudge.rank(judged, with_scores=file)
    assert any(note.startswith("ref: no scores by comet and noise") for note in ranking.notes)
    assert any("judgments of outputs without a score by comet" in note for note in ranking.notes)
    assert any("metric score of a system without human scores: d" in aside.reason for aside in ranking.set_aside)
    assert any(aside.reason == "metric score that is missing (None or empty)" for aside in ranking.set_aside)


def test_a_breakdown_says_that_it_is_without_helpers(judged: Path, metrics: Path) -> None:
    ranking = adjudge.rank(judged, with_scores=metrics, by="document")
    assert any("breakdown is of human scores alone" in note for note in ranking.notes)


def test_methods_without_a_model_refuse_helpers(judged: Path, metrics: Path, tmp_path: Path) -> None:
    run = command("rank", judged, "--with", metrics, "--method", "zscore")
    assert_explained(
        run, code=2, names=("zscore cannot use --with; choose one of mixed, mixed-rank, mixed-points, mixed-plain",)
    )
    rankings = write_table(tmp_path / "rankings.csv", ranking_rows())
    run = command("rank", rankings, "--with", metrics, "--method", "expected-wins")
    assert_explained(run, code=2, names=("expected-wins cannot use --with; choose one of bradley-terry by --method",))
    with pytest.raises(adjudge.AdjudgeError, match="zscore cannot use 'with_scores'"):
        adjudge.rank(judged, with_scores=metrics, method="zscore")


def test_several_language_pairs_are_refused(metrics: Path, tmp_path: Path) -> None:
    both = write_table(tmp_path / "both.csv", [*score_rows(), *score_rows(pair="de,en")])
    run = command("rank", both, "--with", metrics)
    assert_explained(run, code=2, names=("the judgments hold cs-en, de-en; choose one with --pair",))
    assert command("rank", both, "--with", metrics, "--pair", "de-en").code == 0


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("system\tsegment\tcomet\nx\t1\t0.5\n", "--with scores none of the judged systems: it has x"),
        ("system\tcomet\na\t0.5\nb\t0.6\n", "--with holds scores of whole test sets only"),
        ("system\tsegment\tcomet\na\t0\t\n", "--with holds no scores"),
        ("system\tsegment\tcomet\na\t0\t0.5\nb\t0\t0.4\n", "--with has scores by 'comet' for"),
        ("system\tsegment\tcomet\na\t0\thigh\n", "high"),
        ("system\tsegment\tcomet\na\t0\t0.5\na\t0\t0.6\n", "two scores of segment '0'"),
        ("", "is empty"),
    ],
)
def test_scores_of_no_use_are_refused(judged: Path, tmp_path: Path, text: str, problem: str) -> None:
    file = tmp_path / "bad.tsv"
    file.write_text(text)
    run = command("rank", judged, "--with", file)
    assert_explained(run, code=1, names=(problem,))


def test_judgments_without_segments_are_refused(judged: Path, metrics: Path, tmp_path: Path) -> None:
    file = tmp_path / "nameless.csv"
    pl.read_csv(judged).drop("segment").write_csv(file)
    run = command("rank", file, "--with", metrics)
    assert_explained(run, code=1, names=("the judgments name no segments",))
    run = command("rank", judged, "--with", tmp_path / "missing.tsv")
    assert_explained(run, code=1, names=("missing.tsv",))
    with pytest.raises(adjudge.AdjudgeError, match="metric scores cannot be read from int"):
        adjudge.rank(judged, with_scores=3)


def test_human_scores_are_no_helper(judged: Path, tmp_path: Path) -> None:
    """One annotator's scores as a metric: corrected by themselves, nothing is left of them."""
    table = pl.read_csv(judged).filter((pl.col("annotator") == "x") & (pl.col("kind") == "system"))
    alone, copy = tmp_path / "alone.csv", tmp_path / "copy.csv"
    table.write_csv(alone)
    table.select("system", "segment", metric=pl.col("score")).rename({"metric": "same"}).write_csv(copy)
    run = command("rank", alone, "--with", copy, "--method", "mixed-points")
    assert_explained(run, names=("--with explains every human score exactly", "leave out --with"))


def test_segments_drawn_with_probabilities_are_weighted(judged: Path, metrics: Path, tmp_path: Path) -> None:
    file = tmp_path / "drawn.csv"
    table = pl.read_csv(judged)
    table.with_columns(inclusion=pl.when(pl.col("segment") < 12).then(0.5).otherwise(0.1)).write_csv(file)
    ranking = adjudge.rank(file, with_scores=metrics)
    assert any("probabilities in the column 'inclusion'" in note for note in ranking.notes)
    assert not any("random draw" in note for note in ranking.notes)
