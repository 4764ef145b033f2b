"""How to read the report: the words of statistics, explained to people who do not use them every day."""

from __future__ import annotations

from adjudge.evidence.verdict import CANNOT_DECIDE, HOLDS_AND_FRAGILE
from adjudge.report.page import Term

GUIDE = (
    Term(
        "Score and interval",
        "The score is what the judgments say about a system. Other annotators on another day would give another score; "
        "the interval shows by how much. Where two intervals overlap widely, do not read anything into the difference.",
    ),
    Term(
        "Possible ranks",
        "The ranks that a system could have, given how uncertain the scores are. A system with possible ranks 2 to 5 "
        "may be printed in third place, but nothing in the data puts it there rather than fourth.",
    ),
    Term(
        "Cluster and line",
        "A line is drawn between two neighbours only where the data separate everyone above from everyone below. "
        "Systems between two lines form a cluster. Their order within the cluster is not a finding.",
    ),
    Term(
        "p and Holm",
        "p is how often a difference this large would turn up between two equally good systems. Looking at many "
        "pairs, some small p turn up by chance; Holm's correction keeps the probability of even one false alarm at the "
        "level given.",
    ),
    Term(*HOLDS_AND_FRAGILE),
    Term(
        "Taste",
        "One annotator likes a system's style, another does not. With few annotators, tastes look like quality. The "
        "models of scores and of comparisons allow for them, so that the verdict is about other people, too.",
    ),
    Term(*CANNOT_DECIDE),
    Term(
        "Agreement (kappa, S, alpha)",
        "How far two annotators give the same answer, beyond what chance alone would give: 1 is always, 0 is no more "
        "than chance. Low agreement does not make a ranking wrong, but it needs more judgments to be right.",
    ),
    Term(
        "Signature",
        "One line that says exactly how a number was made: method, settings, seed, a fingerprint of the data, and the "
        "version. The same signature on the same data gives the same number, to the last digit.",
    ),
)
