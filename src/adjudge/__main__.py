"""`python -m adjudge` is the command `adjudge`."""

from adjudge.cli import command

if __name__ == "__main__":
    command()
