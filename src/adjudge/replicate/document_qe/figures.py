"""Figures of "Improving Evaluation of Document-level Machine Translation Quality Estimation" (Graham et al. 2017).

Figure 2 comes from the released runs. Figure 1 needs what five systems predicted and two post-editions of every
document, none of which were released; the author herself simulated the post-editions' edit rates from the TER of the
translations with their references. Here the same is done, and the systems are invented, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.edit_rates import edit_rate
from adjudge.core.files import read_text
from adjudge.core.rng import generator
from adjudge.meta.document_keys import read_keys
from adjudge.meta.document_labels import orders_along, sweep
from adjudge.results.paper_figures import Curve, CurveAt, Curves, Mark
from adjudge.simulate.post_edits import SENSES, predictions_from
from adjudge.work import cached, map_tasks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from numpy.typing import NDArray

    from adjudge.results.gold import CurvePoint, Gold
    from adjudge.results.qe import QualityEstimation

WEIGHTS = tuple(float(weight) for weight in np.arange(0.0, 50.5, 0.5))
SEED = 1
NOISE = 0.5
_INVENTED, _FROM_REFERENCES = "everything simulated", "TER(PE1, MT) from the references' TER"


def draw_figures(
    gold: Gold, folder: Path, content: Mapping[str, Any], simulated: QualityEstimation
) -> tuple[Curves, ...]:
    """Figure 1 from simulated labels, of which `simulated` holds one sweep, and Figure 2 from the runs."""
    released = _released_curve(folder / content["files"]["curve"])
    return weights_of_the_label(folder, content, simulated), growing_run(gold, released)


def weights_of_the_label(folder: Path, content: Mapping[str, Any], simulated: QualityEstimation) -> Curves:
    """Figure 1: how systems fare as the second post-edition gains weight in the label."""
    swept = {_INVENTED: (simulated.weights, {system.system: system.by_weight for system in simulated.systems})}
    rates = reference_rates(folder, content["files"])
    if rates is not None:
        first, second = simulated_labels(np.array(list(rates.values())), content["simulated_labels"])
        rng = generator(SEED, 1)
        predicted = {name: predictions_from(senses, first, second, NOISE, rng) for name, senses in SENSES.items()}
        swept[_FROM_REFERENCES] = (WEIGHTS, sweep(first, second, predicted, WEIGHTS))
    curves = tuple(
        Curve(name, tuple(CurveAt(x, y) for x, y in zip(weights, values, strict=True) if y is not None), panel)
        for panel, (weights, by_system) in swept.items()
        for name, values in by_system.items()
    )
    orders = {panel: len(orders_along(weights, by_system)) for panel, (weights, by_system) in swept.items()}
    counts = "; ".join(f"{count} rankings with {panel}" for panel, count in orders.items())
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
    texts = [read_text(path).splitlines() for path in paths]
    keys = read_keys(folder / files["keys"])
    lines: dict[str, list[int]] = {}
    for line, document in keys.items():
        lines.setdefault(document, []).append(int(line) - 1)

    def rate(document: str) -> float:
        translation, reference = ([text[line] for line in lines[document]] for text in texts)
        return edit_rate(reference, translation)

    def all_rates() -> dict[str, float]:
        return dict(zip(lines, map_tasks(rate, list(lines), what="documents"), strict=True))

    return cached("TER with references", (sorted(keys.items()), texts), all_rates)


def simulated_labels(
    rates: NDArray[np.float64], settings: Mapping[str, float]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Edit rates of two post-editions: the given ones moved to a mean and a spread, and others that are drawn."""
    standard = (rates - rates.mean()) / rates.std(ddof=1)
    first = np.maximum(settings["first_mean"] + settings["first_sd"] * standard, 0.0)
    shape = (settings["second_mean"] / settings["second_sd"]) ** 2
    second = generator(SEED, 2).gamma(shape, settings["second_mean"] / shape, len(rates))
    return first, second


def _released_curve(path: Path) -> list[tuple[float, float]]:
    rows = [line.split() for line in read_text(path).splitlines() if line.strip()]
    return [(float(mean), float(r)) for _, mean, r in rows]


def growing_run(gold: Gold, released: Sequence[tuple[float, float]]) -> Curves:
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
            Curve("released (cor.csv)", tuple(CurveAt(x, y) for x, y in released)),
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
