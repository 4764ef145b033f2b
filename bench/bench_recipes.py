"""How often the rules of the workshops (`ranking/recipes.py`) call equal systems different.

Eight equal systems, 40 documents of four segments in four domains, ten people; each person judges whole documents of
one system. Standard deviations: strictness 7, tastes 2.5, documents 3, segments 3.5, a system in a document 3, pages
2.5, residual 10. "once": every output is judged once; "waves": twice, by two people. "any" is the percentage of
campaigns in which some pair is called different at .05, "pairs" of all pairs, "lines" of campaigns with a line.

    python -m bench recipes    # 200 campaigns of each kind, written to bench/results/recipes.json
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.ranking.methods import RankSettings, rank
from adjudge.ranking.recipes import RECIPES
from adjudge.readers.native import read_frame
from adjudge.readers.options import ReadOptions
from adjudge.table.judgments import Judgments
from adjudge.table.rng import generator

if TYPE_CHECKING:
    from collections.abc import Iterable

RESULTS = Path(__file__).parent / "results" / "recipes.json"
CAMPAIGNS, SYSTEMS, PEOPLE, DOCUMENTS, SEGMENTS, DOMAINS = 200, 8, 10, 40, 4, 4


def drawn(seed: int, waves: int) -> Judgments:
    """A campaign of equal systems."""
    rng = generator(seed)
    page = np.arange(SYSTEMS * DOCUMENTS)
    rows = []
    strict, taste = rng.normal(0, 7, PEOPLE), rng.normal(0, 2.5, (PEOPLE, SYSTEMS))
    document, in_document = rng.normal(0, 3, DOCUMENTS), rng.normal(0, 3, (SYSTEMS, DOCUMENTS))
    segment = rng.normal(0, 3.5, (DOCUMENTS, SEGMENTS))
    first = rng.permutation(len(page)) % PEOPLE
    for wave in range(waves):
        who = (first + wave * rng.integers(1, PEOPLE, len(page))) % PEOPLE
        system, text = page % SYSTEMS, page // SYSTEMS
        mean = 75 + strict[who] + taste[who, system] + document[text] + in_document[system, text]
        mean = mean + rng.normal(0, 2.5, len(page))
        score = np.clip(mean[:, None] + segment[text] + rng.normal(0, 10, (len(page), SEGMENTS)), 0, 100).round()
        rows += [
            (wave, f"p{who[k]}", f"d{text[k]}", f"d{text[k]}-{s}", f"s{system[k]}", score[k, s], text[k])
            for k in page
            for s in range(SEGMENTS)
        ]
    names = ["wave", "annotator", "document", "segment", "system", "score", "domain"]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    return read_frame(frame.with_columns(protocol=pl.lit("da"), domain=pl.col("domain") % DOMAINS), ReadOptions())


def measured(waves: int, names: Iterable[str] = RECIPES) -> dict[str, dict[str, float]]:
    """The rates of every recipe, in percent, with the standard error of the first."""
    found: dict[str, list[tuple[bool, float, bool]]] = {name: [] for name in names}
    for seed in range(CAMPAIGNS):
        judgments = drawn(seed, waves)
        for name, seen in found.items():
            ranking = rank(judgments, method=name, settings=RankSettings())
            below = np.array([(pair.p or 0.0) < 0.05 for pair in ranking.comparisons])
            seen.append((bool(below.any()), float(below.mean()), len(ranking.clusters) > 1))
    rates = {}
    for name, seen in found.items():
        some, pairs, lines = 100 * np.array(seen, dtype=float).mean(0)
        se = float(np.sqrt(some * (100 - some) / CAMPAIGNS))
        rates[name] = {"any": some, "any_se": round(se, 2), "pairs": round(pairs, 2), "lines": lines}
    return rates


def main() -> None:
    results = {"script": "bench/bench_recipes.py", "campaigns": CAMPAIGNS, "once": measured(1), "waves": measured(2)}
    RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
