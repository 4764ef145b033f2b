"""Document-level quality estimation against post-edits: labels, tuning rule, weight sweep, Williams' test, costs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from adjudge.metrics.results import ChosenWeight, Costs, DocumentLabel, OrderOfSystems, QualityEstimation, SystemSweep
from adjudge.metrics.significance import compare_predictions
from adjudge.table.errors import DataError, UsageError, param, unknown_choice
from adjudge.table.judgments import SetAside, fingerprint
from adjudge.table.maths import Floats, correlate, pearson
from adjudge.table.texts import edit_rate, ter_signature
from adjudge.table.wording import counted
from adjudge.work.cache import cached
from adjudge.work.tasks import map_tasks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from adjudge.readers.post_edits import EditedDocument


# Labels of documents from post-edits: edit rates, the weight between two of them, and a sweep over weights.
#
# Edit rates (`table.texts`) tell how much of a translation a person changed.
#
# The label of the 2016 shared task is W1 * TER(PE1, MT) + W2 * TER(PE2, PE1), where W1 is 1 and W2 grows from 1 in
# steps of 1 until (i) the standard deviation of the baseline's predictions is at least half their mean, or (ii) the
# baseline's mean absolute error is at least 0.1 below that of predicting the mean label everywhere (Graham et al.
# 2017, section 2). The organisers trained their baseline again for each weight. Where only its predictions are at
# hand, the straight line that fits them best to the labels stands for that; see `refit`.
#
# The sweep shows how every system's correlation with the label changes with the weight (Graham et al. 2017, Figure 1).

FIRST_WEIGHT = 1.0
LEAST_RATIO = 0.5
LEAST_GAIN = 0.1
LIMIT = 100
# A criterion that is met exactly must not be missed by the last digit of a float.
_DIGITS = 1e-12


def combine(first: Floats, second: Floats, weight: float) -> Floats:
    """The labels at this weight of the second post-edition."""
    return np.asarray(FIRST_WEIGHT * first + weight * second)


def refit(predictions: Floats) -> Callable[[Floats], Floats]:
    """A stand-in for training again: predictions moved and stretched to fit given labels best."""

    def predict(labels: Floats) -> Floats:
        if np.ptp(predictions) == 0:
            return np.full(len(labels), labels.mean())
        slope, start = np.polyfit(predictions, labels, 1)
        return np.asarray(start + slope * predictions)

    return predict


def tune_weight(
    first: Floats, second: Floats, predict: Callable[[Floats], Floats], *, limit: int = LIMIT
) -> ChosenWeight:
    """The weight by the rule above.

    Args:
        first: TER(PE1, MT) of every document.
        second: TER(PE2, PE1) of every document.
        predict: the baseline, trained again: labels in, predictions out.
        limit: where to stop if no criterion is ever met.
    """
    weight, ratio, gain = 1, 0.0, 0.0
    for weight in range(1, limit + 1):
        labels = combine(first, second, float(weight))
        predicted = predict(labels)
        ratio = float(predicted.std(ddof=1) / predicted.mean()) if predicted.mean() else 0.0
        gain = float(np.abs(labels - labels.mean()).mean() - np.abs(labels - predicted).mean())
        if ratio >= LEAST_RATIO - _DIGITS:
            return ChosenWeight(
                float(weight), "the spread of the baseline's predictions is half their mean", ratio, gain
            )
        if gain >= LEAST_GAIN - _DIGITS:
            return ChosenWeight(float(weight), "the baseline's error is 0.1 below that of the mean label", ratio, gain)
    return ChosenWeight(float(weight), f"no criterion of the rule is met up to {limit}", ratio, gain)


def sweep(
    first: Floats, second: Floats, predictions: Mapping[str, Floats], weights: Sequence[float]
) -> dict[str, tuple[float | None, ...]]:
    """Pearson's r of every system at every weight; documents without a prediction are left out."""
    by_system: dict[str, tuple[float | None, ...]] = {}
    for name, values in predictions.items():
        known = ~np.isnan(values)
        r = [pearson(combine(first, second, weight)[known], values[known]) for weight in weights]
        by_system[name] = tuple(None if np.isnan(value) else value for value in r)
    return by_system


