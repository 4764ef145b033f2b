"""Projects of INCEpTION and WebAnno: a folder for each document, and in it a file of spans for each annotator.

A file is UIMA CAS JSON or WebAnno TSV 3. A sentence is a segment. Spans whose layer says how severe an error is are
scored as in MQM; otherwise a number that a layer gives to a span is the score of its sentence.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from adjudge.readers.headers import find_joined
from adjudge.readers.mqm import score as sum_up
from adjudge.readers.mqm import weight
from adjudge.table.errors import InputError
from adjudge.table.files import read_json, read_text
from adjudge.table.wording import agreeing, counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

_FOLDER = "annotation"
# Whose files hold what nobody judged, or what a curator merged.
_NOBODY = ("INITIAL_CAS", "CURATION_USER")
_ENDINGS = re.compile(r"(\.(txt|xmi|xml|html?|tsv|json|pdf|conllu?))+$", re.IGNORECASE)
_SENTENCE = "type.Sentence"
_OTHER_TYPES = (_SENTENCE, "type.Token", "type.DocumentMetaData", "tcas.DocumentAnnotation")
_CELL = re.compile(r"^(.*?)(?:\[([0-9]+)\])?$")
_NUMBER = re.compile(r"^[+-]?[0-9]+([.,][0-9]+)?$")


class _Mark(NamedTuple):
    """A span of the text, in units of UTF-16, and what its layer says of it."""

    begin: int
    end: int
    said: dict[str, str]


class _Annotated(NamedTuple):
    """A document as one person annotated it: where its sentences begin, what they are, and the marks in them."""

    begins: list[int]
    sentences: list[str]
    marks: list[_Mark]


def find_annotations(folder: Path) -> list[Path]:
    """The files of a project's annotations, `annotation/DOCUMENT/ANNOTATOR.json`; none in other folders."""
    inside = (file for file in sorted(folder.rglob("*")) if file.parent.parent.name == _FOLDER)
    files = [file for file in inside if file.suffix in (".json", ".tsv") and file.stem not in _NOBODY]
    return files if files and is_annotated(read_text(files[0])[:10_000]) else []


def is_annotated(text: str) -> bool:
    """Whether a file begins as one document with the spans of one annotator does."""
    return text.startswith("#FORMAT=WebAnno TSV 3") or '"%FEATURE_STRUCTURES"' in text or '"%TYPES"' in text


def rows_of_project(folder: Path, files: Sequence[Path]) -> tuple[list[dict[str, Any]], list[str]]:
    """A row for each sentence and annotator, with its errors or its scores, and notes on how they were understood."""
    read = {file: _read(file) for file in files}
    unfinished = {file for file in files if not read[file].marks} & set(_unfinished(folder, files))
    read = {file: annotated for file, annotated in read.items() if file not in unfinished}
    said = defaultdict(set)
    for annotated in read.values():
        for mark in annotated.marks:
            for name, value in mark.said.items():
                said[name].add(value)
    severities = [name for name, values in said.items() if all(weight(v, None) is not None for v in values)]
    numbers = [name for name, values in said.items() if all(map(_NUMBER.match, values))]
    if not severities and not numbers:
        what = "no layer says how severe an error is (minor, major, critical), and none holds numbers"
        raise InputError(f"is a project of INCEpTION of which {what}; nothing can be ranked", file=folder)
    names, note = _name_documents(folder, read)
    rows = []
    for file, annotated in read.items():
        for number, text, marks in _by_sentence(annotated):
            row = {"annotator": file.stem, **names[file], "segment": number, "target_text": text}
            rows += [row | answer for answer in _answers(marks, severities[:1], numbers)]
    notes = [f"{folder.name} is a project of INCEpTION: {counted(len(read), 'annotated document')}", note]
    notes += ["errors cost what they cost in the workshops' MQM"] * bool(severities)
    empty = sum(not annotated.marks for annotated in read.values())
    if empty:
        notes.append(f"{counted(empty, 'document')} without any mark {agreeing(empty, 'counts', 'count')} as judged")
    if unfinished:
        notes.append(f"{counted(len(unfinished), 'document')} that nobody marked or finished not read")
    return rows, notes


def _answers(marks: Sequence[_Mark], severity: Sequence[str], numbers: Sequence[str]) -> list[dict[str, Any]]:
    """What the marks of a sentence say: one score by its errors, or one for each layer of numbers."""
    if not severity:
        given = [(name, mark.said[name]) for name in numbers for mark in marks if name in mark.said]
        asked = [{"criterion": name} if len(numbers) > 1 else {} for name, _ in given]
        return [{"score": value, **criterion} for (_, value), criterion in zip(given, asked, strict=True)]
    errors = [mark for mark in marks if severity[0] in mark.said]
    spans, costs = [], []
    for mark in errors:
        layer = severity[0].rpartition(".")[0]
        category = next((v for n, v in mark.said.items() if n != severity[0] and n.rpartition(".")[0] == layer), None)
        costs.append(weight(mark.said[severity[0]], category) or 0.0)
        spans.append(
            {"start": mark.begin, "end": mark.end, "severity": mark.said[severity[0]].casefold(), "category": category,
             "side": "target", "text": None}
        )  # fmt: skip
    return [{"protocol": "mqm", "score": sum_up(costs), "spans": spans}]


