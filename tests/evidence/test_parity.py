"""Human parity: counts, tests, intervals and agreement on small tables whose answers can be counted by hand."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from bench.bench_shared_documents import Campaign
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from adjudge.evidence.parity import ParitySettings, parity
from adjudge.evidence.parity_counts import Sums, interval_of, model_contrasts, sign_test
from adjudge.table.errors import DataError, UsageError
from adjudge.table.judgments import Judgments
from tests.conftest import Run, assert_explained, examples

Row = tuple[str, str, str, str, int]
QUICK = ParitySettings(resamples=200)


def ranked(rows: list[Row]) -> Judgments:
    """Rows of (annotator, document, segment, system, rank)."""
    names = ("annotator", "document", "segment", "system", "rank")
    columns: dict[str, object] = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    human = [row[3] == "ref" for row in rows]
    return Judgments.from_columns({**columns, "protocol": ["ranking"] * len(rows), "human": human})


def block(annotator: str, document: str, segment: str, ref: int, x: int, y: int) -> list[Row]:
    return [(annotator, document, segment, name, rank) for name, rank in (("ref", ref), ("x", x), ("y", y))]


SMALL = ranked(
    [
        *block("a", "1", "1", 1, 2, 3),
        *block("b", "1", "1", 1, 1, 2),
        *block("a", "1", "2", 2, 1, 3),
        *block("b", "2", "3", 1, 3, 2),
        *block("a", "2", "3", 1, 2, 2),
    ]
)


def test_counts_shares_and_rank_points() -> None:
    comparison = parity(SMALL, human="ref", settings=QUICK)
    x, y = comparison.systems
    assert (x.system, x.mt_better, x.tie, x.human_better, x.n) == ("x", 1, 1, 3, 5)
    assert (y.system, y.mt_better, y.tie, y.human_better, y.n) == ("y", 0, 0, 5, 5)
    assert (x.parity_share, x.lead) == (0.4, -0.4)
    assert x.rank_points == pytest.approx((2 + 3 + 3 + 1 + 2) / 5)
    assert comparison.parts[0].human_rank_points == pytest.approx((3 + 3 + 2 + 3 + 3) / 5)
    assert y.p == pytest.approx(2 * 0.5**5)


def test_sign_test_counts_ties_half_or_not_at_all() -> None:
    """scipy 1.17.1: binomtest(240, 874) and binomtest(117, 628), the counts of Kim et al. (2022), Table 5."""
    assert sign_test(117, 246, 511) == pytest.approx(9.82059270719653e-42, rel=1e-9)
    assert sign_test(117, 246, 511, "drop") == pytest.approx(1.3048618185351126e-59, rel=1e-9)
    assert np.isnan(sign_test(0, 3, 0, "drop"))


def test_contaminated_segments_apart() -> None:
    chosen = ParitySettings(contaminated=frozenset({"1:1"}), resamples=50)
    parts = {part.part: part for part in parity(SMALL, human="ref", settings=chosen).parts}
    assert {name: part.judgments for name, part in parts.items()} == {"all": 5, "contaminated": 2, "untouched": 3}
    assert parts["contaminated"].systems[0].tie == 1


def test_change_is_zero_between_equal_sets_and_paired_by_document() -> None:
    comparison = parity(SMALL, human="ref", before=SMALL, settings=QUICK)
    assert comparison.change is not None
    for change in comparison.change.changes:
        assert (change.difference, change.interval, change.p) == (0.0, (0.0, 0.0), 1.0)
    assert (comparison.change.units, comparison.change.unit) == (2, "documents")


def test_interval_is_that_of_a_slow_bootstrap() -> None:
    generator = np.random.default_rng(5)
    rows: dict[str, list[Row]] = {"before": [], "after": []}
    for when, lean in (("before", 0.5), ("after", 0.3)):
        for i in range(200):
            wins = int(generator.random() < lean)
            rows[when] += block("a", str(i // 20), str(i), 2 - (1 - wins), 1 + (1 - wins), 3)
    comparison = parity(ranked(rows["after"]), human="ref", before=ranked(rows["before"]))
    assert comparison.change is not None
    change = next(
        change for change in comparison.change.changes if change.system == "x" and change.measure == "parity_share"
    )
    slow = []
    shares = {when: _share_by_document(table) for when, table in rows.items()}
    for _ in range(4000):
        drawn = generator.integers(0, 10, 10)
        slow.append(np.mean([shares["after"][d] - shares["before"][d] for d in drawn]))
    assert change.interval == pytest.approx(tuple(np.quantile(slow, [0.025, 0.975])), abs=0.015)


def test_intervals_over_few_documents_cover() -> None:
    """Of 8 documents with a deviation of their own, plain percentiles cover the true mean in 88% (standard error 1)."""
    generator, covered = np.random.default_rng(3), 0
    for _ in range(400):
        document = Sums(generator.normal(size=8), np.ones(8))
        weights = generator.multinomial(8, np.full(8, 1 / 8), size=400).astype(float)
        low, high = interval_of(document.means(weights), document.units)
        covered += low <= 0 <= high
    assert covered / 400 > 0.92


def _share_by_document(rows: list[Row]) -> list[float]:
    blocks = [rows[i : i + 3] for i in range(0, len(rows), 3)]
    good = [(int(block[0][1]), block[1][4] <= block[0][4]) for block in blocks]
    return [float(np.mean([hit for document, hit in good if document == d])) for d in range(10)]


def test_documents_come_from_keys_or_a_note_says_that_they_are_missing() -> None:
    bare = Judgments(SMALL.table.with_columns(pl.lit(None, dtype=pl.String).alias("document")))
    comparison = parity(bare, human="ref", settings=QUICK)
    assert any("documents are not known" in note for note in comparison.notes)
    keys = {"1": "A", "2": "A", "3": "B"}
    comparison = parity(bare, human="ref", settings=ParitySettings(keys=keys, resamples=50))
    assert not any("documents are not known" in note for note in comparison.notes)
    with pytest.raises(DataError, match="segment '3' is not in the keys"):
        parity(bare, human="ref", settings=ParitySettings(keys={"1": "A", "2": "A"}))


def test_scores_are_compared_by_segment_with_the_model_beside() -> None:
    generator = np.random.default_rng(1)
    rows = [
        (f"a{a}", f"d{s // 5}", str(s), name, 60 + 3 * a + shift + 10 * generator.standard_normal())
        for a in range(4)
        for s in range(30)
        for name, shift in (("ref", 20.0), ("x", 0.0), ("z", 20.0))
    ]
    names = ("annotator", "document", "segment", "system", "score")
    table = Judgments.from_columns(
        {**{name: [row[i] for row in rows] for i, name in enumerate(names)}, "protocol": ["da"] * len(rows)}
    )
    comparison = parity(table, human="ref", settings=ParitySettings(margin=10.0, resamples=500))
    x, z = comparison.systems
    assert x.n == z.n == 30
    assert x.verdict == "below the human"
    assert z.verdict == "at parity"
    assert x.rank_points is None
    assert x.contrast is not None
    assert z.contrast is not None
    assert x.contrast.difference == pytest.approx(-20, abs=5)
    assert z.contrast.p_equivalence is not None
    assert x.contrast.p_equivalence is not None
    assert z.contrast.p_equivalence < 0.05 < x.contrast.p_equivalence


@pytest.mark.parametrize(
    ("shares", "verdict"), [((0.9, 0.5), "not told apart"), ((0.7,) * 12, "below the human")], ids=["two", "twelve"]
)
def test_a_verdict_needs_people_who_agree(shares: tuple[float, ...], verdict: str) -> None:
    """480 judgments, 70% for the human: by two people of whom one sees no difference, or by twelve alike."""
    each = 480 // len(shares)
    rows: list[Row] = []
    for person, share in enumerate(shares):
        for number in range(each):
            # Every document of ten segments has the same share of wins.
            human_wins = number % 10 < 10 * share
            keys = (f"a{person}", f"{person}-{number // 10}", f"{person}-{number}")
            rows += [(*keys, "ref", 1 if human_wins else 2), (*keys, "x", 2 if human_wins else 1)]
    comparison = parity(ranked(rows), human="ref", settings=QUICK)
    (only,) = comparison.systems
    assert only.p < 1e-3
    assert only.lead_interval[1] < 0
    assert only.p_people is not None
    assert only.verdict == verdict


@pytest.mark.slow
def test_equals_are_seldom_called_above_or_below_the_human() -> None:
    """Five people with tastes of .7 logit, two systems as good as the human: 60 campaigns, at most 5% of them wrong.

    The bound is what a true rate of 5% exceeds in fewer than one test in a thousand. The sign test alone is wrong in
    far more campaigns.
    """
    rng = np.random.default_rng(3)
    wrong = sign_wrong = 0
    for _ in range(60):
        rows: list[Row] = []
        for person in range(5):
            taste = rng.normal(0, 0.7, 3)
            for segment in range(40):
                order = np.argsort(np.argsort(-(taste + rng.gumbel(size=3)))) + 1
                rows += block(f"a{person}", f"{person}-{segment // 4}", f"{person}-{segment}", *map(int, order))
        comparison = parity(ranked(rows), human="ref", settings=ParitySettings(resamples=100))
        wrong += any(system.verdict != "not told apart" for system in comparison.systems)
        sign_wrong += any(system.p_holm <= 0.05 for system in comparison.systems)
    assert wrong <= 9
    assert sign_wrong > 15


def test_pairwise_judgments_work_too() -> None:
    rows = [(str(i), name, rank) for i in range(20) for name, rank in (("ref", 1), ("x", 2))]
    columns: dict[str, object] = {
        name: [row[k] for row in rows] for k, name in enumerate(("segment", "system", "rank"))
    }
    comparison = parity(
        Judgments.from_columns({**columns, "protocol": ["pairwise"] * len(rows)}), human="ref", settings=QUICK
    )
    assert (comparison.systems[0].human_better, comparison.systems[0].rank_points) == (20, 1.0)


def test_faults_are_explained() -> None:
    with pytest.raises(DataError, match="names none of the systems; they are ref, x, y"):
        parity(SMALL, human="HUMAN")
    with pytest.raises(UsageError, match="fits x, y"):
        parity(SMALL, human="[xy]")
    with pytest.raises(DataError, match="the contaminated segment '77' was not judged"):
        parity(SMALL, human="ref", settings=ParitySettings(contaminated=frozenset({"77"})))


ranks = st.tuples(*[st.integers(1, 3)] * 3)


@settings(max_examples=examples(40))
@given(st.lists(ranks, min_size=1, max_size=30))
def test_counts_add_up_whatever_the_ranks(given_ranks: list[tuple[int, int, int]]) -> None:
    rows = [row for i, ranks in enumerate(given_ranks) for row in block("a", str(i // 4), str(i), *ranks)]
    for system in parity(ranked(rows), human="ref", settings=QUICK).systems:
        column = {"x": 1, "y": 2}[system.system]
        assert system.mt_better == sum(ranks[column] < ranks[0] for ranks in given_ranks)
        assert system.tie == sum(ranks[column] == ranks[0] for ranks in given_ranks)
        assert system.mt_better + system.tie + system.human_better == system.n == len(given_ranks)
        assert 0 <= system.p <= 1


def write_lines(folder: Path, **columns: list[int | str]) -> Path:
    folder.mkdir()
    for name, values in columns.items():
        (folder / f"{name}.txt").write_text("".join(f"{value}\n" for value in values), encoding="utf-8")
    return folder


def test_command_with_two_versions(adjudge: Callable[..., Run], tmp_path: Path) -> None:
    before = write_lines(tmp_path / "b", ref=[1, 2] * 4, x=[1, 1] * 4, error=["T", "F"] * 4)
    after = write_lines(tmp_path / "a", ref=[1, 1] * 4, x=[2, 1] * 4, error=["T", "F"] * 4)
    common = ("--format", "rank-lines", "--stacked", "2", "--human", "ref", "--contaminated", "error", "--json")
    answer = adjudge("parity", "--before", before, "--after", after, *common).json
    (x,) = answer["systems"]
    assert {"mt_better", "tie", "human_better", "n", "p", "parity_share", "rank_points"} <= x.keys()
    assert (x["tie"], x["human_better"]) == (4, 4)
    assert answer["before"]["contaminated"]["systems"][0]["tie"] == 4
    change = {(row["measure"], row["part"]): row["difference"] for row in answer["change"]}
    assert change["parity_share", "contaminated"] == -1.0
    assert change["parity_share", "untouched"] == 0.0
    assert answer["difference_in_differences"][0]["difference"] == -1.0
    assert_explained(adjudge("parity", "--before", before, *common), code=2, names=("--after",))


def two_documents(path: Path, segments: range, *, marked: str = "") -> Path:
    """Ranks of two annotators on two documents whose segments have the same numbers; `marked` is one segment."""
    rng = np.random.default_rng(len(segments))
    lines = ["protocol,annotator,document,segment,system,rank,human,bad"]
    for annotator, document, segment in product("xy", "pq", segments):
        ranks = rng.permutation(3) + 1
        bad = "T" if f"{document}:{segment}" == marked else "F"
        lines += [
            f"ranking,{annotator},{document},{segment},{name},{rank},{str(name == 'refA').lower()},{bad}"
            for name, rank in zip(("m1", "m2", "refA"), ranks, strict=True)
        ]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_marks_know_the_document_and_strange_ones_are_said(tmp_path: Path, adjudge: Callable[..., Run]) -> None:
    file = two_documents(tmp_path / "a.csv", range(1, 9), marked="p:3")
    by_column = adjudge("parity", file, "--human", "refA", "--contaminated", "bad", "--json").json
    assert by_column["contaminated"]["segments"] == 1
    by_name = adjudge("parity", file, "--human", "refA", "--contaminated", "p:3,4000,nope", "--json").json
    assert by_name["contaminated"]["systems"] == by_column["contaminated"]["systems"]
    assert "2 of the 3 contaminated segments were not judged, such as '4000'" in by_name["notes"]
    assert any("only 2 documents" in note for note in by_name["notes"])


def test_versions_with_other_segments_say_so(tmp_path: Path, adjudge: Callable[..., Run]) -> None:
    before, after = two_documents(tmp_path / "b.csv", range(1, 9)), two_documents(tmp_path / "a.csv", range(3, 12))
    answer = adjudge("parity", "--before", before, "--after", after, "--human", "refA", "--json").json
    assert any("4 segments were judged only before and 6 only after" in note for note in answer["notes"])


@pytest.mark.parametrize(("margin", "names"), [("2", ("in points of a score",)), ("0", ("--margin is 0",))])
def test_margins_that_make_no_sense_are_refused(
    tmp_path: Path, adjudge: Callable[..., Run], margin: str, names: tuple[str, ...]
) -> None:
    file = two_documents(tmp_path / "a.csv", range(1, 9))
    assert_explained(adjudge("parity", file, "--human", "refA", "--margin", margin), code=2, names=names)


def test_post_edits_are_compared_by_their_edit_rates() -> None:
    """Of four words one (human) or two (x) are changed everywhere: x is worse on every segment."""
    rows = [
        (f"p{p}", str(segment), system, " ".join([*["new"] * changed, *"abcd"[changed:]]))
        for p in range(2)
        for segment in range(6)
        for system, changed in (("ref", 1), ("x", 2))
    ]
    columns: dict[str, object] = {
        name: [row[i] for row in rows] for i, name in enumerate(("annotator", "segment", "system", "text"))
    }
    edits = Judgments.from_columns(
        {
            **columns,
            "target_text": ["a b c d"] * len(rows),
            "protocol": ["postedit"] * len(rows),
            "human": [row[2] == "ref" for row in rows],
        }
    )
    (own,) = parity(edits, human="ref", settings=QUICK).systems
    assert (own.mt_better, own.tie, own.human_better) == (0, 0, 6)
    assert own.mean_score == pytest.approx(50)


@pytest.mark.slow
def test_systems_equal_to_the_human_are_seldom_told_apart_where_documents_are_shared() -> None:
    """At most 5% of the campaigns, told by all three tests; with tastes alone it was a third of them."""
    campaign, number = Campaign(3, 20, 4, 5, 1.0), 30
    told = 0
    for seed in range(number):
        compared = parity(campaign.drawn(np.random.default_rng(seed)), human="system 0")
        told += any(system.verdict != "not told apart" for system in compared.systems)
    assert told <= binom.ppf(0.999, number, 0.05)


def test_degraded_copies_of_the_human_are_no_translation_of_the_human() -> None:
    """Equal scores of system and human, who also appears as a control with its translation spoiled, at 20 points."""
    rng = np.random.default_rng(4)
    rows = []
    for annotator in range(6):
        for document in range(8):
            for system, kind, level in (("mt", "system", 80.0), ("ref", "system", 80.0), ("ref", "degraded", 20.0)):
                rows += [(f"a{annotator}", f"d{document}", str(i), system, kind, level + rng.normal(0, 3))
                         for i in range(2)]  # fmt: skip
    names = ("annotator", "document", "segment", "system", "kind", "score")
    columns: dict[str, object] = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    human = [row[3] == "ref" for row in rows]
    judgments = Judgments.from_columns({**columns, "human": human, "protocol": ["da"] * len(rows)})
    contrasts, _ = model_contrasts(judgments, "ref", None)
    assert abs(contrasts["mt"].difference) < 3
