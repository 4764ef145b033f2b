"""The native judgment table: Parquet, or CSV with the same columns. What is written is read back the same."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from adjudge.readers.columns import (
    BOOLEANS,
    KINDS_ELSEWHERE,
    SYNONYMS,
    USUAL_LABELS,
    ColumnMap,
    all_pass,
    check_cells,
    check_scale_of_scores,
    columns_of_numbers,
    convert_cells,
    map_columns,
    parse_columns,
    plain,
    renamed,
    replace_decimal_commas,
    scale_of,
)
from adjudge.readers.contents import (
    MOST_CRITERIA,
    TOTALS,
    add_hinted,
    choose_criterion,
    complete,
    criteria_in,
    drop_summary,
    explain_missing_answer,
    explain_missing_system,
    find_opponent,
    says_again,
    split_names_of_outputs,
)
from adjudge.readers.exports import as_export
from adjudge.readers.headers import words_of
from adjudge.readers.pairs import find_winners, pair_judgments
from adjudge.readers.parsing import LoadedTable, add_languages, as_plain_text, stem
from adjudge.readers.tables import (
    load_project,
    load_sheets,
    load_table,
    parquet_bytes,
    record_file,
    record_text,
    split_objects,
)
from adjudge.readers.values import (
    empty_marks,
    name_protocol,
    put_on_scale,
    refuse_lower,
    replace_words,
    says_standardised,
    show_standardised,
)
from adjudge.readers.wide import (
    find_columns,
    find_crossed,
    find_lists,
    find_orders,
    find_texts,
    is_text,
    unpivot,
    unpivot_best_worst,
    unpivot_criteria,
    unpivot_crossed,
    unpivot_lists,
    unpivot_numbered,
    unpivot_orders,
    unpivot_places,
    unpivot_raters,
    unpivot_texts,
)
from adjudge.table.comparisons import BLOCK_KEY
from adjudge.table.errors import InputError, Source, UsageError, param, shown
from adjudge.table.files import ABOUT_FILES, atomic_path, write_text
from adjudge.table.judgments import SCHEMA, ColumnUse, Judgments, SetAside, concat
from adjudge.table.languages import pair_in_name, pair_name
from adjudge.table.participants import mark_humans, with_judges
from adjudge.table.protocols import ASSUMED_OF_RANKS, ASSUMED_OF_SCORES, KINDS, PROTOCOLS
from adjudge.table.record import say_record
from adjudge.table.wording import agreeing, counted

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from adjudge.readers.options import ReadOptions


# The native table is Parquet, or CSV with the same columns; what is written is read back the same. In CSV nothing
# between two commas is a missing value and `""` is an empty text; spans are JSON, times ISO in UTC. Columns beyond
# the judgment table come back as text from CSV, but for those that stages heed, and as they were from Parquet.
#
# Other tables (CSV, Excel, JSON, data frames) are understood too: columns under other names, one column per system
# (`--systems`) or per annotator (`--raters`), comparisons of two systems per row.
#
# Faults of the table that the types of its columns do not show are looked for as well.


# A column of this name surely identifies the item only in a wide table.
_WIDE_SEGMENT = "id"
ANSWERS = ("rank", "score", "spans", "text")
# How files of the field call the column that is true where a document was scored as a whole.
MARKS_OF_DOCUMENTS = ("isdocscore", "iscompletedocument")
EXCLUDED = "excluded"
"""The column in which an export marks people whom the organisers have excluded."""
WHOLE_DOCUMENT = "score of a whole document, not of a segment"


def read(paths: Sequence[Path], options: ReadOptions) -> Judgments:
    """Read tables; what a file is, its content says, not its name."""
    parts = []
    for path, loaded in _of_criterion(_load(paths, options), options):
        table, meant = _as_export(loaded, options)
        several = stem(path) if len(paths) > 1 else ""
        judgments = read_loaded(table, meant, stem(paths[0]), file=several)
        in_file = tuple(use for use in judgments.columns if use.column not in table.added)
        judgments = _without_excluded(replace(judgments, columns=in_file))
        if table.record is not None:
            collected = say_record(table.record)
            judgments = replace(judgments, record=table.record, notes=(*judgments.notes, *collected))
        parts.append(judgments)
    return concat(parts)


def _of_criterion(
    tables: Sequence[tuple[Path, LoadedTable]], options: ReadOptions
) -> Sequence[tuple[Path, LoadedTable]]:
    """The tables of the criterion that the user wants, where each table is one criterion."""
    if options.criterion is None:
        return tables
    named = [(path, table) for path, table in tables if "criterion" in table.added]
    wanted = [each for each in named if plain(str(each[1].frame["criterion"][0])) == plain(options.criterion)]
    return wanted or tables


def _is_native(frame: pl.DataFrame) -> bool:
    """Whether a table has every column of the judgment table, so that nothing in it needs to be guessed."""
    return set(SCHEMA) <= set(frame.columns)


def _as_export(loaded: LoadedTable, options: ReadOptions) -> tuple[LoadedTable, ReadOptions]:
    return (loaded, options) if _is_native(loaded.frame) else as_export(loaded, options)


def _without_excluded(judgments: Judgments) -> Judgments:
    """Set the judgments aside of people whom the organisers excluded: an export may hold and mark them."""
    if EXCLUDED not in judgments.table.columns:
        return judgments
    marked = judgments.table[EXCLUDED].cast(pl.String).str.to_lowercase() == "true"
    if not marked.any() or marked.all():
        return judgments
    kept = pl.lit(pl.Series(~marked.fill_null(value=False)))
    reason = f"annotator excluded by the organisers (column '{EXCLUDED}'; rename it to count them)"
    return judgments.keep(kept, otherwise=reason)


def _load(paths: Sequence[Path], options: ReadOptions) -> list[tuple[Path, LoadedTable]]:
    """The tables of all files; where each file or sheet is one person's or one system's, they say so."""
    if len(paths) == 1 and paths[0].is_dir() and (project := load_project(paths[0])) is not None:
        return [(paths[0], project)]
    files = {file: name for path in paths for file, name in _files_in(path).items()}
    named = [*options.raters, *options.systems, *parse_columns(options.columns).values()]
    loaded: list[tuple[Path, str, LoadedTable]] = []
    for file, name in files.items():
        sheets = load_sheets(file, options.sheets, named)
        of_sheets = list(_name_parts(list(sheets.items()), f"sheet of {file.name}", options, sure=True))
        loaded += [(file, name, table) for table in of_sheets] or [(file, name, load_table(file))]
    folder = next((path.name for path in paths if path.is_dir()), None)
    if len(loaded) == 1 and folder is None:
        return [(file, table) for file, _, table in loaded]
    tables = [(name, table) for _, name, table in loaded]
    what = "file" if folder is None else f"file of {folder}"
    parts = _name_parts(tables, what, options, sure=folder is not None)
    return [(file, table) for (file, _, _), table in zip(loaded, parts, strict=True)]


def _files_in(path: Path) -> dict[Path, str]:
    """The tables in a folder and the folders in it, each with its name; that of its folder if all are called alike."""
    if not path.is_dir():
        return {path: stem(path)}
    files = sorted(file for file in path.rglob("*") if file.suffix.lower() in _ENDINGS and file.is_file())
    files = [file for file in files if not ABOUT_FILES.search(file.name)]
    if not files:
        raise InputError("this folder holds no table; name the files", file=path)
    alike = len(files) > 1 and len({stem(file) for file in files}) == 1
    return {file: file.parent.name if alike else stem(file) for file in files}


def _name_parts(
    tables: Sequence[tuple[str, LoadedTable]], what: str, options: ReadOptions, *, sure: bool
) -> list[LoadedTable]:
    """The tables with a column for the system or the annotator after whom each of them is named, where none has it.

    Args:
        tables: the tables by their names.
        what: what they are: `file`, or `sheet of ratings.xlsx`.
        options: how to read.
        sure: whether each is one annotator's if no column names any; otherwise only if they judge the same outputs.
    """
    wide = {*options.raters, *options.systems}
    read = [(name, *_as_export(table, options)) for name, table in tables]
    maps = [
        map_columns(
            [n for n in table.frame.columns if n not in wide], table.source, columns=said.columns, meanings=SYNONYMS
        )
        for _, table, said in read
    ]
    maps = [add_hinted(t.frame, m, options, meanings=("annotator",)) for (_, t, _), m in zip(read, maps, strict=True)]
    asked = _asked_in_names([name for name, _ in tables], maps, [t for _, t, _ in read], of_sheets=what.startswith("s"))
    if (
        len(tables) > 1
        and not wide
        and all(_lacks_system(table, m) for (_, table, _), m in zip(read, maps, strict=True))
    ):
        missing = "system"
    elif asked is not None and not wide:
        missing = asked
    elif sure and all(map(is_text, (name for name, _ in tables))) and not any("segment" in m for m in maps):
        missing = "segment"
    elif not options.raters and (sure or _same_outputs([t for _, t, _ in read], maps)):
        missing = "annotator"
    else:
        return [table for _, table in tables]
    article = agreeing(1, "an" if missing == "annotator" else "a", "")
    note = f"each {what} is taken for {article} {'language pair' if missing == 'pair' else missing}"
    note = f"{note}, whose name is that of the {what.split(maxsplit=1)[0]}"
    return [
        table if missing in m or ("left" in table.frame.columns and missing == "system")
        else replace(
            table,
            frame=table.frame.with_columns(
                # Each criterion is a campaign of its own, so that none is mixed.
                pl.lit(_part_name(name, missing)).alias(column)
                for column in ((missing, "campaign") if missing == "criterion" else (missing,))
            ),
            notes=(*table.notes, note),
            added=table.added | {missing, *(("campaign",) if missing == "criterion" else ())},
        )
        for (name, table), m in zip(tables, maps, strict=True)
    ]  # fmt: skip


def _part_name(name: str, meaning: str) -> str:
    """The name of a part as a cell: of the languages alone in `ratings_en-de`."""
    pair = pair_in_name(name) if meaning == "pair" else None
    return name if pair is None else pair_name(*pair)


def _asked_in_names(
    names: Sequence[str], maps: Sequence[ColumnMap], tables: Sequence[LoadedTable], *, of_sheets: bool
) -> str | None:
    """What the names of tables say that would mix what must stay apart: `pair` or `criterion`; None for others."""
    said = {meaning for m in maps for meaning in m.columns}
    if len(names) < 2 or "system" not in said:
        return None
    pairs = [pair_in_name(name) for name in names]
    if None not in pairs and len(set(pairs)) > 1 and not said & {"pair", "source_lang", "target_lang"}:
        return "pair"
    if "annotator" not in said or "criterion" in said:
        return None
    if len(criteria_in(names)) == len(names):
        return "criterion"
    if not of_sheets or not _share_keys(tables, maps):
        return None
    numbered = len({re.sub("[0-9]+", "#", name) for name in names}) == 1 and not says_again(names[0])
    return "document" if numbered and "document" not in said else "criterion"


def _share_keys(tables: Sequence[LoadedTable], maps: Sequence[ColumnMap]) -> bool:
    """Whether the same people judge the same texts of the same systems in several tables, so that something differs."""
    if any(name not in mapping for mapping in maps for name in ("system", "segment", "annotator")):
        return False
    names = ("system", "segment", "annotator", "document")
    keys = [
        set(t.frame.select(m.columns[n] for n in names if n in m).rows()) for t, m in zip(tables, maps, strict=True)
    ]
    again = sum(map(len, keys)) - len(set.union(*keys))
    return 10 * again > sum(map(len, keys))


def _lacks_system(loaded: LoadedTable, mapping: ColumnMap) -> bool:
    """Whether a table scores outputs of which nothing in it says by which system they are."""
    answered = {"score", "rank"} & set(mapping.columns) or criteria_in(loaded.frame.columns)
    elsewhere = (
        "system" in mapping
        or find_orders(loaded.frame, mapping.columns) is not None
        or find_crossed(loaded.frame, mapping, None) is not None
        or unpivot_best_worst(loaded) is not None
        or split_names_of_outputs(loaded, mapping) is not None
        or {"left", "right"} <= set(map_columns(loaded.frame.columns, loaded.source).columns)
    )
    return bool(answered) and not elsewhere


def _same_outputs(tables: Sequence[LoadedTable], maps: Sequence[ColumnMap]) -> bool:
    """Whether tables without annotators judge the same outputs, so that they are of several people."""
    needed = ("system", "segment")
    if any("annotator" in m or any(name not in m for name in needed) for m in maps):
        return False
    outputs = [set(t.frame.select(m.columns[n] for n in needed).rows()) for t, m in zip(tables, maps, strict=True)]
    shared = set.intersection(*outputs)
    return len(tables) > 1 and 2 * len(shared) > min(map(len, outputs))


def read_frame(frame: pl.DataFrame, options: ReadOptions) -> Judgments:
    """The judgments of a data frame, understood as the reader understands a file."""
    loaded, options = _as_export(LoadedTable(split_objects(frame), Source("data frame")), options)
    return read_loaded(loaded, options, "data frame")


def read_loaded(loaded: LoadedTable, options: ReadOptions, campaign: str, *, file: str = "") -> Judgments:
    """The judgments of a table that was loaded.

    Args:
        loaded: the table.
        options: how to read it.
        campaign: the name of comparisons that name none.
        file: the name of the file, where there are several.
    """
    if loaded.frame.height == 0:
        raise loaded.source.fault("holds a header but no judgments; add rows")
    if not _is_native(loaded.frame):
        loaded = _without_totals(_fill_blocks(replace(loaded, frame=_with_western_digits(loaded.frame))))
        loaded = drop_summary(loaded, options)
    frame, source = loaded.frame, loaded.source
    if options.raters and options.systems:
        raise UsageError(
            f"{param('systems')} and {param('raters')} cannot both be given; put one of the two below each other"
        )
    scores = {entry for entry in options.columns if entry.partition("=")[0].strip() == "score"}
    if len(scores) > 1:
        asked = find_columns(
            frame.columns,
            [each.partition("=")[2].strip() for each in sorted(scores, key=options.columns.index)],
            source,
        )
        options = replace(options, columns=tuple(entry for entry in options.columns if entry not in scores))
        return read_loaded(unpivot_criteria(loaded, asked), options, campaign)
    if options.raters:
        return _read_raters(loaded, options, campaign)
    if options.systems:
        return _read_wide(loaded, options)
    mapping = _drop_other_kinds(map_columns(frame.columns, source, columns=options.columns, meanings=SYNONYMS), frame)
    if not _is_native(frame) and (crossed := find_crossed(frame, mapping, options.wide)) is not None:
        return read_loaded(unpivot_crossed(loaded, *crossed), replace(options, wide=None), campaign)
    compared = "system" in mapping and not _is_native(frame)
    if compared and (opponent := find_opponent(frame, mapping, options)) is not None:
        said = (*options.columns, f"left={mapping.columns['system']}", f"right={opponent}")
        return read_loaded(loaded, replace(options, columns=said), campaign, file=file)
    if "system" in mapping:
        return _read_long(loaded, mapping, options, campaign)
    return _read_without_system(loaded, mapping, options, campaign, file)


_DIGITS = str.maketrans({chr(first + n): str(n) for first in (0x660, 0x6F0, 0x966, 0xFF10) for n in range(10)})


def _with_western_digits(frame: pl.DataFrame) -> pl.DataFrame:
    """The table with numbers in the digits of all programs, where columns hold them in Arabic, Indic or wide ones."""

    def are_numbers(cells: pl.Series) -> bool:
        return bool(cells.str.contains(r"^[\s\p{Nd}.,%+-]+$").all())

    texts = [frame[name] for name, dtype in frame.schema.items() if dtype == pl.String]
    numbers = [text.drop_nulls().unique() for text in texts if all_pass(text, are_numbers)]
    return frame.with_columns(
        pl.col(text.name).replace(dict(zip(cells, (cell.translate(_DIGITS) for cell in cells), strict=True)))
        for text in numbers
        if text.str.contains(r"[^\x00-\x7f]").any() and (cells := text.to_list())
    )


_FEW = 0.05
"""Rows that sum a table up are at most such a share of it."""


def _without_totals(loaded: LoadedTable) -> LoadedTable:
    """The table without rows called `Total` or `Mean` that leave cells empty which (nearly) all other rows have."""
    frame = loaded.frame
    few = [name for name in frame.columns if 0 < frame[name].null_count() <= max(1, _FEW * frame.height)]
    lacking = frame.select(pl.any_horizontal(pl.col(few).is_null()).arg_true()).to_series() if few else pl.Series()
    texts = [name for name, dtype in frame.schema.items() if dtype == pl.String]
    rows = [
        row
        for row, cells in zip(lacking, frame.select(texts)[lacking].rows(), strict=True)
        if any(plain(cell).strip(":") in TOTALS for cell in cells if cell)
    ] if texts and len(lacking) else []  # fmt: skip
    if not rows:
        return loaded
    lines = ", ".join(str(loaded.source.number(row)) for row in rows)
    kept = [row for row in range(frame.height) if row not in set(rows)]
    return loaded.take_rows(kept, f"{counted(len(rows), 'row')} of totals or means not read (line {lines})")


def _fill_blocks(loaded: LoadedTable) -> LoadedTable:
    """The table with names that stand in the first row of their block alone, in all of its rows.

    Such a column begins with a name, leaves at least half of its cells empty, never has one name twice in a row, and
    its blocks have at most two lengths, or names that never come again.
    """
    frame, filled = loaded.frame, {}
    for name, dtype in frame.schema.items():
        empty = frame[name].null_count()
        if dtype.is_nested() or not frame.height / 2 <= empty < frame.height - 1 or frame[name][0] is None:
            continue
        starts = frame[name].is_not_null().arg_true().to_list()
        names = frame[name].drop_nulls()
        lengths = {end - start for start, end in zip(starts, [*starts[1:], frame.height], strict=True)}
        if (names == names.shift(-1)).any() or len(lengths) > 2:
            continue
        filled[name] = empty
    if not filled:
        return loaded
    notes = (f"{counted(n, 'empty cell')} of '{shown(name)}' filled from above" for name, n in filled.items())
    return replace(loaded, frame=frame.with_columns(pl.col(list(filled)).forward_fill()), notes=(*loaded.notes, *notes))


def _read_without_system(
    loaded: LoadedTable, mapping: ColumnMap, options: ReadOptions, campaign: str, file: str
) -> Judgments:
    """A table in which no column is called like systems: it ranks or compares several in a row, or hints at them."""
    frame = loaded.frame
    if (ranked := _rank_in_rows(loaded, mapping)) is not None:
        return read_loaded(ranked, options, campaign)
    sides = find_winners(loaded, options)
    both = [sides.mapping.columns[side] for side in ("left", "right") if side in sides.mapping]
    # Scores of two systems, `System A` and `System B`, are no names of systems that were compared.
    of_numbers = "winner" not in sides.mapping and set(both) <= set(columns_of_numbers(frame))
    if len(both) > 1 and not of_numbers:
        return pair_judgments(sides, options, campaign, file=file)
    if "system" in (hinted := add_hinted(frame, mapping, options, meanings=("system",))):
        return _read_long(loaded, hinted, options, campaign)
    if (apart := split_names_of_outputs(loaded, mapping)) is not None:
        return read_loaded(apart, options, campaign)
    raise explain_missing_system(frame, mapping, options)


def _rank_in_rows(loaded: LoadedTable, mapping: ColumnMap) -> LoadedTable | None:
    """A table whose rows rank several systems with a row for each; None for others."""
    if (orders := find_orders(loaded.frame, mapping.columns)) is not None:
        return unpivot_orders(loaded, orders)
    return unpivot_best_worst(loaded) or unpivot_places(loaded) or unpivot_numbered(loaded)


def _read_long(loaded: LoadedTable, mapping: ColumnMap, options: ReadOptions, campaign: str) -> Judgments:
    """A table with a column of systems: of one answer in each row, or of several, which are put into rows first."""
    found: list[str] = []
    if not _is_native(loaded.frame):
        if (lists := find_lists(loaded.frame, mapping)) is not None:
            place = "criterion" if "annotator" in mapping else "annotator"
            return read_loaded(unpivot_lists(loaded, *lists, place), options, campaign)
        mapping = add_hinted(loaded.frame, mapping, options, meanings=("annotator", "segment", "criterion"))
        if (by_criteria := _split_criteria(loaded, mapping, options)) is not None:
            return read_loaded(*by_criteria, campaign)
        if (texts := find_texts(loaded.frame, mapping)) is not None:
            return read_loaded(unpivot_texts(loaded, texts), options, campaign)
        mapping, found = complete(loaded.frame, mapping, options)
        loaded = _mark_controls(loaded, mapping)
        refuse_lower(loaded.frame, mapping.columns, options, loaded.source)
    mapping.refuse_twice(loaded.twice)
    frame, notes = add_languages(renamed(loaded.frame, mapping))
    with_names = replace(loaded, frame=frame, notes=(*loaded.notes, *found, *notes))
    return _make_judgments(with_names, options, mapping)


def _split_criteria(
    loaded: LoadedTable, mapping: ColumnMap, options: ReadOptions
) -> tuple[LoadedTable, ReadOptions] | None:
    """The table with a row for each criterion where each has a column; the user's one is the score alone."""
    if options.criterion is not None and "criterion" not in mapping:
        wanted = [name for name in loaded.frame.columns if plain(name) == plain(options.criterion)]
        if len(wanted) == 1:
            said = [entry for entry in options.columns if entry.partition("=")[0].strip() != "score"]
            return loaded, replace(options, criterion=None, columns=(*said, f"score={wanted[0]}"))
    if {"score", "rank"} & set(mapping.columns):
        return None
    free = [name for name in loaded.frame.columns if name not in mapping.columns.values()]
    numbers = columns_of_numbers(loaded.frame)
    criteria = [name for name in criteria_in(free) if name in numbers or loaded.frame[name].n_unique() <= MOST_CRITERIA]
    if len(criteria) < 2:
        return None
    mapping.refuse_twice(loaded.twice, also=criteria)
    return unpivot_criteria(loaded, criteria), options


