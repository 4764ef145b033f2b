"""What audits are made with. Every section uses the settings that concern it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adjudge.core.fingerprint import fingerprint_of_parts, fingerprint_of_table
from adjudge.core.rng import DEFAULT_SEED

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

    from adjudge.core.judgments import Judgments


@dataclass(frozen=True)
class AuditSettings:
    """Settings of all sections."""

    method: str | None = None
    """The method whose scores are audited; default: `wins-or-ties` for rankings."""
    lines: str | None = None
    """Rule for lines between clusters, where a section draws them; `scipy-1.6` for stability where left out."""
    removal: str = "genuine"
    """Which rows go when stability removes human translations: their `genuine` ones, or `all-rows` under their names,
    degraded versions among them, as the script of Knowles (2021) does."""
    margin: float | str | None = None
    """How far a system may be from a human translation and still be at parity: in points, or as a share of the scale
    such as `5%`. Where left out, 3 points on scales from 0 to 100, and no claims of parity on others."""
    edits: Judgments | None = None
    """Post-edits, where they are not among the judgments; of any language pairs, the one audited is picked."""
    acceptability: Judgments | None = None
    """Judgments of post-edits, where they are not among the judgments; likewise."""
    documents_by: str | Path = "raw"
    """What the matrix of documents by systems shows: `raw` or `zscore` means, the `mixed` model's estimates, or a file
    of a metric's scores."""
    by: tuple[str, ...] = ()
    """Columns of the judgments by which scores are broken down."""
    judge_scores: pl.DataFrame | None = None
    """Scores of metrics by segment, each of which is tested as a machine judge (`audit.judges.read_judge_scores`)."""
    judge_allowance: float = 0.15
    """How much more often a person may be closer to the others than a judge that still stands in for one."""
    judge_scale: str = "matched"
    """How scores are compared: `matched` to those of the person left out, standardised (`z`), or `raw`."""
    judge_families: tuple[str, ...] = ()
    """Systems that are of a judge's own family, as `JUDGE=PATTERN`."""
    seed: int = DEFAULT_SEED


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
