"""Which annotators to keep: controls, repeats, pace, runs, rejected work. All is reported, one rule decides."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.people.accounts import ASK_FOR_MAP, AccountEvidence, account_evidence
from adjudge.people.controls import FEWEST_PAIRS, TESTS, control_p, control_pairs, drifts, repeat_pairs, same_texts
from adjudge.people.results import AnnotatorCheck, Checked, Drift, SameText
from adjudge.people.twins import find_twins
from adjudge.table.comparisons import no_answer
from adjudge.table.errors import DataError, UsageError, param, unknown_choice
from adjudge.table.judgments import Judgments, SetAside
from adjudge.table.protocols import EDITED, KINDS, LEAST_SECONDS, RELATIVE, Work
from adjudge.table.settings import option
from adjudge.table.wording import agreeing, counted, measured

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adjudge.table.maths import Floats


# What the judgments of annotators show: controls, repeats, pace, runs of equal answers, drifts. Nothing is decided.
#
# Repeats are those within tasks, or, where nobody got any, those across tasks.

_CONTROLS = tuple(kind.name for kind in KINDS.values() if kind.control or not kind.judged)
"""Kinds of outputs whose answers are no judgments of systems, as exports and the organisers' page count them."""


@dataclass(frozen=True)
class Measured:
    """What was seen of all annotators; nothing is decided yet."""

    annotators: tuple[AnnotatorCheck, ...]
    kinds: pl.DataFrame
    """Columns annotator, kind, len: all judgments, those of nobody known among them; without blank rows."""
    released: frozenset[str]
    """Who passed the control of the release."""
    same_texts: tuple[SameText, ...]
    drifts: tuple[Drift, ...]


def measure(final: Judgments, test: str) -> Measured:
    """What the judgments, in their last revision, show of their annotators.

    Args:
        final: all judgments.
        test: on controls.
    """
    within = repeat_pairs(final, within_tasks=True)
    repeats = _by_annotator(within if within.height else repeat_pairs(final, within_tasks=False))
    controls = _by_annotator(control_pairs(final))
    marked = final.table.schema.get("passed") == pl.Boolean
    released = final.table.filter(pl.col("passed"))["annotator"].drop_nulls().unique() if marked else ()
    kinds = _kinds(final)
    return Measured(
        tuple(
            _measured(row, controls.get(row["annotator"]), repeats.get(row["annotator"]), test)
            for row in _counts(final, kinds, timed=_is_timed(final)).iter_rows(named=True)
        ),
        kinds,
        frozenset(released),
        same_texts(final),
        drifts(final),
    )


UNTESTED = ("controls cannot be tested", "judged no controls")
"""Reasons why somebody does not pass that show nothing against them."""


def decide(final: Judgments, rule: CheckRule) -> tuple[AnnotatorCheck, ...]:
    """Who passes the rule, without what does not decide: quick, for commands that leave out who fails."""
    controls = _by_annotator(control_pairs(final))
    kinds = _kinds(final)
    counts = _counts(final, kinds, timed=_is_timed(final)).iter_rows(named=True)
    checks = [_measured(row, controls.get(row["annotator"]), None, rule.test) for row in counts]
    return tuple(_decided(checked, rule, has_controls=bool(controls)) for checked in checks)


def _kinds(final: Judgments) -> pl.DataFrame:
    return final.table.filter(~no_answer(final.table)).group_by("annotator", "kind").len()


def without_answers(final: Judgments) -> tuple[SetAside, ...]:
    """What was set aside of the judgments, and the rows that hold no answer."""
    held = set(final.protocols)
    what = "score" if not held else "rank" if held <= {*RELATIVE} else "post-edit" if held <= {*EDITED} else "score"
    rows = final.table.select(no_answer(final.table).sum()).item()
    return (*final.set_aside, *[SetAside(f"no {what} was given", rows)] * bool(rows))


def _is_timed(final: Judgments) -> bool:
    """Whether time was measured at all: where it is 0 everywhere, it was not."""
    answered = final.table["score"].is_not_null() | final.table["rank"].is_not_null()
    return bool((final.table["active_seconds"].filter(answered).fill_null(0) > 0).any())


