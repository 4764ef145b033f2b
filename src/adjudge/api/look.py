"""`look`: judgments of a campaign that still grows."""

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
    """Look at the judgments so far: which claims are settled for good, which are open, and whether to stop.

    Args:
        source: all judgments so far: a path, several paths, a polars or pandas data frame, or judgments.
        planned: judgments planned in all, controls not counted.
        looks: how many looks are planned; they need not come at equal distances.
        goal: what is to be settled: `pairs`, `best` or `top:k`.
        between: for `pairs`, the pairs that matter; all pairs where left out.
        spending: how the level is spent on looks: `kim-demets`, `obrien-fleming` (less at first), `pocock` (more at
            first), or `anytime` for any number of looks.
        level: the chance of any false claim, over all claims and looks.
        history: the file of looks taken; written anew with this look. Without one, all planned looks before this one
            are taken to have been made.
        final: this is the last look though fewer judgments than planned are in: spend what is left of the level.
        method: the method of ranking that gives the differences; its default where left out.
        seed: of methods that use chance.
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