def find_orders(
    weights: Sequence[float], by_weight: Mapping[str, Sequence[float | None]]
) -> tuple[OrderOfSystems, ...]:
    """The rankings of systems along the sweep, each with the weights between which it stands."""
    orders: list[OrderOfSystems] = []
    for i, weight in enumerate(weights):
        at_weight = {name: -2.0 if (r := values[i]) is None else r for name, values in by_weight.items()}
        order = tuple(name for name, _ in sorted(at_weight.items(), key=lambda item: (-item[1], item[0])))
        if orders and orders[-1].order == order:
            orders[-1] = OrderOfSystems(orders[-1].low, weight, order)
        else:
            orders.append(OrderOfSystems(weight, weight, order))
    return tuple(orders)


@dataclass(frozen=True)
class Prices:
    """Assessments needed and the price of one; the prices of a post-edited word; all in one currency."""

    assessments: int
    assessment: float
    word_low: float
    word_high: float


def costs(words: int, prices: Prices) -> Costs:
    """Compute what direct assessment and post-editing cost for a test set of so many words."""
    if min(prices.assessments, prices.assessment, prices.word_low, prices.word_high) <= 0:
        raise UsageError("prices and the number of assessments must be above 0")
    if words == 0:
        raise UsageError("costs are counted by words, and edit rates hold none; give the texts")
    assessing = prices.assessments * prices.assessment
    return Costs(words, assessing, (words * prices.word_low, words * prices.word_high))


FEWEST_DOCUMENTS = 4


def estimate(
    documents: Sequence[EditedDocument],
    predictions: Mapping[str, Mapping[str, float]] | None = None,
    *,
    weight: float | None = None,
    baseline: str | None = None,
    largest: float = 50.0,
    direct: Mapping[str, float] | None = None,
    prices: Prices | None = None,
) -> QualityEstimation:
    """Label documents from their post-editions, and see what the weight of the second does to the systems' ranking.

    Args:
        documents: texts with one or two post-editions.
        predictions: what every system predicts of every document; more is worse, as in the labels.
        weight: of the second post-edition; 1 where left out and no baseline is named.
        baseline: the system by which the tuning rule chooses the weight, where no weight is given.
        largest: where the sweep ends; it starts at 0.
        direct: direct assessment of the documents, more is better.
        prices: for the comparison of costs.
    """
    if largest < 0 or (weight is not None and weight < 0):
        raise UsageError("weights must be 0 or more")
    first, second = _edit_rates(documents)
    kept, aside = _align_predictions(documents, predictions or {})
    chosen = _choose_weight(first, second, kept, weight, baseline)
    labels = first if second is None else combine(first, second, chosen.weight)
    # Whole and half weights from 0, and the one that was chosen.
    steps = np.arange(0.0, max(largest, chosen.weight) + 0.25, 0.5).tolist() if second is not None else []
    weights = tuple(sorted({*steps, chosen.weight}))
    swept = sweep(first, np.zeros(len(first)) if second is None else second, kept, weights)
    systems = _systems(documents, labels, kept, swept, direct)
    orders = find_orders(weights, swept) if swept else ()
    words = sum(len(text.split()) for document in documents for text in document.source or document.mt)
    return QualityEstimation(
        settings={"weight": chosen.weight, "baseline": baseline, "largest": largest, "ter": ter_signature()},
        data=_fingerprint(documents, predictions or {}),
        set_aside=aside,
        notes=_notes(chosen, len(orders), second is not None, len(documents) if kept else None),
        documents=_labels(documents, first, second, labels),
        weight=chosen,
        weights=weights,
        systems=systems,
        orders=orders,
        comparisons=compare_predictions(labels, kept),
        costs=None if prices is None else costs(words, prices),
    )


def _edit_rates(documents: Sequence[EditedDocument]) -> tuple[Floats, Floats | None]:
    """TER(PE1, MT) and TER(PE2, PE1) of every document; None where there is one post-edition only."""

    def rates(document: EditedDocument) -> tuple[float, float | None]:
        if document.rates is not None:
            return document.rates
        again = None if document.pe2 is None else edit_rate(document.pe2, document.pe1)
        return edit_rate(document.pe1, document.mt), again

    def compute() -> list[tuple[float, float | None]]:
        return map_tasks(rates, documents, what="documents")

    found = cached("edit rates", (_fingerprint(documents, {}), ter_signature()), compute)
    first, second = np.array([one for one, _ in found]), [other for _, other in found if other is not None]
    return first, np.array(second) if len(second) == len(found) else None


