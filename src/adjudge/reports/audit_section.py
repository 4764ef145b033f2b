"""The audits that have no section of their own elsewhere: one section each, with its tables."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from adjudge.evidence import verdict, verdict_comparison, verdict_facts, verdict_human
from adjudge.evidence.audit import SECTIONS, Audit, load
from adjudge.evidence.audit import Section as AuditSection
from adjudge.evidence.claims import Claims
from adjudge.evidence.composition import Composition, Documents, TaskComposition
from adjudge.ranking.changes import ONCE_PER_PAIR, ChangeFamily
from adjudge.reports import drawing
from adjudge.reports.charts import are_same_order, draw_matrix, draw_places
from adjudge.reports.drawing import Drawing, Frame, HeatCell, Names, Numbers, draw_cells, fit_names, measure
from adjudge.reports.page import Case, Chart, Quote, Section
from adjudge.table.wording import counted, listed, short_list

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from adjudge.evidence.breakdown import Breakdown, ColumnBreakdown
    from adjudge.evidence.documents import Answer, Example, Examples, Parted, Shown
    from adjudge.evidence.stability import Stability, StabilityRow
    from adjudge.evidence.trust import AATest, Influence, Reliability
    from adjudge.evidence.verdict_facts import Decisions
    from adjudge.judges.alternative import Bias, JudgeReport, Judges
    from adjudge.reports.build import PairResults
    from adjudge.table.results import Table


# Systems within subsets of the judgments: one chart for every column, and whether the differences are chance.

MOST_LINES = 8
"""Subsets that are drawn as lines; more are drawn as coloured cells."""
LEVEL = 0.05
LINE_HEIGHT = 15
"""Of a name, in pixels."""
_SHARES = (-0.6, -0.35, -0.1, 0.1, 0.35, 0.6)


def breakdown_section(breakdown: Breakdown) -> Section:
    """Whether systems fare better on some of the judgments than on others."""
    words = ["Do systems fare better on some of the judgments than on others?"]
    asked = len(breakdown.columns)
    words += [
        f"By {column.column}: {column.verdict(asked)} {_say_largest(column)}".rstrip() for column in breakdown.columns
    ]
    charts = tuple(
        Chart(
            f"breakdown-{number}" if asked > 1 else "breakdown",
            f"Systems by {column.column}",
            "Coloured lines rise or fall by more than chance, beside the other systems."
            if len(column.levels) <= MOST_LINES
            else "How much better (blue) or worse (orange) than elsewhere; most of what looks like a pattern is noise.",
            _lines(column, breakdown.unit) if len(column.levels) <= MOST_LINES else _cells(column),
        )
        for number, column in enumerate(breakdown.columns, start=1)
    )
    tables = breakdown.tables()
    return Section("breakdown", "Subsets", tuple(words), charts, tables[::2], tables[1::2])


def _say_largest(column: ColumnBreakdown) -> str:
    moved = [score for score in column.scores if score.p < LEVEL]
    if moved:
        named = [f"{score.system} in {score.level} ({score.shift:+.2f})" for score in moved[:6]]
        return f"Shifts beyond chance: {short_list(named)}."
    largest = column.largest
    if largest is None:
        return ""
    return f"The largest shift, {largest.system} in {largest.level} ({largest.shift:+.2f}), may be chance."


def _lines(column: ColumnBreakdown, unit: str) -> Drawing:
    """One line per system over the subsets, coloured where it moves by more than chance."""
    moved = {score.system for score in column.scores if score.p < LEVEL}
    systems = list(dict.fromkeys(score.system for score in column.scores))
    scores = {(score.system, score.level): score for score in column.scores}
    height = max(260, 18 * len(systems))
    shown = dict(zip(systems, fit_names(systems, 130, 11), strict=True))
    scale = Numbers.around([score.score for score in column.scores], unit)
    levels = Names(tuple(column.levels), column.column, systems=False)
    frame = Frame(levels, scale, height, right=max(measure(name, 11) for name in shown.values()) + 10)
    lines = {name: [one for level in column.levels if (one := scores.get((name, level)))] for name in systems}
    ends = dict(zip(lines, _spread_names([frame.y(line[-1].score) for line in lines.values()]), strict=True))
    for name, line in lines.items():
        colour, opacity = (drawing.ACCENT, "1") if name in moved else (drawing.MUTED, "0.55")
        points = [(frame.x(one.level), frame.y(one.score)) for one in line]
        facts = {
            one.level: f"{one.score:.2f}" + (f" ({one.shift:+.2f})" if one.shift == one.shift else "") for one in line
        }
        with frame.mark({" ": name, **facts, "moves": "beyond chance" if name in moved else "chance"}, name):
            frame.line(points, colour, 2.0, stroke_opacity=opacity)
            for x, y in points:
                frame.point(x, y, "circle", 4, fill=colour, fill_opacity=opacity)
            frame.text(points[-1][0] + 9, ends[name] + 4, shown[name], size=11, fill=colour)
    return frame.finish()


def _spread_names(places: Sequence[float]) -> list[float]:
    """The places of names in pixels, moved as little as it takes for them not to overlap."""
    order = sorted(range(len(places)), key=lambda i: places[i])
    placed = [places[i] for i in order]
    for _ in range(len(placed)):
        for low, high in pairwise(range(len(placed))):
            missing = LINE_HEIGHT - (placed[high] - placed[low])
            if missing > 0:
                placed[low] -= missing / 2
                placed[high] += missing / 2
    return [placed[order.index(i)] for i in range(len(places))]


def _cells(column: ColumnBreakdown) -> Drawing:
    """The shift of every system in every subset."""
    systems = list(dict.fromkeys(score.system for score in column.scores))
    shifts = {(score.level, score.system): score.shift for score in column.scores if score.shift == score.shift}
    largest = max((abs(shift) for shift in shifts.values()), default=1.0) or 1.0
    cells = [[shifts.get((level, system)) for system in systems] for level in column.levels]
    steps = [largest * share for share in _SHARES]
    return draw_matrix(column.levels, systems, cells, steps=steps, what="shift", number="+z.1f", row_height=20)


# The claims: every statement of the ranking with the audits it survives.

_VERDICTS = ("holds", "needs more people", "fragile", "not supported")
_COLOURS = tuple(drawing.HEAT[i] for i in (6, 5, 1, 3))
# The cell also says the verdict by a sign, for readers who do not see the colours; the legend says what it means.
_SIGNS = {"holds": "✓", "needs more people": "+", "fragile": "!", "not supported": ""}
_LEGEND = {verdict: f"{sign} {verdict}" if sign else "the data cannot decide" for verdict, sign in _SIGNS.items()}


def claims_of(results: PairResults) -> Claims | None:
    """The claims that were audited, where they were."""
    claims = None if results.audit is None else results.audit.sections.get("claims")
    return claims if isinstance(claims, Claims) else None


def decide(results: PairResults) -> Decisions:
    """What the ranking and its audits decide."""
    claims = claims_of(results)
    annotators = results.counts.annotators or None if claims is None else claims.annotators
    return verdict_facts.decide_by_ranking(results.ranking, claims, annotators)


def claims_section(results: PairResults) -> Section | None:
    """Shown where claims were audited; their picture stands beside the ranking."""
    claims = claims_of(results)
    if claims is None:
        return None
    made = build_claims_section(claims, results.ranking.order)
    words = (*made.words, *verdict.say_more_people(decide(results), claims.claims))
    return replace(made, words=words, charts=())


def claims_chart_of(results: PairResults) -> Chart | None:
    """Who beats whom, where claims were audited and any is supported."""
    claims = claims_of(results)
    if claims is None or not any(claim.verdict != "not supported" for claim in claims.claims):
        return None
    order = [name for name in results.ranking.order if any(name in claim.systems for claim in claims.claims)]
    return _claims_chart(claims, order)


def _claims_chart(claims: Claims, order: Sequence[str]) -> Chart:
    return Chart("claims", "Who beats whom", verdict.SIGNS_OF_CLAIMS, claims_chart(claims, order))


def build_claims_section(claims: Claims, systems: Sequence[str] | None = None) -> Section:
    """The section about claims, with the systems in their own order where no ranking stands beside it."""
    systems = verdict_facts.order_systems(claims) if systems is None else systems
    parity = [claim for claim in claims.claims if claim.kind == "parity" and claim.verdict != "not supported"]
    words = (
        verdict.count_claims(*claims.counts, claims.pairs),
        *_rule(claims),
        *(verdict_human.say_parity_claim(claim.claim, fragile=claim.verdict != "holds") for claim in parity),
    )
    if not any(claim.verdict != "not supported" for claim in claims.claims):
        return Section("claims", "What can be claimed", words)
    order = [name for name in systems if any(name in claim.systems for claim in claims.claims)]
    return Section("claims", "What can be claimed", words, (_claims_chart(claims, order),), folded=claims.tables())


def _rule(claims: Claims) -> tuple[str, ...]:
    if not claims.audits:
        return ()
    fragile = [claim for claim in claims.claims if claim.kind == "better" and claim.verdict == "fragile"]
    return verdict.say_rule(claims.audits), *verdict.say_breaks(fragile)


def claims_chart(claims: Claims, order: Sequence[str]) -> Drawing:
    """One cell per pair, above the diagonal where the claims follow the order of the ranking."""
    colours = dict(zip(_VERDICTS, _COLOURS, strict=True))
    cells = []
    for claim in claims.claims:
        if claim.kind == "better":
            better, worse = claim.systems
            estimate = "" if claim.estimate is None else f"{claim.estimate:z.2f}"
            facts = {"better": better, "worse": worse, "verdict": claim.verdict, f"by {claims.unit}": estimate,
                     "p (all pairs)": drawing.p_text(claim.p_adjusted), "but": claim.reason}  # fmt: skip
            sign = _SIGNS[claim.verdict]
            cells.append(HeatCell(better, worse, colours[claim.verdict], sign, facts, sign))
    found = {claim.verdict for claim in claims.claims if claim.kind == "better"}
    legend = [(_LEGEND[one], colours[one], "square") for one in _VERDICTS if one in found]
    return draw_cells(Names(tuple(order)), Names(tuple(order), "than"), cells, legend=legend, letters=14)


def audit_sections(results: PairResults) -> tuple[Section, ...]:
    """One section per audit."""
    if results.audit is None:
        return ()
    kind = results.ranking.kind
    shown = [item for item in results.audit.sections.items() if kind not in SECTIONS[item[0]].elsewhere]
    shown.sort(key=_position)
    return tuple(_section(name, section) for name, section in shown)


def _section(name: str, audit: AuditSection) -> Section:
    entry = SECTIONS[name]
    made: Section | None = None if entry.page is None else load(entry.page)(audit)
    if made is not None:
        return made
    first, *others = audit.tables()
    return Section(name, entry.title, (entry.words,) if entry.words else (), tables=(first,), folded=tuple(others))


def build_audit_sections(audit: Audit) -> tuple[Section, ...]:
    """One section per audit of a page that shows nothing else: claims first, nothing is shown elsewhere."""
    shown = sorted(audit.sections.items(), key=lambda item: (item[0] != "claims", _position(item)))
    return tuple(_section(name, section) for name, section in shown)


def audit_charts(audit: Audit) -> dict[str, Drawing]:
    """The charts of an audit by name, in the order of the report."""
    sections = sorted(audit.sections.items(), key=_position)
    charts: dict[str, Drawing] = {}
    for name, section in sections:
        if isinstance(section, Claims):
            charts[name] = claims_chart(section, verdict_facts.order_systems(section))
        else:
            charts |= {chart.slug: chart.drawing for chart in _section(name, section).charts}
    return charts


def _position(item: tuple[str, AuditSection]) -> int:
    return SECTIONS[item[0]].place


def audit_tables(results: PairResults, *names: str) -> tuple[Table, ...]:
    """The tables of these audits, where they were made."""
    sections = {} if results.audit is None else results.audit.sections
    return tuple(table for name in names if name in sections for table in sections[name].tables())


# Audits of scores: stability, composition of tasks, documents by systems.

_DEVIATIONS = (-10.0, -6.0, -2.0, 2.0, 6.0, 10.0)
MOST_DOCUMENTS = 60
LEAST_OF_DOCUMENTS = 0.05
"""Of the spread that documents must explain before their scores are drawn."""
AS_IT_IS = "as it is"


def stability_section(stability: Stability) -> Section:
    """What if the human, the best, the worst were not there, or had been worse?"""
    whole = [row for row in stability.own if row.family in ONCE_PER_PAIR]
    words = [_summary(stability, whole), *[stability.flips] * bool(stability.flips)]
    words += [_family(family, rows, stability) for family, rows in _families(stability).items()]
    charts: tuple[Chart, ...] = ()
    if whole:
        # Systems are raised step by step; two of the steps show it.
        drawn = [row for row in whole if row.family is not ChangeFamily.LOWEST_RAISED or row.divisor in (2.0, 10.0)]
        orders = {AS_IT_IS: _whole_order(stability.own), **{row.change: row.order for row in drawn}}
        clusters = {AS_IT_IS: _whole_clusters(stability.own), **{row.change: row.clusters for row in drawn}}
        says = (
            "Places after every change; coloured systems move, a removed one leaves a gap, bars are lines of clusters."
        )
        if not are_same_order(list(orders.values())) or any(len(groups) > 1 for groups in clusters.values()):
            charts = (Chart("stability", "Places after a change", says, draw_places(orders, clusters=clusters)),)
    return Section("stability", "Stability", tuple(words), charts, folded=stability.tables())


def _whole_order(rows: Sequence[StabilityRow]) -> list[str]:
    """The order before any change: every row's own lacks the systems that it removes."""
    merged: list[str] = []
    for order in dict.fromkeys(row.baseline_order for row in rows):
        for i, system in enumerate(order):
            if system not in merged:
                merged.insert(merged.index(order[i - 1]) + 1 if i else 0, system)
    return merged


