"""Direct assessment of the workshops: which of a folder's files is read, and what they say together (made-up data)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from adjudge import read
from adjudge.table.errors import DataError, InputError
from adjudge.table.judgments import Judgments, SetAside

HEADER = "HITId WorkerId Input.src Input.trg Input.item hit sys_id rid type sid score time"
# worker: (task, pages of (system, page, type, first segment, scores))
WORK: dict[str, tuple[str, list[tuple[str, int, str, int, list[int]]]]] = {
    "w1": ("H1", [("A.1", 11, "SYSTEM", 1, [90, 70, 50]), ("HUMAN.0", 12, "SYSTEM", 4, [60, 95]),
                  ("HUMAN.0", 13, "BAD_REF", 4, [10, 20]), ("A.1", 14, "REPEAT", 1, [80, 70, 55])]),
    "w2": ("H2", [("B.2", 21, "SYSTEM", 1, [30, 40, 35]), ("A.1", 22, "REF", 4, [100, 99])]),
    "w3": ("H3", [("B.2", 31, "SYSTEM", 4, [50, 50]), ("HUMAN.0", 32, "SYSTEM", 1, [50, 50, 50])]),
}  # fmt: skip


def rows(*workers: str) -> list[str]:
    return [
        f'{task}\t{worker}\tde\ten ad 7\t"{system}" {page} {kind}\t{first + number}\t{score}\t600'
        for worker in workers or WORK
        for task, pages in [WORK[worker]]
        for system, page, kind, first, scores in pages
        for number, score in enumerate(scores)
    ]


def write(file: Path, lines: list[str], header: str = HEADER) -> Path:
    file.write_text("\n".join([header, *lines] if header else lines) + "\n")
    return file


def moments(worker: str) -> tuple[float, float]:
    scores = [score for _, _, _, _, several in WORK[worker][1] for score in several]
    return float(np.mean(scores)), float(np.std(scores, ddof=1))


def standardised(folder: Path, *, workers: tuple[str, ...] = ("w1", "w2"), digits: str = ".7g") -> None:
    """The released form: z-scores from printed means, and those means as R prints them."""
    printed = {worker: tuple(float(f"{moment:{digits}}") for moment in moments(worker)) for worker in WORK}
    lines = []
    for worker in workers:
        mean, sd = printed[worker]
        for line in rows(worker):
            fields = line.split("\t")
            fields[-2] = f"{(float(fields[-2]) - mean) / sd:.15g}"
            lines.append("\t".join(fields))
    write(folder / "ad-deen-good-stnd-redup.csv", lines)
    means = "".join(f'[1] "{worker}"\n[1] {mean:.7g}\n[1] {sd:.7g}\n' for worker, (mean, sd) in printed.items())
    (folder / "ad-deen-trk-mean-sd.txt").write_text(means)


def segment_means(folder: Path, *workers: str) -> None:
    scored: dict[tuple[str, int], list[int]] = {}
    for worker in workers:
        for system, _, kind, first, scores in WORK[worker][1]:
            for number, score in enumerate(scores):
                if kind in ("SYSTEM", "REPEAT"):
                    scored.setdefault((system, first + number), []).append(score)
    lines = [f"{system} {sid} {np.mean(several):.15g} 0.5 {len(several)} " for (system, sid), several in scored.items()]
    write(folder / "ad-seg-scores-de-en.csv", lines, "SYS SID RAW.SCR Z.SCR N ")


def scores_of(judgments: Judgments) -> list[tuple[str, str, str, str, float]]:
    return sorted(judgments.table.select("annotator", "system", "kind", "segment", "score").rows())


def test_raw_judgments_with_kinds_people_pages_and_documents(tmp_path: Path) -> None:
    judgments = read([write(tmp_path / "ad-latest.csv", rows())], format="wmt-da")
    table = judgments.table
    assert len(judgments) == 20
    assert judgments.pairs == ("de-en",)
    assert table["protocol"].unique().to_list() == ["da"]
    assert dict(table["kind"].value_counts().rows()) == {"system": 13, "repeat": 3, "degraded": 2, "reference": 2}
    assert set(table.filter("human")["system"]) == {"HUMAN.0"}
    assert table.filter(pl.col("segment") == "2")["document"].unique().to_list() == ["1-3"]
    assert table.filter(pl.col("segment") == "5")["document"].unique().to_list() == ["4-5"]
    assert table.filter(pl.col("annotator") == "w2")["screen"].unique().sort().to_list() == ["21", "22"]
    assert table["task"].unique().sort().to_list() == ["H1", "H2", "H3"]
    assert table["passed"].null_count() == 20
    assert table.filter(pl.col("task") == "H1")["active_seconds"].sum() == pytest.approx(600)


def test_a_file_without_header_and_ids_that_carry_their_place(tmp_path: Path) -> None:
    lines = [
        f'NA w cs en ad NA "{system}" NA SYSTEM cs-en-3-{document}-10{page}.{segment}_{segment} 50 0'
        for page, (system, document) in enumerate([("A", 71), ("B", 71), ("A", 8)])
        for segment in (1, 2)
    ]
    table = read([write(tmp_path / "ad-latest.csv", lines, header="")], format="wmt-da").table
    assert table["document"].to_list() == ["71", "71", "71", "71", "8", "8"]
    assert table["segment"].to_list() == ["1", "2"] * 3
    assert table["task"].unique().to_list() == ["3"]
    assert table["screen"].to_list() == ["100", "100", "101", "101", "102", "102"]
    assert table["active_seconds"].null_count() == 6


@pytest.mark.parametrize(
    ("ids", "documents"),
    [
        (["bbc.381_1", "bbc.381_2", "cnn.7_1", "cnn.7_2"], ["bbc.381", "bbc.381", "cnn.7", "cnn.7"]),
        (["a1", "b7", "c9", "d3"], [None] * 4),
        (["a_1", "a-1", "b_1", "b_2"], [None] * 4),
    ],
)
def test_other_ids_are_split_only_where_that_is_safe(
    tmp_path: Path, ids: list[str], documents: list[str | None]
) -> None:
    lines = [f"NA w cs en ad NA A NA SYSTEM {system} 50 0" for system in ids]
    table = read([write(tmp_path / "ad-latest.csv", lines)], format="wmt-da").table
    assert table["document"].to_list() == documents
    assert table.select("document", "segment").n_unique() == 4


DOCUMENTS = [(1, 5), (6, 8), (9, 14), (15, 16)]


def pages_of_documents() -> list[str]:
    """Pages of four documents by ten systems each."""
    pages = [(system, *document) for system in range(10) for document in DOCUMENTS]
    return [
        f"H{number} w cs en ad {number} S{system} {number} SYSTEM {sid} 50 0"
        for number, (system, low, high) in enumerate(pages)
        for sid in range(low, high + 1)
    ]


def coded_pages() -> list[str]:
    """Pages of three documents by ten systems each, whose ids carry their place."""
    return [
        f"NA w cs en ad NA S{system} NA SYSTEM cs-en-3-{document}-{10 * system + document}.{sid}_{sid} 50 0"
        for system in range(10)
        for document in (7, 8, 9)
        for sid in (1, 2, 3)
    ]


@pytest.mark.parametrize("damage", ["-1", "x", "7_1", "1000000", "99999999999999999999", "9" * 5000, "", "lost", "15"])
@pytest.mark.parametrize("make", [pages_of_documents, coded_pages])
def test_one_damaged_id_changes_the_document_of_no_other_judgment(
    tmp_path: Path, make: Callable[[], list[str]], damage: str
) -> None:
    place = ["system", "segment", "document", "task", "screen"]
    lines = make()
    before = read([write(tmp_path / "ad-latest.csv", lines)], format="wmt-da").table
    assert before["document"].null_count() == 0
    for row in (0, 2, 4, 30):
        fields = lines[row].split(" ")
        fields[9] = damage
        damaged = [] if damage == "lost" else [" ".join(fields)]
        changed = [*lines[:row], *damaged, *lines[row + 1 :]]
        after = read([write(tmp_path / "ad-latest.csv", changed)], format="wmt-da", bad_rows=1.0).table
        expected = before.select(place).rows()
        assert not set(expected[:row] + expected[row + 1 :]) - set(after.select(place).rows())


def test_a_damaged_id_makes_no_documents_of_pages_of_single_segments(tmp_path: Path) -> None:
    lines = [f"H{i} w cs en ad {i} {s} {i} SYSTEM {i} 50 0" for i in range(40) for s in "AB"]
    lines[0] = lines[0].replace("SYSTEM 0", "SYSTEM 1")
    assert read([write(tmp_path / "ad-latest.csv", lines)], format="wmt-da").table["document"].null_count() == 80


def test_pages_of_single_segments_tell_no_documents(tmp_path: Path) -> None:
    lines = [f"H w cs en ad 1 A {100 + i} SYSTEM {i} 50 0" for i in range(4)]
    assert read([write(tmp_path / "ad-latest.csv", lines)], format="wmt-da").table["document"].null_count() == 4


def test_who_passed_comes_from_the_filtered_file(tmp_path: Path) -> None:
    write(tmp_path / "ad-latest.csv", rows())
    write(tmp_path / "ad-good-raw.csv", rows("w1", "w3"))
    table = read([tmp_path], format="wmt-da").table
    assert table.height == 20
    assert dict(table.group_by("annotator").agg(pl.col("passed").all()).rows()) == {"w1": True, "w2": False, "w3": True}
    assert not table["copy"].any()
    assert scores_of(read([tmp_path / "ad-latest.csv"], format="wmt-da")) == scores_of(
        read([tmp_path], format="wmt-da")
    )


def test_outputs_that_systems_share_are_copies_beside_the_judgment(tmp_path: Path) -> None:
    """Expansion adds rows for C.3, which produced what B.2 did; a worker's mean must not count them."""
    write(tmp_path / "ad-latest.csv", rows())
    again = [line.replace("B.2", "C.3") for line in rows("w2") if "B.2" in line]
    write(tmp_path / "ad-good-raw-redup.csv", [*rows("w1", "w2"), *again])
    table = read([tmp_path], format="wmt-da").table
    assert table.height == 23
    assert table.filter("copy")["system"].to_list() == ["C.3"] * 3
    assert table.filter("copy")["passed"].all()
    own = table.filter(~pl.col("copy") & (pl.col("annotator") == "w2"))["score"]
    assert (own.mean(), own.std()) == pytest.approx(moments("w2"))
    assert table.filter(pl.col("annotator") == "w3")["passed"].to_list() == [False] * 5


