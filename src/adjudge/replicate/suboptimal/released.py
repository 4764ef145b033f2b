"""The released files of the parity study: ranks before and after cleaning, groups of annotators, TER of outputs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from adjudge.core.errors import InputError
from adjudge.core.files import read_text
from adjudge.core.judgments import Judgments, concat
from adjudge.formats import ReadOptions, read

if TYPE_CHECKING:
    from collections.abc import Mapping


GOOGLE = "mt_google.txt"


@dataclass(frozen=True)
class Released:
    """Everything the release holds that the tables need."""

    sets: Mapping[str, Judgments]
    """The ranks, `before` and `after`."""
    groups: tuple[Judgments, ...]
    """The ranks of every group of two annotators, segments numbered by row."""
    contaminated: frozenset[str]
    documents: Mapping[str, str]
    ter: Mapping[str, tuple[float, ...]]
    """TER between the two versions of an output, by name and segment."""
    google: tuple[tuple[str, ...], tuple[str, ...]]
    """The outputs of Google before and after, one per segment."""


def read_released(folder: Path, content: Mapping[str, Any]) -> Released:
    """Read the folder of the release, or a folder that holds it."""
    root = _root(folder, content["folders"]["before"])
    options = ReadOptions(stacked=content["stacked"], human=content["candidates"]["HT"])
    sets = {
        name: read([root / inside], format="rank-lines", options=options) for name, inside in content["folders"].items()
    }
    marked = pl.concat(
        [ranks.table.filter(pl.col(content["marks"]) == "T").select("segment") for ranks in sets.values()]
    )
    segments = sets["before"].table["segment"].unique().cast(pl.Int64).sort().to_list()
    starts = content["document_starts"]["segments"]
    return Released(
        sets=sets,
        groups=_groups(root / "score" / "groups", content),
        contaminated=frozenset(marked["segment"].to_list()),
        documents={str(segment): str(sum(start <= segment for start in starts)) for segment in segments},
        google=_google(root, content["folders"]),
        ter={name: _numbers(root / "score" / f"{name}.txt") for name in ("mt_y", "mt_z", "mt_google")},
    )


def _root(folder: Path, inside: str) -> Path:
    folders = [folder, *sorted(path for path in folder.iterdir() if path.is_dir())]
    root = next((path for path in folders if (path / inside).is_dir()), None)
    if root is None:
        raise InputError(f"holds no folder '{inside}'; name the folder that has the paper's data", file=folder)
    return root


def _groups(folder: Path, content: Mapping[str, Any]) -> tuple[Judgments, ...]:
    """The files come in twos, a1 and a2. Row i of both is the same item, whatever its number (some say 0)."""
    options = ReadOptions(rank_columns=tuple(content["rank_columns"]), segment_column="ID", human="Ref")
    if not folder.is_dir():
        raise InputError("no such folder; the groups of annotators are needed", file=folder)
    names = sorted({path.stem[:-1] for path in folder.glob("*[12].csv")})
    groups = []
    for name in names:
        parts = [read([folder / f"{name}{i}.csv"], format="rank-table", options=options) for i in (1, 2)]
        groups.append(concat([_by_row(part) for part in parts]))
    return tuple(groups)


def _by_row(part: Judgments) -> Judgments:
    row = pl.col("screen").rank("dense").cast(pl.Int64).cast(pl.String)
    number = part.table.with_columns(pl.col("screen").cast(pl.Int64)).select(row.alias("segment"))["segment"]
    return Judgments(part.table.with_columns(pl.col("segment").alias("printed_id"), number), part.set_aside, part.notes)


def _google(root: Path, folders: Mapping[str, str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    before, after = (tuple(read_text(root / folders[when] / GOOGLE).splitlines()) for when in ("before", "after"))
    return before, after


def _numbers(path: Path) -> tuple[float, ...]:
    return tuple(float(line) for line in read_text(path).split())


def with_right_block(released: Released, content: Mapping[str, Any]) -> Judgments:
    """The ranks before cleaning, with the mirrored lines replaced by the annotator's own ranks."""
    block = content["right_block"]
    wanted = [str(number) for number in range(block["first"], block["last"] + 1)]
    stem = Path(block["file"]).stem
    group = next(group for group in released.groups if stem in group.table["annotator"].unique().to_list())
    names = dict(
        zip(
            [name.removesuffix("_rating") for name in content["rank_columns"]],
            content["candidates"].values(),
            strict=True,
        )
    )
    right_ranks = group.table.filter((pl.col("annotator") == stem) & pl.col("printed_id").is_in(wanted)).select(
        pl.col("printed_id").alias("segment"), pl.col("system").replace_strict(names), right="rank"
    )
    before = released.sets["before"]
    joined = before.table.join(right_ranks, on=["segment", "system"], how="left", maintain_order="left")
    mirrored = (pl.col("annotator") == block["annotator"]) & pl.col("right").is_not_null()
    ranks = pl.when(mirrored).then(pl.col("right")).otherwise(pl.col("rank")).alias("rank")
    return Judgments(joined.with_columns(ranks).drop("right"), before.set_aside, before.notes)
