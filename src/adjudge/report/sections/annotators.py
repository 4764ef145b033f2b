"""The annotators: what controls, repeats and pace say about each, and who is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjudge.core.wording import agreeing, counted, short_list
from adjudge.report.charts import theme
from adjudge.report.charts.vega import Layer, channel
from adjudge.report.page import Chart, Section

if TYPE_CHECKING:
    from adjudge.results.check import Checked
    from adjudge.results.report import PairResults


def annotators_section(results: PairResults) -> Section | None:
    """Shown where the annotators were checked."""
    checked = results.checked
    if checked is None:
        return None
    first, *others = checked.tables()
    words = (*check_words(checked), *_used(results, checked))
    return Section("annotators", "Annotators", words, check_charts(checked), (first,), tuple(others), checked.notes)


def check_charts(checked: Checked) -> tuple[Chart, ...]:
    """What annotators see and how fast they are, where controls and times are known."""
    if not has_controls(checked):
        return ()
    says = "Careless annotators are quick and score degraded translations like genuine ones: lower left."
    return (Chart("annotators", "What annotators see, and how fast they are", says, draw_annotators(checked)),)


def _used(results: PairResults, checked: Checked) -> tuple[str, ...]:
    """Whether the ranking uses the work of those who do not pass: the table of the check says that it is dropped."""
    if all(annotator.passed for annotator in checked.annotators):
        return ()
    if results.only_passing:
        return ("The ranking leaves out the judgments of those who do not pass.",)
    return ("The ranking uses the judgments of all of them; --only-passing leaves out those who do not pass.",)


def nobody_passes(results: PairResults) -> tuple[str, ...]:
    """The sentence under the headline where no annotator passes the check."""
    checked = results.checked
    if checked is None or checked.passing:
        return ()
    several = len(checked.annotators) > 1
    who = f"None of the {len(checked.annotators):,} annotators passes" if several else "The one annotator does not pass"
    return (f"{who} the check; the ranking rests on {'their' if several else 'that'} work all the same.",)


def has_controls(checked: Checked) -> bool:
    """Whether there is anything to draw: annotators who judged controls, with known times."""
    return any(
        annotator.control_difference is not None and annotator.seconds is not None for annotator in checked.annotators
    )


def check_words(checked: Checked) -> tuple[str, ...]:
    """Who passes the check, and whose answers are copies."""
    failed = [annotator.annotator for annotator in checked.annotators if not annotator.passed]
    everyone = agreeing(len(checked.annotators), "the one annotator", f"all {len(checked.annotators):,} annotators")
    if not failed and all(annotator.p_controls is None for annotator in checked.annotators):
        sentence = (
            f"Nobody could be tested on controls; {everyone} {agreeing(len(checked.annotators), 'is', 'are')} kept."
        )
    elif not failed:
        sentence = (
            f"{everyone[:1].upper()}{everyone[1:]} {agreeing(len(checked.annotators), 'passes', 'pass')} the check."
        )
    else:
        passed = len(checked.annotators) - len(failed)
        sentence = (
            f"{passed:,} of {counted(len(checked.annotators), 'annotator')} pass the check; "
            f"{short_list(failed)} {'does' if len(failed) == 1 else 'do'} not."
        )
    twins = [f"{' and '.join(twin.annotators)} ({twin.kind})" for twin in checked.twins]
    return (sentence, f"Answers that chance does not explain: {short_list(twins)}.") if twins else (sentence,)


def draw_annotators(checked: Checked) -> dict[str, Any]:
    """One point per annotator, sized by their judgments; those who are not kept stand out by colour and shape."""
    rows = [
        {
            "annotator": annotator.annotator, "lead": annotator.control_difference, "seconds": annotator.seconds,
            "judgments": annotator.judgments, "kept": "kept" if annotator.passed else "not kept",
            "why": "; ".join(annotator.reasons),
        }
        for annotator in checked.annotators
        if annotator.control_difference is not None and annotator.seconds is not None
    ]  # fmt: skip
    scale = dict(domain=["kept", "not kept"], range=[theme.ACCENT, theme.WARN])
    points = (
        Layer(rows)
        .mark("point", filled=True, opacity=0.85)
        .encode(
            x=channel("seconds:Q", title="seconds per judgment (median)", scale=dict(zero=True)),
            y=channel("lead:Q", title="genuine above degraded (points)"),
            color=channel("kept:N", title=None, scale=scale),
            shape=channel("kept:N", title=None, scale=dict(domain=["kept", "not kept"], range=["circle", "cross"])),
            size=channel("judgments:Q", legend=None, scale=dict(range=[40, 240])),
            tooltip=[
                channel("annotator:N"),
                channel("judgments:Q"),
                channel("seconds:Q", format=".1f"),
                channel("lead:Q", format=".1f"),
                channel("why:N", title="why not kept"),
            ],
        )
    )
    return theme.finish(points, height=300)
