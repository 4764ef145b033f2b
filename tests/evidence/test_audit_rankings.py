"""Audits of rankings on small tables counted by hand, and against other tools."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

import adjudge
from adjudge.evidence.audit import SECTIONS, AuditSettings, audit, load
from adjudge.evidence.composition import Composition, Discrepancies, Sampling, SoleWinners
from adjudge.evidence.post_edits import Acceptability, Edits
from adjudge.readers import native
from adjudge.table.errors import DataError, UsageError
from adjudge.table.judgments import Judgments
from adjudge.table.maths import correlate, proportion
from adjudge.table.results import Table, to_plain
from tests.conftest import Run, assert_explained
from tests.helpers.check_make import Block, rankings, scores

BLOCKS: list[Block] = [
    ("a", "1", {"ref": 1, "x": 2, "y": 3}),
    ("a", "2", {"x": 1, "y": 1, "z": 2}),
    ("b", "3", {"ref": 1, "x": None, "z": None}),
    ("b", "4", {"x": None, "y": None, "z": None}),
    ("b", "5", {"x": 3, "y": 2, "z": 1}),
    ("b", "6", {"y": 2, "z": 1}),
]


def section(name: str, judgments: Judgments | None = None, chosen: AuditSettings | None = None) -> object:
    return audit(judgments or rankings(BLOCKS), only=[name], settings=chosen).sections[name]


def test_sole_winners_by_hand() -> None:
    """Block 1 and 3 go to ref (3 has one label), 2 is tied, 4 is empty, 5 and 6 go to z."""
    winners = section("sole_winners")
    assert isinstance(winners, SoleWinners)
    assert (winners.blocks, winners.tied, winners.empty) == (6, 1, 1)
    assert [(system.system, system.wins, system.labelled) for system in winners.systems] == [
        ("ref", 2, 2),
        ("z", 2, 3),
        ("x", 0, 3),
        ("y", 0, 4),
    ]


def test_controls_are_no_systems() -> None:
    """A degraded output in a block, and a whole tutorial, change nothing but what is set aside."""
    genuine = rankings(BLOCKS)
    control = genuine.table.head(1).with_columns(system=pl.lit("ref, damaged"), kind=pl.lit("degraded"), rank=3)
    lesson = control.with_columns(screen=pl.lit("lesson"), kind=pl.lit("tutorial"))
    mixed = Judgments(pl.concat([genuine.table, control.cast(genuine.table.schema), lesson.cast(genuine.table.schema)]))
    for name in ("composition", "sampling", "sole_winners", "discrepancies"):
        assert to_plain(section(name, mixed)) == to_plain(section(name, genuine))
    records = [(aside.reason, aside.rows) for aside in adjudge.rank(mixed, method="wins-or-ties").set_aside]
    # Of 17 outputs shown in genuine blocks, 12 have a label.
    blank = ("no rank was given", 5)
    assert records == [("control item in a ranking, not a judgment of a system", 2), blank]


def test_sampling_counts_blocks_shown() -> None:
    """Blocks count in which a system was shown, though it got no label."""
    sampling = section("sampling")
    assert isinstance(sampling, Sampling)
    shown = {system.system: (system.shown, system.labelled, system.reference_share) for system in sampling.systems}
    assert shown == {"ref": (2, 2, 0.0), "x": (5, 3, 2 / 5), "y": (5, 4, 1 / 5), "z": (5, 3, 1 / 5)}
    scores = {"x": 3 / 6, "y": 3 / 7, "z": 3 / 5}
    assert {system.system: system.score for system in sampling.systems if not system.human} == pytest.approx(scores)
    assert sampling.reference_presence.n == 3
    assert sampling.reference_presence.pearson == pytest.approx(
        stats.pearsonr([0.4, 0.2, 0.2], list(scores.values()))[0]
    )
    assert math.isnan(sampling.times_judged.pearson)  # all were shown five times


def test_composition_by_hand() -> None:
    composition = section("composition")
    assert isinstance(composition, Composition)
    assert composition.systems == ("ref", "x", "y", "z")
    assert composition.matrix == ((0, 2, 1, 1), (2, 0, 4, 4), (1, 4, 0, 4), (1, 4, 4, 0))
    assert composition.shares[1] == (2 / 5, 0.0, 4 / 5, 4 / 5)
    assert (composition.fewest, composition.most) == (1, 4)
    meets = composition.opposition[1]
    assert (meets.system, meets.opponents) == ("x", 3)
    assert meets.opponent_score == pytest.approx((2 * 1 + 4 * 3 / 7 + 4 * 3 / 5) / 10)


def test_discrepancies_by_hand() -> None:
    """B beats c directly, two to one, but scores lower because it met strong a."""
    blocks: list[Block] = []
    for times, ranks in ((2, {"b": 1, "c": 2}), (1, {"b": 2, "c": 1}), (1, {"b": 1, "c": 1})):
        blocks += [("p", str(len(blocks)), ranks) for _ in range(times)]
    blocks += [("p", "strong", {"a": 1, "b": 2})] * 5
    blocks += [("p", "weak", {"c": 1, "d": 2})] * 4
    discrepancies = section("discrepancies", rankings(blocks))
    assert isinstance(discrepancies, Discrepancies)
    assert discrepancies.systems == ("a", "c", "b", "d")
    assert discrepancies.compared == 3
    (pair,) = discrepancies.pairs
    assert (pair.better, pair.worse, pair.wins, pair.losses, pair.ties) == ("b", "c", 2, 1, 1)
    assert (pair.better_score, pair.worse_score) == pytest.approx((3 / 9, 6 / 8))
    assert pair.p == pytest.approx(stats.binomtest(2, 3).pvalue)
    # Row c, column b: b beat c in two of four comparisons, ties in the denominator; a and c never met.
    assert discrepancies.matrix[1] == (None, None, 0.5, 0.0)


def edit_tables() -> AuditSettings:
    rows = [
        ("1", "x", "EDIT"),
        ("2", "x", "OK"),
        ("3", "x", "N/A"),
        ("4", "y", "BAD"),
        ("5", "y", "OK"),
        ("6", "q", "OK"),
    ]
    languages = {"source_lang": ["en"] * 6, "target_lang": ["cs"] * 5 + ["de"]}
    edits = Judgments.from_columns(
        {
            "system": [system for _, system, _ in rows],
            "protocol": ["postedit"] * 6,
            "screen": [number for number, _, _ in rows],
            "edit": [number for number, _, _ in rows],
            "action": [action for _, _, action in rows],
            **languages,
        }
    )
    judged = Judgments.from_columns(
        {
            "system": ["x", "x", "x", "y", "x", "q"],
            "protocol": ["acceptability"] * 6,
            "screen": [str(i) for i in range(6)],
            "edit": ["1", "2", "3", "4", "6", "6"],
            "score": [1.0, 0.0, None, 1.0, 1.0, 0.0],
            **languages,
        }
    )
    return AuditSettings(edits=edits, acceptability=judged)


def test_edits_by_hand() -> None:
    edits = section("edits", chosen=edit_tables())
    assert isinstance(edits, Edits)
    assert (edits.edits, edits.smallest, edits.mean, edits.largest) == (5, 2, 2.5, 3)
    assert edits.sd == pytest.approx(math.sqrt(0.5))
    x, y = edits.systems
    assert (x.system, x.edits, x.actions) == ("x", 3, {"EDIT": 1, "N/A": 1, "OK": 1})
    assert (x.unchanged.share, x.unchanged.n) == (0.5, 2)
    assert (y.system, y.edits, y.actions) == ("y", 2, {"BAD": 1, "OK": 1})


def test_acceptability_counts_what_its_own_file_says() -> None:
    """The fifth judgment names x, but its edit 6 belongs to q of another language pair."""
    acceptability = section("acceptability", chosen=edit_tables())
    assert isinstance(acceptability, Acceptability)
    x, y = acceptability.systems
    assert (x.system, x.yes, x.no, x.unknown, x.acceptable.share) == ("x", 2, 1, 1, 2 / 3)
    assert (y.system, y.yes, y.no, y.unknown) == ("y", 1, 0, 0)
    assert (acceptability.judgments, acceptability.mismatched) == (5, 1)


@settings(deadline=None)
@given(st.integers(0, 60), st.integers(1, 60))
def test_proportion_agrees_with_statsmodels(part: int, whole: int) -> None:
    """statsmodels 0.15, `proportion_confint(method="wilson")`."""
    part = min(part, whole)
    assert proportion(part, whole).interval == pytest.approx(
        proportion_confint(part, whole, method="wilson"), abs=1e-12
    )


def test_proportion_of_nothing_is_undefined() -> None:
    assert math.isnan(proportion(0, 0).share)


@settings(deadline=None)
@given(st.integers(4, 30), st.integers(0, 1000))
def test_correlation_agrees_with_scipy(n: int, seed: int) -> None:
    """SciPy, `pearsonr(...).confidence_interval()` (Fisher's z) and `spearmanr`."""
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 9, n).astype(float), rng.normal(size=n)
    if np.ptp(x) == 0:
        return
    theirs = stats.pearsonr(x, y)
    ours = correlate(x, y)
    assert ours.pearson == pytest.approx(theirs.statistic)
    assert ours.interval == pytest.approx(tuple(theirs.confidence_interval()))
    assert ours.spearman == pytest.approx(stats.spearmanr(x, y).statistic)


