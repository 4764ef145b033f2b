"""Where the entry point of an installed package finds the command line, which is `shell.app`."""

from adjudge.shell.app import command, main

__all__ = ["command", "main"]
