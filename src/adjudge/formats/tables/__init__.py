"""Tables of any shape: loaded from CSV, Excel, JSON or Parquet, columns recognised by name, cells converted by type."""
