"""The nouns that every stage shares: judgments, comparisons, results, errors, randomness."""