def _by_sentence(annotated: _Annotated) -> Iterator[tuple[int, str, list[_Mark]]]:
    """Each sentence with its number and its marks, whose places are those of characters in it."""
    inside = defaultdict(list)
    for mark in annotated.marks:
        place = max(bisect_right(annotated.begins, mark.begin) - 1, 0)
        units = annotated.sentences[place].encode("utf-16-le")
        begin, end = (
            len(units[: 2 * max(at - annotated.begins[place], 0)].decode("utf-16-le", "ignore"))
            for at in (mark.begin, mark.end)
        )
        inside[place].append(_Mark(begin, end, mark.said))
    for place, text in enumerate(annotated.sentences):
        yield place + 1, text, inside[place]


def _name_documents(folder: Path, read: Mapping[Path, _Annotated]) -> tuple[dict[Path, dict[str, str]], str]:
    """The document and the system of each file, by the names of the documents; and a note."""
    names = {file: _ENDINGS.sub("", file.parent.name) for file in read}
    different = list(dict.fromkeys(names.values()))
    if (joined := find_joined(different)) is not None:
        numbered = [len({re.sub("[0-9]+", "#", part) for part in parts}) == 1 for parts in joined]
        if numbered[0] != numbered[1]:
            both = dict(zip(different, zip(*(joined if numbered[0] else joined[::-1]), strict=True), strict=True))
            note = f"'{different[0]}' is taken apart: '{both[different[0]][1]}' is a system"
            return {file: {"document": both[name][0], "system": both[name][1]} for file, name in names.items()}, note
    elif len({len(annotated.sentences) for annotated in read.values()}) == 1:
        return {file: {"system": name} for file, name in names.items()}, "each document is taken for a system"
    what = f"nothing in the names of its documents, such as '{different[0]}', says which system each is of"
    raise InputError(f"is a project of INCEpTION, and {what}; call them TEXT_SYSTEM, as in 1_Opus.txt", file=folder)


def _unfinished(folder: Path, files: Sequence[Path]) -> Iterator[Path]:
    """The files that nobody has finished, by what the project says of them."""
    described = [file for file in folder.rglob("exportedproject*.json") if file.is_file()]
    content = read_json(described[0]) if described else {}
    documents = content.get("annotation_documents") if isinstance(content, dict) else None
    states = {(d.get("name"), d.get("user")): d.get("state") for d in documents or [] if isinstance(d, dict)}
    yield from (f for f in files if states.get((f.parent.name, f.stem)) in ("NEW", "IN_PROGRESS", "IGNORE"))


def _read(path: Path) -> _Annotated:
    try:
        return _parse_json(read_json(path)) if path.suffix == ".json" else _parse_tsv(read_text(path))
    except (LookupError, TypeError, ValueError, AttributeError, StopIteration) as fault:
        raise InputError("is no annotation as INCEpTION exports it; export it again", file=path) from fault


def _parse_json(content: dict[str, Any]) -> _Annotated:
    structures = content["%FEATURE_STRUCTURES"]
    text = next(each["sofaString"] for each in structures if "sofaString" in each).encode("utf-16-le")
    spans = [each for each in structures if "end" in each and each.get("%TYPE")]
    spans = sorted(({"begin": 0, **each} for each in spans), key=lambda each: each["begin"])
    sentences = [each for each in spans if each["%TYPE"].endswith(_SENTENCE)]
    marks = [
        _Mark(each["begin"], each["end"], {
            f"{each['%TYPE'].rpartition('.')[2]}.{name}": str(value)
            for name, value in each.items()
            if name[0] not in "%@^" and name not in ("begin", "end", "") and isinstance(value, str | int | float)
        })
        for each in spans
        if not each["%TYPE"].endswith(_OTHER_TYPES)
    ]  # fmt: skip
    texts = [text[2 * each["begin"] : 2 * each["end"]].decode("utf-16-le", "replace") for each in sentences]
    return _Annotated([each["begin"] for each in sentences], texts, marks)


def _parse_tsv(text: str) -> _Annotated:
    """WebAnno TSV: a line per token, and after its place and text a column for each feature of each layer."""
    columns: list[str] = []
    read = _Annotated([], [], [])
    marks: dict[tuple[str, str], _Mark] = {}
    sentence: list[str] = []
    for line in text.splitlines():
        if line.startswith("#T_"):
            layer, *features = line.partition("=")[2].split("|")
            columns += [f"{layer.rpartition('.')[2]}.{name}" for name in features or [""]]
        elif line.startswith("#Text="):
            sentence.append(line.removeprefix("#Text="))
        elif line and line[0].isdigit():
            token, place, _, *cells = line.split("\t")
            begin, end = map(int, place.split("-"))
            if sentence:
                read.begins.append(begin)
                read.sentences.append("\n".join(sentence))
                sentence = []
            for name, cell in zip(columns, cells, strict=False):
                for stacked, value in enumerate(re.split(r"(?<!\\)\|", cell)):
                    said, number = _CELL.match(value).groups()  # type: ignore[union-attr]
                    # Spans of one token have no number, unless another covers the token, too.
                    key = (name.rpartition(".")[0], number or f"{token} {stacked}")
                    if said not in ("_", ""):
                        mark = marks.setdefault(key, _Mark(begin, end, {}))
                        given = {} if said == "*" else {name: re.sub(r"\\(.)", r"\1", said)}
                        marks[key] = _Mark(mark.begin, end, mark.said | given)
    read.marks.extend(sorted(marks.values(), key=lambda mark: mark.begin))
    return read
