"""Metrics against the released rankings; the metrics are invented, the counts are made one by one from the file."""

from __future__ import annotations

import csv
from pathlib import Path
from zlib import crc32

import pytest

import adjudge


def invented(system: str, segment: str) -> int:
    """A score from 0 to 9 that anybody can compute again."""
    return crc32(f"{system} {segment}".encode()) % 10


@pytest.mark.parametrize(
    ("file", "pair", "languages"),
    [
        ("wmt10/data_RNK.csv", "en-cs", ("English", "Czech")),
        ("wmt11/wmt11-maneval-indivsystems.RNK_results.csv", "fr-en", ("French", "English")),
    ],
)
def test_counts_are_those_of_the_tasks_own_script(
    data: Path, tmp_path: Path, file: str, pair: str, languages: tuple[str, str]
) -> None:
    """The loop of wmt10_segTau.pl, written anew: no references, blanks or human ties; no agreement is against."""
    agree = against = tied = 0
    scores: dict[tuple[str, str], int] = {}
    with (data / file).open(newline="") as lines:
        for row in csv.DictReader(lines):
            if (row["srclang"], row["trglang"]) != languages:
                continue
            names = [row[f"system{i}Id"] for i in range(1, 6)]
            ranks = [int(row[f"system{i}rank"]) for i in range(1, 6)]
            for i in range(5):
                for j in range(i + 1, 5):
                    shown = {names[i], names[j]}
                    if "_ref" in shown or "blank" in shown or -1 in (ranks[i], ranks[j]) or ranks[i] == ranks[j]:
                        continue
                    values = [invented(name, row["srcIndex"]) for name in (names[i], names[j])]
                    scores |= {(name, row["srcIndex"]): value for name, value in zip(shown, values, strict=True)}
                    human, metric = ranks[j] - ranks[i], values[0] - values[1]
                    agree += human * metric > 0
                    against += human * metric < 0
                    tied += metric == 0
    table = tmp_path / "metric.tsv"
    cells = sorted({(name, segment) for name, segment in scores})
    lines_out = [f"{name}\t{segment}\t{invented(name, segment)}" for name, segment in cells]
    table.write_text("\n".join(["system\tsegment\tinvented", *lines_out]) + "\n")
    result = adjudge.meta(data / file, [table], format="wmt-ranking", pair=pair, resamples=20, permutations=20)
    own = result.metrics["invented"]["decided comparisons"]
    assert own.n == agree + against + tied
    assert own.values["tau_ties_against"] == pytest.approx((agree - against - tied) / own.n)
    assert own.values["tau_ties_zero"] == pytest.approx((agree - against) / own.n)
    assert result.metrics["invented"]["separated systems"].n > 10
