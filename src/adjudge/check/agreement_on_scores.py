"""Agreement of scores, put together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.check.agree_options import notes_on
from adjudge.check.score_coefficients import score_coefficients
from adjudge.check.scores import score_cells, usable_scores
from adjudge.check.scores_by_annotator import annotators_of_scores
from adjudge.core.errors import DataError
from adjudge.results.agree import PARTS, Agreement

if TYPE_CHECKING:
    from adjudge.check.agree_options import AgreeOptions
    from adjudge.core.judgments import Judgments


def agree_on_scores(judgments: Judgments, options: AgreeOptions) -> Agreement:
    """Agreement on numbers given to the same outputs."""
    usable = usable_scores(judgments)
    if len(usable) == 0:
        raise DataError("no judgment has a score, an annotator and a segment; agreement needs all three")
    every = score_cells(usable)
    weights = options.draws(every.annotator, len(every.annotators))
    parts = dict(zip(PARTS, (every, every.where(~every.human)), strict=True))
    inter = {name: score_coefficients(part, "inter", weights=weights) for name, part in parts.items()}
    intra = {name: score_coefficients(part, "intra", weights=weights) for name, part in parts.items()}
    return Agreement(
        settings={"kind": "scores", "resamples": options.resamples, "seed": options.seed},
        data=judgments.fingerprint,
        set_aside=usable.set_aside,
        notes=judgments.notes + notes_on(inter["all"].pairs, intra["all"].pairs, len(every.annotators)),
        kind="scores",
        inter=inter,
        intra=intra,
        annotators=annotators_of_scores(every),
    )
