"""Comparisons one per row, as crowdsourcing and rating tools keep them: `left`, `right`, and who won.

The winner is written by name, or as `left`, `right` or `tie`; `--winner` says what other values mean. Ties that say
more, `both good` and `both bad`, are ties with a column `both`. An empty winner is a comparison without a judgment.
Besides, the columns of the judgment table are understood (`annotator`, `segment`, ...), and all others are kept.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from adjudge.readers import parsing
from adjudge.readers.columns import MISSING, WINNERS, ColumnMap, check_cells, convert_cells, map_columns, plain, renamed
from adjudge.readers.contents import add_sides, choose_criterion, complete_pairs, says_people
from adjudge.readers.exports import fold_choices
from adjudge.readers.headers import count_same, meaning_in
from adjudge.readers.tables import load_table
from adjudge.readers.wide import stack, winners
from adjudge.table.errors import InputError, Source, UsageError, param, shown, unknown_choice
from adjudge.table.files import memory_at_hand, read_text
from adjudge.table.judgments import SCHEMA, Judgments, SetAside, concat
from adjudge.table.languages import UNKNOWN, split_pair
from adjudge.table.participants import human_columns, mark_humans
from adjudge.table.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from adjudge.readers.options import ReadOptions
    from adjudge.readers.parsing import LoadedTable


TIES = tuple(word for outcome in ("tie", "both-good", "both-bad") for word in WINNERS[outcome])
# Other columns of the judgment table that such a file may have; ranks and the like follow from the winner.
_SHARED = (
    "campaign", "source_lang", "target_lang", "annotator", "task", "screen", "document", "segment", "text", "started",
    "ended", "active_seconds", "revision",
)  # fmt: skip
_ROW = "row of the file"
_OUTCOME = "outcome of the comparison"
BOTH = "both"
NEGATIVE, POSITIVE = "negative", "positive"
"""What the user says of all numbers on one side of 0."""
FEW_ANSWERS = 9
"""A scale of preference has at most so many answers, one of them empty."""
FEW_PER_PAIR = 20
"""Below so many comparisons of two systems, one may stand on one side by chance."""
FIXED = 0.95
"""In so large a share of their comparisons two systems stand in one order nearly always."""


class Comparisons(NamedTuple):
    """A table of comparisons."""

    loaded: LoadedTable
    mapping: ColumnMap
    placed: bool = True
    """Whether left and right are the sides of a screen."""


def read_pairwise_table(paths: Sequence[Path], options: ReadOptions) -> Judgments:
    """Read the files; together they are one campaign, named after the first, unless they name campaigns themselves."""
    parts: list[Judgments] = []
    for path in paths:
        loaded = fold_choices(load_table(path))
        if loaded.frame.height == 0:
            raise loaded.source.fault("holds a header but no comparison; check that the file is complete")
        file = parsing.stem(path) if len(paths) > 1 else ""
        languages = parsing.pair_of(path, options)
        sides, campaign = find_winners(loaded, options), parsing.stem(paths[0])
        parts.append(pair_judgments(sides, options, campaign, languages=languages, file=file))
    return concat(parts)


def find_winners(loaded: LoadedTable, options: ReadOptions) -> Comparisons:
    """Find the columns of the comparisons; make the column of winners if the table says in another way who won."""
    mapping = map_columns(loaded.frame.columns, loaded.source, columns=options.columns)
    loaded = stack_comparisons(loaded) or loaded
    if "left" not in mapping and (apart := _take_apart(loaded)) is not None:
        loaded, mapping = apart, map_columns(apart.frame.columns, loaded.source, columns=options.columns)
    found = winners(loaded.frame, mapping)
    if found is None:
        mapping, notes = add_sides(loaded.frame, mapping, options)
        loaded = replace(loaded, notes=(*loaded.notes, *notes))
        found = winners(loaded.frame, mapping) if notes else None
    if found is None:
        return Comparisons(loaded, _add_winner(loaded.frame, mapping))
    frame, note = found
    placed = "left" in mapping
    named = {} if not placed else {side: mapping.columns[side] for side in ("left", "right")}
    mapping = map_columns(frame.columns, loaded.source, columns=options.columns)
    mapping = replace(mapping, columns={**mapping.columns, **named})
    return Comparisons(replace(loaded, frame=frame, notes=(*loaded.notes, note)), mapping, placed=placed)


_VERSUS = (
    re.compile(r"^(.+?)\s*\b(?:vs?\.?|versus|gegen|contre|contra)\s+(.+)$", re.IGNORECASE),
    re.compile(r"^(.+?)\s*[|/:–—-]\s*(.+)$"),
)
"""Between the names of two systems stands a word, or else a sign, which names may have too."""


def _two_in(cells: Sequence[str | None]) -> dict[str, tuple[str, str]] | None:
    """The two systems that each cell names, several of them on either side; None for other cells."""
    for versus in _VERSUS:
        matches = {cell: versus.match(cell.strip()) for cell in cells if cell}
        parts = {cell: (match[1], match[2]) for cell, match in matches.items() if match}
        first, second = ({pair[side] for pair in parts.values()} for side in (0, 1))
        shared = len(first & second) >= max(1, len(first | second) // 2) and len(first | second) > 2
        if len(parts) == len(cells) and shared:
            return parts
    return None


def stack_comparisons(loaded: LoadedTable) -> LoadedTable | None:
    """A table with a column for each two systems, `A vs. B`, as one with a row for each; None for others."""
    named = [name for name in loaded.frame.columns if _VERSUS[0].match(name)]
    if len(named) < 2 or _two_in(named) is None:
        return None
    note = f"{len(named)} columns, such as '{shown(named[0])}', are taken for one comparison each"
    return stack(loaded, named, {"comparison": named}, "winner", note)


def _take_apart(loaded: LoadedTable) -> LoadedTable | None:
    """A table whose cells name the two systems together, as `A vs. B`, with a column of each; None for others."""
    for name, dtype in loaded.frame.schema.items():
        cells = loaded.frame[name].unique().to_list() if dtype == pl.String else []
        parts = _two_in(cells) if len(cells) <= loaded.frame.height // 2 else None
        if parts is not None:
            sides = [
                pl.col(name).replace_strict({cell: pair[side] for cell, pair in parts.items()}).alias(meaning)
                for side, meaning in enumerate(("left", "right"))
            ]
            note = f"'{shown(name)}' ({shown(cells[0])}) names two systems, the left one first"
            frame = loaded.frame.with_columns(sides).drop(name)
            return replace(loaded, frame=frame, notes=(*loaded.notes, note), added=loaded.added | {"left", "right"})
    return None


def _add_winner(frame: pl.DataFrame, mapping: ColumnMap) -> ColumnMap:
    """The mapping with the only column that holds nothing but the two systems, the words for sides, and ties."""
    if "winner" in mapping or not {"left", "right"} <= set(mapping.columns):
        return mapping
    names = {name for side in ("left", "right") for name in frame[mapping.columns[side]].cast(pl.String).unique()}
    known = {_plain_value(word) for several in WINNERS.values() for word in several}
    answers = []
    for column in _likely_answers(frame, mapping):
        given = [value for value in frame[column].cast(pl.String).unique() if (value or "").casefold() not in MISSING]
        if given and all(v in names or _plain_value(v) in known or _side_in_words(_plain_value(v)) for v in given):
            answers.append(column)
    return replace(mapping, columns={**mapping.columns, "winner": answers[0]}) if len(answers) == 1 else mapping


def pair_judgments(
    comparisons: Comparisons,
    options: ReadOptions,
    campaign: str,
    *,
    languages: tuple[str, str] | None = None,
    file: str = "",
) -> Judgments:
    """The judgments of a table of comparisons: two rows each, with ranks 1 and 2, or twice 1 for a tie.

    Args:
        comparisons: the table, and which of its columns is what.
        options: how to read.
        campaign: the name of the campaign, where the table does not say it.
        languages: source and target, where the table does not say them.
        file: the name of the file, one of several of the campaign, whose rows are numbered apart.
    """
    loaded, mapping, placed = comparisons
    sides = ("left", "right", "winner")
    for side in sides:
        if side not in mapping:
            raise _explain_missing(side, loaded.frame, mapping)
    mapping, found = complete_pairs(loaded.frame, mapping, options)
    mapping.refuse_twice(loaded.twice)
    source = loaded.source
    bad = loaded.bad_rows(options)
    unused = [name for name in mapping.header if _follows_from_winner(name, mapping)]
    frame, pair_notes = parsing.add_languages(renamed(loaded.frame.drop(unused), mapping.without(unused)))
    frame = frame.with_columns(pl.col(name).cast(pl.String).str.strip_chars() for name in sides)
    frame = check_cells(convert_cells(frame, bad), bad)
    both_sides = [mapping.columns[side] for side in ("left", "right")]
    frame = frame.with_columns(outcomes(frame, options, bad, _names_of_sides(both_sides) if placed else {}))
    set_aside, row_notes = bad.settle()
    frame = frame.with_row_index(_ROW).filter(bad.usable())
    if frame.height == 0:
        raise source.fault("holds no usable comparison; check its columns")
    languages = languages or (split_pair(options.pair) if options.pair else (UNKNOWN, UNKNOWN))
    both = _make_rows(_add_context(frame, campaign, languages, file))
    habits = fixed_sides(frame.group_by("left", "right").len()) if placed else []
    notes = [*loaded.notes, *found, *pair_notes, *row_notes, *habits]
    judgments = Judgments.from_columns(
        both, set_aside=set_aside, notes=notes, source=source, uses=mapping.without(unused).uses(unused)
    )
    return choose_criterion(mark_humans(judgments, options.human), options)


def _explain_missing(side: str, frame: pl.DataFrame, mapping: ColumnMap) -> InputError:
    """The error for a table without one of the three columns; of the only one that may say who won, also its words."""
    likely = _likely_answers(frame, mapping) if side == "winner" else {}
    slid = [name for name in _free_columns(frame, mapping) if side == "winner" and _slides(frame[name])]
    likely = likely or {name: frame[name].n_unique() for name in slid}
    winner = next(iter(likely), None) if len(likely) == 1 else None
    values = [] if winner is None else frame[winner].drop_nulls().cast(pl.String).str.strip_chars().unique().to_list()
    known = {_plain_value(word) for several in WINNERS.values() for word in several}
    unknown = [value for value in values if _plain_value(value) not in known and _plain_value(value) not in _NOTHING]
    meaning, reading = _propose_winners(unknown) if unknown else ("", "")
    also = f" {param('winner')} {shlex.quote(meaning)}{reading}" if meaning else ""
    guesses = {name: counted(values, "different value") for name, values in likely.items()}
    return mapping.missing(side, guesses=guesses, besides=also)


def _likely_answers(frame: pl.DataFrame, mapping: ColumnMap) -> dict[str, int]:
    """The columns of a few values each that are taken for nothing, and how many."""
    free = _free_columns(frame, mapping)
    different = {name: frame[name].cast(pl.String).n_unique() for name in free if not frame.schema[name].is_nested()}
    people = [name for name in different if says_people(name) or meaning_in(name) in ("annotator", "segment")]
    return {n: values for n, values in different.items() if 2 <= values <= FEW_ANSWERS and n not in people}


def _free_columns(frame: pl.DataFrame, mapping: ColumnMap) -> list[str]:
    """The columns that are taken for nothing; between two systems a score says who won, too."""
    taken = [column for meaning, column in mapping.columns.items() if meaning not in ("score", "rank")]
    return [name for name in frame.columns if name not in taken]


def _slides(column: pl.Series) -> bool:
    """Whether a column holds numbers on both sides of 0, as sliders between two systems do."""
    numbers = column.cast(pl.String).cast(pl.Float64, strict=False) if not column.dtype.is_nested() else pl.Series()
    both = (numbers < 0).any() and (numbers > 0).any()
    return both and numbers.null_count() == column.null_count()


def fixed_sides(counts: pl.DataFrame) -> list[str]:
    """Say where systems always stand on the same side: who prefers one side by habit then seems to prefer a system.

    Args:
        counts: columns `left`, `right` and `len`, how many comparisons there are.
    """
    swapped = pl.col("len").filter(pl.col("left") > pl.col("right")).sum() / pl.col("len").sum()
    pair = [pl.min_horizontal("left", "right").alias("first"), pl.max_horizontal("left", "right").alias("second")]
    sides = counts.group_by(pair).agg(pl.col("len").sum(), swapped.alias("swapped"))
    fixed = sides.filter((pl.col("len") >= FEW_PER_PAIR) & ((pl.col("swapped") - 0.5).abs() > FIXED - 0.5))
    if not fixed.height:
        return []
    first, second, _, share = fixed.sort("len", "first", "second", descending=[True, False, False]).row(0)
    left, right = (second, first) if share > FIXED else (first, second)
    which = counted(fixed.height, "pair of systems stands", "pairs of systems stand")
    order = f"{which} in one order nearly always ('{left}' is left of '{right}')"
    return [f"{order}: if these are the sides of the screen, a habit of preferring one side passes for quality"]


def _follows_from_winner(name: str, mapping: ColumnMap) -> bool:
    """Whether a column has the name of one that follows from the comparison, such as `rank`."""
    follows = name in SCHEMA or name == mapping.columns.get("kind")
    return follows and name not in _SHARED and name not in mapping.sides()


def _names_of_sides(headers: Sequence[str]) -> dict[str, str]:
    """How answers may call the sides by the ends of two headers: 1 and 2 for `System 1` and `System 2`."""
    start = count_same(headers)
    ends = [_plain_value(header[start:]) for header in headers]
    return dict(zip(ends, ("left", "right"), strict=True)) if start and "" not in ends else {}


def outcomes(
    frame: pl.DataFrame, options: ReadOptions, bad: parsing.BadRows, called: Mapping[str, str] | None = None
) -> pl.Series:
    """Decide who won each comparison. A system's name counts before words for sides: a system may be called `left`."""
    left, right, winner = frame["left"], frame["right"], frame["winner"]
    reason = "comparison without two systems"
    for side in (left, right):
        missing = side.is_null() | (side == "")
        bad.mark(missing, lambda _, name=side.name: f"has no '{name}'; every comparison needs two systems", reason)  # type: ignore[misc]
    itself = "comparison of a system with itself"
    bad.mark(left == right, lambda row: f"compares '{shown(left[row])}' with itself; correct it", itself)
    chosen = _parse_winners(options.winner)
    words = {_plain_value(word): outcome for outcome, several in WINNERS.items() for word in several}
    words |= {**(called or {}), **chosen}
    plain_words = {value: _plain_value(value) for value in winner.fill_null("").unique().to_list()}
    words_given = winner.fill_null("").replace_strict(plain_words, default=None, return_dtype=pl.String)
    words = {value: named for value in plain_words.values() if (named := _side_in_words(value))} | words
    by_word = words_given.replace_strict(words, default=None, return_dtype=pl.String)
    outcome = pl.select(
        pl.when(words_given.is_in(_NOTHING)).then(pl.lit("none"))
        .when(winner == left).then(pl.lit("left"))
        .when(winner == right).then(pl.lit("right"))
        .otherwise(by_word)
    ).to_series()  # fmt: skip
    for sign, way in ((-1, NEGATIVE), (1, POSITIVE)):
        if way in chosen:
            on_this_side = words_given.cast(pl.Float64, strict=False) * sign > 0
            outcome = pl.select(pl.when(on_this_side).then(pl.lit(chosen[way])).otherwise(outcome)).to_series()
    if chosen:
        outcome = pl.select(
            pl.coalesce(words_given.replace_strict(chosen, default=None, return_dtype=pl.String), outcome)
        ).to_series()

    def problem(row: int) -> str:
        column = bad.source.column("winner", row)
        where = "" if column == "winner" else f" in column '{shown(column)}'"
        what = f"has winner '{shown(winner[row])}'{where}, which is neither of its systems nor left, right or tie"
        unknown = outcome.is_null() & winner.is_not_null()
        meaning, reading = _propose_winners(winner.filter(unknown).unique().to_list())
        return f"{what}; correct it, or say what answers mean{reading}, as {param('winner')} {shlex.quote(meaning)}"

    bad.mark(outcome.is_null(), problem, "winner that is neither of the two systems nor a tie")
    return outcome.alias(_OUTCOME)


