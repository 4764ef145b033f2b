"""Documents and their segments: how systems fared on each, and what went wrong, with examples.

The matrix of raw means (Knowles 2021, Figure 5) looks like difficulty, but each cell is mostly one or two annotators.
So the share of spread that documents explain on top of annotators and systems stands beside it. The matrix may also
hold means of z-scores, the estimates of the mixed model with an effect for every cell, which allows for who judged it,
or the means of a metric, which nobody's strictness touches.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from adjudge.evidence.composition import Documents, ExplainedSpread
from adjudge.ranking.scores import ScoreEstimator, fit_cells
from adjudge.readers.metric_scores import read_metric_scores
from adjudge.table.comparisons import NOBODY, comparisons, relative_judgments, segment_keys
from adjudge.table.errors import DataError, param, unknown_choice
from adjudge.table.files import read_bytes
from adjudge.table.judgments import Judgments, fingerprint
from adjudge.table.maths import divide, student_quantile
from adjudge.table.protocols import PROTOCOLS, RATED, RELATIVE, SCORED
from adjudge.table.results import Table, number, percent, tabulate, text
from adjudge.table.score_sheet import Sheet, sheet_of, standardised

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from adjudge.evidence.audit import AuditSettings

    Floats = NDArray[np.float64]


RAW = "raw"
SCALES = (RAW, "zscore", "mixed")
_PATH_MARKS = ("/", "\\", ".")


def documents_setting(settings: AuditSettings) -> str | None:
    """What the matrix shows, where it is not raw means; a file is named with the fingerprint of its content."""
    chosen = str(settings.documents_by)
    if chosen in SCALES:
        return None if chosen == RAW else chosen
    if not any(mark in chosen for mark in _PATH_MARKS):
        raise unknown_choice(f"scale for {param('documents_by')}", chosen, [*SCALES, "a file of a metric's scores"])
    return f"{Path(chosen).name}:{fingerprint(read_bytes(Path(chosen)).decode(errors='replace'))}"


def documents_section(judgments: Judgments, settings: AuditSettings) -> Documents:
    """The matrix of documents by systems and what explains the scores in it."""
    raw = _matrix_of_scores(judgments)
    chosen = str(settings.documents_by)
    if chosen == RAW:
        return raw
    if chosen == "zscore":
        return replace(_matrix_of_scores(judgments, z=True), explained=raw.explained, scale="z-score")
    if chosen == "mixed":
        label, cells = "estimate of the mixed model", _model_cells(judgments)
    else:
        label, cells = _metric_cells(judgments, Path(chosen))
    # The matrix with other values, the document with the highest mean first.
    matrix = {name: [cells.get((name, system)) for system in raw.systems] for name in raw.documents}
    mean = {name: _mean([value for value in row if value is not None]) for name, row in matrix.items()}
    order = sorted(raw.documents, key=lambda name: -np.nan_to_num(mean[name], nan=-np.inf))
    counts = dict(zip(raw.documents, raw.counts, strict=True))
    return replace(
        raw,
        documents=tuple(order),
        matrix=tuple(tuple(matrix[name]) for name in order),
        counts=tuple(counts[name] for name in order),
        difficulty=tuple(mean[name] for name in order),
        scale=label,
    )


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else float("nan")


def _model_cells(judgments: Judgments) -> dict[tuple[str, str], float]:
    """The score of every system on every document by the mixed model with an effect for each."""
    design, table = ScoreEstimator(judgments, check=False).design, judgments.final().table
    known = table["document"][design.row].is_not_null().to_numpy()
    part = design.subset(known)
    names = table["document"][part.row].to_list()
    documents = sorted(set(names))
    code = np.array([documents.index(name) for name in names])
    cells = fit_cells(part, code, documents)
    return {
        (documents[d], part.systems[s]): float(effect)
        for s, d, effect in zip(cells.owner, cells.level, cells.fit.effects, strict=True)
    }


def _metric_cells(judgments: Judgments, path: Path) -> tuple[str, dict[tuple[str, str], float]]:
    """The mean of a metric for every system on every document, and the metric's name."""
    scores = read_metric_scores([path])
    name = next((score.metric for score in scores if score.score is not None), None)
    rows = judgments.table.select("segment", "document").drop_nulls().unique().rows()
    where: dict[str, str | None] = {}
    for segment, document in rows:
        # A segment of that name in two documents says nothing of its document.
        where[segment] = document if where.get(segment, document) == document else None
    values: dict[tuple[str, str], list[float]] = {}
    for score in scores:
        document = score.document or (None if score.segment is None else where.get(score.segment))
        if score.metric == name and document is not None and score.score is not None:
            values.setdefault((document, score.system), []).append(score.score)
    systems = {system for _, system in values}
    if name is None or not systems & set(judgments.systems):
        raise DataError(f"{path.name} has no score of these systems on these documents; check its names")
    return f"mean of {name}", {cell: _mean(cell_scores) for cell, cell_scores in values.items()}


