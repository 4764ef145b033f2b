"""MQM ratings as a tab-separated table: one row per error, marked `<v>..</v>` in the source or the target text.

All rows of one annotator for one output are one judgment; columns are told by their names, which differ from year to
year. Its score is computed from its errors (`weights`).
Quotes are ordinary characters in these files.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

from adjudge.readers.columns import SYNONYMS, ColumnMap, map_columns
from adjudge.readers.parsing import Delimited, column_uses, pair_of, read_delimited, read_each, stem
from adjudge.readers.tables import is_workbook, load_table
from adjudge.table.errors import DataError, InputError, Source, UsageError, param, shown
from adjudge.table.files import read_text, write_text
from adjudge.table.judgments import ColumnUse, Judgments, SetAside
from adjudge.table.languages import find_pair, language_code, pair_in_name
from adjudge.table.participants import mark_humans
from adjudge.table.protocols import NOT_CONTROLS
from adjudge.table.texts import MISSING, SOURCE, Span, span_column
from adjudge.table.wording import agreeing, as_argument, counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from adjudge.readers.options import ReadOptions


# What an error costs in MQM, by the weights of the workshops' rankings:
# minor 1 (punctuation 0.1), major and critical 5, non-translation 25, neutral errors, errors of the source and creative
# reinterpretations 0. Categories are written in several ways: `Non-translation!`, `non_translation`. A score is the sum
# of the costs below zero, so that more is better, as everywhere else.


@dataclass(frozen=True)
class Weights:
    """The costs of errors; by default those of the workshops."""

    minor: float = 1.0
    punctuation: float = 0.1
    major: float = 5.0
    critical: float = 5.0
    non_translation: float = 25.0
    source: bool = False
    """Whether errors of the source cost what their severity says; otherwise they cost nothing."""
    others: tuple[tuple[str, float], ...] = ()
    """Severities of a campaign's own, in small letters, and what they cost."""


WORKSHOPS = Weights()
NAMED: dict[str, Weights] = {"workshops": WORKSHOPS, "google": Weights(source=True)}
"""Weights by name. `google` are those of M. Freitag and others (2021), Experts, Errors, and Context: errors of the
source are no exception there."""
NO_ERROR = ("no-error", "no error")
_FREE = (*NO_ERROR, "neutral", "undecided")
_OF_SOURCE = re.compile(r"^source\b")
_FREE_CATEGORY = re.compile(r"reinterpretation")
_WORDS_APART = re.compile(r"[\s_]+")


def plain(label: str | None) -> str:
    """A severity or category in small letters, with blanks for underscores."""
    return _WORDS_APART.sub(" ", label or "").strip().casefold()


def weight(severity: str, category: str | None, weights: Weights = WORKSHOPS) -> float | None:
    """Return the cost of an error of this severity and category; None if the severity is not known."""
    severity, category = plain(severity), plain(category)
    if severity in _FREE or _FREE_CATEGORY.search(category) or (_OF_SOURCE.search(category) and not weights.source):
        return 0.0
    if re.match(r"non.translation", category):
        return weights.non_translation
    given = dict(weights.others)
    if severity in given:
        return given[severity]
    if severity == "trivial" or (severity == "minor" and "punctuation" in category):
        return weights.punctuation
    return {"minor": weights.minor, "major": weights.major, "critical": weights.critical}.get(severity)


def find_weights(text: str) -> Weights:
    """Weights by name, or stated as `minor=1,major=10`; what is not stated is as the workshops have it.

    A name that is none of the workshops' is a severity of the campaign's own.
    """
    if text in NAMED:
        return NAMED[text]
    numbers = [field.name for field in fields(Weights) if field.type == "float"]
    stated: dict[str, Any] = {}
    for part in text.split(","):
        name, _, value = (piece.strip() for piece in part.partition("="))
        try:
            stated[name] = float(value)
        except ValueError:
            stated[name] = math.nan
        if name in ("", "source", *_FREE) or not 0 <= stated[name] < math.inf:
            known = ", ".join(NAMED)
            raise UsageError(
                f"{param('mqm_weights')} '{text}' is neither a name ({known}) nor a list such as minor=1,major=5 "
                f"of {', '.join(numbers)}, or a severity of your own; correct it"
            )
    others = tuple((plain(name), stated.pop(name)) for name in list(stated) if name not in numbers)
    return replace(WORKSHOPS, **stated, others=others)


