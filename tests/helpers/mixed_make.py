"""Small campaigns of every shape: crossed, nested, unbalanced, with empty cells and with things unknown."""

from __future__ import annotations

import numpy as np
import polars as pl

from adjudge.table.judgments import Judgments

SHAPES = ("crossed", "pages", "nested", "segments", "no-documents", "unnamed", "sparse")


def campaign(
    shape: str,
    seed: int,
    *,
    systems: int = 3,
    annotators: int = 4,
    documents: int = 5,
    taste: float = 0.0,
    screen: float = 0.0,
) -> Judgments:
    """A random campaign; scores have effects of everything that is named.

    `taste` and `screen` are standard deviations of effects of annotator and system, and of annotator and document.
    """
    rng = np.random.default_rng(seed)
    rows = [row for rows in _screens(shape, rng, systems, annotators, documents) for row in rows]
    frame = pl.DataFrame(rows, schema=["annotator", "task", "screen", "document", "segment", "system"], orient="row")
    frame = frame.with_columns(pl.Series("score", _scores(frame, rng)))
    liking = taste * rng.standard_normal((annotators, systems)) if taste else np.zeros((annotators, systems))
    who, what = (frame[name].str.slice(1).cast(pl.Int64).to_numpy() for name in ("annotator", "system"))
    frame = frame.with_columns(score=pl.col("score") + pl.Series(liking[who, what]))
    if screen:
        text = frame["document"].str.slice(1).cast(pl.Int64).to_numpy()
        view = screen * rng.standard_normal((annotators, documents))
        frame = frame.with_columns(score=pl.col("score") + pl.Series(view[who, text]))
    if shape == "no-documents":
        frame = frame.with_columns(pl.lit(None, dtype=pl.String).alias("document"))
    if shape == "unnamed":
        hidden = pl.Series(rng.random(frame.height) < 0.2)
        frame = frame.with_columns(
            pl.when(hidden).then(None).otherwise(pl.col(name)).alias(name) for name in ("annotator", "document", "task")
        )
    return Judgments.from_columns(frame.with_columns(protocol=pl.lit("da")))


def _screens(
    shape: str, rng: np.random.Generator, systems: int, annotators: int, documents: int
) -> list[list[tuple[str, ...]]]:
    length = rng.integers(1, 5, documents)
    screens: list[list[tuple[str, ...]]] = []
    for a in range(annotators):
        for d in range(documents):
            if shape == "nested" and d % annotators != a:
                continue
            for s in range(systems):
                if rng.random() < {"crossed": 0.0, "sparse": 0.75}.get(shape, 0.4):
                    continue
                task = f"t{a}.{rng.integers(2)}"
                single = shape in ("segments", "crossed")
                rows: list[tuple[str, ...]] = [
                    (f"a{a}", task, f"{d}-{s}-{i}" if single else f"{d}-{s}", f"d{d}", f"{i}", f"s{s}")
                    for i in range(length[d])
                ]
                screens.append(rows)
                if shape == "pages" and rng.random() < 0.3:
                    screens.append([(*row[:2], f"{row[2]} again", *row[3:]) for row in rows])
    return screens


def _scores(frame: pl.DataFrame, rng: np.random.Generator) -> list[float]:
    score = 60 + 6 * rng.standard_normal(frame.height)
    for columns, spread in (
        (("system",), 4.0),
        (("annotator",), 5.0),
        (("annotator", "task"), 3.0),
        (("document",), 2.0),
        (("document", "segment"), 3.0),
        (("system", "document"), 3.0),
        (("annotator", "task", "screen"), 2.0),
    ):
        code = frame.select(pl.struct(columns).rank("dense").cast(pl.Int64) - 1).to_series().to_numpy()
        score += spread * rng.standard_normal(code.max() + 1)[code]
    return [round(float(value), 1) for value in score]