def _whole_clusters(rows: Sequence[StabilityRow]) -> tuple[tuple[str, ...], ...]:
    """The clusters before any change, by a change that removes no system; none where all of them do."""
    whole = _whole_order(rows)
    return next((row.baseline_clusters for row in rows if len(row.baseline_order) == len(whole)), ())


def _summary(stability: Stability, whole: list[StabilityRow]) -> str:
    again = f"The ranking (by {stability.method}, lines by the rule {stability.rule}) was recomputed with something"
    if not whole:
        return f"{again} left out."
    changed = sum(row.rank_changed or row.cluster_changed for row in whole)
    human = any(row.family in (ChangeFamily.HUMAN_REMOVED, ChangeFamily.HUMAN_DIVIDED) for row in whole)
    what = "to the human, the best or the worst system" if human else "to the best or the worst system"
    if stability.style == "relative":
        what += ", to ties and repeats, or to who is compared with whom"
    number = "All" if changed == len(whole) else f"{changed or 'None'}"
    moved = f"{number} of these {counted(len(whole), 'change')} moved other systems or lines"
    return f"{again} changed that should not matter. The changes were {what}. {moved}."


def _families(stability: Stability) -> dict[ChangeFamily, list[StabilityRow]]:
    """Changes of which there are many, one per annotator, document or system: by the method in use, or else beside."""
    tried = {row.family for row in stability.own}
    chosen = [row for row in stability.rows if row.method == stability.method or row.family not in tried]
    sizes = Counter(row.family for row in chosen if row.family not in ONCE_PER_PAIR)
    return {family: [row for row in chosen if row.family is family] for family, n in sizes.items() if n > 1}