def test_a_system_that_was_filtered_out_is_not_mistaken_for_another(tmp_path: Path) -> None:
    lines = [f"NA w cs en ad NA {system} NA SYSTEM 7 50 0" for system in ("A", "B")]
    write(tmp_path / "ad-latest.csv", lines)
    write(tmp_path / "ad-good-raw.csv", lines[1:])
    table = read([tmp_path], format="wmt-da").table
    assert sorted(table.select("system", "passed", "copy").rows()) == [("A", False, False), ("B", True, False)]


def test_scores_of_whole_documents_are_left_alone_beside_segments(tmp_path: Path) -> None:
    write(tmp_path / "ad-latest.csv", rows())
    header = "HITId WorkerId Input.src Input.trg Input.item hit sys_id rid type doc_id doc_snts score time"
    file = write(tmp_path / "ad-latest-doc.csv", ["H w de en ad 1 A.1 1 SYSTEM d1 5 50 0"], header)
    judgments = read([tmp_path], format="wmt-da")
    assert len(judgments) == 20
    assert judgments.notes == ("ad-latest-doc.csv: 1 score of whole documents left alone",)
    assert len(read([file], format="wmt-da")) == 1


def test_equal_scores_of_one_worker_are_no_copies_without_a_sign(tmp_path: Path) -> None:
    lines = [f"NA w cs en ad NA {system} NA SYSTEM 7 50 0" for system in ("A", "B")]
    write(tmp_path / "ad-good-raw.csv", lines)
    write(tmp_path / "ad-good-raw-redup.csv", lines)
    assert not read([tmp_path], format="wmt-da").table["copy"].any()


