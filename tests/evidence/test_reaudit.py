"""A published ranking beside ours: every form it comes in, what holds of it, and where the rest is lost."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import adjudge
from adjudge import read
from adjudge.evidence.reaudit import reaudit
from adjudge.evidence.verdict_comparison import say_lost
from adjudge.readers.published import read_published
from tests.conftest import Run
from tests.helpers.tables import ranking_rows, write_table

SYSTEMS = ("Opus", "Lingua", "Babel", "Echo")


@pytest.fixture(scope="module")
def scores() -> pl.DataFrame:
    """Sixteen people judge all systems; `Opus` is far ahead, the others are equal but for noise."""
    campaign = adjudge.simulate("da", systems=3, annotators=16, tasks=32, spread=0.0, controls=0, seed=5)
    named = dict(zip(campaign.judgments.systems, SYSTEMS, strict=False))
    table = campaign.judgments.table.select("annotator", "document", "segment", "system", "score")
    table = table.with_columns(pl.col("system").replace_strict(named))
    ahead = pl.when(pl.col("system") == "Opus").then(15).otherwise(0)
    return table.with_columns((pl.col("score") * 0.8 + ahead).clip(0, 100))


def test_what_is_true_holds_and_what_is_noise_does_not(scores: pl.DataFrame) -> None:
    result = adjudge.reaudit(scores, published=list(SYSTEMS), rule="raw")
    verdicts = {(claim.better, claim.worse): claim.verdict for claim in result.published_claims}
    assert len(verdicts) == 6, "an order alone tells all pairs apart"
    assert all(verdicts["Opus", other] == "holds" for other in SYSTEMS[1:])
    lost = [claim for claim in result.published_claims if claim.verdict == "not supported"]
    assert {claim.better for claim in lost} <= set(SYSTEMS[1:])
    assert all(claim.lost_at and claim.because for claim in lost)
    assert "3 hold and" in result.sentence
    assert result.sentence == result.first_lines[0]


def test_what_is_published_the_other_way_round_is_contradicted(scores: pl.DataFrame) -> None:
    result = adjudge.reaudit(scores, published=["Babel", "Opus"])
    [claim] = result.published_claims
    assert (claim.verdict, claim.lost_at) == ("contradicted", "rows")
    assert "finds the opposite (p < .001); our estimate points that way, too" in claim.because
    moved = {change.system: (change.before, change.after) for change in result.changes}
    assert moved["Opus"] == (2, 1)
    assert any("does not have" in note for note in result.notes)


def test_ranks_are_compared_among_the_systems_that_both_have(scores: pl.DataFrame) -> None:
    """The fourth of a list was said to have moved up, where two of the list were never judged."""
    result = adjudge.reaudit(scores, published=["Opus", "Else", "Other", "Echo", "Lingua", "Babel"], rule="raw")
    ours = {one.system: 1 + place for place, one in enumerate(result.systems)}
    assert {change.system: (change.before, change.after) for change in result.changes} == {
        name: (place, ours[name])
        for place, name in enumerate(("Opus", "Echo", "Lingua", "Babel"), start=1)
        if ours[name] != place
    }


def test_what_one_of_two_readings_finds_is_not_called_insignificant() -> None:
    said = [
        say_lost("model", "raw", 0.034, turned=False, found=found)
        for found in ("nothing", "one reading", "the opposite")
    ]
    assert said[0].startswith("it is not significant once annotators")
    assert said[1] == "of typical and average scores, only one finds it (p = .034)"
    assert said[2] == "our model finds the opposite (p = .034)"


def test_steps_go_from_the_rule_on_all_rows_to_our_decisions(scores: pl.DataFrame) -> None:
    result = adjudge.reaudit(scores, published=list(SYSTEMS), rule="zscore")
    assert [step.step for step in result.steps] == ["rows", "filter", "model", "correction"]
    assert result.steps[-1].differences == len(result.decided)
    assert all(step.published <= step.differences for step in result.steps)
    alone = adjudge.rank(scores)
    assert [one.system for one in result.systems] == list(alone.order)
    assert [one.rank_set for one in result.systems] == [one.rank_set for one in alone.systems]


def test_who_fails_is_a_step_of_its_own(scores: pl.DataFrame) -> None:
    """Three people click at random, as their control items show; the rule of the publication counted them."""
    kinds = scores.with_columns(kind=pl.lit("system"))
    noise = kinds.with_columns(annotator=pl.lit("click-") + (pl.col("segment").hash(1) % 3).cast(pl.String))
    noise = noise.with_columns(score=(pl.struct("segment", "system").hash(2) % 101).cast(pl.Float64))
    pairs = pl.concat([kinds, noise])
    damaged = pairs.with_columns(kind=pl.lit("degraded"))
    failing = pl.col("annotator").str.starts_with("click-")
    damaged = damaged.with_columns(score=pl.when(failing).then(pl.col("score")).otherwise(pl.col("score") / 4))
    table = pl.concat([pairs, damaged])
    result = adjudge.reaudit(table, published=list(SYSTEMS), rule="raw")
    rows, filtered, *_ = result.steps
    assert filtered.judgments < rows.judgments
    assert "without 3 annotators who fail" in filtered.means
    kept = adjudge.reaudit(table, published=list(SYSTEMS), rule="raw", everyone=True)
    assert kept.steps[1].judgments == kept.steps[0].judgments


def test_the_rule_of_the_publication_is_found(scores: pl.DataFrame) -> None:
    official = adjudge.rank(scores, method="raw")
    result = adjudge.reaudit(scores, published=list(official.order))
    assert result.reproduced
    assert result.rule in ("zscore", "raw"), "both give this order"
    other = adjudge.reaudit(scores, published=["Echo", "Babel", "Lingua", "Opus"])
    assert not other.reproduced
    assert "No rule that was tried" in other.first_lines[1]


def test_the_ranking_of_a_rule_is_audited_without_a_table(scores: pl.DataFrame) -> None:
    result = adjudge.reaudit(scores, rule="wmt25")
    assert result.reproduced
    assert result.published == "the ranking by wmt25"
    with pytest.raises(adjudge.AdjudgeError, match="give the published ranking, or the rule"):
        adjudge.reaudit(scores)


CLUSTERS = (
    "SRC TRG WINS TOTAL CLUSTER_START CLUSTER_END END_OF_CLUSTER SYSTEM\n"
    "de en 3 4 1 1 True Opus.3\nde en 1 4 2 4 False Lingua.0\nde en 1 4 2 4 False Babel.1\nde en 0 4 2 4 True Echo.2\n"
)
FORMS = {
    "clusters.csv": CLUSTERS,
    "table.csv": "Rank,System,Ave.\n1,Opus,80\n2-4,Lingua,70\n2-4,Babel,69\n2-4,Echo,68\n",
    "tiers.tsv": "model\ttier\nOpus\tA\nLingua\tB\nBabel\tB\nEcho\tB\n",
    "list.txt": "Opus\n\nLingua\nBabel\nEcho\n",
    "ranges.txt": "1. Opus 81.2\n2-4. Lingua 70.0\n2-4. Babel 69.5\n2-4. Echo 68.1\n",
    "lines.txt": "opus\n-----\nLINGUA\nbabel*\nEcho\n",
    "order.txt": "Opus > Lingua = Babel = Echo\n",
    "table.tex": "\\begin{tabular}{lr}\nSystem & Rank \\\\ \\hline\n\\textbf{Opus} & 1 \\\\\nLingua & 2--4 \\\\\n"
    "Babel & 2--4 \\\\\nEcho & 2--4 \\\\\n\\end{tabular}\n",
    "table.md": "| Rank | System |\n|---|:-:|\n| 1 | Opus |\n| 2-4 | Lingua |\n| 2-4 | Babel |\n| 2-4 | Echo |\n",
    "table.json": json.dumps(
        [{"team": n, "rank": r} for n, r in zip(SYSTEMS, ["1", "2-4", "2-4", "2-4"], strict=True)]
    ),
}


@pytest.mark.parametrize("name", FORMS)
def test_every_form_of_a_published_ranking(name: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_text(FORMS[name])
    published = read_published(file).of(SYSTEMS)
    assert dict(published.ranges) == {"Opus": (1, 1), "Lingua": (2, 4), "Babel": (2, 4), "Echo": (2, 4)}
    assert published.apart == (("Opus", "Lingua"), ("Opus", "Babel"), ("Opus", "Echo"))


def test_equal_ranks_have_a_sign_behind_them(tmp_path: Path) -> None:
    file = tmp_path / "ties.txt"
    file.write_text("1. Opus\n2= Lingua\n2= Babel\n4. Echo\n")
    ranks = {"Opus": (1, 1), "Lingua": (2, 2), "Babel": (2, 2), "Echo": (4, 4)}
    assert dict(read_published(file).ranges) == ranks
    assert dict(read_published({"Opus": "1", "Lingua": "2=", "Babel": "=2", "Echo": "4."}).ranges) == ranks


def test_groups_that_look_like_versions_are_names(tmp_path: Path) -> None:
    file = tmp_path / "tiers.tsv"
    file.write_text("model\ttier\nOpus\t1.2.3\nBabel\t1.2.4\n")
    assert dict(read_published(file).ranges) == {"Opus": (1, 1), "Babel": (2, 2)}


def test_scores_and_names_alone_are_orders(tmp_path: Path) -> None:
    by_score = pl.DataFrame({"system": ["Babel", "Opus"], "score": [60.0, 80.0]})
    assert dict(read_published(by_score).ranges) == {"Opus": (1, 1), "Babel": (2, 2)}
    assert dict(read_published({"Babel": 2, "Opus": "1"}).ranges) == {"Opus": (1, 1), "Babel": (2, 2)}
    means = tmp_path / "ad-sys-ranking-de-en-z.csv"
    means.write_text("71.9 0.126 944 1266 Opus.4 \n73.5 0.124 1000 1339 Babel.12 Babel\n")
    assert list(read_published(means).ranges) == ["Opus.4", "Babel.12"]


def test_one_language_pair_of_several_is_taken(tmp_path: Path) -> None:
    file = tmp_path / "clusters.csv"
    file.write_text(CLUSTERS + "cs en 1 2 1 2 False A.0\ncs en 1 2 1 2 True B.1\n")
    assert list(read_published(file, pair="Czech-English").ranges) == ["A.0", "B.1"]
    with pytest.raises(adjudge.AdjudgeError, match=r"ranks 2 language pairs \(de-en, cs-en\); say which"):
        read_published(file)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "holds no ranking"),
        (" " * 100_000 + "x\n" + "y\xa0" * 100_000, "line 2: has 199,999 characters where a system is named"),
        (f"{'9' * 5000} Opus\nBabel\n", "line 1: has 5,005 characters where a system is named"),
        (f"{'9' * 900} Opus\nBabel\n", "ranks none or one of the systems"),
        (f"system,rank\nOpus,{'9' * 5000}\nBabel,2\n", "9…' is no rank; give a number"),
        (f"system,rank\nOpus,1-{'9' * 5000}\nBabel,2\n", "9…' is no rank; give a number"),
        ("Team & & \\\\\nOpus & 1 & 2 \\\\\n", "has two columns of one name"),
        ("system,score\nOpus,80\nBabel,high\n", "column 'score' holds 'high', a number is needed"),
        ("system,score\nOpus,nan\nBabel,\n", "column 'score' holds 'nan', a number is needed"),
        (CLUSTERS + "de en\n", "row 5 does not have a language pair, ranks and a system"),
        (CLUSTERS + "de en 1 4 x y False Delta.3\n", "row 5 does not have a language pair, ranks and a system"),
        ("system,rank\nOpus,best\nBabel,2\n", "'best' is no rank; give a number such as 2, or a range"),
        ("Zeta\nEta\n", r"ranks none or one of the systems that were judged \(Zeta, Eta\)"),
    ],
)
def test_what_is_no_ranking_is_refused(text: str, told: str, tmp_path: Path, scores: pl.DataFrame) -> None:
    file = tmp_path / "published.csv"
    file.write_text(text)
    with pytest.raises(adjudge.AdjudgeError, match=told):
        adjudge.reaudit(scores, published=file)


def test_rankings_of_pairs_too(adjudge: Callable[..., Run], tmp_path: Path) -> None:
    file = write_table(tmp_path / "rankings.csv", ranking_rows())
    names = read(file).systems
    (tmp_path / "paper.txt").write_text("\n".join(names))
    found = adjudge("reaudit", file, "--published", tmp_path / "paper.txt", "--json").json
    assert {"systems", "changes", "decided", "published_claims", "sentence", "steps"} <= set(found)
    assert set(found["systems"][0]) >= {"system", "published_rank", "rank", "rank_set"}
    assert all(set(change) == {"system", "from", "to", "because"} for change in found["changes"])
    assert found["sentence"].startswith("Of ")
    for ending in ("html", "tex", "csv"):
        written = tmp_path / f"out.{ending}"
        assert adjudge("reaudit", file, "--published", tmp_path / "paper.txt", "-o", written).code == 0
        assert written.stat().st_size > 0


def noise(sid: int, w: int, s: int) -> float:
    """What nothing explains."""
    return (7 * sid * sid + 5 * w * s + 3 * sid * w) % 11 / 10


def test_the_gallery_audits_what_is_in_a_folder(adjudge: Callable[..., Run], tmp_path: Path) -> None:
    folder = tmp_path / "wmt21" / "newstest2021-toen"
    folder.mkdir(parents=True)
    header = "HITId\tWorkerId\tInput.src\tInput.trg\tInput.item\thit\tsys_id\trid\ttype\tsid\tscore\ttime"
    rows = [
        f"h{w}\tW{w}\tde\ten\tad\t{w}\t{name}.{s}\t{s}\tSYSTEM\t{sid}\t{0.5 - s + noise(sid, w, s)}\t9.0"
        for w in range(4)
        for sid in range(12)
        for s, name in enumerate(SYSTEMS)
    ]
    (folder / "ad-deen-good-stnd-redup.csv").write_text("\n".join([header, *rows]) + "\n")
    for w in ("", "-no-refs"):
        (folder / f"ad-deen-trk-mean-sd{w}.txt").write_text("".join(f"W{n}\n60\n20\n" for n in range(4)))
    (folder / "clusters.csv").write_text(CLUSTERS.replace("Opus.3", "Opus.0").replace("Lingua.0", "Lingua.1"))
    run = adjudge("reaudit", "--gallery", tmp_path, "--json")
    assert run.code == 0, run.err
    assert list(run.json["campaigns"]) == ["wmt21-toen de-en"]
    assert run.json["campaigns"]["wmt21-toen de-en"]["reproduced"] is True
    empty = adjudge("reaudit", "--gallery", tmp_path / "wmt21" / "newstest2021-toen")
    assert "holds no released campaign; fetch some by 'adjudge data get'" in empty.err


def test_nothing_to_audit_is_said(adjudge: Callable[..., Run]) -> None:
    assert "name the judgments, or --gallery" in adjudge("reaudit").err


def test_judgments_of_several_pairs_in_python(scores: pl.DataFrame) -> None:
    judgments = adjudge.read(scores)
    result = reaudit(judgments, read_published(list(SYSTEMS)), rule="raw")
    assert result.to_dict()["sentence"] == result.sentence
