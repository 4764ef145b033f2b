"""Relative rankings as the translation workshops release them since 2010: a row is a block of up to five systems.

The header decides: any number of `systemNId`/`systemNrank` columns. Where a `rankingID` is given and its rows are all
pairs of one block (as in later years), the block is put together again. A rank of -1 was left blank and becomes null;
the system called `blank` pads a block and is set aside. A name that joins others of the same file by `+` or a comma
stands for systems with the same output: each of them gets the rank.

Where and by whom a row was judged stands in the same columns in the workshops' files of edits and acceptability, whose
readers ask here.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import polars as pl

from adjudge.core.errors import InputError
from adjudge.core.humans import human_columns
from adjudge.core.judgments import Judgments, SetAside, language_codes
from adjudge.core.wording import agreeing, counted
from adjudge.formats.parsing.column_uses import column_uses
from adjudge.formats.parsing.delimited import Delimited, read_delimited
from adjudge.formats.parsing.sources import pair_of, read_each
from adjudge.formats.rankings.labels import USUAL_LABELS, parse_ranks, scale_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from adjudge.core.judgments import ColumnUse
    from adjudge.formats.options import ReadOptions

PADDING = "blank"
_NAME = re.compile(r"system[ _]?(\d+)[ _]?(?:id|name)")
_RANK = re.compile(r"system[ _]?(\d+)[ _]?rank")
CONTEXT = ("source_lang", "target_lang", "document", "segment", "annotator")
ANNOTATOR = ("judgeId", "annotatorId", "judge", "annotator", "user", "worker")


def read(paths: Sequence[Path], options: ReadOptions) -> Judgments:
    """Read the files; each becomes a campaign named after it."""
    return read_each(paths, options, _read_file)


def _read_file(path: Path, campaign: str, options: ReadOptions) -> Judgments:
    table = read_delimited(path, None, options=options)
    if not table.rows:
        raise InputError("holds a header but no ranking; check that the file is complete", file=path)
    rows, notes = _read_context(table, options)
    labels, set_aside = _read_labels(table, options)
    bad, row_notes = table.bad.settle()
    labels, shared = _one_label_per_system(labels, rows)
    labels = _add_blocks(labels, rows)
    if labels.height == 0:
        raise InputError("holds no label of any system; check that the file is complete", file=path)
    columns = rows[labels["row"]].select(*CONTEXT).with_columns(
        labels["system"],
        labels["rank"],
        labels["block"].rank("dense").cast(pl.String).alias("screen"),
        pl.lit(campaign).alias("campaign"),
        pl.lit("ranking").alias("protocol"),
        **human_columns(labels["system"], options.human),
    )  # fmt: skip
    return Judgments.from_columns(
        columns,
        set_aside=[*bad, *set_aside],
        notes=[*notes, *row_notes, *shared],
        source=str(path),
        uses=_list_uses(table),
    )


def _list_uses(table: Delimited) -> tuple[ColumnUse, ...]:
    slots = _slots(table)
    taken: dict[str, int | list[int] | None] = {
        **context_uses(table, annotator=ANNOTATOR),
        "system": [name for name, _ in slots],
        "rank": [rank for _, rank in slots],
        "screen": table.find("rankingId"),
    }
    return column_uses(table.path, table.header, taken)


def _read_context(table: Delimited, options: ReadOptions) -> tuple[pl.DataFrame, list[str]]:
    """Read what holds for a whole row: where and by whom it was judged, and the ranking that a pair belongs to."""
    frame = context_columns(table, options, annotator=ANNOTATOR)
    ranking = null_where_unused(table.texts(table.find("rankingId")))
    nobody = f"{table.path.name} does not say who judged"
    return frame.with_columns(ranking.alias("ranking")), [nobody] if frame["annotator"].is_null().all() else []


def _read_labels(table: Delimited, options: ReadOptions) -> tuple[pl.DataFrame, list[SetAside]]:
    """One row per output shown, in the order shown."""
    slots = _slots(table)
    scale = scale_of(options, max(len(slots), USUAL_LABELS))
    parts = []
    for name, rank in slots:
        system = table.texts(name)
        ranks = parse_ranks(table.texts(rank), scale=scale, bad=table.bad)
        parts.append(pl.DataFrame({"system": system, "rank": ranks}).with_row_index("row"))
    labels = pl.concat(parts).sort("row", maintain_order=True)
    labels = labels.filter(~pl.col("row").is_in(list(table.bad.problems)))
    nameless, padding = pl.col("system") == "", pl.col("system") == PADDING
    set_aside = [
        SetAside(f"padding: the system called '{PADDING}'", labels.filter(padding).height),
        SetAside("place in a block without a system", labels.filter(nameless).height),
    ]
    return labels.filter(~nameless & ~padding), set_aside


def _slots(table: Delimited) -> list[tuple[int, int]]:
    """The places of (name, rank) of every output shown."""
    folded = [name.casefold() for name in table.header]
    names = {int(match[1]): index for index, name in enumerate(folded) if (match := _NAME.fullmatch(name))}
    ranks = {int(match[1]): index for index, name in enumerate(folded) if (match := _RANK.fullmatch(name))}
    if not names:
        table.need("system1Id")
    for number in sorted(names.keys() ^ ranks.keys()):
        # A misspelt header would lose all that stands in its partner's column.
        table.need(f"system{number}rank" if number in names else f"system{number}Id")
    return [(names[number], ranks[number]) for number in sorted(names)]


def _one_label_per_system(labels: pl.DataFrame, rows: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Take names such as `a+b` apart where `a` and `b` are systems of the same language pair on their own."""
    joined = labels["system"].str.contains("[+,]")
    if not joined.any():
        return labels, []
    languages = rows.select(pl.concat_str("source_lang", pl.lit(" "), "target_lang").alias("pair"))["pair"]
    labels = labels.with_columns(languages.gather(labels["row"]).alias("pair"))
    alone = set(labels.filter(~joined).select("pair", "system").unique().rows())
    parts: dict[tuple[str, str], list[str]] = {}
    for pair, name in labels.filter(joined).select("pair", "system").unique(maintain_order=True).rows():
        systems = [system.strip() for system in re.split("[+,]", name)]
        if all((pair, system) in alone for system in systems):
            parts[pair, name] = systems
    if not parts:
        return labels.drop("pair"), []
    shared = [parts.get(key, [key[1]]) for key in labels.select("pair", "system").rows()]
    count = sum(len(systems) > 1 for systems in shared)
    example = next(name for _, name in parts)
    are = agreeing(count, "is", "are")
    note = f"{counted(count, 'output')} that systems share, such as '{example}', {are} counted for each of the systems"
    return labels.drop("pair").with_columns(pl.Series("system", shared)).explode("system"), [note]


