"""All file formats: `FORMATS` names the function that reads each, `read` calls it, `recognise` tells formats apart.

`read` accepts a path, several paths, one or several tables in memory (`options.as_frame`), or judgments.
"""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from importlib import import_module
from numbers import Real
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from adjudge.readers.appraise import find_separator, is_result
from adjudge.readers.metric_scores import ENDING, HUMAN_SCORES, RATINGS, MetricScore
from adjudge.readers.options import ReadOptions, as_frame, as_paths
from adjudge.readers.wmt_da_files import SOURCES, member_of
from adjudge.table.errors import InputError, UsageError, param, shown, unknown_choice
from adjudge.table.files import PACKING_FAULTS, encoding_of, exists, read_head, text_encoding, unpacked_archives
from adjudge.table.wording import split_names

if TYPE_CHECKING:
    import polars as pl

    from adjudge.readers.duplicates import Repeated
    from adjudge.table.judgments import Judgments


class Format(NamedTuple):
    """One format: the whole registration of a reader.

    Attributes:
        reader: the function that reads it, as `module:function` of this package.
        summary: what it is.
        options: the options that it uses besides those of all formats.
        repeated: the meaning of rows that agree in everything that identifies a judgment: `corrections`, of which the
            last counts; separate `judgments`; or `counts`, if rows are made from numbers of comparisons.
        headers: columns, in small letters, by which a file without a given format is recognised: all of one line.
        not_in_header: columns that such a file must not have.
    """

    reader: str
    summary: str
    options: tuple[str, ...] = ()
    repeated: Repeated = "corrections"
    headers: tuple[str, ...] = ()
    not_in_header: str = ""


# Options that every format uses; `pair` also selects.
COMMON_OPTIONS = (
    "pair", "human", "encoding", "strict", "bad_rows", "attributes", "judges", "accounts_are_people", "everyone"
)  # fmt: skip
_TABLE = (
    "columns", "systems", "raters", "sheets", "wide", "winner", "values", "scale", "lower_is_better", "criterion",
    "labels",
)  # fmt: skip

FORMATS: dict[str, Format] = {
    "judgments": Format(
        "native:read", "the judgment table, or any table: Parquet, CSV, Excel, JSON, JSON lines", _TABLE
    ),
    "wmt-ranking": Format(
        "wmt_rankings:read_wmt_rankings",
        "relative rankings with columns srclang ... system5rank (WMT10 and later)",
        ("labels",),
        "judgments",
        ("srclang trglang system1id system1rank",),
    ),
    "wmt-ranking-2007": Format(
        "wmt_rankings:read_wmt_rankings_2007",
        "relative rankings among other judgments, told apart by TYPE (WMT07 to 09)",
        ("labels",),
        "judgments",
        ("task type item_id annotator_id system_0",),
    ),
    "wmt-edits": Format(
        "post_edits:read_wmt_edits",
        "post-edits with columns editId ... system1edit (data_EDT.tsv)",
        (),
        "judgments",
        ("editid editorid system1id system1edit",),
    ),
    "wmt-acceptability": Format(
        "post_edits:read_wmt_acceptability",
        "judgments of post-edits, YES, NO or UNK (data_ACC.csv)",
        (),
        "judgments",
        ("editid judgeid systemid judgment",),
    ),
    "pairwise-counts": Format(
        "pairs:read_pairwise_counts", "lines 'A B wins ties losses', both directions or one", (), "counts"
    ),
    "pairwise-table": Format(
        "pairs:read_pairwise_table",
        "a table with columns left, right and winner, one comparison per row",
        ("columns", "winner", "criterion"),
    ),
    "rank-table": Format(
        "rank_tables:read_rank_table",
        "a table with one rank column per candidate, one file per annotator",
        ("segment_column", "rank_columns", "labels"),
    ),
    "rank-lines": Format(
        "rank_tables:read_rank_lines",
        "one file per candidate with one rank per line, annotators one after the other",
        ("labels", "stacked"),
        "judgments",
    ),
    "wmt-da": Format(
        "wmt_da:read",
        "direct assessment, a folder or files of the ad-*.csv family (WMT16 to WMT22)",
        (),
        "judgments",
        ("sys_id rid sid score",),
    ),
    "mturk-da": Format(
        "mturk:read",
        "direct assessment, Mechanical Turk batch results with all items in Answer.Q1",
        headers=("hitid workerid answer.q1",),
    ),
    "appraise": Format(
        "appraise:read",
        "results of Appraise: 9, 11 or 12 columns and no header, with --batches, --annotators",
        ("batches", "annotators", "whole_documents"),
    ),
    "wmt-humeval": Format("humeval:read", "judgments of the general task, JSON lines with one segment each (WMT23 on)"),
    "mqm": Format(
        "mqm:read",
        "MQM ratings, one error per row with its span between <v> and </v>",
        ("columns", "mqm_weights"),
        headers=("system rater category severity", "system annotator category severity"),
        not_in_header="score rank",
    ),
    "pearmut": Format("pearmut:read", "annotations of Pearmut, JSON lines with one submitted document each"),
    "metric-scores": Format(
        "metric_scores:read", "mt-metrics-eval: *.seg.score files or folders of human or metric scores"
    ),
}


