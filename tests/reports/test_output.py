"""Results as files: what each ending writes, for names of any kind and figures that are not defined."""

from __future__ import annotations

import io
import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import openpyxl
import polars as pl
import pytest
from rich.console import Console

from adjudge.reports.build import build_report
from adjudge.reports.files import WRITERS, ByPair, to_csv, write_page, write_results
from adjudge.reports.latex import divide_table, escape, latex_table, to_latex, write_paper
from adjudge.reports.page import print_table
from adjudge.table.errors import UsageError
from adjudge.table.results import HumanName, Span, Table, number, span, text
from tests.helpers.made import NASTY, pair_results, score_results, three_systems
from tests.helpers.tables import command, ranking_rows, write_table
from tests.helpers.warm_command import PATIENCE

NAMES = ('A & B_1 "50%" #2 {x} \\ ~^ <b> $1', "0.9 → 0.8, 2 × 3 ≥ 1…", 'comma, quote" and\nline')
TABLE = Table("Metrics_1", (text("metric"), number("r")), tuple((name, float("nan")) for name in NAMES))


def test_csv_is_plain_and_holds_names_as_they_are() -> None:
    frame = pl.read_csv(to_csv(TABLE).encode())
    assert frame.columns == ["metric", "r"]
    assert frame["metric"].to_list() == list(NAMES)
    assert frame["r"].to_list() == [None] * 3


def test_latex_escapes_what_it_would_read_as_commands() -> None:
    made = to_latex([TABLE], signatures=["adjudge x|y:1"])
    assert r"A \& B\_1 " in made
    assert r"50\%" in made
    assert r"\#2 \{x\} \textbackslash{} \textasciitilde{}\textasciicircum{} $<$b$>$ \$1" in made
    assert r"0.9 $\rightarrow$ 0.8, 2 $\times$ 3 $\geq$ 1\ldots{}" in made
    assert r"\caption{Metrics\_1" in made
    assert r"\label{tab:metrics-1}" in made
    assert "\n% adjudge x|y:1\n" in made
    assert 'quote" and line' in made
    assert escape("a|b") == r"a\textbar{}b", "else pdflatex prints a dash"


def test_brackets_are_no_markup_of_the_terminal(tmp_path: Path) -> None:
    """In headings, cells and notes below tables, where the terminal's own marks would be read."""
    rows = [
        (name, item, system, score + (7 * item + 5 * person) % 11, 9 - (item + person * item) % 4)
        for person, name in enumerate(("[b]", "ben", "zoe"))
        for item in range(12)
        for system, score in (("[/i]", 60), ("[red]plain", 70))
    ]
    header = ("annotator", "segment", "system", "adequacy [/b]", "fluency [red]")
    path = tmp_path / "names.csv"
    pl.DataFrame(rows, schema=header, orient="row").write_csv(path)
    run = command("rank", path)
    assert run.code == 0, run.err
    for name in (*header[3:], "[/i]", "[red]plain"):
        assert name in run.out
    assert "und-und" not in run.out, "languages that are not known are no part of a heading"
    noted = replace(TABLE, note="see [/b] and [red]")
    console = Console(file=(printed := io.StringIO()), width=120)
    print_table(noted, console)
    assert noted.note in printed.getvalue()


def test_csv_of_a_ranking_is_read_back_as_it_was(tmp_path: Path) -> None:
    ranking = three_systems()
    written = write_results({"all": ranking}, tmp_path / "r.csv")
    assert [path.name for path in written] == ["r.csv", "r-pairs-of-systems.csv", "r.signature.txt"]
    frame = pl.read_csv(tmp_path / "r.csv")
    assert frame.equals(ranking.to_frame())
    first = ["rank", "system", "score", "low", "high", "letters", "rank_set_low", "rank_set_high"]
    assert frame.columns[: len(first)] == first
    assert frame["system"].to_list() == ["ref", "alpha", "beta"]
    assert (tmp_path / "r.signature.txt").read_text() == ranking.signature + "\n"


