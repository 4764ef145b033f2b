"""Rankings of large files, counted straight from their columns: scores in CSV and Parquet, and comparisons."""
