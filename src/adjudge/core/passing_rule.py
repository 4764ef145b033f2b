"""The rule for passing during a campaign: enough controls answered correctly, at a plausible pace.

It is used for completion codes and on the organisers' page. `adjudge check` uses the same rule for pace, but tests
controls differently (`check.control_pairs`): over all judgments of a person, a paired test asks whether degraded
outputs got lower scores. A completion code is given after a few controls, which are too few for a test.
"""

from __future__ import annotations

from dataclasses import dataclass

LEAST_SECONDS = 1.0
"""Nobody can read a source and its translation and judge it in less than a second on average."""
PASS_SHARE = 0.5
"""The default share of controls that must be answered correctly."""
FEW_JUDGMENTS = 5
"""With fewer judgments than this, the pace is not judged."""


@dataclass(frozen=True)
class Work:
    """What one person has done: judgments, active seconds spent on them, and controls answered correctly, of how many.

    `active_seconds` is None if time was not measured.
    """

    judgments: int
    active_seconds: float | None
    controls_right: int = 0
    controls: int = 0

    def is_too_fast(self, least_seconds: float = LEAST_SECONDS) -> bool:
        """Whether judgments took less than `least_seconds` on average."""
        if self.active_seconds is None or self.judgments < FEW_JUDGMENTS:
            return False
        return self.active_seconds < least_seconds * self.judgments

    def missed_controls(self, pass_share: float = PASS_SHARE) -> bool:
        """Whether fewer than `pass_share` of the controls were answered correctly. Without controls nobody fails."""
        return self.controls_right < pass_share * self.controls

    def faults(self, *, pass_share: float = PASS_SHARE, least_seconds: float = LEAST_SECONDS) -> tuple[str, ...]:
        """List why the work does not pass: `pace`, `controls`; nothing if it passes."""
        pace = ("pace",) if self.is_too_fast(least_seconds) else ()
        return (*pace, *(("controls",) if self.missed_controls(pass_share) else ()))
