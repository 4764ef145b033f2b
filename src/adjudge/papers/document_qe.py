"""Replication of "Improving Evaluation of Document-level Machine Translation Quality Estimation" (Graham et al. 2017).

From the raw crowd batches: totals, the correlation of the two runs, the curve, and the scores of documents. What needs
predictions or post-editions that were never released is computed on simulated ones, and says so: there texts and
systems are invented, and the truth behind them is known. It shows that the computation is there, and that the effect
the paper describes follows from the weighting alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import adjudge
from adjudge.papers.figures import Curve, CurveAt, Curves, Mark
from adjudge.papers.replicate import (
    ReplicatedCell,
    ReplicatedTable,
    Replication,
    Source,
    find_file,
    join_fingerprints,
    missing_data,
    read_published,
    read_released,
)
from adjudge.planning.simulate import SENSES, predictions_from, simulate_post_edits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from adjudge import Judgments
    from adjudge.metrics.results import CurvePoint, Gold, GoldScore, QualityEstimation, SystemSweep
    from adjudge.papers.replicate import Published
    from adjudge.people.results import Checked


# Figure 2 comes from the released runs. Figure 1 needs what five systems predicted and two post-editions of every
# document, none of which were released; the author herself simulated the post-editions' edit rates from the TER of the
# translations with their references. Here the same is done, and the systems are invented, too.

SEED = 1
NOISE = 0.5
_INVENTED, _FROM_REFERENCES = "everything simulated", "TER(PE1, MT) from the references' TER"


def weights_of_the_label(folder: Path, content: Mapping[str, Any], simulated: QualityEstimation) -> Curves:
    """Figure 1: how systems fare as the second post-edition gains weight in the label."""
    swept = {_INVENTED: simulated}
    rates = reference_rates(folder, content["files"])
    if rates is not None:
        swept[_FROM_REFERENCES] = _evaluate_rates(rates, content["simulated_labels"])
    curves = tuple(
        Curve(
            system.system,
            tuple(CurveAt(x, y) for x, y in zip(result.weights, system.by_weight, strict=True) if y is not None),
            panel,
        )
        for panel, result in swept.items()
        for system in (result.systems if panel == _INVENTED else _in_given_order(result))
    )
    counts = "; ".join(f"{len(result.orders)} rankings with {panel}" for panel, result in swept.items())
    return Curves(
        figure="Figure 1",
        title="Systems as the weight of TER(PE2, PE1) grows",
        page=358,
        basis="simulated data",
        says=f"The ranking of three invented systems turns as the weight grows from 0 to 50: {counts}.",
        note="Predictions and post-editions were not released. The systems are invented: one senses errors of single "
        "sentences, one errors of context, one both. Edit rates of the first post-edition are drawn, or, as the author "
        "did, the TER of each translation with its reference, moved and stretched (to a mean and spread chosen here); "
        "those of the second are drawn.",
        x="weight of TER(PE2, PE1)",
        y="Pearson's r",
        curves=curves,
        marks=(Mark("official weight", "x", float(content["official_weight"])),),
    )


def reference_rates(folder: Path, files: Mapping[str, str]) -> dict[str, float] | None:
    """TER of every document's translation with its reference; None where the texts are not there."""
    paths = [folder / files[name] for name in ("translations", "references")]
    if not all(path.is_file() for path in paths):
        return None
    translations, references = (path.read_text(encoding="utf-8").splitlines() for path in paths)
    keys = read_released(folder / files["keys"], "NEW.LN")
    lines = [int(key["NEW.LN"]) - 1 for key in keys]
    texts = pl.DataFrame(
        {
            "document": [key["ORIG.TRG.FN"] for key in keys],
            "mt": [translations[line] for line in lines],
            "pe1": [references[line] for line in lines],
        }
    )
    return {label.document: label.first for label in adjudge.qe(texts).documents}


def _evaluate_rates(rates: Mapping[str, float], settings: Mapping[str, float]) -> QualityEstimation:
    """Evaluate the invented systems against edit rates of the first post-edition, and drawn ones of the second."""
    first, second = simulated_labels(np.array(list(rates.values())), settings)
    rng = np.random.default_rng([SEED, 1])
    predicted = {
        name: dict(zip(rates, predictions_from(senses, first, second, NOISE, rng).tolist(), strict=True))
        for name, senses in SENSES.items()
    }
    return adjudge.qe(pl.DataFrame({"document": list(rates), "first": first, "second": second}), predicted)


def _in_given_order(result: QualityEstimation) -> list[SystemSweep]:
    return sorted(result.systems, key=lambda system: list(SENSES).index(system.system))


