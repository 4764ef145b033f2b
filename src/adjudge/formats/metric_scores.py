"""Scores by segment as mt-metrics-eval keeps them: `*.seg.score` with its documents file, as judgments.

A line holds a system and a score; the lines of a system are its segments in order, counted from 1; `None` is missing.
`documents/LP.docs` beside the folder of scores names the document of every segment. Given the folder of a test set, the
scores of people (`human-scores`) are read. Who judged is not in these files: a score is the mean of those who did.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from adjudge.core.errors import InputError, Source
from adjudge.core.files import read_text
from adjudge.core.humans import mark_humans
from adjudge.core.judgments import Judgments, SetAside, concat
from adjudge.core.languages import UNKNOWN, pair_in_name
from adjudge.core.protocols import ASSUMED_OF_SCORES, ON_SCALE
from adjudge.core.wording import counted
from adjudge.formats.duplicates import COPIED_TABLE, copied_table_note, lines_once
from adjudge.formats.parsing.bad_rows import SCORE_SCALE, BadRows
from adjudge.formats.parsing.sources import pair_of
from adjudge.formats.tables.cells import MISSING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from adjudge.formats.options import ReadOptions

ENDING = ".seg.score"
OTHERS = (".sys.score", ".doc.score", ".domain.score")
# The folder with the scores of people inside that of a test set.
HUMAN_SCORES = "human-scores"
# Protocols that a file's name may hold; scores under other names are taken as direct assessment.
_NAMED_PROTOCOLS = ("mqm", "esa", "sqm")


def read(paths: Sequence[Path], options: ReadOptions) -> Judgments:
    """Read score files, or those of folders; each becomes a campaign named after it."""
    return concat([_read_file(path, options) for given in paths for path in _find_files(given)])


def _find_files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    for folder in (path, path / HUMAN_SCORES):
        if files := sorted(folder.glob(f"*{ENDING}")):
            return files
    raise InputError(f"is a folder without *{ENDING}, and so is {HUMAN_SCORES} in it; name the files", file=path)


def _read_file(path: Path, options: ReadOptions) -> Judgments:
    if path.name.endswith(OTHERS):
        raise InputError(f"holds no scores of segments, of which all others are made; give *{ENDING}", file=path)
    text = read_text(path).rstrip()
    if not text:
        raise InputError("is empty; lines of system and score are needed", file=path)
    frame, bad = _parse_lines(text, path, options)
    set_aside, notes = bad.settle()
    frame = frame.filter(~pl.col("row").is_in(list(bad.problems)))
    frame, times = _drop_copies(frame)
    if times > 1:
        set_aside.append(SetAside(COPIED_TABLE, (times - 1) * frame.height))
        notes.append(copied_table_note(times))
    set_aside.append(SetAside("no score was given", int(frame["missing"].sum())))
    return _judgments(frame.filter(~pl.col("missing")), path, options, set_aside, notes)


def _parse_lines(text: str, path: Path, options: ReadOptions) -> tuple[pl.DataFrame, BadRows]:
    """System, segment and score of every line, and the lines that cannot be used."""
    # An empty line is a segment without a score: left out, it would give all segments behind it other numbers.
    lines = list(enumerate(text.split("\n"), start=1))
    rows = [(text.split(), line) for line, text in lines]
    bad = BadRows(Source(str(path), lambda row: lines[row][0]), options, len(lines))
    for row, (fields, _) in enumerate(rows):
        if len(fields) != 2:
            bad.row(row, f"has {counted(len(fields), 'field')}, a system and a score are needed; correct it")
            # An empty line belongs to the system of the line before.
            fields[:1] = fields[:1] or next((before[:1] for before, _ in reversed(rows[:row]) if before), [""])
    frame = pl.DataFrame(
        {
            "system": [fields[0] for fields, _ in rows],
            "given": [fields[1] if len(fields) == 2 else None for fields, _ in rows],
        },
        schema={"system": pl.String, "given": pl.String},
    )
    missing = pl.col("given").str.to_lowercase().is_in(list(MISSING))
    frame = frame.with_row_index("row").with_columns(
        (pl.int_range(pl.len()).over("system") + 1).cast(pl.String).alias("segment"),
        pl.when(~missing).then(pl.col("given").cast(pl.Float64, strict=False)).alias("score"),
        missing.alias("missing"),
    )
    broken = frame.select(~pl.col("missing") & ~pl.col("score").is_finite().fill_null(value=False)).to_series()
    bad.mark(broken, lambda row: f"score is '{frame['given'][row]}', a number is needed; correct it", "broken score")
    return frame, bad


def _drop_copies(frame: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """The rows of every segment once, and how often they occur in the file."""
    by_system = frame.group_by("system", maintain_order=True).agg("row", "given")
    if by_system["row"].list.len().n_unique() > 1:
        return frame, 1
    kept, times = lines_once(list(zip(*by_system["given"].to_list(), strict=True)))
    if times == 1:
        return frame, 1
    rows = [row for rows in by_system["row"].to_list() for row in rows[kept.start : kept.stop : kept.step]]
    number = (pl.int_range(pl.len()).over("system") + 1).cast(pl.String).alias("segment")
    return frame.filter(pl.col("row").is_in(rows)).with_columns(number), times


def _judgments(
    frame: pl.DataFrame, path: Path, options: ReadOptions, set_aside: list[SetAside], notes: list[str]
) -> Judgments:
    if frame.height == 0:
        raise InputError("holds no score; check that the file is complete", file=path)
    folder = path.resolve().parent
    source, target = pair_of(path, options)
    if source == UNKNOWN:
        # The folder of scores may name them, as in `metric-scores/en-de/`.
        source, target = pair_in_name(folder.name) or (source, target)
    around = (folder.parent, folder.parent.parent)
    test_set = next((up.name for up in around if (up / "documents").is_dir()), folder.name)
    documents, about_documents = _read_documents(path, frame["segment"].cast(pl.Int64).max())
    name = path.name.removesuffix(ENDING)
    short = name.removeprefix(f"{source}-{target}.")
    protocol = next((name for name in _NAMED_PROTOCOLS if name in short.lower()), ASSUMED_OF_SCORES)
    table = frame.select(
        pl.lit(f"{test_set}/{short}").alias("campaign"),
        pl.lit(protocol).alias("protocol"),
        pl.lit(source).alias("source_lang"),
        pl.lit(target).alias("target_lang"),
        "segment",
        pl.col("segment").replace_strict(documents, default=None, return_dtype=pl.String).alias("document"),
        "system",
        "score",
    )
    if protocol in ON_SCALE and not table["score"].is_between(*SCORE_SCALE).all():
        # Standardised scores and those of metrics have scales of their own, as sliders may have.
        table = table.with_columns(pl.lit(short).alias("slider"))
    judgments = Judgments.from_columns(table, set_aside=set_aside, notes=[*notes, *about_documents], source=str(path))
    return mark_humans(judgments, options.human)


def _read_documents(path: Path, most: object) -> tuple[dict[str, str], list[str]]:
    """The document of every segment, from lines of domain and document; empty where there is no such file."""
    folder = path.resolve().parent
    pairs = {path.name.split(".")[0], folder.name}
    for up in (folder.parent, folder.parent.parent):
        for pair in pairs:
            file = up / "documents" / f"{pair}.docs"
            if file.is_file():
                names = [line.split("\t")[-1].strip() for line in read_text(file).rstrip("\n").split("\n")]
                if isinstance(most, int) and len(names) < most:
                    what = f"names the documents of {counted(len(names), 'segment')}, the scores have {most:,}"
                    raise InputError(f"{what}; the files do not belong together", file=file)
                return {str(number): name for number, name in enumerate(names, start=1)}, []
    return {}, [f"{path.name}: no documents file lies beside (documents/LP.docs); documents are unknown"]
