"""The verbs as a notebook or a script calls them, and the work that needs several stages, as a report does.

These modules stand between the stages and the command line: they import all stages; only `cli` and the package itself
import them.
"""
