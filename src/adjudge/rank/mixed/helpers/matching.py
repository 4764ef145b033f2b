"""Helpers matched with a design: what each metric says of every judged output, and of all outputs of the test set.

The number of a helper for an output is its score less the mean of its scores of the same system over the whole test
set, in standard deviations of such numbers. Where the model is fitted to normal scores, so are the helper's scores,
ranked among all outputs. An output without a score gets the mean number of its segment over the other systems: how hard
the helper finds the segment. So a system that a metric does not score at all, as a reference-based metric does not
score its reference, still shares the corrections that are common to all systems of a segment. Every system's numbers
average to exactly 0 over the segments of the test set, whichever scores are missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.errors import DataError
from adjudge.core.judgments import SetAside
from adjudge.core.maths import varies
from adjudge.core.wording import counted, short_list
from adjudge.formats.metric_score_files import MetricScore, fingerprint_of_scores, score_cells, segment_namer
from adjudge.rank.mixed.models import normal_scores

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from adjudge.core.arrays import Bools, Codes, Floats
    from adjudge.core.judgments import Judgments
    from adjudge.formats.metric_score_files import Cells
    from adjudge.rank.mixed.design import MixedDesign

LEAST_SCORED = 0.5
"""Of the judged outputs, humans left aside, at least this share must have a score; else names probably differ."""
MOSTLY_COMPLETE = 0.95
_JUDGED = "judged"
_FILLED = "only how hard they find the segments is used there"


@dataclass(frozen=True, eq=False)
class Matched:
    """The scores of helpers over the whole test set, and where each row of a design is in it."""

    names: tuple[str, ...]
    systems: tuple[str, ...]
    human: Bools
    given: Floats
    """The scores as given: (helpers, systems, segments), NaN where there is none."""
    system: Codes
    """The system of every row."""
    segment: Codes
    """The segment of every row; -1 where the helpers do not know it."""
    document: Codes
    """The document of every segment; -1 where it is not known."""
    fingerprint: str
    set_aside: tuple[SetAside, ...]

    def numbers(self, *, normal: bool) -> Floats:
        """The numbers of all outputs: (helpers, systems, segments), each system's with mean 0."""
        return np.stack([_numbers(given, normal=normal) for given in self.given])

    def of_rows(self, numbers: Floats) -> Floats:
        """The numbers of the judged outputs, (rows, helpers); 0 where the segment is not known."""
        rows = numbers[:, self.system, self.segment].T
        return np.where(self.segment[:, None] >= 0, rows, 0.0)

    @property
    def scored(self) -> Bools:
        """Which rows each helper has a score of: (helpers, rows)."""
        return np.asarray(~np.isnan(self.given[:, self.system, self.segment]) & (self.segment >= 0))

    @property
    def judged_share(self) -> float:
        """The share of the outputs of the test set that somebody judged."""
        known = self.segment >= 0
        cells = np.unique(self.system[known] * self.given.shape[2] + self.segment[known])
        return float(len(cells) / (self.given.shape[1] * self.given.shape[2]))


def _numbers(given: Floats, *, normal: bool) -> Floats:
    """One helper's numbers: (systems, segments)."""
    known = ~np.isnan(given)
    if not varies(given[known]):
        return np.zeros_like(given)
    # Numbers have no unit, and squares of the largest scores must not overflow.
    score = given / np.abs(given[known]).max()
    if normal:
        score[known] = normal_scores(given[known])
    count = known.sum(axis=1, keepdims=True)
    mean = np.where(known, score, 0.0).sum(axis=1, keepdims=True) / np.maximum(count, 1)
    centred = np.where(known, score - mean, 0.0)
    of_segment = centred.sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    filled = np.where(known, centred, of_segment)
    filled -= filled.mean(axis=1, keepdims=True)
    spread = float(filled[known].std())
    # A helper that gives all outputs of a system one score says nothing of single outputs.
    return filled / spread if spread > 1e-9 * np.abs(score[known]).max() else np.zeros_like(given)


def match(judgments: Judgments, design: MixedDesign, scores: Sequence[MetricScore]) -> Matched:
    """Find the scores of every judged output and of all other outputs of the same systems.

    Args:
        judgments: what the design was made from.
        design: the judged rows.
        scores: of metrics or of judges that are models, for all outputs, judged or not.
    """
    judged = _judged_outputs(judgments, design)
    usable = [score for score in scores if score.segment is not None and score.score is not None]
    wanted = [score for score in usable if score.system in design.systems]
    _check_any(scores, usable, wanted, design)
    named = segment_namer([output for output in judged if output.segment is not None], wanted)
    cells, repeated = score_cells(wanted, named)
    place = {segment: i for i, segment in enumerate(dict.fromkeys(named(score) for score in wanted))}
    known = (output for output in [*wanted, *judged] if output.segment is not None and output.document is not None)
    documents = {named(output): output.document for output in known}
    names = tuple(name for name in dict.fromkeys(score.metric for score in scores) if name in cells)
    matched = Matched(
        names=names,
        systems=design.systems,
        human=design.human,
        given=np.stack([_matrix(cells[name], design.systems, place) for name in names]),
        system=design.system,
        segment=np.array([-1 if row.segment is None else place.get(named(row), -1) for row in judged]),
        document=_document_codes([documents.get(segment) for segment in place]),
        fingerprint=fingerprint_of_scores(scores),
        set_aside=_set_aside(scores, usable, wanted, repeated),
    )
    _check_scored(matched)
    return matched


