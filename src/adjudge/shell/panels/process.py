"""The process that computes panels for the organisers' page: annotators and agreement so far, and the state (`state`).

It reads from standard input which panels are asked for and writes them to standard output, both as JSON, and gives way
to the processes that serve.
"""

from __future__ import annotations

import json
import math
import os
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge.core.wording import agreeing, counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adjudge.collect.organisers.panels import PanelBar, PanelInterval, PanelTable
    from adjudge.core.judgments import Judgments
    from adjudge.results.agree import Agreement
    from adjudge.results.check import Checked

_NICE = 10
"""How much the process gives way to others: people who judge come first."""


def main() -> None:
    """Compute the panels that standard input asks for, and write them to standard output, both as JSON."""
    from adjudge.core.errors import AdjudgeError
    from adjudge.formats import native
    from adjudge.formats.options import ReadOptions
    from adjudge.shell.panels.state import compute_state

    os.nice(_NICE)
    request = json.load(sys.stdin)
    try:
        judgments = native.read([Path(request["judgments"])], ReadOptions())
        if request["what"] == "state":
            panels = compute_state(judgments, request)
        elif request["what"] == "annotators":
            panels = annotator_panels(judgments, least_seconds=request["least_seconds"])
        else:
            panels = agreement_panels(judgments)
        answer: dict[str, Any] = {"panels": [asdict(panel) for panel in panels]}
    except AdjudgeError as fault:
        answer = {"fault": str(fault)}
    sys.stdout.write(json.dumps(answer, ensure_ascii=False))


def annotator_panels(judgments: Judgments, *, least_seconds: float) -> list[PanelTable]:
    """What `adjudge check` says of the annotators so far, at the pace that the campaign asks for."""
    from adjudge.check import CheckRule, check
    from adjudge.collect.organisers.panels import panels_of_result

    checked = check(judgments, rule=CheckRule(least_seconds=least_seconds))
    first, *others = panels_of_result(checked, "check")
    note = f"{first.note}. {_what_bars_show(checked)}"
    panel = replace(
        first,
        title="Annotators so far (adjudge check)",
        headline=_who_fails(checked),
        note=note,
        bars=tuple(_bars(checked)),
    )
    return [panel, *others]


def _who_fails(checked: Checked) -> str:
    failing = [annotator for annotator in checked.annotators if not annotator.passed]
    if not failing:
        everybody = f"All {len(checked.annotators)} annotators pass"
        return f"{'The one annotator passes' if len(checked.annotators) == 1 else everybody} the check."
    shown = "; ".join(f"{annotator.annotator} ({', '.join(annotator.reasons)})" for annotator in failing[:5])
    more = f" and {counted(len(failing) - 5, 'other')}" if len(failing) > 5 else ""
    do = agreeing(len(failing), "does", "do")
    return f"{len(failing)} of {counted(len(checked.annotators), 'annotator')} {do} not pass the check: {shown}{more}."


def _has_controls(checked: Checked) -> bool:
    return any(annotator.control_difference is not None for annotator in checked.annotators)


def _what_bars_show(checked: Checked) -> str:
    if _has_controls(checked):
        return "Bars: by how much genuine outputs were judged better than degraded ones."
    return "Bars: seconds per judgment."


def _bars(checked: Checked) -> Iterator[PanelBar]:
    """How far apart each annotator scored genuine and degraded outputs, or seconds where there are no controls."""
    from adjudge.collect.organisers.panels import PanelBar

    controlled = _has_controls(checked)
    for annotator in sorted(checked.annotators, key=lambda annotator: (annotator.passed, annotator.annotator)):
        value = annotator.control_difference if controlled else annotator.mean_seconds
        if value is not None and math.isfinite(value):
            shown = f"{value:.1f}" if controlled else f"{value:.1f} s"
            yield PanelBar(annotator.annotator, value, shown, flagged=not annotator.passed)


def agreement_panels(judgments: Judgments) -> list[PanelTable]:
    """What `adjudge agree` says of the judgments so far."""
    from adjudge.agree import agree
    from adjudge.collect.organisers.panels import panels_of_result

    result = agree(judgments)
    first, *others = panels_of_result(result, "agree")
    return [replace(first, intervals=tuple(_coefficients(result))), *others]


def _coefficients(result: Agreement) -> Iterator[PanelInterval]:
    """Every coefficient that has an interval, between annotators and with themselves."""
    from adjudge.collect.organisers.panels import PanelInterval

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