# How people write that nothing was answered; `none` might also mean that neither is better.
_NOTHING = [word for word in (*MISSING, "_") if word != "none"]


def _plain_value(value: str) -> str:
    """A value as it is compared: words as names are, numbers and signs as they are; spreadsheets write 1 as 1.0."""
    value = value.strip()
    if any(character.isalpha() for character in value):
        return plain(value)
    # The minus of a number is no hyphen: -1 and 1 are the two sides.
    return value.removesuffix(".0") if value[:-2].lstrip("+-").isdigit() else value


# Answers in words, without blanks: `A is much better`, `slightly prefer the second`, `about the same`.
_BETTER = re.compile(r"(better|prefer|superior|wins?$|besser|gewinnt|mejor|meilleur|lepší)")
_SIDE = (
    r"^(model|system|output|response|translation|summary|answer|option)?({})(?=is|was|$|much|slightly|alittle|clearly|"
    r"strongly|abit|better|wins|ist|viel|etwas|:|far|marginally)"
)
_SIDES = {
    "left": re.compile(_SIDE.format("a|1|left|first|links")),
    "right": re.compile(_SIDE.format("b|2|right|second|rechts")),
}
_NOUN = r"(?:model|system|output|response|translation|summary|answer|option|text|candidate|version)"
_ONLY_SIDES = {"left": re.compile(f"{_NOUN}(?:a|1)"), "right": re.compile(f"{_NOUN}(?:b|2)")}
_SAME = ("aboutthesame", "thesame", "same", "equallygood", "equal", "nodifference", "nopreference", "noidea", "similar",
         "roughlyequal", "aboutequal", "gleich", "gleichgut", "egal")  # fmt: skip


