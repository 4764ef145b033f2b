"""The change of a system's distance from the human between two versions of a test set, by a model."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import adjudge
from adjudge.evidence.parity import split_versions
from adjudge.evidence.parity_counts import model_changes
from adjudge.table.judgments import Judgments


def campaign(seed: int, *, gain: float = 0.0, relative: bool = False, people: int = 6) -> Judgments:
    """Two teams, each with half of 12 documents in each version; mt gains where segment 0 was corrected."""
    rng = np.random.default_rng(seed)
    scale = 1.0 if relative else 10.0
    strict, taste = rng.normal(0, scale, people), rng.normal(0, 0.3 * scale, (people, 3))
    hard = rng.normal(0, 0.5 * scale, 12)
    rows: list[tuple[str, str, str, str, str, str, bool, float]] = []
    for person in range(people):
        for document in rng.choice(12, 8, replace=False):
            after = (document + person) % 2 == 0
            for segment in range(4):
                for number, system in enumerate(("ref", "mt", "other")):
                    worth = strict[person] + taste[person, number] + hard[document] - 0.8 * scale * (number > 0)
                    worth += gain * scale * (after and segment == 0 and system == "mt") + rng.normal(0, scale)
                    screen = f"{person}-{document}-{segment}"
                    rows.append((f"p{person}", f"d{document}", f"{document}-{segment}", screen, system,
                                 "after" if after else "before", segment == 0, worth))  # fmt: skip
    names = ("annotator", "document", "segment", "screen", "system", "version", "corrected", "score")
    table = pl.DataFrame({name: [row[i] for row in rows] for i, name in enumerate(names)})
    table = table.with_columns(human=pl.col("system") == "ref", protocol=pl.lit("ranking" if relative else "da"))
    if relative:
        ranks = pl.col("score").rank("ordinal", descending=True).over("screen").cast(pl.Int32).alias("rank")
        table = table.with_columns(ranks).drop("score")
    return Judgments.from_columns(table)


@pytest.mark.parametrize("relative", [False, True], ids=["scores", "rankings"])
def test_a_gain_on_corrected_segments_is_found_and_placed(relative: bool) -> None:
    result = adjudge.parity(campaign(3, gain=2.0, relative=relative), "ref")
    assert result.change is not None
    modelled = {(own.system, own.part): own for own in result.change.by_model}
    assert modelled["mt", "beyond untouched"].p_holm < 0.05
    assert modelled["mt", "contaminated"].change > modelled["mt", "all"].change > 0
    assert modelled["other", "beyond untouched"].p_holm > 0.05
    if not relative:
        low, high = modelled["mt", "contaminated"].interval
        assert low < 20 < high


def test_balanced_scores_give_the_difference_of_means() -> None:
    """Everybody judges everything once in one version, so the model's change is that of the means of four cells."""
    rng = np.random.default_rng(5)
    rows = [
        {"annotator": f"p{p}", "document": f"d{d}", "segment": f"{d}", "system": s, "protocol": "da",
         "human": s == "ref", "version": "after" if (d + p) % 2 else "before", "score": float(rng.normal(60, 9))}
        for p in range(4) for d in range(8) for s in ("ref", "mt")
    ]  # fmt: skip
    judgments = Judgments.from_columns(pl.DataFrame(rows))
    before, after = split_versions(judgments)
    assert before is not None
    (change,), notes = model_changes(before, after, "ref", None)
    mean = {
        (version, system): judgments.table.filter(version=version, system=system)["score"].mean()
        for version in ("before", "after")
        for system in ("ref", "mt")
    }
    expected = (mean["after", "mt"] - mean["after", "ref"]) - (mean["before", "mt"] - mean["before", "ref"])  # type: ignore[operator]
    assert change.change == pytest.approx(expected, abs=1e-6)
    assert notes == ()


@pytest.mark.slow
@pytest.mark.parametrize("relative", [False, True], ids=["scores", "rankings"])
def test_without_a_change_few_are_found(relative: bool) -> None:
    """Of 60 tests at .05 (two systems, 30 campaigns) 8 or fewer but in one case of a hundred (binomial)."""
    p = []
    for seed in range(30):
        before, after = split_versions(campaign(100 + seed, relative=relative))
        assert before is not None
        marked = frozenset(after.table.filter("corrected")["segment"].to_list())
        p += [own.p for own in model_changes(before, after, "ref", marked)[0] if own.part == "beyond untouched"]
    assert len(p) == 60
    assert sum(value < 0.05 for value in p) <= 8
