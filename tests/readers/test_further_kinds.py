"""Further kinds of tables: other languages, tools and habits than in `test_kinds_of_tables`, held to the same promise.

Each is read right unaided, or with exactly the option that the first message names.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from adjudge import read
from adjudge.table.errors import AdjudgeError
from tests.conftest import Run
from tests.readers.test_kinds_of_tables import (
    PEOPLE,
    SYSTEMS,
    TEXTS,
    Kind,
    _orders_of,
    _pairs,
    _two_criteria,
    judgments,
    long,
    order_of,
    read_kind,
    worded,
    workbook,
    write,
)

FURTHER: list[Kind] = [
    Kind("German, engines", long("Prüfer", "Segment-Nr.", "MÜ-System", "Qualität (0–100)", separator=";")),
    Kind("French, engines", long("Annotatrice", "N° de phrase", "Moteur", "Appréciation")),
    Kind("Spanish, engines", long("Anotador", "Id. de frase", "Motor", "Calificación")),
    Kind("Czech, engines", long("Anotátor", "Číslo věty", "Překladač", "Hodnocení")),
    Kind("Chinese, engines", long("评审人", "原文编号", "翻译引擎", "得分")),
    Kind("Japanese, engines", long("評価者ID", "セグメント番号", "翻訳エンジン", "スコア")),
    Kind("Italian", long("Valutatore", "Frase", "Sistema", "Punteggio")),
    Kind("Portuguese", long("Avaliador", "Segmento", "Sistema", "Nota")),
    Kind("Dutch", long("Beoordelaar", "Zin", "Systeem", "Score")),
    Kind("Russian", long("Оценщик", "Предложение", "Система", "Оценка")),
    Kind("Korean", long("평가자", "문장", "시스템", "점수")),
    Kind("listening test", long("listener_id", "wav", "system", "naturalness", steps=5)),
    Kind("captions", long("worker", "image_id", "captioner", "score", steps=5)),
    Kind("summaries", long("evaluator", "article_id", "summarizer", "overall quality", steps=5)),
    Kind("chat", long("user", "conversation_id", "assistant", "helpfulness", steps=7)),
    Kind(
        "German agreement",
        worded(["trifft gar nicht zu", "trifft eher nicht zu", "teils/teils", "trifft eher zu", "trifft voll zu"]),
    ),
    Kind(
        "French agreement",
        worded(
            ["pas du tout d'accord", "pas d'accord", "ni d'accord ni pas d'accord", "d'accord", "tout à fait d'accord"]
        ),
    ),
    Kind(
        "Spanish agreement",
        worded(["totalmente en desacuerdo", "en desacuerdo", "neutral", "de acuerdo", "totalmente de acuerdo"]),
    ),
    Kind(
        "Japanese agreement",
        worded(["全くそう思わない", "そう思わない", "どちらともいえない", "そう思う", "とてもそう思う"]),
    ),
    Kind("faces", worded(["😡", "🙁", "😐", "🙂", "😍"])),
    Kind("marks out of ten", worded([f"{n}/10" for n in range(1, 11)])),
    Kind("marks out of five, German", worded([f"{n} von 5" for n in range(1, 6)])),
    Kind("right and wrong, German", worded(["falsch", "richtig"], "Urteil")),
    Kind("pass and fail", worded(["FAIL", "PASS"], "verdict")),
    Kind("grades with signs", worded(["D", "C-", "C+", "B-", "B+", "A-", "A+"], "grade")),
]


def further(name: str, **expected: Any) -> Callable[[Callable[[Path], Path]], Callable[[Path], Path]]:
    """Register the function that writes a kind of table."""

    def register(function: Callable[[Path], Path]) -> Callable[[Path], Path]:
        FURTHER.append(Kind(name, function, **expected))
        return function

    return register


def as_json(file: Path, rows: Any, *, lines: bool = False) -> Path:
    """Write JSON, or a line of it for each row."""
    file.write_text("\n".join(map(json.dumps, rows)) if lines else json.dumps(rows))
    return file


@further("Schulnote, of which 1 is best", says="--columns score=Schulnote --lower-is-better")
def _schulnote(folder: Path) -> Path:
    rows = [(p, t, s, 7 - x) for p, t, s, x in judgments(steps=6)]
    return write(folder / "noten.csv", ("Lehrkraft", "Satz", "System", "Schulnote"), rows)


@further("rank with its meaning in the header")
def _rank_header(folder: Path) -> Path:
    rows = [
        (p, t, s, 1 + order.replace("=", ">").split(" > ").index(s)) for p, t, order in _orders_of() for s in SYSTEMS
    ]
    return write(folder / "r.csv", ("annotator", "segment", "system", "Rank (1 = best)"), rows)


@further("severity", says="--columns 'score=Defect severity' --lower-is-better")
def _severity(folder: Path) -> Path:
    rows = [(p, t, s, 5 - x) for p, t, s, x in judgments(steps=5)]
    return write(folder / "s.csv", ("annotator", "segment", "system", "Defect severity"), rows)


@further("Fehlerpunkte", says="--columns score=Fehlerpunkte --lower-is-better")
def _fehlerpunkte(folder: Path) -> Path:
    rows = [(p, t, s, (100 - x) // 6) for p, t, s, x in judgments()]
    return write(folder / "f.csv", ("Revisorin", "Segment", "System", "Fehlerpunkte"), rows, separator=";")


@further("z with decimal commas")
def _z_commas(folder: Path) -> Path:
    rows = [(p, t, s, f"{(x - 60) / 18:.2f}".replace(".", ",")) for p, t, s, x in judgments()]
    return write(folder / "z.csv", ("Prüferin", "Satz", "System", "z-Wert"), rows, separator=";")


@further("no answer in other languages")
def _no_answer(folder: Path) -> Path:
    nothing = ("k. A.", "keine Angabe", "不知道", "s/o", "no answer", "don't know", "weiß nicht", "sin respuesta")
    rows = [(p, t, s, nothing[n // 9 % 8] if n % 9 == 0 else x) for n, (p, t, s, x) in enumerate(judgments())]
    return write(folder / "n.csv", ("annotator", "segment", "system", "score"), rows)


@further("Prolific with demographics")
def _prolific(folder: Path) -> Path:
    rows = [
        (
            f"66{PEOPLE.index(p)}af",
            f"77{PEOPLE.index(p)}bc",
            "APPROVED",
            20 + PEOPLE.index(p),
            "Female",
            "German",
            t,
            s,
            x,
        )
        for p, t, s, x in judgments()
    ]
    header = ("Participant id", "Submission id", "Status", "Age", "Sex", "Language", "item", "model", "rating")
    return write(folder / "p.csv", header, rows)


@further("Gorilla")
def _gorilla(folder: Path) -> Path:
    rows = [
        (
            n,
            "01/11/2025 10:00:00",
            10234567 + PEOPLE.index(p),
            n % 24,
            "Screen 1",
            "rating_slider",
            1234.5 + n,
            x,
            f"text{t}",
            s,
        )
        for n, (p, t, s, x) in enumerate(judgments())
    ]
    header = ("Event Index", "UTC Date", "Participant Private ID", "Trial Number", "Screen Name", "Zone Type",
              "Reaction Time", "Response", "Stimulus", "model")  # fmt: skip
    return write(folder / "g.csv", header, rows)


@further("jsPsych, paths of sounds")
def _jspsych(folder: Path) -> Path:
    rows = [
        {"rt": 900 + n, "stimulus": f"stimuli/{s}/{t}.wav", "response": x, "trial_type": "audio-slider-response",
         "trial_index": n % 24, "time_elapsed": n * 1000, "subject_id": p}
        for n, (p, t, s, x) in enumerate(judgments())
    ]  # fmt: skip
    return as_json(folder / "jspsych.json", rows)


@further("webMUSHRA")
def _mushra(folder: Path) -> Path:
    rows = [
        ("mos-test", f"{p}@x.org", 30 + PEOPLE.index(p), "female", f"trial{t}", s, x, 1200, "")
        for p, t, s, x in judgments()
    ]
    header = ("session_test_id", "email", "age", "gender", "trial_id", "rating_stimulus", "rating_score",
              "rating_time", "rating_comment")  # fmt: skip
    return write(folder / "mushra.csv", header, rows)


@further("comparative opinion scores", says="--winner left=-3,left=-2,left=-1,tie=0,right=1,right=2")
def _cmos(folder: Path) -> Path:
    rows = [(p, t, a, b, -max(-3, min(3, d // 8))) for p, t, a, b, d in _pairs()]
    return write(folder / "cmos.csv", ("listener", "utterance", "system_A", "system_B", "CMOS"), rows)


@further("words of preference")
def _preference_words(folder: Path) -> Path:
    def word(d: int) -> str:
        if abs(d) < 4:
            return "About the same"
        return f"{'A' if d > 0 else 'B'} is {'much' if abs(d) > 14 else 'slightly'} better"

    rows = [(p, t, a, b, word(d)) for p, t, a, b, d in _pairs()]
    return write(folder / "words.csv", ("rater", "prompt_id", "model_a", "model_b", "preference"), rows)


def _everything(steps: int = 5) -> dict[tuple[str, int, str], int]:
    return {(p, t, s): x for p, t, s, x in judgments(whole=True, steps=steps)}


@further("Google Forms with questions")
def _forms_questions(folder: Path) -> Path:
    scores = _everything()
    header = ["Timestamp", "Email Address"] + [f"Clip {t}: how natural is it? [{s}]" for t in TEXTS for s in SYSTEMS]
    rows = [("11/3/2025 14:02:11", f"{p}@x.org", *(scores[p, t, s] for t in TEXTS for s in SYSTEMS)) for p in PEOPLE]
    return write(folder / "forms.csv", header, rows)


@further("Google Forms, German words")
def _forms_german(folder: Path) -> Path:
    words = ("sehr schlecht", "schlecht", "mittel", "gut", "sehr gut")
    scores = _everything()
    header = ["Zeitstempel", "E-Mail-Adresse"] + [f"Satz {t} [{s}]" for t in TEXTS for s in SYSTEMS]
    rows = [
        ("03.11.2025 14:02:11", f"{p}@x.org", *(words[scores[p, t, s] - 1] for t in TEXTS for s in SYSTEMS))
        for p in PEOPLE
    ]
    return write(folder / "forms.csv", header, rows)


@further("Microsoft Forms, anonymous", people=None)
def _forms_microsoft(folder: Path) -> Path:
    scores = _everything()
    header = ["ID", "Start time", "Completion time", "Email", "Name"] + [
        f"Text {t} - {s}" for t in TEXTS for s in SYSTEMS
    ]
    rows = [
        (
            n + 1,
            "11/3/25 14:02:11",
            "11/3/25 14:22:11",
            "anonymous",
            "",
            *(scores[p, t, s] for t in TEXTS for s in SYSTEMS),
        )
        for n, p in enumerate(PEOPLE)
    ]
    return workbook(folder / "forms.xlsx", {"Sheet1": [header, *rows]})


@further("SurveyMonkey")
def _surveymonkey(folder: Path) -> Path:
    scores = _everything()
    top = ["Respondent ID", "Collector ID", "Start Date"] + [c for t in TEXTS for c in (f"Text {t}", "", "")]
    below = ["", "", ""] + list(SYSTEMS) * len(TEXTS)
    rows = [
        (118800 + n, 44, "11/3/2025", *(scores[p, t, s] for t in TEXTS for s in SYSTEMS)) for n, p in enumerate(PEOPLE)
    ]
    return write(folder / "monkey.csv", top, [below, *rows])


@further("a title and two rows of headers", criteria=2)
def _three_rows(folder: Path) -> Path:
    cells: dict[tuple[str, int], dict[tuple[str, str], int]] = {}
    for p, t, s, c, x in _two_criteria():
        cells.setdefault((p, t), {})[s, c] = x
    top = ["Bewerterin", "Satz"] + [c for s in SYSTEMS for c in (s, "")]
    below = ["", ""] + ["Adäquatheit", "Flüssigkeit"] * 3
    rows = [[p, t, *(of[s, c] for s in SYSTEMS for c in ("adequacy", "fluency"))] for (p, t), of in cells.items()]
    return workbook(folder / "h.xlsx", {"Auswertung": [["Unsere Evaluation 2025"], [], top, below, *rows]})


@further("sheets of language pairs", criteria=2)
def _pair_sheets(folder: Path) -> Path:
    other = dict(zip(SYSTEMS, reversed(SYSTEMS), strict=True))
    first = [("annotator", "item", "system", "score"), *judgments()]
    second = [("annotator", "item", "system", "score"), *((p, t, other[s], x) for p, t, s, x in judgments())]
    return workbook(folder / "pairs.xlsx", {"en-de": first, "en-fr": second})


@further("sheets of criteria", criteria=2)
def _criteria_sheets(folder: Path) -> Path:
    rows = _two_criteria()
    sheets = {
        c.title(): [("annotator", "item", "system", "score"), *((p, t, s, x) for p, t, s, d, x in rows if c == d)]
        for c in ("adequacy", "fluency")
    }
    return workbook(folder / "criteria.xlsx", sheets)


@further("a workbook with instructions first")
def _instructions(folder: Path) -> Path:
    sheets: dict[str, Sequence[Sequence[Any]]] = {
        "Instructions": [["Please read each text."], ["Score", "Meaning"], [1, "bad"], [5, "good"]],
        "Key": [["System", "Vendor"], ["Opus", "x"], ["Lingua", "y"], ["Babel", "z"]],
        "Ratings": [("Reviewer", "Item", "System", "Score"), *judgments()],
    }
    return workbook(folder / "w.xlsx", sheets)


@further("first, second and third")
def _places(folder: Path) -> Path:
    rows = [(p, t, *order.replace("=", ">").split(" > ")) for p, t, order in _orders_of()]
    return write(folder / "places.csv", ("rater", "item", "1st", "2nd", "3rd"), rows)


@further("a list as ranking")
def _listed(folder: Path) -> Path:
    rows = [{"rater": p, "item": t, "ranking": order.replace("=", ">").split(" > ")} for p, t, order in _orders_of()]
    return as_json(folder / "orders.jsonl", rows, lines=True)


@further("commas as ranking")
def _commas(folder: Path) -> Path:
    rows = [(p, t, order.replace(" = ", ", ").replace(" > ", ", ")) for p, t, order in _orders_of()]
    return write(folder / "orders.csv", ("rater", "item", "ranking"), rows)


@further("best and worst by letters")
def _letters(folder: Path) -> Path:
    rows = []
    for p, t, order in _orders_of():
        best, *_, worst = order.replace("=", ">").split(" > ")
        turned = SYSTEMS[t % 3 :] + SYSTEMS[: t % 3]
        rows.append((p, t, *turned, "ABC"[turned.index(best)], "ABC"[turned.index(worst)]))
    return write(folder / "bws.csv", ("annotator", "tuple", "A", "B", "C", "Best", "Worst"), rows)


@further("questions as sentences", criteria=2)
def _sentences(folder: Path) -> Path:
    asked = {"adequacy": "How much of the meaning is kept?", "fluency": "How fluent is the text?"}
    rows = [(p, t, s, asked[c], x) for p, t, s, c, x in _two_criteria(5)]
    return write(folder / "q.csv", ("worker", "item", "system", "question_text", "answer"), rows)


@further("Chinese criteria", criteria=2)
def _chinese_criteria(folder: Path) -> Path:
    rows = [(p, t, s, {"adequacy": "忠实度", "fluency": "流畅度"}[c], x) for p, t, s, c, x in _two_criteria(5)]
    return write(folder / "c.csv", ("评审员", "句子", "系统", "维度", "分数"), rows)


@further("TAUS", criteria=2)
def _taus(folder: Path) -> Path:
    both: dict[tuple[str, int, str], dict[str, int]] = {}
    for p, t, s, c, x in _two_criteria(4):
        both.setdefault((p, t, s), {})[c] = x
    rows = [(*key, of["adequacy"], of["fluency"]) for key, of in both.items()]
    return write(folder / "dqf.csv", ("Evaluator", "Segment ID", "MT Engine", "Adequacy", "Fluency"), rows)


@further("Potato with two questions", criteria=2)
def _potato(folder: Path) -> Path:
    both: dict[tuple[str, int, str], dict[str, int]] = {}
    for p, t, s, c, x in _two_criteria(5):
        both.setdefault((p, t, s), {})[c] = x
    header = (
        "user",
        "instance_id",
        "displayed_text",
        *(f"{c}:::scale_{n}" for c in ("adequacy", "fluency") for n in range(1, 6)),
    )
    rows = [
        (
            p,
            f"{t}_{s}",
            f"text {t}",
            *(str(n) if of[c] == n else "" for c in ("adequacy", "fluency") for n in range(1, 6)),
        )
        for (p, t, s), of in both.items()
    ]
    return write(folder / "annotated_instances.csv", header, rows)


@further("Pearmut, two languages", criteria=2)
def _pearmut(folder: Path) -> Path:
    def entries(order: Sequence[str]) -> list[dict[str, Any]]:
        found = []
        for p in PEOPLE:
            for t in TEXTS:
                shown = {order[SYSTEMS.index(s)]: x for q, u, s, x in judgments() if (q, u) == (p, t)}
                if shown:
                    found.append({
                        "user_id": p, "item_i": t,
                        "item": [{"item_id": f"d{t % 3}_###_{t}", "src": "Satz", "tgt": dict.fromkeys(shown, "text")}],
                        "annotation": [{s: {"score": x, "error_spans": []} for s, x in shown.items()}],
                        "actions": [{"time": 1_700_000_000.0 + t}],
                    })  # fmt: skip
        return found

    return as_json(folder / "annotations.json", {"en-cs": entries(SYSTEMS), "en-de v2": entries(SYSTEMS[::-1])})


@further("arena in Parquet")
def _arena(folder: Path) -> Path:
    rows = [
        {"question_id": f"q{t}", "model_a": a, "model_b": b,
         "winner": "model_a" if d > 0 else "model_b" if d else "tie", "judge": p,
         "conversation_a": [{"content": "hi", "role": "user"}, {"content": a.lower(), "role": "assistant"}],
         "conversation_b": [{"content": "hi", "role": "user"}, {"content": b.lower(), "role": "assistant"}],
         "turn": 1, "anony": True, "language": "English", "tstamp": 1.7e9 + t}
        for p, t, a, b, d in _pairs()
    ]  # fmt: skip
    pl.DataFrame(rows).write_parquet(folder / "train.parquet")
    return folder / "train.parquet"


@further("Argilla")
def _argilla(folder: Path) -> Path:
    rows = []
    for t in TEXTS:
        for s in SYSTEMS:
            said = [
                {"user_id": p, "status": "submitted", "values": {"quality": {"value": x}}}
                for p, u, v, x in judgments(steps=5)
                if (u, v) == (t, s)
            ]
            rows.append({
                "id": f"r{t}{s}", "fields": {"source": f"text {t}", "translation": f"{s} {t}"},
                "metadata": {"model": s, "segment": t}, "responses": said,
            })  # fmt: skip
    return as_json(folder / "argilla.json", rows)


@further("Prodigy")
def _prodigy(folder: Path) -> Path:
    rows = [
        {"text": f"text {t}", "meta": {"system": s, "segment": t}, "options": [{"id": n} for n in range(1, 6)],
         "accept": [str(x)], "answer": "accept", "_annotator_id": f"db-{p}", "_session_id": f"db-{p}",
         "_input_hash": t, "_task_hash": n, "_timestamp": 1_700_000_000 + n}
        for n, (p, t, s, x) in enumerate(judgments(steps=5))
    ]  # fmt: skip
    return as_json(folder / "prodigy.jsonl", rows, lines=True)


@further("Toloka")
def _toloka(folder: Path) -> Path:
    rows = [
        (f"text {t}", s, "", x, "", f"as{n}", f"task{t}", p, "APPROVED", "2025-11-03T10:00:00")
        for n, (p, t, s, x) in enumerate(judgments(steps=5))
    ]
    header = ("INPUT:text", "INPUT:system", "GOLDEN:score", "OUTPUT:score", "HINT:text", "ASSIGNMENT:assignment_id",
              "ASSIGNMENT:task_id", "ASSIGNMENT:worker_id", "ASSIGNMENT:status", "ASSIGNMENT:started")  # fmt: skip
    return write(folder / "toloka.tsv", header, rows, separator="\t")


@further("Appen")
def _appen(folder: Path) -> Path:
    rows = [
        (
            1000 + t * 10 + SYSTEMS.index(s),
            "2025-11-03 10:00:00",
            n,
            "FALSE",
            0.91,
            7000 + PEOPLE.index(p),
            "DEU",
            x,
            s,
            t,
        )
        for n, (p, t, s, x) in enumerate(judgments(steps=5))
    ]
    header = (
        "_unit_id",
        "_created_at",
        "_id",
        "_tainted",
        "_trust",
        "_worker_id",
        "_country",
        "rating",
        "model",
        "source_id",
    )
    return write(folder / "appen.csv", header, rows)


@further("LangSmith, one file", people=None)
def _langsmith(folder: Path) -> Path:
    rows = [(f"q{t}", f"a{t}", s, x, 1.1, f"ex-{t}") for p, t, s, x in judgments(whole=True, steps=5) if p == "eva"]
    header = ("inputs.question", "outputs.answer", "experiment", "feedback.correctness", "latency", "example_id")
    return write(folder / "langsmith.csv", header, rows)


@further("Langfuse, categories")
def _langfuse(folder: Path) -> Path:
    words = ("poor", "fair", "good", "very good", "excellent")
    rows = [
        {"id": f"s{n}", "timestamp": "2025-11-03 10:00:00", "traceId": f"item-{t}", "datasetRunId": s,
         "name": "quality", "value": None, "stringValue": words[x - 1], "source": "ANNOTATION",
         "dataType": "CATEGORICAL", "authorUserId": p}
        for n, (p, t, s, x) in enumerate(judgments(steps=5))
    ]  # fmt: skip
    return as_json(folder / "scores.json", {"data": rows, "meta": {"page": 1, "totalItems": len(rows)}})


@further("ratings by person in an object", says="--raters ratings.anna")
def _by_person(folder: Path) -> Path:
    rows = [
        {"item": t, "system": s, "ratings": {p: x for p, u, v, x in judgments() if (u, v) == (t, s)}}
        for t in TEXTS
        for s in SYSTEMS
    ]
    return as_json(folder / "r.json", rows)


@further("outputs in a list")
def _outputs(folder: Path) -> Path:
    found: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for p, t, s, x in judgments():
        found.setdefault((p, t), []).append({"system": s, "score": x, "text": f"{s} {t}"})
    rows = [{"annotator": p, "segment": t, "outputs": of} for (p, t), of in found.items()]
    return as_json(folder / "outputs.jsonl", rows, lines=True)


@further("scores by system in an object", says="--systems")
def _by_system(folder: Path) -> Path:
    found: dict[tuple[str, int], dict[str, int]] = {}
    for p, t, s, x in judgments():
        found.setdefault((p, t), {})[s] = x
    return as_json(folder / "s.json", [{"annotator": p, "segment": t, "scores": of} for (p, t), of in found.items()])


@further("SummEval with experts and crowd", people=3, criteria=2, note="turker_annotations")
def _summeval(folder: Path) -> Path:
    scores, other = _everything(), dict(zip(SYSTEMS, SYSTEMS[::-1], strict=True))
    said = {
        (t, s): [{"coherence": scores[p, t, s], "relevance": scores[p, t, other[s]]} for p in PEOPLE]
        for t in TEXTS
        for s in SYSTEMS
    }
    rows = [
        {"id": f"dm-{t}", "model_id": s, "decoded": "text", "references": ["a", "b"],
         "expert_annotations": cells[:3], "turker_annotations": cells[3:]}
        for (t, s), cells in said.items()
    ]  # fmt: skip
    return as_json(folder / "model_annotations.jsonl", rows, lines=True)


@further("four criteria of summaries", criteria=4)
def _four(folder: Path) -> Path:
    rows = [(p, t, s, x, x, x, x) for p, t, s, x in judgments(steps=5)]
    header = ("evaluator_id", "article", "summarizer", "Coherence", "Consistency", "Fluency", "Relevance")
    return write(folder / "four.csv", header, rows)


@further("a file for each system")
def _files_of_systems(folder: Path) -> Path:
    inside = folder / "systems"
    inside.mkdir()
    for s in SYSTEMS:
        write(inside / f"{s}.csv", ("rater", "segment", "score"), [(p, t, x) for p, t, v, x in judgments() if v == s])
    return inside


@further("confidence and time beside the rating")
def _confidence(folder: Path) -> Path:
    rows = [(p, t, s, x, (7 * t + 3) % 5 + 1, 12.5 + t, "de" if p < "d" else "en") for p, t, s, x in judgments(steps=5)]
    header = ("annotator_id", "item_id", "system_name", "rating", "confidence", "time_spent", "native_language")
    return write(folder / "c.csv", header, rows)


@further("dialogues with turns as texts", criteria=1)
def _dialogue(folder: Path) -> Path:
    rows = [(p, f"dlg{t}", s, x, f"hello {t}") for p, t, s, x in judgments(steps=7)]
    return write(folder / "d.csv", ("crowdworker", "dialogue", "bot", "engagingness", "last_utterance"), rows)


@further("blind names of columns", says="--systems 'MT 1,MT 2,HT'", order=("MT 1", "MT 2", "HT"))
def _blind(folder: Path) -> Path:
    scores = {(p, t, s): x for p, t, s, x in judgments()}
    rows = [(p, t, *(scores[p, t, s] for s in SYSTEMS)) for p in PEOPLE for t in TEXTS if (p, t, "Opus") in scores]
    return write(folder / "blind.csv", ("Reviewer", "Segment", "MT 1", "MT 2", "HT"), rows)


@further("a group of people beside people")
def _group(folder: Path) -> Path:
    rows = [(p, "expert" if p < "c" else "crowd", t, s, x) for p, t, s, x in judgments()]
    return write(folder / "g.csv", ("judge_id", "judge_type", "item", "system", "score"), rows)


@further("true and false in Parquet")
def _booleans(folder: Path) -> Path:
    rows = [{"labeler": p, "example": t, "model": s, "correct": x > 1} for p, t, s, x in judgments(steps=2)]
    pl.DataFrame(rows).write_parquet(folder / "b.parquet")
    return folder / "b.parquet"


def rows_of(
    header: Sequence[str], row: Callable[..., Sequence[Any]], *, separator: str = ",", steps: int = 100
) -> Callable[[Path], Path]:
    """A table with a row for each judgment, made of person, text, system and score."""
    return lambda folder: write(
        folder / "t.csv", header, [row(*each) for each in judgments(steps=steps)], separator=separator
    )


def pairs_of(
    header: Sequence[str], row: Callable[..., Sequence[Any]], *, separator: str = ","
) -> Callable[[Path], Path]:
    """A table with a row for each comparison, made of person, text, two systems and by how much the first is better."""
    return lambda folder: write(folder / "t.csv", header, [row(*each) for each in _pairs()], separator=separator)


def survey(header: Sequence[str], names: Sequence[str], *, separator: str = ",") -> Callable[[Path], Path]:
    """A survey with a row for each person and a column for each text and system, under these names."""

    def make(folder: Path) -> Path:
        scores = _everything()
        answers = [[scores[p, t, s] for t in TEXTS for s in SYSTEMS] for p in PEOPLE]
        about = [[f"{name} {n}" for name in header] for n in range(len(PEOPLE))]
        rows = [[*who, *said] for who, said in zip(about, answers, strict=True)]
        return write(folder / "survey.csv", [*header, *names], rows, separator=separator)

    return make


def _won(d: int, *words: str) -> str:
    return words[0] if d > 0 else words[1] if d else words[2]


FURTHER += [
    Kind("Swedish", long("Bedömare", "Mening", "System", "Betyg")),
    Kind("Turkish", long("Değerlendirici", "Cümle", "Sistem", "Puan")),
    Kind("Hungarian", long("Értékelő", "Mondat", "Rendszer", "Pontszám")),
    Kind("Ukrainian", long("Оцінювач", "Речення", "Система", "Оцінка")),
    Kind("Chinese, long signs", long("評分者", "句子", "翻譯系統", "分數")),
    Kind("Polish", long("Oceniający", "Zdanie", "System", "Ocena")),
    Kind(
        "words of surveys",
        worded(["Extremely bad", "Somewhat bad", "Neither good nor bad", "Somewhat good", "Extremely good"]),
    ),
    Kind(
        "marks of statistics programs",
        rows_of(
            ("annotator", "segment", "system", "score"),
            lambda p, t, s, x: (p, t, s, -999 if (t, s) == (3, "Opus") else x),
        ),
        note="-999 stands for no answer",
    ),
    Kind(
        "faults of spreadsheets",
        rows_of(
            ("annotator", "segment", "system", "score"),
            lambda p, t, s, x: (p, t, s, "#DIV/0!" if (t, s) == (3, "Opus") else x),
        ),
    ),
    Kind(
        "points lost in MQM",
        rows_of(("rater", "seg_id", "system", "mqm_score"), lambda p, t, s, x: (p, t, s, (x - 100) // 6)),
    ),
    Kind(
        "z behind a point",
        rows_of(("rater", "seg_id", "system", "score.z"), lambda p, t, s, x: (p, t, s, round((x - 60) / 18, 3))),
    ),
    Kind(
        "word error rates",
        rows_of(("speaker", "utt", "asr", "WER"), lambda p, t, s, x: (p, t, s, (100 - x) / 100)),
        says="--columns score=WER --lower-is-better",
        people=None,
    ),
    Kind(
        "two columns of systems",
        rows_of(("system", "model", "segment", "score"), lambda p, t, s, x: (f"sys-{p}", s, t, x)),
        says="--columns system=model",
    ),
    Kind(
        "languages in a column",
        lambda folder: write(
            folder / "t.csv",
            ("annotator", "language", "segment", "system", "score"),
            [
                row
                for p, t, s, x in judgments()
                for row in ((p, "German", t, s, x), (p, "French", t, SYSTEMS[2 - SYSTEMS.index(s)], x))
            ],
        ),
        criteria=2,
    ),
    Kind(
        "locales in a column",
        lambda folder: write(
            folder / "t.csv",
            ("linguist", "locale", "string", "engine", "score"),
            [
                row
                for p, t, s, x in judgments()
                for row in ((p, "de-DE", t, s, x), (p, "fr-FR", t, SYSTEMS[2 - SYSTEMS.index(s)], x))
            ],
        ),
        criteria=2,
    ),
    Kind(
        "sides in German",
        pairs_of(
            ("Bewerter", "Satz", "System links", "System rechts", "Sieger"),
            lambda p, t, a, b, d: (p, t, a, b, _won(d, "links", "rechts", "unentschieden")),
            separator=";",
        ),
    ),
    Kind(
        "votes for A and B",
        pairs_of(
            ("voter", "prompt_id", "model_a", "model_b", "vote"),
            lambda p, t, a, b, d: (p, t, a, b, _won(d, "A", "B", "Tie")),
        ),
    ),
    Kind(
        "sides by what they hold",
        pairs_of(
            ("rater", "item", "top", "bottom", "choice"), lambda p, t, a, b, d: (p, t, a, b, _won(d, a, b, "same"))
        ),
    ),
    Kind(
        "sides by number",
        pairs_of(
            ("annotator", "prompt", "model_1", "model_2", "preferred"),
            lambda p, t, a, b, d: (p, t, a, b, _won(d, "1", "2", "3")),
        ),
    ),
    Kind(
        "a scale between sides",
        pairs_of(
            ("rater", "item", "left_system", "right_system", "Likert"),
            lambda p, t, a, b, d: (p, t, a, b, max(-3, min(3, -d // 8))),
        ),
        says="--columns winner=Likert --winner left=-3",
    ),
    Kind(
        "a score of each side",
        pairs_of(
            ("annotator", "item", "model_a", "model_b", "model_a_score", "model_b_score"),
            lambda p, t, a, b, d: (p, t, a, b, 50 + d, 50),
        ),
    ),
    Kind(
        "marks for each outcome",
        pairs_of(
            ("rater", "conv", "model_a", "model_b", "winner_model_a", "winner_model_b", "winner_tie"),
            lambda p, t, a, b, d: (p, f"c{t}", a, b, int(d > 0), int(d < 0), int(d == 0)),
        ),
    ),
    Kind("REDCap", survey(("record_id", "form_complete"), [f"q{t}_{s}" for t in TEXTS for s in SYSTEMS])),
    Kind(
        "LimeSurvey",
        survey(("id", "submitdate"), [f"Wie gut ist Satz {t}? [{s}]" for t in TEXTS for s in SYSTEMS], separator=";"),
    ),
    Kind(
        "people and systems in the names of columns",
        lambda folder: write(
            folder / "t.csv",
            ("segment", *(f"{p}_{s}" for p in PEOPLE for s in SYSTEMS)),
            [(t, *(_everything()[p, t, s] for p in PEOPLE for s in SYSTEMS)) for t in TEXTS],
        ),
        says="--wide annotator,system",
    ),
    Kind(
        "a column for each text",
        lambda folder: write(
            folder / "t.csv",
            ("system", *(f"seg{t}" for t in TEXTS)),
            [(s, *(_everything()["eva", t, s] for t in TEXTS)) for s in SYSTEMS],
        ),
        people=None,
    ),
    Kind(
        "ties as lists",
        lambda folder: as_json(
            folder / "t.json",
            [
                {"user": p, "item": t, "ranking": [group.split(" = ") for group in order.split(" > ")]}
                for p, t, order in _orders_of()
            ],
        ),
    ),
    Kind(
        "most and least",
        lambda folder: write(
            folder / "t.csv",
            ("rater", "item", "shown", "most natural", "least natural"),
            [
                (
                    p,
                    t,
                    ";".join(SYSTEMS),
                    order.replace("=", ">").split(" > ")[0],
                    order.replace("=", ">").split(" > ")[-1],
                )
                for p, t, order in _orders_of()
            ],
        ),
    ),
    Kind(
        "turns in a list",
        lambda folder: as_json(
            folder / "t.jsonl",
            [
                {
                    "judge": p,
                    "question_id": t,
                    "model": s,
                    "scores": [x, _everything()[p, t, SYSTEMS[2 - SYSTEMS.index(s)]]],
                }
                for p, t, s, x in judgments(steps=5)
            ],
            lines=True,
        ),
        criteria=2,
    ),
    Kind(
        "doccano",
        lambda folder: as_json(
            folder / "admin.jsonl",
            [
                {"id": n, "text": "...", "system": s, "segment": t, "label": [str(x)], "annotator": p}
                for n, (p, t, s, x) in enumerate(judgments(steps=5))
            ],
            lines=True,
        ),
    ),
    Kind(
        "words of a decision",
        worded(["not acceptable", "acceptable with edits", "acceptable"], "decision"),
        says="--columns score=decision --values",
        worth={"not acceptable": 1, "acceptable with edits": 2, "acceptable": 3},
    ),
]


@further("a survey with questions and ids below its header")
def _qualtrics(folder: Path) -> Path:
    scores = _everything()
    header = ["StartDate", "Progress", "ResponseId"] + [f"Q{t}_{n}" for t in TEXTS for n in (1, 2, 3)]
    asked = ["Start Date", "Progress", "Response ID"] + [
        f"Sentence {t}: how good? - {s}" for t in TEXTS for s in SYSTEMS
    ]
    ids = [json.dumps({"ImportId": name}) for name in header]
    rows = [
        ("2025-11-03 14:02:11", 100, f"R_{n}", *(scores[p, t, s] for t in TEXTS for s in SYSTEMS))
        for n, p in enumerate(PEOPLE)
    ]
    return write(folder / "q.csv", header, [asked, ids, *rows])


@further("two rows of names in a workbook, the upper one with few")
def _upper_row(folder: Path) -> Path:
    scores, words = _everything(), ("Very poor", "Poor", "Fair", "Good", "Very good")
    top = ["Respondent ID", "Start Date"] + [cell for t in TEXTS for cell in (f"Sentence {t}", None, None)]
    below = [None, None, *SYSTEMS * len(TEXTS)]
    rows = [
        (118800 + n, "11/3/2025", *(words[scores[p, t, s] - 1] for t in TEXTS for s in SYSTEMS))
        for n, p in enumerate(PEOPLE)
    ]
    return workbook(folder / "s.xlsx", {"Sheet": [top, below, *rows]})


@further("names above empty cells", note="empty cells of 'Rater' filled from above")
def _blocks(folder: Path) -> Path:
    blocks = [[row for row in judgments() if row[0] == p] for p in PEOPLE]
    rows = [("" if n else p, t, s, x) for block in blocks for n, (p, t, s, x) in enumerate(block)]
    return workbook(folder / "b.xlsx", {"Sheet": [("Rater", "Segment", "System", "Score"), *rows]})


@further("a mean below the table", note="1 row of totals or means not read (line 146)")
def _totals(folder: Path) -> Path:
    rows = [*judgments(), ("", "", "Average", 63.2)]
    return workbook(folder / "b.xlsx", {"Sheet": [("Rater", "Segment", "System", "Score"), *rows]})


def _parquet(file: Path, rows: Sequence[dict[str, Any]]) -> Path:
    pl.DataFrame(rows).write_parquet(file)
    return file


def _encoded(encoding: str, *header: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        file = long(*header)(folder)
        file.write_bytes(file.read_text(encoding="utf-8").encode(encoding))
        return file

    return make


PLAIN = ("annotator", "segment", "system", "score")
FURTHER += [
    Kind(
        "a header that nobody knows, in one message",
        long("Bedømmer", "Sætning", "Oversættelsessystem", "Karakter", separator=";"),
        says="--columns annotator=Bedømmer,score=Karakter",
    ),
    Kind(
        "headers that say nothing",
        long("V1", "V2", "V3", "V4"),
        says="--columns system=V3,annotator=V1,score=V4",
    ),
    Kind("conditions", long("subj", "item", "condition", "response"), says="--columns system=condition,annotator=subj"),
    Kind(
        "best and worst in a header",
        rows_of(("rater", "item", "system", "rating (1 best, 5 worst)"), lambda p, t, s, x: (p, t, s, 6 - x), steps=5),
        says="--lower-is-better",
    ),
    Kind(
        "99 of five steps is no answer",
        rows_of(PLAIN, lambda p, t, s, x: (p, t, s, 99 if (t, s) == (3, "Opus") else x), steps=5),
        note="99 stands for no answer",
    ),
    Kind("Arabic digits", rows_of(PLAIN, lambda p, t, s, x: (p, t, s, "٠١٢٣٤٥"[x]), steps=5)),
    Kind("wide digits", rows_of(PLAIN, lambda p, t, s, x: (p, t, s, "０１２３４５"[x]), steps=5)),
    Kind("JSON in cells", rows_of(PLAIN, lambda p, t, s, x: (p, t, s, json.dumps([{"rating": x}])), steps=5)),
    Kind(
        "scores by humans beside metrics",
        rows_of((*PLAIN[:3], "BLEU", "COMET", "human"), lambda p, t, s, x: (p, t, s, 7 * t % 41, 31 * t % 17 / 17, x)),
    ),
    Kind(
        "places of systems",
        lambda folder: write(
            folder / "p.csv",
            ("Bewerter", "Satz", "System", "Platz"),
            [
                (p, t, s, 1 + order.replace("=", ">").split(" > ").index(s))
                for p, t, order in _orders_of()
                for s in SYSTEMS
            ],
        ),
        says="--columns rank=Platz",
    ),
    Kind(
        "ordinals",
        lambda folder: write(
            folder / "p.csv",
            ("rater", "item", "system", "rank"),
            [
                (p, t, s, ("1st", "2nd", "3rd")[order.replace("=", ">").split(" > ").index(s)])
                for p, t, order in _orders_of()
                for s in SYSTEMS
            ],
        ),
    ),
    Kind(
        "numbered rankings",
        lambda folder: write(
            folder / "p.csv",
            ("rater", "item", "ranking"),
            [
                (p, t, " ".join(f"{n}. {s}" for n, s in enumerate(order.replace("=", ">").split(" > "), 1)))
                for p, t, order in _orders_of()
            ],
        ),
    ),
    Kind(
        "two systems in a cell",
        pairs_of(
            ("rater", "item", "pair", "winner"), lambda p, t, a, b, d: (p, t, f"{a} vs. {b}", _won(d, a, b, "tie"))
        ),
    ),
    Kind(
        "opponents",
        pairs_of(
            ("rater", "item", "system", "opponent", "result"),
            lambda p, t, a, b, d: (p, t, a, b, _won(d, "win", "loss", "tie")),
        ),
    ),
    Kind(
        "points against opponents",
        pairs_of(
            ("rater", "item", "system", "opponent", "outcome"),
            lambda p, t, a, b, d: (p, t, a, b, _won(d if abs(d) > 6 else 0, "1", "0", "0.5")),
        ),
        says="--winner left=1,right=0,tie=0.5",
    ),
    Kind(
        "sliders between systems",
        pairs_of(
            ("user", "item", "system_left", "system_right", "slider"),
            lambda p, t, a, b, d: (p, t, a, b, -d * (1 + t % 4)),
        ),
        says="--columns winner=slider --winner left=negative",
    ),
    Kind(
        "options",
        pairs_of(
            ("judge", "item", "option_a", "option_b", "Which is better?"),
            lambda p, t, a, b, d: (p, t, a, b, _won(d, "Option A", "Option B", "Both are equal")),
        ),
    ),
    Kind(
        "a mean beside raters",
        lambda folder: write(
            folder / "m.csv",
            ("item", "system", "A1", "A2", "A3", "score"),
            [
                (t, s, *(said := [_everything(100)[p, t, s] for p in PEOPLE[:3]]), round(sum(said) / 3, 2))
                for t in TEXTS
                for s in SYSTEMS
            ],
        ),
        says="--raters A1,A2,A3",
        people=3,
    ),
    Kind(
        "a sum beside systems",
        lambda folder: write(
            folder / "m.csv",
            ("rater", "item", *SYSTEMS, "Sum", "words"),
            [
                (p, t, *(said := [_everything()[p, t, s] for s in SYSTEMS]), sum(said), 5 + 7 * t % 20)
                for p in PEOPLE
                for t in TEXTS
            ],
        ),
        says="--systems Opus,Lingua,Babel",
    ),
    Kind(
        "criteria that nobody knows",
        lambda folder: write(
            folder / "c.csv",
            (*PLAIN[:3], "Inhalt ok", "klingt gut"),
            [(p, t, s, x, _everything(100)[p, t, SYSTEMS[2 - SYSTEMS.index(s)]]) for p, t, s, x in judgments()],
        ),
        says="--columns 'score=Inhalt ok,score=klingt gut'",
        criteria=2,
    ),
    Kind(
        "sentences that begin again in every file",
        rows_of(
            ("annotator", "file", "line", "system", "score"),
            lambda p, t, s, x: (p, f"f{(t - 1) // 4}.txt", (t - 1) % 4 + 1, s, x),
        ),
    ),
    Kind(
        "chapters",
        rows_of(
            ("annotator", "Kapitel", "Satz", "System", "Punkte"),
            lambda p, t, s, x: (p, f"Kap{(t - 1) // 4}", (t - 1) % 4 + 1, s, x),
        ),
        says="--columns document=Kapitel",
    ),
    Kind(
        "which system",
        rows_of(("Your name", "Which sentence?", "Which system?", "How good is it?"), lambda p, t, s, x: (p, t, s, x)),
        says="--columns 'score=How good is it?'",
    ),
    Kind("a title above", lambda folder: write(folder / "t.csv", ("Our evaluation",), [[], PLAIN, *judgments()])),
    Kind(
        "radio buttons",
        rows_of(
            ("HITId", "WorkerId", "Input.system", "Input.item", *(f"Answer.quality.{k}" for k in range(1, 6))),
            lambda p, t, s, x: (f"h{t}", p, s, t, *(str(x == k).lower() for k in range(1, 6))),
            steps=5,
        ),
    ),
    Kind(
        "sounds with endings", rows_of(("wav", "subj", "mos"), lambda p, t, s, x: (f"utt{t:03}_{s}.wav", p, x), steps=5)
    ),
    Kind(
        "people inside items",
        lambda folder: as_json(
            folder / "l.json",
            [
                {"item": t, "system": s, "ratings": [{"worker": p, "score": _everything(100)[p, t, s]} for p in PEOPLE]}
                for s in SYSTEMS
                for t in TEXTS
            ],
        ),
    ),
    Kind(
        "outputs inside items",
        lambda folder: _parquet(
            folder / "l.parquet",
            [
                {
                    "prompt": f"p{t}",
                    "responses": [{"model": s, "score": _everything(100)[p, t, s]} for s in SYSTEMS],
                    "labeler": p,
                }
                for p in PEOPLE
                for t in TEXTS
            ],
        ),
    ),
    Kind(
        "people and scores as lists",
        lambda folder: _parquet(
            folder / "l.parquet",
            [
                {
                    "item": t,
                    "system": s,
                    "scores": [_everything(100)[p, t, s] for p in PEOPLE],
                    "annotators": list(PEOPLE),
                }
                for s in SYSTEMS
                for t in TEXTS
            ],
        ),
    ),
    Kind(
        "a summary before the judgments",
        lambda folder: workbook(
            folder / "w.xlsx",
            {"Summary": [("System", "Score"), *((s, n) for n, s in enumerate(SYSTEMS))], "Data": [PLAIN, *judgments()]},
        ),
    ),
    Kind(
        "a sheet for each document",
        lambda folder: workbook(
            folder / "w.xlsx",
            {
                f"Doc {d}": [PLAIN, *((p, (t - 1) % 4, s, x) for p, t, s, x in judgments() if (t - 1) // 4 == d)]
                for d in range(3)
            },
        ),
    ),
    Kind(
        "a sheet for each person, texts across",
        lambda folder: workbook(
            folder / "w.xlsx",
            {
                p: [
                    ("System", *(f"S{t}" for t in TEXTS)),
                    *((s, *(_everything(100)[p, t, s] for t in TEXTS)) for s in SYSTEMS),
                ]
                for p in PEOPLE
            },
        ),
    ),
    Kind(
        "people above criteria",
        lambda folder: workbook(
            folder / "w.xlsx",
            {
                "S": [
                    ("", "", *(cell for p in PEOPLE for cell in (p, ""))),
                    ("Segment", "System", *("adequacy", "fluency") * len(PEOPLE)),
                    *(
                        (t, s, *(_everything(100)[p, t, q] for p in PEOPLE for q in (s, SYSTEMS[2 - SYSTEMS.index(s)])))
                        for t in TEXTS
                        for s in SYSTEMS
                    ),
                ]
            },
        ),
        criteria=2,
    ),
    *(
        Kind(f"{encoding} without a name", _encoded(encoding, *header), says=f"--encoding {encoding}")
        for encoding, header in (
            ("cp1250", ("Hodnotitel", "Věta", "Překladač", "Hodnocení")),
            ("cp1251", ("Оценщик", "Предложение", "Система", "Оценка")),
            ("shift_jis", ("評価者", "文番号", "システム", "評価")),
            ("gb18030", ("标注员", "句子", "系统", "得分")),
            ("euc_kr", ("평가자", "문장", "시스템", "점수")),
        )
    ),
]


def _in_levels(of: Callable[[str, int, str], list[str]]) -> Callable[[Path], Path]:
    """JSON of objects in objects: the names that lead to each score, from the outermost on."""

    def written(folder: Path) -> Path:
        tree: dict[str, Any] = {}
        for (p, t, s), x in _everything(100).items():
            *outer, last = of(p, t, s)
            inner = tree
            for name in outer:
                inner = inner.setdefault(name, {})
            inner[last] = x
        return as_json(folder / "tree.json", tree)

    return written


def _tasks_of_turk(folder: Path) -> Path:
    """Radio buttons as JSON in one cell."""
    rows = [
        (f"H{n}", p, t, s, json.dumps([{"rating": {str(step): step == x for step in range(1, 6)}}]))
        for n, (p, t, s, x) in enumerate(judgments(steps=5))
    ]
    return write(folder / "batch.csv", ("HITId", "WorkerId", "Input.seg", "Input.system", "Answer.taskAnswers"), rows)


def _numbered(folder: Path) -> Path:
    """Three systems in each row, in another order each time."""
    rows = []
    for p in PEOPLE:
        for t in TEXTS:
            shown = SYSTEMS[t % 3 :] + SYSTEMS[: t % 3]
            rows.append((p, t, *shown, *(_everything(100)[p, t, s] for s in shown)))
    header = ("WorkerId", "Input.id", *(f"Input.sys{n}" for n in (1, 2, 3)), *(f"Answer.score{n}" for n in (1, 2, 3)))
    return write(folder / "hits.csv", header, rows)


def _ranks_across(folder: Path) -> Path:
    """The third rank is the sum of the others in most rows, and no sum."""
    rows = [
        (p, t, *(1 + order.replace("=", ">").split(" > ").index(s) for s in (SYSTEMS[0], SYSTEMS[1], SYSTEMS[2])))
        for p, t, order in _orders_of()
    ]
    return write(folder / "ranks.csv", ("judge", "item", *(f"rank_{s}" for s in SYSTEMS)), rows)


def _nested(folder: Path) -> Path:
    rows = [
        {
            "prompt": f"text {t}",
            "answers": [
                {"model": s, "said": {"ratings": [{"worker": p, "score": _everything()[p, t, s]} for p in PEOPLE]}}
                for s in SYSTEMS
            ],
        }
        for t in TEXTS
    ]
    pl.DataFrame(rows).write_parquet(folder / "nested.parquet")
    return folder / "nested.parquet"


def _by_name(folder: Path) -> Path:
    scores = _everything()
    rows = [
        {
            "id": t,
            "translations": {
                s: {"text": "...", "ratings": [{"annotator": p, "score": scores[p, t, s]} for p in PEOPLE]}
                for s in SYSTEMS
            },
        }
        for t in TEXTS
    ]
    return as_json(folder / "by_name.json", rows)


def _errors(*header: str) -> Callable[[Path], Path]:
    rows = [
        (s, "d", t, p, "text", "Text", f"Kategorie {n}", "Minor")
        for p, t, s, x in judgments(steps=5)
        for n in range(6 - x)
    ]
    return lambda folder: workbook(folder / "mqm.xlsx", {"Fehler": [header, *rows]})


FURTHER += [
    Kind("Vietnamese, in two words", long("Người chấm", "Câu", "Hệ thống", "Điểm")),
    Kind("Greek, with a final sigma", long("Αξιολογητής", "Πρόταση", "Σύστημα", "Βαθμός")),
    Kind("letters with separate accents", long("E\u0301valuateur", "Phrase", "Syste\u0300me", "Appre\u0301ciation")),
    Kind("German words with ß", worded(["sehr schlecht", "schlecht", "mittelmäßig", "gut", "sehr gut"])),
    Kind("steps in brackets", worded(["Poor (1)", "Fair (2)", "Good (3)", "Very good (4)"])),
    Kind("a French note out of 100", long("Annotateur", "Phrase", "Moteur", "Note /100")),
    Kind("marks out of 100, Czech", long("Hodnotitel", "Věta", "Překladač", "Známka")),
    Kind(
        "a statement",
        worded(["Strongly disagree", "Disagree", "Neither agree nor disagree", "Agree", "Strongly agree"],
               "The translation is fluent"),
    ),
    Kind("students judge answers to questions", long("student", "question", "chatbot", "points", whole=True)),
    Kind("system of a hypothesis", long("expert", "segment_id", "hypothesis_system", "overall")),
    Kind("several systems by number", _numbered, note="3 systems stand in each row"),
    Kind("ranks across", _ranks_across, says="--systems rank_Opus,rank_Lingua,rank_Babel"),
    Kind("radio buttons of Mechanical Turk", _tasks_of_turk),
    Kind("lists in objects in lists", _nested),
    Kind("objects by name", _by_name, says="--columns 'system=translations key'"),
    Kind("objects in objects", _in_levels(lambda p, t, s: [s, str(t), p]), says="--columns 'system=part 1"),
    Kind(
        "winner and loser, French",
        lambda folder: write(
            folder / "g.csv", ("juge", "phrase", "gagnant", "perdant"),
            [(p, t, a, b) if d > 0 else (p, t, b, a) for p, t, a, b, d in _pairs() if d],
        ),
    ),
    Kind(
        "better one, German",
        pairs_of(
            ("Person", "Satz", "System 1", "System 2", "besser"),
            lambda p, t, a, b, d: (p, t, a, b, _won(d, "1", "2", "gleich")),
        ),
        says="--columns annotator=Person",
    ),
    Kind(
        "both are bad",
        pairs_of(
            ("annotator", "prompt", "model_a", "model_b", "preference"),
            lambda p, t, a, b, d: (p, t, a, b, _won(d, "A", "B", "Both are bad")),
        ),
    ),
    Kind(
        "controls beside the outputs",
        lambda folder: write(
            folder / "gold.csv", (*PLAIN, "is_gold"),
            [*((*row, 0) for row in judgments()), *((p, 900 + n, SYSTEMS[0], 1, 1) for p in PEOPLE for n in range(9))],
        ),
        texts=len(TEXTS) + 9,
        note="marks are taken for kind 'attention'",
    ),
    Kind(
        "each task one output",
        lambda folder: write(
            folder / "tasks.csv", ("annotator", "item_id", "source_no", "system", "score"),
            [(p, f"{t}{s}", t, s, x) for p, t, s, x in judgments()],
        ),
        note="'source_no' is taken for the segment",
    ),
    Kind(
        "errors under German names",
        _errors("System", "Dokument", "Satz", "Prüfer", "Ausgangstext", "Zieltext", "Fehlerkategorie", "Schweregrad"),
    ),
]  # fmt: skip


FURTHER += [
    Kind("Portuguese words", worded(["péssimo", "ruim", "regular", "bom", "ótimo"])),
    Kind("Russian words", worded(["очень плохо", "плохо", "средне", "хорошо", "отлично"])),
    Kind("Korean words", worded(["매우 나쁨", "나쁨", "보통", "좋음", "매우 좋음"])),
    Kind("plus and minus", worded(["--", "-", "0", "+", "++"])),
    Kind(
        "scores between blanks",
        lambda folder: write(folder / "b.csv", PLAIN, [(p, t, s, f" {x} ") for p, t, s, x in judgments()]),
    ),
    Kind("headers without accents", long("Evaluateur", "Enonce", "Systeme", "Appreciation")),
    Kind("methods of a study", long("Testperson", "Aufgabe", "Verfahren", "Score"), says="--columns system=Verfahren"),
    Kind(
        "pairs whose names have hyphens",
        pairs_of(
            ("annotator", "segment", "comparison", "answer"),
            lambda p, t, a, b, d: (p, t, f"MT-{a} vs. MT-{b}", _won(d, "first", "second", "equal")),
        ),
        order=[f"MT-{s}" for s in SYSTEMS],
    ),
    Kind(
        "a column for each two systems",
        lambda folder: write(
            folder / "p.csv", ("voter", "item", *(f"{a} vs {b}" for a, b in combinations(SYSTEMS, 2))),
            [
                (p, t, *(a if _everything(100)[p, t, a] >= _everything(100)[p, t, b] else b
                         for a, b in combinations(SYSTEMS, 2)))
                for p in PEOPLE for t in TEXTS
            ],
        ),
        note="3 columns, such as 'Opus vs Lingua', are taken for one comparison each",
    ),
    Kind(
        "lists of judgments by system",
        lambda folder: as_json(
            folder / "s.json",
            {s: [{"annotator": p, "segment": t, "score": x} for p, t, u, x in judgments() if u == s] for s in SYSTEMS},
        ),
        says="--columns 'system=part 1'",
    ),
    Kind(
        "numbered people above criteria",
        lambda folder: write(
            folder / "c.csv",
            ("segment", "system", *(f"P{n} / {c}" for n in range(1, 7) for c in ("adequacy", "fluency"))),
            [
                (t, s, *(_everything(100)[p, t, q] for p in PEOPLE for q in (s, SYSTEMS[2 - SYSTEMS.index(s)])))
                for t in TEXTS for s in SYSTEMS
            ],
        ),
        criteria=2,
    ),
    Kind(
        "a sheet for each text, people across",
        lambda folder: workbook(
            folder / "w.xlsx",
            {f"Seg {t}": [("System", *PEOPLE), *((s, *(_everything(100)[p, t, s] for p in PEOPLE)) for s in SYSTEMS)]
             for t in TEXTS},
        ),
        says=f"--raters {','.join(PEOPLE)}",
    ),
    Kind(
        "ids of texts and systems, people across",
        lambda folder: write(
            folder / "j.csv", ("item", *PEOPLE),
            [(f"{s} | {t}", *(_everything(100)[p, t, s] for p in PEOPLE)) for t in TEXTS for s in SYSTEMS],
        ),
        says=f"--raters {','.join(PEOPLE)}",
    ),
]  # fmt: skip


def test_people_of_wide_tables_are_found_by_any_name(tmp_path: Path) -> None:
    """With --systems they were lost where nobody had listed the header, and all pairs looked sure."""
    rows = [(p, t, *(_everything(100)[p, t, s] for s in SYSTEMS)) for p in PEOPLE for t in TEXTS]
    judged = read(write(tmp_path / "w.csv", ("Testerin", "Satz", *SYSTEMS), rows), systems=SYSTEMS)
    assert set(judged.table["annotator"]) == set(PEOPLE)
    assert judged.table["segment"].n_unique() == len(TEXTS)
    with pytest.raises(AdjudgeError, match=r"has 'Kürzel' .6 values, .*may name people"):
        read(write(tmp_path / "w.csv", ("Kürzel", "Satz", *SYSTEMS), rows), systems=SYSTEMS)


def _webanno(sentences: Sequence[int]) -> str:
    """A document in WebAnno TSV, whose sentences have so many minor errors; the last error covers two tokens."""
    lines, at = ["#FORMAT=WebAnno TSV 3.3", "#T_SP=webanno.custom.MQM|Category|Severity", "", ""], 0
    for number, errors in enumerate(sentences, start=1):
        lines += ["", "#Text=ein Satz mit neun kurzen Wörtern und noch zwei"]
        for token, word in enumerate(lines[-1].removeprefix("#Text=").split(), start=1):
            marked = f"Wort\\_wahl[{min(token, errors) + 9 * number}]" if token <= errors + 1 else "_"
            severity = marked.replace("Wort\\_wahl", "Minor") if errors else "_"
            lines.append(f"{number}-{token}\t{at}-{at + len(word)}\t{word}\t{marked if errors else '_'}\t{severity}\t")
            at += len(word) + 1
    return "\n".join(lines)


def _cas(sentences: Sequence[int]) -> str:
    text, at = "ein 😀 Satz", 0
    structures: list[dict[str, Any]] = [
        {"%ID": 1, "%TYPE": "uima.cas.Sofa", "sofaString": "\n".join([text] * len(sentences))}
    ]
    for errors in sentences:
        place = {"@sofa": 1, "begin": at, "end": at + 11}
        structures.append({"%TYPE": "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.Sentence", **place})
        mark = {"%TYPE": "custom.MQM", "@sofa": 1, "begin": at + 4, "end": at + 6, "Kind": "x", "Severity": "minor"}
        structures += [mark] * errors
        at += 12
    return json.dumps({"%TYPES": {}, "%FEATURE_STRUCTURES": structures})


def _inception(folder: Path, *, document: str, ending: str, written: Callable[[Sequence[int]], str]) -> Path:
    project, scores = folder / "project", _everything()
    for s in SYSTEMS:
        for p in PEOPLE:
            file = project / "annotation" / document.format(s) / f"{p}.{ending}"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(written([5 - scores[p, t, s] for t in TEXTS]), encoding="utf-8")
    (project / "annotation" / document.format(SYSTEMS[0]) / f"INITIAL_CAS.{ending}").write_text(written([0]))
    (project / "source").mkdir()
    (project / "source" / document.format(SYSTEMS[0])).write_text("text")
    return project


@pytest.mark.parametrize(
    ("document", "ending", "written"), [("{}.txt", "tsv", _webanno), ("d1_{}.txt.xmi", "json", _cas)]
)
def test_projects_of_inception(
    tmp_path: Path, document: str, ending: str, written: Callable[[Sequence[int]], str]
) -> None:
    project = _inception(tmp_path, document=document, ending=ending, written=written)
    if document.startswith("d1"):
        for file in sorted((project / "annotation").glob("*/*.json")):
            other = project / "annotation" / file.parent.name.replace("d1", "d2") / file.name
            other.parent.mkdir(exist_ok=True)
            other.write_bytes(file.read_bytes())
        project = Path(shutil.make_archive(str(tmp_path / "project"), "zip", project))
    judged = read(project)
    table = judged.table
    assert order_of(table) == list(SYSTEMS)
    assert set(table["annotator"]) == set(PEOPLE)
    assert set(table["protocol"]) == {"mqm"}
    documents = 2 if document.startswith("d1") else 1
    assert table.height == documents * len(SYSTEMS) * len(PEOPLE) * len(TEXTS)
    of_one = table.filter(system=SYSTEMS[0], annotator=PEOPLE[0]).head(len(TEXTS))
    assert of_one["score"].to_list() == [_everything()[PEOPLE[0], t, SYSTEMS[0]] - 5.0 for t in TEXTS]
    [span] = [spans[-1] for spans in table["spans"].to_list() if len(spans) == 1][:1]
    begin, end, category = (4, 5, "x") if document.startswith("d1") else (0, 8, "Wort_wahl")
    assert (span["start"], span["end"], span["category"]) == (begin, end, category)


def test_one_document_of_inception_and_projects_without_answers(tmp_path: Path) -> None:
    alone = tmp_path / "hanna.tsv"
    alone.write_text(_webanno([1, 2]), encoding="utf-8")
    with pytest.raises(AdjudgeError, match="give the folder or zip file of the whole project"):
        read(alone)
    project = _inception(tmp_path, document="{}.txt", ending="json", written=lambda of: _cas([0] * len(of)))
    with pytest.raises(AdjudgeError, match="no layer says how severe an error is"):
        read(project)
    file = project / "annotation" / f"{SYSTEMS[0]}.txt" / f"{PEOPLE[0]}.json"
    file.write_text(_cas([1]), encoding="utf-8")
    with pytest.raises(AdjudgeError, match="call them TEXT_SYSTEM"):
        read(project)
    file.write_text('{"%FEATURE_STRUCTURES": [{"%ID": 1}]}', encoding="utf-8")
    with pytest.raises(AdjudgeError, match="is no annotation as INCEpTION exports it"):
        read(project)


def test_several_sliders_are_not_one_score(tmp_path: Path) -> None:
    """One was taken for the score, because its name says what was asked, and the other was lost."""
    rows = [(p, n, t, s, x, x) for n, (p, t, s, x) in enumerate(judgments())]
    header = ("pid", "trial", "segment", "system", "slider_meaning", "slider_grammar")
    with pytest.raises(AdjudgeError, match="score=slider_meaning,score=slider_grammar"):
        read(write(tmp_path / "sliders.csv", header, rows))


def test_names_of_systems_above_people_are_not_twelve_systems(tmp_path: Path) -> None:
    rows = [(t, *(_everything(100)[p, t, s] for s in SYSTEMS for p in PEOPLE)) for t in TEXTS]
    file = write(tmp_path / "t.csv", ("segment", *(f"{s} / {p}" for s in SYSTEMS for p in PEOPLE)), rows)
    with pytest.raises(AdjudgeError, match="'wide' system,annotator or 'wide' annotator,system; or if each"):
        read(file)
    assert order_of(read(file, wide="system,annotator").table) == list(SYSTEMS)


def test_sessions_all_count_and_a_status_is_named(tmp_path: Path) -> None:
    rows = judgments()
    twice = write(tmp_path / "s.csv", (*PLAIN, "session"), [(*row, n) for n in (1, 2) for row in rows])
    assert len(read(twice)) == 2 * len(rows)
    drafts = [(*row, "final") for row in rows] + [(*row, "draft") for row in rows[:20]]
    judged = read(write(tmp_path / "d.csv", (*PLAIN, "status"), drafts))
    assert len(judged) == len(rows)
    assert any("'status' tells them apart, and --columns task=status counts all" in note for note in judged.notes)


@pytest.mark.parametrize("case", FURTHER, ids=lambda case: case.name.replace(" ", "-"))
def test_kinds(case: Kind, adjudge: Callable[..., Run], tmp_path: Path) -> None:
    table, summary = read_kind(case, adjudge, tmp_path)
    parts = table.partition_by("campaign", "target_lang", maintain_order=True)
    assert len(parts) == case.criteria
    assert order_of(parts[0]) == list(case.order)
    if case.criteria == 2:
        assert order_of(parts[1]) == list(case.order)[::-1]
    if case.people is not None:
        assert table["annotator"].n_unique() == case.people
        assert not table["annotator"].null_count()
    assert table.select(pl.struct("document", "segment").n_unique()).item() == case.texts
    assert case.note in " ".join(summary["notes"])


# Headers of tables of people, texts, three more columns of what they hold, and what the message must and must not say.
ADVICE = [
    (("annotator experience", "segment", "system", "score"), "annotator=none", "as 'columns' annotator"),
    (("rater", "item", "question", "score"), "system=NAME", "system=question"),
    (("annotator", "item", "Which system is better?", "extra"), "system=NAME", "system='Which"),
    (("reviewer", "segment", "system", "minor", "major"), "counts of errors by severity", "score=m"),
    (("annotator", "item", "system", "scores.a", "scores.b"), "each is a criterion", "raters"),
    (("annotator", "item", "system", "Rank (5 = best)"), "'score=Rank (5 = best)'", "rank="),
    (("annotator", "item", "system", "Score (1 = best)"), "lower_is_better", "values"),
    (("Prüfer", "Satz", "System", "Note"), "lower_is_better", "values"),
    (("annotator", "item", "Translation A", "Translation B", "better"), "system=NAME", "system=better"),
]


@pytest.mark.parametrize(("header", "says", "never"), ADVICE, ids=lambda value: str(value)[:40])
def test_no_message_advises_what_would_be_wrong(header: Sequence[str], says: str, never: str) -> None:
    """Questions, people, severities and ranks the other way round are never proposed as systems or scores."""
    rows = []
    for p in range(4):
        for t in range(10):
            for s in range(3):
                number = 1 + (7 * t + 3 * p + s) % 5
                cells: dict[str, Any] = dict.fromkeys(header, number)
                people = "junior" if "experience" in header[0] and p < 2 else f"p{p}"
                cells |= {header[0]: people, header[1]: f"t{t}", header[2]: f"s{s}"}
                if "better" in header:
                    cells |= {header[2]: f"text {t} a", header[3]: f"text {t} b", "better": "AB"[number % 2]}
                rows.append(cells)
    with pytest.raises(AdjudgeError) as fault:
        read(pl.DataFrame(rows))
    assert says in str(fault.value)
    assert never not in str(fault.value)
