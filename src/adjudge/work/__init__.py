"""Repeated work: map a function over independent tasks on all cores or a cluster, keep results, show progress.

    with workers(jobs=4):
        rates = map_tasks(rate_of_split, range(1000), what="A/A splits")

A task draws its chance from its own seed, never from the worker that does it, so that the results are the same bytes
for every number of workers.
"""