_Pairs = dict[str, tuple["Floats", "Floats"]]


def _by_annotator(pairs: pl.DataFrame) -> _Pairs:
    grouped = pairs.drop_nulls("annotator").group_by("annotator").agg("genuine", "control")
    return {
        name: (genuine.to_numpy(), control.to_numpy())
        for name, genuine, control in zip(grouped["annotator"], grouped["genuine"], grouped["control"], strict=True)
    }


def _counts(judgments: Judgments, kinds: pl.DataFrame, *, timed: bool) -> pl.DataFrame:
    # Work that was rejected may be so because it was left blank.
    columns = {"tasks": pl.col("task").filter(~no_answer(judgments.table)).n_unique()}
    columns["rejected"] = pl.lit(value=False)
    if judgments.table.schema.get("rejected") == pl.Boolean:
        columns["rejected"] = pl.col("rejected").fill_null(value=False).any()
    by_kind = kinds.group_by("annotator").agg(
        pl.col("len").sum().alias("judgments"),
        pl.col("len").filter(pl.col("kind").is_in(_CONTROLS)).sum().alias("controls"),
    )
    return (
        judgments.table.group_by("annotator")
        .agg(**columns)
        .drop_nulls("annotator")
        .join(by_kind, on="annotator")
        .join(_pace(judgments, timed=timed), on="annotator", how="left")
        .sort("annotator")
    )


def _pace(judgments: Judgments, *, timed: bool) -> pl.DataFrame:
    """Columns annotator, seconds (median), timed and active (for the mean), constant (longest run of equal answers).

    Runs follow the order of the rows, which is that of showing in every format that knows it. Time that is 0 everywhere
    was not measured.
    """
    answer = pl.coalesce(pl.col("score"), pl.col("rank").cast(pl.Float64))
    ordered = judgments.table.select("annotator", "active_seconds", answer=answer).drop_nulls("answer")
    time = pl.col("active_seconds")
    seconds = ordered.group_by("annotator").agg(
        time.median().alias("seconds"),
        (time.count() if timed else pl.lit(0)).alias("timed"),
        time.sum().alias("active"),
    )
    return seconds.join(_longest_runs(ordered), on="annotator", nulls_equal=True)


def _longest_runs(ordered: pl.DataFrame) -> pl.DataFrame:
    """Columns annotator and constant: by annotator, the longest run of equal answers."""
    # Rows of others may stand between those of one person.
    ordered = ordered.sort("annotator", maintain_order=True)
    differs = pl.any_horizontal(pl.col(name).ne_missing(pl.col(name).shift()) for name in ("annotator", "answer"))
    starts = ordered.select(differs).to_series().to_numpy().copy()
    starts[:1] = True
    first = np.flatnonzero(starts)
    lengths = np.diff(first, append=ordered.height)
    runs = ordered.select(pl.col("annotator").gather(first)).with_columns(constant=pl.Series(lengths))
    return runs.group_by("annotator").agg(pl.col("constant").max())


def _measured(
    row: dict[str, object], controls: tuple[Floats, Floats] | None, repeats: tuple[Floats, Floats] | None, test: str
) -> AnnotatorCheck:
    timed = _number(row["timed"])
    return AnnotatorCheck(
        annotator=str(row["annotator"]),
        judgments=_number(row["judgments"]),
        tasks=_number(row["tasks"]),
        p_controls=control_p(test, *controls) if controls else None,
        control_pairs=len(controls[0]) if controls else 0,
        control_difference=float((controls[0] - controls[1]).mean()) if controls else None,
        p_repeats=control_p("paired-t-two-sided", *repeats) if repeats else None,
        repeat_pairs=len(repeats[0]) if repeats else 0,
        repeat_difference=float(np.abs(repeats[0] - repeats[1]).mean()) if repeats else None,
        seconds=None if row["seconds"] is None else float(str(row["seconds"])),
        mean_seconds=float(str(row["active"])) / timed if timed else None,
        constant=_number(row["constant"]),
        controls=_number(row["controls"]),
        rejected=bool(row["rejected"]),
        passed=True,
        reasons=(),
    )