def _family(family: ChangeFamily, rows: list[StabilityRow], stability: Stability) -> str:
    order = sum(row.rank_changed for row in rows)
    clusters = sum(row.cluster_changed for row in rows)
    changed = f"changes the order in {order} and the clusters in {clusters} of {counted(len(rows), 'case')}"
    beside = rows[0].method != stability.method
    return (
        f"By {rows[0].method}, leaving out one {family.unit} {changed}."
        if beside
        else (f"Leaving out one {family.unit} {changed}.")
    )


def tasks_or_blocks(composition: TaskComposition | Composition) -> Section | None:
    """The section about tasks; None for blocks, of which the tables say all."""
    return composition_section(composition) if isinstance(composition, TaskComposition) else None


def composition_section(composition: TaskComposition) -> Section:
    """Which systems were judged in the same tasks."""
    by_people = composition.unit == "annotator"
    words: tuple[str, ...] = (
        f"{'An annotator judged' if by_people else 'A task holds'} {_say_systems_per_unit(composition)}.",
    )
    if composition.met_in_half < 1:
        words += ("Where systems rarely meet, their scores depend on who else was judged beside them.",)
    met = "annotators who judged the column, too" if by_people else "tasks in which the column was judged, too"
    says = f"Share of the row's {met}."
    names = composition.systems
    drawn = draw_matrix(
        names, names, composition.shares, steps=(0.25, 0.5, 0.75), what="share", number=".0%", systems=True
    )
    first, *others = composition.tables()
    # A square of the same shares says nothing that the words do not.
    shares = {f"{share:.0%}" for row in composition.shares for share in row if share is not None}
    charts = (Chart("composition", "Judged together", says, drawn),) if len(shares) > 1 else ()
    return Section("composition", "Composition", words, charts, (first,), tuple(others))


