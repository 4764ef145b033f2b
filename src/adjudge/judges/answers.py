"""The answers of people and of machine judges about the same items, as arrays.

Of scores an item is an output: one segment by one system. Of rankings and pairs it is a comparison: two systems on one
segment, and the answer is 1 (the first is better), 0 (tie) or -1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl

from adjudge.judges.alternative import Bias
from adjudge.readers.metric_scores import read_metric_scores, reverse_scores
from adjudge.table.comparisons import NOBODY, comparisons, segment_keys
from adjudge.table.errors import DataError, UsageError, param
from adjudge.table.judgments import Judgments
from adjudge.table.maths import correlate, proportion
from adjudge.table.participants import PREFIX, judge_name, select_machine_rows
from adjudge.table.protocols import RELATIVE, SCORED, TRANSLATIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from adjudge.table.maths import Codes, Floats


Kind = Literal["scores", "comparisons"]
Cluster = Literal["document", "segment"]
_KINDS = tuple(kind for kind in TRANSLATIONS if kind != "repeat")
"""What an answer counts for: translations; repeats only say how far somebody agrees with themselves."""


@dataclass(frozen=True, eq=False)
class Answers:
    """One entry per answer of a person in `person`, `item` and `value`; those of a judge are one array over all items.

    `items` has a row per item: `key` (the segment), `system` (or `first` and `second`), and `cluster`, the document or
    segment that makes items depend on each other.
    """

    kind: Kind
    people: tuple[str, ...]
    person: Codes
    item: Codes
    value: Floats
    items: pl.DataFrame
    cluster: Codes
    cluster_kind: Cluster
    judges: Mapping[str, Floats]
    own_scale: frozenset[str]
    """Judges that do not use people's scale: metrics, and those that judged by another protocol."""
    table: pl.DataFrame
    """The rows of people, with the column `key`."""
    machine: pl.DataFrame
    """The rows of judges, with the column `key`, repeats and controls among them."""


def read_judge_scores(paths: Sequence[Path], *, lower_is_better: Iterable[str] = ()) -> pl.DataFrame:
    """The scores of metrics by segment, as rows of machine judges."""
    scores = reverse_scores(read_metric_scores(paths), lower_is_better, named_by="judge_lower_is_better")
    rows = [score for score in scores if score.segment is not None and score.score is not None]
    if not rows:
        names = ", ".join(str(path) for path in paths)
        raise UsageError(
            f"{param('judge_scores')} {names} holds no scores of segments, which are needed; give *.seg.score files"
        )
    return pl.DataFrame(
        [(f"{PREFIX}{row.metric}", row.system, row.segment, row.document, row.score) for row in rows],
        schema={
            "annotator": pl.String, "system": pl.String, "segment": pl.String, "document": pl.String,
            "score": pl.Float64,
        },
        orient="row",
    )  # fmt: skip


def judge_rows(judgments: Judgments, metrics: pl.DataFrame | None) -> pl.DataFrame:
    """The rows of all judges; those of metrics have no protocol."""
    machine = select_machine_rows(judgments)
    parts = [part for part in (machine, metrics) if part is not None]
    if not parts:
        raise DataError(
            "no machine judge is among the annotators; name some with "
            f"{param('judges')}, or give {param('judge_scores')}"
        )
    if machine is not None and metrics is not None:
        twice = set(machine["annotator"].unique()) & set(metrics["annotator"].unique())
        if twice:
            name = judge_name(min(twice))
            raise DataError(
                f"'{name}' is both an annotator and a metric of {param('judge_scores')}; rename one of them"
            )
    return pl.concat(parts, how="diagonal_relaxed")


