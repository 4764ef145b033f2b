"""The first releases of the translation workshops: one file with judgments of many types, told apart by `TYPE`.

Rows are shorter than the header where fewer systems were shown. `TASK` names campaign, language pair and domain in one
string (`WMT09 Czech-English News`); what remains of it without the pair becomes the campaign, so that the test sets of
one pair are not pooled. Rows of type `RANK` become blocks, the other types are set aside and counted by type. `TIME`
is that of the whole block: each of its systems gets an equal share.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from adjudge.core.errors import InputError, shown
from adjudge.core.files import read_text
from adjudge.core.judgments import Judgments, SetAside, concat
from adjudge.core.languages import UNKNOWN, is_language, language_code
from adjudge.formats.parsing.delimited import detect_delimiter, numbered_lines, to_float
from adjudge.formats.parsing.sources import campaign_names
from adjudge.formats.rankings.labels import human_columns, parse_ranks, scale_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from adjudge.formats.options import ReadOptions

RANKING = "RANK"
SCALE = 5
_LEADING = ("TASK", "TYPE", "ITEM_ID", "ANNOTATOR_ID", "TIME")
_LEADING_LATER = ("JUDGEMENT_ID", "TASK", "TYPE", "ITEM_ID", "ANNOTATOR_ID", "ANNOTATOR_TYPE_COUNT", "TIME")
_SYSTEMS = tuple(
    f"{name}_{i}{end}" for i in range(SCALE) for name, end in (("SYSTEM", ""), ("SCORE", "_A"), ("SCORE", "_B"))
)


@dataclass(frozen=True)
class Task:
    """What a `TASK` string says: campaign with domain, and the two languages."""

    campaign: str
    source: str
    target: str


def read(paths: Sequence[Path], options: ReadOptions) -> Judgments:
    """Read the files; the campaign is what `TASK` says besides the language pair."""
    screens = campaign_names(paths) if len(paths) > 1 else [""]
    return concat([_read_file(path, prefix, options) for path, prefix in zip(paths, screens, strict=True)])


def parse_task(text: str) -> Task:
    """Take a `TASK` string apart at the hyphen between two languages, which may have names of several words."""
    words = text.strip()
    for hyphen in re.finditer("-", words):
        before, after = words[: hyphen.start()].split(), words[hyphen.end() :].split()
        for left, right in _lengths(len(before), len(after)):
            source, target = " ".join(before[-left:]), " ".join(after[:right])
            if is_language(source) and is_language(target):
                rest = " ".join([*before[:-left], *after[right:]])
                return Task(rest, language_code(source), language_code(target))
    return _half_known(words)


def _lengths(before: int, after: int) -> Iterator[tuple[int, int]]:
    """How many words the two languages may have: the longest names first."""
    return ((left, right) for left in range(min(3, before), 0, -1) for right in range(min(3, after), 0, -1))


def _half_known(words: str) -> Task:
    """A pair of which one language is known is still a pair; without any, the whole string is the campaign."""
    for match in re.finditer(r"(?<!\S)([^\s-]+)-([^\s-]+)(?!\S)", words):
        if is_language(match[1]) or is_language(match[2]):
            rest = f"{words[: match.start()]} {words[match.end() :]}"
            return Task(" ".join(rest.split()), language_code(match[1]), language_code(match[2]))
    return Task(words, UNKNOWN, UNKNOWN)


def _read_file(path: Path, prefix: str, options: ReadOptions) -> Judgments:
    text = read_text(path)
    if not text.strip():
        raise InputError("is empty; judgments with TASK and TYPE are needed", file=path)
    header, rows = _table(text, path)
    types = Counter(fields[header["TYPE"]] for _, fields in rows)
    if not rows:
        raise InputError("holds a header but no judgment; check that the file is complete", file=path)
    rankings = [(line, fields) for line, fields in rows if fields[header["TYPE"]] == RANKING]
    if not rankings:
        existing = shown(", ".join(sorted(types)))
        raise InputError(f"holds no row of type {RANKING}, only {existing}; check --format", file=path)
    labels = _labels(header, rankings, path, options)
    if labels.height == 0:
        raise InputError(f"holds rows of type {RANKING} without any system; check --format", file=path)
    columns, notes = _with_tasks(labels)
    columns = columns.with_columns(
        (pl.lit(f"{prefix}:" if prefix else "") + pl.col("screen")).alias("screen"),
        pl.lit("ranking").alias("protocol"),
        **human_columns(labels["system"], options.human),
    )
    others = sorted((name, count) for name, count in types.items() if name != RANKING)
    set_aside = [SetAside(f"not a ranking: type {shown(name)}", count) for name, count in others]
    return Judgments.from_columns(columns, set_aside=set_aside, notes=notes, source=str(path))


def _with_tasks(labels: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Replace `task_name` by the campaign and the languages that it names."""
    names = labels["task_name"].unique(maintain_order=True).to_list()
    tasks = [parse_task(name) for name in names]
    meanings = {
        "campaign": [task.campaign for task in tasks],
        "source_lang": [task.source for task in tasks],
        "target_lang": [task.target for task in tasks],
    }
    told = [
        labels["task_name"].replace_strict(names, meaning, return_dtype=pl.String).alias(column)
        for column, meaning in meanings.items()
    ]
    unknown = [name for name, task in zip(names, tasks, strict=True) if task.source == task.target == UNKNOWN]
    notes = [f"no language pair found in TASK '{shown(name)}'" for name in unknown]
    return labels.drop("task_name").with_columns(told), notes


