"""Released files of scores read whole: totals, and values that the releases themselves state.

Sources: Graham et al. 2017, Table 1 and the release's own counts (assignments, workers, items); the official files of
the 2021 release; the published segment averages of the MQM ratings; counts of the files' own rows where nothing is
published.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from adjudge import read
from adjudge.readers.options import ReadOptions
from adjudge.table.judgments import Judgments, SetAside
from tests.helpers.released import read_released

NEWS = Path("wmt21") / "newstest2021-toen"


@pytest.fixture(scope="module")
def news(data: Path) -> Judgments:
    return read_released(data / NEWS, "wmt-da")


@pytest.mark.parametrize(
    ("run", "assignments", "workers", "items", "repaired"),
    [("runA", 105, 46, 10_500, 1), ("runB", 146, 47, 14_600, 2)],
)
def test_no_assignment_is_lost_from_the_crowd_batches(
    data: Path, run: str, assignments: int, workers: int, items: int, repaired: int
) -> None:
    """Graham et al. 2017, Table 1 (10,050 there is a misprint); a strict reader loses 2 of the 146."""
    judgments = read_released(data / "eacl2017" / "batched-hits" / run, "mturk-da")
    table = judgments.table
    assert table.select("task", "annotator").n_unique() == assignments
    assert table["annotator"].n_unique() == workers
    assert len(judgments) == items
    assert sum("lost its closing quote" in note for note in judgments.notes) == repaired


@pytest.mark.parametrize("run", ["runA", "runB"])
def test_batches_and_the_processed_file_hold_the_same_items(data: Path, run: str) -> None:
    columns = ["task", "annotator", "segment", "kind", "score"]
    batches = read_released(data / "eacl2017" / "batched-hits" / run, "mturk-da").table.select(columns)
    processed = read([data / "eacl2017" / run / "ad-latest.csv"], format="wmt-da").table.select(columns)
    assert batches.sort(columns).equals(processed.sort(columns))


@pytest.mark.parametrize(("run", "kept", "scored"), [("runA", 7_700, 6_160), ("runB", 8_300, 6_640)])
def test_who_passed_is_in_the_folder(data: Path, run: str, kept: int, scored: int) -> None:
    """Graham et al. 2017, Table 1: items of workers who passed, of all kinds and of SYSTEM and REPEAT."""
    passed = read([data / "eacl2017" / run], format="wmt-da").table.filter("passed")
    assert passed.height == kept
    assert passed.filter(pl.col("kind").is_in(["system", "repeat"])).height == scored
    assert not passed["rejected"].any()


def test_the_news_folder_is_read_whole(news: Judgments) -> None:
    """Rows of the standardised files, and what their official segment files count beyond them."""
    sizes = {pair: len(part) for pair, part in news.by_pair().items()}
    assert sizes == {
        "cs-en": 13_069, "de-en": 31_664 + 73, "ha-en": 21_640, "is-en": 13_230 + 1, "ja-en": 21_151, "ru-en": 14_305,
        "zh-en": 37_671,
    }  # fmt: skip
    given = news.table.filter(pl.col("annotator").is_not_null())["score"]
    assert given.eq(given.round()).all()
    assert given.is_between(0, 100).all()
    assert not any("not whole" in note or "will differ" in note for note in news.notes)


@pytest.mark.parametrize(
    ("pair", "documents"), [("cs-en", 62), ("de-en", 61), ("ha-en", 100), ("is-en", 47), ("ja-en", 81), ("ru-en", 107)]
)
def test_pages_are_documents_by_one_system(news: Judgments, pair: str, documents: int) -> None:
    """Distinct ranges of segments covered by pages of the released files."""
    table = news.for_pair(pair).table.filter(pl.col("screen").is_not_null())
    assert table["document"].n_unique() == documents
    pages = table.group_by("task", "annotator", "screen")
    assert pages.agg(pl.col("system", "document").n_unique())[["system", "document"]].max().row(0) == (1, 1)


def test_the_workers_means_come_back_from_the_undone_scores(data: Path, news: Judgments) -> None:
    """`ad-deen-trk-mean-sd.txt` states them with 7 digits."""
    table = news.for_pair("de-en").table
    lines = (data / NEWS / "ad-deen-trk-mean-sd.txt").read_text().splitlines()
    stated = {lines[at].split('"')[1]: lines[at + 1 : at + 3] for at in range(0, len(lines), 3)}
    for annotator, mean, sd in (
        table.group_by("annotator").agg(pl.col("score").mean(), pl.col("score").std().alias("sd")).rows()
    ):
        assert [f"[1] {mean:.7g}", f"[1] {sd:.7g}"] == stated[annotator]


def test_ids_of_the_wikipedia_task_carry_document_and_segment(data: Path) -> None:
    """No two rows of a system share document and segment: the official means average nothing there (N = N.ALL)."""
    table = read([data / "wmt21" / "facebook-wikipedia-2021"], format="wmt-da").table
    keys = ["source_lang", "target_lang", "system", "document", "segment"]
    assert table.height == 14_443
    assert table.select(keys).n_unique() == 14_443
    assert (table.group_by(*keys[:2], "document").agg(pl.col("system").n_unique())["system"] > 1).all()


def test_every_folder_below_is_a_campaign(data: Path) -> None:
    assert len(read([data / "wmt21"], format="wmt-da").by_pair()) == 11


def test_mqm_scores_are_the_published_averages(data: Path) -> None:
    """`mqm_ted_ende.avg_seg_scores.tsv`: one rater per segment; it calls the reference ref-A, and unrated ones None."""
    table = read([data / "mqm" / "mqm_ted_ende.tsv"], format="mqm").table
    lines = (data / "mqm" / "mqm_ted_ende.avg_seg_scores.tsv").read_text().splitlines()[1:]
    published = {
        (system.replace("ref-A", "ref"), segment): float(value)
        for system, value, segment in map(str.split, lines)
        if value != "None"
    }
    ours = {(system, segment): score for system, segment, score in table.select("system", "segment", "score").rows()}
    assert len(ours) == table.height == 7_406
    assert ours == pytest.approx(published, abs=1e-9)


def test_the_2024_wave_with_its_annotators(data: Path) -> None:
    folder = data / "wmt24esa"
    options = ReadOptions(annotators=folder / "annotator_mapping.json")
    judgments = read([folder / "esa_generalMT2024_wave3.csv"], format="appraise", options=options)
    table = judgments.table
    assert len(judgments) == 11_299
    assert (table["task"].n_unique(), table["annotator"].n_unique()) == (112, 24)
    assert len(judgments.final()) == 112 * 100
    assert (table["revision"] == 1).sum() == 112 * 100
    final = judgments.final().table
    assert final.filter(pl.col("kind") == "tutorial").height == 112 * 6
    assert final.filter(pl.col("human"))["system"].unique().to_list() == ["refA"]


def test_corrupted_items_of_the_2024_wave_meet_their_genuine_ones(data: Path) -> None:
    final = read([data / "wmt24esa" / "esa_generalMT2024_wave3.csv"], format="appraise").final().table
    keys = ["task", "document", "segment", "system"]
    bad = final.filter(pl.col("kind") == "degraded")
    genuine = final.filter(pl.col("kind").is_in(["system", "repeat"])).unique(keys)
    assert bad.join(genuine, on=keys, how="semi").height / bad.height > 0.98


@pytest.mark.parametrize("name", ["240520rc6ESA.scores.csv", "240520rc6GEMBA.scores.csv"])
def test_segments_of_the_study_are_told_by_their_place(data: Path, name: str) -> None:
    """Its items are numbered 1 to 100 in each of 33 tasks; every output was judged once, corrupted ones beside it."""
    options = ReadOptions(annotators=data / "esa-study" / "Annotators_mapping.csv")
    final = read([data / "esa-study" / name], format="appraise", options=options).final().table
    assert final.height == 3_300
    genuine = final.filter(pl.col("kind") == "system")
    keys = ["document", "segment", "system"]
    assert genuine.select(keys).n_unique() == genuine.height == 13 * 207
    bad = final.filter(pl.col("kind") == "degraded")
    assert bad.join(genuine, on=["task", *keys], how="semi").height >= bad.height - 1


def test_spans_of_the_study_fit_its_two_ways_of_counting(data: Path) -> None:
    """Pre-filled spans are end-exclusive, marked ones were end-inclusive: both come out half-open and not empty."""
    for name in ("240520rc6ESA.scores.csv", "240520rc6GEMBA.scores.csv"):
        table = read([data / "esa-study" / name], format="appraise").table
        spans = table.select(pl.col("spans").explode()).unnest("spans").filter(pl.col("side") == "target")
        assert (spans["end"] > spans["start"]).mean() == pytest.approx(1, abs=0.001)


def test_the_calibration_tasks_and_the_livonian_files(data: Path) -> None:
    judgments = read([data / "wmt22sqm"], format="appraise")
    assert len(judgments) == 1_201 + 5_327 + 10_751 - 1_139
    assert judgments.set_aside == (SetAside("score of a whole document, not of a segment", 1_139),)
    assert set(judgments.pairs) == {"en-liv", "liv-en", "en-cs", "zh-en", "en-ja", "en-zh", "en-hr", "en-de"}


def test_batches_of_the_livonian_task(data: Path) -> None:
    folder = data / "wmt22sqm"
    options = ReadOptions(batches=tuple(folder.glob("batches.*.zip")))
    file = folder / "WMT22.Appraise.SegLvlLivSrc.20221031.filtered.csv"
    assert len(read([file], format="appraise", options=options)) == 5_327
