"""Relative judgments in plain files: ranks in tables or one per line, comparisons of two systems, and their labels."""
