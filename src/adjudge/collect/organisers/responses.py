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


class PanelRanksOut(Schema):
    """A system with the ranks that it may have, to be drawn."""

    label: str
    best: int
    worst: int
    of: int


class PanelBarOut(Schema):
    """A bar with its value in numbers and words; flagged ones need attention."""

    label: str
    value: float
    shown: str
    flagged: bool


class PanelOut(Schema):
    """Statistics of the judgments so far: a sentence, what is drawn, and the figures as a table."""

    title: str
    columns: list[str]
    rows: list[list[str]]
    note: str
    headline: str
    intervals: list[PanelIntervalOut]
    ranks: list[PanelRanksOut]
    bars: list[PanelBarOut]


class StatisticsOut(Schema):
    """Panels as they were computed last, and whether they are being computed anew."""

    panels: list[PanelOut]
    computed: datetime | None
    computing: bool


class LinkStateOut(Schema):
    """Whether a link is valid, and whether it has been used."""

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
    control_judgments: int
    active_seconds: float
    faults: list[Literal["pace", "controls"]]
    attention: list[Literal["pace", "controls", "idle", "expired"]]
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
    control_judgments: int


class CostOut(Schema):
    """Work so far: judgments count without controls, and the end is expected at the pace of the last week's saves."""

    active_seconds: float
    judgments_per_hour: float | None
    judgments_per_day: float | None
    expected_end: datetime | None


class HourOut(Schema):
    """Saves with changes within an hour."""

    hour: str
    saves: int


class OverviewOut(Schema):
    """Progress, throughput, people and decisions."""

    campaign: CampaignHeadOut
    progress: ProgressOut
    cost: CostOut
    throughput: list[HourOut]
    annotators: list[AnnotatorOut]
    decisions: list[DecisionOut]
    links: list[OtherLinkOut]
