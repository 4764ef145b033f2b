"""Which person uses an account: maps in the forms that campaigns release.

JSON from people to lists of accounts, or from accounts to people; or a table (comma, tab or semicolon, with a header or
without) that has accounts in one column and people in another. One person may have several accounts, never the
other way round; that, and the accounts in the results, tell which column is which.
"""

from __future__ import annotations

import csv
import io
import json
import re
from typing import TYPE_CHECKING, Any

from adjudge.core.errors import InputError
from adjudge.core.files import read_text
from adjudge.formats.parsing.delimited import detect_delimiter

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_PEOPLE = re.compile(r"annotator|person|people|worker|rater|name", re.IGNORECASE)


def read_people(path: Path, accounts: set[str]) -> dict[str, str]:
    """The person behind each account, for the accounts of `accounts` that the file knows."""
    text = read_text(path)
    if not text.strip():
        raise InputError("is empty; a map from accounts to people is needed", file=path)
    rows = _parse_json(text, path) if text.lstrip()[0] in "[{" else _parse_table(text, path)
    columns = list(zip(*rows, strict=True))
    best: tuple[int, dict[str, str]] = (0, {})
    for account in range(len(columns)):
        people = _people_column(columns, account)
        if people is None:
            continue
        pairs = {key: who for key, who in zip(columns[account], columns[people], strict=True) if key and who}
        known = len(accounts & pairs.keys())
        # An account that others are mapped to is a person itself.
        persons = accounts & set(pairs.values())
        if _is_function(columns[account], columns[people]) and (known or persons) and known + len(persons) > best[0]:
            best = (known + len(persons), {**{person: person for person in persons}, **pairs})
    if not best[0]:
        raise InputError("knows none of the accounts in the results; check --annotators", file=path)
    return {account: best[1][account] for account in accounts & best[1].keys()}


def _parse_json(text: str, path: Path) -> list[tuple[str, ...]]:
    try:
        given: Any = json.loads(text)
    except (ValueError, RecursionError) as fault:
        line = getattr(fault, "lineno", None)
        raise InputError("is damaged JSON; check that the file is complete", file=path, line=line) from fault
    if isinstance(given, dict):
        lists = {str(key): value if isinstance(value, list) else [value] for key, value in given.items()}
        return [(key, str(entry)) for key, entries in lists.items() for entry in entries] or [("", "")]
    if isinstance(given, list) and all(isinstance(entry, dict) for entry in given):
        keys = list(dict.fromkeys(key for entry in given for key in entry))
        return [tuple(keys), *(tuple(str(entry.get(key) or "") for key in keys) for entry in given)]
    raise InputError("is JSON, but neither an object nor a list of objects", file=path)


def _parse_table(text: str, path: Path) -> list[tuple[str, ...]]:
    csv.field_size_limit(max(len(text), 131_072))
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=detect_delimiter(text)) if any(row)]
    except csv.Error as fault:
        raise InputError(f"cannot be read as a table ({fault}); check quotes", file=path) from fault
    width = max(map(len, rows))
    return [tuple(field.strip() for field in row) + ("",) * (width - len(row)) for row in rows]


def _people_column(columns: list[tuple[str, ...]], account: int) -> int | None:
    """The column of people: the one that its header names so, else the first other one that is filled."""
    others = [column for column in range(len(columns)) if column != account and sum(map(bool, columns[column])) > 1]
    others = others or [column for column in range(len(columns)) if column != account and any(columns[column])]
    named = [column for column in others if _PEOPLE.search(columns[column][0])]
    return next(iter(named or others), None)


def _is_function(keys: Iterable[str], values: Iterable[str]) -> bool:
    pairs = {(key, value) for key, value in zip(keys, values, strict=True) if key and value}
    return len(pairs) == len({key for key, _ in pairs})
