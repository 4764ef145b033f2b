"""Base of all parts of the campaign file."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Part(BaseModel):
    """Unknown keys are faults, nothing is converted silently, nothing changes later."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
