"""The linear ordering problem: the cheapest order, where placing i before j costs `costs[i, j]` (whole numbers).

`insertion` finds good orders, `population` better ones where that is hard. `packing` proves quick lower bounds,
`relaxation` better ones by linear programs, and `odd_cuts` sharpens those. `branch` closes the gap between the two.
`optima` tells what all cheapest orders have in common, and `counting` counts them.
"""
