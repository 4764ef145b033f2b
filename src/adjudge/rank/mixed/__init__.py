"""`mixed`: system effects from scores by a mixed model, fitted by restricted maximum likelihood (REML).

    score = system + annotator + task + document + segment + system:document + page + residual

Systems are fixed; the rest are independent random intercepts, as far as the data can tell them apart. The segments of
one page are not independent judgments: page and system:document effects are what makes "significantly better" mean what
it says. `docs/mixed.md` says what each effect means and what was measured.

    design = design_from(judgments)
    model = fit(design)
    without_some = refit(design.subset(rows), model.ratios)

The equations are Henderson's; `layout` says in which order they are eliminated, `reml` how the variances are estimated,
and `ranking` what follows for the systems.

C. R. Henderson (1975): Best linear unbiased estimation and prediction under a selection model. Biometrics 31, 423-447.
"""

from __future__ import annotations

from adjudge.rank.mixed.design import MixedDesign, design_from
from adjudge.rank.mixed.fit import MixedFit, Prepared, fit, prepare, refit

__all__ = ["MixedDesign", "MixedFit", "Prepared", "design_from", "fit", "prepare", "refit"]
