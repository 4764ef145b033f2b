"""A program: fill campaigns of every protocol at random, and compare the fast export with the slow one.

Tables and the bytes of the CSV file must agree. Django is configured once per process, so that every campaign has a
process of its own.
"""

from __future__ import annotations

import json
import os
import random
import sys
import traceback
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.helpers.campaigns import make_campaign
from tests.helpers.databases import open_campaign

if TYPE_CHECKING:
    from adjudge.campaigns.tasks import Output

BEGAN = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
PROTOCOLS_TRIED = ("da", "sqm", "ranking", "pairwise", "esa", "mqm", "postedit", "adaptive")


def random_change(output: Output, protocol: str, chance: random.Random) -> list[Any]:
    """A change of one field, as a save stores it."""
    if chance.random() < 0.15:
        return [output.id, "comment", chance.choice(["good", 'ä "quoted", text', None])]
    if protocol in ("ranking", "pairwise"):
        return [output.id, "rank", chance.choice([1, 2, None])]
    if protocol == "postedit":
        return [output.id, "edit", chance.choice([output.text, output.text + " !", None])]
    if protocol == "mqm" or (protocol == "esa" and chance.random() < 0.5):
        return [output.id, "spans", [random_span(output, chance) for _ in range(chance.randrange(3))]]
    if protocol == "esa" and chance.random() < 0.2:
        return [output.id, "kept", chance.choice(["low-without-error", "high-with-major"])]
    return [output.id, "score", chance.choice([0, 3, 6, None] if protocol == "sqm" else [0, 40, 77.5, 95, None])]


def random_span(output: Output, chance: random.Random) -> dict[str, Any]:
    end = chance.randrange(1, len(output.text))
    return {
        "start": 0,
        "end": end,
        "severity": chance.choice(["minor", "major"]),
        "category": chance.choice(["Accuracy/Omission", "Fluency/Punctuation", None]),
        "side": "target",
        "text": output.text[:end],
        "of": None,
    }


def fill(protocol: str, chance: random.Random) -> None:
    """Random saves: several revisions, at equal times too, some that report only time, and more than has passed."""
    from adjudge.server.models import Annotator, Assignment, Decision, Draw, Save, ScreenState
    from adjudge.server.served_campaign import get_served

    people = list(Annotator.objects.order_by("pk"))
    for number, task in enumerate(get_served().tasks.tasks):
        person = people[number % len(people)]
        assignment = Assignment.objects.create(annotator=person, task=task.id, position=number, taken=BEGAN)
        if get_served().campaign.adaptive is not None and chance.random() < 0.8:
            Draw.objects.create(
                number=number, assignment=assignment, made=BEGAN, probability=0.3, candidates="[]", decision="{}"
            )
        for screen in task.screens:
            shown = BEGAN + timedelta(seconds=chance.randrange(9), microseconds=chance.choice([0, 1, 250_000]))
            state = ScreenState.objects.create(
                assignment=assignment,
                screen=screen.id,
                first_shown=shown,
                shown_seconds=chance.random() * 90,
                visible_seconds=chance.random() * 60,
                active_seconds=chance.choice([1.5, 1e6]),
            )
            outputs = [output for item in screen.items for output in item.outputs]
            for revision in range(chance.randrange(5)):
                changed = chance.sample(outputs, chance.randrange(len(outputs) + 1))
                edited = shown + timedelta(seconds=revision // 2)
                Save.objects.create(
                    id=uuid.UUID(int=chance.getrandbits(128), version=4),
                    state=state,
                    revision=revision + 1 if changed else None,
                    changes=json.dumps([random_change(output, protocol, chance) for output in changed]),
                    digest="0" * 16,
                    edited=edited,
                    received=edited + timedelta(microseconds=chance.randrange(10**6)),
                    spent=json.dumps([3.0, 2.0, 1.0, {output.id: chance.random() for output in outputs[:2]}]),
                    events="[]",
                )
    excluded = people[0]
    excluded.excluded = True
    excluded.save()
    Decision.objects.create(annotator=excluded, excluded=True, reason="only clicked", who="o", made=BEGAN)


def compare(folder: Path, protocol: str, database: str | None, seed: int) -> None:
    """Fill a campaign, export it in both ways, and compare."""
    name = "da" if protocol == "adaptive" else protocol
    adaptive = '[assignment]\npolicy = "pool"\n[adaptive]\npolicy = "best"\n' if protocol == "adaptive" else ""
    campaign = make_campaign(
        folder, name, documents=4, annotators='["anna", "bert", "cleo"]', more=f"{adaptive}[page]\ncomments = true\n"
    )
    if name not in ("ranking", "pairwise"):
        # Two systems with one output: it is judged once.
        (folder / "beta.txt").write_text((folder / "alpha.txt").read_text())
    open_campaign(campaign, database)
    fill(name, random.Random(seed))
    from adjudge.readers import native
    from adjudge.server.export import read_judgments
    from tests.helpers.slow_export import slowly_collected

    for with_excluded in (False, True):
        slow, fast = slowly_collected(with_excluded=with_excluded), read_judgments(with_excluded=with_excluded)
        assert len(fast) > 10
        assert slow.table.schema == fast.table.schema
        assert slow.table.equals(fast.table, null_equal=True)
        assert slow.set_aside == fast.set_aside
        native.write(slow, folder / "slow.csv")
        native.write(fast, folder / "fast.csv")
        assert (folder / "slow.csv").read_bytes() == (folder / "fast.csv").read_bytes()
    _save_in_between()


def _save_in_between() -> None:
    """A screen that is saved for the first time after the screens were read is left to the next export."""
    from adjudge.server.saves import read_revisions, read_states

    states = read_states()
    every = [row[0] for row in read_revisions(states).known]
    others = [row[0] for row in read_revisions(states.filter(states["state"] != every[-1])).known]
    assert others == [state for state in every if state != every[-1]]


def main() -> None:
    """Compare for every protocol, each in a process of its own. Arguments: folder, seed, a database per protocol."""
    folder, seed, databases = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    for number, protocol in enumerate(PROTOCOLS_TRIED):
        child = os.fork()
        if child == 0:
            outcome = 1
            try:
                compare(folder / protocol, protocol, databases[number] if databases else None, seed)
                outcome = 0
            except Exception:  # noqa: BLE001 - the parent says which protocol it was
                traceback.print_exc()
            finally:
                os._exit(outcome)
        _, status = os.waitpid(child, 0)
        assert status == 0, f"the export of protocol {protocol} differs"
        print(protocol, "agrees")


if __name__ == "__main__":
    main()
