"""What a simulated campaign is made of: plain parameters, checked when they are given."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from adjudge.core.errors import UsageError

if TYPE_CHECKING:
    from adjudge.results.result import Setting


@dataclass(frozen=True, kw_only=True)
class RankingCampaign:
    """A campaign of relative rankings. Shares lie between 0 and 1, qualities are log-odds (Bradley-Terry)."""

    systems: int = 8
    """Machine systems; a human reference comes on top where `reference` is above 0."""
    annotators: int = 20
    blocks: int = 600
    """Screens judged in all, repeated ones included."""
    block_size: int = 5
    """Systems on a screen (fewer where there are fewer systems)."""
    documents: int = 20
    segments: int = 10
    """Segments of each document."""
    spread: float = 1.0
    """Standard deviation of the drawn qualities; ignored where `qualities` are given."""
    qualities: tuple[float, ...] | None = None
    """The qualities themselves, one per system."""
    ties: float = 0.5
    """Davidson's nu: two equal systems tie with probability ties / (2 + ties)."""
    reference: float = 0.2
    """Share of the blocks that hold the human reference."""
    reference_lead: float = 1.5
    """How far the reference lies above the best system."""
    uneven: float = 0.0
    """How strongly systems of similar strength are shown together: 0 is not at all, 1 is very."""
    careless: float = 0.0
    """Share of the annotators who click at random."""
    workload: float = 0.8
    """How unequal the annotators' shares of the work are (standard deviation of its logarithm)."""
    repeats: float = 0.05
    """Share of the blocks that the same annotator has judged before."""
    overlap: float = 0.2
    """Share of the blocks that a second annotator judges as well."""
    segment_spread: float = 2.0
    """How much a system's quality differs between segments (standard deviation): what annotators agree on."""
    taste: float = 1.0
    """How much an annotator's view of an output differs from others' (standard deviation), alike when it returns."""
    system_taste: float = 0.4
    """How much more, or less, an annotator likes a system than others do, on all its outputs (standard deviation). The
    default gives a fitted taste of about 0.15, the middle of 29 released campaigns of 2010 and 2011 (0 to 0.28)."""
    length_effect: float = 0.0
    """How much harder long source texts are: twice the length divides differences by 2 ** length_effect."""
    blanks: float = 0.0
    """Share of the labels left blank."""
    pair: str = "src-tgt"
    name: str = "simulated"

    def __post_init__(self) -> None:
        for name, low in (("systems", 1), ("annotators", 1), ("blocks", 1), ("documents", 1), ("segments", 1)):
            check_at_least(name, getattr(self, name), low)
        for name in ("reference", "careless", "repeats", "overlap", "blanks"):
            check_share(name, getattr(self, name))
        for name in (
            "spread",
            "ties",
            "uneven",
            "workload",
            "segment_spread",
            "taste",
            "system_taste",
            "length_effect",
        ):
            check_at_least(name, getattr(self, name), 0)
        check_at_least("block_size", self.block_size, 2)
        if self.block_size > MAX_BLOCK:
            raise UsageError(f"--block-size {self.block_size} is too large; show at most {MAX_BLOCK} systems together")
        if self.repeats + self.overlap > 0.9:
            both = f"{self.repeats:g} and {self.overlap:g}"
            raise UsageError(f"--repeats and --overlap are {both}; together they may be at most 0.9")
        if self.qualities is not None and len(self.qualities) != self.systems:
            raise UsageError(
                f"{len(self.qualities)} qualities were given for {self.systems} systems; give one for each"
            )
        if self.systems == 1 and self.reference == 0:
            raise UsageError("one system without a reference has nobody to be compared with; simulate at least two")

    def settings(self) -> dict[str, Setting]:
        """The parameters as settings of a result."""
        return settings_of(self, leave_out=("qualities",)) | {
            "qualities": None if self.qualities is None else ",".join(f"{quality:g}" for quality in self.qualities)
        }


MAX_BLOCK = 10


def settings_of(campaign: object, *, leave_out: tuple[str, ...] = ()) -> dict[str, Setting]:
    """The fields of a campaign that are plain values."""
    named = fields(campaign)  # type: ignore[arg-type]
    return {field.name: getattr(campaign, field.name) for field in named if field.name not in leave_out}


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")


def check_at_least(name: str, value: float, low: float) -> None:
    """Refuse a number that is too small, naming its option."""
    if not math.isfinite(value) or value < low:
        raise UsageError(f"{_option(name)} is {value:g}; at least {low:g} is needed")


def check_share(name: str, value: float) -> None:
    """Refuse what is no share, naming its option."""
    if not 0 <= value <= 1:
        raise UsageError(f"{_option(name)} is {value:g}; a share between 0 and 1 is needed")
