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
from typing import TYPE_CHECKING, Any

import polars as pl

from adjudge.readers.appraise_batches import unplaced_span
from adjudge.readers.columns import MISSING
from adjudge.readers.duplicates import COPIED_TABLE, copied_table_note, keep_lines_once
from adjudge.readers.mqm import score as sum_up
from adjudge.readers.mqm import weight
from adjudge.readers.parsing import DELIMITERS, SCORE_SCALE, BadRows, Delimited, pair_of, read_delimited, to_float
from adjudge.table.errors import DataError, InputError, Source, UsageError, param, shown
from adjudge.table.files import parse_json, read_json, read_text
from adjudge.table.judgments import Judgments, SetAside, concat, fingerprint
from adjudge.table.languages import UNKNOWN, pair_in_name, split_pair
from adjudge.table.participants import mark_humans
from adjudge.table.protocols import ASSUMED_OF_SCORES, ON_SCALE
from adjudge.table.texts import SOURCE, Span, span_column
from adjudge.table.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from adjudge.readers.options import ReadOptions

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


# A release of mt-metrics-eval: a folder of human scores, and one of metrics for each language pair.
HUMAN_FOLDER, METRIC_FOLDER = "human-scores", "metric-scores"
_PREFERRED = ("mqm", "esa", "esa1", "da-sqm", "da", "psqm", "wmt-z", "wmt")
"""Human scores of which the first is taken where nobody says which."""


def parts_of_release(folder: Path, pair: str | None, wanted: str | None) -> tuple[Path, Path] | None:
    """The human scores and the folder of metrics of one language pair of a release; None for other folders.

    Args:
        folder: the folder with `human-scores` and `metric-scores`.
        pair: the language pair, where there are several.
        wanted: the kind of human scores, such as `mqm`; default: the first that is usual.
    """
    human, metrics = folder / HUMAN_FOLDER, folder / METRIC_FOLDER
    if not (human.is_dir() and metrics.is_dir()):
        return None
    pairs = {path.name: path for path in sorted(metrics.iterdir()) if path.is_dir()}
    names = [name for name in pairs if pair is None or pair_in_name(name) == pair_in_name("-".join(split_pair(pair)))]
    if len(names) != 1:
        held = f"holds metrics of {', '.join(pairs) or 'no language pair'}"
        raise InputError(f"{held}; choose one with {param('pair')}", file=folder)
    files = sorted(human.glob(f"{names[0]}.*{ENDINGS[0]}"))
    kinds = {path.name.removeprefix(f"{names[0]}.").removesuffix(ENDINGS[0]): path for path in files}
    chosen = wanted or next((kind for kind in _PREFERRED if kind in kinds), next(iter(kinds), None))
    if chosen not in kinds:
        held = f"holds human scores {', '.join(kinds) or 'of no kind'} for {names[0]}"
        raise InputError(f"{held}; choose one with {param('gold_column')}", file=folder)
    return kinds[chosen], pairs[names[0]]


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


def reverse_scores(
    scores: Sequence[MetricScore], names: Iterable[str], *, named_by: str = "lower_is_better"
) -> list[MetricScore]:
    """The scores with those of the named metrics multiplied by -1, so that higher is better everywhere."""
    wanted = set(names)
    unknown = sorted(wanted - {score.metric for score in scores})
    if unknown:
        known = ", ".join(dict.fromkeys(score.metric for score in scores))
        raise UsageError(f"{param(named_by)} names '{unknown[0]}', which is none of the scores: {known}")
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
        what = (
            "holds judgments of annotators, not one score per system and segment; "
            f"read it with {param('format')} judgments"
        )
        raise InputError(what, file=table.path, line=1)
    columns = [(i, f"score in column '{name}'") for i, name in enumerate(table.header) if i not in others]
    if columns:
        return columns
    raise InputError("has no column of scores beside the systems and segments", file=table.path, line=1)


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
    return to_float(str(value), f"the score of {metric}", path)


# Scores by segment as mt-metrics-eval keeps them: `*.seg.score` with its documents file, as judgments.
# A line holds a system and a score; the lines of a system are its segments in order, counted from 1; `None` is
# missing. `documents/LP.docs` beside the folder of scores names the document of every segment. Given the folder of a
# test set, the scores of people (`human-scores`) are read. Who judged is not in these files: a score is the mean of
# those who did.

ENDING = ".seg.score"
OTHERS = (".sys.score", ".doc.score", ".domain.score")
# The folder with the scores of people inside that of a test set.
HUMAN_SCORES = "human-scores"
RATINGS = ".seg.rating"
_SEGMENT_NUMBER = (pl.int_range(pl.len()).over("system") + 1).cast(pl.String).alias("segment")
# Protocols that a file's name may hold; scores under other names are taken as direct assessment.
_NAMED_PROTOCOLS = ("mqm", "esa", "sqm")