def _add_blocks(labels: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Add `block`: the first row of the ranking that a pair belongs to, or the row itself.

    Pairs are put together where the file says which they are, all of them are there, and they agree on the ranks.
    """
    if rows["ranking"].is_null().all():
        return labels.with_columns(pl.col("row").alias("block"))
    first = rows.with_row_index("row").select("row", pl.col("row").min().over([*CONTEXT, "ranking"]).alias("first"))
    labels = labels.join(first, on="row", how="left", maintain_order="left")
    ranked = rows.with_row_index("row").filter(pl.col("ranking").is_not_null())["row"]
    whole = _whole_rankings(labels.filter(pl.col("row").is_in(ranked.implode())))
    is_whole = pl.col("first").is_in(whole.implode()) & pl.col("row").is_in(ranked.implode())
    labels = labels.with_columns(
        pl.when(is_whole).then("first").otherwise("row").alias("block"), is_whole.alias("whole")
    )
    again = pl.col("whole") & pl.struct("block", "system").is_first_distinct().not_()
    return labels.filter(~again).sort("block", maintain_order=True)


def _whole_rankings(labels: pl.DataFrame) -> pl.Series:
    """The rankings (by their first row) whose rows are every pair of their systems once, each system with one rank."""
    pairs = labels.group_by("first", "row").agg(
        pl.len().alias("size"), pl.col("system").min().alias("low"), pl.col("system").max().alias("high")
    )
    shape = pairs.group_by("first").agg(
        pl.len().alias("pairs"),
        pl.struct("low", "high").n_unique().alias("distinct"),
        ((pl.col("size") == 2) & (pl.col("low") != pl.col("high"))).all().alias("all_pairs"),
    )
    systems = labels.group_by("first").agg(
        pl.col("system").n_unique().alias("systems"), pl.struct("system", "rank").n_unique().alias("labels")
    )
    wanted = pl.col("systems") * (pl.col("systems") - 1) // 2
    return (
        shape.join(systems, on="first")
        .filter(pl.col("all_pairs"), pl.col("labels") == pl.col("systems"))
        .filter(pl.col("pairs") == wanted, pl.col("distinct") == wanted)["first"]
    )


def context_uses(table: Delimited, *, annotator: tuple[str, ...]) -> dict[str, int | None]:
    """The index of every column of `CONTEXT` in a file."""
    segment = table.find("srcIndex")
    return {
        "source_lang": table.find("srclang", "source_lang"),
        "target_lang": table.find("trglang", "tgtlang", "target_lang"),
        "document": table.find("documentId"),
        "segment": table.need("segmentId") if segment is None else segment,
        "annotator": table.find(*annotator),
    }


def context_columns(table: Delimited, options: ReadOptions, *, annotator: tuple[str, ...]) -> pl.DataFrame:
    """The columns of `CONTEXT`, one row per row of the file; `annotator` lists the names that column may have."""
    columns = context_uses(table, annotator=annotator)
    source, target = columns["source_lang"], columns["target_lang"]
    if source is None or target is None:
        languages = [
            pl.repeat(code, len(table.rows), dtype=pl.String, eager=True) for code in pair_of(table.path, options)
        ]
    else:
        languages = [language_codes(table.texts(column)) for column in (source, target)]
    return pl.DataFrame(
        {
            "source_lang": languages[0],
            "target_lang": languages[1],
            "document": null_where_unused(table.texts(columns["document"])),
            "segment": table.texts(columns["segment"]),
            "annotator": null_where_unused(table.texts(columns["annotator"])),
        }
    )


def null_where_unused(texts: pl.Series) -> pl.Series:
    """Null where a file does not use a column, which it then fills with nothing or with -1."""
    return pl.select(pl.when(~texts.is_in(["", "-1"])).then(texts)).to_series()
