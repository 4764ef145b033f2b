"""What columns are by what they hold, where their names do not say it: people, segments and criteria.

Whoever judges, and what was asked, changes the verdict. So no such column is left unused by silence: it is taken where
its contents leave no doubt, with a note that says why, and asked for where they do.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import polars as pl

from adjudge.readers.columns import NO_COLUMN, PAIR_COLUMNS, SYNONYMS, ColumnMap, parse_columns, plain
from adjudge.readers.headers import ABOUT, CRITERIA, has_stem, meaning_in, side_of, words_of
from adjudge.readers.values import is_scale, says_lower, says_standardised
from adjudge.table.errors import InputError, UsageError, param, shown
from adjudge.table.judgments import KEY
from adjudge.table.languages import is_language
from adjudge.table.wording import LONG_NAME, as_argument, counted, short_list

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from adjudge.readers.options import ReadOptions
    from adjudge.readers.parsing import LoadedTable
    from adjudge.table.judgments import Judgments

NEARLY = 0.95
"""A share of rows that is taken for all of them; files hold some rows twice."""
MOST_CRITERIA = 12
"""Nobody is asked so many questions about one output; a column with more values holds people or texts."""
ROWS_NEEDED = 8
"""With fewer rows everything is crossed with everything by chance."""

# Words of a header that say what a column is, though no column of the judgment table is called so.
_ASKED = ("question", "turn", "attribute", "category", "metric", "measure", "slider", "frage", "pregunta", "otázka")
_AGAIN = (
    "round", "wave", "session", "pass", "attempt", "phase", "trial", "repetition", "version", "date", "day", "time",
    "update", "status", "set",
)  # fmt: skip
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
        found.find_people_and_segments()
    found.find_criteria()
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
    return last if not last.null_count() and last.n_unique() == names.n_unique() else names


def _parts(cells: pl.Series, pattern: str) -> tuple[pl.Series, pl.Series]:
    groups = cells.str.extract_groups(pattern).struct.unnest()
    return groups["1"], groups["2"]


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
        ways = [self.say(meaning, column) for meaning, column in meanings.items()]
        return self.mapping.source.fault(f"{what}; say which it is, as {' or '.join(ways)}")

    def say(self, meaning: str, column: str) -> str:
        """The option that gives a column a meaning, besides what the user says already."""
        return f"{param('columns')} {as_argument([*self.options.columns, f'{meaning}={column}'])}"

    def columns(self, *meanings: str) -> list[str]:
        """The columns of these meanings, as far as there are any."""
        return [self.mapping.columns[name] for name in meanings if name in self.mapping]

    def different(self, *columns: str) -> int:
        """How many different values these columns hold together."""
        return self.frame.select(columns).n_unique()

    def free(self) -> list[str]:
        """The columns of names without a meaning: a few short values each, every one several times."""
        taken = set(self.mapping.columns.values())
        return [name for name in self.frame.columns if name not in taken and self._holds_names(name)]

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
            return bool(not says_lower(name) and words.n_unique() > 1 and (_are_numbers(words) or is_scale(words)))
        short = words.str.len_chars().sum() / len(words) <= LONG_NAME
        again = 2 <= words.n_unique() <= max(2, self.frame.height // 2)
        if meaning == "system":
            return bool(short and again and not _are_numbers(words) and not words.str.contains(r"^\s*[\[{]").any())
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
        ways = f"{self.say('annotator', column)}, or {self.say('annotator', NO_COLUMN)} if it names none"
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
        weak = [name for name in free if plain(name) in _WEAK_SCORES or _has_word(name, ("score", "rating", "mos"))]
        weak = [n for n in weak if not says_lower(n) and words[n].drop_nulls().str.contains(number).all()]
        if weak:
            # Of several the user says which.
            return self.take("score", weak[0], "it holds numbers") if len(weak) == 1 else None
        asked = [name for name in criteria_in(free) if not says_lower(name) and _are_numbers(words[name].drop_nulls())]
        if len(asked) == 1:
            return self.take("score", asked[0], "it holds numbers, and its name says what was asked")
        answers = [name for name in free if not _has_word(name, _ABOUT) and is_scale(words[name].drop_nulls())]
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
            # Whoever judges every system once looks like a text that was judged once for every system.
            if len(items) == 1 and (people or self._looks_like_item(items[0])):
                why = "each of its values has every system about once"
                self.take("segment", items[0], f"{why}{' for each annotator' if people else ''}")
            elif len(items) == 1 and not _has_word(items[0], _ABOUT):
                what = f"has '{shown(items[0])}' ({self._values(items[0])}), which may name people or texts"
                raise self.ask(what, annotator=items[0], segment=items[0])

    def _items(self) -> list[str]:
        """Columns that can identify what was judged: names, or the texts themselves."""
        taken = set(self.mapping.columns.values())
        texts = [name for name, dtype in self.frame.schema.items() if dtype == pl.String or dtype.is_integer()]
        return [name for name in texts if name not in taken and self.frame[name].null_count() == 0]

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
        """Whether each value has nearly every system, and each of them once (for each annotator)."""
        values, rows = self.different(name), self.frame.height
        systems, met = self.different(system), self.different(name, system)
        complete = met >= NEARLY * values * systems and values > 1
        return complete and self.different(name, system, *others) >= NEARLY * rows

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
            both = as_argument([*self.options.columns, f"annotator={few}", f"segment={many}"])
            what = f"names neither annotators nor segments, unless {may} do"
            raise self.mapping.source.fault(f"{what}; say {param('columns')} {both}, or which columns else")
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
        asked = [name for name in explain if name == named or _has_word(name, _ASKED)]
        if len(asked) == 1:
            return self.take("criterion", asked[0], "one person judged each output once by each of its values")
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
            raise self.ask(
                f"{what} ({self._values(first)}): what was asked, or another text", criterion=first, document=first
            )
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


def says_about(name: str) -> bool:
    """Whether a header says more of something, as `domain` and `age` do, and so names no answers."""
    return bool(set(words_of(name)) & set(ABOUT)) or _has_word(name, _ABOUT_ITEMS)


def says_more(name: str) -> bool:
    """Whether a header names neither systems nor scores: a question, people, times, or what says more of others."""
    won = plain(name) in map(plain, PAIR_COLUMNS["winner"])
    asked = won or "?" in name or _has_word(name, (*_ASKED, *SYNONYMS["criterion"])) or plain(name).isdigit()
    about = bool(set(words_of(name)) & set(ABOUT))
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


def choose_criterion(judgments: Judgments, options: ReadOptions) -> Judgments:
    """The judgments by one criterion, or by all: then each is a campaign of its own, so that none is mixed."""
    table = judgments.table
    given = table["criterion"].cast(pl.String).str.strip_chars() if "criterion" in table.columns else pl.Series([""])
    names = given.drop_nulls().unique(maintain_order=True).to_list()
    listed = short_list([shown(name) for name in names])
    if options.criterion is not None:
        wanted = [name for name in names if plain(name) == plain(options.criterion) and name]
        if not wanted:
            have = f"the criteria are {listed}" if any(names) else "no column holds criteria"
            raise UsageError(f"{param('criterion')} is '{shown(options.criterion)}', but {have}")
        return judgments.keep(pl.lit(given.is_in(wanted)), otherwise=f"by another criterion than '{shown(wanted[0])}'")
    if len(names) < 2:
        return judgments
    campaign = pl.col("campaign").fill_null("")
    alone = (campaign == "") | (campaign == given) | campaign.str.ends_with(pl.lit("/") + pl.lit(given))
    name = pl.when(campaign.str.ends_with(pl.lit(given))).then(campaign).when(alone).then(pl.lit(given))
    table = table.with_columns(name.otherwise(campaign + "/" + pl.lit(given)).alias("campaign"))
    note = f"{len(names)} criteria ({listed}) are kept apart and never mixed"
    return replace(judgments, table=table, notes=(*judgments.notes, f"{note}; --criterion chooses one"))