def simulated_labels(
    rates: NDArray[np.float64], settings: Mapping[str, float]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Edit rates of two post-editions: the given ones moved to a mean and a spread, and others that are drawn."""
    standard = (rates - rates.mean()) / rates.std(ddof=1)
    first = np.maximum(settings["first_mean"] + settings["first_sd"] * standard, 0.0)
    shape = (settings["second_mean"] / settings["second_sd"]) ** 2
    second = np.random.default_rng([SEED, 2]).gamma(shape, settings["second_mean"] / shape, len(rates))
    return first, second


def growing_run(gold: Gold, released: Sequence[Sequence[str]]) -> Curves:
    """Figure 2: the correlation of the two runs as assignments of the second come in."""
    points = [point for point in gold.curve if point.pearson is not None]
    known = [point for point in points if point.random_mean is not None]
    last = points[-1]
    return Curves(
        figure="Figure 2",
        title="Correlation of the two runs as assessments come in",
        page=359,
        says=f"In the order submitted r reaches {last.pearson:.3f} with {last.mean:.0f} assessments per document; "
        f"{_above(known)}",
        note="The printed curve is one order of assignments, and wiggles by luck. The band holds 95% of random orders.",
        x="mean assessments per document",
        y="correlation",
        curves=(
            Curve("released (cor.csv)", tuple(CurveAt(float(x), float(y)) for _, x, y in released)),
            Curve("recomputed", tuple(CurveAt(point.mean, float(point.pearson or 0)) for point in points)),
            Curve(
                "mean of random orders",
                tuple(
                    CurveAt(point.mean, float(point.random_mean or 0), point.random_low, point.random_high)
                    for point in known
                ),
            ),
        ),
    )


def _above(points: Sequence[CurvePoint]) -> str:
    enough = next((point.mean for point in points if (point.random_mean or 0) >= 0.9), None)
    if enough is None:
        return "the mean of random orders stays below 0.9."
    return f"the mean of random orders passes 0.9 at {enough:.0f}."


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
    curve: Sequence[Sequence[str]]
    """The numbers of Figure 2: fewest and mean assessments per document, and the correlation."""


def replicate(folder: Path) -> Replication:
    """All tables that the released data allow, and simulated ones for the rest."""
    published = read_published("document_qe")
    released = _read(folder, published)
    # The computations behind Table 2 and Figure 1 on invented texts and systems.
    invented = simulate_post_edits(documents=62, segments=6, seed=SEED)
    simulated = adjudge.qe(invented.texts, invented.predictions, weight=published.content["official_weight"])
    return Replication(
        settings={"paper": NAME},
        data=join_fingerprints(run.fingerprint for run in released.runs.values()),
        set_aside=released.gold.set_aside,
        notes=released.gold.notes,
        figures=(
            weights_of_the_label(released.folder, published.content, simulated),
            growing_run(released.gold, released.curve),
        ),
        not_recomputed=published.not_recomputed(),
        paper=published.paper,
        replicated=(
            published.compared("Table 1", _totals(published, released)),
            published.compared("Section 3.1", _replication(released.gold)),
            published.compared("Costs", _costs(published, released)),
            _curve(published, released),
            _documents(published, released, "runA", released.gold.scores),
            _documents(published, released, "runB", released.gold.second),
            published.compared(
                "Table 2",
                {},
                dict.fromkeys(published.cells("Table 2"), "needs the systems' predictions, which were not released"),
            ),
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
            raise missing_data(base, f"no folder '{files['batches']}/{name}' of crowd batches")
        runs[name] = adjudge.read(batches, format="mturk-da")
    standard = adjudge.gold(*runs.values(), keys=base / files["keys"], orders=ORDERS)
    curve = [line.split() for line in (base / files["curve"]).read_text(encoding="utf-8").splitlines() if line.strip()]
    return _Released(base, runs, {name: adjudge.check(run) for name, run in runs.items()}, standard, curve)


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
    name_of_file = (released.folder / published.content["files"]["curve"]).name
    points = released.gold.curve
    cells: list[ReplicatedCell] = []
    for i, row in enumerate(released.curve):
        point = points[i] if i < len(points) else None
        ours = (None, None, None) if point is None else (float(point.fewest), point.mean, point.pearson)
        for name, decimals, value, recomputed in zip(
            ("fewest", "mean", "r"), (0, DECIMALS, DECIMALS), row, ours, strict=True
        ):
            cells.append(ReplicatedCell(f"point {i + 1}: {name}", float(value), decimals, recomputed))
    title = f"Correlation as assessments come in: {len(released.curve)} points of {name_of_file}"
    return ReplicatedTable("Figure 2", title, 359, tuple(cells), Source.AUTHORS, name_of_file)


def _documents(published: Published, released: _Released, run: str, scores: Sequence[GoldScore]) -> ReplicatedTable:
    """The released scores of documents of one run."""
    path = released.folder / run / published.content["files"]["documents"]
    by_document = {str(score.document): score for score in scores}
    figures = ("Z.MEAN", "RAW.MEAN", "N")
    cells: list[ReplicatedCell] = []
    for row in read_released(path, "Z.MEAN", figures):
        name = row["ORIG.TRG.FN"]
        own_score = by_document.get(name)
        ours = (None, None, None) if own_score is None else (own_score.z, own_score.raw, float(own_score.n))
        printed = [row[figure] for figure in figures]
        for (what, decimals), official, recomputed in zip(_OF_DOCUMENTS.items(), printed, ours, strict=True):
            cells.append(ReplicatedCell(f"{name.rpartition('/')[2]}: {what}", official, decimals, recomputed))
    title = f"Scores of documents in {run}/{path.name}"
    return ReplicatedTable(f"Documents, {run}", title, None, tuple(cells), Source.AUTHORS, f"{run}/{path.name}")


WEIGHTS = (0.0, 1.0, 50.0)
_NOTE = "simulated, see docs/qe.md"


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
