"""How far a campaign is, for the organisers' page: the verdict at planned looks, and what holds at any time.

A verdict is computed when a planned look is due, and shown again until the next one: looking more often would spend the
level. Between looks the page shows sets of ranks that hold at all times together, and what more judgments would buy.
Where no looks are planned, only these are shown, with the judgments that the tasks want as the plan.
"""

from __future__ import annotations

import fcntl
import json
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adjudge.collect.organisers.panels import PanelInterval, PanelTable
    from adjudge.core.judgments import Judgments
    from adjudge.design.campaign.parts import Looks
    from adjudge.look.history import History
    from adjudge.results.look import LiveState, LookClaim
    from adjudge.results.rank import Ranking

LEVEL = 0.05
"""Of the sets of ranks where no looks are planned."""


def compute_state(judgments: Judgments, request: dict[str, Any]) -> list[PanelTable]:
    """How far the campaign is: `request` has the planned looks, if any, and the file with the history of looks."""
    from adjudge.design.campaign.parts import Looks

    looks = None if request["looks"] is None else Looks.model_validate_json(json.dumps(request["looks"]))
    history = Path(request["history"])
    with _one_process_at_a_time(history):
        return _state(judgments, looks, history, request["planned"])


@contextmanager
def _one_process_at_a_time(history: Path) -> Iterator[None]:
    """One process at a time: two that look at once would spend two looks."""
    with history.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _state(judgments: Judgments, looks: Looks | None, history: Path, planned: int) -> list[PanelTable]:
    from adjudge.core.errors import AdjudgeError
    from adjudge.rank import rank

    if looks is None:
        live = _live(judgments, None, None, history, planned=planned, ranking=rank(judgments))
        return [_live_panel(live, headline=live.advice)]
    part = planned_part(judgments, planned)
    try:
        ranking = rank(part)
    except AdjudgeError as fault:
        return _too_early(part, looks, history, str(fault))
    verdict = _verdict(part, looks, history, ranking)
    from adjudge.look.history import read_history

    live = _live(part, looks, read_history(history), history, planned=planned, ranking=ranking)
    return [*verdict, _live_panel(live)]


def _too_early(judgments: Judgments, looks: Looks, history: Path, why: str) -> list[PanelTable]:
    """What can be said while there is no ranking yet: when the next look comes."""
    from adjudge.look.estimates import answered_rows
    from adjudge.look.history import read_history

    past = read_history(history)
    looks_taken = 0 if past is None else len(past.records)
    first, *others = _waiting(_shown(history), answered_rows(judgments).height, looks_taken, looks)
    return [replace(first, note=f"{first.note} {why}."), *others]


def _verdict(judgments: Judgments, looks: Looks, history: Path, ranking: Ranking) -> list[PanelTable]:
    from adjudge.collect.organisers.panels import panels_of_result
    from adjudge.core.files import write_text
    from adjudge.look import look
    from adjudge.look.estimates import count_judgments
    from adjudge.look.history import read_history

    past = read_history(history)
    looks_taken = 0 if past is None else len(past.records)
    count = count_judgments(judgments)
    due = looks.looks if count >= looks.planned else count * looks.looks // looks.planned
    if due <= looks_taken and looks.spending != "anytime":
        return _waiting(_shown(history), count, looks_taken, looks)
    result = look(
        judgments,
        planned=looks.planned,
        looks=looks.looks,
        goal=looks.goal,
        spending=looks.spending,
        level=looks.level,
        history=history,
        ranking=ranking,
    )
    first, *others = panels_of_result(result, "look")
    claims = (*result.settled, *result.open)
    panels = [replace(first, headline=result.advice, intervals=_intervals(claims)), *others]
    write_text(_shown_file(history), json.dumps([asdict(panel) for panel in panels], ensure_ascii=False))
    return panels


