"""File formats: one module per format, each with `read(paths, options)`. `read` chooses the module by name.

`read` accepts a path, several paths, a polars or pandas data frame, or judgments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from adjudge.core.errors import InputError, UsageError, shown, unknown_choice
from adjudge.core.files import exists
from adjudge.core.text_encoding import text_encoding
from adjudge.core.wording import split_names
from adjudge.formats.any_source import as_frame, as_paths
from adjudge.formats.options import ReadOptions

if TYPE_CHECKING:
    from adjudge.core.judgments import Judgments
    from adjudge.formats.duplicates import Repeated
    from adjudge.formats.metric_score_files import MetricScore

__all__ = ["FORMATS", "ReadOptions", "as_metric_scores", "read"]


class Format(NamedTuple):
    """One format: the whole registration of a reader.

    Attributes:
        module: the module that reads it.
        summary: what it is.
        options: the options that it uses besides those of all formats.
        repeated: the meaning of rows that agree in everything that identifies a judgment: `corrections`, of which the
            last counts; separate `judgments`; or `counts`, if rows are made from numbers of comparisons.
        headers: columns, in small letters, by which a file without a given format is recognised: all of one line.
        not_in_header: columns that such a file must not have.
    """

    module: str
    summary: str
    options: tuple[str, ...] = ()
    repeated: Repeated = "corrections"
    headers: tuple[str, ...] = ()
    not_in_header: str = ""


# Options that every format uses; `pair` also selects.
COMMON_OPTIONS = ("pair", "human", "encoding", "strict", "bad_rows", "attributes", "judges")
_TABLE = ("columns", "systems", "raters", "sheets", "wide", "winner", "labels")

FORMATS: dict[str, Format] = {
    "judgments": Format("native", "the judgment table, or any table: Parquet, CSV, Excel, JSON, JSON lines", _TABLE),
    "wmt-ranking": Format(
        "wmt.ranking",
        "relative rankings with columns srclang ... system5rank (WMT10 and later)",
        ("labels",),
        "judgments",
        ("srclang trglang system1id system1rank",),
    ),
    "wmt-ranking-2007": Format(
        "wmt.ranking_2007",
        "relative rankings among other judgments, told apart by TYPE (WMT07 to 09)",
        ("labels",),
        "judgments",
        ("task type item_id annotator_id system_0",),
    ),
    "wmt-edits": Format(
        "wmt.edits",
        "post-edits with columns editId ... system1edit (data_EDT.tsv)",
        (),
        "judgments",
        ("editid editorid system1id system1edit",),
    ),
    "wmt-acceptability": Format(
        "wmt.acceptability",
        "judgments of post-edits, YES, NO or UNK (data_ACC.csv)",
        (),
        "judgments",
        ("editid judgeid systemid judgment",),
    ),
    "pairwise-counts": Format(
        "rankings.pairwise_counts", "lines 'A B wins ties losses', both directions or one", (), "counts"
    ),
    "pairwise-table": Format(
        "rankings.pairwise_table",
        "a table with columns left, right and winner, one comparison per row",
        ("columns", "winner"),
    ),
    "rank-table": Format(
        "rankings.rank_table",
        "a table with one rank column per candidate, one file per annotator",
        ("segment_column", "rank_columns", "labels"),
    ),
    "rank-lines": Format(
        "rankings.rank_per_line",
        "one file per candidate with one rank per line, annotators one after the other",
        ("labels", "stacked"),
        "judgments",
    ),
    "wmt-da": Format(
        "wmt_da.reader",
        "direct assessment, a folder or files of the ad-*.csv family (WMT16 to WMT22)",
        (),
        "judgments",
        ("sys_id rid sid score",),
    ),
    "mturk-da": Format(
        "mturk",
        "direct assessment, Mechanical Turk batch results with all items in Answer.Q1",
        headers=("hitid workerid answer.q1",),
    ),
    "appraise": Format(
        "appraise.reader",
        "results of Appraise: 9, 11 or 12 columns and no header, with --batches, --annotators",
        ("batches", "annotators"),
    ),
    "wmt-humeval": Format("wmt.humeval", "judgments of the general task, JSON lines with one segment each (WMT23 on)"),
    "mqm": Format(
        "mqm.reader",
        "MQM ratings, one error per row with its span between <v> and </v>",
        ("columns", "mqm_weights"),
        headers=("system rater category severity", "system annotator category severity"),
        not_in_header="score rank",
    ),
    "pearmut": Format("pearmut", "annotations of Pearmut, JSON lines with one submitted document each"),
    "metric-scores": Format("metric_scores", "mt-metrics-eval: *.seg.score files or folders of human or metric scores"),
}


def read(source: Any, *, format: str | None = None, options: ReadOptions | None = None, **settings: Any) -> Judgments:  # noqa: A002
    """Read one or several files, folders (in some formats) or a data frame into one judgment table.

    `read("scores.csv")`, `read(["a.csv", "b.csv"], format="wmt-ranking", pair="cs-en")` and `read(frame)` all work.

    Args:
        source: a path, several paths, a data frame of polars or pandas with columns as in the judgment table, or
            judgments.
        format: a name from `FORMATS`, for paths; default: detected, or else the judgment table.
        options: all reading options in one object.
        **settings: single reading options: any field of `ReadOptions`. `pair` also selects that language pair.

    Returns:
        The judgments, with everything that was set aside and why.
    """
    from adjudge.core.humans import mark_humans
    from adjudge.core.judgments import Judgments
    from adjudge.core.machine_judges import set_judges_apart

    chosen = read_options(options, **settings)
    if isinstance(source, Judgments):
        judgments = source if chosen.human is None else mark_humans(source, chosen.human, given=("kind",))
    elif (frame := as_frame(source)) is not None:
        if format not in (None, "judgments"):
            raise UsageError(f"a data frame has no format '{format}'; leave format out")
        from adjudge.formats.duplicates import note_similar_names, remove_copies
        from adjudge.formats.native import read_frame

        judgments = note_similar_names(remove_copies(read_frame(frame, chosen)))
    else:
        with text_encoding(chosen.encoding):
            judgments = _read_files(as_paths(source), format, chosen)
    judgments = _note_missing_human(judgments, chosen.human)
    if chosen.attributes is not None:
        from adjudge.formats.attributes import add_attributes

        with text_encoding(chosen.encoding):
            judgments = add_attributes(judgments, Path(chosen.attributes))
    judgments = set_judges_apart(judgments, chosen.judges)
    pair = settings.get("pair")
    return judgments if pair is None else judgments.for_pair(pair)


def as_metric_scores(source: Any) -> list[MetricScore]:
    """Read metric scores from a path, several paths, or a data frame of polars or pandas."""
    from adjudge.formats.metric_score_files import read_metric_scores, read_score_frame

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
    if isinstance(value, Mapping) and name in ("columns", "winner"):
        return tuple(f"{key}={given}" for key, given in value.items())
    if isinstance(value, str) and getattr(ReadOptions, name) == ():
        return split_names(value)
    if isinstance(value, list) and name in ("raters", "systems", "sheets"):
        # Columns of data frames may be called by numbers.
        return tuple(map(str, value))
    return tuple(value) if isinstance(value, list) else value


def _read_files(paths: list[Path], format: str | None, options: ReadOptions) -> Judgments:  # noqa: A002
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
    from adjudge.formats.duplicates import note_similar_names, remove_copies

    module = import_module(f"adjudge.formats.{FORMATS[name].module}")
    judgments: Judgments = module.read(paths, options)
    if not len(judgments):
        raise InputError("holds no judgment that can be used; check its columns and --format", file=paths[0])
    if format is None and name != "judgments":
        note = f"the format was recognised as {name}; --format chooses another"
        judgments = replace(judgments, notes=(note, *judgments.notes))
    return note_similar_names(remove_copies(judgments, repeated=FORMATS[name].repeated))


def format_of(paths: Sequence[Path]) -> str:
    """Return the format of files for which none is given: the recognised one, or the judgment table."""
    from adjudge.formats.recognise import recognise

    return recognise(paths) or "judgments"


def _refuse_unused(name: str, options: ReadOptions) -> None:
    """Refuse options that the format does not use, since the user expects an effect."""
    used = (*COMMON_OPTIONS, *FORMATS[name].options)
    for field in fields(ReadOptions):
        if field.name not in used and getattr(options, field.name) != field.default:
            others = [other for other, known in FORMATS.items() if field.name in known.options]
            given, *accepted = (f"--{option.replace('_', '-')}" for option in (field.name, *used))
            what = f"{given} is no option of format '{name}', but of {' and '.join(others)}"
            raise UsageError(f"{what}; '{name}' uses {', '.join(accepted)}")


def _note_missing_human(judgments: Judgments, human: str | None) -> Judgments:
    """Note if no system matches the given human translation, which may be misspelt."""
    if human is None or judgments.table["human"].any():
        return judgments
    note = f"no system matches --human '{shown(human)}', so none counts as a human translation"
    return judgments if note in judgments.notes else replace(judgments, notes=(*judgments.notes, note))
