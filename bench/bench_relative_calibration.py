"""How often systems of equal strength are called different by Bradley-Terry with tastes, in every kind of campaign.

Each annotator ranks blocks with a taste of their own: a deviation of half a logit for every system. For each kind of
campaign the table shows the share of campaigns in which any pair is called different after Holm's correction (nominal
5%) and in which a line is drawn, of pairs called different at .05, and of 95% intervals of differences that hold the
true one, over all pairs and over those of the first system (which may polarise), with Monte-Carlo standard errors; the
mean half-width of these intervals, and this over 1.96 standard deviations of the estimates.
`python -m bench.bench_relative_calibration 1000` makes so many campaigns of each kind; a second argument chooses kinds
whose name holds it.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

from adjudge.table.maths import NORMAL_95
from bench.relative_campaigns import Outcome, RelativeCampaign, outcomes

DOMINATED = (150, 30, 30, 30, 30, 30, 30, 30)
"""Blocks of eight annotators, of whom one does 42% of the work."""


def campaigns() -> dict[str, RelativeCampaign]:
    """All kinds by name."""
    kinds = {f"{n} people, blocks": RelativeCampaign(8, (30,) * n) for n in (2, 3, 5, 8, 15)}
    kinds |= {f"{n} people, pairs": RelativeCampaign(4, (60,) * n, shown=2) for n in (2, 3, 5, 8, 15)}
    kinds |= {
        "one dominates, blocks": RelativeCampaign(8, DOMINATED),
        "one dominates, pairs": RelativeCampaign(4, DOMINATED, shown=2),
        "no taste, 5 people": RelativeCampaign(8, (30,) * 5, taste=0.0),
        "strong taste, 5 people": RelativeCampaign(8, (30,) * 5, taste=1.5),
        "two systems, 5 people": RelativeCampaign(2, (40,) * 5, shown=2),
        "20 systems, 8 people": RelativeCampaign(20, (60,) * 8),
        "300 people, 3 blocks each": RelativeCampaign(8, (3,) * 300),
        "one polarises, 5 people": RelativeCampaign(8, (30,) * 5, polarising=1.0),
        "one polarises, 15 people": RelativeCampaign(8, (30,) * 15, polarising=1.0),
        "50 shared segments, 5 people": RelativeCampaign(8, (50,) * 5, segments=50, segment_sd=1.0),
        "50 shared segments, 15 people": RelativeCampaign(8, (50,) * 15, segments=50, segment_sd=1.0),
        "20 shared segments, 15 people": RelativeCampaign(8, (50,) * 15, segments=20, segment_sd=1.0),
        "strengths .3 apart, 15 people": RelativeCampaign(4, (30,) * 15, strengths=(0.45, 0.15, -0.15, -0.45), shown=3),
    }
    kinds |= {
        "half of all screens on one segment": _own_texts(10, on_one_segment=0.5),
        "16 people, pairs on own segments": _own_texts(16),
        "and 2 more on 2 common segments": _own_texts(16, common=(2, 2)),
        "and 10 more on 2 common segments": _own_texts(16, common=(2, 10)),
        "and 5 more on 5 common segments": _own_texts(16, common=(5, 5)),
        "5 shared segments, 16 people, pairs": _own_texts(16, segments=5),
        "20 shared segments, 3 people": RelativeCampaign(8, (40,) * 3, segments=20, segment_sd=1.0),
        "6 documents, 16 people, pairs": RelativeCampaign(
            4, (40,) * 16, shown=2, segments=48, segment_sd=0.5, documents=6, document_sd=0.7
        ),
        "one does half, pairs": RelativeCampaign(4, (210, *[30] * 7), shown=2),
        "one does half, blocks": RelativeCampaign(8, (140, *[20] * 7)),
        "one does half, two systems": RelativeCampaign(2, (140, *[20] * 7), shown=2),
        "one of 3 does 90%, pairs": RelativeCampaign(4, (180, 10, 10), shown=2),
        "two people, 180 and 20 pairs": RelativeCampaign(4, (180, 20), shown=2),
        "two systems, 2 people": RelativeCampaign(2, (40,) * 2, shown=2),
        "two systems, 3 people": RelativeCampaign(2, (40,) * 3, shown=2),
        "two systems, 8 people": RelativeCampaign(2, (40,) * 8, shown=2),
        "one polarises, 8 people, pairs": RelativeCampaign(4, (60,) * 8, shown=2, polarising=1.0),
        "two families, 5 people, blocks": RelativeCampaign(8, (30,) * 5, taste=0.2, families=1.0),
        "two families, 5 people, pairs": RelativeCampaign(4, (60,) * 5, shown=2, taste=0.2, families=1.0),
    }
    work = released_work()
    if work:
        kinds["released work loads, blocks"] = RelativeCampaign(8, work)
        kinds["released work loads, pairs"] = RelativeCampaign(4, work, shown=2)
    return kinds


def _own_texts(people: int, **settings: Any) -> RelativeCampaign:
    """Pairs of four systems, 40 of each annotator, with luck of segments."""
    return RelativeCampaign(4, (40,) * people, shown=2, segment_sd=1.0, **settings)


def released_work() -> tuple[int, ...]:
    """How many blocks each annotator of a released campaign ranked; none where the file is missing."""
    from adjudge.readers.registry import read

    data = Path(os.environ.get("ADJUDGE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
    file = next(iter(sorted(data.glob("wmt10/**/data_RNK.csv"))), None)
    if file is None:
        return ()
    table = read([file], format="wmt-ranking").for_pair("en-de").table
    blocks = table.unique(["annotator", "task", "screen", "segment"])
    return tuple(sorted(blocks["annotator"].value_counts()["count"].to_list(), reverse=True))


def row(name: str, results: list[Outcome]) -> str:
    """One line of the table: percentages with their standard errors."""
    hold = [np.abs(result.differences) <= result.halves for result in results]
    columns = [
        100 * np.array(values, dtype=float)
        for values in (
            [result.claimed for result in results],
            [result.line for result in results],
            [result.different for result in results],
            [held.mean() for held in hold],
            [held[result.own].mean() for held, result in zip(hold, results, strict=True)],
        )
    ]
    shown = "".join(f"{values.mean():9.1f} ±{values.std(ddof=1) / np.sqrt(len(values)):3.1f}" for values in columns)
    half = np.mean([result.halves.mean() for result in results])
    spread = np.sqrt(np.mean([(result.differences**2).mean() for result in results]))
    return f"{name:36}{shown}{half:9.2f}{half / NORMAL_95 / spread:9.2f}"


def main(number: int = 200, chosen: str = "") -> None:
    """Print the table."""
    titles = ("any pair", "any line", "pairs", "covered", "first system")
    print(f"{'':36}{''.join(f'{title:>14}' for title in titles)}{'half':>9}{'/ spread':>9}")
    for seed, (name, campaign) in enumerate(campaigns().items()):
        if chosen in name:
            print(row(name, outcomes(campaign, number, seed)), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200, sys.argv[2] if len(sys.argv) > 2 else "")