def _waiting(shown: list[PanelTable], count: int, looks_taken: int, looks: Looks) -> list[PanelTable]:
    """The last verdict once more, with what is still to come."""
    from adjudge.collect.organisers.panels import PanelTable
    from adjudge.evidence.verdict import say_first_look, say_next_look

    next_look = -(-(looks_taken + 1) * looks.planned // looks.looks)
    if not shown:
        headline, note = say_first_look(count, looks.planned, next_look)
        return [PanelTable("Verdict (adjudge look)", (), (), note, headline=headline)]
    now = say_next_look(count, looks.planned, next_look if looks_taken < looks.looks else None)
    return [replace(shown[0], note=f"{shown[0].note} {now}"), *shown[1:]]


def _intervals(claims: tuple[LookClaim, ...]) -> tuple[PanelInterval, ...]:
    from adjudge.collect.organisers.panels import PanelInterval

    return tuple(
        PanelInterval(claim.claim, low, claim.estimate, high, claim.verdict == "settled")
        for claim in claims
        if claim.estimate is not None
        for low, high in [claim.interval]
        if low is not None and high is not None
    )


def _live(
    judgments: Judgments, looks: Looks | None, past: History | None, history: Path, *, planned: int, ranking: Ranking
) -> LiveState:
    """The state at any time; what fixes its bounds is kept in a file beside the history."""
    from adjudge.core.files import write_text
    from adjudge.look import LookPlan, parse_goal
    from adjudge.look.live import live

    file = history.with_name("looks.start.json")
    systems = sorted(entry.system for entry in ranking.systems)
    start = _start(file, systems, planned)
    plan = None
    if looks is not None:
        plan = LookPlan(planned, looks.looks, parse_goal(looks.goal), looks.spending, looks.level)
    level = LEVEL if looks is None else looks.level
    state = live(judgments, planned=planned, level=level, plan=plan, history=past, start=start, ranking=ranking)
    if start is None:
        bounds = {"systems": systems, "planned": planned, "fraction": state.start[0], "se": state.start[1]}
        write_text(file, json.dumps(bounds))
    return state


def _start(file: Path, systems: list[str], planned: int) -> tuple[float, tuple[float | None, ...]] | None:
    if not file.exists():
        return None
    bounds: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    # With a system more there are other pairs, and the bounds begin anew.
    if bounds["systems"] != systems or bounds["planned"] != planned:
        return None
    return float(bounds["fraction"]), tuple(bounds["se"])


def _live_panel(live: LiveState, headline: str = "") -> PanelTable:
    """Possible ranks as a picture, all pairs as another, and what more judgments would buy."""
    from adjudge.collect.organisers.panels import PanelRanks, panels_of_result
    from adjudge.evidence.verdict import explain_possible_ranks

    ranks = tuple(PanelRanks(entry.system, entry.best, entry.worst, len(live.systems)) for entry in live.systems)
    outlook = "" if live.outlook is None else live.outlook.sentence
    note = explain_possible_ranks(live.level, planned_looks=not headline)
    title = f"Possible ranks after {live.judgments:,} of {live.planned:,} judgments"
    first = panels_of_result(live, "look")[1]
    with_outlook = " ".join(part for part in (headline, outlook) if part)
    # Beside a verdict, two pictures of the same pairs would only puzzle.
    pairs = _intervals(live.claims) if headline else ()
    return replace(first, title=title, headline=with_outlook, note=note, ranks=ranks, intervals=pairs)


def planned_part(judgments: Judgments, planned: int) -> Judgments:
    """The judgments up to the plan, in the order in which they were saved: the last task may go beyond it."""
    import polars as pl

    from adjudge.core.judgments import KEY
    from adjudge.look.estimates import answered_rows

    rows = answered_rows(judgments)
    if rows.height <= planned or "saved" not in rows.columns:
        return judgments
    reason = "judged after the planned number was reached"
    border = rows["saved"].sort()[planned - 1]
    part = judgments.keep(~(pl.col("saved") > border).fill_null(value=False), otherwise=reason)
    # Several judgments may have come with one save.
    last = answered_rows(part).sort("saved", maintain_order=True).slice(planned).select(KEY)
    if last.is_empty():
        return part
    beyond = pl.struct(KEY).is_in(last.to_struct().implode())
    return part.keep(~beyond, otherwise=reason)


def _shown_file(history: Path) -> Path:
    return history.with_name("looks.shown.json")


def _shown(history: Path) -> list[PanelTable]:
    """The verdict of the last look as it was shown."""
    from adjudge.collect.organisers.panels import PanelTable

    file = _shown_file(history)
    if not file.exists():
        return []
    return [PanelTable.from_plain(table) for table in json.loads(file.read_text(encoding="utf-8"))]
