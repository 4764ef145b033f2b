"""Rendering of results. Nothing is computed here."""
