"""Small made-up files under the names that the examples of the help texts use."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np

from adjudge import read
from adjudge.readers import native
from tests.conftest import ROOT
from tests.helpers.tables import ranking_rows, score_rows, write_table

SYSTEMS = ("_ref", "cu", "online", "uedin", "dcu")
JUDGES = ("judge1", "judge2", "judge3", "judge4")
PAIRS = (("English", "Czech"), ("French", "English"))


def write_all(folder: Path) -> None:
    """Everything that the examples read."""
    rng = np.random.default_rng(1)
    write_rankings(folder / "data_RNK.csv", rng)
    (folder / "wmt10").mkdir()
    shutil.copy(folder / "data_RNK.csv", folder / "wmt10" / "data_RNK.csv")
    shutil.copy(folder / "data_RNK.csv", folder / "wmt12.RNK_results.csv")
    write_edits(folder / "data_EDT.tsv")
    for name in ("batches", "runA", "runB"):
        (folder / name).mkdir()
        write_batches(folder / name / "Batch_1_batch_results.csv", rng)
    keys = [f"{segment}\tdocument{segment // 4}" for segment in range(24)]
    (folder / "seg-key.txt").write_text("\n".join(["segment\tdocument", *keys]) + "\n")
    write_ranks(folder / "bts", rng)
    write_ranks(folder / "ats", rng)
    write_scores(folder, rng)
    write_post_edits(folder)
    (folder / "newstest.en.txt").write_text("He said: ''no''.\nIt was there.\n\nA new document .\n")
    shutil.copytree(ROOT / "examples", folder / "examples")
    write_campaigns(folder)


def write_campaigns(folder: Path) -> None:
    """Judgments to look at, and two campaigns over the same systems, one of which has another name in each."""
    people = ("x", "y", "z", "u", "v")
    ranked = write_table(folder / "ranking.csv", ranking_rows(groups=(("sysA", "b", "c", "d"),), people=people))
    scored = write_table(folder / "scores.csv", score_rows(systems=("alpha", "b", "c", "d"), people=people))
    (folder / "table2.csv").write_text("system,rank\nd,1\nc,2\nb,3\nalpha,4\n")
    native.write(read(ranked), folder / "ranking.parquet")
    native.write(read(scored), folder / "scores.parquet")
    native.write(read(scored), folder / "judgments.parquet")


def write_rankings(file: Path, rng: np.random.Generator) -> None:
    """Blocks of all systems, better ones ranked better on the whole, every third segment judged twice."""
    numbered = [f"system{i}Number,system{i}Id" for i in range(1, 6)]
    ranked = [f"system{i}rank" for i in range(1, 6)]
    rows = [",".join(["srclang,trglang,srcIndex,documentId,segmentId,judgeId", *numbered, *ranked])]
    for source, target in PAIRS:
        for block in range(60):
            judge, segment = JUDGES[block % 4], block // 3 + 1
            shown = [f"{i},{name}" for i, name in enumerate(SYSTEMS)]
            ranks = [str(int(np.clip(number + rng.integers(0, 3), 1, 5))) for number in range(5)]
            rows.append(
                ",".join([source, target, str(segment), f"d{segment // 5}", str(segment), judge, *shown, *ranks])
            )
    file.write_text("\n".join(rows) + "\n")


def write_edits(file: Path) -> None:
    header = "editId srclang trglang srcIndex documentId segmentId editorId system1Number system1Id "
    header += "system1actionVal system1actionStr system1edit"
    rows = ["\t".join(header.split())]
    for i in range(40):
        number, action = i % 4 + 1, ("1\tEDIT\tbetter", "2\tOK\t", "3\tBAD\t")[i % 3]
        where = f"{i}\tEnglish\tCzech\t{i // 4 + 1}\td1\t{i // 4 + 1}\teditor\t{number}\t{SYSTEMS[number]}"
        rows.append(f"{where}\t{action}")
    file.write_text("\n".join(rows) + "\n")


def write_batches(file: Path, rng: np.random.Generator) -> None:
    """Six careful workers, each with 24 segments of one system and a degraded copy of every other one."""
    columns = (
        "HITId WorkerId AssignmentStatus AcceptTime WorkTimeInSeconds Input.src Input.trg Answer.Q1 Answer.comments"
    )
    rows = [",".join(f'"{column}"' for column in columns.split())]
    for worker in range(6):
        items: list[str] = []
        for segment in range(24):
            score = int(np.clip(40 + 2 * segment + rng.normal(0, 6), 1, 100))
            items.append(f"all_{segment}_SYSTEM_{len(items)}__{score}")
            if segment % 2:
                items.append(f"all_{segment}_BAD_REF_{len(items)}__{max(0, score - int(rng.integers(20, 40)))}")
        fields = [f"H{worker}", f"W{worker}", "Approved", "Mon Nov 21 08:26:47 PST 2016", "600", "'en'", "'es'"]
        rows.append(",".join(f'"{field}"' for field in [*fields, "|".join(items), "{}"]))
    file.write_text("\n".join(rows) + "\n")


def write_ranks(folder: Path, rng: np.random.Generator) -> None:
    """Two annotators one after the other, 30 segments each; every fifth segment is marked."""
    folder.mkdir()
    for name in ("mt_y", "mt_z", "ref"):
        (folder / f"{name}.txt").write_text("".join(f"{rank}\n" for rank in rng.integers(1, 4, 60)))
    (folder / "error.txt").write_text("".join("t\n" if i % 5 == 0 else "f\n" for i in range(60)))


def write_scores(folder: Path, rng: np.random.Generator) -> None:
    human, metrics = ["system\tsegment\thuman"], ["system\tsegment\talpha\tbeta"]
    for worth, system in enumerate(("x", "y", "z", "w")):
        for segment in range(20):
            score = 50 + 5 * worth + rng.normal(0, 10)
            human.append(f"{system}\t{segment}\t{score:.1f}")
            metrics.append(f"{system}\t{segment}\t{score + rng.normal(0, 5):.2f}\t{score + rng.normal(0, 20):.2f}")
    (folder / "human.tsv").write_text("\n".join(human) + "\n")
    (folder / "metrics.tsv").write_text("\n".join(metrics) + "\n")


def write_post_edits(folder: Path) -> None:
    words = ["the", "quick", "brown", "fox", "jumps", "over", "the", "lazy", "dog", "again", "and", "again"]
    edits, predictions = ["document\tmt\tpe1\tpe2"], ["document\tBASELINE\tbetter"]
    for i in range(12):
        first, second = [*words[: 12 - i % 6], *["x"] * (i % 6)], [*words[: 12 - i % 4], *["y"] * (i % 4)]
        edits.append(f"d{i}\t{' '.join(words)}\t{' '.join(first)}\t{' '.join(second)}")
        predictions.append(f"d{i}\t{0.1 * (i % 5)}\t{0.1 * (i % 6)}")
    (folder / "edits.tsv").write_text("\n".join(edits) + "\n")
    (folder / "predictions.tsv").write_text("\n".join(predictions) + "\n")