def _say_systems_per_unit(composition: TaskComposition) -> str:
    """How many of the systems one task, or one annotator, has."""
    low, mean, high = composition.systems_per_unit
    everything = counted(len(composition.systems), "system")
    if low == high == len(composition.systems) == 2:
        return "both systems"
    if low == high:
        return f"all {everything}" if low == len(composition.systems) else f"{low} of {everything}"
    return f"{low} to {high} of {everything}, {mean:.1f} on average"


def documents_section(documents: Documents) -> Section:
    """How systems fare on each document, against the mean of all; drawn if documents matter or a scale was chosen."""
    shares = {one.factors: one.adjusted_r2 for one in documents.explained}
    # The last model has all that is known: annotators, where they are named, systems and documents.
    everything = documents.explained[-1].factors
    known_first = everything.removesuffix(" + documents")
    gain = shares[everything] - shares[known_first]
    explain = f"documents explain another {100 * max(gain, 0.0):.1f}% of the spread of scores"
    words = [f"Once {known_first.replace(' + ', ' and ')} are known, {explain}."]
    first, *others = documents.tables()
    if documents.scale == "raw score" and not gain >= LEAST_OF_DOCUMENTS:
        words.append("That is little, so the scores by document and system are not drawn: they would show noise.")
        return Section("documents", "Documents", tuple(words), (), (first,), tuple(others))
    words.append("A cell holds few judgments: much of what looks like a pattern is noise.")
    shown = documents.documents[:MOST_DOCUMENTS]
    if len(shown) < len(documents.documents):
        words.append(f"The {len(shown)} easiest of {len(documents.documents)} documents are drawn.")
    known = [value for value in documents.difficulty if value == value]  # noqa: PLR0124  NaN differs from itself
    mean = sum(known) / max(len(known), 1)
    spread = [abs(value - mean) for row in documents.matrix for value in row if value is not None]
    largest = max(spread, default=1.0) or 1.0
    # Raw scores from 0 to 100 have points; other scales are coloured by their own spread, and show more digits.
    points = documents.scale == "raw score" and largest > _DEVIATIONS[-1]
    step = 1.0 if points else largest / 12
    shown_scale = documents.scale[:1].upper() + documents.scale[1:]
    says = f"{shown_scale}; blue is above the mean of documents ({mean:.1f}), orange below; blank was not judged."
    drawn = draw_matrix(
        shown, documents.systems, documents.matrix[: len(shown)],
        steps=[mean + step * deviation for deviation in _DEVIATIONS],
        what=documents.scale, number="z.0f" if points else "z.2f", row_height=20,
    )  # fmt: skip
    chart = Chart("documents", "Documents by systems", says, drawn)
    return Section("documents", "Documents", tuple(words), (chart,), (first,), tuple(others))


