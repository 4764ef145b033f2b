"""The tutorial: items with known answers from a TSV file, which everybody does first.

Columns: `source`, `target` (for rankings and pairs `target1`, `target2`, ...), `note` (what is to be learnt), and the
right answer: `low` and `high` for scores (or for what the errors cost, or for how many percent are changed), `best`
(the number of the best target, 0 for a tie) for comparisons.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.core.errors import InputError
from adjudge.core.protocols import PROTOCOLS
from adjudge.core.wording import counted
from adjudge.design.campaign import MOST_POINTS
from adjudge.design.tasks import Item, Output, Screen, Task
from adjudge.formats.parsing.delimited import Delimited, read_delimited, to_float, to_int

if TYPE_CHECKING:
    from pathlib import Path

    from adjudge.design.campaign import Campaign

TUTORIAL = "tutorial"
# The largest answer, where there is no scale: what errors cost, and how much of a text is changed in percent.
_MOST = {"mqm": MOST_POINTS, "postedit": 100.0}


def read_tutorial(campaign: Campaign, path: Path) -> Task:
    """The tutorial task; every answer is checked against the protocol and its scale."""
    table = read_delimited(path, "\t", quoting=False)
    if not table.rows:
        raise InputError("holds no tutorial item; add one or remove files.tutorial", file=path)
    source, note = table.need("source"), table.find("note")
    screens: list[Screen] = []
    for number, (line, fields) in enumerate(table.rows, start=1):
        name = f"{TUTORIAL}-s{number:02d}"
        outputs = _read_outputs(campaign, table, fields, line, f"{name}-i1")
        text = fields[note].strip() if note is not None else ""
        item = Item(f"{name}-i1", str(number), fields[source].strip(), outputs, note=text or None)
        screens.append(Screen(name, TUTORIAL, (item,)))
    people = campaign.design.annotator_names
    return Task(TUTORIAL, tuple(screens), "tutorial", len(people), people)


def _read_outputs(campaign: Campaign, table: Delimited, fields: list[str], line: int, item: str) -> tuple[Output, ...]:
    if not PROTOCOLS[campaign.protocol].relative:
        text = fields[table.need("target", "target1")].strip()
        expected = _read_score_range(campaign, table, fields, line)
        return (Output(f"{item}-o1", (TUTORIAL,), text, TUTORIAL, expected=expected),)
    columns = [column for i in range(1, 10) if (column := table.find(f"target{i}")) is not None]
    texts = [fields[column].strip() for column in columns if fields[column].strip()]
    in_pairs = PROTOCOLS[campaign.protocol].in_pairs
    if len(texts) < 2 or (in_pairs and len(texts) != 2):
        wanted = "exactly 2" if in_pairs else "at least 2"
        raise InputError(f"has {counted(len(texts), 'target')} where {wanted} are needed", file=table.path, line=line)
    best = to_int(fields[table.need("best")], "best", table.path, line)
    if not 0 <= best <= len(texts):
        raise InputError(f"best is {best}, it must lie between 0 and {len(texts)}", file=table.path, line=line)
    others = (1.0, 1.0) if best == 0 else (2.0, float(len(texts)))
    return tuple(
        Output(f"{item}-o{i}", (f"{TUTORIAL}-{i}",), text, TUTORIAL, expected=(1.0, 1.0) if i == best else others)
        for i, text in enumerate(texts, start=1)
    )


def _read_score_range(campaign: Campaign, table: Delimited, fields: list[str], line: int) -> tuple[float, float]:
    low = to_float(fields[table.need("low")], "low", table.path, line)
    high = to_float(fields[table.need("high")], "high", table.path, line)
    scale = campaign.score_scale
    least, most = (scale.low, scale.high) if PROTOCOLS[campaign.protocol].on_scale else (0, _MOST[campaign.protocol])
    if not least <= low <= high <= most:
        raise InputError(
            f"expects scores from {low:g} to {high:g}, the scale runs from {least:g} to {most:g}; correct it",
            file=table.path,
            line=line,
        )
    return low, high
