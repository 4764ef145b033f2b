"""Checks of test sets: detectors of problems in source texts, versions, topics."""