# What went wrong: rates of marked errors, and outputs side by side with their marks.

MOST_ANSWERS = 3
"""People whose marks of one output are shown side by side."""
LONGEST_TEXT = 600
"""Characters of a text; of a longer one the beginning is shown."""


def examples_section(found: Examples) -> Section:
    """Errors by severity in charts, by category in a table, and examples with their texts where the data have them."""
    words = [_say_most_errors(found)] if found.severities else []
    words += [_say_parted(pair) for pair in found.parted]
    charts = tuple(_errors_chart(found, severity) for severity in dict.fromkeys(one.what for one in found.severities))
    if found.examples:
        words.append(_EXAMPLES)
    if found.examples and not any(output.text for example in found.examples for output in example.outputs):
        words.append(
            "Texts are shown where the judgments have them, in columns source_text and target_text (see --attributes)."
        )
    # Without texts and marks, the table of examples says all that is known.
    cases = tuple(_case(example) for example in found.examples if _has_words(example))
    return Section("examples", "What went wrong", tuple(words), charts, folded=found.tables(), cases=cases)


_EXAMPLES = (
    "The examples are single outputs. They show what the numbers mean, but they prove nothing: the worst outputs of a "
    "good system look bad, too."
)


def _say_most_errors(found: Examples) -> str:
    """Which system has the fewest errors of the gravest severity."""
    gravest = max(dict.fromkeys(one.what for one in found.severities), key=_gravity)
    rates = sorted((one for one in found.severities if one.what == gravest), key=lambda one: one.rate)
    low, high = rates[0], rates[-1]
    return (
        f"Errors marked {gravest}: {low.rate:.2f} per output of {low.system}, the fewest, and {high.rate:.2f} of "
        f"{high.system}, the most."
    )


