"""The released files of the parity study: ranks before and after cleaning, groups of annotators, TER of outputs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

import adjudge
from adjudge import Judgments
from adjudge.replicate.published import input_fault, missing_data

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adjudge.results.parity import GroupAgreement

GOOGLE = "mt_google.txt"


@dataclass(frozen=True)
class Released:
    """Everything the release holds that the tables need."""

    sets: Mapping[str, Judgments]
    """The ranks, `before` and `after`."""
    groups: tuple[Judgments, ...]
    """The ranks of every group of two annotators, segments numbered by row."""
    agreement: tuple[tuple[GroupAgreement, ...], ...]
    """The agreement of the two annotators of every group."""
    contaminated: frozenset[str]
    documents: Mapping[str, str]
    ter: Mapping[str, tuple[float, ...]]
    """TER between the two versions of an output, by name and segment."""
    google: tuple[tuple[str, ...], tuple[str, ...]]
    """The outputs of Google before and after, one per segment."""


def read_released(folder: Path, content: Mapping[str, Any]) -> Released:
    """Read the folder of the release, or a folder that holds it."""
    root = _root(folder, content["folders"]["before"])
    human = content["candidates"]["HT"]
    sets = {
        name: adjudge.read(root / inside, format="rank-lines", stacked=content["stacked"], human=human)
        for name, inside in content["folders"].items()
    }
    groups = _groups(root / "score" / "groups", content)
    marked = pl.concat(
        [ranks.table.filter(pl.col(content["marks"]) == "T").select("segment") for ranks in sets.values()]
    )
    segments = sets["before"].table["segment"].unique().cast(pl.Int64).sort().to_list()
    starts = content["document_starts"]["segments"]
    return Released(
        sets=sets,
        groups=groups,
        agreement=tuple(adjudge.parity(group, "Ref").agreement for group in groups),
        contaminated=frozenset(marked["segment"].to_list()),
        documents={str(segment): str(sum(start <= segment for start in starts)) for segment in segments},
        google=_google(root, content["folders"]),
        ter={name: _numbers(root / "score" / f"{name}.txt") for name in ("mt_y", "mt_z", "mt_google")},
    )


def _root(folder: Path, inside: str) -> Path:
    folders = [folder, *sorted(path for path in folder.iterdir() if path.is_dir())]
    root = next((path for path in folders if (path / inside).is_dir()), None)
    if root is None:
        raise missing_data(folder, f"no folder '{inside}'")
    return root


def _groups(folder: Path, content: Mapping[str, Any]) -> tuple[Judgments, ...]:
    """The files come in twos, a1 and a2. Row i of both is the same item, whatever its number (some say 0)."""
    if not folder.is_dir():
        raise input_fault(folder, "no such folder; the groups of annotators are needed")
    columns = tuple(content["rank_columns"])
    names = sorted({path.stem[:-1] for path in folder.glob("*[12].csv")})
    groups = []
    for name in names:
        parts = [
            adjudge.read(
                folder / f"{name}{i}.csv", format="rank-table", rank_columns=columns, segment_column="ID", human="Ref"
            )
            for i in (1, 2)
        ]
        groups.append(Judgments(pl.concat([_by_row(part.table) for part in parts], how="diagonal_relaxed")))
    return tuple(groups)


def _by_row(table: pl.DataFrame) -> pl.DataFrame:
    row = pl.col("screen").cast(pl.Int64).rank("dense").cast(pl.Int64).cast(pl.String)
    return table.with_columns(pl.col("segment").alias("printed_id"), row.alias("segment"))


def _google(root: Path, folders: Mapping[str, str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    before, after = (
        tuple((root / folders[when] / GOOGLE).read_text(encoding="utf-8").splitlines()) for when in ("before", "after")
    )
    return before, after


def _numbers(path: Path) -> tuple[float, ...]:
    return tuple(float(line) for line in path.read_text(encoding="utf-8").split())


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
