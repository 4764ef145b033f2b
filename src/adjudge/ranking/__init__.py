"""Estimates of systems: what they are, and who makes them from scores or from relative judgments."""