def _drop_other_kinds(mapping: ColumnMap, frame: pl.DataFrame) -> ColumnMap:
    """Drop columns of kinds and of humans that hold something else, such as genres of items or scores by humans."""
    kind, human = mapping.columns.get("kind", "kind"), mapping.columns.get("human", "")
    if kind != "kind" and not _holds_only(frame[kind], [*KINDS, *KINDS_ELSEWHERE]):
        mapping = mapping.without([kind])
    is_answer = human in columns_of_numbers(frame) and not _holds_only(frame[human], BOOLEANS)
    if is_answer and not {"score", "rank"} & set(mapping.columns):
        mapping = mapping.without([human])
        mapping = replace(mapping, columns={**mapping.columns, "score": human})
    return mapping


_CONTROLS = {
    "attention": {"gold", "golden", "control", "controls", "attention", "catch", "trap", "honeypot", "qc"},
    "tutorial": {"practice", "tutorial", "training", "warmup"},
}
"""Words in the headers of columns that mark items which are none of the campaign's, by the kind that these are."""


def _mark_controls(loaded: LoadedTable, mapping: ColumnMap) -> LoadedTable:
    """The table with a column of kinds, if another one marks some of its texts as controls or practice: `is_gold`."""
    frame, text = loaded.frame, [mapping.columns[name] for name in ("document", "segment") if name in mapping]
    if "kind" in mapping or not text:
        return loaded
    for name in frame.columns:
        kind = next((kind for kind, said in _CONTROLS.items() if set(words_of(name)) & said), None)
        if kind is None or name in mapping.columns.values() or {"passed", "failed", "score"} & set(words_of(name)):
            continue
        cells = frame[name].cast(pl.String).str.strip_chars().str.to_lowercase().str.strip_suffix(".0")
        marks = cells.replace_strict(BOOLEANS, default=None, return_dtype=pl.Boolean)
        of_texts = frame.select(text).n_unique() == frame.select([*text, name]).n_unique()
        if of_texts and marks.any() and not marks.all() and marks.null_count() == cells.null_count():
            kinds = pl.select(pl.when(marks.fill_null(value=False)).then(pl.lit(kind)).otherwise(pl.lit("system")))
            note = f"{counted(int(marks.sum()), 'row')} that '{shown(name)}' marks are taken for kind '{kind}'"
            frame = frame.with_columns(kinds.to_series().alias("kind"))
            return replace(loaded, frame=frame, notes=(*loaded.notes, note), added=loaded.added | {"kind"})
    return loaded