def score_answers(judgments: Judgments, metrics: pl.DataFrame | None) -> Answers:
    """The scores of people and of judges."""
    rows = judge_rows(judgments, metrics)
    table = judgments.final().table
    key = _choose_key(table)
    scored = pl.col("protocol").is_in(SCORED) & pl.col("kind").is_in(_KINDS) & pl.col("score").is_not_null()
    people = _means(table.filter(scored & pl.col("annotator").is_not_null()), key, ("annotator", "system"))
    items = people.group_by("key", "system").agg(pl.col("document").first()).sort("key", "system").with_row_index("row")
    judged = rows.filter(pl.col("score").is_not_null() & _is_genuine(rows))
    judges = _columns(_means(judged, key, ("annotator", "system")), items, ("key", "system"))
    return _answers("scores", people, items, judges, table=_add_key(table, key), machine=_add_key(rows, key))


def comparison_answers(judgments: Judgments, metrics: pl.DataFrame | None) -> Answers:
    """The comparisons of people and of judges; scores of a judge are compared with each other."""
    rows = judge_rows(judgments, metrics)
    key = _choose_key(judgments.table)
    people = _collect_comparisons(judgments, key).filter(pl.col("annotator") != NOBODY)
    identity = ["key", "first", "second"]
    items = people.group_by(identity).agg(pl.col("document").first()).sort(identity).with_row_index("row")
    judges: dict[str, Floats] = {}
    for (annotator,), part in rows.group_by("annotator", maintain_order=True):
        frame = _collect_machine_comparisons(part, key, items)
        if frame is not None:
            judges |= _columns(frame.with_columns(annotator=pl.lit(annotator)), items, identity)
    table = _add_key(judgments.final().table, key)
    return _answers("comparisons", people, items, judges, table=table, machine=_add_key(rows, key))


def _choose_key(table: pl.DataFrame) -> tuple[str, ...]:
    """What names a segment: its own name; document and segment where names start again; or the document alone."""
    if table["segment"].null_count() == table.height:
        return ("document",)
    several = table.group_by("segment").agg(pl.col("document").n_unique())["document"].max()
    return ("document", "segment") if isinstance(several, int) and several > 1 else ("segment",)


def _add_key(table: pl.DataFrame, key: tuple[str, ...]) -> pl.DataFrame:
    """The table with the column `key`, without rows that have no such name."""
    return table.with_columns(pl.concat_str(key, separator="\x1f").alias("key")).filter(pl.col("key").is_not_null())


def _means(table: pl.DataFrame, key: tuple[str, ...], identity: tuple[str, ...]) -> pl.DataFrame:
    """One row per identity and segment: the mean of the scores, in the column `value`."""
    named = _add_key(table, key)
    means = named.group_by("key", *identity).agg(pl.col("score").mean().alias("value"), pl.col("document").first())
    return means.sort("key", *identity)


def _is_genuine(rows: pl.DataFrame) -> pl.Expr:
    kind = pl.col("kind") if "kind" in rows.columns else pl.lit(None, pl.String)
    return kind.is_null() | kind.is_in(_KINDS)


def _columns(frame: pl.DataFrame, items: pl.DataFrame, identity: Sequence[str]) -> dict[str, Floats]:
    """Collect the answers of every judge to the items, NaN where there is none."""
    found = frame.join(items.select(*identity, "row"), on=list(identity), how="inner")
    columns: dict[str, Floats] = {}
    for (annotator,), part in found.group_by("annotator", maintain_order=True):
        values = np.full(items.height, np.nan)
        values[part["row"].to_numpy()] = part["value"].to_numpy()
        columns[judge_name(str(annotator))] = values
    return dict(sorted(columns.items()))


def _collect_comparisons(judgments: Judgments, key: tuple[str, ...]) -> pl.DataFrame:
    """One row per comparison, the first of each person where there are several of the same."""
    compared = comparisons(judgments)
    keys = _add_key(segment_keys(judgments).with_row_index("number").with_columns(pl.col("number").cast(pl.Int64)), key)
    systems, people = np.array(compared.systems, dtype=object), np.array(compared.annotators, dtype=object)
    frame = pl.DataFrame(
        {
            "annotator": pl.Series(people[compared.annotator].tolist(), dtype=pl.String),
            "first": pl.Series(systems[compared.first].tolist(), dtype=pl.String),
            "second": pl.Series(systems[compared.second].tolist(), dtype=pl.String),
            "value": compared.outcome.astype(float),
            "number": compared.segment.astype(np.int64),
        }
    )
    joined = frame.join(keys.select("number", "key", "document"), on="number", how="inner", maintain_order="left")
    return joined.unique(["annotator", "key", "first", "second"], keep="first", maintain_order=True)


