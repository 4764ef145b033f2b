"""Labels from post-edits, the tuning rule, the weight sweep, costs; all texts are invented."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sacrebleu.metrics.ter import TER

from adjudge import qe
from adjudge.metrics.quality_estimation import Prices, combine, costs, estimate, find_orders, refit, tune_weight
from adjudge.planning.simulate import SimulatedEdits, simulate_post_edits
from adjudge.readers.post_edits import EditedDocument, read_document_scores, read_post_edits, read_predictions
from adjudge.table.errors import DataError, InputError, UsageError
from adjudge.table.texts import edit_rate
from tests.conftest import Run, assert_explained


@cache
def simulated() -> SimulatedEdits:
    return simulate_post_edits(documents=40, segments=3, seed=3)


def write(folder: Path, made: SimulatedEdits) -> tuple[Path, Path]:
    """The texts and the predictions as a user has them."""
    rows = ["document\tmt\tpe1\tpe2"]
    for document in made.documents:
        texts = zip(document.mt, document.pe1, document.pe2 or (), strict=True)
        rows += ["\t".join((document.name, *each)) for each in texts]
    (folder / "edits.tsv").write_text("\n".join(rows) + "\n")
    names = list(made.predictions)
    lines = [",".join(("document", *names))]
    lines += [",".join((d.name, *(str(made.predictions[n][d.name]) for n in names))) for d in made.documents]
    (folder / "predictions.csv").write_text("\n".join(lines) + "\n")
    return folder / "edits.tsv", folder / "predictions.csv"


def test_an_edit_rate_counts_edits_of_the_whole_document() -> None:
    """One substitution and one insertion over an edition of 6 words: 2/6, by hand and by sacrebleu's TER."""
    translation, edition = ("alo bena ciro", "dama emi"), ("alo bena zuro", "dama emi fola")
    assert edit_rate(edition, translation) == pytest.approx(2 / 6)
    assert edit_rate(edition, translation) == pytest.approx(
        TER().corpus_score(list(translation), [list(edition)]).score / 100
    )
    assert edit_rate(edition, edition) == 0
    with pytest.raises(DataError, match="the same segments"):
        edit_rate(edition, translation[:1])


def test_the_direction_is_that_of_the_paper() -> None:
    """TER(PE1, MT) divides by the words of the post-edition, not of the translation (Graham et al. 2017, section 2)."""
    assert edit_rate(("a b c d",), ("a b",)) == pytest.approx(2 / 4)
    assert edit_rate(("a b",), ("a b c d",)) == pytest.approx(2 / 2)


def replaced(edition: tuple[str, ...], text: tuple[str, ...]) -> float:
    """The share of words that differ, position by position."""
    words, others = " ".join(edition).split(), " ".join(text).split()
    return sum(a != b for a, b in zip(words, others, strict=True)) / len(words)


def test_simulated_errors_come_back_as_edit_rates() -> None:
    """Replaced words are substitutions, so every rate can be counted by hand."""
    made = simulated()
    labels = estimate(made.documents).documents
    for document, label in zip(made.documents, labels, strict=True):
        assert label.first == pytest.approx(replaced(document.pe1, document.mt))
        assert label.second == pytest.approx(replaced(document.pe2 or (), document.pe1))
    rates = [label.first for label in labels]
    assert np.corrcoef(rates, made.in_sentences)[0, 1] > 0.8


def test_the_weight_turns_the_ranking_round() -> None:
    """The system that senses errors in sentences leads at weight 0, the one that senses context at a large one."""
    result = estimate(simulated().documents, simulated().predictions, weight=13)
    assert result.orders[0].order[0] == "sentences"
    assert result.orders[-1].order[0] == "context"
    assert result.order_changes
    assert any("depends on the weight" in note for note in result.notes)
    assert (result.weights[0], result.weights[-1]) == (0.0, 50.0)
    by_name = {system.system: system for system in result.systems}
    at = result.weights.index(13.0)
    for value in by_name.values():
        assert value.by_weight[at] == pytest.approx(value.pearson.pearson)


def test_a_sweep_is_the_correlation_with_the_weighted_sum() -> None:
    made = simulated()
    result = estimate(made.documents, made.predictions, weight=7.25)
    labels = np.array([document.first + 7.25 * (document.second or 0) for document in result.documents])
    for system in result.systems:
        values = np.array([made.predictions[system.system][d.document] for d in result.documents])
        assert system.by_weight[result.weights.index(7.25)] == pytest.approx(np.corrcoef(labels, values)[0, 1])
    assert [d.label for d in result.documents] == pytest.approx(list(labels))


