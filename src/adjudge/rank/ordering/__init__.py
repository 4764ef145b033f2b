"""The linear ordering problem: the cheapest order, where placing i before j costs `costs[i, j]` (whole numbers).

`insertion` finds good orders, `relaxation` proves lower bounds by linear programs, `odd_cuts` sharpens them,
`branch` closes the gap between the two, and `optima` tells what all cheapest orders have in common.
"""
