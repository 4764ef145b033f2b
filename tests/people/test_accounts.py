"""People behind accounts: the fewest there can be, hand-overs beyond chance, and verdicts as wide as that asks for."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.mixed.design import design_from
from adjudge.mixed.fit import prepare
from adjudge.mixed.model import model_of
from adjudge.ranking.methods import rank
from adjudge.ranking.scores import ScoreEstimator, account_note, shared_tastes, widen_mixed, widen_part
from adjudge.readers.registry import read
from adjudge.table.judgments import Judgments
from adjudge.table.participants import AccountEvidence, account_evidence
from tests.helpers.mixed_make import campaign
from tests.helpers.slow import slow_model

START = datetime(2024, 5, 1, 8, tzinfo=UTC)
MANY = AccountEvidence(accounts=12, at_once=3, hand_overs=8, coincidences=0, one_task_each=True)


def timed(spans: list[tuple[float, float]], *, tasks: bool = False) -> Judgments:
    """An account for each span of minutes, with a judgment at its start and one at its end."""
    rows = [
        {
            "annotator": f"account{i}",
            "task": f"account{i}" if tasks else f"task{i}",
            "system": "AB"[part],
            "segment": str(part),
            "score": 50.0 + part,
            "started": START + timedelta(minutes=moment),
            "ended": START + timedelta(minutes=moment),
            "protocol": "da",
        }
        for i, span in enumerate(spans)
        for part, moment in enumerate(span)
    ]
    return Judgments.from_columns(pl.DataFrame(rows))


def evidence_of(spans: list[tuple[float, float]], *, tasks: bool = False) -> AccountEvidence:
    evidence = account_evidence(timed(spans, tasks=tasks))
    assert evidence is not None
    return evidence


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 30)), min_size=1, max_size=12))
def test_counts_are_those_of_looking_at_every_pair(drawn: list[tuple[int, int]]) -> None:
    spans = [(start, start + length) for start, length in drawn]
    evidence = evidence_of([(float(start), float(end)) for start, end in spans])
    others = [[other for j, other in enumerate(spans) if j != i] for i in range(len(spans))]
    at_once = max(sum(start <= moment <= end for start, end in spans) for moment in range(91))
    assert evidence.at_once == at_once
    own = list(zip(spans, others, strict=True))
    assert evidence.hand_overs == sum(any(0 <= mine[0] - end <= 10 for _, end in rest) for mine, rest in own)
    assert evidence.coincidences == sum(any(0 < end - mine[0] <= 10 for _, end in rest) for mine, rest in own)


def test_one_person_after_another_hands_over() -> None:
    """Eight accounts, each starting five minutes after the last ended: (1/2)^7 = .008 by chance."""
    evidence = evidence_of([(65.0 * i, 65.0 * i + 60) for i in range(8)])
    assert (evidence.hand_overs, evidence.coincidences, evidence.fewest_people) == (7, 0, 1)
    assert evidence.handed_over
    assert evidence.suspected
    assert evidence.factor == 8
    assert evidence.in_words.startswith("8 accounts may be as few as one person (7 accounts start within 10 minutes")


def test_a_crowd_at_work_is_no_chain_of_hand_overs() -> None:
    """Starts fall as often shortly before an end as shortly after it, so that many of both are no evidence."""
    rng = np.random.default_rng(5)
    start = rng.uniform(0, 600, 100)
    evidence = evidence_of([(s, s + length) for s, length in zip(start, rng.uniform(20, 90, 100), strict=True)])
    assert evidence.hand_overs > 30
    assert not evidence.suspected
    assert evidence.factor == 1


def test_accounts_of_tasks_are_suspected_unless_all_worked_at_once() -> None:
    apart, at_once = [(0.0, 60.0), (30.0, 90.0), (200.0, 260.0)], [(0.0, 60.0)] * 3
    assert evidence_of(apart, tasks=True).factor == pytest.approx(3 / 2)
    assert not evidence_of(apart).suspected
    assert not evidence_of(at_once, tasks=True).suspected


def test_a_crowd_named_like_its_tasks_is_many_people_where_nobody_hands_over() -> None:
    """Hundred accounts, hours apart: at most 2 sqrt(1) / .4 = 5 can be further accounts of somebody."""
    alone = evidence_of([(300.0 * i, 300.0 * i + 30) for i in range(100)], tasks=True)
    assert (alone.at_once, alone.hand_overs, alone.coincidences) == (1, 0, 0)
    assert alone.suspected
    assert alone.fewest_people == 95
    # Ten people who use one account after another are still taken for as few as their times allow.
    chains = [(13.0 * i, 13.0 * i + 10) for i in range(50)]
    handed = evidence_of(chains, tasks=True)
    assert handed.handed_over
    assert handed.fewest_people == handed.at_once == 1


def test_without_times_nobody_can_say_how_few() -> None:
    judgments = timed([(0.0, 60.0), (200.0, 260.0)], tasks=True)
    untimed = replace(judgments, table=judgments.table.with_columns(started=None, ended=None))
    evidence = account_evidence(untimed)
    assert evidence is not None
    assert evidence.suspected
    assert evidence.factor == 1
    assert "No times say how few" in evidence.in_words


def test_people_are_no_accounts() -> None:
    judgments = timed([(0.0, 60.0), (200.0, 260.0)], tasks=True)
    assert account_evidence(replace(judgments, people=True)) is None
    assert account_evidence(replace(judgments, table=judgments.table.with_columns(annotator=None))) is None


def test_what_tastes_add_is_the_derivative_of_the_covariance() -> None:
    """Against differences of the covariance of a slow model at a larger and a smaller variance of tastes."""
    design = design_from(campaign("pages", 3, annotators=6, documents=8, taste=4.0), model="mixed-points")
    model = model_of(design)
    fit, effects = model.fitted, prepare(design).effects
    slow = slow_model(design, effects.kept)
    variances = np.array([component.sd**2 for component in fit.components])
    place = next(i for i, component in enumerate(fit.components) if component.of_tastes)
    assert variances[place] > 1
    step = np.zeros(len(variances))
    step[place] = 1e-3 * variances[place]
    slope = (slow.covariance(variances + step) - slow.covariance(variances - step)) / 2e-3
    assert shared_tastes(fit) == pytest.approx(slope, rel=1e-5)
    wide = widen_mixed(fit, MANY)
    assert wide.covariance == pytest.approx(fit.covariance + 3 * slope, rel=1e-5)
    assert wide.df[0, 1] == min(fit.df[0, 1], 2 * 2)
    assert np.isinf(np.diag(wide.df)).all()
    assert widen_mixed(fit, None) is fit
    (without,) = model.leave_out("annotator", [0])
    assert without is not None
    added = widen_part(without, fit, MANY).covariance - without.covariance
    assert added == pytest.approx(3 * slope, rel=1e-5)


def accounts_of_few() -> Judgments:
    """Two people at work at the same time, each under six accounts, one after the other."""
    judgments = campaign("pages", 7, annotators=12, documents=12, taste=4.0)
    table = judgments.table.with_columns(task="annotator", number=pl.col("annotator").str.slice(1).cast(pl.Int64))
    start = pl.lit(START) + pl.duration(minutes=(pl.col("number") // 2) * 100 + (pl.col("number") % 2) * 50)
    ended = start + pl.duration(minutes=(pl.int_range(pl.len()).over("annotator") > 0).cast(pl.Int64) * 80)
    return replace(judgments, table=table.with_columns(started=ended, ended=ended).drop("number"))


def test_a_ranking_of_accounts_is_decided_as_of_few_people() -> None:
    judgments = accounts_of_few()
    cautious, plain = rank(judgments), rank(replace(judgments, people=True))
    note = next(note for note in cautious.notes if "accounts" in note)
    assert note.startswith(
        "12 accounts may be as few as 2 people (every account has one task). Pairs are decided as if they were"
    )
    assert "--accounts-are-people" in note
    assert not any("account" in note for note in plain.notes)
    assert cautious.order == plain.order
    width = [[pair.numbers["se"] for pair in ranking.comparisons] for ranking in (cautious, plain)]
    assert (np.array(width[0]) > np.array(width[1])).all()
    both = [ScoreEstimator(part).estimate for part in (judgments, replace(judgments, people=True))]
    upper = np.triu_indices(len(cautious.order), 1)
    assert (both[0].contrasts.se[upper] > both[1].contrasts.se[upper]).all()
    assert both[0].contrasts.df[upper].max() <= 2
    assert account_note(judgments)[0].startswith("12 accounts may be as few as 2 people")
    assert account_note(replace(judgments, people=True)) == ()


@pytest.mark.slow
def test_released_accounts_are_told_from_released_crowds(data: Path) -> None:
    """In ESA 2024 accounts follow each other, in crowds workers do not; the fewest people are fewer than there are."""
    esa = data / "wmt24esa"
    file = esa / "esa_generalMT2024_wave3.csv"
    known = read([file], format="appraise", annotators=esa / "annotator_mapping.json").by_pair()
    for pair, part in read([file], format="appraise").by_pair().items():
        evidence = account_evidence(part)
        assert evidence is not None
        assert evidence.handed_over
        assert evidence.fewest_people is not None
        people = known[pair].table["annotator"].n_unique()
        assert 7 <= evidence.fewest_people < people < evidence.accounts / 3
        assert account_evidence(known[pair]) is None
        assert not evidence_without_map(known[pair]).suspected
    crowds = {"mturk-da": data / "eacl2017" / "batched-hits" / "runA", "wmt-da": data / "wmt21" / "newstest2021-toen"}
    for name, folder in crowds.items():
        for part in read([folder], format=name).by_pair().values():
            evidence = account_evidence(part)
            assert evidence is None or not evidence.suspected


def evidence_without_map(judgments: Judgments) -> AccountEvidence:
    evidence = account_evidence(replace(judgments, people=False))
    assert evidence is not None
    return evidence
