"""Filling a new database: the campaign with its tasks, the annotators, and everybody's link."""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import dataclass
from datetime import timedelta
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from django.db import DEFAULT_DB_ALIAS
from django.utils import timezone

from adjudge.campaigns.campaign_file import Campaign as CampaignFile
from adjudge.campaigns.campaign_file import named_annotators
from adjudge.campaigns.tasks import TaskSet, parse_tasks, to_json
from adjudge.server import log
from adjudge.server.database import write_transaction
from adjudge.server.models import Annotator, Assignment, Campaign, Draw, Link, Save
from adjudge.table.errors import DataError
from adjudge.table.judgments import fingerprint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from django.db.models import QuerySet


# Personal links: an unguessable secret whose hash alone is stored, that expires and can be revoked or renewed.

SECRET_BYTES = 32
_MOST_OF_SCALE = 100  # characters that the database has for the scale
NAME_LENGTH = 200


def make_link(
    *,
    days: int,
    annotator: Annotator | None = None,
    role: str = "annotator",
    label: str | None = None,
    secret: str | None = None,
    using: str = DEFAULT_DB_ALIAS,
) -> str:
    """Make a link, labelled by the annotator's name; returns its secret, which is not stored: it is shown only now."""
    secret = secret or secrets.token_urlsafe(SECRET_BYTES)
    now = timezone.now()
    Link.objects.using(using).create(
        role=role,
        annotator=annotator,
        label=label or (annotator.name if annotator is not None else role),
        secret_hash=_hash(secret),
        created=now,
        expires=now + timedelta(days=days),
    )
    return secret


def find_link(secret: str) -> Link | None:
    """The link with this secret, if it still holds."""
    return valid_links().select_related("annotator").filter(secret_hash=_hash(secret)).first()


def valid_links() -> QuerySet[Link]:
    """Links that are neither revoked nor expired."""
    return Link.objects.filter(revoked__isnull=True, expires__gt=timezone.now())


def revoke_links(annotator: Annotator) -> int:
    """Revoke every link of a person; sessions that came by them end at once."""
    return Link.objects.filter(annotator=annotator, revoked__isnull=True).update(revoked=timezone.now())


def address(secret: str, base: str) -> str:
    """The link as handed out. The secret stands behind `#`, which browsers send to no server and no proxy logs."""
    return f"{base.rstrip('/')}/enter#{secret}"


def _hash(secret: str) -> str:
    # The secret has 256 random bits: a plain hash cannot be reversed by trying, and needs no salt.
    return hashlib.sha256(secret.encode()).hexdigest()


# Keys of the settings that the database stores: who judges, the tasks that the campaign began with, and, as the
# beginning of several keys, the policy by which tasks are drawn.
PEOPLE = "design.annotators"
FIRST_TASKS = "first_tasks"
POLICY = "adaptive."
OVERVIEW = "overview"
"""The role of a new link that is an organiser's in all campaigns of a server."""


@dataclass(frozen=True)
class NewLink:
    """A link that was just made: the only time its secret is known."""

    role: str
    name: str
    secret: str


def new_shared_link() -> NewLink:
    """A link for the organisers of all campaigns of a server, each of which stores its hash."""
    label = f"organiser of all campaigns, made {timezone.now():%Y-%m-%d %H:%M} UTC"
    return NewLink(OVERVIEW, label, secrets.token_urlsafe(SECRET_BYTES))


def load_stored_tasks() -> TaskSet | None:
    """The tasks as stored when the campaign began."""
    campaign = Campaign.objects.first()
    return None if campaign is None else parse_tasks(campaign.tasks, "the database")


