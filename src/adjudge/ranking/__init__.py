"""The ranking methods and what they share: estimates, significance, lines and rank sets, tournaments."""
