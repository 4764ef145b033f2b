"""Rankings of large files of comparisons, counted straight from their columns."""
