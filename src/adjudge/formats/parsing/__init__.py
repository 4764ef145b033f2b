"""What readers share: delimited and spaced tables, JSON lines, names of files, columns of error spans."""