def test_all_sections_that_apply_are_made() -> None:
    result = audit(rankings(BLOCKS))
    made = ["claims", "stability", "examples", "composition", "sampling", "influence", "sole_winners", "discrepancies"]
    assert list(result.sections) == made
    plain = result.to_dict()
    assert {"signature", "settings", "version", "set_aside", "sampling", "composition"} <= set(plain)
    assert "sections" not in plain
    assert plain["sampling"]["times_judged"]["pearson"] is None
    assert len(result.tables()) == 11
    assert list(audit(rankings(BLOCKS), settings=edit_tables()).sections)[-2:] == ["edits", "acceptability"]


def test_edits_among_the_judgments_are_found() -> None:
    chosen = edit_tables()
    assert chosen.edits is not None
    both = Judgments(pl.concat([rankings(BLOCKS).table, chosen.edits.table], how="diagonal"))
    section_of_edits = audit(both.for_pair("en-cs"), only=["edits", "sole_winners"]).sections["edits"]
    assert isinstance(section_of_edits, Edits)
    assert section_of_edits.edits == 5


def test_a_section_that_does_not_apply_is_noted() -> None:
    result = audit(rankings(BLOCKS), only=["edits", "sampling"])
    assert list(result.sections) == ["sampling"]
    assert result.notes == ("section 'edits' is left out: it needs 'edits', which are not given",)
    with pytest.raises(DataError, match="needs 'edits'"):
        audit(rankings(BLOCKS), only=["edits"])
    with pytest.raises(DataError, match="relative judgments"):
        audit(scores([("a", "1", "x", 1.0)]), only=["sole_winners"])


