"""What the shell offers for a value when the user presses the tab key: names that adjudge knows."""

from __future__ import annotations


def formats(incomplete: str) -> list[tuple[str, str]]:
    """Formats of files, with what they are."""
    from adjudge.formats import FORMATS

    return [(name, what) for name, (_, what) in FORMATS.items() if name.startswith(incomplete)]


def methods(incomplete: str) -> list[str]:
    """Methods of ranking."""
    from adjudge.rank.methods import METHODS

    return [name for name in METHODS if name.startswith(incomplete)]


def data_sets(incomplete: str) -> list[tuple[str, str]]:
    """Public data sets, with what they hold."""
    from adjudge.datasets import catalogue

    return [(name, one.holds) for name, one in catalogue().items() if name.startswith(incomplete)]


def papers(incomplete: str) -> list[str]:
    """Papers whose tables can be recomputed."""
    from adjudge.replicate import PAPERS

    return [name for name in PAPERS if name.startswith(incomplete)]