def test_standardised_scores_are_undone_exactly(tmp_path: Path) -> None:
    standardised(tmp_path)
    judgments = read([tmp_path], format="wmt-da")
    raw = read([write(tmp_path / "raw.csv", rows("w1", "w2"))], format="wmt-da")
    assert scores_of(judgments) == scores_of(raw)
    assert judgments.table["passed"].all()
    assert judgments.notes == ()


def test_workers_without_spread_come_back_from_the_segment_means(tmp_path: Path) -> None:
    """w3 gave 50 throughout: no z exists, so the standardised file lacks w3, but official raw means count w3."""
    standardised(tmp_path)
    segment_means(tmp_path, "w1", "w2", "w3")
    (tmp_path / "ad-trk-stats.class").write_text("w1\tgood\nw2\tgood\nw3\tgood\n")
    judgments = read([tmp_path], format="wmt-da")
    added = judgments.table.filter(pl.col("annotator") == "w3")
    assert sorted(added.select("system", "segment", "document", "score").rows()) == [
        ("B.2", "4", "4-5", 50.0), ("B.2", "5", "4-5", 50.0), ("HUMAN.0", "1", "1-3", 50.0),
        ("HUMAN.0", "2", "1-3", 50.0), ("HUMAN.0", "3", "1-3", 50.0),
    ]  # fmt: skip
    assert judgments.notes == (
        "ad-seg-scores-de-en.csv: 5 judgments of workers without spread are put back from the segment means",
    )


