"""Replication of "The Suboptimal WMT Test Sets and Their Impact on Human Parity" (Kim et al. 2022)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import adjudge
from adjudge import Judgments
from adjudge.papers.figures import Bar, Bars, Mark
from adjudge.papers.replicate import (
    ReplicatedCell,
    ReplicatedTable,
    Replication,
    Source,
    join_fingerprints,
    missing_data,
    read_published,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adjudge.evidence.parity_results import GroupAgreement, Parity, ParityPart

    Parts = Mapping[tuple[str, str], ParityPart]
    Points = Mapping[str, Mapping[str, float]]


# Figures 2 to 4.

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
    title = "The sign test before and after correction of the source"
    return Bars(figure="Figure 2", title=title, says=says, x="judgments (%)", bars=tuple(bars), decimals=1)


def rank_points(parts: Parts, points: Points) -> Bars:
    """Figure 3: mean rank points of human and machine translations."""
    bars = [
        Bar(f"{where} (n = {parts['after', part].judgments})", label, words, points[part][f"{label}, {when}"])
        for part, where in SEGMENTS.items()
        for label in ("HT", "MT_Y", "MT_Z")
        for when, words in SETS.items()
    ]
    whole = points["all"]
    moved = [f"{name} {whole[f'{name}, after'] - whole[f'{name}, before']:+.3f}" for name in ("HT", "MT_Y", "MT_Z")]
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
    # A group has the letter of its annotators' files, such as `a1`.
    kappas = {
        str(group.table["annotator"].min())[:1].upper(): pair.kappa_ranks for group, pairs in groups for pair in pairs
    }
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


# The released files of the parity study: ranks before and after cleaning, groups of annotators, TER of outputs.


@dataclass(frozen=True)
class Released:
    """Everything the release holds that the tables need."""

    sets: Mapping[str, Judgments]
    """The ranks, `before` and `after`."""
    groups: tuple[Judgments, ...]
    """The ranks of every group of two annotators, segments numbered by row."""
    agreement: tuple[tuple[GroupAgreement, ...], ...]
    """The agreement of the two annotators of every group."""
    contaminated: frozenset[str]
    documents: Mapping[str, str]
    ter: Mapping[str, tuple[float, ...]]
    """TER between the two versions of an output, by name and segment."""
    google: tuple[tuple[str, ...], ...]
    """The outputs of Google before and after, one per segment."""


def read_released(folder: Path, content: Mapping[str, Any]) -> Released:
    """Read the folder of the release, or a folder that holds it."""
    root = _root(folder, content["folders"]["before"])
    human = content["candidates"]["HT"]
    sets = {
        name: adjudge.read(root / inside, format="rank-lines", stacked=content["stacked"], human=human)
        for name, inside in content["folders"].items()
    }
    groups = _groups(root / "score" / "groups", content)
    marked = pl.concat(
        [ranks.table.filter(pl.col(content["marks"]) == "T").select("segment") for ranks in sets.values()]
    )
    segments = sets["before"].table["segment"].unique().cast(pl.Int64).sort().to_list()
    starts = content["document_starts"]["segments"]
    return Released(
        sets=sets,
        groups=groups,
        agreement=tuple(adjudge.parity(group, "Ref").agreement for group in groups),
        contaminated=frozenset(marked["segment"].to_list()),
        documents={str(segment): str(sum(start <= segment for start in starts)) for segment in segments},
        google=tuple(
            tuple((root / content["folders"][when] / "mt_google.txt").read_text(encoding="utf-8").splitlines())
            for when in ("before", "after")
        ),
        ter={name: _numbers(root / "score" / f"{name}.txt") for name in ("mt_y", "mt_z", "mt_google")},
    )


def _root(folder: Path, inside: str) -> Path:
    folders = [folder, *sorted(path for path in folder.iterdir() if path.is_dir())]
    root = next((path for path in folders if (path / inside).is_dir()), None)
    if root is None:
        raise missing_data(folder, f"no folder '{inside}'")
    return root


def _groups(folder: Path, content: Mapping[str, Any]) -> tuple[Judgments, ...]:
    """The files come in twos, a1 and a2. Row i of both is the same item, whatever its number (some say 0)."""
    if not folder.is_dir():
        raise missing_data(folder.parent, f"no folder '{folder.name}' of the annotators' groups")
    columns = tuple(content["rank_columns"])
    row = pl.col("screen").cast(pl.Int64).rank("dense").cast(pl.Int64).cast(pl.String)

    def read_table(path: Path) -> pl.DataFrame:
        read = adjudge.read(path, format="rank-table", rank_columns=columns, segment_column="ID", human="Ref")
        return read.table.with_columns(pl.col("segment").alias("printed_id"), row.alias("segment"))

    names = sorted({path.stem[:-1] for path in folder.glob("*[12].csv")})
    groups = ([read_table(folder / f"{name}{i}.csv") for i in (1, 2)] for name in names)
    return tuple(Judgments(pl.concat(parts, how="diagonal_relaxed")) for parts in groups)


def _numbers(path: Path) -> tuple[float, ...]:
    return tuple(float(line) for line in path.read_text(encoding="utf-8").split())


def with_right_block(released: Released, content: Mapping[str, Any]) -> Judgments:
    """The ranks before cleaning, with the mirrored lines replaced by the annotator's own ranks."""
    block = content["right_block"]
    wanted = [str(number) for number in range(block["first"], block["last"] + 1)]
    stem = Path(block["file"]).stem
    group = next(group for group in released.groups if stem in group.table["annotator"].unique().to_list())
    rated = [name.removesuffix("_rating") for name in content["rank_columns"]]
    names = dict(zip(rated, content["candidates"].values(), strict=True))
    right_ranks = group.table.filter((pl.col("annotator") == stem) & pl.col("printed_id").is_in(wanted)).select(
        pl.col("printed_id").alias("segment"), pl.col("system").replace_strict(names), right="rank"
    )
    before = released.sets["before"]
    joined = before.table.join(right_ranks, on=["segment", "system"], how="left", maintain_order="left")
    mirrored = (pl.col("annotator") == block["annotator"]) & pl.col("right").is_not_null()
    ranks = pl.when(mirrored).then(pl.col("right")).otherwise(pl.col("rank")).alias("rank")
    return Judgments(joined.with_columns(ranks).drop("right"), before.set_aside, before.notes)


