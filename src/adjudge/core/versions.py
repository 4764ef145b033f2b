"""Names of the two versions of a test set, as it was and as corrected, in tasks and in judgments."""

from __future__ import annotations

VERSION, BEFORE, AFTER = "version", "before", "after"
CORRECTED = "corrected"
"""Column that says whether the source of a segment differs between the versions."""
