"""The report as data: pages, sections, charts and tables. Templates only lay these out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

from adjudge._version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adjudge.core.judgments import SetAside
    from adjudge.results.result import Result
    from adjudge.results.table import Table

Tone = Literal["plain", "decided", "open", "warning"]


@dataclass(frozen=True)
class Chart:
    """A chart: its Vega-Lite specification, and one sentence that says what it shows to those who cannot see it."""

    slug: str
    title: str
    says: str
    spec: Mapping[str, Any]


@dataclass(frozen=True)
class Fact:
    """One of the facts at the top: a short value under a label, with a line of detail."""

    label: str
    value: str
    detail: str = ""
    tone: Tone = "plain"


@dataclass(frozen=True)
class Section:
    """A part of a page: words first, then charts, then tables; `folded` tables are shown on request."""

    slug: str
    title: str
    words: tuple[str, ...] = ()
    charts: tuple[Chart, ...] = ()
    tables: tuple[Table, ...] = ()
    folded: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class PairPage:
    """Everything about one language pair, the verdict in plain words first."""

    name: str
    slug: str
    headline: str
    words: tuple[str, ...]
    facts: tuple[Fact, ...]
    sections: tuple[Section, ...]
    notes: tuple[str, ...]
    """About the data."""
    set_aside: tuple[SetAside, ...]
    signatures: tuple[str, ...]

    @classmethod
    def about(
        cls,
        result: Result,
        sections: tuple[Section, ...],
        *,
        name: str,
        slug: str,
        headline: str,
        words: tuple[str, ...] = (),
        facts: tuple[Fact, ...] = (),
    ) -> Self:
        """The page about a single result, with its notes, what was set aside, and its signature."""
        signatures = (result.signature,)
        return cls(name, slug, headline, words, facts, sections, result.notes, result.set_aside, signatures)


@dataclass(frozen=True)
class Term:
    """A word of statistics, explained."""

    name: str
    meaning: str


@dataclass(frozen=True)
class ReportPage:
    """The whole report. `overview` compares the language pairs where there are several."""

    title: str
    pairs: tuple[PairPage, ...]
    overview: Table | None = None
    guide: tuple[Term, ...] = ()
    version: str = __version__

    @property
    def charts(self) -> tuple[tuple[PairPage, Chart], ...]:
        """All charts with the pair they belong to."""
        return tuple((pair, chart) for pair in self.pairs for part in pair.sections for chart in part.charts)

    def charts_by_id(self) -> dict[str, Mapping[str, Any]]:
        """The specification of every chart under the id that its place in the document carries."""
        return {f"{pair.slug}-{chart.slug}": chart.spec for pair, chart in self.charts}