def test_segment_means_that_nothing_explains_are_reported(tmp_path: Path) -> None:
    standardised(tmp_path, workers=("w1",))
    segment_means(tmp_path, "w1")
    with (tmp_path / "ad-seg-scores-de-en.csv").open("a") as file:
        file.write("A.1 9 33 0.1 1\n")
    notes = read([tmp_path], format="wmt-da").notes
    assert notes == ("ad-seg-scores-de-en.csv: 1 judgment that the segment means count is in no file",)


def test_means_of_another_version_are_reported(tmp_path: Path) -> None:
    standardised(tmp_path)
    means = (tmp_path / "ad-deen-trk-mean-sd.txt").read_text()
    first = f"{moments('w1')[0]:.7g}"
    (tmp_path / "ad-deen-trk-mean-sd.txt").write_text(means.replace(first, f"{float(first) - 0.25:.7g}", 1))
    (note,) = read([tmp_path], format="wmt-da").notes
    assert "10 of 15 scores are not whole once standardisation is undone (off by up to 0.25)" in note


def test_judgments_that_a_released_mean_counts_and_the_file_lacks_are_reported(tmp_path: Path) -> None:
    standardised(tmp_path)
    file = tmp_path / "ad-deen-good-stnd-redup.csv"
    file.write_text("\n".join(file.read_text().splitlines()[:-1]) + "\n")
    (note,) = read([tmp_path], format="wmt-da").notes
    assert "the released means of 1 of 2 workers are not those of their judgments here" in note


def test_standardised_scores_without_means_stay_as_they_are(tmp_path: Path) -> None:
    standardised(tmp_path)
    (tmp_path / "ad-deen-trk-mean-sd.txt").unlink()
    judgments = read([tmp_path], format="wmt-da")
    assert judgments.table["score"].mean() == pytest.approx(0, abs=1e-6)
    assert "in standard deviations, not points" in judgments.notes[0]


def test_segment_means_alone(tmp_path: Path) -> None:
    segment_means(tmp_path, "w1", "w2")
    judgments = read([tmp_path], format="wmt-da")
    table = judgments.table
    assert judgments.pairs == ("de-en",)
    assert table["annotator"].null_count() == table.height == 8
    assert table.filter((pl.col("system") == "A.1") & (pl.col("segment") == "1")).select("score", "z", "n").row(0) == (
        85.0, 0.5, 2,
    )  # fmt: skip
    assert "only segment means were released for de-en" in judgments.notes[0]


def test_the_fullest_file_of_each_pair_is_read(tmp_path: Path) -> None:
    """All judgments of de-en; fr-en only standardised and expanded; the segment means are not needed then."""
    write(tmp_path / "ad-latest.csv", rows())
    standardised(tmp_path)
    segment_means(tmp_path, "w1")
    for name in ("ad-deen-good-stnd-redup.csv", "ad-deen-trk-mean-sd.txt"):
        text = (tmp_path / name).read_text().replace("\tde\t", "\tfr\t")
        (tmp_path / name.replace("deen", "fren")).write_text(text)
    judgments = read([tmp_path], format="wmt-da")
    assert {pair: len(part) for pair, part in judgments.by_pair().items()} == {"de-en": 20, "fr-en": 15}