def _collect_machine_comparisons(rows: pl.DataFrame, key: tuple[str, ...], items: pl.DataFrame) -> pl.DataFrame | None:
    """The comparisons of one judge: its own, or those of its scores."""
    if _is_relative(rows):
        own = Judgments.from_columns(rows.filter(_is_genuine(rows)))
        return _collect_comparisons(own, key) if len(own) else None
    scored = rows.filter(pl.col("score").is_not_null() & _is_genuine(rows))
    scores = _means(scored, key, ("system",)).select("key", "system", "value")
    first, second = (scores.rename({"system": side, "value": f"{side} score"}) for side in ("first", "second"))
    both = items.join(first, on=["key", "first"], how="inner").join(second, on=["key", "second"], how="inner")
    return both.select("key", "first", "second", (pl.col("first score") - pl.col("second score")).sign().alias("value"))


def _make_codes(names: pl.Series) -> tuple[tuple[str, ...], Codes]:
    known = names.unique().sort()
    codes = names.replace_strict(known, range(len(known)), return_dtype=pl.Int64) if len(known) else names
    return tuple(known), codes.cast(pl.Int64).to_numpy()


def _answers(
    kind: Kind,
    people: pl.DataFrame,
    items: pl.DataFrame,
    judges: Mapping[str, Floats],
    *,
    table: pl.DataFrame,
    machine: pl.DataFrame,
) -> Answers:
    if not judges:
        raise DataError("no machine judge has answered about the same outputs as people; check systems and segments")
    by_document = items["document"].n_unique() > 1 and not items["document"].null_count()
    identity = [name for name in ("key", "system", "first", "second") if name in items.columns]
    rows = people.join(items, on=identity, how="left", maintain_order="left")
    protocol = pl.col("protocol") if "protocol" in machine.columns else pl.lit(None, pl.String)
    other = machine.filter(~protocol.is_in(table["protocol"].unique().to_list()).fill_null(value=False))
    names, person = _make_codes(people["annotator"])
    return Answers(
        kind=kind,
        people=names,
        person=person,
        item=rows["row"].cast(pl.Int64).to_numpy(),
        value=rows["value"].to_numpy().astype(float),
        items=items,
        cluster=_make_codes(items["document" if by_document else "key"])[1],
        cluster_kind="document" if by_document else "segment",
        judges=judges,
        own_scale=frozenset(judge_name(name) for name in other["annotator"].unique()),
        table=table,
        machine=machine,
    )


# What a judge's own answers say: whether it repeats them, whether it notices damage, and where it gave them.


FEWEST_REPEATS = 10
_ITEM = ["annotator", "key", "system"]


def self_agreement(answers: Answers, name: str) -> Iterator[Bias]:
    """The correlation of a judge's scores with those that it gave when asked again; people's beside it."""
    pairs = _pairs(_rows(answers, name), "repeat")
    if pairs is None or len(pairs) < FEWEST_REPEATS:
        return
    agreement = correlate(pairs[:, 0], pairs[:, 1])
    if np.isnan(agreement.pearson):
        return
    apart = float(np.abs(pairs[:, 0] - pairs[:, 1]).mean())
    sentence = f"correlates {agreement.pearson:.2f} with itself when asked again, {apart:.1f} points apart on average"
    people = _pairs(answers.table, "repeat")
    if people is not None and len(people) >= FEWEST_REPEATS:
        sentence += f" (people: {correlate(people[:, 0], people[:, 1]).pearson:.2f})"
    yield Bias("self-agreement", agreement.pearson, agreement.interval, None, len(pairs), sentence)