def test_several_pairs_stand_in_one_table_with_a_column_that_says_which(tmp_path: Path) -> None:
    write_results({"cs-en": three_systems(), "de-en": three_systems("gamma")}, tmp_path / "r.parquet")
    frame = pl.read_parquet(tmp_path / "r.parquet")
    assert frame["language pair"].to_list() == ["cs-en"] * 3 + ["de-en"] * 3
    assert "gamma" in frame["system"].to_list()


def test_excel_holds_a_sheet_per_table_and_no_formulas(tmp_path: Path) -> None:
    write_results({"all": three_systems("=1+1")}, tmp_path / "r.xlsx")
    book = openpyxl.load_workbook(tmp_path / "r.xlsx")
    assert book.sheetnames == ["Ranking by bradley-terry", "Pairs of systems", "signature"]
    cell = book.worksheets[0]["B3"]
    assert (cell.value, cell.data_type) == ("=1+1", "s")
    again = tmp_path / "again.xlsx"
    write_results({"all": three_systems("=1+1")}, again)
    assert again.read_bytes() == (tmp_path / "r.xlsx").read_bytes()


@pytest.mark.slow
def test_pages_and_text_are_written_by_their_endings(tmp_path: Path) -> None:
    for ending, start in ((".html", b"<!doctype html>"), (".pdf", b"%PDF"), (".txt", b""), (".tex", b"% needs")):
        path = tmp_path / f"r{ending}"
        assert write_results({"all": three_systems(NASTY)}, path) == [path]
        assert path.read_bytes()[:15].lower().startswith(start.lower())


def test_one_result_of_several_keeps_the_shape_of_several(tmp_path: Path) -> None:
    results = ByPair({"cs-en": three_systems()})
    results.several = True
    write_results(results, tmp_path / "r.json")
    assert list(json.loads((tmp_path / "r.json").read_text())["pairs"]) == ["cs-en"]


def test_other_endings_are_refused_before_anything_is_computed(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"\.json \.csv \.parquet"):
        write_results({"all": three_systems()}, tmp_path / "r.doc")
    table = write_table(tmp_path / "j.csv", ranking_rows())
    run = command("rank", table, "-o", tmp_path / "r.doc")
    assert run.code == 2
    assert "the ending says what is written; use one of .json" in run.err
    run = command("report", table, "-o", tmp_path / "report.doc")
    assert run.code == 2
    assert ".html or .pdf" in run.err
    assert set(WRITERS) == {".json", ".csv", ".parquet", ".xlsx", ".tex", ".html", ".pdf", ".txt"}


@pytest.mark.slow
@pytest.mark.parametrize("results", [pair_results(NASTY), score_results()], ids=["rankings", "scores"])
def test_a_whole_report_becomes_a_pdf(results: object, tmp_path: Path) -> None:
    page = build_report({"cs-en": results}, title='T"\\ #strong[x]')  # type: ignore[dict-item]
    write_page(page, tmp_path / "report.pdf")
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")


def test_a_paper_gets_table_figure_paragraph_and_references(tmp_path: Path) -> None:
    results = pair_results()
    written = {path.name for path in write_paper({"cs-en": results}, tmp_path)}
    assert written == {"ranking.tex", "paragraph.tex", "ranking.svg", "ranking.pdf", "references.bib"}
    table = (tmp_path / "ranking.tex").read_text(encoding="utf-8")
    assert f"% {results.ranking.signature}\n" in table
    assert r"\begin{tabular}{rlrr}" in table
    assert r"\label{tab:ranking}" in table
    assert r"1 & ref (human) & 0.750 & 1 \\" in table
    paragraph = (tmp_path / "paragraph.tex").read_text(encoding="utf-8")
    cited = {key for keys in re.findall(r"\\cite\{([^}]*)\}", paragraph) for key in keys.split(",")}
    defined = set(re.findall(r"^@\w+\{(\w+),", (tmp_path / "references.bib").read_text(encoding="utf-8"), re.MULTILINE))
    assert cited == defined
    assert {"adjudge", "bradley1952rank", "holm1979simple"} <= cited
    assert "We rank 2 systems and 1 human translation by the Bradley-Terry model" in paragraph
    assert "Of 3 pairs, 2 differ" in paragraph


