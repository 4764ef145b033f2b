"""MQM ratings: errors gathered into judgments, scores from their weights, marks as offsets. All data are made up."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from adjudge import read
from adjudge.readers.mqm import find_weights, score, weight
from adjudge.readers.options import ReadOptions
from adjudge.table.errors import InputError, UsageError
from adjudge.table.judgments import SetAside

HEADER = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity"


def write(tmp_path: Path, *rows: str, name: str = "mqm_test_ende.tsv") -> Path:
    (tmp_path / name).write_text("\n".join([HEADER, *rows]) + "\n", encoding="utf-8")
    return tmp_path / name


def row(target: str = "Eine Katze.", category: str = "No-error", severity: str = "No-error", *, system: str = "x",
        rater: str = "r1", source: str = 'A "cat') -> str:  # fmt: skip
    return "\t".join([system, "d1", "1", "4", rater, source, target, category, severity])


@pytest.mark.parametrize(
    ("severity", "category", "cost"),
    [
        ("Minor", "Fluency/Grammar", 1.0), ("Minor", "Fluency/Punctuation", 0.1), ("Major", "Fluency/Punctuation", 5.0),
        ("Major", "Accuracy/Mistranslation", 5.0), ("Critical", "Accuracy", 5.0), ("Major", "Non-translation!", 25.0),
        ("Neutral", "Style", 0.0), ("Major", "Source issue", 0.0), ("No-error", "No-error", 0.0),
        ("severe", "Style", None), ("major", "non_translation", 25.0), ("Minor", "punctuation", 0.1),
        ("Major", "source_error", 0.0), ("Major", "Accuracy/Creative Reinterpretation", 0.0),
        ("Trivial", "Style", 0.1),
    ],
)  # fmt: skip
def test_weights(severity: str, category: str, cost: float | None) -> None:
    assert weight(severity, category) == cost


def test_tenths_add_up_and_no_error_is_zero() -> None:
    assert score([0.1] * 3) == -0.3
    assert str(score([])) == "0.0"


def test_errors_of_one_rater_are_one_judgment(tmp_path: Path) -> None:
    rows = [
        row("Eine <v>Katze</v>.", "Fluency/Grammar", "Minor"),
        row("Eine Katze<v>.</v>", "Fluency/Punctuation", "Minor"),
        row(rater="r2"),
        row("<v>Ein</v>e Katze.", "Style", "Major", system="ref"),
    ]
    judgments = read([write(tmp_path, *rows)], format="mqm")
    table = judgments.table
    assert judgments.pairs == ("en-de",)
    assert table.select("system", "annotator", "document", "segment", "score", "human").rows() == [
        ("x", "r1", "d1", "4", -1.1, False), ("x", "r2", "d1", "4", 0.0, False), ("ref", "r1", "d1", "4", -5.0, True),
    ]  # fmt: skip
    assert table["spans"][0].to_list() == [
        {"start": 5, "end": 10, "severity": "minor", "category": "Fluency/Grammar", "side": "target", "text": "Katze"},
        {"start": 10, "end": 11, "severity": "minor", "category": "Fluency/Punctuation", "side": "target", "text": "."},
    ]
    assert table["spans"][1].to_list() == []


def test_marks_in_the_source_and_marks_without_end(tmp_path: Path) -> None:
    rows = [
        row(source="A <v>cat</v>", category="Accuracy/Omission", severity="Major"),
        row("Eine <v>Katze.", "Style", "Minor", rater="r2"),
        row(category="Accuracy/Omission", severity="Major", rater="r3"),
    ]
    judgments = read([write(tmp_path, *rows)], format="mqm")
    spans = [span.to_list()[0] for span in judgments.table["spans"]]
    assert [(span["side"], span["start"], span["end"], span["text"]) for span in spans] == [
        ("source", 2, 5, "cat"), ("target", 5, 11, "Katze."), ("missing", None, None, None),
    ]  # fmt: skip
    assert judgments.notes == (
        "mqm_test_ende: 1 mark has no end; it runs to the end of the text",
        "error weights are those of the workshops ('workshops'); --mqm-weights chooses others",
    )


def test_tests_of_attention_are_set_aside(tmp_path: Path) -> None:
    judgments = read([write(tmp_path, row(), row(category="Found", severity="HOTW-test"))], format="mqm")
    assert judgments.set_aside == (SetAside("test of attention, not a rating", 1),)


def test_the_pair_may_be_told(tmp_path: Path) -> None:
    file = write(tmp_path, row(), name="ratings.tsv")
    assert read([file], format="mqm", options=ReadOptions(pair="cs-en")).pairs == ("cs-en",)
    assert read([file], format="mqm").pairs == ("und-und",)


def test_an_unknown_severity_is_no_zero(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 3: severity is 'Terrible'"):
        read([write(tmp_path, row(), row("a <v>b</v>", "Style", "Terrible"))], format="mqm")


def test_a_header_alone_and_a_missing_column(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds a header but no ratings"):
        read([write(tmp_path)], format="mqm")
    (tmp_path / "other.tsv").write_text("system\tdoc\nx\td\n")
    with pytest.raises(InputError, match="has no column 'annotator'"):
        read([tmp_path / "other.tsv"], format="mqm")


def test_the_columns_of_later_years(tmp_path: Path) -> None:
    """Header of the 2023 and 2024 ratings as public readers describe it; the row is made up."""
    header = "system\tdoc\tdocSegId\tglobalSegId\trater\tsource\ttarget\tcategory\tseverity\tmetadata"
    rows = [
        "x\td1\t1\t40\tr1\tA\tEin <v>K</v>\tAccuracy/Creative Reinterpretation\tMajor\t{}",
        "x\td1\t1\t40\tr1\tA\tEin K\tFluency/Punctuation\tminor\t{}\t",
        "x\td1\t1\t41\tr1\tA\tEin K\tno-error\tNo-error\t{}",
    ]
    path = tmp_path / "mqm_generalMT2023_ende.tsv"
    path.write_text("\n".join([header, *rows]) + "\n")
    table = read([path], format="mqm").table
    assert table.select("document", "segment", "annotator", "score").rows() == [
        ("d1", "40", "r1", -0.1), ("d1", "41", "r1", 0.0),
    ]  # fmt: skip


def test_a_table_that_names_its_languages_and_writes_categories_with_underscores(tmp_path: Path) -> None:
    """Header of the 2022 English-Chinese ratings as public readers describe it; the rows are made up."""
    header = (
        "year\tsource_lang\ttarget_lang\tdocument_id\tdoc_segment_id\tsystem_id\trater_id\tsource\treference\t"
        "candidate\tcategory\tseverity"
    )
    rows = [
        f"2022\ten\t{target}\td1\t3\tx\tr1\tA\tB\t<v>C</v>\t{category}\tmajor"
        for target, category in (("zh", "non_translation"), ("zh", "source_issue"), ("ja", "locale_convention/name"))
    ]
    path = tmp_path / "ratings.tsv"
    path.write_text("\n".join([header, *rows]) + "\n")
    judgments = read([path], format="mqm")
    assert judgments.pairs == ("en-zh", "en-ja")
    assert judgments.table.select("target_lang", "system", "document", "segment", "annotator", "score").rows() == [
        ("zh", "x", "d1", "3", "r1", -25.0), ("ja", "x", "d1", "3", "r1", -5.0),
    ]  # fmt: skip


OTHER_NAMES = {"seg_id": "segmentId", "rater": "Annotator", "target": "translation", "category": "Error category"}


@pytest.mark.parametrize(
    ("separator", "quoting"), [("\t", csv.QUOTE_ALL), (",", csv.QUOTE_MINIMAL), (";", csv.QUOTE_ALL)]
)
@pytest.mark.parametrize("names", [{}, OTHER_NAMES], ids=["released names", "other names"])
def test_tables_that_were_saved_again(tmp_path: Path, separator: str, quoting: int, names: dict[str, str]) -> None:
    """From spreadsheets and data frames: other separators, quotes around fields, names of people's own."""
    rows = [
        row("Eine <v>Katze</v>, ja", "Style", "Minor"),
        row('"Ja" <v>sagt</v> sie', "Accuracy", "Major", rater="r2"),
    ]
    path = tmp_path / "ratings_ende.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=separator, quoting=quoting)  # type: ignore[arg-type]
        writer.writerows([[names.get(name, name) for name in HEADER.split("\t")], *(line.split("\t") for line in rows)])
    judgments = read(path, format="mqm")
    expected = read(write(tmp_path, *rows), format="mqm")
    assert judgments.table.drop("campaign").equals(expected.table.drop("campaign"))
    assert judgments.pairs == ("en-de",)
    assert read(path).table.equals(judgments.table), "recognised"


