"""What audits are made with. Every section uses the settings that concern it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adjudge.core.rng import DEFAULT_SEED

if TYPE_CHECKING:
    from adjudge.core.judgments import Judgments


@dataclass(frozen=True)
class AuditSettings:
    """Settings of all sections."""

    method: str | None = None
    """The method whose scores are audited; where left out, `wins-or-ties` for rankings."""
    lines: str | None = None
    """Rule for lines between clusters, where a section draws them; `scipy-1.6` for stability where left out."""
    margin: float = 3.0
    """Systems no further apart than so many points count as equal, where parity with a human is claimed."""
    edits: Judgments | None = None
    """Post-edits, where they are not among the judgments; of any language pairs, the one audited is picked."""
    acceptability: Judgments | None = None
    """Judgments of post-edits, where they are not among the judgments; likewise."""
    seed: int = DEFAULT_SEED