def test_one_system_that_always_leads_needs_no_warning() -> None:
    made = simulated()
    truth = {document.name: float(edit_rate(document.pe1, document.mt)) for document in made.documents}
    worse = {name: value + 0.05 * (i % 7) for i, (name, value) in enumerate(truth.items())}
    result = estimate([_first_only(document) for document in made.documents], {"truth": truth, "worse": worse})
    assert [system.system for system in result.systems] == ["truth", "worse"]
    assert result.systems[0].pearson.pearson == pytest.approx(1)
    assert not result.order_changes
    assert result.weights == (0.0,)
    assert any("one post-edition only" in note for note in result.notes)


def _first_only(document: EditedDocument) -> EditedDocument:
    return EditedDocument(document.name, document.mt, document.pe1)


def test_few_documents_are_a_matter_of_correlations_only() -> None:
    documents, predictions = simulated().documents[:12], simulated().predictions
    assert any("only 12 documents: correlations" in note for note in estimate(documents, predictions).notes)
    assert not any("correlations" in note for note in estimate(documents).notes)


def test_orders_are_joined_where_they_are_the_same() -> None:
    orders = find_orders([0, 1, 2, 3], {"a": [0.9, 0.8, 0.1, None], "b": [0.5, 0.5, 0.5, 0.5]})
    assert [(item.low, item.high, item.order) for item in orders] == [(0, 1, ("a", "b")), (2, 3, ("b", "a"))]


def test_the_rule_stops_at_its_first_criterion() -> None:
    """Graham et al. (2017), section 2: spread / mean of predictions is .5, or the error .1 below the mean label's."""
    first, second = np.array([0.2, 0.2, 0.2, 0.2]), np.array([0.0, 0.01, 0.02, 0.03])

    def perfect(labels: np.ndarray) -> np.ndarray:
        return labels

    tuning = tune_weight(first, second, perfect)
    # By hand: labels are 0.2 + w * second, of mean 0.2 + 0.015 w and standard deviation 0.01291 w.
    ratio = [np.std(0.2 + w * second, ddof=1) / np.mean(0.2 + w * second) for w in range(1, 101)]
    gain = [np.abs(w * second - w * 0.015).mean() for w in range(1, 101)]
    expected = next(w for w in range(1, 101) if ratio[w - 1] > 0.4999999 or gain[w - 1] > 0.0999999)
    assert tuning.weight == expected == 10
    assert tuning.gain == pytest.approx(gain[expected - 1])
    assert tuning.ratio == pytest.approx(ratio[expected - 1])

    def helpless(labels: np.ndarray) -> np.ndarray:
        return np.full(len(labels), labels.mean())

    assert tune_weight(first, second, helpless, limit=20).weight == 20
    assert "no criterion" in tune_weight(first, second, helpless, limit=20).reason


def test_a_refitted_baseline_is_the_best_straight_line() -> None:
    rng = np.random.default_rng(1)
    predictions, labels = rng.normal(size=30), rng.normal(size=30)
    fitted = refit(predictions)(labels)
    assert np.corrcoef(fitted, predictions)[0, 1] ** 2 == pytest.approx(1)
    assert fitted.mean() == pytest.approx(labels.mean())
    assert refit(np.ones(30))(labels) == pytest.approx(np.full(30, labels.mean()))
    assert combine(np.array([0.25]), np.array([0.5]), 13) == pytest.approx(np.array([6.75]))


def test_direct_assessment_stands_beside_the_label() -> None:
    made = simulated()
    direct = {document.name: -float(share) for document, share in zip(made.documents, made.in_sentences, strict=True)}
    result = estimate(made.documents, made.predictions, weight=13, direct=direct)
    by_name = {system.system: system for system in result.systems}
    assert by_name["sentences"].direct is not None
    assert by_name["context"].direct is not None
    assert by_name["sentences"].direct.pearson > 0.7 > by_name["context"].direct.pearson


def test_costs_are_counted_by_the_word() -> None:
    """Made-up prices: 1,000 assessments at .01 are 10; 500 words at .06 and .12 are 30 and 60."""
    cost = costs(500, Prices(1000, 0.01, 0.06, 0.12))
    assert cost.assessing == pytest.approx(10)
    assert cost.post_editing == pytest.approx((30, 60))
    assert cost.times == pytest.approx((3, 6))
    with pytest.raises(UsageError, match="above 0"):
        costs(500, Prices(0, 0.01, 0.06, 0.12))