def _number(value: object) -> int:
    return int(str(value)) if value is not None else 0


@dataclass(frozen=True)
class CheckRule:
    """Who is kept. A limit of None does not decide, but is reported all the same."""

    test: str = option(
        "paired-t", "Test on control items: paired-t, paired-t-two-sided, welch, signed-rank or rank-sum."
    )
    level: float = option(0.05, "Keep annotators whose p-value on controls is at most this.")
    least_seconds: float | None = option(
        LEAST_SECONDS,
        "Drop annotators faster than this on average, in seconds per judgment; 0 accepts any pace.",
        typed=float,
    )
    longest_run: int | None = option(None, "Drop annotators who gave the same answer more often than this in a row.")
    keep_rejected: bool = option(False, "Keep annotators with rejected work.")

    def in_words(self, *, controls: bool) -> str:
        """The rule as one sentence."""
        parts = [f"genuine above degraded by {self.test} with p <= {self.level:g}"] if controls else []
        if self.least_seconds:
            seconds = measured(self.least_seconds, "second")
            parts.append(f"at least {seconds} per judgment on average, where time was measured")
        if self.longest_run is not None:
            parts.append(f"no more than {counted(self.longest_run, 'equal answer')} in a row")
        if not self.keep_rejected:
            parts.append("no rejected work")
        return "kept: " + ("; ".join(parts) if parts else "everybody")

    def validate(self) -> None:
        """Raise an error for an unknown test or an invalid level."""
        if self.test not in TESTS:
            raise unknown_choice("test", self.test, TESTS)
        if not 0 < self.level < 1:
            raise UsageError(
                f"{param('level')} is {self.level:g}, it must lie between 0 and 1; the usual value is 0.05"
            )


def check(judgments: Judgments, *, rule: CheckRule | None = None) -> Checked:
    """Check the annotators of one language pair.

    Args:
        judgments: the judgments, controls included.
        rule: who is kept; the default is the rule of direct assessment.
    """
    rule = rule or CheckRule()
    rule.validate()
    final = judgments.final()
    seen = measure(final, rule.test)
    if not seen.kinds.height:
        raise DataError(
            "no row holds a score or rank, so annotators cannot be checked; check the column of the answers"
        )
    if not seen.annotators:
        raise DataError("the data do not say who judged, so annotators cannot be checked; name the column 'annotator'")
    evidence = account_evidence(final)
    accounts = evidence if evidence is not None and evidence.suspected else None
    controls = any(check.control_pairs for check in seen.annotators)
    checks = tuple(_decided(check, rule, has_controls=controls) for check in seen.annotators)
    kept, dropped = _totals(seen.kinds, {checked.annotator for checked in checks if checked.passed})
    return Checked(
        settings={
            "test": rule.test,
            "level": rule.level,
            "least_seconds": rule.least_seconds,
            "longest_run": rule.longest_run,
            "drop_rejected": not rule.keep_rejected,
        },
        data=judgments.fingerprint,
        set_aside=without_answers(final),
        notes=(*final.notes, *_notes(seen, checks, rule, controls=controls), *_accounts_note(accounts)),
        rule=rule.in_words(controls=controls),
        annotators=checks,
        twins=find_twins(final),
        kept=kept,
        dropped=dropped,
        same_texts=seen.same_texts,
        drifts=seen.drifts,
        accounts=accounts,
    )


def _decided(checked: AnnotatorCheck, rule: CheckRule, *, has_controls: bool) -> AnnotatorCheck:
    reasons = _reasons(checked, rule, has_controls=has_controls)
    return replace(checked, passed=not reasons, reasons=reasons)


