"""The one way in which a save is turned down."""

from __future__ import annotations


class Refused(Exception):  # noqa: N818 - it reads as what happened
    """A save that cannot be accepted, and why, in words for the annotator; `code` is for the page."""

    def __init__(self, reason: str, *, code: str = "refused") -> None:
        super().__init__(reason)
        self.code = code