def test_several_pairs_have_names_of_their_own(tmp_path: Path) -> None:
    names = {path.name for path in write_paper({"cs-en": pair_results(), "de-en": pair_results()}, tmp_path)}
    assert {"cs-en-ranking.tex", "de-en-ranking.tex", "references.bib"} <= names


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_the_paper_compiles(tmp_path: Path) -> None:
    write_paper({"cs-en": pair_results("A & B_1 50% #2")}, tmp_path)
    (tmp_path / "main.tex").write_text(
        r"\documentclass[twocolumn]{article}\usepackage{booktabs,graphicx}\begin{document}\input{paragraph}\input{ranking}"
        r"\includegraphics[width=\linewidth]{ranking}\end{document}",
        encoding="utf-8",
    )
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "main.tex"],
        cwd=tmp_path, capture_output=True, text=True, check=False, errors="replace", timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout


LABELS = ("judgments of all", "low", "high", "kappa low", "high", "observed with others", "p", "seconds per judgment")
WIDE = Table(
    "Wide", (number("rank", 0), text("system"), *(number(label) for label in LABELS)),
    tuple((i, f"a system with the number {i}", *([12.345] * 8)) for i in range(3)),
)  # fmt: skip
SENTENCES = Table(
    "Words", (text("claim"), number("p"), text("why")), (("a is better than b", 0.5, "as it seems " * 20),)
)
MATRIX = Table(
    "Matrix", (text("system"), *(number(f"system-{i:02d}", 2) for i in range(14))),
    tuple((f"system-{i:02d}", *([0.5] * 14)) for i in range(14)), lines=frozenset({3}),
)  # fmt: skip


def test_wide_tables_are_set_smaller_and_narrow_ones_as_before() -> None:
    narrow = to_latex([Table("t", (text("system"), number("r")), (("a", 1.0),))])
    assert "tabcolsep" not in narrow
    assert "\\begin{tabular}{lr}\n\\toprule\nsystem & r \\\\\n" in narrow
    assert r"observed \\ with \\ others" in to_latex([WIDE])
    assert r"p{0." in to_latex([SENTENCES])
    first, second = divide_table(MATRIX)
    assert [column.label for column in (*first.columns, *second.columns[1:])] == [
        column.label for column in MATRIX.columns
    ]
    assert second.columns[0].label == "system"
    assert (second.title, second.lines) == ("Matrix, part 2", MATRIX.lines)


def test_parts_of_wide_tables_keep_names_and_intervals_together() -> None:
    """A label that comes again, such as `high`, follows its neighbour; the system's name is in every part."""
    columns = (number("rank", 0), text("system"), *(number(f"{a} {b}") for a in "pqrstuvw" for b in ("long-label", "")))
    columns = tuple(replace(column, label="high") if column.label.endswith(" ") else column for column in columns)
    made = divide_table(Table("Intervals", columns, ((1, "a", *([12345.678] * 16)),)))
    assert len(made) > 1
    for part in made:
        labels = [column.label for column in part.columns]
        assert labels[:2] == ["rank", "system"]
        assert labels[3::2] == ["high"] * len(labels[3::2])
        assert len(labels) % 2 == 0


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_no_table_is_wider_than_the_page(tmp_path: Path) -> None:
    made = to_latex([WIDE, SENTENCES, MATRIX])
    document = (
        rf"\documentclass{{article}}\usepackage{{booktabs}}\begin{{document}}{'%'}" + f"\n{made}" + r"\end{document}"
    )
    (tmp_path / "main.tex").write_text(document, encoding="utf-8")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "main.tex"],
        cwd=tmp_path, capture_output=True, text=True, check=False, errors="replace", timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout


def test_ranges_and_human_names_are_shown_as_before() -> None:
    table = Table("t", (text("system"), span("ranks")), ((HumanName("ref"), Span(1, 3)), ("a", Span(2, 2))))
    assert "ref (human) & 1--3" in to_latex([table])
    assert "a & 2 " in to_latex([table])


def test_numbers_below_zero_have_a_minus_in_latex() -> None:
    table = Table("T", (text("name"), number("score", 1)), (("-x", -1.25), ("y", 1.25)))
    latex = latex_table(table)
    assert r"-x & $-$1.2 \\" in latex
    assert r"y & 1.2 \\" in latex
