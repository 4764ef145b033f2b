"""The linear ordering problem: the cheapest order, where placing i before j costs `costs[i, j]` (whole numbers).

`heuristics` finds good orders. `relaxation` proves lower bounds by packing cycles and by linear programs, and
`odd_cuts` sharpens them. `branch` closes the gap between the two. `optima` tells what all cheapest orders have in
common, and counts them.
"""