def test_files_of_other_language_pairs_are_not_read_where_one_is_wanted(tmp_path: Path) -> None:
    """The pair comes out as it does from the whole folder, fingerprint and all; a pair no file is named after, too."""
    standardised(tmp_path)
    for name in ("ad-deen-good-stnd-redup.csv", "ad-deen-trk-mean-sd.txt"):
        text = (tmp_path / name).read_text().replace("\tde\t", "\tfr\t")
        text = text.replace("\tw", "\tv").replace('"w', '"v')  # other people
        (tmp_path / name.replace("deen", "fren")).write_text(text)
    write(tmp_path / "ad-seg-scores-cs-en.csv", ["A.1 1 85 0.5 2 "], "SYS SID RAW.SCR Z.SCR N ")
    whole = read([tmp_path], format="wmt-da")
    for pair in ("de-en", "fr-en", "cs-en"):
        part = read([tmp_path], format="wmt-da", pair=pair)
        assert part.fingerprint == whole.for_pair(pair).fingerprint
        assert part.notes == whole.for_pair(pair).notes
    (tmp_path / "ad-fren-good-stnd-redup.csv").write_text("damaged")
    assert len(read([tmp_path], format="wmt-da", pair="de-en")) == 15
    with pytest.raises(InputError, match="ad-fren-good-stnd-redup"):
        read([tmp_path], format="wmt-da", pair="fr-en")


def test_a_pair_that_no_file_is_named_after_is_looked_for_in_all(tmp_path: Path) -> None:
    standardised(tmp_path)
    (tmp_path / "ad-deen-good-stnd-redup.csv").rename(tmp_path / "ad-gren-good-stnd-redup.csv")
    (tmp_path / "ad-deen-trk-mean-sd.txt").rename(tmp_path / "ad-gren-trk-mean-sd.txt")
    assert len(read([tmp_path], format="wmt-da", pair="de-en")) == 15
    with pytest.raises(DataError, match="'el-en' is not in the data; it has de-en"):
        read([tmp_path], format="wmt-da", pair="el-en")


def test_every_folder_with_scores_is_a_campaign(tmp_path: Path) -> None:
    for name in ("one", "two/analysis"):
        (tmp_path / name).mkdir(parents=True)
        write(tmp_path / name / "ad-latest.csv", rows())
    (tmp_path / "notes").mkdir()
    judgments = read([tmp_path], format="wmt-da")
    assert judgments.table["campaign"].unique(maintain_order=True).to_list() == ["one", "two"]
    assert list(judgments.by_pair()) == ["one/de-en", "two/de-en"]


def test_times_and_rejection_come_from_the_files_beside(tmp_path: Path) -> None:
    write(tmp_path / "ad-latest.csv", rows())
    header = (
        "hit wid src trg item work.seconds accept.time submit.time concurrent.hits corrected.work.seconds approval "
    )
    line = 'H1\tw1\tde\ten\tad\t900\t"2021-08-30 02:15:11"\t"2021-08-30 02:30:11"\t2\t450\tRejected\t'
    (tmp_path / "ad-corrected-hit-times.csv").write_text(f"{header}\n{line}\n")
    first = read([tmp_path], format="wmt-da").table.filter(pl.col("annotator") == "w1")
    assert first["active_seconds"].to_list() == pytest.approx([45.0] * 10)
    assert (first["ended"] - first["started"]).dt.total_seconds().unique().to_list() == [900]
    assert first["rejected"].all()


def test_rates_of_rejection_mark_the_worker(tmp_path: Path) -> None:
    write(tmp_path / "ad-latest.csv", rows())
    (tmp_path / "ad-wrkr-stats.csv").write_text("wid hit.count reject.rate\nw1 1 0\nw2 2 0.5\nw3 1 0\n")
    table = read([tmp_path], format="wmt-da").table
    assert table.filter("rejected")["annotator"].unique().to_list() == ["w2"]


def test_missing_scores_are_set_aside(tmp_path: Path) -> None:
    file = write(tmp_path / "ad-latest.csv", [*rows("w1"), "H w de en ad 1 A 1 SYSTEM 1 NA 0"])
    judgments = read([file], format="wmt-da")
    assert len(judgments) == 10
    assert judgments.set_aside == (SetAside("no score was given", 1),)


