"""What the server answers the organisers' page. The types of the page's scripts are made from this description."""

from datetime import datetime
from typing import Literal

from ninja import Schema


class LinkOut(Schema):
    """A new link: its secret is shown this once. `path` is to be put behind the server's address."""

    annotator: int
    name: str
    path: str


class DoneOut(Schema):
    """How many links or records were changed."""

    changed: int


class PanelIntervalOut(Schema):
    """An estimate with its interval, to be drawn."""

    label: str
    low: float
    estimate: float
    high: float
    settled: bool


class PanelOut(Schema):
    """A table of statistics of the judgments so far, and what is drawn above it."""

    title: str
    columns: list[str]
    rows: list[list[str]]
    note: str
    headline: str
    intervals: list[PanelIntervalOut]


class LinkStateOut(Schema):
    """Whether a link holds, and whether anybody has entered by it."""

    status: Literal["none", "valid", "revoked", "expired"]
    entered: datetime | None
    expires: datetime | None


class OtherLinkOut(LinkStateOut):
    """An organiser's link, or the crowd's."""

    id: int
    role: str
    label: str
    created: datetime


class AnnotatorOut(Schema):
    """A person as organisers see them."""

    id: int
    name: str
    excluded: bool
    tasks_finished: int
    screens: int
    judgments: int
    active_seconds: float
    faults: list[Literal["pace", "controls"]]
    controls_right: int
    controls: int
    last_save: datetime | None
    link: LinkStateOut


class DecisionOut(Schema):
    """A recorded decision about a person."""

    annotator: str
    excluded: bool
    reason: str
    who: str
    made: datetime


class CampaignHeadOut(Schema):
    """The campaign's name, protocol and policy of assignment."""

    name: str
    protocol: str
    policy: str


class ProgressOut(Schema):
    """How much is wanted, and how much is done."""

    tasks_wanted: int
    tasks_finished: int
    tasks_in_hand: int
    judgments_wanted: int
    judgments: int


class HourOut(Schema):
    """Saves with changes within an hour."""

    hour: str
    saves: int


class OverviewOut(Schema):
    """Progress, throughput, people and decisions."""

    campaign: CampaignHeadOut
    progress: ProgressOut
    throughput: list[HourOut]
    annotators: list[AnnotatorOut]
    decisions: list[DecisionOut]
    links: list[OtherLinkOut]
