"""Human-targeted edit rates (HTER): how much of a translation a person changed, through sacrebleu's TER.

TER(PE, MT) uses the post-edit as the reference and the translation as the hypothesis. The rate of several segments is
the sum of their edits divided by the words of the post-edits: segments are not averaged. sacrebleu's defaults apply:
case is ignored, words are split as tercom does.

M. Snover et al. (2006): A study of translation edit rate with targeted human annotation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjudge.core.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence


def edit_rate(edition: Sequence[str], text: Sequence[str]) -> float:
    """TER(edition, text) as a share of the edition's words: 0 if nothing was changed."""
    from sacrebleu.metrics.ter import TER

    if len(edition) != len(text):
        raise DataError(f"{len(edition)} edited segments against {len(text)}: both texts need the same segments")
    return float(TER().corpus_score(list(text), [list(edition)]).score) / 100


def ter_signature() -> str:
    """Return the signature of sacrebleu's TER."""
    from sacrebleu.metrics.ter import TER

    metric = TER()
    metric.corpus_score(["a"], [["a"]])
    return signature_text(metric)


def signature_text(metric: Any) -> str:
    """Write the signature of a metric of sacrebleu in a form that fits into the signatures of results."""
    return str(metric.get_signature()).replace("|", ",").replace(":", "=")