@pytest.mark.slow
def test_the_command(tmp_path: Path, adjudge: Callable[..., Run]) -> None:
    texts, predictions = write(tmp_path, simulated())
    page = tmp_path / "page.html"
    options = ["--predictions", predictions, "--baseline", "context", "--report", page]
    prices = ["--assessments", "4000", "--assessment-price", "0.01", "--word-price", "0.06", "0.12"]
    run = adjudge("qe", texts, *options, *prices, "--json")
    result = run.json
    assert result["order_changes"] is True
    assert result["weight"]["reason"]
    assert len(result["documents"]) == 40
    assert {system["system"] for system in result["systems"]} == {"sentences", "both", "context"}
    assert all(len(system["by_weight"]) == len(result["weights"]) for system in result["systems"])
    assert all(0 < comparison["p"] <= 1 and comparison["test"] == "williams" for comparison in result["comparisons"])
    assert result["costs"]["assessing"] == pytest.approx(40)
    assert "Weight sweep" in page.read_text()
    alone = adjudge("qe", texts)
    assert "Labels of documents" in alone.out


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("document\tmt\n", "has no column 'pe1'"),
        ("document\tmt\tpe1\n", "a header but no texts"),
        ("document\tmt\tpe1\td\na\tx\t \ty\n", "line 2: a post-edition is empty"),
        ("", "is empty"),
    ],
)
def test_bad_texts_are_explained(tmp_path: Path, content: str, fault: str) -> None:
    file = tmp_path / "edits.tsv"
    file.write_text(content)
    with pytest.raises(InputError, match=fault):
        read_post_edits(file)


def test_bad_predictions_are_explained(tmp_path: Path, adjudge: Callable[..., Run]) -> None:
    texts, predictions = write(tmp_path, simulated())
    file = tmp_path / "p.csv"
    for content, fault in (
        ("document\na\n", "no column of predictions"),
        ("document,m\na,1\na,2\n", "line 3: document 'a' occurs twice"),
        ("document,m\na,x\n", "line 2: m is 'x'"),
    ):
        file.write_text(content)
        with pytest.raises(InputError, match=fault):
            read_predictions(file)
    file.write_text("document,m\na,1\n")
    assert_explained(adjudge("qe", texts, "--predictions", file), names=("'m' predicts fewer than 4",))
    unknown = adjudge("qe", texts, "--predictions", predictions, "--baseline", "contxt")
    assert_explained(unknown, code=2, names=("did you mean 'context'",))
    alone = adjudge("qe", texts, "--baseline", "context")
    assert_explained(alone, code=2, names=("--baseline context chooses the weight by its predictions; give them with",))
    assert_explained(adjudge("qe", texts, "--assessments", "5"), code=2, names=("--assessment-price",))


def test_document_scores_from_a_table_or_from_gold(tmp_path: Path) -> None:
    table = tmp_path / "direct.tsv"
    table.write_text("document\tz\nd1\t0.5\nd2\t-0.25\n")
    assert read_document_scores(table) == {"d1": 0.5, "d2": -0.25}
    gold_file = tmp_path / "gold.json"
    gold_file.write_text(json.dumps({"documents": [{"system": "s", "document": "d1", "z": 0.5}]}))
    assert read_document_scores(gold_file) == {"d1": 0.5}
    gold_file.write_text(json.dumps({"documents": [{"document": "d1", "z": 0.5}, {"document": "d1", "z": 0.7}]}))
    with pytest.raises(InputError, match="one system each"):
        read_document_scores(gold_file)
    gold_file.write_text("{")
    with pytest.raises(InputError, match="is not JSON"):
        read_document_scores(gold_file)


def test_python_takes_data_frames_and_mappings(tmp_path: Path) -> None:
    made = simulated()
    texts, predictions = write(tmp_path, made)
    from_files = qe(texts, predictions, weight=2.0).to_dict()
    assert qe(made.texts, made.predictions, weight=2.0).to_dict() == from_files
    table = pl.DataFrame({"document": [document.name for document in made.documents]}).with_columns(
        pl.Series(name, list(predicted.values())) for name, predicted in made.predictions.items()
    )
    assert qe(pd.DataFrame(made.texts.to_dict(as_series=False)), table, weight=2.0).to_dict() == from_files


def test_edit_rates_from_elsewhere_replace_texts() -> None:
    """The rates of texts, given as numbers, lead to the same correlations; but they have no words to pay for."""
    made = simulated()
    by_texts = qe(made.texts, made.predictions)
    rates = pl.DataFrame([(each.document, each.first, each.second) for each in by_texts.documents],
                         schema=["document", "first", "second"], orient="row")  # fmt: skip
    by_rates = qe(rates, made.predictions)
    assert by_rates.systems == by_texts.systems
    assert by_rates.orders == by_texts.orders
    one_edition = qe(rates.drop("second"), made.predictions)
    assert [each.label for each in one_edition.documents] == rates["first"].to_list()
    with pytest.raises(UsageError, match="edit rates hold none"):
        qe(rates, assessments=10, assessment_price=0.1, word_price=(0.1, 0.2))
    with pytest.raises(InputError, match="data frame, line 3: document 'document-1' occurs twice"):
        qe(pl.concat([rates[:2], rates[:1]]))
