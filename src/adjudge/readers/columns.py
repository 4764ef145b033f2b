"""Which column of a table is taken for what: as the user says, by its own name, or by a synonym.

The tables below are the only place for synonyms; `docs/formats.md` shows them. The first name that a file has is taken.
Names are compared without regard to case, and without blanks, underscores and hyphens: `Model_Name`, `model name` and
`modelName` are the same.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import polars as pl

from adjudge.readers.parsing import SCORE_SCALE, BadRows
from adjudge.table.errors import InputError, Source, UsageError, param, shown, unknown_choice
from adjudge.table.files import parse_json
from adjudge.table.judgments import POSITION, RECOGNISED_EXTRAS, SCHEMA, SPAN, ColumnUse
from adjudge.table.protocols import KINDS, ON_SCALE, PROTOCOLS
from adjudge.table.wording import MOST_NAMES, as_argument, listed, short_list

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from adjudge.readers.options import ReadOptions


# column of the judgment table: names it has elsewhere, the likeliest first
SYNONYMS: dict[str, tuple[str, ...]] = {
    "system": (
        "system", "model", "system_name", "system_id", "model_name", "model_id", "mt_system", "sys", "engine",
        "candidate", "submission", "mt_engine", "systems", "modell", "système", "modèle", "sistema", "modelo",
        "systém", "系统", "系統", "模型", "システム", "モデル",
    ),
    "score": (
        "score", "rating", "raw_score", "da_score", "esa_score", "da", "points", "grade", "mark", "value",
        "overall", "quality", "overall_score", "quality_score", "mos", "bewertung", "punkte", "punktzahl",
        "puntuación", "puntaje", "skóre", "hodnocení", "分数", "得分", "评分", "評点", "評価", "スコア",
        "点数", "分數", "評分",
    ),
    "rank": ("rank", "ranking", POSITION),
    "annotator": (
        "annotator", "rater", "worker", "user", "judge", "evaluator", "assessor", "annotator_id", "rater_id",
        "worker_id",
        "workerid", "user_id", "userid", "judge_id", "username", "annotator_name", "participant", "participant_id",
        "performer", "reviewer", "completed_by", "evaluator_id", "evaluator_name", "rater_name",
        "annotators", "coder", "coder_id", "linguist", "linguist_id", "labeler", "labeller", "labeler_id", "listener",
        "listener_id", "subject_id", "respondent", "respondent_id", "assessor_id", "reviewer_id",
        "grader", "scorer", "crowdworker", "prolific_pid", "prolific_id", "prolific", "email", "email_address",
        "e-mail-adresse", "annotator*in", "annotatorin", "bewerter", "bewerterin", "gutachter", "prüfer",
        "annotateur", "annotatrice", "évaluateur", "évaluatrice", "juge", "anotador", "anotadora", "evaluador",
        "evaluadora", "anotátor", "hodnotitel", "hodnotitelka", "评审", "评委", "标注者", "标注员", "评估者", "评估员",
        "評価者", "アノテーター", "アノテータ", "作業者",
    ),
    "segment": (
        "segment", "item", "segment_id", "seg_id", "item_id", "seg", "sentence_id", "sentence", "sent_id",
        "question_id",
        "example_id", "example", "prompt_id", "line_id", "srcindex", "utterance", "utterance_id", "utt_id", "stimulus",
        "stimulus_id", "satz", "segment_nr", "phrase", "segmento", "frase", "oración", "věta", "句子", "句子编号",
        "段落", "文", "文番号", "セグメント",
    ),
    "document": (
        "document", "doc", "document_id", "doc_id", "docid", "article_id", "article", "dokument", "documento", "文档",
        "文書",
    ),
    "task": ("task", "task_id", "hit", "hit_id", "hitid", "batch", "batch_id", "assignment_id"),
    "screen": ("screen", "screen_id", "page", "page_id"),
    "campaign": ("campaign", "campaign_id", "project"),
    "protocol": ("protocol",),
    "source_lang": ("source_lang", "src_lang", "srclang", "source_language", "sourcelanguage"),
    "target_lang": (
        "target_lang", "tgt_lang", "trg_lang", "tgtlang", "trglang", "target_language", "targetlanguage", "locale",
        "target_locale", "zielsprache", "langue_cible", "idioma_destino", "cílový_jazyk", "目标语言", "目標言語",
    ),
    "kind": ("kind", "item_type"),
    "human": ("human", "is_human"),
    "spans": ("spans", "error_spans"),
    "text": ("text", "comment", "comments", "post_edit", "postedit"),
    "started": ("started", "start_time", "started_at", "accept_time", "accepttime"),
    "ended": (
        "ended", "end_time", "ended_at", "submit_time", "submittime", "submitted_at", "created_at", "timestamp",
        "tstamp",
    ),
    "active_seconds": ("active_seconds", "seconds", "duration", "time_spent", "lead_time", "work_time_in_seconds"),
    "revision": ("revision",),
    # Neither is a column of the judgment table: what was asked, and `en-cs`, taken apart into the two languages.
    "criterion": (
        "criterion", "criteria", "dimension", "aspect", "quality_dimension", "kriterium", "aspekt", "critère",
        "criterio", "kritérium", "维度", "标准", "観点", "評価項目",
    ),
    "pair": ("pair", "language_pair", "lang_pair", "langpair", "lp", "langs"),
}  # fmt: skip

# A comparison of two systems: who stood left, who right, who won.
PAIR_COLUMNS: dict[str, tuple[str, ...]] = {
    "left": (
        "left", "model_a", "system_a", "sysa", "sys_a", "a", "x", "system1", "system_1", "sys1", "model1",
        "model_1", "first",
        "left_system", "left_model", "links", "gauche", "izquierda", "vlevo", "左",
    ),
    "right": (
        "right", "model_b", "system_b", "sysb", "sys_b", "b", "y", "system2", "system_2", "sys2", "model2", "model_2",
        "second", "right_system", "right_model", "rechts", "droite", "derecha", "vpravo", "右",
    ),
    "winner": (
        "winner", "preference", "outcome", "choice", "label", "better", "winner_model", "result", "verdict",
        "chosen_model", "chosen_system", "chosen", "preferred", "cmos", "ccr", "vote", "pref", "selection", "selected",
        "sieger", "gewinner", "präferenz", "besser", "vainqueur", "gagnant", "préférence", "meilleur", "ganador",
        "preferencia", "mejor", "vítěz", "lepší", "vincitore", "migliore", "胜者", "更好", "勝者",
    ),
}  # fmt: skip

# What files write for a winner besides the systems' names; compared like column names.
WINNERS: dict[str, tuple[str, ...]] = {
    "left": (*PAIR_COLUMNS["left"], "win", "wins", "won"),
    "right": (*PAIR_COLUMNS["right"], "loss", "lose", "loses", "lost"),
    "tie": (
        "tie", "draw", "equal", "both", "same", "=", "tied", "unentschieden", "gleichstand", "égalité", "empate",
        "remíza", "平局", "引き分け",
    ),
    "both-good": ("both good", "tie (bothgood)", "tie (both good)", "bothgood"),
    "both-bad": ("both bad", "tie (bothbad)", "tie (both bad)", "bothbad", "neither"),
    "none": (),
}  # fmt: skip
KNOWN = {**SYNONYMS, **PAIR_COLUMNS}
NO_COLUMN = "none"
"""What the user says where no column has a meaning: `annotator=none`."""
BRACKETS = re.compile(r"\s*([(\[][^()\[\]]*[)\]]|/ ?[0-9]+)\s*$")


@dataclass(frozen=True)
class ColumnMap:
    """For every meaning (`system`, `score`, `left`, ...) the column of the file that has it."""

    columns: Mapping[str, str]
    header: tuple[str, ...]
    source: Source

    def __contains__(self, meaning: str) -> bool:
        return meaning in self.columns

    def need(self, meaning: str) -> str:
        """The column with this meaning; an error that names the columns there are, and the option, where none has."""
        if meaning not in self.columns:
            raise self.missing(meaning)
        return self.columns[meaning]

    def missing(
        self,
        meaning: str,
        *,
        instead: str | None = None,
        why: str = "",
        guesses: Mapping[str, str] | None = None,
        ways: Sequence[str] = (),
        besides: str = "",
    ) -> InputError:
        """The error for a table in which no column has this meaning.

        Args:
            meaning: what is missing.
            instead: another meaning that would do.
            why: who needs it.
            guesses: the columns that may be it, and what each holds.
            ways: the options that say which it is, the likeliest first.
            besides: further options to give with it.
        """
        taken = {column: name for name, column in self.columns.items() if column != name}
        there = ", ".join(f"{name} (taken for {taken[name]})" if name in taken else name for name in self.header)
        # Where the caller knows that no column can be it, none is named.
        free_columns = [name for name in self.header if name not in self.columns.values()]
        likely = list(free_columns if guesses is None else guesses)
        either_of = ""
        if guesses and len(guesses) > 1:
            several = [f"{shown(name)} ({held})" for name, held in guesses.items()]
            joined = listed(several, "or") if len(several) <= MOST_NAMES // 2 else short_list(several, "or")
            either_of = f"; {joined} may be it"
        either = f"'{instead}' or '{meaning}'" if instead else f"'{meaning}'"
        what = f"has no column {either}{why}, it has {shown(there, 300)}{either_of}"
        wide = f" (or {param('systems')}, where each system has a column)" if meaning == "system" else ""
        name = "NAME" if either_of or not likely else likely[0]
        said = [*ways] or [f"{param('columns')} {as_argument([f'{meaning}={shown(name)}'])}{besides}"]
        return self.source.fault(f"{what}; say which it is, as {listed(said, 'or')}{wide}, or give {param('format')}")

    def looks_wide(self, systems: Sequence[str], joined: str = "") -> InputError:
        """The error for a table without a column of systems, but with columns of numbers that may be systems.

        Args:
            systems: the columns of numbers.
            joined: what their names join, if they join two things.
        """
        what = f"has no column 'system', but {len(systems)} columns of numbers ({shown(', '.join(systems), 200)})"
        names = as_argument(systems)
        other = f"otherwise which is the system, as {param('columns')} system=NAME"
        if joined:
            ways = listed([f"{param('wide')} {way}" for way in ("system,annotator", "annotator,system")], "or")
            which = f"their names join two things ({joined}); say which in this order, as {ways}"
            return self.source.fault(f"{what}; {which}; or if each is a system, say {param('systems')} {names}")
        return self.source.fault(f"{what}; if each is a system, say {param('systems')} {names}; {other}")

    def refuse_twice(self, twice: Collection[str], *, also: Collection[str] = ()) -> None:
        """Refuse a file in which two columns have the name of one that is used; of comments there may be several.

        Args:
            twice: the names that several columns have.
            also: further columns that are used.
        """
        used = (column for meaning, column in self.columns.items() if meaning != "text")
        if column := next((name for name in (*used, *also) if name in twice), None):
            raise self.source.fault(f"has the column '{shown(column)}' twice; keep one, or give the other another name")

    def sides(self) -> set[str]:
        """The columns that hold the two systems and the winner."""
        return {self.columns[side] for side in PAIR_COLUMNS if side in self.columns}

    def without(self, names: Iterable[str]) -> ColumnMap:
        """Drop some columns from the map, so that they have no meaning."""
        left_out = set(names)
        kept = {meaning: column for meaning, column in self.columns.items() if column not in left_out}
        return replace(self, columns=kept)

    def uses(self, unused: Iterable[str] = ()) -> tuple[ColumnUse, ...]:
        """List the meaning of every column; columns kept under their own names have none."""
        taken = {column: name for name, column in self.columns.items()}
        left_out = set(unused)
        if not left_out and set(self.header) <= set(SCHEMA):
            # The judgment table itself: there is nothing to tell.
            return ()
        use = {name: "not used" if name in left_out else "used" if name in taken else "kept" for name in self.header}
        return tuple(ColumnUse(self.source.name, name, taken.get(name), use[name]) for name in self.header)


def parse_columns(wanted: Sequence[str], known: Iterable[str] = KNOWN) -> dict[str, str]:
    """`("system=model", ...)` as meanings, of those that are known, and columns; of several scores the first."""
    chosen: dict[str, str] = {}
    for entry in wanted:
        meaning, equals, column = (part.strip() for part in entry.partition("="))
        if not equals or not column:
            raise UsageError(f"{param('columns')} has '{shown(entry)}', NAME=COLUMN is needed, as in system=model")
        if meaning not in known:
            raise unknown_choice("column of the judgment table", meaning, known)
        if meaning in chosen and meaning != "score":
            raise UsageError(f"{param('columns')} says twice which column is '{meaning}'; say it once")
        chosen.setdefault(meaning, column)
    return chosen


def map_columns(
    header: Sequence[str],
    source: Source,
    *,
    columns: Sequence[str] = (),
    meanings: Iterable[str] | None = None,
    known: Mapping[str, Sequence[str]] = KNOWN,
) -> ColumnMap:
    """Find out what the columns of a table are.

    Args:
        header: the names in the file.
        source: the file, for messages.
        columns: what the user says, as `system=model`.
        meanings: what to look for, all that is known where left out; what the user says is always taken.
        known: the names of every meaning.
    """
    meanings = tuple(known if meanings is None else meanings)
    said = parse_columns(columns, known)
    absent = {meaning for meaning, column in said.items() if column == NO_COLUMN and column not in header}
    chosen = {
        meaning: _find(header, column, meaning, source) for meaning, column in said.items() if meaning not in absent
    }
    meanings = tuple(meaning for meaning in meanings if meaning not in absent)
    by_name = _by_plain_name(header)
    taken = set(chosen.values())
    # The judgment table's own names come before synonyms: 'item' is no segment where there is a column 'segment'.
    names = [(meaning, name) for meaning in meanings for name in known[meaning][:1]]
    names += [(meaning, name) for meaning in meanings for name in known[meaning][1:]]
    for meaning, name in names:
        column = by_name.get(plain(name), "")
        if name == POSITION and "score" in chosen:
            # Beside a score it is the place of an output on its screen, not a rank.
            continue
        # A column that is named like one of the judgment table is that column and no other.
        if meaning not in chosen and column not in {"", *taken} and (column == meaning or column not in SCHEMA):
            chosen[meaning] = column
            taken.add(column)
    for meaning, column in _find_nested(header, {meaning: known[meaning] for meaning in meanings}, taken).items():
        chosen.setdefault(meaning, column)
    return ColumnMap(chosen, tuple(header), source)


def _by_plain_name(header: Sequence[str]) -> dict[str, str]:
    """The columns by their names as they are compared; of `Score (0-100)` also without brackets, where one has it."""
    by_name: dict[str, str] = {}
    for name in header:
        by_name.setdefault(plain(name), name)
    short = [plain(BRACKETS.sub("", name)) for name in header]
    often = Counter(short)
    return {
        plain_name: name for plain_name, name in zip(short, header, strict=True) if often[plain_name] == 1
    } | by_name


def _find_nested(header: Sequence[str], known: Mapping[str, Sequence[str]], taken: set[str]) -> dict[str, str]:
    """Fields inside fields, by their last name or the last two, where one field alone has it: `judgment.score`."""
    by_name: dict[str, set[str]] = {}
    for column in header:
        parts = column.split(".")
        if len(parts) > 1 and column not in taken:
            for name in (parts[-1], "_".join(parts[-2:])):
                by_name.setdefault(plain(name), set()).add(column)
    inside: dict[str, str] = {}
    for meaning, names in known.items():
        for name in names:
            columns = by_name.get(plain(name), set()) - set(inside.values())
            if meaning not in inside and len(columns) == 1:
                inside[meaning] = next(iter(columns))
    return inside


def _find(header: Sequence[str], column: str, meaning: str, source: Source) -> str:
    if column in header:
        return column
    same = [name for name in header if plain(name) == plain(column)]
    if len(same) == 1:
        return same[0]
    listed = shown(", ".join(header), 300)
    raise source.fault(f"{param('columns')} takes '{shown(column)}' for '{meaning}', but the columns are {listed}")


def renamed(frame: pl.DataFrame, mapping: ColumnMap) -> pl.DataFrame:
    """The frame under the names of the judgment table."""
    new = {column: meaning for meaning, column in mapping.columns.items() if column != meaning}
    # A column is renamed if the user gave its name to another one.
    displaced = {name: f"{name} (column)" for name in new.values() if name in frame.columns and name not in new}
    return frame.rename({**displaced, **new})


def plain(name: str) -> str:
    """A name as it is compared: without case, underscores, hyphens and blanks."""
    return "".join(unicodedata.normalize("NFC", name).replace("_", " ").replace("-", " ").casefold().split())


FIRST_ROWS = 1000


def all_pass(column: pl.Series, test: Callable[[pl.Series], bool]) -> bool:
    """Whether all cells pass a test. Most columns fail with the first rows, so that the others need not be looked at.

    Args:
        column: the cells.
        test: whether all of some cells pass.
    """
    return test(column.head(FIRST_ROWS)) and (len(column) <= FIRST_ROWS or test(column.slice(FIRST_ROWS)))


def columns_of_numbers(frame: pl.DataFrame) -> list[str]:
    """The columns that hold numbers and nothing else."""

    def are_numbers(cells: pl.Series) -> bool:
        return cells.str.strip_chars().cast(pl.Float64, strict=False).null_count() == cells.null_count()

    return [
        name
        for name, dtype in frame.schema.items()
        if dtype.is_numeric()
        or (dtype == pl.String and frame[name].null_count() < frame.height and all_pass(frame[name], are_numbers))
    ]


# The cells of a table in the types of the judgment table; what cannot be so is set aside by row, or left empty.


# Names of kinds of items in other files, and the kinds of the judgment table.
KINDS_ELSEWHERE = {
    "TGT": "system", "SYSTEM": "system", "BAD": "degraded", "BAD_REF": "degraded", "BAD-REF": "degraded",
    "REF": "reference", "CHK": "repeat", "REPEAT": "repeat",
}  # fmt: skip
# A broken value in these columns becomes null, because a row is usable without them.
OPTIONAL = ("started", "ended", "active_seconds", "human")
# How tools and people write that a number or a time is missing.
MISSING = (
    "", "-", "--", "–", "—", ".", "?", "na", "n/a", "n.a.", "#n/a", "#div/0!", "#value!", "#ref!", "#num!", "<na>",
    "nan", "nil", "null", "none", "missing",
    "not rated", "nicht bewertet", "non évalué", "no evaluado", "nehodnoceno", "no answer", "no response", "skip",
    "skipped", "don't know", "dont know", "do not know", "unknown",
    "not applicable", "k. a.", "k.a.", "keine angabe", "weiß nicht", "weiss nicht", "n.v.t.", "s/o", "s.o.",
    "sans objet", "sans réponse", "pas de réponse", "ne sais pas", "n.s.p.", "n/d", "n.d.", "sin respuesta", "no sé",
    "no aplica", "neuvedeno", "bez odpovědi", "nevím", "non so", "não sei", "нет ответа", "не знаю", "н/д", "不知道",
    "未回答", "未评", "无", "わからない", "該当なし", "無回答", "없음", "모름",
)  # fmt: skip
# Scores computed back from standardised ones miss the scale by a hair.
ROUNDING = 0.01
_NEEDED: dict[object, str] = {pl.Float64: "a number", pl.Int32: "a whole number", pl.Boolean: "true or false"}
BOOLEANS = {"true": True, "false": False, "1": True, "0": False, "yes": True, "no": False}
_EXAMPLE_TIME = "2024-05-01T12:00:00Z"
# The share of a column's cells that must be numbers, before a comma in them is taken for a decimal one.
MOSTLY = 0.95
_DECIMAL_COMMA = r"^\s*([+-]?[0-9]+),([0-9]+)\s*$"
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


def convert_cells(frame: pl.DataFrame, bad: BadRows) -> pl.DataFrame:
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
    if name == "rank":
        column = column.str.replace(r"^([0-9]+) ?(st|nd|rd|th|\.|er|ère|e|º|ª|位)$", "$1")
    return column.cast(dtype, strict=False)


def _parse_spans(column: pl.Series) -> pl.Series:
    # If no span has the key, a release removed it from all spans, which are then by annotators.
    untyped = not column.str.contains('"error_type"', literal=True).any()
    parsed = [None if value is None else _parse_span_list(value, untyped=untyped) for value in column]
    return pl.Series(column.name, parsed, dtype=pl.List(SPAN))


def _parse_span_list(value: str, *, untyped: bool) -> list[dict[str, object]] | None:
    from adjudge.readers.appraise_batches import read_span

    try:
        spans = parse_json(value)
        if isinstance(spans, list) and spans and all(isinstance(span, dict) and "start_i" in span for span in spans):
            spans = [read_span({"error_type": None, **span} if untyped else span, None) for span in spans]
    except (ValueError, TypeError, KeyError, OverflowError):
        return None
    if not isinstance(spans, list) or not all(isinstance(span, dict) and _is_span(span) for span in spans):
        return None
    return [{key: span.get(key) for key in SPAN.to_schema()} for span in spans]


def _is_span(span: dict[str, object]) -> bool:
    """Whether the table can hold a span: whole numbers of 64 bits, text without half characters."""
    kinds = {name: int if dtype == pl.Int64 else str for name, dtype in SPAN.to_schema().items()}

    def fits(name: str, value: object) -> bool:
        if isinstance(value, str):
            return kinds.get(name) is str and not any("\ud800" <= character <= "\udfff" for character in value)
        is_int = isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63
        return name in kinds and (value is None or (is_int and kinds[name] is int))

    return all(fits(name, value) for name, value in span.items())


def _parse_times(column: pl.Series) -> pl.Series:
    """ISO times: a blank for the T, no seconds, a fraction, a zone (UTC if none), a bare date, and Unix times.

    Dates may also be written 2024/05/01 or 01.05.2024, which mean one thing each.
    """
    given = whole = column.str.strip_chars()
    for pattern, iso in _FORMS_OF_TIMES:
        whole = whole.str.replace(pattern, iso)
    has_zone = whole.str.contains(r"[+-]\d\d:\d\d$")
    zoned = pl.select(pl.when(has_zone).then(whole).otherwise(whole + "+00:00")).to_series()
    parsed = zoned.str.to_datetime("%Y-%m-%dT%H:%M:%S%.f%:z", time_unit="us", strict=False).dt.convert_time_zone("UTC")
    number = given.cast(pl.Float64, strict=False)
    seconds = pl.select(pl.when(number.is_between(*_MILLISECONDS)).then(number / 1000).otherwise(number)).to_series()
    micros = pl.when(seconds.is_between(*_UNIX)).then(seconds * 1e6).round().cast(pl.Int64)
    moments = pl.select(micros.cast(pl.Datetime("us", "UTC"))).to_series()
    return pl.select(pl.coalesce(parsed, moments)).to_series().alias(column.name)


def replace_decimal_commas(
    frame: pl.DataFrame, columns: Iterable[str], *, thousands: bool = False
) -> tuple[pl.DataFrame, list[str]]:
    """Numbers with a decimal comma, as spreadsheets of many countries write them, with a point; and a note on which.

    Args:
        frame: the table, in text.
        columns: where to look.
        thousands: whether `1,234` may be a thousand: columns of nothing else are left alone.
    """
    changed: list[str] = []
    for name in columns:
        cells = frame[name].drop_nulls().str.strip_chars()
        with_comma = cells.str.contains(_DECIMAL_COMMA)
        numbers = with_comma | cells.str.contains(r"^[+-]?[0-9]+$") | (cells == "")
        unsure = thousands and not (with_comma & ~cells.str.contains(r",[0-9]{3}$")).any()
        if with_comma.any() and not unsure and len(numbers.arg_true()) >= MOSTLY * len(cells):
            changed.append(name)
    if not changed:
        return frame, []
    with_points = pl.col(changed).str.replace(_DECIMAL_COMMA, "$1.$2")
    return frame.with_columns(with_points), [f"commas in {', '.join(map(shown, changed))} are decimal points"]


def check_cells(frame: pl.DataFrame, bad: BadRows) -> pl.DataFrame:
    """Set aside rows whose values are of the right type and yet cannot be; empty impossible times."""
    if "system" in frame.columns:
        bad.mark_nameless(frame["system"])
    for name, allowed in (("protocol", PROTOCOLS), ("kind", KINDS)):
        if name in frame.columns:
            words = frame[name]
            known = f"use one of {', '.join(allowed)}"
            bad.mark(
                words.is_not_null() & ~words.is_in(list(allowed)),
                lambda row, words=words, known=known: f"column '{words.name}' holds '{shown(words[row])}'; {known}",  # type: ignore[misc]
                f"row with an unknown {name}",
            )
    for name, least in (("rank", 1), ("revision", 0)):
        if name in frame.columns:
            bad.mark(frame[name] < least, _too_low(frame[name], least, bad.source), f"row with a broken {name}")
    if "active_seconds" in frame.columns:
        negative = (frame["active_seconds"] < 0).fill_null(value=False)
        bad.empty(negative, "active_seconds", _too_low(frame["active_seconds"], 0, bad.source))
        frame = frame.with_columns(pl.when(~negative).then(pl.col("active_seconds")).alias("active_seconds"))
    return frame


def _too_low(numbers: pl.Series, least: int, source: Source) -> Callable[[int], str]:
    def problem(row: int) -> str:
        column = shown(source.column(numbers.name, row))
        return f"column '{column}' holds {numbers[row]}, at least {least} is needed; correct it"

    return problem


def check_scale_of_scores(table: pl.DataFrame, bad: BadRows) -> None:
    """Set aside scores that are off the scale of their protocol."""
    from adjudge.readers.values import propose_scale

    off = ~table["score"].is_between(SCORE_SCALE[0] - ROUNDING, SCORE_SCALE[1] + ROUNDING)
    if "slider" in table.columns:
        # Sliders that a campaign made for itself have scales of their own.
        off &= table["slider"].cast(pl.String).fill_null("") == ""

    def problem(row: int) -> str:
        column = bad.source.column("score", row)
        where = "" if column == "score" else f" in column '{shown(column)}'"
        value = f"score{where} is {table['score'][row]:g}, it must lie between 0 and 100"
        say = f"say the scale, as {propose_scale(table['score'])}"
        other = "or name the protocol of another scale, such as 'mqm', in a column 'protocol'"
        return f"{value} in protocol '{table['protocol'][row]}'; {say}, {other}"

    bad.mark(off & table["protocol"].is_in(list(ON_SCALE)), problem, "score off the scale")


# Rank labels as people wrote them, and how long their scale is: what the readers of relative ranks share.


# How long the scale of the field's rankings is. Pairs are drawn from blocks of as many, so tables of pairs have it too.
USUAL_LABELS = 5
# How files write "left blank". No rank is 0, so a 0 can mean nothing else.
BLANKS = ("", "-1", "-1.0", "-", "0", "0.0", "na", "n/a", "nan", "null", "none")


def parse_ranks(texts: pl.Series, *, scale: int, bad: BadRows) -> pl.Series:
    """Rank labels from 1 to `scale`, null where left blank.

    Args:
        texts: the labels as written; `3.0` is 3, because spreadsheets write whole columns so.
        scale: the highest label.
        bad: where rows with a label that is no rank are recorded.
    """
    plain = texts.fill_null("").str.strip_chars().str.to_lowercase()
    number = plain.str.extract(r"^\+?([0-9]{1,9})(?:\.0*)?$", 1).cast(pl.Int32)
    blank = plain.is_in(BLANKS)
    wrong = ~blank & ~(number.is_between(1, scale).fill_null(value=False))

    def problem(row: int) -> str:
        hint = f"; {param('labels')} is for longer scales" if number[row] is not None and number[row] > scale else ""
        where = f"it must lie between 1 and {scale} (or be -1 or empty where left blank){hint}"
        return f"rank is '{shown(texts[row])}', {where}"

    bad.mark(wrong, problem, "row with a broken rank")
    return pl.select(pl.when(~blank & ~wrong).then(number)).to_series().alias("rank")


def scale_of(options: ReadOptions, usual: int) -> int:
    """The highest label that counts: what the user says, or what is usual in the format."""
    if options.labels is None:
        return usual
    if options.labels < 2:
        raise UsageError(f"{param('labels')} is {options.labels}, a scale has at least 2 labels")
    return options.labels
