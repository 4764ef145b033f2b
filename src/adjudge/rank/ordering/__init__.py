"""The linear ordering problem: the cheapest order, where placing i before j costs `costs[i, j]` (whole numbers).

`heuristics` finds good orders. `cheapest` proves which order is cheapest. `optima` tells what all cheapest orders have
in common, and counts them.
"""
