"""Figures 2 to 4 of "The Suboptimal WMT Test Sets and Their Impact on Human Parity" (Kim et al. 2022)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.results.paper_figures import Bar, Bars, Mark

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adjudge import Judgments
    from adjudge.replicate.suboptimal.released import Released
    from adjudge.results.parity import ParityPart

    Parts = Mapping[tuple[str, str], ParityPart]
    Points = Mapping[str, Mapping[str, float]]

SETS = {"before": "before correction (BTS)", "after": "after correction (ATS)"}
SEGMENTS = {"all": "all segments", "contaminated": "contaminated segments"}


def draw_figures(released: Released, parts: Parts, points: Points, names: Mapping[str, str]) -> tuple[Bars, ...]:
    """All figures that the released ranks allow; `points` are the rank points by part of the segments."""
    return shares_of_the_sign_test(parts, names), rank_points(parts, points), agreement_of_groups(released)


def shares_of_the_sign_test(parts: Parts, names: Mapping[str, str]) -> Bars:
    """Figure 2: how often the machine was better, tied or worse, before and after."""
    bars: list[Bar] = []
    losses: list[str] = []
    for part, where in SEGMENTS.items():
        for label in ("MT_Y", "MT_Z"):
            systems = {
                when: next(system for system in parts[when, part].systems if system.system == names[label])
                for when in SETS
            }
            panel = f"{label}, {where} (n = {parts['after', part].judgments})"
            for row, count in (("MT better", "mt_better"), ("Tie", "tie"), ("HT better", "human_better")):
                bars += [
                    Bar(panel, row, SETS[when], 100 * getattr(system, count) / system.n)
                    for when, system in systems.items()
                ]
            lost = 100 * (systems["before"].parity_share - systems["after"].parity_share)
            losses.append(f"{label} loses {lost:.2f} points on {where}")
    says = f"Share of judgments that are at least a tie for the machine: {'; '.join(losses)}."
    return Bars(
        figure="Figure 2",
        title="The sign test before and after correction of the source",
        says=says,
        x="judgments (%)",
        bars=tuple(bars),
        decimals=1,
    )


def rank_points(parts: Parts, points: Points) -> Bars:
    """Figure 3: mean rank points of human and machine translations."""
    bars = [
        Bar(f"{where} (n = {parts['after', part].judgments})", label, words, points[part][f"{label}, {when}"])
        for part, where in SEGMENTS.items()
        for label in ("HT", "MT_Y", "MT_Z")
        for when, words in SETS.items()
    ]
    moved = [f"{label} {points['all'][f'{label}, after'] - points['all'][f'{label}, before']:+.3f}" for label in
             ("HT", "MT_Y", "MT_Z")]  # fmt: skip
    return Bars(
        figure="Figure 3",
        title="Rank points before and after correction of the source",
        says=f"The order of the three stays; on all segments the change is {', '.join(moved)} points of 3.",
        note="Means of both annotators. Four of the six means that the paper prints for all segments are those of the "
        "first annotator alone, see Table 7.",
        x="rank points (of 3)",
        bars=tuple(bars),
        decimals=2,
    )


def agreement_of_groups(released: Released) -> Bars:
    """Figure 4: Cohen's kappa of the two annotators of every group, the lowest first."""
    groups = zip(released.groups, released.agreement, strict=True)
    kappas = {_letter(group): pair.kappa_ranks for group, pairs in groups for pair in pairs}
    ordered = sorted(kappas.items(), key=lambda item: item[1])
    mean = sum(kappas.values()) / len(kappas)
    says = (
        f"Cohen's kappa of {len(kappas)} groups goes from {ordered[0][1]:.2f} (group {ordered[0][0]}) "
        f"to {ordered[-1][1]:.2f} (group {ordered[-1][0]}); the mean is {mean:.2f}."
    )
    return Bars(
        figure="Figure 4",
        title="Agreement of the two annotators of every group",
        says=says,
        x="Cohen's kappa",
        bars=tuple(Bar("", f"group {name}", "kappa", kappa) for name, kappa in ordered),
        decimals=2,
        mark=Mark("mean of all groups", "x", mean),
    )


def _letter(group: Judgments) -> str:
    """The letter of a group, from the files of its annotators, such as `a1`."""
    return str(group.table["annotator"].min())[:1].upper()
