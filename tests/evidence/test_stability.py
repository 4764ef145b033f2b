"""Stability of rankings: each change acts on raw scores, and moves only the systems that it should move."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from adjudge.evidence import stability as stability_module
from adjudge.evidence.audit import AuditSettings
from adjudge.evidence.stability import ChangeCount, Stability, over_pairs, stability, stability_table
from adjudge.ranking.changes import DIVISORS, ONCE_PER_PAIR, REMOVALS, ChangeFamily, all_changes, human_changes
from adjudge.table.errors import UsageError
from adjudge.table.judgments import Judgments
from adjudge.table.score_sheet import sheet_of
from adjudge.table.wording import listed
from tests.helpers.mixed_make import campaign as any_campaign


def campaign(rows: list[tuple[str, str, str, str, str, float]]) -> Judgments:
    """Rows of (annotator, system, document, segment, kind, score)."""
    names = ("annotator", "system", "document", "segment", "kind", "score")
    columns = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    human = [row[1] == "HUMAN" for row in rows]
    return Judgments.from_columns(
        {**columns, "human": human, "protocol": ["da"] * len(rows), "campaign": ["t"] * len(rows)}
    )


def balanced(seed: int = 1, systems: tuple[str, ...] = ("HUMAN", "A", "B", "C")) -> Judgments:
    """Every annotator judges every system on every segment: no change of others' scores may move the order."""
    rng = np.random.default_rng(seed)
    rows = []
    for a in range(4):
        for d in range(3):
            for s in range(4):
                for number, system in enumerate(systems):
                    score = float(np.clip(80 - 12 * number + 3 * a + rng.normal(0, 5), 0, 100))
                    rows.append((f"a{a}", system, f"d{d}", f"d{d}:{s}", "system", score))
    rows += [(f"a{a}", "A", "d0", "d0:0", "degraded", 5.0 + a) for a in range(4)]
    rows += [(f"a{a}", "A", "d0", "d0:1", "reference", 95.0 - a) for a in range(4)]
    return campaign(rows)


def test_a_balanced_campaign_does_not_move() -> None:
    rows = stability(balanced())
    assert not any(
        row.rank_changed or row.cluster_changed or row.flips
        for row in rows
        if row.family is not ChangeFamily.DOCUMENT_REMOVED
    )
    families = {row.label for row in rows}
    assert {"human removed", "lowest removed", "highest removed", "system removed", "annotator removed"} <= families
    assert {f"human divided by {divisor:g}" for divisor in DIVISORS} <= families


def test_the_removed_are_in_neither_ranking() -> None:
    for row in stability(balanced()):
        assert not set(row.removed) & set(row.order)
        assert not set(row.removed) & set(row.baseline_order)


def test_references_that_nobody_ranks_are_no_human() -> None:
    rows = [("a", system, "d", f"{system}{i}", "system", 60.0 + i) for system in "AB" for i in range(5)]
    references = [("a", "A", "d", f"A{i}", "reference", 95.0) for i in range(5)]
    names = [change.name for change in human_changes(sheet_of(campaign(rows + references)))]
    assert names == ["references removed", *(f"references divided by {divisor:g}" for divisor in DIVISORS)]


def test_an_unfair_draw_is_moved_by_the_human() -> None:
    """One annotator meets B beside the human, another A without it: dividing the human lifts the z of B alone."""
    rows = [("a", "HUMAN", "d", f"h{i}", "system", 90.0 + i) for i in range(10)]
    rows += [("a", "B", "d", f"b{i}", "system", 60.0 + i) for i in range(10)]
    rows += [("b", "A", "d", f"a{i}", "system", 60.0 + i) for i in range(10)]
    rows += [("b", "C", "d", f"c{i}", "system", 50.0 + i) for i in range(10)]
    by_change = {row.change: row for row in stability(campaign(rows))}
    assert by_change["human divided by 1.25"].baseline_order == ("A", "C", "B")
    assert by_change["human divided by 10"].rank_changed
    assert ("C", "B") in by_change["human divided by 10"].flips


def test_what_each_change_does_to_the_scores() -> None:
    sheet = sheet_of(balanced())
    changes = {change.name: change for change in all_changes(sheet, np.arange(4))}
    human = sheet.of_systems(sheet.human)
    reference, degraded = sheet.of_kind("reference"), sheet.of_kind("degraded")
    removed = changes["human and references removed"].apply(sheet)
    assert len(removed.score) == len(sheet.score) - (human | reference).sum()
    assert removed.of_kind("degraded").sum() == degraded.sum()
    divided = changes["human divided by 4"].apply(sheet)
    assert divided.score[human | reference] == pytest.approx(sheet.score[human | reference] / 4)
    assert divided.score[~(human | reference)] == pytest.approx(sheet.score[~(human | reference)])
    assert "without annotator a2" in changes
    assert "without document d1" in changes