def score_spans(spans: list[Span]) -> float:
    """Score a judgment by its error spans, with the weights of the workshops."""
    return score([weight(span["severity"], span["category"]) or 0.0 for span in spans])


def score(weights: list[float]) -> float:
    """The score of a judgment whose errors have these weights, rounded so that 0.1 + 0.2 is 0.3."""
    return round(0.0 - sum(weights), 9) + 0.0


PARTNER = "_with_"
"""Between a system and the one that it was shown with, where a system was shown with several."""
# Rows that test whether raters pay attention, not ratings.
ATTENTION = "hotw-test"
DEFAULT_WEIGHTS = "workshops"
_MARK = re.compile(r"</?v>")
_FOUR_LETTERS = re.compile(r"(?<![a-z])[a-z]{4}(?![a-z])")
# Words in file names that look like two language codes.
WORDS_IN_NAMES = frozenset({"beta", "caps", "data", "date", "node", "note", "path", "side", "site", "task", "team"})
# What the columns are called, the likeliest first; `doc_id` is a segment's place in its document in these files.
COLUMNS: dict[str, tuple[str, ...]] = {
    "system": SYNONYMS["system"],
    "annotator": ("rater", *SYNONYMS["annotator"]),
    "segment": ("seg_id", "global_seg_id", "segment", "doc_seg_id", "doc_segment_id", *SYNONYMS["segment"]),
    "document": ("doc", "doc_name", "document", "document_id", "document_name"),
    "category": (
        "category",
        "error_category",
        "error_type",
        "issue_type",
        "fehlerkategorie",
        "kategorie",
        "fehlertyp",
        "catégorie",
        "categoría",
        "kategorie chyby",
        "错误类别",
        "カテゴリ",
    ),
    "severity": ("severity", "error_severity", "schweregrad", "gravité", "gravedad", "závažnost", "严重程度", "重大度"),
    "source": ("source", "source_text", "source_segment", "src", "ausgangstext", "quelltext", "texte source", "原文"),
    "target": (
        "target", "candidate", "translation", "target_text", "target_segment", "hypothesis", "mt", "output", "zieltext",
        "texte cible", "译文", "訳文",
    ),
    "text": ("comment", "comments", "note", "notes"),
    "source_lang": SYNONYMS["source_lang"],
    "target_lang": SYNONYMS["target_lang"],
    "pair": SYNONYMS["pair"],
}  # fmt: skip
_PARTS_OF_SPANS = {
    "category": "spans: category",
    "severity": "spans: severity",
    "source": "spans: marks in the source",
    "target": "spans: marks in the target",
}


@dataclass
class _Rating:
    """All errors that one annotator found in one output."""

    system: str
    document: str
    segment: str
    annotator: str
    pair: tuple[str, str] | None
    """The languages, where the rows name them."""
    spans: list[Span] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    rows: int = 0
    broken: bool = False
    comments: list[str] = field(default_factory=list)


def read(paths: Sequence[Path], options: ReadOptions) -> Judgments:
    """Read rating files; each becomes a campaign named after it."""
    weights = find_weights(options.mqm_weights or DEFAULT_WEIGHTS)
    judgments = read_each(paths, options, partial(_read_file, weights))
    # A weight for a severity that no error has is a slip of the pen.
    severities = judgments.table["spans"].explode().drop_nulls().struct.field("severity").unique().sort().to_list()
    for name, _ in weights.others:
        if name not in map(plain, severities):
            raise UsageError(
                f"{param('mqm_weights')} names '{shown(name)}', but the severities are "
                f"{shown(', '.join(severities), 200)}; "
                "correct it"
            )
    return judgments


