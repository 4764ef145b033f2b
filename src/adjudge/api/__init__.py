"""The functions of the Python interface, and work that needs several stages, such as a report.

These modules are between the stages and the command line: they import all stages, and only `cli` and the package itself
import them.
"""
