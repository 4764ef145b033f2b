"""A fingerprint of scores, for the signature."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from adjudge.formats.metric_scores import MetricScore


def fingerprint(scores: Iterable[MetricScore]) -> str:
    """Twelve hexadecimal digits that identify the scores, whatever their order."""
    lines = sorted(f"{one.metric}\t{one.system}\t{one.segment}\t{one.document}\t{one.score}" for one in scores)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]