def _read_file(weights: Weights, path: Path, campaign: str, options: ReadOptions) -> Judgments:
    table = _load(path, options)
    counts: Counter[str] = Counter()
    columns = _Columns.of(table, options)
    ratings = _ratings(columns, counts, weights)
    set_aside, row_notes = table.bad.settle()
    if not ratings:
        raise InputError("holds a header but no ratings; check that the file is complete", file=path)
    judgments = Judgments.from_columns(
        _make_rows(ratings, campaign, _pair(path, options)),
        set_aside=[
            SetAside("test of attention, not a rating", counts["attention"]),
            SetAside("row of a rating in which another row is broken", counts["beside"]),
            SetAside("error repeated later in the file, an exact copy", counts["copies"]),
            *set_aside,
        ],
        notes=_notes(path, counts, row_notes, options),
        source=str(path),
        uses=columns.uses(),
    )
    return mark_humans(judgments, options.human, given=("kind",))


def _load(path: Path, options: ReadOptions) -> Delimited:
    """The rows of a text file or of a workbook."""
    if is_workbook(path):
        sheet = load_table(path)
        rows = [
            (sheet.source.number(row), [cell or "" for cell in cells]) for row, cells in enumerate(sheet.frame.rows())
        ]
        return Delimited(path, tuple(sheet.frame.columns), tuple(rows), options)
    # Between tabs quotes are ordinary characters, unless they stand around the names of columns.
    header = read_text(path).lstrip().split("\n", 1)[0]
    return read_delimited(path, None, quoting="\t" not in header or header.startswith('"'), options=options)


def holds_errors(header: Sequence[str]) -> bool:
    """Whether columns are those of errors, and not of scores."""
    names = map_columns(header, Source("header"), known={**COLUMNS, "answer": (*SYNONYMS["score"], *SYNONYMS["rank"])})
    return {"system", "annotator", "category", "severity"} <= set(names.columns) and "answer" not in names


def _split_partners(ratings: Sequence[_Rating]) -> tuple[list[str], list[str]]:
    """The system of every rating, and what it was shown with; side by side, `A_with_B` is A, shown beside B."""
    halves = {rating.system: rating.system.split(PARTNER) for rating in ratings}
    partners = {
        system: parts
        for system, parts in halves.items()
        # A name such as `tuned_with_data` is no pair: both halves must occur in other names too.
        if len(parts) == 2 and set(parts) <= {half for other, two in halves.items() if other != system for half in two}
    }
    both = [partners.get(rating.system) for rating in ratings]
    systems = [rating.system if two is None else two[0] for rating, two in zip(ratings, both, strict=True)]
    return systems, [
        rating.system if two is None else PARTNER.join(sorted(two)) for rating, two in zip(ratings, both, strict=True)
    ]


def _make_rows(ratings: Sequence[_Rating], campaign: str, pair_of_file: tuple[str, str]) -> pl.DataFrame:
    """Make rows of the judgment table; a rating that does not say its language pair has that of the file."""
    pairs = [rating.pair or pair_of_file for rating in ratings]
    systems, together = _split_partners(ratings)
    names = ("annotator", "segment")
    columns = {
        "source_lang": [source for source, _ in pairs],
        "target_lang": [target for _, target in pairs],
        **{name: [getattr(rating, name) for rating in ratings] for name in names},
        "system": systems,
        "screen": [
            f"{rating.document}#{shown_with}" if rating.document else None
            for rating, shown_with in zip(ratings, together, strict=True)
        ],
        "document": [rating.document or None for rating in ratings],
        "score": [score(rating.weights) for rating in ratings],
        "spans": span_column([rating.spans for rating in ratings]),
        "text": [" | ".join(rating.comments) or None for rating in ratings],
    }
    return pl.DataFrame(columns).with_columns(campaign=pl.lit(campaign), protocol=pl.lit("mqm"))


def _notes(path: Path, counts: Counter[str], row_notes: Sequence[str], options: ReadOptions) -> list[str]:
    """Collect the notes on how the file was read; `row_notes` are about its rows."""
    have = agreeing(counts["open"], "has no end; it runs", "have no end; they run")
    notes = [f"{stem(path)}: {counted(counts['open'], 'mark')} {have} to the end of the text"] if counts["open"] else []
    notes += row_notes
    if options.mqm_weights is None:
        notes.append(f"error weights are those of the workshops ('{DEFAULT_WEIGHTS}'); --mqm-weights chooses others")
    if counts["copies"]:
        copies = counted(counts["copies"], "row repeats another", "rows repeat others")
        notes.append(f"{stem(path)}: {copies} in every column; the error counts once")
    return notes


