"""Bojar et al. 2011, "A Grain of Salt for the WMT Manual Evaluation": its printed figures from the released judgments.

Expected values are those printed in the paper, by table. Where the paper cannot be right, the test says what the data
say and why.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from adjudge import read
from adjudge.evidence.audit import AuditSettings, audit
from adjudge.evidence.composition import Discrepancies, Sampling, SoleWinners
from adjudge.evidence.post_edits import Acceptability
from adjudge.papers.replicate import ReplicatedCell, Replication, State
from adjudge.people.agreement import agree
from adjudge.people.results import Agreement
from adjudge.ranking.methods import RankSettings, rank
from adjudge.table.judgments import Judgments
from tests.conftest import Run
from tests.helpers.released import read_released
from tests.helpers.replications import replication_of


@pytest.fixture(scope="module")
def rankings(data: Path) -> Judgments:
    return read_released(data / "wmt10" / "data_RNK.csv", "wmt-ranking")


@pytest.fixture(scope="module")
def english_czech(rankings: Judgments) -> Judgments:
    return rankings.for_pair("en-cs")


@pytest.fixture(scope="module")
def pooled(rankings: Judgments) -> Agreement:
    return agree(rankings, resamples=0)


@pytest.fixture(scope="module")
def replication(data: Path) -> Replication:
    return replication_of("grain-of-salt", data / "wmt10")


def cells(replication: Replication, table: str) -> dict[str, ReplicatedCell]:
    return {cell.name: cell for part in replication.replicated if part.table == table for cell in part.cells}


@pytest.mark.parametrize(
    ("table", "number"),
    [
        ("Table 2", 28),
        ("Table 3", 8),
        ("Table 4", 13),
        ("Table 5", 9),
        ("Table 6", 42),
        ("Table 10", 9),
        ("Table 11", 32),
    ],
)
def test_every_cell_matches(replication: Replication, table: str, number: int) -> None:
    """All printed digits of Tables 2, 3, 4, 5, 6, 10 and 11."""
    by_name = cells(replication, table)
    assert len(by_name) == number
    assert [cell for cell in by_name.values() if not cell.match] == []


def test_table_1_matches_but_for_one_average(replication: Replication) -> None:
    """The paper's average intra-annotator S, .654, is the mean of its rounded rows; of the exact ones it is .6545."""
    by_name = cells(replication, "Table 1")
    assert len(by_name) == 63
    (other,) = [cell for cell in by_name.values() if not cell.match]
    assert other.name == "average: intra S"
    assert other.recomputed == pytest.approx(0.6545, abs=5e-5)
    assert other.note
    rows = [
        round(cell.recomputed or 0, 3) for name, cell in by_name.items() if name.endswith("intra S") and cell != other
    ]
    assert sum(rows) / len(rows) == pytest.approx(0.654, abs=5e-4)


def test_table_7_from_its_counts_and_table_8_not_released(replication: Replication) -> None:
    """Table 7's kappa, .387, is Cohen's; the labels behind Table 8 are not in the release."""
    assert all(cell.match for cell in cells(replication, "Table 7").values())
    assert cells(replication, "Table 7")["agreement: Cohen's kappa"].recomputed == pytest.approx(0.387, abs=5e-4)
    for name, cell in cells(replication, "Table 8").items():
        assert cell.match is (True if name.startswith("total") else None)
        assert cell.match or (cell.state is State.NOT_RELEASED and "not in the release" in cell.note)


def test_text_matches_but_for_the_share_of_ties(replication: Replication) -> None:
    """Section 2.3 prints 20.4 and 12.7 percent of ties; the data say 20.53 and 12.62."""
    differ = {name: cell for name, cell in cells(replication, "Text").items() if not cell.match}
    assert {name: round(cell.recomputed or 0, 2) for name, cell in differ.items()} == {
        "section 2.3: percent of ties, cu-bojar": 20.53,
        "section 2.3: percent of ties, pc-trans": 12.62,
    }
    assert all(cell.note for cell in differ.values())


def test_agreement_of_all_language_pairs(pooled: Agreement) -> None:
    """Table 3, from 7360 of 11180 and 4343 of 5750 agreeing pairs; pi without reference with its own P(E)."""
    inter, intra = pooled.inter, pooled.intra
    assert (inter["all"].pairs, round(inter["all"].observed * 11180)) == (11180, 7360)
    assert (intra["all"].pairs, round(intra["all"].observed * 5750)) == (5750, 4343)
    assert [round(agreement.s, 3) for agreement in (*inter.values(), *intra.values())] == [0.487, 0.439, 0.633, 0.601]
    assert [round(agreement.pi, 3) for agreement in (*inter.values(), *intra.values())] == [0.454, 0.409, 0.609, 0.58]
    assert inter["all"].expected["pi"] == pytest.approx(0.374336, abs=5e-7)
    assert inter["all"].expected["s_corrected"] == pytest.approx(0.36)


def test_repeated_rows_stay(rankings: Judgments) -> None:
    """95 rows of the file repeat another row exactly; without them intra-annotator S falls from .633 to .560."""
    table = rankings.table.with_columns(block=rankings.table["screen"])
    blocks = table.group_by("block", "source_lang", "target_lang", "annotator", "segment", maintain_order=True).agg(
        "system", "rank"
    )
    once = blocks.unique(subset=[name for name in blocks.columns if name != "block"], keep="first")
    assert blocks.height - once.height == 95
    kept = Judgments(table.filter(table["screen"].is_in(once["block"].implode())).drop("block"))
    assert round(agree(kept, resamples=0).intra["all"].s, 3) == 0.56