def read(source: Any, *, format: str | None = None, options: ReadOptions | None = None, **settings: Any) -> Judgments:  # noqa: A002
    """Read one or several files, folders (in some formats) or a data frame into one judgment table.

    `read("scores.csv")`, `read(["a.csv", "b.csv"], format="wmt-ranking", pair="cs-en")` and `read(frame)` all work.

    Args:
        source: a path, several paths, a data frame (polars, pandas, pyarrow, or anything that speaks Arrow), columns
            as a dictionary of lists, records as a list of dictionaries, several of these, or judgments.
        format: a name from `FORMATS`, for paths; default: detected, or else the judgment table.
        options: all reading options in one object.
        **settings: single reading options: any field of `ReadOptions`. `pair` also selects that language pair.

    Returns:
        The judgments, with everything that was set aside and why.
    """
    from adjudge.table.judgments import Judgments
    from adjudge.table.participants import mark_humans, set_judges_apart

    chosen = read_options(options, **settings)
    if isinstance(source, Judgments):
        judgments = source if chosen.human is None else mark_humans(source, chosen.human, given=("kind",))
    elif frames := _as_frames(source):
        if format not in (None, "judgments"):
            raise UsageError(f"a data frame has no format '{format}'; leave format out")
        judgments = _read_frames(frames, chosen)
    else:
        with text_encoding(chosen.encoding):
            judgments = _read_files(as_paths(source), format, chosen)
    judgments = _note_missing_human(judgments, chosen.human)
    if chosen.attributes is not None:
        from adjudge.readers.tables import add_attributes

        with text_encoding(chosen.encoding):
            judgments = add_attributes(judgments, Path(chosen.attributes))
    judgments = set_judges_apart(judgments, chosen.judges)
    if chosen.accounts_are_people:
        judgments = replace(judgments, people=True)
    pair = settings.get("pair")
    return judgments if pair is None else judgments.for_pair(pair)


def as_metric_scores(source: Any) -> list[MetricScore]:
    """Read metric scores from a path, several paths, or a data frame of polars or pandas."""
    from adjudge.readers.metric_scores import read_metric_scores, read_score_frame

    frame = as_frame(source)
    return read_metric_scores(as_paths(source, "metric scores")) if frame is None else read_score_frame(frame)


def read_options(options: ReadOptions | None = None, **settings: Any) -> ReadOptions:
    """Make reading options from plain settings: lists, and mappings such as `columns={"system": "model"}`."""
    names = [field.name for field in fields(ReadOptions)]
    for name in settings:
        if name not in names:
            raise unknown_choice("setting of the reader", name, ["format", *names])
    return replace(options or ReadOptions(), **{name: _as_option(name, value) for name, value in settings.items()})


