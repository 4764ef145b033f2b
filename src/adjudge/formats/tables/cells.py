"""The cells of a table in the types of the judgment table; what cannot be so is set aside by row, or left empty."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl

from adjudge.core.errors import shown
from adjudge.core.judgments import RECOGNISED_EXTRAS, SCHEMA, SPAN
from adjudge.core.protocols import KINDS, ON_SCALE, PROTOCOLS
from adjudge.formats.parsing.bad_rows import SCORE_SCALE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from adjudge.core.errors import Source
    from adjudge.formats.parsing.bad_rows import BadRows

# Names of kinds of items in other files, and the kinds of the judgment table.
KINDS_ELSEWHERE = {
    "TGT": "system", "SYSTEM": "system", "BAD": "degraded", "BAD_REF": "degraded", "BAD-REF": "degraded",
    "REF": "reference", "CHK": "repeat", "REPEAT": "repeat",
}  # fmt: skip
# A broken value in these columns becomes null, because a row is usable without them.
OPTIONAL = ("started", "ended", "active_seconds", "human")
# How tools and people write that a number or a time is missing.
MISSING = ("", "-", "--", "–", "—", ".", "na", "n/a", "#n/a", "nan", "null", "none")
# Scores computed back from standardised ones miss the scale by a hair.
ROUNDING = 0.01
_NEEDED: dict[object, str] = {pl.Float64: "a number", pl.Int32: "a whole number", pl.Boolean: "true or false"}
BOOLEANS = {"true": True, "false": False, "1": True, "0": False, "yes": True, "no": False}
_EXAMPLE_TIME = "2024-05-01T12:00:00Z"
# Other ways to write parts of a time, and the ISO form.
_FORMS_OF_TIMES = (
    (r"^(\d{4})/(\d\d)/(\d\d)", "$1-$2-$3"),
    (r"^(\d\d)\.(\d\d)\.(\d{4})", "$3-$2-$1"),
    (r"^(\d{4}-\d\d-\d\d)$", "${1}T00:00:00"),
    (r"^(\d{4}-\d\d-\d\d) +", "${1}T"),
    (r"^(.{10}T\d\d:\d\d)([^\d:]|$)", "${1}:00$2"),
    (r" *([Zz]|UTC|GMT)$", "+00:00"),
    (r"(T[\d:.]+) *([+-]\d\d):?(\d\d)$", "$1$2:$3"),
    (r"(T[\d:.]+) *([+-]\d\d)$", "$1$2:00"),
)
# Unix seconds from 2001 to 2096, and the same in milliseconds; other bare numbers are no times.
_UNIX = (1e9, 4e9)
_MILLISECONDS = (1e12, 4e12)


def typed_cells(frame: pl.DataFrame, bad: BadRows) -> pl.DataFrame:
    """The frame with every column of the judgment table in its type. In columns of numbers empty text is missing."""
    frame = _replace_known_words(frame)
    # Beside a score or rank, the errors that were marked are not needed.
    optional = (*OPTIONAL, *(("spans",) if {"score", "rank"} & set(frame.columns) else ()))
    columns = [
        _convert_column(frame[name], name, dtype, bad, needed=name not in optional)
        for name, dtype in SCHEMA.items()
        if name in frame.columns and (dtype != pl.String or frame[name].dtype != pl.String)
    ]
    return _convert_extras(frame.with_columns(columns))


def _replace_known_words(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with protocols and kinds as the judgment table writes them, which people also write in capitals."""
    words = {"protocol": {name.upper(): name for name in PROTOCOLS}, "kind": {name.upper(): name for name in KINDS}}
    words["kind"] |= KINDS_ELSEWHERE
    return frame.with_columns(
        pl.coalesce(pl.col(name).str.strip_chars().str.to_uppercase().replace_strict(known, default=None), name)
        for name, known in words.items()
        if name in frame.columns and frame.schema[name] == pl.String
    )


