"""Whether a campaign's database still holds what happened: the log by its digests, and all else computed from it again.

`server.log` has the chain. Everything that an export shows is either in the log or follows from it: answers, seconds
and revisions of screens from their saves, exclusions from the decisions, probabilities from replayed draws, texts and
systems from the tasks.
"""

from __future__ import annotations

import json
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import TYPE_CHECKING, Any

import polars as pl
from django.apps import apps

from adjudge.server import log
from adjudge.server.actions import current_state
from adjudge.server.answers import FIELDS, find_missing, list_judged
from adjudge.server.models import (
    Annotator,
    Assignment,
    Campaign,
    Decision,
    Draw,
    Entry,
    Observed,
    Save,
    ScreenState,
)
from adjudge.server.served_campaign import get_served
from adjudge.server.tasks import OBSERVED, is_adaptive, parse_decision, replay
from adjudge.table.errors import InputError, shown
from adjudge.table.judgments import CRITERION
from adjudge.table.record import count_answers
from adjudge.table.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from adjudge.table.record import TakenLook

_ROWS = 2000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass
class Findings:
    """What was checked, and what is wrong."""

    checked: dict[str, int] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def verify_log(looks: Sequence[TakenLook] | None, *, unreadable: bool = False) -> Findings:
    """Check the whole database; `looks` are those in the file beside the campaign, None where there is none.

    Where that file is `unreadable`, which is a fault by itself, looks are not compared.
    """
    found = Findings()
    entries = list(Entry.objects.order_by("number"))
    erased = _list_erasures(entries)
    found.faults += _check_entries(entries, erased)
    if erased:
        changed = len({number for held in erased for number in held.get("entries", {})})
        found.notes.append(
            f"{counted(len(erased), 'person', 'people')} erased: {counted(changed, 'entry', 'entries')} of the log "
            "changed then, as the log says"
        )
    begun = next((entry for entry in entries if entry.kind == log.BEGUN), None)
    if begun is not None:
        found.faults += _check_begun(begun)
        since = begun.made.isoformat(timespec="seconds")
        held = _parse(begun.content) or {}
        found.notes.append(
            f"the log begins on {since}: what was stored before by an earlier version ({held.get('saves', 0):,} saves) "
            "is checked as it was found then"
        )
    by_subject: dict[str, dict[str, Entry]] = defaultdict(dict)
    for entry in entries:
        by_subject[entry.kind][entry.subject] = entry
    found.faults += _readable("the tasks", _check_tasks(entries))
    found.faults += _readable("an exclusion", _check_decisions(by_subject[log.EXCLUSION], begun))
    found.faults += _readable("an action", _check_actions([e for e in entries if e.kind == log.ORGANISER]))
    found.faults += _readable("a draw", check_draws(by_subject[log.DRAWN], begun))
    screens = {state: one for held in erased for state, one in held.get("screens", {}).items()}
    found.faults += _readable("a save", _check_screens(screens))
    removed = {str(number) for held in erased for number in held.get("tasks", ())}
    handed_in = {number: entry for number, entry in by_subject[log.HANDED_IN].items() if number not in removed}
    found.faults += _readable("a task that was handed in", _check_handed_in(handed_in, begun))
    if not unreadable:
        faults, notes = _check_looks(by_subject[log.LOOK], looks, begun)
        found.faults += faults
        found.notes += notes
    found.checked = {
        "saves": Save.objects.count(),
        "draws": Draw.objects.count(),
        "looks": len(looks or ()),
        "exclusions": Decision.objects.count(),
        "screens": ScreenState.objects.count(),
        "entries": len(entries),
    }
    return found


# What Python raises where a value is of another kind than adjudge writes.
STRANGE_VALUES = (AttributeError, TypeError, ValueError, LookupError, pl.exceptions.PolarsError)


def _readable(what: str, found: Iterator[str]) -> Iterator[str]:
    """What a check finds; where a value stops it that adjudge never writes, that is what it finds."""
    try:
        yield from found
    except STRANGE_VALUES as fault:
        yield f"{what} cannot be read ({shown(fault, 100)}): it holds what adjudge does not write"