NAME = "suboptimal"
Cells = dict[str, float]
_PLACES = {"all": "on all segments", "beyond untouched": "on contaminated segments beyond untouched ones"}
_FIRST = "the paper printed the mean of the first annotator, {:.4f}; of both annotators it is {:.4f}"


def replicate(folder: Path) -> Replication:
    """All tables that the released data allow, and what the release says beyond them."""
    published = read_published("suboptimal")
    content = published.content
    released = read_released(folder, content)
    names: Mapping[str, str] = content["candidates"]
    result, right = (
        adjudge.parity(
            released.sets["after"],
            names["HT"],
            before=before,
            contaminated=released.contaminated,
            keys=released.documents,
        )
        for before in (released.sets["before"], with_right_block(released, content))
    )
    parts = _parts(result)
    points = {part: _points(parts, part, names) for part in ("all", "contaminated")}
    tables: dict[str, tuple[Cells, dict[str, str]]] = {
        "Table 2": (_contaminants(content["printed_counts"]), {}),
        "Table 3": (_assessments(released), {}),
        "Table 5": (_signs(parts, "all", names), {}),
        "Table 6": (_signs(parts, "contaminated", names), {}),
        "Table 7": (points["all"], _first_annotator(released, points["all"], published.cells("Table 7"), names)),
        "Table 8": (points["contaminated"], {}),
        "Section 6.2": (_example(released, names, content["example"]["segment"]), {}),
        "Text": (_text(released, result, parts, points), {}),
    }
    return Replication(
        settings={"paper": NAME, "seed": result.settings["seed"]},
        data=join_fingerprints(part.fingerprint for part in (*released.sets.values(), *released.groups)),
        notes=tuple(_beyond(released, result, right, names)),
        figures=draw_figures(released, parts, points, names),
        not_recomputed=published.not_recomputed(),
        paper=published.paper,
        replicated=(
            *(published.compared(name, cells, notes) for name, (cells, notes) in tables.items()),
            _edit_rates(released),
        ),
    )


