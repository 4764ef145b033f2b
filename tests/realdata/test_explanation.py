"""Why systems moved in released campaigns."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from adjudge.evidence.explanation import Explained, explain
from adjudge.table.judgments import Judgments
from tests.helpers.released import read_released


def newstest(data: Path, pair: str) -> Judgments:
    return read_released(data / "wmt21" / "newstest2021-toen", "wmt-da").by_pair()[pair]


@pytest.mark.slow
def test_generous_people_judged_online_w_of_german_english(data: Path) -> None:
    """Online-W is among the first by raw mean because generous people judged it, and stays there without them.

    The raw rank is that of the released table; the sign and size of the reason are checked by the people's own means,
    which need no model: those who judged Online-W give about five points more than those who judged the others.
    """
    judgments = newstest(data, "de-en")
    explained = explain(judgments)
    released = (data / "wmt21" / "newstest2021-toen" / "ad-sys-ranking-de-en-raw.csv").read_text().splitlines()
    order = [line.split()[4] for line in sorted(released, key=lambda line: -float(line.split()[0]))]
    ranks = {one.system: one.ranks["raw"] for one in explained.systems}
    assert [name for name, _ in sorted(ranks.items(), key=lambda item: item[1] or 0)] == order
    (online,) = [one for one in explained.systems if one.system.startswith("Online-W")]
    assert online.ranks["raw"] == 2
    assert (online.ranks["model"] or 0) >= 2
    given = online.parts["strictness"] - np.mean([one.parts["strictness"] for one in explained.systems])
    rated = judgments.final().table.filter(pl.col("kind").is_in(["system", "repeat"]), pl.col("score").is_not_null())
    own = rated.with_columns(pl.col("score").mean().over("annotator").alias("own")).group_by("system").agg(
        pl.col("own").mean())  # fmt: skip
    by_means = own.filter(system=online.system)["own"].item() - own["own"].mean()
    assert given == pytest.approx(by_means, abs=1.5)
    assert given > 3


def _worth(explained: Explained, system: str) -> float:
    """What strictness gives a system beyond what it gives the mean of all."""
    own = next(one.parts["strictness"] for one in explained.systems if one.system == system)
    return float(own - np.mean([one.parts["strictness"] for one in explained.systems]))


@pytest.mark.slow
def test_the_furthest_move_is_told(data: Path) -> None:
    explained = explain(newstest(data, "de-en"))
    assert explained.story == (
        "happypoet.8 is 10th by raw mean and 20th by the model: more generous people than average judged it, "
        f"which added {_worth(explained, 'happypoet.8'):.1f} points to its mean."
    )
    for one in explained.systems:
        assert one.means["raw"] - one.means["model"] == pytest.approx(sum(one.parts.values()), abs=1e-9)
    spread = {part: np.std([one.parts[part] for one in explained.systems]) for part in ("strictness", "rest")}
    assert spread["rest"] < spread["strictness"] / 4
