"""Notes on results about parity: how they were resampled, what was marked, what the versions share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from adjudge.check.twins import find_twins
from adjudge.core.wording import agreeing, counted
from adjudge.evidence.verdict import note_few_people

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.audit.parity import ParitySettings
    from adjudge.audit.parity.outcomes import Outcomes
    from adjudge.audit.parity.resampling import Resampler
    from adjudge.core.judgments import Judgments

# A segment by its document, for segments that are numbered anew in every document.
PLACE = pl.concat_str("document", "segment", separator=":", ignore_nulls=False)
FEW_DOCUMENTS = 10


def notes_on(sets: Sequence[Outcomes], drawn: Resampler, settings: ParitySettings) -> list[str]:
    """Notes on the figures; `sets` are the judgments, and those before where there are two versions."""
    notes = []
    if drawn.column == "segment":
        notes.append(
            "documents are not known, so segments are resampled; as segments of a document are alike, true intervals "
            "are wider: name the documents with --keys"
        )
    elif len(drawn.names) < FEW_DOCUMENTS:
        notes.append(f"only {counted(len(drawn.names), 'document')}: intervals by resampling so few are too narrow")
    if sets[0].relative:
        # The model of scores has notes of its own.
        notes += note_few_people(sets[0].annotators)
    if settings.contaminated is not None:
        notes += _unknown_marks(sets, settings.contaminated)
    if len(sets) > 1:
        notes += _other_segments(*sets)
    if settings.ties == "half":
        notes.append("the sign test counts a tie as half a win for each; --ties drop leaves ties out")
    return notes


def _unknown_marks(sets: Sequence[Outcomes], marked: frozenset[str]) -> list[str]:
    judged = {name for version in sets for name in version.compared["segment"]}
    judged |= {name for version in sets for name in version.compared.select(PLACE.alias("place"))["place"]}
    unknown = sorted(marked - judged)
    if not unknown:
        return []
    of_all = f"{len(unknown)} of the {counted(len(marked), 'contaminated segment')}"
    return [f"{of_all} {agreeing(len(unknown), 'was', 'were')} not judged, such as '{unknown[0]}'"]


def _other_segments(after: Outcomes, before: Outcomes) -> list[str]:
    segments = [set(version.compared.select("document", "segment").unique().iter_rows()) for version in (before, after)]
    gone, new = len(segments[0] - segments[1]), len(segments[1] - segments[0])
    if not gone + new:
        return []
    what = f"{counted(gone, 'segment was', 'segments were')} judged only before and {new} only after"
    return [f"{what}; they count in their own version, so that a part of the change may come from other segments"]


def twin_notes(judgments: Judgments, before: Judgments | None) -> list[str]:
    """A block of one annotator's answers that mirrors another's has turned a verdict before: always say so."""
    sets = {"": judgments} if before is None else {" before": before, " after": judgments}
    return [
        f"{' and '.join(twins.annotators)} are {twins.kind} on {twins.items} segments{when} "
        f"({twins.first} to {twins.last}), which chance does not explain; look at them with adjudge check"
        for when, part in sets.items()
        for twins in find_twins(part)
    ]
