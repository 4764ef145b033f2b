"""The single files of the `ad-*.csv` family as columns: judgments, segment means, workers' means and spreads."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import polars as pl

from adjudge.core.errors import InputError, shown
from adjudge.core.files import read_text
from adjudge.core.judgments import language_codes
from adjudge.core.languages import language_code, pair_in_name
from adjudge.formats.parsing.column_uses import column_uses
from adjudge.formats.parsing.delimited import numbered_lines, to_float
from adjudge.formats.parsing.spaced import LINE, Spaced, read_spaced

if TYPE_CHECKING:
    from pathlib import Path

    from adjudge.formats.options import ReadOptions
    from adjudge.formats.parsing.bad_rows import UsableRows

KINDS = {"SYSTEM": "system", "REF": "reference", "BAD_REF": "degraded", "BAD-REF": "degraded", "REPEAT": "repeat"}
# column of the table: (its place where the file has no header, its names where it has one)
_COLUMNS: dict[str, tuple[int, tuple[str, ...]]] = {
    "hit_id": (0, ("HITId",)),
    "annotator": (1, ("WorkerId", "wid")),
    "source_lang": (2, ("Input.src", "src")),
    "target_lang": (3, ("Input.trg", "trg", "Input.tgt", "tgt")),
    "hit": (5, ("hit", "Input.hit")),
    "system": (6, ("sys_id", "sys")),
    "rid": (7, ("rid",)),
    "kind": (8, ("type",)),
    "sid": (9, ("sid", "doc_id")),
    "score": (10, ("score",)),
    "seconds": (11, ("time",)),
}
# What these columns become in the judgment table, if they have another name there.
_MEANINGS = {
    "hit_id": "task", "hit": "task (where there is no HIT)", "rid": "screen", "sid": "document and segment",
    "seconds": "active_seconds",
}  # fmt: skip
_NEEDED = ("annotator", "source_lang", "target_lang", "system", "kind", "sid", "score")


def read_scores(path: Path, options: ReadOptions, *, raw: bool | None) -> UsableRows | None:
    """Read the judgments of a file as they stand in it; None if it is empty or holds a header alone.

    Args:
        path: the file.
        options: how many rows may be unreadable.
        raw: whether its scores lie on the scale from 0 to 100; None to let the scores decide.
    """
    table = read_spaced(path, header="score")
    if table is None or table.frame.height == 0:
        return None
    columns = _column_indexes(table)
    bad = table.bad_rows(options)
    score = table.numbers(columns["score"], "score", bad)
    if raw or (raw is None and score.min() is not None and float(str(score.min())) >= 0):
        bad.mark_off_scale(score)
    kind = table.texts(columns["kind"])
    known = "; the known types are " + ", ".join(KINDS)
    strange = ~kind.is_in(list(KINDS)).fill_null(value=False)
    bad.mark(strange, lambda row: f"type is '{shown(kind[row])}'{known}", "row of an unknown type")
    bad.mark_nameless(table.texts(columns["system"]))
    texts = {name: table.texts(index) for name, index in columns.items() if name not in ("score", "kind", "seconds")}
    seconds = table.numbers(columns["seconds"], "time", bad, optional=True) if "seconds" in columns else None
    nothing = pl.repeat(None, len(score), dtype=pl.String, eager=True)
    frame = pl.DataFrame(
        {
            **{name: texts.get(name, nothing) for name in _COLUMNS},
            "score": score,
            "kind": kind.replace_strict(KINDS, default=None, return_dtype=pl.String),
            "seconds": pl.repeat(None, len(score), dtype=pl.Float64, eager=True) if seconds is None else seconds,
            LINE: table.frame[LINE],
        }
    )
    frame = frame.with_columns(language_codes(frame["source_lang"]), language_codes(frame["target_lang"]))
    uses = column_uses(path, table.header, {_MEANINGS.get(name, name): index for name, index in columns.items()})
    return bad.keep_usable(frame, uses)


def is_standardised(frame: pl.DataFrame) -> bool:
    """Whether scores cannot be raw ones, because some are negative."""
    return bool((frame["score"] < 0).any())


def _column_indexes(table: Spaced) -> dict[str, int]:
    if not table.header:
        width = table.frame.width - 1
        if width != len(_COLUMNS) + 1:
            problem = f"{width} columns and no header, {len(_COLUMNS) + 1} are needed"
            raise InputError(f"has {problem}; check --format", file=table.path, line=1)
        return {name: index for name, (index, _) in _COLUMNS.items()}
    indexes = {name: table.column_index(*names) for name, (_, names) in _COLUMNS.items()}
    for name in _NEEDED:
        if indexes[name] is None:
            wanted = _COLUMNS[name][1][0]
            shown_header = shown(", ".join(table.header), 200)
            raise InputError(f"has no column '{wanted}', it has {shown_header}; check --format", file=table.path)
    return {name: index for name, index in indexes.items() if index is not None}


def read_segments(path: Path, options: ReadOptions) -> UsableRows | None:
    """Segment means: columns source_lang, target_lang, system, sid, score, z, n. None where the file is empty.

    Files of one language pair have it in their names, those of several have columns for it.
    """
    table = read_spaced(path, header="SID")
    if table is None or table.frame.height == 0:
        return None
    system, segment = table.column_index("SYS"), table.column_index("SID")
    raw, z = _mean_columns(table)
    count = table.column_index("N", "N.raw")
    if system is None or segment is None or (raw is None and z is None):
        existing = shown(", ".join(table.header), 200) or "no header"
        raise InputError(f"columns SYS, SID, RAW.SCR and Z.SCR are needed, it has {existing}", file=path, line=1)
    bad = table.bad_rows(options)
    nothing = pl.repeat(None, table.frame.height, dtype=pl.Float64, eager=True)
    source, target = _pair_of_segments(table)
    names = table.texts(system)
    bad.mark_nameless(names)
    frame = pl.DataFrame(
        {
            "source_lang": source,
            "target_lang": target,
            "system": names,
            "sid": table.texts(segment),
            "score": nothing if raw is None else table.numbers(raw, "RAW.SCR", bad),
            "z": nothing if z is None else table.numbers(z, "Z.SCR", bad),
            "n": nothing if count is None else table.numbers(count, "N", bad),
        }
    )
    taken = {"system": system, "document and segment": segment, "score": raw, "z": z, "n": count}
    return bad.keep_usable(frame, column_uses(path, table.header, taken))


def _mean_columns(table: Spaced) -> tuple[int | None, int | None]:
    """The columns of raw and of standardised means; where there is a single one, the file's name says which it is."""
    single, standardised = table.column_index("SCR"), "stnd" in table.path.name
    raw = table.column_index("RAW.SCR") if single is None or standardised else single
    z = single if single is not None and standardised else table.column_index("Z.SCR")
    return raw, z