def test_the_lowest_systems_are_raised_towards_the_top() -> None:
    """Of a score y out of 100, 100 - (100 - y) / d is left; of three systems the lowest quarter is one."""
    sheet = sheet_of(balanced())
    order = np.array([sheet.systems.index(name) for name in ("HUMAN", "A", "B", "C")])
    raised = [change for change in all_changes(sheet, order) if change.family is ChangeFamily.LOWEST_RAISED]
    assert [change.divisor for change in raised] == list(DIVISORS)
    for change in raised:
        assert [name for name, gone in zip(sheet.systems, change.removed, strict=True) if gone] == ["C"]
        after = change.apply(sheet).score
        lowest = sheet.of_systems(change.removed)
        assert after[~lowest].tolist() == sheet.score[~lowest].tolist()
        assert change.divisor is not None
        np.testing.assert_allclose(100 - after[lowest], (100 - sheet.score[lowest]) / change.divisor)


def test_two_ways_of_removing_people() -> None:
    """The script of Knowles (2021) drops every row whose system is human, so also its degraded versions."""
    rows = [(f"a{a}", "HUMAN", "d0", "d0:0", "degraded", 5.0) for a in range(4)]
    whole = Judgments(pl.concat([balanced().table, campaign(rows).table], how="diagonal"))
    sheet = sheet_of(whole)
    human, degraded = sheet.of_systems(sheet.human), sheet.of_kind("degraded")
    kept: dict[str, int] = {}
    for removal in REMOVALS:
        change = next(iter(human_changes(sheet, removal)))
        kept[removal] = int((change.apply(sheet).of_kind("degraded")).sum())
    assert kept == {"genuine": degraded.sum(), "all-rows": (degraded & ~human).sum()}
    assert kept["genuine"] - kept["all-rows"] == 4
    names = {
        removal: stability(whole, families=[ChangeFamily.HUMAN_REMOVED], removal=removal)[0].change
        for removal in REMOVALS
    }
    assert names == {
        "genuine": "human and references removed",
        "all-rows": "human, its degraded versions and references removed",
    }
    with pytest.raises(UsageError, match="unknown removal 'hers'"):
        stability(whole, removal="hers")


def test_without_a_human_nothing_is_said_of_humans() -> None:
    whole = balanced(systems=("D", "A", "B", "C"))
    rows = stability(whole.keep(pl.col("kind") != "reference", otherwise="reference"))
    assert not any(row.family.unit == "human" for row in rows)


def test_references_shown_as_controls_are_removed_where_no_human_is_ranked() -> None:
    """Knowles (2021), section 5.2: "removing human systems and REF"; campaigns into English of 2018 have REF only."""
    rows = stability(
        balanced(systems=("D", "A", "B", "C")), families=[ChangeFamily.HUMAN_REMOVED, ChangeFamily.HUMAN_DIVIDED]
    )
    assert [row.label for row in rows] == ["human removed", *(f"human divided by {divisor:g}" for divisor in DIVISORS)]
    assert all(row.removed == () and len(row.order) == 4 for row in rows)


def test_tables_sum_up_long_families() -> None:
    rows = stability(balanced())
    table = stability_table(rows * 4)
    assert any("each of 16" in str(line[0]) for line in table.rows)
    stabilities = {
        name: Stability(rows, style, "zscore", "scipy-1.6") for name, style in (("x-y", "SR+DC"), ("y-z", "SR-DC"))
    }
    assert ChangeCount("lowest removed", "SR+DC", 0, 0, 0, 1) in over_pairs(stabilities, data="0").changes


def test_of_a_large_table_those_with_the_most_judgments_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound on rows is lowered; without it all are left out in turn, and there is no note."""
    whole = balanced()
    table = whole.table
    smaller = table.filter(
        (pl.col("annotator") != table["annotator"][0]) | (pl.col("document") != table["document"][0])
    )
    judgments = Judgments(smaller)
    assert stability_module.stability_section(judgments, AuditSettings()).notes == ()
    monkeypatch.setattr(stability_module, "MOST_ROWS", 10)
    monkeypatch.setattr(stability_module, "MOST_LEFT_OUT", 2)
    limited = stability_module.stability_section(judgments, AuditSettings())
    assert "those 2 of each" in limited.notes[0]
    left_out = {
        unit: {row.change for row in limited.rows if row.change.startswith(f"without {unit} ")}
        for unit in ("annotator", "document")
    }
    assert [len(names) for names in left_out.values()] == [2, 2]
    assert f"without annotator {table['annotator'][0]}" not in left_out["annotator"]
    assert f"without document {table['document'][0]}" not in left_out["document"]


@pytest.mark.parametrize("method", ["raw", "zscore"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_annotators_are_left_out_alike_in_both_ways(method: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the statistics of everybody, and all computed anew; some items have one annotator, some scores are equal."""
    rng = np.random.default_rng(seed)
    rows = [
        (f"a{a}", system, f"d{d}", f"d{d}:{s}", "system", float(rng.integers(10 - number, 12) * 5))
        for a in range(5)
        for d in range(4)
        for s in range(3)
        for number, system in enumerate(("HUMAN", "A", "B", "C"))
        if rng.random() < 0.4
    ]
    judgments = campaign(rows)
    from_statistics = stability(judgments, method=method)
    monkeypatch.setattr(stability_module, "MOST_CHANGED", -1)
    assert stability(judgments, method=method) == from_statistics
    assert sum(row.family is ChangeFamily.ANNOTATOR_REMOVED for row in from_statistics) == 5


