"""Tests of the shared nouns."""
