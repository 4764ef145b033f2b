"""Campaigns compared on released judgments, against a computation with pandas and one from the literature."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pandas as pd
import pytest

from adjudge import compare, read
from adjudge.evidence.compared_campaigns import CampaignComparison
from adjudge.metrics.join import read_keys
from adjudge.readers.metric_scores import read_metric_scores


def test_two_runs_of_document_assessment(data: Path) -> None:
    """Graham et al. (2017), section 4: r = 0.901; the last line of the released `cor.csv`: 0.901291670479518."""
    folder = data / "eacl2017"
    runs = {name: read([folder / "batched-hits" / name], format="mturk-da") for name in ("runA", "runB")}
    result = compare(runs, keys=read_keys(folder / "seg-key-enes"))
    scores = result.pairs[0].scores
    assert result.unit == "documents"
    assert scores.n == 62
    assert scores.pearson == pytest.approx(0.901291670479518, abs=1e-12)
    # Fisher's z by hand: atanh(.90129) = 1.47927, plus or minus 1.95996 / sqrt(59) = .25517.
    assert scores.interval == pytest.approx((0.8405, 0.9397), abs=5e-4)


@cache
def esa(data: Path) -> CampaignComparison:
    names = {"ESA": "240520rc6ESA.scores.csv", "GEMBA": "240520rc6GEMBA.scores.csv"}
    accounts = data / "esa-study" / "Annotators_mapping.csv"
    campaigns = {
        name: read(data / "esa-study" / file, format="appraise", annotators=accounts) for name, file in names.items()
    }
    return compare(campaigns, resamples=300)


def test_two_campaigns_of_error_spans(data: Path) -> None:
    """Means by system with pandas from the released files alone: rows of type TGT, the last save of each item.

    Segments are identified by document and position, as the reader finds them; here the mean is over all rows, so
    that segments with a repeated judgment weigh a little more. The two differ by less than .002 in r.
    """
    means = []
    for name in ("240520rc6ESA.scores.csv", "240520rc6GEMBA.scores.csv"):
        table = pd.read_csv(data / "esa-study" / name, header=None)
        table = table[(table[3] == "TGT") & ~table[1].str.contains("tutorial")]
        table = table.drop_duplicates([0, 1, 2, 7], keep="last")
        means.append(table.groupby(1)[6].mean())
    expected = means[0].corr(means[1])
    scores = esa(data).pairs[0].scores
    assert scores.n == len(means[0]) == 13
    assert scores.pearson == pytest.approx(expected, abs=0.002)
    assert scores.spearman == pytest.approx(means[0].corr(means[1], method="spearman"), abs=0.03)
    low, high = scores.interval or (0.0, 0.0)
    assert 0.7 < low < scores.pearson < high < 1
    assert not any(flip.certain for flip in esa(data).pairs[0].flips)


def test_mqm_and_da_sqm_on_the_same_segments(data: Path) -> None:
    """Means by system with pandas from the released `*.seg.score` files, `None` left out."""
    folder = data / "wmt23" / "human-scores"
    files = {name: folder / f"en-de.{name}.seg.score" for name in ("mqm", "da-sqm")}
    tables = {
        name: pd.read_csv(file, sep="\t", header=None, na_values="None").assign(
            line=lambda table: table.groupby(0).cumcount()
        )
        for name, file in files.items()
    }
    means = [table.dropna().groupby(0)[1].mean() for table in tables.values()]
    result = compare({name: read_metric_scores([file]) for name, file in files.items()}, resamples=300)
    scores = result.pairs[0].scores
    assert scores.n == 13
    assert scores.pearson == pytest.approx(means[0].corr(means[1]), abs=1e-9)
    assert scores.spearman == pytest.approx(means[0].corr(means[1], method="spearman"), abs=1e-9)
    assert scores.kendall == pytest.approx(means[0].corr(means[1], method="kendall"), abs=1e-9)
    both = tables["mqm"].merge(tables["da-sqm"], on=[0, "line"]).dropna()
    items = result.pairs[0].items
    assert items is not None
    assert items.n == len(both)
    assert items.pearson == pytest.approx(both["1_x"].corr(both["1_y"]), abs=1e-9)
