"""Keys: which document a segment belongs to, for judgments that do not say it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from adjudge.core.errors import InputError
from adjudge.core.files import read_text
from adjudge.core.wording import counted

if TYPE_CHECKING:
    from pathlib import Path

# Names of the two columns in use, in order of preference.
SEGMENT = ("segment", "NEW.LN", "sid", "seg_id")
DOCUMENT = ("document", "ORIG.TRG.FN", "doc_id", "docid", "doc")


def read_keys(path: Path) -> dict[str, str]:
    """Segment to document, from a table with a header, separated by tabs, commas or blanks."""
    lines = [(i, line) for i, line in enumerate(read_text(path).splitlines(), start=1) if line.strip()]
    if len(lines) < 2:
        raise InputError("is empty; a header and one line per segment are needed", file=path)
    header = _split(lines[0][1])
    segment, document = _column_index(header, SEGMENT, path), _column_index(header, DOCUMENT, path)
    keys: dict[str, str] = {}
    for number, line in lines[1:]:
        fields = _split(line)
        if len(fields) <= max(segment, document):
            raise InputError(
                f"has {counted(len(fields), 'field')} where the header has {len(header)}", file=path, line=number
            )
        if keys.setdefault(fields[segment], fields[document]) != fields[document]:
            raise InputError(
                f"segment '{fields[segment]}' belongs to two documents; correct it", file=path, line=number
            )
    return keys


def _split(line: str) -> list[str]:
    separator = "\t" if "\t" in line else "," if "," in line else None
    fields = line.split(separator) if separator else re.split(r"\s+", line.strip())
    return [field.strip().strip('"') for field in fields]


def _column_index(header: list[str], names: tuple[str, ...], path: Path) -> int:
    for name in names:
        if name in header:
            return header.index(name)
    raise InputError(f"has no column '{names[0]}', it has {', '.join(header)}; name the columns so", file=path, line=1)
