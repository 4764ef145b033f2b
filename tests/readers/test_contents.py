"""Tables of strangers: who judged, what was asked and which end is better is read from contents, or asked for."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import adjudge
from adjudge import read
from adjudge.readers.contents import take_apart, without_summaries
from adjudge.table.errors import AdjudgeError, InputError, UsageError

SYSTEMS, PEOPLE, TEXTS = ("A", "B", "C"), ("anna", "ben", "zoe", "tim"), range(1, 11)


def table(
    header: Sequence[str] = ("annotator", "segment", "system", "score"), *, whole: bool = False, **more: Sequence[str]
) -> pl.DataFrame:
    """Judgments of 10 texts by people of whom (unless `whole`) one leaves out every text; A is the best system.

    Args:
        header: what people, texts, systems and scores are called; nothing for a column that is not there.
        whole: whether everybody judges everything.
        **more: columns whose every value stands with every judgment.
    """
    rows: list[tuple[object, ...]] = []
    for (person, text, system), others in product(product(PEOPLE, TEXTS, SYSTEMS), product(*more.values())):
        if whole or (PEOPLE.index(person) + text) % len(PEOPLE):
            noise = (7 * text + 5 * PEOPLE.index(person) + 11 * SYSTEMS.index(system)) % 13
            rows.append((person, text, system, 80 - 15 * SYSTEMS.index(system) + noise, *others))
    names = [name or f"left out {place}" for place, name in enumerate((*header, *more))]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    return frame.drop(name for name in names if name.startswith("left out"))


def refusal(frame: pl.DataFrame, **options: Any) -> str:
    """The message for a table that is not read: one sentence."""
    with pytest.raises(AdjudgeError) as fault:
        read(frame, **options)
    message = str(fault.value)
    assert ". " not in message
    return message


@pytest.mark.parametrize(
    "header",
    [
        "ann", "coder", "linguist", "PROLIFIC_PID", "Email Address", "subject", "labeler", "participant", "rater_id",
        "worker id", "evaluator", "listener", "Coder ID", "Respondent", "Bewerter", "Annotateur", "Évaluatrice",
        "Evaluador", "Hodnotitel", "标注者", "評価者", "Blatt", "wer", "reader 2",
    ],
)  # fmt: skip
def test_people_are_known_by_name_or_by_what_they_did(header: str) -> None:
    judgments = read(table((header, "segment", "system", "score")))
    assert set(judgments.table["annotator"]) == set(PEOPLE)
    expected = read(table()).table
    assert judgments.table.select(expected.columns).equals(expected)


def test_people_found_by_contents_are_told_with_the_reason() -> None:
    notes = read(table(("Blatt", "segment", "system", "score"))).notes
    assert any(
        "'Blatt' is taken for the annotator: its values tell apart judgments of the same system" in note
        for note in notes
    )


@pytest.mark.parametrize(
    "header",
    [
        ("Annotator*in", "Satz", "System", "Bewertung"),
        ("annotateur", "phrase", "Système", "Note"),
        ("Anotador", "Segmento", "Sistema", "Puntuación"),
        ("Hodnotitel", "Věta", "Systém", "Skóre"),
        ("标注员", "句子", "系统", "得分"),
        ("評価者", "文番号", "システム", "点数"),
        ("listener", "utterance", "model", "mos"),
    ],
)
def test_headers_of_other_languages_and_fields(header: Sequence[str]) -> None:
    expected = read(table()).table
    assert read(table(header)).table.select(expected.columns).equals(expected)


def test_texts_are_known_by_what_is_crossed() -> None:
    frame = table(("annotator", "Zeile", "system", "score"))
    judgments = read(frame)
    assert judgments.table["segment"].n_unique() == len(TEXTS)
    assert any("'Zeile' is taken for the segment" in note for note in judgments.notes)


@pytest.mark.parametrize("attribute", ["domain", "genre", "Text type"])
def test_what_says_more_of_texts_names_no_people(attribute: str) -> None:
    frame = table(whole=True).filter(annotator="anna").drop("annotator")
    genres = pl.when(pl.col("segment") > 5).then(pl.lit("news")).otherwise(pl.lit("talks"))
    judgments = read(frame.with_columns(genres.alias(attribute)))
    assert judgments.table["annotator"].null_count() == len(judgments)
    assert attribute in judgments.table.columns


def test_a_column_that_may_name_people_is_asked_for() -> None:
    """Each text has one judge, who may as well be a property of the text."""
    frame = table(whole=True).filter(annotator="anna").drop("annotator")
    frame = frame.with_columns(
        pl.when(pl.col("segment") > 5).then(pl.lit("kw")).otherwise(pl.lit("mv")).alias("Kürzel")
    )
    message = refusal(frame)
    assert "names no annotators, unless 'Kürzel' (2 values, such as mv, kw) does, which changes the result" in message
    assert message.endswith("say 'columns' annotator=Kürzel, or 'columns' annotator=none if it names none")
    assert set(read(frame, columns="annotator=Kürzel").table["annotator"]) == {"kw", "mv"}
    assert read(frame, columns="annotator=none").table["annotator"].null_count() == frame.height


def test_people_or_questions_are_asked_for_with_what_was_said_already() -> None:
    frame = table(("Spalte", "segment", "engine X", "score"), whole=True)
    message = refusal(frame, columns={"system": "engine X"})
    assert "'Spalte' (4 values, such as anna, ben, zoe)" in message
    assert "'columns' 'system=engine X,annotator=Spalte' or 'columns' 'system=engine X,criterion=Spalte'" in message
    judgments = read(frame, columns="system=engine X,annotator=Spalte")
    assert set(judgments.table["annotator"]) == set(PEOPLE)


def two_criteria(header: str, values: Sequence[str] = ("adequacy", "fluency"), *, whole: bool = False) -> pl.DataFrame:
    frame = table(whole=whole, **{header: values})
    # By the second criterion the order of the systems is the opposite.
    return frame.with_columns(
        pl.when(pl.col(header) == values[1]).then(150 - pl.col("score")).otherwise("score").alias("score")
    )


@pytest.mark.parametrize("header", ["criterion", "Aspect", "dimension", "question", "Turn", "Kriterium", "slider"])
@pytest.mark.parametrize("by_criterion", [False, True])
def test_criteria_are_never_mixed(header: str, by_criterion: bool) -> None:
    frame = two_criteria(header)
    frame = frame.sort(header, maintain_order=True) if by_criterion else frame
    judgments = read(frame)
    assert len(judgments) == frame.height, "nothing is repeated"
    parts = judgments.by_pair()
    assert list(parts) == ["adequacy/und-und", "fluency/und-und"]
    assert any("2 criteria (adequacy and fluency) are kept apart" in note for note in judgments.notes)
    for name, best in (("adequacy", "A"), ("Fluency", "C")):
        chosen = read(frame, criterion=name)
        assert len(chosen) == frame.height / 2
        assert [record.rows for record in chosen.set_aside] == [frame.height / 2]
        means = chosen.table.group_by("system").agg(pl.mean("score")).sort("score")
        assert means["system"][-1] == best


def test_criteria_stay_apart_when_written_and_read_again(tmp_path: Path) -> None:
    adjudge.readers.native.write(read(two_criteria("criterion")), tmp_path / "a.csv")
    assert list(read(tmp_path / "a.csv").by_pair()) == ["adequacy/und-und", "fluency/und-und"]


def test_python_asks_for_a_criterion() -> None:
    with pytest.raises(AdjudgeError, match=r"hold 2 criteria \(adequacy.*choose one with 'criterion'"):
        adjudge.rank(two_criteria("criterion"))
    assert adjudge.rank(two_criteria("criterion"), criterion="fluency").systems[0].system == "C"
    message = refusal(two_criteria("criterion"), criterion="style")
    assert message == "'criterion' is 'style', but the criteria are adequacy and fluency"


def test_a_criterion_in_each_column() -> None:
    wide = table().with_columns(pl.col("score").alias("Adequacy (0-100)"), (150 - pl.col("score")).alias("Fluency"))
    judgments = read(wide.drop("score"))
    assert [len(part) for part in judgments.by_pair().values()] == [wide.height, wide.height]
    fluency = read(wide.drop("score"), criterion="fluency").table
    assert fluency["score"].to_list() == wide["Fluency"].to_list()


def test_comparisons_by_several_criteria() -> None:
    rows = [(who, text, "A", "B", side, asked) for who, text in product(PEOPLE, TEXTS)
            for asked, side in (("adequacy", "left"), ("fluency", "right"))]  # fmt: skip
    frame = pl.DataFrame(rows, schema=["coder", "item", "left", "right", "winner", "aspect"], orient="row")
    judgments = read(frame)
    assert [len(part) for part in judgments.by_pair().values()] == [len(rows), len(rows)]
    fluent = read(frame, criterion="fluency").table
    assert set(fluent.filter(rank=1)["system"]) == {"B"}


def test_what_explains_repeats_without_a_name_is_asked_for() -> None:
    message = refusal(two_criteria("Blatt", ("x", "y")))
    assert "several judgments of one output by one person, told apart by 'Blatt' (2 values, such as x, y)" in message
    assert message.endswith("say which it is, as 'columns' criterion=Blatt or 'columns' document=Blatt")
    assert len(read(two_criteria("Blatt", ("x", "y")), columns="criterion=Blatt").by_pair()) == 2


def test_later_rounds_are_still_corrections() -> None:
    frame = two_criteria("round", ("1", "2"))
    judgments = read(frame)
    assert len(judgments) == frame.height / 2
    assert set(judgments.table["round"]) == {"2"}


@pytest.mark.parametrize("header", ["errors", "Error count", "HTER", "penalty", "WER", "Fehler"])
def test_scores_that_should_be_low_are_asked_for(header: str) -> None:
    frame = table(("annotator", "segment", "system", header))
    message = refusal(frame, columns={"score": header})
    assert f"takes '{header}' for the score, of which lower seems to be better; add 'lower_is_better'" in message
    turned = read(frame, columns={"score": header}, lower_is_better=True)
    assert turned.table["score"].to_list() == [100 - score for score in frame[header]]
    assert "lower scores are better, so they are shown as 100 minus the score in the file" in turned.notes
    assert adjudge.rank(frame, columns={"score": header}, lower_is_better=True).systems[0].system == "C"


def test_lower_is_better_on_a_scale_and_of_penalties() -> None:
    frame = pl.DataFrame({"system": ["A", "B"], "segment": [1, 1], "score": [1, 4]})
    assert read(frame, lower_is_better=True, scale=(1, 5)).table["score"].to_list() == [5.0, 2.0]
    mqm = frame.with_columns(protocol=pl.lit("mqm"))
    assert read(mqm, lower_is_better=True).table["score"].to_list() == [-1.0, -4.0]
    ranks = frame.rename({"score": "rank"})
    assert refusal(ranks, lower_is_better=True).endswith("is for scores, which this table does not have; leave it out")


def test_scales() -> None:
    frame = pl.DataFrame({"system": ["A", "B", "C"], "segment": [1, 1, 1], "score": [-3, 0, 3]})
    judgments = read(frame, scale="-3,3")
    assert judgments.table["score"].to_list() == [0.0, 50.0, 100.0]
    assert "scores from -3 to 3 are shown on a scale from 0 to 100" in judgments.notes
    assert "score is -3, it must lie on the scale from 1 to 5" in refusal(frame, scale="1,5")
    for scale in ("5,1", "1", "a,b"):
        assert "LOW,HIGH is needed, as in 1,5" in refusal(frame, scale=scale)


@pytest.mark.parametrize(
    ("cells", "scores"),
    [
        (["Strongly disagree", "Agree", "neutral"], [1, 4, 3]),
        (["bad", "Excellent", "fair"], [1, 5, 3]),
        (["very good", "good", "very poor"], [5, 4, 1]),
        (["yes", "No", "yes"], [1, 0, 1]),
        (["45%", "7 %", "100%"], [45, 7, 100]),
        (["👍", "👎", "👍"], [1, 0, 1]),
        (["A", "C+", "F"], [4, 2.3, 0]),
        (["A", "E", "F"], [5, 1, 0]),
        (["4/5", "3/5", "5/5"], [4, 3, 5]),
        (["5 - excellent", "1 - bad", "3 - fair"], [5, 1, 3]),
        (["★★★☆☆", "★", "★★"], [3, 1, 2]),
        (["sehr gut", "schlecht", "gut"], [5, 2, 4]),
        (["很好", "差", "一般"], [5, 2, 3]),
        (["Yes", "N/A", "no"], [1, None, 0]),
        (["3", "not rated", "NaN"], [3, None, None]),
    ],
)
def test_answers_in_words(cells: list[str], scores: list[float | None]) -> None:
    frame = pl.DataFrame({"system": ["A", "B", "C"], "segment": [1, 1, 1], "annotator": ["u"] * 3, "rating": cells})
    judgments = read(frame)
    assert judgments.table["score"].to_list() == scores
    told = any("scores in words are taken for numbers" in note for note in judgments.notes)
    assert told == ("3" not in cells)


def test_words_whose_worth_nobody_knows() -> None:
    frame = pl.DataFrame({"system": ["A", "B", "A"], "segment": [1, 1, 2], "rating": ["meh", "top notch", "hm"]})
    message = refusal(frame)
    assert "column 'rating' holds words (meh, top notch and hm), numbers are needed" in message
    assert message.endswith("as 'values' 'meh=NUMBER,top notch=NUMBER,hm=NUMBER'")
    for values in ("meh=1,Top notch=3,hm=2", {"meh": 1, "top notch": 3, "hm": 2}):
        assert read(frame, values=values).table["score"].to_list() == [1.0, 3.0, 2.0]
    assert "WORD=NUMBER is needed" in refusal(frame, values="meh")


def test_people_and_questions_are_never_advised_as_systems(tmp_path: Path) -> None:
    for names, advised in ((["rater1", "rater2"], "raters"), (["fluency", "adequacy"], None), (["Q1", "Q2"], None)):
        rows = [f"{text},{text + 40},{text + 50}" for text in TEXTS]
        file = tmp_path / "wide.csv"
        file.write_text("\n".join([",".join(["segment", *names]), *rows]))
        with pytest.raises(InputError) as fault:
            read(file)
        assert f"'systems' {','.join(names)}" not in str(fault.value)
        assert advised is None or f"'{advised}' {','.join(names)}" in str(fault.value)


def test_whole_rankings_in_one_cell() -> None:
    cells = ["B > A = C", "A>B>C", "C = B = A", None]
    frame = pl.DataFrame({"coder": list("uvwx"), "item": [1] * 4, "ranking": cells})
    ranks = read(frame, bad_rows=0.5).table.sort("annotator", "system")
    assert ranks.select("annotator", "system", "rank").rows() == [
        ("u", "A", 2), ("u", "B", 1), ("u", "C", 2), ("v", "A", 1), ("v", "B", 2), ("v", "C", 3), ("w", "A", 1),
        ("w", "B", 1), ("w", "C", 1),
    ]  # fmt: skip
    assert ranks.group_by("annotator").agg(pl.n_unique("screen"))["screen"].to_list() == [1, 1, 1]


@pytest.mark.parametrize("names", [("winner", "loser"), ("chosen", "rejected"), ("chosen_model", "rejected_model")])
def test_winners_and_losers(names: tuple[str, str]) -> None:
    won, lost = names
    frame = pl.DataFrame({"annotator": list("uvw"), "prompt": ["p", "q", "p"], won: list("ABA"), lost: list("BCC")})
    assert read(frame).table.filter(rank=1)["system"].to_list() == ["A", "B", "A"]


@pytest.mark.parametrize(
    "texts", [[f"answer {i}" for i in range(20)], ['[{"role": "user"}]', "[{}]"] * 10, ["x" * 99] * 20]
)
def test_texts_that_were_chosen_are_no_systems(texts: list[str]) -> None:
    frame = pl.DataFrame({"prompt": range(10), "chosen": texts[:10], "rejected": texts[10:]})
    assert "'chosen' and 'rejected' hold texts, not the names of systems; add columns" in refusal(frame)


def test_lists_of_scores_per_output(tmp_path: Path) -> None:
    rows = [{"model_id": system, "id": f"t{text}", "scores": [text % 5, 4, 3.5]} for text in TEXTS for system in "AB"]
    file = tmp_path / "scores.json"
    file.write_text(json.dumps(rows))
    table = read(file).table
    assert table["score"].to_list()[:6] == [1.0, 4.0, 3.5, 1.0, 4.0, 3.5]
    assert table["annotator"].to_list()[:3] == ["1", "2", "3"]
    assert set(table["segment"]) == {f"t{text}" for text in TEXTS}


def _two_criteria() -> pl.DataFrame:
    return pl.DataFrame(
        {"annotator": p, "segment": t, "system": s, "adequacy": 10 * k + t, "fluency": 40 - 10 * k + t}
        for p in ("ann", "ben")
        for t in range(5)
        for k, s in enumerate("XYZ")
    )


def test_a_mean_of_criteria_has_the_weights_that_are_asked_for() -> None:
    missing = pl.when(annotator="ben", segment=0, system="X").then(None)
    frame = _two_criteria().with_columns(fluency=missing.otherwise("fluency"))
    judgments = read(frame, criterion="adequacy=3,fluency=1")
    expected = [
        (*row[:3], (3 * row[3] + row[4]) / 4)
        for row in frame.with_columns(pl.col("segment").cast(str)).rows()
        if row[4]
    ]
    assert judgments.table.select("annotator", "segment", "system", "score").rows() == expected
    assert [(aside.reason, aside.rows) for aside in judgments.set_aside] == [("without a score by each criterion", 2)]
    assert any("(3 adequacy + 1 fluency), as asked by --criterion" in note for note in judgments.notes)
    for wrong in ("adequacy=3,style=1", "adequacy=3", "adequacy=0,fluency=1", "adequacy=x,fluency=1"):
        with pytest.raises(UsageError, match="the criteria are adequacy and fluency"):
            read(frame, criterion=wrong)


def test_several_scores_are_criteria() -> None:
    frame = _two_criteria().rename({"adequacy": "A", "fluency": "F"})
    judgments = read(frame, columns={"score": ["A", "F"]})
    assert judgments.table["campaign"].unique(maintain_order=True).to_list() == ["A", "F"]
    assert read(frame, columns=("score=F",)).table["score"].to_list() == frame["F"].to_list()


def test_places_under_the_name_of_scores_are_asked_for() -> None:
    frame = (
        _two_criteria().drop("fluency").with_columns(adequacy=pl.col("adequacy").rank().over("annotator", "segment"))
    )
    frame = frame.rename({"adequacy": "score"})
    ways = "'columns' rank=score or 'columns' score=score"
    with pytest.raises(InputError, match=f"from 1 on in 'score', as ranks do; say which it is, as {ways}"):
        read(frame)
    assert read(frame, columns={"rank": "score"}).table["rank"].to_list() == [1, 2, 3] * 10
    assert read(frame, columns={"score": "score"}).table["score"].to_list() == [1, 2, 3] * 10


@pytest.mark.parametrize(("name", "kept"), [("mean", "a"), ("sum", "a"), ("sd", "a"), ("more", "am")])
def test_columns_that_sum_up_others(name: str, kept: str) -> None:
    """A column of whole numbers near the mean of others is a mean only if it is called so."""
    a, b, c = pl.Series("a1", [3, 5, 9, 2]), pl.Series("a2", [4, 5, 1, 7]), pl.Series("a3", [5, 2, 2, 9])
    frame = pl.DataFrame([a, b, c])
    sums = {
        "mean": frame.mean_horizontal().round(2),
        "sum": frame.sum_horizontal(),
        "sd": pl.Series([statistics.stdev(row) for row in frame.rows()]).round(3),
        "more": frame.mean_horizontal().round(),
    }
    found = without_summaries(frame.with_columns(sums[name].alias(name)), ["a1", "a2", "a3", name])
    assert {each[0] for each in found} == set(kept)


def test_lists_of_scores_by_criterion(tmp_path: Path) -> None:
    said = [{"coherence": 2, "fluency": 5}, {"coherence": 1, "fluency": 4}]
    rows = [{"model_id": name, "id": f"t{text}", "expert_annotations": said} for text in TEXTS for name in "AB"]
    file = tmp_path / "summaries.json"
    file.write_text(json.dumps(rows))
    parts = read(file).by_pair()
    assert list(parts) == ["coherence/und-und", "fluency/und-und"]
    assert parts["fluency/und-und"].table["score"].to_list() == [5.0, 4.0] * 20
    assert set(read(file, criterion="coherence").table["score"]) == {1.0, 2.0}


def test_a_file_for_each_annotator(tmp_path: Path) -> None:
    for (person,), part in table().group_by("annotator"):
        part.drop("annotator").write_csv(tmp_path / f"{person}.csv")
    judgments = read(tmp_path)
    assert set(judgments.table["annotator"]) == set(PEOPLE)
    assert any("is taken for an annotator, whose name is that of the file" in note for note in judgments.notes)
    (tmp_path / "none").mkdir()
    with pytest.raises(InputError, match="this folder holds no table; name the files"):
        read(tmp_path / "none")


def test_best_and_worst_are_no_sides() -> None:
    frame = pl.DataFrame({"item": [1, 2], "A": ["t", "u"], "B": ["v", "w"], "best": ["A", "B"], "worst": ["B", "A"]})
    assert refusal(frame).endswith("write each as one ranking, such as 'A > B = C > D', in a column 'ranking'")


def test_scores_of_two_systems_are_no_comparisons(tmp_path: Path) -> None:
    frame = pl.DataFrame({"Email Address": ["u", "v"], "System A [Fluency]": [3, 4], "System B [Fluency]": [2, 5]})
    file = tmp_path / "form.csv"
    frame.write_csv(file)
    with pytest.raises(InputError, match=r"if each is a system, say 'systems' 'System A \[Fluency\],System B"):
        read(file)


def test_import_says_how_the_columns_were_understood(tmp_path: Path) -> None:
    file = tmp_path / "ratings.csv"
    table(("Blatt", "Satz", "engine", "errors")).write_csv(file)
    options: dict[str, Any] = {"columns": {"score": "errors"}, "lower_is_better": True, "scale": "0,100"}
    from adjudge.readers.summary import describe
    from adjudge.shell.reading import Reading

    settings = Reading.in_python("read", options).settings
    command = describe(read(file, **options), settings).notes[-1]
    columns = "annotator=Blatt,segment=Satz,system=engine,score=errors"
    assert sorted(command.split("--columns ")[1].split()[0].split(",")) == sorted(columns.split(","))
    assert command.startswith(f"the columns as they were understood: adjudge rank {file} --columns ")
    assert command.endswith("--scale 0,100 --lower-is-better")


def test_a_refusal_names_every_option_that_is_needed() -> None:
    frame = table(("annotator", "segment", "system", "errors"))
    assert "as 'columns' score=errors 'lower_is_better', or give 'format'" in refusal(frame)
    frame = table().rename({"score": "R1"}).with_columns(R2=pl.col("R1") + 1).filter(annotator="anna").drop("annotator")
    assert refusal(frame).endswith("; say 'raters' R1,R2")
    assert set(read(frame, raters="R1,R2").table["annotator"]) == {"R1", "R2"}


def test_people_and_texts_that_nothing_names() -> None:
    frame = table(("xx", "yy", "system", "score"), whole=True).with_columns(pl.format("t{}", "yy").alias("yy"))
    message = refusal(frame)
    assert "names neither annotators nor segments, unless 'xx' (4 values" in message
    assert "say 'columns' annotator=xx,segment=yy" in message
    judgments = read(table(("Person", "Zeile", "system", "score")))
    assert judgments.table.select(pl.n_unique("annotator", "segment")).row(0) == (len(PEOPLE), len(TEXTS))


@pytest.mark.parametrize("names", [("Q1", "Q2"), ("fluency", "adequacy")])
def test_questions_in_columns_are_criteria(names: tuple[str, str]) -> None:
    one, two = names
    frame = table().with_columns(pl.lit("good").alias(one), pl.when(pl.col("segment") > 5).then(pl.lit("fair"))
        .otherwise(pl.lit("bad")).alias(two)).drop("score")  # fmt: skip
    words = read(frame, values="good=3,fair=2,bad=1")
    assert [set(part.table["score"]) for part in words.by_pair().values()] == [{3.0}, {1.0, 2.0}]


def test_criteria_of_people_whom_nothing_names() -> None:
    frame = two_criteria("aspect", whole=True).drop("annotator")
    assert [len(part) for part in read(frame).by_pair().values()] == [frame.height / 2] * 2


def test_an_aspect_of_texts_is_no_criterion() -> None:
    aspect = pl.when(pl.col("segment") > 5).then(pl.lit("food")).otherwise(pl.lit("service")).alias("aspect")
    frame = pl.concat([table(), table()]).with_columns(aspect)
    judgments = read(frame)
    assert list(judgments.by_pair()) == ["und-und"]
    assert len(judgments) == frame.height / 2, "rows that are there twice still count once"


def _apart_by_rows(cells: list[str]) -> tuple[list[str], list[str]] | None:
    """What `take_apart` does, one id after the other."""
    for joint in ("::", "__", "#", "/", "|", ":", "_", "-", ".", " "):
        for divide in (str.rpartition, str.partition):
            parts = [(first, second) for first, _, second in (divide(cell, joint) for cell in cells)]
            one, two = [part[0] for part in parts], [part[1] for part in parts]
            few, many = sorted((len(set(one)), len(set(two))))
            texts, systems = (one, two) if len(set(one)) > len(set(two)) else (two, one)
            named = not any(name.isdigit() for name in systems)
            if "" not in one + two and 1 < few < many and len(set(parts)) >= 0.95 * few * many and named:
                return texts, systems
    return None


NAMES = st.sampled_from(["Opus", "a_b", "x::y", "3", "12", "²", "neu\nral", "é", "a"])
JOINED = st.builds(
    lambda systems, texts, joint, rest: [*(f"{text}{joint}{name}" for text in texts for name in systems), *rest],
    st.sets(NAMES, min_size=1, max_size=3),
    st.sets(NAMES, min_size=2, max_size=6),
    st.sampled_from(["_", "-", "::", ":", "__", " "]),
    st.lists(st.sampled_from(["3_Opus", "12-a", "_", "a", "::a:"]), max_size=1),
)


@given(cells=JOINED)
def test_ids_are_taken_apart_as_one_after_the_other(cells: list[str]) -> None:
    found = take_apart(pl.Series(cells))
    assert (None if found is None else tuple(part.to_list() for part in found)) == _apart_by_rows(cells)


def test_ids_that_join_text_and_system() -> None:
    found = take_apart(pl.Series(["1_Opus", "1_a_b", "2_Opus", "2_a_b", "3_Opus", "3_a_b", "3_a_b"]))
    assert found is not None
    assert found[0].to_list() == ["1", "1", "2", "2", "3", "3", "3"]
    assert found[1].to_list() == ["Opus", "a_b", "Opus", "a_b", "Opus", "a_b", "a_b"]
    assert take_apart(pl.Series([f"prompt-{number}" for number in range(9)])) is None
