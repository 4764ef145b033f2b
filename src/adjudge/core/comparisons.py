"""Comparisons: every pair of ranked systems shown together, as integer codes. Independent of ranking methods.

A block of five ranks has ten comparisons. In pairwise judgments, each screen has one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.core.errors import DataError, shown
from adjudge.core.integer_codes import codes_of
from adjudge.core.judgments import SetAside
from adjudge.core.protocols import EDITED, NOT_TRANSLATIONS, RELATIVE
from adjudge.core.wording import counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adjudge.core.judgments import Judgments

NOBODY = "(unknown)"
NO_RANK = "no rank was given"
LEFT_BLANK = pl.all_horizontal(pl.col("protocol", "score", "rank").is_null())
"""Protocol of blank rows in hand-made tables: without an answer, the protocol is unknown."""
MOST_LABELS = 1000
"""A block larger than this means that the table does not say what was shown together."""


@dataclass(frozen=True, eq=False)
class Comparisons:
    """One entry per comparison; `first` and `second` index `systems` with first < second in name order.

    `outcome` is 1 if the first system is better, -1 if the second is, 0 for a tie. `annotator`, `segment` and
    `block` are codes too. `label_system`, `label_rank`, `label_block` are the ranks that the comparisons come from.
    """

    systems: tuple[str, ...]
    human: NDArray[np.bool_]
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

    def keep(self, kept: NDArray[np.bool_], labels: NDArray[np.bool_]) -> Comparisons:
        """Only the marked comparisons and ranks; codes are not changed."""
        return replace(
            self,
            first=self.first[kept],
            second=self.second[kept],
            outcome=self.outcome[kept],
            annotator=self.annotator[kept],
            segment=self.segment[kept],
            block=self.block[kept],
            label_system=self.label_system[labels],
            label_rank=self.label_rank[labels],
            label_block=self.label_block[labels],
            document=None if self.document is None else self.document[kept],
        )

    def of_annotators(self, chosen: NDArray[np.integer]) -> Comparisons:
        """The comparisons and ranks of these annotators, given by their codes."""
        return self.keep(np.isin(self.annotator, chosen), np.isin(self.block_annotator[self.label_block], chosen))

    def of_named_annotators(self) -> Comparisons:
        """The comparisons and ranks with a named annotator."""
        if NOBODY not in self.annotators:
            return self
        named = [code for code, name in enumerate(self.annotators) if name != NOBODY]
        return self.of_annotators(np.array(named, dtype=np.int64))

    def without(self, left_out: NDArray[np.bool_]) -> Comparisons:
        """The comparisons and ranks without the marked systems; codes are renumbered."""
        kept_systems = np.flatnonzero(~left_out)
        code = np.full(len(self.systems), -1, dtype=np.int32)
        code[kept_systems] = np.arange(len(kept_systems), dtype=np.int32)
        kept = ~(left_out[self.first] | left_out[self.second])
        labels = ~left_out[self.label_system]
        return Comparisons(
            systems=tuple(self.systems[i] for i in kept_systems),
            human=self.human[kept_systems],
            annotators=self.annotators,
            first=code[self.first[kept]],
            second=code[self.second[kept]],
            outcome=self.outcome[kept],
            annotator=self.annotator[kept],
            segment=self.segment[kept],
            block=self.block[kept],
            label_system=code[self.label_system[labels]],
            label_rank=self.label_rank[labels],
            label_block=self.label_block[labels],
            block_annotator=self.block_annotator,
            document=None if self.document is None else self.document[kept],
        )


def comparisons(judgments: Judgments) -> Comparisons:
    """All pairs of ranked systems within each screen of rankings and pairwise judgments (last revision)."""
    table = _with_ranks(relative_judgments(judgments).table)
    _check_blocks(table)
    labels = _label_codes(table)
    pairs = _pairs_within_blocks(labels)
    human = _human_systems(table, labels.systems)
    return Comparisons(
        systems=labels.systems,
        human=human,
        annotators=labels.annotators,
        first=pairs["first"],
        second=pairs["second"],
        outcome=pairs["outcome"].astype(np.int8),
        annotator=labels.block_annotator[pairs["block"]],
        segment=labels.block_segment[pairs["block"]],
        block=pairs["block"],
        label_system=labels.system,
        label_rank=labels.rank,
        label_block=labels.block,
        block_annotator=labels.block_annotator,
        document=None if labels.block_document is None else labels.block_document[pairs["block"]],
    )


def segment_keys(judgments: Judgments) -> pl.DataFrame:
    """The segments behind the codes in `Comparisons.segment`: row i has the columns `SEGMENT_KEY` of segment i."""
    table = relative_judgments(judgments).table
    (code,) = codes_of(table, SEGMENT_KEY)
    coded = table.select(*SEGMENT_KEY, pl.Series("code", code))
    return coded.unique("code").sort("code").drop("code")


def block_rows(judgments: Judgments) -> pl.DataFrame:
    """One row of `relative_judgments` for each block, in the order of the codes in `Comparisons.block`.

    Columns that differ within a block, such as the system, have the value of one of its rows.
    """
    table = relative_judgments(judgments).table
    (code,) = codes_of(table, BLOCK_KEY)
    first = np.unique(code, return_index=True)[1]
    return table[first]


def relative_judgments(judgments: Judgments) -> Judgments:
    """The last revision of relative judgments, from which comparisons are made. Scores and controls are set aside."""
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
    """What no comparison is made of: all that `relative_judgments` sets aside, and outputs shown without a rank."""
    relative = relative_judgments(judgments)
    blank = int(relative.table["rank"].null_count())
    rows = blank + sum(aside.rows for aside in relative.set_aside if aside.reason == NO_RANK)
    others = tuple(aside for aside in relative.set_aside if aside.reason != NO_RANK)
    return (*others, SetAside(NO_RANK, rows)) if rows else others


@dataclass(frozen=True, eq=False)
class _Labels:
    systems: tuple[str, ...]
    annotators: tuple[str, ...]
    system: NDArray[np.int32]
    rank: NDArray[np.int32]
    block: NDArray[np.int32]
    block_annotator: NDArray[np.int32]
    block_segment: NDArray[np.int32]
    block_document: NDArray[np.int32] | None


def _with_ranks(table: pl.DataFrame) -> pl.DataFrame:
    """Convert the scores of pairwise judgments to ranks within the screen, the highest score first."""
    if not (table["rank"].is_null() & table["score"].is_not_null()).any():
        return table
    within = pl.col("score").rank("dense", descending=True).over(BLOCK_KEY).cast(pl.Int32)
    return table.with_columns(pl.coalesce("rank", within).alias("rank"))


BLOCK_KEY = ("campaign", "source_lang", "target_lang", "annotator", "task", "screen", "document", "segment")
SEGMENT_KEY = ("campaign", "source_lang", "target_lang", "document", "segment")
DOCUMENT_KEY = SEGMENT_KEY[:-1]


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


def _label_codes(table: pl.DataFrame) -> _Labels:
    systems = tuple(table["system"].unique().sort().to_list())
    annotators = tuple(table["annotator"].fill_null(NOBODY).unique().sort().to_list())
    block, item, text = codes_of(table, BLOCK_KEY, SEGMENT_KEY, DOCUMENT_KEY)
    named = table["document"].is_not_null().to_numpy()
    # A segment without a document counts as a document.
    document = np.where(named, text, len(text) + item)
    coded = table.select(
        pl.col("system").replace_strict(systems, range(len(systems)), return_dtype=pl.Int32),
        pl.col("rank"),
        pl.col("annotator")
        .fill_null(NOBODY)
        .replace_strict(annotators, range(len(annotators)), return_dtype=pl.Int32)
        .alias("who"),
        pl.Series("block", block, dtype=pl.Int32),
        pl.Series("item", item, dtype=pl.Int32),
        pl.Series("document", document, dtype=pl.Int32),
    )
    blocks = coded.group_by("block").agg(pl.col("who", "item", "document").first()).sort("block")
    labelled = coded.filter(pl.col("rank").is_not_null())
    return _Labels(
        systems,
        annotators,
        labelled["system"].to_numpy(),
        labelled["rank"].to_numpy(),
        labelled["block"].to_numpy(),
        blocks["who"].to_numpy(),
        blocks["item"].to_numpy(),
        blocks["document"].to_numpy() if named.any() else None,
    )


def _pairs_within_blocks(labels: _Labels) -> dict[str, NDArray[np.int32]]:
    """Every pair within a block: each rank is compared with the ranks 1, 2, 3, ... rows below it."""
    order = np.lexsort((labels.system, labels.block))
    block, system, rank = labels.block[order], labels.system[order], labels.rank[order]
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
    merged = merged[:, np.argsort(merged[3], kind="stable")]
    return {
        "first": merged[0],
        "second": merged[1],
        "outcome": merged[2],
        "block": merged[3],
    }


def _human_systems(table: pl.DataFrame, systems: tuple[str, ...]) -> NDArray[np.bool_]:
    human = set(table.filter(pl.col("human"))["system"].unique().to_list())
    return np.array([name in human for name in systems], dtype=bool)


def no_answer(table: pl.DataFrame) -> pl.Expr:
    """Rows that were left blank or withdrawn and are not judgments: without score and rank, or without post-edit.

    Post-edits in tables without an action count as answers, and so does `N/A` in released ones.
    """
    edited = pl.col("protocol").is_in(EDITED).fill_null(value=False)
    taken_back = edited & pl.col("action").is_null() if "action" in table.columns else pl.lit(value=False)
    return pl.all_horizontal(pl.col("score", "rank").is_null()) & (~edited | taken_back)


def answers_needed(what: str, judgments: Judgments, instead: str) -> DataError:
    """The error for judgments without the required answers: what they have, and what to do instead."""
    if len(judgments) and judgments.table.select(no_answer(judgments.table).all()).item():
        held, instead = f"{counted(len(judgments), 'row')} without a score or rank", "check the column of the answers"
    else:
        held = ", ".join(judgments.protocols) or "no judgments at all"
    return DataError(f"{what} are needed, but the data hold {held}; {instead}")