def _matrix_of_scores(judgments: Judgments, *, z: bool = False) -> Documents:
    sheet = sheet_of(judgments)
    if z:
        sheet = standardised(sheet)
        sheet = sheet.keep(~np.isnan(sheet.score))
    sheet = sheet.keep(sheet.rated & (sheet.document >= 0))
    if len(np.unique(sheet.document)) < 2:
        raise DataError("it needs at least two known documents")
    shape = (len(sheet.documents), len(sheet.systems))
    cell = sheet.document * shape[1] + sheet.system
    counts = np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape)
    sums = np.bincount(cell, weights=sheet.score, minlength=shape[0] * shape[1]).astype(float).reshape(shape)
    means = divide(sums, counts)
    difficulty, quality = (divide(sums.sum(axis), counts.sum(axis)) for axis in (1, 0))
    rows = [i for i in np.argsort(-np.nan_to_num(difficulty, nan=-np.inf), kind="stable") if counts[i].sum()]
    columns = np.argsort(-np.nan_to_num(quality, nan=-np.inf), kind="stable")
    return Documents(
        documents=tuple(sheet.documents[i] for i in rows),
        systems=tuple(sheet.systems[j] for j in columns),
        matrix=tuple(tuple(None if counts[i, j] == 0 else float(means[i, j]) for j in columns) for i in rows),
        counts=tuple(tuple(int(counts[i, j]) for j in columns) for i in rows),
        difficulty=tuple(float(difficulty[i]) for i in rows),
        coverage=float((counts[rows] > 0).mean()),
        explained=_explained(sheet),
    )


def _explained(sheet: Sheet) -> tuple[ExplainedSpread, ...]:
    factors = {"systems": sheet.system, "documents": sheet.document, "annotators": sheet.annotator}
    shown = ["systems", "systems + documents"]
    if len(sheet.annotators) > 1:
        shown += ["annotators", "annotators + systems", "annotators + systems + documents"]
    return tuple(_fit(names, [factors[name] for name in names.split(" + ")], sheet.score) for names in shown)


def _fit(name: str, factors: Sequence[NDArray[np.int64]], score: NDArray[np.float64]) -> ExplainedSpread:
    """Least squares on indicator columns, by the normal equations; their rank is the number of free parameters."""
    from scipy.sparse import coo_array, hstack

    rows = np.arange(len(score))
    blocks = [coo_array((np.ones(len(score)), (rows, np.unique(factor, return_inverse=True)[1]))) for factor in factors]
    design = hstack(blocks).tocsr()
    values, vectors = np.linalg.eigh((design.T @ design).toarray())
    usable = values > values.max() * 1e-10
    centred = score - score.mean()
    projected = vectors[:, usable].T @ (design.T @ centred)
    explained = float((projected**2 / values[usable]).sum())
    total = float(centred @ centred)
    free = len(score) - int(usable.sum())
    r2 = explained / total if total > 0 else 0.0
    adjusted = 1 - (1 - r2) * (len(score) - 1) / free if free > 0 else float("nan")
    return ExplainedSpread(name, r2, adjusted)


