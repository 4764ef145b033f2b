"""The sections of a pair's page: one file each, a function from its results to a `Section`, or None."""
