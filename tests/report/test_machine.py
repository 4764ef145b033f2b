"""CSV and LaTeX: names of any kind, and figures that are not defined."""

from __future__ import annotations

import csv
import io

from adjudge.report.machine import to_csv, to_latex
from adjudge.results.table import Table, number, text

NAMES = ('A & B_1 "50%" #2 {x} \\ ~^ <b> $1', "0.9 → 0.8, 2 × 3 ≥ 1…", 'comma, quote" and\nline')
TABLE = Table("Metrics_1", (text("metric"), number("r")), tuple((name, float("nan")) for name in NAMES))


def test_csv_holds_names_as_they_are_and_no_nan() -> None:
    rows = list(csv.reader(io.StringIO(to_csv([TABLE]))))
    assert rows == [["# Metrics_1"], ["metric", "r"], *([name, ""] for name in NAMES)]


def test_latex_escapes_what_it_would_read_as_commands() -> None:
    made = to_latex([TABLE])
    assert r"A \& B\_1 " in made
    assert r"50\%" in made
    assert r"\#2 \{x\} \textbackslash{} \textasciitilde{}\textasciicircum{} $<$b$>$ \$1" in made
    assert r"0.9 $\rightarrow$ 0.8, 2 $\times$ 3 $\geq$ 1\ldots{}" in made
    assert r"\caption{Metrics\_1" in made
