"""Replication of "Improving Evaluation of Document-level Machine Translation Quality Estimation" (Graham et al. 2017).

From the raw crowd batches: totals, the correlation of the two runs, the curve, and the scores of documents. What needs
predictions or post-editions that were never released is computed on simulated ones, and says so: there texts and
systems are invented, and the truth behind them is known. It shows that the computation is there, and that the effect
the paper describes follows from the weighting alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import adjudge
from adjudge.formats.parsing.spaced import read_spaced
from adjudge.meta.quality_estimation import estimate
from adjudge.replicate.document_qe.figures import draw_figures
from adjudge.replicate.published import find_file, input_fault, read_published, sign_data
from adjudge.results.replication import ReplicatedCell, ReplicatedTable, Replication, Source
from adjudge.simulate.post_edits import simulate_post_edits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from adjudge import Judgments
    from adjudge.replicate.published import Published
    from adjudge.results.check import Checked
    from adjudge.results.gold import Gold, GoldScore
    from adjudge.results.qe import QualityEstimation


NAME = "document-qe"
# The released z-scores were made with workers' means of seven digits.
DECIMALS = 5
ORDERS = 100
_OF_DOCUMENTS = {"z": DECIMALS, "raw": DECIMALS, "n": 0}


@dataclass(frozen=True)
class _Released:
    """The two runs under the names of their folders, and what is computed from them once."""

    folder: Path
    runs: Mapping[str, Judgments]
    checked: Mapping[str, Checked]
    gold: Gold
    """Of runA, replicated by runB."""


def replicate(folder: Path) -> Replication:
    """All tables that the released data allow, and simulated ones for the rest."""
    published = read_published("document_qe")
    released = _read(folder, published)
    simulated = simulate_sweep(published.content["official_weight"])
    return Replication(
        settings={"paper": NAME},
        data=sign_data(run.fingerprint for run in released.runs.values()),
        set_aside=released.gold.set_aside,
        notes=released.gold.notes,
        figures=draw_figures(released.gold, released.folder, published.content, simulated),
        not_recomputed=published.not_recomputed(),
        paper=published.paper,
        replicated=(
            published.compared("Table 1", _totals(published, released)),
            published.compared("Section 3.1", _replication(released.gold)),
            published.compared("Costs", _costs(published, released)),
            _curve(published, released),
            _documents(published, released, "runA", released.gold.scores),
            _documents(published, released, "runB", released.gold.second),
            _unreleased(published),
            simulated_sweep(simulated),
        ),
    )


def _read(folder: Path, published: Published) -> _Released:
    files = published.content["files"]
    base = find_file(folder, files["curve"]).parent
    runs: dict[str, Judgments] = {}
    for name in sorted(published.content["runs"].values()):
        batches = base / files["batches"] / name
        if not batches.is_dir():
            raise input_fault(base, f"holds no folder '{files['batches']}/{name}' of crowd batches")
        runs[name] = adjudge.read(batches, format="mturk-da")
    standard = adjudge.gold(*runs.values(), keys=base / files["keys"], orders=ORDERS)
    return _Released(base, runs, {name: adjudge.check(run) for name, run in runs.items()}, standard)


def _totals(published: Published, released: _Released) -> dict[str, float]:
    """Table 1 under its three readings; the notes of the published cells say which is which."""
    documents = len(released.gold.scores)
    totals: dict[str, float] = {}
    for name, folder in published.content["runs"].items():
        kept = released.checked[folder].kept
        rated = kept["system"] + kept["repeat"]
        after = rated if name == "Run A" else kept["judgments"]
        totals[f"{name}: total"] = float(len(released.runs[folder]))
        totals[f"{name}: post QC"] = float(after)
        totals[f"{name}: mean per document"] = after / documents
    return totals


def _replication(standard: Gold) -> dict[str, float]:
    last = standard.curve[-1]
    r = float("nan") if standard.correlation is None else standard.correlation.pearson
    return {
        "correlation of the two runs": r,
        "fewest assessments of a document": float(last.fewest),
        "mean assessments per document": last.mean,
    }


def _costs(published: Published, released: _Released) -> dict[str, float]:
    content = published.content
    paid = sum(_paid(run) for run in released.runs.values()) / len(released.runs)
    printed = {name: float(value) for name, value in published.cells("Costs").items()}
    direct = printed["direct assessment, one run on average"]
    cells = {
        "direct assessment, one run on average": content["reward"]["value"] * paid,
        "post-editing dearer by a factor of, low": printed["post-editing, low"] / direct,
        "post-editing dearer by a factor of, high": printed["post-editing, high"] / direct,
    }
    source = released.folder / content["files"]["source"]
    if source.is_file():
        words = len(source.read_text(encoding="utf-8").split())
        prices = content["word_prices"]
        cells |= {f"post-editing, {name}": words * prices[name] for name in ("low", "high")}
    return cells


def _paid(run: Judgments) -> int:
    """Assignments that were not rejected."""
    table = run.table.unique(["annotator", "task"])
    return table.height - int(table["rejected"].fill_null(value=False).sum())


def _curve(published: Published, released: _Released) -> ReplicatedTable:
    """Figure 2 point by point against the released file of its numbers."""
    path = released.folder / published.content["files"]["curve"]
    rows = [line.split() for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    points = released.gold.curve
    cells: list[ReplicatedCell] = []
    for i, row in enumerate(rows):
        point = points[i] if i < len(points) else None
        ours = (None, None, None) if point is None else (float(point.fewest), point.mean, point.pearson)
        for name, decimals, value, recomputed in zip(
            ("fewest", "mean", "r"), (0, DECIMALS, DECIMALS), row, ours, strict=True
        ):
            cells.append(ReplicatedCell(f"point {i + 1}: {name}", float(value), decimals, recomputed))
    title = f"Correlation as assessments come in: {len(rows)} points of {path.name}"
    return ReplicatedTable("Figure 2", title, 359, tuple(cells), Source.AUTHORS, path.name)


def _documents(published: Published, released: _Released, run: str, scores: Sequence[GoldScore]) -> ReplicatedTable:
    """The released scores of documents of one run."""
    path = released.folder / run / published.content["files"]["documents"]
    by_document = {str(score.document): score for score in scores}
    table = read_spaced(path, header="Z.MEAN")
    cells: list[ReplicatedCell] = []
    if table is not None:
        table.refuse_ragged()
        names = table.texts(table.column_index("ORIG.TRG.FN") or 0)
        columns = [table.numbers(table.column_index(name) or 0, name) for name in ("Z.MEAN", "RAW.MEAN", "N")]
        for name, *official in zip(names, *columns, strict=True):
            own_score = by_document.get(name)
            ours = (None, None, None) if own_score is None else (own_score.z, own_score.raw, float(own_score.n))
            for (what, decimals), printed, recomputed in zip(_OF_DOCUMENTS.items(), official, ours, strict=True):
                cells.append(ReplicatedCell(f"{name.rpartition('/')[2]}: {what}", printed, decimals, recomputed))
    title = f"Scores of documents in {run}/{path.name}"
    return ReplicatedTable(f"Documents, {run}", title, None, tuple(cells), Source.AUTHORS, f"{run}/{path.name}")


def _unreleased(published: Published) -> ReplicatedTable:
    names = published.cells("Table 2")
    why = "needs the systems' predictions, which were not released"
    return published.compared("Table 2", {}, dict.fromkeys(names, why))


WEIGHTS = (0.0, 1.0, 50.0)
SEED = 1
_NOTE = "simulated, see docs/qe.md"


def simulate_sweep(weight: float) -> QualityEstimation:
    """The computations behind Table 2 and Figure 1 on invented texts and systems."""
    simulated = simulate_post_edits(documents=62, segments=6, seed=SEED)
    return estimate(simulated.documents, simulated.predictions, weight=weight)


def simulated_sweep(result: QualityEstimation) -> ReplicatedTable:
    """Every invented system's correlation at some weights, how many rankings there are, and the tests."""
    weight = result.weight.weight
    cells = [
        ReplicatedCell(f"{system.system}, weight {at:g}: r", None, 3, system.by_weight[result.weights.index(at)], _NOTE)
        for system in result.systems
        for at in sorted({*WEIGHTS, float(weight)})
    ]
    cells.append(ReplicatedCell("rankings of systems along the sweep", None, 0, float(len(result.orders)), _NOTE))
    cells += [
        ReplicatedCell(f"{comparison.better} better than {comparison.worse}: Williams' p", None, 6, comparison.p, _NOTE)
        for comparison in result.comparisons
    ]
    title = f"Weight sweep and Williams' test at weight {weight:g} on simulated post-editions; seed {SEED}"
    return ReplicatedTable("Figure 1, simulated", title, None, tuple(cells), Source.NONE)
