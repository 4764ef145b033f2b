"""More tasks, systems, texts and people for a campaign that runs or has run, in one transaction.

What was judged stays as it is. Servers that run take the new tasks up by themselves (`server/processes.py`), and one
that starts with an earlier `tasks.json` replaces it by the tasks of the database.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adjudge.campaigns.campaign_file import Campaign, load_campaign
from adjudge.campaigns.design_report import measure_balance
from adjudge.campaigns.extension import BESIDE, Extension, extend_tasks
from adjudge.campaigns.results import Extended, ExtendedMeetings, ExtendedSystem, GivenLink
from adjudge.campaigns.tasks import TaskSet, parse_tasks, save_tasks, to_json
from adjudge.server import log
from adjudge.server.archives import known_migrations, open_database, read_migration
from adjudge.server.database import database_file, locate_database, show_database
from adjudge.server.serve import LinkFile, check_same_campaign
from adjudge.table.errors import DataError, InputError, UsageError, param
from adjudge.table.protocols import counted_kinds
from adjudge.table.wording import counted

if TYPE_CHECKING:
    from pathlib import Path


MOST_BESIDE = 100
USUAL_URL = "http://127.0.0.1:8000"
LOOK_KEYS = ("planned", "looks", "goal", "spending", "level")


@dataclass(frozen=True)
class LooksTaken:
    """The planned looks that were taken at a campaign: how many, by which plan, and how much was in at the last."""

    number: int
    plan: dict[str, Any]
    fraction: float


def extend(
    campaign_file: Path,
    *,
    judgments: int = 0,
    beside: float = BESIDE,
    dry_run: bool = False,
    database: str | None = None,
    base: str | None = None,
    links_file: Path | None = None,
    looks: LooksTaken | None = None,
) -> Extended:
    """Add to a campaign what its file has beyond the tasks so far.

    Args:
        campaign_file: the campaign, as it is wanted now.
        judgments: more judgments of the same texts and systems.
        beside: outputs of former systems for each of a new one.
        dry_run: whether only to say what would be added.
        database: its database; default: the one that it is served from.
        base: the address that new links begin with; default: that of the server that runs, or the usual one.
        links_file: where new links are written, instead of the result.
        looks: the planned looks that were taken so far.
    """
    if judgments < 0:
        raise UsageError(f"{param('judgments')} is {judgments}; give how many more are wanted")
    if not 0 <= beside <= MOST_BESIDE:
        raise UsageError(f"{param('beside')} is {beside:g}; give a number from 0 to {MOST_BESIDE}")
    campaign = load_campaign(campaign_file)
    chosen, _ = locate_database(campaign_file, database, "; change it, and serve it as it is")
    where = show_database(chosen, database_file(campaign_file))
    with open_database(chosen, database_file(campaign_file)) as connection:
        if read_migration(connection, where) != max(known_migrations()):
            raise InputError("is of an earlier version; restart adjudge serve, which upgrades it", file=where)
        from adjudge.server.models import Annotator, Campaign, Draw

        row = Campaign.objects.using(connection.alias).first()
        if row is None:
            raise InputError("has not been served yet; change it, and serve it as it is", file=campaign_file)
        stored = parse_tasks(row.tasks, "the database")
        people = Annotator.objects.using(connection.alias).filter(excluded=True)
        excluded = set(people.values_list("name", flat=True))
        check_same_campaign(stored, campaign, campaign_file)
        extension = extend_tasks(campaign, stored, judgments=judgments, beside=beside, excluded=excluded)
        _check_extension(extension, campaign)
        notes = _check_looks(campaign, stored, extension, looks)
        if campaign.looks is None and extension.added and campaign_file.with_name("looks.start.json").exists():
            notes.append(
                "the ranks of the organisers' page, which hold at any time, begin anew with the larger plan: their "
                "confidence holds before and after, each by itself"
            )
        if extension.systems and Draw.objects.using(connection.alias).exists():
            raise DataError(
                "files.systems has new systems, but tasks were drawn by the policy for the former ones, and the draws "
                "could not be made again from their log; judge new systems in a campaign of their own"
            )
        links: list[GivenLink] = []
        if not dry_run:
            from adjudge.server.processes import url_of_server

            base = base or url_of_server(connection.alias) or USUAL_URL
            links = _store(connection.alias, campaign, stored, extension, base=base, links_file=links_file)
            try:
                save_tasks(extension.tasks, campaign_file.with_name("tasks.json"))
            except InputError as fault:
                # The database holds the extension by now, and new links are shown only once: neither may be lost.
                notes.append(
                    f"the campaign is extended, but {fault.for_command_line()}; the next "
                    "start of adjudge serve writes it"
                )
    return _describe_extension(
        campaign, stored, extension, notes, links, dry_run=dry_run, judgments=judgments, beside=beside
    )


def _check_extension(extension: Extension, campaign: Campaign) -> None:
    if not extension.added and not extension.annotators:
        raise DataError(
            "there is nothing to add: the campaign file has no annotators, systems or texts that the tasks lack; add "
            f"them there, or ask for more judgments of the same texts with {param('judgments')}"
        )
    if extension.annotators and not extension.added and campaign.assignment.policy == "fixed":
        raise DataError(
            'with assignment.policy = "fixed", new annotators have nothing to judge without new tasks; ask for some '
            f"with {param('judgments')}, or add people on the organisers' page, who stand in for those who are excluded"
        )


def _check_looks(campaign: Campaign, stored: TaskSet, extension: Extension, taken: LooksTaken | None) -> list[str]:
    """What the extension means for planned looks; where it would make them invalid, it is refused."""
    plan = campaign.looks
    if taken is not None:
        last = f"look {taken.number} was taken"
        changed = [key for key in LOOK_KEYS if plan is None or getattr(plan, key) != taken.plan.get(key)]
        if changed:
            raise DataError(
                f"looks.{changed[0]} was changed after {last}, and boundaries that were used cannot be moved; put "
                "[looks] back as it was"
            )
        if extension.systems:
            raise DataError(
                f"new systems cannot join after {last}: claims about them had no share of the level; judge them in a "
                "campaign of their own, with the former systems beside them"
            )
    if plan is None:
        return []
    kinds = counted_kinds(stored.protocol)
    before, after = (
        sum(
            task.judgments
            for task in tasks.tasks
            if task.kind == "work"
            for _, _, output in task.outputs()
            if output.kind in kinds
        )
        for tasks in (stored, extension.tasks)
    )
    if after > before >= plan.planned:
        how = "begin a new campaign" if taken is not None else "raise looks.planned, before the first look is taken"
        raise DataError(
            f"the tasks hold {before:,} judgments, and planned looks end at looks.planned = {plan.planned:,}, so that "
            f"more would count at no look; {how}"
        )
    at = "" if taken is None else f" At the last look, {taken.fraction:.0%} of the planned information was in."
    share = f"look i of {plan.looks} comes at i / {plan.looks} of them"
    notes = [f"the plan of looks stays: {plan.planned:,} judgments are all of the information, and {share}.{at}"]
    if after > plan.planned:
        beyond = counted(after - plan.planned, "judgment")
        notes.append(f"the tasks then hold {after:,} judgments; {beyond} beyond the plan count at no planned look")
    return notes


def _store(
    alias: str, campaign: Campaign, stored: TaskSet, extension: Extension, *, base: str, links_file: Path | None
) -> list[GivenLink]:
    """Write the tasks, the people and their links; returns the links where no file was named for them."""
    from django.db import transaction
    from django.utils import timezone

    from adjudge.server.models import Annotator, Campaign, Link
    from adjudge.server.preparation import NewLink, address, extend_settings, make_link

    file = None if links_file is None else LinkFile(links_file, base)
    links: list[NewLink] = []
    with transaction.atomic(using=alias):
        row = Campaign.objects.using(alias).select_for_update().get()
        if parse_tasks(row.tasks, "the database").fingerprint != stored.fingerprint:
            raise DataError("the campaign was extended by somebody else just now; look at it and try again")
        row.settings = extend_settings(row, campaign)
        row.tasks, row.fingerprint = to_json(extension.tasks), extension.tasks.fingerprint
        row.save(using=alias)
        log.enter(log.TASKS, row.fingerprint, [row.fingerprint, len(extension.tasks.tasks)], using=alias)
        for name in extension.annotators:
            person, _ = Annotator.objects.using(alias).get_or_create(name=name, defaults={"created": timezone.now()})
            if not Link.objects.using(alias).filter(annotator=person).exists():
                secret = make_link(days=campaign.links.lifetime_days, annotator=person, using=alias)
                links.append(NewLink("annotator", name, secret))
        if file is not None:
            file.add(links)
    return [] if file is not None else [GivenLink(link.name, address(link.secret, base)) for link in links]


def _describe_extension(
    campaign: Campaign,
    stored: TaskSet,
    extension: Extension,
    notes: list[str],
    links: list[GivenLink],
    *,
    dry_run: bool,
    judgments: int,
    beside: float,
) -> Extended:
    before, after = measure_balance(stored, campaign), measure_balance(extension.tasks, campaign)
    former = {row.system: (row.judgments, row.segments) for row in before.systems}
    meetings = {row.where: (row.least, row.most, row.cv) for row in before.meetings}
    if campaign.assignment.policy == "pool" and judgments:
        notes = [*notes, "in a pool, people get tasks whose texts they have not met first, as long as there are any"]
    return Extended(
        settings={
            "judgments": judgments or None,
            "beside": beside if extension.systems else None,
            "dry_run": dry_run,
            "seed": campaign.seed,
        },
        data=extension.tasks.fingerprint,
        notes=tuple(notes),
        campaign=campaign.name,
        dry_run=dry_run,
        tasks_before=before.tasks,
        tasks_added=tuple(task.id for task in extension.added),
        judgments_before=before.judgments,
        judgments_added=after.judgments - before.judgments,
        controls_added=after.control_judgments - before.control_judgments,
        annotators=extension.annotators,
        new_systems=extension.systems,
        new_segments=extension.segments,
        systems=tuple(
            ExtendedSystem(row.system, row.human, judgments, row.judgments, segments, row.segments)
            for row in after.systems
            for judgments, segments in [former.get(row.system, (0, 0))]
        ),
        meetings=tuple(
            ExtendedMeetings(row.where, *meetings.get(row.where, (0, 0, None)), row.least, row.most, row.cv)
            for row in after.meetings
        ),
        links=tuple(links),
    )
