"""The record of a campaign as its export carries it: design, policy, looks, exclusions, one count of judgments."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import polars as pl
from django.db.models import Max

from adjudge._version import __version__
from adjudge.server.models import Campaign, Decision, Entry, Save
from adjudge.server.served_campaign import get_served
from adjudge.table.protocols import KINDS
from adjudge.table.record import CampaignRecord, Exclusion, LooksRecord, count_answers

if TYPE_CHECKING:
    from adjudge.table.judgments import Judgments


def make_record(judgments: Judgments, looks: LooksRecord | None) -> CampaignRecord:
    """The record of the campaign that is served, up to now; `looks` are those that were taken, if any."""
    served, stored = get_served(), Campaign.objects.get()
    tasks, campaign = served.tasks, served.campaign
    work = [placed for task in tasks.tasks if task.kind == "work" for placed in task.outputs()]
    controls = Counter(output.kind for _, _, output in work if KINDS[output.kind].control)
    kept = judgments.select(~pl.col("excluded"))
    planned = campaign.looks
    if looks is None and planned is not None:
        looks = LooksRecord(
            planned.planned, planned.looks, planned.goal, planned.spending, planned.level, people=planned.people
        )
    adaptive = None
    if campaign.adaptive is not None:
        adaptive = {**campaign.adaptive.model_dump(mode="json"), "seed": campaign.seed}
    last_save = Save.objects.aggregate(last=Max("received"))["last"]
    last = Entry.objects.order_by("-number").values_list("number", "digest").first()
    return CampaignRecord(
        campaign=tasks.campaign,
        protocol=tasks.protocol,
        source_lang=tasks.source_lang,
        target_lang=tasks.target_lang,
        scale=stored.scale,
        systems=tuple(tasks.systems),
        human=tuple(tasks.human),
        documents=len({screen.document for screen, _, _ in work}),
        segments=len({(screen.document, item.segment) for screen, item, _ in work}),
        tasks=sum(task.kind == "work" for task in tasks.tasks),
        outputs=max((len(item.outputs) for _, item, _ in work), default=0),
        controls={kind: controls[kind] for kind in KINDS if controls[kind]},
        assignment=campaign.assignment.policy,
        adaptive=adaptive,
        annotators=kept.table["annotator"].n_unique(),
        counts=count_answers(kept.final().table),
        begun=stored.created.isoformat(timespec="seconds"),
        last_save="" if last_save is None else last_save.isoformat(timespec="seconds"),
        version=__version__,
        fingerprint=stored.fingerprint,
        looks=looks,
        least_seconds=campaign.crowd.least_seconds,
        exclusions=tuple(
            Exclusion(name, excluded, reason, who, made.isoformat(timespec="seconds"))
            for name, excluded, reason, who, made in Decision.objects.order_by("made", "pk").values_list(
                "annotator__name", "excluded", "reason", "who", "made"
            )
        ),
        log={"entries": 0, "digest": ""} if last is None else {"entries": last[0], "digest": last[1]},
    )