def _as_option(name: str, value: Any) -> Any:
    """Convert a value to the form in which `ReadOptions` stores it; comma-separated names are accepted too."""
    if isinstance(value, Mapping) and name in ("columns", "winner", "values"):
        several = [(key, given if isinstance(given, list | tuple) else [given]) for key, given in value.items()]
        return tuple(f"{key}={each}" for key, given in several for each in given)
    several = getattr(ReadOptions, name) == ()
    if value is not None and name in ("batches", "annotators", "attributes"):
        paths = as_paths(value, f"what {param(name)} names")
        if not several and len(paths) != 1:
            raise UsageError(f"{param(name)} is one file, not {len(paths)}; name it")
        return tuple(paths) if several else paths[0]
    if isinstance(value, str) and several:
        return split_names(value)
    if several and value is not None and not isinstance(value, Iterable):
        raise UsageError(f"{param(name)} is {type(value).__name__} '{shown(value)}'; give a name or a list of names")
    kind = str(ReadOptions.__annotations__[name])
    if kind.startswith("str") and not isinstance(value, str | None):
        raise UsageError(f"{param(name)} is {type(value).__name__} '{shown(value)}'; give a text")
    is_number = isinstance(value, Real) and not math.isnan(value)
    if kind.startswith(("int", "float")) and value is not None and not is_number:
        raise UsageError(f"{param(name)} is {type(value).__name__} '{shown(value)}'; give a number")
    if isinstance(value, list | tuple) and name in ("raters", "systems", "sheets", "scale"):
        # Columns of data frames may be called by numbers, and a scale is given in numbers.
        return tuple(map(str, value))
    return tuple(value) if isinstance(value, list) else value


def _as_frames(source: Any) -> list[pl.DataFrame]:
    """The table in memory, or several of them; none where the source is something else."""
    if (frame := as_frame(source)) is not None:
        return [frame]
    if not isinstance(source, list | tuple) or isinstance(source[0] if source else "", str | PathLike):
        return []
    frames = [as_frame(part) for part in source]
    return [] if any(frame is None for frame in frames) else [frame for frame in frames if frame is not None]


def _read_frames(frames: Sequence[pl.DataFrame], options: ReadOptions) -> Judgments:
    from adjudge.readers.duplicates import note_similar_names, remove_copies
    from adjudge.readers.native import read_frame
    from adjudge.table.judgments import concat

    parts = [read_frame(frame, options) for frame in frames]
    return note_similar_names(remove_copies(parts[0] if len(parts) == 1 else concat(parts)))


def _read_files(paths: list[Path], format: str | None, options: ReadOptions) -> Judgments:  # noqa: A002
    """Read files; zip archives of several files as folders, which messages and notes call by the archive's name."""
    with unpacked_archives(paths) as archives:
        if not archives:
            return _read_paths(paths, format, options)
        folders = {archive: folder for folder, archive in archives.items()}

        def renamed(text: str) -> str:
            for folder, archive in archives.items():
                text = text.replace(str(folder), str(archive))
            return text

        try:
            judgments = _read_paths([folders.get(path, path) for path in paths], format, options)
        except InputError as fault:
            raise InputError(renamed(fault.args[0])) from fault
        columns = tuple(replace(use, file=renamed(use.file)) for use in judgments.columns)
        return replace(judgments, notes=tuple(map(renamed, judgments.notes)), columns=columns)