def read(paths: Sequence[Path], options: ReadOptions) -> Judgments:
    """Read score files, or those of folders; each becomes a campaign named after it."""
    return concat([_read_segment_scores(path, options) for given in paths for path in _find_files(given)])


def _find_files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    for folder in (path, path / HUMAN_SCORES):
        scores, ratings = _by_name(folder, ENDING), _by_name(folder, RATINGS)
        # Who rated is known of ratings alone, unless they are merged; means of the same name say nothing more.
        by_rater = {name: files for name, files in ratings.items() if name not in scores or not _is_merged(files)}
        if scores or by_rater:
            return [file for files in ({**scores, **by_rater}).values() for file in files]
    raise InputError(f"is a folder without *{ENDING}, and so is {HUMAN_SCORES} in it; name the files", file=path)


def _by_name(folder: Path, ending: str) -> dict[str, list[Path]]:
    named: dict[str, list[Path]] = {}
    for file in sorted(folder.glob(f"*{ending}")):
        named.setdefault(_name_of(file), []).append(file)
    return named


def _name_of(file: Path) -> str:
    """Languages and name of scores, without the rater: `en-de.mqm` of `en-de.mqm.rater1.seg.rating`."""
    if file.name.endswith(ENDING):
        return file.name.removesuffix(ENDING)
    return ".".join(file.name.removesuffix(RATINGS).split(".")[:2])


def _is_merged(files: Sequence[Path]) -> bool:
    return all(_rater_of(file) is None for file in files) and not any("\t" in _third_field(file) for file in files)


def _third_field(file: Path) -> str:
    with file.open(encoding="utf-8", errors="replace") as lines:
        return next(lines, "").partition("\t")[2]


def _rater_of(file: Path) -> str | None:
    """The rater after whom a file of ratings is named, if it is."""
    rest = file.name.removesuffix(RATINGS).split(".")[2:]
    return ".".join(rest) if file.name.endswith(RATINGS) and rest and rest != ["merged"] else None


def _read_segment_scores(path: Path, options: ReadOptions) -> Judgments:
    if path.name.endswith(OTHERS):
        raise InputError(f"holds no scores of segments, of which all others are made; give *{ENDING}", file=path)
    text = read_text(path).rstrip()
    if not text:
        raise InputError("is empty; lines of system and score are needed", file=path)
    frame, bad = _parse_lines(text, path, options)
    set_aside, notes = bad.settle()
    frame = frame.filter(~pl.col("row").is_in(list(bad.problems)))
    frame, times = _drop_copies(frame)
    if times > 1:
        set_aside.append(SetAside(COPIED_TABLE, (times - 1) * frame.height))
        notes.append(copied_table_note(times))
    set_aside.append(SetAside("no score was given", int(frame["missing"].sum())))
    return _judgments(frame.filter(~pl.col("missing")), path, options, set_aside, notes)


def _parse_lines(text: str, path: Path, options: ReadOptions) -> tuple[pl.DataFrame, BadRows]:
    """System, segment and score of every line, and the lines that cannot be used."""
    if path.name.endswith(RATINGS):
        return _parse_ratings(text, path, options)
    # An empty line is a segment without a score: left out, it would give all segments behind it other numbers.
    rows = [line.split() for line in text.split("\n")]
    bad = BadRows(Source(str(path), lambda row: row + 1), options, len(rows))
    for row, fields in enumerate(rows):
        if len(fields) != 2:
            bad.row(row, f"has {counted(len(fields), 'field')}, a system and a score are needed; correct it")
            # An empty line belongs to the system of the line before.
            fields[:1] = fields[:1] or next((before[:1] for before in reversed(rows[:row]) if before), [""])
    given = [fields[1] if len(fields) == 2 else None for fields in rows]
    frame = pl.DataFrame({"system": [fields[0] for fields in rows], "given": pl.Series(given, dtype=pl.String)})
    missing = pl.col("given").str.to_lowercase().is_in(list(MISSING))
    frame = frame.with_row_index("row").with_columns(
        _SEGMENT_NUMBER,
        score=pl.when(~missing).then(pl.col("given").cast(pl.Float64, strict=False)),
        missing=missing,
    )
    broken = frame.select(~pl.col("missing") & ~pl.col("score").is_finite().fill_null(value=False)).to_series()
    bad.mark(broken, lambda row: f"score is '{frame['given'][row]}', a number is needed; correct it", "broken score")
    return frame, bad