_OF_BOTH = re.compile("^(both|neither)(are|were|is|of(them|which)(are|is))?(equally)?")


def _side_in_words(value: str) -> str | None:
    """The side that an answer in words prefers; None where it does not say it."""
    said = _OF_BOTH.sub("", value)
    if said in _SAME:
        return "tie"
    if said != value and said in ("good", "great", "bad", "poor"):
        neither = value.startswith("neither")
        return "both-good" if (said in ("good", "great")) != neither else "both-bad"
    if named := next((side for side, words in _ONLY_SIDES.items() if words.fullmatch(value)), None):
        return named
    if not _BETTER.search(value) or "worse" in value or "not" in value:
        return None
    return next((side for side, words in _SIDES.items() if words.match(value)), None)


_LAST_STEPS = (4, 5, 6, 7, 9)
"""The last step of scales that begin with 1."""


def _propose_winners(values: Sequence[str]) -> tuple[str, str]:
    """What answers may mean, as the option says it, and how it reads: numbers on a scale from left to right.

    Codes such as 0, 1 and 2 are no scale, and of words nobody knows what they mean: the user says it of each.
    """
    try:
        numbers = sorted(values, key=float)
        low, high = float(numbers[0]), float(numbers[-1])
    except ValueError:
        numbers, low, high = sorted(values), 0.0, 0.0
    if low < 0 < high and len(numbers) > FEW_ANSWERS:
        meaning = f"left={NEGATIVE},right={POSITIVE},tie=0"
        return meaning, " (here numbers below 0 prefer the left one; change it if they do not)"
    if [_plain_value(value) for value in numbers] in (["0"], ["3"]):
        # The others are the numbers of the sides.
        return f"tie={_plain_value(numbers[0])}", " (here a tie; change it if it is none)"
    if [_plain_value(value) for value in numbers] == ["0", "0.5", "1"]:
        return "left=1,right=0,tie=0.5", " (here 1 means that the left one won; change it if it does not)"
    if [_plain_value(value) for value in numbers] in (["1", "2"], ["0", "1", "2"], ["1", "2", "3"]):
        of_code = {"1": "left=1", "2": "right=2"}
        codes = [of_code.get(_plain_value(value), f"tie={_plain_value(value)}") for value in numbers]
        return ",".join(codes), " (here 1 prefers the left one, and 2 the right one; change it if they do not)"
    if not (low < 0 < high or (low == 1 and high in _LAST_STEPS)):
        unknown = [f"MEANING={shown(value.removesuffix('.0'))}" for value in numbers[:FEW_ANSWERS]]
        return ",".join(unknown), " (left, right or tie)"
    middle = 0.0 if low < 0 < high else (low + high) / 2
    sides = ["tie" if float(value) == middle else "left" if float(value) < middle else "right" for value in numbers]
    named = [f"{side}={_plain_value(value)}" for side, value in zip(sides, numbers, strict=True)]
    if low < 0 < high and "tie" not in sides:
        named.insert(sides.index("right"), "tie=0")
    return ",".join(named), " (here the lower numbers prefer the left one; change it if they do not)"


