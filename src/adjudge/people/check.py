"""Which annotators count: controls, repeats, pace, runs, rejected work. All is reported, one rule decides."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from adjudge.people.results import UNTESTED, AnnotatorCheck, CalibrationMismatch, Checked, Drift, OwnSystem, SameText
from adjudge.people.twins import find_twins
from adjudge.table.errors import DataError, UsageError, param, unknown_choice
from adjudge.table.judgments import (
    Judgments,
    SetAside,
    key_hashes,
    list_blank,
    mark_among,
    mark_repeated,
    no_answer,
)
from adjudge.table.maths import Floats, student_tail
from adjudge.table.participants import ASK_FOR_MAP, AccountEvidence, account_evidence, suspected_accounts
from adjudge.table.protocols import EDITED, KINDS, LEAST_CONTROLS, LEAST_SECONDS, RATED, RELATIVE, Work
from adjudge.table.settings import option
from adjudge.table.wording import agreeing, counted, measured, short_list

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from adjudge.table.record import CampaignRecord

    Test = Callable[[Floats, Floats], float]


# Pairs of scores that belong together: a genuine output and its degraded version, or an answer and its repeat.
#
# Tests of these pairs say whether somebody tells genuine outputs from degraded ones. A rule must name its test, because
# the tests disagree. `paired-t` is the one of direct assessment (Graham et al.): one-sided, pair by pair. A test that
# cannot be computed, because all differences are equal or there are fewer than two pairs, has no p, and who has no p
# does not pass. With few pairs a test misses most careful people, so nobody counts as careless by them.

SAME_SHOWING = ("annotator", "task", "system", "document", "segment")
SAME_OUTPUT = ("annotator", "system", "document", "segment")
FEWEST_PAIRS = 2


def control_pairs(judgments: Judgments) -> pl.DataFrame:
    """Columns annotator, genuine, control: each degraded output beside the genuine one of the same task and segment.

    Where the degraded text is a reference, its genuine version is the reference; an output that was shown again is
    represented by its first showing.
    """
    return _pair_with_originals(judgments, "degraded", SAME_SHOWING)


def repeat_pairs(judgments: Judgments, *, within_tasks: bool) -> pl.DataFrame:
    """Columns annotator, genuine, control: each repeated output beside its first showing to the same annotator.

    Args:
        judgments: the judgments.
        within_tasks: both were shown in one task; otherwise in whatever tasks.
    """
    return _pair_with_originals(judgments, "repeat", SAME_SHOWING if within_tasks else SAME_OUTPUT)


def _pair_with_originals(judgments: Judgments, control: str, key: tuple[str, ...]) -> pl.DataFrame:
    genuine = KINDS[control].made_from
    scored = judgments.table.select(*key, "kind", "score").filter(pl.col("score").is_not_null())
    is_control = scored["kind"] == control
    controls = scored.filter(is_control).select(*key, pl.col("score").alias("control"))
    # Most outputs have no control. Only those that seem to have one are put in order and compared by their words.
    hashes = key_hashes(scored, key)
    possible = scored.filter(mark_among(hashes, hashes[is_control.to_numpy()])).filter(pl.col("kind").is_in(genuine))
    order = pl.col("kind").replace_strict(genuine, range(len(genuine)), default=None, return_dtype=pl.Int32)
    originals = (
        possible.sort(order, maintain_order=True)
        .unique(key, keep="first", maintain_order=True)
        .select(*key, pl.col("score").alias("genuine"))
    )
    together = controls.join(originals, on=key, nulls_equal=True, maintain_order="right_left")
    return together.select("annotator", "genuine", "control")


def _paired_t(genuine: Floats, control: Floats) -> float:
    # The same as `ttest_rel` without its checks, because there is one test per annotator.
    difference = genuine - control
    pairs = len(difference)
    t = difference.mean() / (difference.std(ddof=1) / np.sqrt(pairs))
    return float(student_tail(t, pairs - 1))


def _paired_t_two_sided(genuine: Floats, control: Floats) -> float:
    greater = _paired_t(genuine, control)
    return 2 * min(greater, 1 - greater)


def _scipy_test(name: str, **settings: Any) -> Test:
    """Make a one-sided test of a function of scipy, which is loaded when it is used."""

    def test(genuine: Floats, control: Floats) -> float:
        from scipy import stats

        return float(getattr(stats, name)(genuine, control, alternative="greater", **settings).pvalue)

    return test


TESTS: dict[str, Test] = {
    "paired-t": _paired_t,
    "paired-t-two-sided": _paired_t_two_sided,
    "welch": _scipy_test("ttest_ind", equal_var=False),
    "signed-rank": _scipy_test("wilcoxon"),
    "rank-sum": _scipy_test("mannwhitneyu", method="asymptotic"),
}


def control_p(name: str, genuine: Floats, control: Floats) -> float | None:
    """The p-value of the named test, None where it cannot be computed."""
    if name not in TESTS:
        raise unknown_choice("test", name, TESTS)
    if len(genuine) < FEWEST_PAIRS or np.ptp(genuine - control) == 0:
        return None
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        p = TESTS[name](genuine, control)
    return p if np.isfinite(p) else None


# Whether a person's answers stay the same: for identical texts, and from the beginning of the work to its end.
#
# Identical texts that one person ranked or scored apart were a finding of Bojar et al. (2011, Table 9). Tired people
# give other scores, work faster, and agree less with the others: each is regressed on the place in the work, by means
# of screens, because judgments of one page resemble each other.

FEWEST = 15
"""Screens of a person from which on a drift is looked for."""
_TEXTS = ("target_text", "text_hash")
_WORK = ("annotator", "task", "screen", "document", "segment", "system", "active_seconds", "ended")


def same_texts(judgments: Judgments) -> tuple[SameText, ...]:
    """By annotator, the pairs of identical texts shown together, and how many were judged apart.

    Nothing where the data do not say what was shown.
    """
    table = judgments.table
    column = next((name for name in _TEXTS if name in table.columns), None)
    if column is None:
        return ()
    cell = ["annotator", "task", "screen", "segment"]
    shown = table.select(*cell, column, answer=_answer()).drop_nulls(["answer", column, "annotator"])
    shown = shown.filter(mark_repeated(key_hashes(shown, (*cell, column))))
    # Of n identical texts, n (n - 1) / 2 pairs; those with equal answers are counted the same way.
    equal = shown.group_by(*cell, column, "answer").len("equal")
    alike = (
        equal.group_by(*cell, column)
        .agg(pl.col("equal").sum().alias("all"), (pl.col("equal") * (pl.col("equal") - 1) // 2).sum().alias("together"))
        .with_columns(pairs=pl.col("all") * (pl.col("all") - 1) // 2)
    )
    by_person = alike.group_by("annotator").agg(pl.col("pairs").sum(), pl.col("together").sum()).sort("annotator")
    return tuple(
        SameText(annotator, pairs, pairs - together)
        for annotator, pairs, together in by_person.filter(pl.col("pairs") > 0).rows()
    )


def drifts(judgments: Judgments) -> tuple[Drift, ...]:
    """By annotator, how scores, time and distance from the others change from the first judgment to the last.

    The order of the work is that of the times where every judgment has one, otherwise that of the rows.
    """
    rows = _rated(judgments)
    screens = rows.group_by("annotator").agg(pl.col("screen").n_unique())
    if not (screens["screen"] >= FEWEST).any():
        return ()
    item = ["document", "segment", "system"]
    others = (pl.col("answer").sum().over(item) - pl.col("answer").sum().over([*item, "annotator"])) / (
        pl.len().over(item) - pl.len().over([*item, "annotator"])
    )
    by_time = rows["ended"].null_count() == 0
    ordered = rows.sort("annotator", "ended", maintain_order=True) if by_time else rows
    table = ordered.with_columns(
        deviation=pl.col("answer") - pl.col("answer").mean().over("system"),
        others=pl.when(pl.len().over(item) > pl.len().over([*item, "annotator"])).then(others),
    )
    return tuple(
        _drift(str(name), part)
        for (name,), part in table.sort("annotator", maintain_order=True).group_by("annotator", maintain_order=True)
        if part["screen"].n_unique() >= FEWEST
    )


def _answer() -> pl.Expr:
    """The judgment as a number of which more is better."""
    return pl.coalesce(pl.col("score"), -pl.col("rank").cast(pl.Float64))


def _rated(judgments: Judgments) -> pl.DataFrame:
    """The judgments of systems by known annotators, of which drifts tell; the column answer is the judgment."""
    wanted = pl.col("kind").is_in(RATED) & pl.col("annotator").is_not_null()
    return (
        judgments.table.select(*_WORK, "kind", answer=_answer())
        .filter(wanted & pl.col("answer").is_not_null())
        .drop("kind")
    )


def _drift(name: str, part: pl.DataFrame) -> Drift:
    """The drift of one annotator; rows are in the order of the work, with what is expected of each without a drift."""
    # The distance is taken after the person's own level, which is no matter of the order.
    apart = pl.col("answer") - pl.col("others")
    screens = (
        part.with_columns(
            seconds=pl.when(pl.col("active_seconds") > 0).then(pl.col("active_seconds").log()),
            distance=(apart - apart.mean()).abs(),
        )
        .group_by("task", "screen", maintain_order=True)
        .agg(pl.col("deviation", "seconds", "distance").mean())
    )
    score, time, distance = (_line(screens[column]) for column in ("deviation", "seconds", "distance"))
    return Drift(
        annotator=name,
        judgments=part.height,
        score_change=score[0],
        p_score=score[1],
        time_ratio=None if time[0] is None else float(np.exp(time[0])),
        p_time=time[1],
        distance_change=distance[0],
        p_distance=distance[1],
    )


def _line(values: pl.Series) -> tuple[float | None, float | None]:
    return change(np.linspace(0, 1, len(values)), values.cast(pl.Float64).to_numpy())


def change(position: Floats, value: Floats) -> tuple[float | None, float | None]:
    """The change of a straight line from position 0 to 1, and the two-sided p of no change (t-test of the slope)."""
    known = np.isfinite(value)
    position, value = position[known], value[known]
    if len(value) < FEWEST or np.ptp(value) == 0:
        return None, None
    centred = position - position.mean()
    slope = float(centred @ value / (centred @ centred))
    residual = value - value.mean() - slope * centred
    freedom = len(value) - 2
    error = np.sqrt(residual @ residual / freedom / (centred @ centred))
    if error == 0:
        return slope, None
    return slope, float(2 * student_tail(abs(slope / error), freedom))


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


def calibration_mismatch(final: Judgments) -> CalibrationMismatch | None:
    """Test whether calibration items stand to other items in the same way for everybody (Cochran's Q).

    Each system counts the same in a person's mean of other items, so that who met which systems matters little.
    """
    kind = pl.col("kind")
    other = kind.is_in(RATED)
    scored = final.table.filter(pl.col("score").is_not_null() & (other | (kind == "calibration")))
    if scored.filter(kind == "calibration").is_empty():
        return None
    level = pl.col("score") - pl.col("score").mean().over("system", other) + pl.col("score").mean().over(other)
    parts = (
        scored.with_columns(score=level, other=other)
        .group_by("annotator", "other")
        .agg(mean=pl.col("score").mean(), sd=pl.col("score").std(), n=pl.len())
        .filter((pl.col("n") > FEWEST_PAIRS) & (pl.col("sd") > 0))
    )
    both = parts.filter("other").join(parts.filter(~pl.col("other")), on="annotator")
    if both.height <= FEWEST_PAIRS:
        return None
    from scipy.stats import chi2

    column = {name: both[name].to_numpy() for name in ("mean", "sd", "n", "mean_right", "sd_right", "n_right")}
    apart = column["mean"] - column["mean_right"]
    variance = column["sd"] ** 2 / column["n"] + column["sd_right"] ** 2 / column["n_right"]
    weight = 1 / variance
    q = float(weight @ (apart - weight @ apart / weight.sum()) ** 2)
    free = both.height - 1
    between = (q - free) / (weight.sum() - (weight @ weight) / weight.sum())
    return CalibrationMismatch(
        annotators=both.height,
        difference=float(apart.mean()),
        spread=float(np.sqrt(max(0.0, between))),
        ratio=float(np.median(column["sd"] / column["sd_right"])),
        p=float(chi2.sf(q, free)),
    )


OWN_SYSTEM = "own_system"
"""The additional column that says which system an annotator built, as from a side table of annotators."""


def own_systems(final: Judgments) -> tuple[OwnSystem, ...]:
    """How people judge the systems that they built, beside how all who did not build them judge (Welch's t-test)."""
    if OWN_SYSTEM not in final.table.columns:
        return ()
    rows = _valued(final.table.filter(pl.col("kind").is_in(RATED)))
    own = pl.col("system") == pl.col(OWN_SYSTEM)
    strangers = rows.filter(~own.fill_null(value=False))
    found = []
    builders = rows.drop_nulls((OWN_SYSTEM, "annotator")).select("annotator", OWN_SYSTEM).unique().sort("annotator")
    for who, built in builders.iter_rows():
        others = strangers.filter(pl.col("annotator") != who).group_by("system").agg(usual=pl.col("value").mean())
        mine = rows.filter(pl.col("annotator") == who).join(others, on="system")
        beyond = mine.with_columns(value=pl.col("value") - pl.col("usual"))
        is_own = beyond["system"] == built
        parts = [beyond.filter(part)["value"].to_numpy() for part in (is_own, ~is_own)]
        if min(map(len, parts)) > FEWEST_PAIRS and all(np.ptp(part) > 0 for part in parts):
            from scipy.stats import ttest_ind

            test = ttest_ind(*parts, equal_var=False)
            low, high = map(float, test.confidence_interval())
            advantage = float(parts[0].mean() - parts[1].mean())
            found.append(OwnSystem(who, built, len(parts[0]), advantage, (low, high), float(test.pvalue)))
    return tuple(found)


def _valued(table: pl.DataFrame) -> pl.DataFrame:
    """The rows with a value where more is better: the score, or the share of systems on the screen that are beaten."""
    if "rank" not in table.columns or table["rank"].null_count() == table.height:
        return table.drop_nulls("score").with_columns(value=pl.col("score").cast(pl.Float64))
    ranked, screen = table.drop_nulls("rank"), ("annotator", "screen")
    beside = pl.len().over(screen) - 1
    beaten = (pl.len().over(screen) - pl.col("rank").rank("average").over(screen)) / beside
    return ranked.filter(beside > 0).with_columns(value=beaten)


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
    return (*final.set_aside, *list_blank(final.table.filter(no_answer(final.table)), f"no {what} was given"))


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
        None,
        "Drop annotators faster than this on average, in seconds per judgment; 0 accepts any pace. "
        f"Default: the campaign's own least_seconds, or {LEAST_SECONDS:g}.",
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

    def for_campaign(self, record: CampaignRecord | None) -> CheckRule:
        """The rule with the pace that the campaign asked for, if no other is given."""
        if self.least_seconds is not None:
            return self
        asked = None if record is None else record.least_seconds
        return replace(self, least_seconds=LEAST_SECONDS if asked is None else asked)

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
    rule = (rule or CheckRule()).for_campaign(judgments.record)
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
        own_systems=own_systems(final),
        calibration=calibration_mismatch(final),
        accounts=accounts,
    )


def _decided(checked: AnnotatorCheck, rule: CheckRule, *, has_controls: bool) -> AnnotatorCheck:
    reasons = _reasons(checked, rule, has_controls=has_controls)
    return replace(checked, passed=not reasons, reasons=reasons)


def _reasons(checked: AnnotatorCheck, rule: CheckRule, *, has_controls: bool) -> tuple[str, ...]:
    reasons: list[str] = []
    if not rule.keep_rejected and checked.rejected:
        reasons.append("some work was rejected")
    if has_controls and (checked.p_controls is None or checked.p_controls > rule.level):
        reasons.append(_why_not_told(checked))
    if rule.least_seconds and is_too_fast(checked, rule.least_seconds):
        reasons.append(f"{checked.mean_seconds:.1f} seconds per judgment on average")
    if rule.longest_run is not None and checked.constant > rule.longest_run:
        reasons.append(f"{counted(checked.constant, 'equal answer')} in a row")
    return tuple(reasons)


def _why_not_told(checked: AnnotatorCheck) -> str:
    """Why controls do not show that somebody pays attention. Few controls show nothing against a person, either."""
    if checked.control_pairs < LEAST_CONTROLS:
        return UNTESTED[1] if checked.control_pairs else UNTESTED[2]
    if checked.p_controls is None and checked.control_difference != 0:
        return UNTESTED[0]
    equal = f"equal in {counted(checked.control_pairs, 'pair')}"
    found = equal if checked.p_controls is None else f"p = {checked.p_controls:.3f}"
    return f"does not tell degraded from genuine outputs ({found})"


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
        yield f"{accounts.in_words}. {ASK_FOR_MAP}"


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
    if differing := sum(checked.fails and checked.annotator in seen.released for checked in checks):
        failed = counted(differing, "annotator fails", "annotators fail")
        release = "passed the control of the release, perhaps by work in other language pairs"
        yield f"{failed} here but {release}; rankings go by the release"
    fast = [checked.annotator for checked in checks if checked.passed and is_too_fast(checked, LEAST_SECONDS)]
    if fast and (rule.least_seconds or 0) < LEAST_SECONDS:
        pace = f"less than {LEAST_SECONDS:g} second per judgment on average"
        yield f"{pace}, faster than one can read: {short_list(fast)}"


# Who counts: one rule of quality for every command.
#
# Annotators whose own work shows that they fail the rule of `adjudge check` are left out: they do not tell degraded
# from genuine outputs, work faster than anybody can read, or had work rejected. Who could not be tested counts, and so
# does who is only suspected. Released judgments with a control of their own (column `passed`) go by the release.
# Accounts that may be of fewer people (`table.participants`) have too few controls each to tell anything of a person:
# in a released study, 17 of 33 accounts fail and none of the 10 people behind them.

_NOT_TOLD = "does not tell degraded from genuine"
"""What reasons say of those who fail the controls."""


@dataclass(frozen=True)
class Failing:
    """Who fails the rule of quality in one language pair, in short."""

    people: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    """What they fail: `controls`, `pace` or `some work was rejected`."""
    everybody: bool = False
    """Whether nobody would be left, so that all are kept."""
    of_accounts: bool = False
    """Whether they may be accounts of fewer people."""
    all_count: bool = False
    """Whether they count all the same, as was asked for."""

    @property
    def left_out(self) -> tuple[str, ...]:
        """Who does not count."""
        return () if self.everybody or self.all_count else self.people


@dataclass(frozen=True, eq=False)
class Quality:
    """Who fails the rule of quality in one language pair, and the judgments of everybody and of the others."""

    everyone: Judgments
    reasons: Mapping[str, tuple[str, ...]]
    """Why each of those who fail does, by name."""
    of_accounts: bool = False
    """Whether the annotators may be accounts of fewer people."""
    all_count: bool = False
    """Whether those who fail count all the same, as was asked for."""

    def __len__(self) -> int:
        return len(self.everyone)

    @property
    def left_out(self) -> tuple[str, ...]:
        """Who is left out, by name: those who fail, unless nobody would be left."""
        return self.failing.left_out

    @property
    def failing(self) -> Failing:
        """Who fails, without the judgments."""
        everybody = bool(self.reasons) and self.nobody_passes
        return Failing(tuple(self.reasons), tuple(self.by_reason), everybody, self.of_accounts, self.all_count)

    @property
    def kept(self) -> Judgments:
        """The judgments of those who count, with a record and a note of the others; the same if nobody fails."""
        return self.others if self.reasons and not self.all_count else self.everyone

    @property
    def others(self) -> Judgments:
        """The judgments of those who do not fail."""
        return _without(self.everyone, self, pl.lit(value=True))

    @property
    def otherwise(self) -> Judgments | None:
        """The judgments that would count the other way: with those who are left out, or without those who fail."""
        if not self.reasons or self.nobody_passes:
            return None
        return self.others if self.all_count else self.everyone

    @property
    def nobody_passes(self) -> bool:
        """Whether nobody would be left who judged more than controls, so that all are kept."""
        judged = self.everyone.table.filter(pl.col("kind").is_in(RATED))["annotator"].drop_nulls().unique()
        return {*judged} <= {*self.reasons}

    @property
    def _people(self) -> int:
        return self.everyone.table["annotator"].drop_nulls().n_unique()

    @property
    def note(self) -> str:
        """Who is left out and why, with what to do if they should count."""
        return self.words if self.nobody_passes else f"{self.words}; keep them with --everyone"

    @property
    def words(self) -> str:
        """Who is left out and why, in one sentence."""
        unit = "account" if self.of_accounts else "annotator"
        who = "; ".join(f"{short_list(names)} ({reason})" for reason, names in self.by_reason.items())
        if self.nobody_passes:
            none = agreeing(self._people, f"the one {unit} does not pass", f"none of {self._people} {unit}s passes")
            return f"{none} the check, so all judgments are kept: {who}"
        fail = agreeing(len(self.reasons), "fails the check and is left out", "fail the check and are left out")
        return f"{len(self.reasons)} of {counted(self._people, unit)} {fail}: {who}"

    @property
    def by_reason(self) -> dict[str, list[str]]:
        """The names of those who fail by what they fail first: `controls`, `pace` or `some work was rejected`."""
        names: dict[str, list[str]] = {}
        for name, reasons in self.reasons.items():
            short = {_NOT_TOLD: "controls", "seconds": "pace"}
            reason = next((word for part, word in short.items() if part in reasons[0]), reasons[0])
            names.setdefault(reason, []).append(name)
        return names


def quality_of(judgments: Judgments, *, all_count: bool = False) -> Quality:
    """Who fails the rule of quality in the judgments of one language pair, on evidence; or all count all the same."""
    if not _has_evidence(judgments):
        return Quality(judgments, {})
    of_accounts = suspected_accounts(judgments) is not None
    evident = {
        one.annotator: tuple(reason for reason in one.reasons if _is_evidence(reason, by_controls=not of_accounts))
        for one in decide(judgments.final(), CheckRule().for_campaign(judgments.record))
    }
    failing = {name: reasons for name, reasons in evident.items() if reasons}
    return Quality(judgments, failing, of_accounts, all_count)


def _is_evidence(reason: str, *, by_controls: bool) -> bool:
    """Whether a reason of `check` shows something against the person."""
    return reason not in UNTESTED and (by_controls or _NOT_TOLD not in reason)


def _has_evidence(judgments: Judgments) -> bool:
    """Whether anything can show that somebody fails, and no release has decided it; quick, also in large tables."""
    table = judgments.table
    if table.schema.get("passed") == pl.Boolean or not table["annotator"].count():
        return False
    rejected = table.schema.get("rejected") == pl.Boolean and bool(table["rejected"].any())
    return rejected or bool((table["kind"] == "degraded").any()) or bool((table["active_seconds"] > 0).any())


def without_failed(judgments: Judgments) -> Judgments:
    """The judgments of all language pairs together, without those who fail in a pair; the same if nobody does."""
    if not _has_evidence(judgments):
        return judgments
    kept = judgments
    for name, part in judgments.by_pair().items():
        quality = quality_of(part)
        if quality.reasons:
            own = part.table.select("campaign", "source_lang", "target_lang").row(0, named=True)
            here = pl.all_horizontal(pl.col(key).eq_missing(pl.lit(value)) for key, value in own.items())
            kept = _without(kept, quality, here, where=f"{name}: ")
    return kept


def _without(judgments: Judgments, quality: Quality, here: pl.Expr, where: str = "") -> Judgments:
    """The judgments without those who fail, among the rows that are meant; each is set aside by the first reason."""
    kept = replace(judgments, notes=(where + quality.note, *judgments.notes))
    for reason, failing in ({} if quality.nobody_passes else quality.by_reason).items():
        fails = here & pl.col("annotator").is_in(failing).fill_null(value=False)
        kept = kept.keep(~fails, otherwise=f"annotator failed the check: {reason}")
    return kept
