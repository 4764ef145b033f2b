"""Comparisons of two systems: one per row, or counted."""
