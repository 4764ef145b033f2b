"""Every judgment of a system against the human as one row: better (1), as good (0) or worse (-1), with its place."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.core.comparisons import RELATIVE, comparisons, segment_keys
from adjudge.core.errors import DataError, UsageError
from adjudge.core.humans import compile_human_pattern

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adjudge.core.comparisons import Comparisons
    from adjudge.core.judgments import Judgments

NOT_SCORES = (*RELATIVE, "postedit", "acceptability")
RATED = ("system", "reference", "repeat")


@dataclass(frozen=True)
class Outcomes:
    """Who was how good, by place.

    `compared` has the columns system, outcome, document, segment. `worth` has system (the human too), value, document,
    segment: rank points, or scores.
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

    def only(self, condition: pl.Expr) -> Outcomes:
        """The judgments at the places that meet the condition."""
        return replace(self, compared=self.compared.filter(condition), worth=self.worth.filter(condition))


def find_human(judgments: Judgments, wanted: str) -> str:
    """The one system that the name, or the regular expression, stands for."""
    systems = judgments.systems
    if wanted in systems:
        return wanted
    pattern = compile_human_pattern(wanted)
    found = [name for name in systems if pattern.fullmatch(name)]
    if not found:
        raise DataError(f"--human '{wanted}' names none of the systems; they are {', '.join(systems)}")
    if len(found) > 1:
        raise UsageError(f"--human '{wanted}' fits {', '.join(found)}; name the one to compare with")
    return found[0]


def outcomes(judgments: Judgments, human: str, keys: Mapping[str, str] | None = None) -> Outcomes:
    """Compare every system with the human: by ranks where there are any, else by the mean score of each segment."""
    name = find_human(judgments, human)
    relative = bool(set(judgments.protocols) & set(RELATIVE))
    compared, worth = _by_ranks(judgments, name) if relative else _by_scores(judgments, name)
    if compared.height == 0:
        raise DataError(f"no system was judged together with '{name}'; name another with --human")
    marked = judgments.table.filter(pl.col("human") & (pl.col("system") != name))["system"].unique()
    found = Outcomes(name, frozenset(marked.to_list()), compared, worth, relative)
    return found if keys is None else _with_documents(found, keys)


def _with_documents(found: Outcomes, keys: Mapping[str, str]) -> Outcomes:
    segments = found.compared["segment"].unique().to_list()
    unknown = [one for one in segments if one not in keys]
    if unknown:
        raise DataError(f"segment '{unknown[0]}' is not in the keys; they must name the document of every segment")
    document = pl.col("segment").replace_strict(keys, default=None, return_dtype=pl.String).alias("document")
    return replace(found, compared=found.compared.with_columns(document), worth=found.worth.with_columns(document))


def _by_ranks(judgments: Judgments, human: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    found = comparisons(judgments)
    places = segment_keys(judgments).select("document", "segment")
    if human not in found.systems:
        raise DataError(f"'{human}' has no ranks of its own; name another with --human")
    if len(found.first) == 0:
        raise DataError("no two systems were ranked in the same block, so nothing can be compared; check the columns")
    code = found.systems.index(human)
    with_human = (found.first == code) | (found.second == code)
    first = found.first[with_human]
    other = np.where(first == code, found.second[with_human], first)
    sign = np.where(first == code, -found.outcome[with_human], found.outcome[with_human])
    compared = pl.DataFrame({"system": np.array(found.systems)[other], "outcome": sign.astype(np.int64)})
    where = places[found.segment[with_human].astype(np.int64)]
    return compared.hstack(where), _rank_points(found, places)


def _rank_points(found: Comparisons, places: pl.DataFrame) -> pl.DataFrame:
    """Candidates + 1 - rank of every label in a block of two or more; candidates as in the largest block."""
    sizes = np.bincount(found.label_block)
    segment = np.zeros(len(sizes), dtype=np.int64)
    segment[found.block] = found.segment
    shown = sizes[found.label_block] > 1
    points = int(sizes.max()) + 1 - found.label_rank[shown]
    worth = pl.DataFrame({"system": np.array(found.systems)[found.label_system[shown]], "value": points.astype(float)})
    return worth.hstack(places[segment[found.label_block[shown]]])


def _by_scores(judgments: Judgments, human: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    table = judgments.final().table.filter(
        ~pl.col("protocol").is_in(NOT_SCORES) & pl.col("kind").is_in(RATED) & pl.col("score").is_not_null()
    )
    if table.height == 0:
        raise DataError("ranks or scores are needed, and the data hold neither; check the export")
    place = ("document", "segment")
    worth = table.group_by("system", *place, maintain_order=True).agg(value=pl.col("score").mean())
    own = worth.filter(pl.col("system") == human).select(*place, own="value")
    both = worth.filter(pl.col("system") != human).join(own, on=place, how="inner", nulls_equal=True)
    # Means of equal scores may differ in their last digit.
    difference = (pl.col("value") - pl.col("own")).round(9)
    compared = both.select("system", difference.sign().cast(pl.Int64).alias("outcome"), *place)
    return compared, worth.select("system", "value", *place)