def test_one_system_is_explained() -> None:
    with pytest.raises(DataError, match=r"at least two systems must be compared"):
        audit(rankings([("a", "1", {"x": 1}), ("b", "1", {"x": 1})]))


def test_ties_everywhere_leave_nothing_undefined_but_correlations() -> None:
    result = audit(rankings([(who, "1", {"x": 1, "y": 1, "z": 1}) for who in "ab"])).to_dict()
    assert result["discrepancies"]["pairs"] == []
    assert result["sole_winners"]["tied"] == 2
    assert result["sampling"]["times_judged"]["pearson"] is None


def test_methods_may_be_chosen() -> None:
    chosen = AuditSettings(method="wins-no-reference")
    sampling = section("sampling", chosen=chosen)
    assert isinstance(sampling, Sampling)
    by_name = {system.system: system.score for system in sampling.systems}
    assert by_name["z"] == pytest.approx(3 / 5)
    assert math.isnan(by_name["ref"])
    with pytest.raises(UsageError, match="cannot be audited on rankings"):
        section("sampling", chosen=AuditSettings(method="raw"))


def test_wrong_sections_are_explained() -> None:
    with pytest.raises(UsageError, match="unknown section 'sampel': did you mean 'sampling'"):
        audit(rankings(BLOCKS), only=["sampel"])
    with pytest.raises(UsageError, match="no section was asked for"):
        audit(rankings(BLOCKS), only=[" "])


@dataclass(frozen=True)
class _List:
    rows: tuple[str, ...]

    def to_dict(self) -> list[str]:
        return list(self.rows)

    def tables(self) -> tuple[Table, ...]:
        return ()


def test_a_section_may_be_a_list_in_json() -> None:
    from adjudge.evidence.audit import Audit

    result = Audit(settings={}, data="0", sections={"stability": _List(("a",))})
    assert result.to_dict()["stability"] == ["a"]


def test_every_section_has_its_functions() -> None:
    for entry in SECTIONS.values():
        assert callable(load(entry.function))
        assert entry.kinds
        assert entry.page is None or callable(load(entry.page))
        assert entry.page or entry.title


def test_command(adjudge: Callable[..., Run], tmp_path: Path) -> None:
    table, edits = tmp_path / "judgments.csv", tmp_path / "edits.parquet"
    native.write(rankings(BLOCKS), table)
    chosen = edit_tables()
    assert chosen.edits is not None
    native.write(chosen.edits, edits)
    answer = adjudge("audit", table, "--edits", edits, "--only", "edits,composition", "--json").json
    assert answer["edits"]["edits"] == 5
    assert answer["composition"]["matrix"][0] == [0, 2, 1, 1]
    assert f"edits:{chosen.edits.fingerprint}" in answer["signature"]
    assert_explained(adjudge("audit", table, "--edits", table), names=("postedit is needed",))
    assert_explained(adjudge("audit", table, "--only", "nothing"), code=2, names=("unknown section 'nothing'",))
