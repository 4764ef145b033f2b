"""Machine judges: who may stand in for a person, and where their answers lean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.evidence.verdict import say_judges
from adjudge.report.page import Chart, Section
from adjudge.report.sections.trust import rates_chart

if TYPE_CHECKING:
    from adjudge.results.audit.judges import Bias, JudgeReport, Judges

MOST_ROWS = 40
"""Judges and people in the chart; of more, the table has all."""
LEVEL = 0.05


def judges_section(judges: Judges) -> Section:
    """The verdicts in words, a chart of every judge against every person, and the tables."""
    words = [
        "Can a program replace one of the people? Each person was left out in turn, and the others were the yardstick.",
        "A judge stands up to the person if it is as often the closer one of the two, up to an allowance.",
        *say_judges(
            [report.judge for report in judges.judges if report.outcome == "passed"],
            [report.judge for report in judges.judges if report.outcome == "failed"],
            {report.judge: report.verdict for report in judges.judges if report.outcome == "open"},
        ),
        *(f"{report.judge}: {bias.sentence}." for report in judges.judges for bias in report.biases if _is_clear(bias)),
    ]
    first, *others = judges.tables()
    return Section("judges", "Machine judges", tuple(words), _charts(judges), tables=(first,), folded=tuple(others))


def _is_clear(bias: Bias) -> bool:
    """Whether a bias is worth a sentence: more than chance, after correction where there are several systems."""
    p = bias.p if bias.p_holm is None else bias.p_holm
    return p is not None and p < LEVEL


def _charts(judges: Judges) -> tuple[Chart, ...]:
    rows = [row for report in judges.judges for row in _rows(report, several=len(judges.judges) > 1)]
    if not rows or len(rows) > MOST_ROWS:
        return ()
    chart = rates_chart(rows, title="how much more often the person is closer", number=".2f", target=0.0)
    caption = (
        "At the dashed line both are as close to the others; to the right the person is closer, to the left the judge."
    )
    return (Chart("judges", "Judges against each person", caption, chart),)


def _rows(report: JudgeReport, *, several: bool) -> list[tuple[str, float, float, float]]:
    name = f"{report.judge} / " if several else ""
    return [(f"{name}{person.annotator}", person.difference, *person.interval) for person in report.people]
