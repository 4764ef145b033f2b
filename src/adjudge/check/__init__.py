"""Check the people who judged: controls, repeats, pace, copied answers. `check` is the main function."""

from adjudge.check.annotators import CheckRule, check

__all__ = ["CheckRule", "check"]