def _align_predictions(
    documents: Sequence[EditedDocument], predictions: Mapping[str, Mapping[str, float]]
) -> tuple[dict[str, Floats], tuple[SetAside, ...]]:
    """Predictions in the order of the documents, NaN where there is none; strangers are counted."""
    names = [document.name for document in documents]
    if predictions and len(names) < FEWEST_DOCUMENTS:
        few = counted(len(names), "document is", "documents are")
        raise DataError(f"{few} too few to correlate predictions with; give at least 4")
    strangers = sum(name not in set(names) for predicted in predictions.values() for name in predicted)
    aligned = {
        system: np.array([predicted.get(name, np.nan) for name in names], dtype=float)
        for system, predicted in predictions.items()
    }
    for system, values in aligned.items():
        if (~np.isnan(values)).sum() < FEWEST_DOCUMENTS:
            raise DataError(f"'{system}' predicts fewer than 4 of these documents; check the names of documents")
    missing = sum(int(np.isnan(values).sum()) for values in aligned.values())
    found_aside = (("prediction for a document without texts", strangers), ("document without a prediction", missing))
    return aligned, tuple(SetAside(reason, rows) for reason, rows in found_aside if rows)


def _choose_weight(
    first: Floats, second: Floats | None, predictions: Mapping[str, Floats], weight: float | None, baseline: str | None
) -> ChosenWeight:
    if baseline is not None and not predictions:
        raise UsageError(
            f"{param('baseline')} {baseline} chooses the weight by its predictions; "
            f"give them with {param('predictions')}"
        )
    if baseline is not None and baseline not in predictions:
        raise unknown_choice("baseline", baseline, predictions)
    if second is None:
        return ChosenWeight(0.0, "there is one post-edition only")
    if weight is not None:
        return ChosenWeight(weight, "given")
    if baseline is None:
        return ChosenWeight(1.0, "both post-edits have the same weight, as no other was given")
    known = ~np.isnan(predictions[baseline])
    return tune_weight(first[known], second[known], refit(predictions[baseline][known]))


def _systems(
    documents: Sequence[EditedDocument],
    labels: Floats,
    predictions: Mapping[str, Floats],
    swept: Mapping[str, tuple[float | None, ...]],
    direct: Mapping[str, float] | None,
) -> tuple[SystemSweep, ...]:
    systems = [SystemSweep(name, correlate(values, labels), swept[name]) for name, values in predictions.items()]
    if direct is not None:
        assessed = np.array([direct.get(document.name, np.nan) for document in documents], dtype=float)
        systems = [replace(one, direct=correlate(-predictions[one.system], assessed)) for one in systems]
    return tuple(sorted(systems, key=lambda system: (-np.nan_to_num(system.pearson.pearson, nan=-2.0), system.system)))


def _labels(
    documents: Sequence[EditedDocument], first: Floats, second: Floats | None, labels: Floats
) -> tuple[DocumentLabel, ...]:
    return tuple(
        DocumentLabel(
            document.name,
            sum(len(text.split()) for text in document.mt),
            float(first[i]),
            None if second is None else float(second[i]),
            float(labels[i]),
        )
        for i, document in enumerate(documents)
    )


def _notes(chosen: ChosenWeight, orders: int, two: bool, correlated: int | None) -> tuple[str, ...]:
    """Collect the notes; `correlated` is the number of documents correlated with predictions, None without any."""
    notes: list[str] = []
    if orders > 1:
        notes.append(
            f"the ranking of systems depends on the weight: {orders} different rankings along the sweep, so at weight "
            f"{chosen.weight:g} it says as much about the weight as about the systems"
        )
    if chosen.ratio is not None:
        notes.append(
            "the weight was tuned on the documents that are evaluated, as in 2016, which is no independent test; "
            "a straight line stands for training the baseline again"
        )
    if not two:
        notes.append("there is one post-edition only, so the label is its edit rate and there is no weight to choose")
    if correlated is not None and correlated < 30:
        notes.append(f"only {counted(correlated, 'document')}: correlations are uncertain, see the intervals")
    return tuple(notes)


def _fingerprint(documents: Sequence[EditedDocument], predictions: Mapping[str, Mapping[str, float]]) -> str:
    """Twelve hexadecimal digits that identify texts and predictions."""
    texts = [
        repr(
            (document.name, *((document.mt, document.pe1, document.pe2) if document.rates is None else document.rates))
        )
        for document in documents
    ]
    numbers = [repr((system, sorted(predicted.items()))) for system, predicted in sorted(predictions.items())]
    return fingerprint("\n".join(texts + numbers))
