"""Small tables of relative judgments for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from adjudge.table.judgments import Judgments


def blocks(rankings: Sequence[Mapping[str, int | None]], *, annotators: Sequence[str] | None = None) -> Judgments:
    """One block per ranking: system -> rank."""
    people = annotators or [f"a{i % 3}" for i in range(len(rankings))]
    rows = [
        {"annotator": people[i], "screen": str(i), "segment": str(i), "system": system, "rank": rank}
        for i, ranking in enumerate(rankings)
        for system, rank in ranking.items()
    ]
    columns = {name: [row[name] for row in rows] for name in ("annotator", "screen", "segment", "system", "rank")}
    fixed = {"campaign": ["test"] * len(rows), "protocol": ["ranking"] * len(rows)}
    human = [row["system"] == "ref" for row in rows]
    return Judgments.from_columns({**fixed, **columns, "human": human})


def random_blocks(seed: int, *, systems: int = 6, number: int = 80, size: int = 4, annotators: int = 5) -> Judgments:
    """Random blocks from systems of unequal strength, with ties and a reference."""
    rng = np.random.default_rng(seed)
    names = ["ref", *(f"s{i}" for i in range(systems - 1))]
    strength = np.linspace(1.5, -1, systems)
    rankings: list[dict[str, int | None]] = []
    for _ in range(number):
        shown = rng.choice(systems, size=size, replace=False)
        value = np.round(strength[shown] + rng.normal(size=size))
        ranks = 1 + (value[:, None] < value[None, :]).sum(1)
        rankings.append({names[s]: int(r) for s, r in zip(shown, ranks, strict=True)})
    return blocks(rankings, annotators=[f"a{i}" for i in rng.integers(annotators, size=number)])