def prepare_database(
    campaign: CampaignFile,
    tasks: TaskSet,
    *,
    new_links: bool = False,
    shared: NewLink | None = None,
    write_down: Callable[[list[NewLink]], None] | None = None,
) -> list[NewLink]:
    """Make the database hold this campaign; returns the links that were made.

    Annotators' links and the crowd's are made once, or anew with `new_links`; an organiser's link at every start,
    because no secret can be shown twice. `shared` is a link that organisers use in several campaigns, and that
    is written down already. `write_down` gets the links before they hold: where it fails, none was made.
    """
    with write_transaction():
        stored = Campaign.objects.select_for_update().first() or Campaign(created=timezone.now())
        begun = Save.objects.exists()
        changed_tasks = _store_tasks(stored, campaign.name, tasks, begun=begun)
        _store_scale(stored, campaign, begun=begun)
        if changed_tasks or not stored.settings:
            stored.settings = json.dumps(list_design_settings(campaign))
        joining = _find_joining(stored, campaign)
        _store_policy(stored, campaign)
        stored.save()
        if changed_tasks:
            log.enter(log.TASKS, stored.fingerprint, [stored.fingerprint, len(tasks.tasks)])
        people = dict.fromkeys((*tasks.annotators, *joining))
        links = _make_links(campaign, people, renew=new_links)
        if write_down is not None:
            write_down(links)
        if shared is not None:
            make_link(role="organiser", label=shared.name, days=campaign.links.lifetime_days, secret=shared.secret)
            links.append(shared)
        return links


def campaign_id() -> str:
    """The name under which browsers keep unsent answers: it stays the same when tasks are added."""
    stored = Campaign.objects.get()
    return str(json.loads(stored.settings or "{}").get(FIRST_TASKS, stored.fingerprint))


def extend_settings(stored: Campaign, campaign: CampaignFile) -> str:
    """The settings to store after tasks were added: what all are made from, and which tasks were the first."""
    before = json.loads(stored.settings or "{}")
    kept = {key: value for key, value in before.items() if key.startswith(POLICY)}
    first = before.get(FIRST_TASKS, stored.fingerprint)
    return json.dumps({**list_design_settings(campaign), **kept, FIRST_TASKS: first})


