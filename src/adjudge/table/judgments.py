"""The judgment table: one row per judged output. Independent of files and methods.

`docs/data.md` explains every column. A table may contain several campaigns, language pairs and revisions of a judgment;
`Judgments.by_pair` and `Judgments.final` separate them.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from adjudge.table.errors import DataError, Source, param, shown
from adjudge.table.languages import UNKNOWN, language_code, notes_about, pair_name, parse_pair, split_pair
from adjudge.table.maths import distinct
from adjudge.table.protocols import EDITED, KINDS, PROTOCOLS
from adjudge.table.wording import counted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from adjudge.table.maths import Bools, Codes, Floats, Hashes
    from adjudge.table.record import CampaignRecord


# Fingerprints: a few hexadecimal digits that identify content, whatever file it came from.

DIGITS = 12
"""Long enough to distinguish data: ten million tables all have different ones with probability 0.84."""


ROWS_AT_ONCE = 1 << 18
SIGNS_AT_ONCE = 1 << 15


def fingerprint(content: str | bytes, *, digits: int = DIGITS) -> str:
    """The first digits of the SHA-256 digest of the content; text is encoded as UTF-8."""
    data = content.encode() if isinstance(content, str) else content
    return hashlib.sha256(data).hexdigest()[:digits]


def fingerprint_of_parts(parts: Iterable[str]) -> str:
    """One fingerprint from the fingerprints of several parts, in their order."""
    return fingerprint("".join(parts))


def fingerprint_of_file(path: Path, *, digits: int = DIGITS) -> str:
    """The fingerprint of a file's bytes, read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:digits]


def fingerprint_of_table(table: pl.DataFrame, always: Collection[str]) -> str:
    """The fingerprint of a table's content, whatever the order of its rows.

    Empty columns count only if they are among those that are always there. Of screens only counts which rows share one,
    since readers number them as they come. A row is the sum of its cells, each mixed with the place of its column, and
    a table the sum of its rows, so that no row is written out and none has to be put in order.
    """
    table = table.select(name for name in table.columns if name in always or table[name].count())
    plain = table.drop("screen", strict=False)
    rows = np.zeros(table.height, dtype=np.uint64)
    for place, column in enumerate(plain.iter_columns(), start=1):
        if column.count():
            # What stands in every row is hashed once.
            is_whole = column.dtype in (pl.String, pl.Boolean, pl.Int32) and not column.null_count()
            held = column.head(1) if is_whole and (column == column[0]).all() else column
            # Columns that are always there have one type; others may come back from CSV as text.
            cells = _hash_numbers(held) if column.name in always else None
            rows += _mix((_hash_words(held) if cells is None else cells) ^ np.uint64(place << 48))
    rows = _mix(rows)
    if "screen" in table.columns and table["screen"].count():
        # A block is as many rows of these contents: one number again, so that its rows are told from those of others.
        (screen,) = codes_of(table, ("screen",))
        named = table["screen"].is_not_null().to_numpy()
        blocks = np.zeros(int(screen.max()) + 1, dtype=np.uint64)
        np.add.at(blocks, screen[named], rows[named])
        rows = np.append(rows[~named], _mix(blocks[distinct(screen[named])]))
    return fingerprint(f"{json.dumps(plain.columns)} {plain.height} {int(rows.sum()):x}")


def _hash_numbers(column: pl.Series) -> Hashes | None:
    """A number for every cell of a column of numbers or times, from its bits; None for other columns."""
    if column.dtype == pl.Boolean:
        column = column.cast(pl.Int8)
    if not column.dtype.is_numeric() and not column.dtype.is_temporal():
        return None
    cells = column.to_physical().fill_null(0).to_numpy()
    # Of two zeros the negative one is the same number.
    bits = (cells + 0.0).view(np.uint64) if cells.dtype.kind == "f" else cells.astype(np.int64).view(np.uint64)
    return np.where(column.is_null().to_numpy(), _NOTHING, _mix(bits))