def _gravity(severity: str) -> int:
    known = ("minor", "major", "critical")
    return known.index(severity.lower()) if severity.lower() in known else -1


def _say_parted(pair: Parted) -> str:
    return (
        f"{pair.better} has the higher score on {pair.share:.0%} of the segments shared with {pair.worse}, but "
        f"its mean is {abs(pair.difference):.2f} lower: it fails on a few."
    )


def _errors_chart(found: Examples, severity: str) -> Chart:
    rows = [(one.system, one.rate, one.low, one.high) for one in found.severities if one.what == severity]
    drawn = rates_chart(rows, title="errors per output", number=".2f")
    name = re.sub("[^a-z0-9]+", "-", severity.lower())
    return Chart(f"errors-{name}", f"Errors marked {severity}", "Bars are 95% intervals.", drawn)


def _has_words(example: Example) -> bool:
    return any(output.text or any(answer.spans for answer in output.answers) for output in example.outputs)


def _case(example: Example) -> Case:
    document = f" of {example.document}" if example.document else ""
    first, *others = example.outputs
    answers = first.answers[:MOST_ANSWERS]
    quotes = [_quote(first, answer) for answer in answers] or [_quote(first, None)]
    quotes += [_quote(other, other.answers[0] if len(other.answers) == 1 else None) for other in others]
    title = f"{example.kind.capitalize()}: {first.system}, segment {example.segment}{document}."
    words = f"{example.words[:1].upper()}{example.words[1:]}."
    return Case(title, words, _cut(example.source), tuple(quotes))


def _quote(output: Shown, answer: Answer | None) -> Quote:
    """An output with the marks of one person, or with none where it stands for several."""
    score = output.score if answer is None else answer.score
    number = "" if score is None else f": {score:.4g}"
    people = len(output.answers)
    who = f", {answer.annotator}" if answer is not None else f" (mean of {people})" if people > 1 else ""
    spans = () if answer is None else answer.spans
    marks = [" ".join(filter(None, (one["severity"], one["category"]))) for one in spans]
    if not output.text:
        marks = [f"{mark} “{one['text']}”" if one["text"] else mark for mark, one in zip(marks, spans, strict=True)]
    return Quote(f"{output.system}{who}{number}", _cut("; ".join(marks)), mark_pieces(_cut(output.text), spans))