# What went wrong, with examples: marked errors by system, the worst and the most disputed outputs, upsets.
#
# A mean says how good a system is, not what it does wrong. Where errors were marked, they are counted by severity and
# by category. The interval of a rate allows for people who mark more than others and for hard texts: its variance is
# clustered both ways, by annotator and by document (C. Cameron, J. Gelbach and D. Miller, 2011, Robust inference with
# multiway clustering). Examples are outputs as they were judged, chosen by rules that a reader can check.

SHOWN = 5
"""Examples of each kind."""
MOST_CATEGORIES = 12
"""Categories that are counted by system; the rarer ones are left to the severities."""
MOST_PARTED = 40
"""Systems, the best first, whose pairs are searched for segments on which typical and average part."""
FEWEST_COMMON = 20
"""Common segments below which nothing is said about how typical and average part."""
SURE = 0.05
_OUTPUT = ("document", "segment", "system")


@dataclass(frozen=True)
class ErrorRate:
    """Errors of one severity or category in the outputs of a system: how many, and how many per judged output."""

    system: str
    human: bool
    what: str
    errors: int
    rate: float
    low: float
    high: float


@dataclass(frozen=True)
class Answer:
    """How one person judged one output."""

    annotator: str
    score: float | None
    spans: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True)
class Shown:
    """One output of an example: its text where the data have it, its mean score, and who judged it how."""

    system: str
    text: str
    score: float | None
    answers: tuple[Answer, ...]


@dataclass(frozen=True)
class Example:
    """A segment, and why it is shown; the output that it is about stands first."""

    kind: str
    """`worst`, `disputed`, `parted` or `upset`."""
    document: str | None
    segment: str
    words: str
    source: str
    outputs: tuple[Shown, ...]


@dataclass(frozen=True)
class Parted:
    """A system that is better than another on most segments, but not on average."""

    better: str
    worse: str
    share: float
    """Of their common segments that differ, on which the first has the higher score."""
    difference: float
    """Its mean score minus that of the other."""
    segments: int


@dataclass(frozen=True)
class Examples:
    """What went wrong. Parts that the judgments do not allow are empty."""

    severities: tuple[ErrorRate, ...]
    categories: tuple[ErrorRate, ...]
    parted: tuple[Parted, ...]
    examples: tuple[Example, ...]
    people: int
    """Annotators whose marks were counted."""

    def tables(self) -> tuple[Table, ...]:
        """Errors by severity and category, where systems part, and the segments of the examples."""
        made = [_rates("severity", self.severities, self.people), _rates("category", self.categories, self.people)]
        if self.parted:
            columns = {
                "better": text("usually better"),
                "worse": text("than"),
                "share": percent("of segments", 0, help="on which the two differ and the first has the higher score"),
                "difference": number("mean difference", 2, help="its mean score minus that of the other"),
                "segments": number("segments", 0),
            }
            made.append(tabulate("Better on most segments, but not on average", self.parted, columns))
        if self.examples:
            shown = {"kind": text("example"), "document": text("document"), "segment": text("segment"),
                     "words": text("why")}  # fmt: skip
            made.append(tabulate("Examples", self.examples, shown))
        return tuple(table for table in made if table.rows)


def _rates(what: str, rates: Sequence[ErrorRate], people: int) -> Table:
    columns = {
        "system": text("system"),
        "what": text(what),
        "errors": number("errors", 0),
        "rate": number("per output", 3, help="errors for each output that a person judged"),
        "low": number("low", 3, help="of a 95% interval"),
        "high": number("high", 3, help="of a 95% interval"),
    }
    few = " One person judged: the intervals are about other texts, not about other people." if people < 2 else ""
    note = f"Intervals allow for people who mark more than others and for hard texts.{few}"
    return tabulate(f"Errors by {what}", rates, columns, note)


