"""Relative rankings as the translation workshops release them since 2010: a row is a block of up to five systems.

The header decides: any number of `systemNId`/`systemNrank` columns. Where a `rankingID` is given and its rows are all
pairs of one block (as in later years), the block is put together again. A rank of -1 was left blank and becomes null;
the system called `blank` pads a block and is set aside.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adjudge.core.errors import InputError
from adjudge.core.humans import compile_human_pattern
from adjudge.core.judgments import Judgments, SetAside, concat
from adjudge.core.languages import language_code
from adjudge.formats.delimited import Delimited, read_delimited, to_int

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from adjudge.formats.options import ReadOptions

PADDING = "blank"
BLANK_RANK = -1


@dataclass
class _Block:
    """One row of the file, or several that share a ranking id."""

    place: tuple[str, str, str, str, str]  # languages, document, segment, annotator
    labels: list[tuple[str, int]]
    line: int


def read(paths: Sequence[Path], options: ReadOptions) -> Judgments:
    """Read the files; each becomes a campaign named after it."""
    return concat([_read_file(path, options) for path in paths])


def _read_file(path: Path, options: ReadOptions) -> Judgments:
    table = read_delimited(path)
    blocks = _joined_rankings(table, _blocks(table))
    human = compile_human_pattern(options.human)
    columns: dict[str, list[object]] = defaultdict(list)
    padding = 0
    for number, block in enumerate(blocks, start=1):
        source, target, document, segment, annotator = block.place
        for system, rank in block.labels:
            if system == PADDING:
                padding += 1
                continue
            is_human = human.fullmatch(system) is not None
            columns["source_lang"].append(source)
            columns["target_lang"].append(target)
            columns["document"].append(document)
            columns["segment"].append(segment)
            columns["annotator"].append(annotator)
            columns["screen"].append(str(number))
            columns["system"].append(system)
            columns["human"].append(is_human)
            columns["kind"].append("reference" if is_human else "system")
            columns["rank"].append(None if rank == BLANK_RANK else rank)
    if not columns:
        raise InputError("holds a header but no ranking; check that the file is complete", file=path)
    rows = len(columns["system"])
    fixed = {"campaign": [_campaign(path)] * rows, "protocol": ["ranking"] * rows}
    return Judgments.from_columns(
        {**fixed, **columns}, set_aside=[SetAside(f"padding: the system called '{PADDING}'", padding)], source=str(path)
    )


def _campaign(path: Path) -> str:
    return path.name.removesuffix(".gz").rsplit(".", 1)[0]


def _blocks(table: Delimited) -> list[_Block]:
    slots = _slots(table)
    source, target = table.need("srclang"), table.need("trglang", "tgtlang")
    segment = table.column("srcIndex", required=False)
    segment = table.need("segmentId") if segment is None else segment
    document = table.column("documentId", required=False)
    annotator = table.need("judgeId")
    blocks: list[_Block] = []
    for line, fields in table.rows:
        place = (
            language_code(fields[source]),
            language_code(fields[target]),
            fields[document] if document is not None else "",
            fields[segment],
            fields[annotator],
        )
        labels = [
            (fields[name].strip(), _rank(fields[rank], len(slots), table.path, line))
            for name, rank in slots
            if fields[name].strip()
        ]
        blocks.append(_Block(place, labels, line))
    return blocks


def _slots(table: Delimited) -> list[tuple[int, int]]:
    """The places of (name, rank) of every output shown."""
    numbers = [match[1] for name in table.header if (match := re.fullmatch(r"system(\d+)id", name.casefold()))]
    if not numbers:
        table.need("system1Id")
    return [(table.need(f"system{n}Id"), table.need(f"system{n}rank")) for n in numbers]


def _rank(value: str, scale: int, path: Path, line: int) -> int:
    rank = to_int(value, "rank", path, line)
    # Pairs are drawn from blocks of five, so a table of pairs keeps their scale.
    if rank == BLANK_RANK or 1 <= rank <= max(scale, 5):
        return rank
    top = max(scale, 5)
    raise InputError(f"rank is {rank}, it must lie between 1 and {top} (or be -1 for blank)", file=path, line=line)


def _joined_rankings(table: Delimited, blocks: list[_Block]) -> list[_Block]:
    """Put together the pairs of one ranking, where the file says which they are and all of them are there."""
    place = table.column("rankingID", required=False)
    if place is None:
        return blocks
    groups: dict[tuple[object, ...], list[_Block]] = defaultdict(list)
    for (_, fields), block in zip(table.rows, blocks, strict=True):
        groups[(*block.place, fields[place])].append(block)
    joined: list[_Block] = []
    for group in groups.values():
        labels = dict(label for block in group for label in block.labels)
        consistent = all(labels[system] == rank for block in group for system, rank in block.labels)
        pairs = {frozenset(system for system, _ in block.labels) for block in group}
        complete = len(pairs) == len(group) == len(labels) * (len(labels) - 1) // 2
        joined += [_Block(group[0].place, list(labels.items()), group[0].line)] if consistent and complete else group
    return joined
