"""One file of ranks per candidate."""

from __future__ import annotations

from pathlib import Path

import pytest

from adjudge import read
from adjudge.readers.options import ReadOptions
from adjudge.table.errors import InputError

TWO = ReadOptions(stacked=2)


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    return folder


def test_candidates_annotators_and_files_beside(tmp_path: Path) -> None:
    folder = write(
        tmp_path, ref="1\n2\n1\n1\n", sys="2\n1\n\n1\n", error="T\nF\nT\nF\n", src="a\nb\na\nb\n", more="x\n"
    )
    judgments = read([folder], format="rank-lines", options=TWO)
    rows = judgments.table.select("annotator", "segment", "system", "rank", "human", "error", "src").rows()
    assert rows[:3] == [
        ("annotator 1", "1", "ref", 1, True, "T", "a"),
        ("annotator 1", "1", "sys", 2, False, "T", "a"),
        ("annotator 1", "2", "ref", 2, True, "F", "b"),
    ]
    assert rows[5] == ("annotator 2", "1", "sys", None, False, "T", "a")
    ignored, shared = judgments.notes
    assert ignored == "more.txt is ignored: it has 1 line, the ranks have 4"
    assert shared.startswith("the 2 parts of each file are taken for 2 annotators. If several people share a part,")
    assert judgments.table["screen"].n_unique() == 4


def test_files_can_name_segments_and_documents(tmp_path: Path) -> None:
    folder = write(tmp_path, a="1\n2\n", b="2\n1\n", id="s7\ns8\n", document="d1\nd2\n")
    judgments = read([folder], format="rank-lines")
    assert judgments.table.select("document", "segment", "annotator").rows()[-1] == ("d2", "s8", None)


@pytest.mark.parametrize(
    ("files", "stacked", "sentence"),
    [
        ({"a": "1\n2\n"}, 1, "1 of 1 file holds ranks, two or more are needed"),
        ({"a": "1\n2\n", "b": "1\n"}, 1, "has 1 line where a.txt has 2"),
        ({"a": "1\n2\n3\n", "b": "1\n2\n3\n"}, 2, "not 2 annotators one after the other"),
        ({"a": "1\n7\n", "b": "1\n2\n"}, 1, "a.txt, line 2: rank is '7', it must lie between 1 and 2"),
    ],
)
def test_faults(files: dict[str, str], stacked: int, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=sentence):
        read([write(tmp_path, **files)], format="rank-lines", options=ReadOptions(stacked=stacked))