def _parts(result: Parity) -> dict[tuple[str, str], ParityPart]:
    """The counts by set (`before`, `after`) and part of the segments."""
    assert result.change is not None
    sets = {"before": result.change.before, "after": result.parts}
    return {(when, part.part): part for when, parts in sets.items() for part in parts}


def _contaminants(counts: Mapping[str, Any]) -> Cells:
    """Table 2: shares of the printed counts."""
    parts = ("apostrophes", "omissions")
    among = {part: counts[f"{part} among the quotation marks"] for part in parts}
    total = sum(count for name, count in counts.items() if isinstance(count, int) and "among" not in name)
    quotes = counts["Quotation marks"]
    return {
        "total": total,
        "percent of quotation marks": 100 * quotes / total,
        **{f"percent of {part} among them": 100 * among[part] / quotes for part in parts},
    }


def _example(released: Released, names: Mapping[str, str], segment: str) -> Cells:
    """Section 6.2: the ranks that one sentence got from its two annotators."""
    cells: Cells = {}
    for when, judgments in released.sets.items():
        table = judgments.table.filter(pl.col("segment") == segment)
        for who, number in (("first", 1), ("second", 2)):
            judged = table.filter(pl.col("annotator") == f"annotator {number}")
            ranks = dict(zip(judged["system"], judged["rank"], strict=True))
            cells |= {f"{when}, {who} annotator: {label}": float(ranks[name]) for label, name in names.items()}
    return cells


def _assessments(released: Released) -> Cells:
    ranks = sum(len(ranks_of_set) for ranks_of_set in released.sets.values())
    systems = len(released.sets["after"].systems)
    sentences = sum(ranks_of_set.table["segment"].n_unique() for ranks_of_set in released.sets.values())
    return {
        "systems": systems,
        "assessments": ranks,
        "assessments per system": ranks / systems,
        "assessments per sentence": ranks / systems / sentences,
    }


def _signs(parts: Mapping[tuple[str, str], ParityPart], part: str, names: Mapping[str, str]) -> Cells:
    cells: Cells = {}
    for when in ("before", "after"):
        by_name = {system.system: system for system in parts[when, part].systems}
        for label in ("MT_Y", "MT_Z"):
            counted = by_name[names[label]]
            counts = {"MT better": counted.mt_better, "tie": counted.tie, "HT better": counted.human_better}
            cells |= {f"{label}, {when}: {what}": count for what, count in counts.items()}
    return cells


def _points(parts: Mapping[tuple[str, str], ParityPart], part: str, names: Mapping[str, str]) -> Cells:
    cells: Cells = {}
    for when in ("before", "after"):
        counts = parts[when, part]
        by_name = {system.system: system.rank_points for system in counts.systems} | {
            names["HT"]: counts.human_rank_points
        }
        cells |= {f"{label}, {when}": float(by_name[name] or np.nan) for label, name in names.items()}
    return cells


def _first_annotator(
    released: Released, points: Cells, printed: Mapping[str, str], names: Mapping[str, str]
) -> dict[str, str]:
    """Which printed means are those of the first annotator alone."""
    notes: dict[str, str] = {}
    for cell, value in points.items():
        label, when = cell.split(", ")
        judged = released.sets[when].table.filter(
            (pl.col("system") == names[label]) & (pl.col("annotator") == "annotator 1")
        )
        first = len(names) + 1 - float(judged.select(pl.col("rank").mean()).item())
        if f"{value:.2f}" != printed[cell] and f"{first:.2f}" == printed[cell]:
            notes[cell] = _FIRST.format(first, value)
    return notes