def _cut(words: str) -> str:
    return words if len(words) <= LONGEST_TEXT else f"{words[:LONGEST_TEXT]}…"


def mark_pieces(words: str, spans: Sequence[Mapping[str, Any]]) -> tuple[tuple[str, str], ...]:
    """The text in pieces, each with the severity that was marked there; of marks that overlap, the first counts."""
    pieces: list[tuple[str, str]] = []
    done = 0
    placed = [one for one in spans if one["side"] in (None, "target") and one["start"] is not None and one["end"]]
    for one in sorted(placed, key=lambda one: (one["start"], one["end"])):
        start, end = max(one["start"], done), min(one["end"], len(words))
        if start < end:
            pieces += [(words[done:start], ""), (words[start:end], one["severity"] or "error")]
            done = end
    pieces.append((words[done:], ""))
    return tuple(piece for piece in pieces if piece[0])


# Audits of how far the ranking's own test and order can be trusted: A/A test, reliability, influence.

ROW_HEIGHT = 30
_UNITS = {"annotator": "annotator", "document": "document", "segment": "source segment"}


def aa_section(aa: AATest) -> Section:
    """Which tests call a system different from itself, and how often: for other pages, and for other people."""
    words = [
        "Every system was split at random into two halves, which a test then compared.",
        "The halves are equally good: a test at .05 should call them different in 5% of the cases.",
        *_error_rate_words(aa, "on these data"),
    ]
    title = "How often a system is called different from itself"
    says = "The dashed line marks 5%, the rate of a correct test."
    charts = [Chart("aa", title, says, _aa_chart(aa))]
    if aa.by_annotator is not None:
        words += [
            "The halves above are pages that the same people judged.",
            "Where whole annotators are split instead, a test must allow for tastes: some people like a system more.",
            *_error_rate_words(aa.by_annotator, "with other people"),
        ]
        title = "The same with halves of the annotators"
        says = "A test to the right of the dashed line takes the tastes of a few people for the quality of systems."
        charts.append(Chart("aa-annotators", title, says, _aa_chart(aa.by_annotator)))
    return Section("aa", "Which tests can be trusted", tuple(words), tuple(charts), folded=aa.tables())


def _error_rate_words(aa: AATest, where: str) -> list[str]:
    too_often = [name for name, rate in aa.rates.items() if rate.interval[0] > LEVEL]
    too_seldom = [name for name, rate in aa.rates.items() if rate.interval[1] < LEVEL]
    as_promised = [name for name, rate in aa.rates.items() if rate.interval[0] <= LEVEL <= rate.interval[1]]
    words = []
    if too_often:
        words.append(f"Too often {where}: {short_list(too_often)}. A difference that these tests find may be chance.")
    if as_promised:
        widest = max(aa.rates[name].interval[1] for name in as_promised)
        words.append(f"Consistent with 5%: {short_list(as_promised)} (up to {100 * widest:.0f}% cannot be excluded).")
    if too_seldom:
        words.append(
            f"Less often than 5%: {short_list(too_seldom)}. That is on the safe side, and may miss differences."
        )
    return words


def _aa_chart(aa: AATest) -> Drawing:
    rows = [(name, rate.rate_05, *rate.interval) for name, rate in aa.rates.items()]
    return rates_chart(rows, title="false alarms at .05", number=".0%", target=LEVEL)


def reliability_section(reliability: Reliability) -> Section:
    """Whether one half of the annotators orders the systems as the other half does."""
    halves = f"The {reliability.annotators:,} annotators were split at random into two halves"
    # A method that has an order of fewer than two systems, such as those without the reference, has no agreement.
    known = {name: agreed for name, agreed in reliability.methods.items() if not math.isnan(agreed.tau)}
    words = [f"{halves}, and each half ranked the systems."]
    if not known:
        return Section("reliability", "Would others agree?", (*words, "No method orders the systems in both halves."))
    method, best = max(known.items(), key=lambda item: item[1].tau)
    words += [
        f"The two orders agree best by {method}: Kendall's tau {best.tau:.2f} (1: the same order, 0: no relation).",
        "Bars that overlap mean that other people might well have favoured another method.",
    ]
    rows = [(name, agreed.tau, agreed.low, agreed.high) for name, agreed in known.items()]
    drawn, says = rates_chart(rows, title="Kendall's tau", number=".2f"), "Bars hold 95% of the random splits."
    chart = Chart("reliability", "Agreement of two halves of the annotators", says, drawn)
    return Section("reliability", "Would others agree?", tuple(words), (chart,), folded=reliability.tables())


