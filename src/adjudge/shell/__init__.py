"""The doors: one declaration per command gives the command line, the Python function, their checks and reference."""
