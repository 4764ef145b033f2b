"""Tables of any shape: loaded from CSV, Excel, JSON or Parquet, their columns told by name, their cells by type."""
