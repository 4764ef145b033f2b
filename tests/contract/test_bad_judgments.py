"""Tables that cannot answer the question, through every command that reads judgments: one sentence, or a clear note.

The readers' own faults are in `test_bad_input.py`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Run, assert_explained
from tests.helpers.samples import SAMPLES
from tests.helpers.tables import PEOPLE, SYSTEMS, command, ranking_rows, score_rows, write_table

RANKINGS, SCORES = ranking_rows(), score_rows()
# Of fewer than a hundred rows not one may be unusable; in larger tables single ones are set aside.
FEW_RANKINGS, FEW_SCORES = RANKINGS[:80], SCORES[:80]
VERBS = ("import", "rank", "tournament", "agree", "check", "audit", "parity", "gold", "report")
COMPUTING = tuple(verb for verb in VERBS if verb not in ("import", "report"))


def ask(verb: str, file: Path, *extra: str) -> Run:
    """Call a command with what it needs besides the file."""
    needed: dict[str, tuple[str | Path, ...]] = {
        "import": ("-o", file.parent / "out.csv"),
        "report": ("-o", file.parent / "out.html"),
        "parity": ("--human", "ref"),
    }
    return command(verb, file, *needed.get(verb, ()), *extra)


def assert_nothing_written(file: Path) -> None:
    assert [path.name for path in file.parent.iterdir()] in ([], [file.name])


def table(rows: list[str]) -> bytes:
    head = "protocol,source_lang,target_lang,annotator,task,screen,document,segment,system,kind,human"
    answer = "rank" if rows[0].startswith("ranking") else "score"
    return ("\n".join([f"{head},{answer}", *rows]) + "\n").encode()


def without_last_column(raw: bytes) -> bytes:
    return b"\n".join(line.rsplit(b",", 1)[0] for line in raw.splitlines())


BAD: dict[str, tuple[bytes | None, tuple[str, ...]]] = {
    "missing": (None, ("no such file",)),
    "empty": (b"", ("is empty",)),
    "binary": (b"\x7fELF\r\n\x1a\n\0\0\0\rIHDR", ("line 3", "binary")),
    "picture": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", ("is a picture", "give the table")),
    "truncated": (table(FEW_SCORES)[:-12], (f"line {len(FEW_SCORES) + 1}", "fields", "header has 12")),
    "truncated Parquet": (b"PAR1\x15\x04\x15", ("Parquet",)),
    "no system": (b"annotator,rank\nx,1\n", ("no column 'system'", "annotator, rank")),
    "no rank": (without_last_column(table(RANKINGS)), ("no column 'rank'",)),
    "no score": (without_last_column(table(SCORES)), ("'score'",)),
    "rank of 0": (table([*FEW_RANKINGS, RANKINGS[0][:-1] + "0"]), (f"line {len(FEW_RANKINGS) + 2}", "'rank'", "0")),
    "score of 1000": (
        table([*FEW_SCORES, SCORES[0] + "000"]),
        (f"line {len(FEW_SCORES) + 2}", "000", "between 0 and 100"),
    ),
    "score in words": (table([SCORES[0] + "x"]), ("line 2", "'score'", "x'", "number is needed")),
}


@pytest.mark.parametrize("fault", BAD)
@pytest.mark.parametrize("verb", VERBS)
def test_a_bad_file_is_explained_by_every_command(verb: str, fault: str, tmp_path: Path) -> None:
    raw, words = BAD[fault]
    file = tmp_path / "bad.csv"
    if raw is not None:
        file.write_bytes(raw)
    assert_explained(ask(verb, file), names=("bad.csv", *words))
    assert_nothing_written(file)


@pytest.mark.parametrize("verb", VERBS)
def test_a_wrong_call_is_told_apart_from_bad_data(verb: str, tmp_path: Path) -> None:
    file = write_table(tmp_path / "good.csv", RANKINGS)
    assert_explained(ask(verb, file, "--format", "wmt-rankin"), code=2, names=("'wmt-rankin'", "wmt-ranking"))
    assert_explained(ask(verb, file, "--nonsense"), code=2, names=("--nonsense", f"adjudge {verb} --help"))
    assert_explained(ask(verb, file, "--pair", "de-en"), names=("good.csv", "'de-en'", "cs-en"))
    assert_nothing_written(file)


@pytest.mark.parametrize(
    "arguments",
    [
        ("--method", "guess"),
        ("--lines", "guess"),
        ("--reference", "guess"),
        ("--significance", "guess"),
        ("--level", "7"),
        ("--level", "guess"),
        ("--resamples", "-3"),
        ("--seed", "-1"),
    ],
)
def test_a_wrong_value_of_an_option_is_a_wrong_call(arguments: tuple[str, str], tmp_path: Path) -> None:
    file = write_table(tmp_path / "good.csv", RANKINGS)
    assert_explained(command("rank", file, *arguments), code=2, names=(arguments[0].strip("-"),))


SPARSE = {
    "one system (ranks)": ranking_rows(groups=[("a",)]),
    "one system (scores)": score_rows(systems=("a",)),
    "one annotator (ranks)": ranking_rows(people=PEOPLE[:1]),
    "one annotator (scores)": score_rows(people=PEOPLE[:1]),
    "ties everywhere (ranks)": ranking_rows(ties=True),
    "ties everywhere (scores)": score_rows(ties=True),
    "no overlap (ranks)": ranking_rows(groups=[SYSTEMS[:2], SYSTEMS[2:]]),
    "no overlap (scores)": [*score_rows(systems=SYSTEMS[:2], people=("x",)), *score_rows(systems=SYSTEMS[2:])],
    "no segment (ranks)": [",".join([*(r := row.split(","))[:6], "", "", *r[8:]]) for row in RANKINGS],
    "no segment (scores)": [",".join([*(r := row.split(","))[:5], "", "", "", *r[8:]]) for row in SCORES],
    "nobody named (scores)": [",".join([*(r := row.split(","))[:3], "", *r[4:]]) for row in SCORES],
    "a single judgment": SCORES[:1],
}


@pytest.mark.parametrize("case", SPARSE)
@pytest.mark.parametrize("verb", COMPUTING)
def test_too_little_to_go_on_is_a_sentence_or_a_result(verb: str, case: str, tmp_path: Path) -> None:
    file = write_table(tmp_path / "sparse.csv", SPARSE[case])
    run = ask(verb, file, "--json")
    if run.code:
        assert_explained(run, names=("sparse.csv",))
    else:
        assert "NaN" not in run.out
        assert set(run.json) >= {"signature", "settings", "version", "set_aside"}


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("one system (ranks)", "at least two systems"),
        ("one system (scores)", "at least two systems"),
        ("ties everywhere (scores)", "every score is 50"),
        ("no overlap (ranks)", "never compared with each other"),
    ],
)
def test_what_cannot_be_ranked_is_not(case: str, words: str, tmp_path: Path) -> None:
    file = write_table(tmp_path / "sparse.csv", SPARSE[case])
    assert_explained(command("rank", file), names=("sparse.csv", words))


def test_groups_that_never_met_carry_no_claims(tmp_path: Path) -> None:
    file = write_table(tmp_path / "sparse.csv", SPARSE["no overlap (ranks)"])
    answer = command("audit", file, "--json").json
    assert "claims" not in answer
    assert any("section 'claims' is left out" in note and "never compared" in note for note in answer["notes"])


@pytest.mark.parametrize("case", ["one annotator (ranks)", "one annotator (scores)"])
def test_one_annotator_is_said(case: str, tmp_path: Path) -> None:
    file = write_table(tmp_path / "sparse.csv", SPARSE[case])
    assert any("annotator" in note for note in command("rank", file, "--json").json["notes"])


@pytest.mark.parametrize(
    ("name", "old", "new", "words"),
    [
        ("wmt-da", "\t80\t900", "\t1000\t900", ("line 2", "1000", "between 0 and 100")),
        ("appraise", "ces,80,", "ces,1000,", ("line 1", "1000")),
        ("mturk-da", "SYSTEM_0__71", "SYSTEM_0__1000", ("line 2", "1000")),
        ("pearmut", '"score": 70', '"score": 1000', ("line 2", "1000")),
        ("wmt-humeval", '"score": 70', '"score": 1000', ("line 1", "1000")),
        ("wmt-ranking", "1,3,2\n", "1,7,2\n", ("line 2", "'7'", "1 and 5")),
    ],
)
def test_values_off_the_scale_are_refused_with_their_place(
    name: str, old: str, new: str, words: tuple[str, ...], tmp_path: Path
) -> None:
    text = SAMPLES[name][0]
    assert old in text
    file = tmp_path / ("bad.jsonl" if text.startswith("{") else "bad.csv")
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    assert_explained(command("rank", file, "--format", name), names=(file.name, *words))


@pytest.mark.parametrize("verb", COMPUTING)
def test_a_place_that_cannot_be_written_is_explained(verb: str, tmp_path: Path) -> None:
    rows = SCORES if verb == "gold" else RANKINGS
    file = write_table(tmp_path / "good.csv", rows)
    everyone = ("--all-annotators",) if verb == "gold" else ()
    assert_explained(ask(verb, file, *everyone, "-o", str(tmp_path)), names=("folder", str(tmp_path)))
    assert_explained(ask(verb, file, *everyone, "-o", str(file / "out.json")), names=("cannot be written",))


@pytest.mark.parametrize("method", ["mixed", "raw", "bradley-terry", "wins"])
def test_rows_that_were_left_blank_are_counted_as_such(method: str, tmp_path: Path) -> None:
    """The rows of a table made by hand say no protocol, and the blank ones hold no answer that would tell it."""
    answer = "rank" if method in ("bradley-terry", "wins") else "score"
    header = f"annotator,segment,system,{answer}"
    rows = [
        (a, s, y, str(1 + (s * 7 + "ab".index(a) + "XYZ".index(y)) % 3)) for a in "ab" for s in range(9) for y in "XYZ"
    ]
    blanks = [(*row[:3], "" if number % 9 == 4 else row[3]) for number, row in enumerate(rows)]

    def file_of(cells: list[tuple[str, int, str, str]]) -> Path:
        file = tmp_path / "by-hand.csv"
        file.write_text("\n".join([header, *[",".join(map(str, row)) for row in cells], ""]), encoding="utf-8")
        return file

    run = command("rank", file_of(blanks), "--method", method, "--resamples", "2")
    assert f"set aside: 6 × no {answer} was given" in run.out
    assert "set aside" not in command("rank", file_of(rows), "--method", method, "--resamples", "2").out
    run = command("rank", file_of([(*row[:3], "") for row in rows]), "--method", method)
    assert_explained(run, names=("54 rows without a score or rank; check the column of the answers",))