@pytest.mark.parametrize(
    ("method", "published"),
    [
        ("wins-or-ties", {"cu-bojar": 65.6, "onlineB": 70.4, "pc-trans": 62.1}),
        ("wins", {"cu-bojar": 45.0, "onlineB": 49.1, "pc-trans": 49.4}),
        ("block-wins-or-ties", {"cu-bojar": 32.3, "onlineB": 37.5, "pc-trans": 32.5}),
        ("block-wins", {"cu-bojar": 13.6, "cu-tecto": 19.0, "pc-trans": 18.7}),
    ],
)
def test_scores_of_systems(english_czech: Judgments, method: str, published: dict[str, float]) -> None:
    """Table 2, through `rank`."""
    ranking = rank(english_czech, method=method, settings=RankSettings(resamples=0))
    scores = {system.system: round(100 * (system.score or 0), 1) for system in ranking.systems}
    assert {system: scores[system] for system in published} == published


def test_sole_winners(english_czech: Judgments) -> None:
    """Table 4; its 409 blocks without a sole winner are 382 ties and 27 blocks without labels."""
    winners = audit(english_czech, only=["sole_winners"]).sections["sole_winners"]
    assert isinstance(winners, SoleWinners)
    assert [(system.system, system.wins) for system in winners.systems[:4]] == [
        ("_ref", 305),
        ("cu-tecto", 73),
        ("pc-trans", 71),
        ("dcu-combo", 70),
    ]
    assert (winners.blocks, winners.tied, winners.empty) == (1395, 382, 27)


@pytest.mark.parametrize(
    ("pair", "times", "presence"),
    [("en-cs", -0.558, -0.145), ("en-es", -0.434, -0.411), ("de-en", 0.146, 0.088), ("en-de", -0.161, -0.433)],
)
def test_sampling(rankings: Judgments, pair: str, times: float, presence: float) -> None:
    """Tables 5 and 10; the paper rounds scores to 0.1 percent first, which moves them by at most .001."""
    sampling = audit(rankings.for_pair(pair), only=["sampling"]).sections["sampling"]
    assert isinstance(sampling, Sampling)
    assert sampling.times_judged.pearson == pytest.approx(times, abs=0.001)
    assert sampling.reference_presence.pearson == pytest.approx(presence, abs=0.001)


def test_direct_comparisons(english_czech: Judgments) -> None:
    """Table 6 and section 2.5: cu-tecto beats cu-bojar and uedin directly, uedin beats onlineB, and all score lower."""
    discrepancies = audit(english_czech, only=["discrepancies"]).sections["discrepancies"]
    assert isinstance(discrepancies, Discrepancies)
    pairs = {(pair.better, pair.worse): (pair.wins, pair.losses, pair.ties) for pair in discrepancies.pairs}
    assert pairs[("cu-tecto", "cu-bojar")] == (37, 29, 15)
    assert ("cu-tecto", "uedin") in pairs
    assert ("uedin", "onlineB") in pairs
    row, column = discrepancies.systems.index("cu-bojar"), discrepancies.systems.index("cu-tecto")
    assert round(100 * (discrepancies.matrix[row][column] or 0), 1) == 45.7


def test_acceptability(data: Path, rankings: Judgments) -> None:
    """Section 4.1; 325 of the 6,905 judgments name another system than the edit they judge."""
    settings = AuditSettings(
        edits=read([data / "wmt10" / "data_EDT.tsv"], format="wmt-edits"),
        acceptability=read([data / "wmt10" / "data_ACC.csv"], format="wmt-acceptability"),
    )
    judged = mismatched = 0
    for pair, part in rankings.by_pair().items():
        acceptability = audit(part, only=["acceptability"], settings=settings).sections["acceptability"]
        assert isinstance(acceptability, Acceptability)
        judged += acceptability.judgments
        mismatched += acceptability.mismatched or 0
        if pair == "cs-en":
            by_name = {system.system: system for system in acceptability.systems}
            assert (by_name["cu-bojar"].yes, by_name["cu-bojar"].acceptable.n) == (3, 5)
            assert (by_name["cmu"].yes, by_name["cmu"].acceptable.n) == (5, 30)
    assert (judged, mismatched) == (6905, 325)


def test_commands(adjudge: Callable[..., Run], data: Path) -> None:
    """The same through the command line: `replicate` finds the files in a folder of folders."""
    answer = adjudge("replicate", "grain-of-salt", "--data", data, "--json").json
    assert [table["table"] for table in answer["tables"]][:3] == ["Table 1", "Table 2", "Table 3"]
    assert set(answer["tables"][0]["cells"][0]) == {"name", "published", "recomputed", "match", "note", "state"}
    unexplained = [c for table in answer["tables"] for c in table["cells"] if not c["match"] and not c["note"]]
    assert unexplained == []
    pooled = adjudge("agree", data / "wmt10" / "data_RNK.csv", "--format", "wmt-ranking", "--pooled", "--json").json
    assert round(pooled["inter"]["all"]["s"], 3) == 0.487
