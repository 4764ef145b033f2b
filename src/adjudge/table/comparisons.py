"""Comparisons: every pair of ranked systems shown together, as integer codes. Independent of ranking methods.

A block of five ranks has ten comparisons. In pairwise judgments, each screen has one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import compress
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.table.errors import DataError, shown
from adjudge.table.judgments import LEFT_BLANK, Judgments, SetAside, answers_needed, codes_of, list_blank
from adjudge.table.protocols import NOT_TRANSLATIONS, RELATIVE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adjudge.table.maths import Bools


NOBODY = "(unknown)"
NO_RANK = "no rank was given"
MOST_LABELS = 1000
"""A block larger than this means that the table does not say what was shown together."""
BLOCK_KEY = ("campaign", "source_lang", "target_lang", "annotator", "task", "screen", "document", "segment")
SEGMENT_KEY = ("campaign", "source_lang", "target_lang", "document", "segment")
DOCUMENT_KEY = SEGMENT_KEY[:-1]
# Fields of `Comparisons` with one entry per comparison, and with one per rank.
_BY_PAIR = ("first", "second", "outcome", "annotator", "segment", "block", "document")
_BY_LABEL = ("label_system", "label_rank", "label_block")


@dataclass(frozen=True, eq=False)
class Comparisons:
    """One entry per comparison; `first` and `second` index `systems` with first < second in name order.

    `outcome` is 1 if the first system is better, -1 if the second is, 0 for a tie. `annotator`, `segment` and
    `block` are codes too. `label_system`, `label_rank`, `label_block` are the ranks that the comparisons come from.
    """

    systems: tuple[str, ...]
    human: Bools
    annotators: tuple[str, ...]
    first: NDArray[np.int32]
    second: NDArray[np.int32]
    outcome: NDArray[np.int8]
    annotator: NDArray[np.int32]
    segment: NDArray[np.int32]
    block: NDArray[np.int32]
    label_system: NDArray[np.int32]
    label_rank: NDArray[np.int32]
    label_block: NDArray[np.int32]
    block_annotator: NDArray[np.int32]
    document: NDArray[np.int32] | None = None
    """The document of each comparison, None if documents are not named."""

    def __len__(self) -> int:
        return len(self.outcome)

    def keep(self, kept: Bools, labels: Bools) -> Comparisons:
        """Keep the marked comparisons and ranks; codes do not change."""
        pairs = {name: value[kept] for name in _BY_PAIR if (value := getattr(self, name)) is not None}
        return replace(self, **pairs, **{name: getattr(self, name)[labels] for name in _BY_LABEL})

    def of_annotators(self, chosen: NDArray[np.integer]) -> Comparisons:
        """Keep the comparisons and ranks of these annotators, given by their codes."""
        return self.keep(np.isin(self.annotator, chosen), np.isin(self.block_annotator[self.label_block], chosen))

    def of_named_annotators(self) -> Comparisons:
        """Keep the comparisons and ranks with a named annotator."""
        if NOBODY not in self.annotators:
            return self
        named = [code for code, name in enumerate(self.annotators) if name != NOBODY]
        return self.of_annotators(np.array(named, dtype=np.int64))

    def without(self, left_out: Bools) -> Comparisons:
        """Leave out the marked systems with their comparisons and ranks; codes are renumbered."""
        part = self.keep(~(left_out[self.first] | left_out[self.second]), ~left_out[self.label_system])
        code = np.cumsum(~left_out, dtype=np.int32) - 1
        renumbered = {name: code[getattr(part, name)] for name in ("first", "second", "label_system")}
        systems = tuple(compress(self.systems, ~left_out))
        return replace(part, systems=systems, human=self.human[~left_out], **renumbered)


def comparisons(judgments: Judgments) -> Comparisons:
    """Compare all pairs of ranked systems within each screen of rankings and pairwise judgments (last revision)."""
    table = _rank_by_scores(relative_judgments(judgments).table)
    _check_blocks(table)
    systems = tuple(table["system"].unique().sort().to_list())
    annotators = tuple(table["annotator"].fill_null(NOBODY).unique().sort().to_list())
    labels, blocks = _label_codes(table, systems, annotators)
    system, rank, block = (labels[name].to_numpy() for name in ("system", "rank", "block"))
    first, second, outcome, pair_block = _pairs_within_blocks(system, rank, block)
    human = set(table.filter(pl.col("human"))["system"].unique().to_list())
    block_annotator = blocks["annotator"].to_numpy()
    return Comparisons(
        systems=systems,
        human=np.array([name in human for name in systems], dtype=bool),
        annotators=annotators,
        first=first,
        second=second,
        outcome=outcome.astype(np.int8),
        annotator=block_annotator[pair_block],
        segment=blocks["segment"].to_numpy()[pair_block],
        block=pair_block,
        label_system=system,
        label_rank=rank,
        label_block=block,
        block_annotator=block_annotator,
        document=blocks["document"].to_numpy()[pair_block] if table["document"].is_not_null().any() else None,
    )


def segment_keys(judgments: Judgments) -> pl.DataFrame:
    """List the segments behind the codes in `Comparisons.segment`: row i has the columns `SEGMENT_KEY` of segment i."""
    table = relative_judgments(judgments).table
    (code,) = codes_of(table, SEGMENT_KEY)
    coded = table.select(*SEGMENT_KEY, pl.Series("code", code))
    return coded.unique("code").sort("code").drop("code")


def block_rows(judgments: Judgments) -> pl.DataFrame:
    """Return a row of `relative_judgments` for each block, in the order of the codes in `Comparisons.block`.

    Columns that differ within a block, such as the system, have the value of one of its rows.
    """
    table = relative_judgments(judgments).table
    (code,) = codes_of(table, BLOCK_KEY)
    first = np.unique(code, return_index=True)[1]
    return table[first]


def relative_judgments(judgments: Judgments) -> Judgments:
    """Keep the last revision of relative judgments, to be compared. Scores and controls are set aside."""
    answered = judgments.final().keep(~LEFT_BLANK, otherwise=NO_RANK)
    relative = answered.keep(pl.col("protocol").is_in(RELATIVE), otherwise="score among relative judgments")
    if not len(relative):
        raise answers_needed("relative ranks", judgments, "use 'adjudge rank' with a method for scores")
    control = pl.col("kind").is_in(NOT_TRANSLATIONS).fill_null(value=False)
    genuine = relative.keep(~control, otherwise="control item in a ranking, not a judgment of a system")
    if not len(genuine):
        raise DataError("relative ranks of systems are needed, but the data hold controls only; check the export")
    return genuine


def not_compared(judgments: Judgments) -> tuple[SetAside, ...]:
    """Count what is not compared: all that `relative_judgments` sets aside, and outputs shown without a rank."""
    relative = relative_judgments(judgments)
    blank = list_blank(relative.table.filter(pl.col("rank").is_null()), NO_RANK)
    rows = sum(aside.rows for aside in (*relative.set_aside, *blank) if aside.reason == NO_RANK)
    others = tuple(aside for aside in (*relative.set_aside, *blank) if aside.reason != NO_RANK)
    return (*others, SetAside(NO_RANK, rows)) if rows else others


def _rank_by_scores(table: pl.DataFrame) -> pl.DataFrame:
    """Convert the scores of pairwise judgments to ranks within the screen, the highest score first."""
    if not (table["rank"].is_null() & table["score"].is_not_null()).any():
        return table
    within = pl.col("score").rank("dense", descending=True).over(BLOCK_KEY).cast(pl.Int32)
    return table.with_columns(pl.coalesce("rank", within).alias("rank"))


def _check_blocks(table: pl.DataFrame) -> None:
    """Refuse blocks with several rankings, which occur if annotators or segments are not named without screens."""
    unnamed = pl.col("screen").is_null() & (pl.col("annotator").is_null() | pl.col("segment").is_null())
    vague = table.filter(unnamed & pl.col("rank").is_not_null())
    if vague.height == 0:
        return
    times = vague.group_by(*BLOCK_KEY, "system").len().sort("len", "system", descending=[True, False])
    if times["len"][0] > 1:
        raise DataError(
            f"system '{shown(times['system'][0])}' occurs {times['len'][0]:,} times in one block, so the table does "
            "not say what was ranked together; fill the column 'screen', or 'annotator' and 'segment'"
        )


def _label_codes(
    table: pl.DataFrame, systems: tuple[str, ...], annotators: tuple[str, ...]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Code the ranks (system, rank, block), and the blocks (annotator, segment, document)."""
    block, segment, text = codes_of(table, BLOCK_KEY, SEGMENT_KEY, DOCUMENT_KEY)
    # A segment without a document counts as a document.
    document = np.where(table["document"].is_not_null().to_numpy(), text, len(text) + segment)
    person = pl.col("annotator").fill_null(NOBODY)
    coded = table.select(
        pl.col("system").replace_strict(systems, range(len(systems)), return_dtype=pl.Int32),
        pl.col("rank"),
        person.replace_strict(annotators, range(len(annotators)), return_dtype=pl.Int32),
        pl.Series("block", block, dtype=pl.Int32),
        pl.Series("segment", segment, dtype=pl.Int32),
        pl.Series("document", document, dtype=pl.Int32),
    )
    blocks = coded.group_by("block").agg(pl.col("annotator", "segment", "document").first()).sort("block")
    return coded.filter(pl.col("rank").is_not_null()), blocks


def _pairs_within_blocks(
    system: NDArray[np.int32], rank: NDArray[np.int32], block: NDArray[np.int32]
) -> NDArray[np.int32]:
    """Compare each rank with the ranks 1, 2, 3, ... rows below it: rows of first, second, outcome and block."""
    order = np.lexsort((system, block))
    block, system, rank = block[order], system[order], rank[order]
    parts: list[NDArray[np.int32]] = []
    largest = int(np.bincount(block).max(initial=0))
    if largest > MOST_LABELS:
        raise DataError(
            f"{largest:,} labels stand in one block, more than anyone ranks together; say which belong together "
            "in the columns 'screen' or 'segment'"
        )
    for step in range(1, largest):
        # A system that occurs twice in a block is not compared with itself.
        first = np.flatnonzero((block[:-step] == block[step:]) & (system[:-step] != system[step:]))
        second = first + step
        sign = np.sign(rank[second] - rank[first])
        parts.append(np.stack([system[first], system[second], sign, block[first]]).astype(np.int32))
    merged = np.concatenate(parts, axis=1) if parts else np.empty((4, 0), dtype=np.int32)
    return merged[:, np.argsort(merged[3], kind="stable")]
