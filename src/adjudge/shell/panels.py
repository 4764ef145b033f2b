"""Statistics for the organisers' page, as pictures with the figures behind them.

They are handed to the server by `adjudge serve`, because collecting knows no statistics. Each group is computed in a
process of its own (`main`), which reads the judgments from the database: within the server, statistics would take turns
with saves, which must not wait for them, and keep the memory that they once needed.
"""

from __future__ import annotations

import fcntl
import json
import math
import os
import subprocess
import sys
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge.table.wording import agreeing, counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from adjudge.campaigns.campaign_file import Campaign, Looks
    from adjudge.evidence.look import History
    from adjudge.evidence.look_claims import LiveState, LookClaim
    from adjudge.people.results import Agreement, Checked
    from adjudge.ranking.ranking import Ranking
    from adjudge.server.panels import Computed, Group, PanelBar, PanelInterval, PanelTable, Statistics
    from adjudge.table.judgments import Judgments
    from adjudge.table.record import LooksRecord


def statistics_of(campaign_file: Path, database: str | None) -> Statistics:
    """The panels of a campaign: the state of its claims (the model may take a minute), annotators and agreement."""
    from adjudge.server.panels import Statistics

    return Statistics(partial(compute_apart, campaign_file, database), partial(read_looks, campaign_file))


def read_looks(campaign_file: Path) -> LooksRecord | None:
    """The planned looks that were taken at a campaign, as its record has them; None where none was."""
    from adjudge.evidence.look import read_history, record_looks

    history = read_history(campaign_file.with_name("looks.json"))
    return None if history is None else record_looks(history)


LONGEST = 3600
"""Seconds for the statistics of the page: what takes longer would never be shown."""


def compute_apart(campaign_file: Path, database: str | None, group: Group) -> Computed:
    """The panels of a group, by a process of its own."""
    from adjudge.server.panels import Computed

    # By standard input, because an address may hold a password.
    request = {"campaign": str(campaign_file), "database": database, "group": group}
    command = [sys.executable, "-m", "adjudge.shell.panels"]
    try:
        finished = subprocess.run(
            command, input=json.dumps(request), capture_output=True, text=True, check=False, timeout=LONGEST
        )
    except subprocess.TimeoutExpired as fault:
        raise RuntimeError(f"statistics could not be computed in {LONGEST} s") from fault
    if finished.returncode:
        raise RuntimeError(f"statistics could not be computed: {finished.stderr[-2000:]}")
    answer = json.loads(finished.stdout)
    return Computed(answer["judgments"], tuple(answer["panels"]))


# How far a campaign is, for the organisers' page: the verdict at planned looks, and what holds at any time.
#
# A verdict is computed when a planned look is due, and shown again until the next one: looking more often would spend
# the level. Between looks the page shows sets of ranks that hold at all times together, and what more judgments would
# buy. Where no looks are planned, only these are shown, with the judgments that the tasks want as the plan.


LEVEL = 0.05
"""Of the sets of ranks where no looks are planned."""
_SHOWN = "looks.shown.json"


def compute_state(judgments: Judgments, looks: Looks | None, history: Path, *, planned: int) -> list[PanelTable]:
    """How far the campaign is; `history` is the file of the looks that were taken."""
    from adjudge.people.check import quality_of

    # The same people count as for `look` and `rank`, so that page and commands give the same verdict.
    quality = quality_of(judgments)
    # One process at a time: two that look at once would spend two looks.
    with history.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        first, *others = _state(quality.kept, looks, history, planned)
    if not quality.reasons:
        return [first, *others]
    who = f"{quality.words[0].upper()}{quality.words[1:]}."
    exclude = "" if quality.nobody_passes else " Exclude them, so that others judge their tasks."
    headline = f"{first.headline} {_say_who_counts(judgments, quality.kept, len(quality.reasons))}".strip()
    return [replace(first, headline=headline, note=f"{who}{exclude} {first.note}"), *others]


def _say_who_counts(judgments: Judgments, kept: Judgments, failing: int) -> str:
    """Why fewer judgments count than the page shows beside: people fail the check."""
    from adjudge.table.record import count_answers

    whole, counting = (count_answers(some.final().table).judgments for some in (judgments, kept))
    if whole == counting:
        return ""
    people = judgments.table["annotator"].n_unique()
    fail = "fails" if failing == 1 else "fail"
    return f"Of {whole:,} judgments, {counting:,} count: {failing} of {people} annotators {fail} the check."


def _state(judgments: Judgments, looks: Looks | None, history: Path, planned: int) -> list[PanelTable]:
    from adjudge.evidence.look import planned_part
    from adjudge.ranking.methods import rank
    from adjudge.table.errors import AdjudgeError

    if looks is None:
        live = _live(judgments, None, None, history, planned=planned, ranking=rank(judgments))
        return [_live_panel(live, headline=live.advice)]
    part = planned_part(judgments, planned)
    try:
        ranking = rank(part)
    except AdjudgeError as fault:
        return _say_too_early(part, looks, history, fault.for_command_line())
    verdict = _verdict(part, looks, history, ranking)
    from adjudge.evidence.look import read_history

    live = _live(part, looks, read_history(history), history, planned=planned, ranking=ranking)
    return [*verdict, _live_panel(live)]


