"""Evidence for a ranking, and the words of its verdict."""
