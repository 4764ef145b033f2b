"""Fits at known ratios of variances, by cells of rows: for audits that refit a model hundreds of times.

`cells` groups the rows, `model` fits them, with `blocks` and `projection` for the algebra. `large_model` and
`large_blocks` do the same for campaigns with too many annotators or pairs of cells for dense matrices.
"""
