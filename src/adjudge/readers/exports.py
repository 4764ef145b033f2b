"""What rating tools and evaluation programs export, described by the fields of their files.

An export is recognised by fields that nothing else has. Its description says where the judgments stand (`each`, `*` for
every entry of a list or an object) and which field is what; then it is a table like any other, so that `--columns`
and all other options apply. Label Studio and Potato, whose answers stand under names of the user's own, need a few
lines of code besides.
"""

from __future__ import annotations

import re
import zipfile
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from adjudge.readers.columns import all_pass, parse_columns, plain
from adjudge.readers.headers import count_same, side_of
from adjudge.readers.wide import stack
from adjudge.table.errors import InputError, shown
from adjudge.table.files import PACKING_FAULTS, parse_json
from adjudge.table.wording import agreeing, counted, short_list

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from adjudge.readers.options import ReadOptions
    from adjudge.readers.parsing import LoadedTable


class Columns(NamedTuple):
    """An export that is a table with columns of fixed names."""

    name: str
    has: tuple[str, ...]
    meanings: Mapping[str, tuple[str, ...]]
    """For every meaning the columns that may have it, the likeliest first; those that hold nothing are passed over."""


TABLES = (
    Columns(
        "export of scores from Langfuse",
        ("trace_id", "name", "value", "data_type", "source"),
        {
            "system": ("dataset_run_id", "dataset_run_name", "trace_name", "environment"),
            "segment": ("dataset_item_id", "trace_id"), "annotator": ("author_user_id", "author_user_name"),
            "criterion": ("name",), "score": ("value", "string_value"),
        },
    ),
    Columns(
        "export of feedback from LangSmith",
        ("run_id", "key", "score", "session_id"),
        {
            "system": ("session_name", "session_id"), "segment": ("reference_example_id", "run_id"),
            "annotator": ("feedback_source.user_name", "feedback_source.user_id"), "criterion": ("key",),
            "score": ("score",),
        },
    ),
    Columns(
        "result of webMUSHRA",
        ("session_test_id", "trial_id", "rating_stimulus", "rating_score"),
        {
            "system": ("rating_stimulus",), "segment": ("trial_id",), "annotator": ("email", "session_uuid"),
            "score": ("rating_score",),
        },
    ),
)  # fmt: skip
# LangSmith's table of an experiment: a row per example, a column per question under this name.
FEEDBACK = "feedback."
_EXPERIMENTS = ("experiment", "experiment_name", "session_name")
_LM_EVAL = ("doc_id", "filtered_resps", "target")
_TASK = re.compile(r"^samples_(.+?)(_\d{4}-.*)?$")
# Potato keeps every answer of a question in a column of its own.
_POTATO = re.compile(r"^(?:label_annotations\.)?(.+?)(?::::|(?<=[^.])\.)([^.:]+)$")
_STEP = re.compile(r"^(?:scale_)?([+-]?[0-9]+(?:\.[0-9]+)?)$")
_CHECKED = ("true", "1", "1.0", "on", "checked")
_NEARLY = 0.95


def rows_of_export(content: Any, path: Path) -> tuple[list[Any], list[str], dict[int, str]] | None:
    """The rows of an export in JSON, notes on it, and its broken rows with what is wrong; None for other JSON."""
    entries = content if isinstance(content, list) else [content]
    first = next((entry for entry in entries if isinstance(entry, dict)), {})
    if isinstance(first.get("data"), dict) and isinstance(first.get("annotations"), list):
        return _rows_of_label_studio(entries, path)
    if isinstance(first.get("fields"), dict) and isinstance(first.get("responses"), list):
        rows = [row for entry in entries if isinstance(entry, dict) for row in _rows_of_argilla(entry)]
        return rows, [f"{path.name} is an export of Argilla"], {}
    if isinstance(first.get("label"), list) and "text" in first:
        return [_row_of_doccano(entry) for entry in entries], [f"{path.name} is an export of doccano"], {}
    if all(name in first for name in _LM_EVAL):
        rows = [row for entry in entries if isinstance(entry, dict) for row in _rows_of_lm_eval(entry, path)]
        folder = path.resolve().parent.name
        return rows, [f"{path.name} holds samples of lm-eval; the system is called after its folder, '{folder}'"], {}
    if isinstance(first.get("samples"), list) and isinstance(first.get("eval"), dict) and first["eval"].get("model"):
        rows = [row for entry in entries if isinstance(entry, dict) for row in _rows_of_inspect(entry)]
        return rows, [f"{path.name} is a log of Inspect"], {}
    return None


