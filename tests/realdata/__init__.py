"""Published numbers from released files."""
