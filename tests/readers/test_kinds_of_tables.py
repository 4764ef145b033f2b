"""Tables as people really have them: each kind is read right at once, or with exactly the option that is asked for.

Every table holds the same invented campaign, in which `Opus` is the best system, `Lingua` the next and `Babel` the
last, so what is expected follows from how it was made. None may come out in another order.
"""

from __future__ import annotations

import csv
import json
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.conftest import Run

SYSTEMS = ("Opus", "Lingua", "Babel")
PEOPLE = ("anna", "ben", "carla", "dmitri", "eva", "farid")
TEXTS = tuple(range(1, 13))
Row = tuple[str, int, str, int]


def judgments(*, whole: bool = False, steps: int = 100, systems: Sequence[str] = SYSTEMS) -> list[Row]:
    """Who judged which text of which system, and the score from 1 to `steps`.

    Args:
        whole: whether everybody judged every text; otherwise each person leaves out a third of them.
        steps: the number of points on the scale.
        systems: the systems, from the best on.
    """
    rows = []
    for p, person in enumerate(PEOPLE):
        for text in TEXTS:
            for s, system in enumerate(systems):
                if whole or (text + p) % 3:
                    noise = (7 * text + 5 * p + 11 * s) % 13 - 6
                    score = 78 - 16 * s + 2 * noise - 3 * (p % 3)
                    rows.append((person, text, system, max(1, min(steps, score * steps // 100 + 1))))
    return rows


def write(file: Path, header: Sequence[str], rows: Iterable[Sequence[Any]], *, separator: str = ",") -> Path:
    """Write a delimited table."""
    with file.open("w", encoding="utf-8", newline="") as out:
        csv.writer(out, delimiter=separator).writerows([header, *rows])
    return file


def workbook(file: Path, sheets: Mapping[str, Sequence[Sequence[Any]]]) -> Path:
    """Write an Excel workbook."""
    import xlsxwriter

    with xlsxwriter.Workbook(file) as book:
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for number, row in enumerate(rows):
                sheet.write_row(number, 0, row)
    return file


def long(*header: str, separator: str = ",", **options: Any) -> Callable[[Path], Path]:
    """A table with a row per judgment, under these headers of people, texts, systems and scores."""
    return lambda folder: write(folder / "table.csv", header, judgments(**options), separator=separator)


def worded(words: Sequence[str], header: str = "rating") -> Callable[[Path], Path]:
    """A table whose scores are words, from the worst on."""
    rows = [(p, t, s, words[score - 1]) for p, t, s, score in judgments(steps=len(words))]
    return lambda folder: write(folder / "words.csv", ("rater", "item", "system", header), rows)


@dataclass(frozen=True)
class Kind:
    """A kind of table, and how it must be read."""

    name: str
    write: Callable[[Path], Path]
    says: str = ""
    """The options that the first message names; nothing where the table is read unaided."""
    worth: Mapping[str, int] = field(default_factory=dict)
    """What words are worth, which the user alone knows."""
    people: int | None = len(PEOPLE)
    texts: int | None = len(TEXTS)
    criteria: int = 1
    order: Sequence[str] = SYSTEMS
    note: str = ""
    """What the notes must say."""


KINDS: list[Kind] = []


def kind(name: str, **expected: Any) -> Callable[[Callable[[Path], Path]], Callable[[Path], Path]]:
    """Register the function that writes a kind of table."""

    def register(function: Callable[[Path], Path]) -> Callable[[Path], Path]:
        KINDS.append(Kind(name, function, **expected))
        return function

    return register


KINDS += [
    Kind("German, semicolons", long("Annotator*in", "Satz", "System", "Bewertung", separator=";")),
    Kind("French", long("Évaluateur", "Phrase", "Système", "Note")),
    Kind("Spanish", long("Evaluadora", "Oración", "Sistema", "Puntuación")),
    Kind("Czech", long("Hodnotitel", "Věta", "Systém", "Skóre")),
    Kind("Chinese", long("标注员", "句子编号", "系统", "评分")),
    Kind("Japanese", long("評価者", "文番号", "システム", "評価")),
    Kind("coder", long("coder", "item", "model", "rating", steps=5)),
    Kind("linguist", long("Linguist", "Segment ID", "Engine", "Score (0-100)")),
    Kind("labeler", long("labeler", "prompt_id", "model", "overall", steps=7)),
    Kind("subject", long("subject", "stimulus", "system", "rating", steps=5)),
    Kind("listener", long("listener", "utterance", "model", "mos", steps=5)),
    Kind("ann", long("ann", "seg", "sys", "score")),
    Kind("people under a header that says nothing", long("Blatt", "segment", "system", "score")),
    Kind(
        "people under a header that says nothing, all of whom judged everything",
        long("Spalte 1", "segment", "system", "score", whole=True),
        says="--columns 'annotator=Spalte 1'",
    ),
    Kind("Likert words", worded(["strongly disagree", "disagree", "neutral", "agree", "strongly agree"])),
    Kind("words of listening tests", worded(["bad", "poor", "fair", "good", "excellent"], "MOS")),
    Kind("German words", worded(["sehr schlecht", "schlecht", "mittel", "gut", "sehr gut"])),
    Kind("Chinese words", worded(["很差", "差", "一般", "好", "很好"])),
    Kind("yes and no", worded(["no", "yes"], "acceptable")),
    Kind("thumbs", worded(["👎", "👍"], "feedback")),
    Kind("letter grades", worded(["F", "D", "C", "B", "A"], "grade")),
    Kind("stars", worded(["★", "★★", "★★★", "★★★★", "★★★★★"], "stars")),
    Kind("numbers with labels", worded(["1 - useless", "2 - weak", "3 - fine", "4 - very good"])),
    Kind(
        "words that nobody knows",
        worded(["naja", "geht so", "passt", "prima"]),
        # Nobody gives the worst grade, so the table does not hold "naja".
        says="--values 'prima=NUMBER,passt=NUMBER,geht so=NUMBER'",
        worth={"geht so": 2, "passt": 3, "prima": 4},
    ),
]


@kind("Prolific")
def _prolific(folder: Path) -> Path:
    ids = {person: f"5f{place}e9c0d1a2b3c4d5e6f7a{place}b" for place, person in enumerate(PEOPLE)}
    rows = [(ids[p], "APPROVED", t, s, score) for p, t, s, score in judgments()]
    return write(folder / "prolific.csv", ("PROLIFIC_PID", "Status", "item", "model", "rating"), rows)


@kind("e-mail addresses")
def _email(folder: Path) -> Path:
    rows = [(f"2025/11/0{1 + t % 9} 10:0{t % 6}:00", f"{p}@example.org", t, s, x) for p, t, s, x in judgments()]
    return write(folder / "mail.csv", ("Timestamp", "Email Address", "Item", "System", "Score"), rows)


@kind("people who are numbers")
def _numbers(folder: Path) -> Path:
    rows = [(PEOPLE.index(p) + 1, t, s, x) for p, t, s, x in judgments()]
    return write(folder / "numbers.csv", ("subject", "sentence", "system", "score"), rows)


def _two_criteria(steps: int = 100) -> list[tuple[str, int, str, str, int]]:
    """Fluency scores the systems the other way round, so that mixing or choosing the last row shows."""
    other = dict(zip(SYSTEMS, reversed(SYSTEMS), strict=True))
    scores = {(p, t, s): x for p, t, s, x in judgments(steps=steps)}
    return [
        row
        for (p, t, s), x in scores.items()
        for row in ((p, t, s, "adequacy", x), (p, t, s, "fluency", scores[p, t, other[s]]))
    ]


@kind("criterion", criteria=2)
def _criterion(folder: Path) -> Path:
    return write(folder / "c.csv", ("annotator", "segment", "system", "criterion", "score"), _two_criteria())


@kind("German criterion", criteria=2)
def _kriterium(folder: Path) -> Path:
    return write(
        folder / "c.csv", ("Bewerter", "Satz", "System", "Kriterium", "Punkte"), _two_criteria(), separator=";"
    )


@kind("turns of a conversation", criteria=2)
def _turns(folder: Path) -> Path:
    rows = [(p, t, s, {"adequacy": 1, "fluency": 2}[c], x) for p, t, s, c, x in _two_criteria(10)]
    return write(folder / "turns.csv", ("judge", "question_id", "model", "turn", "score"), rows)


@kind("a column per criterion", criteria=2)
def _criteria(folder: Path) -> Path:
    both: dict[tuple[str, int, str], dict[str, int]] = {}
    for p, t, s, c, x in _two_criteria():
        both.setdefault((p, t, s), {})[c] = x
    rows = [(*key, value["adequacy"], value["fluency"]) for key, value in both.items()]
    return write(folder / "c.csv", ("rater", "item", "system", "Adequacy (0-100)", "Fluency (0-100)"), rows)


@kind("errors", says="--columns score=errors --lower-is-better")
def _errors(folder: Path) -> Path:
    rows = [(p, t, s, (100 - x) // 8) for p, t, s, x in judgments()]
    return write(folder / "errors.csv", ("annotator", "segment", "system", "errors"), rows)


@kind("HTER", says="--columns score=HTER --lower-is-better")
def _hter(folder: Path) -> Path:
    rows = [(p, t, s, round((100 - x) / 150, 2)) for p, t, s, x in judgments()]
    return write(folder / "hter.csv", ("translator", "segment_id", "engine", "HTER"), rows)


@kind("z-scores")
def _zscores(folder: Path) -> Path:
    rows = [(p, t, s, round((x - 60) / 18, 3)) for p, t, s, x in judgments()]
    return write(folder / "z.csv", ("annotator", "segment", "system", "z_score"), rows)


@kind("from -3 to 3", says="--scale=-3,3")
def _symmetric(folder: Path) -> Path:
    rows = [(p, t, s, x - 4) for p, t, s, x in judgments(steps=7)]
    return write(folder / "s.csv", ("annotator", "segment", "system", "score"), rows)


@kind("percent")
def _percent(folder: Path) -> Path:
    rows = [(p, t, s, f"{x}%") for p, t, s, x in judgments()]
    return write(folder / "p.csv", ("annotator", "segment", "system", "score"), rows)


@kind("decimal commas")
def _commas(folder: Path) -> Path:
    rows = [(p, t, s, f"{x / 10:.1f}".replace(".", ",")) for p, t, s, x in judgments()]
    return write(folder / "k.csv", ("Annotator", "Segment", "System", "Punkte"), rows, separator=";")


@kind("words for missing scores")
def _missing(folder: Path) -> Path:
    nothing = ("N/A", "-", "skipped", "NaN")
    rows = [(p, t, s, nothing[n % 4] if n % 17 == 0 else x) for n, (p, t, s, x) in enumerate(judgments())]
    return write(folder / "m.csv", ("annotator", "segment", "system", "score"), rows)


@kind("accounts", people=30, note="account")
def _accounts(folder: Path) -> Path:
    rows = []
    for account in range(30):
        for item in range(12):
            s = (item + account) % 3
            start = 1_700_000_000 + (account % 10) * 100_000 + (account // 10) * 3600 + item * 60
            score = 78 - 16 * s + (7 * item + 5 * account) % 13
            rows.append((f"engdeu0f{account:02x}", f"task{account}", item + 1, SYSTEMS[s], score, start, start + 50))
    header = ("username", "task", "segment", "system", "score", "start_time", "end_time")
    return write(folder / "accounts.csv", header, rows)


@kind("rankings in a cell")
def _orders(folder: Path) -> Path:
    return write(folder / "orders.csv", ("annotator", "item", "ranking"), [(p, t, o) for p, t, o in _orders_of()])


def _orders_of() -> list[tuple[str, int, str]]:
    scores: dict[tuple[str, int], dict[str, int]] = {}
    for p, t, s, x in judgments():
        scores.setdefault((p, t), {})[s] = x
    found = []
    for (p, t), of in scores.items():
        best = sorted(of, key=lambda s: -of[s])
        signs = [" = " if of[one] == of[two] else " > " for one, two in pairwise(best)]
        found.append((p, t, "".join(s + sign for s, sign in zip(best, [*signs, ""], strict=True))))
    return found


@kind("best and worst")
def _best_worst(folder: Path) -> Path:
    rows = []
    for p, t, order in _orders_of():
        best, *_, worst = order.replace("=", ">").split(" > ")
        rows.append((p, t, ";".join(SYSTEMS), best, worst))
    return write(folder / "bws.csv", ("annotator", "item", "options", "best", "worst"), rows)


@kind("best and worst of four columns")
def _best_worst_columns(folder: Path) -> Path:
    rows = []
    for p, t, order in _orders_of():
        best, *_, worst = order.replace("=", ">").split(" > ")
        turned = SYSTEMS[t % 3 :] + SYSTEMS[: t % 3]
        rows.append((p, t, *turned, turned.index(best) + 1, turned.index(worst) + 1))
    header = ("annotator", "tuple", "item1", "item2", "item3", "Best", "Worst")
    return write(folder / "bws.csv", header, rows)


def _pairs(*, steps: int = 100) -> list[tuple[str, int, str, str, int]]:
    """Two systems side by side, changing sides, and by how much the left one is better."""
    scores = {(p, t, s): x for p, t, s, x in judgments(whole=True, steps=steps)}
    rows = []
    for (p, t, s), x in scores.items():
        other = SYSTEMS[(SYSTEMS.index(s) + 1 + t % 2) % 3]
        rows.append((p, t, s, other, x - scores[p, t, other]))
    return rows


@kind("winner and loser")
def _winner_loser(folder: Path) -> Path:
    rows = [(p, t, a, b) if d > 0 else (p, t, b, a) for p, t, a, b, d in _pairs() if d]
    return write(folder / "battles.csv", ("annotator", "item", "winner", "loser"), rows)


@kind("chosen and rejected")
def _chosen(folder: Path) -> Path:
    rows = [(p, t, a, b) if d > 0 else (p, t, b, a) for p, t, a, b, d in _pairs() if d]
    return write(folder / "dpo.csv", ("labeler", "prompt_id", "chosen_model", "rejected_model"), rows)


@kind("arena")
def _arena(folder: Path) -> Path:
    def won(d: int) -> str:
        return "model_a" if d > 0 else "model_b" if d else "tie (bothbad)"

    rows = [{"question_id": t, "model_a": a, "model_b": b, "winner": won(d), "judge": p} for p, t, a, b, d in _pairs()]
    file = folder / "arena.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    return file


@kind("preference on a scale", says="--winner left=-2,left=-1,tie=0,right=1,right=2")
def _preference(folder: Path) -> Path:
    rows = [(p, t, a, b, max(-2, min(2, -d // 10))) for p, t, a, b, d in _pairs()]
    return write(folder / "ab.csv", ("annotator", "item", "system_a", "system_b", "preference"), rows)


@kind("scores of both sides")
def _both_scores(folder: Path) -> Path:
    scores = {(p, t, s): x for p, t, s, x in judgments(whole=True)}
    rows = [(p, t, a, b, scores[p, t, a], scores[p, t, b]) for p, t, a, b, _ in _pairs()]
    return write(folder / "sxs.csv", ("annotator", "item", "system_a", "system_b", "score_a", "score_b"), rows)


@kind("lists of scores", people=3)
def _lists(folder: Path) -> Path:
    rows = []
    for t in TEXTS:
        for s in SYSTEMS:
            said = [x for p, text, system, x in judgments(whole=True, steps=5) if (text, system) == (t, s)][:3]
            rows.append(
                {"id": f"dm-test-{t}", "model_id": s, "decoded": f"text {t} by {s}", "expert_annotations": said}
            )
    file = folder / "lists.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    return file


@kind("lists of scores by criterion", people=3, criteria=2, order=SYSTEMS)
def _summeval(folder: Path) -> Path:
    both: dict[tuple[int, str], list[dict[str, int]]] = {}
    cells: dict[tuple[str, int, str], dict[str, int]] = {}
    other = dict(zip(SYSTEMS, reversed(SYSTEMS), strict=True))
    scores = {(p, t, s): x for p, t, s, x in judgments(whole=True, steps=5)}
    for (p, t, s), x in scores.items():
        cells[p, t, s] = {"coherence": x, "fluency": scores[p, t, other[s]]}
    for (p, t, s), cell in cells.items():
        if PEOPLE.index(p) < 3:
            both.setdefault((t, s), []).append(cell)
    rows = [{"id": f"dm-{t}", "model_id": s, "expert_annotations": said} for (t, s), said in both.items()]
    file = folder / "summeval.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    return file


@kind("a folder of people")
def _folder(folder: Path) -> Path:
    inside = folder / "people"
    inside.mkdir()
    for person in PEOPLE:
        rows = [(t, s, x) for p, t, s, x in judgments() if p == person]
        write(inside / f"{person}.csv", ("item", "system", "score"), rows)
    return inside


@kind("a sheet per person")
def _sheets(folder: Path) -> Path:
    sheets = {
        person: [("item", "system", "score"), *((t, s, x) for p, t, s, x in judgments() if p == person)]
        for person in PEOPLE
    }
    return workbook(folder / "people.xlsx", sheets)


@kind("a sheet per system")
def _sheets_of_systems(folder: Path) -> Path:
    sheets = {
        system: [("annotator", "item", "score"), *((p, t, x) for p, t, s, x in judgments() if s == system)]
        for system in SYSTEMS
    }
    return workbook(folder / "systems.xlsx", sheets)


@kind("two rows of headers", criteria=2)
def _two_rows(folder: Path) -> Path:
    top = ["Rater", "Item"] + [cell for s in SYSTEMS for cell in (s, "")]
    below = ["", ""] + ["Adequacy", "Fluency"] * 3
    cells: dict[tuple[str, int], dict[tuple[str, str], int]] = {}
    for p, t, s, c, x in _two_criteria():
        cells.setdefault((p, t), {})[s, c] = x
    rows = [[p, t, *(of[s, c] for s in SYSTEMS for c in ("adequacy", "fluency"))] for (p, t), of in cells.items()]
    return workbook(folder / "headers.xlsx", {"Sheet1": [top, below, *rows]})


@kind("Google Forms")
def _forms(folder: Path) -> Path:
    scores = {(p, t, s): x for p, t, s, x in judgments(whole=True, steps=5)}
    header = ["Timestamp", "Email Address"] + [f"Sentence {t} [{s}]" for t in TEXTS for s in SYSTEMS]
    rows = [
        ("11/3/2025 14:02:11", f"{p}@example.org", *(scores[p, t, s] for t in TEXTS for s in SYSTEMS)) for p in PEOPLE
    ]
    return write(folder / "forms.csv", header, rows)


@kind("Qualtrics")
def _qualtrics(folder: Path) -> Path:
    scores = {(p, t, s): x for p, t, s, x in judgments(whole=True, steps=5)}
    header = ["StartDate", "ResponseId", "PROLIFIC_PID"] + [f"item{t}_{s}" for t in TEXTS for s in SYSTEMS]
    asked = ["Start Date", "Response ID", "Prolific id"] + [f"How good is {t}? - {s}" for t in TEXTS for s in SYSTEMS]
    ids = [json.dumps({"ImportId": name}) for name in header]
    rows = [
        ("2025-11-03 14:02:11", f"R_{n}", f"5f{n}a", *(scores[p, t, s] for t in TEXTS for s in SYSTEMS))
        for n, p in enumerate(PEOPLE)
    ]
    return write(folder / "q.csv", header, [asked, ids, *rows])


@kind("a column per system", says="--systems Opus,Lingua,Babel")
def _wide(folder: Path) -> Path:
    scores = {(p, t, s): x for p, t, s, x in judgments()}
    rows = [(p, t, *(scores[p, t, s] for s in SYSTEMS)) for p in PEOPLE for t in TEXTS if (p, t, "Opus") in scores]
    return write(folder / "wide.csv", ("annotator", "item", *SYSTEMS), rows)


@kind("a column per rater", says=f"--raters {','.join(f'rater{n}' for n in range(1, 7))}")
def _raters(folder: Path) -> Path:
    scores = {(p, t, s): x for p, t, s, x in judgments()}
    rows = [(t, s, *(scores.get((p, t, s), "") for p in PEOPLE)) for t in TEXTS for s in SYSTEMS]
    return write(folder / "wide.csv", ("item", "system", *(f"rater{n}" for n in range(1, 7))), rows)


@kind("MQM in Excel")
def _mqm_excel(folder: Path) -> Path:
    rows: list[tuple[Any, ...]] = [("system", "doc", "seg_id", "rater", "source", "target", "category", "severity")]
    for p, t, s, x in judgments():
        for n in range(max(1, (100 - x) // 15)):
            error = ("Accuracy/Mistranslation", "Minor") if x < 95 else ("No-error", "No-error")
            rows.append((s, "news", t, p, "Ein Satz.", f"A <v>sentence</v> {n}.", *error))
    return workbook(folder / "mqm.xlsx", {"MQM": rows})


@kind("side-by-side MQM")
def _mqm_sides(folder: Path) -> Path:
    header = ["system", "doc", "docSegId", "globalSegId", "rater", "source", "target", "category", "severity"]
    rows = []
    for p, t, s, x in judgments():
        for n in range(max(1, (100 - x) // 15)):
            partner = SYSTEMS[(SYSTEMS.index(s) + 1) % 3]
            text = f"A <v>sentence</v> {n}."
            rows.append((f"{s}_with_{partner}", "news", t, t, p, "Ein Satz.", text, "Fluency/Grammar", "Minor", "{}"))
    return write(folder / "sxs.tsv", [*header, "metadata", "# Documentation: see the manual"], rows, separator="\t")


@kind("Potato")
def _potato(folder: Path) -> Path:
    header = ("user", "instance_id", "displayed_text", *(f"quality:::scale_{n}" for n in range(1, 6)))
    rows = [
        (p, f"{t}_{s}", f"text {t}", *(str(n) if n == x else "" for n in range(1, 6)))
        for p, t, s, x in judgments(steps=5)
    ]
    return write(folder / "annotated_instances.tsv", header, rows, separator="\t")


@kind("Potato, a folder per person")
def _potato_lines(folder: Path) -> Path:
    for person in PEOPLE:
        (folder / "annotation_output" / person).mkdir(parents=True)
        lines = [
            {"id": f"{s}-{t}", "displayed_text": "text", "label_annotations": {"quality": {f"scale_{x}": str(x)}},
             "span_annotations": {}, "behavioral_data": {"time_string": "Time spent: 0d 0h 0m 5s "}}
            for p, t, s, x in judgments(steps=5) if p == person
        ]  # fmt: skip
        (folder / "annotation_output" / person / "annotated_instances.jsonl").write_text(
            "\n".join(map(json.dumps, lines))
        )
    return folder / "annotation_output"


@kind("Pearmut, an object of campaigns")
def _pearmut(folder: Path) -> Path:
    entries: list[dict[str, Any]] = []
    for p in PEOPLE:
        for t in TEXTS:
            shown = {s: x for q, u, s, x in judgments() if (q, u) == (p, t)}
            if shown:
                entries.append({
                    "user_id": p, "item_i": t,
                    "item": [{"item_id": f"doc{t % 3}_###_{t}", "src": "Satz", "tgt": dict.fromkeys(shown, "text")}],
                    "annotation": [{s: {"score": x, "error_spans": []} for s, x in shown.items()}],
                    "actions": [{"time": 1_700_000_000.0 + t}, {"time": 1_700_000_030.0 + t}],
                })  # fmt: skip
    reset: dict[str, Any] = {"user_id": "anna", "item_i": None, "annotation": "__RESET__", "item": None, "actions": []}
    file = folder / "annotations.json"
    file.write_text(json.dumps({"en-cs v3": [entries[0], reset, *entries]}))
    return file


@kind("mt-metrics-eval, ratings by rater")
def _ratings(folder: Path) -> Path:
    inside = folder / "wmt99" / "human-scores"
    inside.mkdir(parents=True)
    for p in PEOPLE:
        lines = []
        for s in SYSTEMS:
            for t in TEXTS:
                found = [x for q, u, v, x in judgments() if (q, u, v) == (p, t, s)]
                error = {"start": 0, "end": 3, "category": "accuracy", "severity": "minor", "score": 1.0,
                         "is_source_error": False}  # fmt: skip
                errors = {"errors": [error] * ((100 - found[0]) // 12)} if found else None
                lines.append(f"{s}\t{json.dumps(errors) if errors else None}")
        (inside / f"en-de.mqm.{p}.seg.rating").write_text("\n".join(lines) + "\n")
    return inside


@kind("Inspect", people=None)
def _inspect(folder: Path) -> Path:
    logs = folder / "logs"
    logs.mkdir()
    for s in SYSTEMS:
        samples = [
            {"id": t, "epoch": 1, "input": "q", "target": "a",
             "scores": {"match": {"value": "C" if x > 2 else "I", "answer": "a"}}}
            for p, t, system, x in judgments(whole=True, steps=4) if (p, system) == ("eva", s)
        ]  # fmt: skip
        log = {"version": 2, "status": "success", "eval": {"model": s, "task": "qa", "run_id": "r"}, "samples": samples}
        (logs / f"2025-11-03_{s}.json").write_text(json.dumps(log))
    return logs


@kind("lm-eval samples", people=None)
def _lm_eval(folder: Path) -> Path:
    for s in SYSTEMS:
        (folder / "out" / s).mkdir(parents=True)
        lines = [
            {"doc_id": t, "doc": {"question": f"q{t}"}, "target": "a", "arguments": {}, "resps": [["a"]],
             "filtered_resps": ["a"], "filter": "none", "metrics": ["exact_match"], "doc_hash": f"h{t}",
             "exact_match": float(x > 2)}
            for p, t, system, x in judgments(whole=True, steps=4) if (p, system) == ("eva", s)
        ]  # fmt: skip
        (folder / "out" / s / "samples_qa_2025-11-03.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return folder / "out"


@kind("LangSmith experiments", people=None)
def _langsmith(folder: Path) -> Path:
    inside = folder / "experiments"
    inside.mkdir()
    for s in SYSTEMS:
        rows = [
            (f"q{t}", "answer", "", "ref", x, 1.2, f"ex-{t}", f"run-{s}-{t}")
            for p, t, system, x in judgments(whole=True, steps=5) if (p, system) == ("eva", s)
        ]  # fmt: skip
        header = ("inputs.question", "outputs.output", "error", "reference.answer", "feedback.helpfulness",
                  "execution_time", "example_id", "id")  # fmt: skip
        write(inside / f"{s}.csv", header, rows)
    return inside


@kind("Langfuse scores")
def _langfuse(folder: Path) -> Path:
    rows = [
        {"id": f"s{n}", "timestamp": "2025-11-03 10:00:00.000000", "project_id": "p", "trace_id": f"item-{t}",
         "dataset_run_id": s, "name": "helpfulness", "value": x, "source": "ANNOTATION", "data_type": "NUMERIC",
         "author_user_id": p, "string_value": None, "comment": None, "observation_id": None, "session_id": None}
        for n, (p, t, s, x) in enumerate(judgments())
    ]  # fmt: skip
    file = folder / "scores.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    return file


@kind("Hugging Face as Parquet")
def _hugging_face(folder: Path) -> Path:
    rows = [
        {"prompt": f"text {t}", "response": {"model": s, "text": "..."}, "annotation": {"worker_id": p, "score": x}}
        for p, t, s, x in judgments()
    ]
    pl.DataFrame(rows).write_parquet(folder / "train-00000-of-00001.parquet")
    return folder / "train-00000-of-00001.parquet"


@kind("Label Studio")
def _label_studio(folder: Path) -> Path:
    tasks: list[dict[str, Any]] = []
    for t in TEXTS:
        for s in SYSTEMS:
            said = [(p, x) for p, u, v, x in judgments(steps=5) if (u, v) == (t, s)]
            answers = [
                {"completed_by": {"email": f"{p}@x.org"}, "was_cancelled": False,
                 "result": [{"from_name": "rating", "type": "rating", "value": {"rating": x}}]} for p, x in said
            ]  # fmt: skip
            data = {"segment": t, "system": s, "text": "..."}
            tasks.append({"id": len(tasks), "data": data, "annotations": answers})
    file = folder / "export.json"
    file.write_text(json.dumps(tasks))
    return file


@kind("Mechanical Turk")
def _turk(folder: Path) -> Path:
    rows = [(f"H{t}", p.upper(), "Approved", t, s, "texte", x) for p, t, s, x in judgments(steps=5)]
    header = ("HITId", "WorkerId", "AssignmentStatus", "Input.item", "Input.system", "Input.text", "Answer.quality")
    return write(folder / "batch.csv", header, rows)


@kind("two files of pairs")
def _two_files(folder: Path) -> Path:
    rows = [(p, t, a, b, "left" if d > 0 else "right" if d else "tie") for p, t, a, b, d in _pairs()]
    header = ("annotator", "item", "left", "right", "winner")
    half = len(rows) // 2
    inside = folder / "waves"
    inside.mkdir()
    write(inside / "wave1.csv", header, rows[:half])
    write(inside / "wave2.csv", header, rows[half:])
    return inside


@kind("one judgment per text by unknown people", people=None)
def _nobody(folder: Path) -> Path:
    rows = [(t, s, x) for p, t, s, x in judgments(whole=True) if p == "eva"]
    return write(folder / "nobody.csv", ("item", "system", "score"), rows)


def order_of(table: pl.DataFrame) -> list[str]:
    """The systems by their mean score, or by their mean rank, from the best on."""
    answer = pl.col("score") if table["score"].is_not_null().any() else -pl.col("rank")
    means = table.filter(kind="system").group_by("system").agg(answer.mean().alias("mean"))
    return means.sort("mean", descending=True)["system"].to_list()


def read_kind(case: Kind, adjudge: Callable[..., Run], folder: Path) -> tuple[pl.DataFrame, Any]:
    """Read the table as a user does: unaided, or with the options that the first message names."""
    source, out = case.write(folder), folder / "read.parquet"
    files = sorted(source.glob("wave*")) or [source] if source.is_dir() else [source]
    options: list[str] = []
    if case.says:
        first = adjudge("import", *files, "-o", out, "--json")
        assert first.code == 1, first.out
        assert case.says in first.err, first.err
        options = given_options(first.err, case)
    run = adjudge("import", *files, "-o", out, "--json", *options)
    assert run.code == 0, run.err
    return pl.read_parquet(out), run.json


def given_options(message: str, case: Kind) -> list[str]:
    """The options as the message has them; what words are worth only the user knows."""
    text = message[message.index(case.says) :].strip()
    for end in ("; ", ", or ", " (", " or "):
        text = text.split(end, maxsplit=1)[0]
    for word, worth in case.worth.items():
        text = text.replace(f"{word}=NUMBER", f"{word}={worth}")
    return shlex.split(text)


@pytest.mark.parametrize("case", KINDS, ids=lambda case: case.name.replace(" ", "-"))
def test_kinds(case: Kind, adjudge: Callable[..., Run], tmp_path: Path) -> None:
    table, summary = read_kind(case, adjudge, tmp_path)
    parts = table.partition_by("campaign", maintain_order=True)
    assert len(parts) == case.criteria
    assert order_of(parts[0]) == list(case.order)
    if case.criteria == 2:
        assert order_of(parts[1]) == list(case.order)[::-1]
    if case.people is not None:
        assert table["annotator"].n_unique() == case.people
        assert not table["annotator"].null_count()
    assert table.select(pl.struct("document", "segment").n_unique()).item() == case.texts
    assert case.note in " ".join(summary["notes"])


@pytest.mark.parametrize(
    ("given", "systems"),
    [
        (("A_with_B", "B_with_A"), {"A", "B"}),
        (("A_with_B", "B_with_A", "A_with_C", "C_with_A"), {"A", "B", "C"}),
        (("tuned_with_data", "base"), {"tuned_with_data", "base"}),
        (("tuned_with_data", "tuned"), {"tuned_with_data", "tuned"}),
    ],
)
def test_systems_side_by_side(
    given: Sequence[str], systems: set[str], adjudge: Callable[..., Run], tmp_path: Path
) -> None:
    """Side by side `A_with_B` is A; a system whose own name has `_with_` in it keeps its name."""
    header = ("system", "doc", "seg_id", "rater", "source", "target", "category", "severity")
    rows = [(system, "d", t, "eva", "Text", "texte", "No-error", "No-error") for t in (1, 2) for system in given]
    file = write(tmp_path / "mqm_ende.tsv", header, rows, separator="\t")
    run = adjudge("import", file, "--format", "mqm", "-o", tmp_path / "read.parquet")
    assert run.code == 0, run.err
    table = pl.read_parquet(tmp_path / "read.parquet")
    assert set(table["system"]) == systems
    assert table.height == len(rows)


def test_enough_kinds_are_tried() -> None:
    assert len(KINDS) >= 52
