"""Metrics and quality estimation compared with human judgments."""
