"""Who passed, and which rows are copies: one table from the files of all, of approved, and of expanded judgments.

Three files may hold the same judgments: all of them, those of the workers who passed quality control, and the latter
with one row for each of the systems that share an output. A worker's mean and spread belong to the first, system
scores to the last. So the table keeps every row of both, and says of each whether it `passed` and whether it is a
`copy`, made for another system that shares the judged output.
"""

from __future__ import annotations

import polars as pl

from adjudge.formats.duplicates import times_before

# What identifies a judgment in all files; the system is left out, because expansion changes it.
_IDENTITY = ("hit_id", "annotator", "source_lang", "target_lang", "hit", "rid", "kind", "sid", "score")
# The identity as one number: files are large, and two identities share a number once in a billion files.
_KEY = "key"
_NTH = "nth"


def merge_passing(everything: pl.DataFrame, passing: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """All judgments with the columns `passed` and `copy`, and how many passing rows are in no other file.

    Args:
        everything: the unfiltered judgments.
        passing: the judgments of workers who passed, expanded or not.
    """
    all_rows, kept = _number_identities(everything), _number_identities(passing)
    given = all_rows.group_by(_KEY).agg(pl.len().alias("given"), pl.col("line").min().alias("at"))
    kept = kept.join(given, on=_KEY, how="left", maintain_order="left")
    unknown = kept["given"].null_count()
    kept = kept.with_columns(
        (pl.col(_NTH) >= pl.col("given")).fill_null(value=False).alias("copy"),
        pl.lit(value=True).alias("passed"),
        pl.coalesce("at", "line").alias("line"),
    )
    complete = kept.group_by(_KEY).agg(pl.len().alias("kept"), pl.col("given").first())
    others = all_rows.join(complete.filter(pl.col("kept") >= pl.col("given")), on=_KEY, how="anti")
    others = others.join(kept, on=[_KEY, "system"], how="anti")
    others = others.with_columns(pl.lit(value=False).alias("copy"), pl.lit(value=False).alias("passed"))
    merged = pl.concat([kept.drop("given", "at"), others], how="diagonal").sort("line", maintain_order=True)
    return merged.drop(_KEY, _NTH), unknown


def mark_copies(rows: pl.DataFrame, base: pl.DataFrame | None) -> pl.DataFrame:
    """Passing judgments with the columns `passed` and `copy`; `base` is the same file before expansion, if any.

    Without it, rows that agree in everything but the system are copies where a page id says that they are one item.
    """
    numbered = _number_identities(rows)
    if base is not None:
        given = _number_identities(base).group_by(_KEY).agg(pl.len().alias("given"))
        numbered = numbered.join(given, on=_KEY, how="left", maintain_order="left")
        copy = (pl.col(_NTH) >= pl.col("given")).fill_null(value=False)
    else:
        copy = (pl.col(_NTH) > 0) & pl.col("rid").is_not_null() & pl.col("hit_id").is_not_null()
    marked = numbered.with_columns(copy.alias("copy"), pl.lit(value=True).alias("passed"))
    return marked.drop(_KEY, _NTH, "given", strict=False)


def split_shared_outputs(rows: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """One row for each of the systems that share an output (`A+B`), and how many outputs are shared.

    Only where all of them also occur on their own: a name may hold a plus of its own. All but the first are copies.
    """
    known = set(rows["system"].drop_nulls().unique())
    shared = [name for name in known if "+" in name and known.issuperset(name.split("+"))]
    together = pl.col("system").is_in(shared)
    count = rows.select(together.sum()).item()
    if not count:
        return rows, 0
    parts = pl.when(together).then(pl.col("system").str.split("+")).otherwise(pl.concat_list("system"))
    numbers = pl.int_ranges(parts.list.len())
    each = rows.with_columns(parts.alias("system"), numbers.alias(_NTH)).explode("system", _NTH)
    if "copy" in rows.columns:
        each = each.with_columns(pl.col("copy") | (pl.col(_NTH) > 0))
    return each.drop(_NTH), count


def _number_identities(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with the number of their identity, and how many rows before have the same one."""
    keyed = rows.with_columns(pl.struct(_IDENTITY).hash().alias(_KEY))
    return keyed.with_columns(times_before(keyed, (_KEY,), keyed[_KEY].is_duplicated()).alias(_NTH))
