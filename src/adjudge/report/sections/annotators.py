"""The annotators: what controls, repeats and pace say about each, and who is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.report.charts.annotators import annotators
from adjudge.report.page import Chart, Section
from adjudge.report.words import counted, listed

if TYPE_CHECKING:
    from adjudge.results.check import Checked
    from adjudge.results.report import PairResults


def annotators_section(results: PairResults) -> Section | None:
    """Shown where the annotators were checked."""
    checked = results.checked
    if checked is None:
        return None
    charts = []
    if any(one.control_difference is not None and one.seconds is not None for one in checked.annotators):
        says = "Careless annotators are quick and score degraded translations like genuine ones: lower left."
        charts.append(Chart("annotators", "What annotators see, and how fast they are", says, annotators(checked)))
    first, *rest = checked.tables()
    return Section("annotators", "Annotators", _words(checked), tuple(charts), (first,), tuple(rest), checked.notes)


def _words(checked: Checked) -> tuple[str, ...]:
    failed = [one.annotator for one in checked.annotators if not one.passed]
    if not failed and all(one.p_controls is None for one in checked.annotators):
        sentence = f"Nobody could be tested on controls; all {counted(len(checked.annotators), 'annotator')} are kept."
    elif not failed:
        sentence = f"All {counted(len(checked.annotators), 'annotator')} pass the check."
    else:
        passed = len(checked.annotators) - len(failed)
        sentence = (
            f"{passed:,} of {counted(len(checked.annotators), 'annotator')} pass the check; "
            f"{listed(failed)} {'does' if len(failed) == 1 else 'do'} not."
        )
    twins = [f"{' and '.join(one.annotators)} ({one.kind})" for one in checked.twins]
    return (sentence, f"Answers that chance does not explain: {listed(twins)}.") if twins else (sentence,)
