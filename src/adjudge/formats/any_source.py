"""What users of Python read from: paths, and data frames of polars or pandas."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge.core.errors import UsageError, shown

if TYPE_CHECKING:
    import polars as pl


def as_frame(source: Any) -> pl.DataFrame | None:
    """Convert a data frame of polars or pandas to one of polars; None for anything else."""
    kind = type(source)
    library = kind.__module__.split(".")[0]
    if library == "polars" and kind.__name__ in ("DataFrame", "LazyFrame"):
        frame: pl.DataFrame = source.lazy().collect()
        return frame
    return _convert_pandas(source) if library == "pandas" and kind.__name__ == "DataFrame" else None


def _convert_pandas(source: Any) -> pl.DataFrame:
    """Convert column by column, because polars would need pyarrow. Named levels of an index become columns."""
    import polars as pl

    if new := [name for name in source.index.names if name is not None and name not in source.columns]:
        source = source.reset_index(level=new)
    columns: dict[str, pl.Series] = {}
    names = [str(name) for name in source.columns]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f"data frame: column '{shown(twice)}' occurs twice; drop or rename one of them")
    for name in source.columns:
        column, missing = source[name], source[name].isna()
        values = [
            None if gone else value.to_pydatetime(warn=False) if hasattr(value, "to_pydatetime") else value
            for value, gone in zip(column.tolist(), missing.tolist(), strict=True)
        ]
        columns[str(name)] = pl.Series(str(name), values, strict=False)
    return pl.DataFrame(columns)


def as_paths(source: Any, what: str = "judgments") -> list[Path]:
    """Make a list of one or several paths; `what` is read from them, for messages."""
    if isinstance(source, str | PathLike):
        return [Path(source)]
    if not isinstance(source, Iterable) or isinstance(source, bytes | Mapping):
        problem = f"{what} cannot be read from {type(source).__name__}"
        raise UsageError(f"{problem}; give a path, several paths, a data frame or {what}")
    paths = list(source)
    for path in paths:
        if not isinstance(path, str | PathLike):
            raise UsageError(f"a path is needed, not {type(path).__name__}; give paths, a data frame or judgments")
    return [Path(path) for path in paths]
