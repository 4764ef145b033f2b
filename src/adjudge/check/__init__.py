"""Checks of the people who judged: agreement, and what each annotator's judgments are worth."""

from adjudge.check.agreement import agree
from adjudge.check.source_texts import read_source_texts

__all__ = ["agree", "read_source_texts"]
