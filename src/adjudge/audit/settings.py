"""What audits are made with. Every section uses the settings that concern it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path  # noqa: TC003, the command line asks for the types when it runs
from typing import TYPE_CHECKING, Literal

from adjudge.core.fingerprint import fingerprint_of_parts, fingerprint_of_table
from adjudge.core.settings import by_option, documents_by_option, method_option, option, seed_option

if TYPE_CHECKING:
    import polars as pl

    from adjudge.core.judgments import Judgments


def _families(given: Mapping[str, str] | list[str]) -> tuple[str, ...]:
    named = [f"{judge}={pattern}" for judge, pattern in given.items()] if isinstance(given, Mapping) else given
    return tuple(named)


@dataclass(frozen=True)
class AuditSettings:
    """Settings of all sections."""

    method: str | None = method_option("Ranking method to audit. Default for rankings: wins-or-ties.")
    lines: str | None = option(None, "Rule for cluster lines in the section stability. Default: scipy-1.6.")
    removal: str = option(
        "genuine",
        "Stability: rows to remove with a human translation; all-rows includes degraded ones (Knowles 2021).",
        metavar="genuine|all-rows",
    )
    margin: float | str | None = option(
        None,
        "Largest difference that counts as human parity. Default: 3 points on a scale of 0 to 100, else none.",
        metavar="POINTS|SHARE%",
        typed=str | None,
        about="largest difference from a human translation that counts as parity: in points, or as a share of the "
        "scale such as `5%`. Default: 3 points on scales from 0 to 100; no claims of parity on other scales.",
    )
    by: tuple[str, ...] = by_option()
    documents_by: str | Path = documents_by_option()
    edits: Judgments | None = None
    """Post-edits, where they are not among the judgments; of any language pairs, the one audited is picked."""
    acceptability: Judgments | None = None
    """Judgments of post-edits, where they are not among the judgments; likewise."""
    judge_scores: pl.DataFrame | None = None
    """Scores of metrics by segment, each of which is tested as a machine judge (`audit.judges.read_judge_scores`)."""
    judge_allowance: float = option(
        0.15,
        "Judges: how much more often a person may be closer to others: .2 experts, .1 crowd.",
        about="how much more often a person may be closer to the other people than a judge that may still stand in for "
        "one; the authors of the test suggest .2 for experts, .15 for skilled people, .1 for crowds.",
    )
    judge_scale: Literal["matched", "z", "raw"] = option(
        "matched",
        "Judges: how scores are compared with people's (docs/judges.md).",
        metavar="matched|z|raw",
        typed=str,
        about="how scores of a judge are compared with people's: `matched` to the scores of each person, in the "
        "judge's order; standardised (`z`); or as they are (`raw`).",
    )
    judge_families: tuple[str, ...] = option(
        (),
        "Systems of a judge's own family: does it favour them?",
        "--judge-family",
        metavar="JUDGE=PATTERN",
        typed=list[str] | None,
        python="Mapping[str, str] | None",
        python_default=None,
        about="by judge, a regular expression of the systems that are of its own family.",
        convert=_families,
    )
    """Systems that are of a judge's own family, as `JUDGE=PATTERN`."""
    seed: int = seed_option()


def judge_settings(judgments: Judgments, settings: AuditSettings) -> dict[str, str | float | None]:
    """What the section on machine judges depends on besides the judgments of people; nothing where there are none."""
    if judgments.machine is None and settings.judge_scores is None:
        return {}
    tables = [table for table in (judgments.machine, settings.judge_scores) if table is not None]
    return {
        "judges": fingerprint_of_parts(fingerprint_of_table(table, ()) for table in tables),
        "judge_allowance": settings.judge_allowance,
        "judge_scale": settings.judge_scale,
        "judge_family": ",".join(settings.judge_families) or None,
    }
