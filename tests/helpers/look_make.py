"""Judgments of a small growing campaign with known differences, as looks see them."""

from __future__ import annotations

import numpy as np

from adjudge.table.judgments import Judgments


def growing(
    qualities: dict[str, float], *, pages: int = 60, page: int = 4, annotators: int = 8, seed: int = 1
) -> list[Judgments]:
    """The campaign after each fifth of its pages; systems in turn, documents and annotators in turn."""
    rng = np.random.default_rng(seed)
    names = list(qualities)
    rows = [
        (number, number % annotators, number % 15, segment, names[number % len(names)])
        for number in range(pages * len(names))
        for segment in range(page)
    ]
    columns: dict[str, list[object]] = {
        "screen": [f"p{row[0]}" for row in rows],
        "annotator": [f"a{row[1]}" for row in rows],
        "document": [f"d{row[2]}" for row in rows],
        "segment": [f"s{row[3]}" for row in rows],
        "system": [row[4] for row in rows],
        "score": [float(np.clip(70 + qualities[row[4]] + rng.normal(0, 10), 0, 100)) for row in rows],
        "campaign": ["test"] * len(rows),
        "protocol": ["da"] * len(rows),
        "source_lang": ["en"] * len(rows),
        "target_lang": ["cs"] * len(rows),
    }
    whole = Judgments.from_columns(columns)
    return [Judgments(whole.table.head(len(rows) * part // 5)) for part in range(1, 6)]
