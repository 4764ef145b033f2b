"""Checks of the people who judged: agreement, and what each annotator's judgments are worth."""

from adjudge.check.agreement import agree
from adjudge.check.annotators import CheckRule, check
from adjudge.check.source_texts import read_source_texts

__all__ = ["CheckRule", "agree", "check", "read_source_texts"]
