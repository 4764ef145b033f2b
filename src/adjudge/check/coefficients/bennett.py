"""S (Bennett, Alpert and Goldstein 1954): all categories are equally likely by chance.

For preferences from rank labels this overstates chance ties: somebody who clicks labels at random on a scale of k
labels ties two systems with probability 1/k, not 1/3 (Bojar et al. 2011, section 2.2.2). `random_clicker` gives that
chance agreement; with five labels it is .36.
"""

from __future__ import annotations

from adjudge.check.coefficients.chance import above_chance


def bennett_s(observed: float, categories: int) -> float:
    """S from the observed agreement and the number of categories."""
    return above_chance(observed, 1 / categories)


def random_clicker(labels: int) -> float:
    """P(E) of better/tie/worse between two people who choose among so many rank labels at random."""
    tie = 1 / labels
    return tie**2 + 2 * ((1 - tie) / 2) ** 2