def _say_too_early(judgments: Judgments, looks: Looks, history: Path, why: str) -> list[PanelTable]:
    """What can be said while there is no ranking yet: when the next look comes."""
    from adjudge.table.record import count_answers

    first, *others = _show_last_verdict(history, count_answers(judgments.final().table).judgments, looks)
    return [replace(first, note=f"{first.note} {why}."), *others]


def _count_looks(history: Path) -> int:
    from adjudge.evidence.look import read_history

    past = read_history(history)
    return 0 if past is None else len(past.records)


def _count_seen(history: Path) -> int:
    """How many judgments the last look had: there may be fewer now, where somebody fails the check since."""
    from adjudge.evidence.look import read_history

    past = read_history(history)
    return past.records[-1].judgments if past is not None and past.records else 0


def _verdict(judgments: Judgments, looks: Looks, history: Path, ranking: Ranking) -> list[PanelTable]:
    from adjudge.evidence.look import LookSettings, look
    from adjudge.evidence.look_claims import count_judgments
    from adjudge.server.panels import panels_of_result
    from adjudge.table.files import write_text

    count = count_judgments(judgments)
    due = looks.looks if count >= looks.planned else count * looks.looks // looks.planned
    if (due <= _count_looks(history) and looks.spending != "anytime") or count < _count_seen(history):
        return _show_last_verdict(history, count, looks)
    plan: dict[str, Any] = {
        name: getattr(looks, name) for name in ("planned", "looks", "goal", "spending", "level", "people")
    }
    result = look(judgments, LookSettings(**plan, history=history), ranking=ranking)
    first, *others = panels_of_result(result, "look")
    claims = (*result.settled, *result.open)
    panels = [replace(first, headline=result.advice, intervals=_intervals(claims)), *others]
    shown = json.dumps([asdict(panel) for panel in panels], ensure_ascii=False)
    write_text(history.with_name(_SHOWN), shown)
    return panels