def _convert_extras(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with the columns that stages heed in their types; with a user's own, which hold other things, as is."""
    for name, dtype in RECOGNISED_EXTRAS.items():
        if name in frame.columns and frame[name].dtype == pl.String:
            words = frame[name].str.strip_chars()
            given = pl.select(pl.when(~words.str.to_lowercase().is_in(list(MISSING))).then(words)).to_series()
            parsed = _parse(given, name, dtype)
            if parsed.null_count() == given.null_count():
                frame = frame.with_columns(parsed.alias(name))
    return frame


def _convert_column(
    given: pl.Series, name: str, dtype: pl.DataType | type[pl.DataType], bad: BadRows, *, needed: bool
) -> pl.Series:
    column = given
    if column.dtype == pl.String:
        missing = column.str.strip_chars().str.to_lowercase().is_in(list(MISSING))
        column = pl.select(pl.when(~missing).then(column)).to_series()
    if column.dtype.is_float():
        # Data frames write missing numbers as NaN; in text the word is a value that was given.
        column = column.fill_nan(None)
    if column.null_count() == len(column):
        return pl.Series(name, [None], dtype=dtype).new_from_index(0, len(column))
    parsed = _parse(column, name, dtype)
    broken = parsed.is_null() & column.is_not_null()
    if dtype == pl.Float64:
        broken |= ~parsed.is_finite().fill_null(value=True)
    if broken.any():
        what = _needed(name, dtype)

        def problem(row: int) -> str:
            how = "write it with a point and without commas" if _has_comma(given[row]) else "correct it"
            column = shown(bad.source.column(name, row))
            return f"column '{column}' holds '{shown(given[row])}', {what} is needed; {how}"

        if needed:
            bad.mark(broken, problem, f"row with a broken {name}")
        else:
            bad.empty(broken, name, problem)
        parsed = pl.select(pl.when(~broken).then(parsed)).to_series()
    return parsed.alias(name)


def _has_comma(cell: object) -> bool:
    """Whether a cell would be a number, but for commas."""
    return isinstance(cell, str) and "," in cell and cell.strip().replace(",", "").replace(".", "").isdigit()


def _needed(name: str, dtype: pl.DataType | type[pl.DataType]) -> str:
    if name == "spans":
        return "a JSON list of spans as docs/data.md has them"
    if isinstance(dtype, pl.Datetime):
        return f"a time like {_EXAMPLE_TIME}"
    return "a finite number" if dtype == pl.Float64 else _NEEDED.get(dtype, "text")


def _parse(column: pl.Series, name: str, dtype: pl.DataType | type[pl.DataType]) -> pl.Series:
    """The column in its type, null where a value cannot be of it."""
    if column.dtype == pl.String:
        return _parse_text(column, name, dtype)
    if isinstance(dtype, pl.Datetime) and column.dtype.is_numeric():
        return _parse_times(column.cast(pl.String))
    if dtype == pl.Float64 and isinstance(column.dtype, pl.Duration):
        return column.dt.total_microseconds() / 1e6
    if dtype == pl.Int32 and column.dtype.is_float():
        column = pl.select(pl.when(column == column.round()).then(column)).to_series()
    if dtype == pl.String and column.dtype.is_float() and (column == column.round()).all():
        # Names that are numbers: data frames write them as fractions where some are missing.
        column = column.cast(pl.Int64, strict=False)
    try:
        return column.cast(dtype, strict=False)
    except pl.exceptions.PolarsError:
        return pl.repeat(None, len(column), dtype=dtype, eager=True)


def _parse_text(column: pl.Series, name: str, dtype: pl.DataType | type[pl.DataType]) -> pl.Series:
    if name == "spans":
        return _parse_spans(column)
    if isinstance(dtype, pl.Datetime):
        return _parse_times(column)
    column = column.str.strip_chars()
    if dtype == pl.Boolean:
        return column.str.to_lowercase().replace_strict(BOOLEANS, default=None, return_dtype=pl.Boolean)
    if dtype == pl.Int32:
        # Data frames write whole numbers as fractions where some are missing.
        column = column.str.replace(r"^([+-]?[0-9]+)\.0*$", "$1")
    return column.cast(dtype, strict=False)


def _parse_spans(column: pl.Series) -> pl.Series:
    # If no span has the key, a release removed it from all spans, which are then by annotators.
    untyped = not column.str.contains('"error_type"', literal=True).any()
    parsed = [None if value is None else _parse_span_list(value, untyped=untyped) for value in column]
    return pl.Series(column.name, parsed, dtype=pl.List(SPAN))


def _parse_span_list(value: str, *, untyped: bool) -> list[dict[str, object]] | None:
    from adjudge.formats.appraise.spans import read_span

    try:
        spans = json.loads(value)
        if isinstance(spans, list) and spans and all(isinstance(span, dict) and "start_i" in span for span in spans):
            spans = [read_span({"error_type": None, **span} if untyped else span, None) for span in spans]
    except (ValueError, RecursionError, TypeError, KeyError, OverflowError):
        return None
    if not isinstance(spans, list) or not all(isinstance(span, dict) and _is_span(span) for span in spans):
        return None
    return [{key: span.get(key) for key in SPAN.to_schema()} for span in spans]


def _is_span(span: dict[str, object]) -> bool:
    kinds = {name: int if dtype == pl.Int64 else str for name, dtype in SPAN.to_schema().items()}
    return all(
        name in kinds and (value is None or (isinstance(value, kinds[name]) and _fits(value)))
        for name, value in span.items()
    )


def _fits(value: object) -> bool:
    """Whether the table can hold the value: whole numbers of 64 bits, text without half characters."""
    if isinstance(value, str):
        return not any("\ud800" <= character <= "\udfff" for character in value)
    return isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63


def _parse_times(column: pl.Series) -> pl.Series:
    """ISO times: a blank for the T, no seconds, a fraction, a zone (UTC if none), a bare date, and Unix times.

    Dates may also be written 2024/05/01 or 01.05.2024, which mean one thing each.
    """
    whole = column.str.strip_chars()
    for pattern, iso in _FORMS_OF_TIMES:
        whole = whole.str.replace(pattern, iso)
    has_zone = whole.str.contains(r"[+-]\d\d:\d\d$")
    zoned = pl.select(pl.when(has_zone).then(whole).otherwise(whole + "+00:00")).to_series()
    parsed = zoned.str.to_datetime("%Y-%m-%dT%H:%M:%S%.f%:z", time_unit="us", strict=False).dt.convert_time_zone("UTC")
    seconds = column.str.strip_chars().cast(pl.Float64, strict=False)
    in_milliseconds = pl.when(seconds.is_between(*_MILLISECONDS)).then(seconds / 1000).otherwise(seconds)
    seconds = pl.select(in_milliseconds).to_series()
    unix = pl.from_epoch((seconds.filter(seconds.is_between(*_UNIX)) * 1e6).round().cast(pl.Int64), time_unit="us")
    if not unix.len():
        return parsed.alias(column.name)
    moments = pl.select(pl.when(seconds.is_between(*_UNIX)).then(seconds * 1e6).round().cast(pl.Int64)).to_series()
    return pl.select(pl.coalesce(parsed, moments.cast(pl.Datetime("us", "UTC")))).to_series().alias(column.name)


def check_cells(frame: pl.DataFrame, bad: BadRows) -> pl.DataFrame:
    """Set aside rows whose values are of the right type and yet cannot be; empty impossible times."""
    if "system" in frame.columns:
        bad.mark_nameless(frame["system"])
    for name, allowed in (("protocol", PROTOCOLS), ("kind", KINDS)):
        if name in frame.columns:
            strange = frame[name].is_not_null() & ~frame[name].is_in(list(allowed))
            bad.mark(strange, _unknown(frame, name, allowed), f"row with an unknown {name}")
    for name, least in (("rank", 1), ("revision", 0)):
        if name in frame.columns:
            bad.mark(frame[name] < least, _too_low(frame, name, least, bad.source), f"row with a broken {name}")
    if "active_seconds" in frame.columns:
        negative = (frame["active_seconds"] < 0).fill_null(value=False)
        bad.empty(negative, "active_seconds", _too_low(frame, "active_seconds", 0, bad.source))
        frame = frame.with_columns(pl.when(~negative).then(pl.col("active_seconds")).alias("active_seconds"))
    return frame


def _unknown(frame: pl.DataFrame, name: str, allowed: Iterable[str]) -> Callable[[int], str]:
    return lambda row: f"column '{name}' holds '{shown(frame[name][row])}'; use one of {', '.join(allowed)}"


def _too_low(frame: pl.DataFrame, name: str, least: int, source: Source) -> Callable[[int], str]:
    def problem(row: int) -> str:
        column = shown(source.column(name, row))
        return f"column '{column}' holds {frame[name][row]}, at least {least} is needed; correct it"

    return problem


def check_scale_of_scores(table: pl.DataFrame, bad: BadRows) -> None:
    """Set aside scores that are off the scale of their protocol."""
    off = ~table["score"].is_between(SCORE_SCALE[0] - ROUNDING, SCORE_SCALE[1] + ROUNDING)
    if "slider" in table.columns:
        # Sliders that a campaign made for itself have scales of their own.
        off &= table["slider"].cast(pl.String).fill_null("") == ""

    def problem(row: int) -> str:
        column = bad.source.column("score", row)
        where = "" if column == "score" else f" in column '{shown(column)}'"
        value = f"score{where} is {table['score'][row]:g}, it must lie between 0 and 100"
        other = "correct it, or name the protocol of another scale, such as 'mqm', in a column 'protocol'"
        return f"{value} in protocol '{table['protocol'][row]}'; {other}"

    bad.mark(off & table["protocol"].is_in(list(ON_SCALE)), problem, "score off the scale")
