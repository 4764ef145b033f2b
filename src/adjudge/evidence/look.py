"""Looks at a growing campaign whose claims stay true. `look` is the main function.

    verdict = look(judgments, LookSettings(planned=5000, looks=5, goal="best", history=Path("looks.json")))
    verdict.stop, verdict.advice

`boundaries` computes how far a statistic must go at each look and shares the level among the comparisons,
`look_claims` has the estimates after stopping, `live` the state between two planned looks. The file of looks taken is
read and written here.
`docs/look.md` says what is promised and how it was checked.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from pathlib import Path  # noqa: TC003 - the shell reads the types of settings when it runs
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from adjudge.evidence import look_claims
from adjudge.evidence.boundaries import MODES, LookPlan, Mode, Observed, Settled, State, settle
from adjudge.evidence.verdict import say_who_judged
from adjudge.evidence.verdict_looks import say_for_whom
from adjudge.table.errors import DataError, InputError, UsageError, param, unknown_choice
from adjudge.table.files import exists, read_text, write_text
from adjudge.table.judgments import KEY, Judgments, fingerprint
from adjudge.table.protocols import RATED
from adjudge.table.record import ANSWER, LooksRecord, TakenLook, is_answered, is_judgment, once_per_text
from adjudge.table.settings import method_option, option, seed_option
from adjudge.table.wording import agreeing, counted, listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.ranking.ranking import Ranking


# The history of looks: a file that makes every look reproducible and cannot be rewound unnoticed.
#
# Every look is written with a digest over itself and the digest before it, and the file ends with the number of looks
# and the last digest. A look that was changed, left out or taken back breaks the chain. A history belongs to its
# data: each look keeps the smallest digests of the judgments it saw, and most of these must be among the judgments of
# the next one.


KIND = "adjudge looks"
_START = "0" * 64
_SKETCH = 64
_DIGITS = 16
_LATER = ("people", "caveats")
_LEAST_FOUND = 0.5
"""The share of the kept digests that must be found again; judgments of some annotators may have been taken out."""


@dataclass(frozen=True)
class LookRecord:
    """One look as it was taken. Lists have one entry per pair of systems."""

    look: int
    judgments: int
    fraction: float
    """Of the plan; 1 at a final look."""
    data: str
    sketch: list[str]
    difference: list[float]
    se: list[float | None]
    df: list[float | None]
    z: list[float]
    sign: list[int]
    """What is settled after this look: 1 the first system of the pair is better, -1 the second, 0 open."""
    settled_at: list[int]
    level: list[float]
    """The one-sided level of each pair."""
    top: list[str]
    """The systems that are settled as the top, where that is the goal."""
    top_at: int
    """The look at which they were settled; 0 where they are not."""
    people: int | None = None
    """How many people had judged; None where not all are named, or in a history of an earlier version."""
    caveats: list[str] = field(default_factory=list)
    """What was said of the reach of the claims."""

    def to_plain(self) -> dict[str, Any]:
        """The look as the file has it; without what earlier versions do not know, so that their digests stay."""
        plain = asdict(self)
        return {name: value for name, value in plain.items() if value not in (None, []) or name not in _LATER}


@dataclass(frozen=True)
class History:
    """The plan as it was first given, and all looks so far."""

    plan: dict[str, Any]
    records: tuple[LookRecord, ...] = ()


def observed_of(record: LookRecord) -> Observed:
    """The statistics of a look that was taken."""
    se, df = (np.array([np.nan if value is None else value for value in column]) for column in (record.se, record.df))
    df = np.where(np.isnan(df), np.inf, df)
    return Observed(record.fraction, np.array(record.difference), se, df, np.array(record.z), people=record.people)


def settled_of(record: LookRecord) -> Settled:
    """What was settled after a look."""
    return Settled(
        np.array(record.sign, dtype=np.int64), np.array(record.settled_at, dtype=np.int64), np.array(record.level)
    )


def read_history(path: Path) -> History | None:
    """The history in the file, None where there is no file yet. A broken chain is refused."""
    if not exists(path):
        return None
    try:
        content = json.loads(read_text(path))
        plan, looks, end = content["plan"], content["looks"], content["end"]
        records = tuple(LookRecord(**look["record"]) for look in looks)
        _check_chain(plan, looks, end, path)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as fault:
        raise InputError(f"is not a history of looks; name another file with {param('history')}", file=path) from fault
    return History(plan, records)


def _check_chain(plan: dict[str, Any], looks: list[dict[str, Any]], end: dict[str, Any], path: Path) -> None:
    """Refuse a history in which a look was changed, or from which the last ones were taken away."""
    digest = _digest(_START, plan)
    for number, look in enumerate(looks, start=1):
        digest = _digest(digest, look["record"])
        if digest != look["digest"]:
            raise InputError(f"look {number} was changed after it was taken; restore the file from a copy", file=path)
    if end != {"looks": len(looks), "digest": digest}:
        raise InputError(
            f"holds {counted(len(looks), 'look')} where {end.get('looks')} were taken; looks cannot be taken back, "
            "restore the file from a copy",
            file=path,
        )


def write_history(path: Path, history: History) -> None:
    """Write the file at once and whole."""
    digest = _digest(_START, history.plan)
    looks = []
    for record in history.records:
        plain = record.to_plain()
        digest = _digest(digest, plain)
        looks.append({"record": plain, "digest": digest})
    end = {"looks": len(looks), "digest": digest}
    content = {"kind": KIND, "plan": history.plan, "looks": looks, "end": end}
    write_text(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def _digest(before: str, content: dict[str, Any]) -> str:
    plain = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return fingerprint(f"{before}\n{plain}", digits=len(_START))


def record_looks(history: History) -> LooksRecord:
    """The looks as the record of a campaign has them: what each had spent, and all that was settled after it."""
    plan, digest, taken = history.plan, _digest(_START, history.plan), []
    pairs = list(combinations(plan["systems"], 2))
    spending = LookPlan(plan["planned"], plan["looks"], look_claims.Goal(), plan["spending"], plan["level"])
    spent = 0.0
    for record in history.records:
        digest = _digest(digest, record.to_plain())
        spent = max(spent, spending.spent(record.fraction)) if observed_of(record).tells_of_others else spent
        settled = tuple(
            (one, other) if sign > 0 else (other, one)
            for (one, other), sign in zip(pairs, record.sign, strict=True)
            if sign
        )
        taken.append(
            TakenLook(
                look=record.look,
                judgments=record.judgments,
                people=record.people,
                fraction=record.fraction,
                level=spent,
                settled=settled,
                top=tuple(record.top),
                digest=digest,
            )
        )
    described = {name: plan[name] for name in ("planned", "looks", "goal", "spending", "level")}
    return LooksRecord(**described, taken=tuple(taken), people=plan.get("people"))


def check_continues(history: History, plan: dict[str, Any], judgments: Judgments, count: int) -> None:
    """Refuse a history with another plan or of other data."""
    for name, value in plan.items():
        if history.plan.get(name) != value:
            raise DataError(
                f"the history was begun with {name} {_shown(history.plan.get(name))}, now it is {_shown(value)}; "
                "a plan cannot be changed during a campaign, continue with the first one"
            )
    if not history.records:
        return
    last = history.records[-1]
    if last.people is None:
        # Earlier versions counted every row: a text once for each of its systems, and repeats.
        count = max(count, judgments.final().table.filter(is_answered() & pl.col("kind").is_in(RATED)).height)
    if count < last.judgments:
        raise DataError(
            f"the data hold {counted(count, 'judgment')}, at look {last.look} there were {last.judgments:,}; "
            "a look cannot be taken back, give all judgments so far"
        )
    present = set(_digests(judgments))
    share = np.mean([digest in present for digest in last.sketch])
    if share < _LEAST_FOUND:
        raise DataError(
            f"the history is of other data: of the judgments of look {last.look}, {share:.0%} are in the file; "
            f"name the history of these data with {param('history')}"
        )


def _shown(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _digests(judgments: Judgments) -> list[str]:
    """The digests of the judgments, by what identifies each (not by its answer, which may be revised), in order."""
    key = look_claims.answered_rows(judgments).select(
        pl.concat_str(pl.col(KEY).cast(pl.String).fill_null("\0"), separator="\1")
    )
    return sorted(fingerprint(row, digits=_DIGITS) for row in key.to_series().to_list())


def _between(typed: Sequence[str]) -> tuple[tuple[str, str], ...]:
    pairs = []
    for text in typed:
        first, _, second = (part.strip() for part in text.partition(","))
        if not first or not second or first == second:
            raise UsageError(f"{param('between')} is '{text}'; give two systems joined by a comma")
        pairs.append((first, second))
    return tuple(pairs)


@dataclass(frozen=True, kw_only=True)
class LookSettings:
    """The plan of a campaign, and what to settle."""

    planned: int | None = option(
        None,
        "Planned number of judgments, without controls; a comparison counts as two. Default: the campaign's record.",
        about="planned number of judgments, without controls; a comparison counts as two. Needed unless the record of "
        "the campaign has a plan of looks.",
    )
    people: int | None = option(
        None,
        "Planned number of people. If a smaller share of them than of the judgments is there, that share counts.",
        least=1,
        about="planned number of people; the share of the plan that is in is that of the people where it is smaller "
        "than that of the judgments.",
        after="level",
    )
    looks: int | None = option(
        None,
        "Planned number of looks. Default: the campaign's record.",
        about="planned number of looks; they need not be evenly spaced. Needed like `planned`.",
    )
    history: Path | None = option(
        None,
        "File with the earlier looks; this look is added to it.",
        metavar="FILE",
        about="the file with the earlier looks, to which this look is added. Without it, all planned looks before this "
        "one are assumed to have been made.",
    )
    goal: str | None = option(None, "What to settle: pairs, best, or top:k. Default: the campaign's record, or pairs.")
    between: tuple[tuple[str, str], ...] = option(
        (),
        "A pair to compare; may be repeated. Default: all pairs.",
        metavar="A,B",
        typed=list[str] | None,
        parse=_between,
        python="Sequence[tuple[str, str]]",
        about="for `pairs`, the pairs to compare; default: all pairs.",
    )
    spending: Literal["kim-demets", "obrien-fleming", "pocock", "anytime"] | None = option(
        None,
        "How the level is spread over looks; anytime allows any number. Default: the campaign's record, or kim-demets.",
        about="how the level is spread over looks: `kim-demets`, `obrien-fleming` (less at first), `pocock` (more at "
        "first), or `anytime` for any number of looks. Default: the campaign's record, or `kim-demets`.",
    )
    level: float | None = option(
        None,
        "Largest probability of any false claim, over all claims and looks. Default: the campaign's record, or 0.05.",
    )
    final: bool = option(
        False, "The last look of a campaign that ended early; it uses the rest of the level.", "--final"
    )
    method: str | None = method_option("Ranking method. Default: as in 'adjudge rank'.")
    seed: int = seed_option()


def look(judgments: Judgments, settings: LookSettings, *, ranking: Ranking | None = None) -> look_claims.Look:
    """Look at the judgments so far: which claims are settled for good, which are open, and whether to stop.

    Args:
        judgments: all judgments so far, of one language pair.
        settings: the plan, and what to settle.
        ranking: the ranking of these very judgments, where it is at hand already.
    """
    from adjudge.ranking.methods import RankSettings, rank

    settings, from_record = _with_recorded_plan(settings, judgments)
    plan = _plan(settings)
    planned = plan.planned
    judgments = planned_part(judgments, planned)
    count = look_claims.count_judgments(judgments)
    if count > planned:
        more = f"the data hold {count:,} judgments, {planned:,} {agreeing(planned, 'was', 'were')} planned"
        raise DataError(f"{more}; a plan cannot be extended during a campaign, use the first ones only")
    ranking = ranking or rank(judgments, method=settings.method, settings=RankSettings(seed=settings.seed))
    systems = tuple(sorted(entry.system for entry in ranking.systems))
    plan.goal.check(systems)
    path = settings.history
    past = _past(path, plan, systems, judgments, count, people=settings.people)
    last = past.records[-1] if past.records else None
    people = look_claims.people_behind(ranking, look_claims.count_people(judgments))
    fraction = 1.0 if settings.final else _fraction(planned, settings.people, count, people)
    now = look_claims.observe(ranking, max(fraction, 0.0 if last is None else last.fraction), people)
    repeated = last is not None and last.data == judgments.fingerprint
    seen = _assumed(plan, now) if path is None else [observed_of(record) for record in past.records]
    if last is not None and repeated:
        # The last look of the history once more: nothing is spent on it.
        seen[-1] = replace(seen[-1], lasting=now.lasting, leaning=now.leaning)
        state = State(plan, systems, seen, settled_of(last), last.judgments)
    else:
        seen.append(now)
        before = settled_of(last) if last is not None else Settled.none(len(now.z))
        settled = settle(plan, seen, before, look_claims.tested_pairs(plan.goal, systems), len(systems))
        state = State(plan, systems, seen, settled, count)
    caveats = [*(last.caveats if last is not None and repeated else _caveats(state, judgments))]
    if plan.goal.kind == "top":
        # What was settled as the top stays settled.
        top, top_at = (
            (tuple(last.top), last.top_at) if last is not None and last.top else (look_claims.settled_top(state), 0)
        )
        state = replace(state, top=top, top_at=top_at or (len(seen) if top else 0))
    if path is not None and not repeated:
        write_history(path, History(past.plan, (*past.records, replace(_record(state, judgments), caveats=caveats))))
    earlier = past.records[:-1] if repeated else past.records
    notes = (*from_record, *_remember(earlier), *_notes(plan, state, path, repeated=repeated))
    result = _result(state, judgments, ranking, notes)
    return replace(result, advice=" ".join([result.advice, *caveats]), information=min(fraction, 1.0))


def _with_recorded_plan(settings: LookSettings, judgments: Judgments) -> tuple[LookSettings, tuple[str, ...]]:
    """The settings with what is not given taken from the campaign's record, and notes on both.

    A plan of one's own is allowed, and a note says where it is not that of the campaign.
    """
    recorded = None if judgments.record is None else judgments.record.looks
    if recorded is None:
        return settings, ()
    names = ("planned", "looks", "goal", "spending", "level", "people")
    given = {name: getattr(settings, name) for name in names}
    if settings.between:
        # The record's goal is about all pairs.
        given["goal"] = given["goal"] or "pairs"
    missing = {name: getattr(recorded, name) for name, value in given.items() if value is None}
    other = [name for name in names if name not in missing and given[name] != getattr(recorded, name)]
    notes = []
    if missing.keys() & {"planned", "looks"}:
        plan = f"{counted(recorded.looks, 'look')} at {recorded.planned:,} judgments"
        notes.append(f"the plan is that of the campaign's record: {plan}, level {recorded.level:g}")
    if other:
        said = listed([f"{name} {getattr(recorded, name)} (here {given[name]})" for name in other])
        notes.append(f"this is not the plan of the campaign's record, which has {said}")
    return replace(settings, **missing), tuple(notes)


def _fraction(planned: int, planned_people: int | None, count: int, people: int | None) -> float:
    """The share of the plan that is in: of the judgments, or of the people where fewer of these have come yet."""
    if count >= planned:
        return 1.0
    share = count / planned
    return share if planned_people is None or people is None else min(share, people / planned_people)


def _caveats(state: State, judgments: Judgments) -> list[str]:
    """For whom something is settled, where not all annotators are named: they may be one or two."""
    if not (state.settled.sign != 0).any() or state.now.people is not None:
        return []
    said = say_for_whom(judgments.table["annotator"].drop_nulls().n_unique(), all_named=False)
    return [said.strip()] if said else []


def _remember(records: Sequence[LookRecord]) -> tuple[str, ...]:
    """What was said at earlier looks of the claims that they settled, which the present people cannot make good."""
    notes = [f"at look {record.look}: {caveat}" for record in records for caveat in record.caveats]
    old = [record.look for record in records if record.people is None and not record.caveats]
    settled_then = [number for number in old if number in records[-1].settled_at or number == records[-1].top_at]
    if settled_then:
        looks = f"look{'s' if len(settled_then) > 1 else ''} {listed([str(number) for number in settled_then])}"
        notes.append(f"{looks} did not count people: what was settled then may be the taste of one or two")
    return tuple(notes)


def planned_part(judgments: Judgments, planned: int) -> Judgments:
    """The judgments up to the plan, in the order in which they were saved: the last task may go beyond it."""
    if "saved" not in judgments.table.columns:
        return judgments
    counting = once_per_text(look_claims.answered_rows(judgments))
    if counting.height <= planned:
        return judgments
    reason = "judged after the planned number was reached"
    # Several judgments may have come with one save: they count in the order of the table.
    beyond = counting.sort("saved", maintain_order=True).slice(planned).select(ANSWER)
    late = judgments.table.select(pl.struct(ANSWER).is_in(beyond.to_struct().implode())).to_series()
    border = counting["saved"].sort()[planned - 1]
    judged = judgments.table.select(is_judgment()).to_series()
    after = (judgments.table["saved"] > border).fill_null(value=False) & ~judged
    return judgments.keep(pl.lit(~(late | after)), otherwise=reason)


def _plan(settings: LookSettings) -> LookPlan:
    """The plan, with the usual values for what neither the user nor the record gives."""
    planned, looks = settings.planned, settings.looks
    if planned is None or looks is None:
        raise UsageError(
            f"a look needs a plan, made before the first one; give the judgments planned in all with "
            f"{param('planned')}, and how many looks with {param('looks')}"
        )
    goal = look_claims.parse_goal("pairs" if settings.goal is None else settings.goal, tuple(settings.between))
    spending: Mode = settings.spending or "kim-demets"
    level = 0.05 if settings.level is None else settings.level
    if planned < 1:
        raise UsageError(f"{param('planned')} is {planned}; give the judgments planned in all, before the first look")
    if looks < 1:
        raise UsageError(f"{param('looks')} is {looks}; give how many looks are planned, at least 1")
    if not 0 < level < 1:
        raise UsageError(f"{param('level')} is {level:g}, it must lie between 0 and 1; the usual value is 0.05")
    if spending not in MODES:
        raise unknown_choice("spending", spending, MODES)
    return LookPlan(planned, looks, goal, spending, level)


def _past(
    path: Path | None,
    plan: LookPlan,
    systems: tuple[str, ...],
    judgments: Judgments,
    count: int,
    *,
    people: int | None,
) -> History:
    described: dict[str, Any] = {
        **({} if people is None else {"people": people}),
        "planned": plan.planned,
        "looks": plan.looks,
        "goal": str(plan.goal),
        "between": [" / ".join(pair) for pair in plan.goal.between],
        "spending": plan.spending,
        "level": plan.level,
        "systems": list(systems),
    }
    past = None if path is None else read_history(path)
    if past is None:
        return History(described)
    check_continues(past, described, judgments, count)
    last = past.records[-1] if past.records else None
    if last is not None and last.fraction >= 1 and last.data != judgments.fingerprint:
        raise DataError(f"look {last.look} was the final one, the level is spent; plan a new campaign for more")
    return past


def _assumed(plan: LookPlan, now: Observed) -> list[Observed]:
    """The planned looks before this one, as if taken: with the information that their share of the plan brings."""
    fractions = [number / plan.looks for number in range(1, plan.looks) if (number + 0.25) / plan.looks < now.fraction]
    if plan.spending == "anytime":
        fractions = []
    zeros = np.zeros(len(now.z))
    return [
        Observed(fraction, zeros, now.se * np.sqrt(now.fraction / fraction), now.df, zeros) for fraction in fractions
    ]


def _record(state: State, judgments: Judgments) -> LookRecord:
    now = state.now

    def plain(values: np.ndarray[Any, np.dtype[np.float64]]) -> list[float | None]:
        return [float(value) if np.isfinite(value) else None for value in values]

    return LookRecord(
        look=len(state.seen),
        judgments=state.judgments,
        fraction=now.fraction,
        data=judgments.fingerprint,
        sketch=_digests(judgments)[:_SKETCH],
        difference=now.difference.tolist(),
        se=plain(now.se),
        df=plain(now.df),
        z=now.z.tolist(),
        sign=state.settled.sign.tolist(),
        settled_at=state.settled.look.tolist(),
        level=state.settled.level.tolist(),
        top=list(state.top),
        top_at=state.top_at,
        people=now.people,
    )


def _notes(plan: LookPlan, state: State, path: Path | None, *, repeated: bool) -> tuple[str, ...]:
    notes = []
    number, fraction = len(state.seen), state.now.fraction
    if path is None and plan.spending != "anytime" and number > 1:
        notes.append("no history was given: the planned looks before this one are assumed to have been made")
    if repeated:
        notes.append(f"these are the judgments of look {number}, which is shown again; nothing was spent")
    elif plan.spending != "anytime" and path is not None and not state.ended:
        wanted = number / plan.looks
        if abs(fraction - wanted) > 0.25 / plan.looks:
            notes.append(
                f"look {number} was planned at {min(wanted, 1.0):.0%} of the judgments and came at {fraction:.0%}; "
                "it spends level all the same"
            )
    return tuple(notes)


def _who(ranking: Ranking, people: int | None) -> str:
    """Who judged, in words; nothing where not all are named."""
    return say_who_judged(ranking, "" if people is None else counted(people, "person", "people"))


def _result(state: State, judgments: Judgments, ranking: Ranking, notes: tuple[str, ...]) -> look_claims.Look:
    plan = state.plan
    claims = look_claims.claims_of(state)
    stop, advice = look_claims.advice_on(state, claims)
    return look_claims.Look(
        settings={
            "planned": plan.planned,
            "looks": plan.looks,
            "goal": str(plan.goal),
            "between": ", ".join(" / ".join(pair) for pair in plan.goal.between) or None,
            "spending": plan.spending,
            "level": plan.level,
            "look": len(state.seen),
            "method": ranking.method,
            "seed": ranking.settings.get("seed"),
        },
        data=judgments.fingerprint,
        set_aside=ranking.set_aside,
        notes=notes + ranking.notes,
        look=len(state.seen),
        looks=plan.looks,
        judgments=state.judgments,
        planned=plan.planned,
        information=min(1.0, state.judgments / plan.planned),
        level=state.level_spent,
        goal=str(plan.goal),
        claims=look_claims.with_final_estimates(state, claims) if stop else claims,
        stop=stop,
        advice=advice,
        people=state.now.people,
        who=_who(ranking, state.now.people),
    )