def test_an_empty_companion_is_no_fault_but_an_empty_main_file_is(tmp_path: Path) -> None:
    for name in ("ad-latest-doc.csv", "ad-good-raw-redup.csv", "ad-seg-scores-de-en.csv"):
        (tmp_path / name).write_text("")
    main = write(tmp_path / "ad-latest.csv", rows())
    assert len(read([tmp_path], format="wmt-da")) == 20
    main.write_text(HEADER + "\n")
    with pytest.raises(InputError, match=r"ad-latest\.csv: is empty"):
        read([main], format="wmt-da")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("H w de en ad 1 A 1 SYSTEM 1 1000 0", "line 12: score is 1000, it must lie between 0 and 100"),
        ("H w de en ad 1 A 1 SYSTEM 1 -3 0", "line 12: score is -3, it must lie between 0 and 100"),
        ("H w de en ad 1 A 1 SYSTEM 1 high 0", "line 12: score is 'high', a number is needed"),
        ("H w de en ad 1 A 1 GOLD 1 50 0", "line 12: type is 'GOLD'"),
        ("H w de en ad 1 A 1 SYSTEM 1 50", "line 12: 11 fields where the first line has 12"),
    ],
)
def test_faults_name_file_line_and_value(tmp_path: Path, line: str, message: str) -> None:
    file = write(tmp_path / "ad-latest.csv", [*rows("w1"), line])
    with pytest.raises(InputError, match=message):
        read([file], format="wmt-da")


def test_files_that_hold_no_scores_are_refused_with_advice(tmp_path: Path) -> None:
    file = tmp_path / "ad-sys-ranking-de-en-z.csv"
    file.write_text("82.1 0.202 494 494 A.1\n")
    with pytest.raises(InputError, match=r"holds no scores by itself; give ad-latest\.csv"):
        read([file], format="wmt-da")
    with pytest.raises(InputError, match="holds no file of scores such as"):
        read([tmp_path], format="wmt-da")


def test_a_worker_without_mean_is_named(tmp_path: Path) -> None:
    standardised(tmp_path)
    (tmp_path / "ad-deen-trk-mean-sd.txt").write_text('[1] "w1"\n[1] 50\n[1] 10\n')
    with pytest.raises(InputError, match="no mean and spread for worker 'w2'"):
        read([tmp_path], format="wmt-da")


def test_a_system_for_each_of_those_that_share_an_output(tmp_path: Path) -> None:
    lines = [
        f"H1 w1 de en ad 7 {system} {page} SYSTEM {segment} {score} 600"
        for page, (system, segment, score) in enumerate(
            [("A.1", 1, 50), ("B.2", 1, 20), ("A.1+B.2", 2, 90), ("R2L+Back.3", 3, 10)]
        )
    ]
    judgments = read([write(tmp_path / "ad-latest.csv", lines)], format="wmt-da")
    assert judgments.table.select("system", "segment", "score", "copy").rows() == [
        ("A.1", "1", 50.0, False), ("B.2", "1", 20.0, False), ("A.1", "2", 90.0, False), ("B.2", "2", 90.0, True),
        ("R2L+Back.3", "3", 10.0, False),
    ]  # fmt: skip
    assert judgments.notes[0].endswith("1 output is shared by systems; each has a row")


def test_segment_means_of_several_pairs_in_one_file(tmp_path: Path) -> None:
    """Segment-level campaigns of 2017: header as public readers of those files quote it, rows made up."""
    header = "SRC TRG HIT N.raw N.z SID SYS RAW.SCR Z.SCR"
    lines = ["en zh 1 15 14 7 A.1 60.5 0.1", "en zh 1 15 15 7 B.2 40 -0.3", "en ru 2 16 16 9 A.1+B.2 80 0.5",
             "en ru 2 16 16 8 A.1 80 0.5", "en ru 2 16 16 8 B.2 70 0.25"]  # fmt: skip
    judgments = read([write(tmp_path / "ad-seg-scores.csv", lines, header)], format="wmt-da")
    assert judgments.pairs == ("en-zh", "en-ru")
    assert judgments.for_pair("en-zh").table.select("system", "segment", "score", "z", "n").rows() == [
        ("A.1", "7", 60.5, 0.1, 15), ("B.2", "7", 40.0, -0.3, 15),
    ]  # fmt: skip
    assert judgments.for_pair("en-ru").table.filter(pl.col("segment") == "9")["system"].to_list() == ["A.1", "B.2"]


def test_files_whose_scores_are_all_missing_are_explained(tmp_path: Path) -> None:
    file = tmp_path / "ad-latest.csv"
    file.write_text(
        "H2 w2 cs en ad 5 HUMAN.0 102 REF 8 NA 0\nH2 w2 cs en ad 5 HUMAN.0 102 REF 9 NA 0\n", encoding="utf-8"
    )
    with pytest.raises(InputError, match="it holds no scores; check that the file is complete"):
        read([file], format="wmt-da")
