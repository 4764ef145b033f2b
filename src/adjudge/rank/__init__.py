"""Ranking systems: one module per method."""
