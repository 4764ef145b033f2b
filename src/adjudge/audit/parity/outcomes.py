"""Every judgment of a system against the human as one row: better (1), as good (0) or worse (-1), with its segment."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.core.comparisons import NOBODY, comparisons, segment_keys
from adjudge.core.errors import DataError, UsageError
from adjudge.core.humans import compile_human_pattern
from adjudge.core.protocols import RELATIVE, SCORED, WORK

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adjudge.core.comparisons import Comparisons
    from adjudge.core.judgments import Judgments


@dataclass(frozen=True)
class Outcomes:
    """The outcome of every comparison with the human, and what every output was worth, with document and segment.

    `compared` has the columns system, outcome, document, segment, and for ranks the annotator. `worth` has system (the
    human too), value, document, segment: rank points, or scores.
    """

    human: str
    humans: frozenset[str]
    """Other systems that are human translations."""
    compared: pl.DataFrame
    worth: pl.DataFrame
    relative: bool

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems that were compared with the human, by name."""
        return tuple(self.compared["system"].unique().sort().to_list())

    @property
    def documents_known(self) -> bool:
        """Whether every judgment names its document."""
        return self.compared["document"].null_count() == 0

    @property
    def annotators(self) -> int | None:
        """How many people compared systems with the human; None where they are not named, or scores were averaged."""
        if "annotator" not in self.compared.columns:
            return None
        names = self.compared["annotator"].unique().to_list()
        return None if NOBODY in names else len(names)

    def only(self, condition: pl.Expr) -> Outcomes:
        """The judgments at the places that meet the condition."""
        return replace(self, compared=self.compared.filter(condition), worth=self.worth.filter(condition))


def find_human(judgments: Judgments, wanted: str) -> str:
    """The one system that the name, or the regular expression, stands for."""
    systems = judgments.systems
    if wanted in systems:
        return wanted
    pattern = compile_human_pattern(wanted)
    fitting = [name for name in systems if pattern.fullmatch(name)]
    if not fitting:
        raise DataError(f"--human '{wanted}' names none of the systems; they are {', '.join(systems)}")
    if len(fitting) > 1:
        raise UsageError(f"--human '{wanted}' fits {', '.join(fitting)}; name the one to compare with")
    return fitting[0]


def outcomes(judgments: Judgments, human: str, keys: Mapping[str, str] | None = None) -> Outcomes:
    """Compare every system with the human: by ranks where there are any, else by the mean score of each segment."""
    name = find_human(judgments, human)
    relative = bool(set(judgments.protocols) & set(RELATIVE))
    compared, worth = _by_ranks(judgments, name) if relative else _by_scores(judgments, name)
    if compared.height == 0:
        raise DataError(f"no system was judged together with '{name}'; name another with --human")
    marked = judgments.table.filter(pl.col("human") & (pl.col("system") != name))["system"].unique()
    compared_systems = Outcomes(name, frozenset(marked.to_list()), compared, worth, relative)
    return compared_systems if keys is None else _with_documents(compared_systems, keys)


def _with_documents(whole: Outcomes, keys: Mapping[str, str]) -> Outcomes:
    segments = whole.compared["segment"].unique().to_list()
    unknown = [segment for segment in segments if segment not in keys]
    if unknown:
        raise DataError(f"segment '{unknown[0]}' is not in the keys; they must name the document of every segment")
    document = pl.col("segment").replace_strict(keys, default=None, return_dtype=pl.String).alias("document")
    return replace(whole, compared=whole.compared.with_columns(document), worth=whole.worth.with_columns(document))


def _by_ranks(judgments: Judgments, human: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    pairs = comparisons(judgments)
    segments = segment_keys(judgments).select("document", "segment")
    if human not in pairs.systems:
        raise DataError(f"'{human}' has no ranks of its own; name another with --human")
    if len(pairs.first) == 0:
        raise DataError("no two systems were ranked in the same block, so nothing can be compared; check the columns")
    code = pairs.systems.index(human)
    with_human = (pairs.first == code) | (pairs.second == code)
    first = pairs.first[with_human]
    other = np.where(first == code, pairs.second[with_human], first)
    sign = np.where(first == code, -pairs.outcome[with_human], pairs.outcome[with_human])
    compared = pl.DataFrame(
        {
            "system": np.array(pairs.systems)[other],
            "outcome": sign.astype(np.int64),
            "annotator": np.array(pairs.annotators)[pairs.annotator[with_human]],
        }
    )
    where = segments[pairs.segment[with_human].astype(np.int64)]
    return compared.hstack(where), _rank_points(pairs, segments)


def _rank_points(pairs: Comparisons, segments: pl.DataFrame) -> pl.DataFrame:
    """Candidates + 1 - rank of every label in a block of two or more; candidates as in the largest block."""
    sizes = np.bincount(pairs.label_block)
    segment = np.zeros(len(sizes), dtype=np.int64)
    segment[pairs.block] = pairs.segment
    usable = sizes[pairs.label_block] > 1
    points = int(sizes.max()) + 1 - pairs.label_rank[usable]
    worth = pl.DataFrame({"system": np.array(pairs.systems)[pairs.label_system[usable]], "value": points.astype(float)})
    return worth.hstack(segments[segment[pairs.label_block[usable]]])


def _by_scores(judgments: Judgments, human: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    table = judgments.final().table.filter(
        pl.col("protocol").is_in(SCORED) & pl.col("kind").is_in(WORK) & pl.col("score").is_not_null()
    )
    if table.height == 0:
        raise DataError("ranks or scores are needed, and the data hold neither; check the export")
    position = ("document", "segment")
    worth = table.group_by("system", *position, maintain_order=True).agg(value=pl.col("score").mean())
    of_human = worth.filter(pl.col("system") == human).select(*position, human_value="value")
    both = worth.filter(pl.col("system") != human).join(of_human, on=position, how="inner", nulls_equal=True)
    # Means of equal scores may differ in their last digit.
    difference = (pl.col("value") - pl.col("human_value")).round(9)
    compared = both.select("system", difference.sign().cast(pl.Int64).alias("outcome"), *position)
    return compared, worth.select("system", "value", *position)
