"""Gold standards, and what they say about metrics and quality estimation."""
