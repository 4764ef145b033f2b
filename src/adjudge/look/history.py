"""The history of looks: a file that makes every look reproducible and cannot be rewound unnoticed.

Every look is written with a digest over itself and the digest before it, and the file ends with the number of looks and
the last digest. A look that was changed, left out or taken back breaks the chain. A history belongs to its data: each
look keeps the smallest digests of the judgments it saw, and most of these must be among the judgments of the next one.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from adjudge.core.errors import DataError, InputError
from adjudge.core.files import exists, read_text, write_text
from adjudge.core.fingerprint import fingerprint
from adjudge.core.judgments import KEY
from adjudge.core.wording import counted
from adjudge.look.decide import Observed, Settled
from adjudge.look.estimates import answered_rows

if TYPE_CHECKING:
    from pathlib import Path

    from adjudge.core.judgments import Judgments

KIND = "adjudge looks"
_START = "0" * 64
_SKETCH = 64
_DIGITS = 16
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


@dataclass(frozen=True)
class History:
    """The plan as it was first given, and all looks so far."""

    plan: dict[str, Any]
    records: tuple[LookRecord, ...] = ()


def observed_of(record: LookRecord) -> Observed:
    """The statistics of a look that was taken."""
    se, df = (np.array([np.nan if value is None else value for value in column]) for column in (record.se, record.df))
    df = np.where(np.isnan(df), np.inf, df)
    return Observed(record.fraction, np.array(record.difference), se, df, np.array(record.z))


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
    except (ValueError, KeyError, TypeError) as fault:
        raise InputError("is not a history of looks; name another file with --history", file=path) from fault
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
    return History(plan, records)


def write_history(path: Path, history: History) -> None:
    """Write the file at once and whole."""
    digest = _digest(_START, history.plan)
    looks = []
    for record in history.records:
        plain = asdict(record)
        digest = _digest(digest, plain)
        looks.append({"record": plain, "digest": digest})
    content = {
        "kind": KIND,
        "plan": history.plan,
        "looks": looks,
        "end": {"looks": len(looks), "digest": digest},
    }
    write_text(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def _digest(before: str, content: dict[str, Any]) -> str:
    plain = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return fingerprint(f"{before}\n{plain}", digits=len(_START))


def sketch_of(judgments: Judgments) -> list[str]:
    """The smallest digests of the judgments, by what identifies each (not by its answer, which may be revised)."""
    smallest: list[str] = _digests(judgments)[:_SKETCH].to_list()
    return smallest


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
    if count < last.judgments:
        raise DataError(
            f"the data hold {counted(count, 'judgment')}, at look {last.look} there were {last.judgments:,}; "
            "a look cannot be taken back, give all judgments so far"
        )
    present = set(_digests(judgments).to_list())
    share = np.mean([digest in present for digest in last.sketch])
    if share < _LEAST_FOUND:
        raise DataError(
            f"the history is of other data: of the judgments of look {last.look}, {share:.0%} are in the file; "
            "name the history of these data with --history"
        )


def _shown(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _digests(judgments: Judgments) -> pl.Series:
    key = answered_rows(judgments).select(pl.concat_str(pl.col(KEY).cast(pl.String).fill_null("\0"), separator="\1"))
    text = key.to_series().to_list()
    return pl.Series(sorted(fingerprint(row, digits=_DIGITS) for row in text), dtype=pl.String)
