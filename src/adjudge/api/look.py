"""`look`: interim analysis of a running campaign."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjudge.api.calls import single_pair, verb
from adjudge.core.rng import DEFAULT_SEED

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from adjudge.results.look import Look


@verb
def look(
    source: Any,
    *,
    planned: int,
    looks: int,
    goal: str = "pairs",
    between: Sequence[tuple[str, str]] = (),
    spending: str = "kim-demets",
    level: float = 0.05,
    history: str | Path | None = None,
    final: bool = False,
    method: str | None = None,
    seed: int = DEFAULT_SEED,
    **reading: Any,
) -> Look:
    """Check during a campaign which claims are settled, which are open, and whether to stop.

    Args:
        source: all judgments so far: a path, several paths, a polars or pandas data frame, or judgments.
        planned: planned number of judgments, without controls.
        looks: planned number of looks; they need not be evenly spaced.
        goal: what to settle: `pairs`, `best` or `top:k`.
        between: for `pairs`, the pairs to compare; default: all pairs.
        spending: how the level is spread over looks: `kim-demets`, `obrien-fleming` (less at first), `pocock` (more at
            first), or `anytime` for any number of looks.
        level: the largest probability of any false claim, over all claims and looks.
        history: the file with the earlier looks, to which this look is added. Without it, all planned looks before this
            one are assumed to have been made.
        final: this is the last look of a campaign that ended early; it uses the rest of the level.
        method: ranking method; default: as in `adjudge.rank`.
        seed: random seed.
        **reading: how the source is read, as in `adjudge.read`: `format`, `pair`, ...
    """
    from typing import cast

    from adjudge.look import look as take_look

    return take_look(
        single_pair(source, reading, doing="look"),
        planned=planned,
        looks=looks,
        goal=goal,
        between=between,
        spending=cast("Any", spending),
        level=level,
        history=history,
        final=final,
        method=method,
        seed=seed,
    )
