"""The nouns that every stage shares: judgments, comparisons, score sheets, protocols, errors, randomness."""
