"""The file formats of the field: one module per format, each with `read(paths, options)`. `read` chooses by name."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from adjudge.core.errors import InputError, UsageError, unknown_choice
from adjudge.core.files import exists
from adjudge.formats.options import ReadOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.core.judgments import Judgments

__all__ = ["FORMATS", "ReadOptions", "read"]

# name: (module, what it is)
FORMATS: dict[str, tuple[str, str]] = {
    "judgments": ("native", "the judgment table of adjudge, Parquet or CSV"),
    "wmt-ranking": ("wmt.ranking", "relative rankings with columns srclang ... system5rank (WMT10 and later)"),
    "wmt-ranking-2007": (
        "wmt.ranking_2007",
        "relative rankings among other judgments, told apart by TYPE (WMT07 to 09)",
    ),
    "wmt-edits": ("wmt.edits", "post-edits with columns editId ... system1edit (data_EDT.tsv)"),
    "wmt-acceptability": ("wmt.acceptability", "judgments of post-edits, YES, NO or UNK (data_ACC.csv)"),
    "pairwise-counts": ("pairwise.counts", "lines 'A B wins ties losses', both directions or one"),
    "pairwise-table": ("pairwise.table", "a table with columns left, right and winner, one comparison per row"),
    "rank-table": ("rankings.table", "a table with one rank column per candidate, one file per annotator"),
    "rank-lines": ("rankings.lines", "one file per candidate with one rank per line, annotators one after the other"),
    "wmt-da": ("wmt_da.reader", "direct assessment, a folder or files of the ad-*.csv family (WMT16 to WMT22)"),
    "mturk-da": ("mturk", "direct assessment, Mechanical Turk batch results with all items in Answer.Q1"),
    "appraise": (
        "appraise.reader",
        "results of Appraise: 9, 11 or 12 columns and no header, with --batches, --annotators",
    ),
    "wmt-humeval": ("wmt.humeval", "judgments of the general task, JSON lines with one segment each (WMT23 and later)"),
    "mqm": ("mqm.reader", "MQM ratings, one error per row with its span between <v> and </v>"),
    "pearmut": ("pearmut", "annotations of Pearmut, JSON lines with one submitted document each"),
}


def read(paths: Sequence[Path | str], *, format: str | None = None, options: ReadOptions | None = None) -> Judgments:  # noqa: A002
    """Read one or several files (or folders, where a format has several files) into one judgment table.

    Args:
        paths: the files.
        format: a name from `FORMATS`; the native table where left out.
        options: what a format needs besides, such as the columns of a `rank-table`.

    Returns:
        The judgments, with everything that was set aside and why.
    """
    name = format or "judgments"
    if name not in FORMATS:
        raise unknown_choice("format", name, FORMATS)
    if not paths:
        raise UsageError("no file was given; name at least one")
    files = [Path(path) for path in paths]
    seen: set[Path] = set()
    for file in files:
        if not exists(file):
            raise InputError("no such file or folder; check the path", file=file)
        if file.resolve() in seen:
            raise InputError("is given twice, its judgments would count twice; name it once", file=file)
        seen.add(file.resolve())
    module = import_module(f"adjudge.formats.{FORMATS[name][0]}")
    judgments: Judgments = module.read(files, options or ReadOptions())
    return judgments