def examples_section(judgments: Judgments, settings: AuditSettings) -> Examples:  # noqa: ARG001  as all sections
    """Count marked errors and choose examples; scores where there are any, else comparisons."""
    table = judgments.final().table
    scored = table.filter(
        pl.col("protocol").is_in(SCORED)
        & pl.col("kind").is_in(RATED)
        & pl.col("score").is_not_null()
        & pl.col("segment").is_not_null()
    )
    if scored.height:
        marked = scored.filter(pl.col("spans").is_not_null() & pl.col("protocol").is_in(_marked()))
        severities, categories = _count_errors(marked, "severity"), _count_errors(marked, "category")
        parted, examples = _examples_of_scores(scored)
        people = marked["annotator"].n_unique()
        made = Examples(tuple(severities), tuple(categories), parted, examples, people)
    else:
        relative = table.filter(pl.col("protocol").is_in(RELATIVE) & pl.col("segment").is_not_null())
        made = Examples((), (), (), _upsets(judgments) if relative.height else (), 0)
    if not made.tables():
        raise DataError("it needs named segments that several people judged, or marked errors")
    return made


def _marked() -> list[str]:
    return [protocol.name for protocol in PROTOCOLS.values() if protocol.marked]


# Errors by system


def _count_errors(marked: pl.DataFrame, field: str) -> list[ErrorRate]:
    """The errors of every severity or category by system, with intervals; the systems with the fewest errors first."""
    if not marked.height:
        return []
    rows = marked.with_row_index("row")
    spans = rows.select("row", "spans").explode("spans").drop_nulls("spans").unnest("spans")
    known = spans.drop_nulls(field).filter(pl.col(field) != "")
    names = known[field].value_counts(sort=True).sort("count", field, descending=[True, False])[field].to_list()
    chosen = names[:MOST_CATEGORIES] if field == "category" else names
    people = _codes(rows["annotator"].fill_null(NOBODY))
    texts = _codes(rows["document"].fill_null("") if rows["document"].n_unique() > 1 else rows["segment"])
    system = rows["system"]
    human = set(rows.filter(pl.col("human"))["system"].to_list())
    order = rows.group_by("system").agg(pl.col("score").mean()).sort("score", "system", descending=[True, False])
    rates = []
    for name in order["system"]:
        own = (system == name).to_numpy()
        for what in chosen:
            hits = np.bincount(known.filter(pl.col(field) == what)["row"].to_numpy(), minlength=rows.height)[own]
            rate, low, high = find_interval(hits.astype(float), people[own], texts[own])
            rates.append(ErrorRate(name, name in human, what, int(hits.sum()), rate, low, high))
    return rates


def _codes(column: pl.Series) -> NDArray[np.int64]:
    return column.rank("dense").to_numpy().astype(np.int64) - 1


def find_interval(values: Floats, people: NDArray[np.int64], texts: NDArray[np.int64]) -> tuple[float, float, float]:
    """The mean of counts and a 95% interval that allows for people and for texts; not below zero.

    The variance is that by people plus that by texts, less what both count, and never below either of the two.
    """
    mean = float(values.mean())
    if not values.any():
        return 0.0, 0.0, math.nan  # nothing was found, which does not say how much there may be
    residual = (values - mean) / len(values)
    by = [_clustered(residual, codes) for codes in (people, texts)]
    both = _clustered(residual, people * (int(texts.max()) + 1) + texts)
    known = [(variance, groups) for variance, groups in by if groups > 1]
    if not known:
        return mean, math.nan, math.nan
    total = max(sum(variance for variance, _ in known) - (both[0] if len(known) == 2 else 0.0),
                *(variance for variance, _ in known))  # fmt: skip
    df = min(groups for _, groups in known) - 1
    reach = float(student_quantile(0.025, np.array(float(df)))) * math.sqrt(total)
    return mean, max(mean - reach, 0.0), mean + reach


def _clustered(residual: Floats, codes: NDArray[np.int64]) -> tuple[float, int]:
    """The variance of a mean by the sums of its residuals in groups, and the number of groups."""
    present, group = np.unique(codes, return_inverse=True)
    groups = len(present)
    if groups < 2:
        return 0.0, groups
    sums = np.bincount(group, weights=residual, minlength=groups)
    return float((sums**2).sum() * groups / (groups - 1)), groups