def _read_paths(paths: list[Path], format: str | None, options: ReadOptions) -> Judgments:  # noqa: A002
    if format is not None and format not in FORMATS:
        raise unknown_choice("format", format, FORMATS)
    if not paths:
        raise UsageError("no file was given; name at least one")
    seen: set[Path] = set()
    for path in paths:
        if not exists(path):
            raise InputError("no such file or folder; check the path", file=path)
        if path.resolve() in seen:
            raise InputError("is given twice, its judgments would count twice; name it once", file=path)
        seen.add(path.resolve())
    name = format or format_of(paths)
    _refuse_unused(name, options)
    from adjudge.readers.duplicates import note_similar_names, remove_copies

    module, _, function = FORMATS[name].reader.partition(":")
    judgments: Judgments = getattr(import_module(f"adjudge.readers.{module}"), function)(paths, options)
    if not len(judgments):
        raise InputError(f"holds no judgment that can be used; check its columns and {param('format')}", file=paths[0])
    if format is None and name != "judgments":
        note = f"the format was recognised as {name}; --format chooses another"
        judgments = replace(judgments, notes=(note, *judgments.notes))
    return note_similar_names(remove_copies(judgments, repeated=FORMATS[name].repeated))


def format_of(paths: Sequence[Path]) -> str:
    """Return the format of files for which none is given: the recognised one, or the judgment table."""
    return recognise(paths) or "judgments"


def _refuse_unused(name: str, options: ReadOptions) -> None:
    """Refuse options that the format does not use, since the user expects an effect."""
    used = (*COMMON_OPTIONS, *FORMATS[name].options)
    for field in fields(ReadOptions):
        if field.name not in used and getattr(options, field.name) != field.default:
            others = [other for other, known in FORMATS.items() if field.name in known.options]
            given, *accepted = (param(option) for option in (field.name, *used))
            what = f"{given} is no option of format '{name}', but of {' and '.join(others)}"
            raise UsageError(f"{what}; '{name}' uses {', '.join(accepted)}")


def _note_missing_human(judgments: Judgments, human: str | None) -> Judgments:
    """Note if no system matches the given human translation, which may be misspelt."""
    if human is None or judgments.table["human"].any():
        return judgments
    note = f"no system matches --human '{shown(human)}', so none counts as a human translation"
    return judgments if note in judgments.notes else replace(judgments, notes=(*judgments.notes, note))


# Recognises the format of a file by its name and its first lines, where `--format` is not given.
# Only layouts that nothing else has are recognised (`Format.headers`, and below); anything else is left to the reader
# of tables, which takes columns by their names. A note says what was recognised, and `--format` always overrules it.

_HEAD = 1 << 16
_TABLES = (".csv", ".tsv", ".xlsx", ".xls", ".ods", ".jsonl", ".parquet")
# Formats whose readers take their own files out of a folder, and name the others.
_SORTED_OUT = ("appraise", "mturk-da")
# Direct assessment without a header: assignment, worker, languages, what was asked, ..., type of item.
_DIRECT = re.compile(
    r"\S+[ \t]+\S+[ \t]+[a-z]{2,3}[ \t]+[a-z]{2,3}[ \t]+(ad|fl)([ \t]+\S+){3}[ \t]+[A-Z_]+([ \t]+\S+){3}"
)
_COUNTS = re.compile(r"\S+[ \t]+\S+([ \t]+[0-9]+){3}")


def recognise(paths: Sequence[Path]) -> str | None:
    """Return the name of the format that all paths have; None for tables and unknown formats."""
    formats = {_recognise_folder(path) if path.is_dir() else _recognise_file(path) for path in paths}
    return formats.pop() if len(formats) == 1 else None


def _recognise_folder(folder: Path) -> str | None:
    scores = folder if folder.name == HUMAN_SCORES else folder / HUMAN_SCORES
    if any(scores.glob(f"*{ENDING}")) or any(scores.glob(f"*{RATINGS}")):
        return "metric-scores"
    members = [member_of(file) for inside in (folder, folder / "analysis") for file in inside.glob("ad-*")]
    if any(member is not None and member.role in SOURCES for member in members):
        return "wmt-da"
    return _recognise_files(folder)


