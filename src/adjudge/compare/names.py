"""The names of systems in several campaigns: renaming, and help where they do not match."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from adjudge.core.errors import DataError, UsageError, shown, unknown_choice
from adjudge.core.judgments import Judgments
from adjudge.core.wording import as_argument

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from adjudge.compare.campaign import Campaign
    from adjudge.formats.metric_score_files import MetricScore

    Source = Judgments | list[MetricScore]

MOST_NAMED = 6


def rename_systems(sources: Mapping[str, Source], rename: Mapping[str, str]) -> dict[str, Source]:
    """Give systems their new names in all campaigns; a name that no campaign has is refused."""
    known = {name for source in sources.values() for name in _systems(source)}
    for old in rename:
        if old not in known:
            raise unknown_choice("system to rename", old, sorted(known))
    for campaign, source in sources.items():
        _check_apart(campaign, set(_systems(source)), rename)
    return {name: _rename(source, rename) for name, source in sources.items()} if rename else dict(sources)


def _check_apart(campaign: str, systems: set[str], rename: Mapping[str, str]) -> None:
    """Refuse to make one system of two that a campaign has."""
    olds: dict[str, str] = {}
    for old in sorted(systems):
        new = rename.get(old, old)
        if olds.setdefault(new, old) != old:
            both = f"'{shown(olds[new])}' and '{shown(old)}'"
            raise UsageError(f"--rename makes one system '{shown(new)}' of {both} in {campaign}; choose another name")


def _systems(source: Source) -> Iterable[str]:
    return source.systems if isinstance(source, Judgments) else {score.system for score in source}


def _rename(source: Source, rename: Mapping[str, str]) -> Source:
    if isinstance(source, Judgments):
        return replace(source, table=source.table.with_columns(pl.col("system").replace(dict(rename))))
    return [replace(score, system=rename.get(score.system, score.system)) for score in source]


def check_shared(campaigns: Sequence[Campaign]) -> None:
    """Refuse campaigns that share fewer than two systems with the first, with a hint at names that look alike."""
    first = campaigns[0]
    for other in campaigns[1:]:
        if len(set(first.scores) & set(other.scores)) < 2:
            hint = _hint(suggestions(first.scores, other.scores))
            raise DataError(
                f"{first.name} and {other.name} share fewer than two systems: {_listed(first.scores)} against "
                f"{_listed(other.scores)}; {hint}"
            )


def name_notes(campaigns: Sequence[Campaign]) -> list[str]:
    """Systems that some campaigns lack, and names that look alike."""
    notes = []
    first = campaigns[0]
    for other in campaigns[1:]:
        lone = [set(first.scores) - set(other.scores), set(other.scores) - set(first.scores)]
        for campaign, names in zip((first, other), lone, strict=True):
            if names:
                notes.append(f"only {campaign.name} has {_listed(sorted(names))}")
        alike = suggestions(sorted(lone[0]), sorted(lone[1]))
        if alike:
            notes.append(f"some names look alike: {_hint(alike)}")
    return notes


def suggestions(first: Iterable[str], second: Iterable[str]) -> dict[str, str]:
    """Names of the second that look like names of the first, but for case, signs and a prefix or suffix: new to old."""
    known = list(first)
    similar: dict[str, str] = {}
    for name in second:
        alike = [candidate for candidate in known if _alike(candidate, name)]
        if len(alike) == 1 and alike[0] != name:
            similar[name] = alike[0]
    return similar


def _alike(first: str, second: str) -> bool:
    a, b = (re.sub(r"[^\w.]|_", "", name.casefold()) for name in (first, second))
    return bool(a and b) and (a == b or a.endswith(f".{b}") or b.endswith(f".{a}"))


def _hint(alike: Mapping[str, str]) -> str:
    if not alike:
        return "rename them with --rename OLD=NEW"
    pairs = [f"--rename {as_argument([f'{old}={new}'])}" for old, new in list(alike.items())[:MOST_NAMED]]
    return f"try {' '.join(pairs)}"


def _listed(names: Iterable[str]) -> str:
    every = list(names)
    more = f" and {len(every) - MOST_NAMED} more" if len(every) > MOST_NAMED else ""
    return f"{', '.join(every[:MOST_NAMED])}{more}"
