"""Who counts: one rule of quality for every command.

Annotators whose own work shows that they fail the rule of `adjudge check` are left out: they do not tell degraded from
genuine outputs, work faster than anybody can read, or had work rejected. Who could not be tested counts, and so does
who is only suspected. Released judgments with a control of their own (column `passed`) go by the release. Accounts that
may be of fewer people (`people.accounts`) have too few controls each to tell anything of a person: in a released study,
17 of 33 accounts fail and none of the 10 people behind them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import polars as pl

from adjudge.people.accounts import account_evidence
from adjudge.people.check import UNTESTED, CheckRule, decide
from adjudge.table.wording import agreeing, counted, short_list

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adjudge.table.judgments import Judgments


_CONTROLS = "does not tell degraded from genuine"
"""What reasons say of those who fail the controls."""


@dataclass(frozen=True, eq=False)
class Quality:
    """Who fails the rule of quality in one language pair, and the judgments of everybody and of the others."""

    everyone: Judgments
    reasons: Mapping[str, tuple[str, ...]]
    """Why each of those who fail does, by name."""
    of_accounts: bool = False
    """Whether the annotators may be accounts of fewer people."""

    def __len__(self) -> int:
        return len(self.everyone)

    @property
    def left_out(self) -> tuple[str, ...]:
        """Who is left out, by name: those who fail, unless nobody would be left."""
        return () if self.nobody_passes else tuple(self.reasons)

    @property
    def kept(self) -> Judgments:
        """The judgments of those who count, with a record and a note of the others; the same if nobody fails."""
        return _without(self.everyone, self, pl.lit(value=True)) if self.reasons else self.everyone

    @property
    def nobody_passes(self) -> bool:
        """Whether nobody would be left, so that all are kept."""
        return len(self.reasons) == self._people

    @property
    def _people(self) -> int:
        return self.everyone.table["annotator"].drop_nulls().n_unique()

    @property
    def note(self) -> str:
        """Who is left out and why, in one sentence."""
        unit = "account" if self.of_accounts else "annotator"
        who = "; ".join(f"{short_list(names)} ({reason})" for reason, names in self.by_reason.items())
        if self.nobody_passes:
            none = agreeing(self._people, f"the one {unit} does not pass", f"none of {self._people} {unit}s passes")
            return f"{none} the check, so all judgments are kept: {who}"
        fail = agreeing(len(self.reasons), "fails the check and is left out", "fail the check and are left out")
        return f"{len(self.reasons)} of {counted(self._people, unit)} {fail}: {who}; keep them with --everyone"

    @property
    def by_reason(self) -> dict[str, list[str]]:
        """The names of those who fail by what they fail first: `controls`, `pace` or `some work was rejected`."""
        names: dict[str, list[str]] = {}
        for name, reasons in self.reasons.items():
            short = {_CONTROLS: "controls", "seconds": "pace"}
            reason = next((word for part, word in short.items() if part in reasons[0]), reasons[0])
            names.setdefault(reason, []).append(name)
        return names


def quality_of(judgments: Judgments) -> Quality:
    """Who fails the rule of quality in the judgments of one language pair, on evidence."""
    if not _has_evidence(judgments):
        return Quality(judgments, {})
    accounts = account_evidence(judgments)
    of_accounts = accounts is not None and accounts.suspected
    evident = {
        one.annotator: tuple(reason for reason in one.reasons if _is_evidence(reason, by_controls=not of_accounts))
        for one in decide(judgments.final(), CheckRule())
    }
    return Quality(judgments, {name: reasons for name, reasons in evident.items() if reasons}, of_accounts)


def _is_evidence(reason: str, *, by_controls: bool) -> bool:
    """Whether a reason of `check` shows something against the person."""
    return reason not in UNTESTED and (by_controls or _CONTROLS not in reason)


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
