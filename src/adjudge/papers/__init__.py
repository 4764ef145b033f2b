"""Tables and figures of papers, recomputed from released data."""
