"""What a simulated campaign of scores is made of: plain parameters, checked when they are given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adjudge.core.errors import UsageError
from adjudge.simulate.ranking_campaign import check_at_least, check_share, settings_of

if TYPE_CHECKING:
    from adjudge.results.result import Setting


@dataclass(frozen=True, kw_only=True)
class ScoreCampaign:
    """A campaign of scores from 0 to 100 (direct assessment).

    Effects are standard deviations in points, before the scale's ends cut them; the defaults are of the size that a
    mixed model finds in large shared tasks.
    """

    systems: int = 8
    humans: int = 1
    """Human translations that are judged like systems."""
    annotators: int = 30
    tasks: int = 60
    """Units of work handed out, each to one annotator."""
    task_size: int = 100
    """Judgments in a task, controls included (approximately, where whole documents are judged)."""
    documents: int = 30
    segments: int = 8
    """Segments of a document on average; documents hold half to one and a half of it."""
    context: bool = True
    """Whole documents by one system on a page; otherwise single segments, the same number by every system in a task."""
    controls: float = 0.3
    """Share of a task that is controls: degraded outputs, repeats and references, in equal parts."""
    mean: float = 75.0
    spread: float = 4.0
    """Of the systems' drawn qualities; ignored where `qualities` are given."""
    qualities: tuple[float, ...] | None = None
    """Points above or below the mean, one per machine system."""
    human_lead: float = 3.0
    """Points by which human translations and references lie above the best system."""
    degradation: float = 25.0
    """Points that a degraded output loses on average."""
    leniency: float = 10.0
    """Of annotators: some give high scores, some low ones."""
    taste: float = 3.0
    """Of how much more, or less, an annotator likes a system than others do. `mixed-points` finds 1.8 to 6.0 points in
    ten released sets from 0 to 100 with ten people or more (news 2021, ESA 2024, ESA study), 2.7 in the middle."""
    scale: float = 0.3
    """Of the logarithm of annotators' use of the scale: some spread their scores wide, some narrowly. In the same sets
    the residuals of annotators vary by .16 to .38."""
    task_effect: float = 5.0
    document_effect: float = 2.0
    segment_effect: float = 6.0
    system_document_effect: float = 4.0
    page_effect: float = 3.0
    residual: float = 18.0
    careless: float = 0.0
    """Share of the annotators whose scores have nothing to do with what they see."""
    workload: float = 0.5
    """How unequal the annotators' shares of the work are (standard deviation of its logarithm)."""
    round_numbers: float = 0.3
    """Share of the annotators who give multiples of 5 or 10."""
    ends: bool = True
    """Whether scores are whole numbers from 0 to 100; otherwise they are kept as drawn."""
    pair: str = "src-tgt"
    name: str = "simulated"

    def __post_init__(self) -> None:
        for name in ("systems", "annotators", "tasks", "documents", "segments"):
            check_at_least(name, getattr(self, name), 1)
        for name in ("humans", "spread", "leniency", "taste", "scale", "task_effect", "document_effect",
                     "segment_effect", "system_document_effect", "page_effect", "residual", "workload"):  # fmt: skip
            check_at_least(name, getattr(self, name), 0)
        for name in ("careless", "round_numbers"):
            check_share(name, getattr(self, name))
        check_at_least("task_size", self.task_size, 1)
        if not 0 <= self.controls <= 0.9:
            raise UsageError(f"--controls is {self.controls:g}; a share between 0 and 0.9 is needed")
        if self.qualities is not None and len(self.qualities) != self.systems:
            raise UsageError(
                f"{len(self.qualities)} qualities were given for {self.systems} systems; give one for each"
            )
        if self.systems + self.humans < 2:
            raise UsageError("one system has nobody to be compared with; simulate at least two")

    def settings(self) -> dict[str, Setting]:
        """The parameters as settings of a result."""
        given = None if self.qualities is None else ",".join(f"{quality:g}" for quality in self.qualities)
        return settings_of(self, leave_out=("qualities",)) | {"qualities": given}