def _hash_words(column: pl.Series) -> Hashes:
    """A number for every cell, from how CSV writes it. Words that stand in many cells are hashed once."""
    if column.dtype.is_nested():
        column = column.map_elements(_as_text, return_dtype=pl.String)
    codes, rows = _group_words(column)
    words = column if len(rows) == len(column) else column.gather(rows)
    if words.dtype == pl.String and words.str.contains("\n", literal=True).any():
        words = words.str.replace_all("\n", "\u2028", literal=True)
    pieces = (words[start : start + ROWS_AT_ONCE] for start in range(0, len(words), ROWS_AT_ONCE))
    return np.concatenate([_hash_lines(piece) for piece in pieces])[codes]


def _hash_lines(cells: pl.Series) -> Hashes:
    """A number for every cell: the sum of the numbers of its signs, which are drawn by sign and place.

    (A. L. Zobrist, 1970: A new hashing method with application for game playing. University of Wisconsin, report 88.)
    """
    signs = np.frombuffer(cells.to_frame().write_csv(include_header=False).encode(), dtype=np.uint8)
    ends = np.flatnonzero(signs == ord("\n"))
    starts = np.append(0, ends[:-1] + 1)
    lines = np.zeros(len(starts), dtype=np.uint64)
    for begin in range(0, len(signs), SIGNS_AT_ONCE):
        piece = signs[begin : begin + SIGNS_AT_ONCE]
        first, last = np.searchsorted(starts, begin, side="right") - 1, np.searchsorted(starts, begin + len(piece))
        of_lines = np.maximum(starts[first:last] - begin, 0)
        place = np.arange(begin, begin + len(piece)) - starts[first:last].repeat(np.diff(of_lines, append=len(piece)))
        lines[first:last] += np.add.reduceat(_mix((place << 8 | piece).view(np.uint64)), of_lines)
    return _mix(lines)


_NOTHING = np.uint64(0x9E3779B97F4A7C15)
"""What a missing number counts; no number of a judgment does."""


