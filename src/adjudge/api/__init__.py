"""The verbs as a notebook or a script calls them, and the work that needs several stages, as a report does.

This room stands between the stages and the command line: it imports all stages, and only `cli` imports it.
"""