def _parse_ratings(text: str, path: Path, options: ReadOptions) -> tuple[pl.DataFrame, BadRows]:
    """Do the same for lines of system, errors in JSON, and sometimes the rater; errors count below zero."""
    rows = [line.split("\t") for line in text.split("\n")]
    bad = BadRows(Source(str(path), lambda row: row + 1), options, len(rows))
    scores: list[float | None] = []
    spans: list[list[Span]] = []
    for row, fields in enumerate(rows):
        errors: list[Any] = []
        given = fields[1].strip() if len(fields) > 1 else ""
        try:
            errors = parse_json(given)["errors"] if given != "None" else []
            spans.append([_span_of(error) for error in errors])
            weights = [float(error.get("score", weight(error["severity"], error.get("category")))) for error in errors]
            scores.append(None if given == "None" else sum_up(weights))
        except (ValueError, KeyError, TypeError, AttributeError):
            bad.row(row, f"has '{shown(given)}', errors in JSON or None are needed; correct it")
            scores.append(None)
            spans = [*spans[:row], []]
    named = _rater_of(path)
    frame = pl.DataFrame({
        "system": [fields[0] for fields in rows],
        "given": [fields[1] if len(fields) > 1 else None for fields in rows],
        "score": pl.Series(scores, dtype=pl.Float64),
        "annotator": pl.Series([fields[2] if len(fields) > 2 else named for fields in rows], dtype=pl.String),
        "spans": span_column(spans),
    })  # fmt: skip
    return frame.with_row_index("row").with_columns(_SEGMENT_NUMBER, missing=pl.col("score").is_null()), bad


def _span_of(error: dict[str, Any]) -> Span:
    side = SOURCE if error.get("is_source_error") else "target"
    span = unplaced_span(error.get("severity"), error.get("category"))
    return {**span, "side": side, "start": int(error["start"]), "end": int(error["end"])}


def _drop_copies(frame: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """The rows of every segment once, and how often they occur in the file."""
    by_system = frame.group_by("system", maintain_order=True).agg("row", "given")
    if by_system["row"].list.len().n_unique() > 1:
        return frame, 1
    kept, times = keep_lines_once(list(zip(*by_system["given"].to_list(), strict=True)))
    if times == 1:
        return frame, 1
    rows = [row for rows in by_system["row"].to_list() for row in rows[kept.start : kept.stop : kept.step]]
    return frame.filter(pl.col("row").is_in(rows)).with_columns(_SEGMENT_NUMBER), times


def _judgments(
    frame: pl.DataFrame, path: Path, options: ReadOptions, set_aside: list[SetAside], notes: list[str]
) -> Judgments:
    if frame.height == 0:
        raise InputError("holds no score; check that the file is complete", file=path)
    folder = path.resolve().parent
    source, target = pair_of(path, options)
    if source == UNKNOWN:
        # The folder of scores may name them, as in `metric-scores/en-de/`.
        source, target = pair_in_name(folder.name) or (source, target)
    around = (folder.parent, folder.parent.parent)
    test_set = next((up.name for up in around if (up / "documents").is_dir()), folder.name)
    documents, about_documents = _read_documents(path, frame["segment"].cast(pl.Int64).max())
    name = _name_of(path)
    short = name.removeprefix(f"{source}-{target}.")
    protocol = next((name for name in _NAMED_PROTOCOLS if name in short.lower()), ASSUMED_OF_SCORES)
    table = frame.select(
        "segment",
        "system",
        "score",
        *(name for name in ("annotator", "spans") if name in frame.columns),
        document=pl.col("segment").replace_strict(documents, default=None, return_dtype=pl.String),
        campaign=pl.lit(f"{test_set}/{short}"),
        protocol=pl.lit(protocol),
        source_lang=pl.lit(source),
        target_lang=pl.lit(target),
    )
    if protocol in ON_SCALE and not table["score"].is_between(*SCORE_SCALE).all():
        # Standardised scores and those of metrics have scales of their own, as sliders may have.
        table = table.with_columns(pl.lit(short).alias("slider"))
    judgments = Judgments.from_columns(table, set_aside=set_aside, notes=[*notes, *about_documents], source=str(path))
    return mark_humans(judgments, options.human)


def _read_documents(path: Path, most: object) -> tuple[dict[str, str], list[str]]:
    """The document of every segment, from lines of domain and document; empty where there is no such file."""
    folder = path.resolve().parent
    pairs = {path.name.split(".")[0], folder.name}
    for up in (folder.parent, folder.parent.parent):
        for pair in pairs:
            file = up / "documents" / f"{pair}.docs"
            if file.is_file():
                names = [line.split("\t")[-1].strip() for line in read_text(file).rstrip("\n").split("\n")]
                if isinstance(most, int) and len(names) < most:
                    what = f"names the documents of {counted(len(names), 'segment')}, the scores have {most:,}"
                    raise InputError(f"{what}; the files do not belong together", file=file)
                return {str(number): name for number, name in enumerate(names, start=1)}, []
    return {}, [f"{path.name}: no documents file lies beside (documents/LP.docs); documents are unknown"]