def by_method(judgments: Judgments, method: str | None) -> Stability:
    return stability_module.stability_section(judgments, AuditSettings(method=method))


def test_stability_is_that_of_the_method_in_use() -> None:
    """The unfair draw of above with a link between the groups: dividing the human moves z-scores, not the model."""
    rng = np.random.default_rng(4)
    rows = []
    for number in range(40):
        for who, systems in (
            ("a", ("HUMAN", "B")),
            ("b", ("A", "C")),
            ("c", ("A", "B", "C")),
        ):
            for system in systems:
                score = {"HUMAN": 90.0, "A": 62.0, "B": 66.0, "C": 50.0}[system] + rng.normal(0, 4)
                rows.append((who, system, f"d{number % 8}", f"s{number}", "system", float(score)))
    found = by_method(campaign(rows), "mixed")
    assert (found.method, found.rule) == ("mixed", "decided")
    assert {row.method for row in found.rows} == {"mixed", "zscore"}
    flips = {
        method: [
            len(row.flips) for row in found.rows if row.family is ChangeFamily.HUMAN_DIVIDED and row.method == method
        ]
        for method in ("mixed", "zscore")
    }
    assert flips["mixed"] == [0] * len(DIVISORS)
    assert flips["zscore"][-1] > 0
    divided = "Human scores were divided by 1.25, 1.5, 2, 4 and 10. By mixed, no pair of others flips."
    assert found.flips == f"{divided} By zscore, so many pairs of others flip: {listed([*map(str, flips['zscore'])])}."
    assert [row.to_dict()["method"] for row in found.rows] == [row.method for row in found.rows]


@pytest.mark.parametrize("seed", range(3))
def test_changes_by_the_model_are_those_of_its_own_ranking(seed: int) -> None:
    """Slow and clear: the model fitted anew, at the variances of the whole, to what each change leaves."""
    from adjudge.mixed.design import design_from
    from adjudge.mixed.fit import refit
    from adjudge.mixed.model import model_of

    judgments = any_campaign("pages", seed, systems=4, annotators=5)
    found = by_method(judgments, "mixed")
    design = design_from(judgments, model="mixed-points")
    ratios = model_of(design).fitted.ratios
    table = judgments.final().table
    tried = 0
    for row in found.own:
        unit = {ChangeFamily.ANNOTATOR_REMOVED: "annotator", ChangeFamily.DOCUMENT_REMOVED: "document"}.get(row.family)
        rows = np.ones(len(design), dtype=bool)
        scored = design
        if unit is not None:
            rows = (table[unit].gather(design.row) != row.change.split()[-1]).to_numpy()
        elif row.divisor is None:
            rows = np.array([design.systems[code] not in row.removed for code in design.system])
        else:
            raised = np.array([design.systems[code] in row.removed for code in design.system])
            top = 100.0 if design.as_given.min() >= 0 and 50 < design.as_given.max() <= 100 else design.as_given.max()
            scored = design.with_scores(np.where(raised, top - (top - design.as_given) / row.divisor, design.as_given))
        again = refit(scored.subset(rows), ratios)
        order = [name for _, name in sorted(zip(-again.effects, again.systems, strict=True)) if name not in row.removed]
        assert list(row.order) == order, row.change
        tried += 1
    assert tried > 15


def test_means_are_audited_alone_where_they_are_asked_for() -> None:
    for method in ("zscore", "raw"):
        found = by_method(balanced(), method)
        assert {row.method for row in found.rows} == {found.method} == {method}
        assert found.rows == stability(balanced(), method=method)
        assert found.flips == ""


def test_by_default_the_model_makes_the_changes_of_a_language_pair() -> None:
    """What it says without annotators and documents is the subject of other sections; z-scores leave out all."""
    found = by_method(balanced(), None)
    assert {row.family for row in found.own} <= set(ONCE_PER_PAIR)
    beside = tuple(row for row in found.rows if row.method == "zscore")
    assert beside == stability(balanced())
    first, second = found.tables()
    assert (first.title, second.title) == ("Stability: what if (mixed)", "Stability: what if (zscore)")
    assert "--method mixed leaves them out by mixed, too." in first.note
    assert not any(row.rank_changed or row.cluster_changed for row in found.own)
