"""What to show next in an adaptive campaign: policies that spend judgments where they count. `decide` is the function.

    from adjudge.adapt import Adaptive, Candidate, RunningEstimates, decide, page_observation

    running = RunningEstimates(systems)
    settings = Adaptive(policy="best", floor=0.2, seed=1)
    decision = decide(running, candidates, annotator="ann", number=0, settings=settings)
    decision.drawn, decision.probabilities
    running.add(page_observation(system, document, annotator, scores))     # when the page is saved

A decision depends on what was saved so far and on nothing else, so that the likelihood, and with it the mixed model,
needs no weights. It draws at random with known probabilities, which belong into the log beside the judgments. Decisions
are made one after the other (under one lock), `number` counts them from 0, and a campaign replays bit for bit from its
log: `first_difference(log, ...)` is None. `docs/adaptive.md` says what policies gain and what they cost.
"""

from __future__ import annotations

from adjudge.adapt.policies import POLICIES, Adaptive, Candidate, Decision, decide, first_difference, parse_policy
from adjudge.adapt.running_estimates import Observation, RunningEstimates, page_observation, screen_observations

__all__ = [
    "POLICIES", "Adaptive", "Candidate", "Decision", "Observation", "RunningEstimates", "decide", "first_difference",
    "page_observation", "parse_policy", "screen_observations",
]  # fmt: skip