# Examples of scores


def _examples_of_scores(scored: pl.DataFrame) -> tuple[tuple[Parted, ...], tuple[Example, ...]]:
    """The worst and the most disputed outputs, and segments on which a system that is usually better fails."""
    # What people find of an output beside their own mean: strict people dispute nothing by being strict.
    own = scored.with_columns(beside=pl.col("score") - pl.col("score").mean().over("annotator"))
    outputs = own.group_by(_OUTPUT).agg(
        pl.col("human").any(),
        mean=pl.col("score").mean(),
        beside=pl.col("beside").mean(),
        apart=pl.col("beside").max() - pl.col("beside").min(),
        people=pl.col("annotator").n_unique(),
    )
    machine = outputs.filter(~pl.col("human"))
    machine = machine if machine.height else outputs
    # Where several people judged outputs, what one of them alone found says less.
    judged = machine.filter(pl.col("people") > 1)
    worst = _one_per_segment((judged if judged.height >= SHOWN else machine).sort("beside", *_OUTPUT))
    apart = judged.filter(pl.col("apart") > 0).sort("apart", *_OUTPUT, descending=[True, False, False, False])
    disputed = _one_per_segment(apart)
    parted = _find_parted(outputs)
    lowest, most = "the lowest mean score beside its annotators' other scores", "people part most over it"
    chosen = [
        *(("worst", row, lowest) for row in worst.iter_rows(named=True)),
        *(("disputed", row, most) for row in disputed.iter_rows(named=True)),
        *(example for pair in parted for example in _where_parted(pair, outputs)),
    ]
    return parted, tuple(_example(kind, row, words, scored) for kind, row, words in chosen)


def _one_per_segment(outputs: pl.DataFrame) -> pl.DataFrame:
    """The first outputs, of different segments: all systems fail on the same hard ones."""
    return outputs.unique(_OUTPUT[:2], keep="first", maintain_order=True).head(SHOWN)


def _example(kind: str, row: Mapping[str, Any], words: str, scored: pl.DataFrame) -> Example:
    """The example about an output, with the best of the other outputs of its segment beside it."""
    same = scored.filter(pl.col("document").eq_missing(row["document"]) & (pl.col("segment") == row["segment"]))
    means = same.group_by("system").agg(pl.col("score").mean()).sort("score", "system", descending=[True, False])
    other = next((name for name in means["system"] if name != row["system"]), None)
    shown = [row["system"], *([] if other is None else [row.get("other", other)])]
    outputs = tuple(_shown(name, same.filter(pl.col("system") == name)) for name in shown)
    return Example(kind, row["document"], row["segment"], words, _first(same, "source_text"), outputs)


def _shown(system: str, rows: pl.DataFrame) -> Shown:
    answers = tuple(
        Answer(annotator or NOBODY, score, tuple(spans or ()))
        for annotator, score, spans in rows.select("annotator", "score", "spans").iter_rows()
    )
    scores = [answer.score for answer in answers if answer.score is not None]
    mean = sum(scores) / len(scores) if scores else None
    return Shown(system, _first(rows, "target_text"), mean, answers)


def _first(rows: pl.DataFrame, column: str) -> str:
    known = rows[column].drop_nulls().to_list() if column in rows.columns else []
    return str(known[0]) if known else ""


def _find_parted(outputs: pl.DataFrame) -> tuple[Parted, ...]:
    """Pairs of which one is better on most segments by a sign test, and yet no better on average; the widest first."""
    wide = outputs.with_columns(where=pl.struct("document", "segment")).pivot(
        on="system", index="where", values="beside", aggregate_function="first"
    )
    best = outputs.group_by("system").agg(pl.col("beside").mean()).sort("beside", "system", descending=[True, False])
    names = best["system"].head(MOST_PARTED).to_list()
    columns = {name: wide[name].to_numpy().astype(float) for name in names}
    found = []
    for first in names:
        for second in names:
            apart = columns[first] - columns[second]
            apart = apart[np.isfinite(apart)]
            differ = int((apart != 0).sum())
            wins = int((apart > 0).sum())
            if first == second or differ < FEWEST_COMMON or apart.mean() > 0 or wins <= differ / 2:
                continue
            if 2 * _at_least(wins, differ) < SURE / max(len(names) * (len(names) - 1) / 2, 1):
                found.append(Parted(first, second, wins / differ, float(apart.mean()), len(apart)))
    return tuple(sorted(found, key=lambda pair: pair.difference)[:SHOWN])


