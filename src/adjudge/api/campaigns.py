"""Functions for the daily work with a campaign: `init`, `backup`, `restore`, `move`, `extend`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from adjudge.api.calls import verb

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from adjudge.results.campaigns import Initialised

    AnyPath = str | Path


@verb
def init(
    folder: AnyPath,
    *,
    protocol: Literal["da", "ranking", "pairwise", "sqm", "esa", "mqm", "postedit"] = "da",
    pair: str | None = None,
    source: AnyPath | None = None,
    systems: Mapping[str, AnyPath] | None = None,
    annotators: int | Iterable[str] = 2,
) -> Initialised:
    """Start a campaign: write a folder with a campaign file that explains itself, and with texts.

    Args:
        folder: the folder of the campaign; made if it does not exist. Nothing in it is overwritten.
        protocol: how people judge.
        pair: the language pair, such as `en-de`; needed with texts of your own.
        source: the source text, one segment per line. Default: made-up example texts.
        systems: by the name of a system, its translation of the same lines.
        annotators: number of annotators, or their names.

    Returns:
        The files, and under `next` the commands that come next.
    """
    from adjudge.design.start_campaign import init as start

    return start(
        Path(folder),
        protocol=protocol,
        pair=pair,
        source=None if source is None else Path(source),
        systems={name: Path(file) for name, file in (systems or {}).items()},
        annotators=annotators if isinstance(annotators, int) else tuple(annotators),
    )