def _reasons(checked: AnnotatorCheck, rule: CheckRule, *, has_controls: bool) -> tuple[str, ...]:
    reasons: list[str] = []
    if not rule.keep_rejected and checked.rejected:
        reasons.append("some work was rejected")
    if has_controls and checked.p_controls is None:
        reasons.append(_not_tested(checked))
    elif checked.p_controls is not None and checked.p_controls > rule.level:
        reasons.append(f"does not tell degraded from genuine outputs (p = {checked.p_controls:.3f})")
    if rule.least_seconds and is_too_fast(checked, rule.least_seconds):
        reasons.append(f"{checked.mean_seconds:.1f} seconds per judgment on average")
    if rule.longest_run is not None and checked.constant > rule.longest_run:
        reasons.append(f"{counted(checked.constant, 'equal answer')} in a row")
    return tuple(reasons)


def _not_tested(checked: AnnotatorCheck) -> str:
    """Why the test on controls has no p; where all pairs are equal, they tell enough."""
    equal = checked.control_pairs >= FEWEST_PAIRS and checked.control_difference == 0
    if equal:
        return f"does not tell degraded from genuine outputs (equal in {counted(checked.control_pairs, 'pair')})"
    return UNTESTED[0] if checked.control_pairs else UNTESTED[1]


def is_too_fast(checked: AnnotatorCheck, least_seconds: float) -> bool:
    """Whether somebody judged faster than anybody can, by the rule of completion codes and of the organisers' page."""
    if checked.mean_seconds is None:
        return False
    return Work(checked.judgments, checked.judgments * checked.mean_seconds).is_too_fast(least_seconds)


def _totals(kinds: pl.DataFrame, passing: set[str]) -> tuple[dict[str, int], dict[str, int]]:
    """Annotators, and judgments in all and by kind, that are kept and dropped."""
    names = kinds["kind"].unique().sort()
    # Judgments of nobody known are dropped, as those of annotators who do not pass.
    is_kept = pl.col("annotator").is_in(list(passing)).fill_null(value=False)
    totals = []
    for part in (kinds.filter(is_kept), kinds.filter(~is_kept)):
        by_kind = dict(part.group_by("kind").agg(pl.col("len").sum()).rows())
        counts = {"annotators": part["annotator"].drop_nulls().n_unique(), "judgments": int(part["len"].sum())}
        totals.append(counts | {kind: int(by_kind.get(kind, 0)) for kind in names})
    return totals[0], totals[1]


def _accounts_note(accounts: AccountEvidence | None) -> Iterator[str]:
    """Say that accounts may be fewer people, so that nobody takes them for annotators."""
    if accounts is not None:
        yield f"{accounts.in_words}; {ASK_FOR_MAP}"


def _notes(seen: Measured, checks: tuple[AnnotatorCheck, ...], rule: CheckRule, *, controls: bool) -> Iterator[str]:
    """Note what cannot be checked, and who is kept or dropped against what one would expect."""
    if not controls:
        yield "there are no degraded outputs beside genuine ones, so nobody can be tested on controls"
    # Judgments that nobody can be checked by are counted among the dropped ones.
    if rows := int(seen.kinds.filter(pl.col("annotator").is_null())["len"].sum()):
        named = counted(rows, "judgment names", "judgments name")
        is_dropped, them = agreeing(rows, "is dropped", "are dropped"), agreeing(rows, "it", "them")
        yield f"{named} no annotator and {is_dropped}; name the annotators to keep {them}"
    # The control of the release saw the work in all language pairs.
    if differing := sum(not checked.passed and checked.annotator in seen.released for checked in checks):
        failed = counted(differing, "annotator does", "annotators do")
        what = "not pass here but passed the control of the release, which may rest on their work in other language"
        yield f"{failed} {what} pairs; rankings go by the release"
    fast = [checked.annotator for checked in checks if checked.passed and is_too_fast(checked, LEAST_SECONDS)]
    if fast and (rule.least_seconds or 0) < LEAST_SECONDS:
        names = ", ".join(fast[:5]) + (" and others" if len(fast) > 5 else "")
        yield f"less than {LEAST_SECONDS:g} second per judgment on average, faster than one can read: {names}"
