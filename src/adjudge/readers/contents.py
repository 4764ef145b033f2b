"""What columns are by what they hold, where their names do not say it: people, segments and criteria.

Whoever judges, and what was asked, changes the verdict. So no such column is left unused by silence: it is taken where
its contents leave no doubt, with a note that says why, and asked for where they do.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import polars as pl

from adjudge.readers.columns import (
    BRACKETS,
    NO_COLUMN,
    PAIR_COLUMNS,
    SYNONYMS,
    ColumnMap,
    columns_of_numbers,
    map_columns,
    parse_columns,
    plain,
)
from adjudge.readers.headers import (
    ABOUT_WORDS,
    CRITERIA,
    find_joined,
    has_stem,
    meaning_in,
    side_of,
    without_outer,
    words_of,
)
from adjudge.readers.parsing import SCORE_SCALE
from adjudge.readers.values import are_marks, is_scale, propose_scale, says_lower, says_standardised
from adjudge.table.errors import InputError, UsageError, param, shown
from adjudge.table.judgments import KEY, key_hashes
from adjudge.table.languages import is_language
from adjudge.table.wording import LONG_NAME, as_argument, counted, short_list, split_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from adjudge.readers.options import ReadOptions
    from adjudge.readers.parsing import LoadedTable
    from adjudge.table.judgments import Judgments

NEARLY = 0.95
"""A share of rows that is taken for all of them; files hold some rows twice."""
MOST_CRITERIA = 12
"""Nobody is asked so many questions about one output; a column with more values holds people or texts."""
STATEMENT = 4
"""So many words in a header are a statement on which people were asked, not the name of something."""
FEWEST_RANKED = 3
"""The places of so many systems are no scores by chance."""
ROWS_NEEDED = 8
"""With fewer rows everything is crossed with everything by chance."""

# Words of a header that say what a column is, though no column of the judgment table is called so.
_ASKED = ("question", "turn", "attribute", "category", "metric", "measure", "slider", "frage", "pregunta", "otázka")
_AGAIN = (
    "round", "wave", "session", "pass", "attempt", "phase", "trial", "repetition", "version", "date", "day", "time",
    "update", "status", "set",
)  # fmt: skip
_SITTINGS = ("session", "repetition", "wave", "day")
"""Such headers say that outputs were judged again on purpose; others, that a judgment may have been changed."""
_ABOUT = (
    "domain", "genre", "topic", "subset", "split", "difficulty", "length", "type", "origin", "direction", "lang", "tag",
    "style", "register", "severity", "confidence", "order", "position", "side", "gender", "age", "country", "level",
    "flag", "passed", "comment", "error", "category", "label", "source", "target", "reference", "text", "output",
    "translation", "hypothesis", "quelle", "ziel", "url", "file", "prompt", "seed", "temperature", "vendor", "family",
    "group", "native", "expert", "channel", "device", "condition", "human", "kind", "class",
)  # fmt: skip
_ABOUT_ITEMS = tuple(word for word in _ABOUT if word not in ("label", "class", "category", "flag", "passed"))
"""Headers of these words say more of items; those left out may be what was answered."""
_PEOPLE = (
    "ann",
    "annot",
    "subject",
    "person",
    "name",
    "who",
    "wer",
    "qui",
    "quién",
    "kdo",
    "expert",
    "student",
    "pid",
    "uid",
)
_NUMBERS = ("id", "key", "index", "no", "nr", "number", "line", "row")
_WEAK_SCORES = ("note", "nota", "body", "noten", "wertung", "valoración", "évaluation", "evaluation", "rate", "stars")


def complete(frame: pl.DataFrame, mapping: ColumnMap, options: ReadOptions) -> tuple[ColumnMap, list[str]]:
    """Find people, segments and criteria that no header names.

    Args:
        frame: the table, under the names of the file.
        mapping: what the headers say; it has a column of systems.
        options: what the user says.

    Returns:
        The mapping with what was found, and a note on each.
    """
    found = _Contents(frame, mapping, options)
    if not {"score", "rank"} & set(found.mapping.columns):
        found.find_score()
    if frame.height >= ROWS_NEEDED:
        found.find_shared_segment()
        found.find_people_and_segments()
    found.find_criteria()
    found.refuse_ranks()
    return found.mapping, found.notes


def complete_pairs(frame: pl.DataFrame, mapping: ColumnMap, options: ReadOptions) -> tuple[ColumnMap, list[str]]:
    """Find who compared what, and by which criteria; the parameters and what is returned are those of `complete`."""
    found = _Contents(frame, mapping, options)
    for meaning in ("annotator", "segment"):
        if meaning not in found.mapping and meaning not in found.said:
            found.take_hinted(meaning)
    if frame.height >= ROWS_NEEDED:
        found.find_context_of_pairs()
    found.find_criteria()
    return found.mapping, found.notes


def add_sides(frame: pl.DataFrame, mapping: ColumnMap, options: ReadOptions) -> tuple[ColumnMap, list[str]]:
    """Find the two columns of a comparison: both name the same few systems, and never the same one in a row."""
    found = _Contents(frame, mapping, options)
    if len({"left", "right", "system"} & {*mapping.columns, *found.said}) == 0:
        found.find_sides()
    return found.mapping, found.notes


def find_opponent(frame: pl.DataFrame, mapping: ColumnMap, options: ReadOptions) -> str | None:
    """The column with the system that each one of the column of systems was compared with; None where there is none."""
    if {"score", "rank", "left"} & set(mapping.columns) or frame.height < ROWS_NEEDED:
        return None
    found = _Contents(frame, mapping, options).opponents()
    return found[0] if len(found) == 1 else None


def add_hinted(frame: pl.DataFrame, mapping: ColumnMap, options: ReadOptions, *, meanings: Sequence[str]) -> ColumnMap:
    """The mapping with columns whose headers hint at a meaning that no column has yet, and that hold what it needs."""
    contents = _Contents(frame, mapping, options)
    for meaning in meanings:
        if meaning not in contents.mapping and meaning not in contents.said:
            contents.take_hinted(meaning)
    return contents.mapping


_JOINTS = ("::", "__", "#", "/", "|", ":", "_", "-", ".", " ")


def split_names_of_outputs(loaded: LoadedTable, mapping: ColumnMap) -> LoadedTable | None:
    """A table whose ids join text and system (`12_Opus`, `Opus-12`) with a column of each; None for other tables.

    Every system must have (nearly) every text, and there must be more texts than systems.
    """
    taken = [column for meaning, column in mapping.columns.items() if meaning not in ("segment", "document")]
    ids = [name for name in loaded.frame.columns if name not in taken and loaded.frame.schema[name] == pl.String]
    for name in ids:
        cells = loaded.frame[name].str.strip_chars()
        if cells.null_count() or cells.str.len_chars().sum() > LONG_NAME * len(cells):
            continue
        found = None if "segment" in mapping.without([name]) else take_apart(cells)
        if found is not None:
            texts, systems = found
            frame = loaded.frame.rename({name: f"{name} (whole)"}).with_columns(
                texts.alias("segment"), systems.alias("system")
            )
            note = f"'{shown(name)}' ({shown(cells[0])}) is taken apart: '{shown(systems[0])}' is a system"
            return replace(loaded, frame=frame, notes=(*loaded.notes, note), added=loaded.added | {"segment", "system"})
    return None


def take_apart(cells: pl.Series) -> tuple[pl.Series, pl.Series] | None:
    """The texts and the systems of ids that join both, at the first or last joint of each; None for other ids."""
    distinct = cells.unique()
    for joint in _JOINTS:
        if not distinct.str.contains(joint, literal=True).all():
            continue
        for start in (".*", ".*?"):
            pattern = f"(?s)^({start}){re.escape(joint)}(.*)$"
            text = _place_of_text(_parts(distinct, pattern))
            if text is not None:
                parts = _parts(cells, pattern)
                return parts[text], _last_of_paths(parts[1 - text])
    return None


def _last_of_paths(names: pl.Series) -> pl.Series:
    """The last part of names that are folders, if it tells them apart."""
    last = names.str.extract(r"([^/\\]+)$", 1)
    names = last if not last.null_count() and last.n_unique() == names.n_unique() else names
    return names.replace_strict(dict(zip(several := names.unique().to_list(), without_outer(several), strict=True)))


def _parts(cells: pl.Series, pattern: str) -> tuple[pl.Series, pl.Series]:
    groups = cells.str.extract_groups(pattern).struct.unnest()
    return groups["1"].str.strip_chars(), groups["2"].str.strip_chars()


def _place_of_text(parts: tuple[pl.Series, pl.Series]) -> int | None:
    """Which part of distinct ids is the text, the other being the system; None where they are not crossed."""
    first, second = (part.n_unique() for part in parts)
    if any((part == "").any() for part in parts) or not 1 < min(first, second) < max(first, second):
        return None
    text = int(second > first)
    crossed = len(parts[0]) >= NEARLY * first * second
    # Systems have names; two numbers are places of a text in its document.
    return text if crossed and not any(name.isdigit() for name in parts[1 - text].unique()) else None


class _Contents:
    """The columns of one table, of which some have a meaning."""

    def __init__(self, frame: pl.DataFrame, mapping: ColumnMap, options: ReadOptions) -> None:
        self.frame, self.mapping, self.options = frame, mapping, options
        self.said = parse_columns(options.columns)
        self.notes: list[str] = []

    def take(self, meaning: str, column: str, why: str) -> None:
        """Give a column a meaning."""
        self.mapping = replace(self.mapping, columns={**self.mapping.columns, meaning: column})
        self.notes.append(f"column '{shown(column)}' is taken for the {meaning}: {why}; --columns says otherwise")

    def ask(self, what: str, **meanings: str) -> InputError:
        """The refusal of a table in which a column may be several things, or none, with the options that say which."""
        ways = [self.say({meaning: column}) for meaning, column in meanings.items()]
        return self.mapping.source.fault(f"{what}; say which it is, as {' or '.join(ways)}")

    def say(self, meanings: Mapping[str, str]) -> str:
        """The options that give columns a meaning, besides what the user says already; a score that is missing, too."""
        columns = {meaning: column for meaning, column in meanings.items() if column != NO_COLUMN}
        rest = _Contents(self.frame, replace(self.mapping, columns={**self.mapping.columns, **columns}), self.options)
        said = [*self.options.columns, *(f"{meaning}={column}" for meaning, column in meanings.items())]
        if {"score", "rank", "left"} & set(rest.mapping.columns) or "system" not in rest.mapping:
            return f"{param('columns')} {as_argument(said)}"
        with suppress(InputError):
            rest._find_segments()
        return rest.say_answer(rest.answers(), said)

    def say_answer(self, answers: Sequence[str], said: Sequence[str]) -> str:
        """The options that name the score, if it can be only one; `said` is what they say besides."""
        if len(answers) != 1:
            return f"{param('columns')} {as_argument(said)}"
        name = answers[0]
        named = f"{'rank' if self.holds_ranks(name) else 'score'}={name}"
        besides, words = "", self.frame[name].drop_nulls().cast(pl.String).str.strip_chars()
        if says_lower(name, self.frame[name]):
            besides = f" {param('lower_is_better')}"
        if not _are_numbers(words) and not is_scale(words):
            different = words.unique().sort().to_list()
            besides += f" {param('values')} {as_argument([f'{word}=NUMBER' for word in different])}"
        elif not (numbers := words.cast(pl.Float64, strict=False)).is_between(*SCORE_SCALE).all() and "score=" in named:
            besides += f" {propose_scale(numbers.drop_nulls())}"
        return f"{param('columns')} {as_argument([*said, named])}{besides}"

    def columns(self, *meanings: str) -> list[str]:
        """The columns of these meanings, as far as there are any."""
        return [self.mapping.columns[name] for name in meanings if name in self.mapping]

    def different(self, *columns: str) -> int:
        """How many different values these columns hold together."""
        if len(columns) == 1:
            return self.frame[columns[0]].n_unique()
        return pl.Series(key_hashes(self.frame, columns)).n_unique()

    def free(self) -> list[str]:
        """The columns of names without a meaning: a few short values each, every one several times."""
        taken = set(self.mapping.columns.values())
        return [name for name in self.frame.columns if name not in taken and self._holds_names(name)]

    def answers(self) -> list[str]:
        """The columns that may hold answers: numbers, or a few short words, that say more of nothing else."""
        taken = set(self.mapping.columns.values())
        free = [name for name in self.frame.columns if name not in taken]
        own = [name for name in free if not self._says_more_of_one(name)]
        for columns in (own, free):
            numbers = columns_of_numbers(self.frame.select(columns))
            numbers = without_summaries(self.frame, [name for name in numbers if not self._numbers_rows(name)])
            words = [name for name in columns if self._holds_few_words(name)]
            named = [name for name in numbers if not says_more(name)] or [
                name for name in words if not says_about(name) and meaning_in(name) not in ("annotator", "segment")
            ]
            if found := named or numbers or words:
                return found
        return []

    def _says_more_of_one(self, name: str) -> bool:
        """Whether a column says more of what others name, as the length of a text does: it is the same each time."""
        if self.frame.height < ROWS_NEEDED:
            return False
        keys = [[key] for key in self.columns("annotator", "segment", "document", "system")]
        keys += [self.columns("system", "segment")] if len(self.columns("annotator", "system", "segment")) == 3 else []
        often = [key for key in keys if name not in key and 2 * self.different(*key) <= self.frame.height]
        return any(self.different(*key) == self.different(*key, name) for key in often)

    def _numbers_rows(self, name: str) -> bool:
        numbers = self.frame[name].cast(pl.String).cast(pl.Float64, strict=False)
        return self.frame.height >= ROWS_NEEDED and numbers.is_sorted() and self.different(name) == self.frame.height

    def _holds_few_words(self, name: str) -> bool:
        column = self.frame[name]
        given = column.drop_nulls().str.strip_chars() if column.dtype == pl.String else pl.Series([], dtype=pl.String)
        few = 2 <= given.n_unique() <= min(MOST_CRITERIA, len(given) // 2)
        return bool(few and (given.str.len_chars().max() or 0) <= LONG_NAME)  # type: ignore[operator]

    def refuse_ranks(self) -> None:
        """Refuse scores that look like ranks, of which the lowest is the best, unless the user says what they are."""
        score = self.mapping.columns.get("score", "")
        if score and "score" not in self.said and not self.options.lower_is_better and self.holds_ranks(score):
            what = f"numbers the systems of each text from 1 on in '{shown(score)}', as ranks do"
            raise self.ask(what, rank=score, score=score)

    def holds_ranks(self, name: str) -> bool:
        """Whether numbers are the places of systems: in (nearly) every group that was judged together, from 1 on."""
        key = self.columns("campaign", "annotator", "segment", "document", "criterion", "target_lang", "pair")
        number = pl.col(name).cast(pl.String).str.strip_chars().cast(pl.Float64, strict=False)
        if "system" not in self.mapping or not key or name not in columns_of_numbers(self.frame):
            return False
        rows = self.frame.select(number.alias("number")).with_columns(group=pl.Series(key_hashes(self.frame, key)))
        rows = rows.with_columns(size=pl.len().over("group"))
        may_be, size = rows.select(pl.col("number").is_between(1, pl.col("size")).mean(), pl.col("size").mean()).row(0)
        if size < FEWEST_RANKED or may_be < NEARLY:
            return False
        place = pl.col("number").rank("min").over("group")
        return bool(rows.select((place == pl.col("number")).mean()).item() >= NEARLY)

    def _holds_names(self, name: str) -> bool:
        column = self.frame[name]
        if not (column.dtype == pl.String or column.dtype.is_integer()) or column.null_count() > 0:
            return False
        words = column.cast(pl.String).str.strip_chars()
        if (
            (words == "").any()
            or words.str.contains(r"^[\[{]").any()
            or words.str.contains(r"^[+-]?[0-9]*[.,][0-9]+$").any()
        ):
            return False
        short = words.str.len_chars().sum() / len(words) <= LONG_NAME
        return short and 2 <= words.n_unique() <= max(2, self.frame.height // 2)

    def columns_of_answers(self) -> list[str]:
        """The columns that may hold the answers about one system each: numbers, or words of a scale."""
        free = [name for name in self.frame.columns if name not in self.mapping.columns.values()]
        numbers = columns_of_numbers(self.frame.select(free))
        numbers += [name for name in free if name not in numbers and self._holds_scale(name)]
        held = [name for name in numbers if plain(name) != "id" and not self._says_more_of_one(name)]
        # Many numbers that stand there equally often were laid out, not answered.
        several = [name for name in self.free() if name in held and self.different(name) > MOST_CRITERIA // 2]
        held = [name for name in held if name not in several or not self._is_balanced(name)]
        held = [name for name in held if not says_more(name) or questions_in([name]) or people_in([name])]
        return without_summaries(self.frame, held)

    def _holds_scale(self, name: str) -> bool:
        """Whether a column holds words of a scale: neither letters, by which systems are called, nor texts."""
        words = self.frame[name].drop_nulls() if self.frame.schema[name] == pl.String else pl.Series(dtype=pl.String)
        longest = words.str.strip_chars().str.len_chars().max() or 0
        return bool(1 < longest <= LONG_NAME) and is_scale(words.str.strip_chars())  # type: ignore[operator]

    def likely_systems(self) -> list[str]:
        """The columns that may be the systems', the likeliest first: a few short names, each of them often.

        Where everybody judges everything, annotators, systems and segments look alike but for their number. Otherwise
        more of the systems than of the people meet on each text.
        """
        taken = set(self.mapping.columns.values())
        free = [name for name in self.frame.columns if name not in taken and not says_more(name)]
        likely = [name for name in free if not says_people(name) and self._holds_few_names(name)]
        if not likely and self.frame.height >= ROWS_NEEDED:
            coded = [name for name in self.free() if name in free and self._is_balanced(name)]
            key = self.different(*coded, *self.columns("segment")) if coded else 0
            likely = coded if len(coded) > 1 and key >= NEARLY * self.frame.height > 2 * self._texts() else []
        text = self.columns("segment")

        def is_met(name: str) -> float:
            others = [*text, *(other for other in likely if other != name)]
            return self.different(name, *others) / (self.different(*others) * self.different(name)) if others else 1.0

        return sorted(likely, key=lambda name: (-round(is_met(name), 2), self.different(name)))

    def _holds_few_names(self, name: str) -> bool:
        words = self.frame[name].drop_nulls() if self.frame.schema[name] == pl.String else pl.Series()
        if words.cast(pl.Float64, strict=False).null_count() == 0 or self._holds_scale(name):
            return False
        few = 2 <= words.n_unique() <= max(2, self.frame.height // 2)
        # Longer values are probably texts.
        return few and words.str.len_chars().sum() <= LONG_NAME * len(words)

    def _texts(self) -> int:
        return self.different(*self.columns("segment")) if "segment" in self.mapping else 0

    def _is_balanced(self, name: str) -> bool:
        """Whether each of a few numbers stands (nearly) as often as each other, as those of systems do, not answers."""
        times = self.frame[name].value_counts()["count"]
        return bool(times.max() <= 1.5 * times.min())  # type: ignore[operator]

    def take_hinted(self, meaning: str) -> None:
        """Take the column whose header alone hints at a meaning, if it holds what the meaning needs."""
        taken = set(self.mapping.columns.values())
        hinted = [name for name in self.frame.columns if name not in taken and meaning_in(name) == meaning]
        fitting = [name for name in hinted if self._fits(name, meaning)]
        fitting = self._once(fitting) if meaning == "segment" else fitting
        if len(fitting) == 1:
            self.mapping = replace(self.mapping, columns={**self.mapping.columns, meaning: fitting[0]})

    def _once(self, names: Sequence[str]) -> list[str]:
        """The columns without those that name the same things as one before them, in other words."""
        kept: list[str] = []
        for name in names:
            if not any(self.different(name) == self.different(k) == self.different(name, k) for k in kept):
                kept.append(name)
        return kept

    def _fits(self, name: str, meaning: str) -> bool:
        column = self.frame[name]
        if column.dtype.is_nested() or column.null_count() == len(column):
            return False
        words = column.drop_nulls().cast(pl.String).str.strip_chars()
        if meaning == "score":
            return bool(
                not says_lower(name, words) and words.n_unique() > 1 and (_are_numbers(words) or is_scale(words))
            )
        short = words.str.len_chars().sum() / len(words) <= LONG_NAME
        again = 2 <= words.n_unique() <= max(2, self.frame.height // 2)
        if meaning == "system":
            return bool(short and again and not _are_numbers(words) and not words.str.contains(r"^\s*[\[{]").any())
        # Where nothing else is a text, many questions are the texts.
        most = MOST_CRITERIA if self.columns("segment", "document") else MOST_CRITERIA // 2
        if meaning == "criterion" and self.different(name) > most:
            return False
        if meaning == "annotator":
            system = self.mapping.columns.get("system")
            return bool(short and again and (system is None or self._judged_several(name, system)))
        return words.n_unique() > 1

    def find_sides(self) -> None:
        """Take two columns that hold the same names, and never the same one in a row, for the sides of a comparison."""
        names = [name for name in self.free() if meaning_in(name) != "annotator" and not _has_word(name, _PEOPLE)]
        values = {name: set(self.frame[name].cast(pl.String)) for name in names}
        pairs = [
            (one, two)
            for one, two in combinations(names, 2)
            if len(values[one] & values[two]) >= max(2, len(values[one] | values[two]) / 2)
            and not (self.frame[one].cast(pl.String) == self.frame[two].cast(pl.String)).any()
        ]
        if len(pairs) != 1 or all(word.isdigit() for word in values[pairs[0][0]]):
            return
        left, right = pairs[0] if side_of(pairs[0][0]) != "right" else pairs[0][::-1]
        self.mapping = replace(self.mapping, columns={**self.mapping.columns, "left": left, "right": right})
        what = f"'{shown(left)}' and '{shown(right)}' name the same systems, and never the same one in a row"
        self.notes.append(f"{what}, so they are taken for the two that are compared; --columns says otherwise")

    def opponents(self) -> list[str]:
        """The columns that name the same systems as the column of systems, and never the same one in a row."""
        system = self.mapping.columns["system"]
        own = self.frame[system].cast(pl.String)
        others = {name: self.frame[name].cast(pl.String) for name in self.free()}
        few = 2 * own.n_unique() <= len(own)
        return [n for n, name in others.items() if few and set(name) <= {*own} and not (own == name).any()]

    def find_context_of_pairs(self) -> None:
        """Find who compared two systems, and on which text, where the headers do not say it."""
        sides, rows = self.columns("left", "right"), self.frame.height
        several = [
            name
            for name in self.free()
            if self.different(name, *sides) >= 2 * self.different(name) and plain(name) not in _AGAIN
            and not (_has_word(name, _ABOUT) and not _has_word(name, _PEOPLE)) and not side_of(name)
        ]  # fmt: skip
        if "segment" not in self.mapping and "segment" not in self.said:
            key = [*sides, *self.columns("annotator", "document", "criterion")]
            texts = [
                name for name in several if self._is_numbered(name) and self.different(name, *key) >= NEARLY * rows
            ]
            if len(texts) == 1:
                self.take("segment", texts[0], "its values are numbered, and each has several pairs of systems")
        people = [name for name in several if name not in self.mapping.columns.values()]
        people = [name for name in people if not self._holds_answers(name) and not self._is_numbered(name)]
        text = self.columns("segment", "document")
        people = [name for name in people if not (text and self._is_other_name(name, text))]
        if people and "annotator" not in self.mapping and "annotator" not in self.said:
            first = next((name for name in people if _has_word(name, _PEOPLE)), people[0])
            self.refuse_unnamed(first)

    def _is_numbered(self, name: str) -> bool:
        """Whether values are long, as texts are, or differ in a number alone: `c1`, `c2`."""
        return self._looks_like_item(name) or bool(
            not _has_word(name, _PEOPLE)
            and self.frame[name].cast(pl.String).str.replace_all("[0-9]+", "#").n_unique() == 1 < self.different(name)
            and meaning_in(name) != "annotator"
        )

    def refuse_unnamed(self, column: str) -> None:
        """Refuse a table that names no annotators, unless this column does."""
        what = f"names no annotators, unless '{shown(column)}' ({self._values(column)}) does, which changes the result"
        none = self.say({"annotator": NO_COLUMN})
        ways = f"{self.say({'annotator': column})}, or {none} if it names none"
        raise self.mapping.source.fault(f"{what}; say {ways}")

    def find_score(self) -> None:
        """Take a column for the score whose header can mean it, as `note` can, or the only one that holds answers."""
        standardised = [name for name in self.frame.columns if says_standardised(name) and self._fits(name, "score")]
        if len(standardised) == 1:
            self.mapping = replace(self.mapping, columns={**self.mapping.columns, "score": standardised[0]})
        self.take_hinted("score")
        if "score" in self.mapping:
            return None
        taken = self.mapping.columns.values()
        free = [name for name in self.frame.columns if name not in taken and not self.frame.schema[name].is_nested()]
        words = {name: self.frame[name].cast(pl.String).str.strip_chars() for name in free}
        number = r"^-?[0-9]+([.,][0-9]+)?%?$"
        named = {name: plain(name if are_marks(words[name]) else BRACKETS.sub("", name)) for name in free}
        weak = [n for n in free if named[n] in _WEAK_SCORES or _has_word(n, ("score", "rating", "mos"))]
        weak = [n for n in weak if not says_lower(n, words[n]) and words[n].drop_nulls().str.contains(number).all()]
        if weak:
            # Of several the user says which.
            return self.take("score", weak[0], "it holds numbers") if len(weak) == 1 else None
        asked = [name for name in criteria_in(free) if _are_numbers(words[name].drop_nulls())]
        if len(asked) == 1 and not says_lower(asked[0], words[asked[0]]) and self.answers() == asked:
            return self.take("score", asked[0], "it holds numbers, and its name says what was asked")
        answers = [name for name in free if not says_about(name) and is_scale(words[name].drop_nulls())]
        if len(answers) == 1:
            self.take("score", answers[0], "it alone holds answers of a usual scale")
        return None

    def find_people_and_segments(self) -> None:
        """Find who judged what, where the headers do not say it; texts are found more surely once people are."""
        self._find_segments()
        if "annotator" not in self.mapping and "annotator" not in self.said:
            system = self.mapping.columns["system"]
            self._find_people(
                system,
                self.columns("document", "task", "campaign", "source_lang", "target_lang", "pair", "kind", "criterion"),
            )
            self._find_segments()

    def find_shared_segment(self) -> None:
        """Take another column for the segment where what is called so, as tasks are, is of one system each time."""
        named, before = self.mapping.columns.get("segment", ""), self.mapping
        if not named or "segment" in self.said or not self._names_outputs(named):
            return
        self.mapping = before.without([named])
        with suppress(InputError):
            self._find_segments()
        self.mapping = self.mapping if "segment" in self.mapping else before

    def _names_outputs(self, name: str) -> bool:
        """Whether each value is of one system, and each system has several of them."""
        system = self.mapping.columns["system"]
        return self.different(name, system) == self.different(name) > 2 * self.different(system)

    def _find_segments(self) -> None:
        system = self.mapping.columns["system"]
        others = self.columns("document", "task", "campaign", "source_lang", "target_lang", "pair", "kind", "criterion")
        if "segment" not in self.mapping and "segment" not in self.said:
            people = self.columns("annotator")
            items = self._once([name for name in self._items() if self._is_crossed(name, system, *people, *others)])
            # Where each output was judged in several ways, by what is found later.
            ways = (
                [name for name in self.free() if self.different(name) <= MOST_CRITERIA] if people and not items else []
            )
            for way in ways:
                key = [system, *people, *others, way]
                items = items or self._once(
                    [name for name in self._items() if name not in ways and self._is_crossed(name, *key)]
                )
            if people and not items and (both := self._find_places(system, *people, *others)):
                document, segment = sorted(both, key=self.different)
                why = "both together have every system about once for each annotator"
                self.take("document", document, why)
                self.take("segment", segment, why)
                return
            if people and len(items) > 1:
                items = sorted([name for name in items if not says_about(name)], key=self.different)[:1]
            # Whoever judges every system once looks like a text that was judged once for every system.
            if len(items) == 1 and (people or self._looks_like_item(items[0])):
                why = "each of its values has every system about once"
                self.take("segment", items[0], f"{why}{' for each annotator' if people else ''}")
            elif len(items) == 1 and not _has_word(items[0], _ABOUT):
                what = f"has '{shown(items[0])}' ({self._values(items[0])}), which may name people or texts"
                raise self.ask(what, annotator=items[0], segment=items[0])

    def _find_places(self, system: str, *others: str) -> tuple[str, str] | None:
        """The two columns that only together say which text it is, such as file and line; None where none do."""
        pairs = [pair for pair in combinations(self._items(), 2) if self._are_crossed(pair, system, *others)]
        return pairs[0] if len(pairs) == 1 else None

    def _items(self) -> list[str]:
        """Columns that can identify what was judged: names, or the texts themselves."""
        taken = set(self.mapping.columns.values())
        texts = [name for name, dtype in self.frame.schema.items() if dtype == pl.String or dtype.is_integer()]
        people = self.columns("annotator")
        items = [name for name in texts if name not in taken and self.frame[name].null_count() == 0]
        # Another name of the annotator is no text.
        return [n for n in items if not people or self.different(*people) < self.different(*people, n)]

    def _looks_like_item(self, name: str) -> bool:
        """Whether values are long, as texts are, or whole numbers in a column that is not called as people are."""
        words = self.frame[name].cast(pl.String)
        is_long = words.str.len_chars().sum() / len(words) > LONG_NAME
        return bool(
            is_long
            or plain(name) in _NUMBERS
            or (words.str.contains("^[0-9]+$").all() and not _has_word(name, _PEOPLE))
        )

    def _is_crossed(self, name: str, system: str, *others: str) -> bool:
        return self._are_crossed([name], system, *others)

    def _are_crossed(self, names: Sequence[str], system: str, *others: str) -> bool:
        """Whether each value has nearly every system, and each of them once (for each annotator)."""
        values, rows = self.different(*names), self.frame.height
        systems, met = self.different(system), self.different(*names, system)
        complete = met >= NEARLY * values * systems and values > 1
        return complete and self.different(*names, system, *others) >= NEARLY * rows

    def _find_people(self, system: str, others: Sequence[str]) -> None:
        called = [name for name in self.free() if plain(name) in _PEOPLE and self._judged_several(name, system)]
        if len(called) == 1 and not self.frame[called[0]].cast(pl.String).str.contains("^[0-9]+$").all():
            return self.take("annotator", called[0], "each of its values judged several systems")
        text = [*others, *self.columns("segment")]
        rows, judged = self.frame.height, self.different(system, *text)
        people, unclear = [], []
        for name in self.free():
            about = _has_word(name, _ABOUT) and not _has_word(name, _PEOPLE)
            if about or not self._judged_several(name, system) or plain(name) in _AGAIN:
                continue
            explains = judged < NEARLY * rows <= self.different(name, system, *text) / NEARLY
            of_text = self.different(name, *text) <= self.different(*text) / NEARLY if text else False
            if explains and not of_text and len(text) > len(others):
                people.append(name)
            elif not self._holds_answers(name) and not (text and self._is_other_name(name, text)):
                unclear.append(name)
        named = [name for name in people if not _has_word(name, (*_ASKED, *SYNONYMS["criterion"]))]
        named = [name for name in named if not self._names_criteria(name)]
        if len(named) == 1 and self._are_people(named[0], system, *text):
            why = "its values tell apart judgments of the same system and segment"
            return self.take("annotator", named[0], f"{why}, and each judged several systems")
        if named:
            several = "tells apart judgments of the same system and segment, and may name people or what was asked"
            may_be = ("system", "annotator") if meaning_in(named[0]) == "system" else ("annotator", "criterion")
            raise self.ask(
                f"has '{shown(named[0])}' ({self._values(named[0])}), which {several}",
                **dict.fromkeys(may_be, named[0]),
            )
        if "segment" not in self.mapping and len(unclear) > 1 and not people:
            few, *_, many = sorted(unclear, key=self.different)
            may = " and ".join(f"'{shown(name)}' ({self._values(name)})" for name in (few, many))
            both = self.say({"annotator": few, "segment": many})
            what = f"names neither annotators nor segments, unless {may} do"
            raise self.mapping.source.fault(f"{what}; say {both}, or which columns else")
        if unclear and not people:
            self.refuse_unnamed(next((name for name in unclear if _has_word(name, _PEOPLE)), unclear[0]))
        return None

    def _holds_languages(self, name: str) -> bool:
        return all(is_language(word) for word in self.frame[name].cast(pl.String).unique().drop_nulls())

    def _is_other_name(self, name: str, columns: Sequence[str]) -> bool:
        """Whether a column names the same things as these, one by one."""
        return self.different(name) == self.different(*columns) == self.different(name, *columns)

    def _judged_several(self, name: str, system: str) -> bool:
        """Whether its values go with several systems each; otherwise it says more of the systems."""
        return self.different(name, system) >= 2 * self.different(name)

    def _are_people(self, name: str, system: str, *text: str) -> bool:
        """Whether values are surely people: more than there are questions, or not all of them met every output."""
        values = self.different(name)
        complete = self.frame.height >= NEARLY * values * self.different(system, *text)
        return values > MOST_CRITERIA or not complete or _has_word(name, _PEOPLE)

    def _holds_answers(self, name: str) -> bool:
        """Whether a column holds answers or measures rather than names: numbers, or yes and no."""
        words = self.frame[name].cast(pl.String).str.to_lowercase()
        numbers = words.str.contains("^[0-9]+$").all() and not _has_word(name, _PEOPLE)
        return bool(numbers or words.is_in(["yes", "no", "true", "false", "y", "n", "left", "right"]).all())

    def _names_criteria(self, name: str) -> bool:
        values = self.frame[name].drop_nulls().cast(pl.String).unique().to_list()
        return len(criteria_in(values)) == len(values) > 1

    def _values(self, name: str) -> str:
        return list_values(self.frame[name])

    def find_criteria(self) -> None:
        """Find what was asked, where one person judged an output several times, each time by another question."""
        if "criterion" in self.said:
            return None
        named = self.mapping.columns.get("criterion")
        if named is not None:
            self.mapping = self.mapping.without([named])
        key = self.columns(*(name for name in KEY if name != "screen"), "left", "right", "pair", "revision")
        rows = self.frame.height
        if rows < ROWS_NEEDED or self.different(*key) >= NEARLY * rows or not self.columns("segment", "document"):
            return None
        met = self.different(*key, named) if named is not None else 0
        if (
            named is not None
            and met >= NEARLY * self.different(*key) * self.different(named)
            and self.different(named) > 1
        ):
            return self.take("criterion", named, "each output was judged by each of its values")
        explain = [
            name
            for name in self.free()
            if self.different(name) <= max(MOST_CRITERIA, 2)
            and self.different(*key, name) >= NEARLY * rows
            and self.different(*key, name) > 1.5 * self.different(*key)
        ]
        asked = [name for name in explain if name == named or _has_word(name, _ASKED) or self._names_criteria(name)]
        if len(asked) == 1:
            return self.take("criterion", asked[0], "one person judged each output once by each of its values")
        again = [name for name in explain if plain(name) in _SITTINGS]
        if len(again) == len(explain) == 1 and "task" not in self.mapping:
            return self.take(
                "task", again[0], "each output was judged again in each of its values; all judgments count"
            )
        spoken = [name for name in explain if self._holds_languages(name)]
        if len(spoken) == 1 and not {"target_lang", "pair"} & set(self.mapping.columns):
            return self.take("target_lang", spoken[0], "one person judged each output once in each of its languages")
        unclear = [name for name in explain if plain(name) not in _AGAIN]
        if unclear and all(self.different(name) == 1 for name in self.columns("annotator")):
            # Nobody is named, or all have one name: `anonymous`.
            raise self.ask(f"may name people in '{shown(unclear[0])}' ({self._values(unclear[0])})",
                           annotator=unclear[0], criterion=unclear[0])  # fmt: skip
        if unclear:
            first = unclear[0]
            what = f"has several judgments of one output by one person, told apart by '{shown(first)}'"
            # What is numbered is more likely a text.
            may_be = ("document", "criterion") if self._is_numbered(first) else ("criterion", "document")
            said = f"{what} ({self._values(first)}): what was asked, or another text"
            raise self.ask(said, **dict.fromkeys(may_be, first))
        return None


def list_values(column: pl.Series) -> str:
    """How many values a column holds, and the first of them."""
    words = column.drop_nulls().cast(pl.String).unique(maintain_order=True)
    examples = ", ".join(shown(word, 20) for word in words[:3])
    return f"{counted(len(words), 'value')}, such as {examples}"


def _are_numbers(words: pl.Series) -> bool:
    return len(words) > 0 and bool(words.str.contains(r"^-?[0-9]+([.,][0-9]+)?%?$").all())


def _has_word(header: str, words: Iterable[str]) -> bool:
    """Whether a header has one of the words: `Question no.`, `turn_id`."""
    parts = "".join(sign if sign.isalnum() else " " for sign in header.casefold()).split()
    return plain(header) in map(plain, words) or any(part.rstrip("s") in words or part in words for part in parts)


def criteria_in(names: Iterable[str]) -> list[str]:
    """The columns that are called like a criterion or a question: `Fluency (1-5)`, `adequacy_score`, `Q1`."""
    return [name for name in names if has_stem(name, CRITERIA) or re.fullmatch(r"[qQ][ _.-]?\d+.*", name)]


def may_hold_criteria(header: Iterable[str]) -> bool:
    """Whether some column is called as columns of criteria are, so that its contents matter."""
    return any(_has_word(name, (*_ASKED, *SYNONYMS["criterion"])) for name in header)


def says_people(name: str) -> bool:
    """Whether a header asks for people: `who`, `name`."""
    return plain(name) in _PEOPLE


def says_again(name: str) -> bool:
    """Whether a name says that something was done again: `Round 2`, `session1`."""
    return bool(set(words_of(name)) & set(_AGAIN))


def says_about(name: str) -> bool:
    """Whether a header says more of something, as `domain` and `age` do, and so names no answers."""
    return len(words_of(name)) < STATEMENT and (
        bool(set(words_of(name)) & ABOUT_WORDS) or _has_word(name, _ABOUT_ITEMS)
    )


def says_more(name: str) -> bool:
    """Whether a header names neither systems nor scores: a question, people, times, or what says more of others."""
    won = plain(name) in map(plain, PAIR_COLUMNS["winner"])
    asked = won or "?" in name or _has_word(name, (*_ASKED, *SYNONYMS["criterion"])) or plain(name).isdigit()
    about = len(words_of(name)) < STATEMENT and bool(set(words_of(name)) & ABOUT_WORDS)
    return asked or about or meaning_in(name) in ("annotator", "segment")


_SEVERITIES = {"neutral", "trivial", "minor", "major", "critical", "severe", "leicht", "schwer", "kritisch"}


def severities_in(names: Iterable[str]) -> list[str]:
    """The columns that count errors of one severity each."""
    return [name for name in names if set(words_of(name)) & _SEVERITIES]


def questions_in(names: Iterable[str]) -> list[str]:
    """The columns that are called like questions, which no system is: `Q1`, `fluency`."""
    named = [name for name in names if not _has_word(name, ("system", "model", "mt"))]
    return [name for name in named if _has_word(name, _ASKED) or criteria_in([name])]


def fields_of_one(names: Sequence[str]) -> list[str]:
    """The columns, if all are fields inside one field, as `ratings.anna` and `ratings.ben` are."""
    outer = {name.rpartition(".")[0] for name in names}
    return list(names) if len(outer) == 1 and "" not in outer else []


def people_in(names: Iterable[str]) -> list[str]:
    """The columns that are called like people, each with a number: `rater1`, `Annotator B`."""
    words = {plain(word) for word in SYNONYMS["annotator"]} | {"ann", "r"}
    return [name for name in names if re.sub(r"([0-9]+|(?<=[ _-])[a-z])$", "", name.casefold()).strip(" _-") in words]


def _parse_weights(text: str) -> dict[str, float]:
    """`adequacy=2,fluency=1` as the weights of several criteria; none where a text names one criterion alone."""
    entries = [entry.rpartition("=") for entry in split_names(text)]
    try:
        weights = {name.strip(): float(weight) for name, _, weight in entries if name}
    except ValueError:
        weights = {}
    return weights if len(weights) == len(entries) > 1 and min(weights.values()) > 0 else {}


def _combine(judgments: Judgments, weights: Mapping[str, float]) -> Judgments:
    """One judgment for each output and person: the weighted mean of the scores by these criteria."""
    key = [name for name in (*KEY, "revision") if name in judgments.table.columns]
    has_all = pl.col("criterion").filter(pl.col("score").is_not_null()).n_unique().over(key) == len(weights)
    whole = judgments.keep(has_all, otherwise="without a score by each criterion")
    weight = pl.col("criterion").cast(pl.String).str.strip_chars().replace_strict(weights, return_dtype=pl.Float64)
    score = (pl.col("score") * weight).sum().over(key) / weight.sum().over(key)
    said = " + ".join(f"{weight:g} {name}" for name, weight in weights.items())
    table = whole.table.with_columns(score.alias("score"), pl.lit(said).alias("criterion"))
    table = table.filter(pl.struct(key).is_first_distinct())
    note = f"scores are weighted means of {len(weights)} criteria ({shown(said)}), as asked by --criterion"
    return replace(whole, table=table, notes=(*whole.notes, note))


def choose_criterion(judgments: Judgments, options: ReadOptions) -> Judgments:
    """The judgments by one criterion, by several with weights, or by all, of which each is a campaign of its own."""
    table = judgments.table
    given = table["criterion"].cast(pl.String).str.strip_chars() if "criterion" in table.columns else pl.Series([""])
    names = given.drop_nulls().unique(maintain_order=True).to_list()
    listed = short_list([shown(name) for name in names])
    if options.criterion is not None:
        wanted = [name for name in names if plain(name) == plain(options.criterion) and name]
        weights = {} if wanted else _parse_weights(options.criterion)
        for asked in weights:
            wanted += [each for each in names if plain(each) == plain(asked)]
        if not wanted or len(wanted) < len(weights):
            have = f"the criteria are {listed}" if any(names) else "no column holds criteria"
            raise UsageError(f"{param('criterion')} is '{shown(options.criterion)}', but {have}")
        by_others = " or ".join(f"'{shown(name)}'" for name in wanted)
        kept = judgments.keep(pl.lit(given.is_in(wanted)), otherwise=f"by another criterion than {by_others}")
        return _combine(kept, dict(zip(wanted, weights.values(), strict=True))) if weights else kept
    if len(names) < 2:
        return judgments
    campaign = pl.col("campaign").fill_null("")
    alone = (campaign == "") | (campaign == given) | campaign.str.ends_with(pl.lit("/") + pl.lit(given))
    name = pl.when(campaign.str.ends_with(pl.lit(given))).then(campaign).when(alone).then(pl.lit(given))
    table = table.with_columns(name.otherwise(campaign + "/" + pl.lit(given)).alias("campaign"))
    note = f"{len(names)} criteria ({listed}) are kept apart and never mixed"
    return replace(judgments, table=table, notes=(*judgments.notes, f"{note}; --criterion chooses one"))


def explain_missing_system(frame: pl.DataFrame, mapping: ColumnMap, options: ReadOptions) -> InputError:
    """The error for a table without a column of systems, with what its columns look like."""
    if _begins_with_values(frame):
        first = shown(", ".join(frame.columns), 100)
        names = "annotator,segment,system,score"
        raise mapping.source.fault(
            f"begins with values ({first}), not with names of columns; add a first line: {names}"
        )
    contents = _Contents(frame, mapping, options)
    likely, numbers = contents.likely_systems(), contents.columns_of_answers()
    if len(numbers) > 1 and not contents.columns("score", "rank"):
        asked, people = questions_in(numbers), people_in(numbers)
        # In a table with a column for each system, at most people and texts have names.
        if not asked and not people and len(likely) < 2:
            parts = find_joined(numbers) or ()
            joined = (short_list([shown(name) for name in dict.fromkeys(part)]) for part in parts)
            return mapping.looks_wide(numbers, " with ".join(joined))
        raters = f" (and {param('raters')} {as_argument(people)}, if each is an annotator)" if len(people) > 1 else ""
        if not likely:
            what = "has no column 'system', without which nothing can be ranked"
            say = f"add one, or say which it is, as {param('columns')} system=NAME{raters}"
            return mapping.source.fault(f"{what}; {say}")
    several = len(likely) == 2 and "annotator" not in mapping
    ways = [
        contents.say({"system": name, **({"annotator": other} if several else {})})
        for name, other in zip(likely, reversed(likely), strict=True)
    ]
    guesses = {name: list_values(frame[name]) for name in likely}
    return mapping.missing("system", guesses=guesses, ways=ways if len(ways) < FEWEST_RANKED else ())


def explain_missing_answer(frame: pl.DataFrame, mapping: ColumnMap, options: ReadOptions) -> InputError:
    """The error for a table without a column of scores or ranks, with what may hold them."""
    # Of what the table does not have, such as the score, an empty column was made.
    frame = frame.drop(name for name in frame.columns if name not in {*mapping.columns, *mapping.header})
    contents = _Contents(frame, replace(mapping, columns={name: name for name in mapping.columns}), options)
    likely = contents.answers()
    names, fault = shown(", ".join(likely), 200), mapping.source.fault
    if len(counts := severities_in(likely)) > 1:
        what = f"has no column 'score', but counts of errors by severity ({', '.join(counts)})"
        weighted = "add a column with their weighted sum, such as minor + 5 times major"
        say = f"{weighted}, and say {param('columns')} score=NAME {param('lower_is_better')}"
        return fault(f"{what}; {say}; or give the errors one by one, as {param('format')} mqm")
    if len(people := people_in(likely)) > 1 and "annotator" not in mapping:
        what = f"has no column 'score', but columns of numbers that are called like annotators ({', '.join(people)})"
        return fault(f"{what}; say {param('raters')} {as_argument(people)}")
    if len(likely) > 1 and set(likely) <= set(columns_of_numbers(frame)):
        # Several columns of one scale are several annotators' or several criteria.
        inside = " inside one field" if fields_of_one(likely) else ""
        several = [f"score={name}" for name in likely] if "annotator" in mapping else ["score=NAME", "score=NAME"]
        each = f"if each is a criterion, say {param('columns')} {as_argument(several)}"
        if "annotator" not in mapping:
            each = f"if each is an annotator, say {param('raters')} {as_argument(likely)}; {each}"
        what = f"has no column 'rank' or 'score', but {len(likely)} columns of numbers{inside} ({names})"
        return fault(f"{what}; {each}; if one is the score, say it alone, as {param('columns')} score=NAME")
    guesses = {name: list_values(frame[name]) for name in likely}
    unsure = f" (with {param('lower_is_better')}, if lower is better)"
    way = contents.say_answer(likely, options.columns) if len(likely) == 1 else ""
    unsure = "" if param("lower_is_better") in way or meaning_in("".join(likely)) or "rank=" in way else unsure
    return mapping.missing("score", instead="rank", guesses=guesses, ways=[way + unsure] if way else ())


def _begins_with_values(frame: pl.DataFrame) -> bool:
    """Whether the names of columns are values: numbers above numbers, and a name that stands in its own column."""
    texts = frame.select(pl.all().cast(pl.String)) if not any(d.is_nested() for d in frame.dtypes) else pl.DataFrame()
    numbers = [name for name in columns_of_numbers(texts) if re.fullmatch(r"[+-]?[0-9]+([.,][0-9]+)?", name.strip())]
    again = [name for name in texts.columns if name not in numbers and (texts[name] == name).any()]
    return bool(numbers and again)


# How people call the rows below a table that count or sum it up, and the columns beside it.
TOTALS = (
    "total", "totals", "subtotal", "grandtotal", "sum", "average", "averages", "avg", "mean", "means", "median",
    "gesamt", "summe", "mittelwert", "durchschnitt", "schnitt", "moyenne", "somme", "media", "promedio", "suma",
    "průměr", "součet", "celkem", "合计", "总计", "平均", "平均值", "合計", "平均値",
)  # fmt: skip


def without_summaries(frame: pl.DataFrame, names: Sequence[str]) -> list[str]:
    """The columns of numbers without those that sum up the ones before them, row by row: their sum, mean or deviation.

    A mean of whole numbers may be one by chance, so there the name must say it, too.
    """
    kept: list[str] = []
    numbers = frame.select(pl.col(names).cast(pl.String).str.strip_chars().cast(pl.Float64, strict=False))
    for name in names:
        given, before = numbers[name], numbers.select(kept)
        if len(kept) > 1:
            means = before.mean_horizontal()
            squares = before.select(pl.sum_horizontal((pl.all() - means) ** 2)).to_series()
            sums = [before.sum_horizontal(), means, (squares / len(kept)).sqrt(), (squares / (len(kept) - 1)).sqrt()]
            decimals = frame[name].cast(pl.String).str.extract(r"\.([0-9]*[1-9])", 1).str.len_chars().max() or 0
            near = 0.51 * 10.0 ** -float(decimals)  # type: ignore[arg-type]
            sure = decimals or plain(name) in TOTALS
            # So may the sum of a few ranks.
            likely = sums if sure else sums[: int(given.n_unique() > MOST_CRITERIA)]
            if any((((given - each).abs() <= near).mean() or 0.0) >= NEARLY for each in likely):
                continue
        kept.append(name)
    return kept


def drop_summary(loaded: LoadedTable, options: ReadOptions) -> LoadedTable:
    """The table without a column of scores that only sums up others, which then are the annotators'."""
    frame, said = loaded.frame, parse_columns(options.columns)
    mapping = map_columns(frame.columns, loaded.source, columns=options.columns, meanings=SYNONYMS)
    score = mapping.columns.get("score")
    if score is None or "annotator" in mapping or "score" in said:
        return loaded
    numbers = [name for name in columns_of_numbers(frame) if name not in mapping.columns.values()]
    others = [name for name in numbers if not says_about(name)]
    if len(others) < 2 or score in without_summaries(frame, [*others, score]):
        return loaded
    note = f"'{shown(score)}' only sums up {short_list([shown(name) for name in others])} and is not read"
    return replace(loaded, frame=frame.drop(score), notes=(*loaded.notes, note))