def influence_section(influence: Influence) -> Section:
    """Which annotator or document moves the ranking most."""
    kinds = {kind: sum(row.unit == kind for row in influence.rows) for kind in _UNITS}
    units = [counted(number, _UNITS[kind]) for kind, number in kinds.items() if number]
    words: tuple[str, ...] = ()
    if influence.rows:
        turn = f"was left out{' in turn' if len(influence.rows) > 1 else ''}"
        words = (f"Each of {listed(units)} {turn}: which of them moves the ranking most?",)
        most = influence.rows[0]
        digits = ".1f" if abs(most.shift) >= 1 else ".2f"
        shift = f"moves by {most.shift:+{digits}} ({abs(most.in_se):.1f} standard errors)"
        without = "them" if most.unit == "annotator" else "it"
        named = most.name if most.name.startswith(most.unit) else f"{most.unit} {most.name}"
        words += (
            f"In standard errors, the largest shift comes from {named}: without {without}, {most.system} {shift}.",
        )
    return Section("influence", "Who moves the ranking", words, folded=influence.tables())


def rates_chart(
    rows: Sequence[tuple[str, float, float, float]], *, title: str, number: str, target: float | None = None
) -> Drawing:
    """Name, estimate, low and high; an interval above the target stands out, one below is grey, a line marks it.

    What has no estimate is not drawn.
    """

    def colour(low: float, high: float) -> str:
        # A test that errs too seldom is cautious, one that errs too often misleads.
        if target is None or low <= target <= high:
            return drawing.ACCENT
        return drawing.WARN if low > target else drawing.MUTED

    rows = [row for row in rows if not math.isnan(row[1])]
    ends = [end for _, *known in rows for end in known]
    scale = Numbers.around([*ends, *([] if target is None else [target])], title, zero=True, percent="%" in number)
    frame = Frame(scale, Names(tuple(row[0] for row in rows), systems=False), ROW_HEIGHT * len(rows))
    if target is not None:
        frame.line([(frame.x(target), frame.top), (frame.x(target), frame.bottom)], drawing.INK, 1.2, dash="4 4")
    for i, (name, estimate, low, high) in enumerate(rows):
        facts = {" ": name, title: f"{estimate:{number}}"}
        known = not math.isnan(low + high)
        with frame.mark(facts | ({"interval": f"{low:{number}} to {high:{number}}"} if known else {})):
            if known:
                frame.line([(frame.x(low), frame.y(i)), (frame.x(high), frame.y(i))], colour(low, high), 3.0,
                           stroke_linecap="round")  # fmt: skip
            frame.point(frame.x(estimate), frame.y(i), "circle", 5.5, fill=colour(low, high))
    return frame.finish()


# Machine judges: who may stand in for a person, and where their answers lean.

MOST_ROWS = 40
"""Judges and people in the chart; of more, the table has all."""


def judges_section(judges: Judges) -> Section:
    """The verdicts in words, a chart of every judge against every person, and the tables."""
    words = [
        "Can a program replace one of the people? Each person was left out in turn, and the others were the yardstick.",
        "A judge stands up to the person if it is as often the closer one of the two, up to an allowance.",
        *verdict_comparison.say_judges(
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
    caption = "To the right of the dashed line the person is closer to the others, to the left the judge."
    return (Chart("judges", "Judges against each person", caption, chart),)


def _rows(report: JudgeReport, *, several: bool) -> list[tuple[str, float, float, float]]:
    name = f"{report.judge} / " if several else ""
    return [(f"{name}{person.annotator}", person.difference, *person.interval) for person in report.people]