def _show_last_verdict(history: Path, count: int, looks: Looks) -> list[PanelTable]:
    """The last verdict as it was shown, once more, with what is still to come."""
    from adjudge.evidence.verdict_looks import say_first_look, say_next_look
    from adjudge.server.panels import PanelTable

    looks_taken, file = _count_looks(history), history.with_name(_SHOWN)
    next_look = -(-(looks_taken + 1) * looks.planned // looks.looks)
    kept = json.loads(file.read_text(encoding="utf-8")) if file.exists() else []
    shown = [PanelTable.from_plain(table) for table in kept]
    if not shown:
        headline, note = say_first_look(count, looks.planned, next_look)
        return [PanelTable("Verdict (adjudge look)", (), (), note, headline=headline)]
    now = say_next_look(count, looks.planned, next_look if looks_taken < looks.looks else None)
    return [replace(shown[0], note=f"{shown[0].note} {now}"), *shown[1:]]


def _intervals(claims: tuple[LookClaim, ...]) -> tuple[PanelInterval, ...]:
    from adjudge.server.panels import PanelInterval

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
    from adjudge.evidence.boundaries import LookPlan
    from adjudge.evidence.live import live
    from adjudge.evidence.look_claims import parse_goal
    from adjudge.table.files import write_text

    file = history.with_name("looks.start.json")
    systems = sorted(entry.system for entry in ranking.systems)
    start = _start(file, systems, planned)
    plan = None
    if looks is not None:
        plan = LookPlan(planned, looks.looks, parse_goal(looks.goal), looks.spending, looks.level)
    level = LEVEL if looks is None else looks.level
    state = live(judgments, planned=planned, level=level, plan=plan, history=past, start=start, ranking=ranking)
    if start is None and state.start is not None:
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
    from adjudge.evidence.verdict_looks import explain_possible_ranks
    from adjudge.server.panels import PanelRanks, panels_of_result

    ranks = tuple(PanelRanks(entry.system, entry.best, entry.worst, len(live.systems)) for entry in live.systems)
    outlook = "" if live.outlook is None else live.outlook.sentence
    note = explain_possible_ranks(live.level, planned_looks=not headline)
    title = f"Possible ranks after {live.judgments:,} of {live.planned:,} judgments"
    first = panels_of_result(live, "look")[1]
    with_outlook = " ".join(part for part in (headline, outlook) if part)
    # A verdict already shows these pairs; a second picture of them would confuse.
    pairs = _intervals(live.claims) if headline else ()
    return replace(first, title=title, headline=with_outlook, note=note, ranks=ranks, intervals=pairs)


_NICE = 10
"""How much the process gives way to others: people who judge come first."""


def main() -> None:
    """Compute the group of panels that standard input asks for, and write it to standard output, both as JSON."""
    from adjudge.server.serve import open_served
    from adjudge.table.record import count_answers

    os.nice(_NICE)
    request = json.load(sys.stdin)
    file = Path(request["campaign"])
    with open_served(file, request["database"]):
        from adjudge.server.export import by_first_criterion, read_judgments, with_record
        from adjudge.server.organisers import judgments_planned
        from adjudge.server.served_campaign import get_served

        judgments = with_record(by_first_criterion(read_judgments()), None)
        campaign = get_served().campaign
        planned = judgments_planned() if campaign.looks is None else campaign.looks.planned
    panels = []
    if len(judgments):
        panels = compute_panels(request["group"], judgments, campaign, file.with_name("looks.json"), planned=planned)
    answer = {"judgments": count_answers(judgments.final().table).judgments, "panels": list(map(asdict, panels))}
    sys.stdout.write(json.dumps(answer, ensure_ascii=False))


def compute_panels(
    group: Group, judgments: Judgments, campaign: Campaign, history: Path, *, planned: int
) -> list[PanelTable]:
    """The panels of a group; what cannot be computed yet says why."""
    from adjudge.server.panels import PanelTable
    from adjudge.table.errors import AdjudgeError

    wanted: dict[str, Callable[[], list[PanelTable]]] = {
        "State": partial(compute_state, judgments, campaign.looks, history, planned=planned)
    }
    if group == "statistics":
        wanted = {
            "Annotators": partial(annotator_panels, judgments),
            "Agreement": partial(agreement_panels, judgments),
        }
    panels = []
    for title, make in wanted.items():
        try:
            panels += make()
        except AdjudgeError as fault:
            panels.append(PanelTable(title, (), (), note=f"Too early to say: {fault.for_command_line()}."))
    return panels


def annotator_panels(judgments: Judgments) -> list[PanelTable]:
    """What `adjudge check` says of the annotators so far."""
    from adjudge.people.check import check
    from adjudge.server.panels import panels_of_result

    checked = check(judgments)
    first, *others = panels_of_result(checked, "check")
    with_controls = any(annotator.control_difference is not None for annotator in checked.annotators)
    better = "by how much genuine outputs were judged better than degraded ones"
    note = f"{first.note}. Bars: {better if with_controls else 'seconds per judgment'}."
    bars = tuple(_bars(checked, with_controls=with_controls))
    title = "Annotators so far (adjudge check)"
    return [replace(first, title=title, headline=_say_who_fails(checked), note=note, bars=bars), *others]


def _say_who_fails(checked: Checked) -> str:
    failing = [annotator for annotator in checked.annotators if not annotator.passed]
    if not failing:
        every = "Both" if len(checked.annotators) == 2 else f"All {len(checked.annotators)}"
        everybody = f"{every} annotators pass"
        return f"{'The one annotator passes' if len(checked.annotators) == 1 else everybody} the check."
    shown = "; ".join(f"{annotator.annotator} ({', '.join(annotator.reasons)})" for annotator in failing[:5])
    more = f" and {counted(len(failing) - 5, 'other')}" if len(failing) > 5 else ""
    do = agreeing(len(failing), "does", "do")
    return f"{len(failing)} of {counted(len(checked.annotators), 'annotator')} {do} not pass the check: {shown}{more}."


def _bars(checked: Checked, *, with_controls: bool) -> Iterator[PanelBar]:
    """How far apart each annotator scored genuine and degraded outputs, or seconds where there are no controls."""
    from adjudge.server.panels import PanelBar

    for annotator in sorted(checked.annotators, key=lambda annotator: (annotator.passed, annotator.annotator)):
        value = annotator.control_difference if with_controls else annotator.mean_seconds
        if value is not None and math.isfinite(value):
            shown = f"{value:.1f}" if with_controls else f"{value:.1f} s"
            yield PanelBar(annotator.annotator, value, shown, flagged=not annotator.passed)


def agreement_panels(judgments: Judgments) -> list[PanelTable]:
    """What `adjudge agree` says of the judgments so far."""
    from adjudge.people.agreement import agree
    from adjudge.server.panels import panels_of_result

    result = agree(judgments)
    first, *others = panels_of_result(result, "agree")
    return [replace(first, intervals=tuple(_coefficients(result))), *others]


def _coefficients(result: Agreement) -> Iterator[PanelInterval]:
    """Every coefficient that has an interval, between annotators and with themselves."""
    from adjudge.server.panels import PanelInterval

    for whose, parts in (("between annotators", result.inter), ("with themselves", result.intra)):
        coefficients = parts.get("all")
        if coefficients is None:
            continue
        plain = coefficients.to_dict()
        for name, (low, high) in coefficients.interval.items():
            value = plain.get(name)
            if isinstance(value, float) and all(map(math.isfinite, (low, value, high))):
                yield PanelInterval(f"{name.replace('_', ' ')} {whose}", low, value, high, settled=low > 0)


if __name__ == "__main__":
    main()