def _text(
    released: Released, result: Parity, parts: Mapping[tuple[str, str], ParityPart], points: Mapping[str, Cells]
) -> Cells:
    assert result.change is not None
    lost = {
        (change.system, change.part): -100 * change.difference
        for change in result.change.changes
        if change.measure == "parity_share"
    }
    both = zip(parts["before", "contaminated"].systems, parts["after", "contaminated"].systems, strict=True)
    ties = {later.system: 100 * abs(later.tie - earlier.tie) / later.n for earlier, later in both}
    moved = [
        (label, 100 * (cells[f"{label}, after"] - cells[f"{label}, before"]) / 3)
        for cells in points.values()
        for label in ("HT", "MT_Y", "MT_Z")
    ]
    kappas = [pair.kappa_ranks for pairs in released.agreement for pair in pairs]
    return {
        "loss of parity, MT_Y, all segments": lost["mt_y", "all"],
        "loss of parity, MT_Z, all segments": lost["mt_z", "all"],
        "loss of parity, MT_Z, contaminated segments": lost["mt_z", "contaminated"],
        "change of ties, MT_Y, contaminated segments": ties["mt_y"],
        "change of ties, MT_Z, contaminated segments": ties["mt_z"],
        "largest gain of HT in rank points, percent of 3": max(value for label, value in moved if label == "HT"),
        "largest loss of MT in rank points, percent of 3": -min(value for label, value in moved if label != "HT"),
        "documents": len(set(released.documents.values())),
        "segments": len(released.documents),
        "contaminated judgments": parts["before", "contaminated"].judgments,
        "mean kappa of 11 groups": float(np.mean(kappas)),
        "tasks, each for two annotators": len(released.groups),
        **_edits(released),
    }


def _edits(released: Released) -> Cells:
    """What the released TER between the two versions of outputs says."""
    marked = np.array([name in released.contaminated for name in released.documents])
    y, z, google = (np.array(released.ter[name]) for name in ("mt_y", "mt_z", "mt_google"))
    # "Above 0.8" in the paper includes the segment that has 0.8 exactly: only so are there three, two of them marked.
    high = (y >= 0.8) | (z >= 0.8)
    return {
        "highest TER of MT_Z between versions": float(z.max()),
        "segments with TER above 0.8, MT_Y or MT_Z": int(high.sum()),
        "of these contaminated": int((high & marked).sum()),
        "unmarked segments that Google's output changes, percent": float(100 * (google[~marked] > 0).mean()),
    }


def _edit_rates(released: Released) -> ReplicatedTable:
    """The released TER between the two versions of Google's outputs, the only ones whose texts were released."""
    from sacrebleu.metrics.ter import TER

    ter = TER()
    both = zip(*released.google, strict=True)
    recomputed = [float(ter.sentence_score(before, [after]).score) / 100 for before, after in both]
    cells = tuple(
        ReplicatedCell(f"segment {number}", printed, 4, computed)
        for number, (printed, computed) in enumerate(zip(released.ter["mt_google"], recomputed, strict=True), start=1)
    )
    title = "TER between the two versions of Google's output, by segment"
    return ReplicatedTable("TER of Google", title, None, cells, Source.AUTHORS, "score/mt_google.txt")


def _beyond(released: Released, result: Parity, right: Parity, names: Mapping[str, str]) -> list[str]:
    """What the paper does not test, and the fault in the released ranks."""
    largest = max(system.p for part in _parts(result).values() for system in part.systems)
    notes = [f"every sign test has p <= {largest:.2g}, as the paper says (p <= 0.001)"]
    notes += _change_notes(result, names, "the change of parity share that the paper never tests")
    preferences = [pair.kappa_preferences for pairs in released.agreement for pair in pairs]
    notes.append(f"mean kappa of preferences, the human first, over the groups: {np.mean(preferences):.3f}")
    for when, judgments in released.sets.items():
        notes += [
            f"{twins.annotators[0]} and {twins.annotators[1]}, {when} cleaning: {twins.items} segments "
            f"({twins.first} to {twins.last}, {twins.preferences} preferences) are {twins.kind}"
            for twins in adjudge.check(judgments).twins
        ]
    return notes + _change_notes(right, names, "with the annotator's own ranks from the group's file instead")


def _change_notes(result: Parity, names: Mapping[str, str], what: str) -> list[str]:
    assert result.change is not None
    labels = {name: label for label, name in names.items()}
    return [
        f"{what}: {labels[change.system]} {100 * change.difference:+.2f} points {_PLACES[change.part]}, "
        f"95% {100 * change.interval[0]:+.1f} to {100 * change.interval[1]:+.1f} by resampling documents, "
        f"p = {change.p:.3f}"
        for change in (*result.change.changes, *result.change.difference_in_differences)
        if change.measure == "parity_share" and change.part in _PLACES
    ]
