"""Examine an installation: everything that adjudge needs around it. `examine` is the function."""

from adjudge.doctor.examine import Examination, examine

__all__ = ["Examination", "examine"]