def _at_least(wins: int, number: int) -> float:
    """The probability of at least so many heads among fair tosses."""
    from scipy.special import bdtrc

    return float(bdtrc(wins - 1, number, 0.5))


def _where_parted(pair: Parted, outputs: pl.DataFrame) -> Iterable[tuple[str, dict[str, Any], str]]:
    """The segments that cost the usually better system most."""
    first, second = (outputs.filter(pl.col("system") == name) for name in (pair.better, pair.worse))
    both = first.join(second, on=("document", "segment"), suffix="_other", nulls_equal=True)
    both = both.with_columns(cost=pl.col("beside") - pl.col("beside_other"), other=pl.lit(pair.worse))
    words = f"{pair.better} is usually better than {pair.worse}, and fails here"
    for row in both.sort("cost", "document", "segment").head(2).iter_rows(named=True):
        yield "parted", row, words


# Upsets in comparisons


def _upsets(judgments: Judgments) -> tuple[Example, ...]:
    """Segments on which people prefer a system to one that wins more often elsewhere: the most people, then the gap."""
    pairs, keys = comparisons(judgments), segment_keys(judgments)
    won = sum(
        (np.bincount(side, (pairs.outcome == sign).astype(float), len(pairs.systems)) for side, sign in
         ((pairs.first, 1), (pairs.second, -1))), np.zeros(len(pairs.systems)),
    )  # fmt: skip
    met = sum(np.bincount(side, (pairs.outcome != 0).astype(float), len(pairs.systems))
              for side in (pairs.first, pairs.second))  # fmt: skip
    share = np.nan_to_num(divide(won, np.asarray(met)), nan=0.5)
    gap = share[pairs.second] - share[pairs.first]
    votes = pl.DataFrame({
        "code": pairs.segment,
        "low": np.where(gap > 0, pairs.first, pairs.second),
        "high": np.where(gap > 0, pairs.second, pairs.first),
        "vote": np.where(gap > 0, pairs.outcome, -pairs.outcome).astype(np.int64),
        "gap": np.abs(gap),
    })  # fmt: skip
    upsets = votes.group_by("code", "low", "high").agg(
        pl.col("gap").first(), net=pl.col("vote").sum(), for_it=(pl.col("vote") > 0).sum(),
        against=(pl.col("vote") < 0).sum(),
    ).filter((pl.col("net") > 0) & (pl.col("gap") > 0))  # fmt: skip
    upsets = upsets.sort("net", "gap", "code", "low", "high", descending=[True, True, False, False, False])
    table = relative_judgments(judgments).table
    return tuple(_upset(row, keys.row(row["code"], named=True), pairs.systems, share, table)
                 for row in upsets.head(SHOWN).iter_rows(named=True))  # fmt: skip


def _upset(
    row: Mapping[str, Any], place: Mapping[str, Any], systems: Sequence[str], share: Floats, table: pl.DataFrame
) -> Example:
    low, high = systems[row["low"]], systems[row["high"]]
    people = f"{row['for_it']} of {row['for_it'] + row['against']} comparisons"
    usual = f"overall {low} wins {share[row['low']]:.0%} of its comparisons and {high} {share[row['high']]:.0%}"
    same = table.filter(pl.col("document").eq_missing(place["document"]) & (pl.col("segment") == place["segment"]))
    outputs = tuple(Shown(name, _first(same.filter(pl.col("system") == name), "target_text"), None, ())
                    for name in (low, high))  # fmt: skip
    words = f"{low} is preferred to {high} in {people}; {usual}"
    return Example("upset", place["document"], place["segment"], words, _first(same, "source_text"), outputs)