def _parse_winners(chosen: Sequence[str]) -> dict[str, str]:
    """Map the words that the user gives, as `left=1`, to outcomes."""
    words: dict[str, str] = {}
    for entry in chosen:
        outcome, equals, value = (part.strip() for part in entry.partition("="))
        if not equals:
            raise UsageError(
                f"{param('winner')} has '{shown(entry)}', MEANING=VALUE is needed, as in left=1,right=2,tie=0"
            )
        meaning = next((name for name in WINNERS if plain(name) == plain(outcome)), None)
        if meaning is None:
            raise unknown_choice("outcome of a comparison", outcome, WINNERS)
        if words.setdefault(_plain_value(value), meaning) != meaning:
            raise UsageError(
                f"{param('winner')} says that '{shown(value)}' means {words[_plain_value(value)]} and {meaning}"
            )
    return words


def _add_context(frame: pl.DataFrame, campaign: str, languages: tuple[str, str], file: str) -> pl.DataFrame:
    """Add what both rows of a comparison have in common, where the file does not say it."""
    constant = {"campaign": campaign, "source_lang": languages[0], "target_lang": languages[1]}
    filled = [
        (pl.col(name).fill_null(value) if name in frame.columns else pl.lit(value)).alias(name)
        for name, value in constant.items()
    ]
    frame = frame.with_columns(*filled, pl.lit("pairwise").alias("protocol"), _screen(frame, file).alias("screen"))
    both = frame[_OUTCOME].replace_strict(
        {"both-good": "good", "both-bad": "bad"}, default=None, return_dtype=pl.String
    )
    return frame if both.is_null().all() else frame.with_columns(both.alias(BOTH))


