"""Scores of metrics: tables with one column per metric, long tables, mt-metrics-eval files, sacrebleu's JSON.

- a table (tabs, commas, semicolons or blanks) with columns `system`, `segment` and `document` (both optional), and one
  per metric;
- a long table `system segment metric score`;
- `NAME.seg.score` and `NAME.sys.score`: lines of system and score, segments in order; `None` is missing;
- JSON that sacrebleu prints: scores of the whole test set, of one system, named by the file, or of several.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from adjudge.core.errors import DataError, InputError, UsageError, shown
from adjudge.core.files import read_json, read_text
from adjudge.core.fingerprint import fingerprint
from adjudge.core.wording import counted
from adjudge.formats.parsing.delimited import DELIMITERS, Delimited, read_delimited, to_float
from adjudge.formats.tables.cells import MISSING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import polars as pl

    Cells = dict[tuple[str, str], float]
    Naming = Callable[["MetricScore"], str]

# mt-metrics-eval's files of scores of segments and of systems.
ENDINGS = (".seg.score", ".sys.score")
SEGMENT = ("segment", "seg_id", "segment_id")
DOCUMENT = ("document", "doc", "doc_id")
# What sacrebleu reports as an error rate: the only metric of its JSON where lower is better.
ERROR_RATE = "TER"
# Parts of sacrebleu's names of outputs that are no part of the system's name.
_SYSTEM = re.compile(r"^Baseline: |\.txt$")


@dataclass(frozen=True)
class MetricScore:
    """One score: of a segment, or of the whole test set where the segment is None."""

    metric: str
    system: str
    segment: str | None
    document: str | None
    score: float | None


def read_metric_scores(paths: Iterable[Path]) -> list[MetricScore]:
    """Read any number of files of any of these forms; folders stand for the score files in them."""
    scores: list[MetricScore] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(file for file in path.iterdir() if file.name.endswith(ENDINGS))
            if not inside:
                raise InputError("is a folder without *.seg.score or *.sys.score files; name the files", file=path)
            scores += [score for file in inside for score in _read_file(file)]
        else:
            scores += _read_file(path)
    return scores


def read_score_frame(frame: pl.DataFrame) -> list[MetricScore]:
    """The scores of a data frame with the columns of a table."""
    cells = [["" if cell is None else str(cell) for cell in row] for row in frame.iter_rows()]
    return _scores_of_table(Delimited(Path("data frame"), tuple(frame.columns), tuple(enumerate(cells, start=1))))


def reverse_scores(scores: Sequence[MetricScore], names: Iterable[str]) -> list[MetricScore]:
    """The scores with those of the named metrics multiplied by -1, so that higher is better everywhere."""
    wanted = set(names)
    unknown = sorted(wanted - {score.metric for score in scores})
    if unknown:
        known = ", ".join(dict.fromkeys(score.metric for score in scores))
        raise UsageError(f"--lower-is-better names '{unknown[0]}', which is none of the scores: {known}")
    return [
        replace(score, score=-score.score) if score.metric in wanted and score.score is not None else score
        for score in scores
    ]


def segment_namer(human: Sequence[MetricScore], metrics: Sequence[MetricScore]) -> Naming:
    """Return a function that names the segment of a score: by its name, or with the document if names repeat."""
    twice = _find_ambiguous_segment(human) or _find_ambiguous_segment(metrics)
    if twice is None:
        return lambda score: str(score.segment)
    for whose, scores in (("human", human), ("metric", metrics)):
        if any(score.document is None for score in scores):
            segment, first, second = twice
            raise DataError(
                f"segment '{segment}' is in the documents '{first}' and '{second}', but {whose} scores do not all say "
                "their document; give a column 'document', or number the segments consecutively"
            )
    return lambda score: f"{score.document}:{score.segment}"


def _find_ambiguous_segment(scores: Sequence[MetricScore]) -> tuple[str, str, str] | None:
    seen: dict[str | None, str] = {}
    for score in scores:
        if score.document is not None and seen.setdefault(score.segment, score.document) != score.document:
            return str(score.segment), seen[score.segment], score.document
    return None


def score_cells(scores: Sequence[MetricScore], named: Naming) -> tuple[dict[str, Cells], int]:
    """By metric, the score of every system and segment; and how many scores repeat another exactly."""
    by_metric: dict[str, Cells] = {}
    repeated = 0
    for score in scores:
        if score.score is None:
            continue
        cells, cell = by_metric.setdefault(score.metric, {}), (score.system, named(score))
        if cell not in cells:
            cells[cell] = score.score
        elif cells[cell] == score.score:
            repeated += 1
        else:
            raise DataError(
                f"'{score.metric}' has two scores of segment '{cell[1]}' by system '{score.system}' "
                f"({cells[cell]:g} and {score.score:g}); keep one, or give their mean"
            )
    return by_metric, repeated


def fingerprint_of_scores(scores: Iterable[MetricScore]) -> str:
    """Twelve hexadecimal digits that identify the scores, whatever their order."""
    lines = sorted(
        f"{score.metric}\t{score.system}\t{score.segment}\t{score.document}\t{score.score}" for score in scores
    )
    return fingerprint("\n".join(lines))


def _read_file(path: Path) -> list[MetricScore]:
    if path.name.endswith(ENDINGS):
        return _read_mtme(path)
    if path.name.endswith((".doc.score", ".domain.score")):
        raise InputError(
            "holds scores of documents or domains, which are made of segments; give *.seg.score", file=path
        )
    if path.suffix == ".json":
        return _read_sacrebleu(path)
    return _scores_of_table(_read_table(path))


def _scores_of_table(table: Delimited) -> list[MetricScore]:
    system, segment, document = table.need("system"), table.find(*SEGMENT), table.find(*DOCUMENT)
    metric, score = table.find("metric"), table.find("score")
    if metric is not None and score is not None:
        columns = [(score, "score")]
    else:
        metric, columns = None, _metric_columns(table, {system, segment, document})
    return [
        MetricScore(
            table.header[i] if metric is None else fields[metric],
            fields[system],
            _optional(fields, segment),
            _optional(fields, document),
            _parse_number(fields[i], what, table.path, line),
        )
        for line, fields in table.rows
        for i, what in columns
    ]


def _metric_columns(table: Delimited, others: set[int | None]) -> list[tuple[int, str]]:
    """List the columns of metrics in a table with one column each, with what to call their cells in messages."""
    if "annotator" in table.header and {"score", "rank"} & set(table.header):
        what = "holds judgments of annotators, not one score per system and segment; read it with --format judgments"
        raise InputError(what, file=table.path, line=1)
    columns = [(i, f"score in column '{name}'") for i, name in enumerate(table.header) if i not in others]
    if not columns:
        raise InputError("has no column of scores beside the systems and segments", file=table.path, line=1)
    return columns


def _read_table(path: Path) -> Delimited:
    """A table by its header: delimited, or separated by blanks (and then by tabs too) as statistics scripts write."""
    lines = read_text(path).splitlines()
    if not lines or any(mark in lines[0] for mark in DELIMITERS) or len(lines[0].split()) < 2:
        return read_delimited(path, None)
    header = tuple(name.strip('"') for name in lines[0].split())
    rows: list[tuple[int, list[str]]] = []
    for number, line in enumerate(lines[1:], start=2):
        fields = [field.strip('"') for field in line.split()]
        if fields and len(fields) != len(header):
            what = f"{counted(len(fields), 'field')} where the header has {len(header)}; the file may be cut"
            raise InputError(what, file=path, line=number)
        if fields:
            rows.append((number, fields))
    return Delimited(path, header, tuple(rows))


def _parse_number(value: str, what: str, path: Path, line: int) -> float | None:
    return None if value.strip().casefold() in MISSING else to_float(value, what, path, line)


def _optional(fields: list[str], column: int | None) -> str | None:
    return fields[column] if column is not None and fields[column] else None


def _read_mtme(path: Path) -> list[MetricScore]:
    """`NAME.seg.score`: the segments of a system are its lines in order, counted from 1."""
    metric, _, level = path.name.removesuffix(".score").rpartition(".")
    scores: list[MetricScore] = []
    seen: dict[str, int] = {}
    for line, text in enumerate(read_text(path).splitlines(), start=1):
        fields = text.split()
        if not fields:
            continue
        if len(fields) != 2:
            held = counted(len(fields), "field")
            what = f"has {held}, a system and a score are needed; other columns make a table (.tsv)"
            raise InputError(what, file=path, line=line)
        seen[fields[0]] = seen.get(fields[0], 0) + 1
        segment = str(seen[fields[0]]) if level == "seg" else None
        scores.append(MetricScore(metric, fields[0], segment, None, _parse_number(fields[1], "score", path, line)))
    if not scores:
        raise InputError("is empty; lines of system and score are needed", file=path)
    return scores


def _read_sacrebleu(path: Path) -> list[MetricScore]:
    """Read what `sacrebleu --format json` prints: one metric, several, or a list of systems with their metrics.

    Of one system the name is that of the file. TER counts errors and is turned round.
    """
    content = read_json(path)
    entries = content if isinstance(content, list) else [content]
    for number, entry in enumerate(entries, start=1):
        if not isinstance(entry, dict) or not ({"name", "score"} <= entry.keys() or "system" in entry):
            what = f"entry {number} is '{shown(entry)}', an object with 'name' and 'score' (or 'system') is needed"
            raise InputError(f"{what}; check that sacrebleu printed it", file=path)
    scores = [
        (str(entry["name"]), path.stem, entry["score"]) for entry in entries if "name" in entry and "score" in entry
    ] or [
        (metric, _SYSTEM.sub("", str(entry["system"])), value.get("score") if isinstance(value, dict) else value)
        for entry in entries
        if "system" in entry
        for metric, value in entry.items()
        if metric != "system"
    ]  # fmt: skip
    if not scores:
        raise InputError("holds no 'name' and 'score' (or 'system' and scores) as sacrebleu prints them", file=path)
    return [
        MetricScore(metric, system, None, None, (-1 if metric == ERROR_RATE else 1) * _parse_score(value, metric, path))
        for metric, system, value in scores
    ]


def _parse_score(value: object, metric: str, path: Path) -> float:
    """A score as a number, or as the text that sacrebleu makes of it where there are several systems."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise InputError(f"the score of {metric} is '{shown(value)}', a number is needed; correct it", file=path)
    try:
        return to_float(str(value), f"the score of {metric}", path, 1)
    except InputError as fault:
        raise InputError(
            f"the score of {metric} is '{shown(value)}', a number is needed; correct it", file=path
        ) from fault
