"""Comparisons one per row, as crowdsourcing and rating tools keep them: `left`, `right`, and who won.

The winner is written by name, or as `left`, `right` or `tie`. Besides these columns, `annotator` (or `worker`, `user`,
`judge`) and the columns of the judgment table are understood, and all others are kept. An empty winner is a comparison
without a judgment.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import polars as pl

from adjudge.core.errors import InputError, Source, shown
from adjudge.core.files import decode_text, read_bytes
from adjudge.core.judgments import SCHEMA, Judgments, concat, first_true
from adjudge.formats.native.checks import check_widths, line_of_row
from adjudge.formats.parsing.delimited import detect_delimiter
from adjudge.formats.parsing.sources import campaign_names, language_codes, pair_of
from adjudge.formats.rankings.labels import human_columns

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from adjudge.formats.options import ReadOptions

LEFT = ("left", "x", "a", "model_a", "system_a", "system1", "first")
RIGHT = ("right", "y", "b", "model_b", "system_b", "system2", "second")
WINNER = ("winner", "label", "preference", "outcome")
ANNOTATOR = ("annotator", "worker", "user", "judge", "performer")
TIES = ("tie", "draw", "equal", "both", "neither", "tie (bothbad)", "=")
# What of the judgment table may stand in such a file besides; the other names belong to this reader.
_ROW = "row of the file"
_TAKEN = ("campaign", "source_lang", "target_lang", "task", "document", "segment")


def read(paths: Sequence[Path], options: ReadOptions) -> Judgments:
    """Read the files; each becomes a campaign named after it, where it does not say its campaign itself."""
    named = zip(paths, campaign_names(paths), strict=True)
    return concat([_read_file(path, campaign, options) for path, campaign in named])


def _read_file(path: Path, campaign: str, options: ReadOptions) -> Judgments:
    frame, source = _text_columns(path)
    left, right = _systems(frame, LEFT, path), _systems(frame, RIGHT, path)
    _check_names(left, right, source)
    ranks = _ranks(frame[_column(frame, WINNER, path)].str.strip_chars(), left, right, source)
    shared = _shared_columns(frame, (left.name, right.name, _column(frame, WINNER, path)), path, campaign, options)
    both = pl.concat(
        shared.with_columns(system.alias("system"), rank.alias("rank"))
        for system, rank in ((left, ranks["left"]), (right, ranks["right"]))
    )
    both = both.sort(_ROW, maintain_order=True).drop(_ROW)
    both = both.with_columns(**human_columns(both["system"], options.human))
    unused = [name for name in frame.columns if name in SCHEMA and name not in {*_TAKEN, *ANNOTATOR}]
    notes = [f"not used of {path.name}: column '{name}'" for name in unused]
    return Judgments.from_columns(both, notes=notes, source=str(path))


def _text_columns(path: Path) -> tuple[pl.DataFrame, Source]:
    """The file with every column as text; what is empty is null. And where its rows stand, for messages."""
    text = decode_text(read_bytes(path), path)
    if not text.strip():
        raise InputError("is empty; a header with left, right and winner is needed", file=path)
    separator = detect_delimiter(text)
    try:
        frame = pl.read_csv(io.BytesIO(text.encode()), separator=separator, infer_schema=False)
    except pl.exceptions.PolarsError as fault:
        check_widths(text, separator, path)
        reason = shown(str(fault).split("\n", 1)[0], 120)
        raise InputError(f"cannot be read as a table ({reason}); check quotes and columns", file=path) from fault
    frame = frame.rename({name: name.strip() for name in frame.columns if name.strip() not in frame.columns})
    if frame.height == 0:
        raise InputError("holds a header but no comparison; check that the file is complete", file=path)
    if frame.to_series(-1).null_count():
        # Where a row is cut, its last fields are missing.
        check_widths(text, separator, path)
    frame = frame.filter(~pl.all_horizontal(pl.all().is_null()))
    return frame, Source(str(path), lambda row: line_of_row(text, separator, row))


def _column(frame: pl.DataFrame, names: Sequence[str], path: Path) -> str:
    by_name = {name.casefold(): name for name in reversed(frame.columns)}
    for name in names:
        if name in by_name:
            return by_name[name]
    existing = shown(", ".join(frame.columns), 200)
    raise InputError(f"has no column '{names[0]}', it has {existing}; check --format", file=path, line=1)


def _systems(frame: pl.DataFrame, names: Sequence[str], path: Path) -> pl.Series:
    return frame[_column(frame, names, path)].str.strip_chars()


def _check_names(left: pl.Series, right: pl.Series, source: Source) -> None:
    for side in (left, right):
        missing = first_true(side.is_null() | (side == ""))
        if missing is not None:
            raise source.fault(f"has no '{side.name}'; every comparison needs two systems", missing)
    same = first_true(left == right)
    if same is not None:
        raise source.fault(f"compares '{shown(left[same])}' with itself; correct it", same)


def _ranks(winner: pl.Series, left: pl.Series, right: pl.Series, source: Source) -> dict[str, pl.Series]:
    """The ranks of the two sides: the winner's name counts before the words for sides, in case a system is `left`."""
    word = winner.str.to_lowercase()
    none = winner.is_null() | (winner == "")
    named_left, named_right = (winner == left).fill_null(value=False), (winner == right).fill_null(value=False)
    by_name = named_left | named_right
    won_left = named_left | (~by_name & word.is_in([left.name.casefold(), *LEFT]))
    won_right = named_right | (~by_name & word.is_in([right.name.casefold(), *RIGHT]))
    tied = ~by_name & word.is_in(TIES)
    strange = first_true(~(none | won_left | won_right | tied))
    if strange is not None:
        value = shown(winner[strange])
        what = f"has winner '{value}', which is neither of its systems nor left, right or tie; correct it"
        raise source.fault(what, strange)
    decided = pl.DataFrame({"none": none, "left": won_left, "right": won_right})
    rank = pl.when(pl.col("none")).then(None)
    return {
        "left": decided.select(rank.when("right").then(2).otherwise(1).cast(pl.Int32)).to_series(),
        "right": decided.select(rank.when("left").then(2).otherwise(1).cast(pl.Int32)).to_series(),
    }


def _shared_columns(
    frame: pl.DataFrame, used: Sequence[str], path: Path, campaign: str, options: ReadOptions
) -> pl.DataFrame:
    """What both rows of a comparison have in common."""
    names = {name.casefold(): name for name in reversed(frame.columns)}
    annotator = next((names[name] for name in ANNOTATOR if name in names), None)
    kept = [name for name in _TAKEN if name in frame.columns]
    extra = [name for name in frame.columns if name not in {*used, *SCHEMA, annotator, _ROW}]
    source, target = pair_of(path, options)
    shared = frame.select(
        *kept,
        *extra,
        (pl.lit(None, pl.String) if annotator is None else pl.col(annotator)).alias("annotator"),
        pl.int_range(1, frame.height + 1).cast(pl.String).alias("screen"),
        pl.lit("pairwise").alias("protocol"),
    ).with_row_index(_ROW)
    constant = {"campaign": campaign, "source_lang": source, "target_lang": target}
    filled = [
        (pl.col(name).fill_null(value) if name in kept else pl.lit(value)).alias(name)
        for name, value in constant.items()
    ]
    shared = shared.with_columns(filled)
    return shared.with_columns(language_codes(shared[name]) for name in ("source_lang", "target_lang"))
