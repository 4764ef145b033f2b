"""Weights of segments chosen with unequal probabilities: right by a slow clear implementation and by simulation."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from adjudge.campaigns.segment_selection import draw_groups, inclusion_probabilities
from adjudge.mixed.design import MixedDesign, design_from
from adjudge.mixed.fit import fit, prepare
from adjudge.mixed.weighted import weighted_effects
from adjudge.ranking.methods import rank
from adjudge.table.errors import DataError
from adjudge.table.judgments import Judgments
from adjudge.table.maths import contrasts
from adjudge.table.rng import generator

QUALITY = np.array([0.0, 2.0, 4.0])
DOCUMENTS = 120
PAGE = 3


def chosen_campaign(number: int, *, wanted: int = 30, annotators: int = 6, taste: float = 2.0) -> Judgments:
    """Systems differ the more, the more a document's outputs differ; documents are chosen by just that."""
    rng = generator(31, number)
    spread = rng.lognormal(0, 0.6, DOCUMENTS)
    telling = spread / np.exp(0.18)
    probability = inclusion_probabilities(spread.tolist(), [PAGE] * DOCUMENTS, wanted * PAGE)
    strict, tastes = rng.normal(0, 6, annotators), rng.normal(0, taste, (annotators, 3))
    rows = []
    for document in draw_groups(probability, rng):
        hard = rng.normal(0, 4)
        for system in range(3):
            who = int(rng.integers(annotators))
            page = 70 + QUALITY[system] * telling[document] + strict[who] + tastes[who, system] + hard
            page += rng.normal(0, 5) * telling[document] + rng.normal(0, 4)
            codes = (f"a{who}", f"d{document}", f"s{system}", f"{document}-{system}", float(probability[document]))
            rows += [(*codes, str(segment), page + rng.normal(0, 10)) for segment in range(PAGE)]
    names = ("annotator", "document", "system", "screen", "inclusion", "segment", "score")
    table = pl.DataFrame(rows, schema=names, orient="row").with_columns(pl.lit("da").alias("protocol"))
    return Judgments.from_columns(table)


def slowly(design: MixedDesign, ratios: dict[str, float], residual: float) -> tuple[np.ndarray, np.ndarray]:
    """Effects and their covariance by whole matrices, as the module's docstring has them."""
    assert design.weight is not None
    assert design.annotator is not None
    assert design.document is not None
    assert design.annotator_system is not None
    systems, people = len(design.systems), int(design.annotator.max()) + 1
    table = np.hstack([np.eye(systems)[design.system], np.eye(people)[design.annotator]])
    penalty = np.diag([0.0] * systems + [1 / ratios["annotator"]] * people)
    weight = np.diag(design.weight)
    linear = np.linalg.inv(table.T @ weight @ table + penalty) @ table.T @ weight
    residuals = design.score - table @ linear @ design.score
    variance = np.zeros((systems, systems))
    for document in range(int(design.document.max()) + 1):
        rows = np.flatnonzero(design.document == document)
        enlarged = []
        for row in rows:
            own = design.weight[rows[design.system[rows] == design.system[row]]].sum()
            share = own / design.weight[design.system == design.system[row]].sum()
            own = design.weight[rows[design.annotator[rows] == design.annotator[row]]].sum()
            share += own / (design.weight[design.annotator == design.annotator[row]].sum() + 1 / ratios["annotator"])
            enlarged.append(residuals[row] / np.sqrt(1 - min(share, 0.95)))
        score = linear[:systems, rows] @ np.array(enlarged)
        variance += np.outer(score, score)
    for name, codes in (("annotator", design.annotator), ("annotator:system", design.annotator_system)):
        for level in np.unique(codes):
            whole = linear[:systems, codes == level].sum(axis=1)
            variance += residual * ratios[name] * np.outer(whole, whole)
            if name == "annotator":
                continue
            for document in np.unique(design.document[codes == level]):
                rows = (codes == level) & (design.document == document)
                within = linear[:systems, rows].sum(axis=1)
                variance -= residual * ratios[name] * np.outer(within, within)
    return (linear @ design.score)[:systems], variance