def test_columns_can_be_named_and_texts_may_be_missing(tmp_path: Path) -> None:
    path = tmp_path / "ours.csv"
    path.write_text(
        "engine,lp,who,no,art,Schwere\nx,en_de,r1,4,Stil,minor\nx,en_de,r1,5,Stil,major\n", encoding="utf-8"
    )
    with pytest.raises(InputError, match="has no column 'annotator'"):
        read(path, format="mqm")
    columns = {"annotator": "who", "segment": "no", "category": "art", "severity": "Schwere"}
    judgments = read(path, format="mqm", columns=columns)
    assert judgments.pairs == ("en-de",)
    assert judgments.table.select("system", "annotator", "segment", "score").rows() == [
        ("x", "r1", "4", -1.0),
        ("x", "r1", "5", -5.0),
    ]


@pytest.mark.parametrize(
    ("name", "pair"),
    [
        ("mqm_data.tsv", "und-und"),
        ("mqm_team_ende.tsv", "en-de"),
        ("mqm_data_en-cs.tsv", "en-cs"),
        ("mqm_fred_ende.avg.tsv", "en-de"),
    ],
)
def test_words_in_the_name_are_no_languages(tmp_path: Path, name: str, pair: str) -> None:
    assert read(write(tmp_path, row(), name=name), format="mqm").pairs == (pair,)


