"""The annotators: what controls, repeats and pace say about each, and who is kept; and how all was collected."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from adjudge.evidence.verdict import say_fail_and_count, say_nobody_passes
from adjudge.reports import drawing
from adjudge.reports.drawing import Drawing, Frame, Numbers
from adjudge.reports.page import Chart, Section
from adjudge.table.record import say_record
from adjudge.table.results import Table, number, text
from adjudge.table.wording import agreeing, as_sentences, counted, listed, short_list

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    says = (
        "Careless annotators stand at the lower left: they are quick, and they score damaged translations like others."
    )
    return (Chart("annotators", "What annotators see, and how fast they are", says, draw_annotators(checked)),)


def _uses_failed_work(results: PairResults, checked: Checked) -> tuple[str, ...]:
    """Whether the ranking uses the work of those who do not pass: the table of the check says that it is dropped."""
    failed = {annotator.annotator for annotator in checked.annotators if not annotator.passed}
    if not failed:
        return ()
    if results.only_passing or failed <= {*results.failing.left_out}:
        return ("The ranking leaves out the judgments of those who do not pass.",)
    if results.failing.left_out:
        return (f"The ranking leaves out {short_list(results.failing.left_out)}; who could not be tested counts.",)
    return ("The ranking uses the judgments of all of them; --only-passing leaves out those who do not pass.",)


def fail_and_count(results: PairResults) -> tuple[str, ...]:
    """The sentence under the headline where annotators count who do not pass the check, or where nobody passes."""
    checked = results.checked
    if checked is None or results.only_passing:
        return ()
    if not checked.passing:
        return (say_nobody_passes(len(checked.annotators)),)
    counting = len({one.annotator for one in checked.failing} - {*results.failing.people})
    of_accounts = checked.accounts is not None
    return (say_fail_and_count(counting, len(checked.annotators), of_accounts=of_accounts),) if counting else ()


def has_controls(checked: Checked) -> bool:
    """Whether there is anything to draw: annotators who judged controls, with known times."""
    return any(
        annotator.control_difference is not None and annotator.seconds is not None for annotator in checked.annotators
    )


def check_words(checked: Checked) -> tuple[str, ...]:
    """Who passes the check, and whose answers are copies."""
    failed = [annotator.annotator for annotator in checked.failing]
    untested = len(checked.annotators) - len(checked.passing) - len(failed)
    people, unit = len(checked.annotators), checked.unit
    several = f"both {unit}s" if people == 2 else f"all {people:,} {unit}s"
    everyone = agreeing(people, f"the one {unit}", several)
    if not (failed or untested) and all(annotator.p_controls is None for annotator in checked.annotators):
        sentence = f"Nobody could be tested on controls; {everyone} {agreeing(people, 'is', 'are')} kept."
    elif not (failed or untested):
        sentence = f"{everyone[:1].upper()}{everyone[1:]} {agreeing(people, 'passes', 'pass')} the check."
    else:
        parts = [f"{len(checked.passing):,} of {counted(people, unit)} pass the check"]
        if failed:
            parts.append(f"{len(failed):,} {agreeing(len(failed), 'fails', 'fail')} ({short_list(failed)})")
        if untested:
            parts.append(f"{untested:,} could not be tested")
        sentence = f"{listed(parts)}."
    twins = [f"{' and '.join(twin.annotators)} ({twin.kind})" for twin in checked.twins]
    copies = (f"Answers that chance does not explain: {short_list(twins)}.",) if twins else ()
    return (sentence, *copies)


def draw_annotators(checked: Checked) -> Drawing:
    """One point per annotator, sized by their judgments; those who are not kept stand out by colour and shape."""
    looks = {True: (drawing.ACCENT, "circle"), False: (drawing.WARN, "cross")}
    rows = [
        (one, one.control_difference, one.seconds)
        for one in checked.annotators
        if one.control_difference is not None and one.seconds is not None
    ]
    x = Numbers.around([row[2] for row in rows], "seconds per judgment (median)", zero=True)
    y = Numbers.around([row[1] for row in rows], "genuine above degraded (points)", zero=True)
    found = [kept for kept in looks if any(one.passed is kept for one, _, _ in rows)]
    frame = Frame(x, y, 280, legend=[("kept" if kept else "not kept", *looks[kept]) for kept in found])
    most = max(one.judgments for one, _, _ in rows)
    for one, lead, seconds in rows:
        facts = {"annotator": one.annotator, "judgments": f"{one.judgments:,}", "seconds (median)": f"{seconds:.1f}",
                 "genuine above degraded": f"{lead:.1f}", "why not kept": "; ".join(one.reasons)}  # fmt: skip
        colour, shape = looks[one.passed]
        with frame.mark(facts):
            size = 3.5 + 5 * math.sqrt(one.judgments / max(most, 1))
            frame.point(frame.x(seconds), frame.y(lead), shape, size, fill=colour, fill_opacity="0.85")
    return frame.finish()


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


def choose_coefficient(agreement: Agreement, coefficients: Coefficients) -> tuple[str, float]:
    """The coefficient that is shown first: kappa for preferences, alpha for scores."""
    return ("kappa", coefficients.kappa) if agreement.kind == "preferences" else ("alpha", coefficients.alpha)


def agreement_section(results: PairResults) -> Section | None:
    """Shown where anyone judged the same thing twice."""
    agreement = results.agreement
    if agreement is None:
        return None
    meaning = "Coefficients are 1 for full agreement and 0 for what chance alone would give."
    words, charts = (*agreement_words(agreement), meaning), []
    if agreement.by_length:
        says = "If the points fall to the right, people agree less on longer texts."
        charts.append(Chart("length", "Agreement by length of the source", says, draw_agreement_by_length(agreement)))
    first, *others = agreement.tables()
    return Section("agreement", "Agreement", words, tuple(charts), (first,), tuple(others), agreement.notes)


def agreement_words(agreement: Agreement) -> tuple[str, ...]:
    """How far annotators agree with each other, and with themselves; where they never met, a note says so."""
    return tuple(sentence for kind in ("inter", "intra") if (sentence := _sentence(agreement, kind)))


def _sentence(agreement: Agreement, kind: str) -> str:
    coefficients = (agreement.inter if kind == "inter" else agreement.intra)["all"]
    if not coefficients.pairs:
        return ""
    who = "Two annotators who judged the same output" if kind == "inter" else "Annotators who saw the same thing again"
    name, value = choose_coefficient(agreement, coefficients)
    if math.isnan(value):
        return f"{who}: {name} cannot be computed from {counted(coefficients.pairs, 'pair')} of judgments."
    if math.isnan(coefficients.observed):
        return f"{who}: {name} {value:z.2f} ({name_agreement(value)})."
    share = f"{100 * coefficients.observed:.0f}% of {counted(coefficients.pairs, 'case')}"
    return f"{who} agree in {share}: {name} {value:z.2f} ({name_agreement(value)})."


def draw_agreement_by_length(agreement: Agreement) -> Drawing:
    """S (P(E) = 1/3) by length, points sized by the pairs behind them; lengths with few pairs are left out."""
    rows = [
        (name, float(row.length), numbers["all"].get("s"), numbers["all"].get("pairs") or 0)
        for row in agreement.by_length or ()
        for name, numbers in ((_NAMES["inter"], row.inter), (_NAMES["intra"], row.intra))
        if (numbers["all"].get("pairs") or 0) >= FEWEST_PAIRS
    ]
    known = [(name, length, s, pairs) for name, length, s, pairs in rows if s is not None]
    colours = dict(zip(_NAMES.values(), (drawing.ACCENT, drawing.HUMAN), strict=True))
    x = Numbers.around([row[1] for row in known], "length of the source")
    y = Numbers.around([row[2] for row in known], "agreement (S)", zero=True)
    frame = Frame(x, y, 240, legend=[(name, colour, "circle") for name, colour in colours.items()])
    most = max((row[3] for row in known), default=1)
    for name, length, s, pairs in known:
        facts = {"length": f"{length:g}", "agreement": name, "S": f"{s:.3f}", "pairs": f"{pairs:,}"}
        with frame.mark(facts):
            size = 2.5 + 4 * math.sqrt(pairs / most)
            frame.point(frame.x(length), frame.y(s), "circle", size, fill=colours[name], fill_opacity="0.55")
    # Single lengths are noisy: a smooth line through them shows the tendency.
    for name, colour in colours.items():
        points = smooth([(length, s) for kind, length, s, _ in known if kind == name])
        frame.line([(frame.x(length), frame.y(s)) for length, s in points], colour, 2.5)
    return frame.finish()


def smooth(points: Sequence[tuple[float, float]], share: float = 0.7) -> list[tuple[float, float]]:
    """Means of the nearest points, weighted by how near they are (tricube), for the eye only."""
    near = max(3, math.ceil(share * len(points)))
    smoothed = []
    for x, _ in points:
        reach = sorted(abs(other - x) for other, _ in points)[: near + 1][-1] or 1.0
        weights = [max(0.0, 1 - (abs(other - x) / reach) ** 3) ** 3 for other, _ in points]
        smoothed.append((x, sum(w * y for w, (_, y) in zip(weights, points, strict=True)) / (sum(weights) or 1.0)))
    return smoothed if len(points) > near else []


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