def _pair_of_segments(table: Spaced) -> tuple[pl.Series, pl.Series]:
    """The languages of every row: from columns, else from the file's name, else null."""
    source, target = table.column_index("SRC"), table.column_index("TRG")
    if source is not None and target is not None:
        return language_codes(table.texts(source)), language_codes(table.texts(target))
    named = re.search(r"seg-scores-(?:[0-9]+\.)?([a-z]+)-([a-z]+)", table.path.name)
    pair = (language_code(named[1]), language_code(named[2])) if named else pair_in_name(table.path.name)
    source_lang, target_lang = pair or (None, None)
    rows = table.frame.height
    return (
        pl.repeat(source_lang, rows, dtype=pl.String, eager=True),
        pl.repeat(target_lang, rows, dtype=pl.String, eager=True),
    )


def read_means(path: Path) -> pl.DataFrame:
    """Mean and standard deviation of every worker, from lines as R prints them: name, mean, sd. NA becomes null."""
    entries: list[tuple[int, str]] = [
        (number, line.strip().removeprefix("[1]").strip().strip('"'))
        for number, line in numbered_lines(read_text(path))
    ]
    if len(entries) % 3:
        raise InputError("is cut: three lines per worker are needed (name, mean, sd)", file=path, line=entries[-1][0])

    def number(entry: tuple[int, str], what: str) -> float | None:
        return None if entry[1] in ("NA", "NaN") else to_float(entry[1], what, path, entry[0])

    return pl.DataFrame(
        {
            "annotator": [name for _, name in entries[0::3]],
            "mean": [number(entry, "mean") for entry in entries[1::3]],
            "sd": [number(entry, "standard deviation") for entry in entries[2::3]],
        },
        schema={"annotator": pl.String, "mean": pl.Float64, "sd": pl.Float64},
    ).unique("annotator", keep="last", maintain_order=True)