def test_the_slow_way_gives_the_same() -> None:
    design = design_from(chosen_campaign(0, wanted=12), model="mixed-points")
    kept = prepare(design).effects.kept
    ratios = {effect.name: 0.1 + 0.2 * number for number, effect in enumerate(kept)}
    weighted = weighted_effects(design, kept, design.score, np.array(list(ratios.values())), 50.0)
    effects, covariance = slowly(design, ratios, 50.0)
    np.testing.assert_allclose(weighted.effects, effects, rtol=1e-9)
    np.testing.assert_allclose(weighted.covariance, covariance, rtol=1e-7, atol=1e-9)


def test_one_annotator_gives_weighted_means() -> None:
    judgments = chosen_campaign(1, annotators=1)
    model = fit(design_from(judgments, model="mixed-points"))
    raw = rank(judgments, method="raw")
    weighted = pl.col("score") / pl.col("inclusion")
    table = judgments.table.group_by("system").agg(weighted.sum() / (1 / pl.col("inclusion")).sum()).sort("system")
    expected = table["score"].to_numpy()
    np.testing.assert_allclose(model.effects - model.effects[0], expected - expected[0], atol=1e-8)
    scores = {entry.system: entry.score or 0.0 for entry in raw.systems}
    np.testing.assert_allclose([scores[name] for name in table["system"]], expected, atol=1e-8)
    assert raw.settings["test"] == "weighted t"
    assert any("1 / probability" in note for note in raw.notes)


def test_equal_probabilities_change_nothing() -> None:
    judgments = chosen_campaign(2)
    plain = Judgments.from_columns(judgments.table.drop("inclusion"))
    equal = Judgments.from_columns(judgments.table.with_columns(pl.lit(0.4).alias("inclusion")))
    for method in ("mixed", "raw"):
        assert rank(plain, method=method).systems == rank(equal, method=method).systems


@pytest.mark.slow
def test_differences_are_unbiased_and_intervals_hold() -> None:
    """Weighted, the difference is that of all documents; not weighted, it is too large."""
    runs = 120
    true = QUALITY[:, None] - QUALITY[None, :]
    upper = np.triu_indices(3, 1)
    weighted, plain, covered = [], [], []
    for number in range(runs):
        design = design_from(chosen_campaign(100 + number), model="mixed-points")
        model = fit(design)
        compared = contrasts(model.effects, model.covariance, model.df)
        low, high = compared.interval()
        covered.append(float(((low <= true) & (true <= high))[upper].mean()))
        weighted.append(compared.difference[2, 0])
        means = [design.score[design.system == system].mean() for system in (0, 2)]
        plain.append(means[1] - means[0])
    error = np.std(weighted) / np.sqrt(runs)
    assert abs(np.mean(weighted) - 4) < 3.3 * error
    assert np.mean(plain) > 1.25 * 4
    assert 0.95 - 3.3 * np.std(covered) / np.sqrt(runs) - 0.01 < np.mean(covered) < 0.99


@pytest.mark.parametrize("value", [None, "0", "1.5", "x"])
def test_what_is_no_probability_is_refused(value: str | None) -> None:
    table = chosen_campaign(3).table.with_columns(pl.col("inclusion").cast(pl.String))
    first = pl.col("document") == pl.col("document").first()
    broken = table.with_columns(inclusion=pl.when(first).then(pl.lit(value)).otherwise("inclusion"))
    with pytest.raises(DataError, match="column 'inclusion' holds"):
        rank(Judgments.from_columns(broken), method="mixed")


def test_rankings_of_one_person_cannot_be_weighted() -> None:
    rows = {
        "protocol": ["ranking"] * 4, "annotator": ["a"] * 4, "screen": ["1", "1", "2", "2"],
        "segment": ["1", "1", "2", "2"], "system": ["A", "B"] * 2, "rank": [1, 2, 1, 2],
        "inclusion": [0.5, 0.5, 0.25, 0.25],
    }  # fmt: skip
    with pytest.raises(DataError, match="unequal probabilities needs the names of two annotators or more"):
        rank(Judgments.from_columns(rows))