def list_design_settings(campaign: CampaignFile) -> dict[str, Any]:
    """The keys of the campaign file that the tasks are made from, and that change nothing once there are tasks."""

    def flatten(key: str, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            # A campaign may lie in another folder by now.
            return {key: PurePath(value).name if key.startswith("files.") and isinstance(value, str) else value}
        return {name: part for inner in value for name, part in flatten(f"{key}.{inner}", value[inner]).items()}

    whole = campaign.model_dump(mode="json", include={"seed", "files", "design", "context", "controls"})
    return {name: value for part in whole for name, value in flatten(part, whole[part]).items()}


def find_ineffective_keys(campaign: CampaignFile) -> list[str]:
    """Keys that were changed since the tasks were made, and take effect only in tasks that are made anew."""
    stored = Campaign.objects.first()
    if stored is None or not stored.settings:
        return []
    before, now = json.loads(stored.settings), list_design_settings(campaign)
    keys = [key for key in before.keys() | now.keys() if not key.startswith(POLICY) and key != FIRST_TASKS]
    return sorted(key for key in keys if before.get(key) != now.get(key))


def _store_tasks(stored: Campaign, name: str, tasks: TaskSet, *, begun: bool) -> bool:
    """Store the tasks; returns whether they are others than before."""
    # Parsed again, because a later version of adjudge may write the same tasks in another form.
    if stored.tasks and parse_tasks(stored.tasks, "the database").fingerprint == tasks.fingerprint:
        return False
    if begun:
        raise DataError(
            f"the tasks have changed since judging began (stored {stored.fingerprint}, now {tasks.fingerprint}); "
            "put the former tasks.json back, or begin a new campaign with a new database"
        )
    stored.name, stored.tasks, stored.fingerprint = name, to_json(tasks), tasks.fingerprint
    # Somebody may have opened a task already; without an answer there is nothing to keep of it.
    Assignment.objects.all().delete()
    return True


def _find_joining(stored: Campaign, campaign: CampaignFile) -> list[str]:
    """People whom the campaign file names besides those for whom the tasks were made: they join a pool.

    Other changes of who judges are refused, because they would have no effect.
    """
    settings = json.loads(stored.settings)
    before, now = settings.get(PEOPLE), list_design_settings(campaign)[PEOPLE]
    names = campaign.design.annotator_names
    if PEOPLE not in settings or before == now:
        return list(Annotator.objects.filter(name__in=names).order_by("pk").values_list("name", flat=True))
    known = named_annotators(before if isinstance(before, int) else tuple(before))
    gone = [name for name in known if name not in names]
    if gone:
        raise DataError(
            f"design.annotators no longer names {', '.join(gone[:5])}, for whom tasks were made; put the key back, and "
            "exclude people on the organisers' page"
        )
    if campaign.assignment.policy != "pool":
        raise DataError(
            "design.annotators names people who were not there when everybody's tasks were made; put the key back, and "
            "add people on the organisers' page, who stand in for those who are excluded"
        )
    stored.settings = json.dumps({**settings, PEOPLE: now})
    return list(names)


def _store_policy(stored: Campaign, campaign: CampaignFile) -> None:
    """Store the policy by which tasks are drawn. Once some were, it cannot change: the draws could not be replayed."""
    settings = json.loads(stored.settings)
    before = {key: value for key, value in settings.items() if key.startswith(POLICY)}
    now = {}
    if campaign.adaptive is not None:
        policy = {**campaign.adaptive.model_dump(mode="json"), "seed": campaign.seed}
        now = {f"{POLICY}{key}": value for key, value in policy.items()}
    if before and before != now and Draw.objects.exists():
        changed = sorted(key for key in before.keys() | now.keys() if before.get(key) != now.get(key))
        raise DataError(
            f"{', '.join(changed)} changed after tasks were drawn, and the draws could not be made again from their "
            "log; put the campaign file back as it was, or begin a new campaign with a new database"
        )
    others = {key: value for key, value in settings.items() if key not in before}
    stored.settings = json.dumps({**others, **now})


def _store_scale(stored: Campaign, campaign: CampaignFile, *, begun: bool) -> None:
    now = _describe_scales(campaign)
    if begun and stored.scale not in ("", now):
        raise DataError(
            f"the scale has changed since judging began (it was {stored.scale}, now it is {now}), and scores on two "
            "scales cannot be mixed; put the former [scale] back, or begin a new campaign with a new database"
        )
    stored.scale = now


def _describe_scales(campaign: CampaignFile) -> str:
    """What scores are given on, in words that the database has room for; of many criteria with a digest."""
    scales = []
    for asked in campaign.asked:
        scale = f"{asked.scale.low:g} to {asked.scale.high:g} by {asked.scale.step:g}"
        scales.append(f"{asked.name} ({asked.of}) {scale}" if asked.name else scale)
    if campaign.page.rank_labels:
        scales.append(f"labels {', '.join(campaign.page.rank_labels)}")
    text = "; ".join(scales)
    return text if len(text) <= _MOST_OF_SCALE else f"{text[: _MOST_OF_SCALE - 15]}... {fingerprint(text)}"


def _make_links(campaign: CampaignFile, people: Iterable[str], *, renew: bool) -> list[NewLink]:
    days, now = campaign.links.lifetime_days, timezone.now()
    links: list[NewLink] = []
    for name in people:
        annotator, _ = Annotator.objects.get_or_create(name=name, defaults={"created": now})
        if renew:
            revoke_links(annotator)
        if renew or not Link.objects.filter(annotator=annotator).exists():
            links.append(NewLink("annotator", name, make_link(days=days, annotator=annotator)))
    label = f"organiser, made {now:%Y-%m-%d %H:%M} UTC"
    links.append(NewLink("organiser", label, make_link(role="organiser", label=label, days=days)))
    pays = campaign.crowd.completion_code or campaign.crowd.return_url
    before = valid_links().filter(role="crowd")
    if renew:
        before.update(revoked=now)
    if pays and campaign.assignment.policy == "pool" and not before.exists():
        links.append(NewLink("crowd", "crowd", make_link(role="crowd", days=days)))
    return links