def _judged_outputs(judgments: Judgments, design: MixedDesign) -> list[MetricScore]:
    """System, segment and document of every row of the design, in the form of scores."""
    table = judgments.final().table[design.row].select("system", "segment", "document")
    rows = [MetricScore(_JUDGED, system, segment, document, None) for system, segment, document in table.iter_rows()]
    if all(row.segment is None for row in rows):
        raise DataError(
            "the judgments name no segments, so scores of metrics cannot be matched with them; give a column "
            "'segment', or leave out --with"
        )
    return rows


def _check_any(
    scores: Sequence[MetricScore],
    usable: Sequence[MetricScore],
    wanted: Sequence[MetricScore],
    design: MixedDesign,
) -> None:
    if not usable:
        held = "scores of whole test sets only" if any(score.score is not None for score in scores) else "no scores"
        raise DataError(f"--with holds {held}; give the scores of every output, segment by segment")
    if not wanted:
        theirs = short_list(sorted({score.system for score in usable}))
        raise DataError(
            f"--with scores none of the judged systems: it has {theirs}, the judgments have "
            f"{short_list(design.systems)}; give both the same names"
        )


def _check_scored(matched: Matched) -> None:
    machine = ~matched.human[matched.system]
    for name, scored in zip(matched.names, matched.scored, strict=True):
        share = float(scored[machine].mean()) if machine.any() else float(scored.mean())
        if share < LEAST_SCORED:
            raise DataError(
                f"--with has scores by '{name}' for {share:.0%} of the judged outputs only, at least "
                f"{LEAST_SCORED:.0%} are needed; check the names of systems and segments, or leave it out"
            )


def _matrix(cells: Cells, systems: Sequence[str], place: dict[str, int]) -> Floats:
    row = {name: i for i, name in enumerate(systems)}
    matrix = np.full((len(systems), len(place)), np.nan)
    for (system, segment), score in cells.items():
        matrix[row[system], place[segment]] = score
    return matrix


def _document_codes(documents: Sequence[str | None]) -> Codes:
    names = sorted({document for document in documents if document is not None})
    place: dict[str | None, int] = {name: i for i, name in enumerate(names)}
    return np.array([place.get(document, -1) for document in documents])


def _set_aside(
    scores: Sequence[MetricScore], usable: Sequence[MetricScore], wanted: Sequence[MetricScore], repeated: int
) -> tuple[SetAside, ...]:
    strangers = sorted({score.system for score in usable} - {score.system for score in wanted})
    helping = {score.metric for score in wanted}
    whole = [score.metric in helping for score in scores if score.segment is None and score.score is not None]
    idle = sorted({score.metric for score in scores} - helping)
    aside = [
        SetAside("metric score of a whole test set, beside those of its segments", sum(whole)),
        SetAside(f"metric without scores of the judged systems' segments: {', '.join(idle)}", len(whole) - sum(whole)),
        SetAside("metric score that is missing (None or empty)", sum(score.score is None for score in scores)),
        SetAside("metric score that repeats another of the same system and segment", repeated),
    ]
    if strangers:
        reason = f"metric score of a system without human scores: {short_list(strangers)}"
        aside.append(SetAside(reason, len(usable) - len(wanted)))
    return tuple(record for record in aside if record.rows)


def notes_on_matching(matched: Matched, useless: Sequence[str]) -> Iterator[str]:
    """Which helpers cannot help, which outputs have no scores, and what is used instead."""
    if useless:
        yield f"{short_list(useless)}: the same score for all outputs of a system, so it cannot help"
    unscored: dict[tuple[str, ...], list[str]] = {}
    missing: dict[int, list[str]] = {}
    for name, scored, given in zip(matched.names, matched.scored, matched.given, strict=True):
        nowhere = np.isnan(given).all(axis=1)
        without = tuple(system for system, none in zip(matched.systems, nowhere, strict=True) if none)
        unscored.setdefault(without, []).append(name)
        missing.setdefault(int((~scored & ~nowhere[matched.system]).sum()), []).append(name)
    for systems, names in unscored.items():
        if systems:
            yield f"{short_list(systems)}: no scores by {short_list(names)}, so {_FILLED}"
    for rows, names in missing.items():
        if rows:
            yield f"{counted(rows, 'judgment')} of outputs without a score by {short_list(names)}: {_FILLED}"
    yield from _incomplete(matched)


def _incomplete(matched: Matched) -> Iterator[str]:
    """Say where a helper scores only part of the outputs of the systems that it scores."""
    for name, given in zip(matched.names, matched.given, strict=True):
        known = ~np.isnan(given)
        share = float(known[known.any(axis=1)].mean())
        if share < MOSTLY_COMPLETE:
            yield (
                f"{name} scores {share:.0%} of the outputs of the test set; the rest is filled in by how hard it "
                "finds the segments, so give all scores if there are more"
            )
