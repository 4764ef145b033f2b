"""Claims: every statement of a ranking, with its evidence and the trials it survives."""