def _pair(path: Path, options: ReadOptions) -> tuple[str, str]:
    """The languages, which these files run together in their names, at the end: `mqm_ted_ende.tsv`."""
    words = [word for word in _FOUR_LETTERS.findall(stem(path)) if word not in WORDS_IN_NAMES]
    pairs = [pair for pair in map(find_pair, words) if pair is not None]
    return pairs[-1] if pairs and pair_in_name(path.name) is None else pair_of(path, options)


@dataclass(frozen=True)
class _Columns:
    """The columns of a file by their meaning, under any of the names that they have had."""

    table: Delimited
    mapping: ColumnMap

    @classmethod
    def of(cls, table: Delimited, options: ReadOptions) -> _Columns:
        mapping = map_columns(table.header, table.source, columns=options.columns, known=COLUMNS)
        for needed in ("system", "annotator", "segment", "category", "severity"):
            mapping.need(needed)
        mapping.refuse_twice([name for name in table.header if table.header.count(name) > 1])
        return cls(table, mapping)

    def uses(self) -> tuple[ColumnUse, ...]:
        """List the meanings of the columns of the file."""
        taken = {
            _PARTS_OF_SPANS.get(meaning, meaning): self.table.header.index(column)
            for meaning, column in self.mapping.columns.items()
        }
        return column_uses(self.table.path, self.table.header, taken)

    def cells(self, meaning: str) -> list[str]:
        """Return the cells of the column with this meaning; empty texts if there is none."""
        if meaning not in self.mapping:
            return [""] * len(self.table.rows)
        place = self.table.header.index(self.mapping.need(meaning))
        return [fields[place] for _, fields in self.table.rows]

    def keys(self) -> list[tuple[str, str, str, str, tuple[str, str] | None]]:
        """What identifies the rating that every row belongs to: the first fields of `_Rating`."""
        names = [[cell.strip() for cell in self.cells(name)] for name in ("system", "document", "segment", "annotator")]
        pairs = [find_pair(cell) for cell in self.cells("pair")]
        if "source_lang" in self.mapping and "target_lang" in self.mapping:
            languages = zip(self.cells("source_lang"), self.cells("target_lang"), strict=True)
            pairs = [(language_code(s), language_code(t)) if s.strip() and t.strip() else None for s, t in languages]
        return list(zip(*names, pairs, strict=True))


def _ratings(columns: _Columns, counts: Counter[str], weights: Weights) -> list[_Rating]:
    table = columns.table
    ratings: dict[tuple[object, ...], _Rating] = {}
    last = {tuple(fields): row for row, (_, fields) in enumerate(table.rows)}
    severities, categories, comments = (columns.cells(name) for name in ("severity", "category", "text"))
    sources, targets, keys = columns.cells("source"), columns.cells("target"), columns.keys()
    for row, (_, cells) in enumerate(table.rows):
        if last[tuple(cells)] != row and row not in table.bad.problems:
            counts["copies"] += 1
            continue
        error = (severities[row].strip(), categories[row].strip())
        if error[0].casefold() == ATTENTION:
            counts["attention"] += 1
            continue
        rating = ratings.setdefault(keys[row], _Rating(*keys[row]))
        if row in table.bad.problems or _refuse_severity(error, weights, table, row):
            # Without this error the rating would look better than it is.
            rating.broken = True
            continue
        rating.rows += 1
        if comments[row].strip():
            rating.comments.append(comments[row].strip())
        if plain(error[0]) in NO_ERROR or plain(error[1]) in NO_ERROR:
            continue
        rating.weights.append(weight(*error, weights) or 0.0)
        rating.spans += _make_spans(sources[row], targets[row], *error, counts)
    counts["beside"] = sum(rating.rows for rating in ratings.values() if rating.broken)
    return [rating for rating in ratings.values() if not rating.broken]


