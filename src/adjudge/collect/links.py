"""Personal links: an unguessable secret whose hash alone is stored, that expires and can be revoked or renewed."""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.db import DEFAULT_DB_ALIAS
from django.db.models import Q
from django.utils import timezone

from adjudge.collect.models import Annotator, Link

if TYPE_CHECKING:
    from django.db.models import QuerySet

SECRET_BYTES = 32
NAME_LENGTH = 200


def make_link(
    *,
    days: int,
    annotator: Annotator | None = None,
    role: str = "annotator",
    label: str | None = None,
    using: str = DEFAULT_DB_ALIAS,
) -> str:
    """Make a link, labelled by the annotator's name; returns its secret, which is not stored: it is shown only now."""
    secret = secrets.token_urlsafe(SECRET_BYTES)
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


def valid_links(at: datetime | None = None) -> QuerySet[Link]:
    """Links that are neither revoked nor expired."""
    return Link.objects.filter(Q(revoked__isnull=True), expires__gt=at or timezone.now())


def revoke_links(annotator: Annotator) -> int:
    """Revoke every link of a person; sessions that came by them end at once."""
    return Link.objects.filter(annotator=annotator, revoked__isnull=True).update(revoked=timezone.now())


def renew_link(annotator: Annotator, *, days: int) -> str:
    """Revoke a person's links and make a new one; returns its secret."""
    revoke_links(annotator)
    return make_link(days=days, annotator=annotator)


def address(secret: str, base: str) -> str:
    """The link as handed out. The secret stands behind `#`, which browsers send to no server and no proxy logs."""
    return f"{base.rstrip('/')}/enter#{secret}"


def _hash(secret: str) -> str:
    # The secret has 256 random bits: a plain hash cannot be reversed by trying, and needs no salt.
    return hashlib.sha256(secret.encode()).hexdigest()