def _screen(frame: pl.DataFrame, file: str = "") -> pl.Expr:
    """Name what was shown together. The same two outputs shown to the same person are one screen, whenever it was."""
    row = pl.format(f"{file.replace('{', '(')} {{}}" if file else "{}", pl.col(_ROW) + 1)
    if {"annotator", "segment"} <= set(frame.columns):
        known = (pl.col("annotator").fill_null("") != "") & (pl.col("segment").fill_null("") != "")
        row = pl.when(known).then(pl.format("{} | {}", "left", "right")).otherwise(row)
    return pl.coalesce("screen", row) if "screen" in frame.columns else row


def _make_rows(frame: pl.DataFrame) -> pl.DataFrame:
    outcome = pl.col(_OUTCOME)
    judged = pl.when(outcome == "none").then(None)
    ranks = {
        "left": judged.when(outcome == "right").then(2).otherwise(1),
        "right": judged.when(outcome == "left").then(2).otherwise(1),
    }
    both = pl.concat(
        frame.with_columns(pl.col(side).alias("system"), rank.cast(pl.Int32).alias("rank"))
        for side, rank in ranks.items()
    )
    return both.sort(_ROW, maintain_order=True).drop(_ROW, _OUTCOME, "left", "right", "winner")


# Counts of comparisons: lines `A B wins ties losses` from the point of view of A, both directions or one. Who judged
# which segment is lost in such files: each comparison becomes a screen with two ranks, and the annotator is null.