def _refuse_severity(error: tuple[str, str], weights: Weights, table: Delimited, row: int) -> bool:
    """Whether an error is of no known severity, which makes the row a bad one."""
    if plain(error[0]) in NO_ERROR or plain(error[1]) in NO_ERROR or weight(*error, weights) is not None:
        return False
    known, remedy = "no-error, neutral, minor, major or critical", "correct it"
    if error[0]:
        remedy = f"or a weight for it, as {param('mqm_weights')} {as_argument([f'{plain(error[0])}=8'])}"
    table.bad.row(row, f"severity is '{shown(error[0])}', {known} is needed, {remedy}", "error of unknown severity")
    return True


def _make_spans(source: str, target: str, severity: str, category: str, counts: Counter[str]) -> list[Span]:
    marked: list[tuple[str, int | None, int | None, str | None]] = []
    for side, text in (("source", source), ("target", target)):
        marked += [(side, *marks) for marks in _parse_marks(text, counts)]
    if not marked:
        marked = [("missing" if "omission" in category.casefold() else "target", None, None, None)]
    kind = {"severity": severity.casefold(), "category": category or None}
    return [{"start": start, "end": end, **kind, "side": side, "text": quoted} for side, start, end, quoted in marked]


def _parse_marks(text: str, counts: Counter[str]) -> list[tuple[int, int, str]]:
    """Start, end and text of everything between `<v>` and `</v>`, counted in the text without the marks."""
    plain = ""
    opened: int | None = None
    marks: list[tuple[int, int, str]] = []
    last = 0
    for mark in _MARK.finditer(text):
        plain += text[last : mark.start()]
        last = mark.end()
        if mark[0] == "<v>":
            opened = len(plain) if opened is None else opened
        elif opened is not None:
            marks.append((opened, len(plain), plain[opened:]))
            opened = None
    plain += text[last:]
    if opened is not None:
        counts["open"] += 1
        marks.append((opened, len(plain), plain[opened:]))
    return marks


# A judgment table as MQM ratings. It must hold the texts (columns `source_text` and `target_text`). The format has no
# revisions and no controls: the last revision of genuine judgments is written. A score follows from the errors.

HEADER = ("system", "doc", "doc_id", "seg_id", "rater", "source", "target", "category", "severity")
_OPEN, _CLOSE = "<v>", "</v>"
_BREAKS = str.maketrans({"\t": " ", "\n": " ", "\r": " "})


def written(judgments: Judgments) -> Judgments:
    """The judgments that a file of ratings can hold; the others are set aside."""
    if set(judgments.protocols) - {"mqm"}:
        protocols = ", ".join(judgments.protocols)
        raise DataError(
            f"MQM ratings hold errors with categories (protocol mqm), not '{protocols}'; use another format"
        )
    final = judgments.final().keep(pl.col("score").is_not_null(), otherwise="judgment that is not finished")
    genuine = pl.col("kind").is_in(NOT_CONTROLS)
    return final.keep(genuine, otherwise="control, which MQM ratings cannot tell from others")


def write(judgments: Judgments, path: Path) -> None:
    """Write ratings as a tab-separated file."""
    lines = ["\t".join(HEADER)]
    documents: dict[str, int] = {}
    for row in written(judgments).table.iter_rows(named=True):
        document = row["document"] or ""
        number = documents.setdefault(document, len(documents) + 1)
        identity = (row["system"], document, str(number), row["segment"] or "", row["annotator"] or "")
        lines += ["\t".join(field.translate(_BREAKS) for field in (*identity, *error)) for error in _errors(row)]
    write_text(path, "\n".join(lines) + "\n")


def _errors(row: dict[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    """Source, target, category and severity of every error, or of none."""
    source, target = row["source_text"] or "", row["target_text"] or ""
    for text in (source, target):
        if _OPEN in text or _CLOSE in text:
            raise DataError(f"the text '{shown(text)}' holds {_OPEN} or {_CLOSE}, which mark errors in MQM files")
    if not row["spans"]:
        yield source, target, "No-error", "No-error"
    for span in row["spans"]:
        texts = [source, target]
        if span["side"] != MISSING and span["start"] is not None:
            side, start, end = int(span["side"] != SOURCE), span["start"], span["end"]
            texts[side] = texts[side][:start] + _OPEN + texts[side][start:end] + _CLOSE + texts[side][end:]
        yield texts[0], texts[1], span["category"] or "", str(span["severity"]).capitalize()
