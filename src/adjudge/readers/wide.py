"""Wide tables: one row per item and one column per system or per annotator, which holds a score or a rank.

Also comparisons that say in several columns who won: a score for each side, or a mark for each outcome.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from adjudge.readers.columns import BRACKETS, ColumnMap, map_columns, plain
from adjudge.readers.contents import criteria_in, people_in
from adjudge.readers.headers import STEMS, cross, has_stem, side_of, split_in_two, without_outer, without_side
from adjudge.readers.parsing import LoadedTable
from adjudge.table.errors import Source, UsageError, param, shown, unknown_choice
from adjudge.table.files import parse_json
from adjudge.table.judgments import KEY, ColumnUse
from adjudge.table.wording import LONG_NAME

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence


FEW_NAMES = 6
"""So few winners and losers may be systems in a table of any length; texts are nearly all different."""
SHAPES = ("scores", "ranks")
# In columns of ranks, at least this share of rows has 1 as lowest number and none above the number of systems.
LIKE_RANKS = 0.95
# Names of the column of losers, in tables with a column of winners.
LOSER = (
    "loser",
    "loser_model",
    "losing_system",
    "rejected_model",
    "rejected_system",
    "rejected",
    "worse",
    "dispreferred",
    "verlierer",
    "perdant",
    "perdedor",
    "poražený",
    "perdente",
    "败者",
    "敗者",
)
_BOTH_NAMES = {"left": pl.min_horizontal, "right": pl.max_horizontal}
_ROW = "row of the file"
_ORDER = r"^[^<>=]+([>=][^<>=]+)*>[^<>=]+(=[^<>=]+)*$|^[^<>=]+(=[^<>=]+)+$"


def unpivot(loaded: LoadedTable, systems: Sequence[str], shape: str | None) -> LoadedTable:
    """One row per item and system: the other columns, `system`, and `score` or `rank`.

    Args:
        loaded: the wide table.
        systems: the names of the columns of systems.
        shape: `scores` or `ranks`; default: recognised from the numbers.

    Returns:
        The long table, with a note on what the numbers were taken for.
    """
    frame, source, size = loaded.frame, loaded.source, len(systems)
    if shape is not None and shape not in SHAPES:
        raise unknown_choice("content of a wide table", shape, SHAPES)
    systems = find_columns(frame.columns, systems, source, option="systems", what="system")
    for name in ("system", "score", "rank"):
        if name in frame.columns and name not in systems:
            raise source.fault(
                f"has a column '{name}' besides the columns of {param('systems')}; it is a long table, or rename it"
            )
    ranks = shape == "ranks" or (shape is None and _look_like_ranks(frame.select(systems)))
    answer, other = ("rank", "scores") if ranks else ("score", "ranks")
    note = f"the columns of systems are taken for {answer}s; --wide {other} says otherwise"
    numbered = frame.with_row_index(_ROW)
    names = without_outer(systems)
    long = pl.concat(
        numbered.drop(systems).with_columns(pl.lit(name).alias("system"), numbered[column].alias(answer))
        for column, name in zip(systems, names, strict=True)
    ).sort(_ROW, maintain_order=True)
    if ranks and "screen" not in long.columns:
        long = long.with_columns(_screen(long).alias("screen"))
    return LoadedTable(
        long.drop(_ROW),
        # A long row stands in the row of its item and the column of its system.
        source.moved(lambda row: row // size, lambda name, row: systems[row % size] if name == answer else name),
        loaded.notes if shape is not None else (*loaded.notes, note),
        {row * size + i: problem for row, problem in loaded.ragged.items() for i in range(size)},
    )


def unpivot_raters(
    loaded: LoadedTable, raters: Sequence[str], shape: str | None, columns: Sequence[str] = ()
) -> tuple[LoadedTable, tuple[ColumnUse, ...]]:
    """A table with one column per annotator as one with a row for each of them: `annotator`, and what they said.

    Args:
        loaded: the wide table.
        raters: the names of the columns of annotators.
        shape: `scores` or `ranks`; default: scores, or who won where a row compares two systems.
        columns: what the user says of the other columns, as `system=model`.

    Returns:
        The long table, and what the columns of the wide one were taken for.
    """
    frame, source = loaded.frame, loaded.source
    if shape is not None and shape not in SHAPES:
        raise unknown_choice("content of a wide table", shape, SHAPES)
    of_raters = find_columns(frame.columns, raters, source, option="raters", what="annotator")
    others = map_columns([name for name in frame.columns if name not in of_raters], source, columns=columns)
    compares = "system" not in others and "left" in others and "right" in others
    answer = "rank" if shape == "ranks" else "winner" if compares else "score"
    _check_others(others, columns, answer, taken=of_raters, twice=loaded.twice)
    note = f"{len(of_raters)} columns are taken for the {answer}s of one annotator each"
    note = f"{note}; --wide ranks says otherwise" if answer == "score" and shape is None else note
    table = stack(loaded, of_raters, {"annotator": without_outer(of_raters)}, answer, note)
    return table, tuple(ColumnUse(source.name, name, f"{answer} by {name}", "used") for name in of_raters)


def stack(
    loaded: LoadedTable, columns: Sequence[str], named: Mapping[str, Sequence[str]], answer: str, *notes: str
) -> LoadedTable:
    """A table with a row for each of these columns: what it holds as `answer`, and what it stands for.

    Args:
        loaded: the wide table.
        columns: its columns of answers.
        named: the new columns, and for each what every column of answers stands for.
        answer: the name of the answers.
        *notes: what there is to say.
    """
    frame, rows = loaded.frame, loaded.frame.height
    long = pl.concat(
        frame.drop(columns).with_columns(
            *(pl.lit(values[place]).alias(name) for name, values in named.items()),
            _as_text(frame[column]).alias(answer),
        )
        for place, column in enumerate(columns)
    )
    return replace(
        loaded,
        frame=long,
        source=loaded.source.moved(
            lambda row: row % rows, lambda name, row: columns[row // rows] if name == answer else name
        ),
        notes=(*loaded.notes, *notes),
        ragged={i * rows + row: problem for row, problem in loaded.ragged.items() for i in range(len(columns))},
    )


# Columns of answers whose names join two things: `Sentence 3 [Opus]`, `item3_Opus`, `Opus / fluency`.
_ITEM = re.compile(
    r"^(item|sentence|satz|text|segment|seg|sent|q|question|frage|doc|document|example|stimulus|clip|audio|sample|"
    r"prompt|phrase|frase|image|bild|summary|dialog|dialogue|utterance|utt|page|scene|trial|video|s|t|věta|句|文)?"
    r"[ _.#-]*[0-9]+$",
    re.IGNORECASE,
)
CROSSED = ("system", "segment", "criterion", "annotator")
"""What the names of columns may join."""


def is_text(name: str) -> bool:
    """Whether a name is that of a text, with its number: `Sentence 3`; `Sheet3` and `3` are none."""
    match = _ITEM.match(name)
    return match is not None and len(match[1] or "") > 1


def find_crossed(
    frame: pl.DataFrame, mapping: ColumnMap, shape: str | None
) -> tuple[list[str], dict[str, list[str]]] | None:
    """Columns of answers whose names join two things, such as text and system, and both for every column.

    Args:
        frame: the table.
        mapping: what its other columns are.
        shape: what the names join, in this order, as `segment,system`; default: found out.
    """
    free = [name for name in frame.columns if name not in mapping.columns.values()]
    for split in split_in_two(free):
        joined = cross(split)
        if joined is None or not all(_holds_answers(frame[name]) for name in joined):
            continue
        first, second = ([parts[side] for parts in joined.values()] for side in (0, 1))
        meanings = _what_is_joined(set(first), set(second), mapping, shape)
        if meanings is not None:
            return list(joined), dict(zip(meanings, (first, second), strict=True))
    return None


def _holds_answers(column: pl.Series) -> bool:
    """Whether cells are numbers, or a few short words, as answers are."""
    if column.dtype.is_numeric():
        return True
    words = column.drop_nulls().cast(pl.String).str.strip_chars() if not column.dtype.is_nested() else pl.Series([""])
    numbers = words.str.contains(r"^[+-]?[0-9]+([.,][0-9]+)?%?$")
    few = words.n_unique() <= FEW_NAMES + 1 and words.n_unique() < len(words)
    longest = max(words.str.len_chars().to_list(), default=0)
    return len(words) > 0 and bool(numbers.all() or (few and 0 < longest <= LONG_NAME))


def _what_is_joined(
    one: Collection[str], two: Collection[str], mapping: ColumnMap, shape: str | None
) -> tuple[str, str] | None:
    """What both parts of the names are; None where it is not clear, or leaves the systems unknown."""
    if shape is not None and "," in shape:
        first, second = (part.strip() for part in shape.split(",", 1))
        for name in (first, second):
            if name not in CROSSED:
                raise unknown_choice("part of the names of columns", name, CROSSED)
        return first, second
    known = [_meaning_of(part) for part in (one, two)]
    # What is numbered is people where a column names the texts.
    known = [None if name == "segment" and "segment" in mapping else name for name in known]
    left = next((name for name in ("system", "annotator") if name not in mapping), None)
    if known.count(None) == 1 and left is not None:
        known[known.index(None)] = left
    meanings = tuple(known)
    there = set(mapping.columns)
    clear = None not in meanings and meanings[0] != meanings[1] and not there & set(meanings) and not there & {"score"}
    return meanings if clear and "system" in {*meanings, *there} else None  # type: ignore[return-value]


def _meaning_of(names: Collection[str]) -> str | None:
    # Texts are numbered: `Clip 3: how natural is it?`.
    numbered = {re.sub("[0-9]+", "#", name) for name in names}
    if all(_ITEM.match(name) for name in names) or (len(numbered) == 1 < len(names) and "#" in min(numbered)):
        return "segment"
    if len(criteria_in(names)) == len(names):
        return "criterion"
    return "annotator" if len(people_in(names)) == len(names) else None


def unpivot_crossed(loaded: LoadedTable, columns: Sequence[str], named: Mapping[str, Sequence[str]]) -> LoadedTable:
    """A table whose columns are each one text of one system (or one system by one criterion, ...) as rows."""
    named = {name: without_outer(values) if name == "system" else values for name, values in named.items()}
    kinds = " and ".join(f"{name} ({len(set(values))})" for name, values in named.items())
    note = f"the names of {len(columns)} columns of answers, such as '{shown(columns[0])}', are taken for {kinds}"
    if {"system", "segment"} <= set(named):
        loaded, named_rows = _name_rows(loaded, columns)
        note += named_rows
    return stack(loaded, columns, named, "score", f"{note}; --wide {','.join(reversed(list(named)))} says otherwise")


# How forms call everybody who did not say who they are.
_NOBODY = ("anonymous", "anonym", "anonyme", "anónimo", "anonymní", "匿名", "")


def _name_rows(loaded: LoadedTable, columns: Sequence[str]) -> tuple[LoadedTable, str]:
    """The form with a column of annotators, one for each row, where nothing names them; and a note on it."""
    frame = loaded.frame
    mapping = map_columns([name for name in frame.columns if name not in columns], loaded.source)
    who = mapping.columns.get("annotator")
    if who is not None:
        nobody = frame[who].cast(pl.String).fill_null("").str.strip_chars().str.to_lowercase().is_in(_NOBODY)
        if not nobody.all():
            return loaded, ""
        frame = frame.drop(who)
    rows = pl.Series("annotator", [str(row) for row in range(1, frame.height + 1)])
    named = replace(loaded, frame=frame.with_columns(rows), added=loaded.added | {"annotator"})
    return named, "; nobody is named, so each row is taken for one annotator"


# Columns that name who came first, second, ...: `1st`, `rank_2`, `Platz 3`, `2. Platz`, `third`.
_ORDINAL = re.compile(
    r"^(?:(?:rank|place|platz|rang|choice|puesto|pořadí|místo|第)[ _.#-]*([1-9])(?:位)?|"
    r"([1-9])(?:st|nd|rd|th|\.|er|e|º|位)[ _-]*(?:rank|place|platz|choice|lugar|místo)?)$",
    re.IGNORECASE,
)
_ORDINAL_WORDS = ("first", "second", "third", "fourth", "fifth", "sixth")


def unpivot_places(loaded: LoadedTable) -> LoadedTable | None:
    """A table whose columns name the first, the second, ... system of each row, as ranks; None for others."""
    places: dict[int, str] = {}
    for name in loaded.frame.columns:
        found, word = _ORDINAL.match(name.strip()), plain(name)
        if found:
            places[int(found[1] or found[2])] = name
        elif word in _ORDINAL_WORDS:
            places[_ORDINAL_WORDS.index(word) + 1] = name
    columns = [places[place] for place in sorted(places)]
    if len(columns) < 3 or sorted(places) != list(range(1, len(columns) + 1)):
        return None
    cells = loaded.frame.select(pl.col(columns).cast(pl.String).str.strip_chars())
    together = pl.concat([cells[name].alias("name") for name in columns])
    named = together.n_unique() <= max(FEW_NAMES, loaded.frame.height // 4)
    if not named or together.drop_nulls().str.contains(r"^[0-9.,]+$").all():
        return None
    ranked = [{name: rank for rank, name in enumerate(row, start=1) if name} for row in cells.rows()]
    return _rank_rows(loaded, ranked, columns, f"{', '.join(columns)} name the systems from the best on")


_AT_PLACE = re.compile(r"[ _.:-]*([0-9]+|(?<![^\W_])[a-h](?![^\W_]))[ _.:-]*", re.IGNORECASE)
_FEWEST_PLACES = 3
"""Of two outputs in a row other readers say who won."""


def unpivot_numbered(loaded: LoadedTable) -> LoadedTable | None:
    """A table whose rows name several systems and their answers by number, `sys3` and `score3`; None for others."""
    frame, groups = loaded.frame, dict[str, dict[str, str]]()
    for name in frame.columns:
        if found := [*_AT_PLACE.finditer(name)]:
            last = found[-1]
            groups.setdefault(f"{name[: last.start()]} {name[last.end() :]}".strip(), {})[last[1]] = name
    groups = {stem: at for stem, at in groups.items() if len(at) >= _FEWEST_PLACES}
    systems = [stem for stem, at in groups.items() if _name_the_same(frame.select(at.values()))]
    if len(systems) != 1:
        return None
    places = groups[systems[0]].keys()
    along = {stem: list(at.values()) for stem, at in groups.items() if at.keys() == places}
    answers = [s for s, at in along.items() if s != systems[0] and all(_holds_answers(frame[name]) for name in at)]
    if not answers:
        return None
    ranks = len(answers) == 1 and _look_like_ranks(frame.select(along[answers[0]]))
    new = {systems[0]: "system"} | ({answers[0]: "rank" if ranks else "score"} if len(answers) == 1 else {})
    size, rows = len(places), [row for row in range(frame.height) for _ in places]
    beside = f"'{shown(along[systems[0]][0])}' with '{shown(along[answers[0]][0])}'"
    note = f"{size} systems stand in each row, such as {beside}"
    taken = loaded.take_rows(rows, note, *new.values(), "screen", *along)
    columns = {
        new.get(stem, stem): [cell for row in frame.select(pl.col(at).cast(pl.String)).rows() for cell in row]
        for stem, at in along.items()
    }
    long = taken.frame.drop([name for at in along.values() for name in at]).with_columns(
        pl.Series(_ROW, rows), *(pl.Series(name, cells, dtype=pl.String) for name, cells in columns.items())
    )
    screens = [] if "screen" in long.columns else [_screen(long).alias("screen")]
    return replace(taken, frame=long.with_columns(screens).drop(_ROW))


def _name_the_same(frame: pl.DataFrame) -> bool:
    """Whether columns hold the same few names, hardly ever one of them twice in a row."""
    cells = frame.select(pl.all().cast(pl.String).str.strip_chars())
    together = pl.concat([column.alias("name") for column in cells]).drop_nulls()
    few = 1 < together.n_unique() <= max(FEW_NAMES, frame.height // 4)
    if not few or together.str.contains(r"^[+-]?[0-9.,]*$").all():
        return False
    return all(len(set(row)) == len(row) for row in cells.drop_nulls().rows())


def find_orders(frame: pl.DataFrame, taken: Mapping[str, str]) -> str | None:
    """The column in which each cell is a whole ranking, `B > A = C`; None where there is none."""
    kinds = (pl.String, pl.List(pl.String))
    others = [name for name, dtype in frame.schema.items() if dtype in kinds and name not in taken.values()]
    for name in (*(taken[meaning] for meaning in ("rank", "winner") if meaning in taken), *others):
        cells = frame[name].drop_nulls() if frame.schema[name] == pl.String else pl.Series(dtype=pl.String)
        cells = cells.filter(cells.str.strip_chars() != "")
        # So many rows hold one at least, if enough of all do.
        some = cells.head(int((1 - LIKE_RANKS) * len(cells)) + 1)
        if some.str.contains(_ORDER).any() and cells.str.contains(_ORDER).sum() >= LIKE_RANKS * len(cells):
            return name
        if plain(BRACKETS.sub("", name)) in RANKINGS and _list_the_same(
            frame[name] if frame.schema[name].is_nested() else cells
        ):
            return name
    return None


RANKINGS = (
    "ranking",
    "rank",
    "order",
    "ordering",
    "ranked",
    "rangfolge",
    "reihenfolge",
    "classement",
    "pořadí",
    "排名",
)


_NUMBERED = re.compile(r"(?:^|[\s,;])\s*[1-9][.):]\s*")


def _list_the_same(cells: pl.Series) -> bool:
    """Whether each cell lists the same few names, in its own order."""
    lists = [[name for group in _groups_in(cell) for name in group] for cell in cells]
    first = set(lists[0]) if lists else set()
    return len(first) > 1 and all(set(names) == first and len(names) == len(first) for names in lists)


def _groups_in(cell: object) -> list[list[str]]:
    """The names in a ranking, those of equal rank together: `B > A = C`, a list of names, or a list of such lists."""
    if isinstance(cell, str) and (">" in cell or "=" in cell):
        return [group.split("=") for group in cell.split(">")]
    if isinstance(cell, str) and _NUMBERED.match(cell):
        return [[name.strip()] for name in _NUMBERED.split(cell)[1:]]
    given = cell if isinstance(cell, list | pl.Series) else _list_in(str(cell or ""))
    return [list(map(str, each)) if isinstance(each, list | pl.Series) else [str(each)] for each in given]


def unpivot_orders(loaded: LoadedTable, column: str) -> LoadedTable:
    """A table with a whole ranking in one cell as one with a row for each system: `system` and `rank`."""
    ranked = [
        {name.strip(): rank for rank, group in enumerate(_groups_in(cell), start=1) for name in group}
        for cell in loaded.frame[column]
    ]
    return _rank_rows(loaded, ranked, [column], f"'{shown(column)}' holds whole rankings, the best system first")


def _rank_rows(loaded: LoadedTable, ranked: Sequence[Mapping[str, int]], used: Sequence[str], note: str) -> LoadedTable:
    """A row for each system that a row of the table ranks; `used` are the columns that say so."""
    rows = [row for row, ranks in enumerate(ranked) for _ in ranks]
    taken = loaded.take_rows(rows, note, "system", "rank", "screen")
    long = taken.frame.drop(used).with_columns(
        pl.Series(_ROW, rows),
        pl.Series("system", [name for ranks in ranked for name in ranks], dtype=pl.String),
        pl.Series("rank", [str(rank) for ranks in ranked for rank in ranks.values()], dtype=pl.String),
    )
    screens = [] if "screen" in long.columns else [_screen(long).alias("screen")]
    return replace(taken, frame=long.with_columns(screens).drop(_ROW))


# Best-worst scaling: who was best and who worst among those shown.
BEST = ("best", "most", "best_item", "best_system", "best_choice", "bester", "beste", "mejor", "meilleur", "nejlepší")
WORST = (
    "worst", "least", "worst_item", "worst_system", "worst_choice", "schlechtester", "schlechteste", "peor", "pire",
    "nejhorší",
)  # fmt: skip
SHOWN = ("options", "choices", "items", "tuple", "shown", "candidates", "systems", "set", "alternatives", "outputs")
_PLACE = re.compile(
    r"^(item|option|candidate|choice|system|output|model|text|alternative)([ _-]?[0-9]+|[ _-][a-z])$", re.IGNORECASE
)


def unpivot_best_worst(loaded: LoadedTable) -> LoadedTable | None:
    """A table of best and worst outputs as ranks: best 1, worst last, all others shown between; None for others."""
    names = {plain(name): name for name in reversed(loaded.frame.columns)}
    best, worst = _first_name(names, BEST), _first_name(names, WORST)
    if best is None or worst is None:
        best, worst = _most_and_least(loaded.frame.columns)
    if best is None or worst is None:
        return None
    chosen = {plain(cell) for cell in loaded.frame[best].drop_nulls().cast(pl.String)}
    by_name = [name for name in loaded.frame.columns if plain(name) in chosen or re.fullmatch("[A-Ha-h]", name)]
    shown_at = by_name if chosen <= set(map(plain, by_name)) else []
    if shown_at:
        # Texts are nearly all different, names of systems come again.
        placed = pl.concat([loaded.frame[name].cast(pl.String).alias("name") for name in shown_at])
        shown_at = shown_at if placed.n_unique() <= min(FEW_NAMES, len(placed) // 2) else []
    places = [name for name in loaded.frame.columns if _PLACE.match(name)] or shown_at
    listed = _first_name(names, SHOWN)
    if not places and listed is None and _are_places(loaded.frame, loaded.frame[best]):
        example = "write each as one ranking, such as 'A > B = C > D', in a column 'ranking'"
        raise loaded.source.fault(
            f"'{shown(best)}' names columns of texts, and nothing says by whom they are; {example}"
        )
    ranked, used = [], [best, worst, *places, *([listed] if listed and not places else [])]
    for cells in loaded.frame.select(used).cast(pl.String).rows():
        seen = list(cells[2:]) if places else _names_in(cells[2]) if listed else []
        of_both = [_choice(cell, seen, places) for cell in cells[:2]]
        ranked.append(_ranks_of_best_worst(of_both, [name for name in seen if name]))
    among = "; who else was shown is not known" if not places and listed is None else ""
    return _rank_rows(loaded, ranked, used, f"'{best}' and '{worst}' say who was best and who worst{among}")


def _most_and_least(header: Sequence[str]) -> tuple[str | None, str | None]:
    """The two columns that are called `most natural` and `least natural`, or the like."""
    rest = {word: {plain(name).removeprefix(word): name for name in header} for word in ("most", "least")}
    same = [word for word, name in rest["most"].items() if word != plain(name) and rest["least"].get(word) != name]
    same = [word for word in same if word in rest["least"] and plain(rest["least"][word]) != word]
    return (rest["most"][same[0]], rest["least"][same[0]]) if len(same) == 1 else (None, None)


def _are_places(frame: pl.DataFrame, choices: pl.Series) -> bool:
    """Whether choices are letters or numbers under which the table has texts: nothing says whose texts these are."""
    chosen = choices.drop_nulls().cast(pl.String).str.strip_chars().unique().to_list()
    return all(len(name) == 1 and name in frame.columns for name in chosen)


def _names_in(cell: str | None) -> list[str]:
    """The names in a cell that lists them."""
    return [str(name) for name in _list_in(cell or "")]


def _list_in(cell: str) -> list[Any]:
    """What a cell lists: JSON, or between signs."""
    try:
        given = parse_json(cell or "[]")
    except ValueError:
        given = [name.strip(" '\"") for name in re.split(r"\s*[;|,]\s*", cell.strip(" []()"))]
    return given if isinstance(given, list) else []


def _choice(cell: str | None, seen: Sequence[str | None], places: Sequence[str]) -> str | None:
    """The system that a cell chooses, by its name or by its place among those shown."""
    cell = (cell or "").strip()
    by_place = {str(number): name for number, name in enumerate(seen, start=1)}
    by_place |= {chr(ord("a") + number): name for number, name in enumerate(seen)}
    by_place |= {plain(place): name for place, name in zip(places, seen, strict=False)}
    return cell if cell in seen or not seen else by_place.get(plain(cell).removesuffix(".0"), cell or None)


def _ranks_of_best_worst(chosen: Sequence[str | None], seen: Sequence[str]) -> dict[str, int]:
    best, worst = chosen
    if best is None or worst is None or best == worst:
        return {}
    between = [name for name in seen if name not in chosen]
    return {best: 1, **dict.fromkeys(between, 2), worst: 3 if between else 2}


# Names of columns that hold, for each output, the list of what all annotators said.
LISTS = ("scores", "ratings", "annotations", "human_scores", "human_ratings", "expert_annotations", "expert_scores",
         "turker_annotations", "crowd_annotations", "crowd_scores")  # fmt: skip


def find_lists(frame: pl.DataFrame, mapping: ColumnMap) -> tuple[str, list[list[Any]]] | None:
    """The column in which each cell lists scores (or scores by criterion) of one output, and the lists."""
    known = {*map(plain, LISTS), plain(mapping.columns.get("score", "scores"))}
    for name in frame.columns:
        lists = _parse_lists(frame[name]) if plain(name) in known else []
        # What one annotator says in a list of numbers was asked one by one.
        numbers = all(isinstance(value, int | float) for cell in lists for value in cell)
        once = numbers and len({len(cell) for cell in lists}) == 1 and "score" not in mapping
        asked = "annotator" not in mapping or once
        if lists and asked:
            return name, lists
    return None


def _parse_lists(cells: pl.Series) -> list[list[Any]]:
    """What all cells list; nothing if one of them, of numbers the first, holds anything else."""
    lists = []
    for cell in cells:
        given = _parse_list(cell)
        if given is None:
            return []
        lists.append(given)
    return lists


def _parse_list(cell: object) -> list[Any] | None:
    """A list of numbers, or of objects that hold numbers; None where a cell is anything else."""
    try:
        given = cell.to_list() if isinstance(cell, pl.Series) else parse_json(str(cell))
    except ValueError:
        return None
    said = (
        [value for each in given for value in (each.values() if isinstance(each, dict) else [each])]
        if isinstance(given, list)
        else [None]
    )
    numbers = said and all(isinstance(value, int | float) and not isinstance(value, bool) for value in said)
    return given if numbers else None


def unpivot_lists(loaded: LoadedTable, column: str, lists: Sequence[list[Any]], place: str) -> LoadedTable:
    """A table with a list of scores per output as one with a row for each score.

    Args:
        loaded: the table.
        column: the column of lists.
        lists: what it holds.
        place: what the place in a list names: the `annotator`, or the `criterion` where a column names annotators.
    """
    rows = [row for row, said in enumerate(lists) for _ in said]
    answers = [each if isinstance(each, dict) else {"score": each} for said in lists for each in said]
    names = list(dict.fromkeys(name for answer in answers for name in answer))
    places = [str(place) for said in lists for place in range(1, len(said) + 1)]
    others = [name for name in loaded.frame.columns if name != column and plain(name) in map(plain, LISTS)]
    note = f"'{shown(column)}' lists the scores of each output; each place in the list is taken for one {place}"
    if others:
        note += (
            f"; '{shown(others[0])}' lists scores, too, and is not used: --columns 'score={others[0]}' reads it instead"
        )
    taken = loaded.take_rows(rows, note, place, "score", *names)
    values = {name: pl.Series(name, [answer.get(name) for answer in answers], strict=False) for name in names}
    said = [pl.Series(place, places), *(column.cast(pl.String) for column in values.values())]
    return replace(taken, frame=taken.frame.drop(column).with_columns(said))


def find_texts(frame: pl.DataFrame, mapping: ColumnMap) -> list[str] | None:
    """The columns of a table that are called like texts, each with a number, and hold answers: `seg1`, `seg2`."""
    if {"segment", "document", "score", "rank"} & set(mapping.columns):
        return None
    free = [name for name in frame.columns if name not in mapping.columns.values()]
    # Letters may be those of texts, people or systems, unless these are known.
    sure = 1 if "annotator" in mapping else 2
    texts = [name for name in free if (match := _ITEM.match(name)) and len(match[1] or "") >= sure]
    return texts if len(texts) > 1 and all(_holds_answers(frame[name]) for name in texts) else None


def unpivot_texts(loaded: LoadedTable, texts: Sequence[str]) -> LoadedTable:
    """A table with a column of scores for each text as one with a row for each."""
    note = f"{len(texts)} columns, such as '{shown(texts[0])}', are taken for the scores of one text each"
    return stack(loaded, texts, {"segment": texts}, "score", note)


def unpivot_criteria(loaded: LoadedTable, criteria: Sequence[str]) -> LoadedTable:
    """A table with one column of scores per criterion as one with a row for each: `criterion` and `score`."""
    return stack(loaded, criteria, {"criterion": criteria}, "score")


def _check_others(
    others: ColumnMap, said: Sequence[str], answer: str, *, taken: Sequence[str], twice: Collection[str]
) -> None:
    """Refuse columns beside those of annotators that name annotators or hold answers too: one of both would be lost."""
    others.refuse_twice(twice, also=taken)
    meanings = {entry.partition("=")[0].strip() for entry in said}
    for name in ("annotator", answer):
        if name in others.header:
            raise others.source.fault(
                f"has a column '{name}' besides the columns of {param('raters')}; leave that option out"
            )
        if name in meanings:
            raise UsageError(
                f"{param('columns')} says which column is '{name}', but so does "
                f"{param('raters')}; leave one of them out"
            )
    if answer != "winner" and "system" not in others:
        raise others.missing("system")


def _as_text(column: pl.Series) -> pl.Series:
    """The cells as text; numbers that are missing in data frames have none."""
    return (column.fill_nan(None) if column.dtype.is_float() else column).cast(pl.String)


def _screen(long: pl.DataFrame) -> pl.Expr:
    """A number for every row of the file, the same where one person judged one item again."""
    row = pl.col(_ROW)
    if {"annotator", "segment"} <= set(long.columns):
        known = pl.all_horizontal(pl.col(name).cast(pl.String).fill_null("") != "" for name in ("annotator", "segment"))
        identity = [name for name in KEY if name in long.columns]
        row = pl.when(known).then(row.min().over(identity)).otherwise(row)
    return row.rank("dense").cast(pl.String)


def find_columns(
    header: Sequence[str], names: Sequence[str], source: Source, *, option: str = "columns", what: str = "criterion"
) -> list[str]:
    """The columns that the user names, in any case; an error that names the columns where one is not there."""
    columns = []
    for name in names:
        same = [column for column in header if column == name] or [
            column for column in header if plain(column) == plain(name)
        ]
        if len(same) != 1:
            raise source.fault(
                f"{param(option)} names '{shown(name)}', but the columns are {shown(', '.join(header), 300)}"
            )
        columns.append(same[0])
    if len(set(columns)) < max(len(columns), 2):
        raise UsageError(f"{param(option)} must name two or more different columns, each of one {what}")
    return columns


def _look_like_ranks(frame: pl.DataFrame) -> bool:
    """Whether (nearly) every row holds whole numbers from 1 on, none above the number of systems, with a best one."""
    numbers = frame.select(pl.all().cast(pl.String).str.strip_chars().cast(pl.Float64, strict=False))
    filled = numbers.filter(~pl.all_horizontal(pl.all().is_null()))
    if not filled.height:
        return False
    whole = pl.all_horizontal((pl.all() == pl.all().round()).fill_null(value=True))
    like_ranks = whole & (pl.min_horizontal(pl.all()) == 1) & (pl.max_horizontal(pl.all()) <= frame.width)
    return float(filled.select(like_ranks.mean()).item()) >= LIKE_RANKS


def winners(frame: pl.DataFrame, mapping: ColumnMap) -> tuple[pl.DataFrame, str] | None:
    """The comparisons with a column `winner`, where others say who won; and a note on which.

    They are columns of winners and of losers, or a score for each side.
    """
    sides = {"left", "right"} & set(mapping.columns)
    names = {plain(name): name for name in reversed(frame.columns)}
    if "winner" in mapping and not sides:
        return _winners_by_losers(frame, mapping, names)
    if "winner" not in mapping and len(sides) == 2:
        return _winners_by_scores(frame, names)
    return None


def _winners_by_losers(
    frame: pl.DataFrame, mapping: ColumnMap, names: Mapping[str, str]
) -> tuple[pl.DataFrame, str] | None:
    won, lost = mapping.columns["winner"], _first_name(names, LOSER)
    if lost is None:
        return None
    both = pl.concat([frame[won].cast(pl.String), frame[lost].cast(pl.String).alias(won)])
    is_text = both.str.contains(r"^\s*[\[{]").any() or both.str.len_chars().sum() > LONG_NAME * len(both)
    if is_text or both.n_unique() > max(FEW_NAMES, frame.height // 4):
        what = f"'{shown(won)}' and '{shown(lost)}' hold texts, not the names of systems"
        add = "add columns that name the system of each, such as chosen_model and rejected_model"
        raise mapping.source.fault(f"{what}; {add}")
    note = f"'{won}' and '{lost}' say who won; where they stood on the screen is not known"
    two = [function(won, lost).alias(side) for side, function in _BOTH_NAMES.items()]
    return frame.with_columns(two).drop(lost), note


def _winners_by_scores(frame: pl.DataFrame, names: Mapping[str, str]) -> tuple[pl.DataFrame, str] | None:
    """Who won by two columns of scores, whose names say the sides: `score_a`, `model_b_score`."""
    sides = {name: side_of(name) for name in names.values() if has_stem(name, STEMS["score"])}
    both = [
        (first, second)
        for first, left in sides.items()
        for second, right in sides.items()
        if (left, right) == ("left", "right") and without_side(first) == without_side(second)
    ]
    if len(both) != 1:
        return None
    first, second = both[0]
    left, right = (pl.col(name).cast(pl.String).str.strip_chars().cast(pl.Float64) for name in (first, second))
    won = pl.when(left > right).then(pl.lit("left")).when(left < right).then(pl.lit("right"))
    try:
        decided = frame.with_columns(won.when(left == right).then(pl.lit("tie")).alias("winner"))
    except pl.exceptions.PolarsError:
        return None
    return decided, f"who won is told by the scores in '{first}' and '{second}', the higher the better"


def _first_name(names: Mapping[str, str], wanted: Iterable[str]) -> str | None:
    return next((names[plain(name)] for name in wanted if plain(name) in names), None)