def _table(text: str, path: Path) -> tuple[dict[str, int], list[tuple[int, list[str]]]]:
    """The places of the columns, and the rows filled up to the length of the header."""
    delimiter = detect_delimiter(text)
    rows = [(number, _fields(line, delimiter, path, number)) for number, line in numbered_lines(text)]
    names = [name.upper() for name in rows[0][1]]
    if "TASK" in names and "TYPE" in names:
        rows = rows[1:]
    else:
        names = _header_of(rows[0][1], path)
    header = {name: index for index, name in reversed(list(enumerate(names)))}
    for name in ("TASK", "TYPE", "ITEM_ID", "ANNOTATOR_ID", "SYSTEM_0", "SCORE_0_A"):
        if name not in header:
            raise InputError(f"has no column '{name}'; check --format", file=path, line=1)
    return header, [(line, _filled(fields, header, path, line)) for line, fields in rows]


def _filled(fields: list[str], header: dict[str, int], path: Path, line: int) -> list[str]:
    """A row as long as the header. Only in rankings too long a row is a fault: other types end in free text."""
    length = max(header.values()) + 1
    kind = fields[header["TYPE"]] if len(fields) > header["TYPE"] else None
    # A row that ends in the name of a system was cut before its rank.
    ends = {header["TYPE"], *(index for name, index in header.items() if name.startswith("SYSTEM_"))}
    if kind is None or (kind == RANKING and len(fields) - 1 in ends and fields[-1]):
        raise InputError(f"only {len(fields)} fields; the file may be cut", file=path, line=line)
    if kind == RANKING and len(fields) > length:
        problem = f"{len(fields)} fields where the header has {length}"
        raise InputError(f"{problem}; the file may be damaged or not what --format says", file=path, line=line)
    return fields + [""] * (length - len(fields))


def _fields(line: str, delimiter: str, path: Path, number: int) -> list[str]:
    """One line's fields. No field spans lines, so a stray quote harms its own line at most."""
    if delimiter != "," or '"' not in line:
        return [field.strip() for field in line.split(delimiter)]
    try:
        return [field.strip() for field in next(csv.reader([line]))]
    except csv.Error as fault:
        raise InputError(f"cannot be read as a table ({fault}); check quotes", file=path, line=number) from fault


def _header_of(fields: list[str], path: Path) -> list[str]:
    """The header of a file without one, recognised by where the type stands."""
    for leading in (_LEADING, _LEADING_LATER):
        index = leading.index("TYPE")
        if len(fields) > index and re.fullmatch(r"[A-Z][A-Z_]+", fields[index]):
            return [*leading, *_SYSTEMS, "EXTRA"]
    raise InputError("has no header with TASK and TYPE; check --format", file=path, line=1)


def _labels(
    header: dict[str, int], rankings: list[tuple[int, list[str]]], path: Path, options: ReadOptions
) -> pl.DataFrame:
    """One row per output shown."""
    numbers = sorted(int(match[1]) for name in header if (match := re.fullmatch(r"SYSTEM_(\d{1,3})", name)))
    lines = pl.Series([line for line, _ in rankings], dtype=pl.Int64)
    block = pl.DataFrame(
        {
            "task_name": _column(rankings, header["TASK"]),
            "segment": _column(rankings, header["ITEM_ID"]),
            "annotator": _column(rankings, header["ANNOTATOR_ID"]),
            "active_seconds": _seconds(rankings, header.get("TIME"), path),
            "screen": pl.int_range(1, len(rankings) + 1, eager=True).cast(pl.String),
        }
    ).with_row_index("row")
    scale = scale_of(options, max(len(numbers), SCALE))
    parts = []
    for number in numbers:
        scores = header.get(f"SCORE_{number}_A")
        if scores is None:
            raise InputError(f"has no column 'SCORE_{number}_A'; check --format", file=path, line=1)
        ranks = parse_ranks(_column(rankings, scores), scale=scale, path=path, lines=lines)
        systems = _column(rankings, header[f"SYSTEM_{number}"])
        parts.append(block.with_columns(systems.alias("system"), ranks).filter(pl.col("system") != ""))
    labels = pl.concat(parts).sort("row", maintain_order=True)
    share = pl.col("active_seconds") / pl.len().over("row")
    return labels.with_columns(share.alias("active_seconds")).drop("row")


def _column(rankings: list[tuple[int, list[str]]], index: int) -> pl.Series:
    return pl.Series([fields[index] for _, fields in rankings], dtype=pl.String)


def _seconds(rankings: list[tuple[int, list[str]]], index: int | None, path: Path) -> list[float | None]:
    if index is None:
        return [None] * len(rankings)
    given = ((line, fields[index]) for line, fields in rankings)
    return [to_float(value, "TIME", path, line) if value else None for line, value in given]
