"""How often the test of a breakdown finds an interaction: where there is none, and where one system is worse in a half.

Campaigns have strictness (sd 6), tastes (sd 3), documents (3), systems on documents (3), pages (3) and residuals (12);
rankings have tastes of .5 logit and systems on documents of .3 logit. Half of the documents are of another domain.
"""

from __future__ import annotations

import sys
from functools import partial

import numpy as np

from adjudge.evidence.breakdown import breakdown
from adjudge.table.judgments import Judgments

CAMPAIGNS = 200
SYSTEMS = "abcdef"


def scores(rng: np.random.Generator, people: int, effect: float, *, between: bool = False) -> Judgments:
    """Scores by some people of 20 documents of five segments, eight documents each."""
    strict, taste = rng.normal(0, 6, people), rng.normal(0, 3, (people, len(SYSTEMS)))
    document, own = rng.normal(0, 3, 20), rng.normal(0, 3, (20, len(SYSTEMS)))
    rows = []
    for person in range(people):
        for number in rng.choice(20, 8, replace=False):
            domain = (person if between else int(number)) % 2
            for system in range(len(SYSTEMS)):
                level = 70 - effect * (system == 0) * domain + strict[person] + taste[person, system]
                level += document[number] + own[number, system] + rng.normal(0, 3)
                for segment in range(5):
                    score = float(np.clip(level + rng.normal(0, 12), 0, 100))
                    rows.append((f"p{person}", f"d{number}", str(segment), SYSTEMS[system], score, f"domain {domain}"))
    names = ("annotator", "document", "segment", "system", "score", "domain")
    columns: dict[str, object] = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    return Judgments.from_columns({**columns, "protocol": ["da"] * len(rows)})


def rankings(rng: np.random.Generator, people: int, effect: float) -> Judgments:
    """Rankings of five of six systems, 40 by each person, on five segments of each of 20 documents."""
    taste, own = rng.normal(0, 0.5, (people, len(SYSTEMS))), rng.normal(0, 0.3, (20, len(SYSTEMS)))
    rows: list[tuple[str, str, str, str, str, int, str]] = []
    for person in range(people):
        for block in range(40):
            number, segment = int(rng.integers(20)), int(rng.integers(5))
            shown = rng.choice(len(SYSTEMS), 5, replace=False)
            level = taste[person] + own[number] - effect * (np.arange(len(SYSTEMS)) == 0) * (number % 2)
            latent = level[shown] + rng.gumbel(size=5)
            for system, rank in zip(shown, (-latent).argsort().argsort() + 1, strict=True):
                where = (f"p{person}", f"d{number}", str(segment), f"{person}-{block}")
                rows.append((*where, SYSTEMS[system], int(rank), f"domain {number % 2}"))
    names = ("annotator", "document", "segment", "screen", "system", "rank", "domain")
    columns: dict[str, object] = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    return Judgments.from_columns({**columns, "protocol": ["ranking"] * len(rows)})


def run(campaigns: int = CAMPAIGNS) -> None:
    cases = [(f"scores, {people} people", partial(scores, people=people), (0.0, 6.0)) for people in (5, 10, 20)]
    cases.append(("scores, the column is about 10 people", partial(scores, people=10, between=True), (0.0, 6.0)))
    cases += [(f"rankings, {people} people", partial(rankings, people=people), (0.0, 0.7)) for people in (5, 15)]
    for name, make, effects in cases:
        for effect in effects:
            p = [
                breakdown(make(np.random.default_rng([17, seed]), effect=effect), ["domain"]).columns[0].p
                for seed in range(campaigns)
            ]
            share = float(np.mean(np.array(p) < 0.05))
            error = float(np.sqrt(share * (1 - share) / campaigns))
            print(f"{name}, effect {effect:g}: significant at .05 in {share:.1%} (se {error:.1%})", flush=True)


if __name__ == "__main__":
    run(int(sys.argv[1]) if len(sys.argv) > 1 else CAMPAIGNS)
