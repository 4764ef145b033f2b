"""How often the rules of the workshops (`ranking/recipes.py`) and of other tools call equal systems different.

Eight equal systems, 40 documents of four segments in four domains, ten people; each person judges whole documents of
one system. Standard deviations: strictness 7, tastes 2.5, documents 3, segments 3.5, a system in a document 3, pages
2.5, residual 10. "once": every output is judged once; "waves": twice, by two people. "any" is the percentage of
campaigns in which some pair is called different at .05, "pairs" of all pairs, "lines" of campaigns with a line.

"others" are what other tools do, each pair by itself: on the scores judged once, a paired t-test of the segments (as
Pearmut does) and a paired bootstrap of them; on 2,000 votes by ten people about eight equal systems (tastes .5
log-odds), leaderboards' intervals by bootstrapped votes (evalica), which differ where they do not overlap. adjudge is
beside each.

    python -m bench recipes    # 200 campaigns of each kind, 2,000 of adjudge's votes, to bench/results/recipes.json
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import evalica
import numpy as np
import polars as pl
from scipy.stats import ttest_1samp

from adjudge.ranking.methods import RankSettings, rank
from adjudge.ranking.recipes import RECIPES
from adjudge.readers.native import read_frame
from adjudge.readers.options import ReadOptions
from adjudge.table.judgments import Judgments
from adjudge.table.rng import generator

if TYPE_CHECKING:
    from collections.abc import Iterable

RESULTS = Path(__file__).parent / "results" / "recipes.json"
VOTE_CAMPAIGNS = 2_000
"""Campaigns of votes for adjudge's own rate, which is small and needs more of them."""
CAMPAIGNS, SYSTEMS, PEOPLE, DOCUMENTS, SEGMENTS, DOMAINS, VOTES = 200, 8, 10, 40, 4, 4, 2_000


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


def votes(seed: int) -> pl.DataFrame:
    """Votes of people with tastes about two of eight equal systems at a time."""
    rng = generator(seed)
    taste = rng.normal(0, 0.5, (PEOPLE, SYSTEMS))
    pairs = np.array([(a, b) for a in range(SYSTEMS) for b in range(SYSTEMS) if a != b])
    left, right = pairs[rng.integers(0, len(pairs), VOTES)].T
    who = np.arange(VOTES) % PEOPLE
    wins = rng.random(VOTES) < 1 / (1 + np.exp(taste[who, right] - taste[who, left]))
    return pl.DataFrame(
        {
            "annotator": [f"p{k}" for k in who],
            "segment": [f"q{k}" for k in range(VOTES)],
            "left": [f"s{k}" for k in left],
            "right": [f"s{k}" for k in right],
            "winner": np.where(wins, "left", "right"),
        }
    )


def differ_by_segments(scores: np.ndarray, seed: int) -> tuple[bool, bool]:
    """Whether some two rows (systems) differ by a paired t-test, and by a paired bootstrap of the columns."""
    first, second = np.triu_indices(len(scores), 1)
    gaps = scores[first] - scores[second]
    p = ttest_1samp(gaps, 0.0, axis=1).pvalue
    drawn_again = generator(seed).multinomial(gaps.shape[1], np.full(gaps.shape[1], 1 / gaps.shape[1]), 1000)
    share = (gaps @ drawn_again.T > 0).mean(1)
    return bool((p < 0.05).any()), bool((np.minimum(share, 1 - share) < 0.025).any())


def differ_by_votes(frame: pl.DataFrame, seed: int) -> bool:
    """Whether some two intervals by bootstrapped votes do not overlap."""
    winners = [evalica.Winner.X if winner == "left" else evalica.Winner.Y for winner in frame["winner"]]
    found = evalica.bootstrap(
        evalica.bradley_terry, frame["left"].to_list(), frame["right"].to_list(), winners,
        n_resamples=200, bootstrap_method="percentile", random_state=seed,
    )  # fmt: skip
    return float(np.max(found.low)) > float(np.min(found.high))


def measured_others() -> dict[str, float]:
    """In how many campaigns, in percent, some pair of equal systems is called different by what other tools do."""
    names = ("paired t-test", "paired bootstrap", "adjudge, scores", "bootstrapped votes")
    seen = []
    for seed in range(CAMPAIGNS):
        judgments = drawn(seed, 1)
        wide = judgments.table.pivot("system", index="segment", values="score", aggregate_function="mean")
        by_t, by_bootstrap = differ_by_segments(wide.drop("segment").to_numpy().T, seed)
        seen.append((by_t, by_bootstrap, decides(judgments), differ_by_votes(votes(seed), seed)))
    rates = {name: 100 * float(rate) for name, rate in zip(names, np.mean(seen, axis=0), strict=True)}
    return rates | {"adjudge, votes": measured_votes()}


def measured_votes() -> float:
    """In how many campaigns of votes, in percent, adjudge calls some pair of equal systems different."""
    decided = [decides(read_frame(votes(seed), ReadOptions())) for seed in range(VOTE_CAMPAIGNS)]
    return 100 * float(np.mean(decided))


def decides(judgments: Judgments) -> bool:
    """Whether adjudge decides some pair."""
    ranked = rank(judgments, method=None, settings=RankSettings())
    return any(pair.decided for pair in ranked.comparisons)


def main() -> None:
    results = {"script": "bench/bench_recipes.py", "campaigns": CAMPAIGNS, "votes": VOTE_CAMPAIGNS}
    results |= {"once": measured(1), "waves": measured(2)}
    results |= {"others": measured_others()}
    RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
