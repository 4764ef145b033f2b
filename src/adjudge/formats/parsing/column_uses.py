"""What a reader took the columns of a file for, as `adjudge import` reports it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.core.judgments import ColumnUse

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path


def column_uses(
    path: Path | str,
    header: Sequence[str],
    taken: Mapping[str, int | Iterable[int] | None],
    *,
    kept: Iterable[int] = (),
) -> tuple[ColumnUse, ...]:
    """One entry per column of a file.

    Args:
        path: the file.
        header: the names of its columns.
        taken: what the reader looked for, and where it stands: one column, several, or none.
        kept: columns that stay in the table under their own names.
    """
    meanings: dict[int, str] = {}
    for meaning, columns in taken.items():
        for column in () if columns is None else (columns,) if isinstance(columns, int) else columns:
            meanings.setdefault(column, meaning)
    kept_places = set(kept)
    return tuple(
        ColumnUse(
            str(path),
            name or "(without a name)",
            meanings.get(index),
            "used" if index in meanings else "kept" if index in kept_places else "not used",
        )
        for index, name in enumerate(header)
    )
