"""Machine judges: asking a language model, and testing whether it may stand in for a person."""