def _mix(numbers: Hashes) -> Hashes:
    """Other numbers, as if drawn, of which each belongs to one: as SplitMix64 ends (Steele and others 2014)."""
    mixed = (numbers ^ numbers >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ mixed >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return mixed ^ mixed >> np.uint64(31)


def _as_text(value: object) -> str:
    return str(value.to_list() if isinstance(value, pl.Series) else value)


POSITION = "position"
"""The place of an output on its screen as shown, from 0; a column beyond the judgment table's own."""


# Weights for segments that were sampled with unequal probabilities.

SKIPPED, CRITERION = "skipped", "criterion"
"""Why an annotator skipped what is judged, and by which criterion a score was given: columns beyond the table's own."""


FIRST_EDIT = "first_edit"
"""The edit by somebody else that was corrected again, or judged; a column beyond the judgment table's own."""


INCLUSION = "inclusion"
"""The probability with which the segment of a row was chosen; a column beyond the judgment table's own."""


def weights_of(table: pl.DataFrame) -> Floats | None:
    """1 / probability for every row, scaled to a mean of 1; None if all probabilities are equal."""
    if INCLUSION not in table.columns or table[INCLUSION].null_count() == table.height:
        return None
    given = table[INCLUSION]
    probability = given.cast(pl.Float64, strict=False).fill_null(float("nan")).to_numpy()
    bad = ~((probability > 0) & (probability <= 1))
    if bad.any():
        value = given[int(np.argmax(bad))]
        got = "nothing" if value is None else f"'{shown(value)}'"
        rows = counted(int(bad.sum()), "row")
        raise DataError(
            f"column '{INCLUSION}' holds {got} in {rows}; give the probability with which the segment "
            "was chosen, above 0 and at most 1, in every row, or leave the column out"
        )
    if np.ptp(probability) == 0:
        return None
    weight = 1 / probability
    return np.asarray(weight / weight.mean())


def weights_note(weight: Floats | None, what: str = "score") -> tuple[str, ...]:
    """The note about weighted results."""
    if weight is None:
        return ()
    effective = float(weight.sum() ** 2 / (weight @ weight))
    worth = f"the {len(weight):,} {what}s are worth about {round(effective):,} of equal weight"
    return (f"segments were chosen with unequal probabilities: each {what} counts 1 / probability, so that {worth}",)


# Integer codes and hashes of words and of rows by several columns, in time that grows with the rows alone.
#
# Hashes find the few rows that may be equal before words are compared. Equal rows have equal hashes. Rows with equal
# hashes are rarely different, but they can be, so candidates found by hashes are compared again by their words.

SPARSE = 8
"""Codes up to this many times their number are marked in a lookup table instead of sorted."""


def renumber(codes: Codes) -> Codes:
    """Renumber codes consecutively from 0, in the same order."""
    most = int(codes.max(initial=-1)) + 1
    if most > SPARSE * len(codes) or codes.min(initial=0) < 0:
        return np.unique(codes, return_inverse=True)[1].reshape(codes.shape)
    seen = np.zeros(most, dtype=bool)
    seen[codes] = True
    renumbered: Codes = (np.cumsum(seen) - 1)[codes]
    return renumbered


def codes_of(table: pl.DataFrame, *keys: Sequence[str]) -> list[Codes]:
    """For each key a code for every row, equal where the key's columns agree: its place in their order, nulls first.

    The same as a dense rank of the columns taken together, from 0 on, which would compare rows word by word.
    """
    words = {name: _codes_of_words(table[name]) for name in dict.fromkeys(chain(*keys))}
    return [_join_codes([words[name] for name in key], table.height) for key in keys]


def _join_codes(columns: Sequence[tuple[Codes, int]], rows: int) -> Codes:
    joined = np.zeros(rows, dtype=np.int64)
    for codes, size in columns:
        if size > 1:
            joined = renumber(joined * size + codes)
    return joined


def _codes_of_words(column: pl.Series) -> tuple[Codes, int]:
    """The place of every word among all of them in order, 0 where there is none; and how many places there are."""
    nulls = column.null_count()
    if nulls == len(column) or (not nulls and bool((column == column[0]).all())):
        return np.zeros(len(column), dtype=np.int64), 1
    codes, rows = _group_words(column)
    words = column.gather(rows)
    order = words.arg_sort(nulls_last=False).to_numpy()
    words = words.gather(order)
    places = np.append(0, np.cumsum(words[1:].ne_missing(words[:-1]).to_numpy()))
    position = np.empty(len(rows), dtype=np.int64)
    position[order] = places
    return position[codes], int(places[-1]) + 1


def _group_words(column: pl.Series) -> tuple[Codes, Codes]:
    """A code for every row, which rows share only where their words are equal, and a row that holds each code's word.

    Where most words stand once, finding the few that stand twice takes longer than all that is done with a word, so
    that every row keeps a code of its own.
    """
    if column.dtype != pl.String or column.to_frame().select(pl.all().approx_n_unique()).item() * SPARSE > len(column):
        return np.arange(len(column)), np.arange(len(column))
    codes = column.cast(pl.Categorical).to_physical().cast(pl.Int64).fill_null(-1).to_numpy()
    # Nulls have code -1, which indexes the last entry.
    row = np.full(int(codes.max()) + 2, -1)
    row[codes] = np.arange(len(column))
    present = row >= 0
    return (np.cumsum(present) - 1)[codes], row[present]


def key_hashes(table: pl.DataFrame, key: Iterable[str]) -> Hashes:
    """A hash per row, equal where rows agree in all columns of the key; nulls agree with each other.

    Hashes of different tables cannot be compared: columns without any value are left out.
    """
    # Every column has a seed of its own: a sum of hashes then tells the values of one from those of another.
    empty = empty_columns(table)
    seeds = {name: seed for seed, name in enumerate(key) if name not in empty}
    # One column after the other, because all hashes together would be as large as the table.
    total = pl.zeros(table.height, dtype=pl.UInt64, eager=True)
    for name, seed in seeds.items():
        total += table.select(pl.col(name).hash(seed)).to_series()
    return total.to_numpy(writable=True)


def empty_columns(table: pl.DataFrame) -> set[str]:
    """The columns without any value; a column taken out to be looked at would be written out in full."""
    return {name for name, nulls in zip(table.columns, table.null_count().row(0), strict=True) if nulls == table.height}


def rows_where(table: pl.DataFrame, condition: pl.Expr) -> pl.DataFrame:
    """The rows that meet a condition; columns without any value stay unwritten, and so does the table if all do."""
    wanted = table.select(condition).to_series()
    if not table.height or (len(wanted) == table.height and wanted.all(ignore_nulls=False)):
        return table
    empty = empty_columns(table)
    kept = table.drop(empty).filter(wanted)
    return kept.select(
        pl.lit(None, dtype).alias(name) if name in empty else name for name, dtype in table.schema.items()
    )


FIRST_HASHES = 1000


def has_single(hashes: Hashes) -> bool:
    """Whether one of the hashes is equal to no other. In most tables one of the first is."""
    for some in (hashes[:FIRST_HASHES], hashes):
        ordered = np.sort(hashes[mark_among(hashes, some)])
        differs = np.concatenate([[True], ordered[1:] != ordered[:-1], [True]])
        if len(ordered) and (differs[1:] & differs[:-1]).any():
            return True
    return False


def mark_repeated(hashes: Hashes) -> Bools:
    """Mark the hashes that are equal to others."""
    ordered = np.sort(hashes)
    again = ordered[1:] == ordered[:-1]
    return mark_among(hashes, ordered[1:][again]) if again.any() else np.zeros(len(hashes), dtype=bool)


def mark_among(hashes: Hashes, wanted: Hashes) -> Bools:
    """Mark the hashes that are among those wanted."""
    return pl.Series(hashes).is_in(pl.Series(wanted).implode()).to_numpy(writable=True)


def any_repeated(numbers: NDArray[np.integer[Any]]) -> bool:
    """Whether a number occurs twice, by putting them in order."""
    ordered = np.sort(numbers)
    return bool((ordered[1:] == ordered[:-1]).any())


# Which systems are compared with each other, directly or through others.
#
# Scores connect systems that one annotator judged; relative judgments connect systems that met.

MOST_SHOWN = 4
FEW_SYSTEMS = 100
SMALL_TABLE = 100_000
"""A table of so many meetings is made sooner than a graph, however many of them are empty."""


def groups(system: Codes, other: Codes, systems: int) -> tuple[tuple[int, ...], ...]:
    """The systems in groups that share no level of `other` (such as annotators), each in order."""
    if not _is_small(system, other, systems):
        return _group_by_graph(system, other, systems)
    first = _find_first_linked(system, other, systems)
    return tuple(tuple(np.flatnonzero(first == number).tolist()) for number in np.unique(first))


def number_of_groups(system: Codes, other: Codes, systems: int) -> int:
    """How many groups `groups` gives."""
    if _is_small(system, other, systems):
        return len(np.unique(_find_first_linked(system, other, systems)))
    return len(_group_by_graph(system, other, systems))


def _is_small(system: Codes, other: Codes, systems: int) -> bool:
    """Whether a table of who met whom is quickly made."""
    levels = int(other.max(initial=-1)) + 1
    return systems <= FEW_SYSTEMS and levels * systems <= max(SMALL_TABLE, SPARSE * len(system))


def _find_first_linked(system: Codes, other: Codes, systems: int) -> Codes:
    """The first system that each is linked with, from a table of who met whom: audits ask this thousands of times."""
    levels = int(other.max(initial=-1)) + 1
    met = np.zeros(levels * systems, dtype=np.float32)
    met[other * systems + system] = 1
    table = met.reshape(levels, systems)
    near = table.T @ table > 0
    near[np.diag_indices(systems)] = True
    while True:
        further = near.astype(np.float32) @ near > 0
        if (further == near).all():
            break
        near = further
    first: Codes = np.argmax(near, axis=1)
    return first


def _group_by_graph(system: Codes, other: Codes, systems: int) -> tuple[tuple[int, ...], ...]:
    """Find the groups of linked systems by a graph, which is faster than a table where there are many."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    system, other = _find_meetings(system, other, systems)
    nodes = systems + int(other.max(initial=-1)) + 1
    links = coo_array((np.ones(len(system), dtype=np.int8), (system, other + systems)), shape=(nodes, nodes))
    label = connected_components(links, directed=False)[1][:systems]
    return tuple(sorted(tuple(np.flatnonzero(label == group).tolist()) for group in np.unique(label)))


def _find_meetings(system: Codes, other: Codes, systems: int) -> tuple[Codes, Codes]:
    """Each pair of system and level that meets, once, as far as that is quickly told."""
    cells = (int(other.max(initial=-1)) + 1) * systems
    if cells > SPARSE * len(system):
        return system, other
    met = np.zeros(cells, dtype=bool)
    met[other * systems + system] = True
    level, met_system = np.divmod(np.flatnonzero(met), systems)
    return met_system, level


def in_words(groups: Sequence[Sequence[int]], names: Sequence[str]) -> str:
    """Groups as `(A, B); (C)`; the first few where there are many."""
    shown = "; ".join("(" + ", ".join(names[system] for system in group) + ")" for group in groups[:MOST_SHOWN])
    return shown + ("; ..." if len(groups) > MOST_SHOWN else "")


# The columns that identify a judgment; its revisions agree in all of them.
KEY = (
    "campaign", "protocol", "source_lang", "target_lang", "annotator", "task", "screen", "document", "segment",
    "system", "kind",
)  # fmt: skip
_TEXTS = dict.fromkeys(("severity", "category", "side", "text"), pl.String)
SPAN = pl.Struct({"start": pl.Int64, "end": pl.Int64, **_TEXTS})
SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    **dict.fromkeys(KEY, pl.String),
    "human": pl.Boolean,
    "score": pl.Float64,
    "rank": pl.Int32,
    "spans": pl.List(SPAN),
    "text": pl.String,
    "started": pl.Datetime("us", "UTC"),
    "ended": pl.Datetime("us", "UTC"),
    "active_seconds": pl.Float64,
    "revision": pl.Int32,
}
RECOGNISED_EXTRAS: dict[str, type[pl.DataType]] = {
    "passed": pl.Boolean, "rejected": pl.Boolean, "copy": pl.Boolean, "z": pl.Float64, "n": pl.Int64,
    POSITION: pl.Int64,
}  # fmt: skip
"""Additional columns that stages use if they have these types, such as those of released direct assessments."""
_KINDS_OF_VALUES: dict[object, str] = {pl.Float64: "a number", pl.Int32: "a whole number", pl.String: "text"}
DEFAULTS: dict[str, str | bool | int] = {
    "kind": "system", "human": False, "revision": 1, "source_lang": UNKNOWN, "target_lang": UNKNOWN
}  # fmt: skip
NAMES = ("annotator", "task", "screen", "document", "segment")
"""Columns of names, in which an empty cell is null."""


@dataclass(frozen=True)
class SetAside:
    """Rows that a reader or filter did not use, and the reason."""

    reason: str
    rows: int


@dataclass(frozen=True)
class ColumnUse:
    """How a reader understood a column of a file: as a column of the judgment table, or not at all."""

    file: str
    column: str
    taken_for: str | None
    use: str
    """`used`, `kept` under its own name, or `not used`."""


@dataclass(frozen=True)
class Judgments:
    """A table that conforms to `SCHEMA` (additional columns are kept at the end), and what was set aside."""

    table: pl.DataFrame
    set_aside: tuple[SetAside, ...] = ()
    notes: tuple[str, ...] = field(default=())
    columns: tuple[ColumnUse, ...] = ()
    machine: pl.DataFrame | None = None
    """The rows of machine judges, of all language pairs (`table.participants`); `table` has those of people."""
    people: bool = False
    """Whether every annotator is known to be one person: by a map from accounts, or because the user says so."""
    record: CampaignRecord | None = None
    """How the campaign was collected, where the file says it; the fingerprint does not depend on it."""

    @classmethod
    def from_columns(
        cls,
        columns: Mapping[str, object] | pl.DataFrame,
        *,
        set_aside: Iterable[SetAside] = (),
        notes: Iterable[str] = (),
        source: str | Source = "table",
        uses: Iterable[ColumnUse] = (),
    ) -> Judgments:
        """Make a table from some of the columns; missing ones become null or their default."""
        frame = columns if isinstance(columns, pl.DataFrame) else pl.DataFrame(columns, strict=False)
        origin = source if isinstance(source, Source) else Source(source)
        if "system" not in frame.columns:
            names = shown(", ".join(frame.columns), 200)
            raise origin.fault(f"has no column 'system', it has {names}; see docs/data.md, or give {param('format')}")
        table = frame.select(
            *(_conform(frame, name, dtype, origin) for name, dtype in SCHEMA.items()),
            *(name for name in frame.columns if name not in SCHEMA),
        )
        table = table.with_columns(language_codes(table[name]) for name in ("source_lang", "target_lang"))
        _check_values(table, origin)
        return cls(table, tuple(record for record in set_aside if record.rows), tuple(notes), tuple(uses))

    def __len__(self) -> int:
        return self.table.height

    @cached_property
    def fingerprint(self) -> str:
        """Twelve hexadecimal digits that identify the content; additional empty columns do not count."""
        return fingerprint_of_table(self.table, SCHEMA)

    @property
    def pairs(self) -> tuple[str, ...]:
        """The language pairs in the table, in order of appearance: `cs-en`."""
        rows = self.table.select("source_lang", "target_lang").unique(maintain_order=True).rows()
        return tuple(pair_name(source, target) for source, target in rows)

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems in the table, sorted by name."""
        return tuple(self.table["system"].drop_nulls().unique().sort().to_list())

    @property
    def protocols(self) -> tuple[str, ...]:
        """The protocols in the table, sorted by name."""
        return tuple(self.table["protocol"].drop_nulls().unique().sort().to_list())

    def select(self, condition: pl.Expr) -> Judgments:
        """The rows that meet the condition, without a record of the others; for splitting a table."""
        return replace(self, table=rows_where(self.table, condition))

    def keep(self, condition: pl.Expr, *, otherwise: str) -> Judgments:
        """The rows that meet the condition; the others are set aside for the reason given."""
        kept = rows_where(self.table, condition)
        left_out = self.table.height - kept.height
        return replace(self, table=kept, set_aside=self.set_aside + (SetAside(otherwise, left_out),) * bool(left_out))

    def final(self) -> Judgments:
        """The last revision of every judgment; the earlier ones are set aside."""
        if self.table["revision"].n_unique() <= 1:
            return self
        key = (*KEY, CRITERION) if CRITERION in self.table.columns else KEY
        last = pl.col("revision") == pl.col("revision").max().over(key)
        # Most judgments have no other revision, and hashes show that quickly.
        kept = ~mark_repeated(key_hashes(self.table, key))
        kept[~kept] = self.table.filter(~kept).select(last).to_series().to_numpy()
        return self.keep(pl.lit(pl.Series(kept)), otherwise="earlier revision of a judgment that was saved again")

    def for_pair(self, pair: str) -> Judgments:
        """Select the judgments of one language pair, however the pair is written."""
        wanted = parse_pair(pair)
        if self.pairs == (pair_name(UNKNOWN, UNKNOWN),) and wanted not in self.pairs:
            # A table that names no languages has those that the user names.
            source, target = split_pair(pair)
            named = self.table.with_columns(source_lang=pl.lit(source), target_lang=pl.lit(target))
            return replace(self, table=named)
        if wanted not in self.pairs:
            raise DataError(f"language pair '{pair}' is not in the data; it has {', '.join(self.pairs)}")
        languages = self.table.select("source_lang", "target_lang").unique(maintain_order=True).rows()
        source, target = next(codes for codes in languages if pair_name(*codes) == wanted)
        part = self.select((pl.col("source_lang") == source) & (pl.col("target_lang") == target))
        return replace(part, notes=notes_about(wanted, self.pairs, self.notes))

    def by_pair(self) -> dict[str, Judgments]:
        """One table per language pair; a pair that occurs in several campaigns is split, as `campaign/cs-en`."""
        parts: dict[str, Judgments] = {}
        if len(self) and len(self.pairs) == 1 and self.table["campaign"].n_unique() == 1:
            return {self.pairs[0]: self}
        if not len(self) and self.machine is not None:
            what = f"all {self.machine.height:,} judgments are by machine judges, which never count as people"
            raise DataError(f"{what}; give the judgments of people too (docs/judges.md)")
        for pair in self.pairs:
            part = self.for_pair(pair)
            campaigns = part.table["campaign"].unique(maintain_order=True).to_list()
            for campaign in campaigns:
                name = pair if len(campaigns) == 1 else f"{campaign}/{pair}"
                parts[name] = part.select(pl.col("campaign").eq_missing(pl.lit(campaign)))
        return parts


def _with_like_columns(tables: list[pl.DataFrame]) -> list[pl.DataFrame]:
    """The tables with columns of lists and records as text where another table has something else under the name."""
    kinds: dict[str, set[pl.DataType]] = {}
    for table in tables:
        for name, dtype in table.schema.items():
            if name not in SCHEMA and dtype != pl.Null:
                kinds.setdefault(name, set()).add(dtype)
    unlike = {name for name, found in kinds.items() if len(found) > 1 and any(dtype.is_nested() for dtype in found)}
    return [
        table.with_columns(
            pl.col(name).map_elements(_as_text, return_dtype=pl.String)
            if table.schema[name].is_nested()
            else pl.col(name).cast(pl.String)
            for name in table.columns
            if name in unlike
        )
        for table in tables
    ]


def concat(parts: Iterable[Judgments]) -> Judgments:
    """Concatenate tables; rows set aside for the same reason are added up."""
    tables = list(parts)
    rows: dict[str, int] = {}
    for part in tables:
        for record in part.set_aside:
            rows[record.reason] = rows.get(record.reason, 0) + record.rows
    try:
        frame = pl.concat(_with_like_columns([part.table for part in tables]), how="diagonal_relaxed")
    except pl.exceptions.PolarsError as fault:
        raise DataError(f"the tables do not fit together ({fault}); leave out their extra columns") from fault
    notes = tuple(dict.fromkeys(note for part in tables for note in part.notes))
    uses = tuple(dict.fromkeys(use for part in tables for use in part.columns))
    # Parts of one table share one frame of machine rows, which must not be counted twice.
    shared = {id(part.machine): part.machine for part in tables if part.machine is not None}
    machine = pl.concat(shared.values(), how="diagonal_relaxed") if shared else None
    set_aside = tuple(SetAside(reason, count) for reason, count in rows.items())
    # A record is of one campaign: tables of several are judgments without one, whose notes still say how each came.
    records = [part.record for part in tables]
    shared_record = records[0] if records and all(other == records[0] for other in records) else None
    return Judgments(frame, set_aside, notes, uses, machine, all(part.people for part in tables), shared_record)


# Rows without an answer.

LEFT_BLANK = pl.all_horizontal(pl.col("protocol", "score", "rank").is_null())
"""Blank rows in hand-made tables: without an answer, the protocol is unknown."""


def no_answer(table: pl.DataFrame) -> pl.Expr:
    """Mark rows that were left blank or withdrawn: without score and rank, or without post-edit.

    Post-edits in tables without an action count as answers, and so does `N/A` in released ones.
    """
    edited = pl.col("protocol").is_in(EDITED).fill_null(value=False)
    taken_back = edited & pl.col("action").is_null() if "action" in table.columns else pl.lit(value=False)
    return pl.all_horizontal(pl.col("score", "rank").is_null()) & (~edited | taken_back)


def list_blank(rows: pl.DataFrame, reason: str) -> tuple[SetAside, ...]:
    """Set aside rows that hold no answer, for this reason, or for that for which an annotator skipped them."""
    if SKIPPED not in rows.columns:
        return (SetAside(reason, rows.height),) if rows.height else ()
    why = pl.when(pl.col(SKIPPED).is_null()).then(pl.lit(reason)).otherwise(pl.format("skipped: {}", SKIPPED))
    counts = rows.select(why.alias("why")).group_by("why").len().sort("why")
    return tuple(SetAside(text, count) for text, count in counts.iter_rows())


def answers_needed(what: str, judgments: Judgments, instead: str) -> DataError:
    """The error for judgments without the required answers: what they have, and what to do instead."""
    if len(judgments) and judgments.table.select(no_answer(judgments.table).all()).item():
        held, instead = f"{counted(len(judgments), 'row')} without a score or rank", "check the column of the answers"
    else:
        held = ", ".join(judgments.protocols) or "no judgments at all"
    return DataError(f"{what} are needed, but the data hold {held}; {instead}")


# What a column must hold.


def _conform(frame: pl.DataFrame, name: str, dtype: pl.DataType | type[pl.DataType], source: Source) -> pl.Series:
    default: str | bool | int | None = DEFAULTS.get(name)
    if name not in frame.columns:
        # The same as `pl.repeat`, but ten times faster for few rows.
        return pl.Series(name, [default], dtype=dtype).new_from_index(0, frame.height)
    column = frame[name]
    try:
        cast = (_restore_whole_numbers(column) if dtype == pl.Int32 else column).cast(dtype, strict=True)
    except pl.exceptions.PolarsError:
        cast = column
    if cast.dtype != dtype:
        row = _find_first_bad(column, dtype)
        value, needed = (column.dtype if row is None else column[row]), _KINDS_OF_VALUES.get(dtype, str(dtype))
        raise source.fault(f"column '{name}' holds '{shown(value)}', {needed} is needed; correct it", row)
    if name in NAMES and cast.null_count() < len(cast):
        cast = _clear_blanks(cast)
    return cast if default is None or not cast.null_count() else cast.fill_null(default)


def _clear_blanks(names: pl.Series) -> pl.Series:
    """The names with empty and blank ones as null, since some programs write missing names as quoted blanks."""
    blank = names.str.strip_chars() == ""
    return pl.select(pl.when(~blank).then(names).alias(names.name)).to_series() if blank.any() else names


def _restore_whole_numbers(column: pl.Series) -> pl.Series:
    """Convert `2.0` back to whole numbers; data frames turn integers into floats if some are missing."""
    if column.dtype == pl.String:
        return column.str.replace(r"^([+-]?[0-9]+)\.0*$", "$1")
    if not column.dtype.is_float():
        return column
    column = column.fill_nan(None)
    return column if (column == column.round()).all() else column.cast(pl.String)


def _find_first_bad(column: pl.Series, dtype: pl.DataType | type[pl.DataType]) -> int | None:
    """The first row whose value cannot be converted, or None if no single row is to blame."""
    try:
        return first_true(_restore_whole_numbers(column).cast(dtype, strict=False).is_null() & column.is_not_null())
    except pl.exceptions.PolarsError:
        return None


def first_true(rows: pl.Series) -> int | None:
    """The first row that is marked, or None."""
    return rows.arg_max() if rows.any() else None


def language_codes(names: pl.Series) -> pl.Series:
    """Convert a column of languages, however they are written, to codes."""
    known = names.unique().drop_nulls().to_list()
    codes = [language_code(name) for name in known]
    return names if codes == known else names.replace_strict(known, codes, default=None, return_dtype=pl.String)


def _check_values(table: pl.DataFrame, source: Source) -> None:
    nameless = first_true(table["system"].is_null() | (table["system"] == ""))
    if nameless is not None:
        raise source.fault("has no system; name what was judged", nameless)
    for name, allowed in (("protocol", PROTOCOLS), ("kind", KINDS)):
        row = None
        if not {*table[name].unique().to_list()} <= {*allowed, None}:
            row = first_true(table[name].is_not_null() & ~table[name].is_in(list(allowed)))
        if row is not None:
            known = ", ".join(allowed)
            raise source.fault(f"column '{name}' holds '{shown(table[name][row])}'; use one of {known}", row)
    for name in ("score", "active_seconds"):
        row = None if table[name].null_count() == table.height else first_true(~table[name].is_finite())
        if row is not None:
            what = f"column '{name}' holds {table[name][row]}, a finite number is needed; correct it or leave it empty"
            raise source.fault(what, row)
    for name, low in (("rank", 1), ("revision", 0), ("active_seconds", 0)):
        row = first_true(table[name] < low)
        if row is not None:
            raise source.fault(f"column '{name}' holds {table[name][row]}, at least {low} is needed; correct it", row)
