"""How many judgments a question needs, and simulated campaigns with a known truth."""
