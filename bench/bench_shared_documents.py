"""How often some pair of equal systems is called different, where people compare translations of the same documents.

Utilities have the standard deviations 1 for outputs and for a comparison's noise, .5 for tastes, and 1 (or .5) for a
system in a document. Everybody compares a random pair of systems on every segment, or on segments drawn at random.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

import adjudge
from adjudge.table.judgments import Judgments

CAMPAIGNS = 300
TIE = 0.3


@dataclass(frozen=True)
class Campaign:
    """Who compares what."""

    systems: int
    people: int
    documents: int
    segments: int
    """Of each document."""
    in_documents: float
    """Standard deviation of a system's deviation in a document."""
    each: int | None = None
    """Comparisons of one person, on segments drawn at random; all segments where None."""

    def drawn(self, rng: np.random.Generator) -> Judgments:
        """The judgments of such a campaign."""
        shape = (self.systems, self.documents, self.segments)
        output = rng.normal(0, 1, shape) + rng.normal(0, self.in_documents, (*shape[:2], 1))
        taste = rng.normal(0, 0.5, (self.people, self.systems))
        texts = self.documents * self.segments
        text = np.tile(np.arange(texts), self.people)
        if self.each is not None:
            text = rng.integers(texts, size=self.people * self.each)
        person = np.repeat(np.arange(self.people), len(text) // self.people)
        pairs = np.argsort(rng.random((len(text), self.systems)), axis=1)[:, :2]
        document, segment = np.divmod(text[:, None], self.segments)
        utility = output[pairs, document, segment] + taste[person[:, None], pairs] + rng.normal(size=pairs.shape)
        ahead = utility[:, :1] - utility[:, ::-1][:, :1]
        rank = np.where(np.abs(ahead) < TIE, 1, np.where(np.hstack([ahead, -ahead]) > 0, 1, 2))
        names = {"screen": np.arange(len(text)), "annotator": person, "document": document[:, 0], "segment": text}
        columns: dict[str, object] = {
            name: [f"{code}" for code in np.repeat(codes, 2)] for name, codes in names.items()
        }
        columns["system"] = [f"system {code}" for code in pairs.ravel()]
        return Judgments.from_columns({**columns, "rank": rank.ravel(), "protocol": ["pairwise"] * rank.size})


ROWS = {
    "20 people, 3 documents of 10 segments, .5": Campaign(4, 20, 3, 10, 0.5),
    "20 people, 5 documents of 8 segments": Campaign(4, 20, 5, 8, 1.0),
    "10 people, 10 documents of 4 segments": Campaign(4, 10, 10, 4, 1.0),
    "20 people, 5 documents, all segments different": Campaign(4, 20, 5, 400, 1.0, 20),
    "8 people, 20 documents of 5 segments, .5": Campaign(4, 8, 20, 5, 0.5, 40),
    "two systems, 20 people, 6 documents of 6 segments": Campaign(2, 20, 6, 6, 1.0),
}


def main() -> None:
    campaigns = int(sys.argv[1]) if len(sys.argv) > 1 else CAMPAIGNS
    for name, campaign in ROWS.items():
        alarms = 0
        for seed in range(campaigns):
            ranking = adjudge.rank(campaign.drawn(np.random.default_rng(seed)), resamples=100)
            alarms += any(pair.p_holm is not None and pair.p_holm < 0.05 for pair in ranking.comparisons)
        share = alarms / campaigns
        error = np.sqrt(share * (1 - share) / campaigns)
        print(f"{name}: some pair different in {share:.1%} ± {error:.1%} of {campaigns} campaigns", flush=True)


if __name__ == "__main__":
    main()
