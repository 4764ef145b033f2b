"""How often some pair of four equal systems is called different, where everybody scores the same outputs.

Judgments do not name documents. Standard deviations: outputs 8, residual 10, strictness and segments 5, tastes 2.
"""

from __future__ import annotations

import sys

import numpy as np

import adjudge
from adjudge.table.judgments import Judgments

CAMPAIGNS = 400
SYSTEMS, SEGMENTS = 4, 20


def scores(rng: np.random.Generator, people: int) -> Judgments:
    """Scores of all outputs by all people."""
    person, segment, system = (codes.ravel() for codes in np.indices((people, SEGMENTS, SYSTEMS)))
    level = 60 + rng.normal(0, 5, people)[person] + rng.normal(0, 5, SEGMENTS)[segment]
    level += (
        rng.normal(0, 8, (SEGMENTS, SYSTEMS))[segment, system] + rng.normal(0, 2, (people, SYSTEMS))[person, system]
    )
    names = {"annotator": person, "segment": segment, "system": system}
    columns: dict[str, object] = {name: [f"{name} {code}" for code in codes] for name, codes in names.items()}
    score = np.clip(level + rng.normal(0, 10, len(person)), 0, 100)
    return Judgments.from_columns({**columns, "score": score, "protocol": ["da"] * len(person)})


def main() -> None:
    campaigns = int(sys.argv[1]) if len(sys.argv) > 1 else CAMPAIGNS
    for people in (5, 10, 20):
        alarms = 0
        for seed in range(campaigns):
            ranking = adjudge.rank(scores(np.random.default_rng([people, seed]), people))
            alarms += any(pair.p_holm is not None and pair.p_holm < 0.05 for pair in ranking.comparisons)
        share = alarms / campaigns
        error = np.sqrt(share * (1 - share) / campaigns)
        print(f"{people} people: some pair different in {share:.1%} ± {error:.1%} of {campaigns} campaigns", flush=True)


if __name__ == "__main__":
    main()
