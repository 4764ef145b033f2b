"""Statistics for the organisers' page: annotators and agreement so far, as pictures with the figures behind them.

They are handed to the server by `adjudge serve`, because collecting knows no statistics. `state` says how far the
campaign is, `process` computes panels beside the server.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from adjudge.core.wording import agreeing, counted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from adjudge.collect.organisers.panels import Panel, PanelBar, PanelInterval, PanelTable
    from adjudge.core.judgments import Judgments
    from adjudge.results.agree import Agreement
    from adjudge.results.check import Checked
    from adjudge.results.result import Result


def panels_of(campaign_file: Path) -> list[Panel]:
    """The panels of a campaign: the state of its claims, annotators and agreement."""
    from adjudge.api.panels.process import compute_apart
    from adjudge.api.panels.state import state_panel
    from adjudge.collect.organisers.panels import Panel
    from adjudge.design.campaign.toml_file import load_campaign

    campaign = load_campaign(campaign_file)
    state = state_panel(campaign.looks, campaign_file.with_name("looks.json"))

    def annotators(judgments: Judgments) -> list[PanelTable]:
        return compute_apart(judgments, {"what": "annotators", "least_seconds": campaign.crowd.least_seconds})

    def agreement(judgments: Judgments) -> list[PanelTable]:
        return compute_apart(judgments, {"what": "agreement"})

    return [Panel(state, "state"), Panel(annotators), Panel(agreement)]


def annotator_panels(judgments: Judgments, *, least_seconds: float) -> list[PanelTable]:
    """What `adjudge check` says of the annotators so far, at the pace that the campaign asks for."""
    from adjudge.check import CheckRule, check

    checked = check(judgments, rule=CheckRule(least_seconds=least_seconds))
    first, *others = as_panels(checked, "check")
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

    result = agree(judgments)
    first, *others = as_panels(result, "agree")
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


def as_panels(result: Result, command: str) -> list[PanelTable]:
    """The tables of a result as the page shows them."""
    from adjudge.collect.organisers.panels import PanelTable
    from adjudge.results.table import show

    panels = []
    for table in result.tables():
        rows = tuple(
            tuple(show(cell, column) for cell, column in zip(row, table.columns, strict=True)) for row in table.rows
        )
        title = f"{table.title} (adjudge {command})"
        panels.append(PanelTable(title, tuple(column.label for column in table.columns), rows, table.note))
    return panels
