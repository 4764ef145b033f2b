"""Concepts that all stages share: judgments, comparisons, score sheets, protocols, errors, randomness."""