# Beyond this a count is more likely damage than work that people did.
MOST_COMPARISONS = 5_000_000
# Measured memory for the two rows of a comparison while they are made.
BYTES_PER_COMPARISON = 300
_NO_COUNTS = "line that is no comparison"
_WHOLE = re.compile(r"[+]?[0-9]{1,18}")


class _Count(NamedTuple):
    first: str
    second: str
    numbers: tuple[int, ...]
    """Wins of the first, ties, losses."""
    row: int


def read_pairwise_counts(paths: Sequence[Path], options: ReadOptions) -> Judgments:
    """Read the files; each becomes a campaign named after it. The language pair comes from its name or --pair."""
    return parsing.read_each(paths, options, _read_counts)


def _read_counts(path: Path, campaign: str, options: ReadOptions) -> Judgments:
    lines = list(parsing.numbered_lines(read_text(path)))
    bad = parsing.BadRows(Source(str(path), lambda row: lines[row][0]), options, len(lines))
    counts, copies = _merge_directions(_parse_counts(lines, bad), bad)
    set_aside, row_notes = bad.settle()
    total = sum(sum(count.numbers) for count in counts)
    if total == 0:
        raise InputError("holds no comparison; lines like 'A B wins ties losses' are needed", file=path)
    most = min(MOST_COMPARISONS, memory_at_hand() // BYTES_PER_COMPARISON)
    if total > most:
        what = f"stands for {total:,} comparisons, more than the {most:,} that are read"
        raise InputError(f"{what}; check the counts", file=path)
    source, target = parsing.pair_of(path, options)
    columns = _repeat_comparisons(counts)
    columns = columns.with_columns(
        campaign=pl.lit(campaign),
        protocol=pl.lit("pairwise"),
        source_lang=pl.lit(source),
        target_lang=pl.lit(target),
        **human_columns(columns["system"], options.human),
    )
    named = {name for count in counts for name in (count.first, count.second)}
    notes = [f"'{shown(name)}' is named but never compared" for name in sorted(named - set(columns["system"].unique()))]
    notes += row_notes
    if copies:
        repeat = counted(copies, "line repeats another", "lines repeat others")
        notes.append(f"{repeat}; each pair counts once")
    set_aside.append(SetAside("line repeated later in the file", copies))
    return Judgments.from_columns(columns, set_aside=set_aside, notes=notes, source=str(path))


def _parse_counts(lines: list[tuple[int, str]], bad: parsing.BadRows) -> Iterator[_Count]:
    for row, (line, text) in enumerate(lines):
        fields = text.split()
        if line == 1 and [field.casefold() for field in fields[2:]] == ["wins", "ties", "losses"]:
            bad.rows -= 1
            continue
        if len(fields) != 5:
            held = counted(len(fields), "field")
            bad.row(row, f"{held} where 'A B wins ties losses' has 5; correct the line", _NO_COUNTS)
        elif fields[0] == fields[1]:
            bad.row(row, f"'{shown(fields[0])}' is compared with itself; correct the line", _NO_COUNTS)
        elif broken := next((value for value in fields[2:] if not _WHOLE.fullmatch(value)), None):
            needed = "it cannot be negative" if broken.startswith("-") else "a whole number is needed"
            bad.row(row, f"a count is '{shown(broken)}', {needed}; correct it", _NO_COUNTS)
        else:
            yield _Count(fields[0], fields[1], tuple(map(int, fields[2:])), row)


def _repeat_comparisons(counts: list[_Count]) -> pl.DataFrame:
    """Two rows per comparison: first and second system with ranks 1/2, 1/1 or 2/1."""
    names = sorted({name for count in counts for name in (count.first, count.second)})
    code = {name: i for i, name in enumerate(names)}
    repeats = np.array([count.numbers for count in counts]).ravel()
    systems = np.array([(code[count.first], code[count.second]) for count in counts], dtype=np.uint32).repeat(3, axis=0)
    ranks = np.tile(np.array([(1, 2), (1, 1), (2, 1)], dtype=np.int32), (len(counts), 1))
    screens = pl.int_range(1, int(repeats.sum()) + 1, eager=True).cast(pl.String)
    return pl.DataFrame(
        {
            "system": pl.Series(names).gather(systems.repeat(repeats, axis=0).ravel()),
            "rank": ranks.repeat(repeats, axis=0).ravel(),
            "screen": screens.gather(np.arange(len(screens), dtype=np.uint32).repeat(2)),
        }
    )


def _merge_directions(counts: Iterable[_Count], bad: parsing.BadRows) -> tuple[list[_Count], int]:
    """Each pair of systems once, and how many lines are copies of others.

    A line that mirrors another says the same. One that contradicts another cannot be used.
    """
    kept: dict[frozenset[str], _Count] = {}
    seen: set[tuple[str, str]] = set()
    copies = 0
    for count in counts:
        other = kept.setdefault(frozenset((count.first, count.second)), count)
        if count.numbers == other.numbers[:: 1 if other.first == count.first else -1]:
            copies += (count.first, count.second) in seen
            seen.add((count.first, count.second))
        else:
            line = bad.source.line_of(other.row) if bad.source.line_of else other.row
            what = f"'{shown(count.first)}' and '{shown(count.second)}' have other counts than on line {line}"
            bad.row(count.row, f"{what}; correct one of the two, or add them up", "line that contradicts another")
    return list(kept.values()), copies