def degraded_controls(answers: Answers, name: str) -> Iterator[Bias]:
    """How often a damaged output has a lower score than the output that it was made from."""
    pairs = _pairs(_rows(answers, name), "degraded")
    if pairs is None or not len(pairs):
        return
    lower = proportion(int((pairs[:, 1] < pairs[:, 0]).sum()), len(pairs))
    sentence = f"scores {100 * lower.share:.0f}% of damaged outputs lower than the originals"
    people = _pairs(answers.table, "degraded")
    if people is not None and len(people):
        sentence += f" (people: {100 * float((people[:, 1] < people[:, 0]).mean()):.0f}%)"
    yield Bias("degraded controls", lower.share, lower.interval, None, len(pairs), sentence)


def find_positions(answers: Answers, name: str) -> Floats:
    """Where in its task the judge answered: 0 for the first item, 1 for the last; NaN where that is not known."""
    positions = np.full(answers.items.height, np.nan)
    rows = _rows(answers, name)
    if "task" not in rows.columns or rows["task"].null_count() == rows.height:
        return positions
    if rows["started"].null_count() == 0:
        rows = rows.sort("started", maintain_order=True)
    order = pl.int_range(pl.len()).over("task") / (pl.len().over("task") - 1)
    placed = rows.filter(pl.len().over("task") > 1).with_columns(order.alias("position")).unique(_ITEM, keep="first")
    found = answers.items.join(placed.select("key", "system", "position"), on=["key", "system"], how="inner")
    positions[found["row"].to_numpy()] = found["position"].to_numpy()
    return positions


def _rows(answers: Answers, name: str) -> pl.DataFrame:
    return answers.machine.filter(pl.col("annotator") == f"{PREFIX}{name}")


def _pairs(rows: pl.DataFrame, kind: str) -> Floats | None:
    """First and second score of every output that has both: a genuine one, and one of this kind."""
    if "kind" not in rows.columns or (rows["kind"] == kind).sum() == 0 or _is_relative(rows):
        return None
    scored = rows.filter(pl.col("score").is_not_null() & pl.col("annotator").is_not_null())
    first, second = (
        scored.filter(pl.col("kind") == which).group_by(_ITEM).agg(pl.col("score").first().alias(column))
        for which, column in (("system", "first"), (kind, "second"))
    )
    both = first.join(second, on=_ITEM, how="inner").sort(_ITEM)
    return both.select("first", "second").to_numpy().astype(float)


def _is_relative(rows: pl.DataFrame) -> bool:
    return "protocol" in rows.columns and bool(rows["protocol"].is_in(list(RELATIVE)).any())


def find_shown_first(answers: Answers, name: str) -> pl.DataFrame | None:
    """Of every pair that a judge compared: its answer and which system was shown first, each without the pair's mean.

    Where every two systems were always shown in the same order, nothing can be told.
    """
    rows = _rows(answers, name)
    if not _is_relative(rows):
        return None
    identity = ["key", "screen"]
    two = rows.filter(pl.col("rank").is_not_null() & (pl.len().over(identity) == 2))
    pairs = two.group_by(identity, maintain_order=True).agg("system", "rank", pl.col("document").first())
    one, other = pl.col("system").list.first(), pl.col("system").list.last()
    turned = pl.when(one < other).then(1.0).otherwise(-1.0)
    better = (pl.col("rank").list.last().cast(pl.Int64) - pl.col("rank").list.first()).sign() * turned
    pair = [pl.min_horizontal(one, other).alias("a"), pl.max_horizontal(one, other).alias("b")]
    coded = pairs.filter(one != other).with_columns(
        turned.alias("first"), better.cast(pl.Float64).alias("better"), *pair
    )
    centred = coded.with_columns(pl.col("first", "better") - pl.col("first", "better").mean().over("a", "b"))
    return centred if centred.height >= FEWEST_REPEATS and centred["first"].abs().sum() > 0 else None