WEIGHED = [
    ("minor", "Fluency/Grammar"),
    ("minor", "Fluency/Punctuation"),
    ("major", "Accuracy/Omission"),
    ("major", "Source error"),
    ("major", "Non-translation!"),
]


@pytest.mark.parametrize(
    ("chosen", "costs"),
    [
        # The workshops' weights, which the released means of segments follow (tests/realdata/test_da_formats.py).
        ("workshops", [1, 0.1, 5, 0, 25]),
        # Freitag et al. (2021), Experts, Errors, and Context: the same weights, errors of the source not excepted.
        ("google", [1, 0.1, 5, 5, 25]),
        ("minor=2,major=10", [2, 0.1, 10, 0, 25]),
        ("Severe=8, minor=2", [2, 0.1, 5, 0, 25]),
    ],
)
def test_weights_are_chosen_by_name_or_stated(chosen: str, costs: list[float]) -> None:
    assert [weight(*error, find_weights(chosen)) for error in WEIGHED] == costs


@pytest.mark.parametrize("stated", ["gogle", "minor=x", "minor=-1", "source=1", "severe=", "=3", "neutral=1", ""])
def test_weights_that_cannot_be_are_refused(stated: str) -> None:
    with pytest.raises(UsageError, match="'mqm_weights'"):
        find_weights(stated)


def test_a_severity_of_its_own_has_the_weight_that_is_stated(tmp_path: Path) -> None:
    file = write(tmp_path, row(category="Style", severity="Quite Severe"), row(category="Style", severity="minor"))
    judgments = read([file], format="mqm", mqm_weights="quite_severe=8")
    assert judgments.table["score"].to_list() == [-9.0]
    with pytest.raises(InputError, match="or a weight for it, as 'mqm_weights' 'quite severe=8'"):
        read([file], format="mqm")
    with pytest.raises(UsageError, match="names 'majro', but the severities are minor, quite severe"):
        read([file], format="mqm", mqm_weights="quite severe=8,majro=10")
