"""The annotators: what controls, repeats and pace say about each, and who is kept; and how all was collected."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from adjudge.reports import chart_theme
from adjudge.reports.chart_theme import Layer, channel
from adjudge.reports.page import Chart, Section
from adjudge.table.record import say_record
from adjudge.table.results import Table, number, text
from adjudge.table.wording import agreeing, as_sentences, counted, short_list

if TYPE_CHECKING:
    from adjudge.people.results import Agreement, Checked, Coefficients
    from adjudge.reports.build import PairResults


def annotators_section(results: PairResults) -> Section | None:
    """Shown where the annotators were checked."""
    checked = results.checked
    if checked is None:
        return None
    first, *others = checked.tables()
    words = (*check_words(checked), *_uses_failed_work(results, checked))
    return Section("annotators", "Annotators", words, check_charts(checked), (first,), tuple(others), checked.notes)


def check_charts(checked: Checked) -> tuple[Chart, ...]:
    """What annotators see and how fast they are, where controls and times are known."""
    if not has_controls(checked):
        return ()
    says = "Careless annotators are quick and score degraded translations like genuine ones: lower left."
    return (Chart("annotators", "What annotators see, and how fast they are", says, draw_annotators(checked)),)


def _uses_failed_work(results: PairResults, checked: Checked) -> tuple[str, ...]:
    """Whether the ranking uses the work of those who do not pass: the table of the check says that it is dropped."""
    failed = {annotator.annotator for annotator in checked.annotators if not annotator.passed}
    if not failed:
        return ()
    if results.only_passing or failed <= {*results.left_out}:
        return ("The ranking leaves out the judgments of those who do not pass.",)
    if results.left_out:
        return (f"The ranking leaves out {short_list(results.left_out)}; who could not be tested counts.",)
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
    people, unit = len(checked.annotators), checked.unit
    everyone = agreeing(people, f"the one {unit}", f"all {people:,} {unit}s")
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
            f"{passed:,} of {counted(people, unit)} pass the check; "
            f"{short_list(failed)} {'does' if len(failed) == 1 else 'do'} not."
        )
    twins = [f"{' and '.join(twin.annotators)} ({twin.kind})" for twin in checked.twins]
    copies = (f"Answers that chance does not explain: {short_list(twins)}.",) if twins else ()
    return (sentence, *_suspects(checked), *copies)


def _suspects(checked: Checked) -> tuple[str, ...]:
    """Whose judgments do not follow those of the others; they are not left out for it."""
    suspects = [
        f"{one.annotator} (agreement {one.agreement:.2f})" for one in checked.annotators if one.fit == "careless"
    ]
    if not suspects:
        return ()
    do = agreeing(len(suspects), "does", "do")
    return (f"The judgments of {short_list(suspects)} {do} not follow those of the others, where 1 is expected.",)


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
    scale = dict(domain=["kept", "not kept"], range=[chart_theme.ACCENT, chart_theme.WARN])
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
    return chart_theme.finish(points, height=300)


# Agreement of the annotators, with each other and with themselves.

# Landis and Koch (1977): customary words for kappa, without theory behind them.
_WORDS = (
    (0.0, "poor"),
    (0.2, "slight"),
    (0.4, "fair"),
    (0.6, "moderate"),
    (0.8, "substantial"),
    (1.0, "almost perfect"),
)

_NAMES = {"inter": "between annotators", "intra": "within an annotator"}
FEWEST_PAIRS = 30


def name_agreement(kappa: float) -> str:
    """The customary word for a chance-corrected coefficient."""
    return next(word for limit, word in _WORDS if kappa <= limit + 1e-12)


def show_coefficient(value: float) -> str:
    """Two digits, and no sign before zero."""
    figures = f"{value:.2f}"
    return "0.00" if figures == "-0.00" else figures


def choose_coefficient(agreement: Agreement, coefficients: Coefficients) -> tuple[str, float]:
    """The coefficient that is shown first: kappa for preferences, alpha for scores."""
    return ("kappa", coefficients.kappa) if agreement.kind == "preferences" else ("alpha", coefficients.alpha)


def agreement_section(results: PairResults) -> Section | None:
    """Shown where anyone judged the same thing twice."""
    agreement = results.agreement
    if agreement is None:
        return None
    words = [*agreement_words(agreement)]
    words.append("Coefficients are 1 for full agreement and 0 for what chance alone would give.")
    charts = []
    if agreement.by_length:
        says = "Longer source texts are harder to judge alike where the points fall to the right."
        charts.append(Chart("length", "Agreement by length of the source", says, draw_agreement_by_length(agreement)))
    first, *others = agreement.tables()
    return Section("agreement", "Agreement", tuple(words), tuple(charts), (first,), tuple(others), agreement.notes)


def agreement_words(agreement: Agreement) -> tuple[str, str]:
    """How far annotators agree with each other, and with themselves."""
    return _sentence(agreement, "inter"), _sentence(agreement, "intra")


def _sentence(agreement: Agreement, kind: str) -> str:
    coefficients = (agreement.inter if kind == "inter" else agreement.intra)["all"]
    if not coefficients.pairs:
        return "No two annotators judged the same thing." if kind == "inter" else "Nobody judged the same thing twice."
    who = "Two annotators of the same thing" if kind == "inter" else "Annotators who saw the same thing again"
    name, value = choose_coefficient(agreement, coefficients)
    if math.isnan(value):
        return f"{who}: {name} cannot be computed from {counted(coefficients.pairs, 'pair')} of judgments."
    if math.isnan(coefficients.observed):
        return f"{who}: {name} {show_coefficient(value)} ({name_agreement(value)})."
    share = f"{100 * coefficients.observed:.0f}% of {counted(coefficients.pairs, 'case')}"
    return f"{who} agree in {share}: {name} {show_coefficient(value)} ({name_agreement(value)})."


def draw_agreement_by_length(agreement: Agreement) -> dict[str, Any]:
    """S (P(E) = 1/3) by length, points sized by the pairs behind them; lengths with few pairs are left out."""
    rows = [
        {"length": length_row.length, "kind": name, "s": numbers["all"].get("s"), "pairs": numbers["all"].get("pairs")}
        for length_row in agreement.by_length or ()
        for name, numbers in ((_NAMES["inter"], length_row.inter), (_NAMES["intra"], length_row.intra))
        if (numbers["all"].get("pairs") or 0) >= FEWEST_PAIRS
    ]
    base = Layer(rows).encode(
        x=channel("length:Q", title="length of the source", scale=dict(zero=False)),
        y=channel("s:Q", title="agreement (S)"),
        color=channel(
            "kind:N",
            title=None,
            scale=dict(domain=list(_NAMES.values()), range=[chart_theme.ACCENT, chart_theme.HUMAN]),
        ),
    )
    # Single lengths are noisy: a smooth line through them shows the tendency.
    lines = base.transform(loess="s", on="length", groupby=["kind"], bandwidth=0.7).mark("line", strokeWidth=2.5)
    points = base.mark("point", filled=True, opacity=0.55).encode(
        size=channel("pairs:Q", legend=None, scale=dict(range=[20, 160])),
        tooltip=[
            channel("length:Q"),
            channel("kind:N", title="agreement"),
            channel("s:Q", format=".3f"),
            channel("pairs:Q"),
        ],
    )
    return chart_theme.finish(lines, points, height=260)


def collected_section(results: PairResults) -> Section | None:
    """How the judgments were collected: design, policy, looks with the level spent, exclusions, versions."""
    record = results.record
    if record is None:
        return None
    policy = "" if record.adaptive is None else ", ".join(f"{name} {value}" for name, value in record.adaptive.items())
    counts = record.counts
    apart = f"{counts.controls:,} answers to controls ({counts.repeats:,} of them repeats)"
    apart += f", {counts.calibration:,} in calibration, {counts.examples:,} in tutorials"
    rows = (
        ("protocol", record.protocol),
        ("scale", record.scale),
        ("tasks", f"{record.tasks:,} ({record.assignment})"),
        ("outputs side by side", str(record.outputs)),
        ("controls in the tasks", ", ".join(f"{count:,} {kind}" for kind, count in record.controls.items())),
        ("adaptive policy", policy),
        ("judgments", f"{record.counts.judgments:,}"),
        ("counted apart", apart),
        ("begun, last save", f"{record.begun}, {record.last_save}"),
        ("adjudge", record.version),
    )
    tables = [Table("How it was collected", (text("what"), text("how")), tuple(row for row in rows if row[1]))]
    if record.looks is not None and record.looks.taken:
        taken = tuple(
            (look.look, look.judgments, look.people, look.level, len(look.settled), ", ".join(look.top))
            for look in record.looks.taken
        )
        columns = (
            number("look", 0),
            number("judgments", 0),
            number("people", 0),
            number("level spent", 4),
            number("pairs settled", 0),
            text("top settled"),
        )
        tables.append(Table("Looks", columns, taken))
    if record.exclusions:
        decided = tuple(
            (each.annotator, "excluded" if each.excluded else "taken back in", each.reason, each.made)
            for each in record.exclusions
        )
        heads = (text("annotator"), text("decision"), text("reason"), text("when"))
        tables.append(Table("Exclusions", heads, decided))
    return Section("collected", "How it was collected", tuple(as_sentences(say_record(record))), folded=tuple(tables))
