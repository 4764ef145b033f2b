"""Small tables of judgments in which people judge the same things, for tests of agreement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from adjudge.table.judgments import Judgments

Block = tuple[str, str, Mapping[str, int | None]]


def rankings(blocks: Sequence[Block]) -> Judgments:
    """Blocks of (annotator, segment, ranks by system); the system called `ref` is human."""
    rows = [
        (who, str(number), segment, system, rank)
        for number, (who, segment, ranks) in enumerate(blocks)
        for system, rank in ranks.items()
    ]
    names = ("annotator", "screen", "segment", "system", "rank")
    columns: dict[str, list[object]] = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    columns["human"] = [row[3] == "ref" for row in rows]
    columns |= {"campaign": ["test"] * len(rows), "protocol": ["ranking"] * len(rows)}
    columns |= {"source_lang": ["en"] * len(rows), "target_lang": ["cs"] * len(rows)}
    return Judgments.from_columns(columns)


def random_rankings(seed: int, *, blocks: int = 60, people: int = 4, segments: int = 5, systems: int = 4) -> Judgments:
    """Blocks of three on few segments, so that many are judged again, by the same and by other people."""
    rng = np.random.default_rng(seed)
    names = ["ref", *(f"s{i}" for i in range(systems - 1))]
    made: list[Block] = []
    for _ in range(blocks):
        shown = rng.choice(systems, size=3, replace=False)
        ranks = rng.integers(1, 4, size=3)
        labels: dict[str, int | None] = {names[s]: int(r) for s, r in zip(shown, ranks, strict=True)}
        if rng.random() < 0.1:
            labels[names[shown[0]]] = None
        made.append((f"a{rng.integers(people)}", str(rng.integers(1, segments + 1)), labels))
    return rankings(made)


def scores(rows: Sequence[tuple[str | None, str, str, float | None]], *, protocol: str = "da") -> Judgments:
    """Rows of (annotator, segment, system, score); the system called `ref` is human."""
    names = ("annotator", "segment", "system", "score")
    columns: dict[str, list[object]] = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    columns["human"] = [row[2] == "ref" for row in rows]
    columns["screen"] = [str(i) for i in range(len(rows))]
    columns |= {"campaign": ["test"] * len(rows), "protocol": [protocol] * len(rows)}
    return Judgments.from_columns(columns)