@contextmanager
def explain_damage(place: Path) -> Iterator[None]:
    """Where reading judgments stops at a value that adjudge never writes, say what in the database was changed."""
    try:
        yield
    except STRANGE_VALUES as fault:
        faults = verify_log(None, unreadable=True).faults
        if not faults:
            raise
        what = f"its database was changed or is damaged: {faults[0]}; see adjudge verify, or restore a backup"
        raise InputError(what, file=place) from fault


def _parse(text: str) -> Any:
    """What JSON holds; None where it is broken."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _list_erasures(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """What the log says of people who were erased."""
    held = (_parse(entry.content) for entry in entries if entry.kind == log.ERASURE)
    return [each for each in held if isinstance(each, dict)]


def _check_entries(entries: Sequence[Entry], erased: Sequence[dict[str, Any]] = ()) -> Iterator[str]:
    """The chain. Of entries that an erasure changed, it holds the digest of what they say since."""
    before = ""
    changed = {number: digest for held in erased for number, digest in held.get("entries", {}).items()}
    for place, entry in enumerate(entries, start=1):
        if entry.number != place:
            yield f"entry {place} of the log is missing"
            return
        content = [entry.number, entry.kind, entry.subject, entry.content, entry.made]
        known = changed.get(str(entry.number))
        whole = entry.digest == log.link(before, content) if known is None else known == log.digest(entry.content)
        if not whole:
            yield f"entry {entry.number} of the log ({entry.kind} {entry.subject}) was changed, or what came before it"
        before = entry.digest


def _check_begun(begun: Entry) -> Iterator[str]:
    held = _parse(begun.content)
    if not isinstance(held, dict):
        yield "the first entry of the log cannot be read"
        return
    last = {name: held.get(f"{name}_last", 0) for name in ("decision", "draw")}
    now = log.content_before(lambda name: apps.get_model("collect", name)._default_manager, last)  # noqa: SLF001
    for name, what in (("saves", "saves"), ("decision", "exclusions"), ("draw", "draws")):
        if now[f"{name}_digest"] != held.get(f"{name}_digest"):
            yield f"{what} from before the log began were changed or removed"


def _check_tasks(entries: Sequence[Entry]) -> Iterator[str]:
    from adjudge.campaigns.tasks import parse_tasks

    stored = Campaign.objects.get()
    computed = parse_tasks(stored.tasks, "the database").fingerprint
    if stored.fingerprint != computed:
        yield f"the tasks were changed: their fingerprint is {computed}, stored is {stored.fingerprint}"
    made = [entry for entry in entries if entry.kind == log.TASKS]
    if made and made[-1].subject != stored.fingerprint:
        yield f"the tasks are not those of entry {made[-1].number} of the log"


def _check_decisions(entries: dict[str, Entry], begun: Entry | None) -> Iterator[str]:
    """Decisions against their entries, and who is excluded against the decisions."""
    before = 0 if begun is None else (_parse(begun.content) or {}).get("decision_last", 0)
    last: dict[int, bool] = {}
    rows = {str(decision.id): decision for decision in Decision.objects.select_related("annotator").order_by("pk")}
    for subject, decision in rows.items():
        last[decision.annotator.id] = decision.excluded
        entry = entries.get(subject)
        what = f"the decision about {decision.annotator.name} ({decision.made.isoformat(timespec='seconds')})"
        if entry is None and decision.id > before:
            yield f"{what} is not in the log"
        elif entry is not None and entry.content != log.to_text(
            log.content_of_decision(decision.annotator.name, decision)
        ):
            yield f"{what} was changed"
    yield from (f"decision {subject} is in the log, but was removed" for subject in entries.keys() - rows.keys())
    for person in Annotator.objects.order_by("name"):
        if person.excluded != last.get(person.id, False):
            said = "excluded" if person.excluded else "not excluded"
            yield f"{person.name} is {said}, which no decision says"


def _check_actions(entries: Sequence[Entry]) -> Iterator[str]:
    """Whether the campaign is paused or closed, and whose tasks went to others, against what organisers did."""
    state = "running"
    reassigned: set[str] = set()
    for entry in entries:
        held = _parse(entry.content)
        _, about, text = held if isinstance(held, list) and len(held) == 3 else ("", "", "")
        if entry.subject == "state":
            state = text
        elif entry.subject in ("reassign", "return"):
            reassigned ^= {about}
    if state != (now := current_state()):
        yield f"the campaign is {now}, but by the log it is {state}"
    stored = set(Annotator.objects.filter(reassigned=True).values_list("name", flat=True))
    yield from (
        f"whether the tasks of {name} went to others is not as the log says" for name in sorted(stored ^ reassigned)
    )


def check_draws(entries: dict[str, Entry] | None = None, begun: Entry | None = None) -> Iterator[str]:
    """Draws against their entries and by themselves, and all of them made again from what was known."""
    if entries is None:
        logged = Entry.objects.filter(kind__in=[log.DRAWN, log.BEGUN]).order_by("number")
        begun = next((entry for entry in logged if entry.kind == log.BEGUN), None)
        entries = {entry.subject: entry for entry in logged if entry.kind == log.DRAWN}
    before = 0 if begun is None else (_parse(begun.content) or {}).get("draw_last", 0)
    rows = {str(draw.number): draw for draw in Draw.objects.select_related("assignment").order_by("number")}
    sound = True
    for place, (subject, draw) in enumerate(rows.items()):
        problem = _find_fault(draw, place, entries.get(subject), before)
        if problem is not None:
            sound = False
            yield problem
    yield from (f"draw {subject} is in the log, but was removed" for subject in entries.keys() - rows.keys())
    # The policy draws by the names of people: where one was erased, its draws cannot be made again.
    if sound and rows and is_adaptive() and not Entry.objects.filter(kind=log.ERASURE).exists():
        differs = replay()
        if differs is not None:
            yield f"draw {differs} does not come out again from what was known"


def _find_fault(draw: Draw, place: int, entry: Entry | None, before: int) -> str | None:
    """What is wrong with a draw, by its entry (draws up to `before` have none) and by what it says itself."""
    if draw.number != place:
        return f"draw {place} is missing"
    if entry is None and draw.id > before:
        return f"draw {place} is not in the log"
    if entry is not None and entry.content != log.to_text(log.content_of_draw(draw)):
        return f"draw {place} was changed"
    stored = (draw.number, draw.probability, draw.assignment.task)
    try:
        decision = parse_decision(draw.decision)
        made = (decision.number, decision.probability, decision.drawn)
        readable = all(len(candidate) == 2 for candidate in json.loads(draw.candidates))
    except (ValueError, TypeError, AttributeError, RecursionError):
        readable = False
    if not readable:
        return f"draw {place} cannot be read"
    return None if stored == made else f"draw {place} says {stored}, its decision {made}"


def _check_screens(anchors: Mapping[str, str]) -> Iterator[str]:
    """The saves of every screen against their chain, and the screen against its saves.

    Args:
        anchors: what the saves of screens are chained to, where the person was erased.
    """
    states = {
        state.id: state
        for state in ScreenState.objects.select_related("assignment__annotator").order_by("pk").iterator(_ROWS)
    }
    with_saves = set()
    saves = Save.objects.order_by("state_id", "number").iterator(_ROWS)
    for state_id, group in groupby(saves, key=lambda save: save.state_id):
        with_saves.add(state_id)
        yield from _check_screen(states[state_id], list(group), anchors.get(str(state_id)))
    yield from (f"all saves of {_name(state)} were removed" for key, state in states.items() if key not in with_saves)


def _name(state: ScreenState) -> str:
    assignment = state.assignment
    return f"screen {state.screen} of task {assignment.task} by {assignment.annotator.name}"


def _check_screen(state: ScreenState, saves: list[Save], anchor: str | None) -> Iterator[str]:
    numbered = sorted((save for save in saves if save.number is not None), key=lambda save: save.number or 0)
    assignment = state.assignment
    before = anchor or log.first_link(assignment.annotator.name, assignment.task, state.screen, state.first_shown)
    for place, save in enumerate(numbered, start=1):
        if save.number != place:
            yield f"save {place} of {_name(state)} is missing"
            return
        if save.chain != log.link(before, log.content_of_save(save)):
            yield f"save {place} of {_name(state)} was changed, or what came before it"
            return
        before = save.chain
    if len(numbered) != state.saves or (numbered and state.chain != before):
        yield f"the last saves of {_name(state)} were removed, or the screen was changed"
        return
    # What earlier versions stored cannot be computed again in all its parts.
    if len(numbered) == len(saves):
        differs = [name for name, value in _compute_again(state, numbered).items() if value != _stored(state)[name]]
        if differs:
            yield f"{_name(state)} does not follow from its saves: {', '.join(differs)}"


def _stored(state: ScreenState) -> dict[str, Any]:
    answers = _parse(state.answers)
    values = {
        (output, name): answer[name]
        for output, answer in (answers if isinstance(answers, dict) else {}).items()
        for name in FIELDS
        if name in answer
    }
    seconds = (state.shown_seconds, state.visible_seconds, state.active_seconds)
    return {
        "answers": values,
        "revision": state.revision,
        "seconds": seconds,
        "judged": state.judged,
        "complete": state.complete,
    }


def _compute_again(state: ScreenState, saves: Sequence[Save]) -> dict[str, Any]:
    """How the screen stands after its saves, by the rules of `server.saves`: the newest change of a field counts."""
    given: dict[tuple[str, str], tuple[int, Any]] = {}
    shown = visible = active = 0.0
    revision = 0
    for save in saves:
        at = (save.edited - _EPOCH) // timedelta(microseconds=1)
        for output, name, value in _parse(save.changes) or ():
            if at >= given.get((output, name), (0, None))[0]:
                given[output, name] = (at, value)
        spent: Any = _parse(save.spent) or (0.0, 0.0, 0.0, {})
        most = (save.received - state.assignment.taken).total_seconds()
        shown = min(shown + spent[0], max(most, shown))
        visible = min(visible + spent[1], shown)
        active = min(active + spent[2], visible)
        revision += save.revision is not None
    answers: dict[str, dict[str, Any]] = defaultdict(dict)
    for (output, name), (_, value) in given.items():
        answers[output][name] = value
    computed = {
        "answers": {key: value for key, (_, value) in given.items()},
        "revision": revision,
        "seconds": (shown, visible, active),
    }
    screen = get_served().screen_by_id.get((state.assignment.task, state.screen))
    if screen is None:
        return {**computed, "judged": None, "complete": None}
    campaign = get_served().campaign
    missing = find_missing(answers, screen, campaign)
    return {**computed, "judged": len(list_judged(answers, screen, campaign)), "complete": not missing}


def _check_handed_in(entries: dict[str, Entry], begun: Entry | None) -> Iterator[str]:
    """Tasks that were handed in against their entries: their screens had these saves then."""
    finished = {
        str(assignment.id): assignment
        for assignment in Assignment.objects.select_related("annotator").filter(finished__isnull=False)
    }
    chains = {
        (assignment, screen, number): chain
        for assignment, screen, number, chain in Save.objects.filter(number__isnull=False)
        .values_list("state__assignment", "state__screen", "number", "chain")
        .iterator(_ROWS)
    }
    observed: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
    for assignment_id, *values in Observed.objects.order_by("number").values_list("assignment", *OBSERVED):
        observed[assignment_id].append(tuple(values))
    for subject, assignment in finished.items():
        what = f"task {assignment.task} by {assignment.annotator.name}"
        entry = entries.get(subject)
        if entry is None:
            if begun is None or (assignment.finished is not None and assignment.finished > begun.made):
                yield f"{what} was handed in, which is not in the log"
            continue
        held = _parse(entry.content)
        screens = held[3] if isinstance(held, list) and len(held) == 5 else []
        if entry.content != log.to_text(
            log.content_of_task(assignment.annotator.name, assignment, screens, observed[assignment.id])
        ):
            yield f"{what} was changed after it was handed in"
        for screen, number, chain in screens:
            if number and chains.get((assignment.id, screen, number)) != chain:
                yield f"screen {screen} of {what} is not as it was handed in"
    for subject in entries.keys() - finished.keys():
        yield f"entry {entries[subject].number} of the log tells of a task that was handed in, which was removed"


def _check_looks(
    entries: dict[str, Entry], looks: Sequence[TakenLook] | None, begun: Entry | None
) -> tuple[list[str], list[str]]:
    """The looks in the file against their entries; notes are about looks that no log knows of."""
    there = {str(look.look): look for look in looks or ()}
    faults = [f"look {subject} is in the log, but not in looks.json" for subject in entries.keys() - there.keys()]
    unknown = []
    for subject, look in there.items():
        entry = entries.get(subject)
        if entry is None:
            unknown.append(look.look)
        elif entry.content != log.to_text(log.content_of_look(look)):
            faults.append(f"look {subject} in looks.json is not the one that was taken")
    if not unknown:
        return faults, []
    said = f"{counted(len(unknown), 'look')} in looks.json, from look {min(unknown)} on, not in the log"
    earlier = begun is not None and (not entries or max(unknown) < min(map(int, entries)))
    return (faults, [f"{said}: taken before it began"]) if earlier else ([*faults, f"{said}"], [])


_ROW = ("annotator", "task", "output", "system", "revision")
_GROWING = ("active_seconds", "screen_visible_seconds", "screen_shown_seconds", "excluded")
"""Columns in which a row may differ after more was saved, or somebody was excluded."""


def check_export(path: Path) -> Iterator[str]:
    """Compare an exported table with what the log gives now, row by row and column by column."""
    from adjudge.readers.native import as_text
    from adjudge.readers.tables import load_table
    from adjudge.server.export import read_judgments

    loaded = load_table(path)
    table = as_text(loaded.frame) if loaded.frame.schema.get("revision") != pl.String else loaded.frame
    if missing := [name for name in _ROW if name not in table.columns]:
        yield f"{path.name} is no export of a campaign: it has no column '{missing[0]}'"
        return
    judgments = read_judgments(with_excluded=True, with_texts="target_text" in table.columns)
    now = as_text(judgments.table)
    same_moment = loaded.record is not None and loaded.record.counts == count_answers(
        judgments.select(~pl.col("excluded")).final().table
    )
    row = [*_ROW, *(name for name in (CRITERION,) if name in table.columns)]
    joined = table.with_row_index("row").join(now, on=row, how="left", suffix="_now", coalesce=True, nulls_equal=True)
    if table.select(row).is_duplicated().any():
        yield f"{path.name} holds a row twice"
    unknown = table.join(now, on=row, how="anti", nulls_equal=True)
    if unknown.height:
        first = ", ".join(str(value) for value in unknown.select(row).row(0))
        yield f"{path.name}: {counted(unknown.height, 'row')} not in the log, the first is {first}"
    for name in now.columns:
        if name in row or f"{name}_now" not in joined.columns or (name in _GROWING and not same_moment):
            continue
        differs = joined.filter(~pl.col(name).eq_missing(pl.col(f"{name}_now")))
        differs = differs.join(unknown, on=row, how="anti", nulls_equal=True)
        if differs.height:
            cells = differs.row(0, named=True)
            got = f"{cells[name]} in row {cells['row'] + 1}, the log says {cells[f'{name}_now']}"
            yield f"{path.name}: column '{name}' differs in {counted(differs.height, 'row')}: {got}"
    if "saved" in table.columns and table.height:
        end, people = table["saved"].max(), table["annotator"].unique()
        expected = now.filter((pl.col("saved") <= end) & pl.col("annotator").is_in(people.implode()))
        if gone := expected.join(table, on=row, how="anti", nulls_equal=True).height:
            yield f"{path.name}: {counted(gone, 'row')} of the log missing"