def _row_of_doccano(entry: Any) -> Any:
    """A row whose label is the only one of the list; of pairs it says who won, otherwise it is the score."""
    if not isinstance(entry, dict) or not isinstance(entry.get("label"), list) or len(entry["label"]) > 1:
        return entry
    name = "label" if any(side_of(field) for field in entry) else "score"
    given = {field: value for field, value in entry.items() if field not in ("label", "id")}
    return given | {name: next(iter(entry["label"]), None)}


def _rows_of_argilla(entry: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A row for each answer to each question that was submitted; metadata say which output it was."""
    about = {"item_id": entry.get("external_id") or entry.get("id"), **(entry.get("metadata") or {})}
    for response in entry.get("responses") or []:
        values = response.get("values") if isinstance(response, dict) else None
        if not isinstance(values, dict) or response.get("status", "submitted") != "submitted":
            continue
        for question, answer in values.items():
            given = answer.get("value") if isinstance(answer, dict) else answer
            if isinstance(given, str | int | float):
                yield {**about, "annotator": response.get("user_id"), "criterion": question, "score": given}


# What words are worth in the scores of Inspect: correct, partly, incorrect, no answer.
_WORTH = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}


def _rows_of_inspect(log: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A row for each scorer of each sample; a scorer with several values has a row for each of these."""
    about = log["eval"] if isinstance(log.get("eval"), dict) else {}
    samples = log["samples"] if isinstance(log.get("samples"), list) else []
    for sample in (sample for sample in samples if isinstance(sample, dict)):
        shown = {"segment": sample.get("id"), "task": sample.get("epoch")}
        scores = sample["scores"] if isinstance(sample.get("scores"), dict) else {}
        for scorer, score in scores.items():
            given = score if isinstance(score, dict) else {"value": score}
            value = given.get("value", given)
            row = {"annotator": None, "system": about.get("model"), "document": about.get("task"), **shown}
            row |= {"criterion": scorer, "text": given.get("explanation")}
            for name, each in value.items() if isinstance(value, dict) else [(None, value)]:
                asked = {} if name is None else {"criterion": f"{scorer} {name}"}
                yield row | asked | {"score": _WORTH.get(each, each) if isinstance(each, str) else each}


def _rows_of_lm_eval(entry: dict[str, Any], path: Path) -> Iterator[dict[str, Any]]:
    """A row for each metric of a sample; the folder is called after the model, the file after the task."""
    from adjudge.readers.parsing import stem

    task = _TASK.match(stem(path))
    shared = {"annotator": None, "system": path.resolve().parent.name, "document": task[1] if task else stem(path)}
    # Older releases do not name the metrics, which then are all numbers but that of the sample.
    for name in entry.get("metrics") or (name for name in entry if name not in ("doc_id", "target")):
        value = entry.get(name)
        if isinstance(value, bool | int | float):
            yield {**shared, "segment": entry["doc_id"], "criterion": name, "score": float(value)}


def is_eval_archive(path: Path) -> bool:
    """Whether a file is a log of Inspect in a zip file."""
    try:
        with zipfile.ZipFile(path) as archive:
            return "header.json" in archive.namelist()
    except PACKING_FAULTS:
        return False


def read_eval_archive(path: Path) -> dict[str, Any] | None:
    """The log in a `.eval` file of Inspect, which is a zip file of JSON; None for other zip files."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            samples = [name for name in names if name.startswith("samples/") and name.endswith(".json")]
            if "header.json" not in names or not samples:
                return None
            return {
                **parse_json(archive.read("header.json").decode()),
                "samples": [parse_json(archive.read(n).decode()) for n in samples],
            }
    except NotImplementedError as fault:
        how = "convert it by 'inspect log convert --to json'"
        raise InputError(f"is a log of Inspect in a compression that cannot be read here; {how}", file=path) from fault
    except PACKING_FAULTS:
        return None


def as_export(loaded: LoadedTable, options: ReadOptions) -> tuple[LoadedTable, ReadOptions]:
    """A table with the meanings of its columns, where it is an export of a known tool; otherwise as it is."""
    loaded = fold_choices(_of_prodigy(_without_sides(_fold_answers(_with_answers_apart(loaded)))))
    header = {plain(name): name for name in reversed(loaded.frame.columns)}
    said = parse_columns(options.columns)
    feedback = [name for name in loaded.frame.columns if name.startswith(FEEDBACK)]
    inputs = [name for name in loaded.frame.columns if name.startswith("inputs.")]
    if feedback and (plain("example_id") in header or inputs):
        return _of_experiment(loaded, feedback, inputs), options
    for export in TABLES:
        if not all(plain(name) in header for name in export.has):
            continue
        meant = {
            meaning: column
            for meaning, names in export.meanings.items()
            if meaning not in said
            and (column := _first_filled(loaded.frame, header, names, least=2 if meaning == "system" else 1))
        }
        # Where what is exported names one system alone, a column of the user's own names them.
        if {**said, **meant}.keys() >= export.meanings.keys() - {"annotator", "system"}:
            note = f"{_file_name(loaded)} is an {export.name}"
            columns = (*options.columns, *(f"{meaning}={column}" for meaning, column in meant.items()))
            return replace(loaded, notes=(*loaded.notes, note)), replace(options, columns=columns)
    return loaded, options


_TASK_ANSWERS = "Answer.taskAnswers"


def _with_answers_apart(loaded: LoadedTable) -> LoadedTable:
    """A table of Mechanical Turk with a column for each answer of a form, which stand as JSON in one cell."""
    if _TASK_ANSWERS not in loaded.frame.columns:
        return loaded
    try:
        forms = [parse_json(cell or "{}") for cell in loaded.frame[_TASK_ANSWERS]]
    except ValueError:
        return loaded
    rows = [_flat_answers(form[0] if isinstance(form, list) and form else form) for form in forms]
    names = [n for n in dict.fromkeys(name for row in rows for name in row) if n not in loaded.frame.columns]
    columns = [pl.Series(name, [row.get(name) for row in rows], dtype=pl.String) for name in names]
    frame = loaded.frame.drop(_TASK_ANSWERS).with_columns(columns)
    return replace(loaded, frame=frame, added=loaded.added | {*names}) if names else loaded


def _flat_answers(form: Any, name: str = "Answer") -> dict[str, str]:
    """The answers of a form by name: `{"rating": {"label": "4"}}`, or `{"rating": {"3": false, "4": true}}`."""
    if not isinstance(form, dict):
        return {name: str(form).lower() if isinstance(form, bool) else str(form)}
    inner = (_flat_answers(value, name if key == "label" else f"{name}.{key}") for key, value in form.items())
    return {key: value for answers in inner for key, value in answers.items()}


_PRODIGY = ("_annotator_id", "_input_hash", "answer", "accept")
_SIDES_OF_TASKS = re.compile("^(INPUT|OUTPUT|ASSIGNMENT):(.+)$")


def _of_prodigy(loaded: LoadedTable) -> LoadedTable:
    """A table of Prodigy with the one choice of each task as its score; what was not accepted is no judgment."""
    if not set(_PRODIGY) <= set(loaded.frame.columns):
        return loaded
    choice = pl.col("accept").cast(pl.String).str.extract(r'^\[\s*"?(.*?)"?\s*\]$', 1)
    given = pl.when(pl.col("answer") == "accept").then(choice).alias("score")
    used = ("accept", "answer", "options", "text", "_session_id", "_input_hash", "_task_hash")
    frame = loaded.frame.with_columns(given).drop(used, strict=False)
    note = f"{_file_name(loaded)} is an export of Prodigy"
    return replace(loaded, frame=frame, notes=(*loaded.notes, note), added=loaded.added | {"score"})


def _without_sides(loaded: LoadedTable) -> LoadedTable:
    """A table of Toloka, whose columns say what was shown, answered and recorded, without these words."""
    parts = {name: match[2] for name in loaded.frame.columns if (match := _SIDES_OF_TASKS.match(name))}
    if "ASSIGNMENT:worker_id" not in parts:
        return loaded
    # What was shown is no comment of the annotator, which `text` is.
    parts = {name: "input" if name == "INPUT:text" else last for name, last in parts.items()}
    short = list(parts.values())
    new = {name: last for name, last in parts.items() if short.count(last) == 1 and last not in loaded.frame.columns}
    note = f"{_file_name(loaded)} is an export of Toloka"
    return replace(loaded, frame=loaded.frame.rename(new), notes=(*loaded.notes, note))


def _of_experiment(loaded: LoadedTable, feedback: Sequence[str], inputs: Sequence[str]) -> LoadedTable:
    """The table of one experiment of LangSmith: each file is a system, each kind of feedback a criterion.

    Where no example has an id, its input says which it is.
    """
    empty = [name for name in feedback if loaded.frame[name].null_count() == loaded.frame.height]
    feedback = [name for name in feedback if name not in empty]
    short = loaded.frame.drop(empty).rename({name: name.removeprefix(FEEDBACK) for name in feedback}, strict=False)
    if "example_id" not in short.columns and len(inputs) == 1:
        short = short.rename({inputs[0]: "example_id"})
    several = next((name for name in _EXPERIMENTS if name in short.columns and "system" not in short.columns), None)
    short = short if several is None else short.rename({several: "system"})
    note = f"{_file_name(loaded)} is an experiment of LangSmith"
    named = replace(loaded, frame=short, notes=(*loaded.notes, note))
    asked = [name.removeprefix(FEEDBACK) for name in feedback]
    return stack(named, asked, {"criterion": asked}, "score")


def _file_name(loaded: LoadedTable) -> str:
    return loaded.source.name.replace("\\", "/").rsplit("/", 1)[-1]


def _first_filled(frame: pl.DataFrame, header: Mapping[str, str], names: Sequence[str], *, least: int) -> str | None:
    there = (header[plain(name)] for name in names if plain(name) in header)
    return next((name for name in there if frame[name].drop_nulls().n_unique() >= least), None)


def _fold_answers(loaded: LoadedTable) -> LoadedTable:
    """A table of Potato with one column per question, in which each cell is the answer that was chosen."""
    names = loaded.frame.columns
    marked = [name for name in names if ":::" in name or name.startswith("label_annotations.")]
    parts = {name: match for name in marked if (match := _POTATO.match(name))}
    if not parts:
        return loaded
    questions: dict[str, list[pl.Expr]] = {}
    for name, match in parts.items():
        alone = sum(other[1] == match[1] for other in parts.values()) == 1
        questions.setdefault(match[1], []).append(_answer_in(name, match[2], alone=alone))
    folded = [pl.coalesce(cells).alias(question) for question, cells in questions.items()]
    note = f"{_file_name(loaded)} is an export of Potato: {counted(len(folded), 'question')}"
    frame = loaded.frame.with_columns(folded).drop(name for name in parts if name not in questions)
    return replace(loaded, frame=frame, notes=(*loaded.notes, note), added=loaded.added | set(questions))


_UNCHECKED = ("false", "0", "0.0", "off", "unchecked", "no", "")


def fold_choices(loaded: LoadedTable) -> LoadedTable:
    """A table with one column for each question that has a column for each answer, of which one is checked in a row.

    Forms write radio buttons so: `Answer.quality.1`, `Answer.quality.2`, ...; `winner_model_a`, `winner_model_b`.
    """
    frame, folded = loaded.frame, loaded.frame
    marked = [name for name, kind in frame.schema.items() if kind in (pl.String, pl.Boolean) or kind.is_integer()]

    def are_marks(cells: pl.Series) -> bool:
        return bool(cells.cast(pl.String).str.to_lowercase().fill_null("").is_in([*_CHECKED, "yes", *_UNCHECKED]).all())

    choices = [name for name in marked if all_pass(frame[name], are_marks)]
    notes = []
    for _, numbered in groupby(enumerate(choices), lambda each: frame.columns.index(each[1]) - each[0]):
        names = [name for _, name in numbered]
        start = count_same(names)
        question = "".join(names[0][:start]).rstrip(" ._:-[(/")
        checked = [frame[name].cast(pl.String).str.to_lowercase().is_in([*_CHECKED, "yes"]) for name in names]
        once = pl.select(pl.sum_horizontal(checked) == 1).to_series().mean() or 0.0
        if len(names) < 2 or not question or question in frame.columns or once < _NEARLY:  # type: ignore[operator]
            continue
        answers = [name[start:].strip("])") for name in names]
        given = [pl.when(mark).then(pl.lit(answer)) for mark, answer in zip(checked, answers, strict=True)]
        folded = folded.with_columns(pl.coalesce(given).alias(question)).drop(names)
        notes.append(f"the marks in {short_list(names)} say the answers to '{shown(question)}'")
    return replace(loaded, frame=folded, notes=(*loaded.notes, *notes)) if notes else loaded


def _answer_in(column: str, answer: str, *, alone: bool) -> pl.Expr:
    """What a cell says: its step of a scale, the answer that is checked, or the text or number that was entered."""
    cell = pl.col(column).cast(pl.String).str.strip_chars()
    given = pl.when((cell != "") & (cell.str.to_lowercase() != "false"))
    step = _STEP.match(answer)
    if step:
        return given.then(pl.lit(step[1]))
    return given.then(pl.when(cell.str.to_lowercase().is_in(_CHECKED)).then(pl.lit(answer)).otherwise(cell)
                      if alone else pl.lit(answer))  # fmt: skip


# Label Studio's JSON export as rows: one per annotation of a task, with the task's data and every answer by its name.
# A task has `data` (what was shown) and `annotations`, each with the answers of one person (`result`). An answer stands
# under the name of its control (`from_name`): a rating or number as such, a choice as its word, the side of a pairwise
# comparison as `left` or `right`. Cancelled annotations are no judgments.


# Keys of a result's value that hold the answer; each type of control has its own.
_ANSWERS = ("rating", "number", "choices", "selected", "text", "ranker", "taxonomy")


def _rows_of_label_studio(tasks: list[Any], path: Path) -> tuple[list[dict[str, Any]], list[str], dict[int, str]]:
    """One row per annotation, notes on what was left out, and the rows of broken tasks (one each, empty) with why."""
    rows: list[dict[str, Any]] = []
    broken: dict[int, str] = {}
    cancelled = 0
    for number, task in enumerate(tasks, start=1):
        try:
            annotations = [(annotation, annotation.get("was_cancelled")) for annotation in task["annotations"]]
            rows += [_row(task, annotation) for annotation, is_cancelled in annotations if not is_cancelled]
            cancelled += sum(bool(is_cancelled) for _, is_cancelled in annotations)
        except (KeyError, TypeError, AttributeError, ValueError) as fault:
            reason = f"task {number} is not as Label Studio writes tasks ({shown(repr(fault))})"
            broken[len(rows)] = f"{reason}; check the export"
            rows.append({})
    if len(rows) == len(broken):
        if broken:
            raise InputError(next(iter(broken.values())), file=path)
        raise InputError("holds no annotation; check that annotation has begun", file=path)
    held = f"{counted(len(tasks), 'task')} with {counted(len(rows) - len(broken), 'annotation')}"
    notes = [f"{path.name} is an export of Label Studio: {held}"]
    if cancelled:
        were = agreeing(cancelled, "was cancelled and is no judgment", "were cancelled and are no judgments")
        notes.append(f"{counted(cancelled, 'annotation')} {were}")
    return rows, notes, broken


def _row(task: dict[str, Any], annotation: dict[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = dict(task["data"])
    row.setdefault("item_id", task.get("id"))
    for answer in annotation.get("result") or []:
        if (value := _answer(answer.get("value") or {})) is not None:
            name = str(answer.get("from_name") or answer.get("type") or "answer")
            row[name if name not in task["data"] else f"{name} (answer)"] = value
    who = annotation.get("completed_by")
    if isinstance(who, dict):
        who = who.get("email") or who.get("id")
    row["completed_by"] = None if who is None else str(who)
    for name in ("created_at", "lead_time"):
        if annotation.get(name) is not None:
            row.setdefault(name, annotation[name])
    return row


def _answer(value: dict[str, Any]) -> Any:
    for name in _ANSWERS:
        given = value.get(name)
        if given is not None:
            return given[0] if isinstance(given, list) and len(given) == 1 else given
    return None
