"""`mixed`: system effects from scores by a mixed model, fitted by restricted maximum likelihood (REML).

    score = system + annotator + annotator:system + task + document + segment + system:document
            + annotator:document + annotator:segment + page + residual

Systems are fixed; the rest are independent random intercepts, as far as the data can tell them apart. Where there are
no documents, system:segment stands for system:document. What one person thinks of a document or segment is told from
the rest where people judge several systems of it, as on contrastive screens. The segments of one page are not
independent judgments, and a few people's tastes are not the quality of a system: page and system:document effects, and
annotator:system, are what makes "significantly better" mean what it says for other pages and for other annotators.
`docs/mixed.md` says what each effect means and what was measured.

    design = design_from(judgments)                # or model="mixed-points", see `design.MODELS`
    model = fit(design)                            # effects, covariance, df, components, ratios
    compared = contrasts(model.effects, model.covariance, model.df)
    without_some = refit(design.subset(rows), model.ratios)

The equations are Henderson's: `layout` orders them, `equations` and `border` eliminate them, `fit` estimates the
variances (`draws` in large campaigns). `model` is the door for audits: it makes further fits at the same variances
(`leaving_out`, and `large_leaving_out` in large campaigns).

C. R. Henderson (1975): Best linear unbiased estimation and prediction under a selection model. Biometrics 31, 423-447.
"""
