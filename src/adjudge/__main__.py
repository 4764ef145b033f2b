"""`python -m adjudge` is the command `adjudge`."""

from adjudge.shell.app import command

if __name__ == "__main__":
    command()
