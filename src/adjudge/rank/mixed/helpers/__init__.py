"""Metrics and judges that are models as helpers: their scores of all outputs tighten what few human scores say.

A helper has a score for every output of the test set, judged or not. For a judged output, x is its score less the mean
of its scores of that system over the whole test set (see `matching`). Where the judged segments are a random draw, x is
0 on average for every system, so that

    corrected score = human score - slope * x

has the same mean as the human score, whatever the slope and however good, biased or useless the helper: a helper that
loves one system adds the same to all outputs of that system, and x does not change. If the helper explains part of why
some outputs are better than others of the same system, the corrected scores vary less, and differences of systems are
known better: a control variate, or prediction-powered inference. The corrected scores are ranked by the same mixed
model, with annotators, tastes, tasks, documents, segments and pages.

- **Slopes** come from other documents than those they are used on, and are shrunken (see `slopes`), so that neither
  chance nor a useless helper makes errors look small.
- **Errors.** The mean over the test set is known for these texts, but the ranking is about texts of this kind. With u
  = slope * x over all outputs, the variance of the mean of u over the whole test set, by documents, is added to that of
  the corrected scores. Where all outputs were judged, the two together are the variance without helpers: nothing is
  gained, and nothing is claimed. If c is the slope of human scores on u, averaged by system and
  document (more than 1 where slopes are shrunken), human scores and u vary together by c, and the part to add is 2c - 1
  times the variance of u; at least once.
- **Gain.** The variance of a difference of two systems without helpers over that with them, averaged over all pairs:
  so many times the judgments would be needed without helpers. It is an estimate. If it is below 1, as may happen where
  nearly everything was judged, the ranking is the one without helpers.

Segments that were chosen with known probabilities (column `inclusion`) are weighted, which makes x 0 on average again.

A. T. Chaganty, S. Mussmann, P. Liang (2018): The price of debiasing automatic metrics in natural language evaluation.
ACL, 643-653. Control variates for human evaluation.
A. N. Angelopoulos, S. Bates, C. Fannjiang, M. I. Jordan, T. Zrnic (2023): Prediction-powered inference. Science 382,
669-674. T. Zrnic, E. J. Candès (2024): Cross-prediction-powered inference. PNAS 121. Slopes from other folds.
"""

from __future__ import annotations

from adjudge.rank.mixed.helpers.correction import Helped, help_design
from adjudge.rank.mixed.helpers.matching import Matched, match

__all__ = ["Helped", "Matched", "help_design", "match"]
