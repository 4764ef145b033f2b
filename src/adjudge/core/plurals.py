"""Numbers in sentences: `1 pair`, `2,000 pairs`, and verbs that agree with them."""

from __future__ import annotations


def counted(number: int, what: str, several: str | None = None) -> str:
    """`1 pair`, `2,000 pairs`; `several` is the plural where it takes more than an s."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {several or f'{what}s'}"


def agreeing(number: int, one: str, several: str) -> str:
    """The form of a verb or phrase for one, or for several: `is`, `are`."""
    return one if number == 1 else several
