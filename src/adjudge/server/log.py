"""The log of a campaign, in which nothing can be changed, left out or reordered unnoticed (`adjudge verify`).

Saves are chained by screen: each holds its number and a digest over itself and the one before it, and the state of the
screen holds the last of these. So a save costs no statement more, and people who judge at once do not wait for each
other. All that happens under the lock of the campaign (tasks made, drawn and handed in, looks, what organisers do) is
entered in one chain for the whole campaign; an entry of a task that is handed in holds the last digest of each of its
screens.

What a log cannot show: that somebody with access to the database has computed all digests anew, or has taken away the
end of the log together with what it tells of. Exports carry the last digest, so that a copy elsewhere shows even that.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from adjudge.table.judgments import fingerprint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from adjudge.server.models import Save
    from adjudge.table.record import TakenLook

TASKS, DRAWN, HANDED_IN, EXCLUSION, LOOK, BEGUN = "tasks", "draw", "task", "exclusion", "look", "begun"
ORGANISER, ERASURE = "organiser", "erasure"
_MODULUS = 2**256
_HEX = 64


def link(before: str, content: Any) -> str:
    """The digest of something and of all before it."""
    return fingerprint(f"{before}\n{to_text(content)}", digits=_HEX)


def digest(content: Any) -> str:
    """The digest of something by itself."""
    return link("", content)


def to_text(content: Any) -> str:
    """Plain values as JSON, the same whichever database they came from."""
    return json.dumps(content, ensure_ascii=True, separators=(",", ":"), sort_keys=True, default=_plain)


def _plain(value: Any) -> str:
    return value.astimezone(UTC).isoformat(timespec="microseconds") if isinstance(value, datetime) else str(value)


def first_link(annotator: str, task: str, screen: str, first_shown: datetime) -> str:
    """What the saves of a screen are chained to: whose it is, and when it was first shown."""
    return digest([annotator, task, screen, first_shown])


SAVE = ("id", "revision", "changes", "digest", "edited", "received", "spent", "events")
"""The columns of a save that are chained."""


def content_of_save(save: Save | Any) -> list[Any]:
    """What a save consists of."""
    return [getattr(save, name) for name in SAVE]


def enter(kind: str, subject: object, content: Any, *, using: str = "default") -> None:
    """Add an entry at the end of the log. Call under the lock of the campaign, in the transaction of what it tells."""
    from django.utils import timezone

    from adjudge.server.models import Entry

    entries = Entry.objects.using(using)
    number, before = entries.order_by("-number").values_list("number", "digest").first() or (0, "")
    made, text = timezone.now(), to_text(content)
    chained = link(before, [number + 1, kind, str(subject), text, made])
    entries.create(number=number + 1, kind=kind, subject=str(subject), content=text, made=made, digest=chained)


def enter_looks(looks: Iterable[TakenLook]) -> None:
    """Enter the looks that were taken since the last time."""
    from adjudge.server.database import write_transaction
    from adjudge.server.models import Campaign, Entry

    with write_transaction():
        Campaign.objects.select_for_update().values_list("pk").first()
        known = set(Entry.objects.filter(kind=LOOK).values_list("subject", flat=True))
        for look in looks:
            if str(look.look) not in known:
                enter(LOOK, look.look, content_of_look(look))


def content_of_look(look: TakenLook) -> list[Any]:
    """What is entered of a look."""
    return [look.look, look.judgments, look.digest]


def content_of_draw(draw: Any) -> list[Any]:
    """What is entered of a decision of an adaptive campaign."""
    return [
        draw.number,
        draw.assignment_id,
        draw.made,
        draw.probability,
        digest(draw.candidates),
        digest(draw.decision),
    ]


def content_of_decision(annotator: str, decision: Any) -> list[Any]:
    """What is entered of an exclusion, or of its end."""
    return [annotator, bool(decision.excluded), decision.reason, decision.who, decision.made]


def content_of_task(
    annotator: str, assignment: Any, screens: Iterable[Sequence[Any]], observed: Iterable[Sequence[Any]]
) -> list[Any]:
    """What is entered of a task that is handed in: its screens with their saves, and what it says of the systems."""
    return [
        annotator,
        assignment.task,
        assignment.finished,
        sorted(map(list, screens)),
        digest(list(map(list, observed))),
    ]


def sum_digests(contents: Iterable[Any]) -> str:
    """One digest of many things in any order."""
    total = 0
    for content in contents:
        total = (total + int(digest(content), 16)) % _MODULUS
    return f"{total:064x}"


def begin_after(manager: Callable[[str], Any]) -> None:
    """Begin the log of a database that was filled without one: the first entry holds what there is already.

    Args:
        manager: the rows of a table, by its name, as they are during the migration.
    """
    from django.utils import timezone

    if not manager("campaign").exists():
        return
    content = to_text(content_before(manager))
    made = timezone.now()
    chained = link("", [1, BEGUN, "", content, made])
    manager("entry").create(number=1, kind=BEGUN, subject="", content=content, made=made, digest=chained)


def content_before(manager: Callable[[str], Any], last: dict[str, int] | None = None) -> dict[str, Any]:
    """Counts and digests of saves without a number, and of decisions and draws up to the `last` of each."""
    of_state = ("state", "state__assignment", "state__screen", "state__first_shown")
    saves = manager("save").filter(number__isnull=True).order_by("pk").values_list(*SAVE, *of_state)
    held: dict[str, Any] = {"saves": saves.count(), "saves_digest": sum_digests(map(list, saves.iterator(5000)))}
    columns = {
        "decision": ("pk", "annotator", "excluded", "reason", "who", "made"),
        "draw": ("pk", "number", "assignment", "made", "probability", "candidates", "decision"),
    }
    for name, wanted in columns.items():
        rows = manager(name).order_by("pk").values_list(*wanted)
        if last is not None:
            rows = rows.filter(pk__lte=last[name])
        listed = [list(row) for row in rows]
        held |= {f"{name}_last": max((row[0] for row in listed), default=0), f"{name}_digest": sum_digests(listed)}
    return held
