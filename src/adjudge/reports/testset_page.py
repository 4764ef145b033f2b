"""The page about a test set: the summary, topics, versions, and every document with findings."""

from __future__ import annotations

from itertools import groupby

from adjudge.reports import drawing
from adjudge.reports.charts import draw_row_bars
from adjudge.reports.drawing import Drawing, Numbers
from adjudge.reports.page import Chart, Fact, PairPage, ReportPage, Section, explain
from adjudge.table.results import Table, number, text
from adjudge.table.wording import counted
from adjudge.testsets.findings import CATEGORIES, Finding, TestSetCheck, Topics

GUIDE = explain(
    {
        "Confidence": "How sure a finding is, from 0 to 1. Corrections from 0.9 on can be made by the program; the "
        "others need a decision by a person.",
        "Contaminant": "Something wrong with the source text itself. It changes what systems and people translate, and "
        "so the ranking.",
        "Topics": "Groups of documents that use the same words. The test compares all documents with those of the "
        "corpus; the groups are only for orientation.",
    }
)


def build_testset_page(result: TestSetCheck, *, title: str) -> ReportPage:
    """The page data of one result."""
    sections = (
        Section("summary", "What was found", tables=result.tables()[:1]),
        Section("size", "Size", tables=result.statistics.tables()),
        *_topics(result),
        *_versions(result),
        *_documents(result),
    )
    page = PairPage.about(
        result, sections, name=title, slug="testset", headline=_headline(result), facts=_facts(result)
    )
    return ReportPage(title=title, pairs=(page,), guide=GUIDE)


def _headline(result: TestSetCheck) -> str:
    if not result.counts:
        return "Nothing wrong was found in the texts"
    worst, times = max(result.counts.items(), key=lambda item: item[1])
    return f"{counted(sum(result.counts.values()), 'finding')}, the most frequent: {worst.replace('-', ' ')} ({times})"


def _facts(result: TestSetCheck) -> tuple[Fact, ...]:
    share = result.alarmed / max(1, result.segments)
    sure = sum(finding.sure for finding in result.findings)
    return (
        Fact("Segments", f"{result.segments:,}", f"in {counted(result.documents, 'document')}"),
        Fact(
            "With findings", f"{share:.1%}", counted(result.alarmed, "segment"), "open" if result.alarmed else "decided"
        ),
        Fact("Sure corrections", f"{sure:,}", "can be made by --fix"),
    )


def _topics(result: TestSetCheck) -> list[Section]:
    if result.topics is None:
        return []
    words = "No difference from the corpus is shown."
    if result.topics.p <= 0.05:
        words = "The mix of topics differs from that of the corpus."
    says = "Share of documents by topic, test set and corpus."
    chart = Chart("topics", "Topics", says, draw_topics(result.topics))
    return [Section("topics", "Topics", (words,), (chart,), result.topics.tables())]


def _versions(result: TestSetCheck) -> list[Section]:
    if result.versions is None:
        return []
    kinds, changes, *outputs = result.versions.tables()
    return [Section("versions", "Two versions", tables=(kinds, *outputs), folded=(changes,))]


def _documents(result: TestSetCheck) -> list[Section]:
    """One section per document with findings that count, in order."""
    counting = [finding for finding in result.findings if finding.category in CATEGORIES]
    runs = [list(run) for _, run in groupby(counting, key=lambda finding: (finding.file, finding.document))]
    return [
        Section(f"document-{number}", _name(run[0]), tables=(_table(run),)) for number, run in enumerate(runs, start=1)
    ]


def _name(finding: Finding) -> str:
    return f"Document {finding.document}" if finding.document else "The file"


def _table(findings: list[Finding]) -> Table:
    rows = tuple(
        (finding.line, finding.category, finding.text, finding.suggestion or finding.what, finding.confidence)
        for finding in findings
    )
    columns = (number("line", 0), text("category"), text("text"), text("suggestion"), number("confidence", 2))
    return Table(_name(findings[0]), columns, rows)


def draw_topics(topics: Topics) -> Drawing:
    """Two bars per topic: its share of the documents on either side."""
    values = {topic.label: {"test set": topic.share_test, "corpus": topic.share_reference} for topic in topics.topics}
    highest = max((share for shares in values.values() for share in shares.values()), default=1.0)
    scale = Numbers(0.0, highest or 1.0, "share of documents", percent=True)
    return draw_row_bars(values, scale, number=".0%", colours=(drawing.ACCENT, drawing.MUTED))
