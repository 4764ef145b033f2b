"""Whatever the table, the model gives finite numbers or one sentence."""

from __future__ import annotations

import numpy as np
import pytest

from adjudge.ranking.methods import RankSettings
from adjudge.ranking.scores import ScoreEstimator, rank_scores
from adjudge.table.errors import DataError
from adjudge.table.judgments import Judgments


def odd_table(seed: int) -> Judgments:
    """Few rows, columns with one, few or many levels, partly or wholly unknown, and scores that hardly vary."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 60))

    def column(levels: int, unknown: float) -> list[str | None]:
        return [None if rng.random() < unknown else str(integer) for integer in rng.integers(levels, size=n)]

    scores = [rng.normal(50, 20, n), 25.0 * rng.integers(0, 4, n), 100.0 * rng.integers(0, 2, n),
              rng.normal(1e9, 1, n), (np.arange(n) == 0).astype(float)]  # fmt: skip
    columns: dict[str, object] = {
        name: column(int(rng.choice([1, 2, 3, 8, n])), float(rng.choice([0, 0, 0.2, 1])))
        for name in ("annotator", "task", "screen", "document", "segment")
    }
    columns |= {"system": column(int(rng.integers(1, 6)), 0.0), "score": scores[rng.integers(5)].tolist()}
    return Judgments.from_columns({**columns, "protocol": ["da"] * n})


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 60, 10))
def test_numbers_or_one_sentence(first: int) -> None:
    for seed in range(first, first + 10):
        try:
            ranking = rank_scores(ScoreEstimator(odd_table(seed)), RankSettings(resamples=100))
        except DataError:
            continue
        assert np.isfinite(ranking.fit.effects).all(), seed
        assert (ranking.fit.se > 0).all(), seed
        assert (ranking.fit.df >= 1).all(), seed
        assert ranking.fit.converged or any("did not converge" in note for note in ranking.notes), seed
        low, high = ranking.decisions.rank_sets.T
        assert ((low >= 1) & (low <= high) & (high <= len(ranking.fit.systems))).all(), seed


@pytest.mark.parametrize("people", [0, 1, 3])
@pytest.mark.parametrize("step", [0.0, 7.0])
def test_scores_without_any_noise_end_in_numbers_or_one_sentence(people: int, step: float) -> None:
    """The same distance between systems on every segment, for everybody: nothing is left for a residual."""
    rows = [(a, i, k) for a in range(max(people, 1)) for i in range(6) for k in range(3)]
    annotators, segments, systems = ([str(row[place]) for row in rows] for place in range(3))
    table = {"system": systems, "segment": segments, "score": [10.0 * i + step * k + a for a, i, k in rows]}
    named = {"annotator": annotators} if people else {}
    try:
        judgments = Judgments.from_columns({**table, **named, "protocol": ["da"] * len(rows)})
        ranking = rank_scores(ScoreEstimator(judgments), RankSettings(resamples=100))
    except DataError:
        return
    assert np.isfinite(ranking.fit.effects).all()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"kind": "degraded"}, r"hold controls only \(degraded\) and no output to rank"),
        ({"passed": False}, "no annotator passed the control"),
    ],
)
def test_why_nothing_can_be_ranked(changed: dict[str, object], message: str) -> None:
    scores: dict[str, object] = {
        "annotator": ["a", "b"] * 20, "segment": [str(number // 2) for number in range(40)],
        "system": ["x"] * 20 + ["y"] * 20, "score": [float(number) for number in range(40)], "protocol": ["da"] * 40,
    }  # fmt: skip
    table = {**scores, **{name: [value] * 40 for name, value in changed.items()}}
    with pytest.raises(DataError, match=message):
        ScoreEstimator(Judgments.from_columns(table))
