"""How often systems of equal strength are called different by Bradley-Terry with tastes, in every kind of campaign.

Each annotator ranks blocks with a taste of their own: a deviation of half a logit for every system. For each kind of
campaign the table shows the share of campaigns in which any pair is called different after Holm's correction (nominal
5%) and in which a line is drawn, of pairs called different at .05, of 95% intervals that hold the strength, and their
mean half-width; with Monte-Carlo standard errors. `python -m bench.bench_relative_calibration 1000` makes so many
campaigns of each kind.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np

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
    work = released_work()
    if work:
        kinds["released work loads, blocks"] = RelativeCampaign(8, work)
        kinds["released work loads, pairs"] = RelativeCampaign(4, work, shown=2)
    return kinds


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
    columns = [
        100 * np.array([getattr(result, field) for result in results], dtype=float)
        for field in ("claimed", "line", "different", "covered")
    ]
    shown = "".join(f"{values.mean():9.1f} ±{values.std(ddof=1) / np.sqrt(len(values)):3.1f}" for values in columns)
    return f"{name:32}{shown}{np.mean([result.half_width for result in results]):9.2f}"


def main(number: int = 200) -> None:
    """Print the table."""
    print(f"{'':32}{'any pair':>14}{'any line':>14}{'pairs':>14}{'covered':>14}{'half':>9}")
    for seed, (name, campaign) in enumerate(campaigns().items()):
        print(row(name, outcomes(campaign, number, seed)), flush=True)


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