def _holds_only(column: pl.Series, words: Collection[str]) -> bool:
    def are_words(cells: pl.Series) -> bool:
        return bool(cells.cast(pl.String).str.strip_chars().str.strip_suffix(".0").is_in(list(words)).all())

    return all_pass(column, are_words)


def _read_raters(loaded: LoadedTable, options: ReadOptions, campaign: str) -> Judgments:
    """A table with a column for each annotator, whose other columns name the systems, also joined with the texts."""
    header = loaded.frame.columns
    others = map_columns([n for n in header if n not in options.raters], loaded.source, columns=options.columns)
    apart = split_names_of_outputs(loaded, others) if "system" not in others else None
    table, of_raters = unpivot_raters(apart or loaded, options.raters, options.wide, options.columns)
    judgments = read_loaded(table, replace(options, raters=()), campaign)
    in_file = [use for use in judgments.columns if use.column in header]
    return replace(judgments, columns=(*in_file, *of_raters))


def _read_wide(loaded: LoadedTable, options: ReadOptions) -> Judgments:
    systems = find_columns(loaded.frame.columns, options.systems, loaded.source, option="systems", what="system")
    others = [name for name in loaded.frame.columns if name not in systems]
    meanings = [name for name in SYNONYMS if name not in ("system", "score", "rank")]
    mapping = map_columns(others, loaded.source, columns=options.columns, meanings=meanings)
    mapping.refuse_twice(loaded.twice, also=systems)
    columns = dict(mapping.columns)
    segment_column = next((name for name in others if name.casefold() == _WIDE_SEGMENT), None)
    if "segment" not in columns and segment_column is not None:
        columns["segment"] = segment_column
    hinted = add_hinted(loaded.frame.select(others), ColumnMap(columns, tuple(others), loaded.source), options,
                        meanings=("annotator", "segment"))  # fmt: skip
    frame, pair_notes = add_languages(renamed(loaded.frame, hinted))
    table = unpivot(replace(loaded, frame=frame, notes=(*loaded.notes, *pair_notes)), systems, options.wide)
    named = {name: name for name in table.frame.columns if name in (*hinted.columns, "system", "score", "rank")}
    whole, notes = complete(table.frame, ColumnMap(named, tuple(table.frame.columns), loaded.source), options)
    uses = replace(hinted, columns={**hinted.columns, **{m: c for m, c in whole.columns.items() if m not in named}})
    frame = renamed(table.frame, whole)
    if "segment" not in frame.columns:
        # An item without a name is identified by its row.
        frame = frame.with_columns((pl.int_range(pl.len()) // len(systems) + 1).cast(pl.String).alias("segment"))
    judgments = _make_judgments(replace(table, frame=frame, notes=(*table.notes, *notes)), options, uses)
    what = "rank" if "rank" in table.frame.columns else "score"
    of_systems = (ColumnUse(table.source.name, name, f"{what} of {name}", "used") for name in systems)
    return replace(judgments, columns=(*judgments.columns, *of_systems))


def _make_judgments(loaded: LoadedTable, options: ReadOptions, uses: ColumnMap) -> Judgments:
    """One row per thing judged, under the names of the judgment table."""
    frame, source = loaded.frame, loaded.source
    bad = loaded.bad_rows(options)
    given = [name for name in frame.columns if name in SCHEMA]
    # Between commas, a quoted value with a comma may be a number or a list; only scores are surely numbers.
    scores = [name for name in given if name == "score" and frame.schema[name] == pl.String]
    notes: list[str] = []
    for name in scores if options.values or not set(SCHEMA) <= set(given) else ():
        worth, notes = replace_words(frame[name], options, source, uses.columns.get(name, name))
        frame = frame.with_columns(worth.alias(name))
    frame, with_commas = replace_decimal_commas(frame, scores, thousands=True)
    notes += with_commas
    frame = check_cells(convert_cells(frame, bad), bad)
    header = uses.columns.get("score", "score")
    if not set(SCHEMA) <= set(given):
        frame, marks = empty_marks(frame)
        frame, points = name_protocol(frame, header)
        notes += [*marks, *points]
    frame, rows = _add_protocol(frame)
    if rows:
        say = f"{counted(rows, 'row')} {agreeing(rows, 'names', 'name')} no protocol"
        notes.append(f"{say}: scores count as '{ASSUMED_OF_SCORES}' (direct assessment), ranks as '{ASSUMED_OF_RANKS}'")
    check_answers(frame, given, uses, options)
    if says_standardised(header):
        frame, standardised = show_standardised(frame, options)
        notes += standardised
    if options.scale or options.lower_is_better:
        frame, turned = put_on_scale(frame, options, bad)
        notes += turned
    check_scale_of_scores(frame, bad)
    if options.labels is not None:
        # A table does not say its scale.
        scale = scale_of(options, options.labels)
        bad.mark(
            frame["rank"] > scale,
            lambda row: f"rank is {frame['rank'][row]}, it must lie between 1 and {scale}; correct it",
            "rank beyond the scale",
        )
    set_aside, row_notes = bad.settle()
    usable = frame.filter(bad.usable())
    usable = usable.filter(~_scores_whole_documents(usable))
    if usable.height == 0:
        raise source.fault("holds no usable judgment; check its columns")
    whole = frame.height - len(bad.problems) - usable.height
    judgments = Judgments.from_columns(
        usable,
        set_aside=[*set_aside, *([SetAside(WHOLE_DOCUMENT, whole)] if whole else [])],
        notes=[*loaded.notes, *notes, *row_notes],
        source=source,
        uses=uses.uses(),
    )
    judgments = mark_humans(judgments, options.human, given=given)
    if options.criterion is not None or "criterion" in judgments.table.columns:
        judgments = choose_criterion(judgments, options)
    return replace(judgments, notes=judgments.notes + warn_about_scale(judgments.table, options))


def _scores_whole_documents(frame: pl.DataFrame) -> pl.Series:
    """Mark the rows that score a whole document beside its segments; if all are marked so, each is a segment."""
    marks = [name for name in frame.columns if plain(name) in MARKS_OF_DOCUMENTS]
    is_marked = [
        frame[name].cast(pl.String).str.to_lowercase().is_in(["true", "1"]).fill_null(value=False) for name in marks
    ]
    whole = next((marked for marked in is_marked if not marked.all()), None)
    return pl.repeat(value=False, n=frame.height, eager=True) if whole is None else whole


def _add_protocol(frame: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """A hand-made table may leave the protocol out: a rank is then a ranking, a score a direct assessment.

    Returns:
        The table with protocols, and in how many rows it was left out.
    """
    missing = [name for name in ("protocol", "rank", "score") if name not in frame.columns]
    frame = frame.with_columns(pl.lit(None, dtype=SCHEMA[name]).alias(name) for name in missing)
    unknown = pl.col("protocol").is_null() & (pl.col("rank").is_not_null() | pl.col("score").is_not_null())
    rows = frame.filter(unknown).height
    if not rows:
        return frame, 0
    ranked = pl.col("rank").is_not_null()
    likely = pl.when(ranked).then(pl.lit(ASSUMED_OF_RANKS)).otherwise(pl.lit(ASSUMED_OF_SCORES))
    frame = frame.with_columns(pl.when(unknown).then(likely).otherwise("protocol").alias("protocol"))
    return frame, rows


def check_answers(frame: pl.DataFrame, given: Sequence[str], mapping: ColumnMap, options: ReadOptions) -> None:
    """Refuse a table without the column that holds its answers."""
    answers = {*ANSWERS} - ({"text"} if "protocol" not in given else set())
    if not set(given) & answers:
        raise explain_missing_answer(frame, mapping, options)
    protocols = frame["protocol"].drop_nulls().unique().sort()
    for protocol in protocols.filter(protocols.is_in(list(PROTOCOLS))):
        needed = PROTOCOLS[protocol].needed_column
        if needed is not None and needed not in given:
            raise mapping.missing(needed, why=f", which protocol '{protocol}' needs")


def warn_about_scale(table: pl.DataFrame, options: ReadOptions) -> tuple[str, ...]:
    """Point out ranks beyond the usual scale that no block of their size explains."""
    largest = table["rank"].max()
    if options.labels is not None or not isinstance(largest, int) or largest <= USUAL_LABELS:
        return ()
    together = table.filter(pl.col("rank").is_not_null()).group_by(BLOCK_KEY).len()["len"].max()
    assert isinstance(together, int)
    if largest <= together:
        return ()
    rows = counted(int((table["rank"] == largest).sum()), "row")
    problem = f"the largest rank is {largest} (in {rows}), but at most {together:,} were ranked together"
    return (f"{problem}; if the scale is shorter, --labels refuses such ranks",)


_SEPARATORS = {".csv": ",", ".tsv": "\t"}
_TIMES = ("started", "ended")
_ENDINGS = (".csv", ".tsv", ".txt", ".xlsx", ".xls", ".ods", ".json", ".jsonl", ".parquet")


def check_ending(path: Path) -> None:
    """Refuse a folder, and a name whose ending does not say how the table is to be written."""
    if path.is_dir():
        raise InputError("cannot be written, it is a folder; name a file", file=path)
    if path.suffix.lower() in (".parquet", *_SEPARATORS):
        return
    how = f"as '{shown(path.suffix)}'" if path.suffix else "under a name without an ending"
    raise InputError(f"a judgment table cannot be written {how}; end the name in .parquet, .csv or .tsv", file=path)


def write(judgments: Judgments, path: Path) -> None:
    """Write the table as Parquet, CSV or TSV, as the name ends; how it was collected goes with it."""
    check_ending(path)
    judgments = with_judges(judgments)
    separator = _SEPARATORS.get(path.suffix.lower())
    record = judgments.record
    with atomic_path(path) as temporary:
        if separator:
            as_plain_text(make_text_columns(judgments.table)).write_csv(temporary, separator=separator)
            raw = temporary.read_bytes() if record is not None else b""
        else:
            temporary.write_bytes(parquet_bytes(judgments.table, judgments.fingerprint, record))
    if separator and record is not None:
        # Beside a table of other content it would not be used.
        write_text(record_file(path), record_text(raw, record))


def make_text_columns(table: pl.DataFrame) -> pl.DataFrame:
    """All columns as CSV can hold them: spans as JSON, times in ISO form with microseconds."""
    spans = [
        None if value is None else json.dumps(value.to_list(), ensure_ascii=False)
        for value in (table["spans"] if table["spans"].is_not_null().any() else [None] * table.height)
    ]
    times = [pl.col(name).dt.strftime("%Y-%m-%dT%H:%M:%S%.6fZ") for name in _TIMES]
    nested = [name for name, dtype in table.schema.items() if dtype.is_nested() and name != "spans"]
    others = [pl.Series(name, [None if value is None else _json(value) for value in table[name]]) for name in nested]
    return table.with_columns(pl.Series("spans", spans, dtype=pl.String), *times, *others)


def as_text(table: pl.DataFrame) -> pl.DataFrame:
    """Every cell as CSV has it, to compare tables whatever files they came from."""
    raw = make_text_columns(table).write_csv().encode()
    return pl.read_csv(raw, infer_schema=False)


def _json(value: object) -> str:
    return json.dumps(value.to_list() if isinstance(value, pl.Series) else value, ensure_ascii=False, default=str)