def _recognise_files(folder: Path) -> str | None:
    """Recognise the only format of the files directly in a folder; refuse several, which have no common ranking."""
    files = sorted(file for file in folder.iterdir() if file.is_file() and not file.name.startswith("."))
    formats = {file.name: _recognise_file(file) for file in files}
    found = set(formats.values()) - {None}
    if found and found.isdisjoint(_SORTED_OUT):
        # A file that may be a table of judgments is not passed over for others.
        formats |= {
            name: "a table" for name, known in formats.items() if known is None and name.lower().endswith(_TABLES)
        }
    kinds = {name: known for name, known in formats.items() if known is not None}
    if len(set(kinds.values())) > 1:
        listed = ", ".join(f"{name} ({known})" for name, known in kinds.items())
        raise InputError(f"holds files of several kinds: {shown(listed, 300)}; name those to be read", file=folder)
    return next(iter(kinds.values()), None)


def _recognise_file(path: Path) -> str | None:
    if path.name.endswith((ENDING, RATINGS)):
        return "metric-scores"
    member = member_of(path)
    if member is not None and member.role in SOURCES:
        return "wmt-da"
    lines = _read_first_lines(path)
    if not lines:
        return _recognise_workbook(path)
    return (
        _recognise_campaigns("\n".join(lines))
        or _recognise_json(lines[0])
        or _recognise_header(lines[0])
        or _recognise_rows(lines)
    )


def _read_first_lines(path: Path) -> list[str]:
    """Return the whole lines in the first 64 KiB of a regular text file; a pipe could be read only once."""
    if not path.is_file():
        return []
    try:
        raw = read_head(path, _HEAD)
        text = raw.decode(encoding_of(raw), "ignore" if len(raw) == _HEAD else "strict")
    except PACKING_FAULTS:
        return []  # The reader says what is wrong.
    lines = text.splitlines()
    whole = [line for line in (lines[:-1] if len(raw) == _HEAD else lines) if line.strip()]
    return whole or lines[:1]


def _recognise_workbook(path: Path) -> str | None:
    """Recognise a sheet of errors, which stand in workbooks too."""
    from adjudge.readers.mqm import holds_errors
    from adjudge.readers.tables import is_workbook, load_table

    return "mqm" if is_workbook(path) and path.is_file() and holds_errors(load_table(path).frame.columns) else None


def _recognise_campaigns(text: str) -> str | None:
    """Recognise an object from campaigns to submitted documents, which is a single long line."""
    is_object = re.match(r'\{\s*("(?:[^"\\]|\\.)*"\s*:\s*\[\s*)+\{', text[:_HEAD])
    return "pearmut" if is_object and '"user_id"' in text and '"annotation"' in text else None


def _recognise_json(line: str) -> str | None:
    try:
        entry = json.loads(line) if line.startswith("{") else {}
    except (ValueError, RecursionError):
        return None
    if "doc_id" in entry and ({"scores", "esa_score"} & entry.keys()):
        return "wmt-humeval"
    return "pearmut" if {"annotation", "user_id"} <= entry.keys() else None


def _recognise_header(line: str) -> str | None:
    """Recognise a format by the names of columns, which some of these files separate by blanks."""
    names = {name.strip().strip('"').lower() for name in re.split(r"[\t,; ]", line)}
    for name, known in FORMATS.items():
        has_header = any(names.issuperset(header.split()) for header in known.headers)
        if has_header and names.isdisjoint(known.not_in_header.split()):
            return name
    return None


def _recognise_rows(lines: Sequence[str]) -> str | None:
    """Recognise files without a header: direct assessment, counts of pairs, results of Appraise."""
    if _DIRECT.fullmatch(lines[0].strip()):
        return "wmt-da"
    if all(_COUNTS.fullmatch(line.strip()) for line in lines):
        return "pairwise-counts"
    try:
        first = list(csv.reader(lines[:2], delimiter=find_separator(lines[0])))
    except csv.Error:
        return None
    return "appraise" if is_result(list(enumerate(first, start=1))) else None
