"""What goes into a paper: a narrow table, the figure, the paragraph to write, and the references it cites.

The paragraph says what was done, what holds and what does not, in sentences that the results support. It is a draft to
be cut, not to be strengthened. Those who choose themselves get all tables and charts of a report's page as files.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from adjudge._version import __version__
from adjudge.core.files import atomic_path, write_text
from adjudge.core.languages import pair_title
from adjudge.core.wording import counted
from adjudge.evidence.verdict import count_claims_in_paper, say_apart_in_paper, say_headline
from adjudge.report.charts.theme import PNG_SCALE, paint
from adjudge.report.output.formats import slug, to_csv, write_signatures
from adjudge.report.output.latex import NEEDED, escape, latex_table, to_latex
from adjudge.report.sections.agreement import choose_coefficient
from adjudge.report.sections.claims import claims_of, decide
from adjudge.report.sections.ranking import scores_chart
from adjudge.results.table import Column, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from adjudge.report.page import ReportPage
    from adjudge.results.rank import Ranking
    from adjudge.results.report import PairResults

FIGURE_WIDTH = 380
# What a method is called in a sentence, and what to cite for it.
_METHODS = {
    "bradley-terry": ("the Bradley-Terry model with ties after Davidson", ("bradley1952rank", "davidson1970extending")),
    "expected-wins": ("expected wins", ("koehn2012simulating",)),
    "trueskill": ("TrueSkill", ("herbrich2006trueskill", "sakaguchi2014efficient")),
    "mfas": ("the order that contradicts the fewest judgments", ("lopez2012putting",)),
    "wins-or-ties": ("the share of comparisons won or tied", ("bojar2011grain",)),
    "wins": ("the share of comparisons won", ("bojar2011grain",)),
    "wins-no-ties": ("the share of comparisons won, without ties", ("bojar2011grain",)),
    "raw": ("mean scores", ()),
    "zscore": ("mean scores standardised by annotator", ("graham2017crowd",)),
    "mixed": ("a linear mixed model fitted by restricted maximum likelihood", ("patterson1971recovery",)),
    "mixed-rank": ("a linear mixed model of rank scores", ("patterson1971recovery",)),
}
_AGREEMENT = {"kappa": "cohen1960coefficient", "alpha": "krippendorff2004content"}
# The columns that are kept, and what each is called there.
_NARROW = {"rank": "", "system": "system", "score": "score", "rank_set": "ranks"}


def write_paper(results: Mapping[str, PairResults], folder: Path) -> list[Path]:
    """Write table, figure and paragraph for every language pair, and the references for all."""
    written: list[Path] = []
    cited: set[str] = {"adjudge"}
    for name, pair in results.items():
        prefix = f"{slug(name)}-" if len(results) > 1 else ""
        label = f"tab:{prefix}ranking"
        paragraph = write_paragraph(pair, label)
        cited |= {key for keys in re.findall(r"\\cite\{([^}]*)\}", paragraph) for key in keys.split(",")}
        written += [
            _write(folder / f"{prefix}ranking.tex", ranking_table(pair.ranking, name, label)),
            _write(folder / f"{prefix}paragraph.tex", paragraph),
            *_write_figure(pair.ranking, folder / f"{prefix}ranking"),
        ]
    return [*written, _write(folder / "references.bib", collect_references(cited))]


def write_tables(page: ReportPage, folder: Path) -> list[Path]:
    """Every table as CSV (full precision) and as LaTeX (as shown), and the signatures of the results."""
    signatures = [signature for pair in page.pairs for signature in pair.signatures]
    written: list[Path] = []
    for name, table in _named_tables(page):
        for ending, text in ((".csv", to_csv(table)), (".tex", to_latex([table], signatures=signatures))):
            path = folder / f"{name}{ending}"
            write_text(path, text)
            written.append(path)
    return [*written, write_signatures(signatures, folder / "tables")]


def write_plots(page: ReportPage, folder: Path) -> list[Path]:
    """Every chart as SVG and PNG, in light colours."""
    import vl_convert

    written: list[Path] = []
    for name, spec in page.charts_by_id().items():
        svg = vl_convert.vegalite_to_svg(paint(spec))
        write_text(folder / f"{name}.svg", svg)
        with atomic_path(folder / f"{name}.png") as temporary:
            temporary.write_bytes(vl_convert.svg_to_png(svg, scale=PNG_SCALE))
        written += [folder / f"{name}.svg", folder / f"{name}.png"]
    return written


def _named_tables(page: ReportPage) -> Iterator[tuple[str, Table]]:
    """Tables under names that no two share: language pair and title."""
    seen: dict[str, int] = {}
    tables = [("overview", page.overview)] if page.overview else []
    tables += [
        (f"{pair.slug}-{slug(table.title)}", table)
        for pair in page.pairs
        for section in pair.sections
        for table in (*section.tables, *section.folded)
    ]
    for name, table in tables:
        seen[name] = seen.get(name, 0) + 1
        yield (name if seen[name] == 1 else f"{name}-{seen[name]}"), table


def _write(path: Path, text: str) -> Path:
    write_text(path, text)
    return path


def _write_figure(ranking: Ranking, path: Path) -> list[Path]:
    import vl_convert

    spec = paint(scores_chart(ranking).spec, width=FIGURE_WIDTH)
    svg = _write(path.with_suffix(".svg"), vl_convert.vegalite_to_svg(spec))
    pdf = path.with_suffix(".pdf")
    with atomic_path(pdf) as temporary:
        temporary.write_bytes(vl_convert.vegalite_to_pdf(spec))
    return [svg, pdf]


def ranking_table(ranking: Ranking, name: str, label: str) -> str:
    """The ranking in four columns, which fit into one column of a paper, with its signature as a comment."""
    table = ranking.tables()[0]
    kept = [i for i, column in enumerate(table.columns) if column.key in _NARROW]
    columns = tuple(
        replace(column, label=_NARROW[column.key], digits=_digits(ranking, column))
        for column in (table.columns[i] for i in kept)
    )
    narrow = Table(table.title, columns, tuple(tuple(row[i] for i in kept) for row in table.rows), lines=table.lines)
    caption = (
        f"{_titled(name)}Systems ranked by {_method(ranking)[0]} ({ranking.unit}). Ranks: those that the judgments "
        f"leave possible. Rules separate clusters ({ranking.lines.rule}, {100 * ranking.lines.level:g}% level)."
    )
    latex = latex_table(narrow, label=label, caption=escape(caption), size=r"\small")
    return f"{NEEDED}\n% {ranking.signature}\n{latex}"


def _digits(ranking: Ranking, column: Column) -> int:
    """One digit where scores reach 10, as points mostly do; three for smaller ones, as shares and log-odds."""
    if column.key != "score":
        return column.digits
    return 1 if max((abs(system.score or 0.0) for system in ranking.systems), default=0.0) >= 10 else 3


def _titled(name: str) -> str:
    title = pair_title(name)
    return f"{title}. " if title else ""


def _method(ranking: Ranking) -> tuple[str, tuple[str, ...]]:
    return _METHODS.get(ranking.method, (f"the method {ranking.method}", ()))


def write_paragraph(results: PairResults, label: str) -> str:
    """The paragraph in LaTeX: what was done, what holds, what does not."""
    sentences = [*_done(results, label), *_found(results), *_agreed(results)]
    return "\n".join([f"% {results.ranking.signature}", *sentences, ""])


def _done(results: PairResults, label: str) -> list[str]:
    ranking, counts = results.ranking, results.counts
    humans = sum(system.human for system in ranking.systems)
    people = f" and {counted(humans, 'human translation')}" if humans else ""
    words, keys = _method(ranking)
    judged = counted(*counts.answers)
    judged += f" of {counted(counts.segments, 'segment')}" if counts.segments else ""
    tool = rf"with adjudge {__version__}~\cite{{adjudge}} (Table~\ref{{{label}}})"
    return [
        f"We rank {counted(len(ranking.systems) - humans, 'system')}{people} by {words}{_cite(keys)} {tool}.",
        f"The data are {judged} by {counts.judged_by}.",
        *_not_ranked(results),
    ]


def _not_ranked(results: PairResults) -> list[str]:
    """What the ranking left out of the data that were read, and why."""
    asides = [aside for aside in results.ranking.set_aside if aside not in results.counts.set_aside]
    if not asides:
        return []
    left_out = [f"{aside.rows:,} ({escape(aside.reason)})" for aside in asides]
    return [f"Not ranked: {'; '.join(left_out)}."]


def _found(results: PairResults) -> list[str]:
    decisions, claims = decide(results), claims_of(results)
    how = rf"at the {100 * decisions.level:g}\% level after Holm's correction~\cite{{holm1979simple}}"
    sentences = [say_apart_in_paper(decisions.apart, decisions.pairs, how), escape(say_headline(decisions))]
    if claims is not None:
        sentences.append(count_claims_in_paper(claims.counted("holds"), claims.counted("fragile")))
    return sentences


def _agreed(results: PairResults) -> list[str]:
    agreement = results.agreement
    if agreement is None or not agreement.inter["all"].pairs:
        return []
    name, value = choose_coefficient(agreement, agreement.inter["all"])
    if value != value:  # noqa: PLR0124  NaN differs from itself
        return []
    greek = rf"$\{name}$" if name in ("kappa", "alpha") else name
    return [f"Agreement between annotators is {greek} = {value:.2f}{_cite((_AGREEMENT[name],))}."]


def _cite(keys: tuple[str, ...]) -> str:
    return rf"~\cite{{{','.join(keys)}}}" if keys else ""


def collect_references(keys: set[str]) -> str:
    """BibTeX entries of these keys, in the order of the file."""
    known = _entries()
    return "\n".join(f"{entry}\n" for key, entry in known.items() if key in keys)


@cache
def _entries() -> dict[str, str]:
    text = (files("adjudge.report") / "references.bib").read_text(encoding="utf-8").replace("VERSION", __version__)
    # What stands before the first entry is about the file.
    entries = [entry.strip() for entry in re.split(r"\n(?=@)", text) if entry.startswith("@")]
    return {entry.partition("{")[2].partition(",")[0]: entry for entry in entries}
